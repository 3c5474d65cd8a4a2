"""How an answer is printed: the text, each claim with its state and spans, the numbers, the record.

In: an Answer. Out: lines. Text of documents and of models passes through ``printing.visible``.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterable

from citewell.answering.streaming import Event, EventKind
from citewell.cli.printing import say
from citewell.core.records import Answer, Citation, Claim, Kind, Measure, Status, Verdict
from citewell.core.vocabulary import ocr_of, readable_name, state_of_verdict

_WIDTH = 100


def print_answer(answer: Answer) -> None:
    if answer.asked_as:
        say(f"understood as: {answer.asked_as}")
    say(marked(answer))
    say()
    print_claims(answer.claims)
    if answer.nearest:
        say("nearest passages, not verified to answer:")
        for place in answer.nearest:
            say(f"    {_where(place)}{place.ocr and f', {place.ocr}'}")
            for line in textwrap.wrap(" ".join(place.quote.split()), _WIDTH - 8):
                say(f"        {line}")
    for aspect in answer.missing:
        say(f"missing  {aspect}")
    for conflict in answer.conflicts:
        what = "conflict" if conflict.supersession is None else "not in force:"
        say(f"{what} {conflict.about}")
        for number, side in enumerate(conflict.sides):
            dated = conflict.dates[number] if number < len(conflict.dates) else ""
            about = ", ".join(filter(None, (_where(side), dated, side.ocr)))
            say(f"    {about}: “{side.quote}”")
    report = answer.confidence
    say(f"decision {answer.decision.value} ({readable_name(answer.decision.value).lower()})")
    for reason in report.reasons:
        say(f"    {reason}")
    overall = "not measured" if report.overall is None else f"{report.overall:.2f}"
    say(f"confidence {overall}")
    for name, measure in (
        ("retrieval", report.retrieval_score),
        ("coverage", report.coverage_score),
        ("entailment", report.entailment_score),
        ("consistency", report.consistency_score),
    ):
        say(f"    {name:<12}{_measure(measure)}")
    say(f"    {readable_name('hallucination_gap').lower()} {_measure(report.hallucination_gap)}")
    if report.card:
        say(f"card    {report.card}")
    if report.card_note:
        say(f"WARNING {report.card_note}")
    say(f"record  {answer.request_id} (session {answer.session_id})")
    say(f"sealed  {answer.record_hash}")


def print_event(event: Event) -> None:
    """Prints a progress line while the answer is being written. A claim is provisional until its verdict is
    final; the answer itself is printed when it is complete."""
    lines = {
        EventKind.STAGE: f"{event.text} …",
        EventKind.SEARCH_RESULTS: f"{len(event.passages)} passages",
        EventKind.CLAIM: f"{event.number:>2}. … {' '.join(event.text.split())}",
        EventKind.VERDICT: f"{event.number:>2}. {_heard(event)}",
        EventKind.CORRECTION: f"{event.number:>2}. withdrawn: {event.reason}",
        EventKind.DECISION: f"decision {event.decision.value if event.decision else ''}\n",
    }
    if event.kind in lines:
        say(lines[event.kind])


def _heard(event: Event) -> str:
    words = state(event.claim) if event.claim else ""
    return f"confirmed: {words}" if event.final else f"so far: {words}"


def marked(answer: Answer) -> str:
    """The text with ``[n]`` after each verified claim; n is the claim's number in the list below the
    answer."""
    text = answer.text
    for number, claim in sorted(enumerate(answer.claims, 1), key=lambda pair: -pair[1].answer_end):
        verified = claim.verdict.status is Status.VERIFIED and claim.shown
        if verified and text[claim.answer_start : claim.answer_end].strip():
            text = f"{text[: claim.answer_end]} [{number}]{text[claim.answer_end :]}"
    return text


def print_claims(claims: tuple[Claim, ...]) -> None:
    for number, claim in enumerate(claims, 1):
        shown = "" if claim.shown else ", not shown"
        say(f"{number:>2}. {state(claim)}{shown}")
        for line in textwrap.wrap(" ".join(claim.text.split()), _WIDTH - 4):
            say(f"    {line}")
        if claim.verdict.reason:
            say(f"    why: {claim.verdict.reason}")
        for citation in claim.citations:
            verdict = f" — {_verdict(citation.verdict, [citation])}" if citation.verdict else ""
            say(f"    {_where(citation)}{verdict}")
            say(f"      “{' '.join(citation.quote.split())}”")
        say()


def state(claim: Claim) -> str:
    """The claim's state in words; an inference is never called verified without saying what it is."""
    words = _verdict(claim.verdict, claim.citations)
    return f"inference, {words}" if claim.kind is Kind.INFERENCE else words


def _verdict(verdict: Verdict, citations: Iterable[Citation]) -> str:
    words = state_of_verdict(verdict).words.lower()
    if ocr := ocr_of(citations):
        words += f", {ocr}"
    if verdict.failure is not None:
        words += f" ({verdict.failure.value})"
    if verdict.support is not None:
        words += f", support {verdict.support:.2f}"
    return words


def _where(citation: Citation) -> str:
    page = f", page {citation.page}" if citation.page else ""
    section = f", {' › '.join(citation.section_path)}" if citation.section_path else ""
    span = f" [{citation.start}:{citation.end}]" if citation.start >= 0 else ""
    return f"{citation.document_id}{page}{section}{span}"


def _measure(measure: Measure) -> str:
    if measure.value is None:
        return "not measured" + (f" ({measure.note})" if measure.note else "")
    return f"{measure.value:.2f} of {measure.n}"
