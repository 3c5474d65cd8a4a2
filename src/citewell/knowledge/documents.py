"""Changes to a home's documents, and the log entry for each change.

In: the parts of a home; permissions were checked by the caller. Out: reports, entries. Knows nothing about
formats.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from citewell.audit.entries import EntryKind
from citewell.core.errors import AbandonedError, UsageError
from citewell.core.naming import check_id
from citewell.documents import ingesting, loading
from citewell.documents.evidence.catalogue import WITHDRAWN
from citewell.documents.outcomes import IngestReport
from citewell.documents.worker import ParsingWorker
from citewell.knowledge.sealing import seal_ingest, supersessions_to_seal

if TYPE_CHECKING:
    from citewell.knowledge.assembly import Assembly


def validate_sources(paths: Sequence[object], document_id: object) -> None:
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


def ingest(
    parts: Assembly, paths: Sequence[Path | str], *, supersedes: Sequence[str], **options: Any
) -> IngestReport:
    """See :func:`citewell.documents.ingesting.ingest`, which takes ``options``; the log commits to the text
    of everything read."""
    try:
        with ParsingWorker(parts.config.documents) as worker:
            report = ingesting.ingest(
                paths,
                worker=worker,
                evidence=parts.evidence,
                index=parts.index,
                chunking=parts.config.chunking,
                supersedes=supersedes,
                clock=parts.clock,
                **options,
            )
    except (KeyboardInterrupt, AbandonedError):
        # What was read so far is already searchable, so the log must commit to it.
        report = IngestReport(files=(), index_version=parts.index.version())
        seal_ingest(parts.log, parts.evidence, parts.index, report, paths)
        raise
    seal_ingest(parts.log, parts.evidence, parts.index, report, paths, supersedes)
    return report


def ingest_documents(
    parts: Assembly, given: Iterable[Any], *, collection: str, sees: Callable[[Iterable[str]], bool]
) -> IngestReport:
    """See :func:`citewell.documents.loading.ingest_documents`; sealed like files."""
    report = loading.ingest_documents(
        given,
        evidence=parts.evidence,
        index=parts.index,
        chunking=parts.config.chunking,
        timeout_s=parts.config.documents.timeout_s,
        collection=collection,
        clock=parts.clock,
        sees=sees,
    )
    seal_ingest(parts.log, parts.evidence, parts.index, report, [collection] if collection else [])
    return report


def withdraw(parts: Assembly, document_id: str, *, reason: str, user: str) -> None:
    """Withdraws the document and its attachments, with one entry each."""
    parts.seal_configuration()
    for name in _and_inside(parts, document_id):
        version = ingesting.withdraw(name, evidence=parts.evidence, index=parts.index, reason=reason)
        body: dict[str, Any] = {
            "document_id": name,
            "reason": reason,
            "user": user,
            "index_version": version,
            **supersessions_to_seal(parts.log, parts.evidence),
        }
        parts.log.note(EntryKind.WITHDRAWAL, body, subject=user)


def share(parts: Assembly, document_id: str, acl: Sequence[str], *, user: str) -> None:
    """Sets the access list of the document and its attachments, with one entry each."""
    parts.seal_configuration()
    for name in _and_inside(parts, document_id):
        version = ingesting.share(name, acl, evidence=parts.evidence, index=parts.index)
        body = {"document_id": name, "acl": sorted(acl), "user": user, "index_version": version}
        parts.log.note(EntryKind.SHARE, body, subject=user)


def _and_inside(parts: Assembly, document_id: str) -> list[str]:
    """The ids of its attachments, then its own, so that after an interruption no attachment is more widely
    readable."""
    inside = [
        entry.document_id
        for entry in parts.evidence.catalogue()
        if entry.document_id.startswith(f"{document_id}/") and "#" in entry.uri and entry.state != WITHDRAWN
    ]
    return [*inside, document_id]
