"""Files -> the outcome of each: nothing to do, a failure, or its text in chunks, read a few files ahead.

In: paths, a parsing worker, and what is stored. Out: items in the order of the paths, the contents of a
container before the container. Knows nothing about models, and writes nothing.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Collection, Generator, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from functools import partial
from pathlib import Path

import msgspec

from citewell.core.config import Chunking
from citewell.core.errors import (
    CitewellError,
    DocumentError,
    EvidenceError,
    LimitError,
    OtherKindError,
    UnsupportedError,
    UsageError,
)
from citewell.core.records import Chunk, Document, Record
from citewell.documents.archives import MOST_FILES
from citewell.documents.detect import CONTAINERS, DATA
from citewell.documents.evidence.catalogue import WITHDRAWN, CatalogueEntry
from citewell.documents.evidence.sqlite import SqliteEvidence
from citewell.documents.files import FileFailure, SourceFile, hash_contents
from citewell.documents.index import LanceIndex
from citewell.documents.outcomes import ADDED, FAILED, GONE, SKIPPED, THREAD, UNCHANGED, UPDATED, FileOutcome
from citewell.documents.worker import ParsingWorker

_ITEMS_AHEAD = 4  # two documents, each after its path
_LOOKED_S = 0.5


class ParsedFile(Record, frozen=True, kw_only=True):
    path: str
    document: Document
    chunks: tuple[Chunk, ...]
    status: str


Item = Path | str | FileOutcome | ParsedFile
"""A file's path or address, then its outcome or what was read; ``Path()`` after the last."""


class Plan:
    """What was known before the run; decides what to do with each file."""

    def __init__(
        self,
        evidence: SqliteEvidence,
        index: LanceIndex,
        acl: tuple[str, ...],
        tags: tuple[str, ...],
        now: str,
        sees: Callable[[Iterable[str]], bool],
    ) -> None:
        self._evidence, self._sees = evidence, sees
        self.known = {entry.document_id: entry for entry in evidence.catalogue()}
        self.stored = index.stored()
        self._acl, self._tags, self._now = acl, tags, now
        self._inside: dict[str, list[str]] = {}
        self._packed: Counter[Path] = Counter()

    def skip(self, source: SourceFile, version: str, named: bool) -> FileOutcome | None:
        """The outcome of a file that needs nothing; ``named`` when its own path was given."""
        path, tags = str(source.path), self._tags or None
        return self.settled(path, source.document_id, version, self._acl, tags, restored=named)

    def settled(
        self,
        path: str,
        document_id: str,
        version: str,
        acl: tuple[str, ...],
        tags: tuple[str, ...] | None,
        *,
        restored: bool = False,
    ) -> FileOutcome | None:
        """The outcome of a document that needs nothing; its labels are kept where ``acl`` is () or ``tags``
        None. ``restored``: it is wanted even if it was withdrawn."""
        entry = self.known.get(document_id)
        if entry is None:
            return None
        if not self._sees(entry.acl):
            return failure(path, document_id, id_taken(document_id))
        if entry.state == WITHDRAWN:
            if restored or entry.reason == GONE:
                return None
            return _outcome(path, document_id, UNCHANGED, f"stays withdrawn ({entry.reason})")
        held = self.stored.get(document_id)
        same = entry.version == version and held is not None and held.version == version
        labels = tuple(tag for tag in entry.tags if not tag.startswith(THREAD))
        relabelled = (acl and acl != entry.acl) or (tags is not None and tags != labels)
        return _outcome(path, document_id, UNCHANGED) if same and not relabelled else None

    def kept(self, document_id: str, version: str) -> Document | None:
        """The version as first read: a stored text is never derived again; None if it is not stored."""
        if version in self._evidence.versions(document_id):
            return self._evidence.get(version, document_id)
        return None

    def complete(self, document: Document, source: SourceFile) -> Document:
        """The document as it will be stored: where it came from, who may see it, when."""
        entry = self.known.get(document.document_id)
        threads = (tag for tag in document.tags if tag.startswith(THREAD))
        return msgspec.structs.replace(
            document,
            uri=source.uri,
            acl=self._acl or (entry.acl if entry else document.acl),
            tags=tuple(dict.fromkeys((*(self._tags or (entry.tags if entry else document.tags)), *threads))),
            ingested_at=document.ingested_at or self._now,
        )

    def holds(self, source: SourceFile, inside: list[SourceFile]) -> None:
        """Records that ``source`` was read and that ``inside`` is all it contains. Raises LimitError for too
        many files in one, through all its levels: each level multiplies those of the one around it."""
        self._packed[source.place] += len(inside)
        if self._packed[source.place] > MOST_FILES:
            told = f"with this one, the file contains more than {MOST_FILES:,} files at all levels"
            raise LimitError(told, hint="unpack it and ingest the folder")
        self._inside[source.document_id] = [part.document_id for part in inside]

    def no_longer_inside(self, entries: Iterable[CatalogueEntry]) -> list[CatalogueEntry]:
        """Those of ``entries`` whose containing file no longer holds them."""
        return [entry for entry in entries if entry.state != WITHDRAWN and self._left(entry)]

    def _left(self, entry: CatalogueEntry) -> bool:
        whole = f"{entry.document_id}/"
        places = (at for at, char in enumerate(entry.document_id) if char == "/" and "#" in entry.uri)
        held = (self._inside.get(entry.document_id[:at]) for at in places)
        return any(not whole.startswith(tuple(f"{i}/" for i in ids)) for ids in held if ids is not None)


