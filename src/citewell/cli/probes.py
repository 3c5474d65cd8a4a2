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

from citewell.cli.eval_run import refuse_unwritable
from citewell.cli.home import HomeOption, JsonOption, home_of, open_home
from citewell.cli.printing import ERROR, aside, columns, say, say_json
from citewell.core.errors import UsageError

if TYPE_CHECKING:
    from citewell.evaluation.probes.faithfulness import FaithfulnessReport
    from citewell.evaluation.probes.subjects import Sample, Subject
    from citewell.evaluation.results import Result
    from citewell.knowledge.assembly import Assembly
    from citewell.knowledge.home import KnowledgeBase

LIVE_BUDGET = 200
"""The default limit on writer calls for live traffic, because a week of it can be any amount."""
Kind = TypeVar("Kind", bound=StrEnum)
Out = Annotated[
    Path | None, typer.Option("--out", metavar="FILE", help="Also write the report to FILE as JSON.")
]
Seed = Annotated[int, typer.Option(help="The seed for everything that is drawn at random.")]
CaseFile = Annotated[
    Path | None, typer.Argument(metavar="[CASES]", help='Cases; lines with "sources" need no home.')
]


def register(group: typer.Typer) -> None:
    probe = typer.Typer(
        help="Change what the pipeline reads and see how the answer changes.",
        no_args_is_help=True,
        rich_markup_mode=None,
    )
    probe.command()(faithfulness)
    probe.command()(poisoning)
    probe.command()(detectors)
    group.add_typer(probe, name="probe")


def faithfulness(
    context: typer.Context,
    cases: CaseFile = None,
    live: Annotated[bool, typer.Option("--live", help="Sample what people asked, from the log.")] = False,
    since: Annotated[str, typer.Option(metavar="WHEN", help="With --live: 7d, 12h, or a date.")] = "7d",
    budget: Annotated[
        int | None,
        typer.Option(
            min=1,
            metavar="N",
            help=f"The maximum number of writer calls. [default: {LIVE_BUDGET} with --live]",
        ),
    ] = None,
    writer: Annotated[
        str,
        typer.Option(metavar="LINE", help="Probe this writer (such as openai:MODEL) instead of the home's."),
    ] = "",
    command: Annotated[
        str,
        typer.Option(
            metavar="CMD", help="Probe a program that reads a question and sources and prints an answer."
        ),
    ] = "",
    retrieval: Annotated[
        bool,
        typer.Option("--retrieval", help="Rank and select passages again on the edited text too."),
    ] = False,
    controls: Annotated[
        int, typer.Option(min=1, max=4, help="Control edits outside the cited text, per sample.")
    ] = 2,
    seed: Seed = 0,
    reader: Annotated[str, typer.Option("--reader", metavar="U", help="Your name, for the record.")] = "",
    out: Out = None,
    json: JsonOption = False,
    home: HomeOption = None,
) -> None:
    """Test whether answers use what they cite: remove or change the sources and rewrite the answer. Exits
    with 1 if the writer failed on a sample; the figures then cover the other samples only."""
    from citewell.evaluation.probes.faithfulness import Alike, Faithfulness

    if (cases is None) is not live:
        raise UsageError("nothing to probe", hint="give CASES or --live")
    if command and (writer or retrieval):
        raise UsageError(
            "--command cannot be combined with --writer or --retrieval", hint="leave out one or the other"
        )
    knowledge_base = _home(context, home)
    if knowledge_base is None and live:
        raise UsageError("--live needs a home", hint="name one with --home")
    refuse_unwritable(out)
    budget = LIVE_BUDGET if live and budget is None else budget
    samples = _samples(knowledge_base, cases, since, reader, seed, budget)
    parts = _parts(context, home, knowledge_base)
    subject = _subject(parts, knowledge_base is not None, writer, command, retrieval)
    probe = Faithfulness(subject=subject, alike=Alike(parts.entailer), controls=controls, seed=seed)
    report = probe.probe(
        samples, budget=budget, told=lambda done, calls: aside(f"{done} samples, {calls} calls")
    )
    if not _written(report, out, json):
        _tell(report)
    if report.failed or not report.samples:
        aside(f"{report.samples} of {len(samples)} samples probed")
        raise typer.Exit(ERROR)


