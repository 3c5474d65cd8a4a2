"""Behind the entailer's port where no weights are: says so for every pair, and never guesses.

In: pairs. Out: ``unchecked`` results, so that what exact code can prove stays proven and the
rest is UNCHECKED.
"""

from __future__ import annotations

from collections.abc import Sequence

from citewell.identity import hash_text
from citewell.records import Entailment, Maker


class AbsentEntailer:
    """``reason`` is what every verdict that needed a model will say."""

    def __init__(self, reason: str) -> None:
        self._reason = reason
        self.maker = Maker(name="absent-entailer", hash=hash_text(reason))

    def entail(self, pairs: Sequence[tuple[str, str]]) -> list[Entailment]:
        none = Entailment(entailment=None, neutral=None, contradiction=None, unchecked=self._reason)
        return [none for _ in pairs]
