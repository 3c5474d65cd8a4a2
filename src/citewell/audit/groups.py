"""Group commit: threads that wait at the same time are served together, one group at a time.

In: an item from each thread, and a function that serves a group. Out: each thread continues once its group is
done. No thread waits for a group to fill: the first starts at once, and those that arrive meanwhile form the
next group, led by one of them. Independent of what is done.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Generic, TypeVar

T = TypeVar("T")


class Groups(Generic[T]):
    """``serve`` gets at most ``most`` items, in order of arrival, in one of the waiting threads; it reports
    to each item its outcome, and raises only what ends that thread."""

    def __init__(self, serve: Callable[[list[T]], None], most: int) -> None:
        self._serve, self._most = serve, most
        self._turn = threading.Condition()
        self._queue: list[_Place[T]] = []
        self._busy = False

    def add(self, item: T) -> None:
        """Returns once the group with ``item`` is done."""
        place = _Place(item)
        with self._turn:
            self._queue.append(place)
        try:
            while not place.done:
                self._wait_or_lead(place)
        except BaseException:
            # Interrupted: withdraw the item unless it is being served.
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
