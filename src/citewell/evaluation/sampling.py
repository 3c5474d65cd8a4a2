"""Spot checks: claims of recent answers for people to judge without seeing the verdict.

In: a home, as one of its auditors sees it. Out: a :class:`Sample`, drawn by strata of verdict, proof and
confidence; labels, sealed in the log; how far people and the verifier agree. Nobody who judges sees what the
verifier said. A sample is drawn by hashes: the same log and seed give the same one. Knows nothing about
terminals or pages.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence

import numpy as np

from citewell.access import EVALUATION, Role
from citewell.audit.bodies import ERASED
from citewell.audit.profiles import confidence_band
from citewell.audit.question import AuditQuery, moment
from citewell.confidence.cards import Labelled
from citewell.errors import EvidenceError, UsageError
from citewell.evaluation.scored import Scored, scored_verdict
from citewell.identity import hash_text, hash_value
from citewell.knowledge import KnowledgeBase
from citewell.records import AuditRecord, Claim, Proof, Record, Status

ANSWERS = ("supported", "partly", "not", "cannot tell")
"""What people may say of a claim under the words that it cites."""
DRAWN, LABEL = "spot check sample", "spot check label"
AROUND = 400
"""Characters of the document shown before and behind a quote."""
_LEAST = 2
_SEED, _DRAWS = 20260101, 2_000
_SPACE = 2**256


class Shown(Record, frozen=True, kw_only=True):
    """A cited span in its document."""

    document_id: str
    quote: str
    before: str
    after: str


class Item(Record, frozen=True, kw_only=True):
    """A claim to be judged. ``claim`` counts from 1; ``answered`` is what this caller said of it already."""

    item_id: str
    request_id: str
    claim: int
    question: str
    text: str
    spans: tuple[Shown, ...]
    answered: str = ""


class Sample(Record, frozen=True, kw_only=True):
    """``left_out`` claims could not be shown: no span of theirs has a place, or their document is not to be
    seen."""

    sample_id: str
    items: tuple[Item, ...]
    population: int
    left_out: int = 0


class SampleInfo(Record, frozen=True, kw_only=True):
    """A drawn sample, and how many of its items have been judged by anybody."""

    sample_id: str
    timestamp: str
    n: int
    judged: int


class Agreement(Record, frozen=True, kw_only=True):
    """Cohen's kappa between "VERIFIED" and "supported" (``partly`` is not), weighted back to the population
    that was sampled; 95 % by bootstrap over answers. ``raw`` is the share of agreement, ``table`` counts by
    the verifier's stratum and what people said. Values are None when nothing was judged."""

    kappa: float | None
    low: float | None
    high: float | None
    raw: float | None
    n: int
    unscored: int
    people: int
    table: dict[str, dict[str, int]]


class PeopleLabels(Record, frozen=True, kw_only=True):
    """People's labels as a card takes them in."""

    scored: tuple[Scored, ...]
    unscored: int
    source: Labelled
    notes: tuple[str, ...]


class _Drawn(Record, frozen=True, kw_only=True):
    """One item as the log keeps it; ``stratum`` is hidden from whoever judges."""

    request_id: str
    claim: int
    stratum: str
    weight: float

    @property
    def item_id(self) -> str:
        return f"{self.request_id}.{self.claim}"


# --- drawing --------------------------------------------------------------------------------------


