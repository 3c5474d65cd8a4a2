"""From labelled data to a card in use: what it sets, what it cannot promise, when it is stale."""

from __future__ import annotations

import itertools
import json
import shutil
from pathlib import Path
from typing import Any

import msgspec
import pytest
from click.testing import Result
from typer.testing import CliRunner

import citewell
from citewell.cli import app
from citewell.core.config import Config, Verification
from citewell.core.errors import ConfigError
from citewell.core.records import AuditRecord, Proof
from citewell.evaluation.calibration.calibrating import CalibrationData, calibrate
from citewell.evaluation.calibration.promises import promise_units, scored_claims
from citewell.evaluation.cases import load_cases, load_labelled
from citewell.evaluation.results import read_run
from citewell.knowledge.home import KnowledgeBase
from citewell.models.fake import FakeEntailer
from citewell.verification.confidence.cards import PromiseOutcome, read_card, write_card

STALE = "the calibration card in use is stale"

HARBOUR = """# Harbour

The harbour of Lindau was opened in 1856 by the Bavarian railway.

The lighthouse has a clock that can be seen from the town.
"""


def run(*words: object) -> Result:
    return CliRunner().invoke(app, [str(word) for word in words])


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("calibrating")
    (folder / "papers").mkdir()
    (folder / "papers" / "harbour.md").write_text(HARBOUR)
    assert run("--home", folder / "home", "ingest", folder / "papers").exit_code == 0
    return folder / "home"


def pairs_file(path: Path, right: int, wrong: int) -> Path:
    """Claims in their source's words (each different), and claims that the source does not make."""
    names = ["".join(letters) for letters in itertools.product("klmnor", repeat=3)]
    lines: list[dict[str, object]] = []
    for name in names[:right]:
        sources = [f"Huber built the {name} clock."]
        lines.append({"claim": f"The {name} clock was built by Huber.", "sources": sources, "label": True})
    for name in names[:wrong]:
        sources = [f"There is a garden behind the {name} house."]
        lines.append({"claim": f"The {name} door is blue.", "sources": sources, "label": "unsupported"})
    path.write_text("\n".join(json.dumps(line) for line in lines))
    return path


# --- labelled claims ---------------------------------------------------------------------------------


def test_verbatim_and_entailed_claims_are_never_counted_together(tmp_path: Path) -> None:
    path = tmp_path / "set.jsonl"
    lines = [
        {"claim": "The sun was warm.", "sources": ["The sun was warm."], "label": True},
        {"claim": "The sun was warm.", "sources": ["Warm was the sun over Lindau."], "label": True},
        {"claim": "The moon is cheese.", "sources": ["Warm was the sun over Lindau."], "label": False},
        {"claim": "!!", "sources": ["Warm was the sun."], "label": False},
    ]
    path.write_text("\n".join(map(json.dumps, lines)))
    scored, unscored = scored_claims(load_labelled(path), FakeEntailer(), Verification())
    assert unscored == 1
    assert promise_units(scored, Proof.VERBATIM) == [[(1.0, True)]]
    entailed = promise_units(scored, Proof.ENTAILED)
    assert [[right for _, right in unit] for unit in entailed] == [[True], [False]]
    assert entailed[0][0][0] > 0.5 > entailed[1][0][0]


def test_a_unit_is_a_group_of_one_file_or_a_row_without_one(tmp_path: Path) -> None:
    """Group "1" is neither the row with that number nor group "1" of another file."""
    row = {"claim": "The sun was warm.", "sources": ["The sun was warm."], "label": True}
    rows = []
    for name in ("a.jsonl", "b.jsonl"):
        lines = [row | {"group": "1"}, row, row | {"group": 1}, row | {"group": 0}, row | {"group": 0}]
        (tmp_path / name).write_text("\n".join(map(json.dumps, lines)))
        rows += load_labelled(tmp_path / name)
    scored, _ = scored_claims(rows, FakeEntailer(), Verification())
    assert sorted(map(len, promise_units(scored, Proof.VERBATIM))) == [1, 1, 2, 2, 2, 2]


@pytest.mark.usefixtures("fake")
def test_the_same_labelled_claims_are_not_counted_twice(home: Path, tmp_path: Path) -> None:
    first, again = (pairs_file(tmp_path / name, 40, 0) for name in ("p.jsonl", "q.jsonl"))
    result = run("--home", home, "calibrate", first, again, "--out", tmp_path / "card.json")
    assert result.exit_code == 2
    assert "has the same content as p.jsonl" in result.output


