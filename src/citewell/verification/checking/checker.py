"""Check a draft: bind every claim to exact spans, judge it, roll up the verdicts, and repair or refuse.

In: a question, a draft and the passages it was written from. Out: :class:`Checked`, with the text that may be
shown under the policy for unsupported claims (``flag``, ``drop``, ``withhold``). In order:

    1. quotes and labels are located; words in quotation marks count as quotes   (BROKEN, with the reason)
    2. each claim is judged against all its citations together; one without citations is judged
       against everything (:mod:`citewell.verification.checking.judging`) (``post-hoc``)
    3. an unsupported claim is tried once on the other passages; a claim supported by its passage but not
       by its quote gets a better span; both are noted (``post-hoc``)
    4. a claim still unsupported is split: supported parts with an unsupported connection (``synthesised``)
    5. the hallucination gap is measured against all passages together, cited or not

Verdict precedence: BROKEN, CONTRADICTED, UNCHECKED, VERIFIED (all citations jointly), UNSUPPORTED. A broken
or contradicted claim is never shown as supported under any policy. Independent of retrieval, generation and
confidence.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import msgspec

from citewell.core.config import Verification
from citewell.core.ports import EvidenceStore, Requote
from citewell.core.records import (
    Citation,
    Claim,
    Draft,
    DraftClaim,
    Failure,
    Kind,
    Measure,
    Passage,
    Record,
    Status,
)
from citewell.core.sentences import line_span
from citewell.questions.naming import of_another
from citewell.questions.parsing import read_question
from citewell.verification.checking.citations import Library, quoted_evidence
from citewell.verification.checking.judging import (
    CITED_AFTERWARDS,
    ClaimState,
    Judging,
    citation_key,
    drafted_states,
    locate_words,
    passages_of,
    quoted_words,
    rank_by_overlap,
    split_connection,
    status_of,
)
from citewell.verification.evidence import ClaimEvidence
from citewell.verification.verifier import Verifier
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
    """``coverage``: expected share of aspects that verified claims answer. ``missing``: the others.

    ``failure`` is "", ``citation_broken`` or ``hallucination_detected``; the first outranks the second.
    ``requotable``: claims BROKEN only by their quote, each with words that support it; they stay BROKEN.
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
        """Claims that must be corrected; passed to the single, stricter retry."""
        return tuple(c.text for c in self.claims if c.verdict.status in _FAILING and not _plain(c))

    @property
    def contradicted(self) -> bool:
        return any(claim.verdict.status is Status.CONTRADICTED for claim in self.claims)


def nothing_to_check(aspects: Sequence[str] = ()) -> Checked:
    """The result when nothing was written: not a pass; only coverage is measured, and it is zero."""
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
    """1 - entailed/n, where entailed means by all passages together; None when n is 0."""
    known = [held for held in entailed if held is not None]
    unscored = len(claims) - len(known)
    note = f"{unscored} unchecked" if unscored else ""
    value = 1.0 - sum(known) / len(known) if known else None
    return Measure(value=value, n=len(known), maker="citewell-verifier/1", note=note)


def measure_coverage(
    aspects: Sequence[str], claims: Sequence[Claim], missing: Sequence[str]
) -> tuple[Measure, tuple[str, ...]]:
    """(expected share of aspects answered, aspects that no verified claim addresses). A verified claim
    counts with the probability that it answers, since a true, quoted claim may still miss the point. A claim
    that names no aspect addresses those it shares words with, or the only one; a claim that names another
    aspect addresses those it shares more words with than with its own. A claim about a subject other than
    the one an aspect names does not address that aspect."""
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
    """Compare by words, whichever part of the question the writer assigned the claim to."""
    shared = overlap(aspect, claim.text)
    return shared >= 0.3 and (not claim.aspect or shared > overlap(claim.aspect, claim.text))


def shown(
    text: str, drafted: Sequence[DraftClaim], claims: Sequence[Claim], policy: str
) -> tuple[str, tuple[bool, ...]]:
    """(the text to show, which claims are in it). ``drafted`` has each claim's offsets in ``text``."""
    refused = [c.verdict.status is not Status.VERIFIED and not _plain(c) for c in claims]
    if policy == "withhold" and any(refused):
        return "", tuple(False for _ in claims)
    visible = [True] * len(claims)
    for index in reversed(range(len(claims))):
        claim, place = claims[index], drafted[index]
        if claim.verdict.status is Status.VERIFIED:
            continue
        mark = MARKS[claim.verdict.status] if refused[index] else _inference(claim)
        if policy == "drop" and refused[index] and claim.verdict.status is not Status.UNCHECKED:
            text = _without(text, place.start, place.end)
            visible[index] = False
        elif not text[place.end :].lstrip(" .").startswith(mark):
            text = f"{text[: place.end].rstrip()} {mark}{text[place.end :]}"
    return text.strip(), tuple(visible)


