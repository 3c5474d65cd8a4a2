"""Files -> evidence -> chunks -> index: adds new and changed files, withdraws deleted ones.

In: paths, a parsing worker, an evidence store and an index. Out: one outcome per file and a published
index version. Parsing and chunking run in the worker's process while chunks are embedded, at most a few
documents ahead, so memory does not grow with the number of files. The order of writing (evidence, then
chunks, then the mark that both are there) makes every interruption resumable: the next run finds what is
stored and continues. Knows nothing about formats or models.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable, Generator, Iterable, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import unquote_to_bytes

import msgspec

from citewell.core.addresses import is_address
from citewell.core.config import Chunking
from citewell.core.environment import SystemClock, stamp
from citewell.core.errors import AbandonedError, LimitError, UsageError
from citewell.core.ports import Clock
from citewell.documents.evidence.catalogue import STORED, WITHDRAWN, CatalogueEntry, missing_version
from citewell.documents.evidence.sqlite import SqliteEvidence
from citewell.documents.files import FileFailure, SourceFile, is_gone, walk
from citewell.documents.index import LanceIndex
from citewell.documents.intake import Item, ParsedFile, Plan, ahead, failure, read_all
from citewell.documents.outcomes import (
    ADDED,
    FAILED,
    GONE,
    UPDATED,
    FileOutcome,
    IngestProgress,
    IngestReport,
    Progress,
)
from citewell.documents.remote import Remote, place_of
from citewell.documents.supersession import declare_replacement, settle
from citewell.documents.worker import ParsingWorker

# Chunks between commits: the most that an interruption loses, and what the cost of a commit is spread over.
_COMMIT_CHUNKS = 512
_EMBED_CHUNKS = 64


def ingest(
    paths: Sequence[Path | str],
    *,
    worker: ParsingWorker,
    evidence: SqliteEvidence,
    index: LanceIndex,
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
    """Brings evidence and index up to date with the files under ``paths`` and publishes the index. A path
    that is an address (:func:`citewell.core.addresses.is_address`) is fetched, file by file.

    A file whose bytes are known is left alone; one that cannot be read is reported and the rest continue.
    Files in a folder that are not documents (images, JSON) are skipped; one named by its own path is read
    or reported like any file, and so is JSON inside it. A mail attachment or a file in a ZIP archive is a
    separate document, ``mail.eml/offer.pdf``, and is finished before its container: an interrupted run loses
    none of it.
    ``acl`` and ``tags`` replace a known document's; if empty, they leave them unchanged, so that ingesting
    again never opens what was closed. A document whose file is gone from an ingested folder, or from the
    given path, is withdrawn; one in a folder that cannot be read stays. ``supersedes`` are ids of documents
    that the single given file replaces. ``sees`` says whether the caller may see documents with an access
    list: others are neither replaced nor withdrawn. When interrupted from the keyboard, or once ``gone``
    returns why nobody waits for it any more (AbandonedError), it publishes what is complete. Raises
    UsageError if another ingest is writing.

    The worker's time limit applies to reading and cutting a file, and again to embedding each group of up to
    _COMMIT_CHUNKS of its chunks.
    """
    with index.writer(), Remote(worker.limits) as remote:
        plan = Plan(evidence, index, tuple(acl), tuple(tags), stamp(clock or SystemClock()), sees)
        found = list(walk(paths, document_id=document_id, remote=remote.under))
        places = {place_of(path) for path in paths}
        if supersedes and len(found) != 1:
            hint = "name the one file that does"
            raise UsageError(f"{len(found)} files cannot supersede {', '.join(supersedes)}", hint=hint)
        writing = Writing(evidence, index, found, progress, worker.limits.timeout_s, gone)

        def stop() -> None:
            worker.kill()
            remote.stop()

        read = ahead(read_all(found, places, worker, chunking, plan), stop, writing.must_go_on)
        by = found[0].document_id if supersedes and isinstance(found[0], SourceFile) else ""
        return writing.all_of(
            read,
            lambda entries: [*_gone(places, found, entries, remote), *plan.no_longer_inside(entries)],
            sees,
            given=(by, tuple(supersedes)) if by else None,
        )


def _reconcile(evidence: SqliteEvidence, index: LanceIndex) -> None:
    """Brings the stores in line after an interruption while chunks were added or a document withdrawn."""
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


def withdraw(document_id: str, *, evidence: SqliteEvidence, index: LanceIndex, reason: str) -> str:
    """Keeps the document as evidence but no longer retrieves it; returns the new index version's name.

    It stays withdrawn when its folder is ingested again; ingesting the file by its own path, under the
    same id, restores it.
    Raises EvidenceError if no such document is stored, UsageError if an ingest is writing.
    """
    with index.writer():
        evidence.withdraw(document_id, reason)
        index.remove([document_id])
        settle(evidence)
        return index.publish()


def share(document_id: str, acl: Sequence[str], *, evidence: SqliteEvidence, index: LanceIndex) -> str:
    """Replaces a document's access list, without reading or embedding; returns the new index version's name.

    Retrieval changes first: after an interruption it already follows the new list, and the next ingest brings
    it back in line with the evidence. Raises EvidenceError if no such document is stored, UsageError if an
    ingest is writing.
    """
    with index.writer():
        latest = evidence.latest(document_id)
        if latest is None:
            raise missing_version("(any version)", document_id)
        index.relabel(document_id, acl, latest.tags)
        version = index.publish()
        evidence.share(document_id, acl)
        return version


class Writing:
    """Writes what was read, in order: evidence once it is embedded, chunks in batches of whole documents."""

    def __init__(
        self,
        evidence: SqliteEvidence,
        index: LanceIndex,
        found: Sequence[SourceFile | FileFailure],
        progress: Progress | None,
        timeout_s: float,
        gone: Callable[[], str],
    ) -> None:
        self._evidence, self._index, self._progress = evidence, index, progress
        self._timeout_s, self._gone = timeout_s, gone
        self._waiting: list[tuple[ParsedFile, list[Any]]] = []
        self._rows = self._pages = self._chunks = 0
        self._sizes = [_size(one.path) for one in found]
        self._files = -1  # done before the one being read
        self._began, self._done, self._path = time.monotonic(), 0, ""
        self._worked = False
        self.outcomes: list[FileOutcome] = []

    def all_of(
        self,
        read: Generator[Item, None, None],
        gone: Callable[[list[CatalogueEntry]], list[CatalogueEntry]],
        sees: Callable[[Iterable[str]], bool],
        given: tuple[str, tuple[str, ...]] | None = None,
    ) -> IngestReport:
        """Writes what is ``read``, withdraws what is ``gone`` among what the caller sees, and publishes; the
        caller must hold the index's writer. ``given``: a document, and those that it supersedes by hand."""
        evidence, index = self._evidence, self._index
        stopped: BaseException | None = None
        try:
            with contextlib.closing(read):
                for item in read:
                    self.take(item)
        except (KeyboardInterrupt, AbandonedError) as error:
            stopped = error  # what was read so far is searchable; the next run continues from there
        self.commit()
        deleted = [] if stopped else gone([entry for entry in evidence.catalogue() if sees(entry.acl)])
        index.remove([entry.document_id for entry in deleted])
        for entry in deleted:
            evidence.withdraw(entry.document_id, GONE)
        outcomes = _with_gone(self.outcomes, deleted)
        _reconcile(evidence, index)
        if given is not None and not stopped:
            declare_replacement(evidence, *given)
        fresh = {one.document_id for one in outcomes if one.status in (ADDED, UPDATED)}
        notes = tuple(f"{by}: {note}" for by, note in settle(evidence) if by in fresh)
        report = IngestReport(files=tuple(outcomes), index_version=index.publish(), notes=notes)
        if stopped:
            raise stopped
        return report

    def take(self, item: Item) -> None:
        if isinstance(item, Path | str):
            # Files that were left alone took no time and say nothing about the rate.
            self._done += self._sizes[self._files] if self._worked else 0
            self._files, self._path, self._worked = self._files + 1, str(item), False
        elif isinstance(item, FileOutcome):
            self._worked = self._worked or item.status == FAILED
            self.outcomes.append(item)
        else:
            self._worked, self._path = True, item.path
            try:
                tables = self._encoded(item)
            except (UsageError, LimitError) as error:
                # A text that the embedder cannot process, or not in time, is that file's failure, not the
                # run's: what is stored and indexed stays as it was.
                failed = failure(item.path, item.document.document_id, error)
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
        self.tell()

    def _encoded(self, item: ParsedFile) -> list[Any]:
        tables = []
        limit = self._timeout_s * (1 + len(item.chunks) // _COMMIT_CHUNKS)
        ends = time.monotonic() + limit
        for start in range(0, len(item.chunks), _EMBED_CHUNKS):
            self.must_go_on()
            if time.monotonic() > ends:
                told = f"embedding its {len(item.chunks)} chunks takes longer than {limit:g} s"
                raise LimitError(told, hint="split it, or raise documents.timeout_s")
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
            raise AbandonedError(f"the ingest was stopped: {reason}")

    def tell(self) -> None:
        if self._progress is None:
            return
        elapsed, left = time.monotonic() - self._began, sum(self._sizes[max(0, self._files) :])
        self._progress(
            IngestProgress(
                path=self._path,
                files=max(0, self._files),
                of=len(self._sizes),
                pages=self._pages,
                chunks=self._chunks,
                elapsed_s=elapsed,
                left_s=elapsed * left / self._done if self._done else None,
            )
        )


def _gone(
    places: set[Path],
    found: Sequence[SourceFile | FileFailure],
    entries: Iterable[CatalogueEntry],
    remote: Remote,
) -> list[CatalogueEntry]:
    """The ``entries`` under the ingested ``places`` whose file is gone, not merely unreadable."""
    met = {
        one.document_id for one in found if isinstance(one, SourceFile) and one.remote not in remote.missing
    }
    unseen = {source.place for source in found if isinstance(source, FileFailure) and source.unseen}
    gone = []
    for entry in entries:
        file = _file_of(entry)
        if file is None or entry.state == WITHDRAWN or entry.document_id in met:
            continue
        ingested = not places.isdisjoint((file, *file.parents))
        if not ingested or not unseen.isdisjoint(file.parents):
            continue
        if is_gone(file) if file.is_absolute() else remote.is_gone(entry.uri.partition("#")[0]):
            gone.append(entry)
    return gone


def _with_gone(outcomes: Iterable[FileOutcome], gone: Sequence[CatalogueEntry]) -> list[FileOutcome]:
    """``outcomes`` plus the withdrawals, which replace the failures of named paths that no longer exist."""
    files = {_file_of(entry) for entry in gone}
    kept = [one for one in outcomes if one.status != FAILED or place_of(one.path) not in files]
    return kept + [
        FileOutcome(path=entry.uri, document_id=entry.document_id, status=WITHDRAWN, message=GONE)
        for entry in gone
    ]


def _file_of(entry: CatalogueEntry) -> Path | None:
    """The file that the entry was read from, or from inside; byte for byte, as a name need not be text. An
    address is a relative path here, and a file of this machine never is."""
    if not entry.uri.startswith("file:///"):
        return Path(entry.uri.partition("#")[0]) if is_address(entry.uri) else None
    return Path(os.fsdecode(unquote_to_bytes(entry.uri.removeprefix("file://").partition("#")[0])))


def _size(path: Path | str) -> int:
    """The size in bytes, at least 1; 1 if it is unknown."""
    with contextlib.suppress(OSError):
        return max(1, os.stat(path).st_size)
    return 1
