"""DeepEval: a metric that checks an answer against its retrieval context, without a language model."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from deepeval.errors import MissingTestCaseParamsError
from deepeval.metrics import BaseMetric
from deepeval.test_case import LLMTestCase

from citewell.integrations.passages import checked, reasons, share_verified


class CitewellMetric(BaseMetric):
    """The score is the share of claims that the retrieval context supports; the reason names the others. An
    answer that makes no claim has no score and does not succeed. ``options`` as for
    :func:`citewell.answering.verifying.verify`."""

    def __init__(self, threshold: float = 1.0, options: Mapping[str, Any] | None = None) -> None:
        # DeepEval copies a metric by the arguments that are its attributes.
        self.threshold, self.options = threshold, options

    def measure(self, test_case: LLMTestCase, *_: Any, **__: Any) -> float | None:
        """Raises MissingTestCaseParamsError without ``actual_output`` or ``retrieval_context``."""
        if test_case.actual_output is None or test_case.retrieval_context is None:
            raise MissingTestCaseParamsError("Citewell needs actual_output and retrieval_context")
        texts = [getattr(one, "context", one) for one in test_case.retrieval_context]
        report = checked(test_case.actual_output, texts, test_case.input or "", **(self.options or {}))
        self.score, self.reason = share_verified(report), reasons(report)
        self.success = self.is_successful()
        return self.score

    async def a_measure(self, test_case: LLMTestCase, *args: Any, **options: Any) -> float | None:
        return self.measure(test_case, *args, **options)

    @property
    def __name__(self) -> str:
        return "Citewell"
