"""Spot checks in a home's log: what was drawn, and what people said of it.

In: labels, as people give them. Out: the entries of both, read again. ``stratum`` and ``weight`` of an item
are for whoever counts, never for whoever judges. Knows nothing about how a sample is drawn.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable

from citewell.access import Role
from citewell.errors import UsageError
from citewell.knowledge import KnowledgeBase
from citewell.records import Record

ANSWERS = ("supported", "partly", "not", "cannot tell")
"""What people may say of a claim under the words that it cites."""
DRAWN, LABEL = "spot check sample", "spot check label"


class Drawn(Record, frozen=True, kw_only=True):
    """One item as the log keeps it; ``stratum`` is hidden from whoever judges."""

    request_id: str
    claim: int
    stratum: str
    weight: float

    @property
    def item_id(self) -> str:
        return f"{self.request_id}.{self.claim}"


class SampleInfo(Record, frozen=True, kw_only=True):
    """A drawn sample, and how many of its items have been judged by anybody."""

    sample_id: str
    timestamp: str
    n: int
    judged: int


def samples(kb: KnowledgeBase) -> tuple[SampleInfo, ...]:
    """Newest first."""
    may(kb)
    judged: dict[str, set[str]] = defaultdict(set)
    for _, body in kb.audit.evaluations(LABEL):
        judged[body["sample"]].add(f"{body['request_id']}.{body['claim']}")
    found = [
        SampleInfo(
            sample_id=body["sample"],
            timestamp=entry.timestamp,
            n=len(body["items"]),
            judged=len(judged[body["sample"]]),
        )
        for entry, body in kb.audit.evaluations(DRAWN)
    ]
    return tuple(reversed(found))


def record_label(kb: KnowledgeBase, sample_id: str, item_id: str, answer: str, *, by: str = "") -> None:
    """Seals what somebody (the caller, unless ``by`` says who) says of an item; the last word of a person
    counts. Raises AccessError, UsageError."""
    may(kb)
    if answer not in ANSWERS:
        raise UsageError(f"unknown answer {answer!r}", hint=f"one of {', '.join(ANSWERS)}")
    items, _ = items_of(kb, sample_id)
    one = next((one for one in items if one.item_id == item_id), None)
    if one is None:
        raise UsageError(
            f"no item {item_id!r} in sample {sample_id}", hint="`citewell eval sample` draws one"
        )
    kb.audit.note_evaluation(
        {
            "measure": LABEL,
            "sample": sample_id,
            "request_id": one.request_id,
            "claim": one.claim,
            "outcome": answer,
        },
        subject=by or kb.caller.user,
    )


def items_of(kb: KnowledgeBase, sample_id: str) -> tuple[list[Drawn], dict[str, int]]:
    for _, body in kb.audit.evaluations(DRAWN):
        if body["sample"] == sample_id:
            return [Drawn(**item) for item in body["items"]], body
    raise UsageError(f"no sample {sample_id!r}", hint="`citewell eval sample` draws one")


def judged_items(kb: KnowledgeBase, sample_id: str = "") -> tuple[list[tuple[Drawn, str]], int]:
    """Each item with what most people said of it ("" where they are split), and how many people judged."""
    drawn = {
        (body["sample"], one.item_id): one
        for _, body in kb.audit.evaluations(DRAWN)
        for one in (Drawn(**item) for item in body["items"])
    }
    last: dict[tuple[str, str], dict[str, str]] = defaultdict(dict)
    for entry, body in kb.audit.evaluations(LABEL):
        if not sample_id or body["sample"] == sample_id:
            key = (body["sample"], f"{body['request_id']}.{body['claim']}")
            last[key][entry.subject] = body["outcome"]
    people = {person for said in last.values() for person in said}
    return [(drawn[key], _most(said.values())) for key, said in last.items() if key in drawn], len(people)


def _most(said: Iterable[str]) -> str:
    ranked = Counter(said).most_common(2)
    return "" if len(ranked) == 2 and ranked[0][1] == ranked[1][1] else ranked[0][0]


def may(kb: KnowledgeBase) -> None:
    kb.caller.must(Role.AUDITOR, to="judge other people's answers")
