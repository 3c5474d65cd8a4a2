"""The metric in the real DeepEval, which has an environment of its own (``make extras``)."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from .conftest import BRIDGE, FALSE, TOLL, TRUE

pytest.importorskip("deepeval", reason="DeepEval is not installed here: make extras has it in build/apart")
from deepeval import assert_test
from deepeval.errors import MissingTestCaseParamsError
from deepeval.metrics.utils import copy_metrics
from deepeval.test_case import LLMTestCase

from citewell.integrations.deepeval import CitewellMetric


def case(answer: str | None) -> LLMTestCase:
    return LLMTestCase(input="", actual_output=answer, retrieval_context=[BRIDGE, TOLL])


def test_the_score_is_the_share_of_supported_claims_and_the_reason_names_the_others() -> None:
    metric = CitewellMetric(threshold=0.5)
    mixed = "The bridge opened in 1932 [1]. The toll was abolished in 1999 [2]."
    assert (metric.measure(case(mixed)), metric.success) == (0.5, True)
    assert "1999" in str(metric.reason)
    assert "1932" not in str(metric.reason)
    assert (asyncio.run(metric.a_measure(case(""))), metric.success) == (None, False)
    with pytest.raises(MissingTestCaseParamsError):
        metric.measure(case(None))
    (copied,) = copy_metrics([CitewellMetric(0.7, {"entailer": "judge"})])
    assert (copied.threshold, copied.options) == (0.7, {"entailer": "judge"})


def test_a_test_fails_for_an_unsupported_claim(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)  # DeepEval keeps its results in the working directory
    assert_test(case(TRUE), [CitewellMetric()], run_async=False)
    with pytest.raises(AssertionError, match="1947"):
        assert_test(case(FALSE), [CitewellMetric()], run_async=False)
