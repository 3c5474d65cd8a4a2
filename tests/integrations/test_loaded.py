"""Documents from other frameworks' loaders, by the attributes they all have."""

from __future__ import annotations

import uuid
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

import citewell
from citewell.core.access import Caller, Role
from citewell.core.errors import UsageError


@dataclass
class Loaded:
    page_content: str
    metadata: dict[str, Any] = field(default_factory=dict)
    id: str | None = None


BRIDGE = Loaded(
    "The bridge opened in 1932 after six years of work.",
    {"source": "https://wiki.example/bridge", "title": "The bridge", "acl": ["town"], "date": "2026-03-01"},
)
LAMP = Loaded("The lamp of the lighthouse is lit at dusk.", {"source": "lamp.pdf", "page": 3})


def statuses(report: Any) -> dict[str, str]:
    return {outcome.document_id: outcome.status for outcome in report.files}


def test_documents_come_in_with_their_metadata_and_change_with_their_source(tmp_path: Path) -> None:
    bridge, lamp = "wiki/https://wiki.example/bridge", "wiki/lamp.pdf#page=3"
    with citewell.open(tmp_path / "home") as kb:
        first = statuses(kb.ingest_documents([BRIDGE, LAMP], collection="wiki"))
        assert first == {bridge: "added", lamp: "added"}
        document = kb.document(bridge)
        assert (document.acl, document.tags, document.uri) == (
            ("town",),
            ("wiki",),
            "https://wiki.example/bridge",
        )
        assert document.title is not None
        assert document.published_at is not None
        assert (document.title.value, document.published_at.value) == ("The bridge", "2026-03-01")
        # Its access list applies.
        assert (
            kb.search("When did the bridge open?", groups=["other"], document=None)[0].chunk.document_id
            != bridge
        )
        assert kb.search("When did the bridge open?", groups=["town"])[0].chunk.document_id == bridge

        again = statuses(kb.ingest_documents(iter([BRIDGE, LAMP]), collection="wiki"))
        assert set(again.values()) == {"unchanged"}
        changed = Loaded("The bridge opened in 1934.", BRIDGE.metadata)
        kb.ingest_documents([Loaded("Elsewhere.", {"source": "other"})])
        third = statuses(kb.ingest_documents([changed], collection="wiki"))
        assert third == {bridge: "updated", lamp: "withdrawn"}
        assert len(kb.versions(bridge)) == 2
        assert [one.document_id for one in kb.documents() if one.state == "withdrawn"] == [lamp]
        assert statuses(kb.ingest_documents([changed, LAMP], collection="wiki"))[lamp] == "added"
        kb.withdraw(lamp, reason="wrong")
        assert statuses(kb.ingest_documents([changed, LAMP], collection="wiki"))[lamp] == "unchanged"
        assert kb.log.check().ok


def test_nobody_replaces_what_they_may_not_see(tmp_path: Path) -> None:
    with citewell.open(tmp_path / "home") as kb:
        kb.ingest_documents([BRIDGE])
        curator = kb.as_(Caller(user="bob", groups=("other",), roles=(Role.CURATOR,)))
        report = curator.ingest_documents(
            [Loaded("The bridge is closed.", {"source": BRIDGE.metadata["source"]})]
        )
        assert [outcome.status for outcome in report.files] == ["failed"]
        assert len(kb.versions(BRIDGE.metadata["source"])) == 1


PAGES = [  # PyPDFLoader of LangChain, mode "page"
    Loaded(f"Page {label} of the report.", {"source": "r.pdf", "page": page, "page_label": label})
    for page, label in enumerate(["i", "1", "2"])
]
ROWS = [  # CSVLoader of LangChain
    Loaded(f"model: BW-{row}10", {"source": "prices.csv", "row": row}) for row in range(3)
]


@dataclass
class Node:
    """A document of LlamaIndex: random id, ``text``."""

    text: str
    metadata: dict[str, Any]
    id_: str = field(default_factory=lambda: str(uuid.uuid4()))


def readings(*texts: str) -> list[Node]:
    """SimpleDirectoryReader of LlamaIndex: a file in parts that nothing tells apart."""
    return [Node(text, {"file_path": "/d/notes.md", "file_name": "notes.md"}) for text in texts]


LABELLED = [Node(f"Words of {n}.", {"page_label": n, "file_path": "/d/a.pdf"}) for n in ("1", "2")]


@pytest.mark.parametrize(
    ("given", "ids"),
    [
        (PAGES, ["r.pdf#page=0", "r.pdf#page=1", "r.pdf#page=2"]),
        (ROWS, ["prices.csv#row=0", "prices.csv#row=1", "prices.csv#row=2"]),
        (LABELLED, ["/d/a.pdf#page_label=1", "/d/a.pdf#page_label=2"]),
        (readings("One.", "Two.", "Two."), ["/d/notes.md", "/d/notes.md#part=2", "/d/notes.md#part=3"]),
    ],
)
def test_documents_of_one_source_come_in_as_loaders_give_them(
    tmp_path: Path, given: Any, ids: list[str]
) -> None:
    with citewell.open(tmp_path / "home") as kb:
        assert statuses(kb.ingest_documents(given)) == dict.fromkeys(ids, "added")
        assert statuses(kb.ingest_documents(given)) == dict.fromkeys(ids, "unchanged")


