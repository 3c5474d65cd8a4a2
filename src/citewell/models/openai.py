"""A judge behind any OpenAI-compatible server, through the official SDK: ``citewell[openai]``.

In: a model name; address and key from the SDK's own variables (``OPENAI_BASE_URL``,
``OPENAI_API_KEY``). Out: an entailer.
"""

from __future__ import annotations

import importlib

from citewell.errors import MissingExtraError, ModelError
from citewell.models.judging import PROMPT, SCHEMA, JudgingEntailer
from citewell.records import Maker

TIMEOUT_S = 60.0
RETRIES = 3


def openai_entailer(model: str) -> JudgingEntailer:
    """Temperature 0 and the rubric's JSON schema; the SDK retries time-outs, 429 and 5xx with backoff."""
    try:
        sdk = importlib.import_module("openai")
    except ImportError as error:
        raise MissingExtraError(
            "the openai package is not installed", hint="pip install 'citewell[openai]'"
        ) from error
    try:
        client = sdk.OpenAI(timeout=TIMEOUT_S, max_retries=RETRIES)
    except sdk.OpenAIError as error:
        raise ModelError(
            f"openai: {error}", hint="set OPENAI_API_KEY, and OPENAI_BASE_URL for a server of yours"
        ) from error
    form = {"type": "json_schema", "json_schema": {"name": "judgement", "strict": True, "schema": SCHEMA}}

    def send(prompt: str) -> str:
        try:
            reply = client.chat.completions.create(
                model=model,
                temperature=0,
                messages=[{"role": "user", "content": prompt}],
                response_format=form,
            )
        except sdk.OpenAIError as error:
            raise ModelError(f"openai:{model} did not answer: {type(error).__name__}") from error
        text = reply.choices[0].message.content if reply.choices else None
        if not text:
            raise ModelError(f"openai:{model} answered without text")
        return str(text)

    return JudgingEntailer(Maker(name=f"openai:{model}", prompt_hash=PROMPT.hash), send)
