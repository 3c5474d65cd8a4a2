"""Asking over HTTP: the answer, its record, its event stream, and reconnecting to it."""

from __future__ import annotations

import json
import re
from typing import Any

import msgspec
import pytest
from fastapi.testclient import TestClient
from httpx import Response

from citewell.core.access import Caller, Role
from citewell.core.records import Answer, Draft, DraftClaim, Maker, Quote
from citewell.knowledge.home import KnowledgeBase
from citewell.server.problems import Details

QUESTION = "When did the bridge open?"


def told(response: Response) -> list[tuple[str, str, Any]]:
    """Returns (kind, id, data) of each event."""
    found = re.findall(r"event: (\w+)\nid: (\S+)\ndata: (.*)\n\n", response.text)
    return [(kind, name, json.loads(data)) for kind, name, data in found]


def test_an_answer_is_the_one_that_was_sealed(client: TestClient, kb: KnowledgeBase) -> None:
    response = client.post("/v1/ask", json={"question": QUESTION, "session_id": "s1"})
    answer = msgspec.json.decode(response.content, type=Answer)
    assert answer.text == "The bridge opened in 1932."
    assert response.headers["x-request-id"] == answer.request_id
    citation = answer.claims[0].citations[0]
    text = kb.document(citation.document_id, citation.document_version).text
    assert text[citation.start : citation.end] == citation.quote
    assert kb.audit.record(answer.request_id).session_id == "s1"


def test_a_past_answer_has_the_same_claims_citations_and_receipt(client: TestClient) -> None:
    given = client.post("/v1/ask", json={"question": QUESTION}).json()
    again = client.get(f"/v1/answers/{given['request_id']}").json()
    for same in ("text", "claims", "confidence", "decision", "missing", "record_hash", "session_id"):
        assert again[same] == given[same], same
    cited = [[passage["chunk"], passage["relevance"], passage["used"]] for passage in given["passages"]]
    assert cited == [
        [passage["chunk"], passage["relevance"], passage["used"]] for passage in again["passages"]
    ]
    receipt = client.get(f"/v1/answers/{given['request_id']}/receipt")
    assert receipt.json()["answer"]["text"] == given["text"]
    assert receipt.headers["content-disposition"].startswith("attachment")
    traces = client.get(f"/v1/traces/{given['session_id']}").json()["traces"]
    assert [trace["request_id"] for trace in traces] == [given["request_id"]]


@pytest.mark.parametrize("wanted", [{"stream": True}, {}])
def test_a_stream_confirms_each_claim_before_it_ends(client: TestClient, wanted: dict[str, bool]) -> None:
    headers = {} if wanted else {"Accept": "text/event-stream"}
    response = client.post("/v1/ask", json={"question": QUESTION, **wanted}, headers=headers)
    assert response.headers["content-type"].startswith("text/event-stream")
    events = told(response)
    kinds = [kind for kind, _, _ in events]
    assert kinds[0] == "stage"
    stages = [data for kind, _, data in events if kind == "stage"]
    times = [stage["elapsed_ms"] for stage in stages]
    assert 0 < times[0] < times[-1]
    assert times == sorted(times)
    counts = {stage["text"]: stage["count"] for stage in stages if stage["count"]}
    assert counts["Checking each claim against its source (1 claim)"] == 1
    assert any(text.startswith("Writing from the passages (") for text in counts)
    assert next(kind for kind in kinds if kind != "stage") == "search_results"
    assert kinds[-2:] == ["decision", "done"]
    assert kinds.index("claim") < kinds.index("verdict") < kinds.index("decision")
    final = [data for kind, _, data in events if kind == "verdict" and data["final"]]
    assert [data["claim"]["verdict"]["status"] for data in final] == ["VERIFIED"]
    request_id = response.headers["x-request-id"]
    assert [name for _, name, _ in events] == [f"{request_id}:{n}" for n in range(1, len(events) + 1)]
    assert events[-1][2]["answer"]["request_id"] == request_id


def test_who_comes_back_hears_the_rest_and_nothing_twice(client: TestClient) -> None:
    first = client.post("/v1/ask", json={"question": QUESTION, "stream": True})
    events, request_id = told(first), first.headers["x-request-id"]
    where = f"/v1/ask/{request_id}/events"
    rest = client.get(where, headers={"Last-Event-ID": f"{request_id}:2"})
    assert told(rest) == events[2:]
    # A client that repeats its POST means the same question: it is not asked again.
    size = client.app.state.kb.log.size()  # type: ignore[attr-defined]
    repeated = client.post(
        "/v1/ask", json={"question": QUESTION, "stream": True}, headers={"Last-Event-ID": f"{request_id}:3"}
    )
    assert told(repeated) == events[3:]
    assert client.app.state.kb.log.size() == size  # type: ignore[attr-defined]


