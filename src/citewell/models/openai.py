"""Any OpenAI-compatible server through the official SDK: ``citewell[openai]``.

In: a model name; address and key from the SDK's own variables (``OPENAI_BASE_URL``, ``OPENAI_API_KEY``). Out:
a LanguageModel. Keys stay in the SDK: no message, note or record contains one.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from citewell.core.config import Writer
from citewell.core.errors import GeneratorError, ModelError
from citewell.core.ports import Completion, Form, Prompted
from citewell.core.records import Maker, TokenUsage
from citewell.models.hosted import Call, HostedModel
from citewell.models.thinking import strip_thinking

GRAMMAR_FIELDS: dict[str, Callable[[str], dict[str, Any]]] = {
    "lark": lambda grammar: {"structured_outputs": {"grammar": grammar}},
    "gbnf": lambda grammar: {"grammar": grammar},
}
"""How servers accept a grammar: vLLM with llguidance, llama.cpp."""
SERVED = ("model", "system_fingerprint")


class OpenAIModel(HostedModel):
    """``forms``: the JSON schema first, prose if the server refuses it; a grammar only on request, because
    servers that do not know the field ignore it."""

    provider = "openai"
    forms: tuple[Form, ...] = (Form.SCHEMA, Form.INLINE, Form.GRAMMAR)

    def _open(self, sdk: Any, timeout_s: float) -> Any:
        try:
            return sdk.OpenAI(timeout=timeout_s, max_retries=0)
        except sdk.OpenAIError as error:
            raise ModelError(
                f"openai: {type(error).__name__}",
                hint="set OPENAI_API_KEY, and OPENAI_BASE_URL for your own server",
            ) from error

    def _parameters(self, prompted: Prompted) -> dict[str, Any]:
        """Newer models call the answer's limit ``max_completion_tokens``."""
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

    def _once(self, prompted: Prompted, call: Call) -> Completion:
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
                if call.is_set():
                    break
                served |= {name: str(found) for name in SERVED if (found := getattr(chunk, name, None))}
                usage = chunk.usage or usage
                for choice in chunk.choices or ():
                    finish = choice.finish_reason or finish
                    refusal += getattr(choice.delta, "refusal", None) or ""
                    if choice.delta and choice.delta.content:
                        text += choice.delta.content
                        if call.has_listener:
                            said, _ = strip_thinking(text)
                            call.emit(Completion(text=said, whole=False, served=served.get("model", "")))
        if not finish:
            # The connection ended before the answer did: the server died midway.
            raise ValueError("the answer was cut off")
        said, thought = strip_thinking(text)
        if not said and not refusal:
            raise GeneratorError(
                f"{self.maker.name} answered without text", hint="raise writer.max_tokens" if thought else ""
            )
        return Completion(
            text=said or refusal,
            usage=_usage(usage),
            cost=self._cost(usage),
            whole=finish != "length",
            refused=bool(refusal) or finish == "content_filter",
            served=served.get("model", ""),
            notes=(*thought, *(f"{name} as the server says: {value[:80]}" for name, value in served.items())),
        )

    def _cost(self, usage: Any) -> float | None:
        """The cost that the server reports, else tokens times the configured prices, else None."""
        told = getattr(usage, "cost", None)
        if isinstance(told, int | float):
            return float(told)
        return self._priced(_usage(usage)) if usage is not None else None


class OllamaModel(OpenAIModel):
    """A model on this machine's Ollama server, or on ``OLLAMA_HOST``; needs no key."""

    def __init__(self, model: str, settings: Writer) -> None:
        super().__init__(model, settings)
        self.maker = Maker(name=f"ollama:{model}")

    def _open(self, sdk: Any, timeout_s: float) -> Any:
        return sdk.OpenAI(base_url=ollama_address(), api_key="none", timeout=timeout_s, max_retries=0)


def ollama_address() -> str:
    """The address of Ollama's OpenAI-compatible API; its own variable may lack scheme or port."""
    host = os.environ.get("OLLAMA_HOST", "").rstrip("/") or "127.0.0.1"
    scheme, _, place = host.rpartition("://")
    place = place.replace("0.0.0.0", "127.0.0.1")  # noqa: S104 - where it listens, not its address
    return f"{scheme or 'http'}://{place if ':' in place else f'{place}:11434'}/v1"


def _held_to(prompted: Prompted) -> dict[str, Any]:
    if prompted.grammar:
        return {"extra_body": GRAMMAR_FIELDS[prompted.dialect](prompted.grammar)}
    if prompted.schema is not None:
        schema = {"name": "answer", "strict": True, "schema": prompted.schema}
        return {"response_format": {"type": "json_schema", "json_schema": schema}}
    return {}


def _usage(usage: Any) -> TokenUsage:
    if usage is None:
        return TokenUsage()
    prompt, completion = int(usage.prompt_tokens or 0), int(usage.completion_tokens or 0)
    return TokenUsage(
        prompt=prompt, completion=completion, total=int(usage.total_tokens or prompt + completion)
    )
