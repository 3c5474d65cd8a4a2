"""Quote-constrained decoding on a model with random weights: whatever it writes, every quote is in its
source.

Needs torch, transformers and llguidance, which the default install lacks: ``make extras`` installs them.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="the [local] extra is not installed: make extras")
transformers = pytest.importorskip("transformers", reason="the [local] extra is not installed: make extras")
pytest.importorskip("llguidance", reason="the [local] extra is not installed: make extras")

from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers  # noqa: E402

from citewell.core.config import Writer  # noqa: E402
from citewell.core.errors import GeneratorError, ModelChangedError  # noqa: E402
from citewell.core.ports import Form, GenerationRequest, Prompted, Sufficiency  # noqa: E402
from citewell.generation import LanguageModelWriter  # noqa: E402
from citewell.generation.prompting import quotable, quote_gbnf, quote_grammar  # noqa: E402
from citewell.models.judges import ModelGateJudge  # noqa: E402
from citewell.models.naming import language_model_named  # noqa: E402
from citewell.verification.verbatim import find_all  # noqa: E402

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore::DeprecationWarning")]

TEXTS = (
    'The bridge "opened" in 1932; its toll of $1.50 was abolished in 1958.\nTrains cross\tit every hour.',
    "Café Zürich closed on 3 May 2021 [see note] because of a leak. It reopened in June.",
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A GPT-2 of two thin layers with random weights, and a byte-level tokenizer trained on the texts."""
    return random_model(tmp_path_factory.mktemp("model"), TEXTS)


def random_model(folder: Path, texts: tuple[str, ...], positions: int = 4096) -> Path:
    torch.manual_seed(7)
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(vocab_size=400, initial_alphabet=alphabet, special_tokens=["<|end|>"])
    tokenizer.train_from_iterator([*texts, "[SOURCE_1: ] [inference: the reasoning]"], trainer)
    fast = transformers.PreTrainedTokenizerFast(tokenizer_object=tokenizer, eos_token="<|end|>")
    fast.save_pretrained(folder)
    config = transformers.GPT2Config(
        vocab_size=len(fast), n_positions=positions, n_embd=32, n_layer=2, n_head=2,
        bos_token_id=fast.eos_token_id, eos_token_id=fast.eos_token_id,
    )  # fmt: skip
    transformers.GPT2LMHeadModel(config).save_pretrained(folder)
    return folder


def quotes_of(text: str) -> list[tuple[int, str]]:
    found = re.findall(r'\[SOURCE_(\d): "(.*?)"\](?= )', text, re.DOTALL)
    return [(int(number), quote) for number, quote in found]


@pytest.mark.parametrize("dialect", ["lark", "gbnf"])
def test_whatever_it_writes_every_quote_is_in_its_source(folder: Path, pages: Any, dialect: str) -> None:
    passages = [pages.text(text, document_id=f"{n}.txt") for n, text in enumerate(TEXTS)]
    model = language_model_named(f"local:{folder}", Writer())
    grammar = (quote_grammar if dialect == "lark" else quote_gbnf)(passages)
    seen = 0
    for seed in range(30):
        said = model.complete(
            Prompted(
                system="",
                user="x",
                grammar=grammar,
                dialect=dialect,
                temperature=1.0,
                seed=seed,
                max_tokens=60,
            )
        )
        for number, quote in quotes_of(said.text):
            seen += 1
            words = f" {quotable(passages[number - 1])} "
            assert f" {quote.strip()} " in words, "a contiguous run of whole words"
    assert seen >= 4


def test_the_checker_finds_every_quote_of_a_draft(folder: Path, pages: Any) -> None:
    passages = tuple(pages.text(text, document_id=f"{n}.txt") for n, text in enumerate(TEXTS))
    settings = Writer(
        max_tokens=700, temperature=1.0, sampling_temperature=1.0, example=False, timeout_s=3600.0
    )
    writer = LanguageModelWriter(language_model_named(f"local:{folder}", settings), settings)
    by_id = {passage.chunk.chunk_id: passage.chunk.content for passage in passages}
    quotes = []
    for seed in range(4):
        draft = writer.generate(
            GenerationRequest(question="When?", aspects=("When?",), passages=passages, seed=seed)
        )
        assert draft.cost == 0.0
        assert draft.usage.completion > 0
        quotes += [quote for claim in draft.claims for quote in claim.quotes]
    assert quotes
    assert all(find_all(quote.text, by_id[quote.source]) for quote in quotes if quote.text.strip(" \"'"))


def test_without_the_grammar_it_writes_nothing_of_the_kind(folder: Path) -> None:
    model = language_model_named(f"local:{folder}", Writer())
    said = model.complete(Prompted(system="", user="x", temperature=1.0, seed=1, max_tokens=60))
    assert quotes_of(said.text) == []


def test_the_same_seed_says_the_same(folder: Path) -> None:
    model = language_model_named(f"local:{folder}", Writer())
    prompted = Prompted(system="a", user="b", temperature=1.0, seed=3, max_tokens=30)
    assert model.complete(prompted).text == model.complete(prompted).text


def test_it_is_pinned_and_says_what_it_is(folder: Path) -> None:
    model = language_model_named(f"local:{folder}", Writer())
    assert model.forms[0] is Form.GRAMMAR
    assert model.maker.hash.startswith("sha256:")
    with pytest.raises(ModelChangedError):
        language_model_named(f"local:{folder}@sha256:{'0' * 64}", Writer())


def test_what_does_not_fit_is_an_error_not_a_cut(folder: Path) -> None:
    model = language_model_named(f"local:{folder}", Writer())
    with pytest.raises(GeneratorError, match="do not fit"):
        model.complete(Prompted(system="", user="x", max_tokens=5000))


def test_a_judge_on_this_machine_is_held_to_its_rubric(folder: Path, pages: Any) -> None:
    judge = ModelGateJudge(language_model_named(f"local:{folder}", Writer()))
    verdict = judge.sufficient("When?", [pages.text(TEXTS[0])])
    # Random weights may never close a string; then it is cut off, which is not a pass.
    assert verdict.verdict in set(Sufficiency)
    assert verdict.usage.completion > 0
    assert verdict.maker.hash.startswith("sha256:")


def test_a_schema_holds_what_it_writes(folder: Path) -> None:
    schema = {
        "type": "object",
        "properties": {"grounded": {"type": "boolean"}},
        "required": ["grounded"],
        "additionalProperties": False,
    }
    model = language_model_named(f"local:{folder}", Writer())
    prompted = Prompted(system="", user="x", schema=schema, temperature=1.0, seed=2, max_tokens=400)
    said = model.complete(prompted)
    if said.whole:
        assert json.loads(said.text)["grounded"] in (True, False)
    assert said.text.lstrip().startswith("{")


def test_writing_ends_in_time_and_says_so(folder: Path) -> None:
    model = language_model_named(f"local:{folder}", Writer(timeout_s=0.001))
    said = model.complete(Prompted(system="", user="x", temperature=1.0, max_tokens=60))
    assert not said.whole
    assert "writer.timeout_s" in said.notes[0]
