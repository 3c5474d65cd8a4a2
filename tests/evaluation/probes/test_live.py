"""Live answers are replayed from the log, on record, with the passages they were written from."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from citewell.audit.entries import EntryKind
from citewell.cli.program import app
from citewell.core.ports import Extraction, Reading
from citewell.core.records import AuditRecord, Maker
from citewell.evaluation.probes.faithfulness import Faithfulness, Finding, Outcome
from citewell.evaluation.probes.subjects import (
    Generated,
    Sample,
    live_sample,
    live_samples,
)
from citewell.generation import ExtractiveGenerator
from citewell.knowledge.home import KnowledgeBase
from citewell.knowledge.opening import open
from citewell.models.fake import FakeEntailer, HashEmbedder

BRIDGE = "# The bridge\n\nThe bridge opened in 1932. The toll was abolished in 1958.\n"
LAMP = "# The lighthouse\n\nThe lamp of the lighthouse is lit at dusk by a switch.\n"
QUESTION = "When was the toll abolished?"


def shared(question: str, text: str) -> float:
    wanted = {word[:4] for word in re.findall(r"\w+", question.lower())} - {"when", "was", "the", "did"}
    return len(wanted & {word[:4] for word in re.findall(r"\w+", text.lower())}) / max(1, len(wanted))


class Words:
    """Ranks and reads by shared words."""

    maker = Maker(name="fake/words", hash="sha256:words")

    def rank(self, question: str, passages: Sequence[str]) -> list[float]:
        return [0.95 if shared(question, passage) >= 0.5 else 0.05 for passage in passages]

    def extract(self, question: str, passages: Sequence[str]) -> list[Reading]:
        return [self._one(question, passage) for passage in passages]

    def _one(self, question: str, passage: str) -> Reading:
        spans = [(m.start(1), m.end()) for m in re.finditer(r"\s*([^.\n]+\.)", passage)]
        best = max(spans, key=lambda at: shared(question, passage[at[0] : at[1]]), default=(0, 0))
        if shared(question, passage[best[0] : best[1]]) < 0.5:
            return Reading(candidates=(), no_answer=0.97)
        return Reading(candidates=(Extraction(start=best[0], end=best[1], probability=0.95),), no_answer=0.03)


@pytest.fixture
def kb(tmp_path: Path) -> Iterator[KnowledgeBase]:
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "bridge.md").write_text(BRIDGE)
    (docs / "lamp.md").write_text(LAMP)
    with open(tmp_path / "home") as knowledge_base:
        words = Words()
        knowledge_base.parts.__dict__.update(
            embedder=HashEmbedder(), ranker=words, extractor=words, entailer=FakeEntailer()
        )
        knowledge_base.ingest(docs)
        yield knowledge_base


def test_what_people_asked_is_probed_with_what_they_were_answered_from(kb: KnowledgeBase) -> None:
    asked = kb.ask(QUESTION, user="alice")
    kb.ask("Who was the first mayor?", user="bob")
    kb.ask(QUESTION, user="evaluation")
    (docs := kb.home.parent / "docs" / "bridge.md").write_text(BRIDGE.replace("1958", "1963"))
    kb.ingest(docs.parent)
    reads = len(list(kb.parts.log.entries(EntryKind.READ)))
    (sample,) = live_samples(kb, since="1d", reader="auditor")
    assert (sample.id, sample.question) == (asked.request_id, QUESTION)
    assert "1958" in sample.passages[0].chunk.content
    assert len(list(kb.parts.log.entries(EntryKind.READ))) == reads + 1
    report = Faithfulness(subject=Generated(kb.parts.generator)).probe([sample])
    assert [one.finding for one in report.citations] == [Finding.FAITHFUL]


def test_the_same_seed_draws_the_same_answers(kb: KnowledgeBase) -> None:
    for user in ("a", "b", "c"):
        kb.ask(QUESTION, user=user)
    first, again = (live_samples(kb, seed=3) for _ in range(2))
    assert first == again
    assert len(first) == 3


def test_no_more_answers_are_read_than_are_wanted(kb: KnowledgeBase, monkeypatch: pytest.MonkeyPatch) -> None:
    for user in ("a", "b", "c"):
        kb.ask(QUESTION, user=user)
    every = live_samples(kb, seed=3)
    made: list[str] = []

    def counted(knowledge_base: KnowledgeBase, record: AuditRecord) -> Sample | None:
        made.append(record.request_id)
        return live_sample(knowledge_base, record)

    monkeypatch.setattr("citewell.evaluation.probes.subjects.live_sample", counted)
    assert live_samples(kb, seed=3, most=2) == every[:2]
    assert made == [sample.id for sample in every[:2]]


def test_answers_whose_passages_are_gone_take_nobodys_place(kb: KnowledgeBase) -> None:
    for user in ("a", "b", "c", "d"):
        kb.ask(QUESTION, user=user)
    shutil.rmtree(kb.home / "index")
    with open(kb.home) as made_anew:
        made_anew.parts.__dict__.update(kb.parts.__dict__)
        del made_anew.parts.__dict__["index"], made_anew.parts.__dict__["retriever"]
        del made_anew.parts.__dict__["answering"]
        made_anew.ingest(kb.home.parent / "docs")
        asked = made_anew.ask(QUESTION, user="e")
        drawn = [live_samples(made_anew, seed=seed, most=1) for seed in range(4)]
    assert [[sample.id for sample in each] for each in drawn] == [[asked.request_id]] * 4


def test_live_traffic_is_not_paid_for_without_end(kb: KnowledgeBase, monkeypatch: pytest.MonkeyPatch) -> None:
    for user in ("a", "b"):
        kb.ask(QUESTION, user=user)
    monkeypatch.setattr("citewell.cli.home.Home.open", lambda self: kb)
    monkeypatch.setattr("citewell.cli.probes.LIVE_BUDGET", 1)
    words = ["eval", "probe", "faithfulness", "--live", "--home", str(kb.home)]
    told = CliRunner().invoke(app, words)
    assert "0 samples, 1 calls" in told.output
    assert "over the budget" in told.output
    more = CliRunner().invoke(app, [*words, "--budget", "100"])
    assert "2 samples" in more.output


def test_a_cell_of_a_table_is_followed_when_its_figure_changes(pages: Any) -> None:
    table = pages.table(
        [
            ("Purchases of property, plant and equipment", ("758", "695")),
            ("Net revenues", ("46,710", "44,538")),
        ],
        ("2022", "2021"),
    )
    question = "What was Acme's capital expenditure in FY2022?"
    writer = ExtractiveGenerator(Words())
    report = Faithfulness(subject=Generated(writer)).probe(
        [Sample(id="capex", question=question, passages=(table,))]
    )
    (one,) = report.citations
    assert (one.finding, one.outcome) == (Finding.FAITHFUL, Outcome.CHANGED)
    assert one.swap is not None
    assert one.swap.old == "758"
    assert one.necessary is True
