"""Pages that are pictures: read by OCR where it is installed, told where it is not, and never passed off as
the file's own text."""

from __future__ import annotations

import io
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple
from zlib import crc32

import pypdfium2
import pytest
from benchmarks.access_world import fake_parts
from benchmarks.ocr import characters_right
from fpdf import FPDF
from PIL import Image

from citewell.cli.answers import state
from citewell.core.config import Config, Documents, Verification
from citewell.core.errors import EmptyDocumentError, LimitError, OtherKindError, UsageError
from citewell.core.records import (
    Box,
    Document,
    Draft,
    DraftClaim,
    Maker,
    Passage,
    Proof,
    Quote,
    Status,
    read_by_ocr,
)
from citewell.core.vocabulary import display_state
from citewell.documents import ocr
from citewell.documents.chunking import chunk_document
from citewell.documents.drawing import draw_page
from citewell.documents.evidence.sqlite import SqliteEvidence
from citewell.documents.outcomes import ADDED, SKIPPED
from citewell.documents.reading import read_bytes
from citewell.knowledge.home import KnowledgeBase
from citewell.models.fake import FakeEntailer
from citewell.verification.checking.checker import Checker
from citewell.verification.verifier import Verifier

needs_ocr = pytest.mark.skipif(not ocr.installed(), reason="the [ocr] extra is not installed: make extras")
QUOTE = "The deposit is EUR 3,600 and is returned within 14 days."
SCANNED = {
    1: (11, 0.0, ("Lease of the mill", QUOTE, "It is held by the scheme.")),
    3: (17, 1.6, ("The tenant may leave in 2027.", "Notice is six months.")),
}
"""Page -> type size in points, tilt in degrees, lines."""
TYPED = "This page is typed, and its text stands in the file as it was written."
ON_A_PICTURE = ("Pump PX-40", "Pressure: 6.5 bar at most")
LEFT, TOP, PITCH = 60.0, 90.0, 2.2
WIDTH, HEIGHT = 595.28, 420.0


def picture(size: float, tilt: float, lines: tuple[str, ...], dpi: int = 150) -> Image.Image:
    """``lines`` of type as a scanner would see them."""
    pdf = FPDF(unit="pt", format=(WIDTH, HEIGHT))
    pdf.add_page()
    pdf.set_font("helvetica", size=size)
    for number, line in enumerate(lines):
        pdf.text(LEFT, TOP + PITCH * size * number, line)
    drawn = pypdfium2.PdfDocument(bytes(pdf.output()))[0].render(scale=dpi / 72, grayscale=True).to_pil()
    return drawn.rotate(tilt, resample=Image.Resampling.BICUBIC, fillcolor=255)


def saved(image: Image.Image, kind: str = "PNG", **options: Any) -> bytes:
    image.save(held := io.BytesIO(), kind, **options)
    return held.getvalue()


def pdf_of(pages: dict[int, tuple[float, float, tuple[str, ...]]], typed: str = TYPED) -> bytes:
    """Pictures on their pages, and typed text on those between them."""
    pdf = FPDF(unit="pt", format=(WIDTH, HEIGHT))
    pdf.set_font("helvetica", size=11)
    for number in range(1, max(pages) + 1):
        pdf.add_page()
        if number in pages:
            pdf.image(io.BytesIO(saved(picture(*pages[number]))), 0, 0, WIDTH, HEIGHT)
        else:
            pdf.text(LEFT, TOP, typed)
    return bytes(pdf.output())


class Read(NamedTuple):
    scan: Document
    card: Document
    evidence: SqliteEvidence


