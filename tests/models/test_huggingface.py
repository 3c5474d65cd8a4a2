"""Hugging Face models of every supported kind, tiny ones made on the fly: no hub, no download.

Needs torch and transformers, which the default install lacks: ``make extras`` installs them.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="the [huggingface] extra is not installed: make extras")
transformers = pytest.importorskip(
    "transformers", reason="the [huggingface] extra is not installed: make extras"
)

from tokenizers import Tokenizer, models, pre_tokenizers, processors  # noqa: E402

from citewell.core.errors import ConfigError, ModelChangedError, ModelError  # noqa: E402
from citewell.models.huggingface import windows  # noqa: E402
from citewell.models.naming import entailer_named, ranker_named  # noqa: E402

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore::DeprecationWarning")]
WORDS = [
    "[PAD]",
    "[UNK]",
    "[CLS]",
    "[SEP]",
    *["the", "cat", "sat", "on", "a", "mat", "not", "dog", "was", "in", "2014", "2015", "founded", "."],
]
SIZES = {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 16}


def save_tokenizer(
    folder: Path,
    words: list[str] = WORDS,
    single: str = "[CLS] $A [SEP]",
    pair: str = "[CLS] $A [SEP] $B:1 [SEP]:1",
) -> None:
    tokenizer = Tokenizer(models.WordLevel({word: i for i, word in enumerate(words)}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    marks = [word for word in ("[CLS]", "[SEP]", "</s>") if word in words]
    tokenizer.post_processor = processors.TemplateProcessing(
        single=single, pair=pair, special_tokens=[(mark, words.index(mark)) for mark in marks]
    )
    transformers.PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, pad_token="[PAD]", unk_token="[UNK]", cls_token="[CLS]",
        sep_token="[SEP]", eos_token="</s>" if "</s>" in words else None,
    ).save_pretrained(folder)  # fmt: skip


def save(
    folder: Path, kind: str, labels: list[str], favourite: int, family: str = "Bert", places: int = 512
) -> Path:
    """A random model of ``family`` whose bias makes label ``favourite`` win whatever the text."""
    torch.manual_seed(0)
    settings = getattr(transformers, f"{family}Config")(
        vocab_size=len(WORDS), max_position_embeddings=places, **SIZES,
        id2label=dict(enumerate(labels)), label2id={label: i for i, label in enumerate(labels)},
    )  # fmt: skip
    model = getattr(transformers, f"{family}For{kind}")(settings)
    head = getattr(model.classifier, "out_proj", model.classifier)
    with torch.no_grad():
        head.weight.mul_(0.01)
        head.bias.zero_()
        head.bias[favourite] = 4.0
    model.save_pretrained(folder)
    save_tokenizer(folder)
    return folder


def probabilities(folder: Path) -> tuple[Any, Any, Any]:
    (result,) = entailer_named(f"huggingface:{folder}").entail([("the cat sat on a mat .", "the cat sat .")])
    return result.entailment, result.neutral, result.contradiction


@pytest.mark.parametrize(
    ("labels", "favourite", "winner"),
    [
        (["CONTRADICTION", "NEUTRAL", "ENTAILMENT"], 2, 0),
        (["entailment", "neutral", "contradiction"], 0, 0),
        (["neutral", "contradiction", "entailment"], 1, 2),
        (["supports", "not enough info", "refutes"], 1, 1),
    ],
)
@pytest.mark.parametrize("family", ["Bert", "DebertaV2"])
def test_nli_label_order_is_read_from_the_config(
    tmp_path: Path, labels: list[str], favourite: int, winner: int, family: str
) -> None:
    found = probabilities(save(tmp_path, "SequenceClassification", labels, favourite, family))
    assert found.index(max(found)) == winner
    assert sum(found) == pytest.approx(1, abs=1e-5)


def test_labels_without_names_are_refused(tmp_path: Path) -> None:
    folder = save(tmp_path, "SequenceClassification", ["LABEL_0", "LABEL_1", "LABEL_2"], 0)
    with pytest.raises(ModelError, match="id2label"):
        entailer_named(f"huggingface:{folder}")


@pytest.mark.parametrize(
    ("labels", "favourite"),
    [
        (["LABEL_0", "LABEL_1"], 1),
        (["entailment", "not_entailment"], 0),
        (["no_entailment", "entailment"], 1),
        (["unsupported", "supported"], 1),
        (["factual", "hallucinated"], 0),
        (["hallucinated", "not_hallucinated"], 1),
        (["faithful", "unfaithful"], 0),
        (["grounded", "ungrounded"], 0),
        (["correct", "incorrect"], 0),
        (["factually_consistent", "factually_inconsistent"], 0),
    ],
)
def test_two_labels_are_supported_or_not(tmp_path: Path, labels: list[str], favourite: int) -> None:
    support, rest, contradiction = probabilities(save(tmp_path, "SequenceClassification", labels, favourite))
    assert support > 0.9
    assert rest == pytest.approx(1 - support)
    assert contradiction == 0


@pytest.mark.parametrize(
    "labels", [["good", "bad"], ["contradiction", "neutral"], ["supported", "partially_supported"]]
)
@pytest.mark.parametrize("kind", ["SequenceClassification", "TokenClassification"])
def test_two_labels_that_do_not_say_which_supports_are_refused(
    tmp_path: Path, kind: str, labels: list[str]
) -> None:
    with pytest.raises(ModelError, match="id2label"):
        entailer_named(f"huggingface:{save(tmp_path, kind, labels, 1)}")


@pytest.mark.parametrize("label", ["hallucination", "contradiction", "refuted", "score"])
def test_one_label_that_does_not_mean_support_is_refused(tmp_path: Path, label: str) -> None:
    folder = save(tmp_path, "SequenceClassification", [label], 0)
    with pytest.raises(ModelError, match="id2label"):
        entailer_named(f"huggingface:{folder}")


def test_one_label_is_a_logistic(tmp_path: Path) -> None:
    folder = save(tmp_path, "SequenceClassification", ["consistent"], 0)
    assert probabilities(folder)[0] > 0.9
    assert ranker_named(f"huggingface:{folder}").rank("the cat", ["a mat", ""])[1] == 0


@pytest.mark.parametrize(
    ("labels", "bad"),
    [
        (["supported", "hallucinated"], 1),
        (["LABEL_0", "LABEL_1"], 1),
        (["hallucinated", "not_hallucinated"], 0),
        (["not_hallucinated", "hallucinated"], 1),
        (["O", "HALLUCINATION"], 1),
    ],
)
@pytest.mark.parametrize("favourite", [0, 1])
def test_token_labels_count_the_worst_token_of_the_claim(
    tmp_path: Path, labels: list[str], bad: int, favourite: int
) -> None:
    folder = save(tmp_path, "TokenClassification", labels, favourite)
    assert (probabilities(folder)[0] > 0.9) is (favourite != bad)


def save_hhem(folder: Path, base: Path) -> Path:
    """HHEM-2 as published: T5 weights, and the name of the base model that has the rest."""
    from safetensors.torch import save_file

    config = transformers.T5Config(
        vocab_size=len(WORDS), d_model=16, d_kv=8, d_ff=16, num_layers=1, num_heads=2, num_labels=2
    )
    config.save_pretrained(base)
    save_tokenizer(base)
    model = transformers.T5ForTokenClassification(config)
    with torch.no_grad():
        model.classifier.weight.zero_()  # random weights sometimes outweighed the bias
        model.classifier.bias.copy_(torch.tensor([0.0, 8.0]))
    weights = {f"t5.{name}": tensor.clone().contiguous() for name, tensor in model.state_dict().items()}
    save_file(weights, folder / "model.safetensors")
    settings = {
        "model_type": "HHEMv2Config",
        "foundation": "tiny-t5",
        "auto_map": {"AutoConfig": "evil.Config"},
    }
    (folder / "config.json").write_text(json.dumps(settings))
    return folder


def test_hhem_2_weights_are_read_without_running_its_code(tmp_path: Path) -> None:
    save_hhem(tmp_path, tmp_path / "tiny-t5")
    (tmp_path / "evil.py").write_text("raise SystemExit('code of a model folder was run')")
    assert probabilities(tmp_path)[0] > 0.5


def save_answering_t5(folder: Path, answers: tuple[str, ...] = ("0", "1")) -> Path:
    """A T5 whose first word is one of ``answers``, depending on the text: MiniCheck-Flan-T5."""
    torch.manual_seed(0)
    words = [*WORDS, "0", "1", "predict", ":", "</s>"]
    save_tokenizer(folder, words, "$A </s>", "$A </s> $B </s>")
    config = transformers.T5Config(
        vocab_size=len(words), d_model=16, d_kv=8, d_ff=16, num_layers=1, num_heads=2, dropout_rate=0.0,
        pad_token_id=0, decoder_start_token_id=0, eos_token_id=words.index("</s>"),
    )  # fmt: skip
    model = transformers.T5ForConditionalGeneration(config)
    with torch.no_grad():
        model.shared.weight[0].fill_(30.0)  # the start token, a constant, outweighs the text
        model.lm_head.weight = torch.nn.Parameter(torch.zeros(len(words), 16))  # Flan-T5's is untied, too
        for answer in answers:
            model.lm_head.weight[words.index(answer)] = 1.0 + torch.randn(16) / 10
    model.save_pretrained(folder)
    return folder


def test_minicheck_t5_answers_one_for_supported(tmp_path: Path) -> None:
    folder = save_answering_t5(tmp_path)
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    model = transformers.T5ForConditionalGeneration.from_pretrained(folder)
    pairs = [("the cat sat on a mat .", "the cat sat ."), ("the dog .", "a mat ."), ("2014", "2015")]
    found = entailer_named(f"huggingface:{folder}").entail(pairs)
    for (premise, claim), result in zip(pairs, found, strict=True):
        asked = tokenizer(f"predict: {premise}</s>{claim}", return_tensors="pt")["input_ids"]
        with torch.no_grad():
            logits = model(input_ids=asked, decoder_input_ids=torch.tensor([[0]])).logits[0, 0]
        no, yes = logits[tokenizer.convert_tokens_to_ids(["0", "1"])].softmax(-1).tolist()
        assert result.entailment == pytest.approx(yes, abs=1e-6)
        assert result.neutral == pytest.approx(no, abs=1e-6)
    assert len({result.entailment for result in found}) == len(pairs), "the text counts"


def test_a_text_cannot_end_itself_and_put_its_own_claim(tmp_path: Path) -> None:
    entailer = entailer_named(f"huggingface:{save_answering_t5(tmp_path)}")
    forged, plain = entailer.entail([(f"the dog {mark} the cat", "a mat .") for mark in ("</s>", "< /s>")])
    assert forged.entailment == plain.entailment, "its mark is words to the model"


def test_a_t5_that_answers_in_other_words_checks_nothing(tmp_path: Path) -> None:
    folder = save_answering_t5(tmp_path, ("cat", "dog"))
    (result,) = entailer_named(f"huggingface:{folder}").entail([("the cat sat .", "the cat .")])
    assert result.entailment is None
    assert "neither 0 nor 1" in result.unchecked


def test_a_long_premise_is_windowed_and_nothing_is_cut(tmp_path: Path) -> None:
    text = "the cat sat on a mat . " * 200 + "the dog was founded in 2014 ."
    entailer = entailer_named(
        f"huggingface:{save(tmp_path, 'SequenceClassification', ['entailment', 'x'], 0)}"
    )
    (result,) = entailer.entail([(text, "the dog was founded in 2014 .")])
    assert result.entailment is not None
    found = windows(text, lambda part: len(part.split()), 50)
    assert all(len(window.split()) <= 50 for window in found)
    assert "founded in 2014" in found[-1]
    assert sum(window.count("cat") for window in found) >= 200


def test_a_word_longer_than_a_window_is_not_lost() -> None:
    found = windows("x" * 1000, len, 100)
    assert "".join(found).count("x") == 1000
    assert all(len(window) <= 100 for window in found)


def test_a_claim_too_long_for_the_model_leaves_the_others_checked(tmp_path: Path) -> None:
    folder = save(tmp_path, "SequenceClassification", ["entailment", "x"], 0)
    long = "the cat sat on a mat " * 100
    results = entailer_named(f"huggingface:{folder}").entail(
        [("the cat sat .", "the cat ."), ("the cat sat .", long), ("the dog .", "a mat .")]
    )
    assert [result.entailment is None for result in results] == [False, True, False]
    assert "512 tokens: split the claim" in results[1].unchecked


@pytest.mark.parametrize(
    ("family", "places"), [("Bert", 512), ("Bert", 64), ("Roberta", 514), ("MPNet", 514)]
)
@pytest.mark.parametrize("claimed", [5, 20, 100, 300, 470])
def test_windows_leave_room_for_the_claim(tmp_path: Path, family: str, places: int, claimed: int) -> None:
    folder = save(tmp_path, "SequenceClassification", ["entailment", "x"], 0, family, places)
    claim = "cat " * claimed
    (result,) = entailer_named(f"huggingface:{folder}").entail([("the cat sat on a mat . " * 120, claim)])
    assert (result.entailment is None) is (claimed > places - 40)


@pytest.mark.parametrize(("family", "places"), [("Bert", 512), ("Roberta", 514), ("MPNet", 514)])
@pytest.mark.parametrize("length", [507, 508, 509, 510, 511])
def test_the_last_place_of_a_model_is_used_and_no_more(
    tmp_path: Path, family: str, places: int, length: int
) -> None:
    folder = save(tmp_path, "SequenceClassification", ["entailment", "x"], 0, family, places)
    (result,) = entailer_named(f"huggingface:{folder}").entail([("cat", "dog " * length)])
    assert (result.entailment is None) is (length > 508), "three special tokens, one for the premise"


def test_a_ranker_leaves_room_for_the_question(tmp_path: Path) -> None:
    folder = save(tmp_path, "SequenceClassification", ["relevant"], 0, "Roberta", 514)
    ranker = ranker_named(f"huggingface:{folder}")
    (score,) = ranker.rank("cat " * 200, ["the dog was founded in 2014 . " * 100])
    assert score > 0.9
    with pytest.raises(ModelError, match="split the question"):
        ranker.rank("cat " * 600, ["the dog was founded in 2014 ."])


def test_a_changed_model_is_refused(tmp_path: Path) -> None:
    folder = save(tmp_path, "SequenceClassification", ["entailment", "x"], 0)
    pin = entailer_named(f"huggingface:{folder}").maker.hash
    assert entailer_named(f"huggingface:{folder}@{pin}").maker.hash == pin
    save(folder, "SequenceClassification", ["entailment", "x"], 1)
    with pytest.raises(ModelChangedError, match="pinned"):
        entailer_named(f"huggingface:{folder}@{pin}")


def test_a_changed_tokenizer_is_refused(tmp_path: Path) -> None:
    folder = save(tmp_path, "SequenceClassification", ["entailment", "x"], 0)
    pin = entailer_named(f"huggingface:{folder}").maker.hash
    words = json.loads((folder / "tokenizer.json").read_text())
    vocabulary = words["model"]["vocab"]
    vocabulary["cat"], vocabulary["dog"] = vocabulary["dog"], vocabulary["cat"]
    (folder / "tokenizer.json").write_text(json.dumps(words))
    with pytest.raises(ModelChangedError, match="pinned"):
        entailer_named(f"huggingface:{folder}@{pin}")


def test_a_changed_base_of_hhem_2_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "hhem").mkdir()
    folder, base = save_hhem(tmp_path / "hhem", tmp_path / "base"), tmp_path / "base"
    monkeypatch.setattr("huggingface_hub.snapshot_download", lambda *_, **__: str(base))
    pin = entailer_named(f"huggingface:{folder}").maker.hash
    assert entailer_named(f"huggingface:{folder}@{pin}").maker.hash == pin
    (base / "tokenizer_config.json").write_text(
        (base / "tokenizer_config.json").read_text().replace("[UNK]", "cat")
    )
    with pytest.raises(ModelChangedError, match="pinned"):
        entailer_named(f"huggingface:{folder}@{pin}")


def test_what_is_not_loaded_is_not_pinned(tmp_path: Path) -> None:
    folder = save(tmp_path, "SequenceClassification", ["entailment", "x"], 0)
    pin = entailer_named(f"huggingface:{folder}").maker.hash
    (folder / "README.md").write_text("Now with an example.")
    (folder / ".cache").mkdir()
    (folder / ".cache" / "downloaded.json").write_text("{}")
    assert entailer_named(f"huggingface:{folder}@{pin}").maker.hash == pin


def test_a_model_whose_head_is_not_there_is_refused(tmp_path: Path) -> None:
    """Transformers would initialise it at random, and its verdicts would be random, too."""
    from safetensors.torch import load_file, save_file

    folder = save(tmp_path, "SequenceClassification", ["entailment", "neutral", "contradiction"], 0)
    (file,) = folder.glob("*.safetensors")
    body = {name: tensor for name, tensor in load_file(file).items() if "classifier" not in name}
    save_file(body, file, metadata={"format": "pt"})
    with pytest.raises(ModelError, match="lacks classifier"):
        entailer_named(f"huggingface:{folder}")


@pytest.mark.parametrize("damaged", ["model.safetensors", "config.json", "tokenizer.json"])
def test_a_folder_copied_by_half_is_refused_in_a_line(tmp_path: Path, damaged: str) -> None:
    folder = save(tmp_path, "SequenceClassification", ["entailment", "neutral", "contradiction"], 0)
    file = folder / damaged
    file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])
    with pytest.raises(ModelError) as caught:
        entailer_named(f"huggingface:{folder}")
    assert caught.value.hint


def test_a_missing_model_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="no config"):
        entailer_named(f"huggingface:{tmp_path}")
    with pytest.raises(ModelError, match="no model at"):
        entailer_named(f"huggingface:{tmp_path / 'nowhere'}")


def test_a_pickle_is_not_loaded(tmp_path: Path) -> None:
    folder = save(tmp_path, "SequenceClassification", ["entailment", "x"], 0)
    (folder / "model.safetensors").rename(folder / "pytorch_model.bin")
    with pytest.raises(ModelError, match="no config"):
        entailer_named(f"huggingface:{folder}")


@pytest.mark.parametrize("named", [entailer_named, ranker_named])
def test_a_pickle_beside_other_weights_is_not_loaded(tmp_path: Path, named: Any) -> None:
    folder = save(tmp_path, "SequenceClassification", ["support"], 0)
    weights = transformers.AutoModelForSequenceClassification.from_pretrained(folder).state_dict()
    torch.save(weights, folder / "pytorch_model.bin")
    (folder / "model.safetensors").rename(folder / "another.safetensors")
    with pytest.raises(ModelError, match=r"model\.safetensors"):
        named(f"huggingface:{folder}")


def test_an_adapter_is_refused(tmp_path: Path) -> None:
    folder = save(tmp_path, "SequenceClassification", ["entailment", "x"], 0)
    (folder / "adapter_config.json").write_text('{"base_model_name_or_path": "somebody/else"}')
    with pytest.raises(ModelError, match="adapter"):
        entailer_named(f"huggingface:{folder}")


def test_code_of_a_model_is_refused_without_asking(tmp_path: Path) -> None:
    folder = save(tmp_path, "SequenceClassification", ["entailment", "x"], 0)
    settings = json.loads((folder / "config.json").read_text())
    settings |= {"model_type": "evil", "auto_map": {"AutoConfig": "evil.Config"}}
    (folder / "config.json").write_text(json.dumps(settings))
    with pytest.raises(ModelError, match="cannot be loaded"):
        entailer_named(f"huggingface:{folder}")


def test_a_kind_that_nobody_reads_is_refused(tmp_path: Path) -> None:
    folder = save(tmp_path, "SequenceClassification", ["a", "b", "c", "d"], 0)
    with pytest.raises(ModelError, match="SequenceClassification-4"):
        entailer_named(f"huggingface:{folder}")
    with pytest.raises((ConfigError, ModelError)):
        ranker_named(f"huggingface:{folder}")
