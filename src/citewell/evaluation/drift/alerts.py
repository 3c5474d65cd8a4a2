"""Alert rules, and who is told when one fires.

In: the configured rules; what each measure was in its window. Out: :class:`Alert`; a command run or a webhook
called for each that fires, on the log. A rule is one line: ``abstention > 0.3 @ 7d`` fires when more than .3
of the records of the last seven days abstained, and there were enough of them.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Sequence
from datetime import timedelta

import msgspec

from citewell.core.addresses import post
from citewell.core.clock import written
from citewell.core.commands import tell_command
from citewell.core.config import Alerts
from citewell.core.errors import ConfigError
from citewell.core.records import Record
from citewell.knowledge.home import KnowledgeBase

ALERT = "alert"
_RULE = re.compile(r"\s*([a-z_]+)\s*([<>])\s*(\d+(?:\.\d+)?)\s*@\s*(\d{1,4}[hdw])\s*")


class Rule(Record, frozen=True, kw_only=True):
    """``window`` as ``--since`` takes it."""

    line: str
    measure: str
    above: bool
    threshold: float
    window: str


class Alert(Record, frozen=True, kw_only=True):
    """A rule and what it saw. ``state`` is ``firing``, ``quiet``, or ``not measured`` (too few records)."""

    rule: str
    measure: str
    window: str
    state: str
    value: float | None
    low: float | None
    high: float | None
    n: int
    text: str


def rules_of(settings: Alerts, known: Sequence[str]) -> tuple[Rule, ...]:
    """Raises ConfigError for a line that is no rule."""
    found = []
    for line in settings.rules:
        match = _RULE.fullmatch(line)
        if match is None:
            raise ConfigError(f"alerts.rules: {line!r} is no rule", hint='as in "abstention > 0.3 @ 7d"')
        measure, direction, threshold, window = match.groups()
        if measure not in known:
            raise ConfigError(f"alerts.rules: unknown measure {measure!r}", hint=f"one of {', '.join(known)}")
        found.append(
            Rule(
                line=" ".join(line.split()),
                measure=measure,
                above=direction == ">",
                threshold=float(threshold),
                window=window,
            )
        )
    return tuple(found)


def judged(
    rule: Rule, value: float | None, low: float | None, high: float | None, n: int, least: int
) -> Alert:
    """Fires on the value itself; its interval is told beside it."""
    if value is None or n < least:
        state, words = "not measured", f"{n} records, {least} are needed"
    else:
        beyond = value > rule.threshold if rule.above else value < rule.threshold
        state, words = "firing" if beyond else "quiet", f"{value:.3g} over {n} records"
    return Alert(
        rule=rule.line,
        measure=rule.measure,
        window=rule.window,
        state=state,
        value=value,
        low=low,
        high=high,
        n=n,
        text=f"{rule.line}: {words}",
    )


def sinks_of(settings: Alerts) -> dict[str, Callable[[Alert], str]]:
    """Each configured one by its name; told an alert, it returns what went wrong, or "".

    A command gets the alert's text as its last argument and its JSON as standard input. Raises ConfigError
    for a command that cannot be taken apart into words.
    """
    found: dict[str, Callable[[Alert], str]] = {}
    if settings.command:
        try:
            words = shlex.split(settings.command)
        except ValueError as error:
            raise ConfigError(f"alerts.command: {error}", hint="close every quotation mark") from None
        found["command"] = lambda alert: tell_command(words, alert.text, msgspec.json.encode(alert))
    if settings.webhook:
        found["webhook"] = lambda alert: post(
            settings.webhook, msgspec.json.encode(alert), "application/json"
        )
    return found


def tell(kb: KnowledgeBase, alerts: Sequence[Alert]) -> dict[str, dict[str, str]]:
    """Tells what fires to every configured sink, once in ``alerts.repeat_hours``; by rule and sink, what went
    wrong ("" for nothing). Each is an entry of the log."""
    settings = kb.config.alerts
    sinks = sinks_of(settings)
    since = written(kb.now() - timedelta(hours=settings.repeat_hours))
    done = {
        (body["rule"], name)
        for entry, body in kb.audit.evaluations(ALERT)
        if entry.timestamp > since
        for name, trouble in body["told"].items()
        if not trouble
    }
    found: dict[str, dict[str, str]] = {}
    for alert in alerts:
        due = {name: sink for name, sink in sinks.items() if (alert.rule, name) not in done}
        if alert.state == "firing" and due:
            found[alert.rule] = {name: sink(alert) for name, sink in due.items()}
            body = {"measure": ALERT, "rule": alert.rule, "value": alert.value, "n": alert.n}
            kb.audit.note_evaluation({**body, "told": found[alert.rule]})
    return found
