"""Patterns among flagged answers, computed by hand."""

from __future__ import annotations

from citewell.knowledge.feedback.queue import QueueItem, grouped


def item(number: int, **more: object) -> QueueItem:
    given = {"causes": ("thumbs_down",), "stage": "gate", "documents": ("a.pdf",)} | more
    return QueueItem(
        request_id=f"req_{number}",
        timestamp=f"t{number}",
        user="",
        session_id="",
        question="q",
        decision="ANSWER",
        **given,  # type: ignore[arg-type]
    )


def test_an_item_counts_in_each_of_its_groups() -> None:
    items = [
        item(3, causes=("thumbs_down", "citation_broken"), stage="generation", documents=("a.pdf", "b.pdf")),
        item(2, stage=""),
        item(1, documents=()),
    ]
    causes = [(group.name, group.n, group.newest) for group in grouped(items, "cause")]
    assert causes == [("thumbs_down", 3, "req_3"), ("citation_broken", 1, "req_3")]
    documents = [(group.name, group.n, group.stages) for group in grouped(items, "document")]
    assert documents == [
        ("a.pdf", 2, {"generation": 1, "unknown stage": 1}),
        ("b.pdf", 1, {"generation": 1}),
        ("no document", 1, {"gate": 1}),
    ]


def test_nothing_has_no_groups() -> None:
    assert grouped([], "cause") == ()
