"""Spot checks: people judge claims of recent answers without seeing the verdict, and their agreement with the
verifier is measured.

In: a home, as an auditor sees it; people's labels. Out: a :class:`Sample`, stratified by verdict, proof and
confidence, and sealed in the log; the same log and seed give the same sample. An answer is drawn with all its
claims. An item's ``stratum`` and ``weight`` are for the statistics and never shown to judges. Knows nothing
about terminals or pages.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from citewell.audit.entries import UNREADABLE
from citewell.audit.profiles import confidence_band
from citewell.audit.question import AuditQuery, moment
from citewell.core.access import EVALUATION, Role
from citewell.core.display import InTables, Row
from citewell.core.errors import EvidenceError, UsageError
from citewell.core.identity import hash_text, hash_value
from citewell.core.records import AuditRecord, Claim, Record, Status
from citewell.evaluation.intervals import interval
from citewell.knowledge.home import KnowledgeBase

ANSWERS = ("supported", "partly", "not", "cannot tell")
"""Possible labels of a claim, given the text it cites."""
AROUND = 400
"""Characters of the document shown before and after a quote."""
_DRAWN, _LABEL = "spot check sample", "spot check label"
_LEAST = 2


class ShownSpan(Record, frozen=True, kw_only=True):
    """A cited span in its document."""

    document_id: str
    quote: str
    before: str
    after: str


class Item(Record, frozen=True, kw_only=True):
    """A claim to be judged. ``claim`` counts from 1; ``answered`` is the judge's existing label in this
    sample."""

    item_id: str
    request_id: str
    claim: int
    question: str
    text: str
    spans: tuple[ShownSpan, ...]
    answered: str = ""


class Sample(Record, frozen=True, kw_only=True):
    """``items`` are grouped by answer. ``population`` claims could have been drawn; ``left_out`` claims could
    not be shown: none of their spans is located, or in a visible document."""

    sample_id: str
    items: tuple[Item, ...]
    population: int
    left_out: int = 0


class SampleInfo(Record, frozen=True, kw_only=True):
    """A drawn sample, and the number of its items judged by anybody."""

    sample_id: str
    timestamp: str
    n: int
    judged: int


class HumanAgreement(InTables, Record, frozen=True, kw_only=True):
    """Cohen's kappa between "VERIFIED" and "supported" (``partly`` is not), weighted back to the sampled
    population; 95 % by bootstrap over answers. ``raw`` is the share of agreement, ``table`` counts by the
    verifier's stratum and people's label. Values are None when nothing was judged."""

    kappa: float | None
    low: float | None
    high: float | None
    raw: float | None
    n: int
    unscored: int
    people: int
    table: dict[str, dict[str, int]]

    def _tables(self) -> tuple[str, Sequence[Sequence[Row]]]:
        kappa = "not measured" if self.kappa is None else f"{self.kappa:.2f}"
        between = "" if self.low is None or self.high is None else f" ({self.low:.2f} to {self.high:.2f})"
        labels = sorted({label for row in self.table.values() for label in row})
        rows = [(one, *(str(row.get(label, 0)) for label in labels)) for one, row in self.table.items()]
        title = f"Agreement of people with the verifier: kappa {kappa}{between}, n = {self.n}"
        return title, ([("Verifier", *labels), *rows],)


class _Drawn(Record, frozen=True, kw_only=True):
    """One item as sealed in the log. ``weight``: the number of answers that its answer represents."""

    request_id: str
    claim: int
    stratum: str
    weight: float

    @property
    def item_id(self) -> str:
        return f"{self.request_id}.{self.claim}"


def draw(kb: KnowledgeBase, *, since: str = "30d", n: int = 50, seed: int = 0, by: str = "") -> Sample:
    """Draws and seals all claims of at most ``n`` answers since then, to be judged by ``by``, by default the
    caller. Raises AccessError, UsageError."""
    _must(kb)
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
    # An answer belongs to the stratum of its rarest claim, so that rare kinds are sampled.
    strata: dict[str, list[str]] = defaultdict(list)
    for request, of_one in claims.items():
        if of_one:
            strata[min(of_one.values(), key=lambda name: (sizes[name], name))].append(request)
    taken = _allotted({name: len(requests) for name, requests in strata.items()}, n)
    weights = {
        request: len(strata[name]) / count
        for name, count in taken.items()
        for request in sorted(strata[name], key=lambda request: hash_text(f"{seed} {request}"))[:count]
    }
    chosen = [
        _Drawn(request_id=request, claim=number, stratum=stratum, weight=weights[request])
        for request in sorted(weights, key=lambda request: hash_text(f"shown {seed} {request}"))
        for number, stratum in claims[request].items()
    ]
    sample_id = "smp_" + hash_value([seed, chosen]).removeprefix("sha256:")[:16]
    if chosen and not any(info.sample_id == sample_id for info in samples(kb)):
        body = {"measure": _DRAWN, "sample": sample_id, "seed": seed, "population": population}
        kb.audit.note_evaluation({**body, "left_out": left_out, "items": chosen})
    items = _opened(kb, sample_id, chosen, records, by)
    return Sample(sample_id=sample_id, items=items, population=population, left_out=left_out)


def open_sample(kb: KnowledgeBase, sample_id: str) -> Sample:
    """A sample drawn earlier, without anything erased or expired since. Raises UsageError."""
    _must(kb)
    drawn, body = _sample(kb, sample_id)
    records = {}
    lost = 0
    for request in dict.fromkeys(one.request_id for one in drawn):
        try:
            record = kb.audit.record(request, reader=kb.caller.user)
        except UsageError:
            lost += 1
            continue
        if record.user_query in UNREADABLE:
            lost += 1
        else:
            records[request] = record
    items = _opened(kb, sample_id, [one for one in drawn if one.request_id in records], records)
    return Sample(
        sample_id=sample_id, items=items, population=body["population"], left_out=body["left_out"] + lost
    )


def samples(kb: KnowledgeBase) -> tuple[SampleInfo, ...]:
    """All drawn samples, newest first."""
    _must(kb)
    judged = {(body["sample"], body["request_id"], body["claim"]) for _, body in kb.audit.evaluations(_LABEL)}
    found = [
        SampleInfo(
            sample_id=body["sample"],
            timestamp=entry.timestamp,
            n=len(body["items"]),
            judged=sum((body["sample"], one["request_id"], one["claim"]) in judged for one in body["items"]),
        )
        for entry, body in kb.audit.evaluations(_DRAWN)
    ]
    return tuple(reversed(found))


def record_label(kb: KnowledgeBase, sample_id: str, item_id: str, answer: str, *, by: str = "") -> None:
    """Seals a person's label of an item (``by``, by default the caller); a person's last label counts. Raises
    AccessError, UsageError."""
    _must(kb)
    if answer not in ANSWERS:
        raise UsageError(f"unknown answer {answer!r}", hint=f"use one of {', '.join(ANSWERS)}")
    items, _ = _sample(kb, sample_id)
    one = next((one for one in items if one.item_id == item_id), None)
    if one is None:
        raise UsageError(
            f"no item {item_id!r} in sample {sample_id}", hint="`citewell eval sample` draws one"
        )
    body = {"measure": _LABEL, "sample": sample_id, "request_id": one.request_id, "claim": one.claim}
    kb.audit.note_evaluation({**body, "outcome": answer}, subject=by or kb.caller.user)


def agreement(kb: KnowledgeBase, *, sample_id: str = "") -> HumanAgreement:
    """Agreement over one sample, by default the newest; an item counts with its majority label."""
    _must(kb)
    drawn = samples(kb)
    sample_id = sample_id or (drawn[0].sample_id if drawn else "")
    said = _said(kb, sample_id)
    people = {person for answers in said.values() for person in answers}
    table: dict[str, dict[str, int]] = {}
    cells: dict[str, list[float]] = defaultdict(lambda: [0.0] * 4)
    n = unscored = 0
    for one in _sample(kb, sample_id)[0] if said else ():
        if one.item_id not in said:
            continue
        answer = _most(said[one.item_id].values())
        row = table.setdefault(one.stratum, dict.fromkeys(ANSWERS, 0))
        if answer:
            row[answer] += 1
        if answer in ("", "cannot tell"):
            unscored += 1
            continue
        n += 1
        verified, supported = one.stratum.startswith(f"{Status.VERIFIED.value}/"), answer == "supported"
        # Weights of (both, verifier only, people only, neither).
        cells[one.request_id][(0 if supported else 1) if verified else (2 if supported else 3)] += one.weight

    def compared(weights: Iterable[Sequence[float]]) -> tuple[float | None, float | None]:
        return cohens_kappa([sum(column) for column in zip([0.0] * 4, *weights, strict=True)])

    kappa, raw = compared(cells.values())
    low, high = interval([[tuple(one)] for one in cells.values()], lambda points: compared(points)[0])
    return HumanAgreement(
        kappa=kappa,
        low=low,
        high=high,
        raw=raw,
        n=n,
        unscored=unscored,
        people=len(people),
        table=dict(sorted(table.items())),
    )


def cohens_kappa(cells: Sequence[float]) -> tuple[float | None, float | None]:
    """(kappa by Cohen 1960, share of agreement) from the weights of (both yes, first only, second only,
    neither). No kappa if one side always gave the same label: it would be 0 whatever the other said."""
    both, first, second, neither = (float(cell) for cell in cells)
    total = both + first + second + neither
    if not total:
        return None, None
    raw = (both + neither) / total
    said, held = (both + first) / total, (both + second) / total
    if {said, held} & {0.0, 1.0}:
        return None, raw
    chance = said * held + (1 - said) * (1 - held)
    return (raw - chance) / (1 - chance), raw


def _must(kb: KnowledgeBase) -> None:
    kb.caller.must(Role.AUDITOR, to="judge other people's answers")


def _sample(kb: KnowledgeBase, sample_id: str) -> tuple[list[_Drawn], Mapping[str, Any]]:
    for _, body in kb.audit.evaluations(_DRAWN):
        if body["sample"] == sample_id:
            return [_Drawn(**item) for item in body["items"]], body
    raise UsageError(f"no sample {sample_id!r}", hint="`citewell eval sample` draws one")


def _said(kb: KnowledgeBase, sample_id: str) -> dict[str, dict[str, str]]:
    """Item -> person -> last label."""
    said: dict[str, dict[str, str]] = defaultdict(dict)
    for entry, body in kb.audit.evaluations(_LABEL):
        if body["sample"] == sample_id:
            said[f"{body['request_id']}.{body['claim']}"][entry.subject] = body["outcome"]
    return said


def _most(said: Iterable[str]) -> str:
    """The majority label; "" if people are split."""
    ranked = Counter(said).most_common(2)
    return "" if len(ranked) == 2 and ranked[0][1] == ranked[1][1] else ranked[0][0]


def _opened(
    kb: KnowledgeBase,
    sample_id: str,
    chosen: Sequence[_Drawn],
    records: Mapping[str, AuditRecord],
    by: str = "",
) -> tuple[Item, ...]:
    name = by or kb.caller.user
    who = kb.audit.pseudonym(name) or name  # a new judge has no pseudonym yet
    said = _said(kb, sample_id)
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
                answered=said.get(one.item_id, {}).get(who, ""),
            )
        )
    return tuple(items)


def _spans(kb: KnowledgeBase, claim: Claim) -> tuple[ShownSpan, ...]:
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
            ShownSpan(
                document_id=citation.document_id,
                quote=text[start:end],
                before=_whole_words(text, max(0, start - AROUND), start),
                after=text[end : end + AROUND],
            )
        )
    return tuple(found)


def _whole_words(text: str, start: int, end: int) -> str:
    """``text[start:end]`` without the part of a word that it begins with."""
    while 0 < start < end and not text[start - 1].isspace():
        start += 1
    return text[start:end]


def _stratum(record: AuditRecord, claim: Claim) -> str:
    report = record.confidence_report
    proof = claim.verdict.proof.value if claim.verdict.proof else "none"
    return f"{claim.verdict.status.value}/{proof}/{confidence_band(report.overall if report else None)}"


def _allotted(sizes: dict[str, int], n: int) -> dict[str, int]:
    """Sample size per stratum: two each while there is room, the rest by the square root of its size, so that
    rare kinds are sampled and common ones not neglected."""
    taken = dict.fromkeys(sorted(sizes), 0)
    for _ in range(min(n, sum(sizes.values()))):
        name = max(
            (name for name in taken if taken[name] < sizes[name]),
            key=lambda name: (taken[name] < _LEAST, math.sqrt(sizes[name]) / (taken[name] + 1), name),
        )
        taken[name] += 1
    return {name: count for name, count in taken.items() if count}
