"""Langfuse and Phoenix: the verdict on each claim as a score of the OpenTelemetry span that was checked.

In: claims with their verdicts, and a client of either. Out: a score or annotation per claim, with its text.
Neither makes scores of what arrives over OTLP, so this goes through their own interfaces.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from opentelemetry.trace import get_current_span

from citewell.core.errors import UsageError
from citewell.core.records import Claim

NAME = "citewell.claim"
"""As in the events of our own spans (``gen_ai.evaluation.name``)."""


def score_in_langfuse(claims: Iterable[Claim], client: Any, *, trace_id: str = "", span_id: str = "") -> None:
    """Queues ``citewell.claim`` (the status) and ``citewell.support`` (the probability, if there is one) for
    each claim. ``client`` is a Langfuse; the ids are hexadecimal, by default those of the current span.
    Raises UsageError if there is none."""
    trace, span = (trace_id, span_id) if trace_id else _current()
    at = {"trace_id": trace, "observation_id": span or None}
    for number, claim in enumerate(claims, 1):
        about = {**at, "comment": _told(claim), "metadata": _about(number, claim)}
        client.create_score(name=NAME, value=claim.verdict.status.value, data_type="CATEGORICAL", **about)
        if (support := claim.verdict.support) is not None:
            client.create_score(name="citewell.support", value=support, data_type="NUMERIC", **about)


def annotate_in_phoenix(claims: Iterable[Claim], client: Any, *, span_id: str = "") -> None:
    """Adds the annotation ``citewell.claim`` for each claim: its status as label, its support as score.
    ``client`` is a phoenix.client.Client; the span is by default the current one. Raises UsageError if there
    is none."""
    span = span_id or _current()[1]
    for number, claim in enumerate(claims, 1):
        client.spans.add_span_annotation(
            span_id=span,
            annotation_name=NAME,
            annotator_kind="CODE",
            label=claim.verdict.status.value,
            score=claim.verdict.support,
            explanation=_told(claim),
            metadata=_about(number, claim),
            identifier=str(number),
        )


def _current() -> tuple[str, str]:
    found = get_current_span().get_span_context()
    if not found.is_valid:
        raise UsageError("there is no current span", hint="call this within a span, or pass its ids")
    return f"{found.trace_id:032x}", f"{found.span_id:016x}"


def _told(claim: Claim) -> str:
    return f"{claim.text} ({claim.verdict.reason})" if claim.verdict.reason else claim.text


def _about(number: int, claim: Claim) -> dict[str, Any]:
    return {"claim": number, "maker": claim.verdict.maker.name}
