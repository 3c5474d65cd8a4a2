"""Drift from the audit log alone: series, alerts, metrics."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from benchmarks.sample_records import some_record
from typer.testing import CliRunner

import citewell
from citewell.audit import EntryKind, SqliteLog
from citewell.cli import app
from citewell.core.access import Caller, Role
from citewell.core.config import Alerts, Config
from citewell.core.errors import AccessError, ConfigError, UsageError
from citewell.core.records import Status
from citewell.evaluation.drift import drift, drift_lately
from citewell.knowledge.home import KnowledgeBase

NOW = datetime(2026, 11, 20, 12, tzinfo=UTC)


class Clock:
    def now(self) -> datetime:
        return NOW


def fill(home: Path, days: Sequence[Sequence[bool]], **options: object) -> None:
    """One record for each value; oldest day first, the last one today. True abstains, with low confidence."""
    log = SqliteLog(home / "audit.sqlite", clock=Clock())
    number = int(str(options.pop("first", 0)))
    for back, values in enumerate(reversed(days)):
        for place, abstains in enumerate(values):
            number += 1
            when = NOW - timedelta(days=back, seconds=place + 1)
            log.append(
                some_record(
                    number,
                    timestamp=when.strftime("%Y-%m-%dT%H:%M:%S.%fZ"),
                    decision="ABSTAIN" if abstains else "ANSWER",
                    overall=0.3 if abstains else 0.9,
                    statuses=(Status.UNSUPPORTED,) if abstains else (Status.VERIFIED,),
                    **options,  # type: ignore[arg-type]
                )
            )
    log.close()


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / "home").mkdir()
    return tmp_path / "home"


def opened(home: Path, **alerts: object) -> KnowledgeBase:
    return citewell.open(home, config=Config(alerts=Alerts(**alerts)), clock=Clock())  # type: ignore[arg-type]


GOOD = [False] * 27 + [True] * 3
BAD = [False] * 10 + [True] * 20


# --- series ---------------------------------------------------------------------------------------


def test_shares_of_a_day_by_hand(home: Path) -> None:
    fill(home, [GOOD, BAD])
    with opened(home) as kb:
        found = drift(kb, since="10d", by="day")
    points = {(p.measure, p.period): p for p in found.points}
    yesterday, today = points["abstention", "2026-11-19"], points["abstention", "2026-11-20"]
    assert (yesterday.value, yesterday.n) == (0.1, 30)
    assert today.value == pytest.approx(2 / 3)
    assert today.low is not None
    assert today.high is not None
    assert today.low < today.value < today.high
    assert points["confidence", "2026-11-20"].value == pytest.approx((10 * 0.9 + 20 * 0.3) / 30)
    assert points["entailment_failures", "2026-11-20"].value == pytest.approx(2 / 3)
    assert points["broken_citations", "2026-11-20"].value == 0.0
    assert ("retrieval", "2026-11-20") not in points  # never measured: no point, not a zero
    assert found.records == 60


def test_a_mean_of_shares_is_between_none_and_all() -> None:
    from citewell.evaluation.drift.drifting import _summed

    for values in ([1.0] * 5 + [0.9], [0.0] * 5 + [0.1]):
        found = _summed("confidence", values)
        assert found.low is not None
        assert found.high is not None
        assert 0.0 <= found.low < found.value < found.high <= 1.0
    assert _summed("confidence", [0.3] * 3).low is None  # what does not vary tells nothing of its error


def test_a_week_begins_on_monday_and_older_records_are_left_out(home: Path) -> None:
    fill(home, [GOOD] * 14)
    with opened(home) as kb:
        found = drift(kb, since="8d", by="week")
    assert {point.period for point in found.points} == {"2026-11-09", "2026-11-16"}
    assert found.records == 8 * 30


def test_users_signals_count_and_evaluations_do_not(home: Path) -> None:
    fill(home, [[False] * 4])
    fill(home, [[True] * 50], user="evaluation", first=100)
    log = SqliteLog(home / "audit.sqlite", clock=Clock())
    log.note(EntryKind.FEEDBACK, {"request_id": f"req_{1:024d}", "signal": "thumbs_down"}, subject="alice")
    log.note(EntryKind.FEEDBACK, {"request_id": f"req_{1:024d}", "signal": "no_engagement"}, subject="alice")
    log.close()
    with opened(home) as kb:
        found = {p.measure: p for p in drift(kb, by="day").points}
        records = drift(kb).records
    assert (found["negative_signals"].value, found["negative_signals"].n) == (0.25, 4)
    assert found["abstention"].value == 0.0
    assert records == 4


def test_an_empty_log_has_no_points(home: Path) -> None:
    with opened(home, rules=("abstention > 0.3 @ 7d",)) as kb:
        found = drift(kb)
    assert (found.points, found.records) == ((), 0)
    assert found.alerts[0].state == "not measured"


def test_only_auditors_see_it_and_only_what_they_may_see(home: Path) -> None:
    fill(home, [GOOD])
    with opened(home) as kb:
        with pytest.raises(AccessError):
            drift(kb.as_(Caller(user="bob")))
        auditor = kb.as_(Caller(user="rita", roles=(Role.AUDITOR,)))
        # Their documents are not in this home, so nobody but an admin may see the records.
        assert drift(auditor).records in (0, 30)
        with pytest.raises(UsageError):
            drift(kb, by="century")


# --- alerts ---------------------------------------------------------------------------------------


def test_a_rule_fires_over_its_own_window(home: Path) -> None:
    fill(home, [GOOD, GOOD, GOOD, BAD])
    rules = ("abstention > 0.3 @ 1d", "abstention>0.3@4d", "confidence < 0.7 @ 1d", "latency_ms > 9 @ 1d")
    with opened(home, rules=rules) as kb:
        states = {alert.rule: alert.state for alert in drift(kb, since="1d").alerts}
    assert list(states.values()) == ["firing", "quiet", "firing", "not measured"]


def test_too_few_records_are_not_measured(home: Path) -> None:
    fill(home, [[True] * 19])
    with opened(home, rules=("abstention > 0.3 @ 1d",)) as kb:
        assert drift(kb).alerts[0].state == "not measured"
    fill(home, [[True]], first=50)
    with opened(home, rules=("abstention > 0.3 @ 1d",)) as kb:
        assert drift(kb).alerts[0].state == "firing"


@pytest.mark.parametrize(
    "line", ["abstention", "abstention > much @ 7d", "weather > 0.3 @ 7d", "abstention = 1 @ 7d"]
)
def test_what_is_no_rule_is_refused(home: Path, line: str) -> None:
    with opened(home, rules=(line,)) as kb, pytest.raises(ConfigError, match=r"alerts\.rules"):
        drift(kb)


def test_metrics_leave_no_entry(home: Path) -> None:
    fill(home, [BAD])
    with opened(home, rules=("abstention > 0.3 @ 1d",)) as kb:
        size = SqliteLog(home / "audit.sqlite").size()
        found = drift_lately(kb)
        assert SqliteLog(home / "audit.sqlite").size() == size
    (abstention,) = [point for point in found.points if point.measure == "abstention"]
    assert (abstention.value, abstention.n, abstention.period) == (pytest.approx(2 / 3), 30, "7d")
    assert [alert.state for alert in found.alerts] == ["firing"]


# --- the command ----------------------------------------------------------------------


def test_the_command_prints_and_ends_with_five_when_an_alert_fires(home: Path) -> None:
    fill(home, [GOOD, BAD])
    (home / "citewell.toml").write_text('[alerts]\nrules = ["abstention > 0.3 @ 52w"]\n')
    result = CliRunner().invoke(app, ["--home", str(home), "eval", "drift", "--since", "2026-01-01"])
    assert result.exit_code == 5, result.output
    assert "alert firing: abstention > 0.3 @ 52w: 0.383 over 60 records" in result.output
    assert "entailment_failures" in result.output
