"""Documents read by another framework's loader: the same evidence, chunks and index as from files.

In: objects of LangChain, LlamaIndex or Haystack, recognised by their member names. Out: Documents, an outcome
for each, a published index. Imports none of the frameworks.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Generator, Iterable
from typing import Any

import msgspec

from citewell.core.clock import SystemClock, stamp
from citewell.core.config import Chunking
from citewell.core.errors import CitewellError, UsageError
from citewell.core.naming import check_id
from citewell.core.ports import Clock
from citewell.core.records import Document
from citewell.documents.chunking import chunk_document
from citewell.documents.evidence.catalogue import WITHDRAWN, CatalogueEntry
from citewell.documents.evidence.sqlite import SqliteEvidence
from citewell.documents.index import LanceIndex
from citewell.documents.ingesting import Writing
from citewell.documents.intake import Item, ParsedFile, failure, id_taken
from citewell.documents.metadata import found, found_date
from citewell.documents.outcomes import ADDED, GONE, UNCHANGED, UPDATED, FileOutcome, IngestReport
from citewell.documents.reading import read_bytes

TEXTS = ("page_content", "text", "content")
SOURCES = ("source", "url", "file_path", "uri")
PARTS = ("page", "page_number", "seq_num")
"""Metadata members that distinguish documents of one source."""


def ingest_documents(
    given: Iterable[Any],
    *,
    evidence: SqliteEvidence,
    index: LanceIndex,
    chunking: Chunking,
    timeout_s: float,
    collection: str = "",
    clock: Clock | None = None,
    sees: Callable[[Iterable[str]], bool] = lambda acl: True,
) -> IngestReport:
    """Brings evidence and index up to date. Documents of an earlier call with the same ``collection`` (one of
    their tags) that are not in ``given`` are withdrawn. Raises UsageError for anything but a document, for
    two with one id, and if another ingest is writing."""
    documents = [load_document(one, number, collection) for number, one in enumerate(given, 1)]
    met = Counter(document.document_id for document in documents)
    if doubled := [id for id, times in met.items() if times > 1]:
        hint = "give each document its own source, or a page in its metadata"
        raise UsageError(f"more than one document has the id {doubled[0]!r}", hint=hint)

    def deleted(entries: Iterable[CatalogueEntry]) -> list[CatalogueEntry]:
        ours = [entry for entry in entries if collection and collection in entry.tags]
        return [entry for entry in ours if entry.document_id not in met and entry.state != WITHDRAWN]

    with index.writer():
        writing = Writing(evidence, index, (), None, timeout_s, lambda: "")
        read = _items(documents, evidence, index, chunking, stamp(clock or SystemClock()), sees)
        return writing.all_of(read, deleted, sees)


def _items(
    documents: Iterable[Document],
    evidence: SqliteEvidence,
    index: LanceIndex,
    chunking: Chunking,
    now: str,
    sees: Callable[[Iterable[str]], bool],
) -> Generator[Item, None, None]:
    entries = {entry.document_id: entry for entry in evidence.catalogue()}
    stored = index.stored()
    for document in documents:
        id, entry = document.document_id, entries.get(document.document_id)
        acl = document.acl or (entry.acl if entry else ())
        if not sees(acl) or (entry is not None and not sees(entry.acl)):
            yield failure(id, id, id_taken(id))
            continue
        if entry is not None and entry.state == WITHDRAWN and entry.reason != GONE:
            message = f"stays withdrawn ({entry.reason})"
            yield FileOutcome(path=id, document_id=id, status=UNCHANGED, message=message)
            continue
        same = entry is not None and (entry.version, entry.acl, entry.tags) == (
            document.version,
            acl,
            document.tags,
        )
        if same and id in stored:
            yield FileOutcome(path=id, document_id=id, status=UNCHANGED)
            continue
        try:
            known = document.version in evidence.versions(id)
            kept = evidence.get(document.version, id) if known else document
        except CitewellError as error:  # erased or damaged in the store
            yield failure(id, id, error)
            continue
        kept = msgspec.structs.replace(kept, acl=acl, tags=document.tags, ingested_at=kept.ingested_at or now)
        chunks = tuple(chunk_document(kept, chunking))
        yield ParsedFile(path=id, document=kept, chunks=chunks, status=UPDATED if id in stored else ADDED)


def load_document(given: Any, number: int, collection: str) -> Document:
    """One Document. Its id is its source and page, if it has one: frameworks' own ids are random, or hashes
    of the text."""
    text = next((value for name in TEXTS if isinstance(value := getattr(given, name, None), str)), None)
    if text is None:
        raise UsageError(
            f"document {number} is a {type(given).__name__}, which has no text",
            hint="pass documents of LangChain, LlamaIndex or Haystack",
        )
    about = getattr(given, "metadata", None) or getattr(given, "meta", None) or {}
    uri = next((str(about[name]) for name in SOURCES if about.get(name)), "")
    part = next((f"#{name}={about[name]}" for name in PARTS if about.get(name) is not None), "")
    id = uri + part if uri else str(getattr(given, "id", None) or getattr(given, "id_", None) or number)
    id = f"{collection}/{id}" if collection else id
    check_id(id)
    tags = _texts(about, number, "tags")
    read = read_bytes(text.encode("utf-8", "replace"), document_id=id, uri="text.txt")
    return msgspec.structs.replace(
        read,
        uri=uri,
        title=found(str(about.get("title") or ""), "metadata") or read.title,
        published_at=found_date(str(about.get("published_at") or about.get("date") or ""), "metadata")
        or read.published_at,
        acl=_texts(about, number, "acl"),
        tags=tuple(sorted({*tags, collection} if collection else tags)),
    )


def _texts(about: Any, number: int, name: str) -> tuple[str, ...]:
    value = about.get(name) or ()
    listed = [value] if isinstance(value, str) else value
    if not isinstance(listed, list | tuple | set) or not all(isinstance(one, str) for one in listed):
        raise UsageError(f"{name} of document {number} is not a list of texts", hint="correct its metadata")
    return tuple(sorted(listed))
