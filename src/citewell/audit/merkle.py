"""The Merkle tree over the leaves: makes and checks hashes and proofs of RFC 6962 (2.1) and RFC 9162.

In: leaf bytes, or hashes of full tiles of 256. Out: roots, inclusion and consistency proofs, and whether a
proof holds. Leaves count from 0; a hash is 32 bytes. ``verify_*`` follow RFC 9162 (2.1.3.2 and 2.1.4.2) and
share only the two hash functions with the code that makes proofs. Independent of storage, entries and
signatures. Standard library only.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from hashlib import sha256

TILE = 256
"""Hashes in a full tile; a tile is 8 levels of the tree high (C2SP tlog-tiles)."""
TILE_HEIGHT = 8

EMPTY = sha256(b"").digest()
"""The root of a tree without leaves."""

Tile = Callable[[int, int, int], list[bytes]]
"""``tile(level, number, width)``: the first ``width`` (1 to 256) hashes of a tile."""


def leaf_hash(data: bytes) -> bytes:
    return sha256(b"\x00" + data).digest()


def node_hash(left: bytes, right: bytes) -> bytes:
    return sha256(b"\x01" + left + right).digest()


def in_base64(hashes: Iterable[bytes]) -> tuple[str, ...]:
    """Hashes as written in proofs."""
    return tuple(base64.b64encode(digest).decode() for digest in hashes)


class Frontier:
    """The roots of the full subtrees that make up a tree of ``size`` leaves, largest first.

    All that appending needs: O(log n) hashes.
    """

    def __init__(self, roots: Sequence[tuple[int, bytes]] = ()) -> None:
        """``roots`` are (height, hash) pairs in descending order of height."""
        self._roots = list(roots)
        self.size = sum(1 << height for height, _ in self._roots)

    def append(self, leaf: bytes) -> list[tuple[int, int, bytes]]:
        """Adds a leaf's hash. Returns the tile rows to store: (tile level, place, hash), the leaf's first."""
        place = self.size
        rows = [(0, place, leaf)]
        height, node = 0, leaf
        while self._roots and self._roots[-1][0] == height:
            node = node_hash(self._roots.pop()[1], node)
            height += 1
            if height % TILE_HEIGHT == 0:
                rows.append((height // TILE_HEIGHT, place >> height, node))
        self._roots.append((height, node))
        self.size = place + 1
        return rows

    def root(self) -> bytes:
        if not self._roots:
            return EMPTY
        node = self._roots[-1][1]
        for _, left in reversed(self._roots[:-1]):
            node = node_hash(left, node)
        return node

    def copy(self) -> Frontier:
        return Frontier(self._roots)


class Tree:
    """Proofs over tiles. ``size`` leaves; the last ``kept`` tiles read are cached."""

    def __init__(self, size: int, tile: Tile, *, kept: int = 64) -> None:
        self.size = size
        self._tile = tile
        self._layers = lru_cache(kept)(self._layers_of)

    def root(self, size: int | None = None) -> bytes:
        """The root of the tree as it was at ``size`` leaves."""
        size = self.size if size is None else size
        return self._hash(0, size) if size else EMPTY

    def frontier(self) -> Frontier:
        """For appending."""
        roots, start = [], 0
        for height in reversed(range(self.size.bit_length())):
            if self.size >> height & 1:
                roots.append((height, self._node(height, start >> height)))
                start += 1 << height
        return Frontier(roots)

    def inclusion(self, leaf: int, size: int | None = None) -> list[bytes]:
        """PATH(leaf, D[size]) of RFC 6962. Raises ValueError for a leaf that is not in the tree."""
        size = self.size if size is None else size
        if not 0 <= leaf < size <= self.size:
            raise ValueError(f"no leaf {leaf} in a tree of {size}")
        return self._path(leaf, 0, size)

    def consistency(self, old: int, new: int | None = None) -> list[bytes]:
        """PROOF(old, D[new]) of RFC 6962; empty if no proof is needed."""
        new = self.size if new is None else new
        if not 0 <= old <= new <= self.size:
            raise ValueError(f"no proof from {old} to {new} in a tree of {self.size}")
        return self._subproof(old, 0, new, whole=True) if 0 < old < new else []

    def _path(self, leaf: int, start: int, end: int) -> list[bytes]:
        if end - start == 1:
            return []
        middle = start + _split(end - start)
        if leaf < middle:
            return [*self._path(leaf, start, middle), self._hash(middle, end)]
        return [*self._path(leaf, middle, end), self._hash(start, middle)]

    def _subproof(self, old: int, start: int, end: int, *, whole: bool) -> list[bytes]:
        """``old`` counts leaves from ``start``; ``whole``: the old tree's root is known to the reader."""
        if old == end - start:
            return [] if whole else [self._hash(start, end)]
        middle = _split(end - start)
        if old <= middle:
            return [
                *self._subproof(old, start, start + middle, whole=whole),
                self._hash(start + middle, end),
            ]
        return [
            *self._subproof(old - middle, start + middle, end, whole=False),
            self._hash(start, start + middle),
        ]

    def _hash(self, start: int, end: int) -> bytes:
        """MTH over leaves [start, end), where start is a multiple of the power of two that spans them."""
        span = end - start
        if span & (span - 1) == 0:
            return self._node(span.bit_length() - 1, start // span)
        middle = start + _split(span)
        return node_hash(self._hash(start, middle), self._hash(middle, end))

    def _node(self, height: int, place: int) -> bytes:
        """The root of a full subtree."""
        level, inner = divmod(height, TILE_HEIGHT)
        number, within = divmod(place << inner, TILE)
        available = (self.size >> (level * TILE_HEIGHT)) - number * TILE
        return self._layers(level, number, min(available, TILE))[inner][within >> inner]

    def _layers_of(self, level: int, number: int, width: int) -> list[list[bytes]]:
        """The hashes of a tile, and of each level of the tree above them within it."""
        layers = [self._tile(level, number, width)]
        while len(layers[-1]) > 1:
            below = layers[-1]
            layers.append([node_hash(below[at], below[at + 1]) for at in range(0, len(below) - 1, 2)])
        return layers


def _split(size: int) -> int:
    """The largest power of two below ``size``."""
    return 1 << (size - 1).bit_length() - 1


# --- checking -------------------------------------------------------------------------------------


def verify_inclusion(leaf: bytes, number: int, size: int, proof: Sequence[bytes], root: bytes) -> bool:
    """Whether leaf hash ``leaf`` is leaf ``number`` of the tree of ``size`` leaves with this root."""
    if not 0 <= number < size:
        return False
    place, last, node = number, size - 1, leaf
    for other in proof:
        if last == 0:
            return False
        if place & 1 or place == last:
            node = node_hash(other, node)
            while not place & 1 and place:
                place, last = place >> 1, last >> 1
        else:
            node = node_hash(node, other)
        place, last = place >> 1, last >> 1
    return last == 0 and node == root


def verify_consistency(old: int, new: int, old_root: bytes, new_root: bytes, proof: Sequence[bytes]) -> bool:
    """Whether the tree of ``new`` leaves extends the tree of ``old`` leaves."""
    if not 0 <= old <= new:
        return False
    if old == new:
        return not proof and old_root == new_root
    if old == 0:
        return not proof and old_root == EMPTY
    path = list(proof)
    if old & (old - 1) == 0:
        path.insert(0, old_root)
    if not path:
        return False
    place, last = old - 1, new - 1
    while place & 1:
        place, last = place >> 1, last >> 1
    first = second = path[0]
    for other in path[1:]:
        if last == 0:
            return False
        if place & 1 or place == last:
            first, second = node_hash(other, first), node_hash(other, second)
            while not place & 1 and place:
                place, last = place >> 1, last >> 1
        else:
            second = node_hash(second, other)
        place, last = place >> 1, last >> 1
    return last == 0 and first == old_root and second == new_root
