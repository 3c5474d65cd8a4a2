"""A run as a self-contained HTML file: every measure, and each case down to its spans.

In: a :class:`citewell.evaluation.results.Run`. Out: a file. All text is treated as hostile and escaped by the
template; the page has no script, and its content security policy allows only its own stylesheet. Filters are
radio buttons evaluated by the stylesheet. Knows nothing about how a run is made.
"""

from __future__ import annotations

import base64
import hashlib
from collections import Counter
from collections.abc import Iterator, Sequence
from importlib.resources import files
from itertools import pairwise
from pathlib import Path

from markupsafe import Markup

from citewell.core.display import Row
from citewell.core.records import Decision, Maker, Record
from citewell.core.vocabulary import NAMES, display_state, readable_name, state_of_verdict
from citewell.evaluation import charts
from citewell.evaluation.cases import write_file
from citewell.evaluation.measures import BY_NAME, FAMILIES
from citewell.evaluation.results import CaseOutcome, CaseTiming, MeasureResult, RetrievedPassage, Run

MOST_PASSAGES = 6
"""Passages shown per case, those cited or expected first; the result file has all."""
EFFORT = {measure.name for measure in FAMILIES["Effort"]} - {"consistency"}
"""Measures in tokens or money: not shares, even if they happen to lie in [0, 1]."""
SAID = {"wrong": "wrong", "error": "failed", "unknown": "not judged", "right": "right"}
"""Labels of outcomes, in the order in which their cases are shown."""
_BETTER = {1: "higher", -1: "lower", 0: ""}


class ReportRow(Record, frozen=True, kw_only=True):
    """A measure as the page lists it. ``share``: its value, drawn as a bar; None if not a share."""

    result: MeasureResult
    share: float | None
    cells: tuple[str, str]
    counts: str
    better: str


class ReportCase(Record, frozen=True, kw_only=True):
    """A case as the page lists it; ``number`` is its position in the run, from 1."""

    number: int
    case: CaseOutcome
    outcome: str
    decision: str
    timing: CaseTiming
    passages: tuple[RetrievedPassage, ...]
    left_out: int


def write_page(run: Run, path: Path) -> None:
    """Writes the page as UTF-8, with lone surrogates as question marks. Raises UsageError when it cannot be
    written."""
    write_file(path, report(run).encode("utf-8", "replace"))


def report(run: Run) -> str:
    """The page of one run; deterministic."""
    seen = [_seen(number, case, run.timings.cases) for number, case in enumerate(run.cases, 1)]
    style = charts.STYLE + (files("citewell.evaluation") / "templates" / "report.css").read_text("utf-8")
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    return charts.TEMPLATES.get_template("report.html").render(
        style=Markup(style),  # noqa: S704 - our own files, no value of a run
        style_hash=f"sha256-{digest}",
        run=run,
        families=_families(run),
        cases=sorted(seen, key=lambda one: (list(SAID).index(one.outcome), one.number)),
        decisions=Counter(one.decision for one in seen),
        counts={outcome: sum(one.outcome == outcome for one in seen) for outcome in SAID},
        reviewed=sum(bool(case.reviewed) for case in run.cases),
        said=SAID,
        pieces=marked_pieces,
        maker=maker,
        names=NAMES,
        readable_name=readable_name,
        display_state=display_state,
        state_of_verdict=state_of_verdict,
    )


def run_tables(run: Run) -> tuple[str, Sequence[Sequence[Row]]]:
    """A title, how the cases came out, and the measures."""
    seen = Counter(_seen(number, case, {}).outcome for number, case in enumerate(run.cases, 1))
    outcomes = [("Outcome", "Cases"), *((words, str(seen[outcome])) for outcome, words in SAID.items())]
    measures: list[Row] = [("Measure", "Value", "95 % interval", "n")]
    for rows in _families(run).values():
        measures += [(NAMES.get(r.result.name, r.result.name), *r.cells, str(r.result.n)) for r in rows]
    title = f"Evaluation of {len(run.cases)} {'case' if len(run.cases) == 1 else 'cases'}"
    return title, (outcomes, measures)


def _families(run: Run) -> dict[str, list[ReportRow]]:
    named = {measure.name: title for title, family in FAMILIES.items() for measure in family}
    found: dict[str, list[ReportRow]] = {title: [] for title in (*FAMILIES, "Other measures", "Latency")}
    for result in run.measures:
        found[named.get(result.name, "Other measures")].append(_row(result, result.name not in EFFORT))
    found["Latency"] = [_row(result, False, "ms") for result in run.timings.measures]
    return {title: rows for title, rows in found.items() if rows}


def _row(result: MeasureResult, share: bool, unit: str = "") -> ReportRow:
    known = BY_NAME.get(result.name)
    point = charts.ChartPoint(result.name, result.value, result.low, result.high, result.n)
    value, between, _ = charts.cells(point, unit)
    if not share and not unit and result.value is not None:  # tokens, money: of any size
        known_ends = result.low is not None and result.high is not None
        value, between = f"{result.value:.4g}", f"{result.low:.4g} to {result.high:.4g}" if known_ends else ""
    drawn = share and result.value is not None and 0 <= result.value <= 1
    return ReportRow(
        result=result,
        share=result.value if drawn else None,
        cells=(value, between),
        counts=known.counts if known else "",
        better=_BETTER[known.better] if known else "",
    )


def marked_pieces(passage: RetrievedPassage, case: CaseOutcome) -> list[tuple[str, str]]:
    """The passage's text cut at span borders, each piece with "cited", "expected", both or ""."""
    spans = [(*span, "expected") for span in _expected(passage, case)]
    spans += [
        (citation.start - passage.start, citation.end - passage.start, "cited")
        for claim in case.claims
        for citation in claim.citations
        if (citation.document_id, citation.document_version)
        == (passage.document_id, passage.document_version)
        and passage.start <= citation.start < citation.end <= passage.end
    ]
    cuts = sorted({0, len(passage.text), *(end for start, stop, _ in spans for end in (start, stop))})
    found = []
    for start, end in pairwise(cuts):
        kinds = sorted({kind for low, high, kind in spans if low <= start and end <= high})
        found.append((passage.text[start:end], " ".join(kinds)))
    return found


def _expected(passage: RetrievedPassage, case: CaseOutcome) -> Iterator[tuple[int, int]]:
    for span in case.spans:
        if span.document == passage.document_id and (start := passage.text.find(span.quote)) >= 0:
            yield start, start + len(span.quote)


def maker(one: Maker) -> str:
    """The maker of a number, on one line."""
    parts = [one.name, one.hash[:19], f"threshold {one.threshold:g}" if one.threshold is not None else ""]
    return " · ".join(part for part in (*parts, f"card {one.card}" if one.card else "") if part)


def _seen(number: int, case: CaseOutcome, timings: dict[str, CaseTiming]) -> ReportCase:
    judged = {True: "right", False: "wrong", None: "unknown"}[case.right]
    outcome = "error" if case.error else judged
    decision = case.decision.lower() if case.decision in set(Decision) else "undecided"
    # Passages that were used or expected first, then by rank.
    ranked = sorted(case.passages, key=lambda passage: not (passage.used or passage.expected))
    return ReportCase(
        number=number,
        case=case,
        outcome=outcome,
        decision=decision,
        timing=timings.get(case.id, CaseTiming()),
        passages=tuple(ranked[:MOST_PASSAGES]),
        left_out=max(len(ranked) - MOST_PASSAGES, 0),
    )
