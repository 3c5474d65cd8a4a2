"""One line of configuration -> an entailer, a ranker, or a language model that writes, rewords or judges.

    embedded                                  the packaged weights
    judge                                     as entailer: the weights of citewell-judge
    huggingface:FOLDER_OR_ID[@sha256:HASH]    any kind that models/huggingface.py lists; pinned by @
    openai:MODEL      anthropic:MODEL         a judge with the rubric of prompts/entailment_judge.txt
    A + B                                     agreement required
    A > B                                     borderline cases only are sent to B
    local:FOLDER_OR_ID[@sha256:HASH]          a language model by transformers on this machine

In: the line. Out: the model behind its port. Raises ConfigError for a line that cannot be read.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from citewell.core.config import Writer
from citewell.core.errors import ConfigError
from citewell.core.ports import Entailer, LanguageModel, Ranker
from citewell.core.weights import judge_folder
from citewell.models.panel import AgreementEntailer, EscalatingEntailer

Model = TypeVar("Model")

PANELS: dict[str, Callable[[list[Entailer]], Entailer]] = {
    " + ": AgreementEntailer,
    " > ": EscalatingEntailer,
}


def entailer_named(line: str) -> Entailer:
    """The entailer, or panel of entailers, that ``line`` names."""
    joint, members = panel_of(line)
    if members:
        return PANELS[joint]([entailer_named(member) for member in members])
    return _make(line, ENTAILERS, "entailer")


def panel_of(line: str) -> tuple[str, list[str]]:
    """(what joins the members, each member's line); ("", []) for one model."""
    joints = [joint for joint in PANELS if joint in line]
    if len(joints) > 1:
        raise ConfigError(f"entailer = {line!r} mixes + and >", hint="use one of them")
    return (joints[0], [part.strip() for part in line.split(joints[0])]) if joints else ("", [])


def ranker_named(line: str) -> Ranker:
    """The ranker that ``line`` names."""
    return _make(line, RANKERS, "ranker")


def language_model_named(line: str, settings: Writer, key: str = "generator") -> LanguageModel:
    """The language model that ``line`` names: ``openai:MODEL``, ``anthropic:MODEL``, ``local:FOLDER``."""
    provider, _, name = line.partition(":")
    make = LANGUAGE_MODELS.get(provider)
    if make is None or not name:
        raise ConfigError(
            f"{key} = {line!r}", hint=f"known are: {', '.join(LANGUAGE_MODELS)}; as in openai:MODEL"
        )
    return make(name, settings)


def _make(line: str, table: dict[str, Callable[[str], Model]], key: str) -> Model:
    provider, _, name = line.partition(":")
    make = table.get(provider)
    if make is None or (provider not in NAMELESS and not name):
        raise ConfigError(
            f"{key} = {line!r}", hint=f"known are: {', '.join(table)}; as in huggingface:FOLDER"
        )
    return make(name)


def _embedded_entailer(_name: str) -> Entailer:
    from citewell.models.onnx.entailer import OnnxEntailer

    return OnnxEntailer()


def _judge_entailer(_name: str) -> Entailer:
    from citewell.models.onnx.entailer import OnnxEntailer

    folder = judge_folder()
    if folder is None:
        raise ConfigError(
            'entailer = "judge", but citewell-judge is not installed', hint="pip install citewell[judge]"
        )
    return OnnxEntailer(folder)


def _embedded_ranker(_name: str) -> Ranker:
    from citewell.models.onnx.ranker import OnnxRanker

    return OnnxRanker()


def _huggingface_entailer(name: str) -> Entailer:
    from citewell.models.huggingface import HuggingFaceEntailer

    folder, _, pin = name.partition("@")
    return HuggingFaceEntailer(folder, sha256=pin)


def _huggingface_ranker(name: str) -> Ranker:
    from citewell.models.huggingface import HuggingFaceRanker

    folder, _, pin = name.partition("@")
    return HuggingFaceRanker(folder, sha256=pin)


def _openai(name: str) -> Entailer:
    from citewell.models.judging import JudgingEntailer

    return JudgingEntailer(_openai_model(name, Writer()))


def _anthropic(name: str) -> Entailer:
    from citewell.models.judging import JudgingEntailer

    return JudgingEntailer(_anthropic_model(name, Writer()))


def _openai_model(name: str, settings: Writer) -> LanguageModel:
    from citewell.models.openai import OpenAIModel

    return OpenAIModel(name, settings)


def _anthropic_model(name: str, settings: Writer) -> LanguageModel:
    from citewell.models.anthropic import AnthropicModel

    return AnthropicModel(name, settings)


def _local_model(name: str, settings: Writer) -> LanguageModel:
    from citewell.models.local import LocalModel

    folder, _, pin = name.partition("@")
    return LocalModel(folder, settings, sha256=pin)


NAMELESS = ("embedded", "judge")
LANGUAGE_MODELS: dict[str, Callable[[str, Writer], LanguageModel]] = {
    "openai": _openai_model,
    "anthropic": _anthropic_model,
    "local": _local_model,
}
ENTAILERS: dict[str, Callable[[str], Entailer]] = {
    "embedded": _embedded_entailer,
    "judge": _judge_entailer,
    "huggingface": _huggingface_entailer,
    "openai": _openai,
    "anthropic": _anthropic,
}
RANKERS: dict[str, Callable[[str], Ranker]] = {
    "embedded": _embedded_ranker,
    "huggingface": _huggingface_ranker,
}
