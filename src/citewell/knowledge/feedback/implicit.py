"""Implicit feedback: a question asked again, a correction.

In: a request that was just answered. Out: signals on earlier answers, found by Citewell. Runs after the
record is sealed and never fails the request: errors become notices in the log. The rules cover English only
and stay silent when in doubt, since every flag costs a person's time; each finds cases in
``benchmarks/turns.py`` that the others miss. Knows nothing about retrieval or verdicts.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from difflib import SequenceMatcher

from citewell.audit import EntryKind
from citewell.audit.keys import asker
from citewell.core.config import Feedback as Settings
from citewell.core.errors import LogError
from citewell.core.ports import Embedder
from citewell.core.records import Record, Trace
from citewell.knowledge.feedback.intake import Intake
from citewell.knowledge.feedback.signals import CITEWELL, Feedback, Signal
from citewell.questions.parsing import STOP
from citewell.verification.words import stem

_TURNS = 5
"""How many earlier questions of a session a new one is compared with, newest first."""

_IT = r"(?:it|that|this|these|those|they|he|she|there)"
_BE = r"(?:'s|'re| is| was| are| were| seems?| looks?| sounds?)"
_ANSWER = r"(?:the|your|that|this) (?:\w+ )?(?:answer|number|figure|value|date|year|source|result)"
_WRONG = (
    r"(?:wrong|incorrect|false|untrue|off|outdated|out of date|mistaken|a mistake|an error|nonsense"
    r"|not (?:right|correct|true|accurate|what i)|the wrong)"
)
_CORRECTIONS = tuple(
    (name, re.compile(pattern, re.IGNORECASE))
    for name, pattern in (
        # "No, I meant 2021." but not "No problem, ..."
        ("denial", r"^(?:no|nope|nah)(?:[,.;:!](?! *(?:thanks|problem|worries))|$)"),
        ("wrong", r"^(?:wrong|incorrect|false|not (?:true|right|correct|what i))\b"),
        ("wrong", rf"\b(?:{_ANSWER}|{_IT}){_BE} {_WRONG}\b"),
        ("wrong", r"\byou(?:'re| are| were) (?:wrong|mistaken|incorrect)\b"),
        ("wrong", rf"\b{_IT} (?:contradicts?|(?:doesn't|does not|didn't) (?:work|help|match|fit|answer))\b"),
        ("doubt", r"\bare you (?:really |quite )?(?:sure|certain)\b|^really\b|\bi doubt\b"),
        ("doubt", r"\bi (?:don't|do not) (?:think|believe) (?:so|that|this|it)\b"),
        ("doubt", r"\b(?:check|look|try) (?:it |that )?again\b|\bdouble[- ]check\b"),
        ("doubt", r"\bwhere (?:did|do) you (?:get|have) (?:that|this|it)\b"),
        ("meant", r"\bi (?:meant?|was asking|asked (?:for|about))\b|\bnot what i\b"),
        ("meant", r"\byou (?:misunderstood|misread|didn't answer|did not answer|haven't answered)\b"),
        ("other", r"^actually\b|\b(?:it|that|this) should (?:be|have been|read|say)\b"),
        ("tag", rf"^(?:(?:was|is|were|are|did|does|do|should|has|have|would)n't) {_IT}\b"),
    )
)
"""Patterns for the next turn, in the order tried; they see only that turn's text."""

_OPPOSED = re.compile(
    r"\b(?:but|actually|i thought|i (?:calculate|get|read|see|find)|says?|said|instead|rather|not"
    r"|(?:was|is|does|did|should|were|are)n't)\b",
    re.IGNORECASE,
)
"""Together with a value found in neither question nor answer, a contradiction."""

_KINDS = {
    **{word: word for word in ("when", "where", "why")},
    **dict.fromkeys(("who", "whom", "whose"), "who"),
    **dict.fromkeys(("much", "many"), "amount"),
}
"""Question words that ask for one kind of thing."""
_COMPUTED = frozenset(("percentage", "average", "mean", "difference", "ratio", "total", "change"))
"""Words that change the figure asked for when added or removed."""
_WORD = re.compile(r"\d+(?:[.,]\d+)*|[^\W\d_]+(?:'[^\W\d_]+)?")


class Detected(Record, frozen=True, kw_only=True):
    """A signal and the rule that found it; ``cosine`` if the embedder was used."""

    signal: Signal
    rule: str
    cosine: float | None = None


