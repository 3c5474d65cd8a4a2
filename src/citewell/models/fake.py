"""Fake models for tests and examples: exact, instant, and labelled as fakes.

Inputs and outputs follow the ports.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from hashlib import blake2b

import numpy as np

from citewell.core.identity import hash_text
from citewell.core.ports import Vectors
from citewell.core.records import Entailment, Maker

_WORD = re.compile(r"\w+")


class HashEmbedder:
    """Texts that share words are close: each word adds a direction derived from its hash."""

    def __init__(self, dimension: int = 64) -> None:
        self.dimension = dimension
        self.maker = Maker(name="fake/hash-embedder", hash=hash_text(f"hash-embedder {dimension}"))

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Unit vectors, float32, shape (len(texts), dimension)."""
        vectors = np.zeros((len(texts), self.dimension), dtype=np.float32)
        for row, text in enumerate(texts):
            for word in _WORD.findall(text.lower()) or [""]:
                vectors[row] += self._direction(word)
            vectors[row] /= np.linalg.norm(vectors[row])
        return vectors

    def _direction(self, word: str) -> Vectors:
        seed = int.from_bytes(blake2b(word.encode(), digest_size=8).digest(), "big")
        return np.random.default_rng(seed).standard_normal(self.dimension).astype(np.float32)


class FakeEntailer:
    """Entailment by exact words and fixed rules, for tests and examples.

    A premise sentence with every content word of the claim entails it (0.95); so does the whole premise
    (0.9). The same words with a negation on one side only, or with other digits, contradict it (0.95).
    Otherwise the claim is neutral, with an entailment of half the share of its words that the premise has.
    An empty premise or claim is unchecked.
    """

    def __init__(self) -> None:
        self.maker = Maker(name="fake/word-entailer", hash=hash_text("word-entailer 1"))

    def entail(self, pairs: Sequence[tuple[str, str]]) -> list[Entailment]:
        return [self._one(premise, claim) for premise, claim in pairs]

    def _one(self, premise: str, claim: str) -> Entailment:
        wanted = _content(claim)
        if not premise.strip() or not wanted:
            return Entailment.without("nothing to compare")
        units = [unit for unit in _SENTENCE.split(premise) if unit.strip()]
        best = 0.0
        for unit in units:
            held = _content(unit)
            words, digits = {w for w in wanted if not w[0].isdigit()}, {w for w in wanted if w[0].isdigit()}
            if words and words <= held:
                other = {w for w in held if w[0].isdigit()}
                if _negated(unit) != _negated(claim) or (digits - held and other):
                    return Entailment(entailment=0.02, neutral=0.03, contradiction=0.95)
            if wanted <= held:
                return Entailment(entailment=0.95, neutral=0.03, contradiction=0.02)
            best = max(best, len(wanted & held) / len(wanted))
        whole = len(wanted & _content(premise)) / len(wanted)
        if whole == 1.0:
            return Entailment(entailment=0.9, neutral=0.07, contradiction=0.03)
        entailment = max(best, whole) / 2
        return Entailment(entailment=entailment, neutral=0.97 - entailment, contradiction=0.03)


_SENTENCE = re.compile(r"(?<=[.!?])\s+|\n")
_NOT = frozenset(("not", "no", "never", "none", "nor", "cannot", "without", "denied", "false"))
_DULL = frozenset(
    (  # noqa: SIM905 - a list would be longer
        "a an the of in on at to for and or but by with from as is are was were be been it its this that"
    ).split()
)


def _content(text: str) -> set[str]:
    joined = re.sub(r"(?<=\d)[,.](?=\d)", "", text.lower())
    return {word for word in _WORD.findall(joined) if word not in _DULL and word not in _NOT}


def _negated(text: str) -> bool:
    return any(word in _NOT or word == "t" for word in _WORD.findall(text.lower()))
