"""Hugging Face models as entailers or rankers, from a folder or a hub name: ``citewell[huggingface]``.

In: (premise, claim) or (question, passage) texts of any length. Out: probabilities, in order.
The kind of model is read from its ``config.json``, never guessed from its name:

=====================================  ==================================================================
config                                 read as
=====================================  ==================================================================
sequence classification, three labels  NLI (DeBERTa-MNLI...): label order from ``id2label``
sequence classification, two labels    supported or not (MiniCheck): which is which from ``id2label``; 1 is
                                       support if the labels have no names
sequence classification, one label     support by a logistic (HHEM-1); as a ranker: relevance
``T5ForConditionalGeneration``         MiniCheck-Flan-T5: its answer's first token, 1 for supported or 0
``HHEMv2Config``                       HHEM-2: T5 token classification, first token, label 1, its own prompt
token classification, two labels       LettuceDetect: one minus the worst token of the claim; 1 is bad if
                                       the labels have no names
=====================================  ==================================================================

Named labels that do not say which one means support are refused: a model read the wrong way round would
verify false claims.

Code in a model folder is never run. Long premises are split into windows of sentences; the best window
counts.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from citewell.core.errors import ModelError
from citewell.core.records import Entailment, Maker
from citewell.core.sentences import sentence_spans
from citewell.models.saved import (
    base_of,
    break_special_tokens,
    digest,
    folder_of,
    libraries,
    loading,
    model_of,
    settings_of,
    tokenizer_of,
    weights,
)

PREMISE_TOKENS = 400
LEAST_TOKENS = 32
"""A window shorter than this cannot hold a sentence: the claim is then too long for the model."""
ANSWERING = "T5ForConditionalGeneration"
ANSWERING_PROMPT = "predict: {}</s>{}"
HHEM_BASE = "google/flan-t5-base"
HHEM_PROMPT = "<pad> Determine if the hypothesis is true given the premise?\n\nPremise: {}\n\nHypothesis: {}"
SUPPORT_WORDS = (
    *("entail", "support", "consistent", "true", "yes"),
    *("factual", "faithful", "grounded", "correct", "accurate"),
)
HALLUCINATION_WORDS = ("halluc", "fabricat", "error")
CONTRADICTION_WORDS = ("contradict", "refute", "conflict")
NEUTRAL_WORDS = ("neutral", "unrelated", "not enough", "nei")
DENIALS = frozenset(("not", "no", "non", "un", "in", "counter", "insufficient"))
UNNAMED = {0: "label_0", 1: "label_1"}

Triple = tuple[float, float, float]
Loader = Callable[[Path, Path, Any], tuple[Any, dict[int, str]]]
"""(folder, folder of the tokenizer, tokenizer) -> the model and its labels."""


class Kind(NamedTuple):
    """``read``: labels -> a function of the logits and the places of the claim's tokens; ``form``: the
    template that joins premise and claim, if the tokenizer does not."""

    load: Loader
    read: Callable[[dict[int, str]], Callable[[Any, Any], Triple]]
    form: str = ""


class HuggingFaceEntailer:
    """``name`` is a folder or a hub id; ``sha256`` pins the loaded files (hexadecimal, tag optional).

    Raises MissingExtraError without the extra, ModelError for a model that is missing or of an unknown kind,
    and ModelChangedError if the files do not match the pin.
    """

    def __init__(self, name: str, *, sha256: str = "") -> None:
        _, self._torch = libraries()
        folder = folder_of(name)
        settings = settings_of(folder)
        kind = _kind(settings)
        # HHEM-2 publishes only its weights, and names the model with the rest.
        base = base_of(folder, settings.get("foundation", HHEM_BASE)) if kind == "HHEM-2" else folder
        fingerprint = digest(sha256, *dict.fromkeys((folder, base)))
        if kind not in KINDS:
            raise ModelError(
                f"{folder} is a {kind} model", hint=f"use one of: {', '.join(KINDS)}; see docs/models.md"
            )
        tokenizer = tokenizer_of(base)
        self._model, labels = KINDS[kind].load(folder, base, tokenizer)
        self._reading = KINDS[kind].read(labels)
        self._pairing = _Pairing(tokenizer, self._model, "claim", KINDS[kind].form)
        self._said: dict[str, Any] = {}
        if kind == ANSWERING:
            start = self._model.config.decoder_start_token_id
            self._said = {"decoder_input_ids": self._torch.tensor([[start]])}
        self.maker = Maker(name=f"huggingface:{name}", hash=fingerprint)

    def entail(self, pairs: Sequence[tuple[str, str]]) -> list[Entailment]:
        """For a long premise the window with the highest entailment counts; if none entails, the one that
        contradicts most. A claim too long for the model is unchecked, without affecting the others."""
        return [self._one(premise, claim) for premise, claim in pairs]

    def _one(self, premise: str, claim: str) -> Entailment:
        if not premise.strip() or not claim.strip():
            return Entailment.without("nothing to compare")
        try:
            triples = [self._score(part, claim) for part in self._pairing.windows(premise, claim)]
        except ModelError as error:
            return Entailment.without(str(error))
        entails, neutral, contradicts = max(triples)
        worst = max(triples, key=lambda triple: triple[2])
        if entails < 0.5 and worst[2] > contradicts:
            entails, neutral, contradicts = worst
        return Entailment(entailment=entails, neutral=neutral, contradiction=contradicts)

    def _score(self, premise: str, claim: str) -> Triple:
        encoded = self._pairing.encode(premise, claim)
        second = [i for i, part in enumerate(encoded.sequence_ids(0)) if part == 1]
        with self._torch.no_grad():
            logits = self._model(**encoded, **self._said).logits[0]
        return self._reading(logits.float(), second)


class HuggingFaceRanker:
    """A cross-encoder with one output: the logistic of its logit; for a long passage, the best window."""

    def __init__(self, name: str, *, sha256: str = "") -> None:
        _, self._torch = libraries()
        folder = folder_of(name)
        fingerprint = digest(sha256, folder)
        self._model = model_of("AutoModelForSequenceClassification", folder)
        if self._model.config.num_labels != 1:
            raise ModelError(f"{name} has {self._model.config.num_labels} outputs", hint="a ranker has one")
        self._pairing = _Pairing(tokenizer_of(folder), self._model, "question")
        self.maker = Maker(name=f"huggingface:{name}", hash=fingerprint)

    def rank(self, question: str, passages: Sequence[str]) -> list[float]:
        """One probability per passage, 0 for an empty one. Raises ModelError for a question too long for the
        model."""
        return [
            max((self._one(question, part) for part in self._pairing.windows(passage, question)), default=0.0)
            for passage in passages
        ]

    def _one(self, question: str, passage: str) -> float:
        with self._torch.no_grad():
            logit = self._model(**self._pairing.encode(question, passage)).logits[0, 0]
        return float(self._torch.sigmoid(logit.float()))


class _Pairing:
    """Two texts as one model input, paired by its tokenizer or by the template ``form``, and the windows of
    the first that fit alongside the second (called ``asked`` in errors)."""

    def __init__(self, tokenizer: Any, model: Any, asked: str, form: str = "") -> None:
        self._tokenizer = tokenizer
        self._asked = asked
        self._form = form
        self._places = _places(model)

    def windows(self, text: str, asked: str) -> list[str]:
        """Like :func:`windows`. Raises ModelError if ``asked`` leaves no room for a sentence."""
        text = break_special_tokens(self._tokenizer, text)
        room = PREMISE_TOKENS
        if self._places:
            room = min(room, self._places - self.encode("", asked)["input_ids"].shape[1])
        if room < min(LEAST_TOKENS, self._count(text)):
            raise ModelError(
                f"the {self._asked} leaves no room for a text in {self._places} tokens",
                hint=f"split the {self._asked} into sentences",
            )
        return windows(text, self._count, room)

    def encode(self, first: str, second: str) -> Any:
        """Never truncated: callers send only what fits."""
        texts: tuple[str, ...] = (
            break_special_tokens(self._tokenizer, first),
            break_special_tokens(self._tokenizer, second),
        )
        if self._form:
            texts = (self._form.format(*texts),)
        return self._tokenizer(*texts, return_tensors="pt", truncation=False)

    def _count(self, text: str) -> int:
        return len(self._tokenizer(text, add_special_tokens=False)["input_ids"])


def _places(model: Any) -> int:
    """The most tokens that a model accepts; 0 for no limit. RoBERTa-style models start positions after the
    padding index, so that 512 of 514 are usable."""
    places = max(int(getattr(model.config, "max_position_embeddings", 0) or 0), 0)
    lost = [
        part.padding_idx + 1
        for name, part in model.named_modules()
        if name.endswith("position_embeddings") and getattr(part, "padding_idx", None) is not None
    ]
    return places - max(lost, default=0)


def windows(text: str, count: Callable[[str], int], most: int) -> list[str]:
    """Runs of whole sentences of at most ``most`` tokens, each overlapping the previous by one sentence; a
    longer sentence is cut at white space, a longer word anywhere. Every word is in at least one window."""
    if count(text) <= most:
        return [text] if text.strip() else []
    pieces = [piece for a, b in sentence_spans(text) for piece in _pieces(text[a:b], count, most)]
    found: list[str] = []
    start = 0
    while start < len(pieces):
        end = start + 1
        while end < len(pieces) and count(" ".join(pieces[start : end + 1])) <= most:
            end += 1
        found.append(" ".join(pieces[start:end]))
        start = end if end == len(pieces) or end == start + 1 else end - 1
    return found


def _pieces(sentence: str, count: Callable[[str], int], most: int) -> list[str]:
    if len(sentence) < 2 or count(sentence) <= most:
        return [sentence]
    words = sentence.split()
    if len(words) == 1:
        halves = [sentence[: len(sentence) // 2], sentence[len(sentence) // 2 :]]
    else:
        halves = [" ".join(words[: len(words) // 2]), " ".join(words[len(words) // 2 :])]
    return [piece for half in halves for piece in _pieces(half, count, most)]


def _kind(settings: dict[str, Any]) -> str:
    if settings.get("model_type") == "HHEMv2Config":
        return "HHEM-2"
    name = str((settings.get("architectures") or ["unknown"])[0])
    if name == ANSWERING:
        return name
    labels = len(settings.get("id2label") or {}) or int(settings.get("num_labels", 2))
    return f"{name.partition('For')[2]}-{labels}"


def _saved(kind: str) -> Loader:
    """Loads with transformers' class ``kind``; the labels are those of config.json."""

    def load(folder: Path, _base: Path, _tokenizer: Any) -> tuple[Any, dict[int, str]]:
        model = model_of(kind, folder)
        return model, {int(i): str(label).lower() for i, label in model.config.id2label.items()}

    return load


