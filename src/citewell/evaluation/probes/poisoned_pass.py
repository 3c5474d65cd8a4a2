"""One pass over poisoned passages or a poisoned index, with some of its defences down.

In: parts of a home, a question, what is added. Out: the record of a rehearsed pass: the real pass, in which a
retriever that has found already, or an open gate, stands in. Nothing is sealed, and the home is not changed:
what is added to an index is added to a throw-away copy. Knows nothing about rates or what was shown.
"""

from __future__ import annotations

import dataclasses
import shutil
import sqlite3
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from citewell.answering.asking import Ask
from citewell.core.config import Verification
from citewell.core.ports import Entailer
from citewell.core.records import AuditRecord, Document, Passage, Proof, Record, Status, Verdict
from citewell.documents.chunking import chunk_document
from citewell.documents.evidence.memory import MemoryEvidence
from citewell.evaluation.probes.poison import FOLDER, Target
from citewell.retrieval import Filters, Retrieved, Retriever
from citewell.retrieval.gate import GateResult
from citewell.verification.checking import Checker
from citewell.verification.evidence import ClaimEvidence
from citewell.verification.verifier import Verifier

if TYPE_CHECKING:
    from citewell.answering.answering import Answering
    from citewell.knowledge.assembly import Assembly


class Defences(Record, frozen=True, kw_only=True):
    """Which of them stand. That conflicts between sources are shown is counted, not switched: it changes no
    other defence's work."""

    name: str
    filter: bool = True
    gate: bool = True
    threshold: bool = True
    verification: bool = True


ALL = Defences(name="all")
NO_DEFENCE = Defences(name="none", filter=False, gate=False, threshold=False, verification=False)
ABLATED = (
    Defences(name="no poison filter", filter=False),
    Defences(name="no gate", gate=False),
    Defences(name="no threshold", threshold=False),
    Defences(name="no verification", verification=False),
)


def handed(
    parts: Assembly, target: Target, found: Retrieved, added: Sequence[Document], defences: Defences
) -> AuditRecord:
    """The pass over what was found with what is added before it."""
    memory = MemoryEvidence()
    for document in added:
        memory.put(document)
    chunks = [chunk for document in added for chunk in chunk_document(document, parts.config.chunking)]
    border = parts.config.retrieval.relevance_threshold if defences.threshold else 0.0
    relevances = parts.ranker.rank(target.question, [chunk.in_context for chunk in chunks]) if chunks else []
    passages = [
        *(Passage(chunk=chunk, relevance=value) for chunk, value in zip(chunks, relevances, strict=True)),
        *found.passages,
    ]
    marked = tuple(
        msgspec.structs.replace(passage, relevant=(passage.relevance or 0.0) >= border)
        for passage in passages
    )
    settings = parts.config.verification
    answering = dataclasses.replace(
        _defended(parts.answering, defences),
        retriever=_Given(msgspec.structs.replace(found, passages=marked)),  # type: ignore[arg-type]
        checker=Checker(
            verifier_for(parts.entailer, settings, defences), _Both(memory, parts.evidence), settings
        ),
    )
    return answering.rehearse(Ask(question=target.question, filters=Filters(groups=target.groups)))


def add(copy: Assembly, documents: Sequence[Document]) -> None:
    with copy.index.writer():
        for document in documents:
            copy.evidence.put(document)
        chunks = [chunk for document in documents for chunk in chunk_document(document, copy.config.chunking)]
        copy.index.add(chunks)
        copy.index.publish()


def asked(parts: Assembly, target: Target, defences: Defences) -> AuditRecord:
    settings, verification = parts.config.retrieval, parts.config.verification
    if not defences.threshold:
        settings = msgspec.structs.replace(settings, relevance_threshold=0.0)
    answering = dataclasses.replace(
        _defended(parts.answering, defences),
        retriever=Retriever(parts.index, parts.ranker, settings),
        checker=Checker(verifier_for(parts.entailer, verification, defences), parts.evidence, verification),
    )
    return answering.rehearse(Ask(question=target.question, filters=Filters(groups=target.groups)))


# --- parts that stand in --------------------------------------------------------------------------


def verifier_for(entailer: Entailer, settings: Verification, defences: Defences) -> Verifier:
    """The real one, or one that believes every claim; that quotes stand in their source is checked apart."""
    return (Verifier if defences.verification else _Trusting)(entailer, settings)