def test_a_whole_answer_has_the_score_of_its_weakest_claim(tmp_path: Path) -> None:
    path = tmp_path / "set.jsonl"
    source = "The sun was warm. Boats left the harbour of Lindau at noon."
    lines = [
        {"answer": "The sun was warm. At noon boats left the harbour.", "sources": [source], "label": True},
        {"answer": "The sun was warm. The moon is cheese.", "sources": [source], "label": False},
    ]
    path.write_text("\n".join(map(json.dumps, lines)))
    scored, _ = scored_claims(load_labelled(path), FakeEntailer(), Verification())
    assert [claim.proof for claim in scored] == [Proof.ENTAILED, Proof.ENTAILED]
    assert scored[0].score > 0.5
    assert scored[1].score == 0.0


# --- the card, made and used ----------------------------------------------------------------------


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch) -> None:
    """The word entailer in place of the embedded one, for every home."""
    monkeypatch.setattr("citewell.models.naming.entailer_named", lambda line: FakeEntailer())


@pytest.mark.usefixtures("fake")
def test_pairs_set_the_support_threshold_and_nothing_else(home: Path, tmp_path: Path) -> None:
    out = tmp_path / "card.json"
    result = run("--home", home, "calibrate", pairs_file(tmp_path / "p.jsonl", 70, 30), "--out", out)
    assert result.exit_code == 0, result.output
    card = read_card(out)
    rows = {made.name: made for made in card.promises}
    assert rows["entailed"].outcome is PromiseOutcome.HOLDS
    assert (rows["entailed"].shown, rows["entailed"].errors, rows["entailed"].n) == (70, 0, 100)
    assert set(card.settings) == {"verification.support_threshold"}
    assert set(card.makers) == {"entailer", "verifier"}
    assert card.corpus is None
    assert "with 95% confidence: of the answers that show a claim as VERIFIED (entailed)" in result.output


@pytest.mark.usefixtures("fake")
def test_too_few_pairs_promise_nothing_and_say_so(home: Path, tmp_path: Path) -> None:
    out = tmp_path / "card.json"
    result = run("--home", home, "calibrate", pairs_file(tmp_path / "p.jsonl", 58, 3), "--out", out)
    assert result.exit_code == 3
    assert "entailed: no promise; the threshold stays 0.5" in result.output
    assert "59 without an error are needed" in result.output
    assert read_card(out).settings == {}


@pytest.mark.usefixtures("fake")
def test_whoever_verifies_names_the_card_and_says_when_it_is_stale(home: Path, tmp_path: Path) -> None:
    """Its threshold also decides there: for outside answers, over HTTP, and in judging a run."""
    shutil.copytree(home, tmp_path / "home")
    home, cases, page = tmp_path / "home", tmp_path / "cases.jsonl", tmp_path / "page.html"
    assert run("--home", home, "calibrate", pairs_file(tmp_path / "p.jsonl", 70, 30)).exit_code == 0
    card = read_card(home / "card.json").hash
    line = {"claim": "Boats left at noon.", "sources": ["At noon the boats left the old harbour."]}
    (tmp_path / "line.jsonl").write_text(json.dumps(line))
    cases.write_text(json.dumps({"id": "1", "question": "When was the harbour of Lindau opened?"}))

    (home / "citewell.toml").write_text('[confidence]\ncard = "card.json"\n')
    fresh = run("--home", home, "verify", "--jsonl", tmp_path / "line.jsonl")
    assert (card in fresh.stdout, STALE in fresh.output) == (True, False)
    # A verdict depends on the judge: no index is opened, nor a writer, which has no key here.
    keyless = home / "keyless"
    keyless.mkdir()
    shutil.copy(home / "card.json", keyless)
    (keyless / "citewell.toml").write_text('generator = "openai:m"\n[confidence]\ncard = "card.json"\n')
    alone = run("--home", keyless, "verify", "--jsonl", tmp_path / "line.jsonl")
    assert (alone.exit_code, card in alone.stdout, STALE in alone.output) == (0, True, False)
    assert sorted(path.name for path in keyless.iterdir()) == ["card.json", "citewell.toml"]

    stale = '[confidence]\ncard = "card.json"\n[verification]\nunsupported = "drop"\n'
    (home / "citewell.toml").write_text(stale)
    told = run("--home", home, "verify", "--jsonl", tmp_path / "line.jsonl")
    assert STALE in json.loads(told.stdout)["notes"][0]
    assert STALE in told.stderr
    with citewell.open(home) as kb:
        checked = json.loads(kb.verify_line(json.dumps(line)))
    assert STALE in checked["notes"][0]
    assert checked["claims"][0]["verdict"]["maker"]["card"] == card

    made = run("--home", home, "eval", "run", cases, "--out", tmp_path / "run.json", "--html", page)
    assert STALE in made.stderr
    assert STALE in page.read_text()
    held = read_run(tmp_path / "run.json")
    assert card in {maker.card for maker in held.makers}
    rules = tmp_path / "rules.toml"
    rules.write_text("[[rule]]\n[rule.measures]\nwrongly_answered = { min = 0.0 }\n")
    assert STALE in run("eval", "gate", tmp_path / "run.json", "--thresholds", rules).stderr


