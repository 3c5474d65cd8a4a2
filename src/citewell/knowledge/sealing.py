"""What a home's log commits to besides answers: settings, prompt files, ingested text, API keys.

In: the log, the configuration, the evidence, an ingest's report. Out: entries, only where something is new. A
later check compares evidence and prompt files with these commitments. Knows nothing about questions.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from citewell.audit.entries import EntryKind
from citewell.core.config import Config, Writer
from citewell.core.environment import environment
from citewell.core.identity import canonical_json, plain

if TYPE_CHECKING:
    from citewell.audit import Log
    from citewell.core.prompts.loading import Prompt
    from citewell.documents.evidence.sqlite import SqliteEvidence
    from citewell.documents.index import LanceIndex
    from citewell.documents.outcomes import FileOutcome, IngestReport
    from citewell.knowledge.catalogue import SealedCatalogue


def seal_configuration(log: Log, config: Config) -> None:
    """Seals settings, prompt files and release if they differ from the last such entry. How the home is
    operated has an entry of its own, as receipts show the first one to outsiders."""
    settings = {
        "config": config.sealed,
        "config_hash": config.hash,
        "prompts": prompt_hashes(),
        "citewell": environment()["citewell"],
    }
    operation = config.operation(log.keys.blind)
    for kind, body in ((EntryKind.CONFIGURATION, settings), (EntryKind.OPERATION, operation)):
        last = log.latest(kind)
        if last is None or last.body is None or canonical_json(log.body(last)) != canonical_json(body):
            log.note(kind, body)


def seal_ingest(
    log: Log,
    evidence: SqliteEvidence,
    index: LanceIndex,
    report: IngestReport,
    paths: Sequence[str | Path],
    supersedes: Sequence[str] = (),
) -> None:
    """Commits to every version not yet in an entry, including those of a killed run, to the access list and
    vectors of each changed document, and to manually declared ``supersedes`` pairs."""
    # Imported on first use: `import citewell` needs none of it.
    from citewell.documents.evidence.catalogue import INDEXED, WITHDRAWN
    from citewell.documents.outcomes import FAILED, GONE
    from citewell.knowledge.catalogue import SealedCatalogue, catalogue_head, pairs_of

    known, catalogue = SealedCatalogue(log), evidence.catalogue()
    fresh = [entry for entry in catalogue if (entry.document_id, entry.version) not in known.versions]
    changed = [outcome for outcome in report.files if outcome.status not in ("unchanged", "skipped")]
    touched = {entry.document_id for entry in fresh} | {
        outcome.document_id for outcome in changed if outcome.status != FAILED
    }
    # A killed ingest may have withdrawn missing files without sealing an entry.
    touched |= {
        entry.document_id
        for entry in catalogue
        if (entry.state, entry.reason) == (WITHDRAWN, GONE)
        and entry.document_id in known.heads
        and not known.heads[entry.document_id][1].withdrawn
    }
    told = [entry for entry in catalogue if entry.document_id in touched]
    # Vectors differ between processors, so a check cannot recompute them: seal those that were made.
    indexed = [entry.document_id for entry in told if entry.state == INDEXED]
    vectors = index.snapshot().vector_hashes(indexed) if indexed else {}
    heads = [plain(catalogue_head(entry, vectors.get(entry.document_id, ""))) for entry in told]
    superseded = supersessions_to_seal(log, evidence, known)
    files = {outcome.document_id for outcome in report.files}
    unsealed = pairs_of(evidence) - known.given.keys() if supersedes else set()
    given = sorted(pair for pair in unsealed if pair[0] in files and pair[1] in supersedes)
    if not fresh and not changed and not heads and not superseded and not given:
        return
    ours = {outcome.document_id for outcome in changed}
    sources = (evidence.get(entry.version, entry.document_id) for entry in fresh)
    documents = [
        {
            "document_id": source.document_id,
            "version": source.version,
            "text_hash": source.text_hash,
            "reader": source.reader,
            "record_hash": evidence.record_hash(source.version, source.document_id),
        }
        for source in sources
    ]
    outcomes = [
        {
            "path": _told(outcome.path),
            "document_id": outcome.document_id,
            "status": outcome.status,
            "message": _told(outcome.message),
            "hint": _told(outcome.hint),
        }
        for outcome in changed
    ]
    body = {
        "paths": [_told(path) for path in paths],
        "index_version": report.index_version,
        "documents": documents,
        "heads": heads,
        "recovered": [entry.document_id for entry in fresh if entry.document_id not in ours],
        "outcomes": outcomes,
        "skipped": dict(Counter(outcome.message for outcome in report.skipped)),
        "notes": [_told(note) for note in report.notes],
        **({"given": given} if given else {}),
        **superseded,
    }
    log.note(EntryKind.INGEST, body)


def supersessions_to_seal(
    log: Log, evidence: SqliteEvidence, known: SealedCatalogue | None = None
) -> dict[str, list[dict[str, Any]]]:
    """Part of an entry: all supersessions among the documents, or empty if the log has the same."""
    from citewell.documents.supersession import find_superseded
    from citewell.knowledge.catalogue import SealedCatalogue

    found = [plain(one) for one in find_superseded(evidence)]
    told = (known or SealedCatalogue(log)).supersessions[1]
    return {} if canonical_json(found) == canonical_json(told) else {"supersessions": found}


def failures(log: Log) -> tuple[FileOutcome, ...]:
    """Files whose last ingest failed, newest first."""
    from citewell.documents.outcomes import FAILED, FileOutcome

    found: dict[str, FileOutcome] = {}
    for entry in log.entries(EntryKind.INGEST):
        outcomes = log.body(entry)["outcomes"] if entry.body is not None else ()
        for outcome in outcomes:
            name = outcome["document_id"] or outcome["path"]
            found.pop(name, None)
            if outcome["status"] == FAILED:
                found[name] = FileOutcome(**outcome)
    return tuple(reversed(found.values()))


MADE, REVOKED = "made", "revoked"


class KeyInfo(Protocol):
    """An API key of the server, without its secret."""

    @property
    def key_id(self) -> str: ...
    @property
    def user(self) -> str: ...
    @property
    def groups(self) -> Sequence[str]: ...
    @property
    def roles(self) -> Sequence[str]: ...
    @property
    def scopes(self) -> Sequence[str]: ...
    @property
    def expires_at(self) -> str: ...
    @property
    def revoked_at(self) -> str: ...


def seal_key(log: Log, key: KeyInfo, outcome: str) -> None:
    """Seals an entry for an API key that is created or revoked, its owner as a pseudonym. Raises LogError."""
    body: dict[str, Any] = {"outcome": outcome, "key_id": key.key_id}
    if outcome == MADE:
        body |= {"subject": log.keys.subject(key.user).id, **rights_of(key)}
    log.note(EntryKind.ACCESS, body)


def rights_of(key: KeyInfo) -> dict[str, Any]:
    """What the key allows, as sealed in its entry."""
    lists = {"groups": key.groups, "roles": key.roles, "scopes": key.scopes}
    return {
        **{name: sorted(map(str, values)) for name, values in lists.items()},
        "expires_at": key.expires_at,
    }


def prompt_hashes() -> dict[str, str]:
    """Prompt file name -> hash of its current text."""
    from citewell.core.prompts.loading import packaged_prompts

    return {prompt.name: prompt.hash for prompt in packaged_prompts()}


def prompts_behind(hash: str) -> tuple[Prompt, ...]:
    """The current prompt files that a maker's ``prompt_hash`` covers; none if it covers others."""
    from citewell.core.ports import Form
    from citewell.core.prompts.loading import hash_prompts, packaged_prompts
    from citewell.generation.extractive import FRAMES
    from citewell.generation.prompting import prompt_files

    alone = [(prompt,) for prompt in packaged_prompts()]
    writers = [prompt_files(form, Writer(example=shown)) for form in Form for shown in (True, False)]
    known: dict[str, tuple[Prompt, ...]] = {files[0].hash: files for files in alone}
    known |= {hash_prompts(files): files for files in (FRAMES, *writers)}
    return known.get(hash, ())


def _told(path: str | Path) -> str:
    """A name, with invalid Unicode escaped for JSON."""
    return str(path).encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
