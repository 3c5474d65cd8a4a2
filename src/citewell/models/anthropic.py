"""The Anthropic API through the official SDK: ``citewell[anthropic]``.

In: a model name; address and key from the SDK's own variables (``ANTHROPIC_API_KEY``,
``ANTHROPIC_BASE_URL``). Out: a LanguageModel with native citations. Keys stay in the SDK.
"""

from __future__ import annotations

from typing import Any

import msgspec

from citewell.core.errors import GeneratorError, ModelError
from citewell.core.ports import Completion, Form, Pointer, Prompted, Segment
from citewell.core.records import TokenUsage
from citewell.models.hosted import Call, HostedModel


class AnthropicModel(HostedModel):
    """Native citations first: pointers into the given texts, which the API cannot combine with a JSON
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
        asked = self._client.messages.stream(
            model=self._model,
            max_tokens=prompted.max_tokens,
            system=prompted.system,
            messages=[{"role": "user", "content": _content(prompted)}],
            # The SDK no longer has a temperature parameter; models that still accept one take it in the body.
            extra_body=self._parameters(prompted),
            **held_to,
        )
        try:
            with asked as stream:
                for event in stream:
                    if call.is_set():
                        break
                    if call.has_listener and event.type in ("text", "citation"):
                        said = self._completion(stream.current_message_snapshot)
                        call.emit(msgspec.structs.replace(said, whole=False))
                message = stream.current_message_snapshot
        except (AssertionError, AttributeError, IndexError, RuntimeError) as error:
            raise ValueError(f"the answer is malformed ({type(error).__name__})") from error
        if not message.stop_reason:
            raise ValueError("the answer was cut off")
        said = self._completion(message)
        if not said.text and not said.refused:
            raise GeneratorError(f"{self.maker.name} answered without text")
        return msgspec.structs.replace(
            said,
            cost=self._priced(said.usage),
            notes=(f"model as the server says: {said.served[:80]}",) if said.served else (),
        )

    def _completion(self, message: Any) -> Completion:
        segments = tuple(
            Segment(
                text=block.text,
                pointers=tuple(
                    Pointer(
                        source=cited.document_index,
                        start=cited.start_char_index,
                        end=cited.end_char_index,
                        text=cited.cited_text,
                    )
                    for cited in block.citations or ()
                    if cited.type == "char_location"  # of a plain text: nothing else is ever sent
                ),
            )
            for block in message.content
            if block.type == "text"
        )
        used = message.usage
        read = (used.input_tokens, used.cache_read_input_tokens, used.cache_creation_input_tokens)
        prompt, completion = sum(count or 0 for count in read), used.output_tokens or 0
        return Completion(
            text="".join(segment.text for segment in segments),
            segments=segments,
            usage=TokenUsage(prompt=prompt, completion=completion, total=prompt + completion),
            whole=message.stop_reason not in ("max_tokens", "model_context_window_exceeded"),
            refused=message.stop_reason == "refusal",
            served=str(message.model or ""),
        )


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
