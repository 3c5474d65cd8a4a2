"""Derives a log again and names what does not fit. Written to be read by an auditor, and run without the
writer.

In: a log (a SQLite file, or an export), the public key, and any checkpoints kept outside. Out: a
:class:`CheckReport` whose findings name deeds: edited, deleted, inserted, reordered, duplicated, truncated,
rolled-back, rewritten, and what is wrong with tree, checkpoint or signature.

Imports the standard library, ``identity``, ``merkle``, and ``cryptography`` for signatures; without that, or
without a key, it says "signature not checked" and the log does not pass.

What a checkpoint proves: signed by the log's key, it fixes every entry up to its size. What it cannot prove
alone: that the key's owner did not write another log and sign that. Only a checkpoint that *left the owner's
hands* before a deed shows the deed; hence ``outside``.
"""

from __future__ import annotations

import base64
import binascii
import bisect
import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from citewell.audit.merkle import EMPTY, TILE, Frontier, leaf_hash
from citewell.identity import canonical_json, hash_bytes

_NEAR = 256
"""How far from where it stands an entry's place is looked for when nothing else tells it."""


@dataclass(frozen=True)
class Finding:
    """``seq`` is the entry it is about, 0 when it is about the whole log."""

    kind: str
    seq: int
    reason: str


@dataclass(frozen=True)
class CheckReport:
    """``ok``: no findings; ``size``: how many entries; ``skipped``: what was not looked at; ``notes``: no
    faults.
    """

    ok: bool
    size: int
    findings: tuple[Finding, ...]
    skipped: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Checkpoint:
    """A tlog-checkpoint and its signature lines: (key name, four bytes of key id, signature)."""

    origin: str
    size: int
    root: bytes
    signed: bytes
    signatures: tuple[tuple[str, bytes, bytes], ...]


Row = tuple[int, str, str, str, "str | None", str]
"""seq, kind, timestamp, subject, body, body hash."""


class Source(Protocol):
    """A log to check; everything as stored, in order, nothing made good."""

    def entries(self) -> Iterable[Row]: ...

    def hashes(self, level: int) -> Iterable[tuple[int, bytes]]:
        """(place, hash) of a tile level, by place; level 0 are the leaves."""
        ...

    def newest(self) -> str:
        """The newest checkpoint, "" when there is none."""
        ...

    def left_behind(self, size: int) -> str:
        """What the store still holds of entries after ``size``; "" for nothing."""
        ...


class RowsSource:
    """Over anything with ``execute`` that holds the log's tables: a SQLite connection, a transaction."""

    def __init__(self, rows: Any) -> None:
        self._rows = rows

    def entries(self) -> Iterable[Row]:
        found: Iterable[Row] = self._rows.execute(
            "SELECT seq, kind, timestamp, subject, body, body_hash FROM entries ORDER BY seq"
        )
        return found

    def hashes(self, level: int) -> Iterable[tuple[int, bytes]]:
        found: Iterable[tuple[int, bytes]] = self._rows.execute(
            "SELECT place, hash FROM tree WHERE level = ? ORDER BY place", (level,)
        )
        return found

    def newest(self) -> str:
        row = self._rows.execute("SELECT checkpoint FROM head").fetchone()
        return str(row[0]) if row else ""

    def left_behind(self, size: int) -> str:
        for table in ("entries", "private", "requests"):
            row = self._rows.execute(f"SELECT max(seq) FROM {table}").fetchone()
            if row and row[0] is not None and row[0] > size:
                return f"table {table} still speaks of entry {row[0]}"
        row = self._rows.execute("SELECT max(size) FROM published").fetchone()
        if row and row[0] is not None and row[0] > size:
            return f"a checkpoint of {row[0]} entries was published"
        return ""


Visit = Callable[[int, str, str, str, str], None]
"""``visit(seq, kind, timestamp, subject, body)`` for each entry that is what was sealed."""


def check(
    source: Source, *, key: str = "", outside: Sequence[str] = (), visit: Visit | None = None
) -> CheckReport:
    """``key`` is a published verifier key, ``outside`` are checkpoints that somebody else kept."""
    findings: list[Finding] = []
    notes: list[str] = []
    skipped: list[str] = []
    sealed = _leaves(source, findings)
    size, whole = _walk(source, sealed, notes, visit)
    if not whole:
        findings += explain(list(_summaries(source)), sealed)
    roots = _Roots(sealed)
    _upper_levels(source, roots, findings)
    newest = _own_checkpoint(source, roots, size, key, findings)
    for text in outside:
        _against(text, source, roots, newest, key, findings)
    if not outside:
        skipped.append("no checkpoint from outside: a log rewritten or cut by its own key would not show")
    ordered = tuple(sorted(dict.fromkeys(findings), key=lambda found: (found.seq, found.kind)))
    return CheckReport(not ordered, size, ordered, tuple(skipped), tuple(notes))


