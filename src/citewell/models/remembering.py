"""An extractor that remembers: the gate and the writer ask the same of the same passages.

In: any Extractor. Out: the same readings, each made once. Bounded; knows nothing about models.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from threading import Lock

from citewell.ports import Extractor, Reading


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
