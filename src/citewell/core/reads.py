"""What the embedded models read, in reads: one read is 256 tokens through the small encoder.

In: the tokens of each run, from the session that ran them. Out: their sum for the pass that is metered, in
its thread or in a call it bounds; outside a metered pass nothing is counted. A larger model's run counts by
what it costs beside the small one (``read_cost`` in its card). Knows nothing about stages.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

READ = 256


class Meter:
    """``reads`` since it was made."""

    def __init__(self) -> None:
        self.reads = 0.0


_METER: ContextVar[Meter | None] = ContextVar("meter", default=None)


@contextmanager
def metered(meter: Meter) -> Iterator[None]:
    """What is read inside this context counts for ``meter``."""
    before = _METER.set(meter)
    try:
        yield
    finally:
        _METER.reset(before)


def read(tokens: int, cost: float = 1.0) -> None:
    """Counts a run over ``tokens`` of a model that costs ``cost`` times the small encoder a token."""
    meter = _METER.get()
    if meter is not None:
        meter.reads += tokens * cost / READ
