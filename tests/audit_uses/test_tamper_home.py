"""Every row of the tamper table about a home's other stores: when done to a home, it is found and named."""

from __future__ import annotations

from pathlib import Path

import pytest
from benchmarks.audit_tamper_home import ROWS, HomeRow, checked, pattern, run


@pytest.fixture(scope="module")
def before(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = pattern(tmp_path_factory.mktemp("pattern"))
    assert checked(home).ok, checked(home)
    return home


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.kind)
def test_the_deed_is_named(row: HomeRow, before: Path) -> None:
    kinds = {finding.kind for finding in run(row, before).findings}
    assert (row.named in kinds) if row.named else not kinds
