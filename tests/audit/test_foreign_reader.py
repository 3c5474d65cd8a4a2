"""Third-party code reads our exports: the checker of Go's module log, `golang.org/x/mod/sumdb`.

Skipped without Go (Debian: `apt-get install golang-go golang-golang-x-mod-dev`)."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from citewell.audit import EntryKind, SqliteLog
from citewell.audit.export import export
from citewell.core.identity import canonical_json

SOURCE = Path(__file__).parent / "foreign" / "reader.go"
GOPATH = Path(os.environ.get("CITEWELL_TEST_GOPATH", "/usr/share/gocode"))
OLD, SIZE = 300, 520
"""Both end partway through a tile."""

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def reader(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The reader, compiled offline against the library's source."""
    if shutil.which("go") is None or not (GOPATH / "src/golang.org/x/mod/sumdb/tlog").is_dir():
        pytest.skip("no Go with golang.org/x/mod here: apt-get install golang-go golang-golang-x-mod-dev")
    folder = tmp_path_factory.mktemp("reader")
    settings = {"GO111MODULE": "off", "GOPATH": str(GOPATH), "GOCACHE": str(folder / "cache"), "GOFLAGS": ""}
    subprocess.run(
        ["go", "build", "-o", str(folder / "reader"), str(SOURCE)],
        env={**os.environ, **settings},
        check=True,
        capture_output=True,
    )
    return folder / "reader"


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the export, the key, an older checkpoint, and our own proofs."""
    home = tmp_path_factory.mktemp("exported")
    log = SqliteLog(home / "audit.sqlite")
    for number in range(OLD):
        log.note(EntryKind.NOTICE, {"number": number})
    (home / "older").write_text(log.checkpoint(), encoding="utf-8")
    for number in range(OLD, SIZE):
        log.note(EntryKind.NOTICE, {"number": number}, subject="alice" if number % 50 == 0 else "")
    export(log, home / "log")
    (home / "key").write_text(log.keys.published(), encoding="utf-8")
    proofs = [canonical_json(log.prove(seq)) for seq in (1, 2, 256, 257, 512, 513, SIZE)]
    (home / "proofs").write_bytes(b"\n".join(proofs))
    (home / "growth").write_bytes(canonical_json(log.grew_from((home / "older").read_text())))
    log.close()
    return home


@pytest.fixture
def copy(exported: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(exported, tmp_path / "copy"))


def read(reader: Path, home: Path) -> subprocess.CompletedProcess[str]:
    words = ["-log", "log", "-key", "key", "-older", "older", "-proofs", "proofs", "-growth", "growth"]
    return subprocess.run([str(reader), *words], cwd=home, capture_output=True, text=True, check=False)


def test_a_foreign_reader_checks_signature_inclusion_and_consistency(reader: Path, exported: Path) -> None:
    done = read(reader, exported)
    assert done.stderr == ""
    assert done.stdout.splitlines() == [
        f"signature {SIZE}",
        f"inclusion {SIZE}",
        "proofs 7",
        f"consistency {OLD}",
        f"growth {OLD}",
    ]


def flip(path: Path, at: int) -> None:
    data = bytearray(path.read_bytes())
    data[at] ^= 1
    path.write_bytes(bytes(data))


@pytest.mark.parametrize(
    ("file", "at", "what"),
    [
        ("log/checkpoint", -10, "signature"),
        ("log/tile/0/001", 40, "tiles"),
        ("log/tile/1/000.p/2", 3, "tiles"),
        ("log/tile/entries/001", 20, "inclusion"),
    ],
)
def test_a_foreign_reader_refuses_what_was_changed(
    reader: Path, copy: Path, file: str, at: int, what: str
) -> None:
    flip(copy / file, at)
    done = read(reader, copy)
    assert done.returncode == 1
    assert what in done.stderr


def test_a_foreign_reader_refuses_another_key_and_another_history(
    reader: Path, copy: Path, tmp_path: Path
) -> None:
    (tmp_path / "other").mkdir()
    other = SqliteLog(tmp_path / "other" / "audit.sqlite")
    for number in range(OLD):
        other.note(EntryKind.NOTICE, {"another": number})
    mine = (copy / "key").read_text()
    (copy / "key").write_text(other.keys.published(), encoding="utf-8")
    assert "signature" in read(reader, copy).stderr
    # Signed under both keys, but not part of this history.
    (copy / "key").write_text(f"{mine}\n{other.keys.published()}", encoding="utf-8")
    (copy / "older").write_text(other.checkpoint(), encoding="utf-8")
    done = read(reader, copy)
    assert done.returncode == 1
    assert "consistency" in done.stderr
    other.close()
