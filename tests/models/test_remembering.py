"""What was judged once is not judged again, unless it could not be judged."""

from __future__ import annotations

from collections.abc import Sequence

from citewell.core.records import Entailment
from citewell.models.fake import FakeEntailer
from citewell.models.remembering import RememberingEntailer


class Counting(FakeEntailer):
    def __init__(self) -> None:
        super().__init__()
        self.asked: list[tuple[str, str]] = []

    def entail(self, pairs: Sequence[tuple[str, str]]) -> list[Entailment]:
        self.asked += pairs
        return super().entail(pairs)


def test_each_pair_is_judged_once_and_the_answers_are_the_same() -> None:
    inner = Counting()
    remembering = RememberingEntailer(inner)
    pairs = [("The bridge opened in 1932.", "The bridge opened in 1932."), ("Rain.", "Snow fell.")]
    first = remembering.entail([*pairs, pairs[0]])
    assert remembering.entail(pairs) == first[:2] == FakeEntailer().entail(pairs)
    assert inner.asked == pairs
    assert remembering.maker == inner.maker


def test_what_could_not_be_checked_is_asked_again() -> None:
    inner = Counting()
    remembering = RememberingEntailer(inner)
    for _ in range(2):
        (said,) = remembering.entail([("", "A claim.")])
        assert said.unchecked
    assert len(inner.asked) == 2


def test_memory_is_bounded() -> None:
    inner = Counting()
    remembering = RememberingEntailer(inner, limit=1)
    for premise in ("One is odd.", "Two is even.", "One is odd."):
        remembering.entail([(premise, "One is odd.")])
    assert len(inner.asked) == 3
