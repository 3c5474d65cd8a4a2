"""The chunk index on LanceDB: one table, three dense views and BM25, every write an atomic version.

In: chunks of whole documents, embedded here. Out: a published version, named by a string that audit
records store, and snapshots of any version still kept. Publishing moves a tag to a version of the table:
readers see no intermediate state, and after a crash the last publication remains. Knows nothing about
files, fusion or what a question means.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import secrets
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from pathlib import Path
from typing import Any

from citewell.core.errors import CitewellError, IndexMismatchError, UsageError
from citewell.core.files import make_folder
from citewell.core.ports import Embedder
from citewell.core.records import Chunk, Record
from citewell.documents.index.snapshot import (
    VIEWS,
    VIEWS_VERSION,
    Snapshot,
    list_of,
    one_of,
    row_schema,
    table_of,
)

TABLE = "chunks"
FORMAT = "1"
_PUBLISHED, _PREVIOUS, _PINNED = "published", "previous", "record-"
# Compaction rewrites the table, which doubles what pinned versions hold: only when scans suffer.
_MANY_FRAGMENTS = 24
_SPOKEN = {"settings": "the hash of the [chunking] settings"}
_INDEX_CACHE, _METADATA_CACHE = 64 << 20, 8 << 20
# By default the store reads so far ahead that compaction takes more memory the larger the table is, up to
# half a gigabyte. Scans are no slower this way. Values already set in the environment take precedence.
_STORE_DEFAULTS = {
    "LANCE_LOG": "error",
    "LANCE_DEFAULT_BATCH_SIZE": "512",
    "LANCE_DEFAULT_FRAGMENT_READAHEAD": "1",
}
# A reader that opened the version before last has this long to finish.
_GRACE = timedelta(hours=1)


class StoredDocument(Record, frozen=True, kw_only=True):
    """What the index stores about a document besides its text."""

    version: str
    acl: tuple[str, ...]
    tags: tuple[str, ...]


class LanceIndex:
    """Opens or creates the index at ``path``: a local folder, or an address such as ``s3://bucket/kb``.

    ``settings_hash`` covers the settings that shape chunks. Raises IndexMismatchError if the existing index
    was made with another embedder, other settings or other views.
    """

    def __init__(self, path: Path | str, embedder: Embedder, settings_hash: str) -> None:
        for name, value in _STORE_DEFAULTS.items():
            os.environ.setdefault(name, value)
        import lancedb

        self.path = str(path)
        self._embedder = embedder
        if "://" not in self.path:
            make_folder(Path(self.path))
        self._database = lancedb.connect(self.path, session=_session())
        wanted = {
            "format": FORMAT,
            "embedder": embedder.maker.name,
            "embedder_hash": embedder.maker.hash,
            "settings": settings_hash,
            "views": VIEWS_VERSION,
        }
        self._table: Any
        if TABLE in self._database.list_tables().tables:
            self._table = self._database.open_table(TABLE)
        else:
            form = row_schema(embedder.dimension, {**wanted, "index_id": secrets.token_hex(4)})
            self._table = self._database.create_table(TABLE, schema=form, exist_ok=True)
        self._check(wanted)
        self._index_id = self._metadata()["index_id"]
        if _PUBLISHED not in self._tags():
            # First opening, or a crash during it: the table cannot hold chunks yet.
            self._index_text()
            self._table.tags.create(_PUBLISHED, self._table.version)
        self._snapshot: Snapshot | None = None

    def version(self) -> str:
        """The published version's name."""
        return self._name(self._table.tags.get_version(_PUBLISHED))

    def snapshot(self) -> Snapshot:
        """The published version, opened; filters decide what each caller sees. Returns the same object until
        another version is published."""
        name = self.version()
        current = self._snapshot
        if current is None or current.version() != name:
            current = self.at(name)
            self._snapshot = current
        return current

    def at(self, version: str) -> Snapshot:
        """The version that a record names, for replaying a retrieval. Raises UsageError if it is not kept."""
        index_id, _, number = version.rpartition(".")
        if index_id != self._index_id or not number.isdigit():
            told = f"index version {version} belongs to a different index, not this one ({self._index_id})"
            raise UsageError(told, hint="open the home in which the record was made")
        table = self._database.open_table(TABLE)
        try:
            table.checkout(int(number))
        except (RuntimeError, ValueError) as error:
            hint = "only versions that records refer to are kept"
            raise UsageError(f"index version {version} is no longer kept", hint=hint) from error
        return Snapshot(table, version, self._embedder)

    def pin(self, version: str) -> None:
        """Keeps ``version`` for ever, because a record names it."""
        number = int(version.rpartition(".")[2])
        name = f"{_PINNED}{number}"
        if name not in self._tags():
            try:
                self._table.tags.create(name, number)
            except RuntimeError:
                # Two requests pinned it at once; anything else is a real failure.
                if name not in self._tags():
                    raise

    @contextlib.contextmanager
    def writer(self) -> Iterator[None]:
        """A lock held by an ingest: two at once on one machine would store a document twice. Raises
        UsageError if another ingest holds it."""
        if "://" in self.path:
            yield
            return
        with open(Path(self.path) / "writer.lock", "w") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError as error:
                # Without the path: users who upload over HTTP see this too.
                raise UsageError(
                    "another ingest is writing to the index", hint="wait until it has finished"
                ) from error
            yield

    def stored(self) -> dict[str, StoredDocument]:
        """Everything written, published or not, by document id: an ingest resumes from it."""
        import pyarrow as pa

        self._table.checkout_latest()
        names = ["document_id", "document_version", "acl", "tags"]
        stored: dict[str, StoredDocument] = {}
        # A batch at a time: there are many more chunks than documents.
        for batch in self._table.search().select(names).limit(None).to_batches():
            # Whole documents are written at once, so any one chunk represents its document.
            numbered = pa.table(batch).append_column("row", pa.array(range(batch.num_rows)))
            firsts = numbered.group_by("document_id").aggregate([("row", "min")]).column("row_min")
            for row in numbered.take(firsts).to_pylist():
                acl, tags = tuple(row["acl"] or ()), tuple(row["tags"] or ())
                held = StoredDocument(version=row["document_version"], acl=acl, tags=tags)
                stored[row["document_id"]] = held
        return stored

    def encode(self, chunks: Sequence[Chunk]) -> Any:
        """The rows of ``chunks``, embedded in every view: an Arrow table for :meth:`write`."""
        texts = {view: [make(chunk) for chunk in chunks] for view, make in VIEWS.items()}
        # A short chunk is its own extract: the same text is embedded once.
        distinct = list(dict.fromkeys(text for group in texts.values() for text in group))
        vectors = self._embedder.embed(distinct)
        position = {text: at for at, text in enumerate(distinct)}
        by_view = {view: vectors[[position[text] for text in group]] for view, group in texts.items()}
        return table_of(chunks, by_view, self._table.schema)

    def write(self, table: Any) -> None:
        """One atomic commit: the rows replace whatever their documents had. Whole documents only."""
        documents = set(table.column("document_id").to_pylist())
        self._table.checkout_latest()
        inside = one_of("document_id", documents)
        if not self._table.count_rows(inside):
            self._table.add(table)
            return
        (
            self._table.merge_insert(["document_id", "chunk_id"])
            .when_matched_update_all()
            .when_not_matched_insert_all()
            .when_not_matched_by_source_delete(inside)
            .execute(table)
        )

    def rows_of(self, document_id: str) -> Any:
        """The rows of a document, vectors included, in the form that :meth:`write` takes."""
        self._table.checkout_latest()
        return self._table.search().where(one_of("document_id", [document_id])).limit(None).to_arrow()

    def add(self, chunks: Sequence[Chunk]) -> None:
        """Embeds and writes whole documents in one commit."""
        if chunks:
            self.write(self.encode(chunks))

    def relabel(self, document_id: str, acl: Sequence[str], tags: Sequence[str]) -> None:
        """Changes who may see a document, and its tags, in one commit; takes effect once published."""
        self._table.checkout_latest()
        labels = {"acl": list_of(acl), "tags": list_of(tags)}
        self._table.update(where=one_of("document_id", [document_id]), values_sql=labels)

    def remove(self, document_ids: Iterable[str]) -> None:
        """Deletes documents in one commit; takes effect once published."""
        wanted = sorted(set(document_ids))
        if wanted:
            self._table.checkout_latest()
            self._table.delete(one_of("document_id", wanted))

    def publish(self) -> str:
        """Makes everything written visible to readers, with BM25 over all of it; returns the version's name.

        Does nothing if nothing was written since the last call. Old versions that no record refers to are
        removed, except the previously published one, which a reader may still have open.
        """
        self._table.checkout_latest()
        before = self._table.tags.get_version(_PUBLISHED)
        if self._table.version == before:
            return self.version()
        first = not self.at(self._name(before)).count()
        crowded = self._table.stats()["fragment_stats"]["num_fragments"] > _MANY_FRAGMENTS
        if first or crowded:
            self._table.optimize()
        # Rebuilt completely, so that BM25 scores depend on the rows alone, not on how they were added.
        self._index_text()
        if first:
            self._tag(_PUBLISHED, self._table.version)
            self._let_go(timedelta(milliseconds=1))
        else:
            self._tag(_PREVIOUS, before)
            self._tag(_PUBLISHED, self._table.version)
            if crowded:
                self._let_go(_GRACE)
        return self.version()

    def _metadata(self) -> dict[str, str]:
        metadata = self._table.schema.metadata or {}
        return {key.decode(): value.decode() for key, value in metadata.items()}

    def _check(self, wanted: Mapping[str, str]) -> None:
        made = self._metadata()
        if "index_id" not in made:
            hint = "choose another home with --home"
            raise CitewellError(f"{self.path} contains a table that is not a Citewell index", hint=hint)
        differing = [key for key in wanted if made.get(key) != wanted[key]]
        if differing:
            told = "; ".join(
                f"{_SPOKEN.get(key, key)} was {made.get(key)!r}, is now {wanted[key]!r}" for key in differing
            )
            raise IndexMismatchError(
                f"the index at {self.path} was built with different settings ({told})",
                hint="restore that configuration, or move that folder elsewhere and ingest again",
            )

    def _name(self, number: int) -> str:
        return f"{self._index_id}.{number}"

    def _tags(self) -> dict[str, int]:
        return {name: tag["version"] for name, tag in self._table.tags.list().items()}

    def _tag(self, name: str, number: int) -> None:
        if name in self._tags():
            self._table.tags.update(name, number)
        else:
            self._table.tags.create(name, number)

    def _index_text(self) -> None:
        from lancedb.index import FTS

        self._table.create_index("text", config=FTS(), replace=True)
        self._table.checkout_latest()

    def _let_go(self, grace: timedelta) -> None:
        # The store refuses to clean up past a tagged version, so only what precedes the oldest one goes.
        tagged = set(self._tags().values())
        made = {entry["version"]: entry["timestamp"] for entry in self._table.list_versions()}
        now = datetime.now(UTC)
        oldest = min((made[number].astimezone(UTC) for number in tagged if number in made), default=now)
        self._table.optimize(cleanup_older_than=max(grace, now - oldest + timedelta(milliseconds=1)))


@lru_cache(maxsize=1)
def _session() -> Any:
    """Limits the store's caches for all tables of this process. By default they take up to 7 GB, partly for a
    manifest of each version that an ingest wrote, whose size grows with their number."""
    import lancedb

    return lancedb.Session(index_cache_size_bytes=_INDEX_CACHE, metadata_cache_size_bytes=_METADATA_CACHE)
