"""``citewell verify``: checks any answer against any sources, without an index; also JSON lines."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from citewell.cli.answers import print_claims
from citewell.cli.commands import STDIN, Home, app, command, read_text
from citewell.cli.printing import FAILED, OK, PARTIAL, USAGE, aside, code_of_claims, escaped, say, say_json
from citewell.core.errors import DocumentError, UsageError
from citewell.core.vocabulary import readable_name

if TYPE_CHECKING:
    from citewell.answering.verifying import VerifyReport
    from citewell.knowledge.assembly import Assembly
    from citewell.vendors.reading import VendorAnswer

_WORST = (USAGE, FAILED, PARTIAL, OK)


@command(app)
def verify(
    home: Home,
    more: Annotated[list[Path] | None, typer.Argument(metavar="[FILE]...", help="More sources.")] = None,
    answer: str = "",
    source: list[Path] | None = None,
    question: str = "",
    jsonl: str = "",
    from_: Annotated[str, typer.Option("--from")] = "",
    to: str = "",
    json: bool = False,
) -> int:
    """Check an answer against its sources. FILE alone is a saved response of a vendor, with its citations.
    Exit codes: 0 all claims verified, 3 some not supported, 5 some contradicted or with a broken citation.

    --answer FILE|-: The answer to check.
    --source FILE: A source, of any kind that `ingest` reads; repeatable.
    --question TEXT: What was asked, if known.
    --jsonl FILE|-: Check one {"id", "question"?, "answer" or "claim", "sources"} per line.
    --from VENDOR: FILE is a response of anthropic, openai, ...; without it the vendor is detected.
    --to FORMAT: Print what is verified as a response of a vendor, or as w3c.
    """
    from citewell.vendors.reading import VendorAnswer
    from citewell.vendors.requests import RequestSource

    response = more[0] if more and not answer and not jsonl else None
    sources = [*(source or ()), *(() if response else more or ())]
    fits = bool(sources) if answer else not sources or response is not None
    if (
        (bool(jsonl), bool(answer), response is not None).count(True) != 1
        or not fits
        or (from_ and not response)
    ):
        raise UsageError(
            "nothing to verify",
            hint="give --answer FILE with --source FILE..., a saved response of a vendor, or --jsonl FILE",
        )
    assembly = home.parts()
    if stale := assembly.card_state(verdicts=True).note:
        aside(f"WARNING {stale}")
    if jsonl:
        return _lines(jsonl, assembly)
    read = _read(sources, assembly)
    if response:
        given = _response(response, from_, read)
    else:
        named = tuple(RequestSource(id=id, text=text) for id, text in read)
        given = VendorAnswer(text=read_text(answer), sources=named)
    return _one(given, question or given.question, assembly, json, to)


def _response(path: Path, vendor: str, sources: list[tuple[str, str]]) -> VendorAnswer:
    """A saved response; ``sources`` are the documents of its request, in their order."""
    import msgspec

    from citewell.vendors.reading import read_saved_response

    try:
        given = msgspec.json.decode(read_text(path))
    except (msgspec.DecodeError, RecursionError) as error:
        raise UsageError(f"{path} is not JSON: {error}", hint="save the response as JSON") from error
    if not isinstance(given, dict):
        raise UsageError(f"{path} is not a JSON object", hint="save the response as the API returned it")
    found = read_saved_response(given, vendor, sources)
    if not found.sources:
        hint = (
            'add them with --source, in the order of the request, or save {"request": ..., "response": ...}'
        )
        raise UsageError(f"{path} does not include the text of its sources", hint=hint)
    return found


def _one(given: VendorAnswer, question: str, assembly: Assembly, json: bool, to: str) -> int:
    from citewell.answering.verifying import verify as check
    from citewell.vendors.writing import write

    sources = [(source.id, source.text) for source in given.sources]
    report = check(given.text, sources, question or None, citations=given.citations, **_options(assembly))
    for note in given.notes:
        aside(f"note: {note}")
    if to:
        say_json(write(given, report.claims, to))
        return code_of_claims(report.claims)
    if json:
        fields = ("claims", "supported", "hallucination_gap", "report", "notes")
        say_json({name: getattr(report, name) for name in fields})
    else:
        _tell(report)
    return code_of_claims(report.claims)


def _lines(jsonl: str, assembly: Assembly) -> int:
    """Checks JSON lines; reports unreadable ones and continues; the worst outcome is the exit code. Empty
    input does not count as a pass."""
    import msgspec

    from citewell.answering.verifying import verify_json_line
    from citewell.core.records import Claim

    codes: set[int] = set()
    options = _options(assembly)
    for number, line in enumerate(_input(jsonl), 1):
        if not line.strip():
            continue
        try:
            checked = verify_json_line(line, **options)
        except UsageError as error:
            aside(f"line {number}: {error}")
            codes.add(USAGE)
            continue
        print(escaped(checked.decode()), flush=True)
        claims = msgspec.convert(msgspec.json.decode(checked)["claims"], tuple[Claim, ...])
        codes.add(code_of_claims(claims))
    if not codes:
        aside("nothing to check: the input is empty")
        return PARTIAL
    return next(code for code in _WORST if code in codes)


def _options(assembly: Assembly) -> dict[str, Any]:
    return {
        "entailer": assembly.entailer,
        "embedder": assembly.embedder,
        "settings": assembly.config.verification,
        "card": assembly.card_state(verdicts=True),
    }


def _read(paths: list[Path], assembly: Assembly) -> list[tuple[str, str]]:
    """Each source as (path, text), read like any document; an unreadable one is an error, not skipped."""
    from citewell.documents.worker import ParsingWorker

    read = []
    with ParsingWorker(assembly.config.documents) as worker:
        for path in paths:
            try:
                read.append((str(path), worker.read(path, document_id=str(path)).text))
            except DocumentError as error:
                raise UsageError(f"{path}: {error.args[0]}", hint=error.hint) from error
    return read


def _input(name: str) -> Iterator[bytes]:
    if name == STDIN:
        yield from sys.stdin.buffer
        return
    try:
        with Path(name).open("rb") as file:
            yield from file
    except OSError as error:
        raise UsageError(f"{name} cannot be read ({error.strerror})", hint="check the path") from error


def _tell(report: VerifyReport) -> None:
    print_claims(report.claims)
    if not report.claims:
        say("Nothing to check: the answer makes no claim.")
    supported = "not measured" if report.supported is None else f"{report.supported:.2f}"
    gap = "not measured" if report.hallucination_gap is None else f"{report.hallucination_gap:.2f}"
    say(f"supported {supported} (probability that every claim is supported)")
    say(f"{readable_name('hallucination_gap').lower()} {gap} (of the claims, by all sources together)")
    found = report.report
    say(
        f"citations {found.total_citations}, to {found.unique_sources_cited} of"
        f" {found.total_sources_available} sources"
    )
    for label in found.invalid_citations:
        say(f"invalid   {label}")
    for note in report.notes:
        say(f"note: {note}")
