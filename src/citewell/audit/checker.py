"""Recomputes a log and reports what does not match. Written for auditors to read and run without the writer.

In: a log (a SQLite file, or an export), the public key, and any checkpoints kept outside. Out: a
:class:`CheckReport` whose findings name kinds of tampering: edited, deleted, inserted, reordered, duplicated,
truncated, rolled-back, rewritten, withheld, and errors in tree, checkpoint, signature or expiry.

Imports the standard library, ``identity``, ``merkle``, and ``cryptography`` for signatures; without that, or
without a key, it says "signature not checked" and the log does not pass.

What a checkpoint proves: signed by the log's key, it fixes every entry up to its size. What it cannot prove
alone: that the key's owner did not write and sign another log. Only a checkpoint that *left the owner's
hands* before the tampering shows that; hence ``outside``.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from citewell.audit.expiries import Expiries
from citewell.audit.merkle import TILE, Frontier, Tree
from citewell.audit.notes import NOT_CHECKED, Checkpoint, TrustedKeys, checkpoints_in, read_checkpoint
from citewell.audit.tampering import Finding, Row, StoredEntry, derive, explain
from citewell.audit.tiles import CHECKPOINT, bodies_path, bundle_path, read_bundle, tile_path

_KEY_ENTRY = "key"
"""The kind of entry that hands over from one signing key to the next."""


@dataclass(frozen=True)
class CheckReport:
    """``ok``: no findings; ``size``: the number of entries; ``skipped``: what was not checked; ``notes``:
    remarks that are not faults.
    """

    ok: bool
    size: int
    findings: tuple[Finding, ...]
    skipped: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


class LogSource(Protocol):
    """A log to check; everything as stored, in order, nothing repaired. Values of the wrong type match no
    leaf."""

    def entries(self) -> Iterable[Row]: ...

    def hashes(self, level: int) -> Iterable[tuple[int, bytes]]:
        """(place, hash) of a tile level, by place; level 0 holds the leaves."""
        ...

    def newest(self) -> str:
        """The newest checkpoint, "" if there is none."""
        ...

    def left_behind(self, size: int) -> str:
        """What the store still holds of entries after ``size``, in words; "" for nothing."""
        ...


class RowsSource:
    """Reads from anything with ``execute`` over the log's tables: a SQLite connection, a transaction."""

    def __init__(self, rows: Any) -> None:
        self._rows = rows

    def entries(self) -> Iterable[Row]:
        found = self._rows.execute(
            "SELECT seq, kind, timestamp, subject, body, body_hash FROM entries ORDER BY seq"
        )
        return map(_typed, found)

    def hashes(self, level: int) -> Iterable[tuple[int, bytes]]:
        found = self._rows.execute("SELECT place, hash FROM tree WHERE level = ? ORDER BY place", (level,))
        for place, digest in found:
            if type(place) is int:
                yield place, digest if type(digest) is bytes else b""

    def newest(self) -> str:
        row = self._rows.execute("SELECT checkpoint FROM head").fetchone()
        return str(row[0]) if row else ""

    def left_behind(self, size: int) -> str:
        said = "table {0} still refers to entry {1}"
        tables = [(name, "seq", said) for name in ("entries", "private", "requests")]
        for name, column, trace in (*tables, ("published", "size", "a checkpoint of {1} entries was {0}")):
            beyond = f"SELECT max({column}) FROM {name} WHERE {column} BETWEEN ? AND ?"
            row = self._rows.execute(beyond, (size + 1, 2**63 - 1)).fetchone()
            if row and row[0] is not None:
                return trace.format(name, row[0])
        return ""


