"""Compares the stores outside the log with the log: feedback, reviews, traces, API keys.

In: a sound log, the stores. Out: findings: a signal, review or key that has no entry, differs from its
entry, or is gone; a trace that differs from its record. Erased and expired data is not compared.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from citewell.audit.entries import ERASED, KEY_MISSING, EntryKind
from citewell.audit.tampering import Finding
from citewell.core.identity import plain
from citewell.core.records import AuditRecord, Trace
from citewell.knowledge.feedback.signals import Feedback, flags_of
from citewell.knowledge.sealing import MADE, REVOKED, KeyInfo, rights_of

if TYPE_CHECKING:
    from citewell.audit import Log
    from citewell.knowledge.feedback import FeedbackStore
    from citewell.knowledge.traces import Traces

FEEDBACK, TRACE, ACCESS = "feedback", "trace", "access"
"""The kinds of these findings."""
_SIGNAL = tuple(name for name in Feedback.__struct_fields__ if name != "feedback_id")
_REVIEW = ("request_id", "outcome", "reviewer", "reason", "case")
_OF_RECORD = {
    "session_id": "session_id",
    "timestamp": "timestamp",
    "query": "user_query",
    "generated_response": "generated_response",
    "final_returned": "shown_response",
    "failure_reason": "failure_reason",
}
"""Trace field -> the record field with the same content."""


def feedback_differences(log: Log, store: FeedbackStore) -> Iterator[Finding]:
    """Raises LogError."""
    sealed: dict[str, tuple[int, dict[str, Any]]] = {}
    decided: dict[str, str] = {}
    expired, erased = "", log.latest(EntryKind.ERASURE) is not None
    for entry in log.entries(EntryKind.FEEDBACK):
        if entry.body is None:
            expired = max(expired, entry.timestamp)
            continue
        body = log.body(entry)
        sealed[body["feedback_id"]] = entry.seq, body
        if "outcome" in body:
            decided[body["request_id"]] = body["feedback_id"]
    requests = sorted({body["request_id"] for _, body in sealed.values()} | store.requests())
    signals = {one.feedback_id: one for said in store.of_each(requests).values() for one in said}
    reviews = {one.review_id: one for one in store.reviews().values()}
    stored: dict[str, dict[str, Any]] = {name: plain(one) for name, one in (signals | reviews).items()}
    for name, found in stored.items():
        if name in sealed:
            seq, body = sealed[name]
            said = _as_stored(body, log)
            for field in _REVIEW if name in reviews else _SIGNAL:
                if _differs(said.get(field), found.get(field), erased):
                    yield Finding(FEEDBACK, seq, f"{name}: its {field} is not what was sealed")
        elif found["timestamp"] > expired:  # else it may have expired
            yield Finding(FEEDBACK, 0, f"{name} on {found['request_id']}: the log has no entry for it")
    standing = {*decided.values()}
    for name, (seq, body) in sealed.items():
        if name not in stored and ("outcome" not in body or name in standing):
            yield Finding(FEEDBACK, seq, f"{name} on {body['request_id']} is sealed but gone from the store")


def _as_stored(body: Mapping[str, Any], log: Log) -> dict[str, Any]:
    """An entry's body in the store's format."""
    said = dict(body)
    said["documents"] = [one["document_id"] for one in body["documents"]]
    if "outcome" in body:
        said["reviewer"] = log.keys.name(body["reviewer"]) or ERASED
        said["case"] = body.get("case")
    else:
        said["meta"] = dict(body["meta"])
    return said


def _differs(sealed: object, stored: object, erased: bool) -> bool:
    """True if the values differ. Unreadable sealed values are not compared, nor, once anybody was ``erased``,
    values that are empty in the store."""
    if isinstance(stored, dict) and isinstance(sealed, dict):
        names = (stored.keys() | sealed.keys()) - {"reviewed"}  # sealed only as the reviewer's pseudonym
        return any(_differs(sealed.get(name), stored.get(name), erased) for name in names)
    if isinstance(stored, list | tuple) and isinstance(sealed, list | tuple) and len(stored) == len(sealed):
        return any(_differs(one, other, erased) for one, other in zip(sealed, stored, strict=True))
    taken_out = erased and stored in ("", None, {})
    return stored != sealed and sealed not in (ERASED, KEY_MISSING, "") and not taken_out


def trace_differences(log: Log, traces: Traces, store: FeedbackStore) -> Iterator[Finding]:
    """Raises LogError."""
    expired = max((one.timestamp for one in log.entries(EntryKind.FEEDBACK) if one.body is None), default="")
    for some in traces.batches():
        lacking = log.lacking([trace.request_id for trace in some])
        said = store.of_each([trace.request_id for trace in some])
        for trace in some:
            if trace.request_id in lacking:
                continue  # the process was killed, or could not write to the log
            entry = log.get(trace.request_id)
            if entry.body is None:
                continue
            record = log.record(trace.request_id)
            fields = [*_otherwise(trace, record)]
            # A flag outlives its expired signal.
            if trace.timestamp > expired and trace.flags != flags_of(said.get(trace.request_id, ())):
                fields.append("flags")
            if fields:
                told = f"trace of {trace.request_id}: its {', '.join(fields)} differ from the record"
                yield Finding(TRACE, entry.seq, told)


def _otherwise(trace: Trace, record: AuditRecord) -> Iterator[str]:
    for field, same in _OF_RECORD.items():
        sealed = getattr(record, same)
        if sealed not in (ERASED, KEY_MISSING, getattr(trace, field)):
            yield field
    if trace.retrieved_chunks != tuple(one.chunk_id for one in record.retrieval_results):
        yield "retrieved_chunks"


def key_differences(log: Log, keys: Iterable[KeyInfo]) -> Iterator[Finding]:
    """Raises LogError."""
    made: dict[str, tuple[int, dict[str, Any]]] = {}
    revoked: dict[str, int] = {}
    for entry in log.entries(EntryKind.ACCESS):
        body = log.body(entry) if entry.body is not None else {}
        if body.get("outcome") == MADE:
            made.setdefault(body["key_id"], (entry.seq, body))
        elif body.get("outcome") == REVOKED:
            revoked.setdefault(body["key_id"], entry.seq)
    stored = {key.key_id: key for key in keys}
    for name, key in stored.items():
        if name not in made:
            yield Finding(ACCESS, 0, f"key {name} of {key.user}: the log has no entry for its creation")
            continue
        seq, body = made[name]
        owner = log.keys.name(body["subject"])
        for what, sealed, found in (
            *((what, body[what], value) for what, value in rights_of(key).items()),
            ("user", owner or key.user, key.user),
        ):
            if sealed != found:
                yield Finding(ACCESS, seq, f"key {name}: its {what} was {sealed!r} and is now {found!r}")
        if name in revoked and not key.revoked_at:
            yield Finding(ACCESS, revoked[name], f"key {name} was revoked but is active again")
        elif key.revoked_at and name not in revoked:
            yield Finding(ACCESS, seq, f"key {name} is revoked, but the log has no entry for it")
    for name, (seq, _) in made.items():
        if name not in stored:
            yield Finding(ACCESS, seq, f"key {name} was created but no longer exists")
