"""The server's log: one JSON object a line on standard error, without contents.

A line names routes, ids, times and kinds of errors; no question, no text of a document, no address with its
parameters, no key. A failure's place in the code is named, its words are not: they may quote what somebody
asked.
"""

from __future__ import annotations

import json
import logging
import sys
import time
import traceback
from datetime import UTC, datetime

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from citewell.core.clock import written
from citewell.server.metrics import Metrics

FIELDS = ("method", "route", "status", "ms", "credential", "request_id", "error", "pieces")
log = logging.getLogger("citewell.server")


class JsonLines(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        line: dict[str, object] = {
            "time": written(datetime.fromtimestamp(record.created, UTC)),
            "level": record.levelname.lower(),
            "event": record.getMessage(),
        }
        line |= {name: getattr(record, name) for name in FIELDS if hasattr(record, name)}
        if record.exc_info and record.exc_info[1] is not None:
            error = record.exc_info[1]
            frames = traceback.extract_tb(error.__traceback__)[-5:]
            line["error"] = type(error).__name__
            line["at"] = [f"{frame.filename}:{frame.lineno}" for frame in frames]
        return json.dumps(line)


def start() -> None:
    """Our messages and uvicorn's become lines; nothing else of this process is touched."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines())
    for name in (log.name, "uvicorn"):
        logger = logging.getLogger(name)
        logger.handlers, logger.propagate = [handler], False
        logger.setLevel(logging.INFO)


class RequestLog:
    """ASGI middleware: every request is counted and logged when its response begins, by its route and never
    by its address."""

    def __init__(self, app: ASGIApp, *, metrics: Metrics) -> None:
        self.app, self.metrics = app, metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        began = time.perf_counter()

        async def noting(message: Message) -> None:
            if message["type"] == "http.response.start":
                self._note(scope, int(message["status"]), time.perf_counter() - began)
            await send(message)

        await self.app(scope, receive, noting)

    def _note(self, scope: Scope, status: int, seconds: float) -> None:
        # Set by the router; what met no route has none, and its path may say anything.
        route = getattr(scope.get("route"), "path", "") or "none"
        method = scope["method"] if scope["method"].isalpha() and len(scope["method"]) < 10 else "other"
        self.metrics.requested(method, route, status, seconds)
        known = scope.get("state", {}).get("known")
        fields = {"method": method, "route": route, "status": status, "ms": round(seconds * 1000, 1)}
        log.info("request", extra={**fields, "credential": known.credential if known else ""})
