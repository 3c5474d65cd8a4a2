"""Hand-written passages, each with a true statement and one that says more than the passage.

In: ``benchmarks/overstatements.jsonl``. Out: (passage, what it says, what it does not say), in order. The
``unseen`` ones were written by people who had not read the checks.
"""

from __future__ import annotations

import json
from pathlib import Path

ROWS = Path(__file__).with_suffix(".jsonl")


def overstatements(part: str) -> tuple[tuple[str, str, str], ...]:
    """``part`` is ``seen`` or ``unseen``."""
    rows = [json.loads(line) for line in ROWS.read_text(encoding="utf-8").splitlines()]
    return tuple((row["passage"], row["says"], row["exceeds"]) for row in rows if row["part"] == part)
