"""The state of one running server: the home, its settings, and the parts that requests share.

:func:`site` returns it for any request. Knows nothing about routes.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from contextlib import asynccontextmanager, contextmanager
from functools import partial
from typing import Annotated, Any, TypeVar

from fastapi import Depends
from fastapi.routing import APIRoute
from starlette.requests import HTTPConnection, Request
from starlette.responses import Response

from citewell.core.access import Caller
from citewell.core.errors import AbandonedError
from citewell.core.metering import Meter, metered
from citewell.knowledge.home import KnowledgeBase
from citewell.server.keys import ApiKeys
from citewell.server.limits import Buckets, Deadline, WorkQueue
from citewell.server.logs import log
from citewell.server.metrics import Metrics
from citewell.server.oidc import Issuer
from citewell.server.problems import Problem
from citewell.server.streams import Streams
from citewell.server.telemetry import telemetry

Result = TypeVar("Result")

_LOOKED_S = 0.5
CHANGE_WAITS_S = 5.0
"""Maximum wait, as a waiting request holds a thread."""


class Site:
    """``local``: the socket listens only on loopback, so that until keys exist the owner needs none.
    ``ready`` is set once the models are loaded; otherwise ``failed`` says why not."""

    def __init__(self, kb: KnowledgeBase, *, local: bool) -> None:
        settings = kb.config.server
        self.kb, self.settings, self.local = kb, settings, local
        self.keys = ApiKeys(kb.home)
        self.metrics = Metrics(kb)
        kb.parts.subscribers.append(self.metrics.signalled)
        self.work = WorkQueue(
            settings.threads, settings.queue, max_wait_s=settings.max_wait_s, on_change=self.metrics.queue.set
        )
        # Checks and uploads take long, so they have threads of their own and never block questions.
        self.checks = WorkQueue((settings.threads + 1) // 2, settings.queue, max_wait_s=settings.max_wait_s)
        self.callers = Buckets(settings.rate_per_minute, settings.burst)
        # Guessing 256 bits is hopeless; this keeps attempts from costing us much.
        self.strangers = Buckets(60, 30)
        self.streams = Streams(settings.stream_keep_s, relay=lambda: kb.parts.relay)
        self.telemetry = telemetry(documents=settings.otel_documents, writer=kb.config.generator)
        self.issuer = Issuer(settings) if settings.oidc_issuer else None
        self.ingesting = threading.Lock()
        self.ready = threading.Event()
        self.failed = ""
        self._keyed: bool | None = None

    async def attended(
        self,
        work: WorkQueue,
        request: Request,
        caller: Caller,
        call: Callable[[Callable[[], str]], Result],
        *,
        timeout_s: float = 0.0,
        setting: str = "server.timeout_s",
    ) -> Result:
        """Runs ``call`` in a thread of ``work``; its argument returns why nobody is waiting any more, ""
        while somebody is. Raises Busy, Problem 503 on timeout, or what ``call`` raised."""
        async with _watched(request, timeout_s, setting) as deadline:
            task = partial(call, deadline.gone)
            return await work.run(task, caller=caller.user, left=deadline.left.is_set)

    async def reading(self, request: Request, caller: Caller, call: Callable[[], Result]) -> Result:
        """As :meth:`attended`, for reading the log or judging again, which the meter stops in time."""

        def work(gone: Callable[[], str]) -> Result:
            with metered(Meter(gone)):
                return call()

        return await self.attended(self.checks, request, caller, work, timeout_s=self.settings.timeout_s)

    @contextmanager
    def changing(self) -> Iterator[None]:
        """Lets one request at a time change documents. Raises Problem 503 after ``CHANGE_WAITS_S``."""
        if not self.ingesting.acquire(timeout=CHANGE_WAITS_S):
            hint = "try again when it has finished"
            raise Problem(503, "another ingest is running", hint=hint, retry_after_s=5)
        try:
            yield
        finally:
            self.ingesting.release()

    async def changed(
        self, request: Request, caller: Caller, call: Callable[[Callable[[], str]], Result]
    ) -> Result:
        """As :meth:`attended`, for changes to documents, of which one is made at a time: none keeps the
        others waiting longer than ``server.upload_s``."""

        def work(gone: Callable[[], str]) -> Result:
            with self.changing():
                return call(gone)

        return await self.attended(
            self.checks,
            request,
            caller,
            work,
            timeout_s=self.settings.upload_s,
            setting="server.upload_s",
        )

    @property
    def open(self) -> bool:
        """True if no key was ever made and no issuer is configured, so that callers on this machine are the
        owner. If the key file is lost, the log still has the keys' entries."""
        if not self.local or self.settings.oidc_issuer:
            return False
        if not self._keyed and self.keys.any():
            self._keyed = True
        elif self._keyed is None and self.kb.home.is_dir():
            self._keyed = self.kb.log.had_api_keys()
        return not self._keyed

    def start(self) -> None:
        """Loads every part needed for answering in a thread, so that the first asker does not wait."""
        threading.Thread(target=self.load, name="citewell-load", daemon=True).start()

    def load(self) -> None:
        try:
            self.kb.warm()
        except Exception as error:  # noqa: BLE001 - also reported by every request that needs the part
            self.failed = f"{type(error).__name__}: {error}"
            log.error("a component could not be loaded", exc_info=error)
        else:
            self.ready.set()
            self.metrics.ready.set(1)

    def close(self, within: float | None = None) -> bool:
        """Closes everything; False if work is still running after ``within`` seconds."""
        began = time.monotonic()
        ended = self.work.close(within)
        left = None if within is None else max(0.0, within - (time.monotonic() - began))
        ended = self.checks.close(left) and ended
        self.streams.close()
        self.telemetry.close()
        self.keys.close()
        return ended


class DeadlineRoute(APIRoute):
    """A GET route whose log reading or judging stops at the request's deadline or when the client leaves. It
    does nothing for other methods: their body is yet to come, and only the handler knows what may be left
    half done."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        handle = super().get_route_handler()
        if "GET" not in (self.methods or ()):
            return handle

        async def attended(request: Request) -> Response:
            async with _watched(request, site(request).settings.timeout_s) as deadline:
                with metered(Meter(deadline.gone)):
                    return await handle(request)

        return attended


@asynccontextmanager
async def _watched(
    request: Request, timeout_s: float, setting: str = "server.timeout_s"
) -> AsyncIterator[Deadline]:
    """The deadline of a request whose body has been read, if it has any. Raises Problem 503 on timeout."""
    deadline = Deadline(timeout_s, setting)

    async def watch() -> None:
        while not await request.is_disconnected():
            await asyncio.sleep(_LOOKED_S)
        deadline.left.set()

    watching = asyncio.create_task(watch())
    try:
        yield deadline
    except AbandonedError as error:
        raise overdue(error, deadline) from error
    finally:
        watching.cancel()
        deadline.left.set()  # also of a request that was cancelled


def overdue(error: AbandonedError, deadline: Deadline) -> Exception:
    """The problem for a client still waiting, or ``error`` itself if none is."""
    if deadline.left.is_set():
        return error
    return Problem(503, str(error.args[0]), hint=f"ask for less at once, or raise {deadline.setting}")


def site(request: HTTPConnection) -> Site:
    found: Site = request.app.state.site
    return found


Here = Annotated[Site, Depends(site)]
