"""``citewell eval probe``: are answers faithful to what they cite, can they be poisoned, what is caught?

In: words. Out: a report as lines, or as JSON. Exit code 0 when the probe ran, whatever it found; 1 when a
writer failed, or no sample was probed at all.
"""

from __future__ import annotations

import os
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

from citewell.cli.commands import Found, command, probe, refuse_unwritable
from citewell.cli.home import Home
from citewell.cli.printing import ERROR, OK, aside, columns, say
from citewell.core.errors import UsageError
from citewell.knowledge.home import KnowledgeBase

if TYPE_CHECKING:
    from citewell.evaluation.probes.faithfulness import FaithfulnessReport
    from citewell.evaluation.probes.subjects import Sample, Subject
    from citewell.evaluation.results import Result
    from citewell.knowledge.assembly import Assembly

LIVE_BUDGET = 200
"""The default limit on writer calls for live traffic, because a week of it can be any amount."""
Kind = TypeVar("Kind", bound=StrEnum)
Budget = Annotated[
    int | None,
    typer.Option(
        min=1, metavar="N", help=f"The maximum number of writer calls. [default: {LIVE_BUDGET} with --live]"
    ),
]


@command(probe)
def faithfulness(
    home: Home,
    cases: Annotated[
        Path | None, typer.Argument(metavar="[CASES]", help='Cases; lines with "sources" need no home.')
    ] = None,
    live: Annotated[bool, typer.Option("--live", help="Sample what people asked, from the log.")] = False,
    since: Annotated[str, typer.Option(metavar="WHEN", help="With --live: 7d, 12h, or a date.")] = "7d",
    budget: Budget = None,
    writer: str = "",
    program: Annotated[
        str,
        typer.Option(
            "--command",
            metavar="CMD",
            help="Probe a program that reads a question and sources and prints an answer.",
        ),
    ] = "",
    controls: Annotated[
        int, typer.Option(min=1, max=4, help="Control edits outside the cited text, per sample.")
    ] = 2,
    seed: int = 0,
    reader: str = "",
    out: Path | None = None,
) -> Found:
    """Test whether answers use what they cite: remove or change the sources and rewrite the answer. Exits
    with 1 if the writer failed on a sample; the figures then cover the other samples only."""
    from citewell.evaluation.probes.faithfulness import Alike, Faithfulness

    if (cases is None) is not live:
        raise UsageError("nothing to probe", hint="give CASES or --live")
    if program and writer:
        raise UsageError("--command cannot be combined with --writer", hint="leave out one or the other")
    knowledge_base = home.open() if home.path.is_dir() else None
    if knowledge_base is None and live:
        raise UsageError("--live needs a home", hint="name one with --home")
    refuse_unwritable(out)
    budget = LIVE_BUDGET if live and budget is None else budget
    samples = _samples(knowledge_base, cases, since, reader, seed, budget)
    parts = knowledge_base.parts if knowledge_base else _parts(home)
    subject = _subject(parts, writer, program)
    asked = Faithfulness(subject=subject, alike=Alike(parts.entailer), controls=controls, seed=seed)
    report = asked.probe(
        samples, budget=budget, told=lambda done, calls: aside(f"{done} samples, {calls} calls")
    )
    _write(report, out)
    if incomplete := report.failed or not report.samples:
        aside(f"{report.samples} of {len(samples)} samples probed")
    return Found(report, lambda: _tell(report), ERROR if incomplete else OK)


@command(probe)
def poisoning(
    kb: KnowledgeBase,
    cases: Annotated[Path, typer.Argument(metavar="CASES", help="Cases with an expected answer and a span.")],
    place: Annotated[
        list[str] | None, typer.Option(metavar="PLACE", help="context or index; repeatable. [default: both]")
    ] = None,
    kind: Annotated[
        list[str] | None,
        typer.Option(metavar="KIND", help="irrelevant, contradictory, outdated, flood, instruction."),
    ] = None,
    count: Annotated[
        list[int] | None,
        typer.Option(min=1, metavar="N", help="Poisoned documents per question; repeatable."),
    ] = None,
    out: Path | None = None,
) -> Found:
    """Measure how well answers withstand poisoned documents, with and without each defence. The home is not
    changed."""
    from citewell.evaluation.cases import load_cases
    from citewell.evaluation.probes.poison import Poison
    from citewell.evaluation.probes.poisoning import RATES, Place, Poisoning, targets_of

    refuse_unwritable(out)
    kinds, places = _known("--kind", kind, Poison), _known("--place", place, Place)
    targets, left_out = targets_of(load_cases(cases), lambda name: kb.document(name).text)
    asked = Poisoning(parts=kb.parts, kinds=kinds, counts=count or RATES, told=aside)
    report = asked.probe(targets, places, left_out)
    _write(report, out)
    shares = ("accuracy", "misled", "abstained", "citation_precision", "clean_citations")
    rows = [("place", "poison", "count", "defences", *(name.replace("_", " ") for name in shares))]
    for cell in report.cells:
        told = (cell.place.value, cell.poison.value if cell.poison else "-", str(cell.count), cell.defences)
        rows.append((*told, *(_share(getattr(cell, name)) for name in shares)))

    def tell() -> None:
        columns(rows)
        say(
            f"{report.cases} cases probed; {len(left_out)} left out because they have"
            " nothing to replace or their document is missing"
        )

    return Found(report, tell)


