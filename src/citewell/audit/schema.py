"""The log's tables and how they grow: numbered steps, append-only, forward only, for SQLite and PostgreSQL.

In: a writing transaction of a :class:`citewell.audit.database.Database`. Out: the same database at the newest
step; table ``schema_steps`` says which it has taken. Statements are written once, with ``{id}``,
``{bytes}`` and ``{compact}`` where the two databases differ. No triggers forbid updates: whoever holds the
file can drop them, and tampering must be *found*, by the tree, not merely made inconvenient.

Fixed for ever: ``entries(seq, ...)``, ``requests``, ``private``, ``tree``, ``head``. Side tables
(``answers``, ``cited``) are derived from entries alone and can be dropped and made again by a later step.
"""

from __future__ import annotations

from citewell.audit.database import Database, Rows
from citewell.core.errors import LogError

Step = tuple[str, ...]

_FACTS = """timestamp TEXT NOT NULL, seq BIGINT NOT NULL, subject TEXT NOT NULL, session TEXT NOT NULL,
    decision TEXT NOT NULL, band TEXT NOT NULL, claims INTEGER NOT NULL, unsupported INTEGER NOT NULL,
    broken INTEGER NOT NULL, all_verified INTEGER NOT NULL"""

_SEALED: Step = (
    # The leaves' contents. `body` is null once its retention has ended.
    "CREATE TABLE entries(seq {id} PRIMARY KEY, kind TEXT NOT NULL, timestamp TEXT NOT NULL,"
    " subject TEXT NOT NULL, body TEXT, body_hash TEXT NOT NULL)",
    # Answers are most of a log and are found by their request.
    "CREATE INDEX entries_by_kind ON entries(kind, seq) WHERE kind <> 'answer'",
    # Where the record of a request stands; a request is sealed once.
    "CREATE TABLE requests(request_id TEXT PRIMARY KEY, seq BIGINT NOT NULL){compact}",
    # Personal texts and their salt, encrypted under the subject's key.
    "CREATE TABLE private(seq {id} PRIMARY KEY, subject TEXT NOT NULL, sealed {bytes} NOT NULL)",
    "CREATE INDEX private_by_subject ON private(subject, seq)",
    # Level 0 holds the leaves' hashes, level n + 1 the roots of 256 full places of level n (tlog-tiles).
    "CREATE TABLE tree(level INTEGER NOT NULL, place BIGINT NOT NULL, hash {bytes} NOT NULL,"
    " PRIMARY KEY(level, place)){compact}",
    # One row: the size and the signed checkpoint of the newest state; written with every group of entries.
    "CREATE TABLE head(one INTEGER PRIMARY KEY CHECK(one = 1), size BIGINT NOT NULL,"
    " checkpoint TEXT NOT NULL)",
    # What was published where; `error` is "" when it arrived.
    "CREATE TABLE published(size BIGINT NOT NULL, witness TEXT NOT NULL, timestamp TEXT NOT NULL,"
    " checkpoint TEXT NOT NULL, error TEXT NOT NULL, PRIMARY KEY(witness, timestamp, size)){compact}",
    f"CREATE TABLE answers(request_id TEXT NOT NULL UNIQUE, {_FACTS})",
    "CREATE INDEX answers_by_seq ON answers(seq)",
    "CREATE INDEX answers_by_time ON answers(timestamp, seq)",
    "CREATE INDEX answers_by_subject ON answers(subject, timestamp, seq)",
    "CREATE INDEX answers_unsupported ON answers(timestamp, seq) WHERE unsupported > 0",
    "CREATE INDEX answers_broken ON answers(timestamp, seq) WHERE broken > 0",
    f"""CREATE TABLE cited(document_id TEXT NOT NULL, document_version TEXT NOT NULL, {_FACTS},
        PRIMARY KEY(document_id, document_version, timestamp, seq)){{compact}}""",
    "CREATE INDEX cited_by_seq ON cited(seq)",
)

_BESIDE: Step = (
    # Questions are answered from tables beside the log (citewell.audit.postings).
    "DROP TABLE answers",
    "DROP TABLE cited",
)

STEPS: tuple[tuple[str, Step], ...] = (("the sealed log", _SEALED), ("questions beside the log", _BESIDE))
"""Append here, never change what stands."""

_TABLE = "CREATE TABLE IF NOT EXISTS schema_steps(step INTEGER PRIMARY KEY, name TEXT NOT NULL)"


def migrate(database: Database) -> None:
    """Brings the log to the newest step, one transaction a step.

    Raises LogError when a newer Citewell wrote it, or one from before the format was fixed.
    """
    while _taken(database) < len(STEPS):
        with database.writing() as rows:
            rows.execute(_TABLE)
            # Read again under the lock: another process may have taken this step while we waited.
            step = _count(rows)
            if step < len(STEPS):
                name, statements = STEPS[step]
                for statement in statements:
                    rows.execute(statement.format(**database.types))
                rows.execute("INSERT INTO schema_steps(step, name) VALUES(?, ?)", (step + 1, name))


def _taken(database: Database) -> int:
    with database.reading() as rows:
        tables = database.tables(rows)
        if "entries" in tables and "schema_steps" not in tables:
            raise LogError(
                "the audit log was written before its format was fixed",
                hint="keep the file and start a new home; the release that wrote it can still"
                " check it with `citewell audit check`",
            )
        taken = _count(rows) if "schema_steps" in tables else 0
    if taken > len(STEPS):
        raise LogError(
            f"the audit log has schema step {taken}, but this Citewell only knows steps up to {len(STEPS)}",
            hint="install the version of Citewell that wrote it, or a newer one",
        )
    return taken


def _count(rows: Rows) -> int:
    row = rows.execute("SELECT max(step) FROM schema_steps").fetchone()
    return int(row[0] or 0) if row else 0
