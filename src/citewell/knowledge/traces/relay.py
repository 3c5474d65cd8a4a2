"""Events of answers in the making, where every worker can read them: a client that lost the line may come
back to any.

In: numbered events of a request, from the worker that answers it, and a sign of life from time to time. Out:
what was told behind a number, to whoever listens for the same person. Kept for a while after the end; the
record says the same for ever. Knows nothing about what events say or how they travel.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from citewell.core.identity import hash_value
from citewell.core.records import Record
from citewell.knowledge.traces.shared import Database


class Relayed(Record, frozen=True, kw_only=True):
    """One event; ``number`` counts from 1."""

    number: int
    kind: str
    data: bytes


class Heard(Record, frozen=True, kw_only=True):
    """What was told; ``ended``: nothing more will be; ``silent_s``: since the answering worker last gave a
    sign of life."""

    told: tuple[Relayed, ...]
    ended: bool
    silent_s: float


class Relay:
    """In the schema of :class:`citewell.knowledge.traces.SharedTraces`. Raises LogError."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def begin(self, request_id: str, user: str, *, groups: Sequence[str] | None, keep_s: float) -> None:
        """``user`` alone may listen, and only with all of ``groups``; None is a right to everything. Lets go
        of what nobody told anything of for ``keep_s``."""
        with self._database.writing() as rows:
            rows.execute("SET LOCAL synchronous_commit = off")
            over = "SELECT request_id FROM streams WHERE alive_at < now() - make_interval(secs => ?)"
            rows.execute(f"DELETE FROM events WHERE request_id IN ({over})", (keep_s,))
            rows.execute(f"DELETE FROM streams WHERE request_id IN ({over})", (keep_s,))
            rows.execute(
                "INSERT INTO streams(request_id, listener, groups, alive_at, ended)"
                " VALUES(?, ?, ?, now(), false)",
                (request_id, _listener(user), _hashed(groups)),
            )

    def tell(self, request_id: str, events: Iterable[Relayed]) -> None:
        """Adds events to a stream that has begun."""
        rows_of = [(request_id, one.number, one.kind, one.data.decode()) for one in events]
        with self._database.writing() as rows:
            rows.execute("SET LOCAL synchronous_commit = off")
            rows.executemany("INSERT INTO events(request_id, number, kind, data) VALUES(?, ?, ?, ?)", rows_of)

    def alive(self, request_ids: Collection[str], *, ended: bool = False) -> None:
        """The worker that answers these is there; with ``ended``, it has told all of them."""
        with self._database.writing() as rows:
            rows.execute("SET LOCAL synchronous_commit = off")
            rows.execute(
                "UPDATE streams SET alive_at = now(), ended = ended OR ? WHERE request_id = ANY(?)",
                (ended, list(request_ids)),
            )

    def heard(self, request_id: str, user: str, after: int, *, groups: Sequence[str] | None) -> Heard | None:
        """What was told behind number ``after``; None for a stream that is not kept, is another user's, or
        was begun with groups that are not among ``groups``."""
        own = _hashed(groups)
        with self._database.reading() as rows:
            # The end is read with the events, in one view of the tables: none is missed between them.
            stream = rows.execute(
                "SELECT ended, extract(epoch FROM clock_timestamp() - alive_at)::float8 FROM streams"
                # The groups are NULL where everything was seen, which no list holds.
                " WHERE request_id = ? AND listener = ? AND (? OR groups <@ ?::text[])",
                (request_id, _listener(user), own is None, own or []),
            ).fetchone()
            if stream is None:
                return None
            told = rows.execute(
                "SELECT number, kind, data FROM events WHERE request_id = ? AND number > ? ORDER BY number",
                (request_id, after),
            ).fetchall()
        return Heard(
            told=tuple(Relayed(number=n, kind=kind, data=data.encode()) for n, kind, data in told),
            ended=stream[0],
            silent_s=stream[1],
        )


def _listener(user: str) -> str:
    """Whose a stream is, without the name."""
    return hash_value({"listener": user})


def _hashed(groups: Sequence[str] | None) -> list[str] | None:
    return None if groups is None else [hash_value({"group": name}) for name in groups]
