"""Queued work is taken in turn, refused if it would wait too long, and never begun if nobody waits."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable

import pytest

from citewell.server.limits import Busy, WorkQueue


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def working(clock: Clock, seconds: float) -> Callable[[], None]:
    def task() -> None:
        clock.now += seconds

    return task


def held(work: WorkQueue) -> threading.Event:
    """Keeps the only thread busy until the event is set."""
    gate, begun = threading.Event(), threading.Event()
    work.submit(lambda: (begun.set(), gate.wait()), "somebody")
    assert begun.wait(10)
    return gate


def test_one_who_asks_much_holds_up_nobody_else() -> None:
    work, order = WorkQueue(1, 100), list[str]()
    gate = held(work)
    many = [work.submit(lambda n=n: order.append(f"many {n}"), "many") for n in range(5)]
    few = [work.submit(lambda n=n: order.append(f"few {n}"), "few") for n in range(2)]
    gate.set()
    for future in (*many, *few):
        future.result(10)
    assert order == ["many 0", "few 0", "many 1", "few 1", "many 2", "many 3", "many 4"]
    work.close()


def test_who_would_wait_too_long_is_told_at_once_and_when_to_come_again() -> None:
    clock = Clock()
    work = WorkQueue(1, 100, max_wait_s=30, clock=clock)
    work.submit(working(clock, 10.0), "a").result(10)
    gate = held(work)
    for _ in range(2):  # ten seconds each: they would begin after 10 and 20, a third after 30
        work.submit(gate.wait, "a")
    work.submit(gate.wait, "a")
    with pytest.raises(Busy) as caught:
        work.submit(gate.wait, "a")
    assert caught.value.after == pytest.approx(10.0)
    # Another caller's first question waits for only one of theirs.
    other = work.submit(lambda: "mine", "b")
    gate.set()
    assert other.result(10) == "mine"
    work.close()


def test_who_waited_too_long_after_all_is_turned_away_and_nothing_is_begun() -> None:
    clock, begun = Clock(), threading.Event()
    work = WorkQueue(1, 5, max_wait_s=30, clock=clock)
    gate = held(work)

    def waiting() -> bool:
        clock.now += 20
        return False

    with pytest.raises(Busy):
        asyncio.run(work.run(begun.set, left=waiting))
    gate.set()
    assert work.close()
    assert not begun.is_set()
    assert work.waiting == 0


def test_what_a_task_raises_is_raised_to_whoever_waits() -> None:
    work = WorkQueue(1, 5)

    def failing() -> None:
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        asyncio.run(work.run(failing))
    assert asyncio.run(work.run(lambda: 5)) == 5
    work.close()


def test_closing_leaves_nobody_waiting_for_what_never_begins() -> None:
    work = WorkQueue(1, 5)
    gate = held(work)
    never = work.submit(lambda: 1, "late")
    assert not work.close(within=0.1)
    assert never.cancelled()
    gate.set()
