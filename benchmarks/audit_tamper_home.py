"""The tamper table's rows for a home as a whole, beyond changes to the log itself.

In: a home in which documents were read, changed, shared and withdrawn, questions asked, answers judged and
keys created. Out: for each attack, the same home after it, and what the check reports. Printed by
:mod:`benchmarks.audit_tamper`. Tested by ``tests/audit_uses/test_tamper_home.py``.
"""

from __future__ import annotations

import shutil
import sqlite3
import tempfile
import zlib
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
import pyarrow as pa
import pyarrow.compute

from benchmarks.access_world import fake_parts
from citewell.audit import CheckReport, Finding
from citewell.audit.question import AuditQuery
from citewell.core.access import Role
from citewell.core.config import Config
from citewell.core.errors import LogError
from citewell.core.identity import chunk_id
from citewell.core.records import Chunk
from citewell.documents.chunking import chunk_document
from citewell.documents.evidence.sqlite import SqliteEvidence
from citewell.documents.index import VIEWS
from citewell.documents.statements import DocumentStatements
from citewell.knowledge.home import KnowledgeBase
from citewell.knowledge.sealing import MADE, REVOKED
from citewell.server.keys import ApiKeys

REFUSED = "refused"
"""Not a finding: the home does not open."""
BRIDGE, TOWER, FERRY = "papers/bridge.md", "papers/tower.md", "papers/ferry.md"
TEXT = "---\ntitle: Bridges\ndate: 2024-01-05\n---\n\n# Bridges\n\nThe bridge was paid for by the town.\n"
Deed = Callable[[Path], None]


@dataclass(frozen=True)
class HomeRow:
    """``named``: the kind of finding the check must report, "" where nothing can reveal it."""

    kind: str
    deed: Deed
    named: str


def opened(home: Path) -> KnowledgeBase:
    return KnowledgeBase(fake_parts(home, Config()))


def pattern(folder: Path) -> Path:
    """The home before any attack."""
    papers, home = folder / "papers", folder / "home"
    papers.mkdir()
    for name, word in ((BRIDGE, "bridge"), (TOWER, "tower"), (FERRY, "ferry")):
        (folder / name).write_text(TEXT.replace("bridge", word))
    with opened(home) as kb:
        kb.ingest(papers)
        (folder / BRIDGE).write_text(TEXT.replace("the town", "the county"))
        kb.ingest(papers)
        kb.share(TOWER, ["board"])
        kb.withdraw(FERRY, reason="it sank")
        first = kb.ask("Who paid for the bridge?", user="alice", session_id="ses_1").request_id
        kb.ask("Who paid for the bridge?", user="bob")
        kb.feedback(first, "thumbs_down", user="alice", meta={"because": "wrong county"})
        kb.feedback(first, "thumbs_up", user="bob")
        kb.review.dismiss(first, reason="it is right", reviewer="carol")
        list(kb.audit.every(AuditQuery()))
        with closing(ApiKeys(home)) as keys:
            for user in ("dave", "eve"):
                made, _ = keys.create(user, roles=(Role.ASKER,))
                kb.log.seal_key(made, MADE)
            kb.log.seal_key(keys.revoke(made.key_id), REVOKED)
    return home


def checked(home: Path) -> CheckReport:
    """What the check reports on a home; a refusal to open it becomes a finding."""
    try:
        with opened(home) as kb, closing(ApiKeys(home)) as keys:
            kb.parts.log.size()
            return kb.log.check(api_keys=keys.all())
    except LogError as error:
        return CheckReport(False, 0, (Finding(REFUSED, 0, str(error)),))


def run(row: HomeRow, before: Path) -> CheckReport:
    """The report after an attack on a copy of ``before``."""
    with tempfile.TemporaryDirectory() as folder:
        home = Path(shutil.copytree(before, Path(folder) / "home"))
        row.deed(home)
        return checked(home)


def _sql(file: str, *statements: str) -> Deed:
    def deed(home: Path) -> None:
        with closing(sqlite3.connect(home / f"{file}.sqlite")) as connection:
            for statement in statements:
                assert connection.execute(statement).rowcount, f"{statement} changed nothing"
            connection.commit()

    return deed


def _head(document_id: str, change: str) -> Deed:
    return _sql("evidence", f"UPDATE heads SET {change} WHERE document_id = '{document_id}'")


def _trace(old: str, new: str) -> Deed:
    where = f"WHERE body LIKE '%{old}%'"
    return _sql("traces", f"UPDATE traces SET body = replace(body, '{old}', '{new}') {where}")


