"""What every test shares: where the public data stands, and a skip with a reason where it does not."""

from __future__ import annotations

import os
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def data() -> Path:
    """The folder of public data; tests that need it are skipped where ``CITEWELL_DATA`` is unset."""
    folder = os.environ.get("CITEWELL_DATA")
    if not folder:
        pytest.skip("CITEWELL_DATA is not set: this test needs the public data")
    return Path(folder)
