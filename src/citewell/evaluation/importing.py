"""Cases and answers out of other people's data: BEIR, FinanceBench, RAGTruth, ALCE, Ragas, DeepEval.

In: a path. Out: :class:`Imported`. What a format does not say stays unsaid: a case without expected answer or
spans is asked all the same, and what needs them is unscored. Knows nothing about how cases are run.
"""

from __future__ import annotations

import csv
import gzip
import io
import json
import re
import zipfile
import zlib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, suppress
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from citewell.core.errors import DocumentError, UsageError
from citewell.core.records import Case, CaseSpan, Record
from citewell.documents.reading import read_bytes

MOST_BYTES = 4 << 30
"""Of one unpacked file; more is refused, so that a small file cannot fill the memory."""

Texts = Callable[[str], str | None]
"""document id -> its canonical text here; None when there is none."""
Row = Mapping[str, Any]
File = Path | zipfile.Path


class Imported(Record, frozen=True, kw_only=True):
    """``answers`` are lines for ``eval run --answers``; ``documents`` texts by their ids, to be ingested.
    ``notes`` say what the cases lack."""

    cases: tuple[Case, ...]
    answers: tuple[dict[str, Any], ...] = ()
    documents: dict[str, str] = {}
    notes: tuple[str, ...] = ()


def folder(path: Path) -> File:
    """``path``, or the inside of a zip; where that holds one folder alone, that folder. Raises UsageError."""
    if not zipfile.is_zipfile(path):
        return path
    try:
        root = zipfile.Path(path)
    except zipfile.BadZipFile as error:
        raise UsageError(f"{path} cannot be read ({error})", hint="check the file") from error
    inner = [item for item in root.iterdir() if not item.name.startswith(("__MACOSX", "."))]
    return inner[0] if len(inner) == 1 and inner[0].is_dir() else root


def inside(place: File, name: str) -> File | None:
    """The file ``name`` of a folder, gzipped or not."""
    for candidate in (place / name, place / f"{name}.gz"):
        if candidate.is_file():
            return candidate
    return None


def text_of(file: File) -> str:
    """Raises UsageError for what cannot be read, unpacked or decoded."""
    try:
        with file.open("rb") as raw, ExitStack() as stack:
            packed = file.name.endswith(".gz")
            data = (stack.enter_context(gzip.open(raw)) if packed else raw).read(MOST_BYTES + 1)
        if len(data) > MOST_BYTES:
            raise UsageError(f"{file} unpacks to over {MOST_BYTES >> 30} GiB", hint="split it")
        return bytes(data).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UsageError(f"{file} is not UTF-8", hint="save it as UTF-8") from error
    except (OSError, EOFError, zlib.error, zipfile.BadZipFile, RuntimeError) as error:  # or a password
        raise UsageError(f"{file} cannot be read ({error})", hint="check the path and the file") from error


def rows(file: File, *own: str) -> Iterator[tuple[str, Row]]:
    """(where, object) of JSON lines, of an array, or of the first array of objects inside one object: unless
    that has one of ``own``, keys of a record, and so is one."""
    text = text_of(file)
    lines = [(number, line) for number, line in enumerate(text.split("\n"), 1) if line.strip()]
    if len(lines) > 1 and lines[0][1].lstrip().startswith("{") and lines[0][1].rstrip().endswith("}"):
        for number, line in lines:
            where = f"{file}, line {number}"
            row = _decoded(line, where)
            if not isinstance(row, dict):
                raise UsageError(f"{where} is no object", hint="one JSON object a line")
            yield where, row
        return
    whole = _decoded(text, str(file))
    if isinstance(whole, dict):
        lists = [value for value in whole.values() if _objects(value) and not whole.keys() & set(own)]
        whole = lists[0] if lists and len(whole) <= 3 else [whole]
    if not _objects(whole):
        raise UsageError(f"{file} holds no objects", hint="one JSON object a line, or an array of them")
    for number, item in enumerate(whole, 1):
        yield f"{file}, record {number}", item


def _objects(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(item, dict) for item in value)


def _decoded(text: str, where: str) -> Any:
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError) as error:
        raise UsageError(f"{where} is not JSON ({error})", hint="one object a line, or an array") from error


def string(row: Row, where: str, *keys: str, needed: bool = False) -> str:
    """The first of ``keys`` that ``row`` has. Raises UsageError for no text, or a needed one missing."""
    for key in keys:
        value = row.get(key)
        if value is None:
            continue
        if isinstance(value, bool) or not isinstance(value, str | int | float):
            raise UsageError(f"{where}: {key} is no text", hint=f"it is {type(value).__name__}")
        return str(value)
    if needed:
        raise UsageError(f"{where} has no {keys[0]!r}", hint=f"it has {', '.join(map(repr, list(row)[:12]))}")
    return ""


