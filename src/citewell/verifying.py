"""Bring your own answer and sources: the same claims, binding and verdicts as the pass, without a home or
an index.

In: any RAG's answer (markers in any form, or none) and its sources as text. Out: a :class:`VerifyReport`.
Sources are stored as caller-supplied documents in memory, and citations resolve through that store alone.
What cites nothing is cited afterwards, by entailment (mode ``post-hoc``). A citation that its source does
not support is not moved to one that does: it is reported. Knows nothing about retrieval, confidence or logs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

import msgspec

from citewell.checking import Checked, Checker
from citewell.claims import parse_answer, resolve_label
from citewell.config import Verification
from citewell.documents.text import caller_document
from citewell.errors import UsageError
from citewell.evidence.memory import MemoryEvidence
from citewell.identity import chunk_id, hash_text
from citewell.ports import Embedder, Entailer
from citewell.records import (
    Chunk,
    Citation,
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
)
from citewell.verification.signals import overlap
from citewell.verification.verifier import Verifier

CALLER = Maker(name="caller", hash=hash_text("caller"))
Source = str | Mapping[str, str] | tuple[str, str]


class GroundingCheck(Record, frozen=True, kw_only=True):
    """One cited statement against one source. The two cheap signals stand beside the verdict so that a
    reader sees where they mislead: ``word_overlap`` is the share of its content words that the source holds,
    ``embedding_similarity`` the cosine with the cited span (None without an embedder or a span)."""

    sentence: str
    source: str
    word_overlap: float
    embedding_similarity: float | None
    verdict: Status
    mode: str
    reason: str


class GroundingReport(Record, frozen=True, kw_only=True):
    """Counts of the answer's own citations (not of ``post-hoc`` ones), and a check for each cited statement.

    ``all_grounded`` is False when there was nothing to check.
    """

    total_citations: int
    unique_sources_cited: int
    total_sources_available: int
    uncited_sources: tuple[str, ...]
    invalid_citations: tuple[str, ...]
    grounding_checks: tuple[GroundingCheck, ...]
    grounding_failures: tuple[GroundingCheck, ...]
    all_grounded: bool


class VerifyReport(Record, frozen=True, kw_only=True):
    """``supported``: calibrated probability, at equal priors, that *all* of it is supported: the least
    over its sentences, each read whole, because an answer holds no better than its weakest statement and a
    part read alone is judged less surely than its sentence. A broken citation or a contradiction keeps it
    at or under the border. None when nothing could be checked. ``hallucination_gap``: the share of claims
    ``judged_claims`` that all sources together do not support."""

    claims: tuple[Claim, ...]
    supported: float | None
    hallucination_gap: float | None
    judged_claims: int
    report: GroundingReport
    notes: tuple[str, ...] = ()

    @property
    def status(self) -> Status:
        """The worst of the claims'; UNCHECKED when there are none."""
        found = {claim.verdict.status for claim in self.claims}
        return next((status for status in _WORST_FIRST if status in found), Status.UNCHECKED)


_WORST_FIRST = (Status.BROKEN, Status.CONTRADICTED, Status.UNSUPPORTED, Status.UNCHECKED, Status.VERIFIED)


def verify(
    answer: str,
    sources: Sequence[Source] | Mapping[str, str],
    question: str | None = None,
    *,
    entailer: Entailer | str | None = None,
    embedder: Embedder | None = None,
    settings: Verification | None = None,
    one_claim: bool = False,
) -> VerifyReport:
    """Check ``answer`` against ``sources``: texts, ``{"id", "text"}`` mappings or pairs (ids default to "1",
    "2", ...), or one mapping of ids to texts.

    ``entailer`` is a model, its name as in the configuration, or None for the embedded one. With
    ``one_claim`` the text is one statement: it is not split and its markers are not read. Raises
    UsageError for sources that share an id, ModelError when a named model cannot be loaded; a failing
    check is a verdict, not an error.
    """
    settings = settings or Verification()
    documents = _documents(sources)
    store = MemoryEvidence()
    for document in documents:
        store.put(document)
    passages = [_passage(document) for document in documents]
    model = _entailer(entailer)
    ids = [document.document_id for document in documents]
    draft = _draft(answer, ids, one_claim)
    checker = Checker(Verifier(model, settings), store, settings)

    def check(draft: Draft) -> Checked:
        return checker.check(question or "", (), draft, passages, mend=False, quotations=not one_claim)

    checked = check(draft)
    sentences = draft if one_claim else _draft(answer, ids, one_claim, split=False)
    whole = checked if len(sentences.claims) == len(draft.claims) else check(sentences)
    return VerifyReport(
        claims=checked.claims,
        supported=_supported(whole.claims),
        hallucination_gap=checked.hallucination_gap.value,
        judged_claims=checked.hallucination_gap.n,
        report=_report(answer, checked, documents, _embedder(embedder), one_claim),
        notes=checked.notes,
    )


