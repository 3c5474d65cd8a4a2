"""Whatever text enters through a public function, work grows linearly with its length, not quadratically."""

from __future__ import annotations

import contextlib
import gc
import signal
import time
from collections.abc import Callable
from typing import NamedTuple

import pytest
from benchmarks.hostile_shapes import shapes
from benchmarks.linear_time import DOORS

from citewell.core.errors import CitewellError
from citewell.core.sentences import blanked

GROWTH = 8  # four times the text: linear work grows by 4, quadratic by 16
SIZES = {
    "verify: the answer": 4_000,
    "verify: a source": 4_000,
    "claims of an answer": 4_000,
    "a question parsed": 2_000,
    "aspects of a question": 2_000,
    "chunking": 4_000,
    "Markdown": 4_000,
    "cells of CSV": 4_000,
    "DOCX": 2_000,
    "XLSX": 2_000,
    "PPTX": 4_000,
    "a document on a page": 4_000,
}
"""Characters of the smaller text, 20,000 unless listed: these take milliseconds per kilobyte."""
NOTICED = 0.5  # seconds for the longer text: less goes unnoticed, and is too short to time on a busy machine
PATIENCE = 15.0


class Stretch(NamedTuple):
    start: int
    end: int


def seconds(door: Callable[[str], object], text: str, patience: float = PATIENCE) -> float:
    """CPU seconds of one call; ``patience`` if it would take longer."""
    former = signal.signal(signal.SIGVTALRM, _give_up)
    gc.disable()  # other objects in the process are not the text's work
    signal.setitimer(signal.ITIMER_VIRTUAL, patience)
    started = time.process_time()
    try:
        with contextlib.suppress(CitewellError):  # a refusal is an answer
            door(text)
    except _TooLongError:
        return patience
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, former)
        gc.enable()
    return time.process_time() - started


class _TooLongError(BaseException):
    """A BaseException, so that no handler in between catches it."""


def _give_up(*_: object) -> None:
    raise _TooLongError


def slow(door: Callable[[str], object], small: int, large: int) -> list[str]:
    door("Sales rose to 5 million in 2020.")  # one-time loading is not the text's work
    found = []
    longer = shapes(large)
    for name, text in shapes(small).items():
        first = seconds(door, text)
        if first < NOTICED / 32:
            continue  # even quadratic growth would go unnoticed
        second = seconds(door, longer[name])
        if second > max(NOTICED, GROWTH * first) or second >= PATIENCE:
            again = seconds(door, text), seconds(door, longer[name])
            if again[1] > max(NOTICED, GROWTH * again[0]) or again[1] >= PATIENCE:
                found.append(f"{name}: {again[0]:.2f} s for {small} characters, {again[1]:.2f} s for {large}")
    return found


@pytest.mark.parametrize("door", sorted(DOORS))
def test_a_door_takes_time_that_grows_with_the_text(door: str) -> None:
    small = SIZES.get(door, 20_000)
    assert not slow(DOORS[door], small, 4 * small)


def test_a_door_that_compares_everything_with_everything_is_found() -> None:
    def squares(text: str) -> int:
        return sum(one == other for one in text for other in text) if text.isdigit() else 0

    assert slow(squares, 1_500, 6_000)


def test_blanking_a_hundred_thousand_numbers_copies_the_text_once() -> None:
    text = "1 " * 100_000
    numbers = [Stretch(2 * place, 2 * place + 1) for place in range(100_000)]
    started = time.process_time()
    assert blanked(text, numbers).strip() == ""
    assert time.process_time() - started < 0.5


CHEAP = (
    "markers",
    "sentences",
    "instructions in a passage",
    "poison filter",
    "plain text",
    "HTML",
    "RTF",
    "CSV",
)
AT_A_MEGABYTE = ("digits", "spaces", "sentences", "list items", "tabbed rows", "closed tags", "mixed")
MOST_S = 90.0  # CPU seconds for a megabyte


@pytest.mark.slow
@pytest.mark.parametrize("door", sorted(DOORS))
def test_a_large_text_costs_four_times_a_quarter_of_it(door: str) -> None:
    """Copying a text once per word goes unnoticed in a few kilobytes. Doors that take minutes for all shapes
    of a megabyte get one shape of half of it; `python -m benchmarks.linear_time --large` measures all."""
    size = 250_000 if door in CHEAP else 125_000
    quarter, whole = shapes(size), shapes(4 * size)
    DOORS[door]("Sales rose to 5 million in 2020.")
    found = []
    for name in AT_A_MEGABYTE if door in CHEAP else AT_A_MEGABYTE[-1:]:
        first = seconds(DOORS[door], quarter[name], MOST_S)
        second = seconds(DOORS[door], whole[name], MOST_S)
        if second > max(NOTICED, GROWTH * first) or second >= MOST_S:
            found.append(
                f"{name}: {first:.2f} s for {size} characters, {second:.2f} s for four times as many"
            )
    assert not found
