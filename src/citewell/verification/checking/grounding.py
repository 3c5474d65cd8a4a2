"""Counts of an answer's citations, and a check of each source against the claims that cite it.

In: checked claims, the sources. Out: :class:`GroundingReport`. A claim is judged on all its
citations together; here each source is read alone, so that one without support cannot hide behind
the others. Independent of markers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import msgspec

from citewell.core.ports import Embedder
from citewell.core.records import Citation, Claim, Record, Status, Verdict
from citewell.verification.words import overlap

Ask = Callable[[str, Sequence[Sequence[str]]], Sequence[Verdict]]
"""A claim and groups of source ids -> for each group, the verdict on its sources read together."""

MOST_TRIED = 5  # maximum sources of a claim for leave-one-out checks: the work grows quadratically
WORST_FIRST = (Status.BROKEN, Status.CONTRADICTED, Status.UNSUPPORTED, Status.UNCHECKED, Status.VERIFIED)


class GroundingCheck(Record, frozen=True, kw_only=True):
    """One claim judged on one of the sources it cites, alone. Two cheap signals accompany the verdict to
    show where they mislead: ``word_overlap`` is the share of the claim's content words found in the source,
    ``embedding_similarity`` the cosine similarity with the cited spans (None without an embedder or span)."""

    sentence: str
    source: str
    word_overlap: float
    embedding_similarity: float | None
    verdict: Status
    mode: str
    reason: str


class GroundingReport(Record, frozen=True, kw_only=True):
    """Counts of the answer's own citations (not ``post-hoc`` ones), and a check for each claim and source.

    ``all_grounded`` is False if there was nothing to check.
    """

    total_citations: int
    unique_sources_cited: int
    total_sources_available: int
    uncited_sources: tuple[str, ...]
    invalid_citations: tuple[str, ...]
    grounding_checks: tuple[GroundingCheck, ...]
    grounding_failures: tuple[GroundingCheck, ...]
    all_grounded: bool


def judged_alone(claim: Claim, ask: Ask) -> Claim:
    """The claim, with each citation's verdict based on its source alone.

    If no source suffices alone, one that the others need is VERIFIED, with a reason that says so; not tried
    for more than MOST_TRIED sources.
    """
    broken = {c.document_id: c.verdict for c in claim.citations if _status(c) is Status.BROKEN}
    sources = [n for n in dict.fromkeys(c.document_id for c in claim.citations) if n not in broken]
    if not sources or (len(sources) == 1 and not broken):
        return claim
    alone = dict(zip(sources, ask(claim.text, [[name] for name in sources]), strict=True))
    enough = any(verdict.status is Status.VERIFIED for verdict in alone.values())
    if claim.verdict.status is Status.VERIFIED and not enough and len(sources) <= MOST_TRIED:
        others = [[other for other in sources if other != name] for name in sources]
        for name, rest, without in zip(sources, others, ask(claim.text, others), strict=True):
            if without.status is not Status.VERIFIED:
                reason = f"supported only together with {', '.join(rest)}: {claim.verdict.reason}"
                alone[name] = msgspec.structs.replace(claim.verdict, reason=reason)
    verdicts = {**alone, **broken}
    return msgspec.structs.replace(
        claim,
        citations=tuple(
            msgspec.structs.replace(c, verdict=verdicts[c.document_id]) if c.start >= 0 else c
            for c in claim.citations
        ),
    )


def ground(
    claims: Sequence[Claim],
    texts: Mapping[str, str],
    cited: Mapping[str, str | None],
    total: int,
    embedder: Embedder | None,
) -> GroundingReport:
    """The report on ``claims`` returned by :func:`judged_alone`. ``texts`` are the sources by id; ``cited``
    maps each label in the answer to its source, None for a label that does not resolve; ``total`` is the
    number of citations."""
    own = [c for claim in claims for c in claim.citations if c.mode == "generated" and c.start >= 0]
    used = {name for name in cited.values() if name} | {c.document_id for c in own}
    checks = _checks(claims, texts, embedder)
    failures = tuple(check for check in checks if check.verdict is not Status.VERIFIED)
    verified = all(claim.verdict.status is Status.VERIFIED for claim in claims)
    return GroundingReport(
        total_citations=total,
        unique_sources_cited=len(used),
        total_sources_available=len(texts),
        uncited_sources=tuple(name for name in texts if name not in used),
        invalid_citations=tuple(label for label, name in cited.items() if name is None),
        grounding_checks=checks,
        grounding_failures=failures,
        all_grounded=bool(checks) and not failures and verified,
    )


def _checks(
    claims: Sequence[Claim], texts: Mapping[str, str], embedder: Embedder | None
) -> tuple[GroundingCheck, ...]:
    found: dict[tuple[str, str], list[Citation]] = {}
    for claim in claims:
        for citation in claim.citations:
            found.setdefault((claim.text, citation.document_id), []).append(citation)
    quotes = [" ".join(dict.fromkeys(c.quote for c in spans if c.start >= 0)) for spans in found.values()]
    sentence_quotes = [(sentence, quote) for (sentence, _), quote in zip(found, quotes, strict=True)]
    checks = []
    for ((sentence, source), spans), similarity in zip(
        found.items(), _similarities(sentence_quotes, embedder), strict=True
    ):
        worst = min(spans, key=lambda citation: WORST_FIRST.index(_status(citation)))
        checks.append(
            GroundingCheck(
                sentence=sentence,
                source=source,
                word_overlap=overlap(sentence, texts.get(source, "")),
                embedding_similarity=similarity,
                verdict=_status(worst),
                mode=worst.mode,
                reason=worst.verdict.reason if worst.verdict else "",
            )
        )
    return tuple(checks)


def _status(citation: Citation) -> Status:
    return citation.verdict.status if citation.verdict else Status.UNCHECKED


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