@command(probe)
def detectors(
    home: Home,
    file: Annotated[
        Path | None, typer.Argument(metavar="[FILE]", help='JSON lines: {"claim", "sources", "label"}.')
    ] = None,
    data: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME", help="A data set under CITEWELL_DATA, such as nli/begin.dev; repeatable."
        ),
    ] = None,
    most: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="Rows to draw from each data set.")
    ] = None,
    judge: str = "",
    seed: int = 0,
    out: Path | None = None,
) -> Found:
    """Compare the ways to detect unsupported claims: how many each catches, and its false alarms."""
    from citewell.evaluation.cases import load_labelled
    from citewell.evaluation.probes import detectors as known
    from citewell.models.naming import entailer_named

    refuse_unwritable(out)
    paths = _sets(file, data)
    loaded = {name: load_labelled(path, most=most, seed=seed) for name, path in paths.items()}
    parts = _parts(home)
    chosen = [
        known.word_overlap(),
        known.cosine(parts.embedder),
        known.verified(parts.entailer, parts.config.verification),
        *([known.judged_by(entailer_named(judge))] if judge else []),
    ]
    reports = []
    for name, rows in loaded.items():
        aside(f"{name}: {len(rows)} claims")
        reports.append(known.measure(rows, chosen, data=name))
    _write(reports, out)

    def tell() -> None:
        for report in reports:
            say(f"{report.data}: {report.n} claims, {report.supported} supported")
            table = [("detector", "caught", "false alarms", "unscored")]
            for one in report.detectors:
                unscored = one.caught.unscored + one.alarms.unscored
                shares = (_share(one.caught), _share(one.alarms))
                table.append((f"{one.detector} < {one.border:g}", *shares, str(unscored)))
            columns(table)

    return Found(reports, tell)


# --- inside ---------------------------------------------------------------------------------------


def _known(option: str, given: list[str] | None, known: type[Kind]) -> tuple[Kind, ...]:
    """The members that are named, or all if none is."""
    names = {member.value: member for member in known}
    for name in given or ():
        if name not in names:
            raise UsageError(f"{option} {name}", hint=f"one of {', '.join(names)}")
    return tuple(names[name] for name in given or names)


def _parts(home: Home) -> Assembly:
    from citewell.knowledge.assembly import Assembly, load_config

    return Assembly(home.path, load_config(home.path))


def _samples(
    knowledge_base: KnowledgeBase | None,
    cases: Path | None,
    since: str,
    reader: str,
    seed: int,
    budget: int | None,
) -> list[Sample]:
    from citewell.evaluation.probes.subjects import case_samples, live_samples

    if cases is not None:
        return case_samples(cases, knowledge_base)
    assert knowledge_base is not None  # noqa: S101 - refused before
    # A sample costs a call at least, so no more of them can be reached.
    found = live_samples(knowledge_base, since=since, reader=reader, seed=seed, most=budget)
    if not found:
        raise UsageError(f"no answer with claims since {since}", hint="try an earlier --since")
    return found


def _subject(parts: Assembly, writer: str, program: str) -> Subject:
    from citewell.evaluation.probes.subjects import Generated, command
    from citewell.generation import LanguageModelWriter
    from citewell.models.naming import language_model_named

    if program:
        return command(program)
    generator = parts.generator
    if writer:
        settings = parts.config.writer
        generator = LanguageModelWriter(language_model_named(writer, settings, "--writer"), settings)
    return Generated(generator)


def _sets(file: Path | None, data: list[str] | None) -> dict[str, Path]:
    if (file is None) is (not data):
        raise UsageError("nothing to measure", hint="give FILE or --data NAME")
    if file is not None:
        return {str(file): file}
    folder = os.environ.get("CITEWELL_DATA")
    if not folder:
        raise UsageError(
            "CITEWELL_DATA is not set", hint="set it to the folder of the public data, or give FILE"
        )
    paths = {name: Path(folder) / f"{name}.jsonl.gz" for name in data or ()}
    for name, path in paths.items():
        if not path.resolve().is_relative_to(Path(folder).resolve()):
            raise UsageError(
                f"{name} is not under CITEWELL_DATA", hint="name a data set, such as nli/begin.dev"
            )
    return paths


def _write(report: object, out: Path | None) -> None:
    from citewell.core.records import to_json
    from citewell.evaluation.cases import write_file

    if out is not None:
        write_file(out, to_json(report) + b"\n")


def _tell(report: FaithfulnessReport) -> None:
    for one in report.citations:
        say(f"{one.finding.value:18}{' '.join(one.claim.split())[:90]}")
        say(f"{'':18}{one.source}: {one.reason}")
    say()
    say(f"writer {report.subject.name}: {report.samples} samples, {report.calls} calls")
    columns(
        [
            ("measure", "share", "n", "unscored"),
            *((m.name, _share(m), str(m.n), str(m.unscored)) for m in report.measures),
        ]
    )
    for note in (*report.notes, *report.left_out):
        say(f"note: {note}")


def _share(found: Result) -> str:
    if found.value is None:
        return "not measured"
    return f"{found.value:.2f} [{found.low:.2f}, {found.high:.2f}]"
