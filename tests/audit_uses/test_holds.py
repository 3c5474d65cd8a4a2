"""What is said for ever about a hold or an erasure names nobody."""

from __future__ import annotations

from pathlib import Path

import pytest
from benchmarks.sample_records import some_record

from citewell.audit.erasure import erase
from citewell.audit.holds import holds_in_force, lift_hold, place_hold
from citewell.audit.log import SqliteLog
from citewell.core.errors import UsageError

REQUEST = f"req_{1:024d}"
NAMED = [
    "what alice@x.org asked",
    "what alice @x.org asked",
    "what Alice@x. Org asked",
    "alice\u200b@x.org",
    "\uff41lice@x.org",
    "alice x org",
]


@pytest.fixture
def log(tmp_path: Path) -> SqliteLog:
    log = SqliteLog(tmp_path / "audit.sqlite")
    log.append(some_record(1, user="alice@x.org"))
    log.append(some_record(2, user="bob", failure="retrieval"))
    log.append(some_record(3, user="", session="ses_3"))
    log.append(some_record(4, user="\u2605"))
    return log


@pytest.mark.parametrize("reason", NAMED)
def test_a_reason_names_nobody_however_the_name_is_written(log: SqliteLog, reason: str) -> None:
    for said in (
        lambda: place_hold(log, "case 12", reason=reason, user="alice@x.org"),
        lambda: place_hold(log, "case 12", reason=reason, request_id=REQUEST),
        lambda: place_hold(log, reason, reason="proceedings", user="alice@x.org"),
        lambda: place_hold(log, reason, reason="proceedings", request_id=REQUEST),
        lambda: erase(log, "alice@x.org", reason=reason),
    ):
        with pytest.raises(UsageError, match="names the person"):
            said()
    assert holds_in_force(log) == ()
    assert log.size() == 4


@pytest.mark.parametrize("about", [{"user": "alice@x.org"}, {"request_id": REQUEST}])
def test_the_reason_why_a_hold_ends_names_nobody(log: SqliteLog, about: dict[str, str]) -> None:
    place_hold(log, "case 12", reason="proceedings", **about)
    with pytest.raises(UsageError, match="names the person"):
        lift_hold(log, "case 12", reason="settled with alice @x.org")
    assert holds_in_force(log) != ()
    lift_hold(log, "case 12", reason="settled")
    assert holds_in_force(log) == ()


def test_a_name_without_letters_is_found_as_it_stands(log: SqliteLog) -> None:
    with pytest.raises(UsageError, match="names the person"):
        place_hold(log, "case 12", reason="about \u2605", user="\u2605")
    assert place_hold(log, "case 12", reason="proceedings", user="\u2605").subject


@pytest.mark.parametrize(
    ("user", "reason", "named"),
    [
        ("a", "case 7", False),
        ("Jo", "journal request", False),
        ("Jo", "case 7 of 2026, banjo", False),
        ("7", "case 17", False),
        ("Jo", "jo asked", True),
        ("Jo", "as J.O. asked", True),
        ("J. O.", "what jo asked", True),
        ("Jo", "jojo and jo", True),
        ("\u7530\u4e2d", "\u7530\u4e2d\u3055\u3093\u306e\u4f9d\u983c", True),
        ("alic", "malice", True),
    ],
)
def test_a_short_name_is_looked_for_as_a_word(log: SqliteLog, user: str, reason: str, named: bool) -> None:
    log.append(some_record(5, user=user))
    if named:
        with pytest.raises(UsageError, match="names the person"):
            erase(log, user, reason=reason)
    else:
        assert erase(log, user, reason=reason).entries == 1


def test_a_record_of_nobody_is_held(log: SqliteLog) -> None:
    assert place_hold(log, "case 12", reason="proceedings", request_id=f"req_{3:024d}").request_id
