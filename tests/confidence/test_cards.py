"""Calibration cards: what they set, when they are refused, when they are stale."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from citewell.core.config import Confidence, Config, Retrieval, Verification
from citewell.core.errors import ConfigError
from citewell.core.records import Maker
from citewell.knowledge.assembly import Assembly
from citewell.verification.confidence.cards import (
    CONDUCT,
    FORMAT,
    Card,
    Corpus,
    CurrentSetup,
    check_card,
    conduct_of,
    corpus_of,
    laid_over,
    read_card,
    write_card,
)

ENTAILER = Maker(name="entailer", hash="sha256:e")
CORPUS = corpus_of("ix.1", [("a.md", "sha256:1"), ("b.md", "sha256:2")])
CONFIG = Config()


def card(**changes: object) -> Card:
    made = Card(
        format=FORMAT,
        made_at="2026-11-21T00:00:00.000000Z",
        citewell="0.1.0",
        alpha=0.05,
        confidence=0.95,
        makers={"entailer": ENTAILER},
        prompts={"draft": "sha256:p"},
        corpus=CORPUS,
        config_hash=CONFIG.hash,
        config=conduct_of(CONFIG),
        labelled=(),
        promises=(),
        weighing=None,
        settings={"verification.support_threshold": 0.8, "confidence.answer": 0.9},
    )
    return msgspec.structs.replace(made, **changes)


def today(**changes: object) -> CurrentSetup:
    now = CurrentSetup(
        makers={"entailer": ENTAILER, "ranker": Maker(name="ranker", hash="sha256:r")},
        prompts={"draft": "sha256:p", "other": "sha256:o"},
        corpus=CORPUS,
        config=conduct_of(CONFIG),
    )
    return msgspec.structs.replace(now, **changes)


def test_a_card_comes_back_as_it_was_written_under_the_same_hash(tmp_path: Path) -> None:
    write_card(card(), tmp_path / "card.json")
    assert (tmp_path / "card.json").stat().st_mode & 0o777 == 0o600
    assert read_card(tmp_path / "card.json") == card()
    assert read_card(tmp_path / "card.json").hash == card().hash
    again = tmp_path / "again.json"
    write_card(read_card(tmp_path / "card.json"), again)
    assert again.read_bytes() == (tmp_path / "card.json").read_bytes()


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda data: data.replace(b'threshold":0.8', b'threshold":0.5'), "was edited"),
        (lambda data: data[:-20], "not a calibration card"),
        (lambda data: b"[]", "not a calibration card"),
        (lambda data: b"", "not a calibration card"),
    ],
)  # fmt: skip
def test_an_edited_or_damaged_card_is_refused(tmp_path: Path, change, words) -> None:  # type: ignore[no-untyped-def]
    path = tmp_path / "card.json"
    write_card(card(), path)
    path.write_bytes(change(path.read_bytes()))
    with pytest.raises(ConfigError, match=words):
        read_card(path)


def test_a_card_that_would_set_something_else_is_refused(tmp_path: Path) -> None:
    write_card(card(settings={"audit.publish_every_s": 0.0}), tmp_path / "card.json")
    with pytest.raises(ConfigError, match="sets audit"):
        read_card(tmp_path / "card.json")


def test_a_missing_card_is_refused_when_the_home_is_opened(tmp_path: Path) -> None:
    assert Assembly(tmp_path, Config()).card_state().state == "none"
    with pytest.raises(ConfigError, match="cannot be read"):
        Assembly(tmp_path, Config(confidence=Confidence(card="card.json")))


def test_a_cards_values_are_laid_over_the_configuration() -> None:
    found = laid_over(Config(retrieval=Retrieval(top_k=3)), card().settings)
    assert found.verification.support_threshold == 0.8
    assert found.confidence.answer == 0.9
    assert found.retrieval == Retrieval(top_k=3)


def test_nothing_changed_is_fresh_even_for_the_configuration_the_card_is_laid_over() -> None:
    used = laid_over(Config(confidence=Confidence(card="card.json")), card().settings)
    found = check_card(card(), "card.json", today(config=conduct_of(used)))
    assert (found.state, found.reasons, found.note) == ("fresh", (), "")


@pytest.mark.parametrize(
    ("now", "reason"),
    [
        (today(makers={"entailer": Maker(name="entailer", hash="sha256:new")}), "the entailer is entailer"),
        (today(makers={}), "the entailer is none"),
        (today(prompts={"draft": "sha256:q"}), "prompts changed: draft"),
        (today(corpus=corpus_of("ix.2", [("a.md", "sha256:1")])), "the documents changed"),
        (today(corpus=None), "documents changed"),
        (today(config=conduct_of(Config(retrieval=Retrieval(pool=10)))), "settings changed: retrieval"),
    ],
)
def test_a_changed_model_prompt_corpus_or_setting_makes_it_stale(now: CurrentSetup, reason: str) -> None:
    import re

    found = check_card(card(), "card.json", now)
    assert found.state == "stale"
    assert re.search(reason, "; ".join(found.reasons))
    assert found.note.startswith("the calibration card in use is stale")


def test_the_order_of_documents_and_the_index_version_do_not_matter() -> None:
    other = corpus_of("ix.9", [("b.md", "sha256:2"), ("a.md", "sha256:1")])
    assert check_card(card(), "c", today(corpus=other)).state == "fresh"
    assert isinstance(other, Corpus)


def test_what_a_card_does_not_name_cannot_make_it_stale() -> None:
    small = card(prompts={}, corpus=None, config=conduct_of(CONFIG, ("verification",)))
    now = today(corpus=None, prompts={}, config=conduct_of(Config(retrieval=Retrieval(pool=10))))
    assert check_card(small, "c", now).state == "fresh"
    changed = Config(verification=Verification(contradiction_threshold=0.4))
    assert check_card(small, "c", today(config=conduct_of(changed))).reasons == (
        "settings changed: verification",
    )


def test_every_key_a_card_may_set_is_one() -> None:
    from citewell.core import config
    from citewell.verification.confidence.cards import SETTABLE

    assert set(SETTABLE) <= set(config.keys())
    assert set(CONDUCT) <= set(Config.__struct_fields__)
