"""The chunk index with a table of its own for each access list, so that hidden documents do not influence
scores.

In and out as :class:`citewell.documents.index.lance.LanceIndex`. BM25 weighs a word by how many chunks hold
it and by how long chunks are: in one table, that reveals a little about chunks the asker may not see. Here a
question opens only the tables of the lists that its groups match, and its index version names only those. The
price: one search per table, and one list of hits whose scores come from several statistics. Knows nothing
about files, fusion or what a question means.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from functools import lru_cache
from pathlib import Path
from typing import Any

import msgspec

from citewell.core.errors import IndexMismatchError, UsageError
from citewell.core.files import replace_file
from citewell.core.identity import hash_value
from citewell.core.ports import Embedder, Hit, Listed, Vectors
from citewell.core.records import Chunk
from citewell.documents.index.lance import SETS, TABLE, LanceIndex, Stored
from citewell.documents.index.snapshot import Snapshot

VERSIONS, LIST = "versions", "acl.json"
EVERYBODY: tuple[str, ...] = ()


class IsolatedIndex:
    """Opens or creates the index in the folder ``path``; arguments and errors as of LanceIndex."""

    def __init__(self, path: Path, embedder: Embedder, settings_hash: str) -> None:
        self.path = str(path)
        if (path / f"{TABLE}.lance").exists():
            raise IndexMismatchError(
                f"the index at {path} has one table for all access lists",
                hint='set retrieval.isolation = "shared", or move that folder elsewhere and ingest again',
            )
        self._embedder, self._settings_hash = embedder, settings_hash
        self._open: dict[str, LanceIndex] = {}
        self._made: dict[str, dict[str, str]] = {}
        self._of(EVERYBODY)

    # --- reading ----------------------------------------------------------------------------------

    def version(self) -> str:
        """The published version of all tables together."""
        return self.snapshot().version()

    def snapshot(self, groups: Sequence[str] | None = None) -> Several:
        """What is published for a member of these groups; None stands for a caller who may see everything."""
        held = None if groups is None else set(groups)
        members = {
            name: self._member(name).snapshot()
            for name, acl in self._lists().items()
            if held is None or not acl or held & set(acl)
        }
        versions = {name: member.version() for name, member in members.items()}
        together = "isolated-" + hash_value(versions).rpartition(":")[2][:32]
        self._made[together] = versions
        return Several(together, members)

    def at(self, version: str) -> Several:
        """The version that a record names. Raises UsageError when it is gone."""
        versions = self._made.get(version) or self._kept(version)
        return Several(version, {name: self._member(name).at(one) for name, one in versions.items()})

    def pin(self, version: str) -> None:
        """Keeps ``version`` for ever, because a record names it."""
        file = self._file(version)
        if file.exists():
            return
        versions = self._made[version]
        for name, one in versions.items():
            self._member(name).pin(one)
        replace_file(file, msgspec.json.encode(versions), synced=True)

    # --- writing ----------------------------------------------------------------------------------

    def writer(self) -> AbstractContextManager[None]:
        """Held by an ingest, for all tables."""
        return self._of(EVERYBODY).writer()

    def stored(self) -> dict[str, Stored]:
        """By document id, everything written, published or not."""
        return {
            document_id: stored
            for name in self._lists()
            for document_id, stored in self._member(name).stored().items()
        }

    def encode(self, chunks: Sequence[Chunk]) -> Any:
        """The rows of ``chunks``, embedded: an Arrow table for :meth:`write`."""
        return self._of(EVERYBODY).encode(chunks)

    def write(self, table: Any) -> None:
        """The rows replace whatever their documents had, wherever that was. Whole documents only."""
        import pyarrow as pa

        lists = [tuple(sorted(acl or ())) for acl in table.column("acl").to_pylist()]
        documents = table.column("document_id").to_pylist()
        for acl in dict.fromkeys(lists):
            target = self._of(acl)
            part = table.filter(pa.array([one == acl for one in lists]))
            target.write(part.replace_schema_metadata(None))
            self.remove((d for d, one in zip(documents, lists, strict=True) if one == acl), but=target)

    def add(self, chunks: Sequence[Chunk]) -> None:
        """Embeds and writes whole documents."""
        if chunks:
            self.write(self.encode(chunks))

    def relabel(self, document_id: str, acl: Sequence[str], tags: Sequence[str]) -> None:
        """Who may see a document, and its tags: its rows move, vectors and all, to the table of that list."""
        import pyarrow as pa

        target = self._of(acl)
        for name in self._lists():
            held = self._member(name).rows_of(document_id)
            if not held.num_rows:
                continue
            if self._member(name) is target:
                target.relabel(document_id, acl, tags)
                continue
            for column, values in (("acl", acl), ("tags", tags)):
                place, form = held.schema.get_field_index(column), held.schema.field(column)
                held = held.set_column(place, form, pa.array([list(values)] * held.num_rows, form.type))
            target.write(held.replace_schema_metadata(None))
            self._member(name).remove([document_id])

    def remove(self, document_ids: Iterable[str], but: LanceIndex | None = None) -> None:
        """They are no longer retrieved once this is published, except out of the table ``but``."""
        wanted = set(document_ids)
        for name in self._lists():
            member = self._member(name)
            if member is not but and (here := wanted & set(member.stored())):
                member.remove(here)

    def publish(self) -> str:
        """Makes everything written visible, table by table; the version of all together."""
        for name in self._lists():
            self._member(name).publish()
        return self.version()

    # --- inside -----------------------------------------------------------------------------------

    def _lists(self) -> dict[str, tuple[str, ...]]:
        """All access lists, by the names of their tables, including those that another process created."""
        return {
            file.parent.name: msgspec.json.decode(file.read_bytes(), type=tuple[str, ...])
            for file in sorted(Path(self.path, SETS).glob(f"*/{LIST}"))
        }

    def _of(self, acl: Iterable[str]) -> LanceIndex:
        """The table of an access list, created if there is none."""
        members = tuple(sorted(set(acl)))
        name = hash_value(list(members)).rpartition(":")[2][:24]
        index = self._member(name)
        if not Path(index.path, LIST).exists():
            replace_file(Path(index.path, LIST), msgspec.json.encode(members), synced=True)
        return index

    def _member(self, name: str) -> LanceIndex:
        if name not in self._open:
            folder = Path(self.path, SETS, name)
            self._open[name] = LanceIndex(folder, self._embedder, self._settings_hash)
        return self._open[name]

    def _kept(self, version: str) -> dict[str, str]:
        file = self._file(version)
        if not file.exists():
            raise UsageError(
                f"index version {version} is no longer kept",
                hint="only versions that records refer to are kept",
            )
        kept: dict[str, str] = msgspec.json.decode(file.read_bytes(), type=dict[str, str])
        return kept

    def _file(self, version: str) -> Path:
        if not version.replace("-", "").isalnum():
            raise UsageError(f"{version!r} is not an index version", hint="copy it from a record")
        return Path(self.path, VERSIONS, f"{version}.json")


class Several:
    """Versions of several tables, opened for reading as one :class:`citewell.core.ports.IndexSnapshot`."""

    views = Snapshot.views

    def __init__(self, version: str, members: Mapping[str, Snapshot]) -> None:
        self._version, self._members = version, members
        self._holder = lru_cache(maxsize=4096)(self._find)

    def version(self) -> str:
        return self._version

    def snapshot(self, groups: Sequence[str] | None = None) -> Several:
        """Itself, as of :class:`Snapshot`; filters still hold inside."""
        return self

    def embed(self, query: str) -> Vectors:
        return next(iter(self._members.values())).embed(query)

    def count(self, where: Mapping[str, Any] | None = None) -> int:
        return sum(member.count(where) for member in self._members.values())

    def documents(self, where: Mapping[str, Any] | None = None) -> tuple[Listed, ...]:
        found = (listed for member in self._members.values() for listed in member.documents(where))
        return tuple(sorted(found, key=lambda item: (item.document_id, item.document_version)))

    def search(
        self, view: str, query: str, vector: Vectors | None, limit: int, where: Mapping[str, Any]
    ) -> list[Hit]:
        """The best ``limit`` of all; equal scores in the order of their ids."""
        hits = [hit for m in self._members.values() for hit in m.search(view, query, vector, limit, where)]
        hits.sort(key=lambda hit: (-hit.scores[view], hit.chunk.chunk_id, hit.chunk.document_id))
        return hits[:limit]

    def between(self, document_id: str, start: int, end: int) -> list[Chunk]:
        member = self._holder(document_id)
        return member.between(document_id, start, end) if member is not None else []

    def named(self, chunk_ids: Iterable[str]) -> list[Chunk]:
        wanted = list(chunk_ids)
        return [chunk for member in self._members.values() for chunk in member.named(wanted)]

    def vector_hashes(self, document_ids: Iterable[str]) -> dict[str, str]:
        wanted = list(document_ids)
        return {
            document_id: own
            for member in self._members.values()
            for document_id, own in member.vector_hashes(wanted).items()
        }

    def _find(self, document_id: str) -> Snapshot | None:
        for member in self._members.values():
            if any(listed.document_id == document_id for listed in member.documents()):
                return member
        return None
