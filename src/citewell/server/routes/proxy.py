"""``/proxy``: forwards another system's model calls and checks the answers on their way back.

A request's body goes to the configured API unchanged, with its credentials; neither is stored or logged. A
stream's text passes at once (unless answers may be withheld), its end only after the answer is checked and
sealed: without a record, no answer is complete. A response that calls tools is not an answer yet.
"""

from __future__ import annotations

import asyncio
import logging
import math
import re
import time
from collections.abc import AsyncIterator, Callable
from concurrent.futures import Future
from contextlib import suppress
from functools import cached_property, partial
from typing import Any

import httpx2
import msgspec
from fastapi import APIRouter, Request
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response, StreamingResponse

from citewell.core import identity
from citewell.core.access import Caller
from citewell.core.addresses import redact_address
from citewell.core.config import Proxy
from citewell.core.errors import AbandonedError, ConfigError, UsageError
from citewell.core.metering import Meter, metered, must_go_on
from citewell.core.records import Status
from citewell.knowledge import external
from citewell.knowledge.external import ExternalOutcome
from citewell.models.remembering import RememberingEntailer
from citewell.server.limits import Busy
from citewell.server.logs import log
from citewell.server.problems import Problem
from citewell.server.protocols import DONE, Json, Protocol, line, protocol_of
from citewell.server.site import Site
from citewell.vendors.reading import VendorAnswer, read_response
from citewell.vendors.requests import NUMBERED, AnswerRequest, sent

router = APIRouter(include_in_schema=False)

PREFIX = "/proxy"
RECORD, STATUS = "X-Citewell-Record", "X-Citewell-Status"
MOST_BYTES = 32 << 20
"""Maximum size of one answer."""
PULSE_S = 10.0
_CONNECT_S = 10.0
_OURS = frozenset(
    (  # noqa: SIM905 - a list is longer
        "host content-length connection keep-alive transfer-encoding upgrade te trailer date server"
        " proxy-authorization proxy-authenticate accept-encoding content-encoding"
        " cookie set-cookie"  # a browser's cookies are this server's own
    ).split()
)
"""Headers that are not forwarded, in lower case."""
_SENTENCE_ENDS = re.compile(rb"""[.!?](?:["\s]|\\n)""")
_BORDER = re.compile(rb"\r\n\r\n|\n\n|\r\r")


class TooLarge(Exception):
    """The answer is larger than MOST_BYTES."""


def validate_proxy(settings: Proxy) -> None:
    """Raises ConfigError for unusable settings."""
    if not settings.to.startswith(("https://", "http://")):
        raise ConfigError(
            f"proxy.to = {redact_address(settings.to)!r}", hint="use an address such as https://host/v1"
        )
    if settings.unchecked == "withhold" and settings.policy != "withhold":
        hint = 'set proxy.policy = "withhold" too'
        raise ConfigError(f"the policy {settings.policy!r} withholds nothing", hint=hint)
    try:
        re.compile(settings.sources)
    except re.error as error:
        raise ConfigError(f"proxy.sources is not a regular expression: {error}", hint="correct it") from error


class Upstream:
    """The API that requests are forwarded to, with its connections."""

    def __init__(self, settings: Proxy) -> None:
        validate_proxy(settings)
        self.settings, self.pattern = settings, settings.sources or NUMBERED
        for name in ("httpx2", "httpx"):  # their messages contain URLs, which may contain keys
            logging.getLogger(name).setLevel(logging.WARNING)
        self.client = httpx2.AsyncClient(
            timeout=httpx2.Timeout(settings.timeout_s, connect=_CONNECT_S),
            limits=httpx2.Limits(max_connections=None, max_keepalive_connections=50),
        )

    async def send(self, request: Request, path: str, body: bytes) -> httpx2.Response:
        raw = request.scope.get("raw_path", b"").decode("latin-1").partition(PREFIX)[2]
        query = request.scope["query_string"].decode("latin-1")
        address = f"{self.settings.to.rstrip('/')}{raw or '/' + path}" + (f"?{query}" if query else "")
        kept = [(name, value) for name, value in request.headers.items() if name not in _OURS]
        made = self.client.build_request(
            request.method, address, headers=[*kept, ("Accept-Encoding", "identity")], content=body
        )
        return await self.client.send(made, stream=True)


