"""One call to a hosted model: bounded as a whole, tried again where that can help, and every try told.

In: a function that calls, what its errors look like, bounds. Out: what it returned and the notes of failed
tries; else GeneratorError. The SDK's own retries are off, because what it does in silence cannot be recorded.
Keys and addresses never get into a message. Knows no provider.
"""

from __future__ import annotations

import email.utils
import importlib
import random
import re
import threading
import time
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from contextvars import copy_context
from datetime import UTC, datetime
from functools import partial
from typing import Any, Generic, TypeVar

from citewell.core.config import Writer
from citewell.core.errors import FormRefusedError, GeneratorError
from citewell.core.records import TokenUsage

Result = TypeVar("Result")
Heard = TypeVar("Heard")

RETRYABLE = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 520, 522, 524, 529})
PASSING = frozenset({"overloaded_error", "api_error", "rate_limit_error", "timeout_error"})
HOPELESS = frozenset({"insufficient_quota", "billing_hard_limit_reached", "context_length_exceeded"})
FIRST_WAIT_S, LONGEST_WAIT_S, LONGEST_ASKED_S = 0.5, 8.0, 60.0
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


class _Overheard(Exception):
    """``error`` was raised by who listens, not by the call: it is no reason to call again."""

    def __init__(self, error: Exception) -> None:
        self.error = error


class Over(threading.Event):
    """Set when a call is over. Tells how long whoever listens has kept it waiting: that is not the model's
    time."""

    def __init__(self) -> None:
        super().__init__()
        # (seconds listened before, since when it listens now): one value, for the thread that waits reads it
        # while the thread that calls sets it.
        self._listening: tuple[float, float | None] = (0.0, None)

    @contextmanager
    def listening(self) -> Iterator[None]:
        self._listening = (self.listened_s, time.monotonic())
        try:
            yield
        finally:
            self._listening = (self.listened_s, None)

    @property
    def listened_s(self) -> float:
        before, since = self._listening
        return before + (0.0 if since is None else time.monotonic() - since)


def listening(hear: Callable[[Heard], object], over: Over) -> Callable[[Heard], None]:
    """``hear`` for the inside of a call: silent once the call is over, its errors kept apart from the
    transport's."""

    def heard(said: Heard) -> None:
        if over.is_set():
            return
        try:
            with over.listening():
                hear(said)
        except Exception as error:
            raise _Overheard(error) from error

    return heard


