"""Fuzzing of what opens other people's bytes: readers, citation markers, records, notes, receipts.

    python -m benchmarks.fuzzing [--minutes 60] [--seed 1] [--target NAME] [--keep FOLDER]

In: seeds, valid examples of every format, changed at random: bytes flipped, stretches cut out, doubled, moved
or replaced by nasty ones, parts of archives too. Out: each fault once, with the input that showed it,
and the counts in ``docs/measurements/fuzzing`` where all targets were run, added to those of earlier runs. A
fault is an error that was not foreseen, a result that contradicts its input, a forgery that passes, or more
than ``SLOW_S`` seconds. The exit code is 1 if there is any. ``tests/fuzz`` runs sixty of each.
"""

from __future__ import annotations

import argparse
import io
import json
import random
import signal
import sys
import tempfile
import time
import traceback
import zipfile
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import docx
import msgspec
import openpyxl

from benchmarks.hostile_files import FILES
from benchmarks.hostile_shapes import PIECES
from benchmarks.reporting import RESULTS, code, table, write
from benchmarks.sample_records import some_record
from citewell.answering.verifying import verify, verify_json_line
from citewell.audit import EntryKind, SqliteLog
from citewell.audit.checker import ExportSource
from citewell.audit.checker import check as check_log
from citewell.audit.export import export
from citewell.audit.issuing import issue
from citewell.audit.notes import checkpoints_in, read_checkpoint, read_published
from citewell.audit.receipt_check import check_receipt
from citewell.audit.receipts import receipt_bytes
from citewell.core.config import Chunking, Documents
from citewell.core.errors import CitewellError, DocumentError
from citewell.core.records import AuditRecord, Document
from citewell.documents.chunking import chunk_document
from citewell.documents.reading import OpenedFile
from citewell.models.fake import FakeEntailer, HashEmbedder
from citewell.vendors.reading import VendorAnswer, read_saved_response
from citewell.vendors.requests import RequestSource
from citewell.vendors.writing import WRITERS
from citewell.vendors.writing import write as write_response
from citewell.verification.claims import parse_answer, parse_structured

SLOW_S = 20
NASTY = [piece.encode() for piece in PIECES.values()] + [
    *(b"\x00", b"\xff\xfe", b"\xef\xbb\xbf", b"\xed\xa0\x80", b"\r", b"\t", b"\n\n", b"<", b"<!--", b"]]>"),
    *(b"&#x0;", b"%s", b"-1", b"9" * 40, b"1e999", b"NaN", b"null", b"{}", b"[[[[", b"\xe2\x80\xae"),
    *(b"\xcc\x81", b"\xf0\x9f\x98\x80", b"[" * 5_000 + b"]" * 5_000),
]  # fmt: skip
Check = Callable[[bytes], None]


class Fault(AssertionError):
    """A result that contradicts its input."""


@dataclass(frozen=True)
class Target:
    """``check`` raises on a fault; ``expected`` errors are proper answers."""

    name: str
    seeds: Callable[[], Sequence[bytes]]
    check: Check
    expected: tuple[type[Exception], ...] = ()


def changed(data: bytes, chance: random.Random) -> bytes:
    """One to eight changes; in an archive, usually within one of its parts."""
    if data[:2] == b"PK" and chance.random() < 0.7:
        with suppress(zipfile.BadZipFile, OSError):
            return _within(data, chance)
    made = bytearray(data)
    for _ in range(chance.randint(1, 8)):
        at, length = chance.randrange(len(made) + 1), chance.choice((1, 1, 4, 32, 256))
        match chance.randrange(6):
            case 0 if made:
                made[at % len(made)] = chance.randrange(256)
            case 1:
                del made[at : at + length]
            case 2:
                made[at:at] = made[at : at + length] * chance.randint(1, 9)
            case 3:
                made[at:at] = chance.choice(NASTY) * chance.choice((1, 1, 1, 30))
            case 4:
                other = chance.randrange(len(made) + 1)
                made[at : at + length] = made[other : other + length]
            case _:
                made[at : at + length] = chance.choice(NASTY)
    return bytes(made[: 1 << 20])


def _within(data: bytes, chance: random.Random) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as new:
        names = old.namelist()
        hit = chance.choice(names)
        for name in names:
            new.writestr(name, changed(old.read(name), chance) if name == hit else old.read(name))
    return out.getvalue()


# --- readers --------------------------------------------------------------------------------------