@dataclass(frozen=True, kw_only=True)
class ImplicitFeedback:
    """Implicit feedback for one home. ``embedder`` is called only when words do not decide."""

    intake: Intake
    settings: Settings
    embedder: Callable[[], Embedder]

    def turn(self, session_id: str, request_id: str, user: str) -> Feedback | None:
        """What a turn says about the session's earlier answers; sealed as a signal on one of them.

        Only the same user's turns count: knowing a session's id must not let anyone speak for another user.
        """
        try:
            return self._turn(session_id, request_id, user)
        except Exception as error:  # noqa: BLE001 - the question is answered and sealed, whatever this does
            told = {"request_id": request_id, "feedback": f"{type(error).__name__}: {error}"}
            # The next answer will report a log that cannot be written.
            with suppress(LogError):
                self.intake.log.note(EntryKind.NOTICE, told, subject=asker(user, session_id))
            return None

    def _turn(self, session_id: str, request_id: str, user: str) -> Feedback | None:
        turns = self.intake.traces.session(session_id)
        place = next((n for n, turn in enumerate(turns) if turn.request_id == request_id), 0)
        earlier = [turn for turn in turns[max(0, place - _TURNS) : place] if turn.final_returned][::-1]
        for number, before in enumerate(earlier):
            found = self._detected(before, turns[place], directly=number == 0)
            if found and self.intake.log.record(before.request_id).user == user:
                return self._say(before, turns[place], found)
        return None

    def _detected(self, before: Trace, now: Trace, *, directly: bool) -> Detected | None:
        """A correction must directly follow its answer; a repeated question may come later."""
        settings = self.settings
        took = datetime.fromisoformat(now.timestamp) - datetime.fromisoformat(before.timestamp)
        apart = abs(took.total_seconds())
        if directly and apart <= settings.correction_window_s > 0:
            found = correction(before.query, before.final_returned, now.query)
            if found is not None:
                return found
        if apart > settings.rephrase_window_s or settings.rephrase_window_s <= 0:
            return None
        return rephrasing(before.query, now.query, self._cosine, settings)

    def _say(self, before: Trace, now: Trace, found: Detected) -> Feedback:
        meta = {"rule": found.rule, "following": now.request_id}
        if found.cosine is not None:
            meta |= {"cosine": f"{found.cosine:.3f}", "embedder": self.embedder().maker.name}
        return self.intake.feedback(before.request_id, found.signal.value, meta=meta, found_by=CITEWELL)

    def _cosine(self, first: str, second: str) -> float:
        one, other = self.embedder().embed([first, second])
        return float(one @ other)


def correction(question: str, answer: str, following: str) -> Detected | None:
    """Detects that the next turn says the answer was wrong."""
    said = " ".join(following.replace("\u2019", "'").split())
    for name, pattern in _CORRECTIONS:
        if pattern.search(said):
            return Detected(signal=Signal.FOLLOW_UP_CORRECTION, rule=name)
    other = _values(said) - _values(question) - _values(answer)
    if other and _values(answer) and _OPPOSED.search(said):
        return Detected(signal=Signal.FOLLOW_UP_CORRECTION, rule="another value")
    return None


def rephrasing(
    question: str, following: str, cosine: Callable[[str, str], float], settings: Settings
) -> Detected | None:
    """Detects that the next turn asks the same question again or in other words. ``cosine`` is called only
    where words do not decide."""
    first, second = _words(question), _words(following)
    if first == second:
        return Detected(signal=Signal.REPHRASED_QUERY, rule="repeated") if first else None
    before, after = _content(first), _content(second)
    if not before or not after or _asks_for_another(first, second):
        return None
    if len(before & after) / len(before | after) < settings.rephrase_overlap:
        return None
    alike = cosine(question, following)
    if alike < settings.rephrase_cosine:
        return None
    return Detected(signal=Signal.REPHRASED_QUERY, rule="similar", cosine=alike)


def _asks_for_another(first: list[str], second: list[str]) -> bool:
    """True for the same wording with one thing replaced (year, name, side), or another kind of question."""
    kinds, other_kinds = ({_KINDS[word] for word in said if word in _KINDS} for said in (first, second))
    if kinds and other_kinds and kinds != other_kinds:
        return True
    if (set(first) ^ set(second)) & _COMPUTED:
        return True
    numbers, other_numbers = ({word for word in said if word[0].isdigit()} for said in (first, second))
    if numbers and numbers != other_numbers:
        return True
    matcher = SequenceMatcher(None, first, second, autojunk=False)
    changes = [change for change in matcher.get_opcodes() if change[0] != "equal"]
    if len(changes) != 1 or changes[0][0] != "replace":
        return False
    _, start, end, other_start, other_end = changes[0]
    gone, come = _content(first[start:end]), _content(second[other_start:other_end])
    # ``dose`` for ``dosage``, or ``what`` for ``which``, does not count as a replacement.
    return bool(gone and come) and {word[:3] for word in gone} != {word[:3] for word in come}


def _values(text: str) -> set[str]:
    return {
        word.rstrip("0").rstrip(".") if "." in word else word for word in _words(text) if word[0].isdigit()
    }


def _words(text: str) -> list[str]:
    """Words in order, lower case, without possessives; numbers without commas."""
    lowered = text.casefold().replace("\u2019", "'").replace("'s", "")
    return [word.replace(",", "") for word in _WORD.findall(lowered)]


def _content(words: Iterable[str]) -> frozenset[str]:
    return frozenset(stem(word) for word in words if word not in STOP)
