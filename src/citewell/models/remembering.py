"""A cache of model outputs, and an entailer that uses it.

In: keys, and a function that computes unknown values. Out: values in the keys' order, each computed once.
Bounded and thread-safe. Independent of models.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable, Sequence
from threading import Lock
from typing import Generic, TypeVar

from citewell.core.ports import Entailer
from citewell.core.records import Entailment

Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")


class Memory(Generic[Key, Value]):
    """At most ``limit`` values; the oldest are dropped first. ``worth`` decides which are kept."""

    def __init__(self, limit: int, worth: Callable[[Value], bool] = lambda value: True) -> None:
        self._limit, self._worth = limit, worth
        self._known: OrderedDict[Key, Value] = OrderedDict()
        self._lock = Lock()

    def recall(self, keys: Sequence[Key], make: Callable[[list[Key]], Sequence[Value]]) -> list[Value]:
        """One value per key, in order; ``make`` is called once, for the distinct unknown keys."""
        with self._lock:
            found = {key: self._known[key] for key in keys if key in self._known}
        fresh = [key for key in dict.fromkeys(keys) if key not in found]
        if fresh:
            made = dict(zip(fresh, make(fresh), strict=True))
            found |= made
            with self._lock:
                self._known |= {key: value for key, value in made.items() if self._worth(value)}
                while len(self._known) > self._limit:
                    self._known.popitem(last=False)
        return [found[key] for key in keys]


class RememberingEntailer:
    """An Entailer that caches another: claims checked while streaming are checked again with the whole draft.
    Unchecked results are not cached."""

    def __init__(self, entailer: Entailer, *, limit: int = 1024) -> None:
        self.maker = entailer.maker
        self._entailer = entailer
        self._memory: Memory[tuple[str, str], Entailment] = Memory(limit, lambda said: not said.unchecked)

    def entail(self, pairs: Sequence[tuple[str, str]]) -> list[Entailment]:
        return self._memory.recall(pairs, self._entailer.entail)
