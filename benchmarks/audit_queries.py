"""Questions to a log of up to ten million records: p50 and p95 of each, on SQLite and PostgreSQL.

``python -m benchmarks.audit_queries [--sizes 100000 1000000] [--databases sqlite postgresql] [--folder DIR]``

A generator writes real entries (leaves, tree, signed checkpoint; five claims each, short bodies) over a year
in bulk, and the tables for questions from the same values; tests/audit_uses/test_generated.py holds them
equal to what appending and reading the log make. Then each question is asked ``--rounds`` times with values
drawn as the records were, so that what is common is asked often. A question is the whole of it: looking
whether the log has grown, finding, reading and decoding a page of 50 records. Disk per record with bodies of
real size is measured apart, through the log's own ``append``. One at a time; what was built is deleted unless
``--keep``.
"""

from __future__ import annotations

import argparse
import itertools
import json
import random
import shutil
import sqlite3
import statistics
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from benchmarks.audit_bulk import write_entries, write_tables
from benchmarks.audit_generator import FLAG, Generator
from benchmarks.private_postgres import private_postgres
from benchmarks.reporting import table, write
from citewell.audit.database import Database, migrate
from citewell.audit.indexing import follow
from citewell.audit.keys import FolderKeys
from citewell.audit.log import Log
from citewell.audit.pages import Queries
from citewell.audit.postings import Postings
from citewell.audit.profiles import DAY, timestamp_of
from citewell.audit.question import AuditQuery
from citewell.audit.sqlite import SqliteDatabase

_FOLLOWED = 100_000
"""Up to this size the tables are also built by reading the log, to time that."""
_SERVER = (
    "shared_buffers=1GB",
    "maintenance_work_mem=1GB",
    "work_mem=256MB",
    "max_wal_size=2GB",
    # Tables created and filled in one transaction then need no write-ahead log, which saves disk.
    "wal_level=minimal",
    "max_wal_senders=0",
)
HEADLINE = "30 days, cites X, any unsupported"
BAR_MS = 100
Ask = Callable[[Generator, random.Random], AuditQuery]


def _recent(generator: Generator, days: int) -> str:
    return timestamp_of(generator.end - days * DAY)


PAGES: dict[str, Ask] = {
    HEADLINE: lambda g, d: AuditQuery(since=_recent(g, 30), document=g.document(d), status="any-unsupported"),
    "newest": lambda g, d: AuditQuery(),
    "a day in the year": lambda g, d: AuditQuery(**g.some_day(d)),
    "user": lambda g, d: AuditQuery(user=g.user(d)),
    "session": lambda g, d: AuditQuery(session=g.session(d)),
    "document": lambda g, d: AuditQuery(document=g.document(d)),
    "document and version": lambda g, d: AuditQuery(document=g.document(d), version="sha256:v0"),
    "chunk": lambda g, d: AuditQuery(chunk=g.chunk(d)),
    "any unsupported": lambda g, d: AuditQuery(status="any-unsupported", **g.some_day(d)),
    "any broken": lambda g, d: AuditQuery(status="any-broken"),
    "all verified": lambda g, d: AuditQuery(status="all-verified"),
    "proof": lambda g, d: AuditQuery(proof=d.choice(["verbatim", "numeric", "entailed"])),
    "band": lambda g, d: AuditQuery(confidence=d.choice(["low", "medium", "high"])),
    "decision": lambda g, d: AuditQuery(decision=d.choice(["ANSWER", "PARTIAL", "ABSTAIN", "ERROR"])),
    "model": lambda g, d: AuditQuery(model=d.choice(g.models)),
    "prompt": lambda g, d: AuditQuery(prompt=d.choice(g.prompts)),
    "failed stage": lambda g, d: AuditQuery(failure=d.choice(g.failures)),
    "flag": lambda g, d: AuditQuery(flag=FLAG),
    "never happened": lambda g, d: AuditQuery(status="no-claims", proof="verbatim"),
    "user and document": lambda g, d: AuditQuery(user=g.user(d), document=g.document(d)),
    "broken, low, 30 days, model": lambda g, d: AuditQuery(
        since=_recent(g, 30), status="any-broken", confidence="low", model=d.choice(g.models)
    ),
}
COUNTS: dict[str, tuple[Ask, str, str]] = {
    "decisions by day, 30 days": (lambda g, d: AuditQuery(since=_recent(g, 30)), "day", "decision"),
    "verdicts by month, the year": (lambda g, d: AuditQuery(), "month", "status"),
    "one model's failures by week": (lambda g, d: AuditQuery(model=d.choice(g.models)), "week", "failure"),
    "a document's verdicts by day, 30 days": (
        lambda g, d: AuditQuery(since=_recent(g, 30), document=g.document(d)),
        "day",
        "status",
    ),
    "a user's bands by month": (lambda g, d: AuditQuery(user=g.user(d)), "month", "confidence"),
    "a day by hour": (lambda g, d: AuditQuery(**g.some_day(d)), "hour", "decision"),
}


