"""Models that remember: the gate and the writer ask the same of the same passages, a claim that was checked
while it was streamed is checked again with the whole draft.

In: any Extractor or Entailer. Out: the same answers, each made once. Bounded; knows nothing about models.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from threading import Lock

from citewell.ports import Entailer, Extractor, Reading
from citewell.records import Entailment


class RememberingExtractor:
    """An Extractor port around another; ``limit`` readings are kept, the least recent go first."""

    def __init__(self, extractor: Extractor, *, limit: int = 4096) -> None:
        self.maker = extractor.maker
        self._extractor = extractor
        self._limit = limit
        self._known: OrderedDict[tuple[str, str], Reading] = OrderedDict()
        self._lock = Lock()

    def extract(self, question: str, passages: Sequence[str]) -> list[Reading]:
        """As the extractor's own; what it read before is not read again."""
        keys = [(question, passage) for passage in passages]
        with self._lock:
            found = {key: self._known[key] for key in keys if key in self._known}
        unread = [key for key in dict.fromkeys(keys) if key not in found]
        if unread:
            readings = self._extractor.extract(question, [passage for _, passage in unread])
            found |= dict(zip(unread, readings, strict=True))
            with self._lock:
                self._known |= {key: found[key] for key in unread}
                while len(self._known) > self._limit:
                    self._known.popitem(last=False)
        return [found[key] for key in keys]


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
