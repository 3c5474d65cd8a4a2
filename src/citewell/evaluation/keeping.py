"""What an interrupted run had done, so that the next one goes on from there.

In: what the figures will hold for, and each case as it is done. Out: the cases that are done already, when
they were done for the same. Lines of JSON beside the result file, gone when it is written. Knows nothing
about pipelines.
"""

from __future__ import annotations

from pathlib import Path

import msgspec

from citewell.core.records import Record
from citewell.evaluation.files import write_file
from citewell.evaluation.results import CaseTiming, Key, Outcome


class Done(Record, frozen=True, kw_only=True):
    """One case; a failed one is not kept, it is tried again."""

    outcome: Outcome
    timing: CaseTiming


class Keeper:
    """Of one result file. ``found`` counts the cases that an interrupted run left for the same key."""

    def __init__(self, result: Path) -> None:
        self._path = result.with_name(result.name + ".partial")
        self._done: dict[str, Done] = {}

    @property
    def found(self) -> int:
        return len(self._done)

    def begin(self, key: Key) -> None:
        """``key`` has the index version that is asked, and the hash of all prompts. What was done for another
        is dropped. UsageError."""
        self._done = self._read(key)
        lines = [msgspec.json.encode(key), *(msgspec.json.encode(done) for done in self._done.values())]
        write_file(self._path, b"".join(line + b"\n" for line in lines))

    def done(self, case_id: str) -> Done | None:
        return self._done.get(case_id)

    def keep(self, outcome: Outcome, timing: CaseTiming) -> None:
        if not outcome.error:
            with self._path.open("ab") as file:
                file.write(msgspec.json.encode(Done(outcome=outcome, timing=timing)) + b"\n")

    def finish(self) -> None:
        """The result is written; nothing is left to go on with."""
        self._path.unlink(missing_ok=True)

    def _read(self, key: Key) -> dict[str, Done]:
        """What cannot be read, such as the line that was being written, is done again."""
        try:
            first, *lines = self._path.read_bytes().split(b"\n")
            if msgspec.json.decode(first, type=Key) != key:
                return {}
        except (OSError, msgspec.MsgspecError):
            return {}
        found = {}
        for line in lines:
            try:
                done = msgspec.json.decode(line, type=Done)
            except msgspec.MsgspecError:
                continue
            found[done.outcome.id] = done
        return found
