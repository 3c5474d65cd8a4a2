"""What one pass costs and who writes in it, counted beneath calls that have no parameter for it; and that the
writer never judges its own work.

In: the tokens of each run of an embedded model, completions of language models used as entailers, and the
model names that servers reported to the writer. Out: their sums in the pass's Meter, in its thread or in a
call it bounds; outside a metered pass nothing is counted. A writer that would also judge is refused before
anything is written, and again if a server's reports show it. Knows nothing about stages.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from citewell.core.config import Config
from citewell.core.errors import AbandonedError, SameModelError
from citewell.core.ports import Completion
from citewell.core.records import Maker

READ = 256
"""Tokens of one read by the small encoder. A larger model's run is weighted by its cost relative to the
small one (``read_cost`` in its card)."""


class Meter:
    """The counts of one pass: ``reads``, the ``judgements`` of language models used as entailers, and
    ``writers``, the model names that servers reported to the writer. ``gone`` returns why nobody waits for
    the pass any more, "" while somebody does."""

    def __init__(self, gone: Callable[[], str] = lambda: "") -> None:
        self.gone = gone
        self.reads = 0.0
        self.judgements: list[Completion] = []
        self.writers: set[str] = set()


_METER: ContextVar[Meter | None] = ContextVar("meter", default=None)


@contextmanager
def metered(meter: Meter) -> Iterator[None]:
    """Whatever happens inside this context is counted in ``meter``."""
    before = _METER.set(meter)
    try:
        yield
    finally:
        _METER.reset(before)


def count_read(tokens: int, cost: float = 1.0) -> None:
    """Counts a run over ``tokens`` by a model that costs ``cost`` times the small encoder per token. Raises
    AbandonedError as :func:`must_go_on` does."""
    if meter := _METER.get():
        meter.reads += tokens * cost / READ
    must_go_on()


def unwanted() -> str:
    """Why nobody waits for the current pass any more, "" while somebody does."""
    return meter.gone() if (meter := _METER.get()) else ""


def listener() -> Callable[[], str]:
    """The current pass's ``gone``, for a pass nested in it."""
    meter = _METER.get()
    return meter.gone if meter else lambda: ""


@contextmanager
def unmetered() -> Iterator[Callable[[], str]]:
    """The current pass's ``gone``, for work that looks at it between its steps; nothing else inside counts or
    ends, so that no step is left half done."""
    gone = listener()
    with metered(Meter()):
        yield gone


def must_go_on() -> None:
    """Raises AbandonedError if nobody waits for the current pass any more."""
    if reason := unwanted():
        raise AbandonedError(f"the work was stopped: {reason}")


def spent(said: Completion) -> None:
    """Counts a judgement by a language model used as an entailer."""
    if meter := _METER.get():
        meter.judgements.append(said)


def wrote(served: str) -> None:
    """Records the model name that a server reported to the writer, "" for none."""
    if served and (meter := _METER.get()):
        meter.writers.add(served)


def refuse_own_work(served: str) -> None:
    """Raises SameModelError if a judge's server reports a model name that the writer's reported in this pass.
    A server that merely echoes the requested name cannot be detected."""
    meter = _METER.get()
    if meter and served in meter.writers:
        raise SameModelError(
            f"{served[:80]} wrote the answer and would also judge it, according to the server",
            hint="choose another generator, entailer or judge",
        )


def refuse_same_maker(writer: Maker, verifier: Maker) -> None:
    """Raises SameModelError if one model would both write and verify."""
    if writer.name == verifier.name or (writer.hash and writer.hash == verifier.hash):
        raise SameModelError(
            f"the same model, {writer.name}, would both write and verify",
            hint="choose another generator or entailer",
        )


def refuse_same_model(config: Config) -> None:
    """Checks the configuration alone, before any model is loaded or called. Raises SameModelError."""
    parts = {part.strip() for side in config.entailer.split(" + ") for part in side.split(" > ")}
    judging = {
        "entailer": parts,
        "judges.gate": {config.judges.gate},
        "judges.answer": {config.judges.answer},
    }
    for key, names in judging.items():
        if config.generator in names:
            raise SameModelError(
                f"generator and {key} are both {config.generator}, but a writer must not judge its own work",
                hint=f"choose another generator or {key}",
            )
