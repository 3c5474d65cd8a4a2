"""A chunk as a row of the table and back, exactly.

In: chunks and their vectors. Out: Arrow tables of one schema, and chunks again. Fields used by filters
have their own columns; all others are stored as JSON in ``rest``. Access list and tags can change without
the text: for these the columns are authoritative. Knows nothing about versions or searching.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from citewell.core.ports import Vectors
from citewell.core.records import Chunk
from citewell.documents.index.views import VIEWS

_PLAIN = ("chunk_id", "document_id", "document_version", "start_offset", "title", "published_at")
RESTORED = ["text", "context_chars", "acl", "tags", "rest"]

_encoder = msgspec.json.Encoder()
_decoder = msgspec.json.Decoder(Chunk)


def schema(dimension: int, settings: Mapping[str, str]) -> Any:
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


def table(chunks: Sequence[Chunk], vectors: Mapping[str, Vectors], form: Any) -> Any:
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


def chunk(row: Mapping[str, Any]) -> Chunk:
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
