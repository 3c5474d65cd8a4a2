"""Alert rules, and which of them fire.

In: the configured rules; what each measure was in its window. Out: :class:`Alert`. A rule is one line:
``abstention > 0.3 @ 7d`` fires when more than .3 of the records of the last seven days abstained, and there
were enough of them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from citewell.core.config import Alerts
from citewell.core.errors import ConfigError
from citewell.core.records import Record

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
    """Raises ConfigError for a line that is not a rule."""
    found = []
    for line in settings.rules:
        match = _RULE.fullmatch(line)
        if match is None:
            raise ConfigError(f"alerts.rules: {line!r} is not a rule", hint='write "abstention > 0.3 @ 7d"')
        measure, direction, threshold, window = match.groups()
        if measure not in known:
            raise ConfigError(
                f"alerts.rules: unknown measure {measure!r}", hint=f"use one of {', '.join(known)}"
            )
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
