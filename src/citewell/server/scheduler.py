"""What a running server looks for again and again, because nobody's request brings it up.

In: what to do, and how often. Out: nothing; it is done in a thread of its own until the server stops. Knows
nothing about what is looked for.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable

from citewell.server.logs import NAME

log = logging.getLogger(NAME)

EVERY_S = 60.0


class Looking:
    """``look`` is called every :data:`EVERY_S` seconds; what it raises is logged, and it is called again."""

    def __init__(self, look: Callable[[], object]) -> None:
        self._look, self._every_s = look, EVERY_S
        self._closed = threading.Event()
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Does nothing while it runs: an application may be started again."""
        if self._thread is None:
            self._closed.clear()
            self._thread = threading.Thread(target=self._run, name="citewell-looking", daemon=True)
            self._thread.start()

    def close(self) -> None:
        """Waits for a look that is under way."""
        self._closed.set()
        if self._thread is not None:
            self._thread.join()
            self._thread = None

    def _run(self) -> None:
        while not self._closed.wait(self._every_s):
            try:
                self._look()
            except Exception as error:  # noqa: BLE001 - whatever it is, the next look may succeed
                log.warning("looking for due signals failed", extra={"error": type(error).__name__})