def draw(kb: KnowledgeBase, *, since: str = "30d", n: int = 50, seed: int = 0) -> Sample:
    """At most ``n`` claims of answers since then, sealed as a draw. Raises AccessError, UsageError."""
    _may(kb)
    if n < 1:
        raise UsageError(f"a sample of {n}", hint="at least 1")
    query = AuditQuery(since=moment(since, kb.now()))
    records = {
        record.request_id: record
        for record in kb.audit.every(query, reader=kb.caller.user)
        if record.user != EVALUATION and not record.error and record.user_query != ERASED
    }
    strata: dict[str, list[_Drawn]] = defaultdict(list)
    left_out = 0
    for record in records.values():
        for number, claim in enumerate(record.claims, 1):
            if _spans(kb, claim):
                one = _Drawn(
                    request_id=record.request_id, claim=number, stratum=_stratum(record, claim), weight=1.0
                )
                strata[one.stratum].append(one)
            else:
                left_out += 1
    taken = _allotted({name: len(claims) for name, claims in strata.items()}, n)
    chosen = [
        _Drawn(
            request_id=one.request_id,
            claim=one.claim,
            stratum=one.stratum,
            weight=len(strata[name]) / count,
        )
        for name, count in taken.items()
        for one in sorted(strata[name], key=lambda one: hash_text(f"{seed} {one.item_id}"))[:count]
    ]
    chosen.sort(key=lambda one: hash_text(f"shown {seed} {one.item_id}"))
    sample_id = "smp_" + hash_value([seed, chosen]).removeprefix("sha256:")[:16]
    population = sum(map(len, strata.values()))
    if chosen and not any(info.sample_id == sample_id for info in samples(kb)):
        body = {"measure": DRAWN, "sample": sample_id, "seed": seed, "population": population}
        kb.audit.note_evaluation({**body, "left_out": left_out, "items": chosen})
    return _opened(kb, sample_id, chosen, records, population, left_out)


def samples(kb: KnowledgeBase) -> tuple[SampleInfo, ...]:
    """Newest first."""
    _may(kb)
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


def open_sample(kb: KnowledgeBase, sample_id: str) -> Sample:
    """A drawn sample again; what has been erased or expired since is left out. Raises UsageError."""
    _may(kb)
    items, body = _items(kb, sample_id)
    records = {}
    lost = 0
    for request in dict.fromkeys(one.request_id for one in items):
        try:
            records[request] = kb.audit.record(request, reader=kb.caller.user)
        except UsageError:
            lost += 1
    erased = {name for name, record in records.items() if record.user_query == ERASED}
    lost += len(erased)
    there = [one for one in items if one.request_id in records.keys() - erased]
    return _opened(kb, sample_id, there, records, body["population"], body["left_out"] + lost)


