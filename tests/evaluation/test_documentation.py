"""The page describes every measure, in the order in which they are reported."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

from citewell.evaluation.gating import load_rules
from citewell.evaluation.measure import latencies
from citewell.evaluation.measures import ALL

PAGE = (Path(__file__).parents[2] / "docs" / "evaluation.md").read_text()


def test_the_table_is_the_registry() -> None:
    rows = re.findall(r"^\| `([^`]+)` \| [^|]+ \| (\w+) \|", PAGE, flags=re.M)
    assert rows == [(measure.name, measure.counts) for measure in (*ALL, *latencies(()))]


def test_the_example_of_thresholds_can_be_read(tmp_path: Path) -> None:
    (example,) = re.findall(r"^```toml\n(.*?)^```", PAGE, flags=re.M | re.S)
    (tmp_path / "thresholds.toml").write_text(example)
    (rule,) = load_rules(tmp_path / "thresholds.toml")
    assert set(rule.measures) == set(tomllib.loads(example)["rule"][0]["measures"])


def test_the_example_of_cases_can_be_read(tmp_path: Path) -> None:
    from citewell.evaluation.cases import load_cases

    (example,) = re.findall(r"^```json\n(.*?)^```", PAGE, flags=re.M | re.S)
    (tmp_path / "cases.jsonl").write_text(example)
    assert len(load_cases(tmp_path / "cases.jsonl")) == 2
