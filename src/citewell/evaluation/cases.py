"""Case files: one question a line, with what a right outcome is.

In: JSON lines of :class:`citewell.core.records.Case`. Out: the cases, or one error that names the line and
what to
do; and the reverse. A case that says neither what is expected, nor where it stands, nor why there is no
answer is allowed: it is asked, and what needs a label stays unscored. Knows nothing about pipelines.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import msgspec

from citewell.core.errors import UsageError
from citewell.core.identity import hash_value
from citewell.core.records import Case

_KEYS = {"this case": tuple(Case.__struct_fields__), "a span": ("document", "quote")}


def load_cases(path: str | Path) -> tuple[Case, ...]:
    """In the order of the file; blank lines are left out.

    Raises UsageError, with the line's number, for what is no case, for an id that is there twice, and for a
    file without cases.
    """
    name = Path(path)
    try:
        text = name.read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise UsageError(f"{name} cannot be read ({error.strerror})", hint="check the path") from error
    except UnicodeDecodeError as error:
        raise UsageError(f"{name} is not UTF-8", hint="save it as UTF-8") from error
    cases: list[Case] = []
    lines: dict[str, int] = {}
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        case = _case(line, f"{name}, line {number}")
        if case.id in lines:
            raise UsageError(
                f"{name}, line {number}: the id {case.id!r} is that of line {lines[case.id]}",
                hint="give each case its own",
            )
        lines[case.id] = number
        cases.append(case)
    if not cases:
        raise UsageError(f"{name} holds no case", hint='one {"id", "question", ...} a line')
    return tuple(cases)


def write_cases(cases: Iterable[Case], path: str | Path) -> int:
    """How many were written; what they leave at its default is left out. Raises UsageError."""
    lines = [msgspec.json.encode(case) for case in cases]
    name = Path(path)
    try:
        name.parent.mkdir(parents=True, exist_ok=True)
        name.write_bytes(b"".join(line + b"\n" for line in lines))
    except OSError as error:
        raise UsageError(f"{name} cannot be written ({error.strerror})", hint="check the folder") from error
    return len(lines)


def hash_cases(cases: Iterable[Case]) -> str:
    """Of what they say, so that blank lines and the order of keys do not matter; the order of cases does."""
    return hash_value(list(cases))


def _case(line: str, where: str) -> Case:
    try:
        given = msgspec.json.decode(line)
    except msgspec.DecodeError as error:
        raise UsageError(f"{where} is not JSON ({error})", hint="one object a line") from error
    if not isinstance(given, dict):
        raise UsageError(f"{where} is no object", hint='one {"id", "question", ...} a line')
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
            near = difflib.get_close_matches(key, known, n=1, cutoff=0.5)
            hint = f"did you mean {near[0]}?" if near else f"{what} may have {', '.join(known)}"
            raise UsageError(f"{where}: unknown key {key!r}", hint=hint)
