"""The file layout of an export, and the packing of leaves: C2SP tlog-tiles, path arithmetic only.

In: tile levels, numbers and widths. Out: relative paths, and bytes of entry bundles. The bodies are our own
addition: ``bodies/`` holds a line of JSON per leaf, in files named like full bundles. Part of the checker:
standard library only.
"""

from __future__ import annotations

from collections.abc import Sequence

CHECKPOINT, KEYS = "checkpoint", "keys.pub"
FULL = 256
MAX_LEAF = 0xFFFF
"""Bytes: a bundle encodes each leaf's length in two."""


def tile_path(level: int, number: int, width: int = FULL) -> str:
    """The path of a tile of ``width`` hashes, partial below 256."""
    return f"tile/{level}/{_number(number)}{_partial(width)}"


def bundle_path(number: int, width: int = FULL) -> str:
    return f"tile/entries/{_number(number)}{_partial(width)}"


def bodies_path(number: int) -> str:
    return f"bodies/{_number(number)}.jsonl"


def write_bundle(leaves: Sequence[bytes]) -> bytes:
    """Each leaf after its length in two bytes, big-endian. Raises ValueError for one that is too long."""
    if any(len(leaf) > MAX_LEAF for leaf in leaves):
        raise ValueError("a leaf is longer than 65,535 bytes")
    return b"".join(len(leaf).to_bytes(2, "big") + leaf for leaf in leaves)


def read_bundle(data: bytes) -> list[bytes]:
    """Raises ValueError if it ends in the middle of a leaf."""
    leaves, at = [], 0
    while at < len(data):
        end = at + 2 + int.from_bytes(data[at : at + 2], "big")
        if at + 2 > len(data) or end > len(data):
            raise ValueError("the bundle ends in the middle of a leaf")
        leaves.append(data[at + 2 : end])
        at = end
    return leaves


def _number(number: int) -> str:
    """Three digits per element, all but the last after an ``x``: ``x001/x234/067``."""
    elements = [f"{number % 1000:03d}"]
    while number := number // 1000:
        elements.append(f"x{number % 1000:03d}")
    return "/".join(reversed(elements))


def _partial(width: int) -> str:
    return "" if width == FULL else f".p/{width}"