@router.api_route(PREFIX + "/{path:path}", methods=["GET", "POST", "PUT", "PATCH", "DELETE"])
async def proxy(request: Request, path: str) -> Response:
    """Forwards a request and returns its response; see the module."""
    upstream: Upstream = request.app.state.upstream
    if any(part in (".", "..") for part in path.split("/")):
        raise Problem(400, "the path points outside the API", hint="send the path as the API defines it")
    body = await request.body()
    protocol = protocol_of(path) if request.method == "POST" else None
    shape = protocol.error if protocol else lambda message: {"error": {"message": message}}
    try:
        response = await upstream.send(request, path, body)
    except httpx2.HTTPError as error:
        late = isinstance(error, httpx2.TimeoutException)
        problem = "did not answer in time" if late else "cannot be reached"
        message = f"{redact_address(upstream.settings.to)} {problem}"
        return _json(shape(f"{message} ({type(error).__name__})"), 504 if late else 502)
    headers = {name: value for name, value in response.headers.items() if name.lower() not in _OURS}
    if protocol is None or response.status_code != 200:
        return StreamingResponse(_pieces(response), response.status_code, headers)
    checking = Checking(request, upstream, protocol, body)
    headers[RECORD] = checking.record
    if headers.get("content-type", "").startswith("text/event-stream"):
        return StreamingResponse(checking.stream(response), 200, headers | {"X-Accel-Buffering": "no"})
    try:
        data = b"".join([piece async for piece in _pieces(response, MOST_BYTES)])
    except (httpx2.HTTPError, TooLarge) as error:
        return _json(shape(f"the answer was cut off ({type(error).__name__})"), 502)
    return await checking.body(data, headers)


