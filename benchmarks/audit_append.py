"""Durable appends a second: the log beside raw SQLite with the same bytes, the same groups, the same syncs.

    python -m benchmarks.audit_append [--entries 2000] [--rounds 5]

In: nothing. Out: ``docs/measurements/audit_append``. One round is the log and raw SQLite, each in turn, on
fresh files of one folder: only their ratio counts, the disk is whatever it is. Raw is one table ``(seq,
body)`` in WAL with ``synchronous=FULL`` that gets as many bytes an entry as the log stores of it, made
beforehand, in transactions of the size the log's own groups had. The log is given records and does
everything: salted hashes, encryption, canonical JSON, leaf, tree, Ed25519. The tree's share is the log
against itself without leaves, tree and signature; what sealing costs shows where entries were sealed
beforehand. Then what the parts take of one core, and what a sync takes here: the slower the disk, the nearer
the ratio is to 1.
"""

from __future__ import annotations

import argparse
import os
import sqlite3
import statistics
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path

import msgspec

from benchmarks.reporting import interval, shown, table, write
from benchmarks.sample_records import some_claim, some_record
from citewell.audit import EntryKind, SqliteLog
from citewell.audit.merkle import Frontier
from citewell.audit.writer import LogWriter, NewEntry
from citewell.core.identity import canonical_json, hash_bytes, plain
from citewell.core.records import (
    AuditRecord,
    ConfidenceReport,
    Decision,
    Maker,
    Measure,
)

MAKER = Maker(name="entailer", hash="sha256:" + "e" * 64, threshold=0.5)
WRITERS = (1, 32)


class Untreed(LogWriter):
    """Writes no leaves, tree or signature: for comparison only."""

    def _frontier(self, rows, size, note):  # type: ignore[no-untyped-def]
        return Counter(size)

    def _grow(self, rows, group, frontier):  # type: ignore[no-untyped-def]
        frontier.size += len(group)
        return [b""] * len(group)

    def _sign(self, rows, frontier, *signers):  # type: ignore[no-untyped-def]
        rows.execute(
            "INSERT INTO head(one, size, checkpoint) VALUES(1, ?, 'none')"
            " ON CONFLICT(one) DO UPDATE SET size = excluded.size",
            (frontier.size,),
        )
        return "none"

    def signing_key(self, rows, note):  # type: ignore[no-untyped-def]
        return None

    def must_have_keys(self) -> None:
        """It signs nothing."""


class Counter:
    """The part of a frontier that a log without a tree needs."""

    def __init__(self, size: int) -> None:
        self.size = size


def record(number: int) -> AuditRecord:
    """Five claims with one citation each, like an answer from filings."""
    measure = Measure(value=0.93, n=5, maker="arithmetic/1")
    return some_record(
        number,
        user=f"user {number % 50}",
        session=f"ses_{number % 200:024x}",
        question="What did Acme spend on property, plant and equipment in each of the last five years?",
        generated_response="Capital expenditure was as follows. " * 8,
        shown_response="Capital expenditure was as follows. " * 8,
        maker=MAKER,
        claims=tuple(
            some_claim(
                place,
                text=f"Capital expenditure was {number} million dollars in fiscal year 202{place}.",
                document=f"filings/ACME_202{place}_10K.pdf",
                version=f"sha256:{place:064x}",
                quote=f"Additions to property, plant and equipment {number} (in millions)",
                maker=MAKER,
                reason="every word is in the quote",
                support=0.97,
                entailment=0.981,
            )
            for place in range(5)
        ),
        confidence_report=ConfidenceReport(
            retrieval_score=measure,
            coverage_score=measure,
            entailment_score=measure,
            consistency_score=Measure(value=None, n=0, note="one run"),
            weights={"retrieval": 0.3, "coverage": 0.2, "entailment": 0.4, "consistency": 0.1},
            overall=0.93,
            hallucination_gap=measure,
            decision=Decision.ANSWER,
        ),
        latency_ms={"retrieval": 41.25, "generation": 12.5, "verification": 133.125, "total": 187.0},
    )


def stored_bytes(log: SqliteLog) -> int:
    """Mean bytes per entry: body and encrypted texts."""
    with log.database.reading() as rows:
        body = rows.execute("SELECT avg(length(body)) FROM entries").fetchone()
        private = rows.execute("SELECT avg(length(sealed)) FROM private").fetchone()
    return int((body[0] if body else 0) + (private[0] if private else 0))


