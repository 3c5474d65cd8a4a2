"""Documents read by another framework's loader: the same evidence, chunks and index as from files.

In: objects of LangChain, LlamaIndex or Haystack, recognised by their member names. Out: Documents, an outcome
for each, a published index. Imports none of the frameworks.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from itertools import count
from typing import Any

import msgspec

from citewell.core.addresses import check_id
from citewell.core.config import Chunking
from citewell.core.environment import SystemClock, stamp
from citewell.core.errors import CitewellError, UsageError
from citewell.core.identity import hash_text
from citewell.core.ports import Clock
from citewell.core.records import Document
from citewell.documents.chunking import chunk_document
from citewell.documents.evidence.catalogue import WITHDRAWN, CatalogueEntry
from citewell.documents.evidence.sqlite import SqliteEvidence
from citewell.documents.index import LanceIndex
from citewell.documents.ingesting import Writing
from citewell.documents.intake import Item, ParsedFile, Plan, failure, id_taken
from citewell.documents.metadata import found, found_date
from citewell.documents.outcomes import ADDED, UPDATED, IngestReport
from citewell.documents.reading import read_bytes

TEXTS = ("page_content", "text", "content")
SOURCES = ("source", "url", "file_path", "uri")
PARTS = ("page", "page_number", "seq_num", "page_label", "row")
"""Metadata members that distinguish documents of one source. What is a hash of the text or an offset in it
does not count: it changes with the text."""
ACCESS = re.compile(r"authorized_identities|allowed_\w+_ids")
"""Access lists in the metadata of loaders: LangChain's for SharePoint, OneDrive and Google Drive, and
LlamaIndex's for SharePoint."""
RESTRICTS = re.compile(
    r"(?:authorized|allowed|permitted)_\w+|permissions?(?:_\w+)?|acls?|access_(?:control|groups|list)\w*"
    r"|shared_with(?:_\w+)?",
    re.I,
)
"""Members that look like an access list."""
RANDOM = re.compile("[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}")
Loaded = tuple[Document, UsageError | None]
"""A document, and why it cannot be ingested."""


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
    their tags) that are not in ``given`` are withdrawn. Several with one id are numbered: ``a.md#part=2``. A
    document whose access list cannot be read fails. Raises UsageError for anything but a document, and if
    another ingest is writing."""
    loaded = [load_document(one, number, collection) for number, one in enumerate(given, 1)]

    def deleted(entries: Iterable[CatalogueEntry]) -> list[CatalogueEntry]:
        ours = [entry for entry in entries if collection and collection in entry.tags]
        return [entry for entry in ours if entry.document_id not in met and entry.state != WITHDRAWN]

    with index.writer():
        now = stamp(clock or SystemClock())
        plan = Plan(evidence, index, (), (), now, sees)
        documents = _numbered(loaded, {id: entry.version for id, entry in plan.known.items()})
        met = {document.document_id for document, _ in documents}
        writing = Writing(evidence, index, (), None, timeout_s, lambda: "")
        return writing.all_of(_items(documents, plan, chunking, now, sees), deleted, sees)


def _numbered(loaded: Sequence[Loaded], known: Mapping[str, str]) -> list[Loaded]:
    """``loaded`` with distinct ids. ``known`` maps ids to stored versions: a text that is stored under a
    number keeps it, whatever came or went before it; the others get the numbers left, in order."""
    alike: dict[str, list[int]] = defaultdict(list)
    for place, (document, _) in enumerate(loaded):
        alike[document.document_id].append(place)
    ids: dict[int, str] = {}
    for id, places in alike.items():
        names = [id]
        for number in count(2):
            name = f"{id}#part={number}"
            if len(names) >= len(places) and name not in known:
                break
            names += [name] if name not in alike else []
        holding: dict[str, list[str]] = defaultdict(list)
        for name in reversed(names):
            holding[known.get(name, "")].append(name)
        for place in places:
            if held := holding.get(loaded[place][0].version):
                ids[place] = held.pop()
        taken = {ids[place] for place in places if place in ids}
        left = (name for name in names if name not in taken)
        ids |= {place: next(left) for place in places if place not in ids}
    return [
        (msgspec.structs.replace(document, document_id=ids[place]), error)
        for place, (document, error) in enumerate(loaded)
    ]


def _items(
    documents: Iterable[Loaded],
    plan: Plan,
    chunking: Chunking,
    now: str,
    sees: Callable[[Iterable[str]], bool],
) -> Generator[Item, None, None]:
    for document, error in documents:
        id, entry = document.document_id, plan.known.get(document.document_id)
        acl = document.acl or (entry.acl if entry else ())
        if error is not None or not sees(acl):
            yield failure(id, id, error or id_taken(id))
            continue
        if outcome := plan.settled(id, id, document.version, document.acl, document.tags):
            yield outcome
            continue
        try:
            kept = plan.kept(id, document.version) or document
        except CitewellError as lost:  # erased or damaged in the store
            yield failure(id, id, lost)
            continue
        kept = msgspec.structs.replace(kept, acl=acl, tags=document.tags, ingested_at=kept.ingested_at or now)
        chunks, status = tuple(chunk_document(kept, chunking)), UPDATED if id in plan.stored else ADDED
        yield ParsedFile(path=id, document=kept, chunks=chunks, status=status)


def load_document(given: Any, number: int, collection: str) -> Loaded:
    """One Document. Its id is its source and page or row, else its own id, else the hash of its text: its
    place among others would name another text tomorrow."""
    text = next((value for name in TEXTS if isinstance(value := getattr(given, name, None), str)), None)
    if text is None:
        hint = "pass documents of LangChain, LlamaIndex or Haystack"
        raise UsageError(f"document {number} is a {type(given).__name__}, which has no text", hint=hint)
    about = getattr(given, "metadata", None) or getattr(given, "meta", None) or {}
    uri = next((str(about[name]) for name in SOURCES if about.get(name)), "")
    part = next((f"#{name}={about[name]}" for name in PARTS if about.get(name) is not None), "")
    id = uri + part if uri else _own_id(given) or hash_text(text)
    id = f"{collection}/{id}" if collection else id
    check_id(id)
    acl, error = _access(about)
    read = read_bytes(text.encode("utf-8", "replace"), document_id=id, uri="text.txt")
    document = msgspec.structs.replace(
        read,
        uri=uri,
        title=found(str(about.get("title") or ""), "metadata") or read.title,
        published_at=found_date(str(about.get("published_at") or about.get("date") or ""), "metadata")
        or read.published_at,
        acl=acl,
        tags=tuple(sorted({*_tags(about, number), *([collection] if collection else [])})),
    )
    return document, error


def _own_id(given: Any) -> str:
    """LlamaIndex gives a random UUID to each document that has no id."""
    own, made = str(getattr(given, "id", None) or ""), str(getattr(given, "id_", None) or "")
    return own or ("" if RANDOM.fullmatch(made) else made)


def _access(about: Mapping[str, Any]) -> tuple[tuple[str, ...], UsageError | None]:
    """Who may see it, () if nothing in its metadata says so; an error where something does that is not a list
    of texts. An empty list is one too: loaders give it where they could not read the permissions."""
    names = ["acl"] if "acl" in about else [name for name in about if ACCESS.fullmatch(str(name))]
    inner = (name for value in about.values() if isinstance(value, dict) for name in value)
    seeming = (name for name in (*about, *inner) if RESTRICTS.fullmatch(str(name)))
    lists: dict[str, Any] = {name: about[name] for name in names} or dict.fromkeys(seeming)
    for name, value in lists.items():
        if not isinstance(value, list | tuple | set) or not value or not all(map(_is_name, value)):
            hint = f"set acl to a list of groups, or remove {name} if everybody may see the document"
            return (), UsageError(f"{name} in its metadata is not a list of who may see it", hint=hint)
    return tuple(sorted({one for value in lists.values() for one in value})), None


def _is_name(given: object) -> bool:
    return isinstance(given, str) and bool(given.strip())


def _tags(about: Mapping[str, Any], number: int) -> tuple[str, ...]:
    value = about.get("tags") or ()
    listed = [value] if isinstance(value, str) else value
    if not isinstance(listed, list | tuple | set) or not all(isinstance(one, str) for one in listed):
        raise UsageError(f"tags of document {number} is not a list of texts", hint="correct its metadata")
    return tuple(listed)