def strings(row: Row, where: str, *keys: str) -> tuple[str, ...]:
    """A list of texts under the first of ``keys`` that is there; a single text counts as a list of one."""
    for key in keys:
        value = row.get(key)
        if value is None:
            continue
        many = [value] if isinstance(value, str) else value
        if not isinstance(many, list) or not all(isinstance(item, str) for item in many):
            raise UsageError(f"{where}: {key} is no list of texts", hint="see docs/cases.md for the form")
        return tuple(many)
    return ()


def objects(row: Row, where: str, key: str) -> list[Row]:
    """Raises UsageError for what is no list of objects."""
    value = row.get(key)
    if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
        raise UsageError(f"{where}: {key} is no list of objects", hint=f"it has {', '.join(list(row)[:12])}")
    return value


def recorded(name: str, question: str, answer: str, sources: tuple[str, ...]) -> dict[str, Any]:
    """A line for ``eval run --answers``: sources numbered as markers like [1] name them."""
    numbered = [{"id": str(number), "text": text} for number, text in enumerate(sources, 1)]
    return {"id": name, "question": question, "answer": answer, "sources": numbered}


LEAST, MOST = 24, 8
"""Letters and digits a line needs to be looked for: fewer could stand anywhere; and how many
quotes are taken."""


class Places:
    """The letters and digits of one text, with where each stands."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._at = [index for index, character in enumerate(text) if character.isalnum()]
        self._letters = "".join(_folded(text[index]) for index in self._at)

    def find(self, words: str) -> str:
        """The text's own words, or "" where they stand nowhere or in more than one place."""
        wanted = "".join(_folded(character) for character in words if character.isalnum())
        start = self._letters.find(wanted) if len(wanted) >= LEAST else -1
        if start < 0 or self._letters.find(wanted, start + 1) >= 0:
            return ""
        return self.text[self._at[start] : self._at[start + len(wanted) - 1] + 1]


def located(evidence: str, places: Places) -> tuple[str, ...]:
    """Quotes of the text: the evidence whole, else its lines, each with the next when it is short alone."""
    whole = places.find(evidence)
    if whole:
        return (whole,)
    lines = [line for line in evidence.split("\n") if line.strip()]
    found: dict[str, None] = {}
    for line, following in pairwise([*lines, ""]):
        quote = places.find(line) or places.find(f"{line} {following}")
        if quote:
            found[quote] = None
    return tuple(sorted(found, key=len, reverse=True)[:MOST])


class Options(NamedTuple):
    """``name`` turns a data set's name of a document into its id here; ``places`` is its text, if any."""

    name: Callable[[str], str]
    places: Callable[[str], Places | None]


class Parts(NamedTuple):
    """What a record brings beside its fields; ``lacks`` says in words what it does not."""

    sources: tuple[str, ...] = ()
    spans: tuple[CaseSpan, ...] = ()
    documents: Mapping[str, str] = {}
    lacks: str = ""


class Format(NamedTuple):
    """``keys``: what its records have and others' have not. ``document``: how its documents are named here,
    unless the user says otherwise; "" where it names none. Records are read by the keys that they have their
    parts under, and ``parts`` for what stands deeper; another set by ``read``."""

    holds: str
    keys: str = ""
    document: str = ""
    id: str = "id name"
    question: str = ""
    answer: str = ""
    sources: str = ""
    reference: str = ""
    tags: str = ""
    parts: Callable[[Row, str, str, Options], Parts] | None = None
    read: Callable[[Path, Options], Imported] | None = None


def read_format(name: str, path: Path, *, document: str = "", texts: Texts = lambda name: None) -> Imported:
    """``document`` is a template with ``{}``. Raises UsageError, saying what the file looks like instead."""
    chosen = FORMATS.get(name)
    if chosen is None:
        raise UsageError(f"{name!r} is no known format", hint=f"one of {', '.join(FORMATS)}")
    template = document or chosen.document
    if document and document.count("{}") != 1:
        raise UsageError(f"{document!r} names no place for the name", hint="as 'pdfs/{}.pdf'")
    if not path.exists():
        raise UsageError(f"{path} is not there", hint="check the path")
    if path.is_dir() and (path / "questions.jsonl").is_file():  # FinanceBench as it is handed out
        path = path / "questions.jsonl"
    try:
        places = cache(lambda name: None if (text := texts(name)) is None else Places(text))
        options = Options(lambda given: template.replace("{}", given), places)
        found = chosen.read(path, options) if chosen.read else _records(name, chosen, path, options)
    except UsageError as error:
        raise UsageError(
            f"no {name}: {error.args[0]}", hint=_looks_like(name, path) or chosen.holds
        ) from error
    if not found.cases:
        raise UsageError(f"{path} holds no case of {name}", hint=chosen.holds)
    twice = next((id for id, n in Counter(case.id for case in found.cases).items() if n > 1), None)
    if twice is not None:
        raise UsageError(f"{path} has more than one record {twice!r}", hint="give each its own id")
    return found


