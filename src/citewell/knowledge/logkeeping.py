"""A home's log, kept honest: checked, published, proven, its keys changed and restored.

In: the parts of a home. Out: reports, checkpoints, proofs. Shows no contents, so nothing here is a read; who
may not see all of it learns no names from it. Knows nothing about what the entries mean:
:mod:`citewell.knowledge.auditing` does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from citewell.audit.entries import EntryKind
from citewell.audit.indexing import ANEW, differing
from citewell.audit.tampering import Finding
from citewell.core.access import Caller, Role
from citewell.core.environment import environment
from citewell.core.errors import AbandonedError, CitewellError, IndexMismatchError, LogError, ModelError
from citewell.knowledge import consistency
from citewell.knowledge.assembly import AUDIT_FILE, TABLES_FILE, Assembly
from citewell.knowledge.catalogue import CATALOGUE, Sealed, differences, ingest_under_way
from citewell.knowledge.sealing import Key, prompt_hashes, seal_key
from citewell.knowledge.visibility import Visibility

if TYPE_CHECKING:
    from citewell.audit import CheckReport, Log
    from citewell.audit.keys import FolderKeys
    from citewell.audit.log import Growth, Proof
    from citewell.audit.witnesses import Publication

_SOUND = ("evidence", "prompt", "signature", "subject")
"""Findings that leave the entries themselves as they were sealed."""


class _NotCompared(Exception):
    """Why something was not compared."""


class LogKeeping:
    """Made by :attr:`citewell.knowledge.home.KnowledgeBase.log`."""

    def __init__(self, parts: Assembly, caller: Caller) -> None:
        self._parts, self._caller = parts, caller

    def check(
        self, *, outside: Sequence[str] = (), key: str = "", api_keys: Sequence[Key] | None = None
    ) -> CheckReport:
        """Derives the log again, with the stored evidence and the prompt files of this release.

        ``outside`` are checkpoints that somebody else kept, ``key`` the published keys, one a line (those of
        the home when empty), ``api_keys`` those that open the server, where they are at hand. Changes
        nothing; on a connection of its own, so that others read meanwhile.
        """
        self._caller.must(Role.AUDITOR, to="check the log")
        self._parts.must_be_there()
        log = self._readonly_log()
        with closing(log.database):
            report = log.check(
                evidence=self._parts.evidence,
                prompts=prompt_hashes(),
                release=environment()["citewell"],
                outside=outside,
                key=key,
            )
            return self._without_names(self._compared(log, report, api_keys))

    def _readonly_log(self) -> Log:
        from citewell.audit import Log, SqliteLog

        if url := self._parts.config.audit.database:
            from citewell.audit.postgres import PostgresDatabase

            return Log(PostgresDatabase(url, readonly=True), self._parts.keys)
        return SqliteLog(self._parts.home / AUDIT_FILE, readonly=True, keys=self._parts.keys)

    def size(self) -> int:
        """Entries in the log, whoever's they are."""
        return self._log(Role.AUDITOR, to="see how long the log is").size()

    def checkpoint(self) -> str:
        """The newest signed checkpoint: what an outsider keeps."""
        return self._log(Role.AUDITOR, to="see checkpoints").checkpoint()

    def publish(self) -> tuple[Publication, ...]:
        """Sends the newest checkpoint to every configured witness; each outcome is recorded."""
        self._log(Role.ADMIN, to="publish checkpoints").size()
        publisher = self._parts.publisher
        return publisher.publish() if publisher is not None else ()

    def prove(self, request_id: str) -> Proof:
        """That the entry of a request is in the tree of the newest checkpoint. Raises UsageError."""
        self._parts.must_be_there()
        log = self._parts.log
        if not self._caller.unrestricted:
            Visibility(self._caller, self._parts.evidence, log).request(request_id)
        return log.prove(log.get(request_id).seq)

    def prove_growth(self, kept: str) -> Growth:
        """That the log only added to what the checkpoint ``kept`` signed. Raises UsageError,
        LogIntegrityError when it did not."""
        return self._log(Role.AUDITOR, to="prove that the log only grew").grew_from(kept)

    def rotate_key(self, reason: str = "") -> str:
        """A new signing key, signed over by the old one; the new public key, to be published."""
        return self._log(Role.ADMIN, to="change keys").hand_over(reason)

    def replace_lost_key(self, reason: str) -> str:
        """A new signing key where the old one is gone. Raises UsageError while it is there."""
        return self._log(Role.ADMIN, to="change keys").replace_lost_key(reason)

    def restore_keys(self, folder: str | Path) -> bool:
        """Brings missing keys back from a backup; people whom the log says were erased stay so. False where
        the key that signs is still missing: the backup is older than its last change."""
        return self._log(Role.ADMIN, to="change keys").restore_keys(Path(folder))

    @property
    def keys(self) -> FolderKeys:
        """Where the keys of people and the signing key are."""
        self._caller.must(Role.ADMIN, to="use keys")
        return self._parts.keys

    def published_keys(self) -> str:
        """The public keys, one a line, oldest first, a retired one with the size up to which it counts."""
        return self._log(Role.ADMIN, to="use keys").published()

    def seal_key(self, key: Key, outcome: str) -> None:
        """An entry of an API key that is made or revoked."""
        seal_key(self._log(Role.ADMIN, to="create and revoke keys"), key, outcome)

    def had_api_keys(self) -> bool:
        """Whether a key that opens the server was ever made, by the log. Raises LogError."""
        return self._log(Role.ADMIN, to="ask for keys").latest(EntryKind.ACCESS) is not None

    def _log(self, role: Role, *, to: str) -> Log:
        self._caller.must(role, to=to)
        self._parts.must_be_there()
        return self._parts.log

    def _compared(self, log: Log, report: CheckReport, api_keys: Sequence[Key] | None) -> CheckReport:
        """``report``, with what the home's other stores say otherwise than the log."""
        notes, parts = list(report.notes), self._parts
        stores: tuple[tuple[str, str, Callable[[], Iterable[Finding]]], ...] = (
            ("search tables", "side-table", lambda: self._tables(log)),
            ("document catalogue", CATALOGUE, lambda: self._documents(log, notes)),
            ("feedback", consistency.FEEDBACK, lambda: consistency.feedback_differences(log, parts.feedback)),
            (
                "traces",
                consistency.TRACE,
                lambda: consistency.trace_differences(log, parts.traces, parts.feedback),
            ),
            ("API keys", consistency.ACCESS, lambda: self._api_keys(log, api_keys)),
            ("index", "index", lambda: self._index(log if sound else None, notes)),
        )
        sound = all(found.kind in _SOUND for found in report.findings)
        found, skipped = {*report.findings}, list(report.skipped)
        for name, kind, compare in stores:
            try:
                if not sound and kind != "index":
                    raise _NotCompared("the log has findings")
                found |= {*compare()}
            except AbandonedError:
                raise
            except _NotCompared as reason:
                skipped.append(f"{name} not checked: {reason}")
            except (CitewellError, ValueError, LookupError, TypeError, AttributeError, OSError) as error:
                found.add(Finding(kind, 0, f"{name} cannot be compared: {error}"))
        ordered = tuple(sorted(found, key=lambda one: (one.seq, one.kind)))
        return replace(report, ok=not found, findings=ordered, skipped=tuple(skipped), notes=tuple(notes))

    def _tables(self, log: Log) -> Iterator[Finding]:
        try:
            tables = self._parts.tables(readonly=True)
        except LogError as error:
            there = self._parts.config.audit.database or (self._parts.home / TABLES_FILE).exists()
            raise _NotCompared(str(error) if there else "there are no tables yet") from error
        with closing(tables):
            try:
                findings, missed = differing(log, tables)
            except LogError as error:
                raise ValueError(f"{error}; {ANEW}") from error
        if missed:
            raise _NotCompared(missed)
        yield from findings

    def _documents(self, log: Log, notes: list[str]) -> list[Finding]:
        if ingest_under_way(self._parts.home):
            raise _NotCompared("an ingest is running")
        findings, told = differences(log, self._parts.evidence)
        notes += told
        return findings

    def _api_keys(self, log: Log, keys: Sequence[Key] | None) -> Iterator[Finding]:
        if keys is None:
            raise _NotCompared("none available")
        return consistency.key_differences(log, keys)

    def _index(self, log: Log | None, notes: list[str]) -> Iterator[Finding]:
        """Where the published index says otherwise than the evidence gives, or, where the ``log`` is sound,
        has other vectors than were sealed."""
        from citewell.documents.agreement import HINT, index_findings
        from citewell.documents.evidence.catalogue import INDEXED

        parts = self._parts
        if not any((parts.home / "index").glob("*")):
            if not any(entry.state == INDEXED for entry in parts.evidence.catalogue()):
                raise _NotCompared("there is no index yet")
            yield Finding("index", 0, f"it is gone; {HINT}")
            return
        if ingest_under_way(parts.home):
            raise _NotCompared("an ingest is running")
        heads = Sealed(log).heads if log is not None else {}
        vectors = {name: head.vectors for name, (_, head) in heads.items() if not head.withdrawn}
        if bare := sum(not own for own in vectors.values()):
            notes.append(f"the vectors of {bare} documents were not sealed when they were ingested")
        try:
            for one in index_findings(parts.index, parts.evidence, parts.config.chunking, vectors):
                yield Finding("index", 0, f"{one}; {HINT}")
        except AbandonedError:
            raise
        except (IndexMismatchError, ModelError) as error:  # the configuration's; asking says so too
            raise _NotCompared(str(error)) from error
        except (CitewellError, ValueError, LookupError, TypeError, RuntimeError, OSError) as error:
            yield Finding("index", 0, f"it cannot be compared: {error}; {HINT}")

    def _without_names(self, report: CheckReport) -> CheckReport:
        """Findings name requests and documents, whoever's they are: who may not see all of it learns what
        kinds of tampering were found and where."""
        if self._caller.unrestricted:
            return report
        findings = tuple(
            replace(found, reason="only an admin may see the details") for found in report.findings
        )
        return replace(report, findings=findings, notes=())
