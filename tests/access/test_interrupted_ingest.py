"""An interrupted ingest: only what the log commits to can be asked about."""

from __future__ import annotations

from pathlib import Path

import pytest
from benchmarks.access_world import fake_parts

from citewell.audit.entries import EntryKind
from citewell.core.config import Config
from citewell.documents.outcomes import IngestProgress
from citewell.knowledge.home import KnowledgeBase


def test_what_an_interrupted_ingest_published_is_sealed(tmp_path: Path) -> None:
    folder = tmp_path / "papers"
    folder.mkdir()
    for number in range(4):
        (folder / f"{number}.txt").write_text(f"Report {number} is about whales and their songs.\n" * 4)

    def stop(step: IngestProgress) -> None:
        if step.files == 2:
            raise KeyboardInterrupt

    with KnowledgeBase(fake_parts(tmp_path / "home", Config())) as kb:
        with pytest.raises(KeyboardInterrupt):
            kb.ingest(folder, progress=stop)
        found = {entry.document_id for entry in kb.documents()}
        log = kb.parts.log
        sealed = [log.body(entry) for entry in log.entries(EntryKind.INGEST)]
    assert found
    assert {source["document_id"] for body in sealed for source in body["documents"]} == found