def _looks_like(name: str, path: Path) -> str:
    """ "it looks like ragas", by the keys of its first record."""
    try:
        _, first = next(rows(path, *(key for found in FORMATS.values() for key in found.keys.split())))
    except (UsageError, StopIteration, OSError):
        return ""
    fitting = [other for other, found in FORMATS.items() if found.keys and {*found.keys.split()} <= {*first}]
    return f"it looks like {fitting[0]}" if fitting and fitting[0] != name else ""


# --- formats ----------------------------------------------------------------------------------------


def _beir(path: Path, options: Options) -> Imported:
    place = folder(path)
    corpus, queries = inside(place, "corpus.jsonl"), inside(place, "queries.jsonl")
    judged = next(
        (found for name in ("test", "dev", "train") if (found := inside(place / "qrels", f"{name}.tsv"))),
        None,
    )
    if corpus is None or queries is None or judged is None:
        raise UsageError(f"{path} has not all of corpus.jsonl, queries.jsonl, qrels/test.tsv")
    relevant: dict[str, list[str]] = {}
    try:
        for line in csv.DictReader(io.StringIO(text_of(judged)), delimiter="\t"):
            if int(line["score"]) > 0:
                relevant.setdefault(line["query-id"], []).append(line["corpus-id"])
    except (csv.Error, KeyError, TypeError, ValueError) as error:
        raise UsageError(f"{judged} is no table of query-id, corpus-id, score") from error
    documents: dict[str, str] = {}
    canonical: dict[str, str] = {}
    wanted = {document for many in relevant.values() for document in many}
    for where, row in rows(corpus, "_id"):
        name = string(row, where, "_id", needed=True)
        document_id = options.name(_file_name(name))
        if document_id in documents:
            raise UsageError(f"{where}: {name!r} would be a second {document_id}")
        title, text = string(row, where, "title"), string(row, where, "text", needed=True)
        documents[document_id] = f"{title}\n\n{text}\n" if title else f"{text}\n"
        if name in wanted:
            # Any chunk of a relevant document is right: BEIR judges documents.
            with suppress(DocumentError):
                canonical[name] = read_bytes(documents[document_id].encode(), document_id=document_id).text
    cases = []
    for where, row in rows(queries, "_id"):
        name = string(row, where, "_id", needed=True)
        held = [found for found in relevant.get(name, ()) if found in canonical]
        if held:
            about = row.get("metadata")
            answers = strings(about, where, "answers") if isinstance(about, dict) else ()
            cases.append(
                Case(
                    id=name,
                    question=string(row, where, "text", needed=True),
                    expected=answers[0] if answers else "",
                    spans=tuple(
                        CaseSpan(document=options.name(_file_name(found)), quote=canonical[found])
                        for found in held
                    ),
                    tags=("beir",),
                )
            )
    unreadable = len(wanted - {*canonical})
    notes = (
        (f"{unreadable} relevant documents are not in the corpus or cannot be read",) if unreadable else ()
    )
    return Imported(cases=tuple(cases), documents=documents, notes=notes)


def _evidence(row: Row, where: str, name: str, options: Options) -> Parts:
    """FinanceBench's, where the words stand in a document of this home."""
    spans = []
    for part in objects(row, where, "evidence") if row.get("evidence") is not None else ():
        named = string(part, where, "doc_name", "evidence_doc_name") or string(row, where, "doc_name")
        document = options.name(named)
        places = options.places(document)
        quotes = located(string(part, where, "evidence_text"), places) if places else ()
        spans += [CaseSpan(document=document, quote=quote) for quote in quotes]
    lacks = "have no spans: their evidence was not found in a document of this home"
    return Parts(spans=tuple(dict.fromkeys(spans)), lacks="" if spans else lacks)


def _docs(row: Row, where: str, name: str, options: Options) -> Parts:
    """ALCE's, each a document too."""
    texts, documents = [], {}
    for place, part in enumerate(objects(row, where, "docs"), 1):
        title, text = string(part, where, "title"), string(part, where, "text", needed=True)
        texts.append(f"{title}\n\n{text}" if title else text)
        documents[options.name(_file_name(string(part, where, "id") or f"{name}-{place}"))] = texts[-1] + "\n"
    lacks = "have short answers (qa_pairs), which were left out: the long one is expected"
    return Parts(sources=tuple(texts), documents=documents, lacks=lacks if row.get("qa_pairs") else "")


