"""Bring your own answer and sources: the same claims, binding and verdicts as the pass, without a home or
an index.

In: any RAG's answer (markers in any form, or none) and its sources as text. Out: a :class:`VerifyReport`.
Sources are stored as caller-supplied documents in memory, and citations resolve through that store alone.
Claims without citations are cited afterwards, by entailment (mode ``post-hoc``). A citation that its source
does not support is reported, not moved to one that does. Independent of retrieval, confidence and logs.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import accumulate
from typing import Any

import msgspec

from citewell.core.addresses import check_id
from citewell.core.config import Verification
from citewell.core.display import claims_html, claims_text
from citewell.core.errors import UsageError
from citewell.core.identity import chunk_id, hash_text
from citewell.core.ports import Embedder, Entailer
from citewell.core.records import (
    Chunk,
    Cited,
    Claim,
    Document,
    Draft,
    DraftClaim,
    Kind,
    Maker,
    Passage,
    Quote,
    Record,
    Status,
    Verdict,
)
from citewell.documents.evidence.catalogue import MemoryEvidence
from citewell.documents.text import caller_document
from citewell.questions.parsing import MAX_QUESTION, yes_or_no
from citewell.verification.checking import Checker
from citewell.verification.checking.citations import Library
from citewell.verification.checking.grounding import WORST_FIRST, Ask, GroundingReport, ground, judged_alone
from citewell.verification.claims import parse_answer, parse_structured, resolve_label
from citewell.verification.claims.markers import MOST_CITATIONS
from citewell.verification.confidence.cards import NO_CARD, CardState
from citewell.verification.evidence import ClaimEvidence
from citewell.verification.verifier import Verifier

CALLER = Maker(name="caller", hash=hash_text("caller"))
MOST_SOURCES = 1_000
MOST_PAIRS = 20_000
"""Pairs of a claim and a source."""
MOST_READ = 20_000_000
"""Characters of the sources, counted once per claim: about a minute of exact code, without a model."""
MOST_SEARCHED = 200_000_000
"""Characters of the sources, counted once per quote without a position: about ten seconds."""
Source = str | Mapping[str, str] | tuple[str, str]


class VerifyReport(Record, frozen=True, kw_only=True):
    """``supported``: calibrated probability, at equal priors, that *all* of it is supported: the minimum
    over its claims, because an answer is only as good as its weakest statement. A broken citation or a
    contradiction caps it at the border. None if nothing could be checked. ``hallucination_gap``: the share of
    the ``judged_claims`` claims that all sources together do not support."""

    claims: tuple[Claim, ...]
    supported: float | None
    hallucination_gap: float | None
    judged_claims: int
    report: GroundingReport
    notes: tuple[str, ...] = ()

    def _repr_html_(self) -> str:
        """How a notebook shows it."""
        return f"<div><p><b>{self._headline}</b></p>{claims_html(self.claims)}</div>"

    def __str__(self) -> str:
        return f"{self._headline}\n\n{claims_text(self.claims)}"

    @property
    def _headline(self) -> str:
        supported = "not checked" if self.supported is None else f"{self.supported:.2f}"
        return f"All of it is supported: {supported}"

    @property
    def status(self) -> Status:
        """The worst status of the claims; UNCHECKED if there are none."""
        found = {claim.verdict.status for claim in self.claims}
        return next((status for status in WORST_FIRST if status in found), Status.UNCHECKED)


def verify(
    answer: str,
    sources: Sequence[Source] | Mapping[str, str],
    question: str | None = None,
    *,
    entailer: Entailer | str | None = None,
    embedder: Embedder | None = None,
    settings: Verification | None = None,
    card: CardState = NO_CARD,
    one_claim: bool = False,
    citations: Sequence[Cited] = (),
) -> VerifyReport:
    """Check ``answer`` against ``sources``: texts, ``{"id", "text"}`` mappings or pairs (ids default to "1",
    "2", ...), or one mapping of ids to texts.

    ``entailer`` is a model, its name as in the configuration, or None for the embedded one. ``card`` is the
    calibration card that set the thresholds: verdicts name it, and a note says if it is stale. With
    ``one_claim`` the text is one statement: it is not split and its markers are not read. ``citations`` are
    given separately from the text, as vendors' APIs do; markers in the text count too. Raises UsageError,
    before any work, for sources that share an id, for input that is not text and for more than can be checked
    at once (MOST_SOURCES, MOST_PAIRS, MOST_READ, MOST_SEARCHED, MOST_CITATIONS); ModelError if a named model
    cannot be loaded. A failing check is a verdict, not an error.
    """
    for name, text in (("answer", answer), ("question", question or "")):
        if not isinstance(text, str):
            raise UsageError(f"the {name} is not text", hint="pass a string")
        try:
            text.encode()
        except UnicodeEncodeError as error:
            raise UsageError(f"the {name} is not valid Unicode", hint="check how it was decoded") from error
    if len(question or "") > MAX_QUESTION:
        raise UsageError(
            f"the question has {len(question or '')} characters", hint=f"use at most {MAX_QUESTION}"
        )
    settings = settings or Verification()
    documents = _documents(sources)
    store = MemoryEvidence()
    for document in documents:
        store.put(document)
    passages = [_passage(document) for document in documents]
    ids = [document.document_id for document in documents]
    draft, labels = _draft(answer, ids, one_claim, citations)
    drafted = (
        msgspec.structs.replace(claim, fragment=bool(yes_or_no(claim.text, question or "")))
        for claim in draft.claims
    )
    draft = msgspec.structs.replace(draft, claims=tuple(drafted))
    _bounded(draft.claims, documents)
    model = _named(entailer or "embedded") if entailer is None or isinstance(entailer, str) else entailer
    verifier = Verifier(model, settings, card=card.card)
    checker = Checker(verifier, store, settings)
    library = Library(passages, store)
    evidence = {passage.chunk.document_id: library.evidence(passage) for passage in passages}

    def asking(drafted: DraftClaim) -> Ask:
        def ask(claim: str, groups: Sequence[Sequence[str]]) -> Sequence[Verdict]:
            read = [tuple(evidence[name] for name in group) for group in groups]
            return verifier.verify_many(
                [
                    ClaimEvidence(
                        claim=claim,
                        evidence=texts,
                        context=question or "",
                        asked=(question or "") if drafted.fragment else "",
                        antecedent=drafted.antecedent,
                    )
                    for texts in read
                ]
            )

        return ask

    checked = checker.check(question or "", (), draft, passages, mend=False, quotations=not one_claim)
    claims = tuple(
        judged_alone(claim, asking(drafted))
        for claim, drafted in zip(checked.claims, draft.claims, strict=True)
    )
    return VerifyReport(
        claims=claims,
        supported=_supported(checked.claims, draft.claims),
        hallucination_gap=checked.hallucination_gap.value,
        judged_claims=checked.hallucination_gap.n,
        report=ground(
            claims,
            {document.document_id: document.text for document in documents},
            {label: resolve_label(label, ids) for label in labels},
            len(labels),
            _embedded() if embedder is None else embedder,
        ),
        notes=(*([card.note] if card.note else []), *checked.notes),
    )


def _bounded(claims: Sequence[DraftClaim], documents: Sequence[Document]) -> None:
    """Each claim is read against each source, and each quote without a position is searched for in all of
    them: raises UsageError if that would take too long."""
    length = sum(len(document.text) for document in documents)
    quotes = [quote for claim in claims for quote in claim.quotes]
    searched = sum(bool(quote.text) and quote.start is None for quote in quotes)
    pairs = len(claims) * len(documents)
    if pairs > MOST_PAIRS or len(claims) * length > MOST_READ or searched * length > MOST_SEARCHED:
        raise UsageError(
            f"{len(claims):,} claims against {len(documents):,} sources of {length:,} characters, with "
            f"{len(quotes):,} citations, are too much",
            hint=f"check the answer in parts: at most {MOST_PAIRS:,} pairs of a claim and a source, "
            f"{MOST_READ:,} characters when each claim reads all sources, and {MOST_SEARCHED:,} when each "
            "quote is searched for in them",
        )


def caller_passages(sources: Sequence[Source] | Mapping[str, str]) -> list[Passage]:
    """The passages that :func:`verify` checks against: each source in full, under its id."""
    return [_passage(document) for document in _documents(sources)]


def verify_json_line(line: str | bytes, **options: Any) -> bytes:
    """One line of ``citewell verify --jsonl``; ``options`` as for :func:`verify`.

    In: ``{"id", "question"?, "answer" | "claim", "sources": [text | {"id", "text"}] | {id: text}}``. Out:
    ``{"id", "claims", "supported", "hallucination_gap", "report", "notes"}``. Raises UsageError for any other
    shape.
    """
    try:
        given = msgspec.json.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise UsageError(f"not a JSON object: {error}", hint="write one JSON object per line") from error
    if not isinstance(given, dict):
        raise UsageError("not a JSON object", hint="write one JSON object per line")
    unknown = sorted(set(given) - {"id", "question", "answer", "claim", "sources"})
    given = {name: value for name, value in given.items() if value is not None}
    texts = [name for name in ("answer", "claim") if name in given]
    for wrong, what in (
        (unknown, f"unknown keys {unknown}"),
        (not texts, 'it has no "answer" and no "claim"'),
        (len(texts) == 2, 'it has both "answer" and "claim"'),
        ("sources" not in given, 'it has no "sources"'),
    ):
        if wrong:
            raise UsageError(f"this line cannot be verified: {what}", hint="see `citewell verify --help`")
    text = given[texts[0]]
    found = verify(text, given["sources"], given.get("question"), one_claim="claim" in given, **options)
    return msgspec.json.encode(
        {
            "id": given.get("id"),
            "claims": found.claims,
            "supported": found.supported,
            "hallucination_gap": found.hallucination_gap,
            "report": found.report,
            "notes": found.notes,
        }
    )


def _documents(sources: Sequence[Source] | Mapping[str, str]) -> list[Document]:
    if isinstance(sources, str) or (isinstance(sources, Mapping) and set(sources) <= {"id", "text"}):
        raise UsageError("sources is a single source, not a list", hint="put it in a list: sources=[...]")
    if not isinstance(sources, Iterable):
        raise UsageError("sources is neither a list nor a mapping", hint="give sources=[...]")
    documents = []
    for number, source in enumerate(sources.items() if isinstance(sources, Mapping) else sources, start=1):
        if number > MOST_SOURCES:
            raise UsageError(f"there are more than {MOST_SOURCES:,} sources", hint="check it in parts")
        match source:
            case str():
                name, text = str(number), source
            case {"id": str(name), "text": str(text)} | (str(name), str(text)):
                pass
            case {"text": str(text)}:
                name = str(number)
            case _:
                raise UsageError(
                    f"source {number} is not text", hint='pass a string or {"id": ..., "text": ...}'
                )
        check_id(name)
        documents.append(caller_document(name, text))
    names = Counter(document.document_id for document in documents)
    doubled = sorted(name for name, times in names.items() if times > 1)
    if doubled:
        raise UsageError(f"sources share the id {', '.join(doubled)}", hint="give each source its own id")
    return documents


def _passage(document: Document) -> Passage:
    """The whole source as one passage: the entailer reads long ones in windows, and reports how much."""
    text = document.text
    chunk = Chunk(
        chunk_id=chunk_id(document.version, 0, len(text), text),
        document_id=document.document_id,
        document_version=document.version,
        start_offset=0,
        end_offset=len(text),
        content=text,
        title=document.title.value if document.title else "",
    )
    return Passage(chunk=chunk, relevant=True, used=True)


def _draft(
    answer: str, ids: Sequence[str], one_claim: bool, citations: Sequence[Cited] = ()
) -> tuple[Draft, tuple[str, ...]]:
    """(the draft with the claims of ``answer``, its labels, one per citation). Raises UsageError for more
    than MOST_CITATIONS."""
    claims: tuple[DraftClaim, ...] = ()
    labels: tuple[str, ...] = ()
    if one_claim:
        if answer.strip():
            claims = (DraftClaim(text=answer.strip(), start=0, end=len(answer)),)
    elif structured := parse_structured(answer, ids):
        claims, labels = structured.claims, structured.labels
    else:
        parsed = parse_answer(answer, ids)
        labels = parsed.cited
        claims = tuple(
            DraftClaim(
                text=claim.text,
                start=claim.start,
                end=claim.end,
                quotes=tuple(Quote(source=label) for label in claim.labels),
                kind=Kind.INFERENCE if claim.inference else Kind.CITED,
                reasoning=claim.note if claim.inference else "",
                antecedent=claim.antecedent,
            )
            for claim in parsed.claims
        )
    labels = (*labels, *(cited.quote.source for cited in citations))
    if len(labels) > MOST_CITATIONS:
        raise UsageError(f"the answer has {len(labels):,} citations", hint="check it in parts")
    beside = _beside(claims, citations)
    claims = tuple(
        msgspec.structs.replace(
            claim, quotes=tuple(_resolved(quote, ids) for quote in (*claim.quotes, *more))
        )
        for claim, more in zip(claims, beside, strict=True)
    )
    return Draft(text=answer, raw=answer, claims=claims, maker=CALLER), labels


def _beside(claims: Sequence[DraftClaim], citations: Sequence[Cited]) -> list[list[Quote]]:
    """The quotes per claim: citations that overlap it, or that follow it and overlap no claim."""
    found: list[list[Quote]] = [[] for _ in claims]
    order = sorted(range(len(claims)), key=lambda place: claims[place].start)
    starts = [claims[place].start for place in order]
    reach = list(accumulate((claims[place].end for place in order), max))
    for cited in citations:
        end = max(cited.answer_end, cited.answer_start + 1)
        before = bisect_left(starts, end)
        behind = bisect_right(reach, cited.answer_start)  # none of these overlaps it
        sharing = [place for place in order[behind:before] if cited.answer_start < claims[place].end]
        for place in sharing or order[:behind][-1:]:
            found[place].append(cited.quote)
    return found


def _resolved(quote: Quote, ids: Sequence[str]) -> Quote:
    """A label that matches no source stays as written."""
    return msgspec.structs.replace(quote, source=resolve_label(quote.source, ids) or quote.source)


def _supported(claims: Sequence[Claim], drafted: Sequence[DraftClaim]) -> float | None:
    """The minimum over claims that state something; an unchecked one makes the whole unknown. An inference
    that shows its basis is left out; one merely labelled as such counts as a statement."""
    shown = [one.kind is Kind.INFERENCE and _grounded(one) for one in drafted]
    stated = [claim for claim, left_out in zip(claims, shown, strict=True) if not left_out] or list(claims)
    values = [claim.verdict.support for claim in stated]
    known = [value for value in values if value is not None]
    failed = [
        claim.verdict.support or 0.0
        for claim in stated
        if claim.verdict.status in {Status.BROKEN, Status.CONTRADICTED}
    ]
    if failed:
        return min(*failed, *known, 0.5)
    return min(known) if known and len(known) == len(values) else None


def _grounded(claim: DraftClaim) -> bool:
    return bool(claim.reasoning.strip()) or any(quote.text.strip() for quote in claim.quotes)


# --- the embedded models ----------------------------------------------------------------------------


@lru_cache(maxsize=4)
def _named(name: str) -> Entailer:
    from citewell.models.naming import entailer_named

    return entailer_named(name)


@lru_cache(maxsize=1)
def _embedded() -> Embedder:
    from citewell.models.onnx.embedder import OnnxEmbedder

    return OnnxEmbedder()
