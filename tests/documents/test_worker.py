"""The reading process: same documents as without it, and no file brings the caller down."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from citewell.core.config import Chunking, Documents
from citewell.core.errors import DamagedError, DocumentError, LimitError, UnreadableError, UnsupportedError
from citewell.documents import process
from citewell.documents.chunking import chunk_document
from citewell.documents.reading import read_bytes
from citewell.documents.worker import ParsingWorker


@pytest.fixture(scope="module")
def worker() -> Iterator[ParsingWorker]:
    with ParsingWorker(Documents()) as opened:
        yield opened


def test_it_reads_what_reading_in_process_gives(worker: ParsingWorker, tmp_path: Path) -> None:
    path = tmp_path / "a.md"
    path.write_text("# Head\n\nPublished on July 3, 2020.\n\n| a | b |\n|---|---|\n| x | 1 |\n")
    document = worker.read(path, document_id="lib/a.md")
    assert document == read_bytes(path.read_bytes(), document_id="lib/a.md", uri=str(path))


def test_the_day_a_file_was_copied_is_no_date_of_publication(worker: ParsingWorker, tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("No date in here.\n")
    os.utime(path, (1_600_000_000, 1_600_000_000))
    assert worker.read(path, document_id="a").published_at is None


def test_errors_cross_the_wall_with_their_hints(worker: ParsingWorker, tmp_path: Path) -> None:
    (tmp_path / "a.pdf").write_text("only text")
    with pytest.raises(UnsupportedError) as caught:
        worker.read(tmp_path / "a.pdf", document_id="a.pdf")
    assert caught.value.hint
    with pytest.raises(UnreadableError):
        worker.read(tmp_path / "missing", document_id="m")
    with pytest.raises(UnreadableError):
        worker.read(Path("/dev/zero"), document_id="z")


def test_the_process_is_kept_between_files(worker: ParsingWorker, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("Some words.")
    worker.read(tmp_path / "a.txt", document_id="a")
    first = worker._process
    worker.read(tmp_path / "a.txt", document_id="a")
    assert worker._process is first


def test_a_module_in_the_working_folder_is_not_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "lxml.py").write_text("raise SystemExit('taken over')")
    (tmp_path / "a.html").write_text("<!doctype html><p>Safe.")
    monkeypatch.chdir(tmp_path)
    with ParsingWorker(Documents()) as fresh:
        assert fresh.read(Path("a.html"), document_id="a").text == "Safe.\n"


def test_a_reader_out_of_memory_is_a_limit_and_the_next_file_is_read(tmp_path: Path) -> None:
    (tmp_path / "big.csv").write_text("a,b\n" + "1234,5678\n" * 1_500_000)
    (tmp_path / "small.csv").write_text("a,b\n1,2\n")
    with ParsingWorker(Documents(memory_mb=300)) as small:
        with pytest.raises((LimitError, DamagedError), match="memory_mb"):
            small.read(tmp_path / "big.csv", document_id="big")
        assert small.read(tmp_path / "small.csv", document_id="small").text == "a\tb\n1\t2\n"


def test_a_reader_out_of_time_is_killed_and_the_next_file_is_read(tmp_path: Path) -> None:
    (tmp_path / "slow.md").write_text("# A\n\n" + "a **b** *c* [d](e)\n" * 300_000)
    (tmp_path / "quick.md").write_text("# A\n\nText.\n")
    with ParsingWorker(Documents(timeout_s=1.0)) as hasty:
        hasty.read(tmp_path / "quick.md", document_id="q")
        began = time.monotonic()
        with pytest.raises(LimitError, match="timeout_s"):
            hasty.read(tmp_path / "slow.md", document_id="s")
        assert time.monotonic() - began < 10
        assert hasty.read(tmp_path / "quick.md", document_id="q").text == "A\nText.\n"


def test_a_crash_is_an_error_of_that_file_alone(tmp_path: Path) -> None:
    (tmp_path / "slow.md").write_text("# A\n\n" + "a **b** *c* [d](e)\n" * 200_000)
    (tmp_path / "quick.md").write_text("# A\n\nText.\n")
    with ParsingWorker(Documents()) as fragile:
        fragile.read(tmp_path / "quick.md", document_id="q")
        assert fragile._process is not None
        threading.Timer(0.3, os.kill, (fragile._process.pid, signal.SIGSEGV)).start()
        with pytest.raises(DamagedError, match="SIGSEGV"):
            fragile.read(tmp_path / "slow.md", document_id="s")
        assert fragile.read(tmp_path / "quick.md", document_id="q").text == "A\nText.\n"


def test_nothing_is_left_running(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("Some words.")
    with ParsingWorker(Documents()) as opened:
        opened.read(tmp_path / "a.txt", document_id="a")
        process = opened._process
    assert process is not None
    assert process.poll() is not None


@pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="this system has no /proc")
def test_the_reading_process_holds_no_keys(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-secret")
    (tmp_path / "a.txt").write_text("Some words.")
    with ParsingWorker(Documents()) as worker:
        worker.read(tmp_path / "a.txt", document_id="a")
        assert worker._process is not None
        held = Path(f"/proc/{worker._process.pid}/environ").read_bytes()
    assert b"PATH=" in held
    assert b"sk-secret" not in held


@pytest.mark.skipif(not Path("/proc/net/dev").exists(), reason="this system has no /proc")
def test_the_reading_process_has_no_network(tmp_path: Path) -> None:
    allowed = "import citewell.documents.process as p; raise SystemExit(not p.leave_network())"
    if subprocess.run([sys.executable, "-c", allowed], check=False).returncode:
        pytest.skip("this system lets no process leave its network")
    (tmp_path / "a.txt").write_text("Some words.")
    with ParsingWorker(Documents()) as worker:
        worker.read(tmp_path / "a.txt", document_id="a")
        assert worker._process is not None
        routes = Path(f"/proc/{worker._process.pid}/net/route").read_text().splitlines()
    assert len(routes) <= 1, "it can reach something"


@pytest.mark.parametrize("family", ["AF_INET", "AF_INET6", "AF_UNIX"])
def test_a_process_that_cannot_leave_its_network_opens_no_socket(family: str) -> None:
    tried = (
        "import socket, citewell.documents.process as p\nif not p.refuse_sockets(): raise SystemExit(3)\n"
        f"try: socket.socket(socket.{family})\nexcept PermissionError: raise SystemExit(0)\n"
        "raise SystemExit(1)"
    )
    done = subprocess.run([sys.executable, "-c", tried], check=False).returncode
    if done == 3:
        pytest.skip("this system has no seccomp filters, or not for this machine")
    assert done == 0


def test_what_is_read_and_cut_is_cut_as_without_the_worker(worker: ParsingWorker, tmp_path: Path) -> None:
    path = tmp_path / "a.md"
    path.write_text("# Head\n\n" + "One sentence of several words. " * 300)
    read = worker.open(path, document_id="a", chunking=Chunking())
    document, chunks = read.document, read.chunks
    assert document is not None
    assert list(chunks) == chunk_document(document, Chunking())
    assert len(chunks) > 1
    again = worker.open(path, document_id="a", chunking=Chunking(), known=document)
    assert (again.document, again.chunks) == (document, chunks)


def test_an_archive_is_opened_once_for_all_its_parts_unless_it_changes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, opened, files = tmp_path / "a.zip", list[str](), process._Files()

    def counted(data: bytes, *, uri: str, limits: Documents, real: Any = process.OpenedFile) -> Any:
        opened.append(uri)
        return real(data, uri=uri, limits=limits)

    def write(*texts: bytes) -> None:
        with zipfile.ZipFile(path, "w") as archive:
            for number, text in enumerate(texts):
                archive.writestr(f"{number}.txt", text)

    def read(*part: int) -> str:
        request = process.Request(path=bytes(path), document_id="a", limits=Documents(), part=part)
        document, _ = files.read(request)
        return document.text if document else ""

    monkeypatch.setattr(process, "OpenedFile", counted)
    write(b"one", b"\0", b"two")
    assert (read(), read(0)) == ("", "one\n")
    with pytest.raises(DocumentError):
        read(1)
    assert read(2) == "two\n"
    assert len(opened) == 1
    write(b"one", b"\0", b"three")
    assert read(2) == "three\n"
    assert len(opened) == 2


def hostile(n: int) -> dict[str, str]:
    heads, cells = "".join(f"<th>c{i}" for i in range(n)), "".join(f"<td>{i}" for i in range(n))
    attributes = " ".join(f'a{i}="{i}"' for i in range(n))
    return {
        "backticks.md": "# A\n\n" + " ".join("`" * (i % 400 + 1) + "a" for i in range(n)),
        "attributes.html": f"<!doctype html><p {attributes}>Some words.</p>",
        "columns.html": f"<!doctype html><table><tr>{heads}<tr>{cells}</table>",
    }


@pytest.mark.parametrize("name", hostile(1))
def test_the_limit_covers_cutting_too(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_text(hostile(8_000)[name])
    (tmp_path / "quick.txt").write_text("Text.")
    with ParsingWorker(Documents(timeout_s=2.0)) as hasty:
        hasty.read(tmp_path / "quick.txt", document_id="q")
        began = time.monotonic()
        with contextlib.suppress(LimitError):
            hasty.open(path, document_id="a", chunking=Chunking())
        assert time.monotonic() - began < 5


def test_what_is_being_read_can_be_ended_from_another_thread(tmp_path: Path) -> None:
    (tmp_path / "slow.md").write_text("# A\n\n" + "a **b** *c* [d](e)\n" * 300_000)
    with ParsingWorker(Documents()) as opened:
        threading.Timer(1.0, opened.kill).start()
        began = time.monotonic()
        with pytest.raises(LimitError):
            opened.read(tmp_path / "slow.md", document_id="s")
        assert time.monotonic() - began < 10
