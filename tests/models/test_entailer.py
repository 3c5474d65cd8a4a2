"""The embedded entailer: same bits whatever runs alongside, files checked, nothing cut silently."""

from __future__ import annotations

import json
import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from citewell.core.errors import ModelChangedError, ModelError
from citewell.core.weights import WEIGHTS
from citewell.models.onnx.entailer import OnnxEntailer

PAIRS = [
    ("A man is sleeping on a bench in the park.", "A man is awake."),
    (
        "Revenue was 51.2 billion dollars in 2023. It rose 10 % over 2022.",
        "Revenue was 51.2 billion dollars.",
    ),
    ("The committee may approve the plan.", "The committee approved the plan."),
    (
        "The treaty was signed in Ghent. " + "Nothing else of note happened in the town that day. " * 60,
        "It was signed.",
    ),
]


@pytest.fixture(scope="module")
def entailer() -> OnnxEntailer:
    return OnnxEntailer()


def test_same_bits_alone_among_others_and_in_threads(entailer: OnnxEntailer) -> None:
    together = entailer.entail(PAIRS)
    alone = [entailer.entail([pair])[0] for pair in PAIRS]
    backwards = entailer.entail(PAIRS[::-1])[::-1]
    with ThreadPoolExecutor(4) as pool:
        threaded = [result[0] for result in pool.map(lambda pair: entailer.entail([pair]), PAIRS)]
    one_thread = OnnxEntailer(threads=1).entail(PAIRS)
    assert together == alone == backwards == threaded == one_thread


def test_probabilities_sum_to_one_and_name_their_maker(entailer: OnnxEntailer) -> None:
    for result in entailer.entail(PAIRS):
        assert result.entailment is not None
        assert result.neutral is not None
        assert result.contradiction is not None
        assert result.entailment + result.neutral + result.contradiction == pytest.approx(1.0)
    assert entailer.maker.hash.startswith("sha256:")


def test_plain_cases_are_judged_right(entailer: OnnxEntailer) -> None:
    same, denied, other = entailer.entail(
        [
            ("The company opened a plant in Ohio in 2019.", "The company opened a plant in Ohio."),
            ("The company opened a plant in Ohio in 2019.", "The company did not open a plant in Ohio."),
            ("The company opened a plant in Ohio in 2019.", "The chairman likes to sail."),
        ]
    )
    assert same.entailment is not None
    assert same.entailment > 0.5
    assert denied.contradiction is not None
    assert denied.contradiction > 0.5
    assert other.entailment is not None
    assert other.entailment < 0.5


def test_evidence_at_the_end_of_a_long_premise_is_found(entailer: OnnxEntailer) -> None:
    filler = "The weather was mild and the harbour was calm that week. " * 150
    fact = "The company opened a plant in Ohio in 2019."
    found, absent = entailer.entail([(filler + fact, fact), (filler, fact)])
    assert found.entailment is not None
    assert absent.entailment is not None
    assert found.entailment > 0.5 > absent.entailment


def test_how_much_of_a_long_premise_was_read_is_told(entailer: OnnxEntailer) -> None:
    filler = "The weather was mild and the harbour was calm that week. " * 59
    long, short, two = entailer.entail(
        [
            (filler + "The firm's founder stepped down.", "The CEO resigned."),
            ("The firm's founder stepped down. She was ill.", "The CEO resigned."),
            (filler + "The firm's founder stepped down.", "The founder stepped down. The CEO resigned."),
        ]
    )
    assert 0 < long.read < long.units == 60
    assert short.read == short.units == 2
    assert two.read == long.read


def test_what_cannot_be_read_is_unchecked_with_a_reason(entailer: OnnxEntailer) -> None:
    long = " ".join(["word"] * 300)
    empty, blank, endless = entailer.entail([("Some text.", ""), ("  ", "A claim."), ("Some text.", long)])
    assert (empty.unchecked, blank.unchecked) == ("empty claim", "empty premise")
    assert "300 tokens" in endless.unchecked
    assert endless.entailment is None


def test_one_unchecked_pair_leaves_the_others_in_place(entailer: OnnxEntailer) -> None:
    mixed = entailer.entail([PAIRS[0], ("Some text.", ""), PAIRS[1]])
    assert mixed[0] == entailer.entail([PAIRS[0]])[0]
    assert mixed[2] == entailer.entail([PAIRS[1]])[0]


@pytest.mark.parametrize("name", ["model.onnx", "tokenizer.json"])
def test_a_changed_file_is_refused(tmp_path: Path, name: str) -> None:
    folder = tmp_path / "entailer"
    shutil.copytree(WEIGHTS / "entailer", folder)
    with (folder / name).open("ab") as file:
        file.write(b" ")
    with pytest.raises(ModelChangedError, match=name):
        OnnxEntailer(folder)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"card\.json"):
        OnnxEntailer(tmp_path)


def test_the_card_lists_every_training_set_with_its_licence() -> None:
    card = json.loads((WEIGHTS / "entailer" / "card.json").read_text(encoding="utf-8"))
    assert card["trained_on"]
    assert all(
        each["licence"] and each["sha256"] and each["ship"] in ("yes", "unclear")
        for each in card["trained_on"]
    )
