"""A replay repeats the searches in a record, and names the one that is missing from it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest
from tests.answering.test_answering import Writer
from tests.server.conftest import QUESTION, WordRanker, _share, filled, with_stand_ins

from citewell.answering.questioning import Questioner
from citewell.core.config import Config, Retrieval
from citewell.core.config import Questions as Options
from citewell.core.errors import UsageError
from citewell.core.ports import GenerationRequest
from citewell.core.records import Draft, TokenUsage
from citewell.knowledge.assembly import Assembly
from citewell.knowledge.home import KnowledgeBase
from citewell.knowledge.opening import open

BRIDGE = ("The bridge opened in 1932.", "The bridge opened in 1932.")
LAMP_SAID = "The lamp of the lighthouse is lit at dusk by an automatic switch."
BOTH = "When did the bridge open and what switch lights the lamp of the lighthouse?"
Opened = Callable[..., KnowledgeBase]


@pytest.fixture
def opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Opened]:
    """A home with stub models, also used for replays."""
    monkeypatch.setattr(Assembly, "without_memory", lambda self: self)
    made: list[KnowledgeBase] = []

    def build(config: Config, **parts: Any) -> KnowledgeBase:
        kb = with_stand_ins(open(filled(tmp_path), config=config))
        kb._parts.__dict__.update(parts)
        made.append(kb)
        return kb

    yield build
    for kb in made:
        kb.close()


class Scribe(Writer):
    """Writes about the last aspect that its passages cover."""

    def generate(self, request: GenerationRequest) -> Draft:
        for aspect in request.aspects[::-1]:
            claim = BRIDGE[0] if "bridge" in aspect else LAMP_SAID
            telling = [passage for passage in request.passages if claim in passage.chunk.content]
            if telling:
                self.drafts, self.requests = [[(claim, claim)]], []
                only = msgspec.structs.replace(request, passages=tuple(telling), aspects=(aspect,))
                return super().generate(only)
        raise AssertionError("nothing to write of")


class Lenient(WordRanker):
    """Accepts a third of the question's words."""

    def rank(self, question: str, passages: Sequence[str]) -> list[float]:
        return [0.95 if _share(question, passage) >= 0.3 else 0.05 for passage in passages]


def test_searches_for_missing_aspects_are_repeated(opened: Opened) -> None:
    config = Config(generator="openai:stub", retrieval=Retrieval(top_k=1))
    kb = opened(config, generator=Scribe(), ranker=Lenient())
    answer = kb.ask(BOTH)
    record = kb.audit.record(answer.request_id)
    assert len(record.parameters["searched_also"]) == 1
    assert len(record.retrieval_results) == 2
    found = kb.audit.replay(answer.request_id)
    assert (found.same, found.differences, found.elsewhere) == (True, (), ())


def test_a_search_that_no_record_holds_is_named(opened: Opened) -> None:
    questioner = Questioner(Writer(), Options(hypothesis=True))  # type: ignore[arg-type]
    questioner._ask = lambda *_, **__: "Opened with a parade."  # type: ignore[method-assign]
    kb = opened(Config(), questioner=questioner)
    answer = kb.ask(QUESTION)
    questioner._ask = lambda *_, **__: pytest.fail("the model was asked again")  # type: ignore[method-assign]
    found = kb.audit.replay(answer.request_id)
    assert found.elsewhere == ("the search used words from a language model, which records do not keep",)
    assert "parade" not in msgspec.json.encode(kb.audit.record(answer.request_id)).decode()


def test_a_hypothesis_that_was_not_given_needs_no_words(opened: Opened) -> None:
    questioner = Questioner(Writer(), Options(hypothesis=True))  # type: ignore[arg-type]
    questioner._ask = lambda *_, **__: ""  # type: ignore[method-assign]
    kb = opened(Config(), questioner=questioner)
    found = kb.audit.replay(kb.ask(QUESTION).request_id)
    assert (found.same, found.elsewhere) == (True, ())


def test_a_record_from_before_says_that_it_does_not_hold_them(opened: Opened) -> None:
    from citewell.core.environment import environment
    from citewell.knowledge.revisiting.replaying import compare

    kb = opened(Config())
    record = kb.audit.record(kb.ask(QUESTION).request_id)
    old = msgspec.structs.replace(
        record, latency_ms={"retrieval for missing aspects": 1.0}, token_usage=TokenUsage()
    )
    found = compare(old, old, compared=(), config=kb.config, environment=environment())
    assert found.elsewhere == ("the search for missing parts of the question was not kept in this record",)


def test_what_an_erased_person_asked_cannot_be_asked_again(opened: Opened) -> None:
    kb = opened(Config())
    answer = kb.ask(QUESTION, user="alice")
    bobs = kb.ask(QUESTION, user="bob")
    kb.audit.erase("alice")
    kb.log.keys.destroy("bob")
    for asked, match in ((answer, "was erased"), (bobs, "is missing")):
        with pytest.raises(UsageError, match=match):
            kb.audit.replay(asked.request_id)
