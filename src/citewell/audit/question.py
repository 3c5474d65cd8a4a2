"""The query language of the log, shared by the command line, Python and both databases.

In: words. Out: an :class:`AuditQuery`, rejected if invalid; whether a profile or a record matches it.
Independent of tables: :mod:`citewell.audit.search` finds the matches.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

import msgspec

from citewell.audit.profiles import BANDS, ERROR, NOT_MEASURED, Axis, Profile, axis_key, microseconds
from citewell.core.environment import format_time
from citewell.core.errors import UsageError
from citewell.core.records import Decision, Proof, Record, Status

if TYPE_CHECKING:
    from citewell.audit.keys import FolderKeys

STATUSES: Mapping[str, Callable[[Profile], bool]] = {
    "any-unsupported": lambda profile: Status.UNSUPPORTED.value in profile.statuses,
    "any-broken": lambda profile: profile.broken,
    "any-contradicted": lambda profile: Status.CONTRADICTED.value in profile.statuses,
    "any-unchecked": lambda profile: Status.UNCHECKED.value in profile.statuses,
    "any-verified": lambda profile: Status.VERIFIED.value in profile.statuses,
    "all-verified": lambda profile: profile.statuses == (Status.VERIFIED.value,),
    "no-claims": lambda profile: not profile.statuses,
}
CONFIDENCES = (*(name for _, name in reversed(BANDS)), NOT_MEASURED)
DECISIONS = (*(decision.value for decision in Decision), ERROR)
PROOFS = tuple(proof.value for proof in Proof)
MAX_PAGE = 1000
ANY = "any"
"""As ``failure``: any failure."""
_UNITS = {"m": "minutes", "h": "hours", "d": "days", "w": "weeks"}


class AuditQuery(Record, frozen=True, kw_only=True):
    """Every non-empty field narrows. ``since`` and ``until`` (exclusive) have the form of
    ``environment.format_time``.

    ``document`` is a cited document id, ``version`` one version of it, ``chunk`` a chunk id; ``status`` a key
    of ``STATUSES``; ``proof`` how a claim was proven; ``confidence`` a band; ``decision`` may also be
    ``ERROR``; ``model`` the name of a model that contributed; ``prompt`` a prompt's hash; ``failure`` a
    ``failure_reason``, or ``any``; ``flag`` what users flagged later; ``limit`` from 1 to 1000; ``cursor``
    the record id that a Page returned: results start after it.
    """

    since: str = ""
    until: str = ""
    user: str = ""
    session: str = ""
    document: str = ""
    version: str = ""
    chunk: str = ""
    status: str = ""
    proof: str = ""
    confidence: str = ""
    decision: str = ""
    model: str = ""
    prompt: str = ""
    failure: str = ""
    flag: str = ""
    limit: int = 50
    cursor: str = ""


def within(query: AuditQuery) -> AuditQuery:
    """The query for all records in its time range."""
    return AuditQuery(since=query.since, until=query.until)


def narrows(query: AuditQuery) -> bool:
    """Whether it asks for less than all records in its time range."""
    everything = within(query)
    return msgspec.structs.replace(query, limit=everything.limit, cursor="") != everything


def validate_query(query: AuditQuery) -> None:
    """Raises UsageError for an invalid value."""
    for what, value, known in (
        ("status", query.status, tuple(STATUSES)),
        ("confidence band", query.confidence, CONFIDENCES),
        ("decision", query.decision, DECISIONS),
        ("proof", query.proof, PROOFS),
    ):
        if value and value not in known:
            raise UsageError(f"unknown {what} {value!r}", hint=f"use one of {', '.join(known)}")
    if query.version and not query.document:
        raise UsageError("a version was given without its document", hint="give the document too")
    if not 1 <= query.limit <= MAX_PAGE:
        raise UsageError(f"a page of {query.limit} records is not possible", hint=f"choose 1 to {MAX_PAGE}")
    for time in (query.since, query.until):
        if time:
            _time(time)


def keys_asked(query: AuditQuery, keys: FolderKeys) -> tuple[int, ...]:
    """The keys that a record must all have; for an unknown person, a key that no record has."""
    person = keys.find(query.user) if query.user else None
    document = (query.document, query.version) if query.version else (query.document,)
    asked = (
        (Axis.USER, (person.id if person else query.user and "nobody",)),
        (Axis.SESSION, (query.session and keys.blind(query.session),)),
        (Axis.VERSION if query.version else Axis.DOCUMENT, document),
        (Axis.CHUNK, (query.chunk,)),
        (Axis.FLAG, (query.flag,)),
    )
    return tuple(axis_key(axis, *values) for axis, values in asked if values[0])


def profile_fits(query: AuditQuery, profile: Profile) -> bool:
    """Whether records with ``profile`` match, as far as the profile can tell."""
    failed = profile.failure and query.failure in (ANY, profile.failure)
    return (
        (not query.status or STATUSES[query.status](profile))
        and (not query.proof or query.proof in profile.proofs)
        and query.confidence in ("", profile.band)
        and query.decision in ("", profile.decision)
        and (not query.model or query.model in profile.models)
        and (not query.prompt or query.prompt in profile.prompts)
        and (not query.failure or bool(failed))
    )


def span_of(query: AuditQuery) -> tuple[int, int]:
    """Microseconds since 1970: start (inclusive) and end (exclusive)."""
    return (
        _time(query.since) if query.since else -(2**62),
        _time(query.until) if query.until else 2**62,
    )


def record_matches(query: AuditQuery, body: Mapping[str, Any]) -> bool:
    """Whether a record's body really names the user, document, version and chunk asked for, rather than just
    colliding with their keys."""
    citations = [citation for claim in body["claims"] for citation in claim["citations"]]
    documents = {
        citation["document_id"]
        for citation in citations
        if query.version in ("", citation["document_version"])
    }
    return (
        query.user in ("", body["user"])
        and (not query.document or query.document in documents)
        and (not query.chunk or any(citation["chunk_id"] == query.chunk for citation in citations))
    )


def moment(text: str, now: datetime) -> str:
    """Converts ``30d`` (also m, h, w: before ``now``) or an ISO date or time to the form of
    ``environment.format_time``.

    Raises UsageError for anything else.
    """
    span = re.fullmatch(r"(\d{1,6})([mhdw])", text.strip())
    try:
        if span:
            return format_time(now - timedelta(**{_UNITS[span[2]]: int(span[1])}))
        return format_time(datetime.fromisoformat(text.strip()))
    except (ValueError, OverflowError) as error:
        raise UsageError(
            f"{text!r} is not a time", hint="write 30d, 12h, 2026-11-21 or 2026-11-21T03:00:00Z"
        ) from error


def dated_query(members: Mapping[str, Any], now: datetime) -> AuditQuery:
    """The query with these members, ``since`` and ``until`` as for :func:`moment`. Raises UsageError."""
    times = {name: moment(members[name], now) for name in ("since", "until") if members.get(name)}
    return msgspec.convert({**members, **times}, AuditQuery)


def _time(text: str) -> int:
    try:
        return microseconds(text)
    except ValueError as error:
        raise UsageError(f"{text!r} is not a time", hint="write it as 2026-11-21T03:00:00.000000Z") from error
