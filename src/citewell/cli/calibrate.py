"""``citewell calibrate``: labelled data -> a calibration card, and what it promises.

In: arguments. Out: the card's file and a table. Exit code 0 if every measured promise holds, else 3.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from citewell.cli.commands import CommandResult, Home, app, command, refuse_unwritable
from citewell.cli.evaluation import progress_bar
from citewell.cli.printing import OK, PARTIAL, aside, format_columns, say
from citewell.core.errors import CitewellError, UsageError

if TYPE_CHECKING:
    from citewell.core.records import Case
    from citewell.evaluation.calibration.calibrating import CalibrationData
    from citewell.evaluation.cases import LabelledClaim
    from citewell.knowledge.home import KnowledgeBase
    from citewell.verification.confidence.cards import Card


@command(app)
def calibrate(
    home: Home,
    files: Annotated[
        list[Path] | None,
        typer.Argument(metavar="[CASES]...", help="Case files, or labelled claims with their sources."),
    ] = None,
    alpha: Annotated[float, typer.Option(min=0.001, max=0.5)] = 0.05,
    partial_alpha: Annotated[float, typer.Option(min=0.001, max=0.5)] = 0.2,
    confidence: Annotated[float, typer.Option(min=0.5, max=0.999)] = 0.95,
    out: Path | None = None,
) -> CommandResult:
    """Set thresholds, borders and weights from labelled data, and state what can be promised of them.

    --alpha: The share of errors to allow.
    --partial-alpha: The share of wrong answers to allow among all that are shown.
    --confidence: The confidence with which the promise must hold.
    --out CARD: Where to write the card. [default: card.json in the home]
    """
    from citewell.evaluation.calibration.calibrating import Terms
    from citewell.evaluation.calibration.calibrating import calibrate as make
    from citewell.verification.confidence.cards import PromiseOutcome, write_card

    refuse_unwritable(out)
    knowledge_base = _without_card(home)
    evidence = _evidence(files or [])
    terms = Terms(alpha=alpha, partial_alpha=partial_alpha, confidence=confidence)
    with progress_bar() as bar:
        card = make(knowledge_base, evidence, terms, progress=bar)
    path = out or home.path / "card.json"
    lost = _lost(card, path)
    # Logged first: no card may come into use that the log does not know.
    knowledge_base.audit.note_evaluation(
        {"measure": "calibration card", "card": card.hash, "settings": card.settings}
    )
    write_card(card, path)
    if lost:
        aside(f"WARNING the previous card in {path} set {', '.join(lost)} too; this one does not")
    measured = [made for made in card.promises if made.outcome is not PromiseOutcome.NOT_MEASURED]
    holds = measured and all(made.outcome is PromiseOutcome.HOLDS for made in measured)
    return CommandResult(card, lambda: _tell(card, path, home.path), OK if holds else PARTIAL)


def _lost(card: Card, path: Path) -> list[str]:
    """Settings of the overwritten card that the new one lacks."""
    from citewell.verification.confidence.cards import read_card

    try:
        before = read_card(path)
    except CitewellError:
        return []
    return sorted(set(before.settings) - set(card.settings))


def _without_card(home: Home) -> KnowledgeBase:
    """The home as configured, but without its card: an old or missing card must not block calibration."""
    import msgspec

    home.must_be_there()
    config = home.config()
    bare = msgspec.structs.replace(config.confidence, card="")
    return home.open(config=msgspec.structs.replace(config, confidence=bare))


def _evidence(files: list[Path]) -> CalibrationData:
    from citewell.core.identity import hash_file
    from citewell.evaluation.calibration.calibrating import CalibrationData
    from citewell.evaluation.cases import load_cases, load_labelled, looks_labelled
    from citewell.verification.confidence.cards import Labelled

    cases: list[Case] = []
    claims: list[LabelledClaim] = []
    sources: list[Labelled] = []
    for path in files:
        read: list[LabelledClaim] | tuple[Case, ...]
        if looks_labelled(path):
            kind, read = "labelled claims", load_labelled(path)
            claims += read
        else:
            kind, read = "cases", load_cases(path)
            cases += read
        digest = hash_file(path)
        same = next((source.name for source in sources if source.hash == digest), None)
        if same is not None:
            raise UsageError(f"{path} has the same content as {same}", hint="name each file only once")
        sources.append(Labelled(name=path.name, hash=digest, kind=kind, n=len(read)))
    doubled = sorted(name for name, n in Counter(case.id for case in cases).items() if n > 1)
    if doubled:
        raise UsageError(f"two cases have the id {doubled[0]!r}", hint="give each case its own id")
    return CalibrationData(cases=tuple(cases), claims=tuple(claims), sources=tuple(sources))


def _tell(card: Card, path: Path, folder: Path) -> None:
    from citewell.verification.confidence.cards import PromiseOutcome

    rows: list[tuple[str, ...]] = [
        ("promise", "threshold", "units", "shown", "errors", "rate", "at most", "coverage", "outcome")
    ]
    for made in card.promises:
        counts = (str(made.n), str(made.shown), str(made.errors))
        shares = map(_share, (made.rate, made.bound, made.coverage))
        rows.append((made.name, f"{made.threshold:.3g}", *counts, *shares, made.outcome.value))
    format_columns(rows)
    silent: dict[str, list[str]] = {}
    for made in card.promises:
        if made.outcome is PromiseOutcome.HOLDS:
            say(f"with {card.confidence:.0%} confidence: {made.says}")
        elif made.outcome is PromiseOutcome.NOT_MEASURED:
            silent.setdefault(made.note, []).append(made.name)
        else:
            say(f"{made.name}: no promise; the threshold stays {made.threshold:.3g} ({made.note})")
    for note, names in silent.items():
        say(f"not measured: {', '.join(names)} ({note})")
    if card.weighing is not None:
        weights = ", ".join(f"{name} {value:.2g}" for name, value in card.weighing.weights.items())
        note = f" ({card.weighing.note})" if card.weighing.note else ""
        say(f"weights: {weights}; {card.weighing.outcome.value}{note}")
    for note in card.notes:
        aside(f"note: {note}")
    say(f"card    {path} {card.hash}")
    named = path.relative_to(folder) if path.is_relative_to(folder) else path.resolve()
    say(f'to use it, set [confidence] card = "{named}" in {folder / "citewell.toml"}')


def _share(value: float | None) -> str:
    return "" if value is None else f"{value:.1%}"
