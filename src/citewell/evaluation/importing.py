"""Cases and answers out of other people's data: BEIR, FinanceBench, ALCE, Ragas, DeepEval.

In: a path. Out: :class:`Imported`. What a format does not say stays unsaid: a case without expected answer or
spans is asked all the same, and what needs them is unscored. Knows nothing about how cases are run.
"""

from __future__ import annotations

import csv
import gzip
import io
import re
import zlib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from citewell.core.errors import DocumentError, UsageError
from citewell.core.records import Case, CaseSpan, Record
from citewell.documents.reading import read_bytes
from citewell.evaluation.cases import json_lines

Texts = Callable[[str], str | None]
"""document id -> its canonical text here; None when there is none."""
Row = Mapping[str, Any]


class Imported(Record, frozen=True, kw_only=True):
    """``answers`` are lines for ``eval run --answers``; ``documents`` texts by their ids, to be ingested.
    ``notes`` say what the cases lack."""

    cases: tuple[Case, ...]
    answers: tuple[dict[str, Any], ...] = ()
    documents: dict[str, str] = {}
    notes: tuple[str, ...] = ()


class Options(NamedTuple):
    """``document`` is the template of a document's id here, with ``{}`` for its name in the data set."""

    document: str
    texts: Texts

    def name(self, given: str) -> str:
        return self.document.replace("{}", given)


class Parts(NamedTuple):
    """What a record brings beside its fields; ``lacks`` says in words what it does not."""

    sources: list[str] = []
    spans: tuple[CaseSpan, ...] = ()
    documents: Mapping[str, str] = {}
    lacks: str = ""


class Format(NamedTuple):
    """Each field names the keys that a record may have that part under; ``needed`` those that it must have.
    ``parts`` reads what stands deeper, ``read`` a set that is no file of records."""

    holds: str
    document: str = ""
    needed: str = ""
    id: str = "id name"
    question: str = ""
    answer: str = ""
    sources: str = ""
    reference: str = ""
    tags: str = ""
    parts: Callable[[Row, str, str, Options], Parts] = lambda *record: Parts()
    read: Callable[[Path, Options], Imported] | None = None


def read_format(name: str, path: Path, *, document: str = "", texts: Texts = lambda name: None) -> Imported:
    """``document`` is a template with ``{}``. Raises UsageError, saying what the format holds."""
    chosen = FORMATS.get(name)
    if chosen is None:
        raise UsageError(f"{name!r} is no known format", hint=f"one of {', '.join(FORMATS)}")
    if document and document.count("{}") != 1:
        raise UsageError(f"{document!r} names no place for the name", hint="as 'pdfs/{}.pdf'")
    if path.is_dir() and (path / "questions.jsonl").is_file():  # FinanceBench as it is handed out
        path = path / "questions.jsonl"
    try:
        options = Options(document or chosen.document, texts)
        found = chosen.read(path, options) if chosen.read else _records(name, chosen, path, options)
    except UsageError as error:
        raise UsageError(f"no {name}: {error.args[0]}", hint=f"{name} is {chosen.holds}") from error
    if not found.cases:
        raise UsageError(f"{path} holds no case of {name}", hint=chosen.holds)
    twice = next((id for id, n in Counter(case.id for case in found.cases).items() if n > 1), None)
    if twice is not None:
        raise UsageError(f"{path} has more than one record {twice!r}", hint="give each its own id")
    return found


def _rows(path: Path, asked: str) -> Iterator[tuple[str, Row]]:
    """(where, object) of JSON lines, of an array, or of the first array of objects inside an object that has
    none of ``asked``, the keys of a record."""
    try:
        whole = msgspec.json.decode(_text(path))
    except (msgspec.DecodeError, RecursionError):
        yield from json_lines(path)
        return
    if isinstance(whole, dict):
        inner = next((value for value in whole.values() if isinstance(value, list)), [])
        whole = [whole] if whole.keys() & {*asked.split()} else inner or [whole]
    if not isinstance(whole, list) or not whole or not all(isinstance(item, dict) for item in whole):
        raise UsageError(f"{path} holds no objects", hint="one JSON object a line, or an array of them")
    for number, item in enumerate(whole, 1):
        yield f"{path}, record {number}", item


def _text(path: Path) -> str:
    """Raises UsageError for what cannot be read, unpacked or decoded."""
    try:
        raw = path.read_bytes()
        return (gzip.decompress(raw) if path.suffix == ".gz" else raw).decode("utf-8-sig")
    except (OSError, EOFError, UnicodeDecodeError, zlib.error) as error:
        raise UsageError(f"{path} cannot be read ({error})", hint="check the file") from error


