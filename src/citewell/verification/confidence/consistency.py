"""Do several drafts of one answer say the same? Claim by claim, by entailment both ways, never by string.

In: the claims of each run and an entailer. Out: the mean share of claims that the other runs entail. One
run, or a writer that is deterministic, measures nothing. Knows nothing about sources.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations

from citewell.core.ports import Entailer
from citewell.core.records import Measure


def measure_consistency(
    runs: Sequence[Sequence[str]], entailer: Entailer, *, deterministic: bool = False, threshold: float = 0.5
) -> Measure:
    """Value in [0, 1]; ``n`` counts the comparisons of a claim with another run that gave a probability.

    A run without claims agrees with another such run and with no run that has claims.
    """
    if deterministic or len(runs) < 2:
        return Measure(value=None, n=0, note="a deterministic writer" if deterministic else "one run")
    pairs: list[tuple[str, str]] = []
    disagreements = 0
    for first, second in permutations(range(len(runs)), 2):
        if not runs[second]:
            continue
        if not runs[first]:
            disagreements += len(runs[second])
            continue
        premise = "\n".join(runs[first])
        pairs += [(premise, claim) for claim in runs[second]]
    if not pairs and not disagreements:
        return Measure(value=None, n=0, note="no run made a claim")
    answers = entailer.entail(pairs) if pairs else []
    judged = [answer.entailment for answer in answers if answer.entailment is not None]
    n = len(judged) + disagreements
    unscored = len(answers) - len(judged)
    return Measure(
        value=sum(value >= threshold for value in judged) / n if n else None, n=n, maker=entailer.maker.name,
        note=f"{unscored} unchecked" if unscored else "",
    )  # fmt: skip
