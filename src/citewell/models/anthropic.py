"""A judge behind the Anthropic API, through the official SDK: ``citewell[anthropic]``.

In: a model name; address and key from the SDK's own variables (``ANTHROPIC_API_KEY``,
``ANTHROPIC_BASE_URL``). Out: an entailer.
"""

from __future__ import annotations

import importlib

from citewell.errors import MissingExtraError, ModelError
from citewell.models.judging import PROMPT, SCHEMA, JudgingEntailer
from citewell.records import Maker

TIMEOUT_S = 60.0
RETRIES = 3
MAX_TOKENS = 300


def anthropic_entailer(model: str) -> JudgingEntailer:
    """The rubric's JSON schema (the SDK offers no temperature); it retries time-outs, 429 and 5xx."""
    try:
        sdk = importlib.import_module("anthropic")
    except ImportError as error:
        raise MissingExtraError(
            "the anthropic package is not installed", hint="pip install 'citewell[anthropic]'"
        ) from error
    client = sdk.Anthropic(timeout=TIMEOUT_S, max_retries=RETRIES)
    if client.api_key is None and client.auth_token is None:
        raise ModelError("anthropic: no key", hint="set ANTHROPIC_API_KEY")

    def send(prompt: str) -> str:
        try:
            reply = client.messages.create(
                model=model,
                max_tokens=MAX_TOKENS,
                messages=[{"role": "user", "content": prompt}],
                output_config={"format": {"type": "json_schema", "schema": SCHEMA}},
            )
        except sdk.AnthropicError as error:
            raise ModelError(f"anthropic:{model} did not answer: {type(error).__name__}") from error
        text = "".join(block.text for block in reply.content if block.type == "text")
        if not text:
            raise ModelError(f"anthropic:{model} answered without text")
        return text

    return JudgingEntailer(Maker(name=f"anthropic:{model}", prompt_hash=PROMPT.hash), send)
