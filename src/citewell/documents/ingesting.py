"""Files -> evidence -> chunks -> index: adds new and changed files, withdraws deleted ones.

In: paths, a parsing worker, an evidence store and an index. Out: one outcome per file and a published
index version. Parsing and chunking run ahead, in the worker's process, while chunks are embedded, at
most a few documents ahead, so memory does not grow with the number of files. The order of writing
(evidence, then chunks, then the mark that both are there) makes every interruption resumable: the next
run finds what is stored and goes on. Knows nothing about formats or models.
"""

from __future__ import annotations

import contextlib
import os
import queue
import threading
import time
from collections.abc import Callable, Collection, Generator, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import unquote_to_bytes

import msgspec

from citewell.core.clock import SystemClock, stamp
from citewell.core.config import Chunking
from citewell.core.errors import (
    AbandonedError,
    CitewellError,
    DocumentError,
    EvidenceError,
    LimitError,
    OtherKindError,
    UsageError,
)
from citewell.core.ports import Clock
from citewell.core.records import Chunk, Document, Record
from citewell.documents.detect import DATA
from citewell.documents.evidence.catalogue import STORED, WITHDRAWN, CatalogueEntry, absent
from citewell.documents.evidence.sqlite import SqliteEvidence
from citewell.documents.files import FileFailure, SourceFile, hash_of, is_gone, place_of, walk
from citewell.documents.index import ChunkIndex
from citewell.documents.supersession import give, settle
from citewell.documents.worker import ParsingWorker

ADDED, UPDATED, UNCHANGED, SKIPPED, FAILED = "added", "updated", "unchanged", "skipped", "failed"
GONE = "its file was deleted"

# Chunks between two commits: what an interruption loses at most, and what one commit costs spread over.
_COMMIT_CHUNKS = 512
_EMBED_CHUNKS = 64
_DOCUMENTS_AHEAD = 2
_LOOKED_S = 0.5


class FileOutcome(Record, frozen=True, kw_only=True):
    """The outcome for one file. ``message`` and ``hint`` say why it failed and what to do or, for a skipped
    file, what it is: a kind that Citewell does not read. ``incomplete``: pages of which text is missing."""

    path: str
    document_id: str
    status: str
    message: str = ""
    hint: str = ""
    pages: int = 0
    chunks: int = 0
    incomplete: tuple[int, ...] = ()


class IngestReport(Record, frozen=True, kw_only=True):
    """``files`` in the order they were done with: one left alone, skipped or failed when it was met, one that
    was read when its chunks were written; withdrawn ones last. ``notes``: statements of new documents that
    something is superseded, where nothing here is what they name."""

    files: tuple[FileOutcome, ...]
    index_version: str
    notes: tuple[str, ...] = ()

    @property
    def failed(self) -> tuple[FileOutcome, ...]:
        return tuple(outcome for outcome in self.files if outcome.status == FAILED)

    @property
    def skipped(self) -> tuple[FileOutcome, ...]:
        return tuple(outcome for outcome in self.files if outcome.status == SKIPPED)


Progress = Callable[[int, int, int, int], None]
"""Called with the files done, the total number of files, the pages read and the chunks embedded so far."""


