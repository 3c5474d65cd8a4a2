"""Spot checks in a home's log: what was drawn, and what people said of it.

In: labels, as people give them. Out: the entries of both, read again. ``stratum`` and ``weight`` of an item
are for whoever counts, never for whoever judges. Knows nothing about how a sample is drawn.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence, Set
from typing import Any

from citewell.core.access import Role
from citewell.core.errors import UsageError
from citewell.core.identity import hash_text
from citewell.core.records import Record
from citewell.knowledge.home import KnowledgeBase

ANSWERS = ("supported", "partly", "not", "cannot tell")
"""What people may say of a claim under the words that it cites."""
DRAWN, LABEL = "spot check sample", "spot check label"


class Drawn(Record, frozen=True, kw_only=True):
    """One item as the log keeps it; ``stratum`` is hidden from whoever judges. ``weight``: how many answers
    its own was drawn for."""

    request_id: str
    claim: int
    stratum: str
    weight: float

    @property
    def item_id(self) -> str:
        return item_of({"request_id": self.request_id, "claim": self.claim})


class JudgedSample(Record, frozen=True, kw_only=True):
    """What people said of one draw: each item with what most of them said of it in whichever sample, "" where
    they are split. The weights are of this draw alone."""

    seed: int
    labels: tuple[tuple[Drawn, str], ...]


class SampleInfo(Record, frozen=True, kw_only=True):
    """A drawn sample, and how many of its items have been judged by anybody."""

    sample_id: str
    timestamp: str
    n: int
    judged: int


def samples(kb: KnowledgeBase) -> tuple[SampleInfo, ...]:
    """Newest first."""
    may(kb)
    judged = {item_of(body) for _, body in kb.audit.evaluations(LABEL)}
    found = [
        SampleInfo(
            sample_id=body["sample"],
            timestamp=entry.timestamp,
            n=len(body["items"]),
            judged=sum(item_of(item) in judged for item in body["items"]),
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


def judged_samples(kb: KnowledgeBase, sample_id: str = "") -> tuple[list[JudgedSample], int]:
    """One sample, or every one that was judged, oldest first; and how many people judged."""
    said: dict[str, dict[str, str]] = defaultdict(dict)
    own: dict[str, set[str]] = defaultdict(set)
    for entry, body in kb.audit.evaluations(LABEL):
        said[item_of(body)][entry.subject] = body["outcome"]
        own[body["sample"]].add(item_of(body))
    found = []
    people: set[str] = set()
    for _, body in kb.audit.evaluations(DRAWN):
        if sample_id and body["sample"] != sample_id:
            continue
        drawn = [Drawn(**item) for item in body["items"]]
        judged = _taken_up(drawn, said.keys(), own[body["sample"]])
        people.update(person for one in judged for person in said[one.item_id])
        labels = tuple((one, _most(said[one.item_id].values())) for one in judged)
        found.append(JudgedSample(seed=body["seed"], labels=labels))
    return found, len(people)


def _taken_up(drawn: Sequence[Drawn], judged: Set[str], own: Set[str]) -> list[Drawn]:
    """What was judged of a sample, as far as people went in it. Behind the last item that was judged in it,
    labels come of other samples alone, so they are of what is drawn often. Of a sample of which nothing is
    left to judge they went to the end, wherever they did so."""
    there = [one for one in drawn if one.item_id in judged]
    if len(there) == len(drawn):
        return there
    last = max((number for number, one in enumerate(there, 1) if one.item_id in own), default=0)
    return there[:last]


def place_of(seed: int, request_id: str) -> str:
    """The first of a stratum by this are drawn."""
    return hash_text(f"{seed} {request_id}")


def item_of(body: Mapping[str, Any]) -> str:
    """The claim that an item or a label is about, whichever sample it was drawn for."""
    return f"{body['request_id']}.{body['claim']}"


def _most(said: Iterable[str]) -> str:
    ranked = Counter(said).most_common(2)
    return "" if len(ranked) == 2 and ranked[0][1] == ranked[1][1] else ranked[0][0]


def may(kb: KnowledgeBase) -> None:
    kb.caller.must(Role.AUDITOR, to="judge other people's answers")
