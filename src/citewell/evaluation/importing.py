"""Cases and answers from other tools' data: Ragas and DeepEval records.

In: a path. Out: cases, and lines for ``eval run --answers``. Nothing missing is invented: a case without
expected answer or spans is still asked, and measures that need them are unscored. Knows nothing about how
cases are run.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from citewell.core.errors import UsageError
from citewell.core.records import Case
from citewell.evaluation.cases import json_lines, read_text_file

Row = Mapping[str, Any]
_PARTS: dict[str, Any] = {
    "id": str | int,
    "question": str | list[Any],
    "answer": str,
    "sources": list[str],
    "expected": str,
}
FORMATS = {
    "ragas": {
        "question": "user_input question",
        "answer": "response answer",
        "sources": "retrieved_contexts contexts",
        "expected": "reference ground_truth",
    },
    "deepeval": {
        "question": "input",
        "answer": "actual_output actualOutput",
        "sources": "retrieval_context retrievalContext",
        "expected": "expected_output expectedOutput",
    },
}
"""The possible keys of each part of a record; the first that is present counts."""


class Imported(NamedTuple):
    """``answers`` are lines for ``eval run --answers``."""

    cases: list[Case]
    answers: list[dict[str, Any]]


def read_format(name: str, path: Path) -> Imported:
    """Imports a file. Raises UsageError if the format is unknown or the file invalid."""
    if name not in FORMATS:
        raise UsageError(f"unknown format {name!r}", hint=f"use one of {', '.join(FORMATS)}")
    found = Imported([], [])
    for number, (where, row) in enumerate(_rows(path), 1):
        parts = _parts(row, FORMATS[name], where)
        question, id = parts["question"], str(parts.get("id", f"{name}-{number:05}"))
        found.cases.append(Case(id=id, question=question, expected=parts.get("expected", ""), tags=(name,)))
        # An empty answer counts as a refusal; skipping it would judge only the answers given.
        if "answer" in parts:
            sources = [{"id": str(at), "text": text} for at, text in enumerate(parts.get("sources", ()), 1)]
            found.answers.append(
                {"id": id, "question": question, "answer": parts["answer"], "sources": sources}
            )
    if not found.cases:
        raise UsageError(f"{path} contains no {name} cases", hint="docs/cases.md describes the format")
    twice = next((id for id, n in Counter(case.id for case in found.cases).items() if n > 1), None)
    if twice is not None:
        raise UsageError(f"{path} has more than one record {twice!r}", hint="give each its own id")
    return found


def _parts(row: Row, keys: Mapping[str, str], where: str) -> dict[str, Any]:
    parts: dict[str, Any] = {}
    for part, names in ({"id": "id name"} | keys).items():
        key = next((key for key in names.split() if row.get(key) is not None), None)
        if key is not None:
            try:
                parts[part] = msgspec.convert(row[key], _PARTS[part])
            except msgspec.ValidationError as error:
                raise UsageError(f"{where}: {key}: {error}", hint="check the format") from error
    if "question" not in parts:
        wanted, has = keys["question"].split()[0], ", ".join(map(repr, list(row)[:12]))
        raise UsageError(f"{where} has no {wanted!r}; it has {has}", hint="check the format")
    if not isinstance(parts["question"], str):
        raise UsageError(f"{where} is a conversation", hint="only single-turn conversations can be imported")
    return parts


def _rows(path: Path) -> Iterator[tuple[str, Row]]:
    """(where, object) for each object in an array or in JSON lines."""
    text = read_text_file(path)
    if not text.lstrip().startswith("["):
        yield from json_lines(path)
        return
    try:
        whole = msgspec.json.decode(text, type=list[dict[str, Any]])
    except (msgspec.MsgspecError, RecursionError) as error:
        raise UsageError(
            f"{path}: {error}", hint="write an array of JSON objects, or one object per line"
        ) from error
    for number, row in enumerate(whole, 1):
        yield f"{path}, record {number}", row
