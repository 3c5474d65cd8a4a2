"""Answers in the making, as events that a client may lose and ask for again.

In: events as the pass tells them, from its thread. Out: the same events to any number of listeners, each from
wherever it left off, while the stream runs and for a while after it. What is gone from here is made again
from the record (:mod:`citewell.server.rebuilding`). Knows nothing about HTTP.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable

import msgspec

from citewell.answering.streaming import Event
from citewell.records import Answer
from citewell.server.problems import Details

KEPT = 500
"""Finished streams at most, whatever their age: an answer with its passages is some 50 kB."""
PULSE_S = 15.0
ERROR = "error"


class Told(msgspec.Struct, frozen=True):
    """One event as it goes over the wire; ``number`` counts from 1."""

    number: int
    kind: str
    data: bytes


class Stream:
    """One request's events. ``user`` is whose they are."""

    def __init__(self, request_id: str, user: str, clock: Callable[[], float]) -> None:
        self.request_id, self.user = request_id, user
        self.answer: Answer | None = None
        self.ended_at: float | None = None
        self._clock = clock
        self._told: list[Told] = []
        self._lock = threading.Lock()
        self._listening: set[tuple[asyncio.AbstractEventLoop, asyncio.Event]] = set()

    def tell(self, event: Event) -> None:
        """For the pass, from any thread."""
        self.answer = event.answer or self.answer
        self._add(event.kind.value, msgspec.json.encode(event))

    def fail(self, details: Details) -> None:
        self._add(ERROR, msgspec.json.encode(details))

    def end(self) -> None:
        """Nothing more will be told."""
        with self._lock:
            self.ended_at = self._clock()
            self._wake()

    async def events(self, after: int = 0) -> AsyncIterator[Told | None]:
        """Every event behind number ``after``, to the end; None when nothing came for a while."""
        woken = asyncio.Event()
        listener = (asyncio.get_running_loop(), woken)
        with self._lock:
            self._listening.add(listener)
        try:
            while True:
                woken.clear()
                with self._lock:
                    fresh, ended = self._told[after:], self.ended_at is not None
                for told in fresh:
                    yield told
                after += len(fresh)
                if ended and not fresh:
                    return
                if fresh:
                    continue
                try:
                    await asyncio.wait_for(woken.wait(), PULSE_S)
                except TimeoutError:
                    yield None
        finally:
            with self._lock:
                self._listening.discard(listener)

    def _add(self, kind: str, data: bytes) -> None:
        with self._lock:
            self._told.append(Told(len(self._told) + 1, kind, data))
            self._wake()

    def _wake(self) -> None:
        for loop, woken in self._listening:
            loop.call_soon_threadsafe(woken.set)


class Streams:
    """Those that run, and those that ended no longer than ``keep_s`` ago."""

    def __init__(self, keep_s: float, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._keep_s, self._clock = keep_s, clock
        self._lock = threading.Lock()
        self._streams: OrderedDict[str, Stream] = OrderedDict()

    def open(self, request_id: str, user: str) -> Stream:
        with self._lock:
            self._let_go()
            stream = self._streams[request_id] = Stream(request_id, user, self._clock)
            return stream

    def get(self, request_id: str, user: str) -> Stream | None:
        """None for one that is not here, or is another user's."""
        with self._lock:
            self._let_go()
            stream = self._streams.get(request_id)
            return stream if stream is not None and stream.user == user else None

    def drop(self, request_id: str) -> None:
        with self._lock:
            self._streams.pop(request_id, None)

    def _let_go(self) -> None:
        now = self._clock()
        ended = [
            (name, stream.ended_at) for name, stream in self._streams.items() if stream.ended_at is not None
        ]
        over = len(ended) - KEPT
        for place, (name, at) in enumerate(ended):
            if place < over or now - at > self._keep_s:
                del self._streams[name]
