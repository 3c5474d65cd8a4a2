"""A home whose log, traces and signals are on a PostgreSQL server: people are forgotten there, too."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from benchmarks.access_world import fake_parts

from citewell.audit.question import AuditQuery
from citewell.core.config import Audit, Config, Retrieval
from citewell.core.errors import LogError, UsageError
from citewell.knowledge.home import KnowledgeBase

SCHEMAS = ("citewell", "citewell_index", "citewell_traces", "citewell_feedback")
SECRET = "Borealis"
QUESTION = f"What did {SECRET} pay for the bridge?"


def open_home(folder: Path, url: str) -> KnowledgeBase:
    retrieval = Retrieval(relevance_threshold=0.2)
    return KnowledgeBase(fake_parts(folder, Config(audit=Audit(database=url), retrieval=retrieval)))


@pytest.fixture
def home(tmp_path: Path, clean_server: str) -> Iterator[KnowledgeBase]:
    (tmp_path / "bridge.md").write_text("# Bridges\n\nThe bridge was paid for by the town.\n")
    kb = open_home(tmp_path / "home", clean_server)
    kb.ingest(tmp_path / "bridge.md")
    yield kb
    kb.close()


def rows_that_say(url: str, word: str) -> list[str]:
    """The tables that contain the word in the clear."""
    found = []
    with psycopg.connect(url) as server:
        tables = server.execute(
            "SELECT schemaname, tablename FROM pg_tables WHERE schemaname = ANY(%s)", (list(SCHEMAS),)
        ).fetchall()
        for schema, table in tables:
            for (row,) in server.execute(f"SELECT t::text FROM {schema}.{table} AS t".encode()):
                if word in row:
                    found.append(f"{schema}.{table}")
    return sorted(set(found))


def files_that_say(url: str, word: str) -> list[str]:
    """The server's table files that contain the word; bounding its write-ahead log is up to the operator."""
    socket = Path(url.partition("host=")[2])
    base = socket.parent / "data" / "base"
    return [str(p) for p in base.rglob("*") if p.is_file() and word.encode() in p.read_bytes()]


def test_a_person_is_forgotten_on_the_server(home: KnowledgeBase, postgres_url: str) -> None:
    mine = home.ask(QUESTION, user="alice", session_id="s1")
    home.feedback(mine.request_id, "thumbs_down", user="alice", meta={"because": f"{SECRET} paid more"})
    other = home.ask("Who paid for the bridge?", user="bob", session_id="s2")
    assert "citewell_traces.traces" in rows_that_say(postgres_url, SECRET)

    outcome = home.audit.erase("alice")
    assert outcome.subject
    assert rows_that_say(postgres_url, SECRET) == []
    assert files_that_say(postgres_url, SECRET) == []
    assert home.trace("s1") == []
    assert [trace.request_id for trace in home.trace("s2")] == [other.request_id]
    assert home.audit.record(mine.request_id).user_query == "[erased]"
    assert home.audit.record(other.request_id).user_query == "Who paid for the bridge?"
    report = home.log.check()
    assert report.ok, report.findings
    assert home.audit.counts(AuditQuery()).total == 2
    with pytest.raises(UsageError):
        home.audit.erase("alice")


def test_two_workers_share_everything(home: KnowledgeBase, postgres_url: str, tmp_path: Path) -> None:
    with open_home(tmp_path / "home", postgres_url) as worker:
        first = home.ask("Who paid for the bridge?", user="alice", session_id="s1")
        second = worker.ask("What was paid for by the town?", user="alice", session_id="s1")
        for kb in (home, worker):
            assert [t.request_id for t in kb.trace("s1")] == [first.request_id, second.request_id]
            assert {r.request_id for r in kb.audit.query(AuditQuery()).records} >= {
                first.request_id,
                second.request_id,
            }
        worker.feedback(first.request_id, "thumbs_up", user="alice")
        assert home.trace("s1")[0].flags
    assert home.log.check().ok


def test_expired_answers_take_their_traces_along(home: KnowledgeBase, postgres_url: str) -> None:
    import msgspec

    asked = home.ask(QUESTION, user="alice", session_id="s1")
    record = msgspec.structs.replace(
        home.audit.record(asked.request_id),
        request_id="req_" + "1" * 24,
        timestamp="2020-01-01T00:00:00.000000Z",
    )
    home.parts.log.append(record)
    home.parts.traces.put(msgspec.structs.replace(home.trace("s1")[0], request_id=record.request_id))
    kept = Config(
        audit=home.config.audit,
        retrieval=home.config.retrieval,
        retention=msgspec.structs.replace(home.config.retention, answers_days=30),
    )
    with KnowledgeBase(fake_parts(home.home, kept)) as kb:
        assert kb.audit.expire().requests == (record.request_id,)
        assert [trace.request_id for trace in kb.trace("s1")] == [asked.request_id]
        assert kb.log.check().ok


def test_others_read_while_the_log_is_checked(home: KnowledgeBase, monkeypatch: pytest.MonkeyPatch) -> None:
    from citewell.audit import log as module

    home.ask(QUESTION, user="alice", session_id="s1")
    assert home.audit.counts(AuditQuery()).total == 1
    check, seen = module.check_log, []

    def slow(*given: object, **named: object) -> object:
        reader = threading.Thread(target=lambda: seen.append(home.parts.log.size()), daemon=True)
        reader.start()
        reader.join(5)
        assert seen, "a read waits for the check"
        return check(*given, **named)  # type: ignore[arg-type]

    monkeypatch.setattr(module, "check_log", slow)
    report = home.log.check()
    assert report.ok, report.findings
    assert not [told for told in report.skipped if "tables" in told]
    assert seen == [report.size]


@pytest.mark.parametrize(
    ("statement", "said"),
    [("DROP SCHEMA citewell CASCADE", "is gone"), ("TRUNCATE citewell.entries, citewell.head", "is empty")],
)
def test_a_log_that_is_gone_or_empty_is_not_begun_anew(
    home: KnowledgeBase, postgres_url: str, tmp_path: Path, statement: str, said: str
) -> None:
    home.close()
    with psycopg.connect(postgres_url, autocommit=True) as server:
        server.execute(statement.encode())
    with open_home(tmp_path / "home", postgres_url) as kb, pytest.raises(LogError, match=said):
        kb.ask(QUESTION)


def test_a_key_made_before_the_first_entry_is_no_past(clean_server: str, tmp_path: Path) -> None:
    (tmp_path / "home").mkdir()
    for _ in range(2):
        with open_home(tmp_path / "home", clean_server) as kb:
            assert kb.log.checkpoint()
