"""The writer never judges its own work.

In: a configuration, two makers, or the names under which servers answer. Out: nothing, or SameModelError:
before anything is written where that can be known, else before the judge's word counts. A server that
answers under any requested name cannot be detected. Knows nothing about how models are made.
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
    """Separates requests: what is judged inside this context, in its thread or in a call it bounds, was
    written inside it."""
    before = _WROTE.set(set())
    try:
        yield
    finally:
        _WROTE.reset(before)


def wrote(served: str) -> None:
    """Notes the name under which a server answered the writer, "" for none."""
    names = _WROTE.get()
    if names is not None and served:
        names.add(served)


def refuse_own_work(served: str) -> None:
    """Raises SameModelError where a judge's server answers under a name that the writer's did."""
    if served in (_WROTE.get() or ()):
        raise SameModelError(
            f"{served[:80]} wrote the answer and would also judge it, according to the server",
            hint="choose another generator, entailer or judge",
        )


def refuse_same_maker(writer: Maker, verifier: Maker) -> None:
    """Raises SameModelError when one model would write and verify."""
    if writer.name == verifier.name or (writer.hash and writer.hash == verifier.hash):
        raise SameModelError(
            f"the same model, {writer.name}, would both write and verify",
            hint="choose another generator or entailer",
        )


def refuse_same_model(config: Config) -> None:
    """Checks the configuration alone, before any model is loaded or called."""
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
