"""The Anthropic API through the official SDK: ``citewell[anthropic]``.

In: a model name; address and key from the SDK's own variables (``ANTHROPIC_API_KEY``,
``ANTHROPIC_BASE_URL``). Out: a LanguageModel that cites by itself. Keys stay in the SDK.
"""

from __future__ import annotations

import importlib
import weakref
from collections.abc import Callable
from typing import Any

import msgspec

from citewell.core.config import Writer
from citewell.core.errors import GeneratorError, MissingExtraError, ModelError
from citewell.core.ports import Completion, Form, Pointer, Prompted, Segment
from citewell.core.records import Maker, TokenUsage
from citewell.models.calling import Calling, Over, listening, priced, transport_errors


class AnthropicModel:
    """Native citations first: pointers into the texts it was given, which the API cannot join with a JSON
    schema. Raises MissingExtraError, ModelError without a key."""

    forms: tuple[Form, ...] = (Form.NATIVE, Form.SCHEMA, Form.INLINE)

    def __init__(self, model: str, settings: Writer | None = None) -> None:
        settings = settings or Writer()
        self._sdk, self._client = _client(settings.timeout_s)
        weakref.finalize(self, self._client.close)  # the SDKs leave their connections to the collector
        self._model, self._settings = model, settings
        self._refused: set[str] = set()
        self.maker = Maker(name=f"anthropic:{model}")

    def complete(self, prompted: Prompted, hear: Callable[[Completion], None] | None = None) -> Completion:
        calling: Calling[Completion] = Calling(
            self.maker.name, transport_errors(self._sdk),
            timeout_s=self._settings.timeout_s, retries=self._settings.retries,
            secrets=(str(self._client.api_key or ""), str(self._client.auth_token or "")),
        )  # fmt: skip
        said, calls, notes = calling.call(
            lambda over: self._once(prompted, hear, over),
            lambda: {"temperature"} - self._refused,
            self._refused,
        )
        if not said.text and not said.refused:
            raise GeneratorError(f"{self.maker.name} answered without text")
        return msgspec.structs.replace(said, calls=calls, notes=(*notes, *said.notes))

    def _once(self, prompted: Prompted, hear: Callable[[Completion], None] | None, over: Over) -> Completion:
        parameters: dict[str, Any] = {}
        if prompted.schema is not None:
            parameters["output_config"] = {"format": {"type": "json_schema", "schema": prompted.schema}}
        if "temperature" not in self._refused:
            # Not a parameter of the SDK any more; models that still take it do so in the body.
            parameters["extra_body"] = {"temperature": prompted.temperature}
        stream = self._client.messages.create(
            model=self._model,
            max_tokens=prompted.max_tokens,
            system=prompted.system,
            messages=[{"role": "user", "content": _content(prompted)}],
            stream=True,
            **parameters,
        )
        heard = _Heard()
        with stream:
            for event in stream:
                if over.is_set():
                    break
                if heard.take(event) and hear is not None:
                    partial = Completion(
                        text=heard.text, segments=heard.segments, whole=False, served=heard.model
                    )
                    listening(hear, over)(partial)
        if not heard.stop:
            raise ValueError("the answer broke off")
        usage = heard.usage
        return Completion(
            text=heard.text,
            segments=heard.segments,
            usage=usage,
            cost=priced(usage, self._settings),
            whole=heard.stop not in ("max_tokens", "model_context_window_exceeded"),
            refused=heard.stop == "refusal",
            served=heard.model,
            notes=(f"model as the server says: {heard.model[:80]}",) if heard.model else (),
        )


class _Heard:
    """The events of one message: its text blocks with their citations, its usage, why it stopped."""

    def __init__(self) -> None:
        self.stop = self.model = ""
        self._blocks: dict[int, tuple[list[str], list[Pointer]]] = {}
        self._prompt = self._completion = 0

    @property
    def segments(self) -> tuple[Segment, ...]:
        return tuple(
            Segment(text="".join(words), pointers=tuple(pointers))
            for _, (words, pointers) in sorted(self._blocks.items())
        )

    @property
    def text(self) -> str:
        return "".join(segment.text for segment in self.segments)

    @property
    def usage(self) -> TokenUsage:
        return TokenUsage(
            prompt=self._prompt, completion=self._completion, total=self._prompt + self._completion
        )

    def take(self, event: Any) -> bool:
        """Whether the event brought words or citations."""
        match event.type:
            case "message_start":
                self.model = str(event.message.model or "")
                self._count(event.message.usage)
            case "content_block_start" if event.content_block.type == "text":
                self._blocks[event.index] = ([event.content_block.text or ""], [])
            case "content_block_delta" if event.index in self._blocks:
                words, pointers = self._blocks[event.index]
                if event.delta.type == "text_delta":
                    words.append(event.delta.text)
                    return True
                if event.delta.type == "citations_delta":
                    pointers.extend(_pointers(event.delta.citation))
                    return True
            case "message_delta":
                self.stop = str(event.delta.stop_reason or "")
                self._count(event.usage)
        return False

    def _count(self, usage: Any) -> None:
        read = ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")
        told = sum(int(getattr(usage, name, 0) or 0) for name in read)
        self._prompt = told or self._prompt
        self._completion = int(getattr(usage, "output_tokens", 0) or 0) or self._completion


def _pointers(citation: Any) -> list[Pointer]:
    """Characters of a plain-text document; no other kind of document is ever handed over."""
    if citation.type != "char_location":
        return []
    return [
        Pointer(
            source=citation.document_index,
            start=citation.start_char_index,
            end=citation.end_char_index,
            text=citation.cited_text,
        )
    ]


def _content(prompted: Prompted) -> list[dict[str, Any]]:
    documents = [
        {
            "type": "document",
            "source": {"type": "text", "media_type": "text/plain", "data": source.text},
            "title": source.title[:500] or "source",
            "citations": {"enabled": True},
            **({"context": source.context} if source.context else {}),
        }
        for source in prompted.sources
    ]
    return [*documents, {"type": "text", "text": prompted.user}]


def _client(timeout_s: float) -> tuple[Any, Any]:
    try:
        sdk = importlib.import_module("anthropic")
    except ImportError as error:
        raise MissingExtraError(
            "the anthropic package is not installed", hint="pip install 'citewell[anthropic]'"
        ) from error
    client = sdk.Anthropic(timeout=timeout_s, max_retries=0)
    if client.api_key is None and client.auth_token is None:
        raise ModelError("anthropic: no key", hint="set ANTHROPIC_API_KEY")
    return sdk, client