def _get(row: Row, where: str, keys: str, kind: Any, *, needed: bool = False) -> Any:
    """What stands under the first of ``keys`` that ``row`` has, None where it has none. Raises UsageError for
    something of another kind, or a needed one missing."""
    key = next((key for key in keys.split() if row.get(key) is not None), None)
    if key is None:
        if needed:
            has = ", ".join(map(repr, list(row)[:12]))
            raise UsageError(f"{where} has no {keys.split()[0]!r}; it has {has}")
        return None
    try:
        return msgspec.convert(row[key], kind)
    except msgspec.ValidationError as error:
        raise UsageError(f"{where}: {key}: {error}") from error


def _string(row: Row, where: str, keys: str, *, needed: bool = False) -> str:
    found = _get(row, where, keys, str | int | float, needed=needed)
    return "" if found is None else str(found)


def _objects(row: Row, where: str, key: str) -> list[Row]:
    return _get(row, where, key, list[dict[str, Any]], needed=True)  # type: ignore[no-any-return]


def _records(prefix: str, form: Format, path: Path, options: Options) -> Imported:
    """Each record a case."""
    cases: list[Case] = []
    answers: list[dict[str, Any]] = []
    documents: dict[str, str] = {}
    lacking: Counter[str] = Counter()
    needed = form.needed.split()
    for number, (where, row) in enumerate(_rows(path, form.question), 1):
        if isinstance(row.get(form.question.split()[0]), list):
            raise UsageError(f"{where} is a conversation; only single turns are read")
        question = _string(row, where, form.question, needed=True)
        id = _string(row, where, form.id, needed="id" in needed) or f"{prefix}-{number:05}"
        expected = _string(row, where, form.reference, needed="reference" in needed)
        found = form.parts(row, where, id, options)
        tags = tuple(filter(None, (_string(row, where, key) for key in form.tags.split()))) or (prefix,)
        cases.append(Case(id=id, question=question, expected=expected, spans=found.spans, tags=tags))
        documents |= {name: text for name, text in found.documents.items() if name not in documents}
        lacking.update(filter(None, [found.lacks]))
        # An empty answer is one: without its refusals a system is judged by what it did say alone.
        if any(row.get(key) is not None for key in form.answer.split()):
            texts = found.sources or _get(row, where, form.sources, str | list[str]) or []
            numbered = enumerate([texts] if isinstance(texts, str) else texts, 1)
            sources = [{"id": str(place), "text": text} for place, text in numbered]
            answer = _string(row, where, form.answer)
            answers.append({"id": id, "question": question, "answer": answer, "sources": sources})
    notes = tuple(f"{count} cases {lacks}" for lacks, count in lacking.items())
    return Imported(cases=tuple(cases), answers=tuple(answers), documents=documents, notes=notes)


LEAST, MOST = 24, 8
"""Letters and digits a line needs to be looked for: fewer could stand anywhere; and how many quotes are
taken."""


def _evidence(row: Row, where: str, name: str, options: Options) -> Parts:
    """FinanceBench's, where the words stand in a document of this home."""
    spans: dict[CaseSpan, None] = {}
    for part in _objects(row, where, "evidence") if row.get("evidence") is not None else ():
        named = _string(part, where, "doc_name evidence_doc_name") or _string(row, where, "doc_name")
        document = options.name(named)
        text = options.texts(document)
        for quote in located(_string(part, where, "evidence_text"), text) if text else ():
            spans[CaseSpan(document=document, quote=quote)] = None
    lacks = "have no spans: their evidence was not found in a document of this home"
    return Parts(spans=tuple(spans), lacks="" if spans else lacks)


def located(evidence: str, text: str) -> tuple[str, ...]:
    """Quotes of ``text``: the evidence whole, else its lines, each with the next when it is short alone."""
    if whole := _place(evidence, text):
        return (whole,)
    lines = [line for line in evidence.split("\n") if line.strip()]
    found = {
        _place(line, text) or _place(f"{line} {following}", text): None
        for line, following in pairwise([*lines, ""])
    }
    return tuple(sorted(filter(None, found), key=len, reverse=True)[:MOST])


def _place(words: str, text: str) -> str:
    """The text's own words, or "" where they stand nowhere or in more than one place; only letters and digits
    count."""
    wanted = re.findall(r"[^\W_]+", words)
    if sum(map(len, wanted)) < LEAST:
        return ""
    found = re.findall(r"\b" + r"[\W_]+".join(wanted) + r"\b", text, re.IGNORECASE)
    return found[0] if len(found) == 1 else ""


