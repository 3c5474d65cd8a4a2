"""Signed notes as other software writes and reads them, and checkpoints that are refused."""

from __future__ import annotations

import base64
import stat
import sys
from pathlib import Path

import pytest

from citewell.audit.keys import FolderKeys
from citewell.audit.merkle import EMPTY, leaf_hash
from citewell.audit.notes import TrustedKeys, read_checkpoint, read_key, verify
from citewell.audit.signing import Signer, checkpoint
from citewell.core.errors import LogError, UsageError

# The example from the package golang.org/x/mod/sumdb/note, whose format C2SP signed-note is.
THEIR_KEY = "PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW"
THEIR_TEXT = (
    "If you think cryptography is the answer to your problem,\nthen you don't know what your problem is.\n"
)
THEIR_SIGNATURE = (
    "x08go/ZJkuBS9UG/SffcvIAQxVBtiFupLLr8pAcElZInNIuGUgYN1FFYC2pZSNXgKvqfqdngotpRZb6KE6RyyBwJnAM="
)
ROOT = leaf_hash(b"root")


def signer(name: str = "example.com/log") -> Signer:
    return Signer(name, b"\x07" * 32)


def test_a_note_that_others_signed_verifies() -> None:
    name, identity, public = read_key(THEIR_KEY)
    raw = base64.b64decode(THEIR_SIGNATURE)
    assert (name, raw[:4]) == ("PeterNeumann", identity)
    assert verify(public, raw[4:], THEIR_TEXT.encode())
    assert not verify(public, raw[4:], THEIR_TEXT.encode() + b" ")


def test_a_checkpoint_is_as_the_specification_says() -> None:
    made = signer()
    text = checkpoint(42, ROOT, made)
    lines = text.split("\n")
    assert lines[:4] == ["example.com/log", "42", base64.b64encode(ROOT).decode(), ""]
    assert lines[4].startswith("\u2014 example.com/log ")
    assert lines[5:] == [""]
    found = read_checkpoint(text)
    assert (found.origin, found.size, found.root) == ("example.com/log", 42, ROOT)
    assert TrustedKeys(made.public_text()).fault(found) == ""


@pytest.mark.parametrize(
    "change",
    [
        lambda text: text.replace("\n42\n", "\n43\n"),
        lambda text: text.replace("example.com/log\n42", "example.com/gol\n42"),
        lambda text: text.replace("\n\n", "\nmore\n\n"),
    ],
)
def test_a_changed_checkpoint_does_not_count(change) -> None:  # type: ignore[no-untyped-def]
    made = signer()
    assert TrustedKeys(made.public_text()).fault(read_checkpoint(change(checkpoint(42, ROOT, made))))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "only one line",
        "a\n1\nAAAA\n",
        "a\n01\n" + base64.b64encode(ROOT).decode() + "\n\n\u2014 a AAAAAAAA\n",
        "a\n1\nAAAA\n\n\u2014 a AAAAAAAA\n",
        "a\n1\n" + base64.b64encode(ROOT).decode() + "\n\n- a AAAAAAAA\n",
        "a\n0\n" + base64.b64encode(ROOT).decode() + "\n\n\u2014 a AAAAAAAA\n",
    ],
)
def test_what_is_no_checkpoint_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"its? |base64"):
        read_checkpoint(text)


def test_an_empty_log_has_the_empty_root() -> None:
    assert read_checkpoint(checkpoint(0, EMPTY, signer())).size == 0


def test_other_signatures_beside_ours_do_no_harm() -> None:
    made = signer()
    cosigned = (
        checkpoint(42, ROOT, made) + "\u2014 witness.example " + base64.b64encode(b"x" * 76).decode() + "\n"
    )
    assert TrustedKeys(made.public_text()).fault(read_checkpoint(cosigned)) == ""


def test_a_key_of_another_is_not_enough() -> None:
    other = Signer("example.com/log", b"\x08" * 32)
    found = read_checkpoint(checkpoint(42, ROOT, signer()))
    assert "signed" in TrustedKeys(other.public_text()).fault(found)
    assert "not checked" in TrustedKeys("").fault(found)
    assert "not checked" in TrustedKeys("nonsense").fault(found)


def test_without_cryptography_nothing_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    made = signer()
    trusted, found = TrustedKeys(made.public_text()), read_checkpoint(checkpoint(42, ROOT, made))
    monkeypatch.setitem(sys.modules, "cryptography.exceptions", None)
    assert trusted.fault(found).startswith("signature not checked")


def test_the_private_key_is_its_owners_alone(tmp_path: Path) -> None:
    keys = FolderKeys(tmp_path / "keys", origin="example.com/log")
    made = keys.signer()
    path = tmp_path / "keys" / "signing.key"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert made.name == "example.com/log"
    assert FolderKeys(tmp_path / "keys").signer().public_text() == made.public_text() == keys.published()


@pytest.mark.parametrize("text", ["", "PRIVATE+KEY+a+00000000+AAAA", "nonsense", "PRIVATE+KEY+a+b+c+d"])
def test_a_damaged_signing_key_is_an_error(tmp_path: Path, text: str) -> None:
    (tmp_path / "signing.key").write_text(text)
    with pytest.raises(LogError, match="restore"):
        FolderKeys(tmp_path).signer()


@pytest.mark.parametrize("origin", ["a+b", "a b", "a\n"])
def test_an_origin_that_a_note_cannot_hold_is_refused(tmp_path: Path, origin: str) -> None:
    with pytest.raises(LogError, match="name a log"):
        FolderKeys(tmp_path, origin=origin)


def test_keys_come_back_from_their_backup_but_not_the_erased(tmp_path: Path) -> None:
    keys = FolderKeys(tmp_path / "keys")
    public = keys.signer().public_text()
    alice, bob = keys.subject("alice"), keys.subject("bob")
    keys.back_up(tmp_path / "safe")
    with pytest.raises(UsageError, match="already"):
        keys.back_up(tmp_path / "safe")
    with pytest.raises(UsageError, match="are complete"):
        keys.restore(tmp_path / "safe", {alice.id, bob.id}, lambda _: True)
    fresh = FolderKeys(tmp_path / "fresh")
    assert fresh.restore(tmp_path / "safe", {bob.id}, lambda _: True)
    assert fresh.signer().public_text() == public
    assert (fresh.find("alice"), fresh.find("bob")) == (None, bob)
    assert stat.S_IMODE((tmp_path / "fresh" / "signing.key").stat().st_mode) == 0o600
