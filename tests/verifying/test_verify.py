"""``citewell.verify``: any answer, any sources, no home."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
import time
import tomllib
from collections.abc import Sequence
from pathlib import Path

import msgspec
import pytest
from benchmarks.install import NEEDED
from hypothesis import given, settings
from hypothesis import strategies as st
from packaging.requirements import Requirement

from citewell.answering.verifying import VerifyReport, verify, verify_json_line
from citewell.core.errors import AbandonedError, UsageError
from citewell.core.metering import Meter, metered
from citewell.core.records import Cited, Claim, Entailment, Failure, Kind, Quote, Status
from citewell.models.fake import FakeEntailer, HashEmbedder

ROOT = Path(__file__).parents[2]
NIKE = {
    "id": "nike",
    "text": "Nike reported revenue of $5,120 million in 2018. Nike bought Converse in 2003.",
}
ADIDAS = {"id": "adidas", "text": "Adidas sold Reebok in 2021."}
MODELS = {"entailer": FakeEntailer(), "embedder": HashEmbedder()}


def check(answer: str, *sources: object, **options: object) -> VerifyReport:
    return verify(answer, sources or (NIKE, ADIDAS), **MODELS, **options)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "marker",
    [
        "[1]",
        "[src:nike]",
        "[SOURCE_1]",
        "[nike]",
        "\u30101:0\u2020nike\u3011",
        "[src: nike]",
        "[src:nike,SOURCE_1]",
    ],
)
def test_markers_of_every_form_find_their_source(marker: str) -> None:
    found = check(f"Nike bought Converse in 2003 {marker}.")
    (claim,) = found.claims
    assert claim.verdict.status is Status.VERIFIED
    assert [(c.document_id, c.mode) for c in claim.citations] == [("nike", "generated")]


def test_one_marker_may_name_two_sources_and_an_inference_none() -> None:
    (claim,) = check("Nike bought Converse in 2003 [src:nike,adidas].").claims
    assert [c.document_id for c in claim.citations] == ["nike", "adidas"]
    (inferred,) = check("Nike bought Converse in 2003 [inference].").claims
    assert inferred.kind is Kind.INFERENCE


def test_an_inference_that_shows_no_ground_is_part_of_what_must_be_supported() -> None:
    fact = "Nike bought Converse in 2003 [nike]."
    assert check(fact).supported == 1.0
    assert check(f"{fact} The drug cures cancer in children [inference].").supported < 0.5  # type: ignore[operator]
    reasoned = check(f"{fact} Nike will surely prosper [inference: it bought a rival].")
    assert reasoned.supported == 1.0
    assert reasoned.claims[1].reasoning == "it bought a rival"
    assert reasoned.status is not Status.VERIFIED


@pytest.mark.parametrize(
    "answer",
    [
        "Nike was convicted of fraud, for these reasons:\n- Nike bought Converse in 2003 [nike].",
        "## Nike went bankrupt\n\nNike bought Converse in 2003 [nike].",
        "Nike bought Converse in 2003 [nike].\n\nSources:\n[nike] a.pdf\n\n# End\nThe drug is safe.",
        "Nike bought Converse in 2003 [nike]. Did you know that Nike was convicted of fraud?",
        "```python\nThe drug is safe for children.\n```\nNike bought Converse in 2003 [nike].",
    ],
)
def test_no_fact_hides_in_the_form_of_an_answer(answer: str) -> None:
    found = check(answer)
    assert len(found.claims) == 2
    assert found.status is not Status.VERIFIED
    assert not found.report.all_grounded


BOUGHT = {
    "evidence": [{"source": "SOURCE_1", "quote": "bought Converse in 2003"}],
    "kind": "cited",
    "reasoning": "",
    "part": 1,
    "claim": "Nike bought Converse in 2003.",
}


def test_the_structured_form_is_read_as_claims_with_their_quotes() -> None:
    sold = {
        "evidence": [{"source": "adidas", "quote": "sold Reebok"}],
        "claim": 'Adidas sold "Reebok" \u00e9.',
    }
    whole = json.dumps({"claims": [BOUGHT, sold], "missing": ["the price"]})
    for answer in (whole, f"```json\n{whole}\n```"):
        found = check(answer)
        first, second = found.claims
        assert first.verdict.status is Status.VERIFIED
        assert [(c.document_id, c.quote) for c in first.citations] == [("nike", "bought Converse in 2003")]
        assert answer[first.answer_start : first.answer_end] == BOUGHT["claim"]
        assert answer[second.answer_start : second.answer_end] == 'Adidas sold \\"Reebok\\" \\u00e9.'
        assert (found.report.total_citations, found.report.uncited_sources) == (2, ())


def test_a_quote_of_the_structured_form_that_no_source_has_is_broken() -> None:
    false = BOUGHT | {"evidence": [{"source": "SOURCE_1", "quote": "bought Converse for nothing"}]}
    lost = BOUGHT | {"evidence": [{"source": "SOURCE_7", "quote": "bought Converse in 2003"}]}
    found = check(json.dumps({"claims": [false, lost], "missing": []}))
    assert [claim.verdict.status for claim in found.claims] == [Status.BROKEN, Status.BROKEN]
    assert found.report.invalid_citations == ("SOURCE_7",)


def test_what_the_structured_form_states_is_a_claim_whatever_it_looks_like() -> None:
    bare = {"evidence": [{"source": "nike", "quote": "$5,120 million"}], "claim": "$5,120 million"}
    asked = {"evidence": [], "claim": "Did Nike fly to Mars? It did."}
    assert [c.text for c in check(json.dumps({"claims": [bare, asked]})).claims] == [
        "$5,120 million",
        "It did.",
    ]


@pytest.mark.parametrize("cut", [1, 20, 60])
def test_an_object_that_is_not_whole_never_passes(cut: int) -> None:
    whole = json.dumps({"claims": [BOUGHT, BOUGHT], "missing": []})
    assert not check(whole[:-cut]).report.all_grounded
    assert not check(json.dumps({"claims": [BOUGHT, {"claim": 7}]})).report.all_grounded
    assert not check(whole + " Nike flew to Mars.").report.all_grounded


def test_citations_are_counted_as_they_stand() -> None:
    both = check("Nike bought Converse in 2003 and Nike reported revenue of $5,120 million in 2018 [1][2].")
    assert both.report.total_citations == 2
    listed = check("Nike bought Converse in 2003 [1, 2].\n\nReferences:\n[1] Nike\n[2] Adidas")
    assert listed.report.total_citations == 2


def test_a_source_that_carries_nothing_is_not_carried_by_another() -> None:
    found = check("Nike bought Converse in 2003 [1][2].")
    (claim,) = found.claims
    assert claim.verdict.status is Status.VERIFIED
    assert [c.verdict.status for c in claim.citations if c.verdict] == [Status.VERIFIED, Status.UNSUPPORTED]
    assert [check.source for check in found.report.grounding_failures] == ["adidas"]
    assert not found.report.all_grounded


def test_sources_that_carry_a_sentence_only_together_say_so() -> None:
    class Both(FakeEntailer):
        def entail(self, pairs: Sequence[tuple[str, str]]) -> list[Entailment]:
            return [
                Entailment(entailment=p, neutral=1 - p, contradiction=0.0)
                for p in (0.95 if "Hill" in text and "Dale" in text else 0.01 for text, _ in pairs)
            ]

    found = verify(
        "A path joins them [1][2].",
        ["From the Hill a path runs.", "The Dale has that path."],
        entailer=Both(),
        embedder=HashEmbedder(),
    )
    assert found.claims[0].verdict.status is Status.VERIFIED
    assert [check.verdict for check in found.report.grounding_checks] == [Status.VERIFIED] * 2
    assert all("only together with" in check.reason for check in found.report.grounding_checks)
    assert found.report.all_grounded


def test_a_check_names_the_sentence_and_takes_its_worst_part() -> None:
    sentence = "Nike bought Converse in 2003 and Nike flew to Mars"
    (one,) = check(f"{sentence} [1].").report.grounding_checks
    assert one.sentence == f"{sentence}."
    assert one.verdict is Status.UNSUPPORTED


def test_the_report_counts_what_the_answer_cites() -> None:
    found = check("Nike bought Converse in 2003 [1]. Nike flew to Mars [1]. It ended [9].").report
    assert (found.total_citations, found.unique_sources_cited, found.total_sources_available) == (3, 1, 2)
    assert found.uncited_sources == ("adidas",)
    assert found.invalid_citations == ("9",)
    assert len(found.grounding_checks) == 3
    assert len(found.grounding_failures) == 2
    assert not found.all_grounded


def test_a_check_shows_the_cheap_signals_beside_the_verdict() -> None:
    (one,) = check("Nike bought Converse in 2013 [1].").report.grounding_checks
    assert one.word_overlap == 0.75
    assert one.embedding_similarity is not None
    assert one.verdict is Status.CONTRADICTED


@pytest.mark.parametrize(
    "answer",
    [
        "",
        "   ",
        "What?",
        "The available sources do not contain enough information to answer this question reliably.",
    ],
)
def test_nothing_to_check_is_not_a_pass(answer: str) -> None:
    found = check(answer)
    assert (found.claims, found.supported, found.hallucination_gap) == ((), None, None)
    assert not found.report.all_grounded
    assert found.status is Status.UNCHECKED


def test_no_sources_leave_everything_unchecked() -> None:
    found = verify("Nike bought Converse in 2003 [1].", [], **MODELS)  # type: ignore[arg-type]
    assert found.report.invalid_citations == ("1",)
    assert not found.report.all_grounded


def test_an_answer_without_markers_is_cited_post_hoc() -> None:
    found = check("Adidas sold Reebok in 2021. Nike bought Converse in 2003.")
    assert [[c.document_id for c in claim.citations] for claim in found.claims] == [["adidas"], ["nike"]]
    assert {c.mode for claim in found.claims for c in claim.citations} == {"post-hoc"}
    assert found.report.total_citations == 0
    assert found.report.all_grounded


def test_a_true_claim_at_the_wrong_source_is_misattributed_not_moved() -> None:
    (claim,) = check("Adidas sold Reebok in 2021 [nike].").claims
    assert (claim.verdict.status, claim.verdict.failure) == (Status.UNSUPPORTED, Failure.MISATTRIBUTED)
    assert [c.document_id for c in claim.citations] == ["nike"]


def test_supported_is_the_least_of_the_claims() -> None:
    good, bad = (
        check("Nike bought Converse in 2003."),
        check("Nike bought Converse in 2003. Nike flew to Mars."),
    )
    assert good.supported == 1.0
    assert bad.supported is not None
    assert bad.supported < 0.5


def test_one_claim_is_judged_whole_and_its_brackets_are_text() -> None:
    text = "Nike bought Converse in 2003 and Adidas sold Reebok in 2021"
    found = check(text, one_claim=True)
    assert [claim.text for claim in found.claims] == [text]


def test_every_span_is_the_source_and_every_claim_lies_in_the_answer() -> None:
    answer = "**Nike** bought Converse in 2003 [1]; Adidas sold Reebok in 2021 [2]."
    for claim in check(answer).claims:
        assert 0 <= claim.answer_start < claim.answer_end <= len(answer)
        for citation in claim.citations:
            text = {"nike": NIKE, "adidas": ADIDAS}[citation.document_id]["text"]
            assert text[citation.start : citation.end] == citation.quote


def test_sources_may_be_texts_pairs_or_mappings() -> None:
    found = check("It grew.", "It grew.", ("x", "It fell."), {"id": "y", "text": "It slept."})
    assert found.report.uncited_sources == ("1", "x", "y")


@pytest.mark.parametrize("sources", [[NIKE, NIKE], [3], [{"id": "x"}]])
def test_sources_that_cannot_be_told_apart_or_read_are_refused(sources: list[object]) -> None:
    with pytest.raises(UsageError):
        check("It grew.", *sources)


def test_one_json_line_in_one_out() -> None:
    line = json.dumps(
        {
            "id": 7,
            "question": "What?",
            "answer": "Nike bought Converse in 2003 [1].",
            "sources": [NIKE, "x y z"],
        }
    )
    found = json.loads(verify_json_line(line, **MODELS))
    assert list(found) == ["id", "claims", "supported", "hallucination_gap", "report", "notes"]
    assert (found["id"], found["supported"], found["hallucination_gap"]) == (7, 1.0, 0.0)
    assert msgspec.convert(found["claims"], tuple[Claim, ...])[0].verdict.status is Status.VERIFIED
    assert set(found["report"]) == {
        "total_citations",
        "unique_sources_cited",
        "total_sources_available",
        "uncited_sources",
        "invalid_citations",
        "grounding_checks",
        "grounding_failures",
        "all_grounded",
    }


def test_a_claim_line_is_one_claim() -> None:
    line = json.dumps(
        {"id": "c", "claim": "Adidas sold Reebok in 2021. Nike bought Converse.", "sources": [NIKE, ADIDAS]}
    )
    assert len(json.loads(verify_json_line(line, **MODELS))["claims"]) == 1


def test_a_line_may_give_its_sources_as_one_mapping_and_leave_members_null() -> None:
    sources = {source["id"]: source["text"] for source in (NIKE, ADIDAS)}
    line = {"answer": "Nike bought Converse in 2003 [nike].", "claim": None, "sources": sources}
    (claim,) = json.loads(verify_json_line(json.dumps(line), **MODELS))["claims"]
    assert (claim["verdict"]["status"], claim["citations"][0]["document_id"]) == ("VERIFIED", "nike")


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("{", "not a JSON object"),
        (b'{"claim": "\xff"}', "not a JSON object"),
        ("[]", "not a JSON object"),
        ('{"id": 1}', 'it has no "answer" and no "claim"'),
        ('{"sources": ["x"]}', 'it has no "answer" and no "claim"'),
        ('{"answer": "x"}', 'it has no "sources"'),
        ('{"answer": "x", "claim": "y", "sources": []}', 'it has both "answer" and "claim"'),
        ('{"answer": 3, "sources": []}', "the answer is not text"),
        ('{"answer": "x", "question": 3, "sources": []}', "the question is not text"),
        ('{"answer": "x", "sources": "y"}', "single source"),
        ('{"answer": "x", "sources": {"id": "a", "text": "y"}}', "single source"),
        ('{"answer": "x", "sources": {"a": 3}}', "source 1 is not text"),
        ('{"answer": "x", "sources": 3}', "sources is neither a list nor a mapping"),
        ('{"answer": "x", "sources": [], "extra": 1}', "unknown keys"),
    ],
)
def test_a_line_of_another_shape_is_refused_for_what_is_wrong_with_it(line: str, why: str) -> None:
    with pytest.raises(UsageError, match=why):
        verify_json_line(line, **MODELS)


DEEP = "[" * 5_000 + "]" * 5_000


def test_a_line_that_is_nested_too_deeply_is_refused() -> None:
    with pytest.raises(UsageError, match="not a JSON object: maximum recursion depth"):
        verify_json_line(f'{{"answer": "x", "sources": {DEEP}}}', **MODELS)


def test_an_object_that_is_nested_too_deeply_is_no_claims_and_never_passes() -> None:
    for answer in (f'{{"claims": {DEEP}}}', f'{{"claims": [{{"claim": "x", "evidence": {DEEP}}}]}}'):
        assert not check(answer).report.all_grounded


def test_what_is_no_text_is_refused_and_not_a_crash() -> None:
    for answer, sources, question in (
        (5, ["x"], None),
        (None, ["x"], None),
        ("x", None, None),
        ("x", 5, None),
        ("x", [5], None),
        ("x", ["x"], 5),
        ("It grew \ud800.", ["x"], None),
        ("x", ["x"], "\ud800?"),
    ):
        with pytest.raises(UsageError):
            verify(answer, sources, question, **MODELS)  # type: ignore[arg-type]


ALONE = r"""
import sys
from importlib.machinery import BuiltinImporter, FrozenImporter, PathFinder