def _answers(folder: Path, _base: Path, tokenizer: Any) -> tuple[Any, dict[int, str]]:
    """Its labels are token ids: the first tokens of the answers 0 and 1."""
    no, yes = (tokenizer(answer, add_special_tokens=False)["input_ids"][0] for answer in "01")
    return model_of("AutoModelForSeq2SeqLM", folder), {no: "unsupported", yes: "supported"}


def _hhem(folder: Path, base: Path, _tokenizer: Any) -> tuple[Any, dict[int, str]]:
    """HHEM-2 publishes T5 weights under a ``t5.`` prefix."""
    from safetensors.torch import load_file

    transformers, _ = libraries()
    with loading(folder):
        config = transformers.T5Config.from_pretrained(base, num_labels=2)
        model = transformers.T5ForTokenClassification(config)
        state = {
            name.removeprefix("t5."): tensor
            for path in weights(folder)
            for name, tensor in load_file(path).items()
        }
        shared = "transformer.encoder.embed_tokens.weight"
        state.setdefault(shared, state["transformer.shared.weight"])
        model.load_state_dict(state)
    return model.eval(), {0: "inconsistent", 1: "consistent"}


def _three(labels: dict[int, str]) -> Callable[[Any, Any], Triple]:
    order = [_find(labels, words) for words in (SUPPORT_WORDS, NEUTRAL_WORDS, CONTRADICTION_WORDS)]
    if len({*order}) != 3 or None in order:
        raise _nameless(labels, "name them entailment, neutral and contradiction in id2label")

    def read(logits: Any, _second: Any) -> Triple:
        p = logits.softmax(-1).tolist()
        return (p[order[0]], p[order[1]], p[order[2]])

    return read


