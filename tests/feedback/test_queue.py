"""Patterns among flagged answers, computed by hand."""

from __future__ import annotations

from citewell.knowledge.feedback.queue import QueueItem, grouped, with_topics
from citewell.knowledge.feedback.topics import OTHER, topics_of


def item(number: int, question: str = "q", **more: object) -> QueueItem:
    given = {"causes": ("thumbs_down",), "stage": "gate", "documents": ("a.pdf",)} | more
    return QueueItem(
        request_id=f"req_{number}",
        timestamp=f"t{number}",
        user="",
        session_id="",
        question=question,
        decision="ANSWER",
        **given,  # type: ignore[arg-type]
    )


def test_an_item_counts_in_each_of_its_groups() -> None:
    items = [
        item(3, causes=("thumbs_down", "citation_broken"), stage="generation", documents=("a.pdf", "b.pdf")),
        item(2, stage=""),
        item(1, documents=()),
    ]
    causes = [(group.name, group.n, group.requests) for group in grouped(items, "cause")]
    assert causes == [
        ("citation_broken, generation", 1, ("req_3",)),
        ("thumbs_down, gate", 1, ("req_1",)),
        ("thumbs_down, generation", 1, ("req_3",)),
        ("thumbs_down, unknown stage", 1, ("req_2",)),
    ]
    documents = [(group.name, group.n, group.stages) for group in grouped(items, "document")]
    assert documents == [
        ("a.pdf", 2, {"generation": 1, "unknown stage": 1}),
        ("b.pdf", 1, {"generation": 1}),
        ("no document", 1, {"gate": 1}),
    ]


def test_nothing_has_no_groups() -> None:
    assert grouped([], "cause") == ()
    assert topics_of([]) == []


def test_questions_that_share_their_telling_words_are_one_topic() -> None:
    questions = [
        "What is the notice period for tenants?",
        "How long is the notice period?",
        "What was revenue in 2022?",
        "What was revenue in 2023?",
        "And why?",
    ]
    assert topics_of(questions) == [
        "notice",
        "notice",
        "revenue",
        "revenue",
        OTHER,
    ]


def test_items_of_one_topic_share_it() -> None:
    items = [item(2, "How long is the notice period?"), item(1, "notice period for tenants")]
    assert [one.topic for one in with_topics(items)] == ["notice"] * 2