def measure(queries: Queries, generator: Generator, rounds: int) -> dict[str, dict[str, float]]:
    """Milliseconds by question."""
    found = {}
    for name, ask in PAGES.items():
        found[name] = _timed(rounds, name, generator, lambda query: queries.page(query).records, ask)
    for name, (ask, by, of) in COUNTS.items():
        found[f"count: {name}"] = _timed(
            rounds,
            name,
            generator,
            lambda query, by=by, of=of: queries.counts(query, by=by, of=of).stretches,
            ask,
        )
    return found


def _timed(
    rounds: int, name: str, generator: Generator, run: Callable[[AuditQuery], Sequence[Any]], ask: Ask
) -> dict[str, float]:
    draw = random.Random(name)
    took, busy, sizes = [], [], []
    for number in range(rounds + 3):
        query = ask(generator, draw)
        begun, worked = time.perf_counter(), time.process_time()
        result = run(query)
        if number >= 3:
            took.append((time.perf_counter() - begun) * 1000)
            busy.append((time.process_time() - worked) * 1000)
            sizes.append(len(result))
    took.sort()
    busy.sort()
    return {
        "p50_ms": statistics.median(took),
        "p95_ms": took[min(len(took) - 1, int(0.95 * len(took)))],
        "max_ms": took[-1],
        "cpu_p50_ms": statistics.median(busy),
        "cpu_p95_ms": busy[min(len(busy) - 1, int(0.95 * len(busy)))],
        "found": statistics.mean(sizes),
    }


def open_log(database: Database, index: Database, folder: Path) -> tuple[Log, Postings]:
    migrate(database)
    return Log(database, FolderKeys(folder / "keys")), Postings(index)


def run(name: str, size: int, folder: Path, rounds: int, url: str) -> dict[str, Any]:
    """One database at one size."""
    database: Database
    index: Database
    if name == "sqlite":
        database, index = (
            SqliteDatabase(folder / "audit.sqlite"),
            SqliteDatabase(folder / "audit-index.sqlite"),
        )
    else:
        from citewell.audit.postgres import PostgresDatabase

        database = PostgresDatabase(url, schema=f"log{size}")
        index = PostgresDatabase(url, schema=f"index{size}")
    log, postings = open_log(database, index, folder)
    generator = Generator(size)
    result: dict[str, Any] = {"database": name, "records": size}
    result["entries_s"] = _seconds(lambda: write_entries(log, generator))
    result["index_s"] = _seconds(lambda: write_tables(log, postings, generator))
    if size <= _FOLLOWED:
        result["follow_per_s"] = _following(log, folder, size)
    _settle(database, index)
    result["bytes"] = _sizes(name, folder, database, index)
    print(json.dumps(result), flush=True)
    result["questions"] = measure(Queries(log, postings), generator, rounds)
    log.close()
    index.close()
    return result


def _seconds(run: Callable[[], object]) -> dict[str, float]:
    """Wall-clock seconds, and CPU seconds of this process (not of a server)."""
    begun, worked = time.perf_counter(), time.process_time()
    run()
    return {"wall": time.perf_counter() - begun, "cpu": time.process_time() - worked}


def _following(log: Log, folder: Path, size: int) -> float:
    """Entries per second when the tables are built by reading the log."""
    postings = Postings(SqliteDatabase(folder / "followed.sqlite"))
    took = _seconds(lambda: follow(log, postings))["wall"]
    postings.database.close()
    (folder / "followed.sqlite").unlink()
    return size / took