class Checking:
    """Checks one answer on its way back."""

    def __init__(self, request: Request, upstream: Upstream, protocol: Protocol, body: bytes) -> None:
        self.here: Site = request.app.state.site
        self.settings, self.protocol, self.pattern = upstream.settings, protocol, upstream.pattern
        self.request_id = identity.request_id()
        self.record = f"{str(request.base_url).rstrip('/')}/answers/{self.request_id}"
        self._http, self._body, self._request = request, body, AnswerRequest()
        self._client = request.client.host if request.client else ""
        self._ahead: Future[ExternalOutcome] | None = None
        self._unread, self._over = False, ""

    @cached_property
    def _entailer(self) -> RememberingEntailer:
        return RememberingEntailer(self.here.kb.parts.entailer)

    async def body(self, data: bytes, headers: dict[str, str]) -> Response:
        """The reply to a complete, unstreamed response."""
        given, events, response = await run_in_threadpool(self._parsed, data)
        try:
            found, outcome, mark, withheld = await self._settled(response)
        except Problem as error:
            return _json(self.protocol.error(str(error)), 503, {RECORD: self.record})
        headers |= {STATUS: outcome.status.value}
        if withheld is not None:
            return _json([withheld] if events else withheld, 200, headers)
        if self.settings.policy == "observe" or given is None:
            return Response(data, 200, headers)
        if events:
            return _json(self.protocol.closing(events, found, mark), 200, headers)
        self.protocol.marked(response, found, mark)
        return _json(response, 200, headers)

    def _parsed(self, data: bytes) -> tuple[Any, list[Json], Json]:
        """The decoded response (None: unreadable), the events of Gemini's array, and the whole they make."""
        try:
            given = msgspec.json.decode(data)
            events = given if isinstance(given, list) else []
            return given, events, self.protocol.joined(events) if events else dict(given)
        except (msgspec.DecodeError, TypeError, ValueError, KeyError, AttributeError, RecursionError):
            return None, [], {}

    async def stream(self, upstream: httpx2.Response) -> AsyncIterator[bytes]:
        """The events of a response; the last ones are held until the answer is sealed."""
        seen: list[Json] = []
        held: list[tuple[bytes, Json]] = []
        ending, broken, spoke = self.settings.policy == "withhold", "", time.monotonic()
        try:
            async for raw in _events(_pieces(upstream, MOST_BYTES)):
                event = _event(raw)
                seen.append(event)
                ending = ending or self.protocol.ends(event)
                self._unread = self._unread or bool(_SENTENCE_ENDS.search(raw))
                self._check_ahead(seen)
                if not ending:
                    yield raw
                    continue
                held.append((raw, event))
                if time.monotonic() - spoke > PULSE_S:
                    spoke = time.monotonic()
                    yield b": the answer is being checked\n\n"
        except (httpx2.HTTPError, TooLarge) as error:
            broken = f"the answer was cut off ({type(error).__name__})"
        except (asyncio.CancelledError, GeneratorExit):
            self._over = "the client disconnected"
            self.here.work.submit(lambda: self._abandon(self._joined(seen)), self._client)
            raise
        response = await run_in_threadpool(self._joined, seen)
        try:
            found, outcome, mark, withheld = await self._settled(response, broken)
        except Problem as error:
            broken = str(error)
        if broken:
            yield line(self.protocol.error(broken))
            return
        if withheld is not None:
            for event in self.protocol.events(withheld):
                yield line(event)
            return
        close = next((place for place, (_, event) in enumerate(held) if self.protocol.ends(event)), len(held))
        for raw, _ in held[:close]:
            yield raw
        last = [event for _, event in held[close:]]
        if self.settings.policy == "observe" or not last:
            if outcome.status is Status.UNCHECKED:  # a comment, which clients ignore: the events stay as sent
                yield f": {STATUS}: UNCHECKED ({' '.join(outcome.unchecked.split())})\n\n".encode()
            for raw, _ in held[close:]:
                yield raw
            return
        for event in self.protocol.closing(last, found, mark):
            yield line(event)

    async def _settled(
        self, response: Json, broken: str = ""
    ) -> tuple[VendorAnswer, ExternalOutcome, Json, Json | None]:
        """Checks and seals: (answer, outcome, mark, replacement if withheld). Raises Problem: without
        a record, no answer is complete."""
        found, outcome = await self._checked(response, broken)
        withholds = external.withholds(self.settings, found, outcome)
        sealed = msgspec.structs.replace(outcome, shown="" if withholds else found.text)
        try:
            await run_in_threadpool(self._put, found, sealed, response)
        except Exception as error:
            log.error("an answer could not be sealed", exc_info=error)
            kind = type(error).__name__
            title = f"the record of this answer could not be written ({kind}), so it is not complete"
            raise Problem(503, title) from error
        mark, notice = external.mark(outcome, self.record), external.notice(outcome, self.record)
        return found, outcome, mark, self.protocol.withheld(response, notice, mark) if withholds else None

    def _joined(self, seen: list[Json]) -> Json:
        try:
            return self.protocol.joined([event for event in seen if event is not DONE])
        except (TypeError, ValueError, KeyError, AttributeError, IndexError):
            return {}

    async def _checked(self, response: Json, broken: str = "") -> tuple[VendorAnswer, ExternalOutcome]:
        """Checks the answer; any failure becomes the reason why it is unchecked."""
        found, limit = VendorAnswer(text=""), self.settings.check_s
        try:
            found = await run_in_threadpool(self._found, response)
            if broken:
                return found, external.unchecked(self.request_id, broken)
            checking = self.here.attended(
                self.here.checks, self._http, Caller(user=self._client), lambda gone: self._check(found, gone)
            )
            return found, await asyncio.wait_for(checking, limit)  # which ends the check as well
        except UsageError as error:
            reason = str(error)
        except TimeoutError:
            reason = f"the check took longer than {limit:g} s"
        except Busy:
            reason = "too many checks were waiting"
        except AbandonedError:
            reason = "the client disconnected before the answer was checked"
        except asyncio.CancelledError:  # by the client of a stream
            self.here.work.submit(lambda: self._abandon(response), self._client)
            raise
        except Exception as error:  # noqa: BLE001 - reported in the answer, the record and the log
            log.error("a check failed", exc_info=error)
            reason = f"the check failed ({type(error).__name__})"
        finally:
            self._over = "the check has ended"
        return found, external.unchecked(self.request_id, broken or reason)

    def _check(self, found: VendorAnswer, gone: Callable[[], str]) -> ExternalOutcome:
        with metered(Meter(gone)):
            must_go_on()  # it may have waited for a thread
            return external.check(self.here.kb.parts, found, self.request_id, self._entailer)

    def _check_ahead(self, seen: list[Json]) -> None:
        """Checks the sentences that a stream has ended so far, if nobody waits for a check: the entailer
        remembers them, so that the check at the end, which alone counts, has only the last ones to read."""
        free = (self._ahead is None or self._ahead.done()) and not self.here.checks.waiting
        if self._unread and free:
            with suppress(Busy):
                self._unread = False
                self._ahead = self.here.checks.submit(partial(self._read_ahead, list(seen)), self._client)

    def _read_ahead(self, seen: list[Json]) -> ExternalOutcome:
        return self._check(self._found(self._joined(seen)), lambda: self._over)

    def _found(self, response: Json) -> VendorAnswer:
        """The answer, read with what its request says. Raises UsageError."""
        try:
            given = msgspec.json.decode(self._body)
        except (msgspec.DecodeError, RecursionError):
            given = None
        if isinstance(given, dict):
            self._request = sent(given, self.pattern)
        return read_response(response, self.protocol.vendor, self._request)

    def _put(self, found: VendorAnswer, outcome: ExternalOutcome, response: Json) -> None:
        model = response.get("model") or response.get("modelVersion") or self._request.model
        about = {
            "to": redact_address(self.settings.to),
            "policy": self.settings.policy,
            "withheld": not outcome.shown,
        }
        parts = self.here.kb.parts
        external.seal(parts, found, outcome, user=self._request.user, model=f"proxy:{model}", about=about)

    def _abandon(self, response: Json) -> None:
        """Seals what was sent to a client that has left."""
        try:
            found = self._found(response)
            outcome = external.unchecked(self.request_id, "the client disconnected before the answer ended")
            shown = "" if self.settings.policy == "withhold" else found.text
            self._put(found, msgspec.structs.replace(outcome, shown=shown), response)
        except Exception as error:  # noqa: BLE001 - nobody is left to tell
            log.error("an answer whose client disconnected could not be sealed", exc_info=error)


