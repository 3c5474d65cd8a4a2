"""The writers that the faithfulness probe tests, and the samples it tests them on.

A writer takes a question and an edited context and returns claims with citations: :class:`Generated` wraps
any of our generators, including hosted language models; :class:`BlackBox` any function of a question and
sources that returns text with citation markers. Samples come from a case file. Knows nothing about verdicts.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from citewell.answering.verifying import Source, caller_passages
from citewell.core.errors import GeneratorError, UsageError
from citewell.core.identity import hash_text
from citewell.core.ports import GenerationRequest, Generator
from citewell.core.records import Chunk, DraftClaim, Kind, Maker, Passage, Record
from citewell.evaluation.cases import json_lines
from citewell.evaluation.probes.editing import Edit, edited, edited_chunk, quoted_sentences, sentences_of
from citewell.questions.aspects import split_aspects
from citewell.retrieval.quarantine import quarantine_poisoned
from citewell.verification.claims import parse_answer, resolve_label
from citewell.verification.words import overlap

if TYPE_CHECKING:
    from citewell.knowledge.home import KnowledgeBase

_BOUND = 0.3
"""A claim that shares less than this of its words with every sentence of the cited source is taken to cite
the whole source."""

Call = Callable[[str, Sequence[tuple[str, str]]], str]
"""(question, sources as (id, text)) -> the answer's text, citing by id or by number."""


class Cite(Record, frozen=True, kw_only=True):
    """A sentence that a claim cites."""

    source: str
    sentence: str


class ProbeSample(Record, frozen=True, kw_only=True):
    """A question and what its writer reads."""

    id: str
    question: str
    passages: tuple[Passage, ...]


class WrittenClaim(Record, frozen=True, kw_only=True):
    """One claim of an answer."""

    text: str
    cites: tuple[Cite, ...] = ()


@dataclass(frozen=True)
class Generated:
    """One of our own generators."""

    generator: Generator

    @property
    def maker(self) -> Maker:
        return self.generator.maker

    def write(self, sample: ProbeSample, edit: Edit) -> tuple[WrittenClaim, ...]:
        usable = tuple(p for p in edited(sample.passages, edit) if p.relevant and not p.set_aside)
        if not usable:
            return ()
        aspects = tuple(split_aspects(sample.question))
        asked = GenerationRequest(question=sample.question, aspects=aspects, passages=usable)
        texts = {passage.chunk.chunk_id: passage.chunk for passage in usable}
        return tuple(
            WrittenClaim(text=claim.text, cites=_quoted(claim, texts))
            for claim in self.generator.generate(asked).claims
            if claim.kind is not Kind.INFERENCE
        )


@dataclass(frozen=True)
class BlackBox:
    """Any function. Sources are named by document id, or numbered from "1" if a document occurs twice, and
    keep their names when others are removed. Anything it raises, and a result other than text, becomes a
    GeneratorError."""

    call: Call
    name: str = "black box"

    @property
    def maker(self) -> Maker:
        return Maker(name=self.name, hash=hash_text(self.name))

    def write(self, sample: ProbeSample, edit: Edit) -> tuple[WrittenClaim, ...]:
        names = [passage.chunk.document_id for passage in (*sample.passages, *edit.added)]
        if len(set(names)) < len(names):
            names = [str(number) for number in range(1, len(names) + 1)]
        left = [edited_chunk(passage.chunk, edit) for passage in sample.passages]
        left += [passage.chunk for passage in edit.added]
        sources = {name: chunk.content for name, chunk in zip(names, left, strict=True) if chunk is not None}
        if not sources:
            return ()
        return cited(self._answer(sample.question, list(sources.items())), sources)

    def _answer(self, question: str, sources: Sequence[tuple[str, str]]) -> str:
        try:
            answer: object = self.call(question, sources)
        except GeneratorError:
            raise
        except Exception as error:  # third-party code: one bad answer must not lose the others
            raise GeneratorError(f"{self.name}: {type(error).__name__}: {error}") from error
        if not isinstance(answer, str):
            raise GeneratorError(f"{self.name} returned {type(answer).__name__}, not text")
        return answer


Subject = Generated | BlackBox
"""A writer to probe: ``write`` returns its claims on the edited context, none when no text is left. Raises
GeneratorError."""


# --- claims and samples ---------------------------------------------------------------------------


def cited(answer: str, sources: Mapping[str, str]) -> tuple[WrittenClaim, ...]:
    """The claims of an answer text; each label is bound to the source sentence that shares most words with
    the claim."""
    ids = list(sources)
    made = []
    for claim in parse_answer(answer, ids).claims:
        named = dict.fromkeys(resolve_label(label, ids) for label in claim.labels)
        cites = [
            Cite(source=name, sentence=sentence)
            for name in named
            if name is not None
            for sentence in _nearest(claim.text, sources[name])
        ]
        if not claim.inference:
            made.append(WrittenClaim(text=claim.text, cites=tuple(cites)))
    return tuple(made)


def _nearest(claim: str, text: str) -> list[str]:
    sentences = sentences_of(text)
    best = max(sentences, key=lambda sentence: overlap(claim, sentence), default="")
    return [best] if best and overlap(claim, best) >= _BOUND else sentences


def _quoted(claim: DraftClaim, chunks: Mapping[str, Chunk]) -> tuple[Cite, ...]:
    made: dict[tuple[str, str], Cite] = {}
    for quote in claim.quotes:
        if chunk := chunks.get(quote.source):
            text, at = chunk.content, -1 if quote.start is None else quote.start - chunk.start_offset
            for sentence in quoted_sentences(text, quote.text, at) or _nearest(claim.text, text):
                made.setdefault((quote.source, sentence), Cite(source=chunk.document_id, sentence=sentence))
    return tuple(made.values())


def sample_of(name: str, question: str, sources: Sequence[Source] | Mapping[str, str]) -> ProbeSample:
    """A sample from caller-supplied texts. Raises UsageError, as :func:`citewell.answering.verifying.verify`
    does."""
    passages = tuple(msgspec.structs.replace(one, relevance=1.0) for one in caller_passages(sources))
    return ProbeSample(id=name, question=question, passages=passages)


def case_samples(path: Path, knowledge_base: KnowledgeBase | None) -> list[ProbeSample]:
    """One sample per line. A line with ``"sources"`` (texts, or ``{"id", "text"}``) is self-contained; for
    any other, the home retrieves the passages. Raises UsageError with the number of an invalid line."""
    samples = [
        _case(given, number, where, knowledge_base)
        for number, (where, given) in enumerate(json_lines(path), 1)
    ]
    if not samples:
        raise UsageError(f"{path} contains no case", hint="write one JSON object per line")
    return samples


def _case(
    given: dict[str, Any], number: int, where: str, knowledge_base: KnowledgeBase | None
) -> ProbeSample:
    if not isinstance(given.get("question"), str):
        raise UsageError(f"{where} has no question", hint='as in {"id": "1", "question": "..."}')
    name, question = str(given.get("id", number)), given["question"]
    if "sources" in given:
        try:
            return sample_of(name, question, given["sources"])
        except UsageError as error:
            raise UsageError(f"{where}: {error}") from error
    if knowledge_base is None:
        raise UsageError(f"{where} has no sources", hint="give a home with --home, or sources in the line")
    groups = tuple(str(group) for group in given.get("groups") or ())
    found = quarantine_poisoned(question, knowledge_base.search(question, groups=groups))
    usable = tuple(passage for passage in found if passage.relevant and not passage.set_aside)
    return ProbeSample(id=name, question=question, passages=usable)
