"""What was read by OCR says so at every door at which its proof is shown."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest
from fastapi.testclient import TestClient

from citewell.cli.answers import print_answer
from citewell.core.display import claims_html
from citewell.core.records import Box, Document, Page
from citewell.documents.evidence.sqlite import SqliteEvidence
from citewell.knowledge.home import KnowledgeBase
from citewell.server.mcp import Cited, _check

QUESTION = "When did the bridge open?"
TOLD = "read by OCR (confidence .93)"


@pytest.fixture
def scanned(kb: KnowledgeBase, monkeypatch: pytest.MonkeyPatch) -> KnowledgeBase:
    """The stored bridge as the reader keeps a scan: one page, a rectangle and a confidence for each line."""
    stored = SqliteEvidence.get

    def get(self: SqliteEvidence, version: str, document_id: str = "") -> Document:
        found = stored(self, version, document_id)
        length = len(found.text)
        place: dict[str, Any] = {
            "start": 0,
            "end": length,
            "page": 1,
            "x0": 50,
            "y0": 700,
            "x1": 300,
            "y1": 712,
        }
        boxes = (Box(**place, confidence=0.93),)
        pages = (Page(number=1, start=0, end=length, width=595, height=842),)
        return msgspec.structs.replace(found, boxes=boxes, pages=pages)

    monkeypatch.setattr(SqliteEvidence, "get", get)
    return kb


def test_pages_and_the_api_say_it(scanned: KnowledgeBase, client: TestClient) -> None:
    answer = client.post("/v1/ask", json={"question": QUESTION}).json()
    (claim,) = answer["claims"]
    assert claim["verdict"]["proof"] == "verbatim"
    assert claim["verdict"]["reason"].endswith(TOLD)
    assert claim["citations"][0]["boxes"][0]["confidence"] == 0.93
    page = client.get(f"/answers/{answer['request_id']}").text
    assert f"Verified verbatim, {TOLD}" in page
    record = client.get(f"/audit/records/{answer['request_id']}").text
    assert f"Verified verbatim, {TOLD}" in record
    cited = claim["citations"][0]
    where = {"id": cited["document_id"], "version": cited["document_version"]}
    view = client.get("/documents/view", params={**where, "start": cited["start"], "end": cited["end"]}).text
    assert TOLD in view
    chat = client.post(
        "/v1/chat/completions",
        json={"model": "citewell", "messages": [{"role": "user", "content": QUESTION}]},
    ).json()
    assert chat["choices"][0]["message"]["annotations"][0]["url_citation"]["title"].endswith(TOLD)


def test_notebooks_and_tools_say_it(scanned: KnowledgeBase) -> None:
    answer = scanned.ask(QUESTION)
    assert f"Verified verbatim, {TOLD}" in claims_html(answer.claims)
    words = answer.claims[0].citations[0].quote
    checked = _check(scanned, words, words, scanned.document("bridge.md"))
    assert (checked.status, checked.reason.endswith(TOLD)) == ("VERIFIED", True)


def test_sides_of_a_conflict_say_it_wherever_they_are_shown(
    scanned: KnowledgeBase, client: TestClient, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "other.md").write_text("# News\n\nThe bridge opened in 1934.\n")
    scanned.ingest(tmp_path / "other.md")
    answer = scanned.ask(QUESTION)
    (conflict,) = answer.conflicts
    assert [side.boxes[0].confidence for side in conflict.sides] == [0.93, 0.93]
    assert answer.text.count(TOLD) == 2
    print_answer(answer)
    assert f", {TOLD}: “The bridge opened in 1934.”\n" in capsys.readouterr().out
    assert Cited.model_validate(conflict.sides[0]).ocr == TOLD
    page = client.get(f"/answers/{answer.request_id}").text
    sides = page[page.index("Sources disagree") :]
    assert sides[: sides.index("</section>")].count(TOLD) == 2
    assert scanned.audit.record(answer.request_id).conflicts == answer.conflicts
    assert scanned.ask(QUESTION).conflicts == answer.conflicts


def test_nearest_passages_of_a_refusal_say_it_wherever_they_are_shown(
    scanned: KnowledgeBase, client: TestClient, capsys: pytest.CaptureFixture[str]
) -> None:
    question = "Who baked the cake?"
    answer = scanned.ask(question)
    assert answer.nearest
    assert all(place.ocr == TOLD for place in answer.nearest)
    print_answer(answer)
    said = capsys.readouterr().out
    assert said.count(TOLD) == len(answer.nearest)
    page = client.get(f"/answers/{answer.request_id}").text
    assert page.count(TOLD) == len(answer.nearest)
    chat = client.post(
        "/v1/chat/completions",
        json={"model": "citewell", "messages": [{"role": "user", "content": question}]},
    ).json()
    _, *lines = chat["choices"][0]["message"]["content"].partition("Nearest passages")[2].split("\n")
    assert lines
    assert all(TOLD in line for line in lines)


def test_text_of_the_file_says_nothing_of_it(kb: KnowledgeBase, client: TestClient) -> None:
    answer = client.post("/v1/ask", json={"question": QUESTION}).json()
    assert "OCR" not in client.get(f"/answers/{answer['request_id']}").text
