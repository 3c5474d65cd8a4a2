"""Explains entries that do not match their leaves by kinds of tampering: one finding per act, none for its
consequences.

In: the entries as stored and the leaf hashes that were sealed. Out: findings. A leaf includes its seq, so the
place at which an entry yields a sealed leaf is where it was sealed; the difference to its place now shows
what was done. Part of the checker: standard library, ``identity`` and ``merkle`` only.
"""

from __future__ import annotations

import bisect
from collections.abc import Iterator
from dataclasses import dataclass

from citewell.audit.merkle import leaf_hash
from citewell.core.identity import canonical_json, hash_bytes

_NEAR = 256
"""How far from its position an entry's original place is searched for as a last resort."""
_IN_VAIN = 100
"""Consecutive entries that match nowhere nearby, after which the search stops: they were rewritten."""


@dataclass(frozen=True)
class Finding:
    """``seq`` is the entry concerned, 0 for the whole log."""

    kind: str
    seq: int
    reason: str


Row = tuple[int, str, str, str, "str | None", str]
"""seq, kind, timestamp, subject, body, body hash."""


def derive(row: Row, seq: int | None = None) -> bytes | None:
    """The leaf hash of a stored entry, or the one it would have at ``seq``.

    None if its body does not match its hash, or it has a value that JSON cannot express.
    """
    stands, kind, timestamp, subject, body, body_hash = row
    if body is not None and _body_hash(body) != body_hash:
        return None
    try:
        return leaf_hash(_leaf(stands if seq is None else seq, kind, timestamp, subject, body_hash))
    except ValueError:
        return None


def _leaf(seq: int, kind: str, timestamp: str, subject: str, body_hash: str) -> bytes:
    """RFC 8785 JSON of a leaf; built directly unless something needs escaping, as only in a forgery."""
    texts = f"{kind}{timestamp}{subject}{body_hash}"
    if texts.isascii() and texts.isprintable() and '"' not in texts and "\\" not in texts:
        head = f'{{"body":"{body_hash}","format":1,"kind":"{kind}","seq":{seq:d},'
        return f'{head}"subject":"{subject}","timestamp":"{timestamp}"}}'.encode()
    return canonical_json(
        {
            "body": body_hash,
            "format": 1,
            "kind": kind,
            "seq": seq,
            "subject": subject,
            "timestamp": timestamp,
        }
    )


def _body_hash(body: str) -> str:
    return hash_bytes(body.encode("utf-8", "surrogatepass"))


class StoredEntry:
    """An entry as stored, without its body: ``content`` is the body's hash, "" if it has expired."""

    def __init__(self, row: Row) -> None:
        self.seq = row[0]
        self.content = "" if row[4] is None else _body_hash(row[4])
        self._bare: Row | None = (*row[:4], None, row[5])
        if self.content and self.content != row[5]:
            self._bare = None

    def at(self, seq: int) -> bytes | None:
        """Its leaf hash, had it been sealed as entry ``seq``; None if its body does not match its hash."""
        return None if self._bare is None else derive(self._bare, seq)


def explain(standing: list[StoredEntry], sealed: list[bytes]) -> list[Finding]:
    """Names the tampering behind entries that do not match their leaves, not its consequences."""
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
            reason = "its stored content does not match its leaf"
            findings.append(Finding("edited", edited[entry.seq], reason))
        elif entry.content and first[entry.content] != entry.seq:
            findings.append(
                Finding("duplicated", entry.seq, f"it has the same content as entry {first[entry.content]}")
            )
        else:
            findings.append(Finding("inserted", entry.seq, "no sealed entry matches it"))
    moved = sorted(_moved(kept, places))
    findings += [Finding("reordered", seq, f"it was sealed as entry {places[seq]}") for seq in moved]
    findings += _deleted({*places.values(), *edited.values()}, len(sealed))
    return findings


def _places(standing: list[StoredEntry], sealed: list[bytes]) -> dict[int, int]:
    """The seq each entry was sealed under, by the seq it has now; omits those that match nowhere."""
    places: dict[int, int] = {}
    shift = in_vain = 0
    near = sorted(range(-_NEAR, _NEAR + 1), key=abs)
    for position, entry in enumerate(standing, 1):
        guesses = [entry.seq, entry.seq + shift, position, position + shift]
        if in_vain < _IN_VAIN:
            guesses += [position + step for step in near]
        in_vain += 1
        for place in dict.fromkeys(guesses):
            if 1 <= place <= len(sealed) and entry.at(place) == sealed[place - 1]:
                places[entry.seq] = place
                shift, in_vain = place - entry.seq, 0
                break
    return places


def _edited(kept: list[StoredEntry], places: dict[int, int], size: int) -> dict[int, int]:
    """Entries that match nowhere, with the otherwise empty place between their neighbours."""
    taken = set(places.values())
    following = [size + 1] * (len(kept) + 1)
    for position in reversed(range(len(kept))):
        following[position] = places.get(kept[position].seq, following[position + 1])
    edited: dict[int, int] = {}
    before = 0
    for position, entry in enumerate(kept):
        if entry.seq in places:
            before = max(before, places[entry.seq])
            continue
        after = following[position + 1]
        free = entry.seq if before < entry.seq < after and entry.seq not in taken else before + 1
        if before < free < after and free not in taken and free <= size:
            edited[entry.seq] = free
            taken.add(free)
            before = free
    return edited


def _moved(kept: list[StoredEntry], places: dict[int, int]) -> set[int]:
    """The smallest set of entries whose removal leaves the others in their sealed order."""
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
    """Sealed places without an entry, one finding per run."""
    start = 0
    for place in range(1, size + 2):
        gone = place <= size and place not in there
        if gone and not start:
            start = place
        if not gone and start:
            until = "" if place - start == 1 else f" to {place - 1}"
            at_end = place > size and place - start > 1
            reason = f"entry {start}{until} is gone, but its leaf is in the tree"
            yield Finding("truncated" if at_end else "deleted", start, reason)
            start = 0
