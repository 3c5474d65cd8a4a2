"""Evidence owns the words: what somebody writes into the index is never quoted, and a check names it."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
from benchmarks.access_world import fake_parts

from citewell.core.config import Config
from citewell.core.errors import IndexMismatchError
from citewell.core.identity import chunk_id
from citewell.core.records import Chunk
from citewell.documents.agreement import Agreement
from citewell.documents.chunking import chunk_document
from citewell.knowledge.home import KnowledgeBase

TEXT = "# Bridges\n\nThe bridge was paid for by the town.\n"
ASKED = "Who paid for the bridge?"


@pytest.fixture
def kb(tmp_path: Path) -> Iterator[KnowledgeBase]:
    with KnowledgeBase(fake_parts(tmp_path / "home", Config())) as made:
        for name in ("bridge", "tower"):
            (tmp_path / f"{name}.md").write_text(TEXT.replace("bridge", name))
            made.ingest(tmp_path / f"{name}.md")
        yield made


def rewrite(kb: KnowledgeBase, **fields: object) -> None:
    """The row of the bridge as somebody with the files of the index could leave it."""
    parts = kb._parts
    chunk = _bridge(kb)
    index = parts.index
    made = msgspec.structs.replace(chunk, **fields)
    if "content" in fields and "chunk_id" not in fields:
        made = msgspec.structs.replace(made, chunk_id=chunk.chunk_id)
    index.remove([chunk.document_id])
    index.add([made])
    index.publish()


def _bridge(kb: KnowledgeBase) -> Chunk:
    parts = kb._parts
    entry = next(e for e in parts.evidence.catalogue() if "bridge" in e.document_id)
    document = parts.evidence.latest(entry.document_id)
    assert document is not None
    return chunk_document(document, parts.config.chunking)[0]


def findings(kb: KnowledgeBase) -> list[str]:
    return [found.reason for found in kb.log.check().findings if found.kind == "index"]


def test_an_index_that_was_left_alone_agrees(kb: KnowledgeBase) -> None:
    assert kb.ask(ASKED).decision == "ANSWER"
    report = kb.log.check()
    assert report.ok, report.findings
    assert not any("index" in line for line in report.skipped)


@pytest.mark.parametrize("own_id", [False, True])
def test_words_put_into_the_index_are_an_error_and_no_answer(kb: KnowledgeBase, own_id: bool) -> None:
    before = _bridge(kb)
    said = before.content.replace("the town", "an enemy")
    named = chunk_id(before.document_version, before.start_offset, before.end_offset, said)
    rewrite(kb, content=said, **({"chunk_id": named} if own_id else {}))
    with pytest.raises(IndexMismatchError, match="does not contain"):
        kb.ask(ASKED)
    assert any("differs between the index" in reason for reason in findings(kb))


@pytest.mark.parametrize(
    "fields",
    [
        {"title": "The keeper's word"},
        {"context": "in millions"},
        {"published_at": "1999-01-01"},
        {"acl": ("x",)},
    ],
    ids=lambda fields: next(iter(fields)),
)
def test_what_stands_around_the_words_is_held_to_the_evidence_by_the_check(
    kb: KnowledgeBase, fields: dict[str, object]
) -> None:
    rewrite(kb, **fields)
    assert any("bridge.md: differs between the index" in reason for reason in findings(kb))


def test_a_document_without_rows_and_rows_without_a_document_are_named(kb: KnowledgeBase) -> None:
    bridge = _bridge(kb)
    kb._parts.index.remove([bridge.document_id])
    kb._parts.index.add([msgspec.structs.replace(bridge, document_id="smuggled.md")])
    kb._parts.index.publish()
    found = " | ".join(findings(kb))
    assert "bridge.md: missing from the index" in found
    assert "smuggled.md: in the index but not in the evidence" in found


def test_texts_stay_at_hand_and_their_number_is_bounded(
    kb: KnowledgeBase, monkeypatch: pytest.MonkeyPatch
) -> None:
    from citewell.documents import agreement

    monkeypatch.setattr(agreement, "_KEPT", 1)
    parts = kb._parts
    snapshot = parts.index.snapshot()
    chunks = [c for one in snapshot.documents({}) for c in snapshot.between(one.document_id, 0, 1 << 40)]
    agreed = Agreement(parts.evidence)
    agreed.hold([*chunks, *chunks])
    assert len(agreed._texts) == 1


def test_an_index_that_is_gone_or_cannot_be_read_is_no_pass(
    kb: KnowledgeBase, monkeypatch: pytest.MonkeyPatch
) -> None:
    from citewell.documents import agreement

    def unreadable(*_: object) -> None:
        raise RuntimeError("lance error: corrupt")

    monkeypatch.setattr(agreement, "index_findings", unreadable)
    report = kb.log.check()
    assert not report.ok
    assert any("cannot be compared" in reason for reason in findings(kb))
    shutil.rmtree(kb.home / "index")
    assert any("it is gone" in reason for reason in findings(kb))
