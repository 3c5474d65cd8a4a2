"""Compares the evidence catalogue with what the log says about each document.

In: a sound log, the evidence. Out: findings: a document without an ingest entry, or one whose title, date,
access list, tags, withdrawal or current version differs from the log. Knows nothing about the index.
"""

from __future__ import annotations

import fcntl
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from citewell.audit.entries import ERASED, KEY_MISSING, EntryKind
from citewell.audit.tampering import Finding
from citewell.core.identity import canonical_json, plain
from citewell.core.records import Record
from citewell.documents.evidence.catalogue import WITHDRAWN, CatalogueEntry
from citewell.documents.supersession import declared_replacements, find_superseded, stale_statements

if TYPE_CHECKING:
    from citewell.audit import Log
    from citewell.documents.evidence.sqlite import SqliteEvidence

CATALOGUE = "catalogue"
"""The kind of these findings."""
_NAMED = 5
"""Differences listed in one finding; the rest are only counted."""


class Head(Record, frozen=True, kw_only=True):
    """A document's changeable state as sealed by an ingest entry. ``acl`` is None where it can no longer be
    read; ``vectors`` is the hash of the document's index vectors, "" where it had none or, in an older entry,
    none was sealed."""

    document_id: str
    version: str
    withdrawn: bool
    acl: tuple[str, ...] | None
    tags: tuple[str, ...]
    vectors: str = ""


def catalogue_head(entry: CatalogueEntry, vectors: str = "") -> Head:
    return Head(
        document_id=entry.document_id,
        version=entry.version,
        withdrawn=entry.state == WITHDRAWN,
        acl=tuple(sorted(entry.acl)),
        tags=tuple(sorted(entry.tags)),
        vectors=vectors,
    )


class SealedCatalogue:
    """What a log's entries say about documents; ``heads`` includes the latest entry for each."""

    def __init__(self, log: Log) -> None:
        self.versions: dict[tuple[str, str], tuple[int, str]] = {}
        """The entry that committed to a version, and its record hash."""
        self.heads: dict[str, tuple[int, Head]] = {}
        self.recovered: list[tuple[int, int]] = []
        self.supersessions: tuple[int, list[Any]] = (0, [])
        """The last entry that listed supersessions, and its list."""
        self.given: dict[tuple[str, str], int] = {}
        """The entry in which a person declared that one document supersedes another."""
        kinds = (EntryKind.INGEST, EntryKind.WITHDRAWAL, EntryKind.SHARE)
        entries = (entry for kind in kinds for entry in log.entries(kind) if entry.body is not None)
        for entry in sorted(entries, key=lambda entry: entry.seq):
            body = log.body(entry)
            if "supersessions" in body:
                self.supersessions = (entry.seq, body["supersessions"])
            if entry.kind == EntryKind.INGEST.value:
                self._ingest(entry.seq, body)
            elif body["document_id"] in self.heads:  # else its ingest was killed; the next one seals it
                withdrawn = entry.kind == EntryKind.WITHDRAWAL.value
                changed = {"withdrawn": True} if withdrawn else {"acl": _known(body["acl"])}
                head = self.heads[body["document_id"]][1]
                self.heads[head.document_id] = entry.seq, msgspec.structs.replace(head, **changed)

    def _ingest(self, seq: int, body: Mapping[str, Any]) -> None:
        for source in body["documents"]:
            key = (source["document_id"], source["version"])
            self.versions.setdefault(key, (seq, source["record_hash"]))
        for newer, older in body.get("given", ()):
            self.given.setdefault((newer, older), seq)
        for head in body["heads"]:
            self.heads[head["document_id"]] = seq, msgspec.convert(head, Head)
        if body["recovered"]:
            self.recovered.append((seq, len(body["recovered"])))


def _known(acl: list[str]) -> tuple[str, ...] | None:
    """An entry's access list; None where it can no longer be read."""
    return None if {*acl} & {ERASED, KEY_MISSING} else tuple(sorted(acl))


