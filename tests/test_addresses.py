"""Recorded addresses show where they lead, but none of their secrets."""

from __future__ import annotations

import sys

import pytest

from citewell.audit.postgres import PostgresDatabase
from citewell.core.addresses import post, redact_address
from citewell.core.commands import tell_command
from citewell.core.errors import ConfigError


@pytest.mark.parametrize(
    ("address", "shown"),
    [
        ("", ""),
        (
            "postgresql://cw:S3CRET@db.example:5432/audit?password=S3CRET",
            "postgresql://db.example:5432/audit",
        ),
        ("postgresql://cw:S3/C@R?ET@db.example/audit", "postgresql:"),
        ("POSTGRESQL://cw:S3CRET@db.example/audit", "postgresql://db.example/audit"),
        ("postgres:/cw:S3CRET@db.example/audit", "postgres:"),
        ("file:/srv/me@work", "file:/srv/me@work"),
        ("host=db password=S3CRET", "(an address without a scheme)"),
        ("https://hooks.example/services/T0/B0/S3CRET?token=S3CRET", "https://hooks.example"),
        ("https://me:S3CRET@hooks.example/in", "https://hooks.example"),
        ("https://[S3CRET/", "(an address without a scheme)"),
        ("file:/srv/checkpoints", "file:/srv/checkpoints"),
    ],
)
def test_a_name_without_secrets(address: str, shown: str) -> None:
    assert redact_address(address) == shown


@pytest.mark.enable_socket
@pytest.mark.parametrize(
    "url",
    ["http://me:S3CRET@localhost/in", "http://localhost:1/S3CRET", "http://localhost/S3 CRET", "S3CRET"],
)
def test_what_goes_wrong_repeats_no_secret(url: str) -> None:
    said = post(url, b"{}", "application/json")
    assert said
    assert "CRET" not in said


def test_a_database_address_that_cannot_be_read_is_not_repeated() -> None:
    pytest.importorskip("psycopg", reason="the extra postgres is not installed")
    with pytest.raises(ConfigError, match=r"audit\.database is not a PostgreSQL URL") as refused:
        PostgresDatabase("postgresql://cw:pa%zzS3CRET@localhost/audit")
    assert "S3CRET" not in str(refused.value)


def test_a_command_that_takes_too_long_is_not_repeated(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("citewell.core.commands.TIMEOUT_S", 0.2)
    said = tell_command([sys.executable, "-c", "import time; time.sleep(9)", "S3CRET"], "req_1")
    assert "0.2" in said
    assert "S3CRET" not in said