def caller_passages(sources: Sequence[Source] | Mapping[str, str]) -> list[Passage]:
    """The passages that :func:`verify` checks against: each source as a whole, under its id."""
    return [_passage(document) for document in _documents(sources)]


def verify_json_line(line: str | bytes, **options: Any) -> bytes:
    """One line of ``citewell verify --jsonl``, in and out; ``options`` as for :func:`verify`.

    In: ``{"id", "question"?, "answer" | "claim", "sources": [text | {"id", "text"}]}``. Out: ``{"id",
    "claims",
    "supported", "hallucination_gap", "report"}``. Raises UsageError for a line of another shape.
    """
    try:
        given = msgspec.json.decode(line)
    except msgspec.DecodeError as error:
        raise UsageError(f"not a JSON object: {error}", hint="one object a line") from error
    if not isinstance(given, dict):
        raise UsageError("not a JSON object", hint="one object a line")
    unknown = sorted(set(given) - {"id", "question", "answer", "claim", "sources"})
    if unknown or ("answer" in given) == ("claim" in given) or not isinstance(given.get("sources"), list):
        what = f"unknown keys {unknown}" if unknown else 'it needs "sources" and one of "answer", "claim"'
        raise UsageError(f"this line cannot be verified: {what}", hint="see `citewell verify --help`")
    text = given.get("answer", given.get("claim"))
    if not isinstance(text, str) or not isinstance(given.get("question") or "", str):
        raise UsageError("answer, claim and question are strings", hint="see `citewell verify --help`")
    found = verify(text, given["sources"], given.get("question"), one_claim="claim" in given, **options)
    return msgspec.json.encode(
        {
            "id": given.get("id"),
            "claims": found.claims,
            "supported": found.supported,
            "hallucination_gap": found.hallucination_gap,
            "report": found.report,
        }
    )


def _documents(sources: Sequence[Source] | Mapping[str, str]) -> list[Document]:
    if isinstance(sources, str) or (isinstance(sources, Mapping) and set(sources) <= {"id", "text"}):
        raise UsageError("sources is a single source", hint="put it in a list: sources=[...]")
    documents = []
    for number, source in enumerate(sources.items() if isinstance(sources, Mapping) else sources, start=1):
        match source:
            case str():
                name, text = str(number), source
            case {"id": str(name), "text": str(text)} | (str(name), str(text)):
                pass
            case {"text": str(text)}:
                name = str(number)
            case _:
                raise UsageError(
                    f"source {number} is no text", hint='give a string or {"id": ..., "text": ...}'
                )
        documents.append(caller_document(name, text))
    names = [document.document_id for document in documents]
    doubled = sorted({name for name in names if names.count(name) > 1})
    if doubled:
        raise UsageError(f"sources share the id {', '.join(doubled)}", hint="give each its own")
    return documents


def _passage(document: Document) -> Passage:
    """The whole source as one passage: long ones are windowed by the entailer, never cut."""
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


def _draft(answer: str, ids: Sequence[str], one_claim: bool, *, split: bool = True) -> Draft:
    if one_claim:
        claims: tuple[DraftClaim, ...] = ()
        if answer.strip():
            claims = (DraftClaim(text=answer.strip(), start=0, end=len(answer)),)
        return Draft(text=answer, raw=answer, claims=claims, maker=CALLER)
    parsed = parse_answer(answer, ids, split=split)
    return Draft(
        text=answer,
        raw=answer,
        claims=tuple(
            DraftClaim(
                text=claim.text,
                start=claim.start,
                end=claim.end,
                quotes=tuple(Quote(source=resolve_label(label, ids) or label) for label in claim.labels),
                kind=Kind.INFERENCE if claim.inference else Kind.CITED,
            )
            for claim in parsed.claims
        ),
        maker=CALLER,
    )


