"""The public sets that the models are trained, calibrated and measured on.

In: the folder named by the variable CITEWELL_DATA, and sources.tsv (name, sha256, ship, role, licence).
Out: rows of one set as dictionaries; for training, without rows that also occur in a measured set.
A file that differs from its recorded hash is refused. Independent of models.
"""

from __future__ import annotations

import csv
import gzip
import hashlib
import json
import os
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

Row = dict[str, Any]

_TABLE = Path(__file__).with_name("sources.tsv")
_WORDS = re.compile(r"[a-z0-9]+")
_KEY_WORDS = 14  # opening words that identify a text regardless of casing and tokenisation
# Shorter texts ("A man is sleeping.") recur by chance; claims are shorter than the texts they are about.
_FEWEST = {"premise": 7, "context": 7, "hypothesis": 4, "response": 7}


@dataclass(frozen=True, slots=True)
class Source:
    """One file: `ship` is yes, unclear or no; `role` is train or measure."""

    name: str
    sha256: str
    ship: str
    role: str
    licence: str


class SourceError(Exception):
    """The data folder is unset, or a file in it is not the one recorded."""


def data_folder() -> Path:
    folder = os.environ.get("CITEWELL_DATA")
    if not folder:
        raise SourceError(
            "CITEWELL_DATA is unset: point it at the folder that holds nli/, qa/, rag/ and relevance/"
        )
    return Path(folder)


@cache
def sources() -> dict[str, Source]:
    with _TABLE.open(encoding="utf-8", newline="") as file:
        return {
            row["name"]: Source(**row) for row in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE)
        }


def load(name: str) -> list[Row]:
    """Every row of one set, for measuring."""
    source = sources()[name]
    raw = (data_folder() / f"{name}.jsonl.gz").read_bytes()
    found = hashlib.sha256(raw).hexdigest()
    if found != source.sha256:
        raise SourceError(
            f"{name} has sha256 {found}, recorded {source.sha256}: restore it or record the new hash"
        )
    return [json.loads(line) for line in gzip.decompress(raw).splitlines()]


def load_for_training(name: str) -> list[Row]:
    """Rows that may shape shipped weights: no measured set, no leaked premise, claim or document."""
    source = sources()[name]
    if source.role != "train" or source.ship == "no":
        raise SourceError(f"{name} is kept for measuring (role {source.role}, ship {source.ship})")
    return [row for row in load(name) if not _keys(row) & _measured_keys()]


def text_key(text: str, fewest: int = 7) -> str | None:
    """The opening words of a text; None for one too short to identify anything."""
    words = _WORDS.findall(text[:400].lower())
    return " ".join(words[:_KEY_WORDS]) if len(words) >= fewest else None


def _keys(row: Row) -> frozenset[str]:
    return frozenset(
        key for field, n in _FEWEST.items() if row.get(field) and (key := text_key(row[field], n))
    )


@cache
def _measured_keys() -> frozenset[str]:
    """Keys of the measured sets that a shipped model is judged on, relevance/ excepted: the reader's recipe
    drops its leaks itself."""
    measured = [
        s.name for s in sources().values() if s.role == "measure" and not s.name.startswith("relevance/")
    ]
    return frozenset().union(*(_keys(row) for name in measured for row in load(name)))
