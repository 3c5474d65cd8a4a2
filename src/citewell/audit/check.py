"""Derives the log again and names what does not fit. The checker is not the writer.

In: a connection to a log; the evidence store and the hashes of today's prompt files when they are at hand.
Out: a :class:`CheckReport`. Every entry's hash is made anew from what is stored, the chain is walked, the
side tables are derived from the bodies, each quote is looked up in the stored evidence.
What it cannot see without a checkpoint kept elsewhere: a log rewritten whole, rolled back, or cut at its end.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import msgspec

from citewell.audit.chain import Link, explain_chain
from citewell.audit.entries import RECORDS, EntryKind, entry_hash
from citewell.audit.facts import ANSWERS, CITED, side_rows
from citewell.audit.findings import Finding
from citewell.errors import EvidenceError
from citewell.identity import hash_text
from citewell.records import Record, Status

if TYPE_CHECKING:
    from citewell.ports import EvidenceStore

__all__ = ["CheckReport", "Finding", "check_log"]

_DISPLACING = {"deleted", "inserted", "reordered"}


class CheckReport(Record, frozen=True, kw_only=True):
    """``ok``: no findings; ``size``: how many entries; ``skipped``: what was not looked at."""

    ok: bool
    size: int
    findings: tuple[Finding, ...]
    skipped: tuple[str, ...] = ()


def check_log(
    connection: sqlite3.Connection,
    *,
    evidence: EvidenceStore | None = None,
    prompts: Mapping[str, str] | None = None,
) -> CheckReport:
    """``prompts`` maps each prompt file's name to its hash today.

    The caller leaves them out when the last configuration was sealed by another release of Citewell, whose
    files are not these.
    """
    connection.execute("BEGIN")
    try:
        links, contents = _walk(connection, evidence, prompts)
        findings = explain_chain(links, lambda seq: _link_text(connection, seq))
        # Side rows left behind by entries that went or moved are its consequence, not a second deed.
        displaced = any(finding.kind in _DISPLACING for finding in findings)
        strays = [] if displaced else _strays(connection)
    finally:
        connection.execute("COMMIT")
    skipped = [
        f"{what} not looked at: none at hand"
        for what, given in (("evidence", evidence), ("prompt files", prompts))
        if given is None
    ]
    unique = {(finding.seq, finding.kind): finding for finding in [*strays, *contents, *findings]}
    ordered = tuple(unique[key] for key in sorted(unique))
    return CheckReport(ok=not ordered, size=len(links), findings=ordered, skipped=tuple(skipped))


def _walk(
    connection: sqlite3.Connection, evidence: EvidenceStore | None, prompts: Mapping[str, str] | None
) -> tuple[list[Link], list[Finding]]:
    links: list[Link] = []
    findings: list[Finding] = []
    requests: dict[str, int] = {}
    sources = _Sources(evidence)
    configured: tuple[int, dict[str, Any]] | None = None
    for seq, previous, kind, timestamp, text, digest in connection.execute(
        "SELECT seq, previous, kind, timestamp, body, hash FROM entries ORDER BY seq"
    ):
        derived = entry_hash(seq, previous, kind, timestamp, str(text).encode())
        links.append(Link(seq=seq, previous=previous, hash=digest, sound=derived == digest))
        try:
            body = msgspec.json.decode(str(text))
        except msgspec.DecodeError as error:
            findings.append(Finding(kind="edited", seq=seq, reason=f"its body is not JSON: {error}"))
            continue
        if kind == EntryKind.CONFIGURATION.value:
            configured = (seq, body)
        if kind == EntryKind.INGEST.value:
            sources.commit(seq, body)
        if kind not in RECORDS:
            continue
        try:
            # An entry that is itself edited or moved is named by the chain; its side rows tell nothing more.
            if derived == digest:
                findings += _side_tables(connection, seq, timestamp, body)
            findings += sources.quotes(seq, body)
        except (KeyError, TypeError, AttributeError) as error:
            findings.append(Finding(kind="edited", seq=seq, reason=f"its body is no record: {error!r}"))
            continue
        request = body["request_id"]
        if request in requests:
            reason = f"entry {requests[request]} already holds {request}"
            findings.append(Finding(kind="duplicated", seq=seq, reason=reason))
        requests.setdefault(request, seq)
    findings += sources.texts()
    findings += _prompts(configured, prompts or {}) if prompts is not None else ()
    return links, findings


def _side_tables(
    connection: sqlite3.Connection, seq: int, timestamp: str, body: dict[str, Any]
) -> Iterator[Finding]:
    answer, cited = side_rows(seq, timestamp, body)
    for table, columns, wanted in (("answers", ANSWERS, [answer]), ("cited", CITED, cited)):
        found = connection.execute(
            f"SELECT {', '.join(columns)} FROM {table} WHERE seq = ? ORDER BY 1, 2", (seq,)
        ).fetchall()
        if found != wanted:
            reason = f"table {table} does not say what the entry says: {_difference(columns, found, wanted)}"
            yield Finding(kind="side-table", seq=seq, reason=reason)


def _difference(columns: tuple[str, ...], found: list[Any], wanted: list[Any]) -> str:
    if len(found) != len(wanted):
        return f"{len(found)} rows instead of {len(wanted)}"
    for row, other in zip(found, wanted, strict=True):
        for column, left, right in zip(columns, row, other, strict=True):
            if left != right:
                return f"{column} is {left!r}, derived {right!r}"
    return "rows in another order"


def _strays(connection: sqlite3.Connection) -> list[Finding]:
    """Side rows of entries that are not there: what a query would show and no record backs."""
    return [
        Finding(kind="side-table", seq=seq, reason=f"table {table} has a row for an entry that is not there")
        for table in ("answers", "cited")
        for (seq,) in connection.execute(
            f"SELECT DISTINCT seq FROM {table} WHERE seq NOT IN"
            f" (SELECT seq FROM entries WHERE kind IN ({', '.join('?' * len(RECORDS))}))",
            RECORDS,
        )
    ]


def _prompts(sealed: tuple[int, dict[str, Any]] | None, prompts: Mapping[str, str]) -> Iterator[Finding]:
    """The last configuration entry names every prompt file's hash; a legitimate change adds an entry."""
    if sealed is None:
        return
    seq, body = sealed
    for name, digest in sorted(body.get("prompts", {}).items()):
        if prompts.get(name) != digest:
            found = f"has {prompts[name]}" if name in prompts else "is gone"
            reason = f"prompt file {name} was sealed as {digest} and now {found}"
            yield Finding(kind="prompt", seq=seq, reason=reason)


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
                if verdict["status"] == Status.BROKEN.value:
                    continue
                text = self._text(citation["document_id"], citation["document_version"])
                where = f"{citation['document_id']} [{citation['start']}:{citation['end']}]"
                if isinstance(text, EvidenceError):
                    yield Finding(kind="evidence", seq=seq, reason=f"{where}: {text}")
                elif text[citation["start"] : citation["end"]] != citation["quote"]:
                    reason = f"{where} no longer holds the quote {citation['quote'][:80]!r}"
                    yield Finding(kind="evidence", seq=seq, reason=reason)

    def texts(self) -> Iterator[Finding]:
        """Each text that an ingest entry committed to, against what is stored now."""
        if self._evidence is None:
            return
        for (document_id, version), (seq, digest) in self._committed.items():
            text = self._text(document_id, version)
            if isinstance(text, EvidenceError):
                yield Finding(kind="evidence", seq=seq, reason=f"{document_id}: {text}")
            elif hash_text(text) != digest:
                reason = f"{document_id}: the stored text is not the one that was ingested ({digest})"
                yield Finding(kind="evidence", seq=seq, reason=reason)

    def _text(self, document_id: str, version: str) -> str | EvidenceError:
        key = (document_id, version)
        if key not in self._texts and self._evidence is not None:
            try:
                self._texts[key] = self._evidence.get(version, document_id).text
            except EvidenceError as error:
                self._texts[key] = error
        return self._texts[key]


def _link_text(connection: sqlite3.Connection, seq: int) -> tuple[str, str, str, bytes]:
    previous, kind, timestamp, body = connection.execute(
        "SELECT previous, kind, timestamp, body FROM entries WHERE seq = ?", (seq,)
    ).fetchone()
    return previous, kind, timestamp, str(body).encode()