def ingest(
    paths: Sequence[Path],
    *,
    worker: ParsingWorker,
    evidence: SqliteEvidence,
    index: ChunkIndex,
    chunking: Chunking,
    acl: Sequence[str] = (),
    tags: Sequence[str] = (),
    document_id: str | None = None,
    supersedes: Sequence[str] = (),
    progress: Progress | None = None,
    clock: Clock | None = None,
    sees: Callable[[Iterable[str]], bool] = lambda acl: True,
    gone: Callable[[], str] = lambda: "",
) -> IngestReport:
    """Brings evidence and index up to date with the files under ``paths`` and publishes the index.

    A file whose bytes are known is left alone; one that cannot be read is reported and the rest goes on.
    Files in a folder that are not documents (pictures, archives, JSON) are skipped; one named by its own path
    is read or reported like any file. ``acl`` and ``tags`` replace a known document's; empty, they leave them
    as they are, so that ingesting again never opens what was closed. A document whose file is gone from an
    ingested folder, or from the path that is given, is withdrawn; one in a folder that cannot be read stays.
    ``supersedes`` are ids of documents that the one file given replaces. ``sees`` says whether the caller may
    see documents with an access list: others are neither replaced nor withdrawn. Interrupted from the
    keyboard, or once ``gone`` says why nobody waits for it any more (AbandonedError), it publishes what is
    complete. Raises UsageError when another ingest is writing.

    The worker's limit of time is for reading and cutting a file, and again for each _COMMIT_CHUNKS begun of
    its chunks to be embedded.
    """
    with index.writer():
        plan = _Plan(evidence, index, tuple(acl), tuple(tags), stamp(clock or SystemClock()), sees)
        found, places = list(walk(paths, document_id=document_id)), {place_of(path) for path in paths}
        _refuse(supersedes, found)
        writing = _Writing(evidence, index, len(found), progress, worker.limits.timeout_s, gone)
        read = _ahead(_read_all(found, places, worker, chunking, plan), worker, writing.must_go_on)
        try:
            writing.tell()
            with contextlib.closing(read):
                for item in read:
                    writing.take(item)
        except (KeyboardInterrupt, AbandonedError):
            # Whoever stops halfway can ask what was read so far; the next run goes on from there.
            writing.commit()
            _reconcile(evidence, index)
            settle(evidence)
            index.publish()
            raise
        writing.commit()
        entries = [entry for entry in evidence.catalogue() if sees(entry.acl)]
        deleted = _gone(places, found, entries)
        index.remove([entry.document_id for entry in deleted])
        for entry in deleted:
            evidence.withdraw(entry.document_id, GONE)
        outcomes = _with_gone(writing.outcomes, deleted)
        _reconcile(evidence, index)
        for outcome in outcomes if supersedes else ():
            if outcome.status in (ADDED, UPDATED, UNCHANGED):
                give(evidence, outcome.document_id, supersedes)
        fresh = {one.document_id for one in outcomes if one.status in (ADDED, UPDATED)}
        notes = tuple(f"{by}: {note}" for by, note in settle(evidence) if by in fresh)
        return IngestReport(files=tuple(outcomes), index_version=index.publish(), notes=notes)


def _refuse(supersedes: Sequence[str], found: Sequence[SourceFile | FileFailure]) -> None:
    if supersedes and len(found) != 1:
        raise UsageError(
            f"{len(found)} files cannot supersede {', '.join(supersedes)}", hint="name the one file that does"
        )


def _reconcile(evidence: SqliteEvidence, index: ChunkIndex) -> None:
    """Brings the stores in line after an interruption: chunks were added or a document was withdrawn."""
    stored = index.stored()
    entries = evidence.catalogue()
    for entry in entries:
        held = stored.get(entry.document_id)
        if held is None or held.version != entry.version:
            continue
        if entry.state == STORED:
            evidence.mark_indexed(entry.document_id, entry.version)
        if (held.acl, held.tags) != (entry.acl, entry.tags):
            index.relabel(entry.document_id, entry.acl, entry.tags)
    index.remove(set(stored) - {entry.document_id for entry in entries if entry.state != WITHDRAWN})


def withdraw(document_id: str, *, evidence: SqliteEvidence, index: ChunkIndex, reason: str) -> str:
    """Keeps the document as evidence and no longer retrieves it; returns the new index version's name.

    It stays withdrawn when its folder is ingested again; ingesting the file by its own path, under the
    same id, restores it.
    Raises EvidenceError when no such document is stored, UsageError when an ingest is writing.
    """
    with index.writer():
        evidence.withdraw(document_id, reason)
        index.remove([document_id])
        settle(evidence)
        return index.publish()


