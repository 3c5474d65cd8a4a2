"""What came of spot checks: how far people and the verifier agree.

In: what people said of drawn claims, as the log has it. Out: an :class:`Agreement`.
Knows nothing about how a sample is drawn or shown.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

import msgspec
import numpy as np

from citewell.core.records import Record, Status
from citewell.evaluation.sampling.drawing import (
    ANSWERS,
    Drawn,
    JudgedSample,
    judged_samples,
    may,
)
from citewell.knowledge.home import KnowledgeBase

_SEED, _DRAWS = 20260101, 2_000


class Agreement(Record, frozen=True, kw_only=True):
    """Cohen's kappa between "VERIFIED" and "supported" (``partly`` is not), weighted back to the population
    that was sampled; 95 % by bootstrap over answers. ``raw`` is the share of agreement, ``table`` counts by
    the verifier's stratum and what people said. Values are None when nothing was judged."""

    kappa: float | None
    low: float | None
    high: float | None
    raw: float | None
    n: int
    unscored: int
    people: int
    table: dict[str, dict[str, int]]

    @property
    def told(self) -> str:
        """``kappa 0.62 [0.41, 0.80], n 50, 2 unscored``"""
        kappa = "not measured" if self.kappa is None else f"{self.kappa:.2f}"
        between = (
            f" [{self.low:.2f}, {self.high:.2f}]" if self.low is not None and self.high is not None else ""
        )
        return f"kappa {kappa}{between}, n {self.n}, {self.unscored} unscored"


def agreement(kb: KnowledgeBase, *, sample_id: str = "") -> Agreement:
    """Over one sample, or every one."""
    may(kb)
    drawn, people = judged_samples(kb, sample_id)
    return _agreed(_pooled(drawn), people)


def _pooled(samples: Sequence[JudgedSample]) -> list[tuple[Drawn, str]]:
    """Each item once, with its weights of all samples that it stands in: each sample is weighted back to what
    it was drawn from, and all of them to all of that, an answer as often as it could be drawn."""
    found: dict[str, tuple[Drawn, str]] = {}
    for one, said in (label for sample in samples for label in sample.labels):
        before = found[one.item_id][0].weight if one.item_id in found else 0.0
        found[one.item_id] = msgspec.structs.replace(one, weight=before + one.weight), said
    return list(found.values())


def _agreed(judged: Sequence[tuple[Drawn, str]], people: int) -> Agreement:
    table: dict[str, dict[str, int]] = {}
    groups: dict[str, list[tuple[bool, bool, float]]] = defaultdict(list)
    unscored = 0
    for one, said in judged:
        row = table.setdefault(one.stratum, dict.fromkeys(ANSWERS, 0))
        if said:
            row[said] += 1
        if not said or said == "cannot tell":
            unscored += 1
            continue
        verified = one.stratum.startswith(f"{Status.VERIFIED.value}/")
        groups[one.request_id].append((verified, said == "supported", one.weight))
    # A column an answer: the weights of (both, verifier alone, people alone, neither).
    cells = np.array([_cells(rows) for rows in groups.values()]) if groups else np.zeros((0, 4))
    kappa, raw = cohens_kappa(cells.sum(axis=0))
    low = high = None
    if kappa is not None:
        places = np.random.default_rng(_SEED).integers(0, len(cells), (_DRAWS, len(cells)))
        drawn = [value for value, _ in map(cohens_kappa, cells[places].sum(axis=1)) if value is not None]
        low, high = (float(end) for end in np.percentile(drawn, [2.5, 97.5])) if drawn else (None, None)
    return Agreement(
        kappa=kappa,
        low=low,
        high=high,
        raw=raw,
        n=len(judged) - unscored,
        unscored=unscored,
        people=people,
        table=dict(sorted(table.items())),
    )


def _cells(rows: Iterable[tuple[bool, bool, float]]) -> list[float]:
    cells = [0.0] * 4
    for verified, supported, weight in rows:
        cells[(0 if supported else 1) if verified else (2 if supported else 3)] += weight
    return cells


def cohens_kappa(cells: Sequence[float]) -> tuple[float | None, float | None]:
    """Cohen 1960, of the weights of (both yes, the first alone, the second alone, neither), and the share of
    agreement. No kappa where one side only ever said one thing: it is 0 then whatever the other said."""
    both, first, second, neither = (float(cell) for cell in cells)
    total = both + first + second + neither
    if not total:
        return None, None
    raw = (both + neither) / total
    said, held = (both + first) / total, (both + second) / total
    if {said, held} & {0.0, 1.0}:
        return None, raw
    chance = said * held + (1 - said) * (1 - held)
    return (raw - chance) / (1 - chance), raw
