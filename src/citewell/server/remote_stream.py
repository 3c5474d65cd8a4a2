"""A stream that another worker answers, heard from the database that they share.

In: a request, who listens, and the number of the last event that arrived. Out: the same events under the same
numbers as that worker tells them, or that it is gone. Knows nothing about HTTP.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator

import msgspec
from starlette.concurrency import run_in_threadpool

from citewell.core.access import Caller
from citewell.knowledge.traces import Heard, Relay
from citewell.server.problems import Details
from citewell.server.streams import ALIVE_S, ERROR, PULSE_S, Told, groups_of

LOOK_S = 0.25
GONE_S = 6 * ALIVE_S
"""Without a sign of life for so long, the server process that was answering has stopped."""
GONE = Details(
    title="the server process that was answering has stopped",
    status=503,
    hint="reconnect: if the answer was already recorded, you will get it; if not, ask again",
    retryable=True,
)


class Elsewhere:
    """As :class:`citewell.server.streams.Stream`, for listeners."""

    def __init__(self, relay: Relay, request_id: str, caller: Caller) -> None:
        self.request_id, self.caller, self._relay = request_id, caller, relay

    def there(self) -> bool:
        """Whether it is kept, and ended or still worked on; waits for the database."""
        heard = self._heard(0)
        return heard is not None and (heard.ended or heard.silent_s < GONE_S)

    async def events(self, after: int = 0) -> AsyncIterator[Told | None]:
        """Every event behind number ``after``, to the end; None when nothing came for a while."""
        spoke = time.monotonic()
        while True:
            heard = await run_in_threadpool(self._heard, after)
            if heard is None:  # it was let go of, or forgotten with its asker
                return
            for told in heard.told:
                yield told
                after = told.number
            if heard.ended:
                return
            if heard.silent_s > GONE_S:
                yield Told(number=after + 1, kind=ERROR, data=msgspec.json.encode(GONE))
                return
            now = time.monotonic()
            if heard.told or now - spoke > PULSE_S:
                spoke = now
                if not heard.told:
                    yield None
            await asyncio.sleep(LOOK_S)

    def _heard(self, after: int) -> Heard | None:
        return self._relay.heard(self.request_id, self.caller.user, after, groups=groups_of(self.caller))
