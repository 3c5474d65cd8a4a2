"""Checkpoints of `reading` -> weights/reading: graph, tokenizer and card with fitted curves.

In: CITEWELL_CHECKPOINTS/reading (the kept checkpoints are averaged; without any, the last one) and
the base encoder. Out: model.onnx (int8 weights, float32 computation), tokenizer.json, card.json. The
ranker's curve and the reader's no-answer curve are fitted here on groups held out from training, at equal
priors, with every source weighted equally and the exported model run exactly as the product runs it.
"""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression
from torch import Tensor, nn

from citewell.models.onnx.reading import ReadingModel, Window
from training.compact import compact
from training.encoder import averaged, checkpoints
from training.export_embedder import CARD as EMBEDDER
from training.export_embedder import WEIGHTS, Core, check_parity, trace, write
from training.reading import (
    FINANCE,
    MAX_TOKENS,
    PEAK_RATE,
    TOKENS_PER_BATCH,
    WIKI_TABLES,
    Reading,
    prepare,
)
from training.reading_negatives import Example
from training.reading_pairs import READERS, REPORTED
from training.sources import sources

FOLDER = WEIGHTS / "reading"
AVERAGED = 4  # last checkpoints
# Describes the run behind the shipped file; rewrite it for the next one.
RUN = (
    "one pass, from the base encoder to the end of the schedule, on one to two shared cores; the last four "
    "checkpoints averaged"
)
Floats = NDArray[np.float64]
UNFITTED = {
    "relevance": {"slope": 1.0, "bias": 0.0},
    "no_answer": {"odds": 1.0, "relevance": 0.0, "bias": 0.0},
}
BAD_AT = [
    "languages other than English",
    "arithmetic and comparison: a question that needs computing is answered by the operands, if at all",
    "yes-or-no and why questions: the span is a guess at the supporting words",
    "false premises: a question that assumes something the passage denies",
    "answers spread over several places: one span is found at a time",
    "tables without their column heads in the context lines",
]


class Heads(nn.Module):
    """The graph's outputs: relevance (batch), start and end logits (batch, length)."""

    def __init__(self, model: Reading) -> None:
        super().__init__()
        self.core, self.head = Core(model.bert), model.head

    def forward(
        self, input_ids: Tensor, attention_mask: Tensor, token_type_ids: Tensor
    ) -> tuple[Tensor, Tensor, Tensor]:
        scores = self.head(self.core(input_ids, attention_mask, token_type_ids))
        return scores[:, 0, 2], scores[:, :, 0], scores[:, :, 1]


def card(steps: int) -> dict[str, Any]:
    known = sources()
    return {
        "id": "citewell-reading-1",
        "kind": "ranker and reader",
        "max_tokens": 512,
        "window_tokens": 256,
        "max_span_tokens": 64,
        "window_rule": "a passage that fits 256 tokens with its question is read whole; a longer one in runs "
        "of whole sentences or rows that overlap by one, each under the passage's heading lines; the best "
        "window counts",
        "outputs": ["relevance", "start", "end"],
        "base": EMBEDDER["base"],
        "recipe": {
            "steps": steps,
            "run": RUN,
            "tokens_per_batch": TOKENS_PER_BATCH,
            "peak_rate": PEAK_RATE,
            "max_tokens_in_training": MAX_TOKENS,
            "made": {"finance look-ups": FINANCE, "wiki tables": WIKI_TABLES},
            "kept_for_reporting_by_group": REPORTED,
        },
        "data": {
            name: {"sha256": known[name].sha256, "ship": known[name].ship, "licence": known[name].licence}
            for name in [*READERS, "qa/tatqa.dev", "qa/wtq.train"]
        },
        "command": "python -m training.reading && python -m training.export reading",
        "bad_at": BAD_AT,
        **UNFITTED,
    }


def main() -> None:
    model = Reading()
    kept = sorted(checkpoints("reading").glob("kept-*.pt"))[-AVERAGED:]
    last = torch.load(checkpoints("reading") / "last.pt", weights_only=True)
    model.load_state_dict(averaged(kept) if kept else last["model"])
    model.eval()
    model.bert.set_attn_implementation("eager")
    heads = Heads(model).eval()
    free = {0: "batch", 1: "length"}
    graph = trace(heads, {"relevance": {0: "batch"}, "start": free, "end": free})
    parity = check_parity(heads, graph)
    told = card(int(last["step"]))
    write(FOLDER, compact(graph, "int8"), told)
    print(f"float32 graph within {parity:.1e} of torch; {len(kept)} checkpoints averaged", flush=True)
    _, held = prepare()
    told |= calibrated(ReadingModel(FOLDER), held[::2], held[1::2])
    write(FOLDER, compact(graph, "int8"), told)
    print(json.dumps(told["calibration"], indent=1))


