"""Labelled claims: a claim or a whole answer, its sources, and whether people say that these support it.

In: JSON lines, gzipped or not, in the forms that data sets have them. Out: :class:`LabelledClaim` values, or
one error that names the line. Knows nothing about who is measured or calibrated on them.
"""

from __future__ import annotations

import gzip
import random
import zlib
from codecs import BOM_UTF8
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from citewell.core.errors import UsageError
from citewell.core.records import Record
from citewell.evaluation.files import json_lines

LABELS: Mapping[str, bool] = {
    **dict.fromkeys(("supported", "entailment", "faithful", "true", "yes"), True),
    **dict.fromkeys(("unsupported", "not supported", "not_supported", "not_entailment", "neutral"), False),
    **dict.fromkeys(("contradiction", "hallucinated", "unfaithful", "partly", "not", "false", "no"), False),
}
"""Words for a label; ``true`` and ``false`` of JSON too. ``partially_supported`` is for whoever prepares the
file to decide."""
_TEXTS = {"claim": False, "hypothesis": False, "answer": True, "response": True}
"""The keys that what is labelled stands under, and whether it is a whole answer."""
_SOURCES = ("sources", "premise", "context")
_SHAPE = 'as in {"claim" or "answer", "sources": [text, ...], "label"}'


class LabelledClaim(Record, frozen=True, kw_only=True):
    """``whole``: ``claim`` is an answer of several claims. Rows of one ``group`` of one ``file`` are not
    independent."""

    claim: str
    sources: tuple[str, ...]
    supported: bool
    whole: bool = False
    question: str = ""
    group: str = ""
    file: str = ""


def load_labelled(path: Path, *, most: int | None = None, seed: int = 0) -> list[LabelledClaim]:
    """All rows, or ``most`` of them drawn with ``seed``. Raises UsageError with the number of a line that
    cannot be read, and for a file without rows."""
    rows = [_row(given, path, where) for where, given in json_lines(path, f"one object a line, {_SHAPE}")]
    if not rows:
        raise UsageError(f"{path} holds no labelled claim", hint=f"one a line, {_SHAPE}")
    if most is not None and len(rows) > most:
        random.Random(seed).shuffle(rows)
        rows = rows[:most]
    return rows


def looks_labelled(path: Path) -> bool:
    """Whether the first line is a labelled claim rather than a case."""
    try:
        with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as file:
            lines = (line.removeprefix(BOM_UTF8) for line in file)
            first = next((line for line in lines if line.strip()), b"")
        found = msgspec.json.decode(first)
    except (OSError, EOFError, zlib.error, msgspec.DecodeError):
        return False
    return isinstance(found, dict) and "label" in found


def _row(given: dict[str, Any], path: Path, where: str) -> LabelledClaim:
    texts = [key for key in _TEXTS if isinstance(given.get(key), str)]
    sources = next((given[key] for key in _SOURCES if given.get(key)), None)
    listed = [_source(one) for one in (sources if isinstance(sources, list) else [sources])]
    if len(texts) != 1 or None in listed:
        raise UsageError(f"{where} has no claim or no sources, or two claims", hint=_SHAPE)
    return LabelledClaim(
        claim=given[texts[0]],
        sources=tuple(source for source in listed if source is not None),
        supported=_label(given.get("label"), where),
        whole=_TEXTS[texts[0]],
        question=question if isinstance(question := given.get("question"), str) else "",
        group="" if (group := given.get("group")) is None else str(group),
        file=str(path),
    )


def _source(source: Any) -> str | None:
    text = source.get("text") if isinstance(source, dict) else source
    return text if isinstance(text, str) else None


def _label(label: Any, where: str) -> bool:
    known = LABELS.get(str(label).lower())
    if known is None:
        raise UsageError(f"{where}: the label {label!r} is not known", hint=f"one of {', '.join(LABELS)}")
    return known