def test_a_stream_nobody_remembers_is_told_again_from_its_record(client: TestClient) -> None:
    first = client.post("/v1/ask", json={"question": QUESTION, "stream": True})
    request_id = first.headers["x-request-id"]
    client.app.state.site.streams.drop(request_id)  # type: ignore[attr-defined]
    before, after = told(first), told(client.get(f"/v1/ask/{request_id}/events"))
    done_before, done_after = before[-1][2]["answer"], after[-1][2]["answer"]
    assert done_after["claims"] == done_before["claims"]
    assert done_after["request_id"] == request_id
    assert [kind for kind, _, _ in after] == ["decision", "done"]
    assert all(name.endswith("r") for _, name, _ in after)


MERGER = "When will the merger with Acme be announced?"


def test_a_stream_tells_no_more_than_its_answer(client: TestClient, kb: KnowledgeBase, keys: Any) -> None:
    board, plain = keys("alice", groups=["board"]), keys("alice")
    first = client.post("/v1/ask", json={"question": MERGER, "stream": True}, headers=board)
    assert "March" in first.text
    request_id = first.headers["x-request-id"]
    where = f"/v1/ask/{request_id}/events"
    assert told(client.get(where, headers=board)) == told(first)
    absent = client.get("/v1/ask/req_0/events", headers=plain)
    # Another key of the same person, without the group; then the document is unshared from both.
    repeated = {**plain, "Last-Event-ID": f"{request_id}:0"}
    for refused in (
        client.get(where, headers=plain),
        client.post("/v1/ask", json={"question": MERGER, "stream": True}, headers=repeated),
    ):
        assert (refused.status_code, refused.content) == (404, absent.content)
    kb.share("merger.md", ["directors"])
    assert client.get(f"/v1/answers/{request_id}", headers=board).status_code == 404
    assert client.get(where, headers=board).content == absent.content


def test_a_stream_in_the_making_is_for_its_askers_groups(client: TestClient, keys: Any) -> None:
    request_id = "req_" + "a" * 24
    stream = client.app.state.site.streams.open(  # type: ignore[attr-defined]
        request_id, Caller(user="alice", groups=("board",))
    )
    stream.fail(Details(title="so far", status=500))
    stream.end()  # with nothing sealed
    where = f"/v1/ask/{request_id}/events"
    for heard in (keys("alice", groups=["staff", "board"]), keys("alice", Role.ADMIN)):
        assert "so far" in client.get(where, headers=heard).text
    for deaf in (keys("alice", groups=["staff"]), keys("bob", groups=["board"]), keys("bob", Role.ADMIN)):
        assert client.get(where, headers=deaf).status_code == 404


class Changeable:
    """Streams an invented claim, withdraws it, then quotes."""

    maker = Maker(name="fake/changeable", hash="sha256:changeable", prompt_hash="sha256:p")

    def stream(self, request: Any, emit: Any) -> Draft:
        emit(self._draft(request, "The bridge was made of glass."))
        draft = self._draft(request, "The bridge opened in 1932.")
        emit(draft)
        return draft

    def generate(self, request: Any) -> Draft:
        return self._draft(request, "The bridge opened in 1932.")

    def _draft(self, request: Any, text: str) -> Draft:
        quotes = (Quote(source=request.passages[0].chunk.chunk_id, text="The bridge opened in 1932."),)
        claim = DraftClaim(text=text, start=0, end=len(text), quotes=quotes, aspect=request.aspects[0])
        return Draft(text=text, raw=text, claims=(claim,), maker=self.maker)


def test_a_withdrawn_claim_is_corrected(client: TestClient, kb: KnowledgeBase) -> None:
    kb._parts.__dict__["generator"] = Changeable()
    kb._parts.__dict__.pop("answering", None)
    events = told(client.post("/v1/ask", json={"question": QUESTION, "stream": True}))
    claims = [(data["number"], data["text"]) for kind, _, data in events if kind == "claim"]
    assert claims == [(1, "The bridge was made of glass."), (2, "The bridge opened in 1932.")]
    assert [data["number"] for kind, _, data in events if kind == "correction"] == [1]
    assert {data["number"] for kind, _, data in events if kind == "verdict" and data["final"]} == {2}


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({}, 422),
        ({"question": ""}, 422),
        ({"question": "?!"}, 400),
        ({"question": "x" * 20_001}, 422),
        ({"question": QUESTION, "top_k": 11}, 422),
        ({"question": QUESTION, "surprise": 1}, 422),
        ({"question": QUESTION, "since": "yesterday"}, 422),
        ([], 422),
    ],
)
def test_what_is_no_question_is_told_so(client: TestClient, body: Any, status: int) -> None:
    response = client.post("/v1/ask", json=body)
    assert response.status_code == status
    assert response.headers["content-type"] == "application/problem+json"
    assert response.json()["hint"]


@pytest.mark.parametrize(
    "address",
    ["/v1/answers/req_0", "/v1/answers/req_0/receipt", "/v1/ask/req_0/events", "/v1/audit/records/req_0"],
)
def test_an_id_that_is_none_is_absent(client: TestClient, address: str) -> None:
    response = client.get(address)
    assert response.status_code == 404
    assert response.json()["title"] == "there is nothing here, or you may not see it"


