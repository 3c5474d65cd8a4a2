"""What a check leaves behind, and how it is shown.

In: checked claims and the draft they lie in. Out: :class:`Checked` with the text that may be shown under
the policy for claims without support (``flag``, ``drop``, ``withhold``). A broken or contradicted claim is
never shown as supported, whatever the policy. Knows nothing about models or evidence.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from citewell.core.ports import Requote
from citewell.core.records import Claim, DraftClaim, Kind, Measure, Record, Status
from citewell.questions.naming import of_another
from citewell.questions.parsing import read_question
from citewell.verification.words import overlap

NO_SUPPORT = "[no supporting passage found]"
MARKS = {
    Status.UNSUPPORTED: NO_SUPPORT,
    Status.CONTRADICTED: "[contradicted by its source]",
    Status.BROKEN: "[broken citation]",
    Status.UNCHECKED: "[not checked]",
}
_FAILING = (Status.BROKEN, Status.CONTRADICTED, Status.UNSUPPORTED)


class Checked(Record, frozen=True, kw_only=True):
    """``coverage``: aspects covered by a verified claim, over aspects. ``missing``: the others.

    ``failure`` is "", ``citation_broken`` or ``hallucination_detected``, the worst first. ``requotable``:
    claims that failed by their quote alone, each with words that carry it; they stay BROKEN all the same.
    """

    claims: tuple[Claim, ...]
    shown_text: str
    coverage: Measure
    hallucination_gap: Measure
    missing: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    failure: str = ""
    requotable: tuple[Requote, ...] = ()

    @property
    def failing(self) -> tuple[str, ...]:
        """Claims that must not stand as they are: what one stricter retry is told."""
        return tuple(c.text for c in self.claims if c.verdict.status in _FAILING and not _plain(c))

    @property
    def contradicted(self) -> bool:
        return any(claim.verdict.status is Status.CONTRADICTED for claim in self.claims)


def nothing_to_check(aspects: Sequence[str] = ()) -> Checked:
    """The outcome where nothing was written: not a pass, nothing measured but the coverage, which is none."""
    return Checked(
        claims=(), shown_text="", coverage=measure_coverage(aspects, (), aspects)[0],
        hallucination_gap=Measure(value=None, n=0, note="nothing to check"), missing=tuple(aspects),
    )  # fmt: skip


def failure_of(claims: Sequence[Claim]) -> str:
    statuses = {claim.verdict.status for claim in claims if not _plain(claim)}
    if Status.BROKEN in statuses:
        return "citation_broken"
    return "hallucination_detected" if statuses & {Status.CONTRADICTED, Status.UNSUPPORTED} else ""


def measure_gap(claims: Sequence[Claim], entailed: Sequence[bool | None]) -> Measure:
    """1 - entailed/n, where entailed means by all passages together; not measured when n is 0."""
    known = [held for held in entailed if held is not None]
    unscored = len(claims) - len(known)
    note = f"{unscored} unchecked" if unscored else ""
    value = 1.0 - sum(known) / len(known) if known else None
    return Measure(value=value, n=len(known), maker="citewell-verifier/1", note=note)


def measure_coverage(
    aspects: Sequence[str], claims: Sequence[Claim], missing: Sequence[str]
) -> tuple[Measure, tuple[str, ...]]:
    """(the expected share of aspects that are answered, the aspects that nothing verified speaks to). A
    verified claim counts with the probability that it answers: what is true and quoted may still be beside
    the point. One that names no aspect speaks to those it shares words with, or to the only one there is;
    one that names another aspect, to those it shares more words with than with that one; one about another
    thing than an aspect names, not to that aspect."""
    verified = [claim for claim in claims if claim.verdict.status is Status.VERIFIED]
    speaking = {
        aspect: _speaking(aspect, verified, len(aspects)) for aspect in aspects if aspect not in missing
    }
    lacking = tuple(aspect for aspect in aspects if not speaking.get(aspect))
    expected = [
        max(1.0 if claim.answers is None else claim.answers for claim in found)
        for found in speaking.values()
        if found
    ]
    value = sum(expected) / len(aspects) if aspects else None
    return Measure(value=value, n=len(aspects), maker="citewell-coverage/2"), lacking


def _speaking(aspect: str, verified: Sequence[Claim], aspects: int) -> list[Claim]:
    wanted = read_question(aspect)
    verified = [claim for claim in verified if not of_another(wanted, f"{claim.antecedent} {claim.text}")]
    named = [claim for claim in verified if claim.aspect == aspect]
    if named:
        return named
    return [claim for claim in verified if (not claim.aspect and aspects == 1) or _nearer(claim, aspect)]


def _nearer(claim: Claim, aspect: str) -> bool:
    """By its words, whatever part of the question the writer says it is for."""
    shared = overlap(aspect, claim.text)
    return shared >= 0.3 and (not claim.aspect or shared > overlap(claim.aspect, claim.text))


def shown(
    text: str, drafted: Sequence[DraftClaim], claims: Sequence[Claim], policy: str
) -> tuple[str, tuple[bool, ...]]:
    """(the text to show, which claims are in it). ``drafted`` gives each claim's place in ``text``."""
    failed = [claim.verdict.status is not Status.VERIFIED for claim in claims]
    plain = [_plain(claim) for claim in claims]
    if policy == "withhold" and any(
        bad and not inference for bad, inference in zip(failed, plain, strict=True)
    ):
        return "", tuple(False for _ in claims)
    visible = [True] * len(claims)
    for index in range(len(claims) - 1, -1, -1):
        claim, place = claims[index], drafted[index]
        if not failed[index]:
            continue
        mark = _inference(claim) if plain[index] else MARKS[claim.verdict.status]
        if policy == "drop" and not plain[index] and claim.verdict.status is not Status.UNCHECKED:
            text = _without(text, place.start, place.end)
            visible[index] = False
        elif not text[place.end :].lstrip(" .").startswith(mark):
            text = f"{text[: place.end].rstrip()} {mark}{text[place.end :]}"
    return text.strip(), tuple(visible)


def _plain(claim: Claim) -> bool:
    """A conclusion that stands as one: its quotes are real and no source denies it."""
    wrong = claim.verdict.status in {Status.CONTRADICTED, Status.BROKEN}
    return claim.kind is Kind.INFERENCE and not wrong


def _inference(claim: Claim) -> str:
    """Said to be the writer's own conclusion, with how it was reached when it says so."""
    return f"[inference: {' '.join(claim.reasoning.split())}]" if claim.reasoning.strip() else "[inference]"


def _without(text: str, start: int, end: int) -> str:
    """Without the claim and, when nothing else is on its line, without the line's frame."""
    line_start = text.rfind("\n", 0, start) + 1
    line_end = text.find("\n", end)
    line_end = len(text) if line_end < 0 else line_end
    frame, rest = text[line_start:start], text[end:line_end]
    framed = not re.search(r"[.!?]\s*$", frame) and not any(ch.isalnum() for ch in rest)
    if framed:
        return text[:line_start] + text[min(line_end + 1, len(text)) :]
    return text[:start].rstrip(" ") + (" " if rest.strip() else "") + text[end:].lstrip(" ")
