"""A model behind a provider's official SDK: each call has an overall time limit, is retried where that can
help, and every try is noted.

In: a request. Out: a completion with notes on its failed tries; else GeneratorError. The SDK's own retries
are off, because silent ones cannot be recorded. Keys and addresses never appear in messages.
"""

from __future__ import annotations

import importlib
import random
import re
import threading
import time
import weakref
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection
from contextlib import suppress
from contextvars import copy_context
from typing import Any, ClassVar

import msgspec

from citewell.core.config import Writer
from citewell.core.errors import FormRefusedError, GeneratorError, MissingExtraError
from citewell.core.ports import Completion, Form, Prompted
from citewell.core.records import Maker, TokenUsage

RETRYABLE = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 520, 522, 524, 529})
PASSING = frozenset({"overloaded_error", "api_error", "rate_limit_error", "timeout_error"})
HOPELESS = frozenset({"insufficient_quota", "billing_hard_limit_reached", "context_length_exceeded"})
FIRST_WAIT_S, LONGEST_WAIT_S, LONGEST_ASKED_S = 0.5, 8.0, 60.0
_HINTS = {
    401: "the key is not accepted",
    403: "the key may not use this model",
    404: "check the model's name and the address",
    429: "wait, or raise writer.retries",
}
_SECRET = re.compile(
    r"\b(?:sk|pk|key|rk)-[\w*.-]{4,}|(?<=://)[^/\s@]+@|(?i:bearer|api[-_ ]?key)[\s:=]+['\"]?[\w*.-]{6,}"
)
_FORM_WORDS = re.compile(
    r"response_format|json_schema|output_config|structured|guided|grammar|citations", re.IGNORECASE
)
_UNKNOWN = re.compile(
    r"un(?:supported|known|recogni[sz]ed|expected)|deprecated|extra (?:inputs|fields)"
    r"|not (?:be )?(?:support|permit|allow|accept|tak)",
    re.IGNORECASE,
)

Emit = Callable[[Completion], None]


class _ListenerError(Exception):
    """``error`` was raised by the listener, not by the call: no reason to retry."""

    def __init__(self, error: Exception) -> None:
        self.error = error


class Call(threading.Event):
    """One try; set when it is over. Time spent in its listener does not count as the model's."""

    def __init__(self, emit: Emit | None) -> None:
        super().__init__()
        self.has_listener = emit is not None
        self._emit = emit
        # (seconds listened so far, start of the current listening): one value, because the waiting thread
        # reads it while the calling thread sets it.
        self._listening: tuple[float, float | None] = (0.0, None)

    def emit(self, said: Completion) -> None:
        """Passes ``said`` to the listener unless the call is over. Wraps its errors in _ListenerError."""
        if self._emit is None or self.is_set():
            return
        self._listening = (self.listened_s, time.monotonic())
        try:
            self._emit(said)
        except Exception as error:
            raise _ListenerError(error) from error
        finally:
            self._listening = (self.listened_s, None)

    @property
    def listened_s(self) -> float:
        before, since = self._listening
        return before + (0.0 if since is None else time.monotonic() - since)