def poisoning(
    context: typer.Context,
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
    out: Out = None,
    json: JsonOption = False,
    home: HomeOption = None,
) -> None:
    """Measure how well answers withstand poisoned documents, with and without each defence. The home is not
    changed."""
    from citewell.evaluation.cases import load_cases
    from citewell.evaluation.probes.poison import Poison
    from citewell.evaluation.probes.poisoning import RATES, Place, Poisoning, targets_of

    refuse_unwritable(out)
    kinds, places = _known("--kind", kind, Poison), _known("--place", place, Place)
    knowledge_base = open_home(context, home)
    targets, left_out = targets_of(load_cases(cases), lambda name: knowledge_base.document(name).text)
    probe = Poisoning(
        parts=knowledge_base.parts, kinds=kinds, counts=count or RATES, told=lambda line: aside(line)
    )
    report = probe.probe(targets, places, left_out)
    if _written(report, out, json):
        return
    shares = ("accuracy", "misled", "abstained", "citation_precision", "clean_citations")
    rows = [("place", "poison", "count", "defences", *(name.replace("_", " ") for name in shares))]
    for cell in report.cells:
        told = (cell.place.value, cell.poison.value if cell.poison else "-", str(cell.count), cell.defences)
        rows.append((*told, *(_share(getattr(cell, name)) for name in shares)))
    columns(rows)
    say(
        f"{report.cases} cases probed; {len(left_out)} left out because they have"
        " nothing to replace or their document is missing"
    )


def detectors(
    context: typer.Context,
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
    judge: Annotated[
        str, typer.Option(metavar="LINE", help="Also measure this judge, such as openai:MODEL.")
    ] = "",
    seed: Seed = 0,
    out: Out = None,
    json: JsonOption = False,
    home: HomeOption = None,
) -> None:
    """Compare the ways to detect unsupported claims: how many each catches, and its false alarms."""
    from citewell.evaluation.cases import load_labelled
    from citewell.evaluation.probes import detectors as known
    from citewell.models.naming import entailer_named

    refuse_unwritable(out)
    paths = _sets(file, data)
    loaded = {name: load_labelled(path, most=most, seed=seed) for name, path in paths.items()}
    parts = _parts(context, home, None)
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
    if _written(reports, out, json):
        return
    for report in reports:
        say(f"{report.data}: {report.n} claims, {report.supported} supported")
        table = [("detector", "caught", "false alarms", "unscored")]
        for one in report.detectors:
            unscored = one.caught.unscored + one.alarms.unscored
            shares = (_share(one.caught), _share(one.alarms))
            table.append((f"{one.detector} < {one.border:g}", *shares, str(unscored)))
        columns(table)


# --- inside ---------------------------------------------------------------------------------------


def _known(option: str, given: list[str] | None, known: type[Kind]) -> tuple[Kind, ...]:
    """The members that are named, or all if none is."""
    names = {member.value: member for member in known}
    for name in given or ():
        if name not in names:
            raise UsageError(f"{option} {name}", hint=f"one of {', '.join(names)}")
    return tuple(names[name] for name in given or names)


def _home(context: typer.Context, home: str | None) -> KnowledgeBase | None:
    return open_home(context, home) if home_of(context, home).is_dir() else None


def _parts(context: typer.Context, home: str | None, knowledge_base: KnowledgeBase | None) -> Assembly:
    from citewell.knowledge.assembly import Assembly, load_config

    if knowledge_base is not None:
        return knowledge_base.parts
    folder = home_of(context, home)
    return Assembly(folder, load_config(folder))


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


def _subject(parts: Assembly, has_home: bool, writer: str, program: str, retrieval: bool) -> Subject:
    from citewell.evaluation.probes.subjects import Generated, Retrieving, command
    from citewell.generation import LanguageModelWriter
    from citewell.models.naming import language_model_named

    if program:
        return command(program)
    generator = parts.generator
    if writer:
        settings = parts.config.writer
        generator = LanguageModelWriter(language_model_named(writer, settings, "--writer"), settings)
    if not retrieval:
        return Generated(generator)
    if not has_home:
        raise UsageError("--retrieval needs a home", hint="name one with --home")
    return Retrieving(generator, parts)


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


def _written(report: object, out: Path | None, json: bool) -> bool:
    """Writes the report to ``out`` and, as JSON, to standard output: whether that was asked for."""
    from citewell.core.records import to_json
    from citewell.evaluation.cases import write_file

    if out is not None:
        write_file(out, to_json(report) + b"\n")
    if json:
        say_json(report)
    return json


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
