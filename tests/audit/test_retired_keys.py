"""A retired key signs nothing more: not in the log, not in a fork of it, not in a receipt."""

from __future__ import annotations

import base64
from pathlib import Path

import pytest
from benchmarks.audit_tamper import FILE, Scene, judge, scene
from benchmarks.sample_records import some_record

from citewell.audit import EntryKind, SqliteLog
from citewell.audit.__main__ import main
from citewell.audit.checker import CheckReport
from citewell.audit.export import export
from citewell.audit.issuing import issue
from citewell.audit.keys import FolderKeys
from citewell.audit.notes import handover
from citewell.audit.receipt_check import check_receipt
from citewell.audit.receipts import receipt_bytes
from citewell.audit.signing import Signer
from citewell.core.errors import LogIntegrityError
from citewell.core.identity import canonical_json


class Rotated:
    """A log whose key was stolen, then rotated; its keys before and after, and a later checkpoint."""

    def __init__(self, home: Path) -> None:
        home.mkdir(exist_ok=True)
        self.made: Scene = scene(home)
        self.stolen = self.made.signer()
        self.before = self.made.key
        self.log = SqliteLog(home / FILE)
        self.log.hand_over("stolen")
        self.handover = self.log.size()
        self.log.note(EntryKind.NOTICE, {"text": "fine again"})
        self.published = self.log.published()
        self.kept = self.log.checkpoint()

    def insert(self, kind: EntryKind, body: bytes, *, at: int) -> None:
        """Puts an entry at position ``at``, with nothing after it."""
        for table in ("entries", "private", "requests"):
            self.made.run(f"DELETE FROM {table} WHERE seq >= {at}")
        self.made.run(
            f"INSERT INTO entries SELECT {at}, '{kind}', timestamp, '', '{body.decode()}', ''"
            " FROM entries WHERE seq = 3"
        )

    def hand_over_to(self, signer: Signer, *, at: int) -> None:
        names = (self.stolen.public_text(), signer.public_text())
        signature = base64.b64encode(self.stolen.sign(handover(*names))).decode()
        body = {"old": names[0], "new": names[1], "signature": signature, "reason": "mine"}
        self.insert(EntryKind.KEY, canonical_json(body), at=at)

    def check(self, key: str, *outside: str) -> CheckReport:
        self.made.key, self.made.kept = key, "".join(outside)
        return judge(self.made, outside=bool(outside))


@pytest.fixture
def rotated(tmp_path: Path) -> Rotated:
    return Rotated(tmp_path / "home")


def thief_of(rotated: Rotated) -> Signer:
    return Signer(rotated.stolen.name, b"\x09" * 32)


def test_a_rotated_log_is_whole_by_any_key_that_was_ever_published(rotated: Rotated) -> None:
    newest = rotated.published.splitlines()[-1]
    for key in (rotated.before, rotated.published, newest):
        report = rotated.check(key, rotated.kept)
        assert report.ok, (key, report)


def test_published_keys_say_up_to_what_size_a_retired_one_counts(rotated: Rotated) -> None:
    old, new = rotated.published.splitlines()
    assert old == f"{rotated.before} until {rotated.handover - 1}"
    assert len(new.split()) == 1
    assert (rotated.log.keys.folder / "signing.pub").read_text() == rotated.published + "\n"


@pytest.mark.parametrize("given", ["before", "published"])
def test_a_retired_key_hands_over_to_nobody(rotated: Rotated, given: str) -> None:
    thief = thief_of(rotated)
    at = rotated.log.size() + 1
    rotated.log.close()
    rotated.hand_over_to(thief, at=at)
    rotated.made.rebuild(thief)
    report = rotated.check(getattr(rotated, given), rotated.kept)
    assert not report.ok
    assert ("signature", at) in {(found.kind, found.seq) for found in report.findings}
    assert any("not the signing key in force" in found.reason for found in report.findings)


