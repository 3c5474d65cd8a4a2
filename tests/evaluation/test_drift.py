"""Drift from the audit log alone: series, change points, alerts, metrics, the canary."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import msgspec
import numpy as np
import pytest
from benchmarks.sample_records import some_record
from typer.testing import CliRunner

import citewell
from citewell.audit import EntryKind, SqliteLog
from citewell.cli import app
from citewell.core.access import Caller, Role
from citewell.core.config import Alerts, Config
from citewell.core.errors import AccessError, ConfigError, UsageError
from citewell.core.records import Case, CaseSpan, Status
from citewell.evaluation.drift import canary, drift, drift_lately
from citewell.evaluation.series import change_points
from citewell.knowledge.home import KnowledgeBase

NOW = datetime(2026, 11, 20, 12, tzinfo=UTC)


class Clock:
    def now(self) -> datetime:
        return NOW


def fill(home: Path, days: Sequence[Sequence[bool]], **options: object) -> None:
    """One record per value; oldest day first, the last one today. True abstains, with low confidence."""
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


# --- change points --------------------------------------------------------------------------------


def test_a_step_is_found_where_it_is_and_nothing_else() -> None:
    draw = np.random.default_rng(1)
    periods = [(f"{n:02d}", draw.random(40) < (0.1 if n < 6 else 0.5)) for n in range(10)]
    (found,) = change_points({"abstention": [(p, list(map(float, v))) for p, v in periods]})
    assert (found.period, found.measure) == ("06", "abstention")
    assert found.before < 0.2 < 0.4 < found.after
    assert found.p < 0.01


def test_two_steps_are_both_found() -> None:
    draw = np.random.default_rng(2)
    levels = [0.9] * 4 + [0.6] * 4 + [0.8] * 4
    series = [(f"{n:02d}", list(draw.normal(level, 0.05, 30))) for n, level in enumerate(levels)]
    assert [change.period for change in change_points({"confidence": series})] == ["04", "08"]


def test_noise_is_no_change_over_many_series() -> None:
    """300 series of noise: at a level of .01 for all of them together, hardly ever one."""
    draw = np.random.default_rng(3)
    series = {
        str(k): [(f"{n:02d}", list((draw.random(25) < 0.3).astype(float))) for n in range(8)]
        for k in range(300)
    }
    assert len(change_points(series)) <= 1


def test_too_few_or_no_values_are_no_change() -> None:
    assert change_points({}) == ()
    assert change_points({"m": [("1", [0.0] * 19), ("2", [1.0] * 19)]}) == ()
    assert change_points({"m": [("1", [0.0] * 50), ("2", [0.0] * 50)]}) == ()
    assert len(change_points({"m": [("1", [0.0] * 20), ("2", [1.0] * 20)]})) == 1


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
    from citewell.evaluation.drift import _summed

    for values in ([1.0] * 5 + [0.9], [0.0] * 5 + [0.1]):
        found = _summed("confidence", values)
        assert found.low is not None
        assert found.high is not None
        assert 0.0 <= found.low < found.value < found.high <= 1.0
    assert _summed("confidence", [0.3] * 3).low is None  # without variation its error is unknown


def test_a_week_begins_on_monday_and_older_records_are_left_out(home: Path) -> None:
    fill(home, [GOOD] * 14)
    with opened(home) as kb:
        found = drift(kb, since="8d", by="week")
    assert {point.period for point in found.points} == {"2026-11-09", "2026-11-16"}
    assert found.records == 8 * 30


def test_a_change_is_told_with_its_day(home: Path) -> None:
    fill(home, [GOOD, GOOD, GOOD, BAD, BAD])
    with opened(home) as kb:
        found = drift(kb, by="day")
    changed = {change.measure: change for change in found.changes}
    assert changed["abstention"].period == "2026-11-19"
    assert changed["confidence"].after < changed["confidence"].before


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
    assert (found.points, found.changes, found.records) == ((), (), 0)
    assert found.alerts[0].state == "not measured"


def test_only_auditors_see_it_and_only_what_they_may_see(home: Path) -> None:
    fill(home, [GOOD])
    with opened(home) as kb:
        with pytest.raises(AccessError):
            drift(kb.as_(Caller(user="bob")))
        auditor = kb.as_(Caller(user="rita", roles=(Role.AUDITOR,)))
        # Their documents are not in this home, so only an admin may see the records.
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


# --- the canary, the command ----------------------------------------------------------------------


@pytest.fixture(scope="module")
def reading(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("drifting")
    (folder / "papers").mkdir()
    (folder / "papers" / "harbour.md").write_text("# Harbour\n\nThe harbour of Lindau was opened in 1856.\n")
    home = folder / "home"
    assert CliRunner().invoke(app, ["--home", str(home), "ingest", str(folder / "papers")]).exit_code == 0
    return home


def test_the_canary_is_measured_sealed_and_drawn_with_the_rest(reading: Path, tmp_path: Path) -> None:
    span = CaseSpan(document="papers/harbour.md", quote="opened  in 1856")  # as a run reads it: words count
    cases = (
        Case(id="1", question="When was the harbour of Lindau opened?", spans=(span,)),
        Case(id="2", question="no span"),
        Case(id="3", question="lost", spans=(CaseSpan(document="papers/none.md", quote="x"),)),
    )
    file = tmp_path / "cases.jsonl"
    file.write_bytes(b"\n".join(msgspec.json.encode(case) for case in cases))
    result = CliRunner().invoke(
        app, ["--home", str(reading), "eval", "drift", "--by", "day", "--canary", str(file), "--json"]
    )
    assert result.exit_code == 0, result.output
    points = {p["measure"]: p for p in json.loads(result.stdout)["points"]}
    assert (points["canary_hit"]["value"], points["canary_hit"]["n"]) == (1.0, 1)
    assert "no document 'papers/none.md'" in result.stderr
    with citewell.open(reading) as kb:
        assert (canary(kb, cases).n, canary(kb, cases).unscored) == (
            1,
            1,
        )  # a case without spans is not asked
        with pytest.raises(UsageError):
            canary(kb, (Case(id="2", question="no span"),))


def test_a_canary_that_finds_nothing_is_not_precise_and_another_file_is_another_series(reading: Path) -> None:
    span = CaseSpan(document="papers/harbour.md", quote="opened in 1856")
    found = Case(id="1", question="When was the harbour of Lindau opened?", spans=(span,))
    lost = Case(id="2", question="Who invented the telephone exchange of Budapest?", spans=(span,))
    with citewell.open(reading) as kb:
        assert canary(kb, (lost,)).precision == 0.0
        assert canary(kb, (found, lost)).precision == 0.5
        assert canary(kb, (found,)).precision == 1.0
        points = {point.measure: point for point in drift(kb, by="day").points}
        metrics = {point.measure: point.value for point in drift_lately(kb).points}
    hit = points["canary_hit"]
    assert (hit.value, hit.n, hit.high) == (1.0, 1, 1.0)
    assert hit.low == pytest.approx(0.025)  # one out of one is not certainty
    assert metrics["canary_precision"] == 1.0


def test_the_command_prints_and_ends_with_five_when_an_alert_fires(home: Path) -> None:
    fill(home, [GOOD, BAD])
    (home / "citewell.toml").write_text('[alerts]\nrules = ["abstention > 0.3 @ 52w"]\n')
    result = CliRunner().invoke(app, ["--home", str(home), "eval", "drift", "--since", "2026-01-01"])
    assert result.exit_code == 5, result.output
    told = "abstention > 0.3 @ 52w  firing  abstention > 0.3 @ 52w: 0.383 over 60 records"
    assert told in result.output
    assert "No supporting passage found" in result.output
    with opened(home, rules=("abstention > 0.3 @ 52w",)) as kb:
        shown = drift(kb, since="2026-01-01")._repr_html_()
    assert '<b style="color:#d2495a">firing</b>' in shown
    assert "entailment_failures" not in shown