def test_an_error_is_a_problem_without_a_word_of_the_question(
    client: TestClient, kb: KnowledgeBase, caplog: pytest.LogCaptureFixture
) -> None:
    class Broken:
        maker = Maker(name="fake/broken", hash="sha256:b")

        def rank(self, question: str, passages: Any) -> list[float]:
            raise RuntimeError(f"cannot rank {question}")

    kb._parts.__dict__["ranker"] = Broken()
    for name in ("answering", "retriever"):
        kb._parts.__dict__.pop(name, None)
    response = client.post("/v1/ask", json={"question": QUESTION})
    assert response.status_code == 500
    assert "bridge" not in response.text
    assert "Traceback" not in response.text
    streamed = client.post("/v1/ask", json={"question": QUESTION, "stream": True})
    assert "event: error" in streamed.text
    assert "bridge" not in streamed.text
    # Both are on record, with the failing stage named.
    records = client.get("/v1/audit", params={"decision": "ERROR"}).json()["records"]
    assert {record["failure_reason"] for record in records} == {"retrieval_failed"}
    assert len(records) == 2


def test_verify_has_the_shapes_of_the_command(client: TestClient) -> None:
    line = {"id": 7, "answer": "The bridge opened in 1932 [1].", "sources": ["The bridge opened in 1932."]}
    one = client.post("/v1/verify", json=line).json()
    assert (one["id"], one["claims"][0]["verdict"]["status"]) == (7, "VERIFIED")
    assert set(one) == {"id", "claims", "supported", "hallucination_gap", "report", "notes"}
    named = {"claim": "The bridge opened in 1932.", "sources": {"a": "The bridge opened in 1932."}}
    (claim,) = client.post("/v1/verify", json=named).json()["claims"]
    assert claim["citations"][0]["document_id"] == "a"
    body = "\n".join(json.dumps({**line, "id": n}) for n in range(3))
    lines = client.post("/v1/verify", content=body, headers={"Content-Type": "application/x-ndjson"})
    assert [json.loads(found)["id"] for found in lines.text.splitlines()] == [0, 1, 2]
    for wrong in (
        {"sources": []},
        {"answer": "x", "claim": "y", "sources": []},
        {"answer": "x", "sources": [1]},
    ):
        assert client.post("/v1/verify", json=wrong).status_code in {400, 422}
    many = {"answer": "x", "sources": [str(n) for n in range(201)]}
    assert client.post("/v1/verify", json=many).status_code == 413


CHECK = "/v1/projects/p/locations/global/groundingConfigs/default_grounding_config:check"


def test_check_grounding_is_answered_at_googles_path(client: TestClient) -> None:
    answer = "Über the river: nothing. The toll was abolished in 1958. The bridge opened in 1947."
    facts = [
        {"factText": "The bridge opened in 1932.", "attributes": {"source": "a.txt"}},
        {"factText": "The toll was abolished in 1958.", "attributes": {"source": "b.txt"}},
    ]
    asked = {
        "answerCandidate": answer,
        "facts": facts,
        "groundingSpec": {"citationThreshold": 0.6, "enableClaimLevelScore": True},
        "userLabels": {"team": "x"},
    }
    for version in ("v1", "v1beta", "v1alpha"):
        found = client.post(CHECK.replace("v1", version), json=asked).json()
        (chunk,) = found["citedChunks"]
        assert chunk["chunkText"].rstrip(".") == "The toll was abolished in 1958"
        assert (chunk["source"], chunk["sourceMetadata"]) == ("1", {"source": "b.txt"})
        assert found["citedFacts"] == [{"chunkText": chunk["chunkText"]}]
        for claim in found["claims"]:
            data = answer.encode()[claim["startPos"] : claim["endPos"]]
            assert data.decode() == claim["claimText"] in answer
            assert claim["citationIndices"] == ([0] if "toll" in claim["claimText"] else [])
            assert claim["groundingCheckRequired"]
            assert (claim.get("score", 0) > 0.5) == ("toll" in claim["claimText"])
        assert found["supportScore"] == 1 / len(found["claims"])
    plain = client.post(CHECK, json={"answerCandidate": answer, "facts": facts}).json()
    assert not any("score" in claim for claim in plain["claims"])
    alone = client.post(CHECK, json={"answerCandidate": "The toll was abolished in 1958."}).json()
    assert (alone["supportScore"], alone["citedChunks"]) == (0, [])  # unchecked is not supported


def test_what_check_grounding_refuses_is_an_error_of_googles_shape(client: TestClient) -> None:
    many = [{"factText": str(n)} for n in range(201)]
    for wrong, status in (({"facts": []}, 422), ({"answerCandidate": "x", "facts": many}, 413)):
        reply = client.post(CHECK, json=wrong)
        assert reply.status_code == reply.json()["error"]["code"] == status
    assert "200 sources" in reply.json()["error"]["message"]
    assert client.post(CHECK.replace("v1", "v2"), json=wrong).status_code == 422
