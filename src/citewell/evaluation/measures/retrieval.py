"""Is what the answer rests on among the first passages? Binary relevance, by overlap with the case's spans.

In: judged answers of cases that hold spans. Out: measures, a point a case. Relevant passages are those that
were retrieved and overlap a span, and one more for each span that no passage overlaps: so a span that was
missed counts against recall and in the ideal of nDCG. Where fewer than k passages were asked for, nothing is
measured at k. precision@k divides by k, however few were retrieved (TREC); nDCG by Järvelin and Kekäläinen
(2002) with binary gains and log2(rank + 1).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from citewell.evaluation.measures.measure import NOT_ASKED, Measure, one
from citewell.evaluation.observed import Judged
from citewell.evaluation.results import Score

Ranking = Callable[[Sequence[bool], int], float]
"""(whether each of the first k passages is relevant, how many relevant ones there are) -> value."""


def precision(k: int) -> Ranking:
    return lambda hits, relevant: sum(hits) / k


def recall(hits: Sequence[bool], relevant: int) -> float:
    return sum(hits) / relevant


def success(hits: Sequence[bool], relevant: int) -> float:
    return float(any(hits))


def ndcg(k: int) -> Ranking:
    def value(hits: Sequence[bool], relevant: int) -> float:
        gained = sum(1 / math.log2(rank + 1) for rank, hit in enumerate(hits, 1) if hit)
        return gained / sum(1 / math.log2(rank + 1) for rank in range(1, min(k, relevant) + 1))

    return value


def _at(k: int, ranking: Ranking) -> Callable[[Judged], Score]:
    def score(judged: Judged) -> Score:
        if judged.answerable is False:
            return NOT_ASKED
        if judged.hits is None:
            return one(None, judged.unlocated or "the case names no span")
        if 0 < judged.observed.top_k < k:
            return one(None, f"only {judged.observed.top_k} passages were asked for: --top-k {k} measures it")
        return one(ranking(judged.hits[:k], sum(judged.hits) + judged.unfound))

    return score


MEASURES: tuple[Measure, ...] = (
    Measure(name="precision@5", of=_at(5, precision(5)), bounded=True),
    Measure(name="recall@5", of=_at(5, recall), bounded=True),
    Measure(name="nDCG@5", of=_at(5, ndcg(5)), bounded=True),
    Measure(name="recall@10", of=_at(10, recall), bounded=True),
    Measure(name="nDCG@10", of=_at(10, ndcg(10)), bounded=True),
    Measure(name="relevant_in_top_5", of=_at(5, success), bounded=True),
)