def _plain(claim: Claim) -> bool:
    """A valid inference: its quotes are real and no source contradicts it."""
    wrong = claim.verdict.status in {Status.CONTRADICTED, Status.BROKEN}
    return claim.kind is Kind.INFERENCE and not wrong


def _inference(claim: Claim) -> str:
    """Mark for the writer's own conclusion, with its reasoning if given."""
    return f"[inference: {' '.join(claim.reasoning.split())}]" if claim.reasoning.strip() else "[inference]"


def _without(text: str, start: int, end: int) -> str:
    """Remove the claim, and the whole line if nothing else of substance is on it."""
    line_start, line_end = line_span(text, start, end)
    frame, rest = text[line_start:start], text[end:line_end]
    framed = not re.search(r"[.!?]\s*$", frame) and not any(ch.isalnum() for ch in rest)
    if framed:
        return text[:line_start] + text[min(line_end + 1, len(text)) :]
    return text[:start].rstrip(" ") + (" " if rest.strip() else "") + text[end:].lstrip(" ")


def try_other_passages(judging: Judging, states: Sequence[ClaimState], *, mend: bool) -> list[ClaimState]:
    """Try claims that their own citations do not support on the other passages, one at a time."""
    offers: list[tuple[int, Passage]] = []
    for index, state in enumerate(states):
        if status_of(state) is Status.UNSUPPORTED and passages_of(state):
            own = {passage.chunk.chunk_id for passage in passages_of(state)}
            others = [p for p in judging.library.usable if p.chunk.chunk_id not in own]
            offers += [(index, p) for p in rank_by_overlap(state.drafted.text, others)[:CITED_AFTERWARDS]]
    verdicts = judging.verifier.verify_many(
        [judging.evidence_for(states[index], (passage,)) for index, passage in offers]
    )
    result = list(states)
    for (index, passage), verdict in zip(offers, verdicts, strict=True):
        state = result[index]
        if (
            verdict.status is not Status.VERIFIED
            or status_of(state) is not Status.UNSUPPORTED
            or state.verdict is None
        ):
            continue
        name, cited_name = passage.chunk.document_id, passages_of(state)[0].chunk.document_id
        if mend:
            judging.notes.append(
                f"the draft cited {cited_name}, but {name} supports it: \u201c{state.drafted.text[:60]}\u201d"
            )
            result[index] = msgspec.structs.replace(
                state, cited=(judging.bind_passage(state, passage),), verdict=verdict, mode="post-hoc"
            )
        elif state.verdict.failure is None:
            reason = f"{state.verdict.reason}; {name} supports it, but the answer cites {cited_name}"
            failed = msgspec.structs.replace(state.verdict, reason=reason, failure=Failure.MISATTRIBUTED)
            result[index] = msgspec.structs.replace(state, verdict=failed)
    return result


def replace_weak_spans(judging: Judging, states: Sequence[ClaimState]) -> list[ClaimState]:
    """Give a better span to claims that their passage supports but the words quoted from it do not."""
    weak = [
        (index, quoted_evidence(state.cited, judging.library))
        for index, state in enumerate(states)
        if status_of(state) is Status.VERIFIED
        and any(cited.quote.text and cited.spans for cited in state.cited)
        and judging.exact(state) is None
    ]
    asked = [judging.evidence_from(states[index], evidence) for index, evidence in weak]
    result = list(states)
    for (index, evidence), verdict in zip(weak, judging.verifier.verify_many(asked), strict=True):
        if verdict.status is Status.VERIFIED:
            continue
        state = result[index]
        better = tuple(judging.bind_passage(state, passage) for passage in passages_of(state))
        better = tuple(cited for cited in better if cited.spans)
        if better and quoted_evidence(better, judging.library) != evidence:
            judging.notes.append(
                f"another passage than the quoted one supports \u201c{state.drafted.text[:60]}\u201d"
            )
            result[index] = msgspec.structs.replace(state, cited=better, mode="post-hoc")
    return result


def mark_synthesised(judging: Judging, states: Sequence[ClaimState]) -> list[ClaimState]:
    """Mark claims as synthesised if every part is supported but no source connects them."""
    result = list(states)
    for index, state in enumerate(states):
        if status_of(state) is not Status.UNSUPPORTED or state.verdict is None or state.verdict.failure:
            continue
        parts = split_connection(state.drafted.text)
        if len(parts) < 2:
            continue
        evidence = judging.evidence_for(state, judging.closest(state)).evidence
        # A later part depends on the earlier parts of its claim ("Its rival Beta grew because it ...").
        said = [" ".join((state.drafted.antecedent, *parts[:at])).strip() for at in range(len(parts))]
        verdicts = judging.verifier.verify_many(
            [
                ClaimEvidence(claim=part, evidence=evidence, antecedent=before)
                for part, before in zip(parts, said, strict=True)
            ]
        )
        if all(verdict.status is Status.VERIFIED for verdict in verdicts):
            failed = msgspec.structs.replace(
                state.verdict, failure=Failure.SYNTHESISED,
                reason="its parts are supported, but no source connects them this way",
            )  # fmt: skip
            result[index] = msgspec.structs.replace(state, verdict=failed)
    return result