# --- leaves ---------------------------------------------------------------------------------------


def derive(row: Row, seq: int | None = None) -> bytes | None:
    """The leaf hash that a stored entry gives, at ``seq`` when it was sealed elsewhere.

    None when its body is not what its hash says.
    """
    stands, kind, timestamp, subject, body, body_hash = row
    if body is not None and hash_bytes(body.encode("utf-8", "surrogatepass")) != body_hash:
        return None
    value = {
        "body": body_hash,
        "format": 1,
        "kind": kind,
        "seq": stands if seq is None else seq,
        "subject": subject,
        "timestamp": timestamp,
    }
    return leaf_hash(canonical_json(value))


def _leaves(source: Source, findings: list[Finding]) -> list[bytes]:
    """The leaf hashes that the tree was made of."""
    leaves: list[bytes] = []
    for place, digest in source.hashes(0):
        if place != len(leaves) or len(digest) != 32:
            findings.append(Finding("tree", max(1, len(leaves) + 1), f"the tree has no leaf {len(leaves)}"))
            break
        leaves.append(bytes(digest))
    return leaves


def _walk(source: Source, sealed: list[bytes], notes: list[str], visit: Visit | None) -> tuple[int, bool]:
    """How many entries there are, and whether each is the leaf of its place."""
    size, whole, latest, backward = 0, True, "", 0
    for row in source.entries():
        size += 1
        if row[0] == size <= len(sealed) and derive(row) == sealed[size - 1]:
            if visit is not None and row[4] is not None:
                visit(row[0], row[1], row[2], row[3], row[4])
        else:
            whole = False
        backward += row[2] < latest
        latest = max(latest, row[2])
    if backward:
        notes.append(f"{backward} entries are stamped earlier than one before them; the order is that of seq")
    return size, whole and size == len(sealed)


# --- deeds ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Standing:
    """An entry as it stands: ``at`` gives its leaf hash for any place, None when its body is not its hash's."""

    seq: int
    content: str
    at: Callable[[int], bytes | None]


def _summaries(source: Source) -> Iterator[Standing]:
    for row in source.entries():
        content = "" if row[4] is None else hash_bytes(row[4].encode("utf-8", "surrogatepass"))
        yield Standing(row[0], content, lambda seq, row=row: derive(row, seq))  # type: ignore[misc]


def explain(standing: list[Standing], sealed: list[bytes]) -> list[Finding]:
    """One finding a deed and not one a consequence: what was done to entries that do not fit their leaves."""
    places = _places(standing, sealed)
    findings, kept = [], []
    holder: dict[int, int] = {}
    for entry in standing:
        place = places.get(entry.seq)
        if place is not None and (place not in holder or place == entry.seq):
            holder[place] = entry.seq
    for entry in standing:
        place = places.get(entry.seq)
        if place is not None and holder[place] != entry.seq:
            findings.append(Finding("duplicated", entry.seq, f"it repeats entry {place}"))
        else:
            kept.append(entry)
    edited = _edited(kept, places, len(sealed))
    first: dict[str, int] = {}
    for entry in sorted(kept, key=lambda entry: entry.seq not in places):
        first.setdefault(entry.content, entry.seq)
    for entry in kept:
        if entry.seq in places:
            continue
        if entry.seq in edited:
            reason = "what is stored does not give its leaf"
            findings.append(Finding("edited", edited[entry.seq], reason))
        elif entry.content and first[entry.content] != entry.seq:
            findings.append(
                Finding("duplicated", entry.seq, f"it says what entry {first[entry.content]} says")
            )
        else:
            findings.append(Finding("inserted", entry.seq, "nothing was sealed that it could be"))
    moved = sorted(_moved(kept, places))
    findings += [Finding("reordered", seq, f"it was sealed as entry {places[seq]}") for seq in moved]
    findings += _deleted({*places.values(), *edited.values()}, len(sealed))
    return findings


def _places(standing: list[Standing], sealed: list[bytes]) -> dict[int, int]:
    """The seq each entry was sealed under, by the seq it has now; without those that fit nowhere."""
    places: dict[int, int] = {}
    shift = 0
    for position, entry in enumerate(standing, 1):
        guesses = [entry.seq, entry.seq + shift, position, position + shift]
        if entry.at(1) is None:
            continue
        near = sorted(range(-_NEAR, _NEAR + 1), key=abs)
        for place in dict.fromkeys([*guesses, *(position + step for step in near)]):
            if 1 <= place <= len(sealed) and entry.at(place) == sealed[place - 1]:
                places[entry.seq] = place
                shift = place - entry.seq
                break
    return places


