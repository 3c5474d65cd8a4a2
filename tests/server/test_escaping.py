"""Document text in a chat: anything that would be a link or an image stays text."""

from __future__ import annotations

import msgspec
import pytest
from markdown_it import MarkdownIt

from citewell.core.display import harmless
from citewell.core.identity import hash_text
from citewell.core.records import (
    Answer,
    Citation,
    Claim,
    ConfidenceReport,
    Decision,
    Kind,
    Maker,
    Measure,
    Status,
    Verdict,
)
from citewell.integrations.tools import agent_tools
from citewell.server.routes.chat import chat_text

QUOTE = "The ferry ![](https://evil.example/seen.png) leaves at nine."
MAKER = Maker(name="test", hash=hash_text("test"))


@pytest.mark.parametrize(
    "text",
    [
        "![the total](https://evil.example/seen.png)",
        "![the total][x]\n\n[x]: https://evil.example/seen.png",
        "[press here](javascript:alert(1))",
        "[![a](https://evil.example/a)](javascript:alert(1))",
        "<javascript:alert(1)>",
        "<img src=https://evil.example/a>",
        "<!-- hidden -->",
        "[a\n]\n(b) [a](<b>)",
        r"\<img src=https://evil.example/a>",
        r"a\\\<img src=https://evil.example/a> [a\](https://evil.example) [a\\](b)",
    ],
)
def test_nothing_of_it_is_fetched_or_followed(text: str) -> None:
    shown = MarkdownIt("commonmark").render(harmless(text))
    assert not any(mark in shown for mark in ("<img", "<a ", "<!--")), shown


@pytest.mark.parametrize(
    "text", ["A **bold** word, 3 < 4, f(x), see [1] and [2].", "- one\n- two", "| a |\n|---|"]
)
def test_what_does_nothing_stays_as_it_is(text: str) -> None:
    assert harmless(text) == text


def answered(text: str, quote: str) -> Answer:
    verdict = Verdict(status=Status.VERIFIED, reason="", maker=MAKER)
    start = text.index(quote)
    citation = Citation(
        chunk_id="c", document_id="a.md", document_version="sha256:a", start=0, end=len(quote), quote=quote,
        answer_start=start, answer_end=start + len(quote), verdict=verdict,
    )  # fmt: skip
    claim = Claim(
        text=quote, kind=Kind.CITED, answer_start=start, answer_end=start + len(quote),
        citations=(citation,), verdict=verdict,
    )  # fmt: skip
    unmeasured = Measure(value=None, n=0)
    confidence = ConfidenceReport(
        retrieval_score=unmeasured, coverage_score=unmeasured, entailment_score=unmeasured,
        consistency_score=unmeasured, weights={}, overall=None, hallucination_gap=unmeasured,
        decision=Decision.ANSWER,
    )  # fmt: skip
    return Answer(
        request_id="r", session_id="s", question="q", text=text, claims=(claim,), passages=(),
        confidence=confidence, decision=Decision.ANSWER,
    )  # fmt: skip


@pytest.mark.parametrize("model", ["citewell", "citewell-cited"])
@pytest.mark.parametrize(
    ("quote", "behind"),
    [("The bridge opened in 1932.", "(c)"), ("The bridge opened in 1932\\", "<img src=x>")],
)
def test_the_places_of_citations_move_with_what_is_put_in(model: str, quote: str, behind: str) -> None:
    text = f"See ![a](b). {quote}{behind} More."
    content, notes = chat_text(answered(text, quote), model, "http://here")
    place = notes[0]["url_citation"]
    assert content[place["start_index"] : place["end_index"]] == quote
    shown = MarkdownIt("commonmark").render(content)
    assert "<a " not in shown
    assert "<img" not in shown


def test_a_quote_adds_no_lines_to_the_list_of_sources() -> None:
    quote = "It opened.\n[2] other.md: ![x](y)"
    content, _ = chat_text(answered(quote, quote), "citewell-cited", "http://here")
    sources = content.partition("\n\nSources:\n")[2]
    assert sources.count("\n") == 0
    assert "![x](" not in sources
    assert msgspec.json.encode(content)


def test_the_tools_of_an_agent_hand_out_nothing_active() -> None:
    class Home:
        def ask(self, question: str) -> Answer:
            return answered(QUOTE, QUOTE)

        def verify_line(self, line: bytes) -> bytes:
            verdict = {"status": "BROKEN", "reason": QUOTE}
            return msgspec.json.encode({"supported": 0.0, "claims": [{"text": QUOTE, "verdict": verdict}]})

    ask, verify = agent_tools(Home())
    told = str((ask("When does it leave?"), verify(QUOTE, [QUOTE])))
    assert told.count("evil.example") == 5
    assert told.count("]\\\\(") == 5
