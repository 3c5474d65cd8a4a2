"""One version of the index, opened for reading: the same search always gives the same results; and how a
chunk is stored in a row of its table.

In: a view, a query or its vector, a limit and filters. Out: hits, best first, ties by chunk id. Filters
become an SQL condition with every value quoted, applied before ranking; unknown ones are refused, as one that
was silently dropped would leak. Every dense search is exact: each vector that may be seen is compared.

Fields used by filters have their own columns; all others are stored as JSON in ``rest``. Access list and tags
can change without the text: for these the columns are authoritative. Knows nothing about when rows are
written.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any

import msgspec

from citewell.core.errors import UsageError
from citewell.core.identity import hash_bytes, hash_value
from citewell.core.ports import Embedder, Hit, ListedDocument, Vectors
from citewell.core.records import Chunk
from citewell.documents.index.views import VIEWS

_PLAIN = ("chunk_id", "document_id", "document_version", "start_offset", "title", "published_at")
RESTORED = ["text", "context_chars", "acl", "tags", "rest"]

_encoder = msgspec.json.Encoder()
_decoder = msgspec.json.Decoder(Chunk)


def row_schema(dimension: int, settings: Mapping[str, str]) -> Any:
    """The Arrow schema; ``settings`` are in its metadata, so they are as atomic as the table."""
    import pyarrow as pa

    fields = [
        pa.field("chunk_id", pa.string()),
        pa.field("document_id", pa.string()),
        pa.field("document_version", pa.string()),
        pa.field("start_offset", pa.int64()),
        pa.field("title", pa.string()),
        pa.field("published_at", pa.string()),
        pa.field("acl", pa.list_(pa.string())),
        pa.field("tags", pa.list_(pa.string())),
        pa.field("text", pa.string()),
        pa.field("context_chars", pa.int32()),
        pa.field("rest", pa.binary()),
        *(pa.field(f"{view}_vector", pa.list_(pa.float32(), dimension)) for view in VIEWS),
    ]
    return pa.schema(fields, metadata={key.encode(): value.encode() for key, value in settings.items()})


def table_of(chunks: Sequence[Chunk], vectors: Mapping[str, Vectors], form: Any) -> Any:
    """An Arrow table with the schema ``form``; ``vectors`` has, for each view, one row per chunk."""
    import pyarrow as pa

    found = [
        {name: getattr(chunk, name) for name in (*_PLAIN, "acl", "tags")}
        | {"text": chunk.in_context, "context_chars": len(chunk.context)}
        | {"rest": _encoder.encode(msgspec.structs.replace(chunk, content="", context=""))}
        | {f"{view}_vector": vectors[view][at] for view in VIEWS}
        for at, chunk in enumerate(chunks)
    ]
    return pa.Table.from_pylist(found, schema=form)


def chunk_of(row: Mapping[str, Any]) -> Chunk:
    """The chunk whose ``RESTORED`` columns are in ``row``."""
    cut = row["context_chars"]
    text = row["text"]
    return msgspec.structs.replace(
        _decoder.decode(row["rest"]),
        context=text[:cut],
        content=text[cut + 1 :] if cut else text,
        acl=tuple(row["acl"] or ()),
        tags=tuple(row["tags"] or ()),
    )


BM25 = "bm25"
_SLACK = 16
_DOCUMENTS = 500
"""How many documents' vectors are read at a time."""
# Questions recur within a pass and between the turns of a session.
_VECTORS = 256


