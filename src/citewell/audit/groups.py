"""Threads that wait at the same time are served together (group commit), one group at a time.

In: an item from each thread, and what to do with a group of them. Out: each thread goes on when its group is
done. Nobody waits for company: whoever comes first begins at once, and those who come meanwhile are the next
group, led by the first of them. Knows nothing about what is done.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from typing import Generic, TypeVar

T = TypeVar("T")


class Groups(Generic[T]):
    """``serve`` gets at most ``most`` items, in the order they came, in the thread of one that waits; it
    tells each item its outcome, and raises nothing but what ends that thread."""

    def __init__(self, serve: Callable[[list[T]], None], most: int) -> None:
        self._serve, self._most = serve, most
        self._lock = threading.Lock()
        self._queue: deque[_Place[T]] = deque()
        self._busy = False

    def add(self, item: T) -> None:
        """Returns when ``item`` was in a group that is done."""
        place = _Place(item)
        with self._lock:
            self._queue.append(place)
            place.leads = not self._busy
            self._busy = True
        try:
            if not place.leads:
                place.turn.acquire()
        except BaseException:
            self._leave(place)
            raise
        if place.leads:
            self._lead()

    def _lead(self) -> None:
        with self._lock:
            group = [self._queue.popleft() for _ in range(min(self._most, len(self._queue)))]
        try:
            self._serve([place.item for place in group])
        finally:
            with self._lock:
                self._hand_on()
            # The first is this thread's own.
            for place in group[1:]:
                place.turn.release()

    def _hand_on(self) -> None:
        if self._queue:
            self._queue[0].leads = True
            self._queue[0].turn.release()
        else:
            self._busy = False

    def _leave(self, place: _Place[T]) -> None:
        """A thread that was interrupted while it waited: its item goes, unless it is being served."""
        with self._lock:
            if place in self._queue:
                self._queue.remove(place)
                if place.leads:
                    self._hand_on()


class _Place(Generic[T]):
    """``turn`` is let go when the item is done, or its thread is to lead."""

    __slots__ = ("item", "leads", "turn")

    def __init__(self, item: T) -> None:
        self.item, self.leads = item, False
        self.turn = threading.Lock()
        self.turn.acquire()
