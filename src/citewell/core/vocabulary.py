"""The words for claims, decisions, causes and measures: one table each, read by pages, filters, charts,
commands and notebooks, so that everything has one name everywhere.

In: values of the domain. Out: a state or a name. Each state has words, a colour (its CSS class) and a shape
(its symbol in the pages' ``shapes.svg``). Knows nothing about HTML.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from typing import NamedTuple

from citewell.core.records import (
    AuditRecord,
    Citation,
    Claim,
    ConfidenceReport,
    Decision,
    Document,
    Kind,
    Maker,
    Measure,
    Proof,
    Status,
    Verdict,
    read_by_ocr,
)


class State(NamedTuple):
    """``name`` is the CSS class and the symbol; ``meaning`` explains the words."""

    name: str
    words: str
    meaning: str


_STATES = {
    "verbatim": ("Verified verbatim", "The source contains these words, character by character."),
    "entailed": ("Verified by entailment", "A separate model judged that the cited passage says this."),
    "numeric": (
        "Verified by numbers",
        "The cited row or sentence contains each of its numbers, units and dates.",
    ),
    "computed": (
        "Calculated from cited values",
        "An arithmetic result: every input is cited, and the checker repeated the calculation.",
    ),
    "human": ("Verified by a person", "A person looked at the source and confirmed it."),
    "inference": ("Inference", "A conclusion drawn from the sources; no passage states it directly."),
    "unsupported": (
        "No supporting passage found",
        "None of the passages found says this. It may be true, but nothing here supports it.",
    ),
    "contradicted": ("Contradicted", "A source says the opposite, so it is not part of the answer."),
    "broken": ("Broken citation", "The cited source does not contain the quoted words."),
    "withdrawn": ("Withdrawn", "Shown while the answer was being written, then removed."),
    "unchecked": ("Unchecked", "It could not be checked, for the reason given. Treat it as unverified."),
    "provisional": ("Being checked", "Written but not yet verified."),
}
STATES: Mapping[str, State] = {name: State(name, *words) for name, words in _STATES.items()}

PROOFS = {
    Proof.VERBATIM: "verbatim",
    Proof.ENTAILED: "by entailment",
    Proof.NUMERIC: "by numbers",
    Proof.COMPUTED: "by repeating the arithmetic on cited values",
    Proof.HUMAN: "by a person",
}


def display_state(claim: Claim) -> State:
    """An inference is shown as one even when its evidence entails it, except for repeated arithmetic. A claim
    whose source was read by OCR says so."""
    worked_out = claim.verdict.proof is Proof.COMPUTED
    inference = claim.verdict.status is Status.VERIFIED and claim.kind is Kind.INFERENCE and not worked_out
    state = STATES["inference"] if inference else state_of_verdict(claim.verdict)
    if not (told := ocr_of(claim.citations)):
        return state
    return state._replace(words=f"{state.words}, {told}", meaning=f"{state.meaning} {_OCR_MEANS}")


def ocr_of(citations: Iterable[Citation]) -> str:
    """As :func:`read_by_ocr` says it of all of them."""
    return read_by_ocr(box.confidence for one in citations for box in one.boxes)


_OCR_MEANS = "The source is a picture: OCR read the words off it, and may have misread them."


def state_of_verdict(verdict: Verdict) -> State:
    """The states of verified claims are named after proofs, all others after statuses."""
    if verdict.status is Status.VERIFIED:
        return STATES[(verdict.proof or Proof.ENTAILED).value]
    return STATES[verdict.status.value.lower()]


DECISIONS: Mapping[str, tuple[str, str]] = {
    Decision.ANSWER.value: ("Answered", "Every claim is verified and the whole question is answered."),
    Decision.PARTIAL.value: ("Answered in part", "What is missing or unverified is listed below."),
    Decision.ABSTAIN.value: ("Not answered", "The documents do not support an answer."),
    "ERROR": ("Failed", "The request ended in an error; the record has the details."),
}
"""In plain words: what was decided, and what that means."""

RESOLUTIONS: Mapping[str, tuple[str, str]] = {
    "SAME": ("Unchanged", "The newest version has the same words in the same place."),
    "MOVED": ("Moved since", "The newest version has the same words in another place."),
    "CHANGED": ("Changed since", "The newest version says something different here."),
    "GONE": ("Gone since", "The document was withdrawn or erased, or no longer contains the passage."),
}


def incomplete_words(document: Document) -> str:
    """Which pages have more in print than in the text; "" for none."""
    if not document.incomplete:
        return ""
    return f"Some of what is printed on {page_ranges(document.incomplete)} is missing from the text."


def page_ranges(numbers: Sequence[int]) -> str:
    """[3, 4, 5, 9] -> "pages 3-5, 9"."""
    runs = (list(run) for _, run in groupby(enumerate(numbers), key=lambda place: place[1] - place[0]))
    spans = [(run[0][1], run[-1][1]) for run in runs]
    shown = ", ".join(str(a) if a == b else f"{a}-{b}" for a, b in spans[:12])
    more = f" and {len(spans) - 12} more ranges" if len(spans) > 12 else ""
    return f"page{'s' if len(numbers) > 1 else ''} {shown}{more}"


def maker_words(maker: Maker) -> str:
    """A maker in words: its name, hash, threshold and card."""
    parts = [maker.name]
    if maker.hash:
        parts.append(maker.hash[:19])
    if maker.threshold is not None:
        parts.append(f"threshold {maker.threshold:.2f}")
    if maker.card:
        parts.append(f"card {maker.card[:19]}")
    return ", ".join(parts)


class Bar(NamedTuple):
    """One component of confidence, with its weight in the overall number (None: not included)."""

    name: str
    meaning: str
    measure: Measure
    weight: float | None


_COMPONENTS = {
    "retrieval": "How relevant the passages cited are.",
    "coverage": "How much of the question the answer covers.",
    "entailment": "How well the cited passages support the claims.",
    "consistency": "How well further drafts agree with the answer.",
}


def bars(report: ConfidenceReport | None) -> tuple[Bar, ...]:
    """The four components, in order; none without a report."""
    return tuple(
        Bar(key.capitalize(), meaning, getattr(report, f"{key}_score"), report.weights.get(key))
        for key, meaning in _COMPONENTS.items()
        if report is not None
    )


NAMES: Mapping[str, str] = {
    **{name: words for name, (words, _) in DECISIONS.items()},
    **{name: words for name, (words, _) in _STATES.items()},
    Status.VERIFIED.value: "Verified",
    **{status.value: _STATES[status.value.lower()][0] for status in Status if status is not Status.VERIFIED},
    "request_id": "Record",
    "timestamp": "When",
    "user": "Asked by",
    "session_id": "Session",
    "shown": "Answer",
    "documents": "Cited documents",
    "failure": "Failure",
    "config_hash": "Configuration",
    "total_ms": "Time to answer, ms",
    "conflict": "Sources disagree",
    "superseded": "Not in force",
    "missing": "Open",
    "any": "Any failure",
    "any-unsupported": "One without support",
    "any-contradicted": "One contradicted",
    "any-broken": "One with a broken citation",
    "any-unchecked": "One unchecked",
    "all-verified": "All verified",
    "no-claims": "No claims",
    "thumbs_down": "Marked as wrong",
    "thumbs_up": "Marked as right",
    "rephrased_query": "Asked again in different words",
    "follow_up_correction": "A follow-up suggests that it was wrong",
    "citation_opened": "A citation was opened",
    "copied": "The answer was copied",
    "relevance_gate_failed": "No relevant passage was found",
    "hallucination_detected": "A claim was not supported",
    "citation_broken": "A citation was broken",
    "generator_failed": "The writer failed",
    "abandoned": "Cancelled before it was answered",
    "answer_judge_failed": "The answer did not pass the final check",
    "latency_ms": "Time to answer",
    "hallucination_gap": "Unsupported share",
    "abstention": "Not answered",
    "gate_failures": "No relevant passage was found",
    "errors": "Failed",
    "entailment_failures": "No supporting passage found",
    "contradictions": "Contradicted",
    "broken_citations": "Broken citation",
    "negative_signals": "Doubted by readers",
}
"""The names of everything that is filtered by, counted or charted."""


def counted_name(of: str, value: str) -> str:
    """The words for a value that records are counted by. Models and prompts keep their names."""
    return value if of in ("model", "prompt") else readable_name(value)


def readable_name(name: str) -> str:
    """The words for a name, or the name itself made readable. ``failing:gate`` names the stage."""
    stage = name.removeprefix("failing:")
    if stage != name:
        return f"Failing: {stage}"
    return NAMES.get(name) or name.replace("_", " ").replace("-", " ").capitalize()


class StatusLine(NamedTuple):
    """An answer to one of the two questions asked of every answer; ``colour`` is a CSS class."""

    colour: str
    words: str
    detail: str


CHECK = "answer check"
"""The stage in which a separate model reads answer and question; a record without it had no such check."""


def quotes_line(record: AuditRecord) -> StatusLine:
    """Are the quotes true? Those of the claims shown, or of all claims if none is."""
    claims = [claim for claim in record.claims if claim.shown] or list(record.claims)
    verified = sum(claim.verdict.status is Status.VERIFIED for claim in claims)
    if not claims:
        return StatusLine("unchecked", "Nothing to check", "no claim was made")
    if verified == len(claims):
        one = "the claim is" if verified == 1 else f"each of the {verified} claims is"
        return StatusLine("quoted", "Yes", f"{one} verified in its source")
    return StatusLine(
        "PARTIAL" if verified else "ABSTAIN", f"{verified} of {len(claims)}", "the others are marked"
    )


def answers_line(record: AuditRecord) -> StatusLine:
    """Does this answer what was asked?"""
    if record.response_decision not in DECISIONS or record.confidence_report is None:
        return StatusLine("ERROR", "No", "the request ended before there was an answer")
    report, n = record.confidence_report, len(record.missing)
    if report.decision is Decision.ABSTAIN:
        quoted = any(claim.verdict.status is Status.VERIFIED for claim in record.claims)
        detail = "the quotes found are related, but do not answer it" if quoted else "no answer was found"
        return StatusLine("ABSTAIN", "No", detail)
    if n:
        parts = max(report.coverage_score.n, n)
        return StatusLine("PARTIAL", "In part", f"{n} of {parts} parts {'is' if n == 1 else 'are'} open")
    if report.decision is Decision.PARTIAL:
        return StatusLine("PARTIAL", "Not certain", report.reasons[0] if report.reasons else "")
    if any(claim.verdict.proof is Proof.COMPUTED for claim in record.claims if claim.shown):
        return StatusLine("ANSWER", "Yes", "it is calculated from cited values")
    if CHECK not in record.latency_ms:
        return StatusLine("unchecked", "Not checked", "no separate model compared it with the question")
    return StatusLine("ANSWER", "Yes", "a separate model compared it with the question")


def is_fully_supported(record: AuditRecord) -> bool:
    """Whether it may be shown in green: true quotes, a complete answer, and no conflicting source."""
    lines = (quotes_line(record).colour, answers_line(record).colour)
    return lines == ("quoted", "ANSWER") and not record.conflicts
