"""What was taken out of a log on purpose, and what is missing without a word about it.

In: the log's rows. Out: which entries' contents an expiry entry accounts for, with the profile it kept of
them; findings for contents that are gone unaccounted for. An expiry entry holds ``entries`` (seqs),
``profiles`` and ``records`` (pairs of a seq and the number of its profile); an erasure entry the ``subject``.
Knows nothing about when something may be taken out.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from citewell.audit.database import Rows
from citewell.audit.entries import EntryKind
from citewell.audit.profiles import Profile

WITHHELD = "withheld"
"""The finding's kind."""


def accounted_for(rows: Rows) -> set[int]:
    """Entries whose content has expired by the rules."""
    return {seq for body in _bodies(rows, EntryKind.EXPIRY) for seq in body["entries"]}


def profiles_kept(rows: Rows) -> dict[int, Profile]:
    """By seq, what stays known of records whose content has expired."""
    found: dict[int, Profile] = {}
    for body in _bodies(rows, EntryKind.EXPIRY):
        profiles = [msgspec.convert(profile, Profile) for profile in body["profiles"]]
        for seq, number in body["records"]:
            found[seq] = profiles[number]
    return found


def erased_subjects(rows: Rows) -> set[str]:
    """Pseudonyms of people who were erased."""
    return {body["subject"] for body in _bodies(rows, EntryKind.ERASURE)}


def unaccounted_for(rows: Rows) -> Iterator[tuple[int, str]]:
    """``(seq, reason)`` of each entry whose content or texts are gone and no entry says why."""
    expired = accounted_for(rows)
    for (seq,) in rows.execute("SELECT seq FROM entries WHERE body IS NULL ORDER BY seq").fetchall():
        if seq not in expired:
            yield seq, "its content is gone, and no expiry entry says why"
    erased = erased_subjects(rows)
    without = rows.execute(
        "SELECT e.seq, e.subject FROM entries e LEFT JOIN private p ON p.seq = e.seq"
        " WHERE e.subject <> '' AND p.seq IS NULL AND e.body IS NOT NULL ORDER BY e.seq"
    ).fetchall()
    for seq, subject in without:
        if subject not in erased:
            yield seq, "its personal texts are gone, and no erasure entry says why"


def _bodies(rows: Rows, kind: EntryKind) -> list[dict[str, Any]]:
    found = rows.execute(
        "SELECT body FROM entries WHERE kind = ? AND body IS NOT NULL ORDER BY seq", (kind.value,)
    ).fetchall()
    return [msgspec.json.decode(body) for (body,) in found]
