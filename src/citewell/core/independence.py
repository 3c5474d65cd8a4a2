"""The writer never marks its own work.

In: a configuration, two makers, or the names under which servers answer. Out: nothing, or SameModelError:
before anything is written where that can be known, else before the judge's word counts. A server that
answers under whatever name it is asked for cannot be seen through. Knows nothing about how models are made.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from citewell.core.config import Config
from citewell.core.errors import SameModelError
from citewell.core.records import Maker

_WROTE: ContextVar[set[str] | None] = ContextVar("wrote", default=None)


@contextmanager
def keeping_apart() -> Iterator[None]:
    """What is judged inside, in its thread or in a call that it bounds, was written inside."""
    before = _WROTE.set(set())
    try:
        yield
    finally:
        _WROTE.reset(before)


def wrote(served: str) -> None:
    """A server answered the writer under this name, "" for none."""
    names = _WROTE.get()
    if names is not None and served:
        names.add(served)


def refuse_own_work(served: str) -> None:
    """Raises SameModelError where a judge's server answers under a name that the writer's did."""
    if served in (_WROTE.get() or ()):
        raise SameModelError(
            f"{served[:80]} judges here and {served[:80]} wrote it, as the server says",
            hint="choose another generator, entailer or judge",
        )


def refuse_same_maker(writer: Maker, verifier: Maker) -> None:
    """Raises SameModelError when one model would write and verify."""
    if writer.name == verifier.name or (writer.hash and writer.hash == verifier.hash):
        raise SameModelError(
            f"{writer.name} would verify what {verifier.name} wrote, and they are one model",
            hint="choose another generator or entailer",
        )


def refuse_same_model(config: Config) -> None:
    """By the lines of the configuration, before anything is made or called."""
    parts = {part.strip() for side in config.entailer.split(" + ") for part in side.split(" > ")}
    judging = {
        "entailer": parts,
        "judges.gate": {config.judges.gate},
        "judges.answer": {config.judges.answer},
    }
    for key, names in judging.items():
        if config.generator in names:
            raise SameModelError(
                f"generator and {key} are both {config.generator}: the writer never marks its own work",
                hint=f"choose another generator or {key}",
            )
