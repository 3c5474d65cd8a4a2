"""What one pass takes and who writes in it, counted under calls that have no place for it.

In: the tokens of each run of an embedded model, completions of language models behind the entailer's port,
and the names under which servers answered the writer. Out: their sums in the Meter of the pass, in its thread
or in a call it bounds; outside a metered pass nothing is counted. Knows nothing about stages.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from citewell.core.errors import AbandonedError, SameModelError
from citewell.core.ports import Completion

READ = 256
"""Tokens of one read, through the small encoder. A larger model's run counts by what it costs beside the
small one (``read_cost`` in its card)."""


class Meter:
    """One pass's: ``reads``, the ``judgements`` that language models gave as entailers, and ``writers``, the
    names under which servers answered the writer. ``gone`` says why nobody waits for the pass any more, ""
    while somebody does."""

    def __init__(self, gone: Callable[[], str] = lambda: "") -> None:
        self.gone = gone
        self.reads = 0.0
        self.judgements: list[Completion] = []
        self.writers: set[str] = set()


_METER: ContextVar[Meter | None] = ContextVar("meter", default=None)


@contextmanager
def metered(meter: Meter) -> Iterator[None]:
    """What happens inside this context counts for ``meter``."""
    before = _METER.set(meter)
    try:
        yield
    finally:
        _METER.reset(before)


def read(tokens: int, cost: float = 1.0) -> None:
    """Counts a run over ``tokens`` of a model that costs ``cost`` times the small encoder a token."""
    if meter := _METER.get():
        meter.reads += tokens * cost / READ
    must_go_on()


def unwanted() -> str:
    """Why nobody waits any more for what happens here, "" while somebody does."""
    return meter.gone() if (meter := _METER.get()) else ""


def listener() -> Callable[[], str]:
    """What says so here, for a pass within this one."""
    meter = _METER.get()
    return meter.gone if meter else lambda: ""


def must_go_on() -> None:
    """Raises AbandonedError where nobody waits for this pass any more."""
    if reason := unwanted():
        raise AbandonedError(f"the work was stopped: {reason}")


def spent(said: Completion) -> None:
    """Counts what an entailer that is a language model said."""
    if meter := _METER.get():
        meter.judgements.append(said)


def wrote(served: str) -> None:
    """Notes the name under which a server answered the writer, "" for none."""
    if served and (meter := _METER.get()):
        meter.writers.add(served)


def refuse_own_work(served: str) -> None:
    """Raises SameModelError where a judge's server answers under a name that the writer's did in this pass. A
    server that answers under any requested name cannot be detected."""
    meter = _METER.get()
    if meter and served in meter.writers:
        raise SameModelError(
            f"{served[:80]} wrote the answer and would also judge it, according to the server",
            hint="choose another generator, entailer or judge",
        )
