"""An e-mail is read as its reader sees it: who wrote to whom and when, what they said and attached."""

from __future__ import annotations

import io
import struct
import zipfile
from datetime import datetime, timedelta
from email.message import EmailMessage

import pytest
from benchmarks.compound_file import compound

from citewell.core.config import Documents
from citewell.core.errors import DocumentError, LimitError, UnsupportedError
from citewell.core.records import Document, Found
from citewell.documents.reading import OpenedFile, read_bytes

BODY = """Dear Ben,

the price of the pump stays at 1,360 euros — until the end of the year, provided that
you order before the first of May.

On Tue, 3 Mar 2026 at 09:12, Ben Cole <ben@buyer.example>
wrote:

> Can you hold the price of the pump
> that you named in January?
>
> > We ask 1,360 euros.

Yours,
Ann
"""


def mail(body: str = BODY, **fields: str) -> EmailMessage:
    message = EmailMessage()
    message["From"] = "Änn Bee <ann@seller.example>"
    message["To"] = "Ben Cole <ben@buyer.example>"
    message["Subject"] = "Re: Price of the pump – 2026"
    message["Date"] = "Wed, 4 Mar 2026 23:30:00 -0500"
    message["Message-ID"] = "<3@seller.example>"
    message["References"] = "<1@buyer.example> <2@seller.example>"
    for name, value in fields.items():
        message[name] = value
    message.set_content(body, cte="base64")
    return message


def read(message: EmailMessage) -> Document:
    return read_bytes(bytes(message), document_id="mail.eml")


def parts(data: bytes, *part: int, name: str = "mail.eml") -> tuple[Document | None, tuple[str, ...]]:
    return OpenedFile(data, uri=name, limits=Documents()).read(part, document_id=name)


def test_the_header_is_read_as_metadata_and_the_body_is_decoded() -> None:
    document = read(mail())
    assert document.title == Found(value="Re: Price of the pump – 2026", origin="mail header")
    assert document.author == Found(value="Änn Bee <ann@seller.example>", origin="mail header")
    assert document.published_at == Found(value="2026-03-04", origin="mail header")
    assert dict(document.headers)["Message-ID"] == "<3@seller.example>"
    assert document.text.startswith(
        "Re: Price of the pump – 2026\nFrom: Änn Bee <ann@seller.example>\nTo: Ben Cole <ben@buyer.example>\n"
    )
    assert "stays at 1,360 euros — until the end of the year, provided that you order" in document.text
    assert document.text.endswith("Yours,\nAnn\n")


def test_a_quotation_is_marked_and_stands_under_whose_it_is() -> None:
    document = read(mail())
    assert "> Can you hold the price of the pump that you named in January?\n" in document.text
    paths = {document.text[s.start : s.end].strip().splitlines()[-1]: s.path for s in document.sections}
    quoted = (
        "Re: Price of the pump – 2026",
        "On Tue, 3 Mar 2026 at 09:12, Ben Cole <ben@buyer.example> wrote:",
    )
    assert paths["> We ask 1,360 euros."] == quoted
    assert paths["Ann"] == quoted[:1]


def test_messages_of_one_thread_share_a_tag() -> None:
    first = mail()
    del first["References"], first["Message-ID"]
    first["Message-ID"] = "<1@buyer.example>"
    assert read(first).tags == read(mail()).tags == ("thread:1@buyer.example",)


def test_a_table_is_read_from_the_form_that_has_it() -> None:
    message = mail("Unit price\n1,360\n")
    message.add_alternative(
        "<p>Hello</p><table><tr><th>Pump</th><th>Price</th></tr><tr><td>BW-310</td><td>1,360</td></tr></table>",
        subtype="html",
    )
    document = read(message)
    assert [row.label for row in document.tables[0].rows] == ["BW-310"]
    assert document.text.count("1,360") == 1


def test_what_is_attached_is_a_document_of_its_own() -> None:
    message = mail()
    message.add_attachment("pump;price\nBW-310;1360\n", subtype="csv", filename="../../offer é.csv")
    message.add_attachment(mail("Forwarded words."))
    document, names = parts(bytes(message))
    assert document is not None
    assert names == ("offer é.csv", "Re: Price of the pump – 2026.eml")
    assert document.text.endswith("Attachments: ../../offer é.csv; Re: Price of the pump – 2026.eml\n")
    offer, _ = parts(bytes(message), 0)
    assert offer is not None
    assert offer.media_type == "text/csv"
    assert "BW-310\t1360" in offer.text
    forwarded, _ = parts(bytes(message), 1)
    assert forwarded is not None
    assert "Forwarded words." in forwarded.text


def test_a_mail_is_told_by_its_header_and_a_memo_is_none() -> None:
    assert read_bytes(bytes(mail()), document_id="saved.txt").media_type == "message/rfc822"
    memo = "From: Ann\nTo: Ben\nSubject: Lunch\n\nThe canteen is closed.\n"
    assert read_bytes(memo.encode(), document_id="memo.txt").media_type == "text/plain"
    assert read_bytes(memo.encode(), document_id="memo.eml").media_type == "message/rfc822"