def append_all(log: SqliteLog, records: list[AuditRecord], writers: int) -> tuple[float, float]:
    """Seconds until the last entry is durable, and CPU seconds."""
    shares = [records[at::writers] for at in range(writers)]

    def work(share: list[AuditRecord]) -> None:
        for one in share:
            log.append(one)

    threads = [threading.Thread(target=work, args=(share,)) for share in shares]
    began, used = time.perf_counter(), time.process_time()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return time.perf_counter() - began, time.process_time() - used


def logged(
    writer: type[LogWriter], folder: Path, count: int, writers: int
) -> tuple[float, float, int, float]:
    """Entries per second, mean group size, bytes per entry, CPU microseconds per entry."""
    folder.mkdir()
    log = SqliteLog(folder / "audit.sqlite")
    log._writer = writer(log.database, log.keys)
    records = [record(number) for number in range(count + 50)]
    for number in range(count, count + 50):
        log.append(records[number])
    groups: list[int] = []
    write_group = log._writer.write

    def counted(group):  # type: ignore[no-untyped-def]
        groups.append(len(group))
        return write_group(group)

    log._writer.write = counted  # type: ignore[method-assign,assignment]
    took, used = append_all(log, records[:count], writers)
    size = stored_bytes(log)
    log.close()
    return count / took, statistics.mean(groups), size, used / count * 1e6


def sealed_beforehand(folder: Path, count: int, group: int) -> float:
    """Entries per second of the log's tables, tree and signature alone, from one thread."""
    folder.mkdir()
    log = SqliteLog(folder / "audit.sqlite")
    entries = [sealed(log, record(number)) for number in range(count)]
    log.note(EntryKind.NOTICE, {})
    began = time.perf_counter()
    for start in range(0, count, group):
        log._writer.write(entries[start : start + group])
    took = time.perf_counter() - began
    log.close()
    return count / took


def sealed(log: SqliteLog, one: AuditRecord) -> NewEntry:
    return log._seal(EntryKind.ANSWER, one.timestamp, one, one.user)