def _two(labels: dict[int, str]) -> Callable[[Any, Any], Triple]:
    supporting = _only(labels, True, "unsupported")

    def read(logits: Any, _second: Any) -> Triple:
        support = float(logits.reshape(-1, 2)[0].softmax(-1)[supporting])
        return (support, 1.0 - support, 0.0)

    return read


def _one_label(labels: dict[int, str]) -> Callable[[Any, Any], Triple]:
    if labels != {0: UNNAMED[0]} and not all(_supports(label) for label in labels.values()):
        raise _nameless(
            labels, "a model of one label gives the probability of support: name it so in id2label"
        )

    def read(logits: Any, _second: Any) -> Triple:
        support = float(logits[0].sigmoid())
        return (support, 1.0 - support, 0.0)

    return read


def _worst_token(labels: dict[int, str]) -> Callable[[Any, Any], Triple]:
    bad = _only(labels, False, "hallucinated")

    def read(logits: Any, second: Any) -> Triple:
        worst = float(logits.softmax(-1)[second, bad].max())
        return (1.0 - worst, worst, 0.0)

    return read


def _answered(labels: dict[int, str]) -> Callable[[Any, Any], Triple]:
    def read(logits: Any, _second: Any) -> Triple:
        no, yes = logits[0].softmax(-1)[list(labels)].tolist()
        if no + yes < 0.5:
            raise ModelError(
                "the model answers neither 0 nor 1", hint="use a T5 model that was trained like MiniCheck"
            )
        return (yes / (no + yes), no / (no + yes), 0.0)

    return read