def read_all(
    found: Sequence[SourceFile | FileFailure],
    named: Collection[Path],
    worker: ParsingWorker,
    chunking: Chunking,
    plan: Plan,
) -> Iterator[Item]:
    """Each file's path, followed by its outcome."""
    for source in found:
        yield source.path
        if isinstance(source, FileFailure):
            failed = failure(str(source.path), "", source.error)
            yield msgspec.structs.replace(failed, status=SKIPPED) if source.skipped else failed
        else:
            yield from _read(source, source.place in named, worker, chunking, plan)
    yield Path()


def _read(
    source: SourceFile, named: bool, worker: ParsingWorker, chunking: Chunking, plan: Plan
) -> Iterator[FileOutcome | ParsedFile]:
    """The file, or part of one, after everything inside it; ``named``: the file's own path was given."""
    # It was itself asked for, or it already was a document.
    asked = (named and not source.part) or source.document_id in plan.known
    try:
        kept = None
        if source.fetch is not None:
            source = source.fetch(source)
        if not source.part:
            most = worker.limits.max_file_mb << 20
            version = hash_contents(source.place, max_bytes=most, root=source.root)
            if (outcome := plan.skip(source, version, named)) is not None:
                yield outcome
                return
            kept = plan.kept(source.document_id, version)
        known = None if kept is None or kept.media_type in CONTAINERS else kept
        ask = partial(
            worker.open, source.place, document_id=source.document_id, root=source.root, chunking=chunking
        )
        reply = ask(part=source.part, known=known)
        document, chunks = reply.document, reply.chunks
        if document is not None and source.part:
            if (outcome := plan.skip(source, document.version, named)) is not None:
                yield outcome
                return
            kept = plan.kept(source.document_id, document.version)
        if kept is not None and known is None:  # its stored text, which may differ, is not derived again
            document, chunks = kept, ask(known=kept).chunks
        if document is not None and document.media_type in DATA and not (named or asked):
            what = "the file that contains it" if source.part else "the file"
            hint = f"name {what} to ingest it"
            yield _outcome(str(source.path), source.document_id, SKIPPED, "it is a data file", hint)
            return
        inside = [source.inside(place, name) for place, name in enumerate(reply.inside)]
        plan.holds(source, inside)
    except (DocumentError, EvidenceError) as error:  # the latter if its version was erased or damaged
        # An attachment or a packed file need not be a document.
        other = (OtherKindError, UnsupportedError) if source.part else OtherKindError
        if isinstance(error, other) and not asked:
            yield _outcome(str(source.path), source.document_id, SKIPPED, error.args[0], error.hint)
        else:
            yield failure(str(source.path), source.document_id, error)
        return
    for part in inside:
        yield from _read(part, named, worker, chunking, plan)
    if document is not None:
        document = plan.complete(document, source)
        # What is decided here and not by the file: who may see it, its tags, when it was ingested.
        labels = {"acl": document.acl, "tags": document.tags, "ingested_at": document.ingested_at}
        yield ParsedFile(
            path=str(source.path),
            document=document,
            chunks=tuple(msgspec.structs.replace(chunk, **labels) for chunk in chunks),
            # An interrupted run may have stored it; it counts as added in the run that makes it searchable.
            status=UPDATED if source.document_id in plan.stored else ADDED,
        )


def ahead(
    items: Iterator[Item], stop: Callable[[], None], must_go_on: Callable[[], None]
) -> Generator[Item, None, None]:
    """``items``, produced in a separate thread, a few ahead of the consumer. Closing it early calls ``stop``,
    which must end the current read."""

    def following() -> Item | None:
        return next(items, None)

    with ThreadPoolExecutor(1, "citewell-reading") as pool:
        coming = deque(pool.submit(following) for _ in range(_ITEMS_AHEAD))
        try:
            while True:
                while not wait(list(coming)[:1], _LOOKED_S).done:
                    must_go_on()
                if (item := coming.popleft().result()) is None:
                    return
                coming.append(pool.submit(following))
                yield item
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            stop()
            raise


def _outcome(path: str, document_id: str, status: str, message: str = "", hint: str = "") -> FileOutcome:
    return FileOutcome(path=path, document_id=document_id, status=status, message=message, hint=hint)


def id_taken(document_id: str) -> UsageError:
    return UsageError(f"the id {document_id!r} is not available", hint="choose another id with --id")


def failure(path: str, document_id: str, error: CitewellError) -> FileOutcome:
    return _outcome(path, document_id, FAILED, error.args[0], error.hint)
