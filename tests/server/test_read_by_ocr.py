"""What was read by OCR says so at every door at which its proof is shown."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from fastapi.testclient import TestClient

from citewell.core.display import claims_html
from citewell.core.records import Box, Document, Page
from citewell.documents.evidence.sqlite import SqliteEvidence
from citewell.knowledge.home import KnowledgeBase
from citewell.server.mcp import _check

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


def test_text_of_the_file_says_nothing_of_it(kb: KnowledgeBase, client: TestClient) -> None:
    answer = client.post("/v1/ask", json={"question": QUESTION}).json()
    assert "OCR" not in client.get(f"/answers/{answer['request_id']}").text