def raw(folder: Path, count: int, group: int, size: int) -> tuple[float, float]:
    """Entries per second of plain SQLite, and CPU microseconds per entry."""
    folder.mkdir()
    connection = sqlite3.connect(folder / "raw.sqlite", isolation_level=None)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute("CREATE TABLE raw(seq INTEGER PRIMARY KEY, body TEXT NOT NULL)")
    bodies = [(f"{number:09d}" + os.urandom(size // 2).hex()[: size - 9],) for number in range(count)]
    began, used = time.perf_counter(), time.process_time()
    for start in range(0, count, group):
        connection.execute("BEGIN IMMEDIATE")
        connection.executemany("INSERT INTO raw(body) VALUES(?)", bodies[start : start + group])
        connection.execute("COMMIT")
    took, used = time.perf_counter() - began, time.process_time() - used
    connection.close()
    return count / took, used / count * 1e6


def compared(writers: int, count: int, rounds: int) -> dict[str, object]:
    ratios, beforehand, of_tree, log_rates, raw_rates, groups = [], [], [], [], [], []
    used: dict[str, list[float]] = {"log": [], "raw": [], "without tree": []}
    size = 0
    with tempfile.TemporaryDirectory(dir=os.environ.get("TMPDIR")) as folder:
        for number in range(rounds):
            here = Path(folder) / str(number)
            here.mkdir()
            rate, group, size, log_us = logged(LogWriter, here / "log", count, writers)
            plain, raw_us = raw(here / "raw", count, max(1, round(group)), size)
            bare, _, _, bare_us = logged(Untreed, here / "bare", count, writers)
            for name, us in (("log", log_us), ("raw", raw_us), ("without tree", bare_us)):
                used[name].append(us)
            ratios.append(rate / plain)
            ready = sealed_beforehand(here / "ready", count, max(1, round(group)))
            beforehand.append(ready / plain)
            of_tree.append(bare / rate - 1)
            log_rates.append(rate)
            raw_rates.append(plain)
            groups.append(group)
    return {
        "writers": writers,
        "group": statistics.mean(groups),
        "bytes": size,
        "ratio": interval(ratios),
        "sealed_beforehand": interval(beforehand),
        "tree_adds": interval(of_tree),
        "processor_us": {name: statistics.median(values) for name, values in used.items()},
        "log_per_s": statistics.median(log_rates),
        "raw_per_s": statistics.median(raw_rates),
    }


def parts(batch: int = 25, batches: int = 40) -> dict[str, float]:
    """CPU microseconds of each step of an append: the median over batches of records."""
    from citewell.audit import entries
    from citewell.audit.entries import personal_places

    records = [record(number) for number in range(batch * batches)]
    with tempfile.TemporaryDirectory() as folder:
        log = SqliteLog(Path(folder) / "audit.sqlite")
        salt = bytes(32)
        body, texts = entries.separate_personal_texts(records[0], salt, log.keys.blind)
        plain_body = msgspec.json.decode(body)
        signer = log.keys.signer()
        steps: dict[str, Callable[[AuditRecord], object]] = {
            "the record as plain JSON (C)": plain,
            "canonical JSON of it, sorted (C)": lambda _: canonical_json(plain_body),
            "SHA-256 of that (C)": lambda _: hash_bytes(body),
            "personal texts found": lambda one: personal_places(plain(one)),
            "all of setting apart: the three, salts, a hash a text": lambda one: (
                entries.separate_personal_texts(one, salt, log.keys.blind)
            ),
            "texts compressed and encrypted": lambda _: entries.encrypt(texts, salt, salt, "", ""),
            "the person's key looked up": lambda one: log.keys.subject(one.user),
            "all of sealing": lambda one: sealed(log, one),
            "Ed25519, once a group": lambda _: signer.sign(salt),
        }
        took = {name: _median_us(step, records, batch) for name, step in steps.items()}
        log.close()
    took["personal texts found"] -= took["the record as plain JSON (C)"]
    return took


def _median_us(step: Callable[[AuditRecord], object], records: list[AuditRecord], batch: int) -> float:
    times = []
    for start in range(0, len(records), batch):
        began = time.thread_time()
        for one in records[start : start + batch]:
            step(one)
        times.append((time.thread_time() - began) / batch * 1e6)
    return statistics.median(times)


def sync_us(count: int = 200) -> float:
    """Median microseconds to write and sync a page: what the disk adds to each commit."""
    with tempfile.TemporaryDirectory(dir=os.environ.get("TMPDIR")) as folder:
        times = []
        with (Path(folder) / "page").open("wb", buffering=0) as file:
            for _ in range(count):
                file.seek(0)
                began = time.perf_counter()
                file.write(os.urandom(4096))
                os.fdatasync(file.fileno())
                times.append((time.perf_counter() - began) * 1e6)
    return statistics.median(times)


def tree_alone(count: int = 20_000) -> float:
    """Microseconds per leaf: hashing it and its share of the nodes above, in memory."""
    from citewell.audit.entries import leaf
    from citewell.audit.merkle import leaf_hash

    frontier = Frontier()
    began = time.perf_counter()
    for number in range(count):
        data = leaf(number, "answer", "2026-11-21T08:00:00.000000Z", "sub_0", "sha256:" + "0" * 64).data()
        frontier.append(leaf_hash(data))
    return (time.perf_counter() - began) / count * 1e6


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--entries", type=int, default=2000)
    parser.add_argument("--rounds", type=int, default=5)
    given = parser.parse_args()
    found = [compared(writers, given.entries, given.rounds) for writers in WRITERS]
    leaf_us, of_parts, sync = tree_alone(), parts(), sync_us()
    rows = [
        [
            str(one["writers"]),
            f"{one['group']:.1f}",
            shown(one["ratio"]),  # type: ignore[arg-type]
            shown(one["sealed_beforehand"]),  # type: ignore[arg-type]
            shown(one["tree_adds"]),  # type: ignore[arg-type]
            f"{one['log_per_s']:.0f} / {one['raw_per_s']:.0f}",
            " / ".join(f"{us:.0f}" for us in one["processor_us"].values()),  # type: ignore[attr-defined]
        ]
        for one in found
    ]
    body = (
        f"`python -m benchmarks.audit_append --entries {given.entries} --rounds {given.rounds}`:"
        f" {given.rounds} rounds of {given.entries} answers of five claims,"
        f" {found[0]['bytes']} bytes each.\n\n"
        + table(
            [
                "threads",
                "entries a commit",
                "log / raw SQLite, mean [95 %]",
                "sealed beforehand / raw",
                "time that tree and signature add",
                "log / raw, entries a second (median)",
                "processor microseconds an entry: log / raw / log without tree",
            ],
            rows,
        )
        + "\n\n"
        + table(["one append, of one core", "microseconds"], [[k, f"{us:.0f}"] for k, us in of_parts.items()])
        + f"\n\nA leaf with its share of the tree takes {leaf_us:.1f} microseconds of one core, in memory."
        f" A page written and synced took {sync:.0f} microseconds: the slower the disk, the nearer the ratio"
        " is to 1. Rates are of a shared machine: only the ratios, taken side by side, compare."
    )
    write(
        "audit_append",
        "Durable appends",
        body,
        {"found": found, "leaf_us": leaf_us, "parts_us": of_parts, "sync_us": sync},
    )


if __name__ == "__main__":
    main()