def _stored(**fields: Any) -> Deed:
    """Stores the bridge document with other fields, under its existing version."""

    def deed(home: Path) -> None:
        with SqliteEvidence(home / "evidence.sqlite") as evidence:
            document = evidence.latest(BRIDGE)
        assert document is not None
        made = {
            name: msgspec.structs.replace(document.published_at, value=value)
            if name == "published_at" and document.published_at
            else value
            for name, value in fields.items()
        }
        body = zlib.compress(msgspec.msgpack.encode(msgspec.structs.replace(document, **made)))
        where = f"document_id = '{BRIDGE}' AND version = '{document.version}'"
        _sql("evidence", f"UPDATE versions SET body = x'{body.hex()}' WHERE {where}")(home)

    return deed


def _smuggle(home: Path) -> None:
    with SqliteEvidence(home / "evidence.sqlite") as evidence:
        document = evidence.latest(TOWER)
        assert document is not None
        evidence.put(msgspec.structs.replace(document, document_id="bonus.md", acl=(), supersedes=""))


def _restated(home: Path) -> None:
    with SqliteEvidence(home / "evidence.sqlite") as evidence:
        kept = evidence.derived("stated")
        said = msgspec.msgpack.decode(kept[BRIDGE], type=DocumentStatements)
        forged = msgspec.msgpack.encode(msgspec.structs.replace(said, replaces=("Tower",)))
        evidence.derive("stated", {**kept, BRIDGE: forged})


def _indexed(*, words: str = "", **fields: Any) -> Deed:
    """Rewrites the bridge's row in the index; if its words change, its id is recomputed to match."""

    def deed(home: Path) -> None:
        with opened(home) as kb:
            document = kb.parts.evidence.latest(BRIDGE)
            assert document is not None
            (chunk,) = chunk_document(document, kb.config.chunking)
            made: dict[str, Any] = dict(fields)
            if words:
                said = chunk.content.replace("the county", words)
                at = (chunk.start_offset, chunk.end_offset)
                made |= {"content": said, "chunk_id": chunk_id(chunk.document_version, *at, said)}
            _replace_rows(kb, msgspec.structs.replace(chunk, **made))

    return deed


def _replace_rows(kb: KnowledgeBase, *chunks: Chunk) -> None:
    kb.parts.index.remove([BRIDGE])
    kb.parts.index.add(list(chunks))
    kb.parts.index.publish()


def _moved(home: Path) -> None:
    """Negates the bridge's vectors, turning them away from every question."""
    with opened(home) as kb:
        index = kb.parts.index
        rows = index.rows_of(BRIDGE)
        for view in VIEWS:
            name = f"{view}_vector"
            flat = pa.compute.negate(rows.column(name).combine_chunks().flatten())
            turned = pa.FixedSizeListArray.from_arrays(flat, rows.schema.field(name).type.list_size)
            rows = rows.set_column(rows.schema.get_field_index(name), rows.schema.field(name), turned)
        index.write(rows)
        index.publish()


def _unindexed(home: Path) -> None:
    with opened(home) as kb:
        kb.parts.index.remove([BRIDGE])
        kb.parts.index.publish()


def _without(name: str) -> Deed:
    def deed(home: Path) -> None:
        path = home / name
        if path.is_dir():
            shutil.rmtree(path)
        for file in home.glob(f"{name}*"):
            file.unlink()

    return deed


def _secret_key(home: Path) -> None:
    with closing(ApiKeys(home)) as keys:
        keys.create("mallory", roles=(Role.ADMIN,))


def _wider_key(home: Path) -> None:
    with closing(sqlite3.connect(home / "access.sqlite")) as connection:
        number, body = connection.execute("SELECT number, body FROM keys ORDER BY number").fetchone()
        wider = bytes(body).replace(b'"asker"', b'"admin"')
        assert wider != bytes(body)
        connection.execute("UPDATE keys SET body = ? WHERE number = ?", (wider, number))
        connection.commit()


_OLDER = f"(SELECT version FROM versions WHERE document_id = '{BRIDGE}' ORDER BY seq LIMIT 1)"
_HERS = "WHERE person = 'alice'"
_INVENTED = (
    "INSERT INTO feedback SELECT 99, 'fb_x', request_id, '', 'eve', '2099-01-01T00:00:00Z', 'thumbs_down',"
    f" NULL, '{{}}', 'user', '', '[]' FROM feedback {_HERS}"
)

