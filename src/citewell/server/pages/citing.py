"""What was cited from one document, and how often that failed: counted in citations of it, not in answers.

In: the records that cite it. Out: how many citations ended in which status, and the quotes cited most. What a
citation that stands in no source quotes was never the document's: it counts, and is not quoted. Knows nothing
about requests.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence

from citewell.audit.bodies import UNREADABLE
from citewell.core.records import AuditRecord, Citation, Record, Status
from citewell.server.pages.answers import view_of

MOST = 10
"""Quotes that are shown."""
FAILED = (Status.UNSUPPORTED, Status.CONTRADICTED, Status.BROKEN)


class Quoted(Record, frozen=True, kw_only=True):
    """The same words, cited ``n`` times; ``href`` is where they were cited last."""

    text: str
    href: str
    n: int
    failed: int


class Cited(Record, frozen=True, kw_only=True):
    """``n`` citations in ``answers``; ``shares`` of them by status, ``failed`` of those that were found false
    or wrong (UNCHECKED is neither), ``quotes`` the most cited first."""

    answers: int
    n: int
    failed: int
    shares: tuple[tuple[str, int], ...]
    quotes: tuple[Quoted, ...]


def cited_from(document_id: str, records: Sequence[AuditRecord]) -> Cited:
    """``records`` newest first."""
    shares: Counter[Status] = Counter()
    quoted: defaultdict[str, list[tuple[Citation, Status]]] = defaultdict(list)
    for record in records:
        for claim in record.claims:
            for one in claim.citations:
                if one.document_id != document_id:
                    continue
                # Of a claim that rests on several places each has a verdict of its own.
                status = (one.verdict or claim.verdict).status
                shares[status] += 1
                if one.start >= 0 and one.quote not in UNREADABLE:
                    quoted[one.quote].append((one, status))
    quotes = [
        Quoted(
            text=text,
            href=view_of(found[0][0]),
            n=len(found),
            failed=sum(status in FAILED for _, status in found),
        )
        for text, found in quoted.items()
    ]
    return Cited(
        answers=len(records),
        n=shares.total(),
        failed=sum(shares[status] for status in FAILED),
        shares=tuple((status.value, shares[status]) for status in Status if shares[status]),
        quotes=tuple(sorted(quotes, key=lambda one: -one.n)[:MOST]),
    )
