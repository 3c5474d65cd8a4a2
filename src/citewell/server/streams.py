"""Answers in the making, as events that a client may lose and ask for again.

In: events as the pass tells them, from its thread. Out: the same events to any number of listeners, each from
wherever it left off, while the stream runs and for a while after it. Where many workers share a server they
are passed on to it, so that a client may come back to any of them (:mod:`citewell.server.remote_stream`).
What is
gone is made again from the record (:mod:`citewell.server.stream_replay`). Knows nothing about HTTP.
"""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable
from contextlib import suppress

import msgspec

from citewell.answering.streaming import Event
from citewell.core.access import Caller
from citewell.core.errors import CitewellError
from citewell.core.records import Answer
from citewell.knowledge.traces import Relay, Relayed
from citewell.server.logs import NAME
from citewell.server.problems import Details

log = logging.getLogger(NAME)

KEPT = 500
"""Finished streams at most, whatever their age: an answer with its passages is some 50 kB."""
PULSE_S = 15.0
ALIVE_S = 5.0
"""How often a worker says of its streams that it is still at them."""
ERROR = "error"

Told = Relayed
"""One event as it goes over the wire; ``number`` counts from 1."""


class Stream:
    """One request's events. ``asker`` is whose they are; ``relay`` takes them to other workers."""

    def __init__(
        self, request_id: str, asker: Caller, clock: Callable[[], float], relay: Relay | None = None
    ) -> None:
        self.request_id, self.asker, self.relay = request_id, asker, relay
        self.answer: Answer | None = None
        self.ended_at: float | None = None
        self._clock = clock
        self._told: list[Told] = []
        self._lock, self._telling = threading.Lock(), threading.Lock()
        self._listening: set[tuple[asyncio.AbstractEventLoop, asyncio.Event]] = set()

    def tell(self, event: Event) -> None:
        """For the pass, from any thread."""
        self.answer = event.answer or self.answer
        self._add(event.kind.value, msgspec.json.encode(event))

    def fail(self, details: Details) -> None:
        self._add(ERROR, msgspec.json.encode(details))

    def end(self) -> None:
        """Nothing more will be told."""
        self._pass_on(lambda relay: relay.alive([self.request_id], ended=True))
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
        with self._telling:
            told = Told(number=len(self._told) + 1, kind=kind, data=data)
            # Elsewhere first: what a client of this worker has heard, any other can go on from.
            self._pass_on(lambda relay: relay.tell(self.request_id, [told]))
            with self._lock:
                self._told.append(told)
                self._wake()

    def _pass_on(self, told: Callable[[Relay], None]) -> None:
        if self.relay is None:
            return
        try:
            told(self.relay)
        except CitewellError as error:
            # The answer does not depend on it: who comes back to another worker gets it from the record.
            self.relay = None
            extra = {"request_id": self.request_id, "error": type(error).__name__}
            log.warning("a stream can only be followed in the worker that answers", extra=extra)

    def _wake(self) -> None:
        for loop, woken in self._listening:
            loop.call_soon_threadsafe(woken.set)


class Streams:
    """Those that run, and those that ended no longer than ``keep_s`` ago. With ``relay`` other workers can
    hear them too, and a thread of its own tells them that this one lives."""

    def __init__(
        self,
        keep_s: float,
        *,
        relay: Callable[[], Relay | None] = lambda: None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._keep_s, self._relay, self._clock = keep_s, relay, clock
        self._lock, self._closed = threading.Lock(), threading.Event()
        self._streams: OrderedDict[str, Stream] = OrderedDict()
        self._living: threading.Thread | None = None

    @property
    def relay(self) -> Relay | None:
        """Where streams of other workers are heard."""
        return self._relay()

    def open(self, request_id: str, asker: Caller) -> Stream:
        """A stream that can be heard when this returns; waits for the database where there is one. Raises
        LogError."""
        relay = self.relay
        if relay is not None:
            relay.begin(request_id, asker.user, groups=groups_of(asker), keep_s=self._keep_s)
        with self._lock:
            self._let_go()
            stream = self._streams[request_id] = Stream(request_id, asker, self._clock, relay)
            if relay is not None and self._living is None:
                self._living = threading.Thread(target=self._live, name="citewell-streams", daemon=True)
                self._living.start()
            return stream

    def close(self) -> None:
        self._closed.set()
        if self._living is not None:
            self._living.join()

    def _live(self) -> None:
        while not self._closed.wait(ALIVE_S):
            with self._lock:
                running = [one for one in self._streams.values() if one.ended_at is None and one.relay]
            for_all = running[0].relay if running else None
            if for_all is not None:
                with suppress(CitewellError):  # the next event that cannot be passed on says so
                    for_all.alive([one.request_id for one in running])

    def get(self, request_id: str, caller: Caller) -> Stream | None:
        """None for one that is not here, another user's, or asked with groups that the caller lacks."""
        with self._lock:
            self._let_go()
            stream = self._streams.get(request_id)
            return stream if stream is not None and _hears(caller, stream.asker) else None

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


def groups_of(caller: Caller) -> tuple[str, ...] | None:
    """What a stream may have drawn from, for a caller of these groups; None for everything."""
    return None if caller.unrestricted else caller.groups


def _hears(caller: Caller, asker: Caller) -> bool:
    """One user may hold several keys, and not all of them have the groups that this was asked with."""
    if caller.user != asker.user:
        return False
    return caller.unrestricted or (not asker.unrestricted and set(asker.groups) <= set(caller.groups))