class HostedModel(ABC):
    """A model of ``provider``, the name of the SDK's package and of its extra.

    Raises MissingExtraError, and ModelError without a key."""

    provider: ClassVar[str]
    forms: tuple[Form, ...]

    def __init__(self, model: str, settings: Writer) -> None:
        try:
            sdk = importlib.import_module(self.provider)
        except ImportError as error:
            raise MissingExtraError(
                f"the {self.provider} package is not installed",
                hint=f"pip install 'citewell[{self.provider}]'",
            ) from error
        self._client = self._open(sdk, settings.timeout_s)
        weakref.finalize(self, self._client.close)  # the SDKs leave this to the garbage collector
        self._errors: tuple[type[Exception], ...] = (TimeoutError, *_transport_errors(sdk))
        self._model, self._settings = model, settings
        self._refused: set[str] = set()
        self.maker = Maker(name=f"{self.provider}:{model}")

    @abstractmethod
    def _open(self, sdk: Any, timeout_s: float) -> Any:
        """The SDK's client."""

    @abstractmethod
    def _parameters(self, prompted: Prompted) -> dict[str, Any]:
        """The optional parameters of a call, without those that the server has refused."""

    @abstractmethod
    def _once(self, prompted: Prompted, call: Call) -> Completion:
        """One try: stops once ``call`` is set. Always streamed, so that a stalled answer is noticed sooner.
        Raises GeneratorError for an answer without text."""

    def complete(self, prompted: Prompted, emit: Emit | None = None) -> Completion:
        """A parameter unknown to the server is left out from then on, with a note on each call.

        Raises GeneratorError, FormRefusedError for a schema or grammar that is not accepted."""
        notes = [
            f"asked without {name}, which the server did not take before" for name in sorted(self._refused)
        ]
        calls = failed = 0
        while True:
            calls += 1
            call = Call(emit)
            try:
                said = self._bounded(prompted, call)
                return msgspec.structs.replace(said, calls=calls, notes=(*notes, *said.notes))
            except _ListenerError as overheard:
                raise overheard.error from overheard.error.__cause__
            except self._errors as error:
                call.set()
                told = self._told(error)
                if name := _not_taken(error, told, self._parameters(prompted)):
                    self._refused.add(name)
                    notes.append(f"asked again without {name}, which the server does not take")
                    continue
                failed += 1
                if not _helps(error):
                    raise self._failed(error, told) from error
                if failed > self._settings.retries:
                    raise self._failed(error, f"{told}, {failed} times") from error
                wait = _wait(error, failed)
                if wait > LONGEST_ASKED_S:
                    raise self._failed(error, f"{told}; it asks to be left alone for {wait:.0f} s") from error
                notes.append(f"try {failed} failed: {told}; tried again after {wait:.1f} s")
                time.sleep(wait)

    def _bounded(self, prompted: Prompted, call: Call) -> Completion:
        """Waits at most the timeout plus the time spent listening: a read timeout alone never expires while
        bytes trickle in. Raises TimeoutError, and whatever the try raises."""
        outcome: list[Completion] = []
        failure: list[BaseException] = []

        def run() -> None:
            try:
                outcome.append(self._once(prompted, call))
            except BaseException as error:  # noqa: BLE001 - re-raised by the waiting thread
                failure.append(error)

        # In the caller's context: a claim judged while streaming counts towards the same pass.
        thread = threading.Thread(target=copy_context().run, args=(run,), daemon=True, name="citewell-call")
        thread.start()
        ends = time.monotonic() + self._settings.timeout_s
        while thread.is_alive() and (left := ends + call.listened_s - time.monotonic()) > 0:
            thread.join(left)
        if failure:
            raise failure[0]
        if not outcome:
            raise TimeoutError
        return outcome[0]

    def _failed(self, error: Exception, told: str) -> GeneratorError:
        status = getattr(error, "status_code", None)
        if status in {400, 404, 415, 422, 501} and _FORM_WORDS.search(told):
            return FormRefusedError(f"{self.maker.name}: {told}")
        hint = _HINTS.get(status, "") if isinstance(status, int) else ""
        failed = GeneratorError(f"{self.maker.name} did not answer: {told}", hint=hint)
        failed.retryable = _helps(error)
        return failed

    def _told(self, error: Exception) -> str:
        """What happened, without keys; the server's message is truncated."""
        if isinstance(error, TimeoutError):
            return f"no whole answer within {self._settings.timeout_s:g} s"
        status = getattr(error, "status_code", None)
        words = f"{type(error).__name__}{f' {status}' if status else ''}: {error}"
        for secret in (self._client.api_key, getattr(self._client, "auth_token", None)):
            if secret:
                words = words.replace(str(secret), "[key]")
        return " ".join(_SECRET.sub("[key]", words).split())[:300]

    def _priced(self, usage: TokenUsage) -> float | None:
        """None without configured prices: a cost is never guessed."""
        price, price_completion = self._settings.price_prompt, self._settings.price_completion
        if not price and not price_completion:
            return None
        return (usage.prompt * price + usage.completion * price_completion) / 1e6


def _transport_errors(sdk: Any) -> tuple[type[Exception], ...]:
    """The SDK's own errors, and those of its transport during streaming or of invalid JSON, which the SDK
    does not wrap."""
    roots = {made.__module__.partition(".")[0] for made in sdk.DefaultHttpxClient.__mro__}
    http = importlib.import_module(next(root for root in sorted(roots) if root.startswith("httpx")))
    base = sdk.OpenAIError if hasattr(sdk, "OpenAIError") else sdk.AnthropicError
    return (base, http.HTTPError, http.StreamError, ValueError)


def _not_taken(error: Exception, told: str, sent: Collection[str]) -> str:
    """The parameter in ``sent`` that the server does not know, "" for none; one that is merely too large for
    this prompt does not count."""
    if getattr(error, "status_code", None) not in {400, 422} or not _UNKNOWN.search(told):
        return ""
    param = str(getattr(error, "param", "") or "")
    if param in sent:
        return param
    words = set(re.findall(r"\w+", told))
    return next((name for name in sorted(sent) if name in words), "")


def _helps(error: Exception) -> bool:
    """Whether the same call may succeed later."""
    if isinstance(error, TimeoutError):
        return True
    if str(getattr(error, "code", "") or "") in HOPELESS:
        return False
    status = getattr(error, "status_code", None)
    if isinstance(status, int) and status < 400:
        # An error reported in the middle of a stream.
        body = getattr(error, "body", None)
        told = body.get("error") if isinstance(body, dict) else None
        return isinstance(told, dict) and told.get("type") in PASSING
    # No status: the connection failed or broke off.
    return status in RETRYABLE if status is not None else True


def _wait(error: Exception, attempt: int) -> float:
    """The seconds that the server asks for; else exponential backoff with jitter."""
    headers: Any = getattr(getattr(error, "response", None), "headers", None) or {}
    for name, unit in (("retry-after-ms", 1000.0), ("retry-after", 1.0)):
        with suppress(ValueError):  # absent, or a date
            if (asked := float(headers.get(name, "")) / unit) >= 0:
                return asked
    return min(FIRST_WAIT_S * 2.0 ** (attempt - 1), LONGEST_WAIT_S) * (0.75 + random.random() / 4)
