"""Tables that decide about a document are compared with what the log says about it."""

from __future__ import annotations

import shutil
import sqlite3
import zlib
from contextlib import closing
from pathlib import Path

import msgspec
import pytest

import citewell
from citewell.audit import CheckReport, Finding
from citewell.audit.entries import EntryKind
from citewell.core.errors import EvidenceError, UsageError
from citewell.core.records import Document
from citewell.documents.evidence.sqlite import SqliteEvidence
from citewell.documents.outcomes import IngestReport
from citewell.documents.statements import DocumentStatements
from citewell.knowledge.sealing import seal_ingest

PAPERS = {
    "leave.md": "---\ntitle: Leave\ndate: 2024-01-05\n---\n\nEverybody has 25 days of leave.\n",
    "pay.md": "---\ntitle: Pay\ndate: 2024-02-05\n---\n\nWages are paid on the 27th.\n",
}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home in which ``pay.md`` has had two versions and is shared with hr."""
    folder = tmp_path_factory.mktemp("made")
    (folder / "papers").mkdir()
    for name, text in PAPERS.items():
        (folder / "papers" / name).write_text(text)
    with citewell.open(folder / "home") as kb:
        kb.ingest(folder / "papers")
        (folder / "papers" / "pay.md").write_text(PAPERS["pay.md"].replace("27th", "28th"))
        kb.ingest(folder / "papers")
        kb.share("papers/pay.md", ["hr"])
        assert kb.log.check().ok, kb.log.check()
    return folder


@pytest.fixture
def home(made: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(made / "home", tmp_path / "home"))


def change(home: Path, *statements: str) -> None:
    with closing(sqlite3.connect(home / "evidence.sqlite")) as connection:
        for statement in statements:
            connection.execute(statement)
        connection.commit()


def check(home: Path) -> CheckReport:
    with citewell.open(home) as kb:
        return kb.log.check()


OLDER = "(SELECT version FROM versions WHERE document_id = 'papers/pay.md' ORDER BY seq LIMIT 1)"


@pytest.mark.parametrize(
    ("statement", "said"),
    [
        ("UPDATE heads SET acl = '[]' WHERE document_id = 'papers/pay.md'", "pay.md: its access list was hr"),
        (
            "UPDATE heads SET acl = '[\"x\"]' WHERE document_id = 'papers/leave.md'",
            "leave.md: its access list",
        ),
        (
            "UPDATE heads SET tags = '[\"x\"]' WHERE document_id = 'papers/leave.md'",
            "leave.md: its list of tags",
        ),
        (
            "UPDATE heads SET state = 'withdrawn' WHERE document_id = 'papers/leave.md'",
            "leave.md: its withdrawn state",
        ),
        (
            f"UPDATE heads SET version = {OLDER} WHERE document_id = 'papers/pay.md'",
            "pay.md: its current version",
        ),
        ("UPDATE versions SET title = 'Fun' WHERE document_id = 'papers/leave.md'", "leave.md: its title"),
        ("DELETE FROM heads WHERE document_id = 'papers/leave.md'", "leave.md was ingested but is not"),
        ("UPDATE heads SET acl = 'x' WHERE document_id = 'papers/leave.md'", "cannot be compared"),
    ],
    ids=lambda text: text[:60],
)
def test_a_change_by_hand_is_named(home: Path, statement: str, said: str) -> None:
    change(home, statement)
    report = check(home)
    (found,) = in_catalogue(report)
    assert said in found.reason


def test_another_date_is_named(home: Path) -> None:
    with SqliteEvidence(home / "evidence.sqlite") as evidence:
        document = evidence.latest("papers/leave.md")
    assert document is not None
    assert document.published_at is not None
    date = msgspec.structs.replace(document.published_at, value="2030-01-01")
    body = zlib.compress(msgspec.msgpack.encode(msgspec.structs.replace(document, published_at=date)))
    change(home, f"UPDATE versions SET body = x'{body.hex()}' WHERE document_id = 'papers/leave.md'")
    (found,) = in_catalogue(check(home))
    assert "leave.md: its stored metadata (title, date" in found.reason


def test_what_is_superseded_is_sealed(home: Path) -> None:
    """A person may declare it at any time; a change made directly in the table is named."""
    leave = home.parent / "leave.md"
    leave.write_text(PAPERS["leave.md"])
    with citewell.open(home) as kb:
        kb.ingest(leave, supersedes=["papers/pay.md"], document_id="papers/leave.md")
        (one,) = kb.superseded("papers/pay.md")
        assert (one.by, one.from_date) == ("papers/leave.md", "2024-01-05")
        assert kb.log.check().ok, kb.log.check()
    change(home, "DELETE FROM derived WHERE kind = 'superseded'")
    (found,) = in_catalogue(check(home))
    assert "supersessions were changed after they were sealed" in found.reason


def test_a_pair_that_nobody_gave_is_named(home: Path) -> None:
    """It would give a document's word against any other the weight of a person's."""
    change(home, "INSERT INTO derived VALUES ('superseding', 'papers/leave.md', '[\"papers/pay.md\"]')")
    (found,) = in_catalogue(check(home))
    assert "papers/leave.md is paired with papers/pay.md, but no entry says so" in found.reason


def test_a_pair_that_was_taken_back_in_a_table_is_named(home: Path) -> None:
    leave = home.parent / "leave.md"
    leave.write_text(PAPERS["leave.md"])
    with citewell.open(home) as kb:
        kb.ingest(leave, supersedes=["papers/pay.md"], document_id="papers/leave.md")
    change(home, "DELETE FROM derived WHERE kind = 'superseding'")
    (found,) = in_catalogue(check(home))
    assert "was said to supersede papers/pay.md, but is not paired with it any more" in found.reason


def test_what_is_kept_of_a_documents_statements_is_what_it_says(home: Path) -> None:
    """The next ingest derives from it what is superseded, and seals that."""
    with SqliteEvidence(home / "evidence.sqlite") as evidence:
        body = evidence.derived("stated")["papers/leave.md"]
    said = msgspec.msgpack.decode(body, type=DocumentStatements)
    forged = msgspec.msgpack.encode(msgspec.structs.replace(said, replaces=("Pay",)))
    where = "WHERE kind = 'stated' AND name = 'papers/leave.md'"
    change(home, f"UPDATE derived SET body = x'{forged.hex()}' {where}")
    (found,) = in_catalogue(check(home))
    assert "papers/leave.md: what is kept of its statements is not what it says" in found.reason


@pytest.mark.parametrize("forged", [{"replaces": ("Pay",), "release": "0"}, None])
def test_what_another_release_kept_of_statements_is_read_anew(home: Path, forged: dict | None) -> None:  # type: ignore[type-arg]
    with SqliteEvidence(home / "evidence.sqlite") as evidence:
        said = msgspec.msgpack.decode(evidence.derived("stated")["papers/leave.md"], type=DocumentStatements)
        body = msgspec.msgpack.encode(msgspec.structs.replace(said, **forged)) if forged else b"\x00"
        evidence.derive("stated", {"papers/leave.md": body})
    assert in_catalogue(check(home)) == []
    with citewell.open(home) as kb:
        kb.withdraw("papers/pay.md", reason="old")
        assert kb.superseded("papers/pay.md") == ()
        assert kb.log.check().ok, kb.log.check()


def test_only_one_file_supersedes_and_only_what_is_there(home: Path) -> None:
    for name, text in PAPERS.items():
        (home.parent / name).write_text(text)
    with citewell.open(home) as kb:
        with pytest.raises(EvidenceError, match="no document 'lost'"):
            kb.ingest(home.parent / "leave.md", supersedes=["lost"])
        with pytest.raises(UsageError, match=r"2 files cannot supersede papers/pay\.md"):
            kb.ingest(home.parent / "leave.md", home.parent / "pay.md", supersedes=["papers/pay.md"])


def in_catalogue(report: CheckReport) -> list[Finding]:
    """The index disagrees with a changed catalogue, too: that is a separate finding."""
    assert {found.kind for found in report.findings} <= {"catalogue", "index"}
    return [found for found in report.findings if found.kind == "catalogue"]


def smuggled(home: Path) -> Document:
    with SqliteEvidence(home / "evidence.sqlite") as evidence:
        document = evidence.latest("papers/leave.md")
        assert document is not None
        other = msgspec.structs.replace(document, document_id="bonus.md", acl=(), supersedes="")
        evidence.put(other)
        evidence.mark_indexed("bonus.md", other.version)
    return other


def test_a_document_that_no_entry_brought_in_is_named(home: Path) -> None:
    smuggled(home)
    (found,) = in_catalogue(check(home))
    assert "bonus.md" in found.reason
    assert "no ingest entry" in found.reason


def test_what_an_ingest_finds_and_did_not_read_itself_is_told(home: Path) -> None:
    """It may come from an ingest that was killed, or somebody may have put it there."""
    smuggled(home)
    with citewell.open(home) as kb:
        nothing = IngestReport(files=(), index_version="")
        seal_ingest(kb.parts.log, kb.parts.evidence, kb.parts.index, nothing, ())
        report = kb.log.check()
    assert in_catalogue(report) == []
    assert any("records 1 documents that were added outside" in note for note in report.notes)


def test_what_the_owner_does_is_no_finding(home: Path, made: Path) -> None:
    with citewell.open(home) as kb:
        kb.withdraw("papers/leave.md", reason="old")
        kb.share("papers/pay.md", [])
        assert kb.log.check().ok
        kb.ingest(made / "papers" / "leave.md", acl=["board"], tags=["rules"])
        assert kb.log.check().ok
        body = kb.parts.log.body(next(reversed(list(kb.parts.log.entries(EntryKind.INGEST)))))
        assert [head["acl"] for head in body["heads"]] == [["board"]]
