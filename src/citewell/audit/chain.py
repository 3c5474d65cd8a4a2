"""What happened to a chain that does not fit: named, one finding a deed and not one a consequence.

In: every entry's sequence number, its link to the one before, its stored hash and whether that hash
re-derives. Out: findings. Links survive a move, so an entry's place at the time it was sealed can be told
from what it names as its predecessor and from the place at which its hash re-derives; the deed is the
difference to where it stands now.
"""

from __future__ import annotations

import bisect
import itertools
from collections.abc import Callable

from citewell.audit.entries import GENESIS, entry_hash
from citewell.audit.findings import Finding
from citewell.records import Record

_SEARCH = 256
"""How far from where it stands now an entry's place is looked for when its neighbours are gone."""


class Link(Record, frozen=True, kw_only=True):
    """``sound``: the stored hash re-derives from what is stored, at this place."""

    seq: int
    previous: str
    hash: str
    sound: bool


Content = Callable[[int], tuple[str, str, str, bytes]]


def explain_chain(links: list[Link], content: Content) -> list[Finding]:
    """``content(seq)`` gives previous, kind, timestamp and body of the entry that stands there."""
    if _whole(links):
        return []
    duplicates, rest = _set_duplicates_aside(links)
    places = _places(rest, content)
    strangers, rest = _set_strangers_aside(rest, places)
    moved = _moved(rest, places)
    findings = [*duplicates, *strangers]
    for link in rest:
        if link.seq in moved:
            reason = f"it was sealed as entry {places[link.seq]}"
            findings.append(Finding(kind="reordered", seq=link.seq, reason=reason))
    findings += _deleted(rest, places)
    findings += _edited(rest, places, content)
    return findings or [_unexplained(links)]


def _whole(links: list[Link]) -> bool:
    expected, previous = 1, GENESIS
    for link in links:
        if not link.sound or link.seq != expected or link.previous != previous:
            return False
        expected, previous = expected + 1, link.hash
    return True


def _set_duplicates_aside(links: list[Link]) -> tuple[list[Finding], list[Link]]:
    """Of entries with one hash, the one that re-derives where it stands is the original."""
    original: dict[str, Link] = {}
    for link in links:
        held = original.get(link.hash)
        if held is None or (link.sound and not held.sound):
            original[link.hash] = link
    findings, rest = [], []
    for link in links:
        first = original[link.hash]
        if first is link:
            rest.append(link)
        else:
            reason = f"it repeats entry {first.seq}"
            findings.append(Finding(kind="duplicated", seq=link.seq, reason=reason))
    return findings, rest


def _places(links: list[Link], content: Content) -> dict[int, int]:
    """Where each entry was sealed, by its present seq; entries that give no sign are left out."""
    places: dict[int, int] = {}
    by_hash = {link.hash: link for link in links}
    for link in links:
        if link.sound:
            places[link.seq] = link.seq
    for link in links:
        if link.seq not in places:
            before = by_hash.get(link.previous)
            guesses = [1] if link.previous == GENESIS else []
            if before is not None and before.seq in places:
                guesses.append(places[before.seq] + 1)
            near = sorted(range(-_SEARCH, _SEARCH + 1), key=abs)
            place = _derives_at(link, content, [*guesses, *(link.seq + step for step in near)])
            if place is not None:
                places[link.seq] = place
    return places


def _derives_at(link: Link, content: Content, guesses: list[int]) -> int | None:
    previous, kind, timestamp, body = content(link.seq)
    for place in guesses:
        if place > 0 and entry_hash(place, previous, kind, timestamp, body) == link.hash:
            return place
    return None


def _set_strangers_aside(links: list[Link], places: dict[int, int]) -> tuple[list[Finding], list[Link]]:
    """An entry that fits at no place and that no other names was never sealed here.

    One that fits at no place but is named by another, or that names its neighbour, was edited.
    """
    named = {link.previous for link in links}
    hashes = {link.hash for link in links} | {GENESIS}
    taken: dict[int, int] = {}
    for link in links:
        if link.seq in places and link.hash in named:
            taken[places[link.seq]] = link.seq
    findings, rest = [], []
    for position, link in enumerate(links):
        follower = links[position + 1] if position + 1 < len(links) else None
        foreign = link.seq not in places and link.hash not in named and link.previous not in hashes
        if link.seq not in places and link.hash not in named and follower is not None:
            # The next entry is linked past it, to the one before: nothing was ever sealed between the two.
            foreign = foreign or (position > 0 and follower.previous == links[position - 1].hash)
        crowded = (
            link.seq in places
            and link.hash not in named
            and taken.get(places[link.seq], link.seq) != link.seq
        )
        if foreign or crowded or link.seq < 1:
            findings.append(
                Finding(
                    kind="inserted", seq=link.seq, reason="no other entry was sealed after it or before it"
                )
            )
        else:
            rest.append(link)
    return findings, rest


def _moved(links: list[Link], places: dict[int, int]) -> set[int]:
    """The fewest entries whose removal leaves the others in the order they were sealed in."""
    placed = [link.seq for link in links if link.seq in places]
    tails: list[int] = []
    at: list[int] = []
    for seq in placed:
        rank = bisect.bisect_left(tails, places[seq])
        tails[rank : rank + 1] = [places[seq]]
        at.append(rank)
    kept: set[int] = set()
    wanted = len(tails) - 1
    for seq, rank in zip(reversed(placed), reversed(at), strict=True):
        if rank == wanted:
            kept.add(seq)
            wanted -= 1
    return set(placed) - kept


def _deleted(links: list[Link], places: dict[int, int]) -> list[Finding]:
    """Places between 1 and the last that nothing was sealed for, as far as what remains can tell."""
    sealed = sorted({0, *(places.get(link.seq, link.seq) for link in links)})
    findings = []
    for before, after in itertools.pairwise(sealed):
        first, last = before + 1, after - 1
        if first <= last:
            until = "" if first == last else f" to {last}"
            reason = f"entry {first}{until} is gone: the chain before and after it does not meet"
            findings.append(Finding(kind="deleted", seq=first, reason=reason))
    return findings


def _edited(links: list[Link], places: dict[int, int], content: Content) -> list[Finding]:
    """Entries that no place makes right, and sound ones that their successor does not vouch for."""
    findings = []
    for link in links:
        if link.seq not in places:
            reason = "what is stored does not give its hash"
            findings.append(Finding(kind="edited", seq=link.seq, reason=reason))
    ordered = sorted(links, key=lambda link: places.get(link.seq, link.seq))
    for before, after in itertools.pairwise(ordered):
        follows = places.get(after.seq, after.seq) == places.get(before.seq, before.seq) + 1
        if follows and after.previous != before.hash and after.seq in places and before.seq in places:
            reason = f"it was rewritten with a new hash: entry {after.seq} commits to another"
            findings.append(Finding(kind="edited", seq=before.seq, reason=reason))
    first = ordered[0] if ordered else None
    if first is not None and places.get(first.seq) == 1 and first.previous != GENESIS:
        reason = "it is not the first entry of a log: it names one before it"
        findings.append(Finding(kind="edited", seq=first.seq, reason=reason))
    return findings


def _unexplained(links: list[Link]) -> Finding:
    seq = next((link.seq for link in links if not link.sound), links[0].seq)
    return Finding(kind="edited", seq=seq, reason="the chain does not re-derive from here on")
