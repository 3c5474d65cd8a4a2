"""Threads that wait at the same time are served together (group commit), one group at a time.

In: an item from each thread, and what to do with a group of them. Out: each thread goes on when its item is
in a group that is done. Nobody waits for company: whoever comes first begins at once, and those who come
meanwhile are the next group, led by one of them. Knows nothing about what is done.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Generic, TypeVar

T = TypeVar("T")


class Groups(Generic[T]):
    """``serve`` gets at most ``most`` items, in the order they came, in the thread of one that waits; it
    tells each item its outcome, and raises nothing but what ends that thread."""

    def __init__(self, serve: Callable[[list[T]], None], most: int) -> None:
        self._serve, self._most = serve, most
        self._turn = threading.Condition()
        self._queue: list[_Place[T]] = []
        self._busy = False

    def add(self, item: T) -> None:
        """Returns when ``item`` was in a group that is done."""
        place = _Place(item)
        with self._turn:
            self._queue.append(place)
        try:
            while not place.done:
                self._wait_or_lead(place)
        except BaseException:
            # Interrupted: its item goes, unless it is being served.
            with self._turn, suppress(ValueError):
                self._queue.remove(place)
            raise

    def _wait_or_lead(self, place: _Place[T]) -> None:
        with self._turn:
            while self._busy and not place.done:
                self._turn.wait()
            if place.done:
                return
            group, self._queue = self._queue[: self._most], self._queue[self._most :]
            self._busy = True
        try:
            self._serve([one.item for one in group])
        finally:
            with self._turn:
                for one in group:
                    one.done = True
                self._busy = False
                self._turn.notify_all()


class _Place(Generic[T]):
    __slots__ = ("done", "item")

    def __init__(self, item: T) -> None:
        self.item, self.done = item, False
