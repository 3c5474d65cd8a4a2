"""Documents from other frameworks' loaders, by the attributes they all have."""

from __future__ import annotations

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


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ([7], "no text"),
        ([BRIDGE, BRIDGE], "more than one"),
        ([Loaded("a", {"source": "s", "acl": 7})], "not a list of texts"),
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
