"""Spot checks: what is drawn, what is hidden, and what people's judgements amount to."""

from __future__ import annotations

import json
from pathlib import Path

import msgspec
import pytest
from typer.testing import CliRunner

import citewell
from citewell.audit import SqliteLog
from citewell.cli import app
from citewell.core.access import Caller, Role
from citewell.core.errors import AccessError, UsageError
from citewell.core.records import AuditRecord, Claim
from citewell.evaluation.sampling import (
    _allotted,
    agreement,
    cohens_kappa,
    draw,
    open_sample,
    record_label,
    samples,
)
from citewell.knowledge.home import KnowledgeBase

HARBOUR = """# Harbour

The harbour of Lindau was opened in 1856 by the Bavarian railway.

The lighthouse has a clock that can be seen from the town.
"""
QUESTIONS = ("When was the harbour of Lindau opened?", "What does the lighthouse have?")


def run(*words: object, typed: str = ""):  # type: ignore[no-untyped-def]
    return CliRunner().invoke(app, [str(word) for word in words], input=typed)


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two answers to different questions, and one that an evaluation asked for."""
    folder = tmp_path_factory.mktemp("sampling")
    (folder / "papers").mkdir()
    (folder / "papers" / "harbour.md").write_text(HARBOUR)
    assert run("--home", folder / "home", "ingest", folder / "papers").exit_code == 0
    with citewell.open(folder / "home") as kb:
        for question in QUESTIONS:
            assert kb.ask(question, user="alice").claims
        kb.ask(QUESTIONS[0], user="evaluation")
    return folder / "home"


@pytest.fixture
def kb(home: Path, tmp_path: Path):  # type: ignore[no-untyped-def]
    """A copy of the home, so that labels of one test do not reach another."""
    import shutil

    shutil.copytree(home, tmp_path / "home")
    with citewell.open(tmp_path / "home") as opened:
        yield opened


def doubted(kb: KnowledgeBase, question: str) -> AuditRecord:
    """A record whose claim the verifier did not verify, sealed next to the others."""
    record = next(
        r for r in kb.audit.queries.every(query()) if r.user_query == question and r.user == "alice"
    )

    def not_supported(claim: Claim) -> Claim:
        verdict = msgspec.structs.replace(claim.verdict, status="UNSUPPORTED", proof=None, support=0.3)
        return msgspec.structs.replace(claim, verdict=verdict)

    claims = tuple(not_supported(claim) for claim in record.claims)
    made = msgspec.structs.replace(record, request_id="req_" + "d" * 24, claims=claims)
    SqliteLog(kb.home / "audit.sqlite").append(made)
    return made


def joined(kb: KnowledgeBase) -> AuditRecord:
    """A record that answers both questions at once, in two claims."""
    asked = [r for r in kb.audit.queries.every(query()) if r.user == "alice"]
    claims = tuple(claim for record in asked for claim in record.claims)
    made = msgspec.structs.replace(asked[0], request_id="req_" + "b" * 24, claims=claims)
    SqliteLog(kb.home / "audit.sqlite").append(made)
    return made


def query():  # type: ignore[no-untyped-def]
    from citewell.audit.question import AuditQuery

    return AuditQuery()


@pytest.mark.parametrize(("around", "words"), [(5, []), (30, ["Harbour"])])
def test_the_words_before_a_quote_are_whole(
    kb: KnowledgeBase, monkeypatch: pytest.MonkeyPatch, around: int, words: list[str]
) -> None:
    monkeypatch.setattr("citewell.evaluation.sampling.AROUND", around)
    first = next(item for item in draw(kb, n=10).items if "1856" in item.text)
    assert first.spans[0].before.split() == words


def test_a_sample_shows_claim_and_source_and_never_the_verdict(kb: KnowledgeBase) -> None:
    found = draw(kb, n=10)
    assert {item.question for item in found.items} == set(QUESTIONS)
    assert len(found.items) == found.population == 2
    first = next(item for item in found.items if item.question == QUESTIONS[0])
    assert "1856" in first.text
    assert first.spans[0].quote in HARBOUR
    text = kb.document(first.spans[0].document_id).text
    assert first.spans[0].before + first.spans[0].quote + first.spans[0].after in text
    shown = json.dumps(msgspec.to_builtins(found)).lower()
    for hidden in ("verified", "verdict", "support", "proof", "verbatim", "weight"):
        assert hidden not in shown


def test_the_same_seed_draws_the_same_and_seals_it_once(kb: KnowledgeBase) -> None:
    first, second = draw(kb, n=1, seed=3), draw(kb, n=1, seed=3)
    assert first == second
    assert [info.sample_id for info in samples(kb)] == [first.sample_id]
    assert open_sample(kb, first.sample_id).items == first.items
    assert draw(kb, n=2, seed=4).sample_id != first.sample_id


def test_drawing_is_a_read_on_record(kb: KnowledgeBase) -> None:
    from citewell.audit import EntryKind

    log = SqliteLog(kb.home / "audit.sqlite")
    before = len(list(log.entries(EntryKind.READ)))
    draw(kb, n=2)
    assert len(list(log.entries(EntryKind.READ))) > before


def test_labels_are_sealed_and_the_last_word_of_a_person_counts(kb: KnowledgeBase) -> None:
    found = draw(kb, n=2)
    item = found.items[0].item_id
    record_label(kb, found.sample_id, item, "not", by="rita")
    record_label(kb, found.sample_id, item, "supported", by="rita")
    told = agreement(kb)
    assert (told.n, told.unscored, told.people, told.raw) == (1, 0, 1, 1.0)
    assert told.kappa is None  # both only said yes: chance alone would agree
    assert [info.judged for info in samples(kb)] == [1]
    assert kb.log.check().ok


def test_cannot_tell_and_a_split_vote_are_unscored(kb: KnowledgeBase) -> None:
    found = draw(kb, n=2)
    first, second = (item.item_id for item in found.items)
    record_label(kb, found.sample_id, first, "cannot tell", by="rita")
    record_label(kb, found.sample_id, second, "supported", by="rita")
    record_label(kb, found.sample_id, second, "not", by="otto")
    told = agreement(kb)
    assert (told.n, told.unscored, told.people, told.raw, told.kappa) == (0, 2, 2, None, None)


def test_nothing_judged_is_not_measured(kb: KnowledgeBase) -> None:
    told = agreement(kb)
    assert (told.kappa, told.raw, told.n) == (None, None, 0)


def test_cohens_kappa_by_hand() -> None:
    """20 both, 5 verifier alone, 10 people alone, 15 neither: po .70, pe .50, kappa .40 (textbook case)."""
    kappa, raw = cohens_kappa([20, 5, 10, 15])
    assert raw == pytest.approx(0.70)
    assert kappa == pytest.approx(0.40)
    assert cohens_kappa([5, 0, 0, 5])[0] == 1.0
    assert cohens_kappa([0, 0, 0, 0]) == (None, None)
    assert cohens_kappa([7, 0, 0, 0]) == (None, 1.0)
    assert cohens_kappa([6, 2, 0, 0]) == (None, 0.75)  # always saying yes never beats chance


def test_rare_strata_are_looked_at_and_common_ones_not_forgotten() -> None:
    taken = _allotted({"common": 1000, "rare": 3, "single": 1}, 20)
    assert taken == {"common": 16, "rare": 3, "single": 1} or taken["rare"] >= 2
    assert sum(taken.values()) == 20
    assert taken["single"] == 1
    assert taken["common"] > 10
    assert sum(_allotted({"a": 2}, 50).values()) == 2
    assert _allotted({}, 5) == {}


def test_people_and_verifier_disagree_by_stratum(kb: KnowledgeBase) -> None:
    doubted(kb, QUESTIONS[0])
    found = draw(kb, n=10)
    assert len(found.items) == 3
    for item in found.items:
        record_label(kb, found.sample_id, item.item_id, "supported", by="rita")
    told = agreement(kb)
    assert told.raw == pytest.approx(2 / 3)
    assert sum(sum(row.values()) for row in told.table.values()) == 3
    assert any(name.startswith("UNSUPPORTED/none/") for name in told.table)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"answer": "maybe"}, "unknown answer"),
        ({"sample_id": "smp_none"}, "no sample"),
        ({"item_id": "x"}, "no item"),
    ],
)
def test_what_is_no_label_is_refused(kb: KnowledgeBase, change: dict[str, str], words: str) -> None:
    found = draw(kb, n=1)
    given = {"sample_id": found.sample_id, "item_id": found.items[0].item_id, "answer": "not"} | change
    with pytest.raises(UsageError, match=words):
        record_label(kb, **given)


def test_only_auditors_draw_and_judge(kb: KnowledgeBase) -> None:
    found = draw(kb, n=1)
    asker = kb.as_(Caller(user="bob"))
    for refused in (
        lambda: draw(asker),
        lambda: open_sample(asker, found.sample_id),
        lambda: record_label(asker, found.sample_id, found.items[0].item_id, "not"),
        lambda: agreement(asker),
        lambda: samples(asker),
    ):
        with pytest.raises(AccessError):
            refused()
    auditor = kb.as_(Caller(user="rita", roles=(Role.AUDITOR,)))
    record_label(auditor, found.sample_id, found.items[0].item_id, "partly")
    assert open_sample(auditor, found.sample_id).items[0].answered == "partly"
    assert open_sample(kb, found.sample_id).items[0].answered == ""


def test_an_auditor_draws_only_from_what_they_may_see(kb: KnowledgeBase) -> None:
    kb.share("papers/harbour.md", acl=["board"])
    auditor = kb.as_(Caller(user="rita", roles=(Role.AUDITOR,)))
    assert draw(auditor, n=10).items == ()
    assert len(draw(kb, n=10).items) == 2


def test_an_answer_is_drawn_with_all_its_claims_one_after_the_other(kb: KnowledgeBase) -> None:
    both = joined(kb).request_id
    for seed in range(8):
        names = [item.item_id for item in draw(kb, n=2, seed=seed).items]
        assert len({name.rpartition(".")[0] for name in names}) == 2
        there = [place for place, name in enumerate(names) if name.startswith(both)]
        assert len(there) in (0, 2)
        assert not there or there[1] == there[0] + 1


def test_a_sample_is_judged_at_the_terminal(kb: KnowledgeBase) -> None:
    result = run("--home", kb.home, "eval", "sample", "--by", "rita", typed="what\ns\nn\n")
    assert result.exit_code == 0, result.output
    assert "Type s, p, n, c or q." in result.output
    assert "They agree on 50.0%" in result.output
    assert "verified" not in result.output.lower().split("people and the verifier")[0]


def test_each_sample_is_counted_by_itself(kb: KnowledgeBase) -> None:
    """Judgements in another sample do not say how often this one would draw the item."""
    first, again = draw(kb, n=10, seed=1), draw(kb, n=10, seed=2)
    for item in first.items:
        record_label(kb, first.sample_id, item.item_id, "supported")
    assert agreement(kb).n == 0
    assert agreement(kb, sample_id=first.sample_id).n == 2
    assert [info.judged for info in samples(kb)] == [0, 2]
    record_label(kb, again.sample_id, again.items[0].item_id, "not")
    told = agreement(kb)
    assert (told.n, told.raw) == (1, 0.0)


def test_a_sample_counts_as_far_as_it_was_judged(kb: KnowledgeBase) -> None:
    run("--home", kb.home, "eval", "sample", "--by", "rita", typed="s\nq\n")
    assert agreement(kb).n == 1
    result = run("--home", kb.home, "eval", "sample", "--by", "rita", typed="s\n")
    assert "1 of 1" in result.output
    assert agreement(kb).n == 2
    other = run("--home", kb.home, "eval", "sample", "--by", "otto", typed="q\n")
    assert "1 of 2" in other.output
