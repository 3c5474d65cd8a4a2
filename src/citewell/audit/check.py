"""A home's log, checked with all that a home has: the checker's own findings, evidence, prompts.

In: a connection to a log; the evidence store and the hashes of today's prompt files when they are at hand.
Out: the :class:`citewell.audit.checker.CheckReport` of the independent checker, to which is added: each quote
and each ingested text against the stored evidence, each prompt file against the last sealed configuration,
contents that are gone without an entry that says why.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from citewell.audit import checker
from citewell.audit.checker import CheckReport, RowsSource
from citewell.audit.database import Rows
from citewell.audit.deeds import Finding
from citewell.audit.entries import RECORDS, EntryKind
from citewell.audit.expired import WITHHELD, unaccounted_for
from citewell.errors import EvidenceError
from citewell.identity import hash_text
from citewell.records import Status

if TYPE_CHECKING:
    from citewell.ports import EvidenceStore

__all__ = ["CheckReport", "Finding", "check_log"]

_DISPLACING = {"deleted", "inserted", "reordered", "truncated"}


def check_log(
    rows: Rows,
    *,
    evidence: EvidenceStore | None = None,
    prompts: Mapping[str, str] | None = None,
    key: str = "",
    outside: Sequence[str] = (),
) -> CheckReport:
    """``prompts`` maps each prompt file's name to its hash today.

    The caller leaves them out when the last configuration was sealed by another release of Citewell, whose
    files are not these. ``key`` and ``outside`` as in :func:`citewell.audit.checker.check`.
    """
    contents = _Contents(rows, evidence)
    report = checker.check(RowsSource(rows), key=key, outside=outside, visit=contents.visit)
    findings = [*contents.findings, *contents.sources.texts()]
    if prompts is not None:
        findings += _prompts(contents.configured, prompts)
    # Texts left behind by entries that went or moved are its consequence, not a second deed.
    if not any(finding.kind in _DISPLACING for finding in report.findings):
        named = {finding.seq for finding in report.findings}
        missing_texts = ((seq, reason) for seq, reason in unaccounted_for(rows) if seq not in named)
        findings += [Finding(WITHHELD, seq, reason) for seq, reason in missing_texts]
    missing = [
        f"{what} not looked at: none at hand"
        for what, given in (("evidence", evidence), ("prompt files", prompts))
        if given is None
    ]
    unique = {(finding.seq, finding.kind): finding for finding in [*findings, *report.findings]}
    ordered = tuple(unique[place] for place in sorted(unique))
    return CheckReport(not ordered, report.size, ordered, (*missing, *report.skipped), report.notes)


class _Contents:
    """What sound entries say, against everything that can be derived from it or that it leans on."""

    def __init__(self, rows: Rows, evidence: EvidenceStore | None) -> None:
        self._rows = rows
        self.sources = _Sources(evidence)
        self.findings: list[Finding] = []
        self.configured: tuple[int, dict[str, Any]] | None = None

    def visit(self, seq: int, kind: str, timestamp: str, subject: str, text: str) -> None:
        if kind not in (*RECORDS, EntryKind.CONFIGURATION, EntryKind.INGEST):
            return
        try:
            body = msgspec.json.decode(text)
            if kind == EntryKind.CONFIGURATION.value:
                self.configured = (seq, body)
            elif kind == EntryKind.INGEST.value:
                self.sources.commit(seq, body)
            else:
                self.findings += self.sources.quotes(seq, body)
        except (msgspec.DecodeError, KeyError, TypeError, AttributeError) as error:
            self.findings.append(Finding("edited", seq, f"its body is no {kind}: {error!r}"))


def _prompts(sealed: tuple[int, dict[str, Any]] | None, prompts: Mapping[str, str]) -> Iterator[Finding]:
    """The last configuration entry names every prompt file's hash; a legitimate change adds an entry."""
    if sealed is None:
        return
    seq, body = sealed
    for name, digest in sorted(body.get("prompts", {}).items()):
        if prompts.get(name) != digest:
            found = f"has {prompts[name]}" if name in prompts else "is gone"
            reason = f"prompt file {name} was sealed as {digest} and now {found}"
            yield Finding("prompt", seq, reason)


class _Sources:
    """The stored documents that entries lean on; each version is read once."""

    def __init__(self, evidence: EvidenceStore | None) -> None:
        self._evidence = evidence
        self._texts: dict[tuple[str, str], str | EvidenceError] = {}
        self._committed: dict[tuple[str, str], tuple[int, str]] = {}

    def commit(self, seq: int, body: dict[str, Any]) -> None:
        for source in body.get("documents", ()):
            key = (source["document_id"], source["version"])
            self._committed.setdefault(key, (seq, source["text_hash"]))

    def quotes(self, seq: int, body: dict[str, Any]) -> Iterator[Finding]:
        if self._evidence is None:
            return
        for claim in body["claims"]:
            for citation in claim["citations"]:
                verdict = citation["verdict"] or claim["verdict"]
                # A quote that is somebody's own text is sealed apart; its place is still in the evidence.
                if verdict["status"] == Status.BROKEN.value or type(citation["quote"]) is dict:
                    continue
                text = self._text(citation["document_id"], citation["document_version"])
                where = f"{citation['document_id']} [{citation['start']}:{citation['end']}]"
                if isinstance(text, EvidenceError):
                    yield Finding("evidence", seq, f"{where}: {text}")
                elif text[citation["start"] : citation["end"]] != citation["quote"]:
                    reason = f"{where} no longer holds the quote {citation['quote'][:80]!r}"
                    yield Finding("evidence", seq, reason)

    def texts(self) -> Iterator[Finding]:
        """Each text that an ingest entry committed to, against what is stored now."""
        if self._evidence is None:
            return
        for (document_id, version), (seq, digest) in self._committed.items():
            text = self._text(document_id, version)
            if isinstance(text, EvidenceError):
                yield Finding("evidence", seq, f"{document_id}: {text}")
            elif hash_text(text) != digest:
                reason = f"{document_id}: the stored text is not the one that was ingested ({digest})"
                yield Finding("evidence", seq, reason)

    def _text(self, document_id: str, version: str) -> str | EvidenceError:
        key = (document_id, version)
        if key not in self._texts and self._evidence is not None:
            try:
                self._texts[key] = self._evidence.get(version, document_id).text
            except EvidenceError as error:
                self._texts[key] = error
        return self._texts[key]
