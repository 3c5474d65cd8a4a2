"""With a table for each access list, what one group adds moves nothing that another sees: bit by bit."""

from __future__ import annotations

from pathlib import Path

import pytest
from benchmarks.access_world import TOPICS, SharedWords

from citewell.core.config import Retrieval
from citewell.core.errors import ConfigError, IndexMismatchError, UsageError
from citewell.core.identity import canonical_json, chunk_id, plain
from citewell.core.records import Chunk
from citewell.documents.index import BM25, ChunkIndex, IsolatedIndex, LanceIndex
from citewell.models.fake import HashEmbedder
from citewell.retrieval import Filters, Retriever


def chunk(document_id: str, content: str, *acl: str) -> Chunk:
    return Chunk(
        chunk_id=chunk_id(document_id, 0, len(content), content),
        document_id=document_id,
        document_version="v1",
        start_offset=0,
        end_offset=len(content),
        content=content,
        context=document_id,
        acl=acl,
    )


SEEN = [
    chunk("open.txt", "bridges of copper and glass"),
    chunk("ours.txt", "copper bridges carry trains across the water", "a"),
    chunk("shared.txt", "glass is made of sand and copper colours it", "a", "b"),
    chunk("more.txt", "the harbours have bridges of stone", "a"),
]
THEIRS = [chunk(f"theirs-{n}.txt", f"copper copper bridges {n} " * (n + 2), "b") for n in range(12)]
THEIRS += [chunk(f"others-{n}.txt", f"glass bridges and {t}", "c", "b") for n, t in enumerate(TOPICS)]


def made(kind: type[IsolatedIndex] | type[LanceIndex], folder: Path) -> ChunkIndex:
    index = kind(folder / "index", HashEmbedder(), "settings")
    index.add(SEEN)
    index.publish()
    return index


def seen_by(index: ChunkIndex, *groups: str) -> bytes:
    """Everything that retrieval gives somebody of these groups."""
    retriever = Retriever(index, SharedWords(), Retrieval(relevance_threshold=0.2))
    found = []
    for question in ("copper bridges", "What is said of glass?", "harbours of copper"):
        for broaden in (False, True):
            got = retriever.retrieve(question, filters=Filters(groups=groups), top_k=10, broaden=broaden)
            found.append([got.passages, got.index_version, got.notes, got.documents])
    return canonical_json(plain(found))


@pytest.fixture
def index(tmp_path: Path) -> ChunkIndex:
    return made(IsolatedIndex, tmp_path)


def test_what_others_add_change_and_remove_moves_nothing(index: ChunkIndex) -> None:
    before = seen_by(index, "a")
    index.add(THEIRS)
    index.publish()
    assert seen_by(index, "a") == before
    assert seen_by(index, "a", "b") != before
    index.relabel("theirs-1.txt", ["c"], [])
    index.remove(["theirs-2.txt", "others-1.txt"])
    index.publish()
    assert seen_by(index, "a") == before
    index.relabel("theirs-3.txt", ["a"], [])
    index.publish()
    assert seen_by(index, "a") != before


def test_in_one_table_they_do(tmp_path: Path) -> None:
    """Why there is a choice: this is what the shared table's statistics let through."""
    index = made(LanceIndex, tmp_path)
    before = seen_by(index, "a")
    index.add(THEIRS)
    index.publish()
    assert seen_by(index, "a") != before


def test_it_finds_what_one_table_finds(index: ChunkIndex, tmp_path: Path) -> None:
    other = made(LanceIndex, tmp_path / "other")
    for one in (index, other):
        one.add(THEIRS)
        one.publish()
    vector = HashEmbedder().embed(["copper bridges"])[0]
    for groups in ((), ("a",), ("b",), ("a", "b", "c"), None):
        for view in ("chunk", "summary", "keys"):
            hits = [
                one.snapshot(groups).search(view, "", vector, 50, {"groups": groups})
                for one in (index, other)
            ]
            assert hits[0] == hits[1]
        words = [
            one.snapshot(groups).search(BM25, "copper bridges", None, 50, {"groups": groups})
            for one in (index, other)
        ]
        assert {h.chunk.document_id for h in words[0]} == {h.chunk.document_id for h in words[1]}
        assert index.snapshot(groups).documents({"groups": groups}) == other.snapshot().documents(
            {"groups": groups}
        )
    assert index.stored() == other.stored()


def test_a_version_that_a_record_names_can_be_opened_again(index: ChunkIndex, tmp_path: Path) -> None:
    then = index.snapshot(("a",))
    index.pin(then.version())
    hits = then.search(BM25, "copper", None, 10, {"groups": ("a",)})
    index.relabel("ours.txt", ["b"], ["t"])
    index.add([chunk("new.txt", "copper anew", "a")])
    index.publish()
    again = IsolatedIndex(tmp_path / "index", HashEmbedder(), "settings").at(then.version())
    assert again.search(BM25, "copper", None, 10, {"groups": ("a",)}) == hits
    assert [c.document_id for c in again.named([SEEN[1].chunk_id])] == ["ours.txt"]
    assert [c.content for c in again.between("ours.txt", 0, 9)] == [SEEN[1].content]
    assert again.between("new.txt", 0, 9) == []
    with pytest.raises(UsageError, match="no longer kept"):
        index.at("isolated-" + "0" * 32)
    with pytest.raises(UsageError, match="is not an index version"):
        index.at("../../etc/passwd")


def test_a_document_is_in_one_table_whatever_becomes_of_its_list(index: ChunkIndex) -> None:
    for acl in ((), ("b",), ("c", "b"), ("a",), ()):
        index.relabel("ours.txt", acl, ["kept"])
        index.publish()
        hits = index.snapshot().search(BM25, "trains", None, 10, {"groups": None})
        assert [(hit.chunk.document_id, hit.chunk.acl) for hit in hits] == [("ours.txt", acl)]
        assert bool(index.snapshot(()).search(BM25, "trains", None, 10, {"groups": ()})) == (not acl)
    index.add([chunk("ours.txt", "copper bridges carry trains no more", "c")])
    index.publish()
    hits = index.snapshot().search(BM25, "trains", None, 10, {"groups": None})
    assert [hit.chunk.content for hit in hits] == ["copper bridges carry trains no more"]


def test_another_process_sees_a_new_list(index: ChunkIndex, tmp_path: Path) -> None:
    reader = IsolatedIndex(tmp_path / "index", HashEmbedder(), "settings")
    assert reader.snapshot(("new",)).count() == 1
    index.add([chunk("new.txt", "copper anew", "new")])
    index.publish()
    assert {listed.document_id for listed in reader.snapshot(("new",)).documents()} == {"open.txt", "new.txt"}


def test_one_kind_is_not_opened_as_the_other(tmp_path: Path) -> None:
    made(LanceIndex, tmp_path / "one")
    made(IsolatedIndex, tmp_path / "several")
    with pytest.raises(IndexMismatchError, match="shared"):
        IsolatedIndex(tmp_path / "one" / "index", HashEmbedder(), "settings")
    with pytest.raises(IndexMismatchError, match="strict"):
        LanceIndex(tmp_path / "several" / "index", HashEmbedder(), "settings")


def test_the_configuration_chooses(tmp_path: Path) -> None:
    from citewell.core.config import Config
    from citewell.knowledge.assembly import Assembly

    parts = Assembly(tmp_path, Config(retrieval=Retrieval(isolation="tables")))
    with pytest.raises(ConfigError, match="shared, strict"):
        _ = parts.index