@pytest.fixture(scope="module")
def read(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Read]:
    """A folder as a user ingests it: through the worker, into a home."""
    folder = tmp_path_factory.mktemp("ocr")
    sources = folder / "in"
    sources.mkdir()
    (sources / "scan.pdf").write_bytes(pdf_of(SCANNED))
    (sources / "card.tiff").write_bytes(saved(picture(14, 0.0, ON_A_PICTURE), "TIFF", dpi=(150, 150)))
    (sources / "blank.png").write_bytes(saved(Image.new("L", (300, 300), 255)))
    (sources / "broken.jpg").write_bytes(b"\xff\xd8\xff" + bytes(90))
    config = Config(documents=Documents(timeout_s=1800))
    with KnowledgeBase(fake_parts(folder / "home", config)) as kb:
        found = {Path(one.path).name: one for one in kb.ingest(sources).files}
        assert {name: one.status for name, one in found.items()} == {
            "scan.pdf": ADDED,
            "card.tiff": ADDED,
            "blank.png": SKIPPED,
            "broken.jpg": SKIPPED,
        }, found
        assert found["blank.png"].message == "it is a PNG image in which OCR found no text"
        scan, card = (kb.document(found[name].document_id) for name in ("scan.pdf", "card.tiff"))
        yield Read(scan, card, kb.parts.evidence)


def boxes_on(document: Document, page: int) -> list[Box]:
    return [box for box in document.boxes if box.page == page]


@needs_ocr
def test_what_was_scanned_is_in_the_text_in_its_order(read: Read) -> None:
    wanted = [*SCANNED[1][2], TYPED, *SCANNED[3][2]]
    assert characters_right(" ".join(wanted), read.scan.text) >= 0.98
    assert characters_right(" ".join(ON_A_PICTURE), read.card.text) >= 0.98
    assert QUOTE in read.scan.text
    assert read.scan.incomplete == ()
    assert read.scan.reader.endswith(f"+{ocr.engine_name()}")
    assert any(note.startswith("pages 1, 3: read by OCR (confidence .") for note in read.scan.notes)
    assert (read.card.media_type, len(read.card.pages)) == ("image/tiff", 1)
    assert read.card.published_at is None  # not the day on which it was read


@needs_ocr
def test_only_scanned_pages_have_a_confidence(read: Read) -> None:
    assert all(box.confidence is None for box in boxes_on(read.scan, 2))
    assert boxes_on(read.scan, 2)
    for box in (*boxes_on(read.scan, 1), *boxes_on(read.scan, 3), *read.card.boxes):
        assert box.confidence is not None
        assert 0.5 <= box.confidence <= 1.0


@needs_ocr
@pytest.mark.parametrize("number", [1, 3])
def test_each_line_stands_in_its_rectangles(read: Read, number: int) -> None:
    """Its words, where they were drawn before the page was tilted about its middle."""
    size, tilt, lines = SCANNED[number]
    measured = FPDF(unit="pt")
    measured.set_font("helvetica", size=size)
    for row, line in enumerate(lines):
        at = read.scan.text.index(line)
        held = [box for box in boxes_on(read.scan, number) if at <= box.start and box.end <= at + len(line)]
        assert held, line
        for box in held:
            said = read.scan.text[box.start : box.end]
            left = LEFT + measured.get_string_width(line[: box.start - at])
            x = left + measured.get_string_width(said) / 2 - WIDTH / 2
            y = HEIGHT / 2 - (TOP + PITCH * size * row - 0.36 * size)
            angle = math.radians(tilt)
            turned = x * math.cos(angle) - y * math.sin(angle), x * math.sin(angle) + y * math.cos(angle)
            assert abs((box.x0 + box.x1) / 2 - WIDTH / 2 - turned[0]) < 0.8 * size, said
            assert abs((box.y0 + box.y1) / 2 - HEIGHT / 2 - turned[1]) < 0.35 * size, said
            assert box.y1 - box.y0 < 2 * size, said


@needs_ocr
def test_the_same_bytes_give_the_same_text(read: Read) -> None:
    """In another process, and with another document read before."""
    again = read_bytes(saved(picture(14, 0.0, ON_A_PICTURE), "TIFF", dpi=(150, 150)), document_id="again")
    assert (again.text, again.boxes, again.version) == (read.card.text, read.card.boxes, read.card.version)