_TEXT = (
    "# Lease\n\nPublished on July 3, 2020.\n\n## Rent [1]\n\nThe rent is 900 a month (see <b>§ 2</b>).\n\n"
    "| Item | 2019 | 2020 |\n|---|---|---|\n| Shop | 1,200 | 1,300 |\n| *Flat* | (7) | 8 % |\n\n- one\n"
    "  - two\n\n"
    "```\ncode\n```\n\n![a](b.png) [c](d)\n"
)
_HTML = (
    "<!doctype html><html lang=en><head><title>Lease</title><style>.a{color:#fff}</style></head><body>"
    "<h1>Lease</h1><p>The rent is <sup>2</sup>900 <span style='display:none'>no</span>.</p><table><caption>In"
    " thousands</caption><tr><th rowspan=2>Item<th colspan=2>Rent<tr><th>2019<th>2020<tr><td>Shop<td>1<td>2"
    "</table><ul><li>one<ul><li>two</ul></ul></body></html>"
)


_RTF = (
    rb"{\rtf1\ansi\ansicpg1252{\fonttbl{\f0\fcharset128 Mincho;}{\f1\fcharset2 Symbol;}}{\colortbl;\red255;}"
    rb"{\stylesheet{\s1 heading 1;}}{\info{\title Lease}{\creatim\yr2020\mo7\dy3}}\s1 Rent\par\pard It is "
    rb"{\f1 m}{\super 2}\u8364?900 {\v no}\'e4{\footnote See 2.}.\par{\listtext 1.}one\par\trowd\trhdr"
    rb"\cellx9\cellx99\pard\intbl Item\cell 2020\cell\row\trowd\clvmrg\cellx50\cellx99 Shop\cell 1\cell\row}"
)


_OTHERS = (
    "ODT: tables in tables",
    "PPTX: levels of a list",
    "EML: attachments",
    "EML: quotations",
    "MSG: attachments and streams",
    "ZIP: files in an archive in it",
)


def _documents() -> list[bytes]:
    word, sheet, novel = io.BytesIO(), io.BytesIO(), io.BytesIO()
    with zipfile.ZipFile(novel, "w") as archive:
        archive.writestr("META-INF/container.xml", '<c><rootfile full-path="a.opf"/></c>')
        item = '<item id="a" href="a.html" media-type="text/html"/>'
        archive.writestr("a.opf", f'<package>{item}<itemref idref="a"/></package>')
        archive.writestr("a.html", _HTML)
    document = docx.Document()
    document.add_heading("Lease", 1)
    document.add_paragraph("The rent is 900.").add_run("2").font.superscript = True
    cells = document.add_table(2, 2)
    cells.cell(0, 0).text, cells.cell(1, 1).text = "Item", "12"
    document.save(word)
    book = openpyxl.Workbook()
    page = book.active
    assert page is not None
    page.append(["Item", 2019, 2020])
    page.append(["Shop", 1.5, "=B2*2"])
    page.merge_cells("A3:B3")
    book.save(sheet)
    csv = b'Item;2019;2020\n"Shop, old";1,5;2\n\nFlat;(7);8\n'
    return [
        _TEXT.encode(),
        _HTML.encode(),
        _RTF,
        novel.getvalue(),
        csv,
        b'{"a": [1, "b"]}',
        word.getvalue(),
        sheet.getvalue(),
        _pdf(),
        *(FILES[name].make(3) for name in _OTHERS),
    ]


def _pdf() -> bytes:
    """Two lines in a font that every reader has."""
    stream = b"BT /F1 12 Tf 72 720 Td (The rent is 900 a month.) Tj 0 -20 Td (Shop 1,200 1,300) Tj ET"
    parts = [
        b"<</Type/Catalog/Pages 2 0 R>>",
        b"<</Type/Pages/Kids[3 0 R]/Count 1/MediaBox[0 0 612 792]>>",
        b"<</Type/Page/Parent 2 0 R/Contents 4 0 R/Resources<</Font<</F1 5 0 R>>>>>>",
        b"<</Length %d>>stream\n%s\nendstream" % (len(stream), stream),
        b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
    ]
    out, places = b"%PDF-1.4\n", []
    for number, part in enumerate(parts, 1):
        places.append(len(out))
        out += b"%d 0 obj%s endobj\n" % (number, part)
    rows = b"".join(b"%010d 00000 n \n" % place for place in places)
    tail = b"trailer<</Size %d/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF\n" % (len(parts) + 1, len(out))
    return out + b"xref\n0 %d\n0000000000 65535 f \n" % (len(parts) + 1) + rows + tail


_LIMITS = Documents(max_unpacked_mb=64)