def _supported(claims: Sequence[Claim]) -> float | None:
    """The least of the claims that state something; an unchecked one leaves the whole unknown."""
    stated = [claim for claim in claims if claim.kind is not Kind.INFERENCE] or list(claims)
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


# --- the report -------------------------------------------------------------------------------------


def _report(
    answer: str, checked: Checked, documents: Sequence[Document], embedder: Embedder | None, one_claim: bool
) -> GroundingReport:
    ids = [document.document_id for document in documents]
    labels = () if one_claim else parse_answer(answer, ids).labels
    own = [c for claim in checked.claims for c in claim.citations if c.mode == "generated"]
    resolved = {label: resolve_label(label, ids) for label in labels}
    cited = {name for name in resolved.values() if name} | {c.document_id for c in own if c.start >= 0}
    texts = {document.document_id: document.text for document in documents}
    checks = _checks(checked.claims, texts, embedder)
    failures = tuple(check for check in checks if check.verdict is not Status.VERIFIED)
    verified = all(claim.verdict.status is Status.VERIFIED for claim in checked.claims)
    return GroundingReport(
        total_citations=sum(
            len({c.document_id for c in claim.citations if c.mode == "generated"}) for claim in checked.claims
        ),
        unique_sources_cited=len(cited),
        total_sources_available=len(documents),
        uncited_sources=tuple(name for name in ids if name not in cited),
        invalid_citations=tuple(label for label, name in resolved.items() if name is None),
        grounding_checks=checks,
        grounding_failures=failures,
        all_grounded=bool(checks) and not failures and verified,
    )


def _checks(
    claims: Sequence[Claim], texts: Mapping[str, str], embedder: Embedder | None
) -> tuple[GroundingCheck, ...]:
    found: list[tuple[Claim, Citation, str]] = []
    for claim in claims:
        sources = dict.fromkeys(citation.document_id for citation in claim.citations)
        for source in sources:
            spans = [citation for citation in claim.citations if citation.document_id == source]
            quote = " ".join(citation.quote for citation in spans if citation.start >= 0)
            found.append((claim, spans[0], quote))
    similarities = _similarities([(claim.text, quote) for claim, _, quote in found], embedder)
    return tuple(
        GroundingCheck(
            sentence=claim.text,
            source=citation.document_id,
            word_overlap=overlap(claim.text, texts.get(citation.document_id, "")),
            embedding_similarity=similarity,
            verdict=claim.verdict.status,
            mode=citation.mode,
            reason=claim.verdict.reason,
        )
        for (claim, citation, _), similarity in zip(found, similarities, strict=True)
    )


def _similarities(pairs: Sequence[tuple[str, str]], embedder: Embedder | None) -> list[float | None]:
    words = [
        index for index, pair in enumerate(pairs) if all(any(ch.isalnum() for ch in text) for text in pair)
    ]
    found: list[float | None] = [None] * len(pairs)
    if embedder is None or not words:
        return found
    vectors = embedder.embed([text for index in words for text in pairs[index]])
    for place, index in enumerate(words):
        found[index] = float(vectors[2 * place] @ vectors[2 * place + 1])
    return found


# --- the embedded models ----------------------------------------------------------------------------


def _entailer(given: Entailer | str | None) -> Entailer:
    return _named(given or "embedded") if given is None or isinstance(given, str) else given


@lru_cache(maxsize=4)
def _named(name: str) -> Entailer:
    from citewell.models.naming import entailer_named

    return entailer_named(name)


def _embedder(given: Embedder | None) -> Embedder | None:
    return given if given is not None else _embedded()


@lru_cache(maxsize=1)
def _embedded() -> Embedder:
    from citewell.models.onnx.embedder import OnnxEmbedder

    return OnnxEmbedder()
