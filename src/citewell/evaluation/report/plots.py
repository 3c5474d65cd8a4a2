"""A run's plots: measures by family, decisions, verdicts, risk and reliability.

In: a run. Out: markup. Knows nothing about pages and cases in full.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from markupsafe import Markup

from citewell.core.records import Decision, Status
from citewell.evaluation import charts
from citewell.evaluation.charts import Point, Share
from citewell.evaluation.comparing import Difference
from citewell.evaluation.intervals import clopper_pearson
from citewell.evaluation.measures import BY_NAME, FAMILIES
from citewell.evaluation.results import Bin, Outcome, Result, Run

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
