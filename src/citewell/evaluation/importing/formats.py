"""The formats that are read: BEIR, FinanceBench, RAGTruth, ALCE, Ragas, DeepEval.

In: a path. Out: :class:`Imported`. What a format does not say stays unsaid: a case without expected answer or
spans is asked all the same, and what needs them is unscored. Knows nothing about how cases are run.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from citewell.core.errors import DocumentError, UsageError
from citewell.core.records import Case, CaseSpan
from citewell.documents.reading import read_bytes
from citewell.evaluation.importing.locating import Places, located
from citewell.evaluation.importing.records import (
    Imported,
    Row,
    Texts,
    folder,
    inside,
    objects,
    recorded,
    rows,
    string,
    strings,
    text_of,
)


class Options(NamedTuple):
    """``name`` turns a data set's name of a document into its id here; ``texts`` reads documents here."""

    name: Callable[[str], str]
    texts: Texts


class Format(NamedTuple):
    """``keys``: what its records have and others' have not. ``document``: how its documents are named here,
    unless the user says otherwise; "" where it names none."""

    read: Callable[[Path, Options], Imported]
    holds: str
    keys: frozenset[str] = frozenset()
    document: str = ""


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
    try:
        found = chosen.read(path, Options(lambda given: template.replace("{}", given), texts))
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
        _, first = next(rows(path, *(key for found in FORMATS.values() for key in found.keys)))
    except (UsageError, StopIteration, OSError):
        return ""
    fitting = [other for other, found in FORMATS.items() if found.keys and found.keys <= set(first)]
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


def _financebench(path: Path, options: Options) -> Imported:
    file = path / "questions.jsonl" if path.is_dir() else path
    cases, known, lacking = [], {}, 0
    for where, row in rows(file, "financebench_id"):
        spans: list[CaseSpan] = []
        for part in objects(row, where, "evidence") if row.get("evidence") is not None else ():
            named = string(part, where, "doc_name", "evidence_doc_name") or string(row, where, "doc_name")
            document = options.name(named)
            if document not in known:
                text = options.texts(document)
                known[document] = Places(text) if text is not None else None
            places = known[document]
            quotes = located(string(part, where, "evidence_text"), places) if places else ()
            spans += [CaseSpan(document=document, quote=quote) for quote in quotes]
        lacking += not spans
        cases.append(
            Case(
                id=string(row, where, "financebench_id", needed=True),
                question=string(row, where, "question", needed=True),
                expected=string(row, where, "answer", needed=True),
                spans=tuple(dict.fromkeys(spans)),
                tags=tuple(
                    filter(None, (string(row, where, "question_type"), string(row, where, "company")))
                ),
            )
        )
    notes = (
        (f"{lacking} cases have no spans: their evidence was not found in a document of this home",)
        if lacking
        else ()
    )
    return Imported(cases=tuple(cases), notes=notes)


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


def _alce(path: Path, options: Options) -> Imported:
    cases: list[Case] = []
    answers: list[dict[str, Any]] = []
    documents: dict[str, str] = {}
    short = 0
    for number, (where, row) in enumerate(rows(path, "question"), 1):
        question = string(row, where, "question", needed=True)
        name = string(row, where, "sample_id", "id", "question_id") or f"alce-{number:05}"
        short += bool(row.get("qa_pairs"))
        texts = []
        for place, part in enumerate(objects(row, where, "docs"), 1):
            title, text = string(part, where, "title"), string(part, where, "text", needed=True)
            texts.append(f"{title}\n\n{text}" if title else text)
            file = _file_name(string(part, where, "id") or f"{name}-{place}")
            documents.setdefault(options.name(file), texts[-1] + "\n")
        cases.append(Case(id=name, question=question, expected=string(row, where, "answer"), tags=("alce",)))
        if "output" in row:
            answers.append(recorded(name, question, string(row, where, "output"), tuple(texts)))
    notes = (
        (f"{short} cases have short answers (qa_pairs), which were left out: the long one is expected",)
        if short
        else ()
    )
    return Imported(cases=tuple(cases), answers=tuple(answers), documents=documents, notes=notes)


def _of_records(prefix: str, fields: Mapping[str, tuple[str, ...]]) -> Callable[[Path, Options], Imported]:
    """A reader of records whose question, answer, sources and reference have the names of ``fields``."""

    def read(path: Path, options: Options) -> Imported:
        cases: list[Case] = []
        answers: list[dict[str, Any]] = []
        for number, (where, row) in enumerate(rows(path, *fields["question"]), 1):
            if isinstance(row.get(fields["question"][0]), list):
                raise UsageError(f"{where} is a conversation; only single turns are read")
            question = string(row, where, *fields["question"], needed=True)
            name = string(row, where, "id", "name") or f"{prefix}-{number:05}"
            expected = string(row, where, *fields["reference"])
            cases.append(Case(id=name, question=question, expected=expected, tags=(prefix,)))
            # An empty answer is one: without its refusals a system is judged by what it did say alone.
            if any(row.get(key) is not None for key in fields["answer"]):
                answer = string(row, where, *fields["answer"])
                answers.append(recorded(name, question, answer, strings(row, where, *fields["sources"])))
        return Imported(cases=tuple(cases), answers=tuple(answers))

    return read


_RAGAS = {
    "question": ("user_input", "question"),
    "answer": ("response", "answer"),
    "sources": ("retrieved_contexts", "contexts"),
    "reference": ("reference", "ground_truth"),
}
_DEEPEVAL = {
    "question": ("input",),
    "answer": ("actual_output", "actualOutput"),
    "sources": ("retrieval_context", "retrievalContext"),
    "reference": ("expected_output", "expectedOutput"),
}

FORMATS: dict[str, Format] = {
    "beir": Format(
        _beir, "a folder or zip with corpus.jsonl, queries.jsonl and qrels/test.tsv", document="beir/{}.txt"
    ),
    "financebench": Format(
        _financebench,
        "JSON lines with financebench_id, question, answer, evidence",
        frozenset({"financebench_id", "question", "answer"}),
        "pdfs/{}.pdf",
    ),
    "ragtruth": Format(
        _ragtruth,
        "a folder or zip with response.jsonl and source_info.jsonl",
        frozenset({"source_id", "labels"}),
    ),
    "alce": Format(
        _alce,
        "an array of objects with question, docs, and output where answered",
        frozenset({"question", "docs"}),
        "alce/{}.txt",
    ),
    "ragas": Format(
        _of_records("ragas", _RAGAS),
        "records with user_input, response, retrieved_contexts, reference",
        frozenset({"user_input"}),
    ),
    "deepeval": Format(
        _of_records("deepeval", _DEEPEVAL),
        "records with input, actual_output, retrieval_context, expected_output",
        frozenset({"input"}),
    ),
}


def _file_name(name: str) -> str:
    return re.sub(r"[^\w.-]+", "_", name).strip(".") or "_"
