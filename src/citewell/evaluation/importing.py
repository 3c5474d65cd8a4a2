"""Cases and answers from other tools' data: Ragas and DeepEval records.

In: a path. Out: :class:`Imported`. Nothing missing is invented: a case without expected answer or spans is
still asked, and measures that need them are unscored. Knows nothing about how cases are run.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from citewell.core.errors import UsageError
from citewell.core.records import Case, Record
from citewell.evaluation.cases import json_lines, read_text_file

Row = Mapping[str, Any]


class Imported(Record, frozen=True, kw_only=True):
    """``answers`` are lines for ``eval run --answers``."""

    cases: tuple[Case, ...]
    answers: tuple[dict[str, Any], ...] = ()


class Keys(NamedTuple):
    """Possible keys for each part of a record, newest name first."""

    question: str
    answer: str
    sources: str
    expected: str


RECORDS: dict[str, Keys] = {
    "ragas": Keys(
        "user_input question", "response answer", "retrieved_contexts contexts", "reference ground_truth"
    ),
    "deepeval": Keys(
        "input",
        "actual_output actualOutput",
        "retrieval_context retrievalContext",
        "expected_output expectedOutput",
    ),
}
FORMATS = tuple(RECORDS)


def read_format(name: str, path: Path) -> Imported:
    """Imports a file. Raises UsageError if the format is unknown or the file invalid."""
    if name not in FORMATS:
        raise UsageError(f"unknown format {name!r}", hint=f"use one of {', '.join(FORMATS)}")
    found = _records(name, path)
    if not found.cases:
        raise UsageError(f"{path} contains no {name} cases", hint="docs/cases.md describes the format")
    twice = next((id for id, n in Counter(case.id for case in found.cases).items() if n > 1), None)
    if twice is not None:
        raise UsageError(f"{path} has more than one record {twice!r}", hint="give each its own id")
    return found


def _records(name: str, path: Path) -> Imported:
    keys = RECORDS[name]
    cases, answers = [], []
    for number, (where, row) in enumerate(_rows(path), 1):
        question = _get(row, where, keys.question, str | list[Any], needed=True)
        if not isinstance(question, str):
            raise UsageError(
                f"{where} is a conversation", hint="only single-turn conversations can be imported"
            )
        id = str(_get(row, where, "id name", str | int) or f"{name}-{number:05}")
        expected = _get(row, where, keys.expected, str) or ""
        cases.append(Case(id=id, question=question, expected=expected, tags=(name,)))
        answer = _get(row, where, keys.answer, str)
        # An empty answer counts as a refusal; skipping it would judge only the answers given.
        if answer is not None:
            texts = _get(row, where, keys.sources, list[str]) or []
            sources = [{"id": str(place), "text": text} for place, text in enumerate(texts, 1)]
            answers.append({"id": id, "question": question, "answer": answer, "sources": sources})
    return Imported(cases=tuple(cases), answers=tuple(answers))


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


def _get(row: Row, where: str, keys: str, kind: Any, *, needed: bool = False) -> Any:
    """The value of the first of ``keys`` present in ``row``, or None. Raises UsageError for a value of the
    wrong type, or a missing ``needed`` one."""
    key = next((key for key in keys.split() if row.get(key) is not None), None)
    if key is None:
        if needed:
            has = ", ".join(map(repr, list(row)[:12]))
            raise UsageError(f"{where} has no {keys.split()[0]!r}; it has {has}", hint="check the format")
        return None
    try:
        return msgspec.convert(row[key], kind)
    except msgspec.ValidationError as error:
        raise UsageError(f"{where}: {key}: {error}", hint="check the format") from error
