"""How much one caller and all of them together may ask of the server.

In: names of callers; work. Out: seconds to wait, or the work's result. Everything is per process.
Knows nothing about HTTP.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from typing import Any, TypeVar

Result = TypeVar("Result")

_REMEMBERED = 10_000
"""Callers whose buckets are kept; the one not seen for longest is forgotten (its bucket had time to fill)."""


_LOOKED_S = 0.5


class Buckets:
    """A token bucket for each caller: ``burst`` at once, ``per_minute`` in the long run; 0 is no limit."""

    def __init__(
        self, per_minute: float, burst: float, *, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._rate, self._burst, self._clock = per_minute / 60, max(burst, 1.0), clock
        self._lock = threading.Lock()
        self._levels: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def take(self, caller: str) -> float:
        """Seconds until there is a token; 0.0 when one was taken."""
        if self._rate <= 0:
            return 0.0
        with self._lock:
            now = self._clock()
            level, then = self._levels.pop(caller, (self._burst, now))
            level = min(self._burst, level + (now - then) * self._rate)
            allowed = level >= 1
            self._levels[caller] = (level - allowed, now)
            if len(self._levels) > _REMEMBERED:
                self._levels.popitem(last=False)
            return 0.0 if allowed else (1 - level) / self._rate


class Busy(Exception):
    """As much is waiting as may wait."""


class Work:
    """Threads for what takes long, with an end to the queue before them. ``told`` hears how much is accepted
    and not finished, running ones too."""

    def __init__(
        self, threads: int, queue: int, *, told: Callable[[int], object] = lambda waiting: None
    ) -> None:
        self._pool = ThreadPoolExecutor(max(threads, 1), thread_name_prefix="citewell-work")
        self._room = max(threads, 1) + max(queue, 0)
        self._lock = threading.Lock()
        self._told = told
        self._accepted: set[Future[Any]] = set()
        self.waiting = 0

    def submit(self, task: Callable[[], Result]) -> Future[Result]:
        """Raises Busy. What was accepted is done, whoever still listens."""
        with self._lock:
            if self.waiting >= self._room:
                raise Busy
            self.waiting += 1
            self._told(self.waiting)
        try:
            future = self._pool.submit(task)
        except RuntimeError as error:  # shut down
            self._done(None)
            raise Busy from error
        with self._lock:
            self._accepted.add(future)
        future.add_done_callback(self._done)
        return future

    async def run(self, task: Callable[[], Result]) -> Result:
        """The result of ``task``. Raises Busy, or what it raised."""
        return await asyncio.shield(asyncio.wrap_future(self.submit(task)))

    async def run_while(self, wanted: Callable[[], Awaitable[bool]], task: Callable[[], Result]) -> Result:
        """The result of ``task``, of which nothing is kept: it is not begun once it is no longer ``wanted``.
        Raises Busy, also then, or what it raised."""
        future = self.submit(task)
        result = asyncio.ensure_future(asyncio.wrap_future(future))
        while not (await asyncio.wait({result}, timeout=_LOOKED_S))[0]:
            if not await wanted() and future.cancel():
                result.cancel()
                raise Busy
        return await result

    def close(self, within: float | None = None) -> bool:
        """Waits for what was accepted, ``within`` so many seconds; False where something is still running.
        What has not begun by then is left."""
        with self._lock:
            accepted = set(self._accepted)
        left = wait(accepted, timeout=within).not_done
        self._pool.shutdown(wait=not left, cancel_futures=True)
        return not any(future.running() for future in left)

    def _done(self, future: Future[Any] | None) -> None:
        with self._lock:
            self.waiting -= 1
            if future is not None:
                self._accepted.discard(future)
            self._told(self.waiting)
