"""Spot checks: claims of recent answers for people to judge without seeing the verdict.

In: a home, as one of its auditors sees it. Out: a :class:`Sample`, drawn by strata of verdict, proof and
confidence, and sealed in the log; the same log and seed give the same one. An answer is drawn with all its
claims: what a card promises is promised of answers. Knows nothing about terminals or pages, and shows nothing
of what the verifier said.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Sequence

from citewell.audit.bodies import UNREADABLE
from citewell.audit.profiles import confidence_band
from citewell.audit.question import AuditQuery, moment
from citewell.core.access import EVALUATION
from citewell.core.errors import EvidenceError, UsageError
from citewell.core.identity import hash_text, hash_value
from citewell.core.records import AuditRecord, Claim, Record
from citewell.evaluation.sampling.labels import (
    DRAWN,
    LABEL,
    Drawn,
    item_of,
    items_of,
    may,
    place_of,
    samples,
)
from citewell.knowledge.home import KnowledgeBase

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
