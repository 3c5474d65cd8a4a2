"""Who is told what when a document is recalled.

In: a past answer's record, what became of it, the reads in the log. Out: a :class:`Notice` for whoever got
it, its entry in the log. Knows nothing about which answers leaned on the document, or how they were looked at
again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from citewell.audit.bodies import UNREADABLE
from citewell.audit.entries import EntryKind
from citewell.audit.keys import asker
from citewell.core.records import AuditRecord, Record
from citewell.knowledge.revisiting.rechecking import Recheck

if TYPE_CHECKING:
    from citewell.audit import Log


class Notice(Record, frozen=True, kw_only=True):
    """What somebody who got an answer should be told, now that a document it leaned on was recalled.

    ``user`` is who asked ("" for somebody who gave no name or was erased), ``readers`` who looked at the
    record later. ``text`` says it in words.
    """

    request_id: str
    timestamp: str
    user: str
    session_id: str
    readers: tuple[str, ...]
    document_id: str
    reason: str
    question: str
    recheck: Recheck
    text: str


def notice_of(
    record: AuditRecord, found: Recheck, document_id: str, reason: str, readers: tuple[str, ...]
) -> Notice:
    fallen = [claim.text for claim in found.claims if claim.then == "VERIFIED" and claim.holds is False]
    told = [
        f"On {record.timestamp[:10]} you asked: {record.user_query}",
        f"The answer ({record.request_id}) relied on {document_id}, which has been recalled"
        f"{f': {reason}' if reason else ''}.",
        "No longer supported: " + " | ".join(fallen)
        if fallen
        else "The answer is still supported by other documents.",
    ]
    return Notice(
        request_id=record.request_id,
        timestamp=record.timestamp,
        user=_known(record.user),
        session_id=_known(record.session_id),
        readers=readers,
        document_id=document_id,
        reason=reason,
        question=record.user_query,
        recheck=found,
        text="\n".join(told),
    )


def seal_notice(log: Log, notice: Notice) -> None:
    body = {
        "request_id": notice.request_id,
        "document_id": notice.document_id,
        "outcome": notice.recheck.outcome,
        "resolutions": notice.recheck.counts,
        "reason": notice.reason,
        "notice": notice.text,
    }
    # Under the asker's key: the notice repeats their question.
    log.note(EntryKind.RECALL, body, subject=asker(notice.user, notice.session_id))


def readers_of(log: Log) -> dict[str, tuple[str, ...]]:
    """By request: who was shown its record, alone or on a page, as far as they gave a name and are not
    erased. Exports of all that fits are on record by their question alone."""
    found: dict[str, dict[str, None]] = {}
    for entry in log.entries(EntryKind.READ):
        if entry.body is None or not entry.subject:
            continue
        body = log.body(entry)
        looked = (body.get(what, "") for what in ("show", "receipt", "replay", "recheck"))
        alone = [request for request in looked if request not in ("", "all")]
        for request in (*alone, *(one["request_id"] for one in body.get("seen", ()))):
            found.setdefault(str(request), {})[log.keys.name(entry.subject)] = None
    return {request: tuple(name for name in names if name) for request, names in found.items()}


def _known(name: str) -> str:
    return "" if name in UNREADABLE else name
