"""A file that cannot become a document causes one clear error that says what to do, and nothing else."""

from __future__ import annotations

import io
import zipfile

import docx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from citewell.core.config import Documents
from citewell.core.errors import (
    DamagedError,
    DocumentError,
    EmptyDocumentError,
    EncryptedError,
    LimitError,
    OtherKindError,
    UnsupportedError,
)
from citewell.core.records import Document
from citewell.documents.reading import read_bytes

LIMITS = Documents(max_unpacked_mb=64)


def archive(*parts: tuple[str, bytes]) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as opened:
        for name, data in parts:
            opened.writestr(name, data)
    return stream.getvalue()


def word() -> bytes:
    made, stream = docx.Document(), io.BytesIO()
    made.add_paragraph("Some words.")
    made.save(stream)
    return stream.getvalue()


def with_flag(data: bytes, bit: int) -> bytes:
    """Sets a general-purpose flag bit in every header of a ZIP archive."""
    changed = bytearray(data)
    for mark, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        at = data.find(mark)
        while at >= 0:
            changed[at + offset] |= bit
            at = data.find(mark, at + 4)
    return bytes(changed)


OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 600
WORD = word()
ENTITIES = b'<!DOCTYPE x [<!ENTITY a "ha"><!ENTITY b "&a;&a;">]><w>&b;</w>'

