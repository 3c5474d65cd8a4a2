"""A home's contents belong to its owner alone, whatever the umask."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from citewell.audit.keys import FolderKeys


@pytest.fixture(params=[0o000, 0o022, 0o277], ids=oct)
def umask(request: pytest.FixtureRequest) -> Iterator[None]:
    before = os.umask(request.param)
    yield
    os.umask(before)


def rights(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.mark.parametrize("made_by", ["ingest", "init"])
def test_a_home_and_its_databases_are_their_owners_alone(run, tmp_path: Path, made_by: str) -> None:  # type: ignore[no-untyped-def]
    (tmp_path / "a.md").write_text("# Lamps\n\nThe lamp is lit at dusk.\n")
    home = tmp_path / "above" / "home"
    before = os.umask(0)
    try:
        if made_by == "init":
            assert run("init", "--home", home).exit_code == 0
        assert run("ingest", tmp_path / "a.md", "--home", home).exit_code == 0
        assert run("ask", "When is the lamp lit?", "--home", home).exit_code in (0, 3, 4)
        assert run("keys", "create", "--user", "alice", "--home", home).exit_code == 0
    finally:
        os.umask(before)
    assert rights(home) == 0o700
    for path in home.iterdir():
        assert rights(path) == (0o700 if path.is_dir() else 0o600), path
    assert {rights(path) for path in (home / "keys").iterdir()} == {0o600}
    assert rights(home.parent) != 0o700


def test_keys_are_readable_by_their_owner_and_nobody_else(umask: None, tmp_path: Path) -> None:
    keys = FolderKeys(tmp_path / "keys")
    keys.subject("alice")
    keys.signer()
    assert rights(tmp_path / "keys") == 0o700
    assert rights(tmp_path / "keys" / "subjects.sqlite") == 0o600
    assert rights(tmp_path / "keys" / "signing.pub") == 0o600


def test_rights_that_somebody_gave_stay(run, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    home = tmp_path / "home"
    home.mkdir(mode=0o750)
    home.chmod(0o750)
    (tmp_path / "a.md").write_text("# Lamps\n\nThe lamp is lit at dusk.\n")
    assert run("ingest", tmp_path / "a.md", "--home", home).exit_code == 0
    assert rights(home) == 0o750


def test_what_is_written_into_a_home_that_others_may_enter_is_its_owners_alone(  # type: ignore[no-untyped-def]
    run, tmp_path: Path
) -> None:
    home = tmp_path / "home"
    home.mkdir()
    home.chmod(0o755)
    (tmp_path / "a.md").write_text("# Lamps\n\nThe lamp is lit at dusk.\n")
    assert run("ingest", tmp_path / "a.md", "--home", home).exit_code == 0
    assert run("ask", "When is the lamp lit?", "--home", home).exit_code in (0, 3, 4)
    assert run("audit", "query", "--out", home / "said.csv", "--home", home).exit_code == 0
    recalled = run("audit", "recall", "--document", "a.md", "--out", home / "notices", "--home", home)
    assert recalled.exit_code == 0
    assert run("audit", "export", home / "copy", "--home", home).exit_code == 0
    for path in home.iterdir():
        allowed = 0o755 if path == home / "copy" else 0o700
        assert rights(path) == (allowed if path.is_dir() else 0o600), path
    for folder in (home / "copy", home / "notices"):
        files = [path for path in folder.rglob("*") if path.is_file()]
        assert files
        assert {rights(path) for path in files} == {0o600}
