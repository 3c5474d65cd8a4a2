"""What one running server holds, in one place: the home, its settings, and the parts that requests share.

In: a home. Out: a :class:`Site`, found again from any request by :func:`site`. Knows nothing about routes.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass, field

from starlette.requests import HTTPConnection

from citewell.config import Server
from citewell.knowledge import KnowledgeBase
from citewell.server.keys import ApiKeys
from citewell.server.limits import Buckets, Work


@dataclass(kw_only=True)
class Site:
    """``local``: the socket listens on loopback alone, so that without keys the owner needs none.
    ``ready`` once the models are loaded, or ``failed`` says why not."""

    kb: KnowledgeBase
    settings: Server
    keys: ApiKeys
    work: Work
    callers: Buckets
    strangers: Buckets
    local: bool = True
    ready: threading.Event = field(default_factory=threading.Event)
    failed: str = ""

    @classmethod
    def of(cls, kb: KnowledgeBase, *, local: bool) -> Site:
        settings = kb.config.server
        return cls(
            kb=kb,
            settings=settings,
            keys=ApiKeys(kb.home),
            work=Work(settings.threads, settings.queue),
            callers=Buckets(settings.rate_per_minute, settings.burst),
            # Guessing 256 bits is hopeless; this keeps it from being expensive too.
            strangers=Buckets(60, 30),
            local=local,
        )

    @property
    def open(self) -> bool:
        """Nobody ever made a key and no issuer is configured: the one at this machine is the owner."""
        return self.local and not self.settings.oidc_issuer and not self.keys.any()

    def load(self) -> None:
        """Makes every part of the pass, so that the first asker does not wait for it."""
        try:
            self.kb.warm()
        except Exception as error:  # noqa: BLE001 - said by /readyz, and by every request that needs it
            self.failed = f"{type(error).__name__}: {error}"
        else:
            self.ready.set()

    def close(self) -> None:
        self.work.close()
        self.keys.close()


def site(request: HTTPConnection) -> Site:
    found: Site = request.app.state.site
    return found