@needs_ocr
@pytest.mark.parametrize(("words", "by_ocr"), [(QUOTE, True), (TYPED, False)])
def test_a_quote_read_by_ocr_is_never_verbatim_without_saying_so(
    read: Read, words: str, by_ocr: bool
) -> None:
    (chunk,) = [one for one in chunk_document(read.scan, Config().chunking) if words in one.content]
    quote = Quote(source=chunk.chunk_id, text=words)
    said = DraftClaim(text=words, start=0, end=len(words), quotes=(quote,))
    draft = Draft(text=words, raw=words, claims=(said,), maker=Maker(name="writer"))
    checker = Checker(Verifier(FakeEntailer()), read.evidence, Verification())
    (claim,) = checker.check("How much is the deposit?", (), draft, [Passage(chunk=chunk)]).claims
    (citation,) = claim.citations
    assert (claim.verdict.status, claim.verdict.proof) == (Status.VERIFIED, Proof.VERBATIM)
    least = [
        box.confidence for box in read.scan.boxes if words.startswith(read.scan.text[box.start : box.end])
    ]
    told = read_by_ocr(least)
    assert bool(told) == by_ocr
    assert (citation.ocr, told in claim.verdict.reason) == (told, True)
    for shown in (display_state(claim).words, state(claim), claim.verdict.reason):
        assert ("read by OCR (confidence ." in shown) == by_ocr


def test_the_lowest_confidence_is_said() -> None:
    assert read_by_ocr([0.97, None, 0.93]) == "read by OCR (confidence .93)"
    assert read_by_ocr([None]) == read_by_ocr([]) == ""


@pytest.fixture
def absent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ocr, "find_spec", lambda name: None)


@pytest.mark.usefixtures("absent")
def test_without_the_extra_a_scan_says_what_to_install() -> None:
    document = read_bytes(pdf_of({2: SCANNED[3]}), document_id="mixed.pdf")
    assert document.text.strip() == TYPED
    assert (document.incomplete, document.reader) == ((2,), "pdf/5")
    assert any(note.startswith("page 2: only pictures") and ocr.INSTALL in note for note in document.notes)
    with pytest.raises(EmptyDocumentError) as caught:
        read_bytes(pdf_of({1: SCANNED[1]}), document_id="scan.pdf")
    assert ocr.INSTALL in caught.value.hint


@pytest.mark.usefixtures("absent")
@pytest.mark.parametrize("kind", ["PNG", "JPEG", "TIFF", "GIF", "WebP"])
def test_without_the_extra_a_picture_is_skipped(kind: str) -> None:
    with pytest.raises(OtherKindError, match=rf"{kind} image that citewell\[ocr\] would read") as caught:
        read_bytes(saved(Image.new("L", (40, 40)), kind), document_id="picture")
    assert caught.value.hint == ocr.INSTALL


@pytest.mark.parametrize("side", [9_000, 60_000])
def test_a_huge_picture_is_refused(side: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """By the size that it claims, before its pixels are unpacked."""
    monkeypatch.setattr(ocr, "installed", lambda: True)
    data = saved(Image.new("1", (8, 8)))
    head = side.to_bytes(4, "big") * 2
    check = crc32(b"IHDR" + head + data[24:29]).to_bytes(4, "big")
    with pytest.raises(LimitError, match="too large"):
        read_bytes(data[:16] + head + data[24:29] + check + data[33:], document_id="bomb.png")


def test_a_picture_is_drawn_as_its_page(tmp_path: Path) -> None:
    """With OCR or without: what was cited stays to be seen."""
    path = tmp_path / "card.png"
    path.write_bytes(saved(picture(14, 0.0, ON_A_PICTURE), dpi=(150, 150)))
    drawn = Image.open(io.BytesIO(draw_page(path, 1, scale=1.0, limits=Documents())))
    assert abs(drawn.width - WIDTH) <= 1
    assert abs(drawn.height - HEIGHT) <= 1
    assert drawn.convert("L").getextrema()[0] < 100


@pytest.mark.parametrize("kind", ["GIF", "WebP"])
def test_of_an_animation_the_first_frame_is_the_page(kind: str, tmp_path: Path) -> None:
    path = tmp_path / "moving"
    frames = [Image.new("RGB", (60, 40), colour) for colour in ("red", "blue")]
    path.write_bytes(saved(frames[0], kind, save_all=True, append_images=frames[1:]))
    drawn = Image.open(io.BytesIO(draw_page(path, 1, scale=1.0, limits=Documents()))).convert("RGB")
    red, _, blue = drawn.getpixel((20, 15))
    assert red > 200 > 50 > blue
    with pytest.raises(UsageError, match="no page 2"):
        draw_page(path, 2, scale=1.0, limits=Documents())
