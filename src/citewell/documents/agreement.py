"""The index checked against the evidence: a chunk counts only if the stored document says the same.

In: chunks from the index, the evidence store. Out: the same chunks, if each is the stretch of the stored
version that it claims to be, with all other fields taken from that version; else IndexMismatchError; and, for
a full check, sentences that name what differs. The index only finds words: someone who can write to its files
may hide a passage until the next check, but cannot put words into a document.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from citewell.core.config import Chunking
from citewell.core.errors import EvidenceError, IndexMismatchError
from citewell.core.identity import chunk_id
from citewell.core.records import Chunk
from citewell.documents.chunking import Surroundings, chunk_document
from citewell.documents.evidence.catalogue import INDEXED

if TYPE_CHECKING:
    from citewell.documents.evidence.sqlite import SqliteEvidence

HINT = "move the folder `index` out of the home and ingest the documents again"
_KEPT = 64  # documents whose text is cached between questions
_MOST_CHARACTERS = 32 << 20  # of all of them together
_END = 1 << 40
_TOLD = 3  # documents that a finding lists


class IndexChecker:
    """Reads each document version from ``evidence`` once, checks its hash, and caches the most recent.
    Thread-safe."""

    def __init__(self, evidence: SqliteEvidence, settings: Chunking) -> None:
        self._evidence, self._settings = evidence, settings
        self._lock = threading.Lock()
        self._kept: OrderedDict[tuple[str, str], Surroundings] = OrderedDict()

    def hold(self, chunks: Iterable[Chunk], groups: Sequence[str] | None = None) -> list[Chunk]:
        """The chunks that the evidence lets a reader of these groups see, with the headings, units, title and
        date of the stored document: nothing in the index is trusted. Raises IndexMismatchError for a chunk
        that is not that stretch of its document, EvidenceError if the document cannot be read."""
        chunks = list(chunks)
        lists = self._evidence.access({chunk.document_id for chunk in chunks}) if groups is not None else {}
        held = []
        for chunk in chunks:
            stored = self._stored(chunk.document_version, chunk.document_id)
            if differs(chunk, stored.text):
                raise IndexMismatchError(
                    f"the index returned a passage of {chunk.document_id} [{chunk.start_offset}:"
                    f"{chunk.end_offset}] that the stored document does not contain",
                    hint=f"the index was changed after it was built: run `citewell audit check`, then {HINT}",
                )
            acl = lists.get(chunk.document_id)
            if groups is None or not acl or set(acl) & set(groups):
                held.append(stored.of(chunk))
        return held

    def _stored(self, version: str, document_id: str) -> Surroundings:
        key = (version, document_id)
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
                return self._kept[key]
        stored = Surroundings(self._evidence.get(version, document_id), self._settings)
        with self._lock:
            self._kept[key] = stored
            self._kept.move_to_end(key)
            while len(self._kept) > 1 and (
                len(self._kept) > _KEPT or sum(one.size for one in self._kept.values()) > _MOST_CHARACTERS
            ):
                self._kept.popitem(last=False)
        return stored


def differs(chunk: Chunk, text: str) -> bool:
    """Whether the chunk's words differ from those at its offsets in ``text``, or its id does not match."""
    start, end = chunk.start_offset, chunk.end_offset
    return (
        not 0 <= start < end <= len(text)
        or text[start:end] != chunk.content
        or chunk_id(chunk.document_version, start, end, chunk.content) != chunk.chunk_id
    )


def index_findings(
    index: Any, evidence: SqliteEvidence, settings: Chunking, vectors: Mapping[str, str]
) -> Iterator[str]:
    """How the published index differs from the evidence when every document is chunked again: words and
    context, titles, dates and access lists; and from ``vectors``, the sealed hashes of some documents'
    vectors. Yields nothing if they agree."""
    snapshot = index.snapshot()
    held = {listed.document_id for listed in snapshot.documents({})}
    entries = {entry.document_id: entry for entry in evidence.catalogue()}
    unknown = [name for name in held if name not in entries]
    yield from _told(unknown, "in the index but not in the evidence")
    withdrawn = [name for name in held if name in entries and entries[name].state != INDEXED]
    yield from _told(
        withdrawn, "in the index although withdrawn or not yet complete (ingest again to fix it)"
    )
    indexed = [name for name, entry in entries.items() if entry.state == INDEXED]
    yield from _told([name for name in indexed if name not in held], "missing from the index")
    other = [n for n in indexed if n in held and not _as_cut(n, snapshot, evidence, settings)]
    yield from _told(other, "differs between the index and the evidence")
    known = {name: vectors[name] for name in indexed if vectors.get(name) and name in held}
    found = snapshot.vector_hashes(known)
    moved = [name for name, sealed in known.items() if found.get(name) != sealed]
    yield from _told(moved, "its vectors in the index are not those that were sealed when it was ingested")


def _as_cut(document_id: str, snapshot: Any, evidence: SqliteEvidence, settings: Chunking) -> bool:
    try:
        document = evidence.latest(document_id)
    except EvidenceError:
        return False  # there is nothing to compare its rows with
    if document is None:
        return False
    found = snapshot.between(document_id, 0, _END)
    cut = sorted(chunk_document(document, settings), key=lambda chunk: chunk.start_offset)
    return list(map(_comparable, found)) == list(map(_comparable, cut))


def _comparable(chunk: Chunk) -> Chunk:
    """The chunk without its ingestion time, which the evidence sets, and with its lists sorted."""
    return msgspec.structs.replace(
        chunk, ingested_at="", acl=tuple(sorted(chunk.acl)), tags=tuple(sorted(chunk.tags))
    )


def _told(names: list[str], what: str) -> Iterator[str]:
    if names:
        more = f" and {len(names) - _TOLD} more" if len(names) > _TOLD else ""
        yield f"{', '.join(sorted(names)[:_TOLD])}{more}: {what}"
