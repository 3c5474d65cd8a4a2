"""Opening the socket, and the refusals before that: nothing that would let strangers in, or lose records.

In: a home and its configuration. Out: a server that runs until it is stopped. Knows nothing about routes.
"""

from __future__ import annotations

import logging
import os
import tempfile
import threading
from pathlib import Path
from typing import Any

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

CONNECTIONS = 2000
"""Open at a time, per process; more are turned away before they are read."""
GRACE_S = 20
"""Who is connected when the server is told to stop has so long to get an answer."""
LAST_S = 9
"""Work that nobody listens to any more has so long to seal its record. Then the process ends, before whoever
stops servers loses patience: most wait thirty seconds."""
_CLOSING_S = 3.0


def refuse(home: Path, config: Config) -> None:
    """Raises ConfigError for a way of serving that is not safe."""
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


def serve(home: Path, config: Config) -> None:
    """Answers requests until it is told to stop. Raises ConfigError before the socket opens."""
    import uvicorn

    from citewell.server.connections import Connection

    refuse(home, config)
    settings = config.server
    options: dict[str, Any] = {
        "host": settings.host,
        "port": settings.port,
        "access_log": False,  # addresses hold ids of documents: server.logs writes routes instead
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
    # Each worker is a fresh process that reads the same configuration; what the command line said goes along.
    os.environ |= {
        "CITEWELL_HOME": str(home),
        "CITEWELL_SERVER_HOST": settings.host,
        "CITEWELL_SERVER_PORT": str(settings.port),
        "CITEWELL_SERVER_WORKERS": str(settings.workers),
    }
    with tempfile.TemporaryDirectory(prefix="citewell-metrics-") as folder:
        counts = Path(os.environ.setdefault(SHARED, folder))
        counts.mkdir(parents=True, exist_ok=True)
        for left in counts.glob("*.db"):  # of processes that are gone; their counts would be added again
            left.unlink()
        uvicorn.run(f"{__name__}:worker", factory=True, workers=settings.workers, **options)


def worker() -> FastAPI:
    """One of several processes."""
    home = Path(os.environ["CITEWELL_HOME"])
    return application(home, load_config(home))


def application(home: Path, config: Config) -> FastAPI:
    logs.start()
    kb = open(home, config=config)

    def leave() -> None:
        """Threads cannot be stopped, and Python would wait for them: the process goes, its log shut."""
        closing = threading.Thread(target=kb.close, daemon=True)
        closing.start()
        closing.join(_CLOSING_S)  # a thread in the midst of an entry holds the log; what is half is not there
        logging.shutdown()
        os._exit(0)

    return create_app(kb, local=is_loopback(config.server.host), grace_s=LAST_S, leave=leave)