class _Trusting(Verifier):
    def verify_many(self, questions: Sequence[ClaimEvidence]) -> list[Verdict]:
        believed = Verdict(
            status=Status.VERIFIED,
            reason="no verification, for a probe",
            maker=self.maker,
            proof=Proof.ENTAILED,
            support=1.0,
        )
        return [believed for _ in questions]


class _Given:
    """A retriever that has found already; a second, broader look finds the same."""

    def __init__(self, found: Retrieved) -> None:
        self._found = found

    def retrieve(self, question: str, **_: Any) -> Retrieved:
        return self._found

    def near(self, statement: str, **_: Any) -> Retrieved:
        return msgspec.structs.replace(self._found, passages=(), beside=())

    def beside(self, hypothesis: str) -> _Given:
        return self


class _Both:
    """Evidence of the home, and beside it what the probe added."""

    def __init__(self, added: MemoryEvidence, stored: Any) -> None:
        self._added, self._stored = added, stored

    def put(self, document: Document) -> None:
        self._added.put(document)

    def get(self, version: str, document_id: str = "") -> Document:
        store = self._added if document_id.startswith(FOLDER) else self._stored
        found: Document = store.get(version, document_id)
        return found


def _defended(answering: Answering, defences: Defences) -> Answering:
    """The pass with these defences; it pins nothing: no record will name the index it looked into."""
    changes: dict[str, Any] = {"pin": lambda version: None}
    if not defences.filter:
        changes["aside"] = lambda question, passages, pool: passages
    if not defences.gate:
        changes["gate"] = _open
    return dataclasses.replace(answering, **changes)


def _open(*_: Any) -> GateResult:
    return GateResult(passed=True, reason="no gate, for a probe")


_REMEMBERED = 20_000
"""Pairs that the models of the probe keep, some 4 kB each: each pass reads nearly the same passages."""


def remembering(parts: Assembly, home: Path) -> Assembly:
    """Parts over ``home`` with the models of ``parts`` behind a large memory."""
    from citewell.knowledge.assembly import EMBEDDED, Assembly
    from citewell.models.onnx.reading import ReadingModel, RememberingReading
    from citewell.models.remembering import RememberingEntailer

    # A copy has its own log, wherever that of the home is; what the probe does is not sealed in either.
    alone = msgspec.structs.replace(parts.config.audit, database="", witnesses=())
    config = msgspec.structs.replace(parts.config, audit=alone)
    made = Assembly(home, config, parts.clock)
    made.__dict__["embedder"] = parts.embedder
    made.__dict__["entailer"] = RememberingEntailer(parts.entailer, limit=_REMEMBERED)
    if EMBEDDED in (config.ranker, config.extractor):
        made.__dict__["reading"] = RememberingReading(ReadingModel.shared(), limit=_REMEMBERED)
    return made


@contextmanager
def copied(parts: Assembly, models: Assembly) -> Iterator[Assembly]:
    """A throw-away copy of the home's index and evidence, with the models of ``models``."""
    from citewell.knowledge.assembly import Assembly

    with tempfile.TemporaryDirectory(prefix="citewell-poison-") as folder:
        home = Path(folder) / "home"
        home.mkdir()
        # What a card sets is in the configuration already; the copy is not the corpus that it was made for.
        cardless = msgspec.structs.replace(models.config.confidence, card="")
        copy = Assembly(home, msgspec.structs.replace(models.config, confidence=cardless), models.clock)
        # Its own log begins before its documents come: a home that has some begins none.
        copy.log.size()
        # Nobody may write meanwhile: a file copied in the middle of that is torn.
        with parts.index.writer():
            shutil.copytree(parts.home / "index", home / "index")
            stored = f"{(parts.home / 'evidence.sqlite').resolve().as_uri()}?mode=ro"
            whole = sqlite3.connect(home / "evidence.sqlite")
            with closing(sqlite3.connect(stored, uri=True)) as living, closing(whole):
                living.backup(whole)
        for name in ("embedder", "ranker", "extractor", "entailer", "generator"):
            copy.__dict__[name] = getattr(models, name)
        try:
            yield copy
        finally:
            copy.close()