def test_a_numbered_part_keeps_its_number_while_its_text_stays(tmp_path: Path) -> None:
    with citewell.open(tmp_path / "home") as kb:
        kb.ingest_documents(readings("One.", "Two.", "Three."), collection="w")
        name = "w//d/notes.md"
        # A new part before the others, and a changed one: only these two are touched.
        changed = statuses(kb.ingest_documents(readings("Zero.", "One.", "Two!", "Three."), collection="w"))
        assert changed[f"{name}#part=3"] == changed[name] == "unchanged"
        assert {changed[f"{name}#part=2"], changed[f"{name}#part=4"]} == {"updated", "added"}
        gone = statuses(kb.ingest_documents(readings("Three."), collection="w"))
        assert gone[f"{name}#part=3"] == "unchanged"
        assert list(gone.values()).count("withdrawn") == 3


@pytest.mark.parametrize(
    ("metadata", "acl"),
    [
        # SharePointLoader, OneDriveLoader and GoogleDriveLoader of LangChain, with load_auth=True
        (
            {"authorized_identities": ["b@town.example", "a@town.example"]},
            ("a@town.example", "b@town.example"),
        ),
        # SharePointReader of LlamaIndex
        (
            {
                "allowed_user_ids": ["u-1"],
                "allowed_user_display_names": ["Ann"],
                "allowed_group_ids": ["g-1"],
                "allowed_group_display_names": ["Town"],
            },
            ("g-1", "u-1"),
        ),
        # What the caller says itself comes first.
        ({"authorized_identities": [], "acl": ["town"]}, ("town",)),
    ],
)
def test_the_access_list_of_a_loader_is_the_documents(
    tmp_path: Path, metadata: dict[str, Any], acl: tuple[str, ...]
) -> None:
    given = Loaded("The bridge opened in 1932.", {"source": "bridge", **metadata})
    with citewell.open(tmp_path / "home") as kb:
        kb.ingest_documents([given])
        assert kb.document("bridge").acl == acl
        assert kb.search("When did the bridge open?", groups=["other"]) == ()
        assert kb.search("When did the bridge open?", groups=[acl[0]])


@pytest.mark.parametrize(
    "metadata",
    [
        {"acl": 7},
        {"acl": "town"},
        {"acl": None},
        {"authorized_identities": []},  # of a file whose permissions GoogleDriveLoader could not read
        {"authorized_identities": ["a@town.example", None]},
        {"allowed_group_ids": "g-1"},
        {"allowed_group_display_names": ["Town"]},
        {"permissions": [{"role": "reader"}]},
    ],
)
def test_an_access_list_that_cannot_be_read_never_means_everybody(
    tmp_path: Path, metadata: dict[str, Any]
) -> None:
    with citewell.open(tmp_path / "home") as kb:
        kb.ingest_documents([BRIDGE], collection="wiki")
        changed = Loaded("The bridge is closed.", {"source": BRIDGE.metadata["source"], **metadata})
        report = kb.ingest_documents([changed, LAMP], collection="wiki")
        failed, other = report.files
        assert (failed.status, other.status) == ("failed", "added")
        assert next(iter(metadata)) in failed.message
        assert failed.hint
        # What was stored stays as it was.
        assert kb.document(f"wiki/{BRIDGE.metadata['source']}").text.startswith("The bridge opened")


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ([7], "no text"),
        ([Loaded("a", {"source": "s\n"})], "cannot be used"),
    ],
)
def test_what_is_no_document_is_refused_before_anything_changes(
    tmp_path: Path, given: Any, says: str
) -> None:
    with citewell.open(tmp_path / "home") as kb:
        with pytest.raises(UsageError, match=says):
            kb.ingest_documents(given)
        assert kb.documents() == []


@pytest.mark.parametrize("kind", [Loaded, Node])
def test_a_document_without_source_or_lasting_id_is_known_by_its_text(tmp_path: Path, kind: Any) -> None:
    def given(*texts: str) -> list[Any]:
        return [kind(text, {}) for text in texts]

    with citewell.open(tmp_path / "home") as kb:
        kb.ingest_documents(given("One.", "Two."), collection="w")
        again = statuses(kb.ingest_documents(given("Zero.", "One.", "Two."), collection="w"))
        assert sorted(again.values()) == ["added", "unchanged", "unchanged"]
        # Another call without a collection adds; it never replaces what an earlier one brought.
        kb.ingest_documents(given("Three."))
        kb.ingest_documents(given("Four."))
        assert len([one for one in kb.documents() if one.state != "withdrawn"]) == 5