class Snapshot:
    """Made by :meth:`citewell.documents.index.lance.LanceIndex.at`."""

    views = tuple(VIEWS)

    def __init__(self, table: Any, version: str, embedder: Embedder) -> None:
        self._table = table
        self._embedder = embedder
        self._version = version
        self._listing = lru_cache(maxsize=32)(self._list)
        self._vector = lru_cache(maxsize=_VECTORS)(self._embed)

    def version(self) -> str:
        return self._version

    def snapshot(self) -> Snapshot:
        """Itself, so that code that reads an index also accepts a single version of it."""
        return self

    def embed(self, query: str) -> Vectors:
        """The vector of ``query``, shape (dimension,), from the embedder that made the index. Read-only: the
        same query returns the same object again."""
        return self._vector(query)

    def count(self, where: Mapping[str, Any] | None = None) -> int:
        """How many chunks may be seen."""
        return int(self._table.count_rows(condition(where or {}) or None))

    def documents(self, where: Mapping[str, Any] | None = None) -> tuple[ListedDocument, ...]:
        """The documents that may be seen, sorted by id."""
        return self._listing(condition(where or {}))

    def search(
        self, view: str, query: str, vector: Vectors | None, limit: int, where: Mapping[str, Any]
    ) -> list[Hit]:
        """The best ``limit`` chunks of a dense view (by ``vector``, cosine) or of BM25 (by ``query``).

        Raises UsageError for an unknown view or filter, or a dense view without a vector.
        """
        if view != BM25 and view not in VIEWS:
            raise UsageError(f"unknown view {view!r}", hint=f"use one of {', '.join([*VIEWS, BM25])}")
        if view != BM25 and vector is None:
            raise UsageError(f"view {view!r} needs a vector to search with")
        fetched = limit + _SLACK
        while True:
            scored = self._ranked(view, query, vector, fetched, condition(where))
            # Ties must not be cut at random: fetch until the last score differs from the one at the limit.
            if len(scored) < fetched or len(scored) <= limit or scored[-1][0] != scored[limit - 1][0]:
                break
            fetched *= 4
        scored.sort(key=lambda item: (-item[0], item[1]["chunk_id"], item[1]["document_id"]))
        return [Hit(chunk=chunk_of(row), scores={view: score}) for score, row in scored[:limit]]

    def between(self, document_id: str, start: int, end: int) -> list[Chunk]:
        """The chunks of one document that begin in ``[start, end)``, in reading order."""
        only = (
            f"{one_of('document_id', [document_id])} AND start_offset >= {start:d} AND start_offset < {end:d}"
        )
        found = self._table.search().where(only).select(RESTORED).limit(None).to_list()
        return sorted((chunk_of(row) for row in found), key=lambda chunk: chunk.start_offset)

    def named(self, chunk_ids: Iterable[str]) -> list[Chunk]:
        """The chunks with these ids that are here; equal bytes in two documents give two chunks."""
        only = one_of("chunk_id", chunk_ids)
        found = self._table.search().where(only).select(RESTORED).limit(None).to_list()
        return [chunk_of(row) for row in found]

    def vector_hashes(self, document_ids: Iterable[str]) -> dict[str, str]:
        """For each of these documents that is here, a hash of its chunks' vectors."""
        wanted = sorted({*document_ids})
        found: dict[str, list[list[Any]]] = {}
        vectors = [f"{view}_vector" for view in VIEWS]
        names = ["document_id", "chunk_id", "start_offset"]
        for at in range(0, len(wanted), _DOCUMENTS):
            only = one_of("document_id", wanted[at : at + _DOCUMENTS])
            for batch in self._table.search().where(only).select([*names, *vectors]).limit(None).to_batches():
                columns = [
                    batch.column(name).flatten().to_numpy().reshape(batch.num_rows, -1) for name in vectors
                ]
                for row, (document_id, chunk_id, start) in enumerate(
                    zip(*(batch.column(name).to_pylist() for name in names), strict=True)
                ):
                    own = hash_bytes(b"".join(column[row].tobytes() for column in columns))
                    found.setdefault(document_id, []).append([start, chunk_id, own])
        return {document_id: hash_value(sorted(rows)) for document_id, rows in found.items()}

    def _embed(self, query: str) -> Vectors:
        vector: Vectors = self._embedder.embed([query])[0]
        vector.flags.writeable = False
        return vector

    def _ranked(
        self, view: str, query: str, vector: Vectors | None, limit: int, only: str
    ) -> list[tuple[float, dict[str, Any]]]:
        columns = ["chunk_id", "document_id", *RESTORED]
        if view == BM25:
            search = self._table.search(query, query_type="fts", fts_columns="text")
            score, sign, offset = "_score", 1.0, 0.0
        else:
            # Unit vectors: the dot product is the cosine, and the store's distance is 1 minus it.
            search = self._table.search(vector, vector_column_name=f"{view}_vector").distance_type("dot")
            score, sign, offset = "_distance", -1.0, 1.0
        if only:
            search = search.where(only, prefilter=True)
        found = search.select([*columns, score]).limit(limit).to_arrow().to_pylist()
        return [(offset + sign * row[score], row) for row in found]

    def _list(self, only: str) -> tuple[ListedDocument, ...]:
        names = ["document_id", "document_version", "title", "published_at"]
        search = self._table.search()
        if only:
            search = search.where(only)
        found = search.select(names).limit(None).to_arrow().group_by(names).aggregate([])
        listed = [ListedDocument(**row) for row in found.to_pylist()]
        return tuple(sorted(listed, key=lambda item: (item.document_id, item.document_version)))


def quoted(value: str) -> str:
    """``value`` as an SQL string; quotes inside are doubled, nothing else is special."""
    return "'" + value.replace("'", "''") + "'"


def one_of(column: str, values: Iterable[str]) -> str:
    """``column IN (...)``; ``false`` for no values."""
    inside = ", ".join(quoted(value) for value in sorted(set(values)))
    return f"{column} IN ({inside})" if inside else "false"


def list_of(values: Iterable[str]) -> str:
    """The values as an SQL list; NULL for none, as an empty list has no type in SQL."""
    inside = ", ".join(quoted(value) for value in values)
    return f"[{inside}]" if inside else "NULL"


def _groups(groups: Iterable[str]) -> str:
    # A caller without groups still sees documents without a list; others need one group in common.
    held = sorted(set(groups))
    shared = f" OR array_has_any(acl, {list_of(held)})" if held else ""
    return f"(array_length(acl) = 0 OR array_length(acl) IS NULL{shared})"


def _since(date: str) -> str:
    # ISO 8601 dates sort as text; an unknown date is not known to be later.
    return f"(published_at != '' AND published_at >= {quoted(date)})"


_CONDITIONS: dict[str, Callable[[Any], str]] = {
    "groups": _groups,
    "document_id": lambda value: one_of("document_id", [value]),
    "document_ids": lambda values: one_of("document_id", values),
    "since": _since,
    "tag": lambda value: f"array_has(tags, {quoted(value)})",
}


def condition(where: Mapping[str, Any]) -> str:
    """The SQL for all of ``where``; a value of None is ignored. Raises UsageError for an unknown key."""
    parts = []
    for key, value in where.items():
        if key not in _CONDITIONS:
            raise UsageError(f"unknown filter {key!r}", hint=f"use one of {', '.join(_CONDITIONS)}")
        if value is not None:
            part = _CONDITIONS[key](value)
            if part:
                parts.append(part)
    return " AND ".join(parts)
