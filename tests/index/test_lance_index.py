"""The index keeps chunks exactly, and shows only what was published and never what a filter hides."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from citewell.core.errors import IndexMismatchError, UsageError
from citewell.core.identity import chunk_id
from citewell.core.ports import Vectors
from citewell.core.records import Cell, Chunk, Row
from citewell.documents.index import BM25, VIEWS, LanceIndex
from citewell.documents.index.snapshot import condition
from citewell.models.fake import HashEmbedder

EMBEDDER = HashEmbedder()
EVERYTHING = {"groups": None}


def chunks(document_id: str, texts: Sequence[str], version: str = "v1", **fields: object) -> list[Chunk]:
    made, start = [], 0
    for text in texts:
        made.append(
            Chunk(
                chunk_id=chunk_id(f"{document_id} {version}", start, start + len(text), text),
                document_id=document_id,
                document_version=version,
                start_offset=start,
                end_offset=start + len(text),
                content=text,
                **fields,  # type: ignore[arg-type]
            )
        )
        start += len(text) + 1
    return made


@pytest.fixture
def index(tmp_path: Path) -> LanceIndex:
    return LanceIndex(tmp_path / "index", EMBEDDER, "settings")


def contents(
    index: LanceIndex, query: str, view: str = BM25, where: dict[str, object] | None = None
) -> list[str]:
    vector = EMBEDDER.embed([query])[0]
    return [
        hit.chunk.content for hit in index.snapshot().search(view, query, vector, 10, where or EVERYTHING)
    ]


def test_a_question_is_embedded_once_and_its_vector_cannot_be_changed(tmp_path: Path) -> None:
    asked: list[str] = []

    class Counting(HashEmbedder):
        def embed(self, texts: Sequence[str]) -> Vectors:
            asked.extend(texts)
            return super().embed(texts)

    snapshot = LanceIndex(tmp_path / "index", Counting(), "settings").snapshot()
    vector = snapshot.embed("Which apples?")
    assert np.array_equal(snapshot.embed("Which apples?"), vector)
    assert asked == ["Which apples?"]
    with pytest.raises(ValueError, match="read-only"):
        vector[0] = 2.0


def test_a_chunk_comes_back_exactly(index: LanceIndex) -> None:
    row = Row(
        start=0, end=9, label="Net sales", cells=(Cell(start=5, end=9, head="Year Ended May 31, 2018"),)
    )
    whole = Chunk(
        chunk_id="sha256:1",
        document_id="a'b/ü.pdf",
        document_version="sha256:2",
        start_offset=3,
        end_offset=12,
        content="Net\t1,5\n☃",
        context="Title › Part\nTable (in millions): 2018",
        section_path=("Part", "Sub"),
        parent_id="p",
        parent_start=1,
        parent_end=20,
        previous_id="x",
        next_id="y",
        page=7,
        rows=(row,),
        title="Title",
        author="Someone",
        published_at="2018-05-31",
        acl=("hr", "it's"),
        tags=("t",),
        ingested_at="2026-01-01T00:00:00Z",
    )
    bare = chunks("bare", ["nothing but content\nin two lines"])[0]
    index.add([whole, bare])
    index.publish()
    for view in VIEWS:
        hits = index.snapshot().search(view, "", EMBEDDER.embed(["net"])[0], 10, EVERYTHING)
        assert {hit.chunk.chunk_id: hit.chunk for hit in hits} == {"sha256:1": whole, bare.chunk_id: bare}


def test_nothing_is_seen_before_it_is_published(index: LanceIndex) -> None:
    index.add(chunks("a", ["the hidden treasure"]))
    assert contents(index, "treasure") == []
    index.publish()
    assert contents(index, "treasure") == ["the hidden treasure"]


def test_publishing_nothing_new_keeps_the_version(index: LanceIndex) -> None:
    index.add(chunks("a", ["one"]))
    assert index.publish() == index.publish() == index.version()


def test_a_new_version_replaces_the_old_one_and_the_old_one_can_be_replayed(index: LanceIndex) -> None:
    index.add(chunks("a", ["capital spending was 5", "capital gains were 6"], "v1"))
    index.add(chunks("b", ["capital letters"], "v1"))
    first = index.publish()
    index.pin(first)
    before = [
        (view, index.at(first).search(view, "capital", EMBEDDER.embed(["capital"])[0], 10, EVERYTHING))
        for view in [*VIEWS, BM25]
    ]
    index.add(chunks("a", ["capital spending was 7"], "v2"))
    index.remove(["b"])
    for number in range(40):
        index.add(chunks(f"more {number}", [f"capital city {number}"]))
    index.publish()
    assert "capital spending was 7" in contents(index, "capital spending")
    assert not {"capital spending was 5", "capital gains were 6", "capital letters"} & set(
        contents(index, "capital")
    )
    assert index.stored()["a"].version == "v2"
    again = LanceIndex(index.path, EMBEDDER, "settings").at(first)
    assert before == [
        (view, again.search(view, "capital", EMBEDDER.embed(["capital"])[0], 10, EVERYTHING))
        for view in [*VIEWS, BM25]
    ]


def test_versions_that_no_record_names_are_let_go(index: LanceIndex) -> None:
    names = []
    for number in range(4):
        for part in range(30):
            index.add(chunks(f"{number} {part}", [f"text {number} {part}"]))
        names.append(index.publish())
    assert index.at(names[-1]).count() == 120
    assert index.at(names[-2]).count() == 90, "a reader may still have the one before open"


def test_a_foreign_version_is_refused(index: LanceIndex, tmp_path: Path) -> None:
    other = LanceIndex(tmp_path / "other", EMBEDDER, "settings")
    with pytest.raises(UsageError, match="belongs to a different index"):
        index.at(other.version())
    with pytest.raises(UsageError, match="no longer kept"):
        index.at(index.version().rpartition(".")[0] + ".999")


def test_other_models_or_settings_are_refused_with_the_remedy(index: LanceIndex) -> None:
    said = r"\[chunking\] settings was 'settings', is now 'others'.*ingest again"
    with pytest.raises(IndexMismatchError, match=said):
        LanceIndex(index.path, EMBEDDER, "others")
    with pytest.raises(IndexMismatchError, match="embedder_hash"):
        LanceIndex(index.path, HashEmbedder(32), "settings")


def test_two_writers_at_once_are_refused(index: LanceIndex) -> None:
    with index.writer(), pytest.raises(UsageError, match="another ingest"), index.writer():
        pass


def test_equal_bytes_in_two_places_stay_two(index: LanceIndex) -> None:
    one = chunks("a", ["the same words"])[0]
    index.add([one])
    index.add([Chunk(**{**{f: getattr(one, f) for f in one.__struct_fields__}, "document_id": "b"})])
    index.publish()
    hits = index.snapshot().search(BM25, "same words", None, 10, EVERYTHING)
    assert [hit.chunk.document_id for hit in hits] == ["a", "b"]


# --- filters --------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> LanceIndex:
    index = LanceIndex(tmp_path_factory.mktemp("shared"), EMBEDDER, "settings")
    for number in range(60):
        acl = [(), ("hr",), ("hr", "it's"), ("ops",)][number % 4]
        index.add(
            chunks(
                f"d{number:02}",
                [f"common words about matter {number} part {part}" for part in range(3)],
                acl=acl,
                tags=("even",) if number % 2 == 0 else ("odd", "it's"),
                published_at="" if number % 5 == 0 else f"20{10 + number % 15}-03-31",
            )
        )
    index.publish()
    return index


def test_without_groups_only_open_documents_are_seen(shared: LanceIndex) -> None:
    hits = shared.snapshot().search(BM25, "common matter", None, 500, {"groups": ()})
    assert len(hits) == 45
    assert all(hit.chunk.acl == () for hit in hits)


def test_a_date_filter_leaves_out_what_has_no_date(shared: LanceIndex) -> None:
    hits = shared.snapshot().search(BM25, "common matter", None, 500, {"groups": None, "since": "2015-01-01"})
    assert hits
    assert all(hit.chunk.published_at >= "2015-01-01" for hit in hits)


@pytest.mark.parametrize("view", [*VIEWS, BM25])
def test_a_selective_filter_gives_every_row_that_matches(shared: LanceIndex, view: str) -> None:
    vector = EMBEDDER.embed(["common"])[0]
    hits = shared.snapshot().search(view, "common", vector, 50, {"groups": ["ops"], "document_id": "d07"})
    assert len(hits) == 3
    assert {hit.chunk.document_id for hit in hits} == {"d07"}


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    groups=st.lists(st.sampled_from(["hr", "it's", "ops", "nobody", "' OR true --"]), max_size=3),
    tag=st.sampled_from([None, "even", "odd", "it's", "none"]),
    since=st.sampled_from([None, "2012-06-01", "2030-01-01"]),
    view=st.sampled_from([*VIEWS, BM25]),
    limit=st.integers(1, 40),
)
def test_a_filter_never_leaks_and_never_loses(
    shared: LanceIndex, groups: list[str], tag: str | None, since: str | None, view: str, limit: int
) -> None:
    vector = EMBEDDER.embed(["matter 3 part 1"])[0]
    where = {"groups": groups, "tag": tag, "since": since}

    def allowed(chunk: Chunk) -> bool:
        return (
            (not chunk.acl or bool(set(chunk.acl) & set(groups)))
            and (tag is None or tag in chunk.tags)
            and (since is None or chunk.published_at >= since)
        )

    every = shared.snapshot().search(view, "common matter", vector, 1000, EVERYTHING)
    hits = shared.snapshot().search(view, "common matter", vector, limit, where)
    assert all(allowed(hit.chunk) for hit in hits)
    assert len(hits) == min(limit, sum(allowed(hit.chunk) for hit in every))
    if view != BM25:  # BM25 weights depend on what may be seen
        assert [hit.chunk for hit in hits] == [hit.chunk for hit in every if allowed(hit.chunk)][:limit]


@given(st.text())
def test_any_text_is_a_harmless_filter_value(text: str) -> None:
    made = condition({"document_id": text, "tag": text, "groups": [text], "since": text})
    assert re.sub(r"'(?:[^']|'')*'", "X", made).count("'") == 0


def test_an_unknown_filter_is_refused(shared: LanceIndex) -> None:
    with pytest.raises(UsageError, match="unknown filter 'group'"):
        shared.snapshot().search(BM25, "x", None, 5, {"group": "hr"})


# --- ranking --------------------------------------------------------------------------------------


def test_dense_views_rank_by_exact_cosine_with_ties_by_id(shared: LanceIndex) -> None:
    vector = EMBEDDER.embed(["matter 17 part 2"])[0]
    hits = shared.snapshot().search("chunk", "", vector, 180, EVERYTHING)
    exact = EMBEDDER.embed([hit.chunk.in_context for hit in hits]) @ vector
    assert np.allclose([hit.scores["chunk"] for hit in hits], exact, atol=1e-5)
    keys = [(-hit.scores["chunk"], hit.chunk.chunk_id) for hit in hits]
    assert keys == sorted(keys)


def test_bm25_orders_as_an_independent_implementation(shared: LanceIndex) -> None:
    bm25s = pytest.importorskip("bm25s")
    hits = shared.snapshot().search(BM25, "matter 17", None, 500, EVERYTHING)
    texts = [hit.chunk.content for hit in hits]
    other = bm25s.BM25(k1=1.2, b=0.75, method="lucene")
    other.index(bm25s.tokenize(texts, stopwords=[], show_progress=False), show_progress=False)
    scores = other.get_scores(
        bm25s.tokenize("matter 17", return_ids=False, stopwords=[], show_progress=False)[0]
    )
    best = {text for text, score in zip(texts, scores, strict=True) if score >= sorted(scores)[-3] - 1e-6}
    assert set(texts[:3]) == best
    assert all("matter 17" in text for text in texts[:3])


@pytest.mark.parametrize("query", ["", "the of and", '"(+-x AND', "☃ ☃", "a" * 5000])
def test_any_query_text_is_harmless(shared: LanceIndex, query: str) -> None:
    assert shared.snapshot().search(BM25, query, None, 5, EVERYTHING) == []


def test_an_unknown_view_and_a_missing_vector_are_refused(shared: LanceIndex) -> None:
    with pytest.raises(UsageError, match="unknown view"):
        shared.snapshot().search("colour", "x", None, 5, EVERYTHING)
    with pytest.raises(UsageError, match="needs a vector"):
        shared.snapshot().search("chunk", "x", None, 5, EVERYTHING)
