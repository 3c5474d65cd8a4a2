"""Fits support.json: an entailer's log odds -> a calibrated probability of support.

`python -m training.support` for the packaged entailer, `python -m training.support judge` for the judge and
for both together. In: judged claims that shaped no weights (training.heldout; for the judge also the written
examples' part "choose") and the exported entailers. Out: support.json next to the weights, with what it was
fitted on, and cross-validated reliability and calibration error by kind of source.
Classes are weighted to equal priors within each set, and a set by the root of its size, so that no
set's base rate becomes the verifier's; written examples weigh three times as much as public sets. A claim of
several sentences is supported as much as its least supported sentence, in the fit as at run time. One line
per kind of pair: an intercept, and a positive slope for each entailer.
"""

from __future__ import annotations

import json
import math
import random
import sys
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from citewell.core.sentences import sentence_spans
from citewell.core.weights import WEIGHTS, judge_folder
from citewell.models.onnx.entailer import OnnxAnswerCheck, OnnxEntailer
from citewell.verification.evidence import KINDS, pair_kind
from citewell.verification.support import FILE, log_odds
from training import answers
from training.answers import NOTHING, area
from training.card import state_hash
from training.entailer import SEED
from training.examples import passages as written_passages
from training.heldout import Example, examples
from training.linked import answering, says_so

Floats = NDArray[np.float64]
ANSWERS, CONTRADICTIONS = 1_200, 400
"""Most pairs, and most claims, that the thresholds are chosen on."""
WRITTEN = 0.75
"""Share of the written examples in the calibration."""
WRONG_SAID = 0.05
"""Of what the judge says as "yes" or "no", at most."""
NEAR_COPIES = "w41"
SLOPES = ("slope", "slope of the other")
ROUNDS = 4  # of choosing each claim's least supported sentence and refitting


@dataclass(frozen=True, slots=True)
class Design:
    """`x` has one row per sentence; `of[i]` are the rows of claim i."""

    x: Floats
    names: list[str]
    rows: list[Example]
    of: list[list[int]]

    def least(self, beta: Floats) -> list[int]:
        """The row of each claim's least supported sentence."""
        z = self.x @ beta
        return [min(rows, key=lambda r: z[r]) for rows in self.of]


def design(rows: Sequence[Example], values: Sequence[Sequence[Sequence[float]]]) -> Design:
    """An intercept and a slope for each entailer, for each kind of pair. ``values`` holds, for each
    sentence of each claim, the log odds of each entailer."""
    lines: list[dict[str, float]] = []
    of = []
    kinds = kinds_of(rows)
    for row, sentences in zip(rows, values, strict=True):
        of.append(list(range(len(lines), len(lines) + len(sentences))))
        kind = pair_kind(row.premise, row.claim)
        for told in sentences:
            line = {f"intercept {each}": float(each == kind) for each in kinds}
            for number, value in enumerate(told):
                line |= {f"{SLOPES[number]} {each}": value * (each == kind) for each in kinds}
            lines.append(line)
    return Design(np.array([list(line.values()) for line in lines]), list(lines[0]), list(rows), of)


def kinds_of(rows: Sequence[Example]) -> list[str]:
    """Those of KINDS that occur."""
    found = {pair_kind(row.premise, row.claim) for row in rows}
    return [kind for kind in KINDS if kind in found]


def judged_by(
    rows: Sequence[Example], entailers: Sequence[OnnxEntailer]
) -> tuple[list[Example], list[list[list[float]]]]:
    """The claims that every entailer can check, each with its sentences' log odds."""
    asked = [(row.premise, text) for row in rows for text in row.sentences()]
    answers = list(zip(*(entailer.entail(asked) for entailer in entailers), strict=True))
    kept, values, at = [], [], 0
    for row in rows:
        told = answers[at : at + len(row.sentences())]
        at += len(told)
        if not any(answer.unchecked for each in told for answer in each):
            kept.append(row)
            values.append([[log_odds(answer.entailment or 0.0) for answer in each] for each in told])
    return kept, values


