"""A model's thinking aloud is cut; text that only mentions thinking is not."""

from __future__ import annotations

import pytest

from citewell.models.thinking import strip_thinking


@pytest.mark.parametrize(
    ("said", "answer"),
    [
        ("<think>Let me see.</think>\nIt opened in 1932.", "It opened in 1932."),
        ("Let me see.\n</think>\n\nIt opened in 1932.", "It opened in 1932."),
        ("<think>Let me", ""),
    ],
)
def test_thinking_is_cut_and_told(said: str, answer: str) -> None:
    kept, told = strip_thinking(said)
    assert kept == answer
    assert len(told) == 1


@pytest.mark.parametrize(
    "said",
    [
        "The model ends its thoughts with </think> and then answers. [1]",
        '{"claims": [{"evidence": "a\n</think>\nb"}], "missing": []}',
        "It opened in 1932.",
    ],
)
def test_words_about_thinking_stay(said: str) -> None:
    assert strip_thinking(said) == (said, ())
