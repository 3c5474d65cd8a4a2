"""Legal holds: what must not be taken out of the log, whatever its retention class or whoever asks.

In: who, which document or which record is held, and why. Out: entries of kind ``hold``; the holds in force,
read from them; whether an entry is held. Reasons stay readable for ever, so they name nobody.
Knows nothing about expiry or erasure.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Any

from citewell.audit.entries import EntryKind
from citewell.audit.keys import session_in
from citewell.core.errors import UsageError
from citewell.core.records import Record

if TYPE_CHECKING:
    from citewell.audit.log import Log

PLACED, LIFTED = "placed", "lifted"


class Hold(Record, frozen=True, kw_only=True):
    """``subject`` is the pseudonym of the person held; all three empty holds the whole log."""

    hold: str
    subject: str = ""
    document_id: str = ""
    request_id: str = ""
    reason: str
    timestamp: str = ""


def holds_in_force(log: Log) -> tuple[Hold, ...]:
    """In the order they were placed."""
    found: dict[str, Hold] = {}
    for entry in log.entries(EntryKind.HOLD):
        body = log.body(entry)
        if body["outcome"] == LIFTED:
            found.pop(body["hold"], None)
        else:
            found[body["hold"]] = Hold(
                hold=body["hold"],
                subject=body["subject"],
                document_id=body["document_id"],
                request_id=body["request_id"],
                reason=body["reason"],
                timestamp=entry.timestamp,
            )
    return tuple(found.values())


def place_hold(
    log: Log, name: str, *, reason: str, user: str = "", document: str = "", request_id: str = ""
) -> Hold:
    """Raises UsageError for a name in force already, a person or record the log does not know, or a reason
    that names the person or who asked for the record."""
    if not name or any(hold.hold == name for hold in holds_in_force(log)):
        told = f"there is already a hold {name!r}" if name else "a hold needs a name"
        raise UsageError(told, hint="choose another name")
    person = log.keys.find(user) if user else None
    if user and person is None:
        raise UsageError("the log has nobody with that name", hint="check the spelling of --user")
    hold = Hold(
        hold=name,
        subject=person.id if person else "",
        document_id=document,
        request_id=request_id,
        reason=reason,
    )
    _refuse_names(log, hold, name, reason)
    log.note(EntryKind.HOLD, _body(hold, PLACED, reason))
    return hold


def _refuse_names(log: Log, hold: Hold, *words: str) -> None:
    """Of the person held, and of whoever asked the record held."""
    asked = log.get(hold.request_id).subject if hold.request_id else ""
    for subject in {hold.subject, asked} - {""}:
        refuse_name(log.keys.name(subject), *words)


_SHORT = 4
"""Fewer letters than this stand by chance within other words, so they name somebody only as a word."""


def refuse_name(name: str, *words: str) -> None:
    """Raises UsageError when one of the texts, which would outlive whoever has that name, names them: also in
    other letter case, spacing or punctuation."""
    own = session_in(name) or name
    if own and any(_names(own, text) for text in words):
        raise UsageError(
            "the text names the person, and it would remain after the person is erased",
            hint="give a case number instead",
        )


def _names(name: str, text: str) -> bool:
    letters, folded = "".join(filter(str.isalnum, _folded(name))), _folded(text)
    if not letters:
        # A name without any is looked for as it stands.
        return name in text
    if len(letters) >= _SHORT:
        return letters in "".join(filter(str.isalnum, folded))
    # Overlapping ones too, each with the letter before and after it.
    spelled = r"(?s)(?=(" + r"[\W_]*".join(map(re.escape, letters)) + r")(.?))"
    return any(
        not (_goes_on(folded[: found.start()][-1:]) or _goes_on(found[2]))
        for found in re.finditer(spelled, folded)
    )


def _folded(text: str) -> str:
    return unicodedata.normalize("NFKC", text).casefold()


def _goes_on(letter: str) -> bool:
    """Whether a word goes on with it; a script without cases need not write spaces between words."""
    return letter.islower() or letter.isdigit()


def lift_hold(log: Log, name: str, *, reason: str) -> None:
    """Raises UsageError when no such hold is in force, and for a reason that names somebody, as above."""
    hold = next((hold for hold in holds_in_force(log) if hold.hold == name), None)
    if hold is None:
        raise UsageError(
            f"there is no hold {name!r} in force", hint="`citewell audit hold list` shows the holds"
        )
    _refuse_names(log, hold, reason)
    log.note(EntryKind.HOLD, _body(hold, LIFTED, reason))


class Holding:
    """The holds in force when it was made, and what they cover."""

    def __init__(self, log: Log) -> None:
        self._holds = [(hold, _asked(log, hold.subject)) for hold in holds_in_force(log)]

    def of(self, subject: str, body: Mapping[str, Any]) -> Hold | None:
        """The first hold that an entry is under."""
        return next((hold for hold, asked in self._holds if _covers(hold, asked, subject, body)), None)


def _asked(log: Log, subject: str) -> Collection[str]:
    """The requests of a held person, also of records that have expired: what others say of their answers is
    held too."""
    if not subject:
        return ()
    with log.database.reading() as rows:
        found = rows.execute(
            "SELECT r.request_id FROM requests r JOIN entries e ON e.seq = r.seq WHERE e.subject = ?",
            (subject,),
        ).fetchall()
    return {request for (request,) in found}


def _covers(hold: Hold, asked: Collection[str], subject: str, body: Mapping[str, Any]) -> bool:
    if not (hold.subject or hold.document_id or hold.request_id):
        return True
    documents = {
        citation.get("document_id")
        for claim in body.get("claims", ())
        for citation in claim.get("citations", ())
    } | {one.get("document_id") for one in (*body.get("retrieval_results", ()), *body.get("documents", ()))}
    request = body.get("request_id")
    return (
        (bool(hold.subject) and (hold.subject == subject or request in asked))
        or (bool(hold.request_id) and hold.request_id == request)
        or (bool(hold.document_id) and hold.document_id in documents | {body.get("document_id")})
    )


def _body(hold: Hold, outcome: str, reason: str) -> dict[str, str]:
    return {
        "hold": hold.hold,
        "subject": hold.subject,
        "document_id": hold.document_id,
        "request_id": hold.request_id,
        "outcome": outcome,
        "reason": reason,
    }
