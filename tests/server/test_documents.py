"""Documents over HTTP: the list, texts and pages; uploads; what others may not see."""

from __future__ import annotations

import re
import struct
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient
from httpx import Response

from citewell.core.access import Role
from citewell.knowledge.home import KnowledgeBase
from citewell.knowledge.revisiting.rechecking import readers_of
from citewell.server.files import tame

QUESTION = "When will the merger with Acme be announced?"
READING = (
    *("/v1/answers/{0}", "/v1/answers/{0}/receipt", "/v1/traces/s1", "/v1/ask/{0}/events", "/v1/audit"),
    *("/v1/audit/records/{0}", "/answers/{0}", "/audit/records/{0}", "/review/{0}"),
)


def test_the_text_of_a_range_is_what_is_cited(client: TestClient) -> None:
    answer = client.post("/v1/ask", json={"question": "When did the bridge open?"}).json()
    cited = answer["claims"][0]["citations"][0]
    where = {"id": cited["document_id"], "version": cited["document_version"]}
    text = client.get("/v1/documents/text", params={**where, "start": cited["start"], "end": cited["end"]})
    assert text.json()["text"] == cited["quote"]
    assert client.get("/v1/documents/versions", params={"id": "bridge.md"}).json()["versions"] == [
        cited["document_version"]
    ]
    about = client.get("/v1/documents/show", params=where).json()
    assert about["title"]["value"] == "The bridge"
    listed = client.get("/v1/documents").json()["documents"]
    assert [about["uri"], listed[0]["uri"]] == ["bridge.md", "bridge.md"]  # its folder is the server's own
    beyond = client.get("/v1/documents/text", params={"id": "bridge.md", "start": 10**9}).json()
    assert (beyond["text"], beyond["start"] <= beyond["end"]) == ("", True)


def test_the_list_pages(client: TestClient) -> None:
    first = client.get("/v1/documents", params={"limit": 2}).json()
    second = client.get("/v1/documents", params={"limit": 2, "after": first["next"]}).json()
    names = [entry["document_id"] for page in (first, second) for entry in page["documents"]]
    assert names == ["bridge.md", "lamp.md", "merger.md"]
    assert second["next"] == ""


def test_an_upload_is_read_asked_and_withdrawn(client: TestClient, kb: KnowledgeBase) -> None:
    note = {"file": ("../../ferry.md", b"# Ferry\n\nThe ferry leaves from Oland.\n")}
    report = client.post("/v1/documents", files=note, data={"tag": ["boats"]}).json()
    assert [(file["document_id"], file["status"], file["path"]) for file in report["files"]] == [
        ("uploads/ferry.md", "added", "ferry.md")
    ]
    kept = [path for path in (kb.home / "uploads").rglob("*") if path.is_file()]
    assert [path.name for path in kept] == ["ferry.md"]
    asked = {"question": "Where does the ferry leave from?"}
    assert client.post("/v1/ask", json=asked).json()["text"] == "The ferry leaves from Oland."
    gone = {"document_id": "uploads/ferry.md", "reason": "old timetable"}
    assert client.post("/v1/documents/withdraw", json=gone).json()["state"] == "withdrawn"
    assert client.post("/v1/ask", json=asked).json()["decision"] == "ABSTAIN"
    assert client.get("/v1/documents/text", params={"id": "uploads/ferry.md"}).status_code == 200


@pytest.mark.parametrize(
    ("name", "data"),
    [("a.pdf", b"%PDF-1.7 broken"), ("a.zip", b"PK\x03\x04junk"), ("a.txt", b""), ("", b"\x00\x01")],
)
def test_a_file_that_cannot_be_read_is_told_with_its_remedy(
    client: TestClient, kb: KnowledgeBase, name: str, data: bytes
) -> None:
    response = client.post("/v1/documents", files={"file": (name or "x", data)})
    assert response.status_code == 422
    assert response.json()["hint"]
    assert [path for path in (kb.home / "uploads").rglob("*") if path.is_file()] == []
    assert client.post("/v1/documents", data={"file": "text"}).status_code == 422


def test_a_file_that_may_not_come_in_is_not_kept(client: TestClient, keys: Any, kb: KnowledgeBase) -> None:
    curator = keys("carl", Role.CURATOR)
    note = {"file": ("note.md", b"# Note\n\nThe ferry leaves from Oland.\n")}
    refused = client.post("/v1/documents", files=note, data={"acl": "board"}, headers=curator)
    assert refused.status_code == 403
    assert [path for path in (kb.home / "uploads").rglob("*") if path.is_file()] == []