BAD: dict[str, tuple[bytes, type[DocumentError]]] = {
    "empty.txt": (b"", EmptyDocumentError),
    "blank.txt": (b" \n\t\n", EmptyDocumentError),
    "blank.html": (b"<html><body><script>x</script></body></html>", EmptyDocumentError),
    "text.pdf": (b"This is no PDF, only text.\n", UnsupportedError),
    "page.pdf": (b"<!doctype html><p>Please log in", UnsupportedError),
    "text.docx": (b"This is no Word document.\n", UnsupportedError),
    "locked.docx": (OLE + "EncryptedPackage".encode("utf-16-le"), EncryptedError),
    "locked-part.docx": (with_flag(WORD, 1), EncryptedError),
    "old.doc": (OLE, OtherKindError),
    "cut.docx": (WORD[: len(WORD) // 2], DamagedError),
    "hollow.docx": (archive(("word/document.xml", b"<a/>")), DamagedError),
    "broken.docx": (archive(("word/document.xml", b"<a"), ("[Content_Types].xml", b"x")), DamagedError),
    "hollow.xlsx": (archive(("xl/workbook.xml", b"<a/>")), DamagedError),
    "bomb.docx": (archive(("word/document.xml", b"0" * (65 << 20))), LimitError),
    "bomb.xlsx": (
        archive(("xl/workbook.xml", b"<a/>"), *((f"{n}", b"0" * (8 << 20)) for n in range(9))),
        LimitError,
    ),
    "entities.docx": (archive(("word/document.xml", ENTITIES)), DamagedError),
    "hollow.pptx": (archive(("ppt/presentation.xml", b"<a/>")), EmptyDocumentError),
    "torn.pptx": (archive(("ppt/presentation.xml", b"<a")), DamagedError),
    "library.jar": (archive(("a.txt", b"a")), OtherKindError),
    "image.png": (b"\x89PNG\r\n\x1a\n" + b"\0" * 50, OtherKindError),
    "archive.gz": (b"\x1f\x8b\x08" + b"\0" * 50, OtherKindError),
    "wrong.txt": (b"\x81\x8d\x9d\xff\xfe\xc3(" * 40, DamagedError),
    "noise.txt": (bytes(range(256)) * 20, UnsupportedError),
    "latin1.txt": ("Revenue was £5 million.".encode("latin-1"), DamagedError),
    "claims-utf8.html": (b'<html><head><meta charset="utf-8"></head><p>caf\xe9</html>', DamagedError),
    "unknown-charset.html": (b'<html><head><meta charset="klingon"></head><p>x</html>', DamagedError),
    "odd-utf16.txt": (b"\xff\xfea", DamagedError),
    "deep.html": (b"<div>" * 5_000 + b"x" + b"</div>" * 5_000, LimitError),
    "deep-inline.html": (b"<p>" + b"<b>" * 5_000 + b"x", LimitError),
    "deep.md": (b"# a\n\n" + b">" * 3_000 + b" x", LimitError),
    "quotes.csv": (b'a,b\n1,"' + b"x" * (2 << 20), DamagedError),
}


@pytest.mark.parametrize("name", BAD)
def test_a_bad_file_gives_one_clear_error(name: str) -> None:
    data, kind = BAD[name]
    with pytest.raises(DocumentError) as caught:
        read_bytes(data, document_id=f"folder/{name}", limits=LIMITS)
    assert type(caught.value) is kind, caught.value
    assert caught.value.hint
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("data", "content"),
    [
        ("Revenue was £5 million.".encode("latin-1"), "text in an encoding that cannot be determined"),
        (b"%PDF-1.7 is the mark that a PDF begins with.\n", "plain text"),
        (b"<!doctype html><p>%PDF-1.7", "HTML"),
        (bytes(range(256)) * 20, "binary data of an unknown kind"),
    ],
)
def test_what_is_named_like_a_pdf_and_is_none_is_told_what_it_is(data: bytes, content: str) -> None:
    with pytest.raises(UnsupportedError) as caught:
        read_bytes(data, document_id="a.pdf")
    assert caught.value.args[0] == f"its name ends in .pdf but its content is {content}"
    assert caught.value.hint.startswith("download or save it again as .pdf")


def test_a_text_that_begins_with_the_mark_of_a_pdf_is_read_as_text() -> None:
    assert read_bytes(b"%PDF-1.7 is a mark.\n", document_id="a.txt").text == "%PDF-1.7 is a mark.\n"


@pytest.mark.parametrize(
    "text", ["ID3,name\n1,Ann\n2,Bob\n", "PAR100 Contract of sale\n", "BZh is no word.\n", "GIF8 words\n"]
)
def test_a_text_that_begins_with_the_letters_of_another_format_is_read_as_text(text: str) -> None:
    assert read_bytes(text.encode(), document_id="a").text.startswith(text[:3])


@pytest.mark.parametrize(
    ("data", "what"),
    [
        (b"ID3\x03\x00" + bytes(90), "an audio file"),
        (b"PAR1\x15\x04\x15" + bytes(90), "a Parquet file"),
        (b"BZh9\x17rE8P\x90\x00\x00\x00\x00", "a bzip2 archive"),
        (b"GIF89a\x01\x00\x01\x00" + bytes(90), "a GIF image"),
    ],
)
def test_another_format_is_named(data: bytes, what: str) -> None:
    with pytest.raises(UnsupportedError, match=what):
        read_bytes(data, document_id="a.txt")


def test_a_pdf_that_was_cut_short_is_told_so() -> None:
    with pytest.raises(DamagedError) as caught:
        read_bytes(b"%PDF-1.7\n1 0 obj\n<< /Type /Cat", document_id="a.pdf")
    assert "truncated" in caught.value.hint


def test_a_bomb_is_refused_without_unpacking_it() -> None:
    """Ten entries of a declared gigabyte each: only the directory may be read."""
    small = archive(*((f"word/{n}.xml", b"0" * 1000) for n in range(10)))
    lying = bytearray(small)
    at = small.find(b"PK\x01\x02")
    while at >= 0:
        lying[at + 24 : at + 28] = (1 << 30).to_bytes(4, "little")
        at = small.find(b"PK\x01\x02", at + 4)
    with pytest.raises(LimitError, match="MiB"):
        read_bytes(bytes(lying), document_id="x.docx")


def test_html_entities_never_multiply() -> None:
    bomb = '<!DOCTYPE lolz [<!ENTITY a "lol">' + "".join(
        f'<!ENTITY {chr(98 + n)} "{f"&{chr(97 + n)};" * 10}">' for n in range(9)
    )
    document = read_bytes((bomb + "]><html><p>&j;</p></html>").encode(), document_id="x.html")
    assert len(document.text) < 10_000


def test_a_file_over_the_size_bound_is_refused() -> None:
    with pytest.raises(LimitError, match="max_file_mb"):
        read_bytes(b"a" * (2 << 20), document_id="x.txt", limits=Documents(max_file_mb=1))


SEEDS = st.sampled_from(
    [
        WORD,
        archive(("xl/workbook.xml", b"<workbook/>")),
        b"<html><body><table><tr><td>x<td>y<table><p></html>",
        b"# A\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n> > - x\n```\n",
        b"---\ntitle: x\n---\na\n",
        b'a,b\n"1,2\n',
        b"%PDF-1.4\n%%EOF",
    ]
)


@st.composite
def damaged(draw: st.DrawFn) -> bytes:
    data = bytearray(draw(SEEDS))
    for _ in range(draw(st.integers(0, 8))):
        at = draw(st.integers(0, max(0, len(data) - 1)))
        data[at : at + draw(st.integers(0, 6))] = draw(st.binary(max_size=6))
    return bytes(data)


@settings(max_examples=150, deadline=None)
@given(
    st.one_of(st.binary(max_size=400), st.text(max_size=300).map(lambda t: t.encode("utf-8")), damaged()),
    st.sampled_from(["a.txt", "a.md", "a.html", "a.csv", "a", "a.docx"]),
)
def test_any_bytes_give_a_document_or_a_clear_error(data: bytes, name: str) -> None:
    outcome: Document | DocumentError
    try:
        outcome = read_bytes(data, document_id=name, limits=LIMITS)
    except DocumentError as error:
        outcome = error
    if isinstance(outcome, DocumentError):
        assert outcome.hint
        return
    assert outcome.text.strip()
    assert outcome.text.encode("utf-8")
    for section in outcome.sections:
        assert 0 <= section.start < section.end <= len(outcome.text)


def test_english_with_a_pound_sign_is_not_taken_for_another_alphabet() -> None:
    text = "The fee was £5 \u2013 \u201cfive\u201d pounds \u2013 for café guests.\n"
    with pytest.raises(DamagedError, match="cp1250, cp1252"):
        read_bytes(text.encode("cp1252"), document_id="a.txt")
