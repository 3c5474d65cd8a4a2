"""What splitting a claim into sentences gains: the same rows judged whole and by sentence.

In: judged rows with the verifier's support by sentence. Out: one Splitting per comparison, over only those
rows that splitting changes. A row of several sentences is supported as much as its least supported one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from benchmarks.judged import Judged, Score, difference, score
from benchmarks.remembered import RememberingEntailer
from citewell.core.sentences import sentence_spans
from citewell.models.onnx.entailer import OnnxEntailer
from citewell.verification.evidence import ClaimEvidence, as_evidence
from citewell.verification.verifier import Verifier

Values = list[float | None]
BORDER = 0.5


@dataclass(frozen=True, slots=True)
class Splitting:
    """`gain`: balanced accuracy of `cut` minus that of `whole`, with its 95 % interval."""

    name: str
    whole: Score
    cut: Score
    gain: tuple[float, float, float]


def splitting(rows: Sequence[Judged], by_sentence: Sequence[float | None]) -> list[Splitting]:
    sentences = [[row.claim[a:b] for a, b in sentence_spans(row.claim)] for row in rows]
    several = [i for i, each in enumerate(sentences) if len(each) > 1]
    at_once = RememberingEntailer(OnnxEntailer(by_sentence=False), kind="entailer-at-once")
    return [
        _compared(
            "the claim at once, and its sentences",
            [rows[i] for i in several],
            _least(Verifier(at_once), [(rows[i], [rows[i].claim]) for i in several]),
            [by_sentence[i] for i in several],
        ),
    ]


def _compared(name: str, rows: Sequence[Judged], whole: Values, cut: Values) -> Splitting:
    truth = [row.supported for row in rows]
    gain = difference(whole, cut, truth, BORDER)
    return Splitting(name, score(whole, truth, BORDER), score(cut, truth, BORDER), gain)


def _least(verifier: Verifier, cut: Sequence[tuple[Judged, list[str]]]) -> Values:
    asked = [
        ClaimEvidence(claim=t, evidence=(as_evidence(row.premise),)) for row, texts in cut for t in texts
    ]
    verdicts = iter(verifier.verify_many(asked))
    found: Values = []
    for _, texts in cut:
        known = [v.support for v in (next(verdicts) for _ in texts) if v.support is not None]
        found.append(min(known) if known else None)
    return found
