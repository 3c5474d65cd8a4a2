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

from citewell.core.records import Decision, Maker, Record, Status
from citewell.evaluation import charts
from citewell.evaluation.cases import write_file
from citewell.evaluation.charts import Point, Share
from citewell.evaluation.comparing import FEWEST, Difference, compare
from citewell.evaluation.intervals import clopper_pearson
from citewell.evaluation.measures import BY_NAME, FAMILIES
from citewell.evaluation.results import Bin, CaseTiming, Found, Outcome, Result, Run

_FAMILIES = {title: {measure.name for measure in family} for title, family in FAMILIES.items()}
EFFORT = _FAMILIES["Effort"] - {"consistency"}
"""Names of what is counted in tokens, money or time."""
_BETTER = {1: "higher", -1: "lower", 0: ""}


def plots_of(run: Run) -> dict[str, Markup]:
    """By what they show; empty markup where a run has nothing of the kind."""
    further = [result for result in shares(run.measures) if result.name not in BY_NAME]
    return {
        "measures": Markup().join(
            _measures(family, found)
            for family, names in _FAMILIES.items()
            if (found := [result for result in shares(run.measures) if result.name in names])
        )
        or _measures("Measures", []),
        "further": _measures("Other measures", further) if further else Markup(),
        "times": _measures("Latency", run.timings.measures, unit="ms") if run.timings.measures else Markup(),
        "decisions": charts.shares(
            "Decisions by kind of case", [*Decision, "no decision"], _decisions(run.cases)
        ),
        "verdicts": charts.shares("Verdicts of claims", list(Status), _verdicts(run.cases)),
        "risk": charts.risk_coverage(
            "Risk against coverage",
            {"answered, surest first": [(p.coverage, p.risk) for p in run.curves.risk_coverage]}
            if run.curves.risk_coverage
            else {},
            note="Coverage: the share of cases, surest first. Risk: the share of those that came out wrong."
            " Refusing everything cannot win.",
        ),
        "reliability": Markup().join(
            charts.reliability(
                f"Reliability of {name}",
                [_bin(b) for b in bins if b.n and b.predicted is not None and b.observed is not None],
                note="On the dashed line, what was said came true. Exact 95 % intervals.",
            )
            for name, bins in run.curves.reliability.items()
        ),
    }


def _measures(title: str, results: Sequence[Result], *, unit: str = "") -> Markup:
    return charts.bars(
        title,
        [Point(r.name, r.value, r.low, r.high, r.n) for r in results],
        unit=unit,
        more={
            "of": [BY_NAME[r.name].counts if r.name in BY_NAME else "" for r in results],
            "unscored": [str(r.unscored) for r in results],
            "better": [better(r.name) for r in results],
            "judged by": [r.maker for r in results],
        },
    )


def shares(results: Iterable[Result]) -> list[Result]:
    """Those that lie in [0, 1] by their nature: tokens and cost do not, even when they happen to."""
    return [r for r in results if r.name not in EFFORT and (r.value is None or 0 <= r.value <= 1)]


def differences_of(measured: Sequence[Difference]) -> Markup:
    """Of the shares among them, from what they were to what they are."""
    told = [one for one in measured if one.name not in EFFORT]
    return charts.bars(
        "Differences of shares",
        [Point(one.name, one.difference, one.low, one.high, one.n) for one in told],
        more={
            "was": [f"{one.before:.2f}" for one in told],
            "is": [f"{one.after:.2f}" for one in told],
            "so": [one.says for one in told],
        },
    )


def better(name: str) -> str:
    """Which way is up, in a word."""
    found = BY_NAME.get(name)
    return _BETTER[found.better] if found else ""


def _bin(one: Bin) -> charts.Bin:
    low, high = clopper_pearson(round((one.observed or 0) * one.n), one.n)
    return charts.Bin(one.predicted or 0.0, one.observed or 0.0, low, high, one.n)


def _decisions(cases: Iterable[Outcome]) -> list[Share]:
    counted: dict[str, Counter[str]] = {}
    for case in cases:
        decision = case.decision if case.decision in set(Decision) else ""
        counted.setdefault(_kind(case), Counter())[decision] += 1
    return [
        Share(kind, tuple(counted[kind][decision] for decision in [*Decision, ""]))
        for kind in ("answerable", "near miss", "unanswerable")
        if kind in counted
    ]


def _kind(case: Outcome) -> str:
    if not case.abstain:
        return "answerable"
    return "near miss" if "near-miss" in case.tags else "unanswerable"


def _verdicts(cases: Iterable[Outcome]) -> list[Share]:
    counted = {
        shown: Counter(
            claim.verdict.status for case in cases for claim in case.claims if claim.shown is shown
        )
        for shown in (True, False)
    }
    names = {True: "shown", False: "withheld"}
    return [
        Share(names[shown], tuple(counts[status] for status in Status))
        for shown, counts in counted.items()
        if counts
    ]


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
