"""LiteLLM: a guardrail that checks answers as the proxy does, under the policies of the section ``proxy``.

In: the request and the answer of a call that LiteLLM makes. Out: the answer, annotated or withheld, sealed in
the log of a home. Without a record, no answer is complete: if it cannot be written, the call fails.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import msgspec
from litellm import ModelResponseStream
from litellm.integrations.custom_guardrail import CustomGuardrail

from citewell.core import identity
from citewell.core.errors import CitewellError, UsageError
from citewell.core.metering import Meter, metered
from citewell.knowledge import external
from citewell.knowledge.opening import open
from citewell.server.protocols import CHAT, DONE, PROTOCOLS, Json, Protocol
from citewell.server.routes.proxy import validate_proxy
from citewell.vendors.reading import VENDORS, VendorAnswer, read_response
from citewell.vendors.requests import NUMBERED, sent


class CitewellGuardrail(CustomGuardrail):
    """For ``mode: post_call``. ``home`` is a folder, as for :func:`citewell.open`; its configuration sets
    ``proxy.policy``, ``proxy.unchecked``, ``proxy.sources`` and ``proxy.check_s``. Raises ConfigError for
    unusable ones."""

    def __init__(self, *, home: str | Path, **options: Any) -> None:
        super().__init__(**options)
        self._kb = open(home)
        self._settings = self._kb.config.proxy
        validate_proxy(msgspec.structs.replace(self._settings, to="https://litellm"))

    async def async_post_call_success_hook(self, data: Json, user_api_key_dict: Any, response: Any) -> Any:
        given = response.model_dump() if hasattr(response, "model_dump") else response
        known = PROTOCOLS if isinstance(given, dict) else ()
        protocol = next((one for one in known if VENDORS[one.vendor].fits(given)), None)
        if protocol is None:
            return response  # embeddings, pictures
        found, mark, withheld = await asyncio.to_thread(self._settled, data, given, protocol)
        if withheld is None:
            if self._settings.policy == "observe":
                return response
            protocol.marked(given, found, mark)
        made = withheld or given
        if isinstance(response, dict):
            return made
        rebuilt = type(response)(**made)
        rebuilt._hidden_params = getattr(response, "_hidden_params", {})
        return rebuilt

    async def async_post_call_streaming_iterator_hook(
        self, user_api_key_dict: Any, response: Any, request_data: Json
    ) -> AsyncGenerator[Any, None]:
        """Text passes at once, unless answers may be withheld; the end waits for the record. Only streams of
        chat completions can be read: raises UsageError for another that would have to be withheld."""
        seen: list[Json] = []
        held: list[Any] = []
        withholding = self._settings.policy == "withhold"
        async for chunk in response:
            ending = withholding
            if isinstance(chunk, ModelResponseStream):
                seen.append(chunk.model_dump())
                ending = ending or any(one.finish_reason for one in chunk.choices)
            elif withholding:
                hint = "turn streaming off, or put `citewell proxy` in front of the API"
                raise UsageError("this stream cannot be checked", hint=hint)
            if ending or held:
                held.append(chunk)
            else:
                yield chunk
        found, mark, withheld = await asyncio.to_thread(self._settled, request_data, CHAT.joined(seen), CHAT)
        if withheld is not None:
            held = [_chunk(event) for event in CHAT.events(withheld) if event is not DONE]
        elif self._settings.policy != "observe" and seen:
            held = [_chunk(CHAT.closing([], found, mark)[0]), *held]
        for chunk in held:
            yield chunk

    def _settled(self, data: Json, given: Json, protocol: Protocol) -> tuple[VendorAnswer, Json, Json | None]:
        """Checks and seals: (answer, mark, replacement if withheld)."""
        settings, parts, request_id = self._settings, self._kb.parts, identity.request_id()
        request, found = sent(data, settings.sources or NUMBERED), VendorAnswer(text="")
        end = time.monotonic() + settings.check_s
        late = f"the check took longer than {settings.check_s:g} s"
        try:
            found = read_response(given, protocol.vendor, request)
            with metered(Meter(lambda: late if time.monotonic() > end else "")):
                outcome = external.check(parts, found, request_id)
        except CitewellError as error:
            outcome = external.unchecked(request_id, str(error))
        except Exception as error:
            logging.getLogger("citewell").exception("a check failed")
            outcome = external.unchecked(request_id, f"the check failed ({type(error).__name__})")
        withholds = external.withholds(settings, found, outcome)
        sealed = msgspec.structs.replace(outcome, shown="" if withholds else found.text)
        about = {"to": "litellm", "policy": settings.policy, "withheld": withholds}
        model = f"litellm:{given.get('model') or request.model}"
        external.seal(parts, found, sealed, user=request.user, model=model, about=about)
        mark, notice = external.mark(outcome, request_id), external.notice(outcome, request_id)
        return found, mark, protocol.withheld(given, notice, mark) if withholds else None


def _chunk(event: Json) -> ModelResponseStream:
    """LiteLLM's proxy passes our mark on only if a chunk has one of the fields that its short way of writing
    text does not know."""
    return ModelResponseStream(**event, provider_specific_fields={})
