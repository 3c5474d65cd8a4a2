"""Poison is made as specified, and a home survives the probe unchanged."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import msgspec
import pytest
from typer.testing import CliRunner

from citewell.answering.journal import Ask
from citewell.cli.program import app
from citewell.core.config import Config, Verification
from citewell.core.errors import EvidenceError, UsageError
from citewell.core.records import Case, CaseSpan, Chunk, Passage, Status
from citewell.evaluation.probes.poison import (
    ALL,
    COPIES,
    NO_DEFENCE,
    OUTDATED,
    Poison,
    Target,
    poisoned,
    rehearse_with,
    target_of,
    verifier_for,
)
from citewell.evaluation.probes.poisoning import probe_poisoning, targets_of
from citewell.knowledge.assembly import Assembly
from citewell.knowledge.home import KnowledgeBase
from citewell.models.fake import FakeEntailer
from citewell.retrieval import Retrieved
from citewell.retrieval.quarantine import instructions_in
from citewell.verification.evidence import ClaimEvidence, as_evidence

TEXT = (
    "# Offices\n\nThe Lisbon office opened in 2014 and employs 120 engineers.\n\n"
    "The Porto office was founded by Ana Ruas in 1998.\n\n"
    "Bicycles are to be left in the yard behind the house. "
    "Rain is common in Porto during the winter months.\n"
)
CASES = (
    Case(
        id="staff",
        question="How many engineers does the Lisbon office employ?",
        expected="120",
        spans=(CaseSpan(document="docs/offices.md", quote="employs 120 engineers"),),
    ),
    Case(
        id="founder",
        question="Who founded the Porto office?",
        expected="Ana Ruas",
        spans=(CaseSpan(document="docs/offices.md", quote="founded by Ana Ruas"),),
    ),
    Case(id="nothing", question="When did the Faro office open?", abstain="not in the documents"),
)


def made() -> list[Target]:
    return targets_of(CASES, lambda name: TEXT)[0]


def test_a_case_is_poisoned_by_exchanging_its_answer_and_one_without_is_named() -> None:
    targets, left_out = targets_of(CASES, lambda name: TEXT)
    assert left_out == ["nothing"]
    for target in targets:
        assert target.right not in target.lie
        assert target.wrong in target.lie
        assert target.wrong not in TEXT
    assert targets[1].lie == f"The Porto office was founded by {targets[1].wrong} in 1998."
    assert target_of("x", "Who?", "Nobody", TEXT, "employs 120") is None
    assert target_of("x", "Who?", "", TEXT, "employs 120") is None


def test_a_case_whose_document_is_not_there_is_left_out_and_the_others_are_probed() -> None:
    def text_of(name: str) -> str:
        if name == "docs/gone.md":
            raise EvidenceError(f"no document {name!r}", hint="check --home")
        return TEXT

    span = CaseSpan(document="docs/gone.md", quote="employs 120 engineers")
    gone = Case(id="gone", question="How many engineers?", expected="120", spans=(span,))
    targets, left_out = targets_of((gone, *CASES), text_of)
    assert [target.id for target in targets] == ["staff", "founder"]
    assert left_out == ["gone", "nothing"]


@pytest.mark.slow
def test_a_case_is_asked_with_the_groups_that_it_names(tmp_path: Path) -> None:
    """Without them, nothing the case is about is visible, and the probe would report a refusal."""
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "offices.md").write_text(TEXT)
    case = msgspec.structs.replace(CASES[0], groups=("board",))
    with KnowledgeBase(Assembly(tmp_path / "home", Config())) as knowledge_base:
        knowledge_base.ingest(tmp_path / "docs", acl=["board"])
        targets, _ = targets_of([case], lambda name: TEXT)
        report = probe_poisoning(knowledge_base.parts, targets, kinds=())
    (clean,) = [cell for cell in report.cells if cell.defences == "all"]
    assert clean.accuracy.value == 1.0


@pytest.mark.parametrize("kind", list(Poison))
def test_each_kind_is_what_it_says(kind: Poison) -> None:
    first, _ = made()
    documents = poisoned(kind, first, 2)
    texts = [document.text for document in documents]
    assert len({document.document_id for document in documents}) == len(documents)
    assert documents == poisoned(kind, first, 2)
    assert documents[:1] == poisoned(kind, first, 1)[:1]
    assert len(documents) == (2 * COPIES if kind is Poison.FLOOD else 2)
    if kind is Poison.IRRELEVANT:
        assert all(first.wrong not in text and first.right not in text for text in texts)
    else:
        assert all(first.wrong in text for text in texts)
    assert any(map(instructions_in, texts)) is (kind is Poison.INSTRUCTION)
    if kind is Poison.OUTDATED:
        assert all(d.published_at and d.published_at.value.startswith(OUTDATED) for d in documents)


def test_only_quarantined_passages_are_counted_each_once() -> None:
    """A flood that was kept is noted in the same stage, and a retry filters the same passages again."""
    chunk = Chunk(
        chunk_id="a", document_id="a", document_version="1", start_offset=0, end_offset=5, content="Fine."
    )
    kept = Passage(chunk=chunk)
    taken = Passage(chunk=msgspec.structs.replace(chunk, chunk_id="b"), set_aside="gives orders")

    @dataclasses.dataclass(frozen=True)
    class Pass:
        quarantine: Callable[..., Sequence[Passage]]
        pin: object = None
        retriever: object = None
        checker: object = None
        gate: object = None

        def rehearse(self, ask: Ask) -> SimpleNamespace:
            for _ in range(2):
                self.quarantine(ask.question, (kept, taken), ())
            return SimpleNamespace(notes=("poison filter: a: floods", "poison filter: b: orders"))

    parts: Any = SimpleNamespace(
        config=Config(), entailer=FakeEntailer(), evidence=None, answering=Pass(lambda *given: given[1])
    )
    target = made()[0]
    found = Retrieved(passages=(), index_version="1")
    assert rehearse_with(parts, target, found, [], ALL).quarantined == 1
    assert rehearse_with(parts, target, found, [], NO_DEFENCE).quarantined == 0


def test_nothing_to_poison_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no case can be poisoned"):
        probe_poisoning(Assembly(tmp_path, Config()), [])


@pytest.mark.slow
def test_defences_are_told_apart_and_the_home_stays_as_it_was(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "offices.md").write_text(TEXT)
    home = tmp_path / "home"
    with KnowledgeBase(Assembly(home, Config())) as knowledge_base:
        knowledge_base.ingest(tmp_path / "docs")
        before = fingerprint(home), knowledge_base.parts.index.version()
        kinds = (Poison.INSTRUCTION,)
        report = probe_poisoning(knowledge_base.parts, made(), kinds=kinds, counts=(1,))
        assert (fingerprint(home), knowledge_base.parts.index.version()) == before
    cells = {(cell.poison, cell.defences): cell for cell in report.cells}
    assert len(cells) == len(report.cells) == 8
    assert cells[None, "all"].misled.value == 0.0
    filtered = cells[Poison.INSTRUCTION, "all"]
    assert filtered.misled.value == 0.0
    assert filtered.set_aside > 0
    assert cells[Poison.INSTRUCTION, "no poison filter"].set_aside == 0
    # Without verification, there is no telling which citations support their claims.
    assert cells[Poison.INSTRUCTION, "no verification"].citation_precision.value is None
    assert cells[Poison.INSTRUCTION, "none"].misled.value > filtered.misled.value


def test_without_verification_a_claim_that_its_source_denies_is_shown() -> None:
    question = ClaimEvidence(
        claim="The office is in Porto.", evidence=(as_evidence("The office is in Lisbon."),)
    )
    strict = verifier_for(FakeEntailer(), Verification(), ALL)
    trusting = verifier_for(FakeEntailer(), Verification(), NO_DEFENCE)
    assert strict.verify_many([question])[0].status is not Status.VERIFIED
    assert trusting.verify_many([question])[0].status is Status.VERIFIED


def fingerprint(home: Path) -> dict[str, str]:
    """A fingerprint of what a probe must not change: the log and the documents."""
    return {
        name: hashlib.sha256((home / name).read_bytes()).hexdigest()
        for name in ("audit.sqlite", "evidence.sqlite")
    }


def test_an_unknown_kind_is_a_usage_error(tmp_path: Path) -> None:
    cases = tmp_path / "cases.jsonl"
    cases.write_text(json.dumps({"id": "1", "question": "Why?"}))
    words = ["eval", "probe", "poisoning", str(cases), "--kind", "arsenic", "--home", str(tmp_path)]
    result = CliRunner().invoke(app, words)
    assert result.exit_code == 2
    assert "one of irrelevant, contradictory" in result.stderr
