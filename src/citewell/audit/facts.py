"""What the side tables say about a record, derived from its body alone so that a check can derive it again.

In: an entry's seq, kind, timestamp, subject and sealed body (personal texts are hashes in it). Out: rows for
``answers`` (one a record) and ``cited`` (one a document, and one a document version, that the record's
citations name). Knows nothing about queries.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

from citewell.audit.bodies import BLIND
from citewell.audit.entries import RECORDS
from citewell.records import Status

FACTS = (
    "timestamp",
    "seq",
    "subject",
    "session",
    "decision",
    "band",
    "claims",
    "unsupported",
    "broken",
    "all_verified",
)
ANSWERS = ("request_id", *FACTS)
CITED = ("document_id", "document_version", *FACTS)
SIDE_TABLES = {"answers": ANSWERS, "cited": CITED}
ANY_VERSION = ""
"""The ``document_version`` of the row that stands for every version together."""

BANDS = ((0.85, "high"), (0.60, "medium"), (0.0, "low"))
NOT_MEASURED = "not measured"

Row = tuple[str | int, ...]


def confidence_band(overall: float | None) -> str:
    """``high`` from 0.85, ``medium`` from 0.60, else ``low``: fixed, whatever thresholds decided then."""
    if overall is None:
        return NOT_MEASURED
    return next(name for border, name in BANDS if overall >= border or border == 0.0)


def side_rows(
    seq: int, kind: str, timestamp: str, subject: str, body: dict[str, Any]
) -> dict[str, list[Row]]:
    """By table: the ``answers`` row and the ``cited`` rows of one record, sorted; nothing for other entries."""
    if kind not in RECORDS:
        return {}
    claims = body["claims"]
    statuses = Counter(claim["verdict"]["status"] for claim in claims)
    broken = sum(1 for claim in claims if _broken(claim))
    report = body["confidence_report"]
    facts: Row = (
        timestamp,
        seq,
        subject,
        body["session_id"][BLIND] if body["session_id"] else "",
        body["response_decision"],
        confidence_band(report["overall"] if report else None),
        len(claims),
        statuses[Status.UNSUPPORTED.value],
        broken,
        int(bool(claims) and statuses[Status.VERIFIED.value] == len(claims)),
    )
    documents = {
        (citation["document_id"], version)
        for claim in claims
        for citation in claim["citations"]
        for version in (ANY_VERSION, citation["document_version"])
    }
    return {
        "answers": [(body["request_id"], *facts)],
        "cited": [(*document, *facts) for document in sorted(documents)],
    }


def _broken(claim: dict[str, Any]) -> bool:
    """The claim, or any one of its citations: a claim that stands on others still had a broken one."""
    verdicts = [claim["verdict"], *(citation["verdict"] for citation in claim["citations"])]
    return any(verdict is not None and verdict["status"] == Status.BROKEN.value for verdict in verdicts)
