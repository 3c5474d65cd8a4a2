"""Checks a home's log with everything the home has: the independent checker, plus evidence and prompts.

In: a connection to a log, its keys; if available, the evidence store and the hashes of the current prompt
files. Out: the :class:`citewell.audit.checker.CheckReport` of the independent checker, extended by
these checks: each personal text against its salted hash, each quote and ingested text against the stored
evidence, each prompt file against the last sealed configuration, and personal texts missing without an entry
that explains it. All of this uses only entries that match what was sealed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import msgspec

from citewell.audit import checker
from citewell.audit.checker import CheckReport, RowsSource
from citewell.audit.database import Rows
from citewell.audit.entries import RECORDS, EntryKind, decrypt, fill_in
from citewell.audit.keys import FolderKeys, asker
from citewell.audit.tampering import Finding, Row
from citewell.core.errors import EvidenceError, LogError, LogIntegrityError
from citewell.core.identity import hash_text
from citewell.core.records import Status

if TYPE_CHECKING:
    from citewell.core.ports import EvidenceStore


def check_log(
    rows: Rows,
    keys: FolderKeys,
    *,
    evidence: EvidenceStore | None = None,
    prompts: Mapping[str, str] | None = None,
    release: str = "",
    key: str = "",
    outside: Sequence[str] = (),
) -> CheckReport:
    """``prompts`` maps each prompt file's name to its current hash, in this ``release`` of Citewell; they are
    not compared if another release sealed the last configuration. ``key`` and ``outside`` as in
    :func:`citewell.audit.checker.check`.
    """
    contents = _Contents(rows, keys, evidence)
    report = checker.check(RowsSource(rows), key=key, outside=outside, visit=contents.visit)
    size = rows.execute("SELECT size FROM head").fetchone()
    if size and size[0] != report.size and all(found.kind == "signature" for found in report.findings):
        contents.findings.append(Finding("side-table", 0, f"table head says {size[0]!r} entries"))
    gone = [*report.findings, *contents.withheld()]
    findings = [*gone, *contents.findings]
    missing = [
        f"{what} not checked: none available"
        for what, given in (("evidence", evidence), ("prompt files", prompts))
        if given is None
    ]
    missing += contents.private.unopened(contents.erased)
    if prompts is not None:
        last = contents.configured
        if any(found.seq > last.seq for found in gone):
            missing.append("prompt files not checked: the last configuration may be damaged")
        elif last.release and release not in ("", last.release):
            missing.append(
                f"prompt files not checked: the ones last sealed belong to Citewell {last.release}"
            )
        else:
            findings += _prompts(last, prompts)
    findings += contents.sources.texts()
    unique = {(finding.seq, finding.kind): finding for finding in reversed(findings)}
    ordered = tuple(unique[place] for place in sorted(unique))
    return CheckReport(not ordered, report.size, ordered, (*missing, *report.skipped), report.notes)


@dataclass(frozen=True)
class _Configured:
    """A sealed configuration; ``seq`` is 0 if there is none."""

    seq: int = 0
    release: str = ""
    prompts: Mapping[str, str] = field(default_factory=dict)


class _Contents:
    """Compares intact entries with everything derived from them and everything they rely on."""

    def __init__(self, rows: Rows, keys: FolderKeys, evidence: EvidenceStore | None) -> None:
        self.private = _Private(rows, keys)
        self._requests = _Beside(rows.execute("SELECT seq, request_id FROM requests ORDER BY seq"))
        self.sources = _Sources(evidence)
        self.findings: list[Finding] = []
        self.configured = _Configured()
        self.erased: set[str] = set()

    def visit(self, row: Row) -> None:
        seq, kind, _, subject, text, _ = row
        if text is None:
            return
        if subject:
            self.findings += self.private.look_at(row)
        # Only a record's own request may lead to it.
        listed = [request for _, request in self._requests.of(seq)]
        if kind not in RECORDS and listed:
            self.findings.append(Finding("side-table", seq, f"table requests lists it as {listed[0]!r}"))
        if kind not in _READ:
            return
        try:
            body = msgspec.json.decode(text)
            if kind == EntryKind.CONFIGURATION.value:
                release, prompts = body.get("citewell", ""), dict(body.get("prompts", {}))
                self.configured = _Configured(seq, release, prompts)
            elif kind == EntryKind.INGEST.value:
                self.sources.commit(seq, body)
            elif kind == EntryKind.ERASURE.value:
                self.erased.add(body["subject"])
            else:
                if listed != [body["request_id"]]:
                    reason = f"table requests lists it as {listed}, but it is {body['request_id']}"
                    self.findings.append(Finding("side-table", seq, reason))
                self.findings += self.sources.quotes(seq, body)
        except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
            self.findings.append(Finding("edited", seq, f"its body is not a valid {kind}: {error!r}"))

    def withheld(self) -> Iterator[Finding]:
        """Personal texts missing without an entry that explains it."""
        for seq, subject in self.private.gone:
            if subject not in self.erased:
                yield Finding(
                    "withheld", seq, "its personal texts are gone, but the log has no erasure entry for them"
                )


_NAMING = (*RECORDS, *(EntryKind.WITHDRAWAL, EntryKind.SHARE, EntryKind.READ))
"""Kinds of entries whose subject is the person they name."""
_READ = (*RECORDS, *(EntryKind.CONFIGURATION, EntryKind.INGEST, EntryKind.ERASURE))


class _Private:
    """The personal texts of the entries, each compared with its sealed salted hash."""

    def __init__(self, rows: Rows, keys: FolderKeys) -> None:
        self._beside = _Beside(rows.execute("SELECT seq, subject, sealed FROM private ORDER BY seq"))
        self._keys = keys
        self._misnamed: set[str] = set()
        self._known: dict[str, bytes | None] = {}
        self._refused = ""
        self._shut: Counter[str] = Counter()
        self.gone: list[tuple[int, str]] = []

    def look_at(self, row: Row) -> Iterator[Finding]:
        """Checks the texts of an intact entry about a person."""
        seq, kind, _, subject, text, body_hash = row
        stored = self._beside.of(seq)
        if not stored:
            self.gone.append((seq, subject))
            return
        _, owner, sealed = stored[0]
        if owner != subject:
            yield Finding("edited", seq, "its personal texts are stored under another person")
            return
        key = self._key(subject)
        if key is None:
            self._shut[subject] += 1
            return
        try:
            body = fill_in(text or "", *decrypt(sealed, key, body_hash, subject))
            if kind in _NAMING and subject not in self._misnamed:
                yield from self._named_otherwise(seq, subject, body)
        except LogIntegrityError:
            yield Finding("edited", seq, "its personal texts are not the ones that were sealed")

    def _named_otherwise(self, seq: int, subject: str, body: dict[str, Any]) -> Iterator[Finding]:
        """A finding if the keys name the person differently than the entry; one per person."""
        sealed = str(body.get("user") or body.get("reader") or "")
        held = self._keys.name(subject)
        if held and held != asker(sealed, str(body.get("session_id") or "")):
            self._misnamed.add(subject)
            reason = f"the person {subject} of this entry has another name in the keys than was sealed"
            yield Finding("subject", seq, reason)

    def unopened(self, erased: Collection[str]) -> Iterator[str]:
        """Texts that could not be checked, except those of erased people."""
        people = [subject for subject in self._shut if subject not in erased]
        if people:
            entries = sum(self._shut[subject] for subject in people)
            reason = self._refused or f"the keys of {len(people)} people are not available"
            yield f"personal texts of {entries} entries not checked: {reason}"

    def _key(self, subject: str) -> bytes | None:
        if subject not in self._known:
            try:
                self._known[subject] = self._keys.key(subject)
            except LogError as error:
                self._known[subject], self._refused = None, str(error)
        return self._known[subject]


class _Beside:
    """Rows of another table in the order of the entries they refer to, read once along with the log."""

    def __init__(self, rows: Iterable[tuple[Any, ...]]) -> None:
        self._rows = iter(rows)
        self._next = next(self._rows, None)

    def of(self, seq: int) -> list[tuple[Any, ...]]:
        """The rows of entry ``seq``; rows of skipped entries are dropped."""
        found = []
        while self._next is not None and isinstance(self._next[0], int | float) and self._next[0] <= seq:
            if self._next[0] == seq:
                found.append(self._next)
            self._next = next(self._rows, None)
        return found


def _prompts(sealed: _Configured, prompts: Mapping[str, str]) -> Iterator[Finding]:
    """Compares prompt files with the last configuration entry; a legitimate change adds an entry."""
    for name, digest in sorted(sealed.prompts.items()):
        if prompts.get(name) != digest:
            found = f"has {prompts[name]}" if name in prompts else "is gone"
            reason = f"prompt file {name} was sealed as {digest} and is now {found}"
            yield Finding("prompt", sealed.seq, reason)


class _Sources:
    """The stored documents that entries rely on; each version is read once."""

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
                # A quote that is personal text is sealed separately; its span is still in the evidence.
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
        """Compares each text that an ingest entry committed to with what is stored now."""
        if self._evidence is None:
            return
        for (document_id, version), (seq, digest) in self._committed.items():
            text = self._text(document_id, version)
            if isinstance(text, EvidenceError):
                yield Finding("evidence", seq, f"{document_id}: {text}")
            elif hash_text(text) != digest:
                reason = f"{document_id}: the stored text is not the ingested text ({digest})"
                yield Finding("evidence", seq, reason)

    def _text(self, document_id: str, version: str) -> str | EvidenceError:
        key = (document_id, version)
        if key not in self._texts and self._evidence is not None:
            try:
                self._texts[key] = self._evidence.get(version, document_id).text
            except EvidenceError as error:
                self._texts[key] = error
        return self._texts[key]
