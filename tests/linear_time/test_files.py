"""Neither the time to read and cut a file nor what is kept of it grows with the square of its elements."""

from __future__ import annotations

import gc
import signal
import time

import pytest
from benchmarks.hostile_files import FILES, worked

from citewell.core.errors import DocumentError

GROWTH = 8  # four times the elements: linear work grows by 4, quadratic by 16
NOTICED = 0.4  # CPU seconds for the larger file: less is too short to time on a busy machine
PATIENCE = 4.0


class _TooLongError(BaseException):
    """A BaseException, so that no handler in between catches it."""


def _give_up(*_: object) -> None:
    raise _TooLongError


def cost(data: bytes, suffix: str) -> tuple[float, int]:
    """CPU seconds to read and cut the file (``PATIENCE`` if it takes longer), and the bytes made of it."""
    former = signal.signal(signal.SIGVTALRM, _give_up)
    gc.collect()
    gc.disable()
    signal.setitimer(signal.ITIMER_VIRTUAL, PATIENCE)
    started, length = time.process_time(), 0
    try:
        length = worked(data, suffix)
    except DocumentError:
        pass
    except _TooLongError:
        return PATIENCE, length
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, former)
        gc.enable()
    return time.process_time() - started, length


@pytest.mark.parametrize("name", FILES)
def test_a_file_costs_what_its_size_says(name: str) -> None:
    shape = FILES[name]
    small, large = shape.make(shape.elements), shape.make(min(shape.most, 4 * shape.elements))
    cost(shape.make(1), shape.suffix)  # one-time loading is not the file's work
    (first, short), (second, long) = cost(small, shape.suffix), cost(large, shape.suffix)
    assert short, f"{name} was not read as {shape.suffix}"
    assert long <= GROWTH * short, f"{short} bytes became {long}"
    if second > max(NOTICED, GROWTH * first):
        second = min(second, cost(large, shape.suffix)[0])  # another process may have held the caches
    assert second <= max(NOTICED, GROWTH * first), f"{first:.2f} s became {second:.2f} s"
