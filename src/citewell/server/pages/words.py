"""What the pages say of claims, numbers and decisions: one table each, so that words never drift apart.

In: values of the domain. Out: a state or a sentence. Each state has words, a colour (its CSS class) and a
shape (its symbol in ``static/shapes.svg``). Knows nothing about HTML.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from citewell.core.records import (
    Claim,
    ConfidenceReport,
    Decision,
    Kind,
    Maker,
    Measure,
    Proof,
    Status,
    Verdict,
)


class State(NamedTuple):
    """``name`` is class and symbol; ``meaning`` is for whoever asks what the words mean."""

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


def state_of(claim: Claim) -> State:
    """An inference is called one even when what it rests on entails it, but for arithmetic done again."""
    worked_out = claim.verdict.proof is Proof.COMPUTED
    if claim.verdict.status is Status.VERIFIED and claim.kind is Kind.INFERENCE and not worked_out:
        return STATES["inference"]
    return state_of_verdict(claim.verdict)


def state_of_verdict(verdict: Verdict) -> State:
    """The states of verified claims are named like proofs, all others like statuses."""
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


def maker_words(maker: Maker) -> str:
    """Who made a number, with the hash and the threshold that it is known by."""
    parts = [maker.name]
    if maker.hash:
        parts.append(maker.hash[:19])
    if maker.threshold is not None:
        parts.append(f"threshold {maker.threshold:.2f}")
    if maker.card:
        parts.append(f"card {maker.card[:19]}")
    return ", ".join(parts)


class Bar(NamedTuple):
    """One component of confidence, with its weight in the overall number (None: took no part)."""

    name: str
    meaning: str
    measure: Measure
    weight: float | None


_COMPONENTS = {
    "retrieval": "How relevant the passages used are.",
    "coverage": "How much of the question the answer covers.",
    "entailment": "How well the cited passages support the claims.",
    "consistency": "How well further drafts agree with the answer.",
}


def bars(report: ConfidenceReport | None) -> tuple[Bar, ...]:
    """The four components in their order; none without a report."""
    return tuple(
        Bar(key.capitalize(), meaning, getattr(report, f"{key}_score"), report.weights.get(key))
        for key, meaning in _COMPONENTS.items()
        if report is not None
    )


CAUSES: Mapping[str, str] = {
    "thumbs_down": "Marked as wrong",
    "thumbs_up": "Marked as right",
    "rephrased_query": "Asked again in different words",
    "follow_up_correction": "A follow-up suggests that it was wrong",
    "no_engagement": "Nobody read it",
    "citation_opened": "A citation was opened",
    "copied": "The answer was copied",
    "relevance_gate_failed": "No relevant passage was found",
    "hallucination_detected": "A claim was not supported",
    "contradiction_detected": "A source contradicts a claim",
    "citation_broken": "A citation was broken",
    "generator_failed": "The writer failed",
    "abandoned": "The asker left before it was answered",
    "answer_judge_failed": "The answer did not pass the final check",
}


def cause(name: str) -> str:
    """In words where they are known; a new cause by its own name."""
    return CAUSES.get(name, name.replace("_", " ").capitalize())
