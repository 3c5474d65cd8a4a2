"""A home with a past never starts a new log, and the keys that open its server are in the log."""

from __future__ import annotations

import json
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from citewell.audit import EntryKind, SqliteLog


@pytest.fixture
def copy(home: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(home, tmp_path / "copy"))


def without_log(home: Path) -> None:
    for path in home.glob("audit.sqlite*"):
        path.unlink()


def test_a_log_that_is_gone_is_not_begun_anew_by_the_next_question(run, copy: Path) -> None:  # type: ignore[no-untyped-def]
    without_log(copy)
    for words in (
        ["ask", "When was Nike founded?"],
        ["ingest", str(copy.parent)],
        ["audit", "key", "publish"],
    ):
        result = run(*words, "--home", copy)
        assert result.exit_code == 1, result.output
        assert "the audit log" in result.stderr
        assert "is gone" in result.stderr
        assert "restore the log from its backup" in result.stderr
        assert not (copy / "audit.sqlite").exists()


def test_neither_without_the_keys_nor_with_an_empty_log(run, copy: Path) -> None:  # type: ignore[no-untyped-def]
    without_log(copy)
    shutil.rmtree(copy / "keys")
    (copy / "audit-index.sqlite").unlink(missing_ok=True)
    result = run("ask", "When was Nike founded?", "--home", copy)
    assert result.exit_code == 1
    assert "documents are still there" in result.stderr
    SqliteLog(copy / "audit.sqlite").close()
    result = run("ask", "When was Nike founded?", "--home", copy)
    assert result.exit_code == 1
    assert "is empty" in result.stderr


def test_a_key_made_before_the_first_entry_is_no_past(run, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    (tmp_path / "home").mkdir()
    assert run("audit", "key", "new", "--home", tmp_path / "home").exit_code == 0
    assert run("audit", "key", "rotate", "--home", tmp_path / "home").exit_code == 0


# --- server keys ----------------------------------------------------------------------------------


def create(run, home: Path, *words: str) -> str:  # type: ignore[no-untyped-def]
    result = run("keys", "create", "--user", "alice", *words, "--json", "--home", home)
    assert result.exit_code == 0, result.output
    return str(json.loads(result.stdout)["about"]["key_id"])


def test_a_key_that_is_made_and_revoked_leaves_entries_without_the_persons_name(run, copy: Path) -> None:  # type: ignore[no-untyped-def]
    name = create(run, copy, "--role", "admin")
    assert run("keys", "revoke", name, "--home", copy).exit_code == 0
    log = SqliteLog(copy / "audit.sqlite", readonly=True)
    bodies = [log.body(entry) for entry in log.entries(EntryKind.ACCESS)]
    assert [(body["outcome"], body["key_id"]) for body in bodies] == [("made", name), ("revoked", name)]
    assert bodies[0]["roles"] == ["admin"]
    assert log.keys.name(bodies[0]["subject"]) == "alice"
    assert not any("alice" in entry.body for entry in log.entries(EntryKind.ACCESS))
    assert run("audit", "check", "--home", copy).exit_code == 0


@pytest.mark.parametrize(
    ("statement", "said"),
    [
        (
            "UPDATE keys SET body = replace(body, 'asker', 'admin')",
            "its roles was ['asker'] and is now ['admin']",
        ),
        (
            "UPDATE keys SET body = replace(body, 'alice', 'carol')",
            "its user was 'alice' and is now 'carol'",
        ),
        ("DELETE FROM keys", "was created but no longer exists"),
        (
            "INSERT INTO keys(key_id, salt, hash, body) SELECT '0123456789ab', salt, hash,"
            " replace(body, key_id, '0123456789ab') FROM keys",
            "the log has no entry for its creation",
        ),
    ],
    ids=["roles", "user", "deleted", "inserted"],
)
def test_a_key_that_was_changed_by_hand_is_named(run, copy: Path, statement: str, said: str) -> None:  # type: ignore[no-untyped-def]
    create(run, copy)
    with closing(sqlite3.connect(copy / "access.sqlite")) as connection:
        connection.execute("UPDATE keys SET body = CAST(body AS TEXT)")
        connection.execute(statement)
        connection.execute("UPDATE keys SET body = CAST(body AS BLOB)")
        connection.commit()
    result = run("audit", "check", "--home", copy)
    assert result.exit_code == 5
    assert said in result.stdout