def _read(data: bytes) -> None:
    opened, waiting = OpenedFile(data, uri="given", limits=_LIMITS), [()]
    while waiting:
        part = waiting.pop()
        try:
            document, inside = opened.read(part, document_id="given")
        except DocumentError as error:
            if "in an unexpected way" in str(error):
                raise Fault(str(error)) from error.__cause__
            if not error.hint:
                raise Fault(f"no hint: {error}") from error
            continue
        if document:
            _sound(document)
        waiting += [(*part, place) for place in range(len(inside))]


def _sound(document: Document) -> None:
    for section in document.sections:
        _within_text("section", section.start, section.end, document.text)
    for page in document.pages:
        _within_text("page", page.start, page.end, document.text)
    for row in (row for one in document.tables for row in one.rows):
        for cell in row.cells:
            _within_text("cell", cell.start, cell.end, document.text)
    chunks = chunk_document(document, Chunking(min_tokens=5, target_tokens=30, max_tokens=80))
    for chunk in chunks:
        if document.text[chunk.start_offset : chunk.end_offset] != chunk.content:
            raise Fault("a chunk is not its stretch of the text")
    words = "".join(document.text.split())
    if "".join("".join(chunk.content.split()) for chunk in chunks) != words:
        raise Fault("the chunks do not hold the text once")


def _within_text(what: str, start: int, end: int, text: str) -> None:
    if not 0 <= start <= end <= len(text):
        raise Fault(f"a {what} lies outside the text: {start}, {end} of {len(text)}")


# --- markers --------------------------------------------------------------------------------------

_CLAIM = {"text": "It opened.", "citations": [{"source": "a.md", "quote": "opened"}]}
_ANSWERS = [
    b"Sales rose to 5 million in 2020 [1]. However, costs fell [2, a.md][^1]\n\n"
    b'[^1]: b "quoted" (a.md, p. 3).',
    b'<claim>It opened in 1932.</claim><cite source="a.md">opened in 1932</cite> (see [a.md#2])\n'
    b"* one [1]\n| a | 1 |",
    json.dumps({"claims": [_CLAIM]}).encode(),
    "Die Br\u00fccke wurde 1932 er\u00f6ffnet\u30101\u2020a.md\u3011. It cost $5\u20137 m.[1][2]".encode(),
]
_IDS = ("a.md", "b", "1")


def _markers(data: bytes) -> None:
    text = data.decode("utf-8", "replace")
    for claim in parse_answer(text, _IDS).claims:
        _within_text("claim", claim.start, claim.end, text)
        if not claim.text.strip():
            raise Fault("a claim without words")
    parse_structured(text, _IDS)


_SOURCES = [
    b'{"answer": "It opened in 1932 [1].", "sources": ["It opened in 1932.", {"id": "b", "text": "No."}]}',
    b'{"id": 5, "claim": "The toll is 5 cents.", "question": "What?", "sources": {"a": "5 cents"}}',
]


def _line(data: bytes) -> None:
    options = {"entailer": FakeEntailer(), "embedder": HashEmbedder()}
    out = msgspec.json.decode(verify_json_line(data, **options))
    for claim in out["claims"]:
        if claim["verdict"]["status"] not in (
            "VERIFIED",
            "UNSUPPORTED",
            "CONTRADICTED",
            "BROKEN",
            "UNCHECKED",
        ):
            raise Fault(f"no verdict: {claim}")


def _responses() -> list[bytes]:
    """The same checked answer in the format of every vendor."""
    source = RequestSource(id="https://b.example", text="It opened in 1932. The toll is 5 cents.")
    answered = VendorAnswer(text="The bridge opened. It opened in 1932.", sources=(source,))
    given = [(source.id, source.text)]
    claims = verify(answered.text, given, entailer=FakeEntailer(), embedder=HashEmbedder()).claims
    sent = {"documents": [{"id": source.id, "text": source.text}]}
    return [
        msgspec.json.encode({"request": sent, "response": write_response(answered, claims, vendor)})
        for vendor in sorted(WRITERS)
    ]


def _response(data: bytes) -> None:
    found = read_saved_response(msgspec.json.decode(data, type=dict[str, Any]))
    for cited in found.citations:
        _within_text("citation", cited.answer_start, cited.answer_end, found.text)
    names = [source.id for source in found.sources]
    if len(set(names)) < len(names):
        raise Fault("two sources have one id")


# --- records, notes, receipts, exports ------------------------------------------------------------