def _json(value: Any, status: int, headers: dict[str, str] | None = None) -> Response:
    kept = {name: text for name, text in (headers or {}).items() if name.lower() != "content-type"}
    return Response(msgspec.json.encode(value), status, kept, "application/json")


async def _pieces(response: httpx2.Response, most: float = math.inf) -> AsyncIterator[bytes]:
    """The response unchanged; a broken connection breaks for the client too. Raises TooLarge."""
    size = 0
    try:
        async for piece in response.aiter_bytes():
            size += len(piece)
            if size > most:
                raise TooLarge
            yield piece
    finally:
        await response.aclose()


async def _events(pieces: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    """Each event of a stream, including the blank line that ends it."""
    buffer = b""
    async for piece in pieces:
        start, sent = max(len(buffer) - 3, 0), 0
        buffer += piece
        for found in _BORDER.finditer(buffer, start):
            yield buffer[sent : found.end()]
            sent = found.end()
        buffer = buffer[sent:]
    if buffer.strip():
        yield buffer + b"\n\n"


def _event(raw: bytes) -> Json:
    """An event's JSON object; empty for anything else."""
    data = b"\n".join(row[5:].strip() for row in raw.splitlines() if row.startswith(b"data:"))
    if data == b"[DONE]":
        return DONE
    try:
        found = msgspec.json.decode(data)
    except (msgspec.DecodeError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}