def equal_weights(rows: Sequence[Example]) -> Floats:
    """Supported and unsupported claims weigh the same in every set; a set weighs by the root of its size, and
    the written examples together have the share WRITTEN: they are closest to what assistants say, and of the
    public sets the small entailer has seen other documents, by which it seems better than it is elsewhere."""
    count = Counter((row.name, row.supported) for row in rows)
    size = Counter(row.name for row in rows)
    weight = np.array([math.sqrt(size[row.name]) / count[row.name, row.supported] for row in rows])
    written = np.array([row.name.startswith("examples") for row in rows])
    for part, share in ((written, WRITTEN), (~written, 1.0 - WRITTEN)):
        if part.any():
            weight[part] *= share / weight[part].sum()
    return weight / weight.mean()


def fit(made: Design, claims: Sequence[int]) -> Floats:
    """Coefficients for the given claims; which sentence decides a claim follows from the fit itself."""
    rows = [made.rows[i] for i in claims]
    y = np.array([row.supported for row in rows], dtype=float)
    weight = equal_weights(rows)
    beta = _first(made.names)
    for _ in range(ROUNDS):
        least = made.least(beta)
        beta = _fit(made.x[[least[i] for i in claims]], y, weight, made.names)
    return beta


def _fit(x: Floats, y: Floats, weight: Floats, names: Sequence[str], penalty: float = 0.002) -> Floats:
    free = np.array([not name.startswith("intercept") for name in names], dtype=float)

    def loss(beta: Floats) -> tuple[float, Floats]:
        z = x @ beta
        value = (weight * (np.logaddexp(0.0, z) - y * z)).mean() + penalty * (free * beta**2).sum() / 2
        gradient = x.T @ (weight * (1 / (1 + np.exp(-z)) - y)) / len(y) + penalty * free * beta
        return float(value), gradient

    bounds = [(0.05, None) if name.startswith("slope") else (None, None) for name in names]
    start = _first(names)
    return minimize(loss, start, jac=True, bounds=bounds, method="L-BFGS-B").x


def _first(names: Sequence[str]) -> Floats:
    """The entailers' log odds unchanged, to start from."""
    return np.array([float(name.startswith("slope")) for name in names])


def reliability(p: Floats, y: Floats, weight: Floats, bins: int = 10) -> dict[str, object]:
    """Expected calibration error over bins of equal width, at equal priors, and the curve it comes from."""
    place = np.minimum((p * bins).astype(int), bins - 1)
    curve, error = [], 0.0
    for b in range(bins):
        inside = place == b
        if inside.any():
            share = weight[inside].sum() / weight.sum()
            mean, true = (
                np.average(p[inside], weights=weight[inside]),
                np.average(y[inside], weights=weight[inside]),
            )
            error += share * abs(mean - true)
            curve.append(
                {
                    "predicted": round(float(mean), 3),
                    "observed": round(float(true), 3),
                    "n": int(inside.sum()),
                }
            )
    return {"n": len(y), "ece": round(float(error), 4), "curve": curve}


def written_examples() -> list[Example]:
    """Statements on the written passages of the part "choose"."""
    return [
        Example(f"{passage.title}\n{said.premise}", said.claim, said.label == "entailment", "examples")
        for passage in written_passages()
        if passage.part == "choose"
        for said in passage.statements
    ]


def yes_or_no() -> list[Example]:
    """Both answers, yes first, to questions that a passage of the part "choose" answers so or leaves open."""
    told = [
        (f"{passage.title}\n{said}", claim, label)
        for passage in written_passages()
        if passage.part == "choose"
        for said, both in says_so(passage)
        for claim, label in both
    ]
    return [Example(text, claim, label == "entailment", "examples/yes or no") for text, claim, label in told]


def single_sentences() -> list[Example]:
    """From the written passages of the part "choose", claims in the text's own words with one thing wrong,
    each under the one sentence that differs between the passage's versions and shares most of its words. The
    made pairs of this kind are edited copies, thousands of which the small entailer was trained on; with
    those alone, its score would decide everything."""
    found = []
    for passage in written_passages():
        if passage.part != "choose" or passage.file[:3] != NEAR_COPIES:
            continue
        cut = {
            text: {text[a:b] for a, b in sentence_spans(text)}
            for text in {s.premise for s in passage.statements}
        }
        common = set.intersection(*cut.values())
        for said in passage.statements:
            own = sorted(cut[said.premise] - common)
            words = set(said.claim.lower().split())
            best = max(own, key=lambda each: len(words & set(each.lower().split())), default="")
            if best:
                found.append(Example(best, said.claim, said.label == "entailment", "examples/sentence"))
    return found


