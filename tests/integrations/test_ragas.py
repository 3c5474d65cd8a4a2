"""The metric in the real Ragas, which has an environment with DeepEval (``make extras``)."""

from __future__ import annotations

import asyncio
import math

import pytest

from .conftest import BRIDGE, FALSE, QUESTION, TOLL, TRUE

pytest.importorskip("ragas", reason="Ragas is not installed here: make extras has it in build/apart")
from ragas import EvaluationDataset, SingleTurnSample, evaluate

from citewell.integrations.ragas import CitewellMetric

pytestmark = pytest.mark.filterwarnings("ignore")  # Ragas' own
MIXED = "The bridge opened in 1932 [1]. The toll was abolished in 1999 [2]."


def sample(answer: str) -> SingleTurnSample:
    return SingleTurnSample(user_input=QUESTION, response=answer, retrieved_contexts=[BRIDGE, TOLL])


def test_the_score_is_the_share_of_supported_claims_and_the_reason_names_the_others() -> None:
    given = {"retrieved_contexts": [BRIDGE, TOLL], "user_input": QUESTION}
    mixed, empty = (asyncio.run(CitewellMetric().ascore(response=one, **given)) for one in (MIXED, ""))
    assert mixed.value == 0.5
    assert "1999" in str(mixed.reason)
    assert "1932" not in str(mixed.reason)
    assert empty.value is None
    assert "no claim" in str(empty.reason)


def test_ragas_evaluates_a_data_set_with_the_metric_and_no_language_model() -> None:
    rows = EvaluationDataset(samples=[sample(one) for one in (TRUE, FALSE, MIXED, "")])
    found = evaluate(rows, metrics=[CitewellMetric()], show_progress=False, raise_exceptions=True)
    *scores, nothing = found["citewell"]
    assert scores == [1.0, 0.0, 0.5]
    assert math.isnan(nothing)
    assert CitewellMetric().single_turn_score(sample(FALSE)) == 0.0