@pytest.mark.parametrize("charset", ["klingon", "utf-8"])
def test_a_body_in_a_wrong_encoding_is_read_and_said(charset: str) -> None:
    head = f"From: a@b.example\nMIME-Version: 1.0\nContent-Type: text/plain; charset={charset}\n\n"
    document = read_bytes(head.encode() + b"The caf\xe9 opens at nine.\n", document_id="a.eml")
    assert "The caf\ufffd opens at nine." in document.text
    assert any(charset in note for note in document.notes)


def test_hostile_mail_ends_in_an_error_or_a_document() -> None:
    nested = b"From: a\nMessage-ID: <x>\n"
    for n in range(200):
        nested += b'Content-Type: multipart/mixed; boundary="b%d"\n\n--b%d\n' % (n, n)
    with pytest.raises(LimitError, match="nested"):
        read_bytes(nested + b"\nend", document_id="deep.eml")
    many = b'From: a\nMessage-ID: <x>\nContent-Type: multipart/mixed; boundary="b"\n\n' + b"--b\n\nx\n" * 2000
    with pytest.raises(LimitError, match="too many"):
        read_bytes(many, document_id="many.eml")
    bad = "=?utf-8?b?////?= =?no-such?q?x?= " * 1_500
    cut = f"From: {bad}\nMessage-ID: <x>\nContent-Type: multipart/mixed\n\nwords\n".encode()
    document = read_bytes(cut, document_id="cut.eml")
    assert "words" in document.text
    assert any("malformed" in note for note in document.notes)


def packed(*files: tuple[str, bytes]) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files:
            archive.writestr(name, data)
    return stream.getvalue()


def test_an_archive_holds_documents_and_is_none() -> None:
    data = packed(("a/x.md", b"# X\n\nWords."), ("__MACOSX/._x", b"1"), ("/../x.md", b"# Y\n\nOther words."))
    document, names = parts(data, name="two.zip")
    assert (document, names) == (None, ("a/x.md", "x.md"))
    inner, _ = parts(data, 1, name="two.zip")
    assert inner is not None
    assert inner.text == "Y\nOther words.\n"
    with pytest.raises(UnsupportedError, match="archive"):
        read_bytes(data, document_id="two.zip")


def test_archives_in_archives_end() -> None:
    data = b"words"
    for n in range(6):
        data = packed((f"{n}.zip" if n else "words.txt", data))
    assert parts(data, 0, 0, name="a.zip")[1] == ("3.zip",)
    with pytest.raises(LimitError, match="deep"):
        parts(data, 0, 0, 0, name="a.zip")
    with pytest.raises(DocumentError):
        parts(packed(*((f"{n}.txt", b"x") for n in range(1_001))), name="many.zip")


def wide(text: str) -> bytes:
    return text.ljust(2048).encode("utf-16-le")


def outlook(**more: bytes) -> bytes:
    pytest.importorskip("olefile")
    sent = (datetime(2026, 3, 3, 9) - datetime(1601, 1, 1)) // timedelta(microseconds=1) * 10
    dated = (b"\0" * 32 + struct.pack("<IIQ", 0x00390040, 6, sent)).ljust(4096, b"\0")
    fields = {0x0037: "Price of the pump", 0x0C1A: "Änn Bee", 0x5D01: "ann@seller.example", 0x1000: BODY}
    texts = {f"__substg1.0_{number:04X}001F": wide(text) for number, text in fields.items()}
    file = "__attach_version1.0_#00000000"
    attached = {
        f"{file}/__substg1.0_3707001F": wide("offer.csv"),
        f"{file}/__substg1.0_37010102": b"pump;price\nBW-310;1360\n".ljust(4096, b"\n"),
    }
    return compound({"__properties_version1.0": dated, **texts, **attached, **more})


def test_a_message_of_outlook_is_read_like_one_that_was_sent() -> None:
    document, names = parts(outlook(), name="mail.msg")
    assert document is not None
    assert document.media_type == "application/vnd.ms-outlook"
    assert document.author == Found(value="Änn Bee <ann@seller.example>", origin="mail header")
    assert document.published_at == Found(value="2026-03-03", origin="mail header")
    assert "stays at 1,360 euros — until the end of the year" in document.text
    assert names == ("offer.csv",)
    offer, _ = parts(outlook(), 0, name="mail.msg")
    assert offer is not None
    assert "BW-310\t1360" in offer.text


def test_the_header_that_travelled_with_a_message_of_outlook_comes_first() -> None:
    header = "Message-ID: <2@a.example>\nIn-Reply-To: <1@a.example>\nDate: Wed, 4 Mar 2026 09:00:00 +0100\n"
    document, _ = parts(outlook(**{"__substg1.0_007D001F": wide(header)}), name="mail.msg")
    assert document is not None
    assert document.published_at == Found(value="2026-03-04", origin="mail header")
    assert document.tags == ("thread:1@a.example",)


@pytest.mark.parametrize("cut", [600, 1_500, 3_000])
def test_a_message_of_outlook_that_is_cut_off_is_an_error(cut: int) -> None:
    with pytest.raises(DocumentError):
        read_bytes(outlook()[:cut], document_id="mail.msg")


def test_a_date_that_no_calendar_has_is_no_date() -> None:
    data = bytes(mail()).replace(b"4 Mar 2026", b"4 Mar 22222222026")
    document = read_bytes(data, document_id="mail.eml")
    assert document.published_at is None
    assert "1,360 euros" in document.text
