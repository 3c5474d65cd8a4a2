"""The seven things users do that tell of an answer's worth, and the flags that stand because of them.

In: what was done, to which answer. Out: values. Knows nothing about stores or records.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import StrEnum

from citewell.core.records import Record


class Signal(StrEnum):
    """The first two, of one person on one thing, replace each other; the last two are signs of checking."""

    THUMBS_DOWN = "thumbs_down"
    THUMBS_UP = "thumbs_up"
    REPHRASED_QUERY = "rephrased_query"
    FOLLOW_UP_CORRECTION = "follow_up_correction"
    NO_ENGAGEMENT = "no_engagement"
    CITATION_OPENED = "citation_opened"
    COPIED = "copied"


THUMBS = frozenset({Signal.THUMBS_DOWN, Signal.THUMBS_UP})
TROUBLE = (
    Signal.THUMBS_DOWN,
    Signal.FOLLOW_UP_CORRECTION,
    Signal.REPHRASED_QUERY,
    Signal.NO_ENGAGEMENT,
)
"""Signals that people should look at, the plainest first."""

FAILING = "failing:"
"""Before the name of a stage in a flag: ``failing:retrieval``."""

USER, CITEWELL = "user", "citewell"


class Feedback(Record, frozen=True, kw_only=True):
    """One signal on one answer, or on its claim number ``claim`` (from 1; None for the whole answer).

    ``found_by`` is "user" for what somebody did on purpose and "citewell" for what was noticed. ``stage`` is
    what failed, as far as the record tells ("" when it does not), ``documents`` what the answer or the claim
    leaned on.
    """

    feedback_id: str
    request_id: str
    session_id: str
    user: str
    timestamp: str
    signal: Signal
    claim: int | None = None
    meta: dict[str, str] = {}
    found_by: str = USER
    stage: str = ""
    documents: tuple[str, ...] = ()


def standing(said: Iterable[Feedback]) -> tuple[Feedback, ...]:
    """What holds of the signals on one answer, oldest first: a thumb of the same person on the same thing
    takes the one before it back."""
    found: dict[tuple[object, ...], Feedback] = {}
    for one in said:
        about = ("thumb", one.user, one.claim) if one.signal in THUMBS else (one.feedback_id,)
        found.pop(about, None)
        found[about] = one
    return tuple(found.values())


def flags_of(said: Sequence[Feedback]) -> tuple[str, ...]:
    """The flags of an answer: its standing signals, then the stages that fail by them, each once."""
    holds = standing(said)
    signals = [one.signal.value for one in holds]
    stages = [FAILING + one.stage for one in holds if one.stage and one.signal in TROUBLE]
    return tuple(dict.fromkeys([*signals, *stages]))