class Calling(Generic[Result]):
    """``name`` is who is called, for messages; ``errors`` what the SDK and its transport may raise."""

    def __init__(
        self,
        name: str,
        errors: tuple[type[Exception], ...],
        *,
        timeout_s: float,
        retries: int,
        secrets: tuple[str, ...] = (),
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._name = name
        self._errors: tuple[type[Exception], ...] = (TimeoutError, *errors)
        self._timeout_s, self._retries, self._sleep = timeout_s, retries, sleep
        self._secrets = tuple(secret for secret in secrets if secret)

    def call(
        self,
        once: Callable[[Over], Result],
        optional: Callable[[], Collection[str]] = tuple,
        refused: set[str] | None = None,
    ) -> tuple[Result, int, list[str]]:
        """(result, tries, notes). ``once`` stops, and is listened to no more, when its event is set.
        ``optional`` tells which of the parameters it now sends it may go without: those that the server does
        not take go into ``refused``, and are told of at each call.

        Raises GeneratorError, FormRefusedError for a schema or grammar that is not taken."""
        refused = set() if refused is None else refused
        notes = [f"asked without {name}, which the server did not take before" for name in sorted(refused)]
        calls = failed = 0
        while True:
            calls += 1
            over = Over()
            try:
                return bounded(partial(once, over), self._timeout_s, over), calls, notes
            except _Overheard as overheard:
                raise overheard.error from overheard.error.__cause__
            except self._errors as error:
                over.set()
                told = self._told(error)
                if name := _not_taken(error, told, optional()):
                    refused.add(name)
                    notes.append(f"asked again without {name}, which the server does not take")
                    continue
                failed += 1
                if not _helps(error):
                    raise self._failed(error, told) from error
                if failed > self._retries:
                    raise self._failed(error, f"{told}, {failed} times") from error
                wait = _wait(error, failed)
                if wait > LONGEST_ASKED_S:
                    raise self._failed(error, f"{told}; it asks to be left alone for {wait:.0f} s") from error
                notes.append(f"try {failed} failed: {told}; tried again after {wait:.1f} s")
                self._sleep(wait)

    def _failed(self, error: Exception, told: str) -> GeneratorError:
        status = getattr(error, "status_code", None)
        if status in {400, 404, 415, 422, 501} and _FORM_WORDS.search(told):
            return FormRefusedError(f"{self._name}: {told}")
        hint = _HINTS.get(status, "") if isinstance(status, int) else ""
        failed = GeneratorError(f"{self._name} did not answer: {told}", hint=hint)
        failed.retryable = _helps(error)
        return failed

    def _told(self, error: Exception) -> str:
        """What happened, without keys; a server's own words cut short."""
        if isinstance(error, TimeoutError):
            return f"no whole answer within {self._timeout_s:g} s"
        status = getattr(error, "status_code", None)
        words = f"{type(error).__name__}{f' {status}' if status else ''}: {error}"
        for secret in self._secrets:
            words = words.replace(secret, "[key]")
        return " ".join(_SECRET.sub("[key]", words).split())[:300]


_HINTS = {
    401: "the key is not accepted",
    403: "the key may not use this model",
    404: "check the model's name and the address",
    429: "wait, or raise writer.retries",
}


def transport_errors(sdk: Any) -> tuple[type[Exception], ...]:
    """The SDK's own errors, and what its transport raises while an answer streams: the SDK does not wrap
    that, nor lines that are no JSON."""
    roots = {made.__module__.partition(".")[0] for made in sdk.DefaultHttpxClient.__mro__}
    http = importlib.import_module(next(root for root in sorted(roots) if root.startswith("httpx")))
    base = sdk.OpenAIError if hasattr(sdk, "OpenAIError") else sdk.AnthropicError
    return (base, http.HTTPError, http.StreamError, ValueError)


def _not_taken(error: Exception, told: str, sent: Collection[str]) -> str:
    """The parameter of ``sent`` that the server does not know, "" for none: one that is only too large for
    this prompt is not meant."""
    if getattr(error, "status_code", None) not in {400, 422} or not _UNKNOWN.search(told):
        return ""
    param = str(getattr(error, "param", "") or "")
    if param in sent:
        return param
    words = set(re.findall(r"\w+", told))
    return next((name for name in sorted(sent) if name in words), "")


def priced(usage: TokenUsage, settings: Writer) -> float | None:
    """None without configured prices: a cost is never guessed."""
    if not settings.price_prompt and not settings.price_completion:
        return None
    return (usage.prompt * settings.price_prompt + usage.completion * settings.price_completion) / 1e6


def bounded(work: Callable[[], Result], seconds: float, over: Over) -> Result:
    """``work()``, waited for at most ``seconds`` beside those that were spent listening: a read time-out
    alone never ends when a byte comes now and then. Raises TimeoutError; what ``work`` raises is raised
    here."""
    outcome: list[Result] = []
    failure: list[BaseException] = []

    def run() -> None:
        try:
            outcome.append(work())
        except BaseException as error:  # noqa: BLE001 - raised again by the thread that waits
            failure.append(error)

    # In the caller's context: who hears of what is spent there (a claim may be judged while it is streamed).
    thread = threading.Thread(target=copy_context().run, args=(run,), daemon=True, name="citewell-call")
    thread.start()
    began = time.monotonic()
    while thread.is_alive() and (left := began + seconds + over.listened_s - time.monotonic()) > 0:
        thread.join(left)
    if failure:
        raise failure[0]
    if not outcome:
        raise TimeoutError
    return outcome[0]


def _helps(error: Exception) -> bool:
    """Whether the same call may succeed later."""
    if isinstance(error, TimeoutError):
        return True
    if str(getattr(error, "code", "") or "") in HOPELESS:
        return False
    status = getattr(error, "status_code", None)
    if isinstance(status, int) and status < 400:
        # An error told in the middle of a stream that had begun well.
        body = getattr(error, "body", None)
        told = body.get("error") if isinstance(body, dict) else None
        return isinstance(told, dict) and told.get("type") in PASSING
    # No status: the connection failed or broke off.
    return status in RETRYABLE if status is not None else True


def _wait(error: Exception, attempt: int) -> float:
    """What the server asks for; else twice as long each time, spread."""
    headers: Any = getattr(getattr(error, "response", None), "headers", None) or {}
    asked = _seconds(headers.get("retry-after-ms"), 1000.0)
    asked = _seconds(headers.get("retry-after"), 1.0) if asked is None else asked
    if asked is not None and asked >= 0:
        return asked
    return min(FIRST_WAIT_S * 2.0 ** (attempt - 1), LONGEST_WAIT_S) * (0.75 + random.random() / 4)


def _seconds(value: str | None, unit: float) -> float | None:
    """Seconds, or an HTTP date."""
    if not value:
        return None
    try:
        return float(value) / unit
    except ValueError:
        pass
    try:
        when = email.utils.parsedate_to_datetime(value)
    except (TypeError, ValueError):
        return None
    return max(0.0, (when - datetime.now(UTC)).total_seconds())