def _edited(kept: list[Standing], places: dict[int, int], size: int) -> dict[int, int]:
    """Entries that fit nowhere, by the place between their neighbours that nothing else fills."""
    taken = set(places.values())
    edited: dict[int, int] = {}
    before = 0
    for position, entry in enumerate(kept):
        if entry.seq in places:
            before = max(before, places[entry.seq])
            continue
        after = next((places[later.seq] for later in kept[position + 1 :] if later.seq in places), size + 1)
        wanted = entry.seq if before < entry.seq < after else before + 1
        free = wanted if wanted not in taken else before + 1
        if before < free < max(after, before + 1) and free not in taken and free <= size:
            edited[entry.seq] = free
            taken.add(free)
            before = free
    return edited


def _moved(kept: list[Standing], places: dict[int, int]) -> set[int]:
    """The fewest entries whose removal leaves the others in the order they were sealed in."""
    placed = [entry.seq for entry in kept if entry.seq in places]
    tails: list[int] = []
    ranks: list[int] = []
    for seq in placed:
        rank = bisect.bisect_left(tails, places[seq])
        tails[rank : rank + 1] = [places[seq]]
        ranks.append(rank)
    staying: set[int] = set()
    wanted = len(tails) - 1
    for seq, rank in zip(reversed(placed), reversed(ranks), strict=True):
        if rank == wanted:
            staying.add(seq)
            wanted -= 1
    return set(placed) - staying


def _deleted(there: set[int], size: int) -> Iterator[Finding]:
    """Places that were sealed and that nothing stands for, a run at a time."""
    start = 0
    for place in range(1, size + 2):
        gone = place <= size and place not in there
        if gone and not start:
            start = place
        if not gone and start:
            until = "" if place - start == 1 else f" to {place - 1}"
            at_end = place > size and place - start > 1
            reason = f"entry {start}{until} is gone, its leaf is in the tree"
            yield Finding("truncated" if at_end else "deleted", start, reason)
            start = 0


# --- tree and checkpoints -------------------------------------------------------------------------


class _Roots:
    """Roots over the stored leaves, at any size, each made once."""

    def __init__(self, leaves: list[bytes]) -> None:
        self.leaves = leaves
        self.upper: dict[tuple[int, int], bytes] = {}
        frontier = Frontier()
        for leaf in leaves:
            for level, place, digest in frontier.append(leaf)[1:]:
                self.upper[level, place] = digest
        self._whole = frontier.root()

    def at(self, size: int) -> bytes:
        if size == len(self.leaves):
            return self._whole
        roots, start = [], 0
        for height in reversed(range(size.bit_length())):
            if size >> height & 1:
                roots.append((height, self._full(height, start)))
                start += 1 << height
        return Frontier(roots).root()

    def _full(self, height: int, start: int) -> bytes:
        """The root of the full subtree of this height whose first leaf is ``start``."""
        level = height // 8
        step = 8 * level
        frontier = Frontier()
        for place in range(start >> step, (start + (1 << height)) >> step):
            frontier.append(self.leaves[place] if level == 0 else self.upper[level, place])
        return frontier.root()


def _upper_levels(source: Source, roots: _Roots, findings: list[Finding]) -> None:
    """The stored roots of full tiles are those that the leaves give."""
    level = 1
    expected = {place: digest for (at, place), digest in roots.upper.items() if at == level}
    while True:
        found = dict(source.hashes(level))
        if not found and not expected:
            return
        for place in sorted(found.keys() | expected.keys()):
            if found.get(place) != expected.get(place):
                span = TILE**level
                reason = f"entries {place * span + 1} to {(place + 1) * span} do not give their tile's root"
                findings.append(Finding("tree", place * span + 1, reason))
        level += 1
        expected = {place: digest for (at, place), digest in roots.upper.items() if at == level}


def _own_checkpoint(
    source: Source, roots: _Roots, size: int, key: str, findings: list[Finding]
) -> Checkpoint | None:
    """The newest checkpoint, when it is this log's and holds."""
    text = source.newest()
    if not text:
        if size or roots.leaves:
            findings.append(Finding("checkpoint", 0, "the log has entries and no checkpoint"))
        return None
    newest = _readable(text, key, findings, "the log's own checkpoint")
    if newest is None:
        return None
    if newest.size != len(roots.leaves):
        reason = f"the log's own checkpoint is of {newest.size} entries, its tree has {len(roots.leaves)}"
        findings.append(Finding("checkpoint", min(newest.size, len(roots.leaves)) + 1, reason))
        return None
    if newest.root != roots.at(newest.size):
        reason = (
            "the log's own checkpoint has another root than its leaves give: leaves or checkpoint changed"
        )
        findings.append(Finding("checkpoint", 0, reason))
        return None
    return newest


