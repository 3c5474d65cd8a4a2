"""The log's commands as a user types them, on a real home."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

QUESTION = "Who founded Nike?"


@pytest.fixture(scope="module")
def asked(home: Path) -> str:
    """The id of one answer."""
    from citewell.knowledge.opening import open as open_home

    with open_home(home) as kb:
        return kb.ask(QUESTION, user="alice").request_id


def test_query_by_what_it_cites_and_by_whom(run, home, asked) -> None:  # type: ignore[no-untyped-def]
    result = run("--home", home, "audit", "query", "--user", "alice", "--json")
    records = json.loads(result.stdout)["records"]
    assert [record["request_id"] for record in records] == [asked]
    empty = run("--home", home, "audit", "query", "--model", "nobody", "--json")
    assert json.loads(empty.stdout)["records"] == []


def test_counts_are_printed_and_are_json(run, home, asked) -> None:  # type: ignore[no-untyped-def]
    counted = json.loads(run("--home", home, "audit", "counts", "--by", "month", "--json").stdout)
    assert counted["total"] >= 1
    assert "all" in run("--home", home, "audit", "counts", "--of", "status").stdout


@pytest.mark.parametrize("suffix", [".csv", ".jsonl"])
def test_what_fits_is_written_to_a_file(run, home, asked, tmp_path, suffix) -> None:  # type: ignore[no-untyped-def]
    file = tmp_path / f"out{suffix}"
    result = run("--home", home, "audit", "query", "--user", "alice", "--out", file)
    assert result.exit_code == 0, result.output
    assert file.stat().st_size > 50
    assert run("--home", home, "audit", "query", "--out", tmp_path / "out.doc").exit_code == 2
    nowhere = run("--home", home, "audit", "query", "--out", tmp_path / "nowhere" / f"out{suffix}")
    assert nowhere.exit_code == 2
    assert "a folder that exists" in nowhere.stderr


def test_a_receipt_is_checked_by_a_stranger(run, home, asked, tmp_path) -> None:  # type: ignore[no-untyped-def]
    file = tmp_path / "receipt.json"
    file.write_bytes(run("--home", home, "audit", "receipt", asked).stdout_bytes)
    key = tmp_path / "key"
    key.write_bytes((home / "keys" / "signing.pub").read_bytes())
    alone = run("receipt", "check", file)
    assert alone.exit_code == 0, alone.output
    assert "does not prove origin" in alone.stdout
    known = run("receipt", "check", file, "--key", key)
    assert known.exit_code == 0
    assert "proves origin" in known.stdout
    file.write_bytes(file.read_bytes().replace(b"ANSWER", b"ABSTAIN", 1).replace(b"Nike", b"Puma", 1))
    broken = run("receipt", "check", file)
    assert broken.exit_code == 5
    assert "WRONG" in broken.stdout


def test_an_answer_gives_its_own_receipt(home) -> None:  # type: ignore[no-untyped-def]
    from citewell.audit.receipt_check import check_receipt
    from citewell.audit.receipts import receipt_bytes
    from citewell.knowledge.opening import open as open_home

    with open_home(home) as kb:
        answer = kb.ask("When was Nike founded?", user="carol")
        assert check_receipt(receipt_bytes(answer.receipt())).ok


def test_replay_comes_out_the_same(run, home, asked) -> None:  # type: ignore[no-untyped-def]
    result = run("--home", home, "audit", "replay", asked, "--json")
    outcome = json.loads(result.stdout)
    assert outcome["differences"] == []
    assert result.exit_code == 0
    assert "claims" in outcome["compared"]


def test_recheck_recall_and_reads_are_on_record(run, home, asked) -> None:  # type: ignore[no-untyped-def]
    run("--home", home, "audit", "show", asked, "--reader", "auditor")
    run("--home", home, "audit", "query", "--document", "reports/nike.md", "--reader", "lister")
    assert run("--home", home, "audit", "recheck", asked, "--reader", "eve").exit_code == 0
    recalled = run(
        "--home", home, "audit", "recall", "--document", "reports/nike.md", "--reason", "draft", "--json"
    )
    notices = json.loads(recalled.stdout)["notices"]
    own = [notice for notice in notices if notice["request_id"] == asked]
    assert own[0]["user"] == "alice"
    assert {"auditor", "eve", "lister"} <= set(own[0]["readers"])
    assert "reports/nike.md" in own[0]["text"]
    assert run("--home", home, "audit", "recall", "--document", "none.md").exit_code == 2
    assert run("--home", home, "audit", "check").exit_code == 0


def test_a_person_is_erased_by_command(run, home) -> None:  # type: ignore[no-untyped-def]
    from citewell.knowledge.opening import open as open_home

    with open_home(home) as kb:
        kb.ask("Where is the lamp of zebrafinch lit?", user="zoe")
    result = run("--home", home, "audit", "erase", "--user", "zoe", "--yes", "--json")
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout)["forgotten"]["traces"] == 1
    held = [path for path in home.rglob("*") if path.is_file() and b"zebrafinch" in path.read_bytes()]
    assert held == []
    assert run("--home", home, "audit", "check").exit_code == 0
    assert run("--home", home, "audit", "expire").exit_code == 0