def differences(log: Log, evidence: SqliteEvidence) -> tuple[list[Finding], list[str]]:
    """(findings, harmless notes). Raises LogError, EvidenceError."""
    sealed = SealedCatalogue(log)
    told: dict[int, list[str]] = {}
    for seq, text in (
        *_heads(sealed, evidence),
        *_versions(sealed, evidence),
        *_superseded(sealed, evidence),
    ):
        told.setdefault(seq, []).append(text)
    findings = [Finding(CATALOGUE, seq, _joined(texts)) for seq, texts in sorted(told.items())]
    notes = [
        f"entry {seq} records {count} documents that were added outside a completed ingest: an"
        f" ingest was interrupted, or something else added them"
        for seq, count in sealed.recovered
    ]
    return findings, notes


def _heads(sealed: SealedCatalogue, evidence: SqliteEvidence) -> Iterator[tuple[int, str]]:
    held = {entry.document_id: catalogue_head(entry) for entry in evidence.catalogue()}
    for document_id, head in held.items():
        if (document_id, head.version) not in sealed.versions:
            yield 0, f"{document_id} is in the catalogue, but no ingest entry has its version"
            continue
        seq, expected = sealed.heads[document_id]
        for name in ("version", "withdrawn", "acl", "tags"):
            wanted, found = getattr(expected, name), getattr(head, name)
            if wanted is not None and wanted != found:
                yield seq, f"{document_id}: {_WORDS[name]} {_shown(wanted)} and is now {_shown(found)}"
    for document_id, (seq, _) in sealed.heads.items():
        if document_id not in held:
            yield seq, f"{document_id} was ingested but is not in the catalogue"


_WORDS = {
    "version": "its current version was",
    "withdrawn": "its withdrawn state was",
    "acl": "its access list was",
    "tags": "its list of tags was",
}


def _versions(sealed: SealedCatalogue, evidence: SqliteEvidence) -> Iterator[tuple[int, str]]:
    for stored in evidence.inspect():
        key = (stored.document_id, stored.version)
        seq, digest = sealed.versions.get(key, (0, ""))
        if not seq and not stored.caller_supplied:
            yield 0, f"{stored.document_id} {stored.version} is stored, but no ingest entry has it"
        elif stored.fault:
            yield seq, f"{stored.document_id}: {stored.fault}"
        elif seq and stored.hash and stored.hash != digest:
            yield seq, f"{stored.document_id}: its stored metadata (title, date, tables) was changed"


def _superseded(sealed: SealedCatalogue, evidence: SqliteEvidence) -> Iterator[tuple[int, str]]:
    seq, told = sealed.supersessions
    if canonical_json([plain(one) for one in find_superseded(evidence)]) != canonical_json(told):
        yield seq, "the stored supersessions were changed after they were sealed"
    pairs = pairs_of(evidence)
    for newer, older in sorted(pairs - sealed.given.keys()):
        yield 0, f"{newer} is paired with {older}, but no entry says so"
    for newer, older in sorted(sealed.given.keys() - pairs):
        yield (
            sealed.given[newer, older],
            f"{newer} was said to supersede {older}, but is not paired with it any more",
        )
    for name, version in stale_statements(evidence):
        # Documents whose own record changed are already reported.
        if sealed.versions.get((name, version), (0, ""))[1] == evidence.record_hash(version, name):
            yield 0, f"{name}: what is kept of its statements is not what it says"


def pairs_of(evidence: SqliteEvidence) -> set[tuple[str, str]]:
    """(newer, older) pairs declared by people."""
    return {(newer, older) for newer, all_ in declared_replacements(evidence).items() for older in all_}


def _shown(value: object) -> str:
    return ", ".join(value) or "empty" if isinstance(value, tuple) else str(value)


def _joined(texts: list[str]) -> str:
    more = f"; and {len(texts) - _NAMED} more" if len(texts) > _NAMED else ""
    return "; ".join(dict.fromkeys(texts[:_NAMED])) + more


def ingest_under_way(home: Path) -> bool:
    """True while an ingest is running, whose entry is sealed only at its end."""
    try:
        with (home / "index" / "writer.lock").open("r+") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return False
    return False
