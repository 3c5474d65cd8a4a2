"""What may expire, and whether the log's expiry entries comply.

In: the intact entries of a log, in order. Out: findings: an expiry of entries that may not expire, and
content that is gone without an expiry. Part of the checker: standard library only.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from citewell.audit.tampering import Finding, Row

CLASSES: Mapping[str, tuple[str, ...]] = {
    "answers": ("answer",),
    "errors": ("error",),
    "reads": ("read",),
    "feedback": ("feedback", "evaluation"),
    "notices": ("notice", "recheck", "recall"),
}
"""Retention classes. Kinds in no class (ingest, configuration, keys, erasure, expiry) are needed to check
the log and never expire."""
_MAY_EXPIRE = tuple(kind for kinds in CLASSES.values() for kind in kinds)
_EXPIRY, _MOST = "expiry", "answer"


def entries_named(body: Any) -> list[int]:
    """The entries whose content an expiry removed. Raises ValueError for a body that is not an expiry."""
    named = body.get("entries") if isinstance(body, dict) else None
    records = body.get("records") if isinstance(body, dict) else None
    if not isinstance(named, list) or not isinstance(records, list):
        raise ValueError("it names no entries")
    if not all(type(seq) is int for seq in named):
        raise ValueError("not everything it names is an entry")
    known = set(named)
    if not all(isinstance(pair, list) and len(pair) == 2 and pair[0] in known for pair in records):
        raise ValueError("it keeps profiles of entries that it does not name")
    return named


class Expiries:
    """Visits every intact entry in order, then reports the findings."""

    def __init__(self) -> None:
        self._kinds: dict[int, str] = {}
        """Omits answers, which are most of a log."""
        self._named: set[int] = set()
        self._bare: list[int] = []
        self._wrong: list[Finding] = []

    def visit(self, row: Row) -> None:
        seq, kind, _, _, text, _ = row
        if kind != _MOST:
            self._kinds[seq] = kind
        if text is None:
            self._bare.append(seq)
        elif kind == _EXPIRY:
            try:
                body = json.loads(text)
                named = entries_named(body)
                fault = next(self._faults(seq, str(body.get("class", "")), named), "")
                self._named.update(named)
            except (ValueError, TypeError, RecursionError) as error:
                fault = str(error)
            if fault:
                self._wrong.append(Finding(_EXPIRY, seq, fault))

    def findings(self) -> Iterator[Finding]:
        yield from self._wrong
        for seq in self._bare:
            kind = self._kinds.get(seq, _MOST)
            if kind not in _MAY_EXPIRE:
                yield Finding("withheld", seq, f"its content is gone, but {kind} entries never expire")
            elif seq not in self._named:
                yield Finding("withheld", seq, "its content is gone, but the log has no expiry entry for it")

    def _faults(self, seq: int, name: str, named: list[int]) -> Iterator[str]:
        for entry in named:
            kind = self._kinds.get(entry, _MOST)
            if not 0 < entry < seq:
                yield f"it names entry {entry}, which did not exist yet"
            elif kind not in _MAY_EXPIRE:
                yield f"it names entry {entry} of kind {kind}, which never expires"
            elif kind not in CLASSES.get(name, _MAY_EXPIRE):
                yield f"it names entry {entry} under {name}, but its kind is {kind}"
