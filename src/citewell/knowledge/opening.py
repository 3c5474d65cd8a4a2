"""The two entry points: ``citewell.open`` for a home, ``citewell.verify`` without one.

In: a folder; or an answer and its sources. Out: a KnowledgeBase; a report. Defers heavy imports until called.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from citewell.core.config import Config, Verification
from citewell.core.errors import ConfigError
from citewell.knowledge.assembly import Assembly, load_config
from citewell.knowledge.home import KnowledgeBase

if TYPE_CHECKING:
    from citewell.answering.verifying import Source, VerifyReport
    from citewell.core.ports import Clock, Embedder, Entailer


def open(home: str | Path, *, config: Config | None = None, clock: Clock | None = None) -> KnowledgeBase:
    """The knowledge base in the folder ``home``, which the first ingest creates.

    ``config`` replaces ``home/citewell.toml`` and the environment. Raises ConfigError for an invalid key or
    value, SameModelError when the generator would verify itself.
    """
    if "://" in str(home):
        raise ConfigError(
            f"{home} is not a folder", hint="object storage is not supported yet; use a local folder"
        )
    folder = Path(home)
    return KnowledgeBase(Assembly(folder, load_config(folder) if config is None else config, clock))


def verify(
    answer: str,
    sources: Sequence[Source] | Mapping[str, str],
    question: str | None = None,
    *,
    entailer: Entailer | str | None = None,
    embedder: Embedder | None = None,
    settings: Verification | None = None,
    one_claim: bool = False,
) -> VerifyReport:
    """Verifies any answer against any sources, without a home; see
    :func:`citewell.answering.verifying.verify`."""
    # Imported on first use: its word lists and patterns are too slow for `import citewell`.
    from citewell.answering import verifying

    return verifying.verify(
        answer,
        sources,
        question,
        entailer=entailer,
        embedder=embedder,
        settings=settings,
        one_claim=one_claim,
    )