def test_the_strangers_checker_refuses_a_retired_keys_handover(
    rotated: Rotated, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    thief = thief_of(rotated)
    at = rotated.log.size() + 1
    rotated.log.close()
    rotated.hand_over_to(thief, at=at)
    rotated.made.rebuild(thief)
    (tmp_path / "published").write_text(rotated.published)
    (tmp_path / "kept").write_text(rotated.kept)
    words = ["--key", str(tmp_path / "published"), "--checkpoint", str(tmp_path / "kept")]
    log = SqliteLog(rotated.made.home / FILE)
    export(log, tmp_path / "export")
    assert main([str(tmp_path / "export"), *words]) == 5
    assert f"signature: entry {at}" in capsys.readouterr().out


@pytest.mark.parametrize(("earlier", "said"), [(2, "was retired at"), (0, "handed over to")])
def test_a_retired_key_forks_no_log_of_which_the_keys_are_published(
    rotated: Rotated, earlier: int, said: str
) -> None:
    thief = thief_of(rotated)
    rotated.log.close()
    rotated.hand_over_to(thief, at=rotated.handover - earlier)
    rotated.made.rebuild(thief)
    plain = "\n".join(line.split()[0] for line in rotated.published.splitlines())
    assert any(said in found.reason for found in rotated.check(rotated.published).findings)
    assert not rotated.check(plain).ok
    (rotated.made.home / "keys" / "signing.pub").write_text(plain)
    assert not SqliteLog(rotated.made.home / FILE, readonly=True).check().ok


def test_a_fork_that_hands_over_to_the_true_key_needs_that_keys_signature(rotated: Rotated) -> None:
    newest = rotated.log.keys.signer()
    rotated.log.close()
    rotated.hand_over_to(newest, at=rotated.handover)
    rotated.made.rebuild(rotated.stolen)
    (found,) = rotated.check(rotated.published).findings
    assert "retired" in found.reason


def test_a_log_that_ends_before_a_published_retirement_was_cut(rotated: Rotated) -> None:
    rotated.log.close()
    rotated.insert(EntryKind.NOTICE, b"{}", at=rotated.handover - 2)
    rotated.made.rebuild(rotated.stolen)
    (found,) = rotated.check(rotated.published).findings
    assert (found.kind, found.seq) == ("truncated", rotated.handover - 1)
    assert "published keys say" in found.reason


def test_a_log_without_the_published_retirement_is_named(rotated: Rotated) -> None:
    """The thief replaced the handover; the checkpoint counts under the newest key or not at all."""
    rotated.log.close()
    rotated.insert(EntryKind.NOTICE, b"{}", at=rotated.handover)
    rotated.made.rebuild(rotated.stolen)
    report = rotated.check(rotated.published)
    assert {found.kind for found in report.findings} == {"checkpoint", "signature"}


def test_checkpoints_of_a_retired_key_count_up_to_its_retirement(rotated: Rotated, tmp_path: Path) -> None:
    from citewell.audit.notes import read_checkpoint
    from citewell.audit.signing import checkpoint

    newest = read_checkpoint(rotated.kept)
    forged = checkpoint(newest.size, newest.root, rotated.stolen)
    (found,) = rotated.check(rotated.published, forged).findings
    assert "retired" in found.reason


def test_entries_that_a_retired_key_added_are_not_signed_over_by_the_next_answer(rotated: Rotated) -> None:
    at = rotated.log.size() + 1
    rotated.log.close()
    rotated.insert(EntryKind.NOTICE, b"{}", at=at)
    rotated.made.rebuild(rotated.stolen)
    with pytest.raises(LogIntegrityError, match="not signed by the current key"):
        SqliteLog(rotated.made.home / FILE).note(EntryKind.NOTICE, {"text": "honest"})


def test_a_key_that_was_replaced_as_lost_counts_up_to_there(tmp_path: Path) -> None:
    made = scene(tmp_path)
    size = SqliteLog(tmp_path / FILE).size()
    (tmp_path / "keys" / "signing.key").unlink()
    log = SqliteLog(tmp_path / FILE)
    log.replace_lost_key("the disk died")
    assert log.published().splitlines()[0] == f"{made.key} until {size}"
    assert log.check(key=log.published()).ok


# --- receipts -------------------------------------------------------------------------------------


def forged(tmp_path: Path, stolen: Signer, entries: int) -> bytes:
    """A receipt from a log that the thief made with the stolen key."""
    (tmp_path / "forged" / "keys").mkdir(parents=True)
    (tmp_path / "forged" / "keys" / "signing.key").write_text(stolen.private_text())
    (tmp_path / "forged" / "keys" / "subjects.sqlite").touch()
    log = SqliteLog(tmp_path / "forged" / FILE)
    for number in range(1, entries + 1):
        log.append(some_record(number))
    return receipt_bytes(issue(log, f"req_{1:024d}"))


def test_a_retired_key_proves_no_receipt_beyond_its_retirement(rotated: Rotated, tmp_path: Path) -> None:
    report = check_receipt(forged(tmp_path, rotated.stolen, rotated.handover + 3), key=rotated.published)
    assert not report.ok
    assert not report.origin
    assert any("retired" in finding for finding in report.findings)


def test_a_receipt_by_a_retired_key_says_what_that_leaves_open(tmp_path: Path) -> None:
    log = SqliteLog(tmp_path / FILE)
    log.append(some_record(1))
    receipt = receipt_bytes(issue(log, f"req_{1:024d}"))
    kept = log.checkpoint()
    log.hand_over("yearly")
    report = check_receipt(receipt, key=log.published())
    assert report.origin
    assert any("before its key was retired" in line for line in report.does_not_prove)
    settled = check_receipt(receipt, key=log.published(), outside=[kept])
    assert not any("retired" in line for line in settled.does_not_prove)
    anew = check_receipt(receipt_bytes(issue(log, f"req_{1:024d}")), key=log.published())
    assert anew.origin
    assert not any("retired" in line for line in anew.does_not_prove)


def test_keys_published_before_limits_were_are_read_and_get_them(tmp_path: Path) -> None:
    log = SqliteLog(tmp_path / FILE)
    log.note(EntryKind.NOTICE, {})
    log.hand_over("yearly")
    log.close()
    path = tmp_path / "keys" / "signing.pub"
    plain = "".join(f"{line.split()[0]}\n" for line in path.read_text().splitlines())
    path.write_text(plain)
    again = SqliteLog(tmp_path / FILE, keys=FolderKeys(tmp_path / "keys"))
    assert again.check(key=plain).ok
    assert again.published().splitlines()[0].endswith(" until 1")
    again.note(EntryKind.NOTICE, {})
    assert path.read_text() == again.published() + "\n"