def fitted(rows: Sequence[Example], values: Sequence[Sequence[Sequence[float]]]) -> dict[str, object]:
    """Coefficients by kind of source, and how well calibrated they are on unseen documents."""
    made = design(rows, values)
    y = np.array([row.supported for row in rows], dtype=float)
    weight = equal_weights(rows)
    fold = np.array([int.from_bytes(row.premise.encode()[:64], "little") % 5 for row in rows])
    held = np.zeros(len(y))
    for k in range(5):
        beta = fit(made, [i for i in range(len(rows)) if fold[i] != k])
        z = made.x[made.least(beta)] @ beta
        held[fold == k] = 1 / (1 + np.exp(-z[fold == k]))
    beta = fit(made, range(len(rows)))
    slopes = SLOPES[: len(values[0][0])]
    line = {name: round(float(value), 5) for name, value in zip(made.names, beta, strict=True)}
    kinds = np.array([pair_kind(row.premise, row.claim) for row in rows])
    by_set: dict[str, list[int]] = defaultdict(list)
    for i, row in enumerate(rows):
        by_set[row.name].append(i)
    return {
        "coefficients": {
            kind: {
                "intercept": line[f"intercept {kind}"],
                **{name: line[f"{name} {kind}"] for name in slopes},
            }
            for kind in kinds_of(rows)
        },
        "fitted_on": {name: len(index) for name, index in sorted(by_set.items())},
        "reliability (5-fold)": {
            k: reliability(held[kinds == k], y[kinds == k], weight[kinds == k]) for k in kinds_of(rows)
        },
        "balanced accuracy at 0.5 (5-fold)": {n: _balanced(held[i], y[i]) for n, i in sorted(by_set.items())},
        "AUROC (5-fold)": {n: area(held[i], y[i]) for n, i in sorted(by_set.items())},
    }


def answers_border(judge: OnnxEntailer) -> dict[str, object]:
    """The threshold at which the judge's "this sentence answers this question" has the best balanced
    accuracy: sentences of the written passages of the part "choose", with questions that they answer and
    others about the same passage."""
    rng = random.Random(SEED)
    asked = [
        (f"{passage.title}\n{said}", question, answered)
        for passage in written_passages()
        if passage.part == "choose"
        for said, told in answering(passage, rng)
        for question, answered in told
    ]
    asked = rng.sample(asked, min(len(asked), ANSWERS))
    p = np.array(OnnxAnswerCheck(judge, NOTHING).answers([(text, question) for text, question, _ in asked]))
    return _border(p, np.array([answered for *_, answered in asked]))


def says_border(judge: OnnxEntailer) -> dict[str, object]:
    """The least margin by which the judge must prefer "yes" to "no", or the other way round, so that at most
    WRONG_SAID of what it then says is wrong; on passages that leave the question open, all is."""
    pairs = [pair for one in yes_or_no() for pair in [(one.premise, one.claim, one.supported)]]
    both = list(zip(pairs[::2], pairs[1::2], strict=True))
    found = iter(judge.entail([(text, claim) for text, claim, _ in pairs]))
    margin, says, open_ = [], [], []
    for yes, no in both:
        margin.append((next(found).entailment or 0.0) - (next(found).entailment or 0.0))
        says.append(yes[2])
        open_.append(not yes[2] and not no[2])
    m, y, left_open = np.array(margin), np.array(says), np.array(open_)
    wrong = left_open | ((m > 0) != y)
    tried = np.unique(np.quantile(np.abs(m), np.linspace(0.0, 0.98, 99)))
    fits = (t for t in tried if wrong[np.abs(m) >= t].mean() <= WRONG_SAID)
    best = next(fits, 1.0)
    said = np.abs(m) >= best
    return {
        "border": round(float(best), 4),
        "n": len(m),
        "said": round(float(said[~left_open].mean()), 3),
        "wrong": round(float(wrong[said].mean()), 3) if said.any() else None,
        "said where it is open": round(float(said[left_open].mean()), 3),
    }


