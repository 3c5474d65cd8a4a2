"""Opens the socket, after refusing configurations that would admit strangers or lose records.

Connections with an unfinished request are limited in time and number. Otherwise a client opening connections
and sending half a line on each could lock everybody out; uvicorn has no such limits. Knows nothing about
routes.
"""

from __future__ import annotations

import asyncio
import logging
import os
import tempfile
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import uvicorn
from fastapi import FastAPI

from citewell.core.config import Config
from citewell.core.errors import ConfigError
from citewell.knowledge.assembly import load_config
from citewell.knowledge.opening import open
from citewell.server import logs
from citewell.server.app import create_app
from citewell.server.guards import is_loopback
from citewell.server.keys import ApiKeys
from citewell.server.metrics import SHARED

if TYPE_CHECKING:
    from uvicorn.protocols.http.h11_impl import H11Protocol as Http
else:
    from uvicorn.protocols.http.auto import AutoHTTPProtocol as Http

CONNECTIONS = 2000
"""Maximum open connections per process; more are refused unread."""
GRACE_S = 20
"""Time for connected clients to get an answer when the server is told to stop."""
LAST_S = 9
"""Time for unattended work to seal its record. Then the process ends, before supervisors, most of which wait
thirty seconds, kill it."""
_CLOSING_S = 3.0


def validate_serving(home: Path, config: Config) -> None:
    """Raises ConfigError for an unsafe way of serving."""
    settings = config.server
    if not is_loopback(settings.host) and not settings.oidc_issuer and not ApiKeys(home).any():
        raise ConfigError(
            f"{settings.host} can be reached from other machines, and no API key exists yet",
            hint="create one with `citewell keys create --user U --role admin`, or serve on 127.0.0.1",
        )
    if settings.workers > 1 and not config.audit.database:
        raise ConfigError(
            f"{settings.workers} workers cannot share SQLite: each would wait for the others' writes",
            hint="set audit.database to a PostgreSQL server, or use one worker with more threads",
        )


def serve(home: Path, config: Config, said: Mapping[str, str] | None = None) -> None:
    """Serves requests until told to stop; ``said`` are the command line's options as variables, already
    applied to ``config``. Raises ConfigError before the socket opens."""
    validate_serving(home, config)
    settings = config.server
    options: dict[str, Any] = {
        "host": settings.host,
        "port": settings.port,
        "access_log": False,  # URLs contain document ids: server.logs writes routes instead
        "server_header": False,
        "log_config": None,
        "proxy_headers": bool(settings.proxies),
        "forwarded_allow_ips": list(settings.proxies),
        "timeout_graceful_shutdown": GRACE_S,
        "limit_concurrency": CONNECTIONS,
        "http": Connection,
    }
    if settings.workers == 1:
        uvicorn.run(application(home, config), **options)
        return
    # Each worker is a new process reading the same configuration; the command line's options are passed on.
    os.environ |= {"CITEWELL_HOME": str(home), **(said or {})}
    with tempfile.TemporaryDirectory(prefix="citewell-metrics-") as folder:
        counts = Path(os.environ.setdefault(SHARED, folder))
        counts.mkdir(parents=True, exist_ok=True)
        for left in counts.glob("*.db"):  # from dead processes; their counts would be added again
            left.unlink()
        uvicorn.run(f"{__name__}:worker", factory=True, workers=settings.workers, **options)


def worker() -> FastAPI:
    home = Path(os.environ["CITEWELL_HOME"])
    return application(home, load_config(home))


def application(home: Path, config: Config) -> FastAPI:
    logs.start()
    kb = open(home, config=config)

    def leave() -> None:
        """Closes the home and exits at once: threads cannot be stopped, and Python would wait for them."""
        closing = threading.Thread(target=kb.close, daemon=True)
        closing.start()
        closing.join(_CLOSING_S)  # a thread writing an entry may hold the log; partial entries do not count
        logging.shutdown()
        os._exit(0)

    return create_app(kb, local=is_loopback(config.server.host), grace_s=LAST_S, leave=leave)


_TOO_LATE = b"HTTP/1.1 408 Request Timeout\r\nconnection: close\r\ncontent-length: 0\r\n\r\n"
_HEAD, _BODY = "head", "body"


class Connection(Http):
    """One connection. A request whose head is incomplete after ``HEAD_S`` is answered 408, one whose body is
    slower than ``BODY_S`` and ``BYTES_PER_S`` allow is cut off, and beyond ``UNFINISHED`` at a time the
    oldest is dropped. A subclass may have other limits; connections of one class share ``UNFINISHED``."""

    HEAD_S: ClassVar[float] = 10.0
    """For the head of a request, from its first byte or, for the first, from connecting."""
    BODY_S: ClassVar[float] = 30.0
    """For the body, extended by the bytes received at this rate:"""
    BYTES_PER_S: ClassVar[float] = 8_192.0
    UNFINISHED: ClassVar[int] = 500
    """Lower than the limit on all connections, to leave room for complete requests."""
    _unfinished: ClassVar[dict[Connection, None]] = {}

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
        """Ends an overdue request, unless enough of its body has arrived, or we paused reading ourselves."""
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