@pytest.mark.parametrize(
    ("name", "tamed"),
    [
        ("../../etc/passwd", "passwd"),
        ("C:\\x\\y.pdf", "y.pdf"),
        ("a\x00b\n.md", "ab.md"),
        ("...", "document"),
        ("", "document"),
        ("é" * 300 + ".pdf", "é" * 90 + ".pdf"),
        ("<script>.html", "script.html"),
    ],
)
def test_a_name_is_tamed(name: str, tamed: str) -> None:
    assert tame(name) == tamed


def test_a_page_is_drawn_from_the_bytes_that_were_read(
    client: TestClient, tmp_path: Path, kb: KnowledgeBase
) -> None:
    pdf = one_page_pdf("The ferry leaves from Oland.")
    report = client.post("/v1/documents", files={"file": ("ferry.pdf", pdf)})
    assert report.status_code == 200, report.text
    where: dict[str, Any] = {"id": "uploads/ferry.pdf", "number": 1}
    page = client.get("/v1/documents/page", params=where).json()
    assert (page["page"]["width"], page["page"]["height"]) == (300.0, 144.0)
    assert len(page["boxes"]) == 1
    assert client.get("/v1/documents/page", params={**where, "start": 10**6}).json()["boxes"] == []
    picture = client.get("/v1/documents/page.png", params={**where, "scale": 2})
    assert picture.headers["content-type"] == "image/png"
    assert struct.unpack(">II", picture.content[16:24]) == (600, 288)
    assert client.get("/v1/documents/page.png", params={**where, "number": 2}).status_code == 404
    kept = next(path for path in (kb.home / "uploads").rglob("ferry.pdf"))
    kept.write_bytes(pdf + b" ")
    assert client.get("/v1/documents/page.png", params={**where, "scale": 1}).status_code == 404


def one_page_pdf(line: str) -> bytes:
    """A PDF of one page with one line."""
    content = f"BT /F1 18 Tf 20 100 Td ({line}) Tj ET".encode()
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 300 144] /Contents 4 0 R"
        b" /Resources << /Font << /F1 5 0 R >> >> >>",
        b"<< /Length %d >>\nstream\n%s\nendstream" % (len(content), content),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    out, places = b"%PDF-1.4\n", []
    for number, body in enumerate(objects, 1):
        places.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    end = b"trailer << /Size 6 /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF" % len(out)
    return out + b"xref\n0 6\n0000000000 65535 f \n" + table + end


# --- what one may not see -----------------------------------------------------------------------------


def test_what_one_may_not_see_is_what_is_not_there(client: TestClient, keys: Any) -> None:
    alice, bob = keys("alice", groups=["board"]), keys("bob")
    seen = client.post("/v1/ask", json={"question": QUESTION}, headers=alice).json()
    assert seen["text"] == "The merger with Acme will be announced in March."
    assert client.post("/v1/ask", json={"question": QUESTION}, headers=bob).json()["decision"] == "ABSTAIN"
    listed = client.get("/v1/documents", headers=bob).json()["documents"]
    assert [entry["document_id"] for entry in listed] == ["bridge.md", "lamp.md"]
    for route in ("show", "versions", "text", "page?number=1&", "page.png?number=1&"):
        join = "" if route.endswith("&") else "?"
        hidden = client.get(f"/v1/documents/{route}{join}id=merger.md", headers=bob)
        nothing = client.get(f"/v1/documents/{route}{join}id=nothing.md", headers=bob)
        assert (hidden.status_code, hidden.content) == (404, nothing.content)
        assert hidden.headers.keys() == nothing.headers.keys()
    request_id = seen["request_id"]
    for address in (
        "/v1/answers/{}", "/v1/answers/{}/receipt", "/v1/ask/{}/events", "/v1/audit/records/{}"
    ):  # fmt: skip
        hidden = client.get(address.format(request_id), headers=bob)
        nothing = client.get(address.format("req_" + "0" * 24), headers=bob)
        assert (hidden.status_code, hidden.content) == (404, nothing.content)
        assert client.get(address.format(request_id), headers=alice).status_code == 200
    said = {"request_id": request_id, "signal": "thumbs_down"}
    assert client.post("/v1/feedback", json=said, headers=bob).status_code == 404
    assert client.get(f"/v1/traces/{seen['session_id']}", headers=bob).status_code == 404


def test_another_users_stream_is_not_there(client: TestClient, keys: Any) -> None:
    alice, bob = keys("alice"), keys("bob")
    body = {"question": "When did the bridge open?", "stream": True}
    stream = client.post("/v1/ask", json=body, headers=alice)
    request_id = stream.headers["x-request-id"]
    assert client.get(f"/v1/ask/{request_id}/events", headers=bob).status_code == 404
    assert client.get(f"/v1/ask/{request_id}/events", headers=alice).status_code == 200