class ExportSource:
    """Reads a folder written by `citewell audit export`: tlog-tiles and the bodies."""

    def __init__(self, folder: Path) -> None:
        """Raises ValueError for a folder without an export."""
        self._folder = folder
        text = self.newest()
        if not text:
            raise ValueError(f"{folder} contains no checkpoint")
        self._size = read_checkpoint(text).size

    def entries(self) -> Iterable[Row]:
        for number in range(-(-self._size // TILE)):
            width = min(TILE, self._size - number * TILE)
            leaves = read_bundle((self._folder / bundle_path(number, width)).read_bytes())
            # Bytes: a text may contain what Unicode, but not JSON, considers a line break.
            bodies = (self._folder / bodies_path(number)).read_bytes().removesuffix(b"\n").split(b"\n")
            if not len(leaves) == len(bodies) == width:
                raise ValueError(f"bundle {number} of the export is incomplete")
            for data, line in zip(leaves, bodies, strict=True):
                try:
                    leaf, body = json.loads(data), json.loads(line)
                    sealed = [leaf[name] for name in ("seq", "kind", "timestamp", "subject", "body")]
                    yield _typed((*sealed[:4], body["body"], sealed[4]))
                except (ValueError, LookupError, TypeError, RecursionError) as error:
                    raise ValueError(f"bundle {number} of the export cannot be read: {error!r}") from error

    def hashes(self, level: int) -> Iterable[tuple[int, bytes]]:
        count = self._size >> (8 * level)
        for number in range(-(-count // TILE)):
            width = min(TILE, count - number * TILE)
            data = (self._folder / tile_path(level, number, width)).read_bytes()
            for at in range(len(data) // 32):
                yield number * TILE + at, data[at * 32 : at * 32 + 32]

    def newest(self) -> str:
        path = self._folder / CHECKPOINT
        return path.read_text(encoding="utf-8") if path.is_file() else ""

    def left_behind(self, size: int) -> str:
        beyond = sorted(self._folder.glob("bodies/**/*.jsonl"))[-(-size // TILE) :]
        return f"{beyond[-1].name} contains later entries" if beyond else ""


def _typed(row: Sequence[Any]) -> Row:
    """Enforces types: a database or an export may hold anything in any column."""
    seq, kind, timestamp, subject, body, body_hash = row
    return (
        seq if type(seq) is int else 0,
        _text(kind),
        _text(timestamp),
        _text(subject),
        None if body is None else _text(body),
        _text(body_hash),
    )


def _text(value: object) -> str:
    """A non-string becomes a text starting with NUL, as no text of an entry does."""
    return value if type(value) is str else f"\0{type(value).__name__}"


Visit = Callable[[Row], None]
"""Called with each entry that matches its leaf, in order; its body is None if it was removed."""


def check(
    source: LogSource, *, key: str = "", outside: Sequence[str] = (), visit: Visit | None = None
) -> CheckReport:
    """``key`` holds published verifier keys, one per line; ``outside`` checkpoints that others kept, one or
    more per text."""
    findings: list[Finding] = []
    notes: list[str] = []
    skipped: list[str] = []
    trusted = TrustedKeys(key)
    sealed = _leaves(source, findings)
    size, whole = _walk(source, sealed, notes, trusted, findings, visit)
    if not whole:
        findings += explain([StoredEntry(row) for row in source.entries()], sealed)
    roots = _Roots(sealed)
    _upper_levels(source, roots, findings)
    newest = _own_checkpoint(source, roots, size, trusted, findings)
    _against(outside, source, roots, newest, trusted, findings)
    # If a finding already names an entry, whatever lies beyond the end is its consequence.
    if not any(found.seq for found in findings):
        findings += _cut(source, len(sealed), key, trusted)
    if not outside:
        skipped.append(
            "no outside checkpoint was given, so a log that was rewritten or cut off with its"
            " own key would not be noticed; pass --checkpoint"
        )
    ordered = tuple(sorted(dict.fromkeys(findings), key=lambda found: (found.seq, found.kind)))
    return CheckReport(not ordered, size, ordered, tuple(skipped), tuple(notes))


# --- leaves ---------------------------------------------------------------------------------------


def _leaves(source: LogSource, findings: list[Finding]) -> list[bytes]:
    """The leaf hashes that the tree was built from."""
    leaves: list[bytes] = []
    for place, digest in source.hashes(0):
        if place != len(leaves) or len(digest) != 32:
            findings.append(Finding("tree", max(1, len(leaves) + 1), f"the tree has no leaf {len(leaves)}"))
            break
        leaves.append(bytes(digest))
    return leaves


def _walk(
    source: LogSource,
    sealed: list[bytes],
    notes: list[str],
    trusted: TrustedKeys,
    findings: list[Finding],
    visit: Visit | None,
) -> tuple[int, bool]:
    """The number of entries, and whether each matches the leaf at its place."""
    size, whole, latest, backward = 0, True, "", 0
    expiries = Expiries()
    for row in source.entries():
        size += 1
        if row[0] == size <= len(sealed) and derive(row) == sealed[size - 1]:
            if row[1] == _KEY_ENTRY and row[4] is not None:
                fault = trusted.follow(size, row[4])
                findings += [Finding("signature", size, fault)] if fault else []
            expiries.visit(row)
            if visit is not None:
                visit(row)
        else:
            whole = False
        backward += row[2] < latest
        latest = max(latest, row[2])
    if backward:
        notes.append(
            f"{backward} entries have an earlier time than an entry before them; entries are"
            f" ordered by seq, not by time"
        )
    findings += expiries.findings()
    return size, whole and size == len(sealed)


# --- tree and checkpoints -------------------------------------------------------------------------


class _Roots:
    """Roots over the stored leaves, at any size, each computed once."""

    def __init__(self, leaves: list[bytes]) -> None:
        self.leaves = leaves
        self.upper: dict[tuple[int, int], bytes] = {}
        frontier = Frontier()
        for leaf in leaves:
            for level, place, digest in frontier.append(leaf)[1:]:
                self.upper[level, place] = digest
        self._tree = Tree(len(leaves), self._tile)

    def at(self, size: int) -> bytes:
        return self._tree.root(size)

    def _tile(self, level: int, number: int, width: int) -> list[bytes]:
        places = range(number * TILE, number * TILE + width)
        return [self.leaves[place] if level == 0 else self.upper[level, place] for place in places]


def _upper_levels(source: LogSource, roots: _Roots, findings: list[Finding]) -> None:
    """Compares the stored roots of full tiles with those computed from the leaves."""
    for level in itertools.count(1):
        expected = {place: digest for (at, place), digest in roots.upper.items() if at == level}
        found = dict(source.hashes(level))
        if not found and not expected:
            return
        for place in sorted(found.keys() | expected.keys()):
            if found.get(place) != expected.get(place):
                span = TILE**level
                reason = (
                    f"entries {place * span + 1} to {(place + 1) * span} do not match the root of their tile"
                )
                findings.append(Finding("tree", place * span + 1, reason))


def _own_checkpoint(
    source: LogSource, roots: _Roots, size: int, trusted: TrustedKeys, findings: list[Finding]
) -> Checkpoint | None:
    """The newest checkpoint, if it is valid for this log."""
    text = source.newest()
    if not text:
        if size or roots.leaves:
            findings.append(Finding("checkpoint", 0, "the log has entries but no checkpoint"))
        return None
    newest = _readable(text, trusted, findings, "the log's own checkpoint")
    if newest is None:
        return None
    if newest.size != len(roots.leaves):
        reason = (
            f"the log's own checkpoint covers {newest.size} entries, but its tree has {len(roots.leaves)}"
        )
        findings.append(Finding("checkpoint", min(newest.size, len(roots.leaves)) + 1, reason))
        return None
    if newest.root != roots.at(newest.size):
        reason = (
            "the log's own checkpoint does not match the root of its tree: leaves or checkpoint were changed"
        )
        findings.append(Finding("checkpoint", 0, reason))
        return None
    return newest


def _against(
    outside: Sequence[str],
    source: LogSource,
    roots: _Roots,
    newest: Checkpoint | None,
    trusted: TrustedKeys,
    findings: list[Finding],
) -> None:
    """Compares checkpoints kept outside with the current log."""
    kept_outside = (one for text in outside for one in checkpoints_in(text))
    readable = [_readable(one, trusted, findings, "the outside checkpoint") for one in kept_outside]
    size, agreed = len(roots.leaves), 0
    for kept in sorted((one for one in readable if one is not None), key=lambda one: one.size):
        if newest is not None and kept.origin != newest.origin:
            reason = f"the outside checkpoint belongs to log {kept.origin}, but this is {newest.origin}"
            findings.append(Finding("checkpoint", 0, reason))
        elif kept.size > size:
            findings.append(_missing(kept.size, size, newest, source))
        elif roots.at(kept.size) == kept.root:
            agreed = kept.size
        elif agreed:
            reason = (
                "the log was reset to an older state and continued differently:"
                f" its first {agreed} entries match what"
            )
            findings.append(
                Finding("rolled-back", agreed + 1, f"{reason} was signed, entries up to {kept.size} do not")
            )
        else:
            reason = f"the first {kept.size} entries are not the ones that were signed: the log was rewritten"
            findings.append(Finding("rewritten", 0, reason))


def _cut(source: LogSource, size: int, key: str, trusted: TrustedKeys) -> Iterator[Finding]:
    """Missing entries at the end, as shown by the rest of the log or the published keys. An empty log with a
    published key does not pass."""
    trace = source.left_behind(size)
    if trace:
        yield Finding("truncated", size + 1, f"the log ends at entry {size}, but {trace}")
    elif not size and key.strip():
        yield Finding(
            "truncated",
            1,
            "the log is empty although a key was published; this is only correct if no entry was ever made",
        )
    for after, told in sorted(trusted.unborne()):
        if after >= size:
            yield Finding(
                "truncated", size + 1, f"the published keys say {told}, but the log ends at entry {size}"
            )
        else:
            yield Finding("signature", after + 1, f"the published keys say {told}, but the log does not")


def _missing(wanted: int, size: int, newest: Checkpoint | None, source: LogSource) -> Finding:
    """Missing entries at the end, as shown by an outside checkpoint."""
    said = f"the outside checkpoint covers {wanted} entries"
    if wanted - size == 1:
        return Finding("deleted", size + 1, f"the last entry is gone: {said}")
    gone = f"entries {size + 1} to {wanted} are gone: {said}"
    trace = source.left_behind(size)
    if newest is None or trace:
        return Finding("truncated", size + 1, f"{gone}{trace and f'; {trace}'}")
    return Finding("rolled-back", size + 1, f"{gone}; the current log was signed at entry {size}")


def _readable(text: str, trusted: TrustedKeys, findings: list[Finding], what: str) -> Checkpoint | None:
    try:
        found = read_checkpoint(text)
    except ValueError as error:
        findings.append(Finding("checkpoint", 0, f"{what} cannot be read: {error}"))
        return None
    fault = trusted.fault(found)
    if fault:
        kind = "signature" if fault.startswith(NOT_CHECKED) else "checkpoint"
        findings.append(Finding(kind, 0, f"{what}: {fault}"))
        # Its contents can still be compared; it does not pass either way.
        return found if kind == "signature" else None
    return found
