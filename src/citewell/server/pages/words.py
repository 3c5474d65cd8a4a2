"""What the pages say of claims, numbers and decisions: one table each, so that words never drift apart.

In: values of the domain. Out: a state or a sentence. Each state has words, a colour (its CSS class) and a
shape (its symbol in ``static/shapes.svg``). Knows nothing about HTML.
"""

from __future__ import annotations

from collections.abc import Mapping

from citewell.core.records import (
    Claim,
    ConfidenceReport,
    Decision,
    Kind,
    Measure,
    Proof,
    Record,
    Status,
    Verdict,
)


class State(Record, frozen=True, kw_only=True):
    """``name`` is class and symbol; ``meaning`` is for whoever asks what the words mean."""

    name: str
    words: str
    meaning: str


STATES: Mapping[str, State] = {
    state.name: state
    for state in (
        State(
            name="verbatim",
            words="Verified verbatim",
            meaning="The source contains these words, character by character.",
        ),
        State(
            name="entailed",
            words="Verified by entailment",
            meaning="A separate model judged that the cited passage says this.",
        ),
        State(
            name="numeric",
            words="Verified by numbers",
            meaning="The cited row or sentence contains each of its numbers, units and dates.",
        ),
        State(
            name="computed",
            words="Calculated from cited values",
            meaning="An arithmetic result: every input is cited, and the checker repeated the calculation.",
        ),
        State(
            name="human",
            words="Verified by a person",
            meaning="A person looked at the source and confirmed it.",
        ),
        State(
            name="inference",
            words="Inference",
            meaning="A conclusion drawn from the sources; no passage states it directly.",
        ),
        State(
            name="unsupported",
            words="No supporting passage found",
            meaning="None of the passages found says this. It may be true, but nothing here supports it.",
        ),
        State(
            name="contradicted",
            words="Contradicted",
            meaning="A source says the opposite, so it is not part of the answer.",
        ),
        State(
            name="broken",
            words="Broken citation",
            meaning="The cited source does not contain the quoted words.",
        ),
        State(
            name="withdrawn",
            words="Withdrawn",
            meaning="Shown while the answer was being written, then removed.",
        ),
        State(
            name="unchecked",
            words="Unchecked",
            meaning="It could not be checked, for the reason given. Treat it as unverified.",
        ),
        State(name="provisional", words="Being checked", meaning="Written but not yet verified."),
    )
}

_FAILED = {
    Status.UNSUPPORTED: "unsupported",
    Status.CONTRADICTED: "contradicted",
    Status.BROKEN: "broken",
    Status.UNCHECKED: "unchecked",
}
_PROVEN = {
    Proof.VERBATIM: "verbatim",
    Proof.ENTAILED: "entailed",
    Proof.NUMERIC: "numeric",
    Proof.COMPUTED: "computed",
    Proof.HUMAN: "human",
}
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
    if verdict.status is not Status.VERIFIED:
        return STATES[_FAILED[verdict.status]]
    return STATES[_PROVEN[verdict.proof] if verdict.proof is not None else "entailed"]


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


class Bar(Record, frozen=True, kw_only=True):
    """One component of confidence, with its weight in the overall number (None: took no part)."""

    name: str
    meaning: str
    measure: Measure
    weight: float | None


_COMPONENTS = (
    ("Retrieval", "retrieval", "How relevant the passages used are."),
    ("Coverage", "coverage", "How much of the question the answer covers."),
    ("Entailment", "entailment", "How well the cited passages support the claims."),
    ("Consistency", "consistency", "How well further drafts agree with the answer."),
)


def bars(report: ConfidenceReport) -> tuple[Bar, ...]:
    """The four components in their order."""
    return tuple(
        Bar(
            name=name,
            meaning=meaning,
            measure=getattr(report, f"{key}_score"),
            weight=report.weights.get(key),
        )
        for name, key, meaning in _COMPONENTS
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