class Listed:
    @staticmethod
    def find_spec(name, path=None, target=None):
        known = {"citewell", *sys.argv[1:]} | sys.stdlib_module_names
        return PathFinder.find_spec(name, path, target) if name.partition(".")[0] in known else None

sys.meta_path[:] = [BuiltinImporter, FrozenImporter, Listed]
import citewell

table = "| year | capex |\n|---|---|\n| 2017 | 1,373 |\n| 2018 | 1,577 |"
structured = '{"claims": [{"evidence": [{"source": "1", "quote": "fell in 2018"}], "claim": "Capex fell."}]}'
for answer, source in (
    ("It opened in 2014 [1]. It closed in 2019 [1].", "The office opened in 2014 and closed in 2020."),
    ("Capex was 1,577 in 2018. It was “up 15%”.", table),
    (structured, "Capex fell in 2018."),
    ("Das Büro wurde 2014 eröffnet.", "Das neue Büro wurde im Jahr 2014 eröffnet."),
):
    found = citewell.verify(answer, [source], "What is said of the office?")
    print(*(claim.verdict.status for claim in found.claims))
    assert all(check.embedding_similarity is not None for check in found.report.grounding_checks)
"""


def test_a_check_imports_no_package_that_its_installation_lacks() -> None:
    words = [sys.executable, "-c", ALONE, *NEEDED]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.stdout.split("\n")[0] == "VERIFIED CONTRADICTED", done.stderr
    assert done.returncode == 0, done.stderr


def test_the_documented_installation_is_what_a_check_needs_within_our_bounds() -> None:
    page = (ROOT / "docs/verify.md").read_text()
    (command,) = re.findall(r"^\$ pip install --no-deps citewell (.*)$", page, flags=re.M)
    documented = {one.name: str(one.specifier) for one in map(Requirement, shlex.split(command))}
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    bounds = {
        one.name: next(str(bound) for bound in one.specifier if bound.operator == "<")
        for one in map(Requirement, project["dependencies"])
    }
    assert documented == {name: bounds.get(name, "") for name in NEEDED}


@settings(deadline=None, max_examples=40)
@given(
    st.lists(
        st.sampled_from(
            [
                "Nike ",
                "bought ",
                "Converse ",
                "in 2003",
                ". ",
                "[1]",
                "[7]",
                "\n- ",
                "not ",
                "\u201c",
                "\u201d",
            ]
        ),
        max_size=14,
    ).map("".join),
    st.lists(st.sampled_from([NIKE["text"], ADIDAS["text"], "", "x\ty\n1\t2"]), max_size=3),
)
def test_any_answer_gets_a_report(answer: str, sources: list[str]) -> None:
    found = verify(answer, sources, **MODELS)  # type: ignore[arg-type]
    assert found.supported is None or 0.0 <= found.supported <= 1.0
    for claim in found.claims:
        assert claim.verdict.reason
        for citation in claim.citations:
            if citation.start >= 0:
                assert int(citation.document_id) <= len(sources)


def test_sources_may_be_one_mapping_of_ids_to_texts() -> None:
    found = verify("Adidas sold Reebok in 2021 [b].", {"a": NIKE["text"], "b": ADIDAS["text"]}, **MODELS)
    assert [c.document_id for c in found.claims[0].citations] == ["b"]
    assert found.claims[0].verdict.status is Status.VERIFIED


@pytest.mark.parametrize("single", [NIKE["text"], NIKE, {"text": "One."}])
def test_a_single_source_that_is_no_list_is_an_error_not_its_letters_or_keys(single: object) -> None:
    with pytest.raises(UsageError, match="single source"):
        verify("Nike bought Converse in 2003.", single, **MODELS)  # type: ignore[arg-type]


# --- what a claim refers to --------------------------------------------------------------------------

FOUNDERS = "Its founders were Ann Lee and Bob Day."
ACME = {"id": "acme", "text": "Acme Inc. was founded in 1990. It makes shoes."}
BETA = {"id": "beta", "text": f"Beta Corp. makes hats. {FOUNDERS}"}


def test_a_sentence_about_another_firm_carries_no_pronoun() -> None:
    prose = f"Acme Inc. was founded in 1990 [acme]. {FOUNDERS[:-1]} [beta]."
    stated = json.dumps(
        {
            "claims": [
                {
                    "claim": ACME["text"].split(" It")[0],
                    "evidence": [{"source": "acme", "quote": "founded in 1990"}],
                },
                {
                    "claim": FOUNDERS,
                    "evidence": [{"source": "beta", "quote": "founders were Ann Lee and Bob Day"}],
                },
            ]
        }
    )
    for answer in (prose, stated):
        first, second = check(answer, ACME, BETA).claims
        assert first.verdict.status is Status.VERIFIED
        assert (second.text, second.verdict.status) == (FOUNDERS, Status.UNSUPPORTED)
        assert "about “Beta Corp”, not about “Acme Inc”" in second.verdict.reason


def test_two_sources_about_another_firm_carry_it_neither_alone_nor_together() -> None:
    found = check(f"Acme Inc. was founded in 1990 [acme]. {FOUNDERS[:-1]} [src:beta,acme].", ACME, BETA)
    assert found.claims[1].verdict.status is Status.UNSUPPORTED
    assert {one.verdict for one in found.report.grounding_checks[1:]} == {Status.UNSUPPORTED}
    assert found.supported is not None
    assert found.supported < 0.5


def test_a_sentence_about_another_firm_denies_nothing_either() -> None:
    beta = {"id": "beta", "text": "Beta Corp. makes hats. Its stores were not closed in 2003."}
    _, second = check(
        "Acme Inc. was founded in 1990. Its stores were closed in 2003 [beta].", ACME, beta
    ).claims
    assert second.verdict.status is Status.UNSUPPORTED


def test_the_firm_itself_carries_a_pronoun_and_so_does_a_text_without_names() -> None:
    own = {"id": "own", "text": f"Acme Inc. makes shoes. {FOUNDERS}"}
    bare = {"id": "bare", "text": FOUNDERS}
    for source in (own, bare):
        _, second = check(f"Acme Inc. was founded in 1990 [acme]. {FOUNDERS}", ACME, source).claims
        assert (second.text, second.verdict.status) == (FOUNDERS, Status.VERIFIED)


def test_an_antecedent_supports_nothing() -> None:
    answer = "Acme Inc. opened stores in Leeds and Rome. It has stores in Leeds and Rome."
    assert {claim.verdict.status for claim in check(answer, ACME).claims} == {Status.UNSUPPORTED}


@pytest.mark.parametrize(
    ("answer", "sources", "question", "told"),
    [
        ("Nike grew.", ["Nike grew."], "x" * 20_001, "the question has 20001 characters"),
        ("Nike grew.", ["Nike grew."] * 1_001, "", "more than 1,000 sources"),
        ("[1-200]" * 100, ["Nike grew."], "", "more than 10,000 citations"),
        (
            "Nike grew 3%.\n\n" * 201,
            [f"Nike {n} grew." for n in range(100)],
            "",
            "201 claims against 100 sources",
        ),
        ("Nike grew 3%.\n\n" * 300, ["Nike grew. " * 7_000], "", "300 claims against 1 sources of"),
    ],
)
def test_more_than_can_be_checked_at_once_is_refused_before_the_work(
    answer: str, sources: list[str], question: str, told: str
) -> None:
    class Unasked(FakeEntailer):
        def entail(self, pairs: Sequence[tuple[str, str]]) -> list[Entailment]:
            raise AssertionError("nothing is to be judged")

    with pytest.raises(UsageError, match=told):
        verify(answer, sources, question, entailer=Unasked(), embedder=MODELS["embedder"])  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["a\nb", "a\u202eb", "a\x1bb", "a\u2028b"])
def test_an_id_with_unseen_characters_is_refused(name: str) -> None:
    with pytest.raises(UsageError, match=r"cannot be used: character \d+ is U"):
        check("Nike grew.", {"id": name, "text": "Nike grew."})


def test_a_check_against_one_long_source_ends_soon_after_nobody_waits_for_it() -> None:
    began = time.process_time()
    gone = Meter(lambda: "nobody waits" if time.process_time() - began > 0.5 else "")
    with metered(gone), pytest.raises(AbandonedError):
        verify("It was 5 million. [1]", ["1 " * 150_000], entailer=FakeEntailer(), embedder=HashEmbedder())
    assert time.process_time() - began < 3


def _cited(number: int) -> Cited:
    return Cited(answer_start=0, answer_end=3, quote=Quote(source="1", text=f"word {number} is not there"))


@pytest.mark.parametrize(
    ("answer", "citations", "size"),
    [
        ("It sails at noon. " * 5, [_cited(n) for n in range(10_001)], 100),
        (
            json.dumps(
                {"claims": [{"claim": "It sails.", "evidence": [{"source": "1", "quote": "a"}] * 10_001}]}
            ),
            [],
            100,
        ),
        ("It sails at noon.", [_cited(n) for n in range(300)], 1_000_000),
        ("It sails at noon. " * 300, [], 100_000),
    ],
    ids=["citations given", "citations of an object", "quotes to search for", "claims to read"],
)
def test_more_citations_than_can_be_looked_up_are_refused_before_the_work(
    answer: str, citations: list[Cited], size: int
) -> None:
    began = time.process_time()
    with pytest.raises(UsageError, match=r"citations|too much"):
        verify(
            answer, ["The ferry sails. " * (size // 17)], citations=citations,
            entailer=FakeEntailer(), embedder=HashEmbedder(),
        )  # fmt: skip
    assert time.process_time() - began < 2


def test_a_citation_beside_the_text_belongs_to_the_claims_it_overlaps_or_follows() -> None:
    answer = "The ferry sails at noon. It costs 5 euros. It is blue."
    found = verify(
        answer,
        {"a": "The ferry sails at noon. It costs 5 euros.", "b": "It is blue."},
        citations=[
            Cited(answer_start=4, answer_end=30, quote=Quote(source="a", text="")),
            Cited(answer_start=len(answer), answer_end=len(answer), quote=Quote(source="b", text="")),
        ],
        entailer=FakeEntailer(),
        embedder=HashEmbedder(),
    )
    named = [{citation.document_id for citation in claim.citations} for claim in found.claims]
    assert named == [{"a"}, {"a"}, {"b"}]
