"""The Merkle tree against the published vectors of RFC 6962 and its definition; proofs against forgery."""

from __future__ import annotations

from hashlib import sha256

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from citewell.audit.merkle import (
    EMPTY,
    Frontier,
    Tree,
    leaf_hash,
    node_hash,
    verify_consistency,
    verify_inclusion,
)

LEAVES = [
    bytes.fromhex(text)
    for text in (
        "",
        "00",
        "10",
        "2021",
        "3031",
        "40414243",
        "5051525354555657",
        "606162636465666768696a6b6c6d6e6f",
    )
]
"""The leaves of Certificate Transparency's test vectors; the roots and proofs below are from there, too."""
ROOTS = [
    "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
    "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
    "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
    "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
    "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
    "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
    "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
    "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
]
INCLUSION = {
    (0, 1): [],
    (0, 8): [
        "96a296d224f285c67bee93c30f8a309157f0daa35dc5b87e410b78630a09cfc7",
        "5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e",
        "6b47aaf29ee3c2af9af889bc1fb9254dabd31177f16232dd6aab035ca39bf6e4",
    ],
    (5, 8): [
        "bc1a0643b12e4d2d7c77918f44e0f4f79a838b6cf9ec5b5c283e1f4d88599e6b",
        "ca854ea128ed050b41b35ffc1b87b8eb2bde461e9e3b5596ece6b9d5975a0ae0",
        "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
    ],
    (2, 3): ["fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125"],
    (1, 5): [
        "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
        "5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e",
        "bc1a0643b12e4d2d7c77918f44e0f4f79a838b6cf9ec5b5c283e1f4d88599e6b",
    ],
}
CONSISTENCY = {
    (1, 1): [],
    (1, 8): [
        "96a296d224f285c67bee93c30f8a309157f0daa35dc5b87e410b78630a09cfc7",
        "5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e",
        "6b47aaf29ee3c2af9af889bc1fb9254dabd31177f16232dd6aab035ca39bf6e4",
    ],
    (6, 8): [
        "0ebc5d3437fbe2db158b9f126a1d118e308181031d0a949f8dededebc558ef6a",
        "ca854ea128ed050b41b35ffc1b87b8eb2bde461e9e3b5596ece6b9d5975a0ae0",
        "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
    ],
    (2, 5): [
        "5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e",
        "bc1a0643b12e4d2d7c77918f44e0f4f79a838b6cf9ec5b5c283e1f4d88599e6b",
    ],
}


def hashes(count: int) -> list[bytes]:
    return [leaf_hash(str(number).encode()) for number in range(count)]


def defined(leaves: list[bytes]) -> bytes:
    """MTH of RFC 6962 section 2.1, word for word."""
    if not leaves:
        return sha256(b"").digest()
    if len(leaves) == 1:
        return leaves[0]
    split = 1
    while split * 2 < len(leaves):
        split *= 2
    return node_hash(defined(leaves[:split]), defined(leaves[split:]))


def stored(leaves: list[bytes], **options: int) -> Tree:
    """A tree over rows as the log stores them."""
    rows: dict[tuple[int, int], bytes] = {}
    frontier = Frontier()
    for leaf in leaves:
        rows |= {(level, place): digest for level, place, digest in frontier.append(leaf)}

    def tile(level: int, number: int, width: int) -> list[bytes]:
        return [rows[level, number * 256 + at] for at in range(width)]

    return Tree(len(leaves), tile, **options)


@pytest.mark.parametrize("size", range(9))
def test_roots_of_the_vectors(size: int) -> None:
    leaves = [leaf_hash(data) for data in LEAVES[:size]]
    frontier = Frontier()
    for leaf in leaves:
        frontier.append(leaf)
    assert frontier.root().hex() == ROOTS[size]
    assert stored(leaves).root().hex() == ROOTS[size]


@pytest.mark.parametrize(("where", "proof"), INCLUSION.items())
def test_inclusion_proofs_of_the_vectors(where: tuple[int, int], proof: list[str]) -> None:
    number, size = where
    tree = stored([leaf_hash(data) for data in LEAVES])
    made = tree.inclusion(number, size)
    assert [digest.hex() for digest in made] == proof
    root = bytes.fromhex(ROOTS[size])
    assert verify_inclusion(leaf_hash(LEAVES[number]), number, size, made, root)


@pytest.mark.parametrize(("where", "proof"), CONSISTENCY.items())
def test_consistency_proofs_of_the_vectors(where: tuple[int, int], proof: list[str]) -> None:
    old, new = where
    tree = stored([leaf_hash(data) for data in LEAVES])
    made = tree.consistency(old, new)
    assert [digest.hex() for digest in made] == proof
    assert verify_consistency(old, new, bytes.fromhex(ROOTS[old]), bytes.fromhex(ROOTS[new]), made)


@pytest.mark.parametrize("size", [1, 2, 255, 256, 257, 511, 512, 700])
def test_tiles_give_the_defined_root(size: int) -> None:
    leaves = hashes(size)
    tree = stored(leaves, kept=1)
    assert tree.root() == defined(leaves) == tree.frontier().root()
    assert tree.root(size // 2) == defined(leaves[: size // 2])


@settings(deadline=None, max_examples=60)
@given(st.data())
def test_every_proof_holds_and_no_other_leaf_or_root_does(data: st.DataObject) -> None:
    size = data.draw(st.integers(1, 600))
    number = data.draw(st.integers(0, size - 1))
    old = data.draw(st.integers(0, size))
    leaves = hashes(size)
    tree = stored(leaves)
    proof, root = tree.inclusion(number), defined(leaves)
    assert verify_inclusion(leaves[number], number, size, proof, root)
    assert not verify_inclusion(leaf_hash(b"other"), number, size, proof, root)
    assert not verify_inclusion(leaves[number], number, size, [*proof, EMPTY], root)
    assert not verify_inclusion(leaves[number], number, size, proof, EMPTY)
    assert size == 1 or not verify_inclusion(leaves[number], (number + 1) % size, size, proof, root)
    between, old_root = tree.consistency(old), defined(leaves[:old])
    assert verify_consistency(old, size, old_root, root, between)
    assert not verify_consistency(old, size, leaf_hash(b"other"), root, between)
    if 0 < old < size:
        assert not verify_consistency(old, size, old_root, leaf_hash(b"other"), between)
        assert not verify_consistency(old, size, old_root, root, [*between, EMPTY])
        assert not verify_consistency(old, size, old_root, root, between[:-1])


def test_a_leaf_that_is_not_there_has_no_proof() -> None:
    tree = stored(hashes(5))
    with pytest.raises(ValueError, match="no leaf 5"):
        tree.inclusion(5)
    with pytest.raises(ValueError, match="no proof"):
        tree.consistency(6)


def test_a_leaf_is_never_taken_for_a_node() -> None:
    left, right = leaf_hash(b"a"), leaf_hash(b"b")
    assert leaf_hash(left + right) != node_hash(left, right)
