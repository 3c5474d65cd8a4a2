"""What language models took behind a port that has no place for it, told to whoever pays.

In: a listener, and the completions of what runs under it, in its thread or in a call that it bounds. Out:
each completion, once. Without a listener nobody is told. Knows nothing about who asked for what.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from citewell.core.ports import Completion

Listener = Callable[[Completion], None]
_LISTENER: ContextVar[Listener | None] = ContextVar("listener", default=None)


@contextmanager
def told_to(listener: Listener) -> Iterator[None]:
    """What is spent inside goes to ``listener``."""
    before = _LISTENER.set(listener)
    try:
        yield
    finally:
        _LISTENER.reset(before)


def spent(said: Completion) -> None:
    """A model was asked and said so."""
    listener = _LISTENER.get()
    if listener is not None:
        listener(said)