ROWS = (
    HomeRow("bring in a document past the log", _smuggle, "catalogue"),
    HomeRow(
        "take a document out of the catalogue",
        _sql("evidence", f"DELETE FROM heads WHERE document_id = '{TOWER}'"),
        "catalogue",
    ),
    HomeRow("put an older version in force", _head(BRIDGE, f"version = {_OLDER}"), "catalogue"),
    HomeRow("open an access list", _head(TOWER, "acl = '[]'"), "catalogue"),
    HomeRow("change tags", _head(TOWER, "tags = '[\"x\"]'"), "catalogue"),
    HomeRow("withdraw past the log", _head(TOWER, "state = 'withdrawn'"), "catalogue"),
    HomeRow("undo a withdrawal", _head(FERRY, "state = 'indexed'"), "catalogue"),
    HomeRow(
        "change a title in the catalogue",
        _sql("evidence", f"UPDATE versions SET title = 'Fun' WHERE document_id = '{TOWER}'"),
        "catalogue",
    ),
    HomeRow("change a document's date", _stored(published_at="2030-01-01"), "catalogue"),
    HomeRow("change what a document supersedes", _stored(supersedes="sha256:0"), "catalogue"),
    HomeRow(
        "pair a document with another past the log",
        _sql("evidence", f"INSERT INTO derived VALUES ('superseding', '{BRIDGE}', '[\"{TOWER}\"]')"),
        "catalogue",
    ),
    HomeRow("change what a document is taken to replace", _restated, "catalogue"),
    HomeRow("change a document's text", _stored(text=TEXT.replace("the town", "an enemy")), "evidence"),
    HomeRow("put words into the index", _indexed(words="an enemy"), "index"),
    HomeRow("put a heading into the index", _indexed(section_path=("Lies",)), "index"),
    HomeRow("put units into the index", _indexed(context="in millions"), "index"),
    HomeRow("change a title in the index", _indexed(title="The keeper's word"), "index"),
    HomeRow("change a date in the index", _indexed(published_at="1999-01-01"), "index"),
    HomeRow("change an access list in the index", _indexed(acl=("x",)), "index"),
    HomeRow("hide a document from the index", _unindexed, "index"),
    HomeRow("turn a document's vectors away in the index", _moved, "index"),
    HomeRow("delete the index", _without("index"), "index"),
    HomeRow(
        "turn a thumb round",
        _sql("feedback", f"UPDATE feedback SET signal = 'thumbs_up' {_HERS}"),
        "feedback",
    ),
    HomeRow(
        "change what somebody said",
        _sql("feedback", f'UPDATE feedback SET meta = \'{{"because": "fine"}}\' {_HERS}'),
        "feedback",
    ),
    HomeRow("delete what somebody said", _sql("feedback", f"DELETE FROM feedback {_HERS}"), "feedback"),
    HomeRow("invent what somebody said", _sql("feedback", _INVENTED), "feedback"),
    HomeRow("turn a review round", _sql("feedback", "UPDATE reviews SET outcome = 'accepted'"), "feedback"),
    HomeRow("sign a review as another", _sql("feedback", "UPDATE reviews SET reviewer = 'dave'"), "feedback"),
    HomeRow("delete a review", _sql("feedback", "DELETE FROM reviews"), "feedback"),
    HomeRow("change the answer in a trace", _trace("the county", "an enemy"), "trace"),
    HomeRow("change the question in a trace", _trace("Who paid", "Who lied"), "trace"),
    HomeRow("change the flags of a trace", _trace("thumbs_down", "x"), "trace"),
    HomeRow(
        "give a person another's name",
        _sql("keys/subjects", "UPDATE subjects SET name = 'zoe' WHERE name = 'bob'"),
        "subject",
    ),
    HomeRow("make a key past the log", _secret_key, "access"),
    HomeRow("widen a key", _wider_key, "access"),
    HomeRow(
        "open a revoked key again",
        _sql("access", "UPDATE keys SET revoked_at = '' WHERE revoked_at <> ''"),
        "access",
    ),
    HomeRow(
        "revoke a key past the log",
        _sql("access", "UPDATE keys SET revoked_at = '2026-01-01T00:00:00Z' WHERE revoked_at = ''"),
        "access",
    ),
    HomeRow("delete a key", _sql("access", "DELETE FROM keys WHERE revoked_at = ''"), "access"),
    HomeRow("change the tables for questions", _sql("audit-index", "DELETE FROM postings"), "side-table"),
    HomeRow("delete the log", _without("audit.sqlite"), REFUSED),
    HomeRow("delete the traces", _without("traces.sqlite"), ""),
)
