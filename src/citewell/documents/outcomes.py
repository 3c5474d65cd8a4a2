"""What an ingest reports: the outcome of each file, a summary of the run, and its progress.

In: nothing. Out: values and the names of the statuses. Knows nothing about how files are read.
"""

from __future__ import annotations

from collections.abc import Callable

from citewell.core.records import Record

ADDED, UPDATED, UNCHANGED, SKIPPED, FAILED = "added", "updated", "unchanged", "skipped", "failed"
GONE = "its file was deleted"
THREAD = "thread:"
"""The prefix of the tag that the messages of one thread share."""


class FileOutcome(Record, frozen=True, kw_only=True):
    """The outcome for one file, or for one inside it (``path`` is then ``mail.eml/offer.pdf``). ``message``
    and ``hint`` say why it failed and what to do or, for a skipped file, what it is: a kind that Citewell
    does not read. ``incomplete``: pages of which text is missing."""

    path: str
    document_id: str
    status: str
    message: str = ""
    hint: str = ""
    pages: int = 0
    chunks: int = 0
    incomplete: tuple[int, ...] = ()


class IngestReport(Record, frozen=True, kw_only=True):
    """``files`` in the order they were finished: unchanged, skipped and failed files when they were reached,
    those that were read when their chunks were written; a container after its contents, withdrawn ones last.
    ``notes``: statements of supersession in new documents that match nothing here."""

    files: tuple[FileOutcome, ...]
    index_version: str
    notes: tuple[str, ...] = ()

    @property
    def failed(self) -> tuple[FileOutcome, ...]:
        return tuple(outcome for outcome in self.files if outcome.status == FAILED)

    @property
    def skipped(self) -> tuple[FileOutcome, ...]:
        return tuple(outcome for outcome in self.files if outcome.status == SKIPPED)


class IngestProgress(Record, frozen=True, kw_only=True):
    """The progress of an ingest: ``files`` done of ``of``, the pages read and the chunks embedded so far, and
    the ``path`` being read or embedded. ``left_s`` estimates the remaining time from the rate so far and the
    sizes of the files; None until a file has been read."""

    path: str
    files: int
    of: int
    pages: int
    chunks: int
    elapsed_s: float
    left_s: float | None


Progress = Callable[[IngestProgress], None]
