"""An entailer that remembers: a claim that was checked while it was streamed is checked again with the
whole draft.

In: any Entailer. Out: the same answers, each made once. Bounded; knows nothing about models.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from threading import Lock

from citewell.ports import Entailer
from citewell.records import Entailment


class RememberingEntailer:
    """An Entailer port around another; what could not be checked is asked again the next time."""

    def __init__(self, entailer: Entailer, *, limit: int = 1024) -> None:
        self.maker = entailer.maker
        self._entailer = entailer
        self._limit = limit
        self._known: OrderedDict[tuple[str, str], Entailment] = OrderedDict()
        self._lock = Lock()

    def entail(self, pairs: Sequence[tuple[str, str]]) -> list[Entailment]:
        """As the entailer's own; a pair that it judged before is not judged again."""
        with self._lock:
            found = {pair: self._known[pair] for pair in pairs if pair in self._known}
        fresh = [pair for pair in dict.fromkeys(pairs) if pair not in found]
        if fresh:
            answers = dict(zip(fresh, self._entailer.entail(fresh), strict=True))
            found |= answers
            with self._lock:
                self._known |= {pair: said for pair, said in answers.items() if not said.unchecked}
                while len(self._known) > self._limit:
                    self._known.popitem(last=False)
        return [found[pair] for pair in pairs]
