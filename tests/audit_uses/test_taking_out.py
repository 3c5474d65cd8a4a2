"""What must leave the log by law is gone for good, and on record; the log still verifies and counts."""

from __future__ import annotations

import shutil
from collections.abc import Collection, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

import pytest
from benchmarks.sample_records import some_record

from citewell.audit.entries import EntryKind
from citewell.audit.erasure import erase
from citewell.audit.issuing import issue
from citewell.audit.keys import asker
from citewell.audit.log import SqliteLog
from citewell.audit.pages import Queries
from citewell.audit.postings import Postings
from citewell.audit.question import AuditQuery
from citewell.audit.receipt_check import check_receipt
from citewell.audit.receipts import receipt_bytes
from citewell.audit.retention import expire
from citewell.audit.sqlite import SqliteDatabase
from citewell.core.errors import UsageError

NOW = datetime(2027, 6, 1, tzinfo=UTC)
SECRET = "the merger with Borealis"


class Home:
    """A log, its keys, and its query tables."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.log = SqliteLog(folder / "audit.sqlite")
        self.postings = Postings(SqliteDatabase(folder / "audit-index.sqlite"))
        self.queries = Queries(self.log, self.postings)

    def holds_bytes(self, text: str) -> list[str]:
        """The files that contain the text."""
        return [
            str(path.relative_to(self.folder))
            for path in sorted(self.folder.rglob("*"))
            if path.is_file() and text.encode() in path.read_bytes()
        ]


@pytest.fixture
def home(tmp_path: Path) -> Home:
    home = Home(tmp_path)
    for number in range(1, 5):
        home.log.append(some_record(number, claim=f"{SECRET} {number}", question=f"{SECRET}?"))
    home.log.append(some_record(5, user="bob", question="what bob asked?"))
    return home


def test_contents_expire_and_their_proof_and_counts_stay(home: Home) -> None:
    receipt = receipt_bytes(issue(home.log, f"req_{1:024d}"))
    before = home.queries.counts(AuditQuery(), by="day", of="status")
    outcome = expire(home.log, home.postings, {"answers": 30}, NOW)
    assert outcome.expired == {"answers": 5}
    assert home.log.check().ok
    assert home.queries.counts(AuditQuery(), by="day", of="status") == before
    page = home.queries.page(AuditQuery())
    assert page.records == ()
    assert check_receipt(receipt, key=home.log.keys.published()).origin
    with pytest.raises(UsageError, match="expired"):
        issue(home.log, f"req_{1:024d}")


def test_what_expired_stands_in_no_file_any_more(home: Home) -> None:
    home.queries.counts(AuditQuery())
    assert home.holds_bytes("filings/a.pdf")
    expire(home.log, home.postings, {"answers": 30}, NOW)
    assert home.holds_bytes("filings/a.pdf") == []


def test_counts_are_the_same_from_tables_made_anew(home: Home) -> None:
    expire(home.log, home.postings, {"answers": 30}, NOW)
    before = home.queries.counts(AuditQuery(), by="day", of="decision")
    again = Queries(home.log, Postings(SqliteDatabase(home.folder / "second.sqlite")))
    assert again.counts(AuditQuery(), by="day", of="decision") == before
    assert again.page(AuditQuery(document="filings/a.pdf")) == home.queries.page(
        AuditQuery(document="filings/a.pdf")
    )


def test_only_what_is_due_goes_and_a_dry_run_takes_nothing(home: Home) -> None:
    home.log.append(some_record(9, timestamp="2027-05-30T00:00:00.000000Z"))
    would = expire(home.log, home.postings, {"answers": 30}, NOW, dry_run=True)
    assert would.expired == {"answers": 5}
    assert len(home.queries.page(AuditQuery()).records) == 6
    expire(home.log, home.postings, {"answers": 30, "reads": 0}, NOW)
    assert [r.request_id for r in home.queries.page(AuditQuery()).records] == [f"req_{9:024d}"]
    assert expire(home.log, home.postings, {"answers": 30}, NOW).expired == {}


@pytest.mark.parametrize("killed", [False, True], ids=["both end", "the first is killed"])
def test_two_expiries_at_once_leave_nothing_beside_the_log(
    home: Home, monkeypatch: pytest.MonkeyPatch, killed: bool
) -> None:
    told: list[set[str]] = []

    def forget(requests: Collection[str], _: Collection[str]) -> None:
        told.append(set(requests))

    first, second = Home(home.folder), Home(home.folder)
    second.log.append(some_record(9, user="carol"))
    take = first.postings.forget_keys

    def meanwhile(keyed: Sequence[tuple[int, int, int]]) -> None:
        # The first has recorded what goes, but not yet removed it.
        expire(second.log, second.postings, {"reads": 30}, NOW, forget=forget)
        if killed:
            raise KeyboardInterrupt
        take(keyed)

    second.log.note(EntryKind.READ, {"show": "what is due of another class"})
    monkeypatch.setattr(first.postings, "forget_keys", meanwhile)
    with suppress(KeyboardInterrupt):
        expire(first.log, first.postings, {"answers": 30}, NOW, forget=forget)
    expire(home.log, home.postings, {"answers": 30}, NOW, forget=forget)
    gone = {f"req_{number:024d}" for number in (1, 2, 3, 4, 5, 9)}
    assert set().union(*told) == gone
    before = len(told)
    size = home.log.size()
    expire(home.log, home.postings, {"answers": 30}, NOW, forget=forget)
    assert (len(told), home.log.size()) == (before, size)
    assert home.log.check().ok


def test_no_class_of_that_name(home: Home) -> None:
    with pytest.raises(UsageError, match="answers"):
        expire(home.log, home.postings, {"answer": 1}, NOW)


def test_a_person_is_forgotten_everywhere(home: Home, tmp_path: Path) -> None:
    backup = tmp_path / "backup"
    home.log.database.overwrite()
    backup.mkdir()
    shutil.copy(home.folder / "audit.sqlite", backup)
    before = home.queries.counts(AuditQuery(), by="day", of="decision")
    outcome = erase(home.log, "alice")
    assert outcome.entries == 4
    for words in (SECRET, "alice"):
        assert home.holds_bytes(words) == []
    assert home.log.check().ok
    assert home.queries.counts(AuditQuery(), by="day", of="decision") == before
    again = Queries(home.log, Postings(SqliteDatabase(home.folder / "second.sqlite")))
    assert again.counts(AuditQuery(), by="day", of="decision") == before
    assert home.queries.page(AuditQuery(user="alice")).records == ()
    record = home.queries.page(AuditQuery(document="filings/a.pdf")).records[-1]
    assert record.user_query == record.claims[0].text == "[erased]"
    assert record.claims[0].citations[0].quote == "Revenue was 12 million."
    bob = home.queries.page(AuditQuery(user="bob")).records[0]
    assert bob.user_query == "what bob asked?"
    stolen = SqliteLog(backup / "audit.sqlite", keys=home.log.keys, readonly=True)
    # An earlier copy knows of no erasure: its texts are there, but nothing decrypts them.
    assert stolen.record(f"req_{1:024d}").user_query == "[key missing]"
    assert check_receipt(receipt_bytes(issue(home.log, f"req_{1:024d}"))).ok


def test_a_missing_key_is_not_told_as_an_erasure(home: Home) -> None:
    erase(home.log, "alice")
    home.log.keys.back_up(home.folder / "safe")
    home.log.keys.destroy("bob")
    read = {entry: home.log.record(f"req_{entry:024d}").user_query for entry in (1, 5)}
    assert read == {1: "[erased]", 5: "[key missing]"}
    paged = {record.request_id: record.user_query for record in home.queries.page(AuditQuery()).records}
    assert [paged[f"req_{entry:024d}"] for entry in (1, 5)] == list(read.values())
    home.log.restore_keys(home.folder / "safe")
    assert home.log.record(f"req_{5:024d}").user_query == "what bob asked?"


def test_an_erasure_is_recorded_by_pseudonym(home: Home) -> None:
    outcome = erase(home.log, "alice")
    told = [home.log.body(entry) for entry in home.log.entries() if entry.kind == "erasure"]
    assert [body["outcome"] for body in told] == ["ordered", "done"]
    assert {body["subject"] for body in told} == {outcome.subject}


def test_who_comes_back_is_somebody_new(home: Home) -> None:
    old = erase(home.log, "alice").subject
    home.log.append(some_record(20))
    assert home.log.get(f"req_{20:024d}").subject != old
    assert len(home.queries.page(AuditQuery(user="alice")).records) == 1
    assert home.log.check().ok


class Kept:
    """A store that records whom it was told to forget."""

    def __init__(self) -> None:
        self.told: list[tuple[str, set[str]]] = []

    def forget(self, person: str, requests: Collection[str]) -> int:
        self.told.append((person, set(requests)))
        return len(requests)


@pytest.mark.parametrize("where", ["forget", "destroy", "overwrite"])
def test_an_erasure_that_was_cut_short_is_finished_by_the_same_command(
    home: Home, where: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def cut_short(*_: object) -> None:
        raise KeyboardInterrupt

    store = Kept()
    place = {"forget": store, "destroy": home.log.keys, "overwrite": home.log.database}[where]
    with monkeypatch.context() as patch:
        patch.setattr(place, where, cut_short)
        with pytest.raises(KeyboardInterrupt):
            erase(home.log, "alice", stores={"kept": store.forget})
    if where == "overwrite":
        # With the key gone, nothing tells whose erasure it was.
        with pytest.raises(UsageError, match="is now complete: sub_"):
            erase(home.log, "alice", stores={"kept": store.forget})
    else:
        assert erase(home.log, "alice", stores={"kept": store.forget}).entries == 4
    assert store.told[-1][1] <= {f"req_{number:024d}" for number in range(1, 5)}
    told = [home.log.body(entry)["outcome"] for entry in home.log.entries(EntryKind.ERASURE)]
    assert told == ["ordered", "done"]
    for words in (SECRET, "alice"):
        assert home.holds_bytes(words) == []
    with pytest.raises(UsageError, match="has nobody"):
        erase(home.log, "alice", stores={"kept": store.forget})


def test_nobody_is_told_that_somebody_else_was_erased(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    def cut_short(*_: object) -> None:
        raise KeyboardInterrupt

    pseudonym = home.log.get(f"req_{1:024d}").subject
    with monkeypatch.context() as patch:
        patch.setattr(home.log.keys, "destroy", cut_short)
        with pytest.raises(KeyboardInterrupt):
            erase(home.log, "alice")
    with pytest.raises(UsageError, match=f"has nobody.*now complete: {pseudonym}"):
        erase(home.log, "bobb")
    assert home.log.record(f"req_{1:024d}").user_query == "[erased]"
    assert home.log.record(f"req_{5:024d}").user_query == "what bob asked?"


def test_an_answer_given_while_its_asker_is_erased_is_forgotten_too(home: Home) -> None:
    class Slow(Kept):
        def forget(self, person: str, requests: Collection[str]) -> int:
            if not self.told:
                home.log.append(some_record(9))
            return super().forget(person, requests)

    store = Slow()
    assert erase(home.log, "alice", stores={"kept": store.forget}).forgotten == {"kept": 5}
    assert store.told[-1][1] == {f"req_{9:024d}"}


def test_a_session_is_not_the_user_of_the_same_name(home: Home) -> None:
    home.log.append(some_record(6, user="", session="alice", question="what a stranger asked?"))
    assert len(home.queries.page(AuditQuery(user="alice")).records) == 4
    erase(home.log, asker("", "alice"))
    assert home.log.record(f"req_{6:024d}").user_query == "[erased]"
    assert home.log.record(f"req_{1:024d}").user_query == f"{SECRET}?"


@pytest.mark.parametrize("person", ["nobody", ""])
def test_an_erasure_that_cannot_be(home: Home, person: str) -> None:
    with pytest.raises(UsageError, match="has nobody"):
        erase(home.log, person)
    assert home.log.record(f"req_{1:024d}").user_query == f"{SECRET}?"
