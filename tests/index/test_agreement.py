"""Evidence owns the text: words written into the index are never quoted, and a check names them."""

from __future__ import annotations

import random
import shutil
import threading
from collections import OrderedDict
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
from benchmarks.access_world import fake_parts

from citewell.core.config import Chunking, Config
from citewell.core.errors import IndexMismatchError
from citewell.core.identity import chunk_id
from citewell.core.records import Chunk
from citewell.documents.agreement import IndexChecker
from citewell.documents.chunking import Surroundings, chunk_document
from citewell.documents.reading import read_bytes
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
    """Rewrites the bridge's row, as somebody with access to the index files could."""
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


def _keeping_one(kb: KnowledgeBase, monkeypatch: pytest.MonkeyPatch) -> tuple[IndexChecker, list[Chunk]]:
    """A checker that keeps one text at hand, and all chunks."""
    from citewell.documents import agreement

    monkeypatch.setattr(agreement, "_KEPT", 1)
    parts = kb._parts
    snapshot = parts.index.snapshot()
    chunks = [c for one in snapshot.documents({}) for c in snapshot.between(one.document_id, 0, 1 << 40)]
    return IndexChecker(parts.evidence, parts.config.chunking), chunks


def test_texts_stay_at_hand_and_their_number_is_bounded(
    kb: KnowledgeBase, monkeypatch: pytest.MonkeyPatch
) -> None:
    agreed, chunks = _keeping_one(kb, monkeypatch)
    assert agreed.hold([*chunks, *chunks]) == [*chunks, *chunks]
    assert len(agreed._kept) == 1


def test_threads_that_push_each_others_texts_out_read_them_all(
    kb: KnowledgeBase, monkeypatch: pytest.MonkeyPatch
) -> None:
    agreed, chunks = _keeping_one(kb, monkeypatch)
    other = threading.Thread(target=agreed.hold, args=(chunks[1:],))

    class Interrupted(OrderedDict[tuple[str, str], Surroundings]):
        """Another thread reads the other document just before the first one is used."""

        def move_to_end(self, key: tuple[str, str], last: bool = True) -> None:
            if not other.ident:
                other.start()
                other.join(0.5)
            super().move_to_end(key, last)

    agreed.hold(chunks[:1])
    agreed._kept = Interrupted(agreed._kept)
    assert agreed.hold(chunks[:1]) == chunks[:1]
    other.join()


def test_what_stands_around_the_words_is_the_documents_when_they_are_read(kb: KnowledgeBase) -> None:
    true = _bridge(kb)
    rewrite(kb, title="The keeper's word", section_path=("Lies",), context="in millions", author="X")
    (passage,) = [p for p in kb.search(ASKED) if p.chunk.document_id == true.document_id]
    for name in ("title", "section_path", "context", "published_at", "author", "rows", "page"):
        assert getattr(passage.chunk, name) == getattr(true, name)


def test_an_access_list_opened_in_the_index_opens_nothing(kb: KnowledgeBase) -> None:
    bridge = _bridge(kb).document_id
    kb.share(bridge, ["board"])
    rewrite(kb, acl=())
    assert bridge in {p.chunk.document_id for p in kb.search(ASKED, groups=["board"])}
    assert bridge not in {p.chunk.document_id for p in kb.search(ASKED, groups=["staff"])}
    assert bridge not in {p.chunk.document_id for p in kb.search(ASKED)}


PARTS = ("# Lease\n\n", "## 2. Rent\n\n", "The tenant pays 900 a month, in advance.\n\n", "### Late\n\n",
         "| Item | Rent, in thousands |\n|---|---|\n| Shop | 12 |\n| Flat | 7 |\n\n",
         "However, nothing is due in August. " * 40 + "\n\n", "## 2. Rent\n\n", "Short.\n\n")  # fmt: skip


@pytest.mark.parametrize("seed", range(12))
def test_surroundings_are_those_that_cutting_the_whole_document_gives(seed: int) -> None:
    chance = random.Random(seed)
    text = "".join(chance.choice(PARTS) for _ in range(40))
    document = read_bytes(text.encode(), document_id="lease.md")
    settings = Chunking(min_tokens=5, target_tokens=40, max_tokens=90)
    around = Surroundings(document, settings)
    cut = chunk_document(document, settings)
    bare = {"section_path": (), "context": "", "rows": (), "page": None, "title": ""}
    assert [around.of(msgspec.structs.replace(chunk, **bare)) for chunk in cut] == cut


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


def test_a_passage_hidden_by_its_vectors_is_named(kb: KnowledgeBase) -> None:
    """They are sealed when they are computed: another processor would compute others."""
    parts, bridge = kb._parts, _bridge(kb).document_id
    parts.index.write(parts.index.rows_of("tower.md"))
    kb.share(bridge, ["board"])
    assert kb.log.check().ok, "what an ingest or the owner writes again is the same"
    rows = parts.index.rows_of(bridge)
    other = parts.index.rows_of("tower.md")
    for name in (field.name for field in rows.schema if field.name.endswith("_vector")):
        rows = rows.set_column(rows.schema.get_field_index(name), rows.schema.field(name), other.column(name))
    parts.index.write(rows)
    parts.index.publish()
    (reason,) = findings(kb)
    assert "bridge.md: its vectors in the index are not those that were sealed" in reason