def _settle(*databases: Database) -> None:
    """Completes background work of the databases before anything is timed."""
    for database in databases:
        if isinstance(database, SqliteDatabase):
            with sqlite3.connect(database.path) as connection:
                connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            connection.close()
        else:
            # Statistics and visibility maps, as autovacuum would update them later.
            with database._writing() as writer:  # type: ignore[attr-defined]
                writer.execute("VACUUM ANALYZE")


def _sizes(name: str, folder: Path, database: Database, index: Database) -> dict[str, int]:
    if name == "sqlite":
        return {
            part: sum(file.stat().st_size for file in folder.glob(f"{part}.sqlite*"))
            for part in ("audit", "audit-index")
        }
    found = {}
    for part, where in (("audit", database), ("audit-index", index)):
        with where.reading() as rows:
            row = rows.execute(
                "SELECT sum(pg_total_relation_size(c.oid)) FROM pg_class c JOIN pg_namespace n"
                " ON n.oid = c.relnamespace WHERE n.nspname = current_schema() AND c.relkind = 'r'"
            ).fetchone()
        found[part] = int(row[0]) if row else 0
    return found


def disk_with_real_bodies(folder: Path, count: int) -> dict[str, float]:
    """Appends records as the pass writes them from 32 threads; bytes per record, rate and page times."""
    from concurrent.futures import ThreadPoolExecutor

    from benchmarks.audit_generator import real_record
    from citewell.audit.log import SqliteLog

    log = SqliteLog(folder / "audit.sqlite")
    postings = Postings(SqliteDatabase(folder / "audit-index.sqlite"))
    begun = time.perf_counter()
    with ThreadPoolExecutor(32) as pool:
        for _ in pool.map(lambda number: log.append(real_record(number)), range(count)):
            pass
    took = time.perf_counter() - begun
    follow(log, postings)
    with log.database.reading() as rows:
        (body, private) = (
            rows.execute("SELECT avg(length(body)) FROM entries").fetchone(),
            rows.execute("SELECT avg(length(sealed)) FROM private").fetchone(),
        )
    asked = [_seconds(lambda: Queries(log, postings).page(AuditQuery())) for _ in range(100)]
    newest, busy = (sorted(one[of] * 1000 for one in asked) for of in ("wall", "cpu"))
    log.close()
    postings.database.close()
    sizes = _sizes("sqlite", folder, log.database, postings.database)
    return {
        "records": count,
        "append_per_s": count / took,
        "page_p50_ms": statistics.median(newest),
        "page_p95_ms": newest[95],
        "page_cpu_p50_ms": statistics.median(busy),
        "page_cpu_p95_ms": busy[95],
        "log_bytes": sizes["audit"] / count,
        "index_bytes": sizes["audit-index"] / count,
        "body_bytes": float(body[0]) if body else 0.0,
        "private_bytes": float(private[0]) if private else 0.0,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", nargs="+", type=int, default=[100_000, 1_000_000])
    parser.add_argument("--databases", nargs="+", default=["sqlite", "postgresql"])
    parser.add_argument("--rounds", type=int, default=100)
    parser.add_argument("--real", type=int, default=100_000, help="records with real bodies, 0 for none")
    parser.add_argument("--folder", type=Path, help="where the logs are built, e.g. on a large disk")
    parser.add_argument("--keep", action="store_true")
    parser.add_argument("--part", type=Path, help="add to this file and write no page: for runs in parts")
    arguments = parser.parse_args()
    runs: list[dict[str, Any]] = []
    real: dict[str, float] = {}
    with ExitStack() as stack:
        place = arguments.folder or Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="citewell-")))
        place.mkdir(parents=True, exist_ok=True)
        for name, size in itertools.product(arguments.databases, sorted(arguments.sizes)):
            with ExitStack() as inner:
                folder = Path(tempfile.mkdtemp(prefix=f"{name}-{size}-", dir=place))
                if not arguments.keep:
                    inner.callback(shutil.rmtree, folder, ignore_errors=True)
                url = ""
                if name == "postgresql":
                    settings = _SERVER
                    url = inner.enter_context(private_postgres(folder / "server", settings))
                runs.append(run(name, size, folder, arguments.rounds, url))
                _keep(arguments.part, runs[-1])
        if arguments.real:
            with tempfile.TemporaryDirectory(dir=place) as scratch:
                real = disk_with_real_bodies(Path(scratch), arguments.real)
                _keep(arguments.part, {"real": real})
    if arguments.part is None:
        page(runs, real)


