"""Limits on what one caller, and all together, may ask of the server. Everything is per process. Knows
nothing about HTTP."""

from __future__ import annotations

import asyncio
import threading
import time
from collections import Counter, OrderedDict, deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from functools import partial
from typing import Any, NamedTuple, TypeVar

Result = TypeVar("Result")

_REMEMBERED = 10_000
"""Maximum number of buckets kept; the least recently used goes first (it has had time to refill)."""
_LOOKED_S = 0.5


class Buckets:
    """A token bucket per caller: ``burst`` at once, ``per_minute`` in the long run, where 0 is no limit."""

    def __init__(
        self, per_minute: float, burst: float, *, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._rate, self._burst, self._clock = per_minute / 60, max(burst, 1.0), clock
        self._lock = threading.Lock()
        self._levels: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def take(self, caller: str) -> float:
        """Takes a token and returns 0.0, or returns the seconds until there is one."""
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
    """The queue is full; there may be room after ``after`` seconds."""

    def __init__(self, after: float = 1.0) -> None:
        super().__init__(f"the server is too busy; try again after {after:.0f} s")
        self.after = after


class Deadline:
    """The deadline of one request, from its arrival: after ``seconds`` (0: none), which ``setting`` says, or
    once its client has ``left``."""

    def __init__(self, seconds: float = 0.0, setting: str = "server.timeout_s") -> None:
        self.left, self.setting = threading.Event(), setting
        self._seconds, self._ends = seconds, time.monotonic() + seconds

    def gone(self) -> str:
        """Why nobody is waiting any more, or "" while somebody is."""
        if self.left.is_set():
            return "the client disconnected"
        over = self._seconds and time.monotonic() > self._ends
        return f"it took longer than {self.setting}, {self._seconds:g} s" if over else ""


class _Task(NamedTuple):
    future: Future[Any]
    call: Callable[[], Any]


class WorkQueue:
    """A thread pool for long tasks with a bounded queue. Callers take turns and no caller gets all threads,
    so that heavy users do not hold up others. Nobody waits longer than ``max_wait_s``: a task expected to,
    going by recent durations, is refused at once, and one that does after all is refused then. ``on_change``
    receives the number of tasks accepted but not finished, including running ones."""

    def __init__(
        self,
        threads: int,
        queue: int,
        *,
        max_wait_s: float = 30.0,
        on_change: Callable[[int], object] = lambda waiting: None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._threads = max(threads, 1)
        self._pool = ThreadPoolExecutor(self._threads, thread_name_prefix="citewell-work")
        self._room = self._threads + max(queue, 0)
        self._max_wait_s, self._clock = max_wait_s, clock
        self._lock = threading.Lock()
        self._on_change = on_change
        self._queues: OrderedDict[str, deque[_Task]] = OrderedDict()
        self._accepted: set[Future[Any]] = set()
        self._running: Counter[str] = Counter()
        self._took = 0.0
        self.waiting = 0

    def submit(self, task: Callable[[], Result], caller: str = "") -> Future[Result]:
        """Queues ``task``. Raises Busy."""
        future: Future[Result] = Future()
        with self._lock:
            wait_s = self._expected(caller)
            if self.waiting >= self._room or wait_s > self._max_wait_s:
                raise Busy(max(1.0, wait_s - self._max_wait_s, self._took / self._threads))
            self._queues.setdefault(caller, deque()).append(_Task(future, task))
            self._accepted.add(future)
            self.waiting += 1
            self._on_change(self.waiting)
        future.add_done_callback(self._done)
        try:
            self._pool.submit(self._next)
        except RuntimeError as error:  # shut down
            future.cancel()
            raise Busy from error
        return future

    async def run(
        self, task: Callable[[], Result], *, caller: str = "", left: Callable[[], bool] = lambda: False
    ) -> Result:
        """The result of ``task``, which is not started if it has waited too long or its client has ``left``.
        Raises Busy, in those cases too, or what the task raised."""
        future = self.submit(task, caller)
        result = asyncio.ensure_future(asyncio.wrap_future(future))
        ends = self._clock() + self._max_wait_s
        try:
            while not (await asyncio.wait({result}, timeout=_LOOKED_S))[0]:
                if (left() or self._clock() > ends) and future.cancel():
                    raise Busy(max(1.0, self._took))
            return await result
        finally:
            result.cancel()  # where this was cancelled: a waiting task then never starts

    def close(self, within: float | None = None) -> bool:
        """Waits at most ``within`` seconds for accepted tasks; False if any is still running. Tasks not
        started by then are cancelled."""
        with self._lock:
            accepted = set(self._accepted)
        left = wait(accepted, timeout=within).not_done
        for future in left:
            future.cancel()
        self._pool.shutdown(wait=not left, cancel_futures=True)
        return not any(future.running() for future in left)

    def _expected(self, caller: str) -> float:
        """Expected seconds until another task of this caller starts: ahead of it are the caller's own, and
        from each other caller at most one more than that."""
        if self._running.total() < self._threads and not self._queues:
            return 0.0
        mine = len(self._queues.get(caller, ()))
        before = mine + sum(
            min(len(queue), mine + 1) for name, queue in self._queues.items() if name != caller
        )
        return (before + 1) * self._took / self._threads

    def _next(self) -> None:
        """Runs queued tasks until none may be started."""
        while (taken := self._taken()) is not None:
            self._run(*taken)

    def _taken(self) -> tuple[str, _Task] | None:
        """The next task of the caller whose turn it is, among those below their maximum of threads."""
        most = max(1, self._threads - 1)
        with self._lock:
            for caller in [name for name in self._queues if self._running[name] < most]:
                queue = self._queues.pop(caller)
                task = queue.popleft()
                if queue:
                    self._queues[caller] = queue  # after all others
                if task.future.set_running_or_notify_cancel():
                    self._running[caller] += 1
                    return caller, task
            return None

    def _run(self, caller: str, task: _Task) -> None:
        began = self._clock()
        try:
            ended = partial(task.future.set_result, task.call())
        except BaseException as error:  # noqa: BLE001 - passed on to whoever awaits the result
            ended = partial(task.future.set_exception, error)
        with self._lock:
            self._running[caller] -= 1
            self._running += Counter()  # drops callers with none
            took = self._clock() - began
            self._took = took if not self._took else 0.8 * self._took + 0.2 * took
        ended()

    def _done(self, future: Future[Any]) -> None:
        with self._lock:
            self.waiting -= 1
            self._accepted.discard(future)
            self._on_change(self.waiting)