def _records(prefix: str, form: Format, path: Path, options: Options) -> Imported:
    """Each record a case."""
    cases: list[Case] = []
    answers: list[dict[str, Any]] = []
    documents: dict[str, str] = {}
    lacking: Counter[str] = Counter()
    asked, own = form.question.split(), set(form.keys.split())
    for number, (where, row) in enumerate(rows(path, *asked), 1):
        if isinstance(row.get(asked[0]), list):
            raise UsageError(f"{where} is a conversation; only single turns are read")
        question = string(row, where, *asked, needed=True)
        ids, references = form.id.split(), form.reference.split()
        id = string(row, where, *ids, needed=not own.isdisjoint(ids)) or f"{prefix}-{number:05}"
        expected = string(row, where, *references, needed=not own.isdisjoint(references))
        found = form.parts(row, where, id, options) if form.parts else Parts()
        tags = tuple(filter(None, (string(row, where, key) for key in form.tags.split()))) or (prefix,)
        cases.append(Case(id=id, question=question, expected=expected, spans=found.spans, tags=tags))
        documents |= {name: text for name, text in found.documents.items() if name not in documents}
        lacking.update(filter(None, [found.lacks]))
        # An empty answer is one: without its refusals a system is judged by what it did say alone.
        if any(row.get(key) is not None for key in form.answer.split()):
            sources = found.sources or strings(row, where, *form.sources.split())
            answers.append(recorded(id, question, string(row, where, *form.answer.split()), sources))
    notes = tuple(f"{count} cases {lacks}" for lacks, count in lacking.items())
    return Imported(cases=tuple(cases), answers=tuple(answers), documents=documents, notes=notes)


def _ragtruth(path: Path, options: Options) -> Imported:
    place = folder(path)
    responses, infos = inside(place, "response.jsonl"), inside(place, "source_info.jsonl")
    if responses is None or infos is None:
        raise UsageError(f"{path} has not both of response.jsonl, source_info.jsonl")
    told = {
        string(row, where, "source_id", needed=True): (where, row) for where, row in rows(infos, "source_id")
    }
    cases, answers = [], []
    for where, row in rows(responses, "source_id"):
        name, source = string(row, where, "id", needed=True), string(row, where, "source_id", needed=True)
        if source not in told:
            raise UsageError(f"{where}: source_info.jsonl has no source {source!r}")
        task, question, texts = _ragtruth_source(*told[source])
        labels = objects(row, where, "labels")
        tags = tuple(filter(None, (task, string(row, where, "model"), string(row, where, "split"))))
        cases.append(Case(id=name, question=question, tags=tags))
        line = recorded(name, question, string(row, where, "response", needed=True), texts)
        answers.append({**line, "supported": not labels})
    return Imported(cases=tuple(cases), answers=tuple(answers))


def _ragtruth_source(where: str, row: Row) -> tuple[str, str, tuple[str, ...]]:
    task, info = string(row, where, "task_type", needed=True), row.get("source_info")
    if isinstance(info, dict) and "question" in info:
        passages = re.split(r"(?:^|\n)[^\S\n]*passage \d+:\s*", string(info, where, "passages", needed=True))
        return task, string(info, where, "question"), tuple(part.strip() for part in passages if part.strip())
    text = info if isinstance(info, str) else json.dumps(info, ensure_ascii=False, indent=1)
    asked = {"Summary": "What does the text say, in short?", "Data2txt": "What do the data say?"}
    return task, asked.get(task, task), (text,)


FORMATS: dict[str, Format] = {
    "beir": Format(
        "a folder or zip with corpus.jsonl, queries.jsonl and qrels/test.tsv",
        document="beir/{}.txt",
        read=_beir,
    ),
    "financebench": Format(
        "JSON lines with financebench_id, question, answer, evidence",
        "financebench_id question answer",
        document="pdfs/{}.pdf",
        id="financebench_id",
        question="question",
        reference="answer",
        tags="question_type company",
        parts=_evidence,
    ),
    "ragtruth": Format(
        "a folder or zip with response.jsonl and source_info.jsonl", "source_id labels", read=_ragtruth
    ),
    "alce": Format(
        "an array of objects with question, docs, and output where answered",
        "question docs",
        document="alce/{}.txt",
        id="sample_id id question_id",
        question="question",
        answer="output",
        reference="answer",
        parts=_docs,
    ),
    "ragas": Format(
        "records with user_input, response, retrieved_contexts, reference",
        "user_input",
        question="user_input question",
        answer="response answer",
        sources="retrieved_contexts contexts",
        reference="reference ground_truth",
    ),
    "deepeval": Format(
        "records with input, actual_output, retrieval_context, expected_output",
        "input",
        question="input",
        answer="actual_output actualOutput",
        sources="retrieval_context retrievalContext",
        reference="expected_output expectedOutput",
    ),
}


def _file_name(name: str) -> str:
    return re.sub(r"[^\w.-]+", "_", name).strip(".") or "_"


def _folded(character: str) -> str:
    """One character for one, so that places hold."""
    small = character.lower()
    return small if len(small) == 1 else character
