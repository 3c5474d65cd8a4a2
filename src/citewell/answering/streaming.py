"""The events that a listener receives while an answer is made, including withdrawals.

    stage            what the pass is starting to do, in words, on how much of what, and when
    search_results   the passages found so far, before they are read; the next such event replaces them
    claim            a complete claim, provisional; never a half-written marker
    verdict          on a claim: first provisional, checked alone, then (``final``) with the whole
    answer correction       a claim is withdrawn, with the reason
    decision         ANSWER, PARTIAL or ABSTAIN, after the record is sealed
    done             the Answer

In: drafts as they grow, the check of a claim, the log. Out: events. Before a claim is sent, a notice with its
hash is durable in the log; the record says which claims were shown and which withdrawn. Independent of models
and transports.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from enum import StrEnum
from typing import Any

import msgspec

from citewell.answering.journal import Journal
from citewell.core.identity import hash_value
from citewell.core.records import (
    Answer,
    Claim,
    Decision,
    Draft,
    DraftClaim,
    Passage,
    Record,
    Status,
    Streamed,
)

DOING = {
    "retrieval": "Finding and reading passages",
    "broadened retrieval": "Searching more widely",
    "generation": "Writing from the passages",
    "stricter retry": "Writing again without what failed",
    "retrieval for missing aspects": "Searching for what is missing",
    "verification": "Checking each claim against its source",
    "search with the claims": "Searching for sources that say otherwise",
    "reading": "Reading what may answer",
    "answer check": "Checking that it answers the question",
    "consistency": "Comparing with other tries",
}
"""The stages that may keep an asker waiting."""
WORKS_ON: Mapping[str, tuple[str, Callable[[Journal], int]]] = {
    "reading": ("passage", lambda journal: len(journal.passages)),
    "generation": ("passage", lambda journal: sum(bool(one.relevant) for one in journal.passages)),
    "verification": ("claim", lambda journal: len(journal.draft.claims) if journal.draft else 0),
}
"""Stage -> what it works on, and how many of these there are."""


class EventKind(StrEnum):
    STAGE = "stage"
    SEARCH_RESULTS = "search_results"
    CLAIM = "claim"
    VERDICT = "verdict"
    CORRECTION = "correction"
    DECISION = "decision"
    DONE = "done"


class Event(Record, frozen=True, kw_only=True):
    """``number`` counts the claims of a stream from 1 and identifies a claim in all its events. ``count`` is
    of what a stage works on (0: unknown), ``elapsed_ms`` the time from the start of the request to it."""

    kind: EventKind
    number: int = 0
    text: str = ""
    count: int = 0
    elapsed_ms: float = 0.0
    claim: Claim | None = None
    final: bool = False
    reason: str = ""
    passages: tuple[Passage, ...] = ()
    decision: Decision | None = None
    answer: Answer | None = None


Tell = Callable[[Event], None]
Seal = Callable[[Mapping[str, Any]], object]


class Streaming:
    """The stream of one request. ``seal`` makes a notice durable; if it raises, the claim is not shown."""

    def __init__(self, tell: Tell, seal: Seal, journal: Journal) -> None:
        self._tell, self._seal, self._journal = tell, seal, journal
        self._shown: list[Streamed] = []
        self._live: list[int] = []  # indices into _shown of the draft being written, in its order
        # A try that timed out may still be streaming when the next one begins.
        self._lock = threading.RLock()

    def begins(self, stage: str) -> None:
        if stage not in DOING:
            return
        what, of = WORKS_ON.get(stage, ("", lambda _: 0))
        count = of(self._journal)
        text = f"{DOING[stage]} ({count} {what}{'s' if count > 1 else ''})" if count else DOING[stage]
        elapsed_ms = self._journal.total_ms
        self._tell(Event(kind=EventKind.STAGE, text=text, count=count, elapsed_ms=elapsed_ms))

    def found(self, passages: tuple[Passage, ...]) -> None:
        self._tell(Event(kind=EventKind.SEARCH_RESULTS, passages=passages))

    def again(self, reason: str) -> None:
        """Another draft begins: claims that it does not repeat are withdrawn when the answer is settled."""
        self._live = []
        self._journal.note(f"streaming continues with another draft: {reason}")

    def emit(self, draft: Draft, check: Callable[[DraftClaim], Claim]) -> None:
        """Shows the new claims of a growing draft; one that starts over differently withdraws the rest."""
        with self._lock:
            for place, drafted in enumerate(draft.claims):
                if place < len(self._live):
                    if self._shown[self._live[place]].text == drafted.text:
                        continue
                    for lost in self._live[place:]:
                        self._withdraw(lost, "the writer started again")
                    del self._live[place:]
                if (known := self._standing(drafted.text)) is not None:
                    self._live.append(known)
                    continue
                self._live.append(self._show(drafted))
                self._judge(self._live[-1], check(drafted))

    def _standing(self, text: str) -> int | None:
        """The index of a claim shown by an earlier draft and not withdrawn: it is not shown twice."""
        places = (place for place, shown in enumerate(self._shown) if shown.text == text)
        return next((p for p in places if not self._shown[p].withdrawn and p not in self._live), None)

    def settle(self, answer: Answer) -> None:
        """Confirms or withdraws every claim shown, shows again those withdrawn earlier that are in the answer
        after all, then sends the decision and the answer."""
        streamed = {shown.text for shown in self._shown if not shown.withdrawn}
        for place, shown in enumerate(self._shown):
            if shown.withdrawn:
                continue
            claim, reason = _outcome(shown, answer.claims)
            if reason:
                self._withdraw(place, reason)
            else:
                self._tell(Event(kind=EventKind.VERDICT, number=shown.number, claim=claim, final=True))
        fresh = [claim for claim in answer.claims if claim.shown and claim.text not in streamed]
        for number, claim in enumerate(fresh, len(self._shown) + 1):
            self._tell(Event(kind=EventKind.CLAIM, number=number, text=claim.text))
            self._tell(Event(kind=EventKind.VERDICT, number=number, claim=claim, final=True))
        reasons = answer.confidence.reasons
        self._tell(
            Event(kind=EventKind.DECISION, decision=answer.decision, reason=reasons[0] if reasons else "")
        )
        self._tell(Event(kind=EventKind.DONE, answer=answer))

    def fail(self, reason: str) -> None:
        """The pass ended in an error: everything shown is withdrawn."""
        for place, shown in enumerate(self._shown):
            if not shown.withdrawn:
                self._withdraw(place, reason)

    def note(self, claims: Sequence[Claim]) -> None:
        """Records which claims were shown before they were final, and which will be withdrawn."""
        self._journal.streamed = tuple(
            msgspec.structs.replace(shown, withdrawn=shown.withdrawn or _outcome(shown, claims)[1])
            for shown in self._shown
        )

    def _show(self, drafted: DraftClaim) -> int:
        number = len(self._shown) + 1
        # Made durable first, so that a stream without a record still shows how far it got.
        body = {"request_id": self._journal.request_id, "streamed": number}
        self._seal(body | {"claim": hash_value([self._journal.request_id, number, drafted.text])})
        self._shown.append(Streamed(number=number, text=drafted.text, status=Status.UNCHECKED))
        self._tell(Event(kind=EventKind.CLAIM, number=number, text=drafted.text))
        return number - 1

    def _judge(self, place: int, claim: Claim) -> None:
        shown = msgspec.structs.replace(self._shown[place], status=claim.verdict.status)
        self._shown[place] = shown
        self._tell(Event(kind=EventKind.VERDICT, number=shown.number, claim=claim))

    def _withdraw(self, place: int, reason: str) -> None:
        shown = msgspec.structs.replace(self._shown[place], withdrawn=reason or "withdrawn")
        self._shown[place] = shown
        self._tell(Event(kind=EventKind.CORRECTION, number=shown.number, text=shown.text, reason=reason))


def _outcome(shown: Streamed, claims: Sequence[Claim]) -> tuple[Claim | None, str]:
    """(the matching claim of the answer, why it is withdrawn): only verified claims stay."""
    claim = next((claim for claim in claims if claim.text == shown.text), None)
    if claim is None:
        return None, "it is not part of the answer"
    if claim.verdict.status is not Status.VERIFIED:
        return claim, claim.verdict.reason or claim.verdict.status.value
    return claim, "" if claim.shown else "the answer is withheld"


def stream_events(work: Callable[[Tell], object]) -> Iterator[Event]:
    """The events of ``work``, which runs to its end in its own thread whether or not anybody listens; what
    it raises is raised here."""
    waiting: queue.SimpleQueue[Event | BaseException | None] = queue.SimpleQueue()

    def run() -> None:
        try:
            work(waiting.put)
        except BaseException as error:  # noqa: BLE001 - re-raised in the listener
            waiting.put(error)
        else:
            waiting.put(None)

    thread = threading.Thread(target=run, name="citewell-stream")
    thread.start()
    try:
        while (event := waiting.get()) is not None:
            if isinstance(event, BaseException):
                raise event
            yield event
    finally:
        thread.join()