class Checker:
    """``settings`` holds thresholds, span lengths and the policy for unsupported claims."""

    def __init__(self, verifier: Verifier, evidence: EvidenceStore, settings: Verification) -> None:
        self._verifier, self._evidence, self._settings = verifier, evidence, settings

    def check(
        self,
        question: str,
        aspects: Sequence[str],
        draft: Draft,
        passages: Sequence[Passage],
        *,
        mend: bool = True,
        quotations: bool = True,
    ) -> Checked:
        """With ``quotations`` off, words in quotation marks are left to the entailer. With ``mend`` on, a
        claim that its own citation does not support may be re-cited to another passage (noted); with it
        off, support in another passage is reported as misattribution."""
        library = Library(passages, self._evidence)
        judging = Judging(
            question=question, library=library, verifier=self._verifier, settings=self._settings
        )
        states = [
            self._located(state, library, quotations=quotations) for state in drafted_states(draft, library)
        ]
        states = judging.judge(states)
        states = try_other_passages(judging, states, mend=mend)
        states = replace_weak_spans(judging, states) if mend else states
        states = mark_synthesised(judging, states)
        entailed = judging.entailed(states)
        claims = tuple(self._claim(state, judging) for state in states)
        text, visible = shown(
            draft.text, [state.drafted for state in states], claims, self._settings.unsupported
        )
        claims = tuple(
            msgspec.structs.replace(claim, shown=seen) for claim, seen in zip(claims, visible, strict=True)
        )
        notes = [
            *judging.notes,
            *(
                f"{claim.verdict.status.value}: \u201c{claim.text[:120]}\u201d: {claim.verdict.reason}"
                for claim in claims
                if claim.verdict.status is not Status.VERIFIED
            ),
            *(
                f"left out of the answer: \u201c{claim.text[:120]}\u201d"
                for claim in claims
                if not claim.shown
            ),
        ]
        coverage, missing = measure_coverage(aspects, claims, draft.missing)
        return Checked(
            claims=claims,
            shown_text=text,
            coverage=coverage,
            hallucination_gap=measure_gap(claims, entailed),
            missing=tuple(dict.fromkeys((*draft.missing, *missing))),
            notes=tuple(notes),
            failure=failure_of(claims),
            requotable=_requotable(judging, states, entailed) if mend else (),
        )

    @staticmethod
    def _located(state: ClaimState, library: Library, *, quotations: bool) -> ClaimState:
        cited = [library.locate(quote) for quote in state.drafted.quotes]
        if quotations:
            named = [c for c in cited if c.passage]
            cited += [locate_words(words, named, library) for words in quoted_words(state.drafted)]
        mode = "generated" if state.drafted.quotes else "post-hoc"
        return msgspec.structs.replace(
            state, cited=tuple(c for c in cited if c.passage or c.broken), mode=mode
        )

    def _claim(self, state: ClaimState, judging: Judging) -> Claim:
        assert state.verdict is not None  # noqa: S101 - every claim was judged or broken
        verdict = state.verdict
        cited = [
            judging.bind_passage(state, c.passage) if c.passage and not c.spans and not c.broken else c
            for c in state.cited
        ]
        if ocr := judging.library.read_by_ocr(cited):
            verdict = msgspec.structs.replace(verdict, reason="; ".join(filter(None, (verdict.reason, ocr))))
        citations: list[Citation] = []
        for one in dict.fromkeys(citation_key(c) for c in cited):
            chosen = next(c for c in cited if citation_key(c) == one)
            citations += judging.library.citations(
                chosen, state.drafted, verdict, self._settings, mode=state.mode
            )
        kind = state.drafted.kind
        if kind is not Kind.INFERENCE:
            kind = Kind.CITED if citations else Kind.UNSUPPORTED
        return Claim(
            text=state.drafted.text, kind=kind, answer_start=state.drafted.start,
            answer_end=state.drafted.end, verdict=verdict, citations=tuple(citations),
            aspect=state.drafted.aspect, answers=state.drafted.answers, reasoning=state.drafted.reasoning,
            antecedent=state.drafted.antecedent,
        )  # fmt: skip


def _requotable(
    judging: Judging, states: Sequence[ClaimState], entailed: Sequence[bool | None]
) -> tuple[Requote, ...]:
    """Claims that failed only because of their quote, each with words of a passage that support it."""
    return tuple(
        Requote(claim=state.drafted.text, quote=quote)
        for state, held in zip(states, entailed, strict=True)
        if held and state.broken and state.broken.failure and (quote := judging.supporting_quote(state))
    )
