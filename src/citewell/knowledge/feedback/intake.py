"""Records feedback on an answer: seals it in the log, stores it, and flags the answer's trace.

In: a request id and a signal. Out: a Feedback, durable in the log before it is returned. Repeated feedback
is kept once. Retrieval, gate and writer never read it: signals only change what people review.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from citewell.audit import EntryKind, Log
from citewell.audit.entries import UNREADABLE
from citewell.audit.keys import asker
from citewell.core.environment import stamp
from citewell.core.errors import UsageError, did_you_mean
from citewell.core.identity import plain
from citewell.core.ports import Clock, TraceStore
from citewell.knowledge.feedback.signals import (
    FAILING,
    THUMBS,
    TROUBLE,
    USER,
    Feedback,
    Signal,
    documents_of,
    failing_stage,
    flags_of,
)
from citewell.knowledge.feedback.store import FeedbackStore

MAX_META = 8
"""Maximum members of ``meta``."""
MAX_VALUE = 2_000
"""Maximum characters of one ``meta`` value."""
MAX_SAID = 200
"""Maximum signals on one answer."""
_NAME = re.compile(r"[a-z][a-z0-9_]{0,39}")


@dataclass(frozen=True, kw_only=True)
class Intake:
    """Feedback intake for one home; thread-safe, as its stores are. ``subscribers`` are called with each
    signal kept, whether given or detected."""

    log: Log
    traces: TraceStore
    store: FeedbackStore
    clock: Clock
    subscribers: Sequence[Callable[[Feedback], None]] = ()

    def feedback(
        self,
        request_id: str,
        signal: str,
        *,
        user: str = "",
        claim: int | None = None,
        meta: Mapping[str, str] | None = None,
        found_by: str = USER,
    ) -> Feedback:
        """Seals a signal. Raises UsageError for an unknown request, signal or claim, invalid ``meta``, or too
        many signals; LogError when it could not be sealed."""
        if signal not in set(Signal):
            raise UsageError(f"unknown signal {signal!r}", hint=did_you_mean(signal, Signal))
        known = Signal(signal)
        said = dict(meta or {})
        _refuse_meta(said)
        record = self.log.record(request_id)
        if why := UNREADABLE.get(record.user_query):
            raise UsageError(f"{request_id} cannot take feedback", hint=why)
        if claim is not None and not 1 <= claim <= len(record.claims):
            told = f"the answer has claims 1 to {len(record.claims)}" if record.claims else "it has no claims"
            raise UsageError(f"there is no claim {claim} in {request_id}", hint=told)
        before = self.store.of(request_id)
        if same := _said_already(before, known, user, claim, said):
            return same
        if len(before) >= MAX_SAID:
            raise UsageError(
                f"{request_id} already has {MAX_SAID} feedback signals, the most it can have",
                hint="review the answer: `citewell review list`",
            )
        feedback = Feedback(
            feedback_id="fb_" + secrets.token_hex(12),
            request_id=request_id,
            session_id=record.session_id,
            user=user,
            timestamp=stamp(self.clock),
            signal=known,
            claim=claim,
            meta=said,
            found_by=found_by,
            stage=failing_stage(record, claim) if known in TROUBLE else "",
            documents=documents_of(record, claim),
        )
        # Sealed under the key of the person giving feedback; if detected, under the asker's.
        asked_by = asker(record.user, record.session_id)
        sealed = _body(feedback)
        if user and user != asked_by:
            # This key survives the erasure of the asker.
            sealed["session_id"] = ""
        self.log.note(EntryKind.FEEDBACK, sealed, subject=user or asked_by)
        self.store.put(feedback)
        self.traces.flag(request_id, flags_of((*before, feedback)))
        for tell in self.subscribers:
            tell(feedback)
        return feedback


def _refuse_meta(meta: Mapping[str, str]) -> None:
    """Raises UsageError for too many members, an invalid name, or a value too long or with NUL."""
    if len(meta) > MAX_META:
        raise UsageError(f"meta has {len(meta)} members", hint=f"give at most {MAX_META}")
    for name, value in meta.items():
        if not _NAME.fullmatch(name):
            raise UsageError(
                f"meta has the invalid name {name!r}", hint="use a-z, 0-9 and _, at most 40 characters"
            )
        if len(value) > MAX_VALUE:
            raise UsageError(
                f"meta {name!r} has {len(value)} characters", hint=f"use at most {MAX_VALUE} characters"
            )
        if "\x00" in value:
            raise UsageError(f"meta {name!r} contains a NUL character", hint="send text")


def _said_already(
    before: tuple[Feedback, ...], signal: Signal, user: str, claim: int | None, meta: dict[str, str]
) -> Feedback | None:
    """The person's last such signal on the same target, if identical: a request sent twice."""
    alike = THUMBS if signal in THUMBS else {signal}
    last = [one for one in before if one.signal in alike and (one.user, one.claim) == (user, claim)][-1:]
    return last[0] if last and (last[0].signal, last[0].meta) == (signal, meta) else None


def _body(feedback: Feedback) -> dict[str, Any]:
    """The entry body. ``meta`` names are user-supplied text, so they become values and are sealed too."""
    body: dict[str, Any] = plain(feedback)
    return body | {
        "flags": [FAILING + feedback.stage] if feedback.stage else [],
        "meta": [[name, value] for name, value in sorted(feedback.meta.items())],
        "documents": [{"document_id": document} for document in feedback.documents],
    }
