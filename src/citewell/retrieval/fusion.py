"""Reciprocal rank fusion: several rankings into one (Cormack, Clarke and Buettcher, SIGIR 2009).

In: named ranked lists and their weights. Out: one ranking with its sums. The order in which lists or
equal items come in never matters. Knows nothing about what is ranked.
"""

from __future__ import annotations

import itertools
import math
from collections import defaultdict
from collections.abc import Mapping, Sequence

Key = tuple[str, str]


def fuse(
    ranked: Mapping[str, Sequence[Key]], weights: Mapping[str, float], k: int
) -> list[tuple[Key, float]]:
    """Keys by the sum over the lists of ``weight / (k + rank)``, rank from 1, best first; ties by key."""
    shares: dict[Key, list[float]] = defaultdict(list)
    for name in sorted(ranked):
        for rank, key in enumerate(ranked[name], start=1):
            shares[key].append(weights[name] / (k + rank))
    summed = [(key, math.fsum(parts)) for key, parts in shares.items()]
    return sorted(summed, key=lambda item: (-item[1], item[0]))


def interleaved(lists: Sequence[Sequence[Key]]) -> list[Key]:
    """The first of each list, then the second of each, each key once: what one ranking alone puts first is
    never far down, as it can be where ranks are added."""
    return list(dict.fromkeys(key for row in itertools.zip_longest(*lists) for key in row if key is not None))
