"""A home's log, kept honest: checked, published, proven, its keys changed and restored.

In: the parts of a home. Out: reports, checkpoints, proofs. Shows no contents, so nothing here is a read; who
may not see all of it learns no names from it. Knows nothing about what the entries mean:
:mod:`citewell.knowledge.auditing` does.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from citewell.audit.following import ANEW, differing
from citewell.audit.tampering import Finding
from citewell.core.access import Caller, Role
from citewell.core.environment import environment
from citewell.core.errors import CitewellError, EvidenceError, IndexMismatchError, LogError, ModelError
from citewell.knowledge import apikeys, beside
from citewell.knowledge.apikeys import Key
from citewell.knowledge.assembly import AUDIT_FILE, TABLES_FILE, Assembly
from citewell.knowledge.catalogue import CATALOGUE, differences, ingest_under_way
from citewell.knowledge.sealing import prompt_hashes
from citewell.knowledge.visibility import Seeing

if TYPE_CHECKING:
    from citewell.audit import CheckReport, Log
    from citewell.audit.keys import FolderKeys
    from citewell.audit.log import Growth, Proof
    from citewell.audit.witnesses import Publication
    from citewell.documents.evidence.sqlite import SqliteEvidence


_BESIDE = ("evidence", "prompt", "signature", "subject")
"""Findings that leave the entries themselves as they were sealed."""


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
        nothing, so that a copy on a read-only disk can be checked; on a connection of its own, so that others
        read meanwhile.
        """
        self._caller.must(Role.AUDITOR, to="check the log")
        self._parts.must_be_there()
        log = self._readonly_log()
        try:
            with self._readable_evidence() as evidence:
                return self._checked(log, evidence, outside, key, api_keys)
        finally:
            log.database.close()

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
            Seeing(self._caller, self._parts.evidence, log).request(request_id)
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

    def _log(self, role: Role, *, to: str) -> Log:
        self._caller.must(role, to=to)
        self._parts.must_be_there()
        return self._parts.log

    def _checked(
        self,
        log: Log,
        evidence: SqliteEvidence,
        outside: Sequence[str],
        key: str,
        api_keys: Sequence[Key] | None,
    ) -> CheckReport:
        report = log.check(
            evidence=evidence,
            prompts=prompt_hashes(),
            release=environment()["citewell"],
            outside=outside,
            key=key,
        )
        findings, missed = self._tables_differ(log, report)
        documents, notes, unread = self._documents_differ(log, report, evidence)
        index, unseen = self._index_differs(evidence)
        doors = self._keys_differ(log, report, api_keys)
        stores, apart = self._stores_differ(log, report)
        found = {*report.findings, *findings, *documents, *index, *doors, *stores}
        skipped = [f"search tables not checked: {missed}"] if missed else []
        skipped += ["API keys not checked: none available"] if api_keys is None else []
        skipped += [f"document catalogue not checked: {unread}"] if unread else []
        skipped += [f"index not checked: {unseen}"] if unseen else []
        skipped += [f"feedback and traces not checked: {apart}"] if apart else []
        whole = replace(
            report,
            ok=not found,
            findings=tuple(sorted(found, key=lambda one: (one.seq, one.kind))),
            skipped=(*report.skipped, *skipped),
            notes=(*report.notes, *notes),
        )
        return self._without_names(whole)

    def _keys_differ(self, log: Log, report: CheckReport, keys: Sequence[Key] | None) -> list[Finding]:
        sound = all(found.kind in _BESIDE for found in report.findings)
        return list(apikeys.differences(log, keys)) if sound and keys is not None else []

    def _stores_differ(self, log: Log, report: CheckReport) -> tuple[list[Finding], str]:
        """Findings in feedback, reviews and traces; and why nothing was looked at, "" where it was."""
        if any(found.kind not in _BESIDE for found in report.findings):
            return [], "the log they would be compared with has findings"
        parts = self._parts
        if not os.access(parts.home, os.W_OK):
            return [], "they can only be opened in a writable folder"
        found: list[Finding] = []
        try:
            found += beside.feedback_differences(log, parts.feedback)
            found += beside.trace_differences(log, parts.traces, parts.feedback)
        except (LogError, ValueError, LookupError, TypeError, AttributeError) as error:
            found.append(Finding(beside.FEEDBACK, 0, f"feedback and traces cannot be compared: {error}"))
        return found, ""

    def seal_key(self, key: Key, outcome: str) -> None:
        """An entry of a key of the server that is made or revoked."""
        apikeys.seal_key(self._log(Role.ADMIN, to="create and revoke keys"), key, outcome)

    def _documents_differ(
        self, log: Log, report: CheckReport, evidence: SqliteEvidence
    ) -> tuple[list[Finding], list[str], str]:
        """Findings in the catalogue of documents, notes; and why nothing was looked at, "" where it was."""
        if any(found.kind not in _BESIDE for found in report.findings):
            return [], [], "the log it would be compared with has findings"
        if ingest_under_way(self._parts.home):
            return [], [], "an ingest is running"
        try:
            return *differences(log, evidence), ""
        except (EvidenceError, ValueError) as error:
            return [Finding(CATALOGUE, 0, f"it cannot be read: {error}")], [], ""

    def _tables_differ(self, log: Log, report: CheckReport) -> tuple[list[Finding], str]:
        """Findings in the tables for questions; and why nothing was looked at, "" where it was."""
        if any(found.kind not in _BESIDE for found in report.findings):
            return [], "the log they are built from has findings"
        try:
            tables = self._parts.tables(readonly=True)
        except LogError as error:
            there = self._parts.config.audit.database or (self._parts.home / TABLES_FILE).exists()
            return [], str(error) if there else "there are no tables yet"
        try:
            return differing(log, tables)
        except LogError as error:
            return [Finding("side-table", 0, f"{error}; {ANEW}")], ""
        finally:
            tables.close()

    def _index_differs(self, evidence: SqliteEvidence) -> tuple[list[Finding], str]:
        """Where the published index says otherwise than the evidence gives; and why nothing was looked at, ""
        where it was."""
        from citewell.documents.agreement import HINT, index_findings
        from citewell.documents.evidence.catalogue import INDEXED

        home = self._parts.home
        if not any((home / "index").glob("*")):
            lost = any(entry.state == INDEXED for entry in evidence.catalogue())
            return (
                ([Finding("index", 0, f"it is gone; {HINT}")], "") if lost else ([], "there is no index yet")
            )
        if not os.access(home / "index", os.W_OK):
            return [], "it can only be opened in a writable folder"
        if ingest_under_way(home):
            return [], "an ingest is running"
        try:
            found = list(index_findings(self._parts.index, evidence, self._parts.config.chunking))
        except (IndexMismatchError, ModelError) as error:  # the configuration's; asking says so too
            return [], str(error)
        except (CitewellError, ValueError, LookupError, TypeError, RuntimeError, OSError) as error:
            return [Finding("index", 0, f"it cannot be compared: {error}; {HINT}")], ""
        return [Finding("index", 0, f"{one}; {HINT}") for one in found], ""

    def _without_names(self, report: CheckReport) -> CheckReport:
        """Findings name requests and documents, whoever's they are: who may not see all of it learns what
        kinds of tampering were found and where."""
        if self._caller.unrestricted:
            return report
        findings = tuple(
            replace(found, reason="only an admin may see the details") for found in report.findings
        )
        return replace(report, findings=findings, notes=())

    @contextmanager
    def _readable_evidence(self) -> Iterator[SqliteEvidence]:
        """The evidence store; a copy of it where the disk is read-only, as WAL wants to write beside it."""
        home = self._parts.home
        if os.access(home, os.W_OK):
            yield self._parts.evidence
            return
        from citewell.documents.evidence.sqlite import SqliteEvidence

        with tempfile.TemporaryDirectory(prefix="citewell-evidence-") as folder:
            for file in home.glob("evidence.sqlite*"):
                shutil.copy(file, folder)
            with SqliteEvidence(Path(folder) / "evidence.sqlite") as evidence:
                yield evidence
