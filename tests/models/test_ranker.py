"""The embedded ranker: probabilities, the same in any batch, nothing left out, clear refusals."""

from __future__ import annotations

import pickle
import shutil
from pathlib import Path

import pytest

from citewell.core.errors import ModelChangedError, ModelError, UsageError
from citewell.core.weights import WEIGHTS
from citewell.models.onnx.reading import OnnxRanker, ReadingModel, heading_end

QUESTION = "When was the harbour bridge opened?"
ANSWERING = "The harbour bridge was opened by the mayor on 4 May 1932."
FILLER = "The town has two libraries and a market hall that is open on Saturdays. "


@pytest.fixture(scope="module")
def ranker() -> OnnxRanker:
    return OnnxRanker()


def test_the_passage_that_answers_comes_first(ranker: OnnxRanker) -> None:
    about = "The harbour bridge is painted every ten years by a crew of twelve."
    answers, near, far = ranker.rank(QUESTION, [ANSWERING, about, FILLER])
    assert answers > near > far
    assert answers > 0.5 > far


def test_alone_and_among_others_give_the_same_bits(ranker: OnnxRanker) -> None:
    passages = [ANSWERING, FILLER * 60, "Revenue\t1,204\t1,180\nCost of sales\t804\t790", "bridge"]
    together = ranker.rank(QUESTION, passages)
    assert [ranker.rank(QUESTION, [passage])[0] for passage in passages] == together
    assert ranker.rank(QUESTION, passages[::-1]) == together[::-1]


def test_an_answer_at_the_end_of_a_long_passage_counts(ranker: OnnxRanker) -> None:
    without, with_ = ranker.rank(QUESTION, [FILLER * 60, FILLER * 60 + ANSWERING])
    assert with_ > 0.5 > without


def test_every_token_is_in_a_window_under_the_heading_lines() -> None:
    model = ReadingModel.shared()
    head = "Town guide › Sights\n"
    passage = head + FILLER * 60 + "x" * 40 + " word" * 900
    windows = model.read(QUESTION, [passage])[0]
    places = {tuple(place) for window in windows for place in window.offsets.tolist()}
    every = model.session.tokenizer.encode(passage, add_special_tokens=False).offsets
    assert places == set(every)
    assert all(tuple(window.offsets[0].tolist()) == every[0] for window in windows)


def test_a_window_is_small_enough_to_remember_thousands() -> None:
    (window,) = ReadingModel.shared().read(QUESTION, [ANSWERING])[0]
    assert len(pickle.dumps(window)) < 24 * len(window.offsets) + 1_000


@pytest.mark.parametrize(
    ("passage", "head"),
    [
        ("Guide › Sights\nThe bridge is old.", "Guide › Sights\n"),
        ("Acme › Income\n(In thousands): 2022\nSales\t3", "Acme › Income\n(In thousands): 2022\n"),
        ("The bridge is old.", ""),
        ("bridge", ""),
    ],
)  # fmt: skip
def test_heading_lines_end_before_the_first_sentence_or_row(passage: str, head: str) -> None:
    assert passage[: heading_end(passage)] == head


def test_nothing_asked_of_nothing(ranker: OnnxRanker) -> None:
    assert ranker.rank(QUESTION, []) == []


@pytest.mark.parametrize(
    ("question", "passage"), [("", "text"), ("  ", "text"), (QUESTION, ""), (QUESTION, "\n")]
)
def test_empty_input_is_refused(ranker: OnnxRanker, question: str, passage: str) -> None:
    with pytest.raises(UsageError, match="no words"):
        ranker.rank(question, [passage])


def test_a_question_without_end_is_refused(ranker: OnnxRanker) -> None:
    with pytest.raises(UsageError, match="tokens"):
        ranker.rank("why " * 600, [ANSWERING])


def test_a_changed_file_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / "reading"
    shutil.copytree(WEIGHTS / "reading", folder)
    with (folder / "tokenizer.json").open("a") as file:
        file.write(" ")
    with pytest.raises(ModelChangedError, match="tokenizer"):
        OnnxRanker(ReadingModel(folder))


def test_missing_weights_are_named(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"card\.json"):
        OnnxRanker(ReadingModel(tmp_path / "nowhere"))
