"""The files that an evaluation reads: cases, recorded answers, labelled claims, other tools' records.

In: a path. Out: values, or one error that names the line and the remedy. A case may omit the expected text,
its spans and a reason to abstain: it is asked, and measures that need a label stay unscored. A recorded
answer is a line of ``citewell verify --jsonl`` with the id of its case, and optionally "decision" and
"confidence". Of records of other tools, nothing missing is invented. Knows nothing about pipelines.
"""

from __future__ import annotations

import gzip
import zlib
from codecs import BOM_UTF8
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import msgspec

from citewell.core.errors import UsageError, did_you_mean
from citewell.core.files import replace_file
from citewell.core.identity import hash_bytes, hash_value
from citewell.core.records import Case, Decision, Record


def read_text_file(path: Path) -> str:
    """The text of a file, gunzipped if it ends in ``.gz``. Raises UsageError if it cannot be read."""
    try:
        raw = path.read_bytes()
        return (gzip.decompress(raw) if path.suffix == ".gz" else raw).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UsageError(f"{path} is not UTF-8", hint="save it as UTF-8") from error
    except (OSError, EOFError, zlib.error) as error:
        raise UsageError(f"{path} cannot be read ({error})", hint="check the path") from error


def json_lines(path: Path, shape: str = "one object per line") -> Iterator[tuple[str, dict[str, Any]]]:
    """(where, object) for each non-blank line. Raises UsageError."""
    # Not splitlines: text may contain characters that are line ends in Unicode but not in JSON.
    for number, line in enumerate(read_text_file(path).split("\n"), 1):
        if not line.strip():
            continue
        where = f"{path}, line {number}"
        try:
            given = msgspec.json.decode(line)
        except (msgspec.DecodeError, RecursionError) as error:
            raise UsageError(f"{where} is not JSON ({error})", hint=shape) from error
        if not isinstance(given, dict):
            raise UsageError(f"{where} is not a JSON object", hint=shape)
        yield where, given


def write_file(path: Path, data: bytes) -> None:
    """Writes the file, creating its folder. Raises UsageError when it cannot be written."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        replace_file(path, data)
    except OSError as error:
        raise UsageError(f"{path} cannot be written ({error.strerror})", hint="check the folder") from error


_KEYS = {"this case": tuple(Case.__struct_fields__), "a span": ("document", "quote")}


def load_cases(path: str | Path) -> tuple[Case, ...]:
    """The cases in file order; blank lines are skipped.

    Raises UsageError, with the line number, for an invalid case or a duplicate id, and for a file without
    cases.
    """
    name = Path(path)
    cases: list[Case] = []
    lines: dict[str, str] = {}
    for where, given in json_lines(name):
        case = _case(given, where)
        if case.id in lines:
            raise UsageError(
                f"{where}: the id {case.id!r} is already used in {lines[case.id]}",
                hint="give each case its own",
            )
        lines[case.id] = where.rpartition(", ")[2]
        cases.append(case)
    if not cases:
        raise UsageError(f"{name} contains no case", hint='one {"id", "question", ...} a line')
    return tuple(cases)


def write_cases(cases: Iterable[Case], path: str | Path) -> int:
    """Writes cases without default values and returns how many. Raises UsageError."""
    lines = [msgspec.json.encode(case) for case in cases]
    write_file(Path(path), b"".join(line + b"\n" for line in lines))
    return len(lines)


def hash_cases(cases: Iterable[Case]) -> str:
    """Hash of the contents: blank lines and key order do not matter, the order of cases does."""
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
            hint = did_you_mean(key, known, f"{what} may have {', '.join(known)}")
            raise UsageError(f"{where}: unknown key {key!r}", hint=hint)


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
    for number, (where, row) in enumerate(_records(path), 1):
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


def _parts(row: Mapping[str, Any], keys: Mapping[str, str], where: str) -> dict[str, Any]:
    parts: dict[str, Any] = {}
    for part, names in {"id": "id name", **keys}.items():
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


def _records(path: Path) -> Iterator[tuple[str, Mapping[str, Any]]]:
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


LABELS: Mapping[str, bool] = {
    **dict.fromkeys(("supported", "entailment", "faithful", "true", "yes"), True),
    **dict.fromkeys(("unsupported", "not supported", "not_supported", "not_entailment", "neutral"), False),
    **dict.fromkeys(("contradiction", "hallucinated", "unfaithful", "partly", "not", "false", "no"), False),
}
"""Label names; JSON ``true`` and ``false`` work too. ``partially_supported`` is left to whoever prepares the
file."""
_TEXTS = {"claim": False, "hypothesis": False, "answer": True, "response": True}
"""Keys for the labelled text -> whether it is a whole answer."""
_SOURCES = ("sources", "premise", "context")
_SHAPE = 'as in {"claim" or "answer", "sources": [text, ...], "label"}'


class LabelledClaim(Record, frozen=True, kw_only=True):
    """``whole``: ``claim`` is an answer with several claims. Rows of the same ``group`` and ``file`` are not
    independent."""

    claim: str
    sources: tuple[str, ...]
    supported: bool
    whole: bool = False
    question: str = ""
    group: str = ""
    file: str = ""


def load_labelled(path: Path) -> list[LabelledClaim]:
    """The rows of a file. Raises UsageError with the number of an invalid line, and for an empty file."""
    rows = [_row(given, path, where) for where, given in json_lines(path, f"one object per line, {_SHAPE}")]
    if not rows:
        raise UsageError(f"{path} contains no labelled claim", hint=f"write one per line, {_SHAPE}")
    return rows


def looks_labelled(path: Path) -> bool:
    """True if the first line is a labelled claim rather than a case."""
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
        raise UsageError(f"{where}: the label {label!r} is not known", hint=f"use one of {', '.join(LABELS)}")
    return known


class Recorded(Record, frozen=True, kw_only=True):
    """An answer by any system. ``problem`` says why the line cannot be used."""

    id: str
    answer: str
    sources: tuple[str | dict[str, str], ...]
    question: str = ""
    decision: Decision | None = None
    confidence: Annotated[float, msgspec.Meta(ge=0.0, le=1.0)] | None = None
    problem: str = ""


def load_answers(path: str | Path) -> tuple[dict[str, Recorded], str]:
    """(answers by case id, hash of the file). Raises UsageError, naming the line, for one that is not a JSON
    object or has no case id, and for a duplicate id."""
    name = Path(path)
    found: dict[str, Recorded] = {}
    for where, given in json_lines(name):
        recorded = _recorded(given, where)
        if recorded.id in found:
            raise UsageError(f"{where}: a second answer to {recorded.id!r}", hint="keep one")
        found[recorded.id] = recorded
    return found, hash_bytes(name.read_bytes())


def _recorded(given: dict[str, Any], where: str) -> Recorded:
    if not isinstance(name := given.get("id"), str):
        raise UsageError(f"{where} names no case", hint='give it the "id" of its case')
    if isinstance(said := given.get("decision"), str):
        given["decision"] = said.upper()
    try:
        return msgspec.convert(given, Recorded)
    except msgspec.ValidationError as error:
        known = Recorded.__struct_fields__
        unknown = next((key for key in given if key not in known), "")
        more = f" (unknown key {unknown!r}, {did_you_mean(unknown, known)})" if unknown else ""
        return Recorded(id=name, answer="", sources=(), problem=f"{where}: {error}{more}")
