"""A third party checks an export without anything from the home that wrote it."""

from __future__ import annotations

import base64
import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from citewell.audit import EntryKind, SqliteLog
from citewell.audit.__main__ import main
from citewell.audit.export import export
from citewell.audit.merkle import Frontier, leaf_hash, verify_inclusion
from citewell.audit.notes import read_checkpoint
from citewell.audit.tiles import bundle_path, read_bundle, tile_path, write_bundle
from citewell.core.errors import UsageError


@pytest.fixture
def log(log_path: Path) -> SqliteLog:
    return SqliteLog(log_path)


def long_log(path: Path, count: int) -> SqliteLog:
    log = SqliteLog(path)
    from threading import Thread

    threads = [
        Thread(target=lambda: [log.note(EntryKind.NOTICE, {"n": n}) for n in range(count // 20)])
        for _ in range(20)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return log


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        (tile_path(0, 0), "tile/0/000"),
        (tile_path(1, 7, 3), "tile/1/007.p/3"),
        (bundle_path(1234067), "tile/entries/x001/x234/067"),
        (bundle_path(999, 255), "tile/entries/999.p/255"),
        (bundle_path(1000), "tile/entries/x001/000"),
    ],
)
def test_paths_are_those_of_the_specification(path: str, expected: str) -> None:
    assert path == expected


def test_bundles_are_those_of_the_specification() -> None:
    data = write_bundle([b"ab", b"", b"c" * 300])
    assert data == b"\x00\x02ab\x00\x00\x01\x2c" + b"c" * 300
    assert read_bundle(data) == [b"ab", b"", b"c" * 300]
    with pytest.raises(ValueError, match="middle"):
        read_bundle(data[:-1])
    with pytest.raises(ValueError, match="longer"):
        write_bundle([b"c" * 70_000])


def test_an_export_checks_and_its_tiles_give_the_signed_root(tmp_path: Path) -> None:
    log = long_log(tmp_path / "audit.sqlite", 520)
    folder = tmp_path / "export"
    assert export(log, folder) == 520
    leaves = [
        leaf
        for path in ("tile/entries/000", "tile/entries/001", "tile/entries/002.p/8")
        for leaf in read_bundle((folder / path).read_bytes())
    ]
    frontier = Frontier()
    for leaf in leaves:
        frontier.append(leaf_hash(leaf))
    assert frontier.root() == read_checkpoint((folder / "checkpoint").read_text()).root
    assert (folder / "tile/0/002.p/8").read_bytes() == b"".join(map(leaf_hash, leaves[512:]))
    assert (folder / "tile/1/000.p/2").stat().st_size == 64
    assert main([str(folder), "--key", str(tmp_path / "keys" / "signing.pub")]) == 0


def test_a_later_export_goes_on_where_the_first_ended(tmp_path: Path, log: SqliteLog) -> None:
    export(log, tmp_path / "export")
    log.note(EntryKind.NOTICE, {"n": 1})
    assert export(log, tmp_path / "export") == 6
    assert main([str(tmp_path / "export")]) == 0


def test_an_export_is_not_written_over_another_log(tmp_path: Path, log: SqliteLog) -> None:
    export(log, tmp_path / "export")
    (tmp_path / "other").mkdir()
    with pytest.raises(UsageError, match="another folder"):
        export(SqliteLog(tmp_path / "other" / "audit.sqlite"), tmp_path / "export")


def test_no_word_of_a_person_leaves_with_the_export(tmp_path: Path, log: SqliteLog) -> None:
    export(log, tmp_path / "export")
    held = b"".join(path.read_bytes() for path in (tmp_path / "export").rglob("*") if path.is_file())
    assert b"question" not in held
    assert b"alice" not in held


def change_body(folder: Path) -> None:
    path = folder / "bodies/000.jsonl"
    path.write_text(path.read_text().replace("extractive", "EXTRACTIVE", 1))


def change_leaf(folder: Path) -> None:
    path = folder / "tile/entries/000.p/5"
    path.write_bytes(path.read_bytes().replace(b"2026-11", b"2025-11", 1))


def change_tile(folder: Path) -> None:
    path = folder / "tile/0/000.p/5"
    path.write_bytes(bytes(32) + path.read_bytes()[32:])


def change_checkpoint(folder: Path) -> None:
    path = folder / "checkpoint"
    path.write_text(path.read_text().replace("\n5\n", "\n6\n"))


def take_out_a_leaf(folder: Path) -> None:
    path = folder / "tile/entries/000.p/5"
    path.write_bytes(write_bundle(read_bundle(path.read_bytes())[:4]))


@pytest.mark.parametrize(
    ("deed", "code", "said"),
    [
        (change_body, 5, "edited: entry 1"),
        (change_leaf, 5, "edited: entry 1"),
        (change_tile, 5, "checkpoint"),
        (change_checkpoint, 2, "cannot be checked"),
        (take_out_a_leaf, 2, "is incomplete"),
    ],
)
def test_a_changed_export_does_not_pass(
    tmp_path: Path,
    log: SqliteLog,
    capsys: pytest.CaptureFixture[str],
    deed: Callable[[Path], None],
    code: int,
    said: str,
) -> None:
    export(log, tmp_path / "export")
    deed(tmp_path / "export")
    assert main([str(tmp_path / "export")]) == code
    assert said in "".join(capsys.readouterr())


def test_an_export_signed_by_somebody_else_does_not_pass_with_the_published_key(
    tmp_path: Path, log: SqliteLog, log_path: Path
) -> None:
    published = tmp_path / "published"
    published.write_text(log.keys.published())
    log.close()
    shutil.rmtree(tmp_path / "keys")
    log_path.unlink()
    forged = SqliteLog(log_path)
    forged.note(EntryKind.NOTICE, {})
    export(forged, tmp_path / "forged")
    assert main([str(tmp_path / "forged")]) == 0
    assert main([str(tmp_path / "forged"), "--key", str(published)]) == 5


def test_a_stranger_runs_the_checker_as_a_program(tmp_path: Path, log: SqliteLog, log_path: Path) -> None:
    export(log, tmp_path / "export")
    for path in (tmp_path / "export", log_path):
        done = subprocess.run(
            [sys.executable, "-W", "error", "-m", "citewell.audit", str(path)],
            capture_output=True,
            text=True,
            check=False,
        )
        assert (done.returncode, done.stdout) == (0, "whole: 5 entries, 0 findings\n"), done.stderr
        assert "integrity but not origin" in done.stderr


def test_nothing_to_check_is_not_a_pass(tmp_path: Path) -> None:
    assert main([str(tmp_path / "none")]) == 2
    (tmp_path / "empty").mkdir()
    assert main([str(tmp_path / "empty")]) == 2


def test_an_export_is_not_written_over_another_history_of_the_same_log(
    tmp_path: Path, log: SqliteLog
) -> None:
    export(log, tmp_path / "export")
    rewritten = SqliteLog(tmp_path / "rewritten.sqlite", keys=log.keys)
    for number in range(7):
        rewritten.note(EntryKind.NOTICE, {"said": f"otherwise {number}"})
    with pytest.raises(UsageError, match="does not continue"):
        export(rewritten, tmp_path / "export")
    assert main([str(tmp_path / "export")]) == 0


def test_an_entry_is_proved_to_be_in_the_log(log: SqliteLog) -> None:
    for seq in range(1, 6):
        proof = log.prove(seq)
        found = read_checkpoint(proof.checkpoint)
        hashes = [base64.b64decode(digest) for digest in proof.hashes]
        data = leaf_hash(proof.leaf.encode())
        assert json.loads(proof.leaf)["seq"] == seq
        assert verify_inclusion(data, proof.index, proof.size, hashes, found.root)
        assert log.at(seq).hash == "sha256:" + data.hex()
    with pytest.raises(UsageError, match="no entry 6"):
        log.prove(6)


@pytest.mark.parametrize("odd", ["\u2028", "\u0085", "\r", "\x1c", "\ud7ff"])
def test_an_export_checks_whatever_stands_in_a_body(tmp_path: Path, odd: str) -> None:
    log = SqliteLog(tmp_path / "audit.sqlite")
    log.note(EntryKind.NOTICE, {"text": f"one{odd}two"})
    log.note(EntryKind.NOTICE, {"text": "three"})
    export(log, tmp_path / "export")
    assert main([str(tmp_path / "export")]) == 0


@pytest.mark.parametrize("line", ["[]", "7", '{"seq": 1}', "{", "[" * 100_000])
def test_an_export_that_cannot_be_read_is_said_to_be_so(
    tmp_path: Path, line: str, log: SqliteLog, capsys: pytest.CaptureFixture[str]
) -> None:
    export(log, tmp_path / "export")
    bodies = tmp_path / "export" / "bodies" / "000.jsonl"
    bodies.write_text("\n".join([line, *bodies.read_text().split("\n")[1:]]))
    assert main([str(tmp_path / "export")]) == 2
    assert "bundle 0 of the export cannot be read" in capsys.readouterr().err
