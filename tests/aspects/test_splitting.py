"""A question is split where it asks for several things, by a model trained on written questions."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from citewell.questions.splitting import WEIGHTS, split


@pytest.mark.parametrize(
    ("question", "parts"),
    [
        (
            "What's the price, weight and warranty of the AR-7?",
            (
                "What's the price of the AR-7?",
                "What's the weight of the AR-7?",
                "What's the warranty of the AR-7?",
            ),
        ),
        ("Is smoking allowed and are pets allowed?", ("Is smoking allowed?", "are pets allowed?")),
        (
            "what is the dose for adults and children",
            ("what is the dose for adults", "what is the dose for children"),
        ),
        (
            "Who chairs the board, who is the treasurer and when is the next meeting?",
            ("Who chairs the board?", "who is the treasurer?", "when is the next meeting?"),
        ),
        ("When was Acme founded and by whom?", ("When was Acme founded?", "by whom was Acme founded?")),
        (
            "Who founded Acme Robotics and when?",
            ("Who founded Acme Robotics?", "when founded Acme Robotics?"),
        ),
    ],
)
def test_what_is_asked_for_is_asked_part_by_part(question: str, parts: tuple[str, ...]) -> None:
    assert split(question) == parts


@pytest.mark.parametrize(
    "question",
    [
        "Which is heavier, the AR-7 or the AR-9?",
        "What happens if I cancel and rebook?",
        "Who is responsible for health and safety?",
        "How do I restart the server and check its logs?",
        "Between 5 and 7, who is at the desk?",
        "What is the difference between net and gross?",
        "Which ships, other than ferries, use the pier?",
    ],
)
def test_what_is_one_question_stays_one(question: str) -> None:
    assert split(question) == ()


@given(st.text(max_size=300))
def test_parts_are_questions_and_the_same_each_time(question: str) -> None:
    parts = split(question)
    assert len(parts) != 1
    assert all(part.strip() for part in parts)
    assert split(question) == parts


def test_the_weights_say_what_made_them_and_how_often_they_are_right() -> None:
    stored = json.loads(WEIGHTS.read_text(encoding="utf-8"))
    assert stored["made by"] == "python -m training.splitting"
    held_out = stored["held out (five folds of blocks)"]
    assert held_out["one thing, left whole"]["share"] >= 0.93
    assert held_out["several things, split"]["share"] >= 0.8