def contradiction_border(judge: OnnxEntailer) -> dict[str, object]:
    """The threshold at which its probability of contradiction separates claims that a passage denies from
    those that it supports or leaves open, with at most three in a hundred of the latter above it."""
    told = [
        (f"{passage.title}\n{said.premise}", said.claim, said.label == "contradiction")
        for passage in written_passages()
        if passage.part == "choose"
        for said in passage.statements
    ]
    told = random.Random(SEED).sample(told, min(len(told), CONTRADICTIONS))
    found = judge.entail([(text, claim) for text, claim, _ in told])
    p = np.array([one.contradiction or 0.0 for one in found])
    y = np.array([denied for *_, denied in told])
    return _border(p, y, most_wrong=0.03)


def _border(p: Floats, y: NDArray[np.bool_], most_wrong: float | None = None) -> dict[str, object]:
    tried = np.unique(np.quantile(p, np.linspace(0.01, 0.995, 198)))
    if most_wrong is None:
        best = max(tried, key=lambda c: (p[y] >= c).mean() + (p[~y] < c).mean())
    else:
        best = min((c for c in tried if (p[~y] >= c).mean() <= most_wrong), default=tried[-1])
    return {
        "border": round(float(best), 4),
        "n": len(y),
        "over it": {
            "true": round(float((p[y] >= best).mean()), 3),
            "false": round(float((p[~y] >= best).mean()), 3),
        },
        "auroc": area(p, y.astype(float)),
    }


def main(names: list[str]) -> None:
    folder = judge_folder() if names == ["judge"] else WEIGHTS / "entailer"
    if folder is None:
        raise SystemExit("citewell-judge is not installed: pip install -e judge")
    rows = examples(SEED)
    entailers = [OnnxEntailer(folder)]
    if names:
        rows += written_examples()
        # The judge costs four times as much to run.
        rows = [*random.Random(SEED).sample(rows, len(rows) // 6), *single_sentences(), *yes_or_no()]
        entailers.append(OnnxEntailer(WEIGHTS / "entailer"))
    rows, values = judged_by(rows, entailers)
    alone = [[told[:1] for told in sentences] for sentences in values]
    makers = [{"id": each.maker.name, "hash": each.maker.hash} for each in entailers]
    least = np.array([min(told[0] for told in sentences) for sentences in alone])
    y = np.array([row.supported for row in rows], dtype=float)
    card = {
        "entailer": {**makers[0], "threshold": _threshold(least, y, equal_weights(rows))},
        "part": "a tenth of the training sets' documents, on which no stage trained, and training sets that "
        "no stage used (nli/mpe.dev, qa/clapnq.dev)",
        "priors": "equal, within each set",
        "command": " ".join(["python -m training.support", *names]),
        **fitted(rows, alone),
    }
    if len(entailers) > 1:
        card["joint"] = {"with": makers[1], **fitted(rows, values)}
        card["answers"] = {
            **answers_border(entailers[0]),
            **answers.fitted(entailers[0]),
            "says": says_border(entailers[0]),
        }
        card["contradiction"] = contradiction_border(entailers[0])
        print(card["answers"], card["contradiction"])
    (folder / FILE).write_text(json.dumps(card, indent=2) + "\n", encoding="utf-8")
    state_hash(folder, folder / FILE)
    for each in (card, card.get("joint", {})):
        assert isinstance(each, dict)
        print(json.dumps(each.get("coefficients"), indent=1))
        for told in ("balanced accuracy at 0.5 (5-fold)", "AUROC (5-fold)"):
            scored = {name: value for name, value in each.get(told, {}).items() if value is not None}
            print(told, json.dumps(scored), "mean", sum(scored.values()) / max(1, len(scored)))


def _threshold(log_odds: Floats, y: Floats, weight: Floats) -> float:
    """The threshold at which the entailer's probability, used alone, has the best balanced accuracy here."""
    candidates = np.unique(np.quantile(log_odds, np.linspace(0.02, 0.98, 97)))
    right = [np.average((log_odds >= c) == (y == 1), weights=weight) for c in candidates]
    return round(float(1 / (1 + np.exp(-candidates[int(np.argmax(right))]))), 4)


def _balanced(p: Floats, y: Floats) -> float | None:
    if y.min() == y.max():
        return None
    value = ((p[y == 1] >= 0.5).mean() + (p[y == 0] < 0.5).mean()) / 2
    return None if math.isnan(value) else round(float(value), 4)


if __name__ == "__main__":
    main(sys.argv[1:])
