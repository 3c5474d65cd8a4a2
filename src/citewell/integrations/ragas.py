"""Ragas: a metric that checks a response against its retrieved contexts, without a language model."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ragas.metrics.base import MetricType, SingleTurnMetric
from ragas.metrics.result import MetricResult

from citewell.integrations.passages import checked, reasons, share_verified


@dataclass
class CitewellMetric(SingleTurnMetric):
    """The score is the share of claims that the contexts support; the reason names the others. A response
    that makes no claim has no score: None, or NaN where Ragas wants a number. ``options`` as for
    :func:`citewell.answering.verifying.verify`."""

    name: str = "citewell"
    options: Mapping[str, Any] = field(default_factory=dict)
    _required_columns: dict[MetricType, set[str]] = field(
        default_factory=lambda: {
            MetricType.SINGLE_TURN: {"response", "retrieved_contexts", "user_input:optional"}
        }
    )

    def init(self, run_config: Any) -> None:
        """Nothing is prepared."""

    async def ascore(
        self, *, response: str, retrieved_contexts: Sequence[str], user_input: str | None = None
    ) -> MetricResult:
        report = checked(response, retrieved_contexts, user_input or "", **self.options)
        return MetricResult(share_verified(report), reasons(report) or None)

    async def _single_turn_ascore(self, sample: Any, callbacks: Any) -> float:
        result = await self.ascore(
            response=sample.response,
            retrieved_contexts=sample.retrieved_contexts,
            user_input=sample.user_input,
        )
        return math.nan if result.value is None else float(result)
