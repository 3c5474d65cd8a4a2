"""One version of the index, opened for reading: the same search always gives the same results; and how a
chunk is stored in a row of its table.

In: a view, a query or its vector, a limit and filters. Out: hits, best first, ties by chunk id. Filters
become an SQL condition with every value quoted, applied before ranking; unknown ones are refused, as one that
was silently dropped would leak. Every dense search is exact: each vector that may be seen is compared.

Fields used by filters have their own columns; all others are stored as JSON in ``rest``. Access list and tags
can change without the text: for these the columns are authoritative. Knows nothing about when rows are
written.

Each chunk is embedded in three texts: its own, a short extract, its names and numbers; each after the chunk's
context, as a row of figures means little without its heads. The same chunk always gives the same texts; any
change of them must raise ``VIEWS_VERSION``, which is stored in the index.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any

import msgspec

from citewell.core.errors import UsageError
from citewell.core.identity import hash_bytes, hash_value
from citewell.core.ports import Embedder, Hit, ListedDocument, Vectors
from citewell.core.records import Chunk
from citewell.core.sentences import sentence_spans

VIEWS_VERSION = "views/1"

_EXTRACT_CHARS = 360
_KEYS_CHARS = 300
_DOCUMENT_CHARS, _SECTION_CHARS = 110, 80
_WORD = re.compile(r"[^\W\d_]{3,}")
_NAME = re.compile(r"\b[A-Z][\w&.'’-]*(?:\s+(?:of|and|the|for|&)?\s*[A-Z][\w&.'’-]*)*")
_NUMBER = re.compile(r"[$€£]?\(?\d[\d,]*(?:\.\d+)?\)?\s?(?:%|percent|million|billion|thousand|trillion)?")
_YEAR = re.compile(r"\b(?:19|20)\d\d\b")
_LEADING = frozenset(
    re.findall(r"\w+", "the a an in on at by for of and or as if it its this these those we our to with from")
)


def extract(chunk: Chunk) -> str:
    """The sentences that share most words with the rest of the chunk; for a table, its row labels."""
    if chunk.rows:
        labels = "; ".join(_once(row.label for row in chunk.rows if row.label))
        return _with_context(chunk, labels or chunk.content, _EXTRACT_CHARS)
    sentences = [chunk.content[start:end] for start, end in sentence_spans(chunk.content)]
    counts = Counter(word for sentence in sentences for word in _words(sentence))
    chosen: list[int] = []
    room = _EXTRACT_CHARS
    for position in sorted(range(len(sentences)), key=lambda at: (-_weight(sentences[at], counts), at)):
        if chosen and len(sentences[position]) > room:
            continue
        chosen.append(position)
        room -= len(sentences[position])
        if room <= 0:
            break
    return _with_context(chunk, " ".join(sentences[at] for at in sorted(chosen)), _EXTRACT_CHARS)


def keys(chunk: Chunk) -> str:
    """Years, row labels, names by frequency as written, and figures, in this order."""
    years = _once(_YEAR.findall(chunk.content))
    names = Counter(
        name for match in _NAME.finditer(chunk.content) if (name := _name(match.group())) and len(name) > 2
    )
    labels = [row.label for row in chunk.rows if row.label]
    numbers = [text for match in _NUMBER.finditer(chunk.content) if len(text := match.group().strip()) > 1]
    ordered = [name for name, _ in sorted(names.items(), key=lambda item: (-item[1], item[0]))]
    parts = _once([*years[:4], *labels[:8], *ordered, *numbers])
    return _with_context(chunk, "; ".join(parts), _KEYS_CHARS)


VIEWS: Mapping[str, Callable[[Chunk], str]] = {
    "chunk": lambda chunk: chunk.in_context,
    "summary": extract,
    "keys": keys,
}


def _with_context(chunk: Chunk, text: str, limit: int) -> str:
    first, *sections = chunk.context.split("\n", 1)[0].split(" › ")
    # The document and the innermost section: the levels between say least for their length.
    head = " › ".join([first[:_DOCUMENT_CHARS], *(part[:_SECTION_CHARS] for part in sections[-1:])])
    body = text[:limit].strip() or chunk.content[:limit]
    return f"{head}\n{body}" if head else body


def _name(text: str) -> str:
    words = text.split()
    while words and words[0].lower() in _LEADING:
        words.pop(0)
    return " ".join(words)


def _weight(sentence: str, counts: Counter[str]) -> float:
    words = set(_words(sentence))
    # Divided by the square root of the length, so that a long informative sentence beats a heading.
    return sum(counts[word] - 1 for word in words) / math.sqrt(max(1, len(words)))


def _words(text: str) -> list[str]:
    return [word for word in _WORD.findall(text.lower()) if word not in _LEADING]


def _once(texts: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(texts))


_PLAIN = ("chunk_id", "document_id", "document_version", "start_offset", "title", "published_at")
RESTORED = ["text", "context_chars", "acl", "tags", "rest"]

_encoder = msgspec.json.Encoder()
_decoder = msgspec.json.Decoder(Chunk)


def row_schema(dimension: int, settings: Mapping[str, str]) -> Any:
    """The Arrow schema; ``settings`` are in its metadata, so they are as atomic as the table."""
    import pyarrow as pa

    text, texts = pa.string(), pa.list_(pa.string())
    columns = dict.fromkeys(_PLAIN, text) | {"start_offset": pa.int64(), "acl": texts, "tags": texts}
    columns |= {"text": text, "context_chars": pa.int32(), "rest": pa.binary()}
    columns |= {f"{view}_vector": pa.list_(pa.float32(), dimension) for view in VIEWS}
    return pa.schema(columns, metadata=settings)


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
    cut, text = row["context_chars"], row["text"]
    words = {"context": text[:cut], "content": text[cut + 1 :] if cut else text}
    labels = {name: tuple(row[name] or ()) for name in ("acl", "tags")}
    return msgspec.structs.replace(_decoder.decode(row["rest"]), **words, **labels)


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
        only = one_of("document_id", [document_id])
        only += f" AND start_offset >= {start:d} AND start_offset < {end:d}"
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
    if unknown := next((key for key in where if key not in _CONDITIONS), None):
        raise UsageError(f"unknown filter {unknown!r}", hint=f"use one of {', '.join(_CONDITIONS)}")
    return " AND ".join(_CONDITIONS[key](value) for key, value in where.items() if value is not None)