def _opened(
    kb: KnowledgeBase,
    sample_id: str,
    chosen: Sequence[_Drawn],
    records: dict[str, AuditRecord],
    population: int,
    left_out: int,
) -> Sample:
    me = kb.audit.pseudonym(kb.caller.user)
    said = {
        f"{body['request_id']}.{body['claim']}": body["outcome"]
        for entry, body in kb.audit.evaluations(LABEL)
        if body["sample"] == sample_id and entry.subject == me
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


# --- judging --------------------------------------------------------------------------------------


def record_label(kb: KnowledgeBase, sample_id: str, item_id: str, answer: str, *, by: str = "") -> None:
    """Seals what somebody (the caller, unless ``by`` says who) says of an item; the last word of a person
    counts. Raises AccessError, UsageError."""
    _may(kb)
    if answer not in ANSWERS:
        raise UsageError(f"unknown answer {answer!r}", hint=f"one of {', '.join(ANSWERS)}")
    items, _ = _items(kb, sample_id)
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


def _items(kb: KnowledgeBase, sample_id: str) -> tuple[list[_Drawn], dict[str, int]]:
    for _, body in kb.audit.evaluations(DRAWN):
        if body["sample"] == sample_id:
            return [_Drawn(**item) for item in body["items"]], body
    raise UsageError(f"no sample {sample_id!r}", hint="`citewell eval sample` draws one")


def _judged(kb: KnowledgeBase, sample_id: str = "") -> tuple[list[tuple[_Drawn, str]], int]:
    """Each item with what most people said of it ("" where they are split), and how many people judged."""
    drawn = {
        (body["sample"], one.item_id): one
        for _, body in kb.audit.evaluations(DRAWN)
        for one in (_Drawn(**item) for item in body["items"])
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


# --- what came of it ------------------------------------------------------------------------------


def agreement(kb: KnowledgeBase, *, sample_id: str = "") -> Agreement:
    """Over one sample, or every one."""
    _may(kb)
    judged, people = _judged(kb, sample_id)
    table: dict[str, dict[str, int]] = {}
    groups: dict[str, list[tuple[bool, bool, float]]] = defaultdict(list)
    unscored = 0
    for one, said in judged:
        row = table.setdefault(one.stratum, dict.fromkeys(ANSWERS, 0))
        if said:
            row[said] += 1
        if not said or said == "cannot tell":
            unscored += 1
            continue
        verified = one.stratum.startswith(f"{Status.VERIFIED.value}/")
        groups[one.request_id].append((verified, said == "supported", one.weight))
    # A column an answer: the weights of (both, verifier alone, people alone, neither).
    cells = np.array([_cells(rows) for rows in groups.values()]) if groups else np.zeros((0, 4))
    kappa, raw = _kappa(cells.sum(axis=0))
    low = high = None
    if kappa is not None:
        places = np.random.default_rng(_SEED).integers(0, len(cells), (_DRAWS, len(cells)))
        drawn = [value for value, _ in map(_kappa, cells[places].sum(axis=1)) if value is not None]
        low, high = (float(end) for end in np.percentile(drawn, [2.5, 97.5])) if drawn else (None, None)
    return Agreement(
        kappa=kappa,
        low=low,
        high=high,
        raw=raw,
        n=len(judged) - unscored,
        unscored=unscored,
        people=people,
        table=dict(sorted(table.items())),
    )


def _cells(rows: Iterable[tuple[bool, bool, float]]) -> list[float]:
    cells = [0.0] * 4
    for verified, supported, weight in rows:
        cells[(0 if supported else 1) if verified else (2 if supported else 3)] += weight
    return cells


def _kappa(cells: Sequence[float]) -> tuple[float | None, float | None]:
    """Cohen 1960, and the share of agreement; no kappa where chance alone would agree on everything."""
    both, verifier, people, neither = (float(cell) for cell in cells)
    total = both + verifier + people + neither
    if not total:
        return None, None
    raw = (both + neither) / total
    said, held = (both + verifier) / total, (both + people) / total
    chance = said * held + (1 - said) * (1 - held)
    return ((raw - chance) / (1 - chance) if chance < 1 else None), raw


def labels_as_evidence(kb: KnowledgeBase) -> PeopleLabels:
    """What people said, for the next card: of claims that the verifier in use judged, each kind of proof
    thinned to what an even draw would have been (a bound holds for units drawn alike)."""
    judged, _ = _judged(kb)
    found: list[tuple[Scored, _Drawn]] = []
    unscored = older = 0
    for one, said in judged:
        try:
            record = kb.audit.record(one.request_id, reader=kb.caller.user)
        except UsageError:
            unscored += 1
            continue
        claim = record.claims[one.claim - 1]
        if kb.entailer.maker.hash not in {maker.hash for maker in record.makers}:
            older += 1
            continue
        known = said and said != "cannot tell"
        scored = scored_verdict(one.request_id, claim.verdict, said == "supported") if known else None
        if scored is None:
            unscored += 1
        else:
            found.append((scored, one))
    by_proof = [[pair for pair in found if pair[0].proof is proof] for proof in Proof]
    kept = [scored for pairs in by_proof for scored in _thinned(pairs)]
    notes = [f"{older} labels are of another verifier's claims and were left out"] if older else []
    if len(kept) < len(found):
        notes.append(f"{len(found) - len(kept)} labels were left out: of strata that were drawn more often")
    digest = hash_value([[one, said] for one, said in judged])
    return PeopleLabels(
        scored=tuple(kept),
        unscored=unscored,
        source=Labelled(name="spot checks", hash=digest, kind="people's labels in the log", n=len(judged)),
        notes=tuple(notes),
    )


def _thinned(pairs: Sequence[tuple[Scored, _Drawn]]) -> list[Scored]:
    most = max((one.weight for _, one in pairs), default=1.0)
    return [
        scored
        for scored, one in pairs
        if int(hash_text(f"thin {one.item_id}").removeprefix("sha256:"), 16) / _SPACE < one.weight / most
    ]


def _may(kb: KnowledgeBase) -> None:
    kb.caller.must(Role.AUDITOR, to="judge other people's answers")
