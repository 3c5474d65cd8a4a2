"""Caught against false alarms, counted by hand; labels and files that cannot be read are one clear error."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from citewell.errors import UsageError
from citewell.evaluation.probes.detectors import (
    Cosine,
    JudgedBy,
    Labelled,
    Verified,
    WordOverlap,
    load_labelled,
    measure,
)
from citewell.models.fake import FakeEntailer, HashEmbedder

TEXT = "The Lisbon office opened in 2014. It employs 120 engineers."
ROWS = (
    Labelled(claim="The Lisbon office opened in 2014.", sources=(TEXT,), supported=True),
    Labelled(claim="The Lisbon office opened in 2019.", sources=(TEXT,), supported=False),
    Labelled(claim="Whales sing at night.", sources=(TEXT,), supported=False),
    Labelled(claim="", sources=(TEXT,), supported=False),
)


def test_caught_and_alarms_are_counted_apart_and_the_empty_claim_is_unscored() -> None:
    detectors = [WordOverlap(), Cosine(HashEmbedder()), Verified(FakeEntailer()), JudgedBy(FakeEntailer())]
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
    row = Labelled(claim="Whales sing at night.", sources=(long,), supported=True)
    short = Labelled(
        claim="Whales sing at night.", sources=("Nothing of note happened here.",), supported=True
    )
    near, far = Cosine(HashEmbedder()).support([row, short])
    assert near is not None
    assert far is not None
    assert near > far


def test_rows_are_read_in_every_shape_and_gzipped(tmp_path: Path) -> None:
    rows = [
        {"claim": "a", "sources": ["b", {"id": "x", "text": "c"}], "label": "supported"},
        {"hypothesis": "a", "premise": "b", "label": "neutral"},
        {"response": "a", "context": "b", "label": "hallucinated"},
        {"claim": "a", "sources": "b", "label": True},
    ]
    path = tmp_path / "rows.jsonl.gz"
    path.write_bytes(gzip.compress("\n".join(map(json.dumps, rows)).encode()))
    found = load_labelled(path)
    assert [row.supported for row in found] == [True, False, False, True]
    assert found[0].sources == ("b", "c")
    assert len(load_labelled(path, most=2)) == 2
    assert load_labelled(path, most=2) == load_labelled(path, most=2)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("{", "line 1 is no JSON"),
        ("[]", "line 1 is no JSON object"),
        ('{"claim": "a", "sources": []}', "no claim or no sources"),
        ('{"claim": "a", "sources": ["b"], "label": "maybe"}', "the label 'maybe' is not known"),
        ("", "holds no labelled claim"),
    ],
)
def test_a_line_that_cannot_be_read_is_named(tmp_path: Path, line: str, said: str) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text(line)
    with pytest.raises(UsageError, match=said):
        load_labelled(path)
