"""No personal text is in what is sealed; the key restores it, and without the key it is gone."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from citewell.audit import EntryKind, SqliteLog
from citewell.audit.entries import (
    KEY_MISSING,
    PUBLIC,
    decrypt,
    fill_in,
    salted_texts,
    separate_personal_texts,
)
from citewell.audit.keys import FolderKeys
from citewell.core.errors import LogIntegrityError
from citewell.core.identity import salted_hash
from citewell.core.records import Measure

SALT = b"s" * 32
TEXT = st.text('aé😀"\\/~', min_size=1, max_size=4)
BODIES = st.dictionaries(
    st.sampled_from(["question", "notes", "kind", "claims", "user", "score"]),
    st.recursive(
        st.one_of(TEXT, st.integers(0, 9), st.none(), st.booleans()),
        lambda inner: st.one_of(
            st.lists(inner, max_size=3),
            st.lists(inner, max_size=3).map(tuple),
            st.dictionaries(st.sampled_from(["text", "kind"]), inner),
        ),
        max_leaves=8,
    ),
)


def blind(text: str) -> str:
    return f"blind-{len(text)}"


def file_bytes(folder: Path) -> bytes:
    return b"".join(path.read_bytes() for path in sorted(folder.glob("audit.sqlite*")))


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(BODIES)
def test_what_is_set_apart_comes_back(body: dict[str, object]) -> None:
    sealed, texts = separate_personal_texts(body, SALT, blind)
    same = msgspec.json.decode(msgspec.json.encode(body))
    assert fill_in(sealed.decode(), SALT, texts) == same


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(BODIES)
def test_only_public_members_keep_their_words(body: dict[str, object]) -> None:
    def texts_outside_public(value: object) -> list[str]:
        if isinstance(value, str):
            return [value]
        if isinstance(value, dict):
            inner = [item for key, item in value.items() if key not in {*PUBLIC, "sealed"}]
            return [text for item in inner for text in texts_outside_public(item)]
        if isinstance(value, list):
            return [text for item in value for text in texts_outside_public(item)]
        return []

    sealed, _ = separate_personal_texts(body, SALT, blind)
    assert texts_outside_public(msgspec.json.decode(sealed)) == []


def test_names_with_slashes_come_back() -> None:
    body = {"filters": {"a/b": "1", "a": {"b": "2"}, "~1": ["3"]}}
    sealed, texts = separate_personal_texts(body, SALT, blind)
    assert fill_in(sealed.decode(), SALT, texts) == body


def test_one_field_can_be_opened_and_the_others_stay_shut() -> None:
    body, texts = separate_personal_texts({"question": "who?", "answer": "nobody"}, SALT, blind)
    sealed = msgspec.json.decode(body)
    salt, text = salted_texts(SALT, texts)["/question"]
    assert (text, sealed["question"]) == ("who?", {"sealed": salted_hash(salt, "who?")})
    assert sealed["answer"] != {"sealed": salted_hash(salt, "nobody")}


def test_quotes_of_documents_are_public_and_quotes_without_a_place_are_not() -> None:
    def quote(**members: object) -> object:
        sealed, _ = separate_personal_texts({"citations": [members]}, SALT, blind)
        return msgspec.json.decode(sealed)["citations"][0]["quote"]

    assert quote(quote="words", start=3, document_version="v1") == "words"
    assert "sealed" in quote(quote="words", start=-1, document_version="v1")  # type: ignore[operator]


def test_no_word_of_a_person_is_in_the_log_file(tmp_path: Path, make) -> None:  # type: ignore[no-untyped-def]
    log = SqliteLog(tmp_path / "audit.sqlite")
    record = msgspec.structs.replace(
        make(1, user="zebulon"),
        session_id="ses_quagga",
        user_query="okapi?",
        generated_response="tapir",
        shown_response="aardvark",
        missing=("narwhal",),
        notes=("axolotl",),
        error="pangolin",
        confidence_report=msgspec.structs.replace(
            make(1).confidence_report,
            reasons=("wombat",),
            coverage_score=Measure(value=None, n=0, note="dugong"),
        ),
    )
    log.append(record)
    held = file_bytes(tmp_path)
    words = [
        "zebulon",
        "quagga",
        "okapi",
        "tapir",
        "aardvark",
        "narwhal",
        "axolotl",
        "pangolin",
        "wombat",
        "dugong",
    ]
    assert [word for word in words if word.encode() in held] == []
    assert log.record(record.request_id) == record


def test_a_destroyed_key_hides_and_proves_on(tmp_path: Path, make) -> None:  # type: ignore[no-untyped-def]
    log = SqliteLog(tmp_path / "audit.sqlite")
    log.append(make(1, user="alice"))
    log.append(make(2, user="bob"))
    before = log.checkpoint()
    pseudonym = log.keys.destroy("alice")
    erased, kept = log.body(log.at(1)), log.body(log.at(2))
    assert (erased["user_query"], erased["user"]) == (KEY_MISSING, KEY_MISSING)
    assert erased["claims"][0]["verdict"]["status"] == "VERIFIED"
    assert erased["retrieval_results"] == []
    assert kept["user_query"] == "question 2?"
    assert log.at(1).subject == pseudonym
    assert (log.keys.name(pseudonym), log.keys.key(pseudonym), log.keys.find("alice")) == ("", None, None)
    assert log.check().ok
    assert log.checkpoint() == before
    assert log.keys.destroy("alice") == ""


def test_who_comes_back_is_somebody_new(tmp_path: Path, make) -> None:  # type: ignore[no-untyped-def]
    log = SqliteLog(tmp_path / "audit.sqlite")
    log.append(make(1))
    log.keys.destroy("alice")
    log.append(make(2))
    assert log.at(1).subject != log.at(2).subject
    assert [log.body(log.at(seq))["user_query"] for seq in (1, 2)] == [KEY_MISSING, "question 2?"]


def test_texts_of_one_entry_are_not_taken_for_anothers(tmp_path: Path, make) -> None:  # type: ignore[no-untyped-def]
    log = SqliteLog(tmp_path / "audit.sqlite")
    log.append(make(1))
    log.append(make(2))
    with sqlite3.connect(tmp_path / "audit.sqlite") as connection:
        connection.execute(
            "UPDATE private SET sealed = (SELECT sealed FROM private WHERE seq = 2) WHERE seq = 1"
        )
    connection.close()
    with pytest.raises(LogIntegrityError, match="not the ones that were sealed"):
        log.body(log.at(1))


def test_without_the_keys_a_copy_of_the_log_says_nothing(tmp_path: Path, make) -> None:  # type: ignore[no-untyped-def]
    SqliteLog(tmp_path / "audit.sqlite").append(make(1))
    copy = SqliteLog(tmp_path / "audit.sqlite", keys=FolderKeys(tmp_path / "elsewhere"), readonly=True)
    assert copy.body(copy.at(1))["user_query"] == KEY_MISSING
    assert not (tmp_path / "elsewhere").exists()


def test_a_note_about_nobody_is_kept_as_it_is(tmp_path: Path) -> None:
    log = SqliteLog(tmp_path / "audit.sqlite")
    log.note(EntryKind.NOTICE, {"text": "the index was rebuilt", "score": 0.5})
    log.note(EntryKind.READ, {"show": "req_1", "reader": "carol"}, subject="carol")
    assert log.body(log.at(1)) == {"text": "the index was rebuilt", "score": 0.5}
    assert log.body(log.at(2)) == {"show": "req_1", "reader": "carol"}
    assert b"carol" not in file_bytes(tmp_path)


def test_texts_of_another_format_are_a_clear_error() -> None:
    """As in a home written by an unreleased Citewell: the key decrypts the texts, but nothing parses them."""
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

    key, nonce = bytes(32), bytes(12)
    sealed = nonce + AESGCM(key).encrypt(nonce, b"not compressed", b"sha256:00 person")
    with pytest.raises(LogIntegrityError, match="not the ones that were sealed"):
        decrypt(sealed, key, "sha256:00", "person")
