"""Case files: one question a line, with what a right outcome is.

In: JSON lines of :class:`citewell.core.records.Case`. Out: the cases, or one error that names the line and
what to
do; and the reverse. A case that says neither what is expected, nor where it stands, nor why there is no
answer is allowed: it is asked, and what needs a label stays unscored. Knows nothing about pipelines.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import msgspec

from citewell.core.errors import UsageError
from citewell.core.identity import hash_value
from citewell.core.records import Case
from citewell.evaluation.files import json_lines, nearest, write_file

_KEYS = {"this case": tuple(Case.__struct_fields__), "a span": ("document", "quote")}


def load_cases(path: str | Path) -> tuple[Case, ...]:
    """In the order of the file; blank lines are left out.

    Raises UsageError, with the line's number, for what is no case, for an id that is there twice, and for a
    file without cases.
    """
    name = Path(path)
    cases: list[Case] = []
    lines: dict[str, str] = {}
    for where, given in json_lines(name):
        case = _case(given, where)
        if case.id in lines:
            raise UsageError(
                f"{where}: the id {case.id!r} is that of {lines[case.id]}", hint="give each case its own"
            )
        lines[case.id] = where.rpartition(", ")[2]
        cases.append(case)
    if not cases:
        raise UsageError(f"{name} holds no case", hint='one {"id", "question", ...} a line')
    return tuple(cases)


def write_cases(cases: Iterable[Case], path: str | Path) -> int:
    """How many were written; what they leave at its default is left out. Raises UsageError."""
    lines = [msgspec.json.encode(case) for case in cases]
    write_file(Path(path), b"".join(line + b"\n" for line in lines))
    return len(lines)


def hash_cases(cases: Iterable[Case]) -> str:
    """Of what they say, so that blank lines and the order of keys do not matter; the order of cases does."""
    return hash_value(list(cases))


def _case(given: dict[str, Any], where: str) -> Case:
    _refuse_unknown(given, "this case", where)
    spans = given.get("spans")
    for span in spans if isinstance(spans, list) else ():
        if isinstance(span, dict):
            _refuse_unknown(span, "a span", where)
    try:
        case = msgspec.convert(given, Case)
    except msgspec.ValidationError as error:
        raise UsageError(f"{where}: {error}", hint="docs/evaluation.md has the form of a case") from error
    empty = next((key for key in ("id", "question") if not getattr(case, key).strip()), "")
    if empty:
        raise UsageError(f"{where}: {empty} is empty", hint="every case has an id and a question")
    if case.abstain and (case.expected or case.spans):
        raise UsageError(f"{where}: an answer or a reason to abstain, not both", hint="leave one of them out")
    if any(not span.document.strip() or not span.quote.strip() for span in case.spans):
        raise UsageError(f"{where}: a span without document or quote", hint="name both, or leave it out")
    return case


def _refuse_unknown(given: dict[str, Any], what: str, where: str) -> None:
    known = _KEYS[what]
    for key in given:
        if key not in known:
            hint = nearest(key, known, f"{what} may have {', '.join(known)}")
            raise UsageError(f"{where}: unknown key {key!r}", hint=hint)
