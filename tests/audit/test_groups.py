"""Threads that wait together are served together, in order, each once, whatever happens to one of them."""

from __future__ import annotations

import threading
from collections.abc import Callable

import pytest

from citewell.audit.writer import Groups


class Served:
    """Keeps the groups served; the first blocks until it is released."""

    def __init__(self, most: int = 100) -> None:
        self.groups: list[list[int]] = []
        self.begun, self.go = threading.Event(), threading.Event()
        self.made = Groups(self.serve, most)

    def serve(self, items: list[int]) -> None:
        self.begun.set()
        self.go.wait(10)
        self.groups.append(items)

    def waiting(self) -> int:
        return len(self.made._queue)


def started(work: Callable[[], None]) -> threading.Thread:
    thread = threading.Thread(target=work)
    thread.start()
    return thread


def all_waiting(served: Served, numbers: range) -> list[threading.Thread]:
    """One thread per number, in order, queued behind the one being served."""
    threads = []
    for number in numbers:
        before = served.waiting()
        threads.append(started(lambda number=number: served.made.add(number)))  # type: ignore[misc]
        while served.waiting() == before:
            pass
    return threads


def first_of(served: Served) -> threading.Thread:
    thread = started(lambda: served.made.add(0))
    served.begun.wait(10)
    return thread


def test_who_comes_meanwhile_is_the_next_group_in_order() -> None:
    served = Served()
    threads = [first_of(served), *all_waiting(served, range(1, 8))]
    served.go.set()
    for thread in threads:
        thread.join(10)
    assert served.groups == [[0], [1, 2, 3, 4, 5, 6, 7]]


def test_a_group_has_a_largest_size_and_the_rest_follows() -> None:
    served = Served(most=3)
    threads = [first_of(served), *all_waiting(served, range(1, 8))]
    served.go.set()
    for thread in threads:
        thread.join(10)
    assert served.groups == [[0], [1, 2, 3], [4, 5, 6], [7]]


def test_many_threads_are_each_served_once() -> None:
    seen: list[int] = []
    groups = Groups(seen.extend, 5)
    threads = [
        started(lambda n=n: [groups.add(n * 50 + k) for k in range(50)] and None)  # type: ignore[misc]
        for n in range(8)
    ]
    for thread in threads:
        thread.join(20)
    assert sorted(seen) == list(range(400))
    assert all(seen.index(n * 50 + k) < seen.index(n * 50 + k + 1) for n in range(8) for k in range(49))


def test_what_ends_the_thread_that_serves_does_not_end_the_others() -> None:
    served: list[int] = []

    def serve(items: list[int]) -> None:
        served.extend(items)
        if 0 in items:
            raise KeyboardInterrupt

    groups = Groups(serve, 10)
    with pytest.raises(KeyboardInterrupt):
        groups.add(0)
    groups.add(1)
    assert served == [0, 1]


def test_an_item_whose_thread_was_interrupted_while_it_waited_is_not_served(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def interrupted() -> None:
        raise KeyboardInterrupt

    served = Served()
    first = first_of(served)
    with monkeypatch.context() as patch:
        patch.setattr(served.made._turn, "wait", interrupted)
        with pytest.raises(KeyboardInterrupt):
            served.made.add(1)
    served.go.set()
    first.join(10)
    served.made.add(2)
    assert served.groups == [[0], [2]]