def _docs(row: Row, where: str, name: str, options: Options) -> Parts:
    """ALCE's, each a document too."""
    texts, documents = [], {}
    for place, part in enumerate(_objects(row, where, "docs"), 1):
        texts.append(_titled(part, where))
        documents[options.name(_file_name(_string(part, where, "id") or f"{name}-{place}"))] = (
            texts[-1] + "\n"
        )
    lacks = "have short answers (qa_pairs), which were left out: the long one is expected"
    return Parts(sources=texts, documents=documents, lacks=lacks if row.get("qa_pairs") else "")


def _beir(path: Path, options: Options) -> Imported:
    found = {name: _inside(path, name) for name in ("corpus.jsonl", "queries.jsonl", "qrels/test.tsv")}
    corpus, queries, judged = found.values()
    relevant: dict[str, list[str]] = {}
    try:
        for line in csv.DictReader(io.StringIO(_text(judged)), delimiter="\t"):
            if int(line["score"]) > 0:
                relevant.setdefault(line["query-id"], []).append(line["corpus-id"])
    except (csv.Error, KeyError, TypeError, ValueError) as error:
        raise UsageError(f"{judged} is no table of query-id, corpus-id, score") from error
    documents: dict[str, str] = {}
    spans: dict[str, CaseSpan] = {}
    wanted = {document for many in relevant.values() for document in many}
    for where, row in _rows(corpus, "_id"):
        name = _string(row, where, "_id", needed=True)
        document_id = options.name(_file_name(name))
        if document_id in documents:
            raise UsageError(f"{where}: {name!r} would be a second {document_id}")
        documents[document_id] = _titled(row, where) + "\n"
        if name in wanted:
            # Any chunk of a relevant document is right: BEIR judges documents.
            with suppress(DocumentError):
                read = read_bytes(documents[document_id].encode(), document_id=document_id)
                spans[name] = CaseSpan(document=document_id, quote=read.text)
    cases = []
    for where, row in _rows(queries, "_id"):
        name, about = _string(row, where, "_id", needed=True), row.get("metadata")
        held = tuple(spans[found] for found in relevant.get(name, ()) if found in spans)
        question = _string(row, where, "text", needed=True)
        answers = _get(about, where, "answers", list[str]) if isinstance(about, dict) else None
        expected = answers[0] if answers else ""
        if held:
            cases.append(Case(id=name, question=question, expected=expected, spans=held, tags=("beir",)))
    lost = len(wanted - {*spans})
    notes = (f"{lost} relevant documents are not in the corpus or cannot be read",) if lost else ()
    return Imported(cases=tuple(cases), documents=documents, notes=notes)


def _inside(folder: Path, name: str) -> Path:
    """The file ``name`` of a folder, gzipped or not."""
    for candidate in (folder / name, folder / f"{name}.gz"):
        if candidate.is_file():
            return candidate
    raise UsageError(f"{folder} has no {name}")


def _titled(row: Row, where: str) -> str:
    title, text = _string(row, where, "title"), _string(row, where, "text", needed=True)
    return f"{title}\n\n{text}" if title else text


def _file_name(name: str) -> str:
    return re.sub(r"[^\w.-]+", "_", name).strip(".") or "_"


FORMATS: dict[str, Format] = {
    "beir": Format(
        "a folder with corpus.jsonl, queries.jsonl and qrels/test.tsv", document="beir/{}.txt", read=_beir
    ),
    "financebench": Format(
        "JSON lines with financebench_id, question, answer, evidence",
        document="pdfs/{}.pdf",
        needed="id reference",
        id="financebench_id",
        question="question",
        reference="answer",
        tags="question_type company",
        parts=_evidence,
    ),
    "alce": Format(
        "an array of objects with question, docs, and output where answered",
        document="alce/{}.txt",
        id="sample_id id question_id",
        question="question",
        answer="output",
        reference="answer",
        parts=_docs,
    ),
    "ragas": Format(
        "records with user_input, response, retrieved_contexts, reference",
        question="user_input question",
        answer="response answer",
        sources="retrieved_contexts contexts",
        reference="reference ground_truth",
    ),
    "deepeval": Format(
        "records with input, actual_output, retrieval_context, expected_output",
        question="input",
        answer="actual_output actualOutput",
        sources="retrieval_context retrievalContext",
        reference="expected_output expectedOutput",
    ),
}
