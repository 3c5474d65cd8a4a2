"""Spot checks: claims of recent answers for people to judge without seeing the verdict, and what they said.

In: a home, as one of its auditors sees it; labels, as people give them. Out: a :class:`Sample`, drawn by
strata of verdict, proof and confidence, and sealed in the log; the same log and seed give the same one. An
answer is drawn with all its claims: what a card promises is promised of answers. ``stratum`` and ``weight``
of an item are for whoever counts, never for whoever judges. Knows nothing about terminals or pages.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence, Set
from typing import Any

from citewell.audit.bodies import UNREADABLE
from citewell.audit.profiles import confidence_band
from citewell.audit.question import AuditQuery, moment
from citewell.core.access import EVALUATION, Role
from citewell.core.errors import EvidenceError, UsageError
from citewell.core.identity import hash_text, hash_value
from citewell.core.records import AuditRecord, Claim, Record
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


AROUND = 400
"""Characters of the document shown before and behind a quote."""
_LEAST = 2


class Shown(Record, frozen=True, kw_only=True):
    """A cited span in its document."""

    document_id: str
    quote: str
    before: str
    after: str


class Item(Record, frozen=True, kw_only=True):
    """A claim to be judged. ``claim`` counts from 1; ``answered`` is what who judges said of it already, in
    whichever sample."""

    item_id: str
    request_id: str
    claim: int
    question: str
    text: str
    spans: tuple[Shown, ...]
    answered: str = ""


class Sample(Record, frozen=True, kw_only=True):
    """``items`` stand answer by answer. ``population`` claims could have been drawn; ``left_out`` claims
    could not be shown: no span of theirs has a place, or their document is not to be seen."""

    sample_id: str
    items: tuple[Item, ...]
    population: int
    left_out: int = 0


def draw(kb: KnowledgeBase, *, since: str = "30d", n: int = 50, seed: int = 0, by: str = "") -> Sample:
    """All claims of at most ``n`` answers since then, sealed as a draw for ``by``, else the caller, to judge.
    Raises AccessError, UsageError."""
    may(kb)
    if n < 1:
        raise UsageError(f"a sample of {n}", hint="at least 1")
    query = AuditQuery(since=moment(since, kb.now()))
    records = {
        record.request_id: record
        for record in kb.audit.every(query, reader=kb.caller.user)
        if record.user != EVALUATION and not record.error and record.user_query not in UNREADABLE
    }
    claims = {
        request: {
            number: _stratum(record, claim)
            for number, claim in enumerate(record.claims, 1)
            if _spans(kb, claim)
        }
        for request, record in records.items()
    }
    sizes = Counter(stratum for of_one in claims.values() for stratum in of_one.values())
    population = sizes.total()
    left_out = sum(len(record.claims) for record in records.values()) - population
    # An answer stands in the stratum of its rarest claim, so that rare kinds are looked at.
    strata: dict[str, list[str]] = defaultdict(list)
    for request, of_one in claims.items():
        if of_one:
            strata[min(of_one.values(), key=lambda name: (sizes[name], name))].append(request)
    taken = _allotted({name: len(requests) for name, requests in strata.items()}, n)
    weights = {
        request: len(strata[name]) / count
        for name, count in taken.items()
        for request in sorted(strata[name], key=lambda request: place_of(seed, request))[:count]
    }
    chosen = [
        Drawn(request_id=request, claim=number, stratum=stratum, weight=weights[request])
        for request in sorted(weights, key=lambda request: hash_text(f"shown {seed} {request}"))
        for number, stratum in claims[request].items()
    ]
    sample_id = "smp_" + hash_value([seed, chosen]).removeprefix("sha256:")[:16]
    if chosen and not any(info.sample_id == sample_id for info in samples(kb)):
        body = {"measure": DRAWN, "sample": sample_id, "seed": seed, "population": population}
        kb.audit.note_evaluation({**body, "left_out": left_out, "items": chosen})
    return _opened(kb, sample_id, chosen, records, population, left_out, by)


def open_sample(kb: KnowledgeBase, sample_id: str) -> Sample:
    """A drawn sample again; what has been erased or expired since is left out. Raises UsageError."""
    may(kb)
    items, body = items_of(kb, sample_id)
    records = {}
    lost = 0
    for request in dict.fromkeys(one.request_id for one in items):
        try:
            records[request] = kb.audit.record(request, reader=kb.caller.user)
        except UsageError:
            lost += 1
    unreadable = {name for name, record in records.items() if record.user_query in UNREADABLE}
    lost += len(unreadable)
    there = [one for one in items if one.request_id in records.keys() - unreadable]
    return _opened(kb, sample_id, there, records, body["population"], body["left_out"] + lost)


def _opened(
    kb: KnowledgeBase,
    sample_id: str,
    chosen: Sequence[Drawn],
    records: dict[str, AuditRecord],
    population: int,
    left_out: int,
    by: str = "",
) -> Sample:
    name = by or kb.caller.user
    who = kb.audit.pseudonym(name) or name  # who has judged nothing yet has no pseudonym
    said = {
        item_of(body): body["outcome"] for entry, body in kb.audit.evaluations(LABEL) if entry.subject == who
    }
    items = []
    for one in chosen:
        record = records[one.request_id]
        claim = record.claims[one.claim - 1]
        items.append(
            Item(
                item_id=one.item_id,
                request_id=one.request_id,
                claim=one.claim,
                question=record.user_query,
                text=claim.text,
                spans=_spans(kb, claim),
                answered=said.get(one.item_id, ""),
            )
        )
    return Sample(sample_id=sample_id, items=tuple(items), population=population, left_out=left_out)


def _spans(kb: KnowledgeBase, claim: Claim) -> tuple[Shown, ...]:
    found = []
    for citation in claim.citations:
        if citation.start < 0:
            continue
        try:
            text = kb.document(citation.document_id, citation.document_version).text
        except EvidenceError:
            continue
        start, end = citation.start, citation.end
        found.append(
            Shown(
                document_id=citation.document_id,
                quote=text[start:end],
                before=text[max(0, start - AROUND) : start],
                after=text[end : end + AROUND],
            )
        )
    return tuple(found)


def _stratum(record: AuditRecord, claim: Claim) -> str:
    report = record.confidence_report
    proof = claim.verdict.proof.value if claim.verdict.proof else "none"
    return f"{claim.verdict.status.value}/{proof}/{confidence_band(report.overall if report else None)}"


def _allotted(sizes: dict[str, int], n: int) -> dict[str, int]:
    """How many of each stratum: two of each while there is room, the rest by the root of its size, so that
    rare kinds are looked at and common ones not forgotten."""
    taken = dict.fromkeys(sorted(sizes), 0)
    for _ in range(min(n, sum(sizes.values()))):
        name = max(
            (name for name in taken if taken[name] < sizes[name]),
            key=lambda name: (taken[name] < _LEAST, math.sqrt(sizes[name]) / (taken[name] + 1), name),
        )
        taken[name] += 1
    return {name: count for name, count in taken.items() if count}