def share(document_id: str, acl: Sequence[str], *, evidence: SqliteEvidence, index: ChunkIndex) -> str:
    """Replaces who may see the document; the new index version's name. Nothing is read or embedded again.

    Retrieval changes first: after an interruption it already follows the new list, and the next ingest brings
    it back in line with the evidence. Raises EvidenceError when no such document is stored, UsageError when
    an ingest is writing.
    """
    with index.writer():
        latest = evidence.latest(document_id)
        if latest is None:
            raise absent("(any version)", document_id)
        index.relabel(document_id, acl, latest.tags)
        version = index.publish()
        evidence.share(document_id, acl)
        return version


class _Parsed(Record, frozen=True, kw_only=True):
    path: str
    document: Document
    chunks: tuple[Chunk, ...]
    status: str


class _Plan:
    """What was known before the run; decides what to do with each file."""

    def __init__(
        self,
        evidence: SqliteEvidence,
        index: ChunkIndex,
        acl: tuple[str, ...],
        tags: tuple[str, ...],
        now: str,
        sees: Callable[[Iterable[str]], bool],
    ) -> None:
        self._evidence, self._sees = evidence, sees
        self._known = {entry.document_id: entry for entry in evidence.catalogue()}
        self._stored = index.stored()
        self._acl, self._tags, self._now = acl, tags, now

    def skip(self, source: SourceFile, version: str, named: bool) -> FileOutcome | None:
        """The outcome of a file that needs nothing; ``named`` when its own path was given."""
        entry = self._known.get(source.document_id)
        if entry is None:
            return None
        if not self._sees(entry.acl):
            return _failed(str(source.path), source.document_id, _taken(source.document_id))
        if entry.state == WITHDRAWN:
            if named or entry.reason == GONE:
                return None
            return _outcome(source, UNCHANGED, f"stays withdrawn ({entry.reason})")
        held = self._stored.get(source.document_id)
        same = entry.version == version and held is not None and held.version == version
        relabelled = (self._acl and self._acl != entry.acl) or (self._tags and self._tags != entry.tags)
        return _outcome(source, UNCHANGED) if same and not relabelled else None

    def is_document(self, source: SourceFile, named: bool) -> bool:
        """Whether it counts as a document: its path was given, or it was one before."""
        return named or source.document_id in self._known

    def kept(self, source: SourceFile, version: str) -> Document | None:
        """The version as it was read once: a text that is stored is never derived again."""
        if version in self._evidence.versions(source.document_id):
            return self._evidence.get(version, source.document_id)
        return None

    def complete(self, document: Document, source: SourceFile) -> Document:
        """The document as it will be stored: where it came from, who may see it, when."""
        entry = self._known.get(document.document_id)
        return msgspec.structs.replace(
            document,
            uri=source.place.as_uri(),
            acl=self._acl or (entry.acl if entry else document.acl),
            tags=self._tags or (entry.tags if entry else document.tags),
            ingested_at=document.ingested_at or self._now,
        )

    def status(self, document_id: str) -> str:
        """An interrupted run may have stored it; it counts as added by the run that makes it searchable."""
        return UPDATED if document_id in self._stored else ADDED