def _only(labels: dict[int, str], supports: bool, other: str) -> int:
    """The only label that means support, or the only one that means lack of it; 1 if they have no names."""
    found = [1] if labels == UNNAMED else [i for i, label in labels.items() if _supports(label) is supports]
    if len(found) != 1:
        raise _nameless(labels, f"name them supported and {other} in id2label")
    return found[0]


def _nameless(labels: dict[int, str], hint: str) -> ModelError:
    return ModelError(f"labels {sorted(labels.values())} do not say which is entailment", hint=hint)


def _supports(label: str) -> bool | None:
    """Whether the label means support or lack of it; None if its name indicates neither."""
    good, bad = _says(label, SUPPORT_WORDS), _says(label, HALLUCINATION_WORDS)
    if good is None and bad is None:
        return None
    return good is not False and bad is not True


def _says(label: str, words: tuple[str, ...]) -> bool | None:
    """Whether the label contains one of ``words`` or negates one ("not_entailment", "unsupported"); None if
    it has none of them."""
    found = [
        DENIALS.isdisjoint(re.findall("[a-z]+", label[: at.start()]))
        for word in words
        for at in re.finditer(word, label)
    ]
    return all(found) if found else None


def _find(labels: dict[int, str], words: tuple[str, ...]) -> int | None:
    return next((index for index, label in labels.items() if _says(label, words)), None)


SEQUENCE, TOKENS = _saved("AutoModelForSequenceClassification"), _saved("AutoModelForTokenClassification")
KINDS: dict[str, Kind] = {
    "SequenceClassification-3": Kind(SEQUENCE, _three),
    "SequenceClassification-2": Kind(SEQUENCE, _two),
    "SequenceClassification-1": Kind(SEQUENCE, _one_label),
    "TokenClassification-2": Kind(TOKENS, _worst_token),
    ANSWERING: Kind(_answers, _answered, ANSWERING_PROMPT),
    "HHEM-2": Kind(_hhem, _two, HHEM_PROMPT),
}
