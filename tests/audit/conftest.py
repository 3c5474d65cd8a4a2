"""Records to seal, and a log of five of them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from benchmarks.sample_records import some_record

from citewell.audit import SqliteLog
from citewell.core.records import AuditRecord, Maker

MAKER = Maker(name="exact/1")
"""Has no prompt hash: a check against the prompts in use would otherwise miss it."""
Make = Callable[..., AuditRecord]


def make_record(number: int, **fields: Any) -> AuditRecord:
    """A record in which every claim cites the first sentence of ``TEXT``."""
    return some_record(number, maker=MAKER, **fields)


@pytest.fixture
def make() -> Make:
    return make_record


@pytest.fixture
def log_path(tmp_path: Path) -> Path:
    """Five sealed records: the log every tampering test starts from."""
    path = tmp_path / "audit.sqlite"
    log = SqliteLog(path)
    for number in range(1, 6):
        log.append(make_record(number))
    log.close()
    return path
