"""What leaves the home: checkpoints, proofs, exports, and the keys that vouch for them, by command."""

from __future__ import annotations

import base64
import json
import shutil
import stat
from pathlib import Path

import pytest

from citewell.audit import EntryKind, SqliteLog
from citewell.audit.__main__ import main
from citewell.audit.merkle import verify_consistency
from citewell.audit.notes import TrustedKeys, read_checkpoint, read_key


@pytest.fixture
def small(tmp_path: Path) -> Path:
    """A home with a log of three notices and nothing else."""
    home = tmp_path / "home"
    home.mkdir()
    log = SqliteLog(home / "audit.sqlite")
    for number in range(3):
        log.note(EntryKind.NOTICE, {"number": number}, subject="alice")
    log.close()
    return home


def test_the_checkpoint_command_prints_the_note_alone(run, small: Path) -> None:  # type: ignore[no-untyped-def]
    result = run("audit", "checkpoint", "--home", small)
    assert result.exit_code == 0
    found = read_checkpoint(result.stdout)
    assert found.size == 3
    assert TrustedKeys((small / "keys" / "signing.pub").read_text()).fault(found) == ""


def test_check_compares_with_a_kept_checkpoint_and_a_published_key(  # type: ignore[no-untyped-def]
    run, small: Path, tmp_path: Path
) -> None:
    (tmp_path / "kept").write_text(run("audit", "checkpoint", "--home", small).stdout)
    (tmp_path / "pub").write_text(run("audit", "key", "publish", "--home", small).stdout)
    words = ("audit", "check", "--home", small, "--key", tmp_path / "pub", "--checkpoint", tmp_path / "kept")
    result = run(*words)
    assert result.exit_code == 0, result.stdout
    (small / "audit.sqlite").unlink()
    for beside in small.glob("audit.sqlite-*"):
        beside.unlink()
    log = SqliteLog(small / "audit.sqlite")
    log.note(EntryKind.NOTICE, {})
    log.close()
    result = run(*words, "--json")
    assert result.exit_code == 5
    told = json.loads(result.stdout)
    assert (told["ok"], told["size"], [found["kind"] for found in told["findings"]]) == (
        False,
        1,
        ["rolled-back"],
    )


