"""The Anthropic API through the official SDK: ``citewell[anthropic]``.

In: a model name; address and key from the SDK's own variables (``ANTHROPIC_API_KEY``,
``ANTHROPIC_BASE_URL``). Out: a LanguageModel that cites by itself. Keys stay in the SDK.
"""

from __future__ import annotations

from typing import Any

from citewell.core.errors import GeneratorError, ModelError
from citewell.core.ports import Completion, Form, Pointer, Prompted, Segment
from citewell.core.records import TokenUsage
from citewell.models.hosted import Call, HostedModel


class AnthropicModel(HostedModel):
    """Native citations first: pointers into the texts it was given, which the API cannot join with a JSON
    schema."""

    provider = "anthropic"
    forms: tuple[Form, ...] = (Form.NATIVE, Form.SCHEMA, Form.INLINE)

    def _open(self, sdk: Any, timeout_s: float) -> Any:
        client = sdk.Anthropic(timeout=timeout_s, max_retries=0)
        if client.api_key is None and client.auth_token is None:
            raise ModelError("anthropic: no key", hint="set ANTHROPIC_API_KEY")
        return client

    def _parameters(self, prompted: Prompted) -> dict[str, Any]:
        return {} if "temperature" in self._refused else {"temperature": prompted.temperature}

    def _once(self, prompted: Prompted, call: Call) -> Completion:
        held_to: dict[str, Any] = {}
        if prompted.schema is not None:
            held_to["output_config"] = {"format": {"type": "json_schema", "schema": prompted.schema}}
        stream = self._client.messages.create(
            model=self._model,
            max_tokens=prompted.max_tokens,
            system=prompted.system,
            messages=[{"role": "user", "content": _content(prompted)}],
            stream=True,
            # The SDK has no temperature any more; models that still take it do so in the body.
            extra_body=self._parameters(prompted),
            **held_to,
        )
        heard = _Heard()
        with stream:
            for event in stream:
                if call.is_set():
                    break
                if heard.take(event) and call.has_listener:
                    call.hear(
                        Completion(text=heard.text, segments=heard.segments, whole=False, served=heard.model)
                    )
        if not heard.stop:
            raise ValueError("the answer was cut off")
        if not heard.text and heard.stop != "refusal":
            raise GeneratorError(f"{self.maker.name} answered without text")
        return Completion(
            text=heard.text,
            segments=heard.segments,
            usage=heard.usage,
            cost=self._priced(heard.usage),
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
                    cited = event.delta.citation
                    if cited.type == "char_location":  # of a plain text: nothing else is ever handed over
                        pointers.append(
                            Pointer(
                                source=cited.document_index,
                                start=cited.start_char_index,
                                end=cited.end_char_index,
                                text=cited.cited_text,
                            )
                        )
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
