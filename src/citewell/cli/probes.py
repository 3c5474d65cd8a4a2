"""``citewell eval probe``: are answers faithful to what they cite, can they be poisoned, what is detected?

In: arguments. Out: a report as text or JSON. Exit code 0 if the probe ran, whatever it found; 1 if the writer
failed, or no sample was probed.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from citewell.cli.commands import CommandResult, Home, command, group, members, refuse_unwritable
from citewell.cli.evaluation import evaluation
from citewell.cli.printing import ERROR, OK, aside, format_columns, say
from citewell.knowledge.home import KnowledgeBase

if TYPE_CHECKING:
    from citewell.evaluation.probes.faithfulness import FaithfulnessReport
    from citewell.evaluation.probes.subjects import Subject
    from citewell.evaluation.results import MeasureResult
    from citewell.knowledge.assembly import Assembly

probe = group("probe", "Change what the pipeline reads and see how the answer changes.", evaluation)


@command(probe)
def faithfulness(
    home: Home,
    cases: Annotated[Path, typer.Argument(metavar="CASES", help='Cases; lines with "sources" need no home.')],
    budget: Annotated[int | None, typer.Option(min=1)] = None,
    writer: str = "",
    controls: Annotated[int, typer.Option(min=1, max=4)] = 2,
    seed: int = 0,
    out: Path | None = None,
) -> CommandResult:
    """Test whether answers use what they cite: remove or change the sources and rewrite the answer. Exits
    with 1 if the writer failed on a sample; the figures then cover the other samples only.

    --budget N: The maximum number of writer calls.
    --controls: Control edits outside the cited text, per sample.
    """
    from citewell.evaluation.probes.faithfulness import Faithfulness
    from citewell.evaluation.probes.subjects import case_samples

    refuse_unwritable(out)
    knowledge_base = home.open() if home.path.is_dir() else None
    samples = case_samples(cases, knowledge_base)
    parts = knowledge_base.parts if knowledge_base else home.parts()
    subject = _subject(parts, writer)
    asked = Faithfulness(subject=subject, entailer=parts.entailer, controls=controls, seed=seed)
    report = asked.probe(
        samples, budget=budget, told=lambda done, calls: aside(f"{done} samples, {calls} calls")
    )
    _write(report, out)
    if incomplete := report.failed or not report.samples:
        aside(f"{report.samples} of {len(samples)} samples probed")
    return CommandResult(report, lambda: _tell(report), ERROR if incomplete else OK)


@command(probe)
def poisoning(
    kb: KnowledgeBase,
    cases: Annotated[Path, typer.Argument(metavar="CASES", help="Cases with an expected answer and a span.")],
    kind: list[str] | None = None,
    count: Annotated[list[int] | None, typer.Option(min=1)] = None,
    out: Path | None = None,
) -> CommandResult:
    """Measure how well answers withstand poisoned documents, with and without each defence. The home is not
    changed.

    --kind KIND: irrelevant, contradictory, outdated, flood, instruction.
    --count N: Poisoned documents per question; repeatable.
    """
    from citewell.evaluation.cases import load_cases
    from citewell.evaluation.probes.poison import Poison
    from citewell.evaluation.probes.poisoning import RATES, probe_poisoning, targets_of

    refuse_unwritable(out)
    kinds = members(Poison, kind, "--kind") or tuple(Poison)
    targets, left_out = targets_of(load_cases(cases), lambda name: kb.document(name).text)
    report = probe_poisoning(kb.parts, targets, left_out, kinds=kinds, counts=count or RATES, told=aside)
    _write(report, out)

    def tell() -> None:
        say(str(report))
        say(f"\n{len(left_out)} left out because they have nothing to replace or their document is missing")

    return CommandResult(report, tell)


@command(probe)
def detectors(
    home: Home,
    file: Annotated[Path, typer.Argument(metavar="FILE", help='JSON lines: {"claim", "sources", "label"}.')],
    judge: str = "",
    out: Path | None = None,
) -> CommandResult:
    """Compare the ways to detect unsupported claims: how many each catches, and its false alarms."""
    from citewell.evaluation.cases import load_labelled
    from citewell.evaluation.probes import detectors as known
    from citewell.models.naming import entailer_named

    refuse_unwritable(out)
    rows = load_labelled(file)
    parts = home.parts()
    chosen = [
        known.word_overlap(),
        known.cosine(parts.embedder),
        known.verified(parts.entailer, parts.config.verification),
        *([known.judge_detector(entailer_named(judge))] if judge else []),
    ]
    report = known.measure(rows, chosen, data=str(file))
    _write(report, out)

    return CommandResult(report, lambda: say(str(report)))


def _subject(parts: Assembly, writer: str) -> Subject:
    from citewell.evaluation.probes.subjects import Generated
    from citewell.generation import LanguageModelWriter
    from citewell.models.naming import language_model_named

    generator = parts.generator
    if writer:
        settings = parts.config.writer
        generator = LanguageModelWriter(language_model_named(writer, settings, "--writer"), settings)
    return Generated(generator)


def _write(report: object, out: Path | None) -> None:
    import msgspec

    from citewell.evaluation.cases import write_file

    if out is not None:
        write_file(out, msgspec.json.encode(report) + b"\n")


def _tell(report: FaithfulnessReport) -> None:
    for one in report.citations:
        say(f"{one.finding.value:18}{' '.join(one.claim.split())[:90]}")
        say(f"{'':18}{one.source}: {one.reason}")
    say()
    say(f"writer {report.subject.name}: {report.samples} samples, {report.calls} calls")
    format_columns(
        [
            ("measure", "share", "n", "unscored"),
            *((m.name, _share(m), str(m.n), str(m.unscored)) for m in report.measures),
        ]
    )
    for note in (*report.notes, *report.left_out):
        say(f"note: {note}")


def _share(found: MeasureResult) -> str:
    if found.value is None:
        return "not measured"
    return f"{found.value:.2f} [{found.low:.2f}, {found.high:.2f}]"
