"""One claim on its way through a check: what it says, what it cites, what was found.

In: a draft and the passages. Out: :class:`Work` values, the quotations inside a claim, the two sides of a
stated connection. Knows nothing about models.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from citewell.core.records import Draft, DraftClaim, Failure, Kind, Passage, Quote, Record, Status, Verdict
from citewell.verification.checking.citations import Cited, Library
from citewell.verification.claims import parse_answer
from citewell.verification.verbatim import fold, locate
from citewell.verification.words import overlap

_QUOTED = re.compile(r"[\u201c\u00ab]([^\u201c\u201d\u00ab\u00bb]+)[\u201d\u00bb]|\"([^\"]+)\"")
_QUOTED_WORDS = 4  # fewer words in quotation marks are a title or a term, not a quotation


class Work(Record, frozen=True, kw_only=True):
    """One claim under way."""

    drafted: DraftClaim
    cited: tuple[Cited, ...]
    verdict: Verdict | None = None
    mode: str = "generated"
    fragment: bool = False
    quotations: bool = True

    @property
    def broken(self) -> Cited | None:
        return next((cited for cited in self.cited if cited.broken), None)


def drafted_works(draft: Draft, library: Library) -> list[Work]:
    """The draft's own claims, or those read from its text when the writer gave none."""
    if draft.claims:
        return [Work(drafted=claim, cited=(), fragment=claim.fragment) for claim in draft.claims]
    ids = [*(p.chunk.document_id for p in library.passages), *(p.chunk.chunk_id for p in library.passages)]
    parsed = parse_answer(draft.text, list(dict.fromkeys(ids)))
    return [
        Work(
            drafted=DraftClaim(
                text=claim.text, start=claim.start, end=claim.end,
                quotes=tuple(Quote(source=label) for label in claim.labels),
                kind=Kind.INFERENCE if claim.inference else Kind.CITED, antecedent=claim.antecedent,
            ),
            cited=(), fragment=claim.fragment,
        )
        for claim in parsed.claims
    ]  # fmt: skip


def quoted_words(claim: DraftClaim) -> list[str]:
    """Words in quotation marks that are long enough to be a quotation and are not a quote already."""
    known = {fold(quote.text).text.strip() for quote in claim.quotes}
    found = [match[1] or match[2] for match in _QUOTED.finditer(claim.text)]
    return [
        words
        for words in found
        if len(words.split()) >= _QUOTED_WORDS and fold(words).text.strip() not in known
    ]


def locate_words(words: str, cited: Sequence[Cited], library: Library) -> Cited:
    """Words in quotation marks: in a cited passage's document, or broken by name."""
    homes = {c.passage.chunk.chunk_id: c.passage for c in cited if c.passage}
    passages = homes or {p.chunk.chunk_id: p for p in library.usable}
    # A stop that belongs to the sentence around the quotation is not part of it.
    bare = words.strip().rstrip(".,;:!?")
    for passage in passages.values():
        found = library.locate(Quote(source=passage.chunk.chunk_id, text=bare))
        if not found.broken:
            return found
    texts = {p.chunk.chunk_id: p.chunk.content for p in library.passages}
    first = next(iter(passages), "")
    result = locate(bare, first, texts)
    names = sorted({p.chunk.document_id for p in library.passages if p.chunk.chunk_id in result.found_in})
    reason = result.reason
    if result.failure is Failure.MISATTRIBUTED and names:
        reason = f"the quoted words are not in the cited source but in {', '.join(names)}"
    return Cited(
        quote=Quote(source=first, text=words),
        passage=passages.get(first),
        broken=f"\u201c{bare[:80]}\u201d: {reason}",
        failure=result.failure,
    )


_CONNECTIVE = re.compile(
    r",?(?<!\s)\s+(?:because(?: of)?|therefore|so that|which (?:led|caused|resulted)(?: to| in)?|"
    r"as a result(?: of)?|due to|"
    r"leading to|resulting in|thanks to|in order to|since|after|while|although)\s+",
    re.IGNORECASE,
)


def connected(text: str) -> list[str]:
    """The two sides of a stated connection, when both are clauses."""
    match = _CONNECTIVE.search(text)
    if not match:
        return []
    sides = [text[: match.start()].strip(), text[match.end() :].strip()]
    return sides if all(len(side.split()) >= 3 for side in sides) else []


def passages_of(work: Work) -> tuple[Passage, ...]:
    found = {c.passage.chunk.chunk_id: c.passage for c in work.cited if c.passage and not c.broken}
    return tuple(found.values())


def by_overlap(claim: str, passages: Sequence[Passage]) -> tuple[Passage, ...]:
    """Nearest in words first; equals in their own order."""
    return tuple(sorted(passages, key=lambda p: -overlap(claim, p.chunk.content)))


def status_of(work: Work) -> Status | None:
    return work.verdict.status if work.verdict else None


def key_of(cited: Cited) -> tuple[str, tuple[tuple[int, int], ...], str]:
    return (cited.passage.chunk.chunk_id if cited.passage else cited.quote.source, cited.spans, cited.broken)
