"""One line of configuration -> an entailer, a ranker, or a language model that writes, rewords or judges.

    embedded                                  the packaged weights; as entailer with the judge, if installed
    small    judge                            as entailer: the packaged one or the judge alone
    huggingface:FOLDER_OR_ID[@sha256:HASH]    any kind that models/huggingface.py lists; pinned by @
    openai:MODEL  anthropic:MODEL  ollama:MODEL    a judge with the rubric of prompts/entailment_judge.txt
    A + B                                     agreement required
    small & judge                             combined by the line fitted to both: `embedded` means this
    A > B                                     only borderline cases are sent to B
    local:FOLDER_OR_ID[@sha256:HASH]          a language model on this machine, with transformers

In: the line. Out: the model behind its port. Raises ConfigError for an invalid line.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from citewell.core.config import Writer
from citewell.core.errors import ConfigError
from citewell.core.ports import Entailer, LanguageModel, Ranker
from citewell.models.anthropic import AnthropicModel
from citewell.models.huggingface import HuggingFaceEntailer, HuggingFaceRanker
from citewell.models.judges import JudgingEntailer
from citewell.models.local import LocalModel
from citewell.models.onnx.entailer import OnnxEntailer, installed_judge
from citewell.models.onnx.reading import OnnxRanker
from citewell.models.openai import OllamaModel, OpenAIModel
from citewell.models.panel import PANELS

Make = TypeVar("Make", bound=Callable[..., object])

TOGETHER = "small & judge"


def entailer_named(line: str) -> Entailer:
    joint, members = panel_of(line)
    if members:
        return PANELS[joint]([entailer_named(member) for member in members])
    return _chosen(line, ENTAILERS, "entailer")(_name(line))


def panel_of(line: str) -> tuple[str, list[str]]:
    """(the joining operator, each member's line); ("", []) for a single model. ``embedded`` means both
    packaged entailers if the judge is installed."""
    line = TOGETHER if line == "embedded" and installed_judge() else line
    joints = [joint for joint in PANELS if joint in line]
    if len(joints) > 1:
        raise ConfigError(f"entailer = {line!r} mixes +, & and >", hint="use one of them")
    if " & " in joints and line != TOGETHER:
        raise ConfigError(
            f"entailer = {line!r}: no combination was fitted for these", hint=f"use + or {TOGETHER!r}"
        )
    return (joints[0], [part.strip() for part in line.split(joints[0])]) if joints else ("", [])


def ranker_named(line: str) -> Ranker:
    return _chosen(line, RANKERS, "ranker")(_name(line))


def language_model_named(line: str, settings: Writer, key: str = "generator") -> LanguageModel:
    return _chosen(line, LANGUAGE_MODELS, key, example="openai:MODEL")(_name(line), settings)


def _chosen(line: str, table: dict[str, Make], key: str, example: str = "huggingface:FOLDER") -> Make:
    provider = line.partition(":")[0]
    if provider not in table or (provider not in NAMELESS and not _name(line)):
        raise ConfigError(f"{key} = {line!r}", hint=f"use one of: {', '.join(table)}; for example {example}")
    return table[provider]


def _name(line: str) -> str:
    return line.partition(":")[2]


def _at(name: str) -> str:
    return name.partition("@")[0]


def _pin(name: str) -> str:
    return name.partition("@")[2]


def _judge_entailer() -> Entailer:
    judge = installed_judge()
    if judge is None:
        raise ConfigError(
            'entailer = "judge", but citewell-judge is not installed', hint="pip install citewell[judge]"
        )
    return judge


NAMELESS = ("embedded", "small", "judge")
LANGUAGE_MODELS: dict[str, Callable[[str, Writer], LanguageModel]] = {
    "openai": OpenAIModel,
    "anthropic": AnthropicModel,
    "ollama": OllamaModel,
    "local": lambda name, settings: LocalModel(_at(name), settings, sha256=_pin(name)),
}
ENTAILERS: dict[str, Callable[[str], Entailer]] = {
    "embedded": lambda _: OnnxEntailer(),
    "small": lambda _: OnnxEntailer(),
    "judge": lambda _: _judge_entailer(),
    "huggingface": lambda name: HuggingFaceEntailer(_at(name), sha256=_pin(name)),
    "openai": lambda name: JudgingEntailer(OpenAIModel(name, Writer())),
    "anthropic": lambda name: JudgingEntailer(AnthropicModel(name, Writer())),
    "ollama": lambda name: JudgingEntailer(OllamaModel(name, Writer())),
}
RANKERS: dict[str, Callable[[str], Ranker]] = {
    "embedded": lambda _: OnnxRanker(),
    "huggingface": lambda name: HuggingFaceRanker(_at(name), sha256=_pin(name)),
}
