"""A receipt verifies for a third party, says what it does not prove, and fails if any byte is changed."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import msgspec
import pytest
from benchmarks.sample_records import some_record
from hypothesis import given, settings
from hypothesis import strategies as st

from citewell.audit.entries import EntryKind
from citewell.audit.issuing import issue
from citewell.audit.log import SqliteLog
from citewell.audit.receipt_check import ReceiptReport, check_receipt
from citewell.audit.receipts import Receipt, readable_answer, receipt_bytes, source_uri
from citewell.core.errors import UsageError
from citewell.core.identity import canonical_json, hash_value

CONFIG = {
    "retrieval": {"relevance_threshold": 0.7},
    "confidence": {"answer": 0.85},
    "generator": "extractive",
}


def made(folder: Path, entries: int = 5) -> SqliteLog:
    folder.mkdir(exist_ok=True)
    log = SqliteLog(folder / "audit.sqlite")
    body = {
        "config": CONFIG,
        "config_hash": hash_value(CONFIG),
        "prompts": {"p": "sha256:p"},
        "citewell": "1",
    }
    log.note(EntryKind.CONFIGURATION, body)
    for number in range(1, entries + 1):
        log.append(some_record(number, config_hash=hash_value(CONFIG)))
    return log


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> SqliteLog:
    return made(tmp_path_factory.mktemp("receipts"))


@pytest.fixture(scope="module")
def receipt(log: SqliteLog) -> bytes:
    return receipt_bytes(issue(log, request(3)))


def request(number: int) -> str:
    return f"req_{number:024d}"


def changed(receipt: bytes, change: Any) -> ReceiptReport:
    value = json.loads(receipt)
    change(value)
    return check_receipt(canonical_json(value) + b"\n")


def test_a_stranger_can_check_it_and_is_told_what_it_does_not_prove(receipt: bytes, log: SqliteLog) -> None:
    report = check_receipt(receipt)
    assert report.ok
    assert not report.origin
    assert any("integrity" in line for line in report.proves)
    assert any("--key" in line for line in report.does_not_prove)
    assert any("true" in line for line in report.does_not_prove)


def test_with_the_issuers_key_it_proves_origin(receipt: bytes, log: SqliteLog) -> None:
    report = check_receipt(receipt, key=log.keys.published())
    assert report.ok
    assert report.origin
    assert any(report.issuer in line for line in report.proves)


def test_another_key_is_a_finding(receipt: bytes, tmp_path: Path) -> None:
    other = made(tmp_path, 1)
    report = check_receipt(receipt, key=other.keys.published())
    assert not report.ok
    assert not report.origin


def test_a_checkpoint_kept_outside_proves_origin(log: SqliteLog) -> None:
    kept = log.checkpoint()
    log.append(some_record(77, config_hash=hash_value(CONFIG)))
    against = receipt_bytes(issue(log, request(2), checkpoint=kept))
    assert check_receipt(against, outside=[kept]).origin
    newest = receipt_bytes(issue(log, request(2)))
    report = check_receipt(newest, outside=[kept])
    assert not report.ok
    assert "ask for a receipt made against yours" in report.findings[0]


def test_a_file_of_many_checkpoints_proves_origin_by_the_one_that_fits(tmp_path: Path) -> None:
    log = made(tmp_path / "many", 2)
    kept = [log.checkpoint()]
    for number in (7, 8):
        log.append(some_record(number, config_hash=hash_value(CONFIG)))
        kept.append(log.checkpoint())
    against = receipt_bytes(issue(log, request(2), checkpoint=kept[1]))
    assert check_receipt(against, outside=["\n".join(kept)]).origin
    assert "ask for a receipt" in check_receipt(against, outside=[kept[0] + kept[2]]).findings[0]
    assert "cannot be read" in check_receipt(against, outside=[kept[1] + "something"]).findings[0]


def test_it_shows_question_answer_claims_and_spans(receipt: bytes) -> None:
    value = json.loads(receipt)
    assert value["answer"]["question"] == "question 3?"
    assert value["answer"]["claims"][0]["status"] == "VERIFIED"
    assert value["answer"]["thresholds"]["retrieval"] == {"relevance_threshold": 0.7}
    assert value["answer"]["prompts"] == {"p": "sha256:p"}
    quote, place = value["annotations"][0]["target"]["selector"]
    assert quote == {"exact": "Revenue was 12 million.", "type": "TextQuoteSelector"}
    assert place == {"end": 23, "start": 0, "type": "TextPositionSelector"}
    assert "alice" not in receipt.decode()


def test_another_configuration_sealed_in_between_does_not_hide_the_answers_own(tmp_path: Path) -> None:
    """As when a command runs alongside a server: it seals its own configuration once."""
    log = made(tmp_path / "between", 1)
    log.note(EntryKind.CONFIGURATION, {"config": {}, "config_hash": hash_value({}), "prompts": {}})
    log.append(some_record(8, config_hash=hash_value(CONFIG)))
    value = json.loads(receipt_bytes(issue(log, request(8))))
    assert value["answer"]["thresholds"]["retrieval"] == {"relevance_threshold": 0.7}
    assert value["answer"]["prompts"] == {"p": "sha256:p"}


def test_what_was_left_out_of_a_receipt_is_told(log: SqliteLog, receipt: bytes) -> None:
    assert not any("as salted hashes" in line for line in check_receipt(receipt).does_not_prove)

    def stripped(change: Any) -> ReceiptReport:
        value = msgspec.json.decode(receipt, type=Receipt)
        opened, configuration = change(dict(value.opened), value.configuration)
        answer, annotations = readable_answer(value.body, opened, configuration)
        made = msgspec.structs.replace(
            value, opened=opened, configuration=configuration, answer=answer, annotations=annotations
        )
        return check_receipt(receipt_bytes(made))

    def without_reason(opened: Any, configuration: Any) -> Any:
        del opened["/claims/0/verdict/reason"]
        return opened, configuration

    report = stripped(without_reason)
    assert report.ok
    assert any("/claims/0/verdict/reason" in line for line in report.does_not_prove)
    report = stripped(lambda opened, configuration: (opened, None))
    assert report.ok
    assert any("settings and prompt files" in line for line in report.does_not_prove)
    assert not any("nothing in this file was changed" in line for line in report.proves)


def test_it_can_keep_the_texts_secret_or_show_the_user(log: SqliteLog) -> None:
    secret = receipt_bytes(issue(log, request(1), hashes_only=True))
    assert b"question 1?" not in secret
    report = check_receipt(secret)
    assert report.ok
    assert any("salted hashes" in line for line in report.does_not_prove)
    assert b"alice" in receipt_bytes(issue(log, request(1), with_user=True))


def test_documents_are_named_by_their_bytes() -> None:
    empty = "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
    assert source_uri(empty) == "ni:///sha-256;47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU"


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The path of every member and item, at any depth."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return (
        [path, *(place for key, item in inner for place in places(item, (*path, key)))]
        if path
        else [place for key, item in inner for place in places(item, (key,))]
    )


def mutated(value: Any, how: int) -> Any:
    """A different value, of the same type or another."""
    if isinstance(value, str):
        return [value + "x", value[:-1] + chr(ord(value[-1]) ^ 1) if value else "y", "", None][how]
    if isinstance(value, bool):
        return [not value, None, "x", 1][how]
    if isinstance(value, int | float):
        return [value + 1, -value - 1, str(value), None][how]
    if isinstance(value, list):
        return [[*value, "x"], value[:-1] if value else ["y"], value[::-1] if len(value) > 1 else [1], None][
            how
        ]
    if isinstance(value, dict):
        return [{**value, "extra": 1}, dict(list(value.items())[1:]) if value else {"y": 1}, [], None][how]
    return ["x", 1, [1], {"x": 1}][how]


@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_no_field_can_be_changed(receipt: bytes, data: st.DataObject) -> None:
    value = json.loads(receipt)
    path = data.draw(st.sampled_from(places(value)))
    target = value
    for step in path[:-1]:
        target = target[step]
    before = copy.deepcopy(target[path[-1]])
    after = mutated(before, data.draw(st.integers(0, 3)))
    if canonical_json(after) == canonical_json(before):
        return
    target[path[-1]] = after
    report = check_receipt(canonical_json(value) + b"\n")
    # Texts and settings may be withheld; the report then says what it lacks.
    kept_back = set(report.does_not_prove) - set(check_receipt(receipt).does_not_prove)
    assert not report.ok or (path[0] in ("opened", "configuration") and kept_back), path


@settings(max_examples=60, deadline=None)
@given(place=st.integers(0, 10**6), byte=st.integers(0, 255))
def test_no_byte_can_be_changed(receipt: bytes, place: int, byte: int) -> None:
    place %= len(receipt) - 1
    if receipt[place] != byte:
        assert not check_receipt(receipt[:place] + bytes([byte]) + receipt[place + 1 :]).ok


@pytest.mark.parametrize("data", [b"", b"{}", b"[]", b"\xff", b"NaN", b'{"a":1,"a":2}', b"[" * 100_000])
def test_what_is_no_receipt(data: bytes) -> None:
    report = check_receipt(data)
    assert not report.ok
    assert "not a receipt" in report.findings[0]


def test_a_receipt_made_for_a_log_of_ones_own_is_not_the_issuers(receipt: bytes, tmp_path: Path) -> None:
    """Anyone can make a log of one entry; that gives integrity, never origin."""
    forged = made(tmp_path, 3)
    mine = receipt_bytes(issue(forged, request(3)))
    assert check_receipt(mine).ok
    genuine = json.loads(receipt)["key"]
    assert not check_receipt(mine, key=genuine).ok

    def lend_the_key(value: Any) -> None:
        value["key"] = genuine

    assert not changed(mine, lend_the_key).ok


def test_other_spellings_of_the_same_are_refused(receipt: bytes) -> None:
    value = json.loads(receipt)
    assert not check_receipt(json.dumps(value, indent=1).encode()).ok

    def another_line(value: Any) -> None:
        value["checkpoint"] += value["checkpoint"].splitlines(keepends=True)[-1]

    assert not changed(receipt, another_line).ok


def test_no_receipt_of_what_is_not_there(log: SqliteLog) -> None:
    with pytest.raises(UsageError):
        issue(log, "req_none")
    with pytest.raises(UsageError, match="cannot be read"):
        issue(log, request(1), checkpoint="nothing")


def test_an_older_checkpoint_or_one_of_another_log_is_refused(log: SqliteLog, tmp_path: Path) -> None:
    early = made(tmp_path, 1).checkpoint()
    with pytest.raises(UsageError, match="is entry"):
        issue(log, request(4), checkpoint=early)
    with pytest.raises(UsageError, match="not belong to this log"):
        issue(log, request(1), checkpoint=made(tmp_path / "b", 3).checkpoint())


def test_a_place_of_thousands_of_digits_is_a_finding(receipt: bytes) -> None:
    def change(value: Any) -> None:
        value["opened"][f"/claims/{'9' * 5_000}/text"] = next(iter(value["opened"].values()))

    report = changed(receipt, change)
    assert any("is not the one that was sealed" in finding for finding in report.findings)
