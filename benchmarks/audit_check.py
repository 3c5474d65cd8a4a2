"""How long a full check takes, and an inclusion proof, on a log of a million entries.

    python -m benchmarks.audit_check [--entries 1000000]

In: nothing. Out: ``docs/measurements/audit_check``. The log is made by the writer itself, in large groups of
short notes; the check is the independent checker's, over the log file and over an export: every body's hash,
every leaf, the whole tree, the signature. Proofs are of random entries: made from tiles on disk, nothing kept
between them.
"""

from __future__ import annotations

import argparse
import random
import sqlite3
import tempfile
import time
from pathlib import Path

import numpy as np

from benchmarks.reporting import table, write
from citewell.audit import SqliteLog
from citewell.audit.checker import ExportSource, RowsSource, check
from citewell.audit.export import export
from citewell.audit.writer import NewEntry
from citewell.core.identity import canonical_json, hash_bytes

STEP = 20_000
PROOFS = 2_000


def fill(log: SqliteLog, count: int) -> None:
    """``count`` notes of about 300 bytes, in groups far larger than a service would write."""
    for first in range(0, count, STEP):
        group = []
        for number in range(first, min(first + STEP, count)):
            body = canonical_json({"number": number, "text": "x" * 270})
            stamp = f"2026-11-21T08:00:00.{number % 1_000_000:06d}Z"
            group.append(NewEntry("notice", stamp, "", body.decode(), hash_bytes(body)))
        log._writer.write(group)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--entries", type=int, default=1_000_000)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "audit.sqlite"
        log = SqliteLog(path)
        fill(log, given.entries)
        key = log.keys.published()
        connection = sqlite3.connect(path)
        took: dict[str, tuple[float, float]] = {}
        took["log file"] = _timed(lambda: check(RowsSource(connection), key=key).ok)
        export(log, Path(folder) / "export")
        took["export"] = _timed(lambda: check(ExportSource(Path(folder) / "export"), key=key).ok)
        connection.close()
        chance = random.Random(3)
        times = []
        for _ in range(PROOFS):
            seq = chance.randint(1, given.entries)
            began = time.perf_counter()
            log.prove(seq)
            times.append((time.perf_counter() - began) * 1e6)
        log.close()
    p50, p95 = (float(np.percentile(times, q)) for q in (50, 95))
    rows = [[name, f"{wall:.1f}", f"{cpu:.1f}"] for name, (wall, cpu) in took.items()]
    body = (
        f"`python -m benchmarks.audit_check --entries {given.entries}`\n\n"
        + table(["full check of", "seconds", "processor seconds"], rows)
        + f"\n\nAn inclusion proof in a log of {given.entries:,} entries, read from disk: {p50:.0f}"
        f" microseconds (median of {PROOFS}), {p95:.0f} at the 95th percentile. One thread of a shared"
        " machine: compare processor seconds."
    )
    values = {"entries": given.entries, "check": took, "proof_us": {"p50": p50, "p95": p95, "n": PROOFS}}
    write("audit_check", "Checking a log, proving an entry", body, values)


def _timed(call) -> tuple[float, float]:  # type: ignore[no-untyped-def]
    """Wall and CPU seconds of a check, which must pass."""
    wall, cpu = time.perf_counter(), time.process_time()
    assert call()
    return time.perf_counter() - wall, time.process_time() - cpu


if __name__ == "__main__":
    main()
