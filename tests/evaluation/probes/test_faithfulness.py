"""A writer that reads is distinguished from one that remembers, in either form."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

import msgspec
import pytest

from citewell.core.errors import GeneratorError
from citewell.core.ports import Extraction, GenerationRequest, Reading
from citewell.core.records import Draft, DraftClaim, Maker, Quote
from citewell.evaluation.probes.faithfulness import (
    FactOutcome,
    Faithfulness,
    FaithfulnessFinding,
    FaithfulnessReport,
    ProbeSample,
)
from citewell.evaluation.probes.subjects import BlackBox, Generated, sample_of
from citewell.generation import ExtractiveGenerator

SOURCES = {
    "lisbon.txt": "The Lisbon office opened in 2014. The Lisbon office employs 120 engineers."
    " The canteen is on the roof.",
    "porto.txt": "The Porto office was never profitable. Rain is common there in winter.",
}
Sources = Sequence[tuple[str, str]]


def sample(**sources: str) -> ProbeSample:
    return sample_of("s1", "What is known about the offices?", sources or SOURCES)


def reads(_: str, sources: Sources) -> str:
    """Says what the sources say about an opening, staff and profit, and cites it."""
    return " ".join(
        f"{sentence.strip()[:-1]} [{name}]."
        for name, text in sources
        for sentence in re.findall(r"[^.]+\.", text)
        if re.search(r"opened|employs|profitable", sentence)
    )


def remembers(_: str, sources: Sources) -> str:
    """Says what it has learnt, and cites whatever comes first."""
    return f"The Lisbon office opened in 2014 [{sources[0][0]}]."


def probe(call: object, given: ProbeSample | None = None, **options: int) -> FaithfulnessReport:
    subject = BlackBox(call)  # type: ignore[arg-type]
    return Faithfulness(subject=subject, controls=options.get("controls", 2)).probe(
        [given or sample()], budget=options.get("budget")
    )


def value(report: FaithfulnessReport, name: str) -> float | None:
    return next(measure.value for measure in report.measures if measure.name == name)


def test_a_writer_that_reads_is_faithful_in_every_citation() -> None:
    report = probe(reads)
    assert [one.finding for one in report.citations] == [FaithfulnessFinding.FAITHFUL] * 3
    assert [one.outcome for one in report.citations] == [FactOutcome.CHANGED] * 3
    assert value(report, "post_rationalised") == 0.0
    assert value(report, "necessity") == 1.0
    assert value(report, "sufficiency") == 1.0
    assert {one.swap.kind for one in report.citations if one.swap} == {"date", "number", "entity"}


def test_a_writer_that_answers_from_memory_and_cites_afterwards_is_caught() -> None:
    report = probe(remembers)
    assert [one.finding for one in report.citations] == [FaithfulnessFinding.POST_RATIONALISED]
    assert report.citations[0].outcome is FactOutcome.KEPT
    assert value(report, "post_rationalised") == 1.0
    assert value(report, "necessity") == 0.0


def test_a_writer_that_only_looks_whether_the_source_is_there_is_caught_by_the_swap() -> None:
    def checks(question: str, sources: Sources) -> str:
        there = any("opened" in text for _, text in sources)
        return remembers(question, sources) if there else "I do not know."

    report = probe(checks)
    assert report.citations[0].necessary is True
    assert report.citations[0].finding is FaithfulnessFinding.POST_RATIONALISED


def test_a_claim_that_two_sources_hold_is_redundant_not_post_rationalised() -> None:
    def first(_: str, sources: Sources) -> str:
        found = [(name, text) for name, text in sources if "opened" in text]
        return f"{found[0][1].rstrip('.')} [{found[0][0]}]." if found else "Nothing is known."

    twice = sample(
        a="The Lisbon office opened in 2014.", b="In 2014 the office of Lisbon was opened.", c="It rains."
    )
    report = probe(first, twice)
    assert [one.finding for one in report.citations] == [FaithfulnessFinding.FAITHFUL]


def test_a_writer_that_changes_its_mind_is_unstable_not_faithful() -> None:
    calls = []

    def moody(question: str, sources: Sources) -> str:
        calls.append(1)
        return reads(question, sources) if len(calls) == 1 else "The canteen is on the roof [1]."

    report = probe(moody)
    assert {one.finding for one in report.citations} == {FaithfulnessFinding.UNSTABLE}
    assert value(report, "post_rationalised") is None
    assert value(report, "unstable") == 1.0
    assert value(report, "control_kept") == 0.0


def test_the_budget_bounds_the_calls_and_names_what_was_left_out() -> None:
    calls = []

    def counted(question: str, sources: Sources) -> str:
        calls.append(1)
        return reads(question, sources)

    report = Faithfulness(subject=BlackBox(counted)).probe([sample(), sample(), sample()], budget=15)
    assert len(calls) == report.calls <= 15
    assert report.samples == 1
    assert report.left_out == ("s1: over the budget", "s1: over the budget")


def test_nothing_said_is_not_measured() -> None:
    report = probe(lambda question, sources: "")
    assert report.citations == ()
    assert all(measure.value is None for measure in report.measures)
    assert report.notes == ("1 samples without any claim: s1",)


def test_a_writer_that_fails_leaves_its_sample_out() -> None:
    def fails(question: str, sources: Sources) -> str:
        raise GeneratorError("no answer from the model")

    report = probe(fails)
    assert report.samples == 0
    assert "no answer from the model" in report.left_out[0]


@pytest.mark.parametrize(
    ("fails", "told"),
    [(lambda *_: int("many"), "ValueError: invalid literal"), (lambda *_: None, "NoneType")],
)
def test_whatever_a_function_raises_or_returns_leaves_only_its_sample_out(
    fails: Callable[..., Any], told: str
) -> None:
    asked = []

    def once(question: str, sources: Sources) -> Any:
        asked.append(1)
        return fails() if len(asked) == 1 else reads(question, sources)

    report = Faithfulness(subject=BlackBox(once, name="theirs")).probe([sample(), sample()])
    assert report.samples == 1
    assert told in report.left_out[0]


def test_sources_keep_their_ids_whatever_is_removed() -> None:
    asked: list[dict[str, str]] = []

    def once(question: str, sources: Sources) -> str:
        asked.append(dict(sources))
        return reads(question, sources)

    given = {"b.txt": "It rains in winter.", "a.txt": "The Lisbon office opened in 2014."}
    report = Faithfulness(subject=BlackBox(once)).probe([sample_of("1", "When did it open?", given)])
    assert [(one.source, one.finding) for one in report.citations] == [
        ("a.txt", FaithfulnessFinding.FAITHFUL)
    ]
    assert asked[0] == given
    assert {"a.txt": given["a.txt"]} in asked
    assert all(sources.get("b.txt", given["b.txt"]) == given["b.txt"] for sources in asked)

    twice = sample_of("2", "When did it open?", given)
    pages = tuple(
        msgspec.structs.replace(one, chunk=msgspec.structs.replace(one.chunk, document_id="a.txt"))
        for one in twice.passages
    )
    asked.clear()
    Faithfulness(subject=BlackBox(once)).probe([msgspec.structs.replace(twice, passages=pages)])
    assert asked[0] == {"1": given["b.txt"], "2": given["a.txt"]}
    assert {"2": given["a.txt"]} in asked


class Quoting:
    """One of our generators: quotes the sentence with a year, or answers from memory."""

    maker = Maker(name="quoting")

    def __init__(self, memory: str = "") -> None:
        self.memory = memory

    def generate(self, request: GenerationRequest) -> Draft:
        chunk = request.passages[0].chunk
        found = re.search(r"[^.]*\d{4}\.", chunk.content)
        text = self.memory or (found.group() if found else "")
        quotes = (Quote(source=chunk.chunk_id, text=found.group()),) if found else ()
        claims = (DraftClaim(text=text, start=0, end=len(text), quotes=quotes),) if text else ()
        return Draft(text=text, raw=text, claims=claims, maker=self.maker)


@pytest.mark.parametrize(
    ("memory", "finding"),
    [
        ("", FaithfulnessFinding.FAITHFUL),
        ("The Lisbon office opened in 2014.", FaithfulnessFinding.POST_RATIONALISED),
    ],
)
def test_our_generators_are_probed_through_their_port(memory: str, finding: FaithfulnessFinding) -> None:
    report = Faithfulness(subject=Generated(Quoting(memory))).probe([sample()])
    assert [one.finding for one in report.citations] == [finding]
    assert report.citations[0].sentence == "The Lisbon office opened in 2014."


def test_the_same_samples_give_the_same_report() -> None:
    assert probe(reads) == probe(reads)


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
        [ProbeSample(id="capex", question=question, passages=(table,))]
    )
    (one,) = report.citations
    assert (one.finding, one.outcome) == (FaithfulnessFinding.FAITHFUL, FactOutcome.CHANGED)
    assert one.swap is not None
    assert one.swap.old == "758"
    assert one.necessary is True
