"""Model outputs cached outside the tree, so that rerunning a measurement asks only what is new.

In: CITEWELL_REMEMBERED (a folder; unset: nothing is kept beyond the run). Out: an entailer and an embedder's
cosines, from the cache for texts seen before. Each cache belongs to one hash of weights: other weights never
see it. Independent of what is measured.
"""

from __future__ import annotations

import hashlib
import json
import os
import sqlite3
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from citewell.core.ports import Embedder, Entailer
from citewell.core.records import Entailment

_AT_ONCE = 64  # new questions asked before the answers are stored


class Memory:
    """``kind`` keeps apart the different ways in which one model is asked."""

    def __init__(self, maker_hash: str, kind: str) -> None:
        folder = os.environ.get("CITEWELL_REMEMBERED")
        name = f"{kind}-{maker_hash.removeprefix('sha256:')[:16]}.sqlite"
        if folder:
            Path(folder).mkdir(parents=True, exist_ok=True)
        self._store = sqlite3.connect(Path(folder) / name if folder else ":memory:")
        self._store.execute("CREATE TABLE IF NOT EXISTS known (key TEXT PRIMARY KEY, value TEXT)")

    def answer(self, asked: Sequence[Any], ask: Callable[[list[Any]], list[Any]]) -> list[Any]:
        """One JSON value per question, in order."""
        keys = [hashlib.sha256(json.dumps(each).encode()).hexdigest() for each in asked]
        new = {key: each for key, each in zip(keys, asked, strict=True) if self._known(key) is None}
        waiting = list(new.items())
        for start in range(0, len(waiting), _AT_ONCE):
            part = waiting[start : start + _AT_ONCE]
            found = ask([each for _, each in part])
            rows = [(key, json.dumps(value)) for (key, _), value in zip(part, found, strict=True)]
            with self._store:
                self._store.executemany("INSERT OR REPLACE INTO known VALUES (?, ?)", rows)
        return [json.loads(self._known(key) or "null") for key in keys]

    def _known(self, key: str) -> str | None:
        row = self._store.execute("SELECT value FROM known WHERE key = ?", (key,)).fetchone()
        return str(row[0]) if row else None


class RememberingEntailer:
    """The given entailer, asked each pair once."""

    def __init__(self, entailer: Entailer, kind: str = "entailer") -> None:
        self.maker = entailer.maker
        self._entailer = entailer
        self._memory = Memory(entailer.maker.hash, kind)

    def entail(self, pairs: Sequence[tuple[str, str]]) -> list[Entailment]:
        found = self._memory.answer([list(pair) for pair in pairs], self._ask)
        return [Entailment(**dict(zip(_FIELDS, values, strict=True))) for values in found]

    def _ask(self, pairs: list[list[str]]) -> list[list[Any]]:
        results = self._entailer.entail([(premise, claim) for premise, claim in pairs])
        return [[getattr(result, name) for name in _FIELDS] for result in results]


_FIELDS = ("entailment", "neutral", "contradiction", "unchecked")


def cosines(embedder: Embedder, pairs: Sequence[tuple[str, str]]) -> list[float]:
    """Cosine of the two texts of each pair."""

    def ask(asked: list[list[str]]) -> list[float]:
        vectors = embedder.embed([text for pair in asked for text in pair])
        return [float(vectors[2 * i] @ vectors[2 * i + 1]) for i in range(len(asked))]

    return Memory(embedder.maker.hash, "cosine").answer([list(pair) for pair in pairs], ask)