def calibrated(model: ReadingModel, fit: list[Example], rest: list[Example]) -> dict[str, Any]:
    """Both curves and the strict threshold, from the first examples; how well they do on the others."""
    relevance, odds = scores(model, fit)
    curves = fitted(relevance, odds, fit)
    near_misses = ~np.array([e.relevant for e in fit])
    strict = round(float(np.quantile(_probability(curves, relevance)[near_misses], 0.95)), 3)
    return {
        **curves,
        "calibration": {
            "fitted_on": len(fit),
            "threshold_for_5_percent_false_positives": strict,
            **reached(_probability(curves, scores(model, rest)[0]), strict, rest),
        },
    }


def scores(model: ReadingModel, held: list[Example]) -> tuple[Floats, Floats]:
    """The best window's relevance and the best span's odds, per example."""
    windows = [model.read(e.question, [e.passage])[0] for e in held]
    relevance = np.array([max(w.relevance for w in group) for group in windows])
    return relevance, np.array([_best_odds(group) for group in windows])


def fitted(relevance: Floats, odds: Floats, held: list[Example]) -> dict[str, Any]:
    """Logistic curves for the best window's relevance, and for the best span's odds together with it."""
    relevant = np.array([e.relevant for e in held])
    curve = _logistic(relevance[:, None], relevant, held)
    placed = [i for i, e in enumerate(held) if e.spans is not None]
    both = np.stack([odds, relevance], axis=1)
    answer = _logistic(both[placed], relevant[placed], [held[i] for i in placed])
    return {
        "relevance": {"slope": curve[0], "bias": curve[1]},
        "no_answer": {"odds": answer[0], "relevance": answer[1], "bias": answer[2]},
    }


def reached(probability: Floats, strict: float, held: list[Example]) -> dict[str, Any]:
    """How well probabilities do on examples that their curve was not fitted to."""
    relevant = np.array([e.relevant for e in held])
    hits, misses = probability[relevant], probability[~relevant]
    return {
        "on": "examples of groups held out from training and not fitted on, each side of equal weight",
        "n": len(held),
        "false_positives_there": round(float((misses > strict).mean()), 3),
        "recall_there": round(float((hits > strict).mean()), 3),
        "balanced_accuracy_at_half": round(float(((hits > 0.5).mean() + (misses <= 0.5).mean()) / 2), 3),
        "expected_calibration_error": round(calibration_error(probability, relevant), 3),
    }


def _probability(curves: dict[str, Any], relevance: Floats) -> Floats:
    curve = curves["relevance"]
    return 1 / (1 + np.exp(-(curve["slope"] * relevance + curve["bias"])))


def calibration_error(probability: Floats, truth: NDArray[np.bool_]) -> float:
    """Ten bins of equal width; each class has half the weight."""
    weight = np.where(truth, 0.5 / truth.sum(), 0.5 / (~truth).sum())
    place = np.minimum((probability * 10).astype(int), 9)
    return float(
        sum(
            abs((weight * (truth - probability))[place == bin_].sum())
            for bin_ in range(10)
            if (place == bin_).any()
        )
    )


def _best_odds(group: list[Window]) -> float:
    return max(float(window.odds.max()) for window in group)


def _logistic(values: Floats, truth: NDArray[np.bool_], rows: list[Example]) -> list[float]:
    """Coefficients, then the bias. Each source's answered and unanswered rows weigh the same."""
    counts = Counter((row.source, row.relevant) for row in rows)
    weights = np.array([1.0 / max(20, counts[row.source, row.relevant]) for row in rows])
    for side in (True, False):
        weights[truth == side] /= weights[truth == side].sum()
    model = LogisticRegression(C=1e6, max_iter=1000).fit(values, truth, sample_weight=weights * len(rows))
    return [round(float(c), 6) for c in [*model.coef_[0], model.intercept_[0]]]


if __name__ == "__main__":
    main()
