"""Integrity of a home's log: checks, publication, proofs, and key rotation and recovery.

In: the parts of a home. Out: reports, checkpoints, proofs. Shows no contents, so nothing here is logged as a
read; restricted callers learn no names from it. Knows nothing about what the entries mean:
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
from citewell.knowledge.assembly import Assembly
from citewell.knowledge.catalogue import CATALOGUE, SealedCatalogue, differences, ingest_under_way
from citewell.knowledge.sealing import KeyInfo, prompt_hashes, seal_key
from citewell.knowledge.stores import TABLES_FILE
from citewell.knowledge.visibility import Visibility

if TYPE_CHECKING:
    from citewell.audit import CheckReport, Log
    from citewell.audit.keys import FolderKeys
    from citewell.audit.log import Growth, InclusionProof
    from citewell.audit.witnesses import Publication

_SOUND = ("evidence", "prompt", "signature", "subject")
"""Findings that leave the entries themselves as they were sealed."""


class _NotCompared(Exception):
    """Carries the reason why a store was not compared."""


class LogKeeping:
    """Made by :attr:`citewell.knowledge.home.KnowledgeBase.log`."""

    def __init__(self, parts: Assembly, caller: Caller) -> None:
        self._parts, self._caller = parts, caller

    def check(
        self, *, outside: Sequence[str] = (), key: str = "", api_keys: Sequence[KeyInfo] | None = None
    ) -> CheckReport:
        """Recomputes the log and compares it with the stored evidence and this release's prompt files.

        ``outside`` are checkpoints kept by third parties, ``key`` the published keys, one per line (when
        empty, the home's own), ``api_keys`` the server's API keys, if available. Read-only, on its own
        connection, so that others can read meanwhile.
        """
        self._caller.must(Role.AUDITOR, to="check the log")
        self._parts.must_be_there()
        log = self._parts.readonly_log()
        with closing(log.database):
            report = log.check(
                evidence=self._parts.evidence,
                prompts=prompt_hashes(),
                release=environment()["citewell"],
                outside=outside,
                key=key,
            )
            return self._without_names(self._compared(log, report, api_keys))

    def size(self) -> int:
        """The number of entries in the log, whoever they concern."""
        return self._log(Role.AUDITOR, to="see how long the log is").size()

    def checkpoint(self) -> str:
        """The newest signed checkpoint, for third parties to keep."""
        return self._log(Role.AUDITOR, to="see checkpoints").checkpoint()

    def publish(self) -> tuple[Publication, ...]:
        """Sends the newest checkpoint to every configured witness; each outcome is recorded."""
        self._log(Role.ADMIN, to="publish checkpoints").size()
        publisher = self._parts.publisher
        return publisher.publish() if publisher is not None else ()

    def prove(self, request_id: str) -> InclusionProof:
        """Inclusion proof of a request's entry in the tree of the newest checkpoint. Raises UsageError."""
        self._parts.must_be_there()
        log = self._parts.log
        if not self._caller.unrestricted:
            Visibility(self._caller, self._parts.evidence, log).request(request_id)
        return log.prove(log.get(request_id).seq)

    def prove_growth(self, kept: str) -> Growth:
        """Consistency proof that the log has only grown since checkpoint ``kept``. Raises UsageError, and
        LogIntegrityError if it has not."""
        return self._log(Role.AUDITOR, to="prove that the log only grew").grew_from(kept)

    def rotate_key(self, reason: str = "") -> str:
        """Makes a new signing key, signed by the old one; returns the new public key, to be published."""
        return self._log(Role.ADMIN, to="change keys").hand_over(reason)

    def replace_lost_key(self, reason: str) -> str:
        """Makes a new signing key when the old one is lost. Raises UsageError if it is not."""
        return self._log(Role.ADMIN, to="change keys").replace_lost_key(reason)

    def restore_keys(self, folder: str | Path) -> bool:
        """Restores missing keys from a backup; erased people stay erased. False if the signing key is still
        missing, because the backup predates its last rotation."""
        return self._log(Role.ADMIN, to="change keys").restore_keys(Path(folder))

    @property
    def keys(self) -> FolderKeys:
        """The store of personal keys and the signing key."""
        self._caller.must(Role.ADMIN, to="use keys")
        return self._parts.keys

    def published_keys(self) -> str:
        """The public keys, one per line, oldest first; a retired key with the size up to which it counts."""
        return self._log(Role.ADMIN, to="use keys").published()

    def seal_key(self, key: KeyInfo, outcome: str) -> None:
        """Seals an entry for an API key that is created or revoked."""
        seal_key(self._log(Role.ADMIN, to="create and revoke keys"), key, outcome)

    def had_api_keys(self) -> bool:
        """True if, by the log, an API key was ever created. Raises LogError."""
        return self._log(Role.ADMIN, to="ask for keys").latest(EntryKind.ACCESS) is not None

    def _log(self, role: Role, *, to: str) -> Log:
        self._caller.must(role, to=to)
        self._parts.must_be_there()
        return self._parts.log

    def _compared(self, log: Log, report: CheckReport, api_keys: Sequence[KeyInfo] | None) -> CheckReport:
        """``report`` plus differences between the log and the home's other stores."""
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

    def _api_keys(self, log: Log, keys: Sequence[KeyInfo] | None) -> Iterator[Finding]:
        if keys is None:
            raise _NotCompared("none available")
        return consistency.key_differences(log, keys)

    def _index(self, log: Log | None, notes: list[str]) -> Iterator[Finding]:
        """Differences between the published index and the evidence and, given a sound ``log``, between its
        vectors and the sealed ones."""
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
        heads = SealedCatalogue(log).heads if log is not None else {}
        vectors = {name: head.vectors for name, (_, head) in heads.items() if not head.withdrawn}
        if bare := sum(not own for own in vectors.values()):
            notes.append(f"the vectors of {bare} documents were not sealed when they were ingested")
        try:
            for one in index_findings(parts.index, parts.evidence, parts.config.chunking, vectors):
                yield Finding("index", 0, f"{one}; {HINT}")
        except AbandonedError:
            raise
        except (IndexMismatchError, ModelError) as error:  # a configuration fault; asking reports it too
            raise _NotCompared(str(error)) from error
        except (CitewellError, ValueError, LookupError, TypeError, RuntimeError, OSError) as error:
            yield Finding("index", 0, f"it cannot be compared: {error}; {HINT}")

    def _without_names(self, report: CheckReport) -> CheckReport:
        """Findings name other people's requests and documents, so restricted callers learn only the kind and
        place of each."""
        if self._caller.unrestricted:
            return report
        findings = tuple(
            replace(found, reason="only an admin may see the details") for found in report.findings
        )
        return replace(report, findings=findings, notes=())
