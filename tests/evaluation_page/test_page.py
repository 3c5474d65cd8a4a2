"""The report page shows everything in a run, lets nothing in it act, and is self-contained."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest
from lxml import html

from citewell.core.display import InTables
from citewell.core.errors import UsageError
from citewell.core.records import Maker
from citewell.evaluation.comparing import Difference, compare
from citewell.evaluation.gating import Check, GateReport
from citewell.evaluation.probes.detectors import DetectorReport, DetectorResult
from citewell.evaluation.probes.faithfulness import FaithfulnessFinding, FaithfulnessReport, ProbedCitation
from citewell.evaluation.probes.poison import Poison
from citewell.evaluation.probes.poisoning import PoisoningReport, PoisoningRow
from citewell.evaluation.report import report, write_page
from citewell.evaluation.results import MeasureResult, Run, RunKey
from citewell.evaluation.sampling import HumanAgreement
from citewell.verification.confidence.cards import Card, Promise, PromiseOutcome

UNSTABLE = FaithfulnessFinding.UNSTABLE

Make = Callable[[str], Run]
ATTACK = "</style></script><script>alert(1)</script>\"'><img src=x onerror=alert(2)>{{ 7*7 }}{% raw %}"


def words(page: str) -> str:
    return re.sub(r"\s+", " ", html.document_fromstring(page).find("body").text_content())


def test_every_measure_stands_with_n_unscored_interval_and_maker(run_with: Make) -> None:
    rows = {
        row.xpath("string(th)"): [cell.text_content() for cell in row.xpath("td")]
        for row in html.document_fromstring(report(run_with(""))).xpath("//figure//tbody/tr")
    }
    assert rows["alce_recall"][1:] == ["0.50", "0.20 to 0.80", "2", "cases", "1", "higher", "e"]
    assert rows["consistency"][1:6] == ["not measured", "", "0", "cases", "4"]
    assert rows["tokens_total"][1:] == ["1234", "1000 to 1500", "2", "cases", "0", "lower", "tokenizer"]
    assert rows["latency retrieval"][1:4] == ["120 ms", "100 ms to 140 ms", "2"]


def test_a_case_goes_down_to_its_spans_and_its_record(run_with: Make) -> None:
    said = words(report(run_with("")))
    for shown in (
        "How do I rotate the signing key?",
        "with audit key rotate",
        "the span is cited",
        "Contradicted",
        "docs/keys.md, Keys [159:175]",
        "relevance 0.91",
        "citewell audit show req_1",
        "Confidence 0.91; every claim is verified",
        "the model is gone",
        "No answer: no document says",
        "Nobody said what a right answer is.",
    ):
        assert shown in said, shown


def test_the_report_names_things_as_the_pages_do(run_with: Make) -> None:
    run = run_with("")
    gap = MeasureResult(name="hallucination_gap", value=0.1, n=9)
    refused = msgspec.structs.replace(
        run.cases[3], decision="ABSTAIN", failure_reason="relevance_gate_failed"
    )
    said = words(report(msgspec.structs.replace(run, measures=(gap,), cases=(*run.cases[:3], refused))))
    for name in ("Unsupported share", "Not answered", "Answered in part", "No relevant passage was found"):
        assert name in said, name
    for raw in ("hallucination_gap", "ABSTAIN", "PARTIAL", "relevance_gate_failed"):
        assert raw not in said, raw


def test_a_notebook_shows_a_run_and_a_comparison(run_with: Make) -> None:
    run = run_with("")
    for shown in (run._repr_html_(), str(run)):
        for said in ("Evaluation of 4 cases", "not judged", "alce_recall", "0.20 to 0.80", "not measured"):
            assert said in shown, said
    assert '<td><b style="color:#2f8f57">right</b></td>' in run._repr_html_()
    assert "<script" not in run_with(ATTACK)._repr_html_()
    worse = tuple(msgspec.structs.replace(case, right=False) for case in run.cases)
    found = compare(run, msgspec.structs.replace(run, cases=worse))
    values = {"before": 0.9, "after": 0.4, "difference": -0.5, "low": -0.7, "high": -0.3}
    one = Difference(name="f1", n=9, says="worse", **values)
    found = msgspec.structs.replace(found, measures=(one,))
    assert '<td><b style="color:#d2495a">worse</b></td>' in found._repr_html_()
    for shown in (found._repr_html_(), str(found)):
        for said in (
            "4 cases in both runs",
            "-0.500",
            "-0.700 to -0.300",
            "Answered, right",
            "Answered, wrong",
        ):
            assert said in shown, said


def test_a_notebook_shows_every_result_of_an_evaluation() -> None:
    share = MeasureResult(name="caught", value=0.5, n=8, low=0.2, high=0.8)
    detector = DetectorResult(detector="verifier", border=0.5, caught=share, alarms=share)
    cell = PoisoningRow(
        poison=Poison.FLOOD,
        count=3,
        defences="all",
        set_aside=1,
        **dict.fromkeys(("accuracy", "misled", "silently", "abstained"), share),
        **dict.fromkeys(("citation_precision", "clean_citations"), share),
    )
    probed = ProbedCitation(
        sample="1", claim="It opened.", source="a.md", sentence="", reason="gone", finding=UNSTABLE
    )
    table = {"VERIFIED/verbatim/high": {"supported": 7, "partly": 1}}
    labels = {"kappa": 0.7, "low": 0.5, "high": 0.9, "raw": 0.9, "n": 8, "unscored": 0, "people": 1}
    checks = (
        Check(measure="hallucination_gap", holds=False, reason="0.5"),
        Check(measure="f1", holds=True, reason="0.9"),
    )
    promise = Promise(
        **dict.fromkeys(("name", "says", "unit"), "support"),
        **dict.fromkeys(("threshold", "alpha", "rate", "coverage"), 0.1),
        **dict.fromkeys(("n", "shown", "errors"), 40),
        bound=0.2,
        outcome=PromiseOutcome.HOLDS,
    )
    card = Card(
        **dict.fromkeys(("format", "made_at", "citewell", "config_hash"), ""),
        **{name: {} for name in ("makers", "prompts", "config", "settings")},
        alpha=0.1,
        confidence=0.95,
        corpus=None,
        labelled=(),
        promises=(promise,),
        weighing=None,
    )
    shown: list[tuple[InTables, tuple[str, ...]]] = [
        (GateReport(ok=False, checks=checks), ("1 of 2 thresholds met", "Unsupported share", "not met")),
        (HumanAgreement(table=table, **labels), ("kappa 0.70 (0.50 to 0.90), n = 8", "partly")),
        (DetectorReport(data="d", n=9, supported=4, detectors=(detector,)), ("9 claims", "verifier")),
        (
            PoisoningReport(cells=(cell,), cases=2, left_out=(), makers=()),
            ("2 cases probed", "flood", "0.50 0.20 to 0.80", "Clean citations"),
        ),
        (
            FaithfulnessReport(
                subject=Maker(name="w"), measures=(share,), citations=(probed,), samples=1, calls=3
            ),
            ("Faithfulness of w", "caught", "unstable", "It opened."),
        ),
        (card, ("Calibration card sha256:", "10.0%, at most 20.0%", "holds")),
    ]
    for one, words_of in shown:
        for form in (one._repr_html_(), str(one)):
            for said in words_of:
                assert said in form, said
    assert '<b style="color:#d2495a">not met</b>' in shown[0][0]._repr_html_()


def test_how_many_cases_a_person_has_reviewed_stands_with_what_the_figures_hold_for(run_with: Make) -> None:
    run = run_with("")
    assert f"0 of {len(run.cases)} cases" in words(report(run))
    signed = (msgspec.structs.replace(run.cases[0], reviewed="rita"), *run.cases[1:])
    assert f"1 of {len(run.cases)} cases" in words(report(msgspec.structs.replace(run, cases=signed)))


def test_cited_and_expected_spans_are_marked_in_the_passage(run_with: Make) -> None:
    found = html.document_fromstring(report(run_with(""))).xpath("//details[@class='passage']//mark")
    assert [(mark.get("class"), mark.text) for mark in found] == [
        ("expected", "Rotate it"),
        ("cited", "audit key rotate"),
    ]


def test_what_went_wrong_comes_first(run_with: Make) -> None:
    tree = html.document_fromstring(report(run_with("")))
    classes = [case.get("class").split()[1] for case in tree.xpath("//details[starts-with(@class, 'case')]")]
    assert classes == ["wrong", "error", "unknown", "right"]


def test_each_filter_has_its_rule_and_each_rule_a_class(run_with: Make) -> None:
    page = report(run_with(""))
    tree = html.document_fromstring(page)
    used = {name for case in tree.xpath("//details[@id]") for name in case.get("class").split()}
    for button in tree.xpath("//input/@id"):
        name = button.partition("-")[2]
        if name != "all":
            assert f":has(#{button}:checked)" in page
            assert name in used


def test_nothing_in_a_run_becomes_markup(run_with: Make) -> None:
    page = report(run_with(ATTACK))
    tree = html.document_fromstring(page)
    assert not tree.xpath("//script | //img | //iframe | //link | //*[@onerror]")
    assert len(tree.xpath("//style")) == 1
    assert "49" not in words(page)
    # Every text of the plain page has the attack appended, so nothing was omitted instead of escaped.
    assert words(page).count("{{ 7*7 }}") >= 50


def test_the_page_asks_for_nothing_and_its_policy_allows_only_its_own_style(run_with: Make) -> None:
    page = report(run_with(""))
    style = re.search(r"<style>(.*?)</style>", page, flags=re.S)[1]  # type: ignore[index]
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    assert f"default-src 'none'; style-src 'sha256-{digest}'" in page.replace("&#39;", "'")
    assert not re.search(r"(src|href)=\"(?!#)|url\(|@import|\sstyle=", page)


def test_the_same_run_gives_the_same_file(run_with: Make, tmp_path: Path) -> None:
    write_page(run_with("x"), tmp_path / "a.html")
    write_page(run_with("x"), tmp_path / "deep" / "b.html")
    assert (tmp_path / "a.html").read_bytes() == (tmp_path / "deep" / "b.html").read_bytes()


def test_half_characters_do_not_stop_the_file(run_with: Make, tmp_path: Path) -> None:
    write_page(run_with("\ud800"), tmp_path / "a.html")
    assert "signing key?" in (tmp_path / "a.html").read_text(encoding="utf-8")


def test_an_empty_run_says_so() -> None:
    said = words(report(Run(key=RunKey(cases="sha256:none"))))
    assert "The run has no cases." in said
    assert "Nothing measured yet." in said


def test_a_file_that_cannot_be_written_is_one_error(run_with: Make, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match="cannot be written"):
        write_page(run_with(""), tmp_path / "file" / "a.html")
