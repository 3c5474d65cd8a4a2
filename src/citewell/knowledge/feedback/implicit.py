"""What nobody says and Citewell notices: a question asked again, a correction, an answer nobody looked at.

In: a request that was just answered, or the time. Out: signals on the answer before, found by Citewell. Runs
after the record is sealed and never fails what it runs beside: what goes wrong is a notice in the log.
Knows nothing about retrieval or verdicts.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta

from citewell.audit import EntryKind
from citewell.audit.keys import asker
from citewell.core.clock import written
from citewell.core.config import Feedback as Settings
from citewell.core.errors import LogError, UsageError
from citewell.core.ports import Embedder
from citewell.core.records import Trace
from citewell.knowledge.feedback import Feedback, Signal
from citewell.knowledge.feedback.listening import Listening
from citewell.knowledge.feedback.signals import CITEWELL, USER
from citewell.knowledge.feedback.store import Waiting
from citewell.knowledge.feedback.turns import Noticed, correction, rephrasing

_TURNS = 5
"""Earlier questions of a session that a new one is compared with, newest first."""


@dataclass(frozen=True, kw_only=True)
class Noticing:
    """One home's. ``embedder`` is asked for only when words do not settle it."""

    listening: Listening
    settings: Settings
    embedder: Callable[[], Embedder]

    def turn(self, session_id: str, request_id: str, user: str) -> Feedback | None:
        """What the newest turn of a session says of the answers before it; sealed as a signal on one of them.

        Only turns of the same user count: whoever knows a session's id must not speak for somebody else.
        """
        try:
            return self._turn(session_id, request_id, user)
        except Exception as error:  # noqa: BLE001 - the question is answered and sealed, whatever this does
            told = {"request_id": request_id, "feedback": f"{type(error).__name__}: {error}"}
            # A log that cannot be written is told by the next answer.
            with suppress(LogError):
                self.listening.log.note(EntryKind.NOTICE, told, subject=asker(user, session_id))
            return None

    def due(self) -> tuple[Feedback, ...]:
        """Signals on answers that a page showed long enough ago and that nobody touched, copied, rated or
        followed up; each is judged once."""
        window = self.settings.engagement_window_s
        if window <= 0:
            return ()
        store = self.listening.store
        before = written(self.listening.clock.now() - timedelta(seconds=window))
        found = [said for waiting in store.untouched(before) if (said := self._ignored(waiting))]
        store.settle(before)
        return tuple(found)

    def _turn(self, session_id: str, request_id: str, user: str) -> Feedback | None:
        turns = self.listening.traces.session(session_id)
        place = next((n for n, turn in enumerate(turns) if turn.request_id == request_id), 0)
        earlier = [turn for turn in turns[max(0, place - _TURNS) : place] if turn.final_returned][::-1]
        for number, before in enumerate(earlier):
            noticed = self._noticed(before, turns[place], directly=number == 0)
            if noticed and self.listening.log.record(before.request_id).user == user:
                return self._say(before, turns[place], noticed)
        return None

    def _noticed(self, before: Trace, now: Trace, *, directly: bool) -> Noticed | None:
        """A correction is of the answer before it; a question may be asked again after another one."""
        settings = self.settings
        apart = _seconds(before.timestamp, now.timestamp)
        if directly and apart <= settings.correction_window_s > 0:
            found = correction(before.query, before.final_returned, now.query)
            if found is not None:
                return found
        if apart > settings.rephrase_window_s or settings.rephrase_window_s <= 0:
            return None
        return rephrasing(
            before.query,
            before.final_returned,
            now.query,
            self._cosine,
            least_cosine=settings.rephrase_cosine,
            least_overlap=settings.rephrase_overlap,
        )

    def _say(self, before: Trace, now: Trace, noticed: Noticed) -> Feedback:
        meta = {"rule": noticed.rule, "following": now.request_id}
        if noticed.cosine is not None:
            meta |= {"cosine": f"{noticed.cosine:.3f}", "embedder": self.embedder().maker.name}
        return self.listening.feedback(before.request_id, noticed.signal.value, meta=meta, found_by=CITEWELL)

    def _cosine(self, first: str, second: str) -> float:
        one, other = self.embedder().embed([first, second])
        return float(one @ other)

    def _ignored(self, waiting: Waiting) -> Feedback | None:
        if _has_next(self.listening.traces.session(waiting.session_id), waiting.request_id):
            return None
        try:
            # Who gave no name may be the asker; somebody else's look is not the asker's.
            asker = {"", self.listening.log.record(waiting.request_id).user}
            said = self.listening.store.of(waiting.request_id)
            if any(one.found_by == USER and one.user in asker for one in said):
                return None
            return self.listening.feedback(waiting.request_id, Signal.NO_ENGAGEMENT.value, found_by=CITEWELL)
        except UsageError:
            # Its asker was erased, or its time in the log has ended.
            return None


def _has_next(turns: Sequence[Trace], request_id: str) -> bool:
    places = [n for n, turn in enumerate(turns) if turn.request_id == request_id]
    return bool(places) and places[0] + 1 < len(turns)


def _seconds(before: str, now: str) -> float:
    return abs((datetime.fromisoformat(now) - datetime.fromisoformat(before)).total_seconds())
