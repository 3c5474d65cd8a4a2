"""Handmade answers, and a verifier whose every verdict is set by the test."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pytest

from citewell.core.identity import chunk_id
from citewell.core.records import (
    Case,
    Chunk,
    Citation,
    Claim,
    Entailment,
    Failure,
    Kind,
    Maker,
    Passage,
    Proof,
    Status,
    Verdict,
)
from citewell.evaluation.judging import JudgedCase, ObservedAnswer
from citewell.verification.verifier import Verifier

MAKER = Maker(name="by hand")


def passage(content: str, *, document: str = "d.md", start: int = 0, version: str = "sha256:v") -> Passage:
    end = start + len(content)
    chunk = Chunk(
        chunk_id=chunk_id(version, start, end, content),
        document_id=document,
        document_version=version,
        start_offset=start,
        end_offset=end,
        content=content,
    )
    return Passage(chunk=chunk, relevant=True)


def verdict(status: Status = Status.VERIFIED, failure: Failure | None = None) -> Verdict:
    return Verdict(status=status, reason="", maker=MAKER, failure=failure, proof=Proof.ENTAILED)


def citation(of: Passage, quote: str = "", **changes: Any) -> Citation:
    """A citation of all of ``of``, or of the first occurrence of ``quote`` in it."""
    chunk = of.chunk
    at = chunk.content.index(quote) if quote else 0
    quote = quote or chunk.content
    given = {
        "chunk_id": chunk.chunk_id,
        "document_id": chunk.document_id,
        "document_version": chunk.document_version,
        "start": chunk.start_offset + at,
        "end": chunk.start_offset + at + len(quote),
        "quote": quote,
        "answer_start": 0,
        "answer_end": 1,
        "verdict": verdict(),
    }
    return Citation(**(given | changes))


def broken(failure: Failure = Failure.FABRICATED) -> Citation:
    return citation(passage("x"), start=-1, end=-1, verdict=verdict(Status.BROKEN, failure))


def claim(text: str, *citations: Citation, status: Status = Status.VERIFIED, **changes: Any) -> Claim:
    given = {
        "text": text,
        "kind": Kind.CITED,
        "answer_start": 0,
        "answer_end": len(text),
        "verdict": verdict(status),
        "citations": citations,
    }
    return Claim(**(given | changes))


def observed(*claims: Claim, **changes: Any) -> ObservedAnswer:
    given = {"text": " ".join(one.text for one in claims), "claims": claims, "passages": (), "answered": True}
    return ObservedAnswer(**(given | changes))


def judged(case: Case | None = None, seen: ObservedAnswer | None = None, **changes: Any) -> JudgedCase:
    given = {"case": case or Case(id="1", question="q?"), "observed": seen or observed()}
    return JudgedCase(**(given | changes))


class Scripted:
    """An entailer that entails a (premise, claim) where the test says so, and nothing else."""

    def __init__(self, entails: Callable[[str, str], bool | None]) -> None:
        self.maker = Maker(name="scripted")
        self.entails = entails
        self.asked: list[tuple[str, str]] = []

    def entail(self, pairs: Sequence[tuple[str, str]]) -> list[Entailment]:
        self.asked += pairs
        return [self._one(self.entails(premise, text)) for premise, text in pairs]

    def _one(self, said: bool | None) -> Entailment:
        if said is None:
            return Entailment(entailment=None, neutral=None, contradiction=None, unchecked="no answer")
        return Entailment(
            entailment=0.98 if said else 0.02, neutral=0.01 if said else 0.97, contradiction=0.01
        )


@pytest.fixture
def scripted() -> Callable[[Mapping[str, set[str]]], Verifier]:
    """``scripted({"claim": {"a", "b"}})``: the claim is entailed by any text with all of these words."""

    def make(needs: Mapping[str, set[str]]) -> Verifier:
        return Verifier(Scripted(lambda premise, text: needs[text] <= set(premise.split())))

    return make
