"""Detections against false alarms, counted by hand."""

from __future__ import annotations

from citewell.evaluation.cases import LabelledClaim
from citewell.evaluation.probes.detectors import (
    cosine,
    judge_detector,
    measure,
    verified,
    word_overlap,
)
from citewell.models.fake import FakeEntailer, HashEmbedder

TEXT = "The Lisbon office opened in 2014. It employs 120 engineers."
ROWS = (
    LabelledClaim(claim="The Lisbon office opened in 2014.", sources=(TEXT,), supported=True),
    LabelledClaim(claim="The Lisbon office opened in 2019.", sources=(TEXT,), supported=False),
    LabelledClaim(claim="Whales sing at night.", sources=(TEXT,), supported=False),
    LabelledClaim(claim="", sources=(TEXT,), supported=False),
)


def test_caught_and_alarms_are_counted_apart_and_the_empty_claim_is_unscored() -> None:
    detectors = [
        word_overlap(),
        cosine(HashEmbedder()),
        verified(FakeEntailer()),
        judge_detector(FakeEntailer()),
    ]
    report = measure(ROWS, detectors, data="ours")
    assert (report.n, report.supported) == (4, 1)
    found = {one.detector: one for one in report.detectors}
    words, verifier, judge = found["word overlap"], found["verifier"], found["judge"]
    assert (words.caught.value, words.caught.n, words.caught.unscored) == (0.5, 2, 1)
    assert (words.alarms.value, words.alarms.n) == (0.0, 1)
    assert (verifier.caught.value, verifier.alarms.value) == (1.0, 0.0)
    assert (judge.caught.value, judge.alarms.value, judge.caught.unscored) == (1.0, 0.0, 1)
    assert judge.caught.maker == "fake/word-entailer"


def test_the_nearest_piece_of_a_long_source_counts() -> None:
    long = ("Nothing of note happened here. " * 200) + "Whales sing at night."
    row = LabelledClaim(claim="Whales sing at night.", sources=(long,), supported=True)
    short = LabelledClaim(
        claim="Whales sing at night.", sources=("Nothing of note happened here.",), supported=True
    )
    near, far = map(cosine(HashEmbedder()).support, (row, short))
    assert near is not None
    assert far is not None
    assert near > far