def test_the_log_shows_each_what_they_may_see_and_notes_who_looked(
    client: TestClient, keys: Any, kb: KnowledgeBase
) -> None:
    alice, bob, carol = keys("alice"), keys("bob"), keys("carol", Role.AUDITOR)
    given = client.post("/v1/ask", json={"question": "When did the bridge open?"}, headers=alice).json()

    def found(headers: Any, **query: str) -> list[str]:
        response = client.get("/v1/audit", params=query, headers=headers)
        assert response.status_code == 200, response.text
        return [record["request_id"] for record in response.json()["records"]]

    assert found(alice) == found(carol) == [given["request_id"]]
    assert found(bob) == []
    assert found(carol, document="bridge.md", status="all-verified", since="1d") == [given["request_id"]]
    assert found(carol, status="any-broken") == []
    entries = [kb._parts.log.body(entry) for entry in kb._parts.log.entries() if entry.kind == "read"]
    assert "carol" in {entry.get("reader") for entry in entries}


@pytest.mark.parametrize("way", READING)
def test_whoever_reads_anothers_answer_is_on_record(
    client: TestClient, keys: Any, kb: KnowledgeBase, way: str
) -> None:
    asked = {"question": "When did the bridge open?", "session_id": "s1"}
    request = client.post("/v1/ask", json=asked, headers=keys("alice")).json()["request_id"]
    kb.feedback(request, "thumbs_down", user="alice")
    auditor = keys("audrey", Role.AUDITOR)
    response = client.get(way.format(request), headers=auditor)
    assert response.status_code == 200, response.text
    assert readers_of(kb.parts.log)[request] == ("audrey",)


@pytest.mark.parametrize(
    "wrong", ["status=odd", "since=soon", "limit=0", "surprise=1", "cursor=x", "version=v"]
)
def test_a_query_that_makes_no_sense_is_told_so(client: TestClient, wrong: str) -> None:
    assert client.get(f"/v1/audit?{wrong}").status_code in {400, 422}


@pytest.mark.parametrize(("form", "begins"), [("csv", b"Record,When,Asked by,"), ("jsonl", b"{")])
def test_an_export_holds_all_that_fits(client: TestClient, form: str, begins: bytes) -> None:
    client.post("/v1/ask", json={"question": "When did the bridge open?"})
    export = client.get("/v1/audit/export", params={"format": form})
    assert export.content.startswith(begins)
    assert f'filename="audit.{form}"' in export.headers["content-disposition"]
    counts = client.get("/v1/audit/counts", params={"by": "day", "of": "decision"}).json()
    assert (counts["total"], counts["shares"][0]["value"]) == (1, "ANSWER")


def test_feedback_is_kept_and_counted(client: TestClient) -> None:
    given = client.post("/v1/ask", json={"question": "When did the bridge open?"}).json()
    said = {
        "request_id": given["request_id"],
        "signal": "thumbs_down",
        "claim": 1,
        "meta": {"because": "old"},
    }
    kept = client.post("/v1/feedback", json=said)
    assert (kept.status_code, kept.json()["signal"]) == (200, "thumbs_down")
    assert client.post("/v1/feedback", json={**said, "signal": "odd"}).status_code == 400
    again = client.post("/v1/feedback", json=said)  # sent twice, kept once
    assert again.json() == kept.json()
    assert 'citewell_signals_total{signal="thumbs_down"} 1.0' in client.get("/metrics").text


def test_a_signal_that_was_noticed_is_counted_too(client: TestClient) -> None:
    asked = {"question": "When did the bridge open?", "session_id": "ses_of_one_reader"}
    assert client.post("/v1/ask", json=asked).status_code == 200
    assert client.post("/v1/ask", json=asked).status_code == 200
    assert 'citewell_signals_total{signal="rephrased_query"} 1.0' in client.get("/metrics").text


def test_a_change_during_a_long_ingest_is_refused_with_a_time(
    client: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("citewell.server.site.CHANGE_WAITS_S", 0.01)
    html = {"accept": "text/html"}
    csrf = re.search(r'name="csrf" content="([^"]+)"', client.get("/", headers=html).text)
    assert csrf is not None
    note = ("note.md", b"# Note\n\nThe ferry leaves at nine.\n")

    def changes() -> list[Response]:
        return [
            client.post("/v1/documents", files={"file": note}),
            client.post("/documents", files={"files": note}, data={"csrf": csrf[1]}, headers=html),
            client.post("/v1/documents/withdraw", json={"document_id": "bridge.md"}),
            client.post("/documents/withdraw", data={"csrf": csrf[1], "id": "lamp.md"}),
        ]

    with client.app.state.site.ingesting:  # type: ignore[attr-defined]
        refused = changes()
    assert [(one.status_code, one.headers["retry-after"]) for one in refused] == [(503, "5")] * 4
    assert refused[0].json()["retryable"] is True
    assert {one.status_code for one in changes()} == {200}