@cache
def _sealed() -> tuple[bytes, str, str, bytes]:
    """A receipt, the published keys, a checkpoint, and the record's JSON."""
    with tempfile.TemporaryDirectory() as folder:
        log = SqliteLog(Path(folder) / "audit.sqlite")
        log.note(EntryKind.CONFIGURATION, {"prompts": {}, "citewell": "1"})
        log.append(some_record(1))
        log.append(some_record(2))
        receipt, keys, kept = receipt_bytes(issue(log, f"req_{1:024d}")), log.published(), log.checkpoint()
        log.close()
        return receipt, keys, kept, msgspec.json.encode(some_record(1))


def _receipt(data: bytes) -> None:
    original, keys, _, _ = _sealed()
    report = check_receipt(data, key=keys)
    with suppress(ValueError):
        if report.ok and report.origin and json.loads(data) != json.loads(original):
            raise Fault("a forged receipt passes")


def _note(data: bytes) -> None:
    text = data.decode("utf-8", "replace")
    for block in checkpoints_in(text):
        with suppress(ValueError):
            read_checkpoint(block)
    for row in text.split("\n"):
        with suppress(ValueError):
            read_published(row)


def _record(data: bytes) -> None:
    msgspec.json.decode(data, type=AuditRecord)


class _Opened:
    """A log of a few entries on disk, whose bodies are changed in place."""

    def __init__(self) -> None:
        self._folder = tempfile.TemporaryDirectory()
        self.log = SqliteLog(Path(self._folder.name) / "audit.sqlite")
        self.log.note(EntryKind.CONFIGURATION, {"prompts": {}, "citewell": "1"})
        for number in range(3):
            self.log.append(some_record(number))
        with self.log.database.reading() as rows:
            (self.body,) = rows.execute("SELECT body FROM entries WHERE seq = 3").fetchone()

    def put(self, body: str) -> None:
        with self.log.database.writing() as rows:
            rows.execute("UPDATE entries SET body = ? WHERE seq = 3", (body,))


_opened = cache(_Opened)


def _entry(data: bytes) -> None:
    here, body = _opened(), data.decode("utf-8", "replace").replace("\x00", "")
    here.put(body)
    report = here.log.check()
    if report.ok and body != here.body:
        raise Fault("a changed entry passes")