def test_prove_since_a_kept_checkpoint(run, small: Path, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    kept = tmp_path / "kept"
    kept.write_text(run("audit", "checkpoint", "--home", small).stdout)
    log = SqliteLog(small / "audit.sqlite")
    for number in range(10):
        log.note(EntryKind.NOTICE, {"number": number})
    log.close()
    proof = json.loads(run("audit", "prove", "--since", kept, "--home", small, "--json").stdout)
    assert (proof["old_size"], proof["size"]) == (3, 13)
    old, new = read_checkpoint(kept.read_text()), read_checkpoint(proof["checkpoint"])
    hashes = [base64.b64decode(one) for one in proof["hashes"]]
    assert verify_consistency(3, 13, old.root, new.root, hashes)
    assert "first 3 of 13" in run("audit", "prove", "--since", kept, "--home", small).stdout
    assert run("audit", "prove", "--home", small).exit_code == 2
    assert run("audit", "prove", "req_x", "--since", kept, "--home", small).exit_code == 2


def test_no_proof_for_a_checkpoint_of_another_history(run, small: Path, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    kept = tmp_path / "kept"
    text = run("audit", "checkpoint", "--home", small).stdout
    origin, size, _, *rest = text.split("\n")
    kept.write_text("\n".join([origin, size, base64.b64encode(bytes(32)).decode(), *rest]))
    result = run("audit", "prove", "--since", kept, "--home", small)
    assert result.exit_code not in (0, 2)
    assert "does not continue" in result.stderr
    kept.write_text("hello")
    assert run("audit", "prove", "--since", kept, "--home", small).exit_code == 2


@pytest.mark.parametrize("value", ["NULL", "x'7b7d'", "'{'"])
def test_a_configuration_that_was_changed_is_named(run, small: Path, value: str) -> None:  # type: ignore[no-untyped-def]
    log = SqliteLog(small / "audit.sqlite")
    log.note(EntryKind.CONFIGURATION, {"prompts": {"answer": "sha256:p"}, "citewell": "1"})
    with log.database.writing() as rows:
        rows.execute(f"UPDATE entries SET body = {value} WHERE seq = 4")
    log.close()
    result = run("audit", "check", "--home", small)
    assert result.exit_code == 5
    assert result.stdout.startswith(("withheld: entry 4", "edited: entry 4"))


def test_a_file_that_is_not_there_is_a_usage_error(run, small: Path) -> None:  # type: ignore[no-untyped-def]
    assert run("audit", "check", "--home", small, "--checkpoint", "none").exit_code == 2


def test_an_export_is_checked_without_the_home(run, small: Path, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    result = run("audit", "export", tmp_path / "export", "--home", small, "--reader", "carol")
    assert result.exit_code == 0
    # The export is recorded as a read.
    assert "4 entries" in result.stdout
    assert main([str(tmp_path / "export")]) == 0


def test_keys_are_made_rotated_backed_up_and_restored(run, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    home = tmp_path / "home"
    home.mkdir()
    first = run("audit", "key", "new", "--home", home)
    assert first.exit_code == 0
    read_key(first.stdout)
    assert run("audit", "key", "new", "--home", home).exit_code == 2
    second = run("audit", "key", "rotate", "--home", home, "--reason", "yearly")
    assert second.exit_code == 0
    assert run("audit", "key", "publish", "--home", home).stdout.splitlines() == [
        f"{first.stdout.strip()} until 0",
        second.stdout.strip(),
    ]
    assert run("audit", "key", "backup", tmp_path / "safe", "--home", home).exit_code == 0
    assert stat.S_IMODE((tmp_path / "safe" / "signing.key").stat().st_mode) == 0o600
    assert run("audit", "key", "restore", tmp_path / "safe", "--home", home).exit_code == 2
    (home / "keys" / "signing.key").unlink()
    assert run("audit", "key", "restore", tmp_path / "safe", "--home", home).exit_code == 0
    assert run("audit", "check", "--home", home).exit_code == 0


def test_a_backup_older_than_a_rotation_says_what_it_does_not_bring(run, small: Path, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    assert run("audit", "key", "backup", tmp_path / "old", "--home", small).exit_code == 0
    assert run("audit", "key", "rotate", "--home", small).exit_code == 0
    shutil.rmtree(small / "keys")
    partly = run("audit", "key", "restore", tmp_path / "old", "--home", small)
    assert partly.exit_code == 0
    assert "key new --lost" in partly.stderr
    assert run("audit", "key", "rotate", "--home", small).exit_code != 0
    assert run("audit", "key", "new", "--lost", "--home", small).exit_code == 0
    assert run("audit", "key", "rotate", "--home", small).exit_code == 0
    assert run("audit", "check", "--home", small).exit_code == 0


def test_a_lost_key_is_replaced_on_record(run, small: Path) -> None:  # type: ignore[no-untyped-def]
    (small / "keys" / "signing.key").unlink()
    result = run("audit", "key", "new", "--lost", "--reason", "the disk died", "--home", small)
    assert result.exit_code == 0
    assert run("audit", "check", "--home", small).exit_code == 0


def test_checkpoints_go_to_the_configured_witnesses(run, small: Path, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    good, bad = f"file:{tmp_path}/kept", f"file:{tmp_path}/none/kept"
    (small / "citewell.toml").write_text(f'[audit]\nwitnesses = ["{good}"]\n')
    assert run("audit", "checkpoint", "--publish", "--home", small).exit_code == 0
    assert "\n3\n" in (tmp_path / "kept").read_text()
    (small / "citewell.toml").write_text(f'[audit]\nwitnesses = ["{good}", "{bad}"]\n')
    failed = run("audit", "checkpoint", "--publish", "--home", small)
    assert failed.exit_code == 1
    assert "No such file" in failed.stderr
