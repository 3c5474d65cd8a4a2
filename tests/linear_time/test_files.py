"""Neither the time to read and cut a file nor what is kept of it grows with the square of its elements."""

from __future__ import annotations

import gc
import signal
import time

import pytest
from benchmarks.hostile_files import FILES, worked
from benchmarks.hostile_tables import FORMS, WRITERS

from citewell.core.errors import DocumentError

GROWTH = 8  # four times the elements: linear work grows by 4, quadratic by 16
NOTICED = 0.4  # CPU seconds for the larger file: less is too short to time on a busy machine
PATIENCE = 4.0
CELLS = 3_000  # characters of the smaller table: a few of them take 20 ms per kilobyte
LARGE = 250_000
MOST_S = 60.0  # CPU seconds for a table of a megabyte


class _TooLongError(BaseException):
    """A BaseException, so that no handler in between catches it."""


def _give_up(*_: object) -> None:
    raise _TooLongError


def cost(data: bytes, suffix: str, patience: float = PATIENCE) -> tuple[float, int]:
    """CPU seconds to read and cut the file (``patience`` if it takes longer), and the bytes made of it."""
    former = signal.signal(signal.SIGVTALRM, _give_up)
    gc.collect()
    gc.disable()
    signal.setitimer(signal.ITIMER_VIRTUAL, patience)
    started, length = time.process_time(), 0
    try:
        length = worked(data, suffix)
    except DocumentError:
        pass
    except _TooLongError:
        return patience, length
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
    grown(small, large, shape.suffix, PATIENCE)


def grown(small: bytes, large: bytes, suffix: str, patience: float) -> None:
    (first, short), (second, long) = cost(small, suffix, patience), cost(large, suffix, patience)
    assert short, f"it was not read as {suffix}"
    assert long <= GROWTH * short, f"{short} bytes became {long}"
    if second > max(NOTICED, GROWTH * first):
        second = min(second, cost(large, suffix, patience)[0])  # another process may have held the caches
    assert second <= max(NOTICED, GROWTH * first), f"{first:.2f} s became {second:.2f} s"
    assert second < patience


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("suffix", WRITERS)
def test_a_table_costs_what_its_size_says(suffix: str, form: str) -> None:
    small, large = (WRITERS[suffix](FORMS[form](size)) for size in (CELLS, 4 * CELLS))
    cost(
        WRITERS[suffix]([["item", "2020"], ["rent", "1"]]), suffix
    )  # one-time loading is not the table's work
    grown(small, large, suffix, PATIENCE)


@pytest.mark.slow
@pytest.mark.parametrize("form", ["long", "wide"])
@pytest.mark.parametrize("suffix", WRITERS)
def test_a_table_of_a_megabyte_costs_four_times_a_quarter_of_it(suffix: str, form: str) -> None:
    small, large = (WRITERS[suffix](FORMS[form](size)) for size in (LARGE, 4 * LARGE))
    grown(small, large, suffix, MOST_S)


def test_a_reader_that_compares_all_rows_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    def squares(data: bytes, suffix: str) -> int:
        rows = data.split(b"\n")
        return sum(one == other for one in rows for other in rows)

    monkeypatch.setitem(globals(), "worked", squares)
    with pytest.raises(AssertionError, match="became"):
        grown(*(WRITERS["csv"](FORMS["long"](size)) for size in (30_000, 120_000)), "csv", PATIENCE)
