"""From a file to a sealed answer and a checked log, work grows linearly with the file."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from benchmarks.access_world import fake_parts
from benchmarks.hostile_shapes import shapes
from benchmarks.hostile_tables import FORMS, WRITERS

from citewell.core.config import Config, Retrieval
from citewell.knowledge.home import KnowledgeBase

SIZE = 20_000
GROWTH = 8  # four times the text: linear work grows by 4, quadratic by 16
NOTICED = 1.0  # CPU seconds for the longer file: less is too short to time on a busy machine
TEXTS = ("headings", "list items", "tabbed rows", "sentences", "dates", "notes", "lead-ins", "mixed")
TABLES = ("long", "short cells", "groups", "rows of heads")


def cost(folder: Path, data: bytes, name: str) -> float:
    """CPU seconds of this process to ingest the file, ask about it and check the log; the worker's are
    measured elsewhere."""
    folder.mkdir()
    (folder / name).write_bytes(data)
    settings = Config(retrieval=Retrieval(relevance_threshold=0.2))
    with KnowledgeBase(fake_parts(folder / "home", settings)) as kb:
        started = time.process_time()
        assert kb.ingest(folder / name).files[0].status == "added"
        kb.ask("How much did the item of 2020 cost?")
        assert kb.log.check().ok
        return time.process_time() - started


@pytest.mark.slow
@pytest.mark.parametrize("kind", [*TEXTS, *TABLES])
def test_a_pass_costs_what_the_size_of_its_document_says(tmp_path: Path, kind: str) -> None:
    if kind in FORMS:
        files = [WRITERS["html"](FORMS[kind](size)) for size in (SIZE, 4 * SIZE)]
    else:
        files = [shapes(size)[kind].encode() for size in (SIZE, 4 * SIZE)]
    name = "given.html" if kind in FORMS else "given.md"
    cost(tmp_path / "first", b"The item of 2020 cost 5 euros.\n", "given.md")  # one-time loading
    first, second = (cost(tmp_path / str(len(data)), data, name) for data in files)
    if second > max(NOTICED, GROWTH * first):
        second = min(second, cost(tmp_path / "again", files[1], name))  # another process may have interfered
    assert second <= max(NOTICED, GROWTH * first), f"{first:.2f} s became {second:.2f} s"
