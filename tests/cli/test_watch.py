"""``citewell watch`` follows a folder until it is told to stop."""

from __future__ import annotations

import itertools
import os
import signal
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from citewell.core.errors import UsageError
from citewell.knowledge.home import KnowledgeBase

Step = Callable[[], object]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "apples.md").write_text("# On apples\n\nApples are picked in September.\n")
    return tmp_path / "docs"


def steps(monkeypatch: pytest.MonkeyPatch, *given: Step, looks: int = 2) -> list[int]:
    """Instead of a pause, counts the ingests so far; after every ``looks`` pauses the next of ``given``
    happens, and at the end SIGTERM comes."""
    ingest, ingests, counted = KnowledgeBase.ingest, itertools.count(1), [0]
    pauses, seen = itertools.count(1), list[int]()

    def ingesting(*words: object, **options: object) -> object:
        counted[0] = next(ingests)
        return ingest(*words, **options)  # type: ignore[arg-type]

    def pause(_: float) -> None:
        place, rest = divmod(next(pauses), looks)
        if rest:
            return
        seen.append(counted[0])
        if place <= len(given):
            given[place - 1]()
        else:
            os.kill(os.getpid(), signal.SIGTERM)

    monkeypatch.setattr(KnowledgeBase, "ingest", ingesting)
    monkeypatch.setattr(time, "sleep", pause)
    return seen


def test_a_folder_is_followed_with_a_line_for_each_change(run, folder, monkeypatch) -> None:  # type: ignore[no-untyped-def]
    before = signal.getsignal(signal.SIGTERM)
    ingests = steps(
        monkeypatch,
        lambda: None,
        lambda: (folder / "plums.md").write_text("# On plums\n\nPlums are picked in August.\n"),
        lambda: (folder / "bad.pdf").write_bytes(b"%PDF-1.7\nnothing more"),
        lambda: (folder / "apples.md").unlink(),
    )
    result = run("watch", folder, "--acl", "growers")
    assert result.exit_code == 0, result.output
    assert result.stdout.splitlines() == [
        "added: docs/apples.md",
        "added: docs/plums.md",
        "withdrawn: docs/apples.md (its file was deleted)",
    ]
    assert [line for line in result.stderr.splitlines() if "bad.pdf" in line] == [
        line for line in result.stderr.splitlines() if line.startswith("failed: ")
    ]
    assert result.stderr.count("bad.pdf") == 1
    assert "Stopped." in result.stderr
    assert ingests == [1, 1, 2, 3, 4]  # nothing is read where nothing changed
    assert "growers" in run("documents", "show", "docs/plums.md").output
    assert signal.getsignal(signal.SIGTERM) == before


def test_a_file_is_not_read_while_it_is_being_written(run, folder, monkeypatch) -> None:  # type: ignore[no-untyped-def]
    def write(text: str) -> Step:
        return lambda: (folder / "plums.md").write_text(text)

    parts = ["# On plums\n", "# On plums\n\nPlums are", "# On plums\n\nPlums are picked in August.\n"]
    ingests = steps(monkeypatch, *map(write, parts), lambda: None, lambda: None, looks=1)
    result = run("watch", folder)
    assert ingests == [1, 1, 1, 1, 2, 2]
    assert result.stdout.splitlines() == ["added: docs/apples.md", "added: docs/plums.md"]


def test_an_error_is_told_once_and_tried_again(run, folder, monkeypatch) -> None:  # type: ignore[no-untyped-def]
    errors = [UsageError("another ingest is writing", hint="wait for it")] * 2
    ingest = KnowledgeBase.ingest

    def busy(*words: object, **options: object) -> object:
        if errors:
            raise errors.pop()
        return ingest(*words, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(KnowledgeBase, "ingest", busy)
    steps(monkeypatch, lambda: None, lambda: None)
    result = run("watch", folder)
    assert result.exit_code == 0
    assert result.stderr.count("another ingest is writing") == 1
    assert result.stdout.splitlines() == ["added: docs/apples.md"]


def test_a_folder_that_is_not_there_is_a_usage_error(run) -> None:  # type: ignore[no-untyped-def]
    result = run("watch", "nowhere")
    assert result.exit_code == 2
    assert "nowhere is not a folder" in result.stderr