class _Writing:
    """Takes what was read, in order: evidence once it is embedded, chunks in batches of whole documents."""

    def __init__(
        self,
        evidence: SqliteEvidence,
        index: ChunkIndex,
        files: int,
        progress: Progress | None,
        timeout_s: float,
        gone: Callable[[], str],
    ) -> None:
        self._evidence, self._index, self._progress = evidence, index, progress
        self._timeout_s, self._gone = timeout_s, gone
        self._waiting: list[tuple[_Parsed, list[Any]]] = []
        self._rows = 0
        self._all_files = files
        self._files = self._pages = self._chunks = 0
        self.outcomes: list[FileOutcome] = []

    def take(self, item: FileOutcome | _Parsed) -> None:
        if isinstance(item, FileOutcome):
            self.outcomes.append(item)
        else:
            try:
                tables = self._encoded(item)
            except (UsageError, LimitError) as error:
                # A text of which the embedder can make nothing, or not in time, is that file's failure, not
                # the run's: what is stored and found stays as it was.
                failed = _failed(item.path, item.document.document_id, error)
                if item.status == UPDATED:
                    kept = f"{failed.message}; the previous version stays searchable"
                    failed = msgspec.structs.replace(failed, message=kept)
                self.outcomes.append(failed)
            else:
                self._evidence.put(item.document)
                self._pages += len(item.document.pages)
                self._waiting.append((item, tables))
                self._rows += len(item.chunks)
            if self._rows >= _COMMIT_CHUNKS:
                self.commit()
        self._files += 1
        self.tell()

    def _encoded(self, item: _Parsed) -> list[Any]:
        tables = []
        limit = self._timeout_s * (1 + len(item.chunks) // _COMMIT_CHUNKS)
        ends = time.monotonic() + limit
        for start in range(0, len(item.chunks), _EMBED_CHUNKS):
            self.must_go_on()
            if time.monotonic() > ends:
                raise LimitError(
                    f"embedding its {len(item.chunks)} chunks takes longer than {limit:g} s",
                    hint="split it, or raise documents.timeout_s",
                )
            batch = item.chunks[start : start + _EMBED_CHUNKS]
            tables.append(self._index.encode(batch))
            self._chunks += len(batch)
            self.tell()
        return tables

    def commit(self) -> None:
        import pyarrow as pa

        tables = [table for _, parts in self._waiting for table in parts]
        if tables:
            self._index.write(pa.concat_tables(tables))
        for item, _ in self._waiting:
            document = item.document
            self._evidence.mark_indexed(document.document_id, document.version)
            self.outcomes.append(
                FileOutcome(
                    path=item.path,
                    document_id=document.document_id,
                    status=item.status,
                    message="; ".join(document.notes),
                    pages=len(document.pages),
                    chunks=len(item.chunks),
                    incomplete=document.incomplete,
                )
            )
        self._waiting, self._rows = [], 0

    def must_go_on(self) -> None:
        if reason := self._gone():
            raise AbandonedError(f"the ingest was ended: {reason}")

    def tell(self) -> None:
        if self._progress is not None:
            self._progress(self._files, self._all_files, self._pages, self._chunks)


def _read_all(
    found: Sequence[SourceFile | FileFailure],
    named: Collection[Path],
    worker: ParsingWorker,
    chunking: Chunking,
    plan: _Plan,
) -> Iterator[FileOutcome | _Parsed]:
    for source in found:
        if isinstance(source, FileFailure):
            failed = _failed(str(source.path), "", source.error)
            yield msgspec.structs.replace(failed, status=SKIPPED) if source.skipped else failed
            continue
        is_named = source.place in named
        try:
            version = hash_of(source.path, max_bytes=worker.limits.max_file_mb << 20)
            skipped = plan.skip(source, version, is_named)
            if skipped is not None:
                yield skipped
                continue
            document, chunks = worker.cut(
                source.path,
                document_id=source.document_id,
                chunking=chunking,
                known=plan.kept(source, version),
            )
            if document.media_type in DATA and not plan.is_document(source, is_named):
                yield _outcome(source, SKIPPED, "it is a data file", "name the file to ingest it as text")
                continue
        except OtherKindError as error:
            if plan.is_document(source, is_named):
                yield _failed(str(source.path), source.document_id, error)
            else:
                yield _outcome(source, SKIPPED, error.args[0], error.hint)
            continue
        except (DocumentError, EvidenceError) as error:  # or its version was erased, or damaged in the store
            yield _failed(str(source.path), source.document_id, error)
            continue
        document = plan.complete(document, source)
        yield _Parsed(
            path=str(source.path),
            document=document,
            chunks=tuple(_labelled(chunk, document) for chunk in chunks),
            status=plan.status(source.document_id),
        )


def _labelled(chunk: Chunk, document: Document) -> Chunk:
    """With what is decided here and not by the file: who may see it, when it came."""
    labels = {"acl": document.acl, "tags": document.tags, "ingested_at": document.ingested_at}
    return msgspec.structs.replace(chunk, **labels)


def _ahead(
    items: Iterator[FileOutcome | _Parsed], worker: ParsingWorker, must_go_on: Callable[[], None]
) -> Generator[FileOutcome | _Parsed, None, None]:
    """``items``, made in a thread of their own, a few ahead of the consumer. Closed before its end, it ends
    what is being read."""
    waiting: queue.Queue[FileOutcome | _Parsed | BaseException | None] = queue.Queue(_DOCUMENTS_AHEAD)
    stopped = threading.Event()

    def put(item: FileOutcome | _Parsed | BaseException | None) -> None:
        while not stopped.is_set():
            with contextlib.suppress(queue.Full):
                waiting.put(item, timeout=0.1)
                return

    def make() -> None:
        try:
            for item in items:
                put(item)
                if stopped.is_set():
                    return
        except BaseException as error:  # noqa: BLE001 - raised again where the items are taken
            put(error)
        else:
            put(None)

    thread = threading.Thread(target=make, name="citewell-reading", daemon=True)
    thread.start()
    try:
        while True:
            try:
                item = waiting.get(timeout=_LOOKED_S)
            except queue.Empty:
                must_go_on()
                continue
            if item is None:
                return
            if isinstance(item, BaseException):
                raise item
            yield item
    except BaseException:
        stopped.set()
        worker.kill()
        raise
    finally:
        stopped.set()
        thread.join()


def _gone(
    places: set[Path], found: Sequence[SourceFile | FileFailure], entries: Iterable[CatalogueEntry]
) -> list[CatalogueEntry]:
    """Of ``entries`` those of the ingested ``places`` whose file is no longer there (not: cannot be read)."""
    met = {source.document_id for source in found if isinstance(source, SourceFile)}
    unseen = {source.place for source in found if isinstance(source, FileFailure) and source.unseen}
    gone = []
    for entry in entries:
        file = _file_of(entry)
        if file is None or entry.state == WITHDRAWN or entry.document_id in met:
            continue
        ingested = not places.isdisjoint((file, *file.parents))
        if ingested and unseen.isdisjoint(file.parents) and is_gone(file):
            gone.append(entry)
    return gone


def _with_gone(outcomes: Iterable[FileOutcome], gone: Sequence[CatalogueEntry]) -> list[FileOutcome]:
    """``outcomes`` and the withdrawn ones, which replace the failures for named paths that no longer
    exist."""
    files = {_file_of(entry) for entry in gone}
    kept = [one for one in outcomes if one.status != FAILED or place_of(Path(one.path)) not in files]
    return kept + [
        FileOutcome(path=entry.uri, document_id=entry.document_id, status=WITHDRAWN, message=GONE)
        for entry in gone
    ]


def _file_of(entry: CatalogueEntry) -> Path | None:
    """Where the document was read from, byte for byte: a name need not be text."""
    if not entry.uri.startswith("file:///"):
        return None
    return Path(os.fsdecode(unquote_to_bytes(entry.uri.removeprefix("file://"))))


def _outcome(source: SourceFile, status: str, message: str = "", hint: str = "") -> FileOutcome:
    return FileOutcome(
        path=str(source.path), document_id=source.document_id, status=status, message=message, hint=hint
    )


def _taken(document_id: str) -> UsageError:
    return UsageError(f"the id {document_id!r} is not available", hint="choose another id with --id")


def _failed(path: str, document_id: str, error: CitewellError) -> FileOutcome:
    return FileOutcome(
        path=path, document_id=document_id, status=FAILED, message=error.args[0], hint=error.hint
    )
