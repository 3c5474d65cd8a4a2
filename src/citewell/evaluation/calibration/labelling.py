"""What a case says of an answer, of a claim and of a passage: right, wrong, or nothing.

In: a case, the texts of its documents, what a pass gave. Out: True, False, or None where the case does not
tell. Exact: spans that overlap, words or numbers that are there. Knows nothing about models or thresholds.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Sequence

from citewell.errors import EvidenceError
from citewell.records import AuditRecord, Case, Claim, Decision, Passage, Status
from citewell.verification.numbers import check_numbers

Texts = Callable[[str], str]
"""The newest text of a document by its id; raises EvidenceError when there is none."""
Place = tuple[str, int, int]
_WORD = re.compile(r"\w+")


def places_of(case: Case, text_of: Texts) -> tuple[list[Place], list[str]]:
    """Where the case's spans stand, every time they do, and what of them was not found."""
    found: list[Place] = []
    lost: list[str] = []
    for span in case.spans:
        try:
            text = text_of(span.document)
        except EvidenceError:
            lost.append(f"case {case.id}: no document {span.document!r}")
            continue
        quote = unicodedata.normalize("NFC", span.quote)
        starts = [match.start() for match in re.finditer(re.escape(quote), text)]
        found += [(span.document, start, start + len(quote)) for start in starts]
        if not starts:
            lost.append(f"case {case.id}: its quote is not in {span.document}")
    return found, lost


def passage_right(passage: Passage, places: Sequence[Place]) -> bool:
    """Whether the passage holds a part of the evidence."""
    chunk = passage.chunk
    return _meets((chunk.document_id, chunk.start_offset, chunk.end_offset), places)


def claim_right(claim: Claim, case: Case, places: Sequence[Place]) -> bool | None:
    """A cited span meets one of the case's, or the claim says what was expected. None for a case that has
    neither, or that has no answer: it tells nothing of what a source supports."""
    if case.abstain or not (places or case.expected):
        return None
    cited = [(c.document_id, c.start, c.end) for c in claim.citations if c.start >= 0]
    return any(_meets(place, places) for place in cited) or agrees(case.expected, claim.text)


def answer_right(record: AuditRecord, case: Case, places: Sequence[Place]) -> bool | None:
    """Of an answer that is shown: it says what was expected, or a verified claim cites the evidence.

    Showing anything where there is no answer is wrong.
    """
    if case.abstain:
        return False
    if not (places or case.expected):
        return None
    verified = [claim for claim in record.claims if claim.verdict.status is Status.VERIFIED]
    said = "\n".join([record.shown_response, *(claim.text for claim in verified)])
    return agrees(case.expected, said) or any(claim_right(claim, case, places) for claim in verified)


def agrees(expected: str, text: str) -> bool:
    """The expected words stand in the text, or it holds every number that is expected."""
    wanted = _words(expected)
    if not wanted:
        return False
    if f" {wanted} " in f" {_words(text)} ":
        return True
    checks = check_numbers(expected, text)
    return bool(checks) and all(check.holds for check in checks)


def was_shown(record: AuditRecord) -> bool:
    return record.response_decision in (Decision.ANSWER.value, Decision.PARTIAL.value)


def _meets(place: Place, others: Sequence[Place]) -> bool:
    document, start, end = place
    return any(document == d and start < e and s < end for d, s, e in others)


def _words(text: str) -> str:
    return " ".join(_WORD.findall(text.casefold()))
