"""Recorded answers, a line each: what any system answered to the cases, with the sources it was given.

In: JSON lines. Out: a :class:`Recorded` for each case id. Three forms are read:

    {"id", "answer": "text", "sources": [...]}   as ``citewell verify --jsonl`` reads them; beside them
                                                 "decision", "confidence" and a person's "supported"
    {"id", "answer": {Answer}}                   an Answer of ours under the id of its case
    {Answer}                                     as ``citewell ask --json`` prints it; the question says which

A line that is no JSON object is an error of the file; one of another form is the problem of its case alone.
Knows nothing about how answers are judged.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import msgspec

from citewell.core.errors import UsageError
from citewell.core.identity import hash_bytes
from citewell.core.records import Answer, Case, Decision, Record
from citewell.evaluation.files import json_lines, nearest

_NO_CASE = (
    'give it the "id" of its case; `citewell eval import` makes cases and answers of other tools\' records'
)


class Recorded(Record, frozen=True, kw_only=True):
    """``made`` is our own Answer, None for the others. ``problem`` is why the line cannot be used."""

    id: str
    answer: str = ""
    sources: tuple[Any, ...] = ()
    question: str = ""
    decision: str = ""
    confidence: float | None = None
    supported: bool | None = None
    made: Answer | None = None
    problem: str = ""


class _Line(msgspec.Struct, forbid_unknown_fields=True):
    id: str
    answer: str
    sources: tuple[str | dict[str, str], ...]
    question: str = ""
    decision: Decision | None = None
    confidence: Annotated[float, msgspec.Meta(ge=0.0, le=1.0)] | None = None
    supported: bool | None = None


def load_answers(path: str | Path, cases: Sequence[Case]) -> tuple[dict[str, Recorded], str]:
    """(the answers by case id, the hash of the file). Raises UsageError, naming the line, for a line that is
    no JSON object, one that names no case or may be of several, and an id that comes twice."""
    name = Path(path)
    asked: dict[str, list[str]] = {}
    for case in cases:
        asked.setdefault(case.question, []).append(case.id)
    found: dict[str, Recorded] = {}
    for where, given in json_lines(name):
        recorded = _recorded(given, asked, where)
        if recorded.id in found:
            raise UsageError(f"{where}: a second answer to {recorded.id!r}", hint="keep one")
        found[recorded.id] = recorded
    return found, hash_bytes(name.read_bytes())


def _recorded(given: dict[str, Any], asked: dict[str, list[str]], where: str) -> Recorded:
    name = given.get("id")
    if "id" not in given:
        question = given.get("question")
        names = asked.get(question, []) if isinstance(question, str) else []
        if len(names) > 1:
            raise UsageError(
                f"{where} answers a question of several cases: {', '.join(map(repr, names))}", hint=_NO_CASE
            )
        name = names[0] if names else None
    if not isinstance(name, str):
        raise UsageError(f"{where} names no case", hint=_NO_CASE)
    body = {key: value for key, value in given.items() if key != "id"}
    if isinstance(body.get("answer"), dict):
        body = body["answer"]
    try:
        if "claims" in body:
            return Recorded(id=name, made=msgspec.convert(body, Answer))
        if isinstance(said := body.get("decision"), str):
            body["decision"] = said.upper()
        line = msgspec.convert({"id": name, **body}, _Line)
    except msgspec.ValidationError as error:
        return Recorded(id=name, problem=f"{where}: {error}{_nearest(body)}")
    return Recorded(
        id=name,
        answer=line.answer,
        sources=line.sources,
        question=line.question,
        decision=line.decision.value if line.decision else "",
        confidence=line.confidence,
        supported=line.supported,
    )


def _nearest(body: dict[str, Any]) -> str:
    known = _Line.__struct_fields__
    for key in body:
        if key not in known:
            hint = nearest(str(key), known, "-")
            return f" (unknown key {key!r}{f', {hint}' if hint != '-' else ''})"
    return ""
