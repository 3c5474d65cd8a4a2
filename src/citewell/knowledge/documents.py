"""The documents of a home: ingested, read, shared and withdrawn, with a log entry for each change.

In: files, ids, a caller. Out: reports, documents, entries. To a caller, a document that they may not see does
not exist (:mod:`citewell.knowledge.visibility`). Knows nothing about formats.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from citewell.audit.entries import EntryKind
from citewell.core.access import OWNER, Caller, Role, string_tuple
from citewell.core.addresses import check_id, is_address
from citewell.core.config import Config
from citewell.core.errors import AbandonedError, AccessError, EvidenceError, UsageError
from citewell.core.files import make_folder
from citewell.core.records import Document, Supersession
from citewell.knowledge.assembly import Assembly
from citewell.knowledge.sealing import failures, seal_ingest, supersessions_to_seal

if TYPE_CHECKING:
    from citewell.documents.evidence.catalogue import CatalogueEntry
    from citewell.documents.outcomes import FileOutcome, IngestReport, Progress
    from citewell.knowledge.visibility import Visibility


class DocumentKeeping:
    """What :class:`citewell.knowledge.home.KnowledgeBase` does with documents."""

    def __init__(self, assembly: Assembly, caller: Caller = OWNER) -> None:
        self._parts, self.caller = assembly, caller

    @property
    def visibility(self) -> Visibility:
        """What the caller may see."""
        from citewell.knowledge.visibility import Visibility

        parts = self._there
        return Visibility(self.caller, parts.evidence, parts.log)

    @property
    def home(self) -> Path:
        return self._parts.home

    @property
    def config(self) -> Config:
        return self._parts.config

    @property
    def _there(self) -> Assembly:
        self._parts.must_be_there()
        return self._parts

    # --- bringing in ------------------------------------------------------------------------------

    def ingest(
        self,
        *paths: str | Path,
        acl: Sequence[str] = (),
        tags: Sequence[str] = (),
        document_id: str | None = None,
        supersedes: Sequence[str] = (),
        progress: Progress | None = None,
        gone: Callable[[], str] = lambda: "",
    ) -> IngestReport:
        """Brings the knowledge base up to date with files and folders; see
        :func:`citewell.documents.ingesting.ingest`. A string such as ``s3://bucket/reports`` or
        ``https://host/page`` is an address, for the owner of the home alone; a Path never is one.

        An unreadable file is reported with its remedy and the others continue. Raises UsageError for an
        invalid path or id, or while another ingest is writing; MissingExtraError for an address whose package
        is not installed; AccessError when the caller may not ingest or could not see the result;
        AbandonedError once ``gone`` returns why nobody is waiting any more.
        """
        from citewell.documents import ingesting
        from citewell.documents.outcomes import IngestReport
        from citewell.documents.worker import ParsingWorker

        self.caller.must(Role.CURATOR, to="change documents")
        acl, tags = string_tuple("acl", acl), string_tuple("tags", tags)
        self.caller.must_see(acl)
        _refuse_sources(paths, document_id)
        if any(map(is_address, paths)) and not self.caller.everything:
            hint = "run `citewell ingest` on the machine that has the home"
            raise AccessError("only the owner of the home can ingest from an address", hint=hint)
        parts = self._ready_to_ingest()
        given = [path if is_address(path) else Path(path) for path in paths]
        for older in string_tuple("supersedes", supersedes):
            self.document(older)
        seal = partial(seal_ingest, parts.log, parts.evidence, parts.index)
        try:
            with ParsingWorker(parts.config.documents) as worker:
                report = ingesting.ingest(
                    given,
                    worker=worker,
                    evidence=parts.evidence,
                    index=parts.index,
                    chunking=parts.config.chunking,
                    acl=acl,
                    tags=tags,
                    document_id=document_id,
                    supersedes=tuple(supersedes),
                    clock=parts.clock,
                    progress=progress,
                    sees=self.caller.sees,
                    gone=gone,
                )
        except (KeyboardInterrupt, AbandonedError):
            # What was read so far is already searchable, so the log must commit to it.
            seal(IngestReport(files=(), index_version=parts.index.version()), given)
            raise
        seal(report, given, tuple(supersedes))
        return report

    def ingest_documents(self, documents: Iterable[Any], *, collection: str = "") -> IngestReport:
        """Brings the knowledge base up to date with documents of a LangChain, LlamaIndex or Haystack loader.

        The id is ``source`` (or ``url``, ``file_path``) from the metadata with its page, else the document's
        own; ``title``, ``published_at``, ``acl`` and ``tags`` from the metadata are kept. ``collection``
        becomes a tag and the id prefix; its documents from earlier calls that are now missing are withdrawn.
        Raises UsageError for objects that are not documents, AccessError as :meth:`ingest` does.
        """
        from citewell.documents import loading

        self.caller.must(Role.CURATOR, to="change documents")
        parts = self._ready_to_ingest()
        report = loading.ingest_documents(
            documents,
            evidence=parts.evidence,
            index=parts.index,
            chunking=parts.config.chunking,
            timeout_s=parts.config.documents.timeout_s,
            collection=collection,
            clock=parts.clock,
            sees=self.caller.sees,
        )
        seal_ingest(parts.log, parts.evidence, parts.index, report, [collection] if collection else [])
        return report

    def _ready_to_ingest(self) -> Assembly:
        """The parts of the home, which the first ingest creates."""
        make_folder(self.home)
        self._parts.seal_configuration()
        return self._parts

    # --- reading ----------------------------------------------------------------------------------

    def superseded(self, document_id: str) -> tuple[Supersession, ...]:
        """Parts of this document not in force in the past, now or in the future, according to documents that
        the caller may see."""
        from citewell.documents.supersession import find_superseded

        seen = self.visibility.document
        found = find_superseded(self._there.evidence, [document_id]) if seen(document_id) else ()
        return tuple(one for one in found if not one.by or seen(one.by))

    def documents(self) -> list[CatalogueEntry]:
        """The newest version of each document, by id."""
        return [entry for entry in self._there.evidence.catalogue() if self.caller.sees(entry.acl)]

    def document(self, document_id: str, version: str = "") -> Document:
        """One version, by default the newest. Raises EvidenceError when it does not exist, the same for a
        document that the caller may not see."""
        from citewell.documents.evidence.catalogue import missing_version

        evidence, seen = self._there.evidence, self.visibility.document(document_id)
        if version and not seen:
            raise missing_version(version, document_id)
        if version:
            return evidence.get(version, document_id)
        document = evidence.latest(document_id) if seen else None
        if document is None:
            hint = "`citewell documents list` shows the ids; or check --home"
            raise EvidenceError(f"no document {document_id!r}", hint=hint)
        return document

    def versions(self, document_id: str) -> list[str]:
        """Every version of a document, oldest first."""
        return self._there.evidence.versions(document_id) if self.visibility.document(document_id) else []

    def failures(self) -> tuple[FileOutcome, ...]:
        """Files whose last ingest failed, with the remedy; only for admins, as a file without a document has
        no access list."""
        self.caller.must(Role.ADMIN, to="see which files failed")
        return failures(self._there.log)

    # --- changing ---------------------------------------------------------------------------------

    def withdraw(self, document_id: str, *, reason: str = "", user: str = "") -> None:
        """Keeps a document and its attachments as evidence but stops retrieving them. Raises EvidenceError if
        it is unknown."""
        from citewell.documents import ingesting

        self.caller.must(Role.CURATOR, to="withdraw a document")
        self.document(document_id)
        parts, user = self._parts, self.caller.name(user)
        parts.seal_configuration()
        for name in self._and_inside(document_id):
            version = ingesting.withdraw(name, evidence=parts.evidence, index=parts.index, reason=reason)
            body: dict[str, Any] = {
                "document_id": name,
                "reason": reason,
                "user": user,
                "index_version": version,
                **supersessions_to_seal(parts.log, parts.evidence),
            }
            parts.log.note(EntryKind.WITHDRAWAL, body, subject=user)

    def share(self, document_id: str, acl: Sequence[str], *, user: str = "") -> None:
        """Replaces the access list (empty: everybody) of a document and its attachments, for all versions and
        all records naming it.

        Raises EvidenceError for an unknown document, AccessError when the caller could not see it afterwards,
        UsageError while an ingest is writing.
        """
        from citewell.documents import ingesting

        self.caller.must(Role.CURATOR, to="share a document")
        self.document(document_id)
        acl = string_tuple("acl", acl)
        self.caller.must_see(acl)
        parts, user = self._parts, self.caller.name(user)
        parts.seal_configuration()
        for name in self._and_inside(document_id):
            version = ingesting.share(name, acl, evidence=parts.evidence, index=parts.index)
            body = {"document_id": name, "acl": sorted(acl), "user": user, "index_version": version}
            parts.log.note(EntryKind.SHARE, body, subject=user)

    def _and_inside(self, document_id: str) -> list[str]:
        """The ids of its attachments, then its own, so that after an interruption no attachment is more
        widely readable."""
        from citewell.documents.evidence.catalogue import WITHDRAWN

        inside = [
            entry.document_id
            for entry in self._parts.evidence.catalogue()
            if entry.document_id.startswith(f"{document_id}/")
            and "#" in entry.uri
            and entry.state != WITHDRAWN
        ]
        return [*inside, document_id]


def _refuse_sources(paths: Sequence[object], document_id: object) -> None:
    """Raises UsageError for an invalid path or document id."""
    if not paths:
        raise UsageError("nothing to ingest", hint="name at least one file or folder")
    for path in paths:
        # An empty path, as from an unset variable, would mean the whole working folder.
        if not isinstance(path, str | Path) or not str(path):
            raise UsageError(f"{path!r} is not a path", hint="pass each file or folder as its own argument")
    if document_id is not None and not (isinstance(document_id, str) and document_id.strip()):
        raise UsageError(
            f"document_id must not be {document_id!r}", hint="give the document's id, or leave it out"
        )
    if isinstance(document_id, str):
        check_id(document_id)
