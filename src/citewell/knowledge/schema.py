"""How the stores beside the log grow: numbered steps, append-only, forward only, for SQLite and PostgreSQL.

In: a database and its steps. Out: the same database at the newest step; table ``schema_steps`` says which it
has taken. Knows nothing about what is stored.
"""

from __future__ import annotations

from collections.abc import Sequence

from citewell.audit.database import Database, Rows
from citewell.core.errors import CitewellError

Step = tuple[str, ...]


def migrate(database: Database, steps: Sequence[Step]) -> None:
    """Takes the steps that are missing, one transaction a step. Raises CitewellError when a newer Citewell
    wrote it."""
    with database.reading() as rows:
        taken = _taken(database, rows)
    if taken > len(steps):
        raise CitewellError(
            f"{database.where} has schema {taken}, but this Citewell only knows schemas up to {len(steps)}",
            hint="install the version of Citewell that wrote it, or a newer one",
        )
    while taken < len(steps):
        with database.writing() as rows:
            rows.execute("CREATE TABLE IF NOT EXISTS schema_steps(step INTEGER PRIMARY KEY)")
            # Read again under the lock: another process may have taken this step while we waited.
            taken = _taken(database, rows)
            if taken < len(steps):
                for statement in steps[taken]:
                    rows.execute(statement.format(**database.types))
                taken += 1
                rows.execute("INSERT INTO schema_steps(step) VALUES(?)", (taken,))


def _taken(database: Database, rows: Rows) -> int:
    if "schema_steps" not in database.tables(rows):
        return 0
    row = rows.execute("SELECT max(step) FROM schema_steps").fetchone()
    return int(row[0] or 0) if row else 0