def _keep(part: Path | None, value: dict[str, Any]) -> None:
    if part is not None:
        with part.open("a", encoding="utf-8") as file:
            file.write(json.dumps(value) + "\n")


def from_parts(part: Path) -> None:
    """Writes the page from runs made separately."""
    values = [json.loads(line) for line in part.read_text().splitlines()]
    page([v for v in values if "questions" in v], next((v["real"] for v in values if "real" in v), {}))


def page(runs: list[dict[str, Any]], real: dict[str, float]) -> None:
    """``docs/measurements/audit_queries.md``."""
    runs = sorted(runs, key=lambda r: (r["database"] != "sqlite", r["records"]))
    heads = ["question", *(_name(r) for r in runs)]

    def rows(middle: str, high: str) -> list[list[str]]:
        return [
            [
                name,
                *(f"{took[middle]:.1f} / {took[high]:.1f}" for r in runs for took in [r["questions"][name]]),
            ]
            for name in runs[0]["questions"]
        ]

    sizes = [
        [
            _name(r),
            f"{r['bytes']['audit'] / r['records']:.0f}",
            f"{r['bytes']['audit-index'] / r['records']:.0f}",
            _took(r["entries_s"]),
            _took(r["index_s"]),
            f"{r['follow_per_s']:.0f}" if "follow_per_s" in r else "",
        ]
        for r in runs
    ]
    body = (
        "`python -m benchmarks.audit_queries`. Milliseconds, p50 / p95, with values drawn as the records "
        "were (what is common is asked often). A question is the whole of it: is there anything new in the "
        "log, finding, reading and decoding a page of 50. Two cores, shared with other work while this ran, "
        "so that wall times are also the neighbours'.\n\n"
        + table(heads, rows("p50_ms", "p95_ms"))
        + "\n\nOf it the processor time of the asking process (on PostgreSQL the server's is not in it), "
        "p50 / p95:\n\n"
        + table(heads, rows("cpu_p50_ms", "cpu_p95_ms"))
        + "\n\nSizes: bytes a record of the log (short bodies) and of the tables for questions; seconds to "
        "write entries and tables in bulk, in brackets of this process's processor; entries a second when "
        "the tables are made by reading the log.\n\n"
        + table(["log", "log bytes", "table bytes", "entries s", "tables s", "read/s"], sizes)
        + f"\n\n**The bar** ({HEADLINE}: p95 under {BAR_MS} ms): {_bar(runs)}."
    )
    if real:
        body += (
            f"\n\nWith real bodies, {real['records']:.0f} records by 32 threads through `append`: "
            f"{real['log_bytes']:.0f} bytes a record in the log (body {real['body_bytes']:.0f}, personal "
            f"texts {real['private_bytes']:.0f}) and {real['index_bytes']:.0f} in the tables beside it. A "
            f"page of the newest 50, personal texts opened, took {real['page_p50_ms']:.1f} / "
            f"{real['page_p95_ms']:.1f} ms, of it processor time "
            f"{real['page_cpu_p50_ms']:.1f} / {real['page_cpu_p95_ms']:.1f}."
        )
    write("audit_queries", "Log queries", body, {"runs": runs, "real": real})


def _bar(runs: list[dict[str, Any]]) -> str:
    took = {_name(run): run["questions"][HEADLINE]["p95_ms"] for run in runs}
    missed = [f"{name} ({ms:.0f} ms)" for name, ms in took.items() if ms >= BAR_MS]
    return "not met on " + ", ".join(missed) if missed else f"met on all, {max(took.values()):.0f} ms at most"


def _took(seconds: dict[str, float]) -> str:
    return f"{seconds['wall']:.0f}" + (f" ({seconds['cpu']:.0f})" if "cpu" in seconds else "")


def _name(run: dict[str, Any]) -> str:
    return f"{run['database']} {_short(run['records'])}"


def _short(count: int) -> str:
    return f"{count // 1_000_000}M" if count >= 1_000_000 else f"{count // 1000}k"


if __name__ == "__main__":
    main()
