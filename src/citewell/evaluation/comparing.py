"""Compares two runs of the same cases: what got better or worse, how certainly, and which cases flipped.

In: two runs. Out: a :class:`Comparison`. Differences are paired: each measure uses the cases that both runs
scored, and the interval resamples both sides together, so hard cases do not count as noise. Knows nothing
about why they differ.
"""

from __future__ import annotations

from collections.abc import Sequence

from citewell.core.display import InTables, Row
from citewell.core.identity import plain
from citewell.core.records import Record
from citewell.core.vocabulary import NAMES, readable_name
from citewell.evaluation.intervals import paired
from citewell.evaluation.measure import CaseMeasure, latencies
from citewell.evaluation.measures import ALL
from citewell.evaluation.results import CaseOutcome, Run, Score, Timings

FEWEST = 6
"""Minimum number of differing cases: five all going one way happen by chance more than 1 time in 20 (sign
test)."""


class Difference(Record, frozen=True, kw_only=True):
    """``after`` minus ``before``, over the ``n`` cases scored in both runs. ``low`` and ``high``: 95 %
    interval, None where resampling changes nothing.

    ``says``: "better" or "worse" if at least :data:`FEWEST` cases differ and the interval excludes 0, or all
    differ alike; "other" for a measure without a better direction; "undecided"; "not measured" if no case was
    scored in both. No correction for multiple measures: of twenty, one differs by chance.
    """

    name: str
    before: float | None
    after: float | None
    difference: float | None
    low: float | None
    high: float | None
    n: int
    says: str


class Flip(Record, frozen=True, kw_only=True):
    """A case whose outcome changed; ``was`` and ``now`` as text."""

    id: str
    question: str
    was: str
    now: str


class Comparison(InTables, Record, frozen=True, kw_only=True):
    """``changed``: differing parts of the key, measuring code and notes, which may explain the differences.
    ``left_out``: cases in only one run, or with different content. ``times``: wall-clock latencies, which
    differ even between identical runs, and more so on another machine."""

    changed: dict[str, tuple[str, str]]
    measures: tuple[Difference, ...]
    times: tuple[Difference, ...]
    flips: tuple[Flip, ...]
    cases: int
    left_out: tuple[str, ...] = ()

    def _tables(self) -> tuple[str, Sequence[Sequence[Row]]]:
        measures: list[Row] = [("Measure", "Before", "After", "Difference", "95 % interval", "n", "")]
        for one in self.measures:
            if one.difference is not None:
                between = "" if one.low is None or one.high is None else f"{one.low:+.3f} to {one.high:+.3f}"
                values = (f"{one.before:.3f}", f"{one.after:.3f}", f"{one.difference:+.3f}", between)
                measures.append((NAMES.get(one.name, one.name), *values, str(one.n), one.says))
        flips = [("Flipped", "Was", "Now"), *((one.question, one.was, one.now) for one in self.flips)]
        return f"{self.cases} cases in both runs, {len(self.flips)} flipped", (measures, flips)


def compare(before: Run, after: Run) -> Comparison:
    """Compares cases with the same id and content."""
    earlier = {outcome.id: outcome for outcome in before.cases}
    later = {outcome.id: outcome for outcome in after.cases}
    both = [name for name in earlier if name in later and _asked(earlier[name]) == _asked(later[name])]
    pairs = [(earlier[name], later[name]) for name in both]
    old, new = _what_it_holds_for(before), _what_it_holds_for(after)
    return Comparison(
        changed={name: (str(old[name]), str(new[name])) for name in old if old[name] != new[name]},
        measures=tuple(
            _difference(measure, [(_score(measure, one), _score(measure, other)) for one, other in pairs])
            for measure in ALL
        ),
        times=_times(before.timings, after.timings, both),
        flips=tuple(sorted((flip for pair in pairs if (flip := _flip(*pair))), key=_order)),
        cases=len(pairs),
        left_out=tuple(name for name in dict.fromkeys((*earlier, *later)) if name not in both),
    )


def _what_it_holds_for(run: Run) -> dict[str, object]:
    measured_by = next((maker.name for maker in run.makers), "")
    return {**plain(run.key), "measured_by": measured_by, "notes": "; ".join(run.notes)}


def _asked(outcome: CaseOutcome) -> tuple[object, ...]:
    return (outcome.question, outcome.expected, outcome.spans, outcome.abstain, outcome.groups)


def _times(before: Timings, after: Timings, names: Sequence[str]) -> tuple[Difference, ...]:
    """The total and each stage, over the cases timed in both runs."""
    both = [name for name in names if name in before.cases and name in after.cases]
    pairs = [(before.cases[name], after.cases[name]) for name in both]
    stages = sorted({stage.name for pair in pairs for timing in pair for stage in timing.stages})
    found = (_difference(one, [(one.of(a), one.of(b)) for a, b in pairs]) for one in latencies(stages))
    return tuple(difference for difference in found if difference.n)


def _difference(measure: CaseMeasure, scores: Sequence[tuple[Score, Score]]) -> Difference:
    scored = [(was.points, now.points) for was, now in scores if was.points and now.points]
    firsts, seconds = [first for first, _ in scored], [second for _, second in scored]
    before, after = (measure.over([p for points in side for p in points]) for side in (firsts, seconds))
    difference = None if before is None or after is None else after - before
    measured = difference is not None
    low, high = paired(firsts, seconds, measure.over) if measured else (None, None)
    differing = sum(first != second for first, second in scored)
    return Difference(
        name=measure.name,
        before=before,
        after=after,
        difference=difference,
        low=low,
        high=high,
        n=len(scored) if measured else 0,
        says="not measured"
        if difference is None
        else _says(measure, low, high, difference)
        if differing >= FEWEST
        else "undecided",
    )


def _says(measure: CaseMeasure, low: float | None, high: float | None, difference: float) -> str:
    if low is None or high is None:
        low = high = round(difference, 12)  # the same in every resample
    if low <= 0.0 <= high:
        return "undecided"
    if not measure.better:
        return "other"
    return "better" if (low > 0.0) == (measure.better > 0) else "worse"


def _score(measure: CaseMeasure, outcome: CaseOutcome) -> Score:
    return outcome.scores.get(measure.name, Score())


def _flip(before: CaseOutcome, after: CaseOutcome) -> Flip | None:
    was, now = _told(before), _told(after)
    return None if was == now else Flip(id=before.id, question=before.question, was=was, now=now)


def _told(outcome: CaseOutcome) -> str:
    if outcome.error:
        return readable_name("ERROR")
    decision = readable_name(outcome.decision or ("ANSWER" if outcome.answered else "ABSTAIN"))
    right = {True: ", right", False: ", wrong", None: ""}[outcome.right]
    return decision + right


def _order(flip: Flip) -> tuple[int, str]:
    """Newly wrong cases first, then newly right ones, then the rest."""
    broke = flip.was.endswith("right") and not flip.now.endswith("right")
    mended = flip.now.endswith("right") and not flip.was.endswith("right")
    return (0 if broke else 1 if mended else 2, flip.id)
