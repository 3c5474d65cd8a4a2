"""A run as one HTML file that needs nothing else: plots, every measure, and each case down to its spans.

In: a :class:`citewell.evaluation.results.Run`. Out: a file. All of it is hostile text, escaped by the
template; the page has no script, and its policy allows no source but its own stylesheet. Filters are radio
buttons that the stylesheet reads. Knows nothing about how a run is made.
"""

from __future__ import annotations

import base64
import hashlib
from collections import Counter
from collections.abc import Iterable, Sequence
from importlib.resources import files
from itertools import pairwise
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from citewell.core.records import Decision, Maker, Record
from citewell.evaluation import charts
from citewell.evaluation.comparing import FEWEST, compare
from citewell.evaluation.files import write_file
from citewell.evaluation.report.plots import EFFORT, better, differences_of, plots_of, shares
from citewell.evaluation.results import CaseTiming, Found, Outcome, Run

MOST_PASSAGES = 6
"""A case shows this many, those that matter first; the result file has all."""
MOST_TAGS = 12

UNDECIDED = "undecided"
ERROR, WRONG, UNKNOWN, RIGHT = "error", "wrong", "unknown", "right"
_OUTCOMES = (WRONG, ERROR, UNKNOWN, RIGHT)
_SAID = {WRONG: "wrong", ERROR: "failed", UNKNOWN: "not judged", RIGHT: "right"}

_PAGES = Environment(
    loader=PackageLoader("citewell.evaluation.report"),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)


class Seen(Record, frozen=True, kw_only=True):
    """A case as the page lists it; ``number`` is its place in the run, from 1."""

    number: int
    case: Outcome
    outcome: str
    decision: str
    classes: str
    timing: CaseTiming
    passages: tuple[Found, ...]
    left_out: int


def write_page(run: Run, path: Path) -> None:
    """Raises UsageError when the file cannot be written."""
    write_html(report(run), path)


def report(run: Run) -> str:
    """The page of one run; the same run gives the same bytes."""
    tags = [tag for tag, _ in Counter(tag for case in run.cases for tag in case.tags).most_common(MOST_TAGS)]
    seen = [_seen(number, case, tags, run.timings.cases) for number, case in enumerate(run.cases, 1)]
    return render(
        "report.html",
        run=run,
        plots=plots_of(run),
        cases=sorted(seen, key=lambda one: (_OUTCOMES.index(one.outcome), one.number)),
        others=[result for result in run.measures if result not in shares(run.measures)],
        better=better,
        decisions=Counter(one.decision for one in seen),
        counts={outcome: sum(one.outcome == outcome for one in seen) for outcome in _OUTCOMES},
        tags=tags,
        reviewed=sum(bool(case.reviewed) for case in run.cases),
        said=_SAID,
    )


def write_comparison(before: Run, after: Run, path: Path) -> None:
    """What changed from one run to the other, as a page. Raises UsageError when it cannot be written."""
    write_html(comparison(before, after), path)


def comparison(before: Run, after: Run) -> str:
    """Differences with their intervals, and each case that flipped with both answers."""
    found = compare(before, after)
    sides = [{case.id: case for case in run.cases} for run in (before, after)]
    measured = [one for one in found.measures if one.difference is not None]
    return render(
        "compare.html",
        found=found,
        measured=len(measured),
        fewest=FEWEST,
        differences=differences_of(measured),
        others=[*(one for one in measured if one.name in EFFORT), *found.times],
        flips=[(flip, *(side.get(flip.id) for side in sides)) for flip in found.flips],
    )


def render(name: str, **values: Any) -> str:
    """A page of this folder with the shared stylesheet, whose hash the page's policy names."""
    style = (files("citewell.evaluation.report") / "templates" / "pages.css").read_text(
        encoding="utf-8"
    ) + charts.STYLE
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    return _PAGES.get_template(name).render(
        style=Markup(style),  # noqa: S704 - our own files, no value of a run
        style_hash=f"sha256-{digest}",
        mark=charts.mark,
        pieces=pieces,
        maker=maker,
        **values,
    )


def write_html(page: str, path: Path) -> None:
    """Lone surrogates of hostile text are written as question marks: the file is UTF-8."""
    write_file(path, page.encode("utf-8", "replace"))


def pieces(passage: Found, case: Outcome) -> list[tuple[str, str]]:
    """The passage's text cut where spans begin and end, each piece with "cited", "expected", both or none."""
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


def maker(one: Maker) -> str:
    """Who made a number, in a line."""
    parts = [one.name, one.hash[:19], f"threshold {one.threshold:g}" if one.threshold is not None else ""]
    return " · ".join(part for part in (*parts, f"card {one.card}" if one.card else "") if part)


# --- a case ---------------------------------------------------------------------------------------


def _seen(number: int, case: Outcome, tags: Sequence[str], timings: dict[str, CaseTiming]) -> Seen:
    outcome = ERROR if case.error else UNKNOWN if case.right is None else RIGHT if case.right else WRONG
    decision = case.decision.lower() if case.decision in set(Decision) else UNDECIDED
    known = [f"t{tags.index(tag)}" for tag in case.tags if tag in tags]
    # Those that were cited or should have been, then by rank.
    ranked = sorted(case.passages, key=lambda passage: not (passage.used or passage.expected))
    return Seen(
        number=number,
        case=case,
        outcome=outcome,
        decision=decision,
        classes=" ".join([outcome, decision, *known]),
        timing=timings.get(case.id, CaseTiming()),
        passages=tuple(ranked[:MOST_PASSAGES]),
        left_out=max(len(ranked) - MOST_PASSAGES, 0),
    )


def _expected(passage: Found, case: Outcome) -> Iterable[tuple[int, int]]:
    for span in case.spans:
        if span.document == passage.document_id and (start := passage.text.find(span.quote)) >= 0:
            yield start, start + len(span.quote)
