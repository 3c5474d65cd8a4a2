"""Every request counted and logged when its response begins, by its route and never by its address.

In: ASGI requests. Out: the same, unchanged. Knows nothing about what they ask.
"""

from __future__ import annotations

import logging
import time

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from citewell.server.logs import NAME
from citewell.server.metrics import Metrics

log = logging.getLogger(NAME)


class Watching:
    def __init__(self, app: ASGIApp, *, metrics: Metrics) -> None:
        self.app, self.metrics = app, metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        began = time.perf_counter()

        async def told(message: Message) -> None:
            if message["type"] == "http.response.start":
                self._note(scope, int(message["status"]), time.perf_counter() - began)
            await send(message)

        await self.app(scope, receive, told)

    def _note(self, scope: Scope, status: int, seconds: float) -> None:
        # Set by the router; what met no route has none, and its path may say anything.
        route = getattr(scope.get("route"), "path", "") or "none"
        method = scope["method"] if scope["method"].isalpha() and len(scope["method"]) < 10 else "other"
        self.metrics.requested(method, route, status, seconds)
        known = getattr(scope.get("state"), "known", None) or scope.get("state", {}).get("known")
        fields = {"method": method, "route": route, "status": status, "ms": round(seconds * 1000, 1)}
        log.info("request", extra={**fields, "credential": getattr(known, "credential", "")})