def _against(
    text: str, source: Source, roots: _Roots, newest: Checkpoint | None, key: str, findings: list[Finding]
) -> None:
    """A checkpoint that somebody kept, against the log as it is now."""
    kept = _readable(text, key, findings, "the checkpoint from outside")
    if kept is None:
        return
    if newest is not None and kept.origin != newest.origin:
        reason = f"the checkpoint from outside is of log {kept.origin}, this is {newest.origin}"
        findings.append(Finding("checkpoint", 0, reason))
        return
    size = len(roots.leaves)
    if kept.size <= size:
        if roots.at(kept.size) != kept.root:
            reason = f"the first {kept.size} entries are not those that were signed: the log was rewritten"
            findings.append(Finding("rewritten", 0, reason))
        return
    missing = kept.size - size
    gone = f"entry {size + 1} is gone" if missing == 1 else f"entries {size + 1} to {kept.size} are gone"
    trace = source.left_behind(size)
    if newest is not None and not trace:
        reason = f"{gone}: the log is as it was at {size} entries, and signed so"
        findings.append(Finding("rolled-back", size + 1, reason))
    else:
        kind = "deleted" if missing == 1 else "truncated"
        findings.append(
            Finding(kind, size + 1, f"{gone}: the checkpoint from outside is of {kept.size} entries")
        )


def _readable(text: str, key: str, findings: list[Finding], what: str) -> Checkpoint | None:
    try:
        found = read_checkpoint(text)
    except ValueError as error:
        findings.append(Finding("checkpoint", 0, f"{what} cannot be read: {error}"))
        return None
    fault = signature_fault(found, key)
    if fault:
        findings.append(Finding("signature", 0, f"{what}: {fault}"))
        return None
    return found


# --- signed notes ---------------------------------------------------------------------------------


def read_checkpoint(text: str) -> Checkpoint:
    """C2SP tlog-checkpoint in a signed-note. Raises ValueError saying what is wrong with it."""
    body, separator, signatures = text.partition("\n\n")
    lines = body.split("\n")
    if not separator or len(lines) < 3 or not signatures.endswith("\n"):
        raise ValueError("it is not a signed note")
    origin, size, root = lines[:3]
    if not origin or not size.isascii() or not size.isdigit() or (size != "0" and size.startswith("0")):
        raise ValueError("it has no origin or no size")
    found = []
    for line in signatures.removesuffix("\n").split("\n"):
        dash, _, rest = line.partition(" ")
        name, _, encoded = rest.partition(" ")
        raw = _base64(encoded)
        if dash != "\u2014" or not name or len(raw) < 5:
            raise ValueError("it has a line that is no signature")
        found.append((name, raw[:4], raw[4:]))
    digest = _base64(root)
    if len(digest) != 32 or (size == "0" and digest != EMPTY):
        raise ValueError("its root is not a SHA-256 hash")
    return Checkpoint(origin, int(size), digest, f"{body}\n".encode(), tuple(found))


def read_key(text: str) -> tuple[str, bytes, bytes]:
    """A verifier key, ``name+id+base64``: its name, id, and 32 bytes of Ed25519. Raises ValueError."""
    name, _, rest = text.strip().partition("+")
    identity, _, encoded = rest.partition("+")
    raw = _base64(encoded)
    known = hashlib.sha256(name.encode() + b"\n" + raw).digest()[:4]
    if not name or len(raw) != 33 or raw[:1] != b"\x01" or known.hex() != identity:
        raise ValueError("it is no Ed25519 verifier key")
    return name, known, raw[1:]


def signature_fault(found: Checkpoint, key: str) -> str:
    """Why the signature does not count; "" when ``key`` made it."""
    if not key:
        return "signature not checked: no public key was given"
    try:
        from cryptography.exceptions import InvalidSignature
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
    except ImportError:
        return "signature not checked: the package cryptography is not installed"
    try:
        name, identity, public = read_key(key)
    except ValueError as error:
        return f"signature not checked: {error}"
    for signer, signed_by, signature in found.signatures:
        if (signer, signed_by) == (name, identity):
            try:
                Ed25519PublicKey.from_public_bytes(public).verify(signature, found.signed)
            except InvalidSignature:
                return f"the signature of {name} does not hold"
            return "" if found.origin == name else f"it is of log {found.origin}, the key is {name}'s"
    return f"it is not signed by {name}+{identity.hex()}"


def _base64(text: str) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError) as error:
        raise ValueError(f"{text[:20]!r} is not base64") from error