@pytest.mark.usefixtures("fake")
def test_borders_are_tried_on_the_claims_that_will_be_shown(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is promised about answers must be measured under the support threshold that will be in use."""
    tried: list[float] = []

    def rehearse(self: KnowledgeBase, question: str, **options: Any) -> AuditRecord:
        tried.append(self.config.verification.support_threshold)
        return real(self, question, **options)

    real = KnowledgeBase.rehearse
    monkeypatch.setattr(KnowledgeBase, "rehearse", rehearse)
    cases = tmp_path / "cases.jsonl"
    cases.write_text(json.dumps({"id": "1", "question": "What did the harbour cost?", "abstain": "nowhere"}))
    configured = Config(verification=Verification(support_threshold=0.8))
    with citewell.open(home, config=configured) as kb:
        calibrate(kb, CalibrationData(cases=load_cases(cases)))
        claims = load_labelled(pairs_file(tmp_path / "p.jsonl", 70, 30))
        card = calibrate(kb, CalibrationData(cases=load_cases(cases), claims=tuple(claims)))
    assert tried == [0.8, card.settings["verification.support_threshold"]]
    assert tried[1] != 0.8


@pytest.mark.usefixtures("fake")
def test_a_case_pasted_sixty_times_is_one_unit(home: Path, tmp_path: Path) -> None:
    """Under ids of their own they would make every promise: all that is known is one answer."""
    span = {"document": "papers/harbour.md", "quote": "opened in 1856 by the Bavarian railway"}
    case = {"question": "When was the harbour of Lindau opened?", "spans": [span]}
    cost = {"question": "What did the harbour cost?"}
    lines = [case | {"id": str(number)} for number in range(60)]
    lines += [cost | {"id": "a", "abstain": "no document says it"}, cost | {"id": "b", "expected": "a lot"}]
    lines.append(cost | {"id": "c", "abstain": "no document says it", "groups": ["board"]})
    path = tmp_path / "cases.jsonl"
    path.write_text("\n".join(map(json.dumps, lines)))
    with citewell.open(home) as kb:
        card = calibrate(kb, CalibrationData(cases=load_cases(path)))
    rows = {made.name: made for made in card.promises}
    assert "60 cases were repeats: one question, asked with the same groups, is one unit" in card.notes
    assert {name: rows[name].outcome for name in ("relevance", "answer", "partial")} == dict.fromkeys(
        ("relevance", "answer", "partial"), PromiseOutcome.TOO_SMALL
    )
    assert max(rows[name].n for name in ("relevance", "answer", "partial")) <= 3


@pytest.mark.usefixtures("fake")
def test_a_claim_pasted_is_one_unit_and_labels_that_differ_are_an_error(home: Path, tmp_path: Path) -> None:
    rows = [json.loads(line) for line in pairs_file(tmp_path / "p.jsonl", 10, 0).read_text().split("\n")]
    pasted = [row | {"group": str(copy)} for copy in range(10) for row in rows]
    pasted[-1] |= {"label": False, "claim": f" {pasted[-1]['claim']}"}
    path = tmp_path / "pasted.jsonl"
    path.write_text("\n".join(map(json.dumps, pasted)))
    result = run("--home", home, "calibrate", path, "--out", tmp_path / "card.json")
    card = read_card(tmp_path / "card.json")
    entailed = next(made for made in card.promises if made.name == "entailed")
    assert (result.exit_code, entailed.outcome) == (3, PromiseOutcome.TOO_SMALL)
    assert entailed.n == 1  # the first ten are one group
    assert entailed.errors == 1
    assert "90 labelled claims were repeats" in result.stderr


def test_nothing_labelled_is_a_usage_error(home: Path) -> None:
    assert run("--home", home, "calibrate").exit_code == 2


@pytest.mark.usefixtures("fake")
def test_what_an_overwritten_card_set_is_not_lost_in_silence(home: Path, tmp_path: Path) -> None:
    out = tmp_path / "card.json"
    claims = pairs_file(tmp_path / "p.jsonl", 70, 30)
    run("--home", home, "calibrate", claims, "--out", out)
    first = read_card(out)
    more = first.settings | {"retrieval.relevance_threshold": 0.7}
    write_card(msgspec.structs.replace(first, settings=more), out)
    again = run("--home", home, "calibrate", claims, "--out", out)
    assert "set retrieval.relevance_threshold too" in again.stderr
    assert read_card(out).settings == first.settings


@pytest.mark.slow
def test_cases_make_a_card_for_the_whole_pass_that_new_documents_make_stale(tmp_path: Path) -> None:
    (tmp_path / "papers").mkdir()
    (tmp_path / "papers" / "harbour.md").write_text(HARBOUR)
    home = tmp_path / "home"
    assert run("--home", home, "ingest", tmp_path / "papers").exit_code == 0
    cases = tmp_path / "cases.jsonl"
    span = {"document": "papers/harbour.md", "quote": "opened in 1856 by the Bavarian railway"}
    lines = [
        {"id": "1", "question": "When was the harbour of Lindau opened?", "spans": [span]},
        {"id": "2", "question": "What did the harbour cost?", "abstain": "no document says it"},
    ]
    cases.write_text("\n".join(map(json.dumps, lines)))
    with citewell.open(home) as kb:
        before = kb.audit.queries.counts(citewell_query()).total
    result = run("--home", home, "calibrate", cases)
    assert result.exit_code == 3, result.output
    card = read_card(home / "card.json")
    assert {made.name for made in card.promises} == {
        "relevance",
        "entailed",
        "numeric",
        "computed",
        "verbatim",
        "answer",
        "partial",
    }
    assert all(m.outcome in (PromiseOutcome.TOO_SMALL, PromiseOutcome.NOT_MEASURED) for m in card.promises)
    rows = {made.name: made for made in card.promises}
    # The one chunk is evidence for the first question, not for the second; the first answer is right.
    assert (rows["relevance"].n, rows["answer"].n, rows["answer"].errors) == (1, 1, 0)
    # That an answer is right does not say that its claims are supported, nor the reverse.
    assert rows["entailed"].outcome is rows["verbatim"].outcome is PromiseOutcome.NOT_MEASURED
    assert "cases say which answers are right, not which claims are supported" in result.output
    with citewell.open(home) as kb:
        assert kb.audit.queries.counts(citewell_query()).total == before  # nothing was asked on record

    (home / "citewell.toml").write_text('[confidence]\ncard = "card.json"\n')
    with citewell.open(home) as kb:
        assert kb.card_state().state == "fresh"
        answer = kb.ask("When was the harbour of Lindau opened?")
        assert answer.confidence.card == card.hash
        assert not any(note.startswith(STALE) for stage in answer.trace.stages for note in stage.notes)
        receipt = answer.receipt()
        assert receipt.answer["calibration_card"] == card.hash
    (tmp_path / "papers" / "mole.md").write_text("# Mole\n\nThe mole of Lindau is made of stone.\n")
    assert run("--home", home, "ingest", tmp_path / "papers").exit_code == 0
    with citewell.open(home) as kb:
        state = kb.card_state()
        assert (state.state, state.reasons) == ("stale", ("the documents changed",))
        stale = kb.ask("When was the harbour of Lindau opened?")
        record = kb.audit.record(stale.request_id)
    assert any(STALE in note for note in record.notes)
    assert "WARNING the calibration card" in run("--home", home, "ask", "When was the harbour opened?").output
    doctor = run("--home", home, "doctor")
    assert doctor.exit_code == 1
    assert "the documents changed" in doctor.output

    edited = (home / "card.json").read_text().replace('"n":1', '"n":2', 1)
    (home / "card.json").write_text(edited)
    with pytest.raises(ConfigError, match="was edited"):
        citewell.open(home)
    # A new card can still be made: the old one does not prevent it.
    assert run("--home", home, "calibrate", cases).exit_code == 3
    assert citewell.open(home).card_state().state == "fresh"


def citewell_query():  # type: ignore[no-untyped-def]
    from citewell.audit.question import AuditQuery

    return AuditQuery()
