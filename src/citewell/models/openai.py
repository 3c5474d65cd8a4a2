"""Any OpenAI-compatible server through the official SDK: ``citewell[openai]``.

In: a model name; address and key from the SDK's own variables (``OPENAI_BASE_URL``, ``OPENAI_API_KEY``). Out:
a LanguageModel. Keys stay in the SDK: no message, note or record holds one.
"""

from __future__ import annotations

import importlib
import weakref
from collections.abc import Callable
from typing import Any

import msgspec

from citewell.core.config import Writer
from citewell.core.errors import GeneratorError, MissingExtraError, ModelError
from citewell.core.ports import Completion, Form, Prompted
from citewell.core.records import Maker, TokenUsage
from citewell.models.calling import Calling, Over, listening, priced, transport_errors
from citewell.models.thinking import answered

GRAMMAR_FIELDS: dict[str, Callable[[str], dict[str, Any]]] = {
    "lark": lambda grammar: {"structured_outputs": {"grammar": grammar}},
    "gbnf": lambda grammar: {"grammar": grammar},
}
"""How servers take a grammar: vLLM with llguidance, llama.cpp."""
SERVED = ("model", "system_fingerprint")


class OpenAIModel:
    """``forms``: the JSON schema first, prose where the server refuses it; a grammar only when it is asked
    for, because servers that do not know the field ignore it. Raises MissingExtraError, ModelError."""

    forms: tuple[Form, ...] = (Form.SCHEMA, Form.INLINE, Form.GRAMMAR)

    def __init__(self, model: str, settings: Writer | None = None) -> None:
        settings = settings or Writer()
        self._sdk, self._client = _client(settings.timeout_s)
        weakref.finalize(self, self._client.close)  # the SDKs leave their connections to the collector
        self._model, self._settings = model, settings
        self._refused: set[str] = set()
        self.maker = Maker(name=f"openai:{model}")

    def complete(self, prompted: Prompted, hear: Callable[[Completion], None] | None = None) -> Completion:
        """Streamed whether or not anybody listens: a stalled answer is seen sooner."""
        calling: Calling[Completion] = Calling(
            self.maker.name, transport_errors(self._sdk),
            timeout_s=self._settings.timeout_s, retries=self._settings.retries,
            secrets=(str(self._client.api_key or ""),),
        )  # fmt: skip
        said, calls, notes = calling.call(
            lambda over: self._once(prompted, hear, over), lambda: self._parameters(prompted), self._refused
        )
        if not said.text:
            thought = [note for note in said.notes if "thinking aloud" in note]
            raise GeneratorError(
                f"{self.maker.name} answered without text", hint="raise writer.max_tokens" if thought else ""
            )
        return msgspec.structs.replace(said, calls=calls, notes=(*notes, *said.notes))

    def _once(self, prompted: Prompted, hear: Callable[[Completion], None] | None, over: Over) -> Completion:
        stream = self._client.chat.completions.create(
            model=self._model,
            messages=[
                {"role": "system", "content": prompted.system},
                {"role": "user", "content": prompted.user},
            ],
            stream=True,
            **self._parameters(prompted),
            **_held_to(prompted),
        )
        text, finish, refusal, usage = "", "", "", None
        served: dict[str, str] = {}
        with stream:
            for chunk in stream:
                if over.is_set():
                    break
                served |= {name: str(found) for name in SERVED if (found := getattr(chunk, name, None))}
                usage = chunk.usage or usage
                for choice in chunk.choices or ():
                    finish = choice.finish_reason or finish
                    refusal += getattr(choice.delta, "refusal", None) or ""
                    if choice.delta and choice.delta.content:
                        text += choice.delta.content
                        if hear is not None:
                            said, _ = answered(text)
                            partial = Completion(text=said, whole=False, served=served.get("model", ""))
                            listening(hear, over)(partial)
        if not finish:
            # The connection ended before the answer did: a server that died in the middle.
            raise ValueError("the answer broke off")
        said, told = answered(text)
        return Completion(
            text=said or refusal,
            usage=_usage(usage),
            cost=_cost(usage, self._settings),
            whole=finish != "length",
            refused=bool(refusal) or finish == "content_filter",
            served=served.get("model", ""),
            notes=(*told, *(f"{name} as the server says: {value[:80]}" for name, value in served.items())),
        )

    def _parameters(self, prompted: Prompted) -> dict[str, Any]:
        """Those of the optional ones that the server has not refused; newer models name the bound anew."""
        wanted: dict[str, Any] = {
            "temperature": prompted.temperature,
            "max_tokens": prompted.max_tokens,
            "seed": prompted.seed or None,
            "stream_options": {"include_usage": True},
        }
        if "max_tokens" in self._refused:
            wanted["max_completion_tokens"] = prompted.max_tokens
        return {
            name: value for name, value in wanted.items() if name not in self._refused and value is not None
        }


def _held_to(prompted: Prompted) -> dict[str, Any]:
    if prompted.grammar:
        return {"extra_body": GRAMMAR_FIELDS[prompted.dialect](prompted.grammar)}
    if prompted.schema is not None:
        return {
            "response_format": {
                "type": "json_schema",
                "json_schema": {"name": "answer", "strict": True, "schema": prompted.schema},
            }
        }
    return {}


def _usage(usage: Any) -> TokenUsage:
    if usage is None:
        return TokenUsage()
    prompt, completion = int(usage.prompt_tokens or 0), int(usage.completion_tokens or 0)
    return TokenUsage(
        prompt=prompt, completion=completion, total=int(usage.total_tokens or prompt + completion)
    )


def _cost(usage: Any, settings: Writer) -> float | None:
    """What the server says it cost, else tokens times the configured prices, else not known."""
    told = getattr(usage, "cost", None)
    if isinstance(told, int | float):
        return float(told)
    return priced(_usage(usage), settings) if usage is not None else None


def _client(timeout_s: float) -> tuple[Any, Any]:
    try:
        sdk = importlib.import_module("openai")
    except ImportError as error:
        raise MissingExtraError(
            "the openai package is not installed", hint="pip install 'citewell[openai]'"
        ) from error
    try:
        return sdk, sdk.OpenAI(timeout=timeout_s, max_retries=0)
    except sdk.OpenAIError as error:
        raise ModelError(
            f"openai: {type(error).__name__}",
            hint="set OPENAI_API_KEY, and OPENAI_BASE_URL for a server of yours",
        ) from error
