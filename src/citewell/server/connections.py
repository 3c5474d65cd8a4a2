"""Connections on which a request has begun and does not come to its end: they are given so long, and no more.

In: what uvicorn receives. Out: the same, but a request whose head is not whole after ``HEAD_S`` is answered
408, one whose body comes slower than ``BODY_S`` and ``BYTES_PER_S`` allow is cut off, and of more than
``UNFINISHED`` at a time the oldest goes. Without that, whoever opens connections and sends half a line each
keeps everybody else out. Knows nothing about requests.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, ClassVar

if TYPE_CHECKING:
    from uvicorn.protocols.http.h11_impl import H11Protocol as Http
else:
    from uvicorn.protocols.http.auto import AutoHTTPProtocol as Http

_TOO_LATE = b"HTTP/1.1 408 Request Timeout\r\nconnection: close\r\ncontent-length: 0\r\n\r\n"
_HEAD, _BODY = "head", "body"


class Bounded(Http):
    """One connection. A subclass may have other limits; connections of one class share ``UNFINISHED``."""

    HEAD_S: ClassVar[float] = 10.0
    """For the lines of a request, from its first byte or, of the first, from when the connection was made."""
    BODY_S: ClassVar[float] = 30.0
    """For its body, and longer by what has come of it:"""
    BYTES_PER_S: ClassVar[float] = 8_192.0
    UNFINISHED: ClassVar[int] = 500
    """Fewer than all connections that are taken, so that there is room for those who do ask something."""
    _unfinished: ClassVar[dict[Bounded, None]]

    _waits_for = ""
    _since = 0.0
    _bytes = 0
    _timer: asyncio.TimerHandle | None = None

    def __init_subclass__(cls) -> None:
        cls._unfinished = {}

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        self._wait_for(_HEAD)

    def data_received(self, data: bytes) -> None:
        self._bytes += len(data)
        super().data_received(data)
        cycle: Any = self.cycle
        if self.transport.is_closing() or self.transport.get_protocol() is not self:
            self._wait_for("")
        elif cycle is None or cycle.response_complete:
            self._wait_for(_HEAD)
        else:
            self._wait_for(_BODY if cycle.more_body else "")

    def connection_lost(self, exc: Exception | None) -> None:
        self._wait_for("")
        super().connection_lost(exc)

    def _wait_for(self, what: str) -> None:
        if what == self._waits_for:
            return
        self._waits_for, self._since, self._bytes = what, self.loop.time(), 0
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        self._unfinished.pop(self, None)
        if what:
            self._timer = self.loop.call_later(self.HEAD_S if what == _HEAD else self.BODY_S, self._look)
            self._unfinished[self] = None
            if len(self._unfinished) > self.UNFINISHED:
                next(iter(self._unfinished))._end()

    def _look(self) -> None:
        """The time is over, unless more of a body came meanwhile, or we ourselves asked it to wait."""
        left = self._since + self.BODY_S + self._bytes / self.BYTES_PER_S - self.loop.time()
        if self._waits_for == _BODY and (left > 0 or self.flow.read_paused):
            self._timer = self.loop.call_later(max(left, 1.0), self._look)
        else:
            self._end()

    def _end(self) -> None:
        head = self._waits_for == _HEAD
        self._wait_for("")
        if head and not self.transport.is_closing():
            self.transport.write(_TOO_LATE)
            self.transport.close()
        else:
            self.transport.abort()


class Connection(Bounded):
    """What the server uses."""