def _files(data: bytes) -> dict[str, bytes]:
    """The files of an archive; nothing of one that cannot be unpacked, as that is not an export's fault."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            return {name: archive.read(name) for name in archive.namelist()}
    except Exception:  # noqa: BLE001 - whatever zipfile and zlib raise
        return {}


@cache
def _exported() -> tuple[bytes, str, list[Any]]:
    """An export as an archive, the published keys, and its entries."""
    with tempfile.TemporaryDirectory() as made:
        log, folder, out = _opened().log, Path(made), io.BytesIO()
        _opened().put(_opened().body)
        export(log, folder)
        with zipfile.ZipFile(out, "w") as archive:
            for path in sorted(path for path in folder.rglob("*") if path.is_file()):
                archive.write(path, path.relative_to(folder))
        return out.getvalue(), log.published(), list(ExportSource(folder).entries())


def _export(data: bytes) -> None:
    original, keys, entries = _exported()
    files = _files(data)
    with tempfile.TemporaryDirectory() as made:
        for name in _files(original):
            path = Path(made, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(files.get(name, b""))
        source = ExportSource(Path(made))
        if check_log(source, key=keys).ok and list(source.entries()) != entries:
            raise Fault("a changed export passes")


_UNREADABLE = (CitewellError, msgspec.DecodeError, UnicodeDecodeError)
TARGETS = (
    Target("readers", _documents, _read),
    Target("markers", lambda: _ANSWERS, _markers),
    Target("lines to verify", lambda: _SOURCES, _line, (CitewellError,)),
    Target("vendors' responses", _responses, _response, _UNREADABLE),
    Target("records", lambda: [_sealed()[3]], _record, (msgspec.DecodeError, UnicodeDecodeError)),
    Target("entries of a log", lambda: [_opened().body.encode()], _entry),
    Target("checkpoints and keys", lambda: [_sealed()[2].encode(), _sealed()[1].encode()], _note),
    Target("receipts", lambda: [_sealed()[0]], _receipt),
    Target("exports of a log", lambda: [_exported()[0]], _export, (ValueError, KeyError, OSError)),
)


def tried(target: Target, data: bytes) -> str:
    """ "" if all is well, otherwise one line that names the fault and its place."""

    def late(*_: object) -> None:
        raise Fault(f"more than {SLOW_S} s")

    former = signal.signal(signal.SIGALRM, late)
    signal.alarm(SLOW_S)
    try:
        target.check(data)
    except target.expected:
        return ""
    except Exception as error:  # noqa: BLE001 - any error not expected is a fault
        cause = error.__cause__ or error
        frames = [one for one in traceback.extract_tb(cause.__traceback__) if "citewell" in one.filename]
        place = f"{Path(frames[-1].filename).name}:{frames[-1].lineno}" if frames else "?"
        return f"{type(cause).__name__} at {place}: {' '.join(str(error).split())[:200]}"
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, former)
    return ""


def fuzz(
    target: Target, chance: random.Random, *, seconds: float = 0.0, times: int = 0
) -> tuple[int, dict[str, bytes]]:
    """At least ``times`` inputs, and for ``seconds``; each fault with the shortest input that showed it."""
    seeds, faults, done = target.seeds(), dict[str, bytes](), 0
    ends = time.monotonic() + seconds
    while done < times or time.monotonic() < ends:
        data = changed(chance.choice(seeds), chance)
        if fault := tried(target, data):
            alike = next((known for known in faults if known.split(": ")[0] == fault.split(": ")[0]), fault)
            faults[alike] = min(data, faults.get(alike, data), key=len)
        done += 1
    return done, faults


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--minutes", type=float, default=10.0, help="for all targets together")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--target", choices=[target.name for target in TARGETS])
    parser.add_argument("--keep", type=Path, help="a folder for the inputs that showed a fault")
    arguments = parser.parse_args()
    chosen = [target for target in TARGETS if arguments.target in (None, target.name)]
    weights = {target.name: 6.0 if target.name == "readers" else 1.0 for target in chosen}
    counts: Counter[str] = Counter()
    faults: dict[tuple[str, str], bytes] = {}
    for target in chosen:
        share = arguments.minutes * 60 * weights[target.name] / sum(weights.values())
        counts[target.name], found = fuzz(target, random.Random(arguments.seed), seconds=share)
        faults |= {(target.name, fault): data for fault, data in found.items()}
        print(f"{target.name}: {counts[target.name]} inputs, {len(found)} faults", flush=True)
    for number, ((name, fault), data) in enumerate(faults.items()):
        print(f"{name}: {fault}\n  {data[:120]!r}")
        if arguments.keep:
            arguments.keep.mkdir(parents=True, exist_ok=True)
            (arguments.keep / f"{number}.bin").write_bytes(data)
    if not arguments.target:
        _report({"minutes": arguments.minutes, "seed": arguments.seed, "code": code()}, counts, faults)
    sys.exit(bool(faults))


def _report(run: dict[str, Any], counts: Mapping[str, int], faults: Mapping[tuple[str, str], bytes]) -> None:
    """Adds a run to those on the page. ``mended`` in its JSON is written by hand: for each fault, by its
    target and beginning, the test that guards it."""
    path = RESULTS / "fuzzing.json"
    kept = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    runs = [*kept.get("runs", []), run | {"counts": dict(counts), "faults": [list(key) for key in faults]}]
    mended = kept.get("mended", [])
    found = dict.fromkeys((name, fault) for one in runs for name, fault in one["faults"])
    left = [
        key for key in found if not any(key[0] == name and key[1].startswith(at) for name, at, _ in mended)
    ]
    inputs = sum((Counter(one["counts"]) for one in runs), Counter[str]())
    per = Counter(name for name, _ in found)
    rows = [[target.name, f"{inputs[target.name]:,}", str(per[target.name])] for target in TARGETS]
    minutes = sum(one["minutes"] for one in runs)
    body = (
        f"{len(runs)} runs of `python -m benchmarks.fuzzing`, {minutes:g} minutes in all, the last with"
        f" `--minutes {run['minutes']:g} --seed {run['seed']}`. Valid examples are changed at random. A fault"
        " is an error that was not foreseen, a result that contradicts its input, a forgery that passes, or"
        f" more than {SLOW_S} seconds for one input.\n\n"
        f"{table(['what', 'inputs', 'faults found'], rows)}\n\n"
        f"## Faults left\n\n{_listed(f'{name}: {fault}' for name, fault in left)}\n\n"
        "## Faults fixed since\n\n"
        f"{_listed(f'{name}: {fault} (`{test}`)' for name, fault, test in mended)}\n"
    )
    write("fuzzing", "Fuzzing", body, {"runs": runs, "mended": mended})


def _listed(lines: Iterable[str]) -> str:
    return "\n".join(f"- {line}" for line in lines) or "None."


if __name__ == "__main__":
    main()
