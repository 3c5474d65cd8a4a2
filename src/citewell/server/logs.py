"""The server's log: one JSON object per line on standard error, without contents.

Lines contain routes, ids, times and error types; no questions, document text, URLs with parameters, or keys.
For a failure they give the place in the code but not the message, which may quote a question.
"""

from __future__ import annotations

import json
import logging
import sys
import time
import traceback
from datetime import UTC, datetime

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from citewell.core.environment import format_time
from citewell.server.metrics import Metrics

FIELDS = ("method", "route", "status", "ms", "credential", "request_id", "error", "pieces")
log = logging.getLogger("citewell.server")


class JsonLines(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        line: dict[str, object] = {
            "time": format_time(datetime.fromtimestamp(record.created, UTC)),
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
    """Formats our log messages and uvicorn's; leaves other loggers in this process alone."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines())
    for name in (log.name, "uvicorn"):
        logger = logging.getLogger(name)
        logger.handlers, logger.propagate = [handler], False
        logger.setLevel(logging.INFO)


class RequestLog:
    """ASGI middleware that counts and logs every request when its response begins, by route, never by
    URL."""

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
        # Set by the router; an unmatched request has none, and its path may contain anything.
        route = getattr(scope.get("route"), "path", "") or "none"
        method = scope["method"] if scope["method"].isalpha() and len(scope["method"]) < 10 else "other"
        self.metrics.requested(method, route, status, seconds)
        known = scope.get("state", {}).get("known")
        fields = {"method": method, "route": route, "status": status, "ms": round(seconds * 1000, 1)}
        log.info("request", extra={**fields, "credential": known.credential if known else ""})
