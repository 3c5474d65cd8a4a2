"""Resumable event streams of answers in progress.

In: events as the pipeline emits them, from its thread. Out: the same events to any number of listeners, each
from where it left off, during the stream and for a while after. If workers share a database server, events
also go there, so that a client may reconnect to any worker (:class:`RemoteStream`). Streams no longer kept
are rebuilt from the record. Knows nothing about HTTP.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable
from contextlib import suppress

import msgspec
from starlette.concurrency import run_in_threadpool

from citewell.answering.streaming import Event
from citewell.core.access import Caller
from citewell.core.errors import CitewellError
from citewell.core.records import Answer
from citewell.knowledge.traces import Relay, RelayedEvent, RelayedEvents
from citewell.server.limits import Deadline
from citewell.server.logs import log
from citewell.server.problems import Details

KEPT = 500
"""Maximum finished streams, whatever their age: an answer with its passages is some 50 kB."""
PULSE_S = 15.0
ALIVE_S = 5.0
"""How often a worker reports that its streams are alive."""
LOOK_S = 0.25
GONE_S = 6 * ALIVE_S
"""After this long without a sign of life, the answering process is taken to have stopped."""
ERROR = "error"


class Stream:
    """One request's events, numbered from 1. ``asker`` owns them; ``relay`` passes them to other workers;
    ``deadline`` ends the request early when the asker no longer waits."""

    def __init__(self, request_id: str, asker: Caller, relay: Relay | None) -> None:
        self.request_id, self.asker, self.relay = request_id, asker, relay
        self.question, self.session_id = "", ""
        self._began = time.monotonic()
        self.deadline = Deadline()
        self.answer: Answer | None = None
        self.ended_at: float | None = None
        self._events: list[RelayedEvent] = []
        self._lock, self._emitting = threading.Lock(), threading.Lock()
        self._listening: set[tuple[asyncio.AbstractEventLoop, asyncio.Event]] = set()

    @property
    def elapsed_ms(self) -> int:
        """For how long the asker has waited."""
        return round((time.monotonic() - self._began) * 1000)

    def emit(self, event: Event) -> None:
        self.answer = event.answer or self.answer
        self._add(event.kind.value, msgspec.json.encode(event))

    def fail(self, details: Details) -> None:
        self._add(ERROR, msgspec.json.encode(details))

    def end(self) -> None:
        self._pass_on(lambda relay: relay.alive([self.request_id], ended=True))
        with self._lock:
            self.ended_at = time.monotonic()
            self._wake()

    async def events(self, after: int = 0) -> AsyncIterator[RelayedEvent | None]:
        """Every event after number ``after``, to the end; None whenever nothing came for ``PULSE_S``."""
        woken = asyncio.Event()
        listener = (asyncio.get_running_loop(), woken)
        with self._lock:
            self._listening.add(listener)
        try:
            while True:
                woken.clear()
                with self._lock:
                    fresh, ended = self._events[after:], self.ended_at is not None
                for event in fresh:
                    yield event
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
        with self._emitting:
            event = RelayedEvent(number=len(self._events) + 1, kind=kind, data=data)
            # To the others first, so that any worker can resume after what a client here has received.
            self._pass_on(lambda relay: relay.tell(self.request_id, [event]))
            with self._lock:
                self._events.append(event)
                self._wake()

    def _pass_on(self, send: Callable[[Relay], None]) -> None:
        if self.relay is None:
            return
        try:
            send(self.relay)
        except CitewellError as error:
            # The answer does not depend on it: a client of another worker gets it from the record.
            self.relay = None
            extra = {"request_id": self.request_id, "error": type(error).__name__}
            log.warning("a stream can only be followed in the worker that answers", extra=extra)

    def _wake(self) -> None:
        for loop, woken in self._listening:
            loop.call_soon_threadsafe(woken.set)


class RemoteStream:
    """As :class:`Stream`, for listeners, when another worker is answering; read from the shared database."""

    question = session_id = ""
    elapsed_ms = 0  # not known here

    def __init__(self, relay: Relay, request_id: str, caller: Caller) -> None:
        self.request_id, self.caller, self._relay = request_id, caller, relay

    def exists(self) -> bool:
        """True if it is kept, and has ended or is still alive; waits for the database."""
        heard = self._heard(0)
        return heard is not None and (heard.ended or heard.silent_s < GONE_S)

    async def events(self, after: int = 0) -> AsyncIterator[RelayedEvent | None]:
        """As :meth:`Stream.events`; ends with an error if the answering worker is gone."""
        spoke = time.monotonic()
        while True:
            heard = await run_in_threadpool(self._heard, after)
            if heard is None:  # it was dropped, or erased with its asker
                return
            for event in heard.told:
                yield event
                after = event.number
            if heard.ended:
                return
            if heard.silent_s > GONE_S:
                gone = Details(
                    title="the server process that was answering has stopped",
                    status=503,
                    hint="reconnect: if the answer was already recorded, you will get it; if not, ask again",
                    retryable=True,
                )
                yield RelayedEvent(number=after + 1, kind=ERROR, data=msgspec.json.encode(gone))
                return
            now = time.monotonic()
            if heard.told or now - spoke > PULSE_S:
                spoke = now
                if not heard.told:
                    yield None
            await asyncio.sleep(LOOK_S)

    def _heard(self, after: int) -> RelayedEvents | None:
        return self._relay.heard(self.request_id, self.caller.user, after, groups=_groups_of(self.caller))


class Streams:
    """Streams running or ended at most ``keep_s`` ago. With ``relay``, other workers can follow them too, and
    a thread reports to them that this one is alive."""

    def __init__(self, keep_s: float, *, relay: Callable[[], Relay | None]) -> None:
        self._keep_s, self._relay = keep_s, relay
        self._lock, self._closed = threading.Lock(), threading.Event()
        self._streams: OrderedDict[str, Stream] = OrderedDict()
        self._living: threading.Thread | None = None

    def open(self, request_id: str, asker: Caller) -> Stream:
        """Opens a stream, which can be followed at once; waits for the database if there is one. Raises
        LogError."""
        relay = self._relay()
        if relay is not None:
            relay.begin(request_id, asker.user, groups=_groups_of(asker), keep_s=self._keep_s)
        with self._lock:
            self._let_go()
            stream = self._streams[request_id] = Stream(request_id, asker, relay)
            if relay is not None and self._living is None:
                self._living = threading.Thread(target=self._live, name="citewell-streams", daemon=True)
                self._living.start()
            return stream

    def close(self) -> None:
        self._closed.set()
        if self._living is not None:
            self._living.join()

    def get(self, request_id: str, caller: Caller) -> Stream | None:
        """The stream; None if not here, another user's, or asked with groups that the caller lacks."""
        with self._lock:
            self._let_go()
            stream = self._streams.get(request_id)
            return stream if stream is not None and _may_follow(caller, stream.asker) else None

    def remote(self, request_id: str, caller: Caller) -> RemoteStream | None:
        """A stream of another worker, running or ended, or None; waits for the database."""
        relay = self._relay()
        found = RemoteStream(relay, request_id, caller) if relay is not None else None
        return found if found is not None and found.exists() else None

    def drop(self, request_id: str) -> None:
        with self._lock:
            self._streams.pop(request_id, None)

    def _live(self) -> None:
        while not self._closed.wait(ALIVE_S):
            with self._lock:
                running = [one for one in self._streams.values() if one.ended_at is None and one.relay]
            relay = running[0].relay if running else None
            if relay is not None:
                with suppress(CitewellError):  # the next event that cannot be relayed logs it
                    relay.alive([one.request_id for one in running])

    def _let_go(self) -> None:
        ended = [(name, one.ended_at) for name, one in self._streams.items() if one.ended_at is not None]
        over, now = len(ended) - KEPT, time.monotonic()
        for place, (name, at) in enumerate(ended):
            if place < over or now - at > self._keep_s:
                del self._streams[name]


def _groups_of(caller: Caller) -> tuple[str, ...] | None:
    """The groups whose documents a caller's stream may contain; None for everything."""
    return None if caller.unrestricted else caller.groups


def _may_follow(caller: Caller, asker: Caller) -> bool:
    """True for the same user with all groups asked with: not all of a user's keys may have them."""
    if caller.user != asker.user:
        return False
    return caller.unrestricted or (not asker.unrestricted and set(asker.groups) <= set(caller.groups))
