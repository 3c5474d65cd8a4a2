"""Two records of one question, held against each other bit by bit.

In: a record, and the same made anew. Out: a :class:`Replay` that names each difference. Another release,
processor or configuration is named beside it: then a difference proves nothing. Knows nothing about how a
record is made.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from citewell.answering.finding import MORE, SEARCHED_ALSO
from citewell.answering.questioning import HYPOTHESISED, WITHOUT
from citewell.core.config import Config
from citewell.core.identity import plain
from citewell.core.records import AuditRecord, Record


class Replay(Record, frozen=True, kw_only=True):
    """``same`` says whether retrieval, claims, verdicts, confidence and decision came out with the same bits.

    ``elsewhere`` names what is not as it was when the record was made: the reasons why ``same`` may be False.
    ``compared`` are the parts of the record that were looked at.
    """

    request_id: str
    index_version: str
    same: bool
    compared: tuple[str, ...]
    differences: tuple[str, ...] = ()
    elsewhere: tuple[str, ...] = ()


RETRIEVED = ("index_version", "retrieval_results")
JUDGED = ("claims",)
WHOLE = (
    *RETRIEVED,
    *JUDGED,
    "conflicts",
    "missing",
    "confidence_report",
    "response_decision",
    "shown_response",
)
"""What a writer that says the same again lets be compared."""


def replay(
    record: AuditRecord,
    again: Callable[[AuditRecord], AuditRecord],
    *,
    compared: Sequence[str],
    config: Config,
    environment: Mapping[str, str],
) -> Replay:
    """``again`` makes the record anew on its index version. Raises UsageError when that is no longer kept."""
    other = again(record)
    differences = [
        difference
        for part in compared
        for difference in _differences(part, plain(getattr(record, part)), plain(getattr(other, part)))
    ]
    elsewhere = [
        f"{name} was {record.environment.get(name, 'not recorded')} and is now {value}"
        for name, value in environment.items()
        if record.environment.get(name) != value
    ]
    if record.config_hash != config.hash:
        elsewhere.append(f"the configuration was {record.config_hash} and is now {config.hash}")
    elsewhere += [
        f"{maker.name} {maker.hash} is no longer in use"
        for maker in record.makers
        if maker not in other.makers
    ]
    elsewhere += _not_held(record)
    return Replay(
        request_id=record.request_id,
        index_version=record.index_version,
        same=not differences,
        compared=tuple(compared),
        differences=tuple(differences),
        elsewhere=tuple(elsewhere),
    )


def _not_held(record: AuditRecord) -> list[str]:
    """Searches that the record does not hold, so that nobody can repeat them."""
    reasons = []
    if HYPOTHESISED in record.latency_ms and f"{HYPOTHESISED}: {WITHOUT}" not in record.notes:
        reasons.append("the search used words from a language model, which records do not keep")
    if MORE in record.latency_ms and SEARCHED_ALSO not in record.parameters:
        reasons.append("the search for missing parts of the question was not kept in this record")
    return reasons


def _differences(where: str, then: Any, now: Any) -> list[str]:
    """Each place at which two values part, in words."""
    if isinstance(then, dict) and isinstance(now, dict) and then.keys() == now.keys():
        return [d for key in then for d in _differences(f"{where}.{key}", then[key], now[key])]
    if isinstance(then, list | tuple) and isinstance(now, list | tuple):
        told = [f"{where}: {len(then)} then, {len(now)} now"] if len(then) != len(now) else []
        pairs = enumerate(zip(then, now, strict=False), 1)
        return told + [d for place, pair in pairs for d in _differences(f"{where} {place}", *pair)]
    return [] if then == now and type(then) is type(now) else [f"{where} was {then!r} and is now {now!r}"]
