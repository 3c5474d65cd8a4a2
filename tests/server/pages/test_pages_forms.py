"""Pages without a browser: uploads and their failures, withdrawal, what outsiders are told, wording."""

from __future__ import annotations

import html
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

import msgspec
import pytest
from benchmarks import pages
from fastapi.testclient import TestClient

from citewell.answering.verifying import verify
from citewell.audit.pages import BY, OF
from citewell.core.access import Role
from citewell.core.config import Writer
from citewell.core.errors import LogError
from citewell.core.ports import Form
from citewell.core.prompts.loading import hash_prompts
from citewell.core.records import Claim, Conflict, Decision, Kind, Maker, Proof, Status, Verdict
from citewell.core.vocabulary import DECISIONS, STATES, display_state
from citewell.generation.prompting import RULES, prompt_files
from citewell.knowledge.auditing import Auditing
from citewell.knowledge.home import KnowledgeBase
from citewell.models.fake import FakeEntailer
from citewell.models.judges import GATE
from citewell.server.pages.rendering import FOLDER, templates

LOOPBACK = "http://127.0.0.1:8000"
HTML = {"accept": "text/html"}


def form(client: TestClient, path: str, data: dict[str, str] | None = None, **more: Any) -> Any:
    token = re.search(r'name="csrf" content="([^"]+)"', client.get("/", headers=HTML).text)
    assert token is not None
    return client.post(path, data={**(data or {}), "csrf": token[1]}, headers=HTML, **more)


def test_a_file_that_cannot_be_read_is_shown_with_its_remedy_until_it_can(
    client: TestClient, paper: Callable[..., Path]
) -> None:
    broken = {"files": ("report.pdf", b"%PDF-1.7\nnothing", "application/pdf")}
    said = form(client, "/documents", files=broken).text
    assert "report.pdf" in said
    assert "What to do:" in said
    listed = client.get("/documents", headers=HTML).text
    assert "1 could not be read" in listed
    assert "What to do:" in listed
    mended = paper([(72, 700, "The report says seven.")]).read_bytes()
    form(client, "/documents", files={"files": ("report.pdf", mended, "application/pdf")})
    listed = client.get("/documents", headers=HTML).text
    assert "could not be read" not in listed
    assert "uploads/report.pdf" in listed


def test_a_group_whose_name_has_a_blank_is_one_group(client: TestClient, kb: KnowledgeBase) -> None:
    note = {"files": ("note.md", b"# Note\n\nThe ferry leaves at nine.\n")}
    named = {"acl": "Finance Team, board\r\nWorks Council\n", "tag": "annual report"}
    form(client, "/documents", named, files=note)
    (entry,) = [one for one in kb.documents() if one.document_id == "uploads/note.md"]
    assert set(entry.acl) == {"Finance Team", "board", "Works Council"}
    assert entry.tags == ("annual report",)


def test_a_withdrawn_document_is_read_and_asked_no_more(client: TestClient, kb: KnowledgeBase) -> None:
    about = "/documents/about?id=bridge.md"
    assert "Withdraw this document" in client.get(about, headers=HTML).text
    form(client, "/documents/withdraw", {"id": "bridge.md", "reason": "replaced"})
    shown = client.get(about, headers=HTML).text
    assert "Withdrawn: replaced" in shown
    assert "Withdraw this document" not in shown
    assert kb.ask("When did the bridge open?").decision.value == "ABSTAIN"


def test_a_withdrawn_document_is_never_shown_as_current(client: TestClient, kb: KnowledgeBase) -> None:
    kb.withdraw("bridge.md", reason="replaced by the survey")
    for place in ("", "&start=5&end=11"):
        shown = client.get(f"/documents/view?id=bridge.md{place}", headers=HTML).text
        assert "Withdrawn: replaced by the survey" in shown
        assert "newest version" not in shown


def test_of_several_marked_places_the_worst_is_told(
    client: TestClient, kb: KnowledgeBase, tmp_path: Path
) -> None:
    text, old = kb.document("bridge.md").text, kb.versions("bridge.md")[0]
    newer = tmp_path / "newer" / "bridge.md"
    newer.parent.mkdir()
    head, body = text.split("\n", 1)
    newer.write_text(f"# {head}\n\n{body.replace('1958', '1960')}")
    kb.ingest(newer, document_id="bridge.md")
    spans = [(text.index(year), text.index(year) + 4) for year in ("1932", "1958")]
    (start, end), (first, last) = spans
    view = f"/documents/view?id=bridge.md&version={old}&start={start}&end={end}"
    shown = client.get(f"{view}&also={first}-{last}", headers=HTML).text
    assert "Changed since: “1958”" in shown
    assert "abolished in 1960" in shown
    assert "in the same place" not in shown
    assert "It has the marked words in the same place" in client.get(view, headers=HTML).text


def test_about_a_document_says_what_was_cited_from_it_and_how_often_that_failed(
    client: TestClient, kb: KnowledgeBase, keys: Any
) -> None:
    """A rate over its own citations: an answer may fail for what another document was cited for."""
    about = "/documents/about?id=bridge.md"
    assert "not measured" in client.get(about, headers=HTML).text
    record = kb.audit.record(kb.ask("When did the bridge open?", user="alice").request_id)
    (claim,) = record.claims
    own = msgspec.structs.replace(claim.citations[0], verdict=None)
    other = msgspec.structs.replace(own, document_id="lamp.md", verdict=verdict(Status.UNSUPPORTED))
    failed = msgspec.structs.replace(own, quote="made of glass", start=-1, end=-1)
    claims = (
        msgspec.structs.replace(claim, citations=(own, other)),
        claim,
        msgspec.structs.replace(claim, verdict=verdict(Status.BROKEN), citations=(failed,)),
        msgspec.structs.replace(claim, verdict=verdict(Status.UNSUPPORTED), citations=(own,)),
    )
    kb.parts.log.append(msgspec.structs.replace(record, request_id=f"req_{9:024d}", claims=claims))
    shown = client.get(about, headers=HTML).text
    assert "2 of 5 citations failed</strong> (40 %), in 2 answers" in shown
    assert re.search(rf">{own.quote}</a> <small>4 times, 1 failed<", shown)
    assert "made of glass" not in shown
    assert f'href="/documents/view?id=bridge.md&amp;version={quote(own.document_version)}' in shown
    stranger = client.get(about, headers=HTML | keys("bob")).text
    assert "not measured" in stranger
    assert own.quote not in stranger


POSTED = ("/", "/documents", "/documents/withdraw", "/answers/req_1/feedback", "/audit/integrity")


def test_a_form_of_nobody_s_page_is_refused(client: TestClient) -> None:
    for path in POSTED:
        said = {"id": "bridge.md", "signal": "thumbs_up", "question": "x"}
        assert client.post(path, data=said, headers=HTML).status_code in (403, 422), path


@pytest.mark.parametrize("path", ["/answers/req_0/feedback", "/review/req_0/dismiss", "/review/req_0/accept"])
def test_a_judgement_of_what_is_not_there_tells_no_place_of_this_machine(
    client: TestClient, kb: KnowledgeBase, path: str
) -> None:
    said = form(client, path, {"signal": "thumbs_up", "reason": "x", "expected": "x"})
    assert said.status_code == 404
    assert str(kb.home) not in said.text


def test_words_of_a_document_that_is_none_are_refused_without_a_place_of_this_machine(
    client: TestClient, kb: KnowledgeBase
) -> None:
    given = kb.ask("When did the bridge open?").request_id
    kb.feedback(given, "thumbs_down")
    spans = {"document": "none.md", "quote": "It opened.", "expected": "1932"}
    said = form(client, f"/review/{given}/accept", spans)
    assert said.status_code == 400
    assert "none.md" in said.text
    assert str(kb.home) not in said.text


def test_a_log_that_fails_tells_who_asks_no_place_of_this_machine(
    client: TestClient, kb: KnowledgeBase, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: Any, **__: Any) -> Any:
        raise LogError(f"audit log {kb.home}/audit.sqlite: disk full")

    monkeypatch.setattr(KnowledgeBase, "ask", full)
    said = form(client, "/", {"question": "When did the bridge open?"})
    assert said.status_code == 400
    assert str(kb.home) not in said.text


ABSENT = (
    "/answers/req_000000000000000000000000",
    "/audit/records/nothing",
    "/documents/view?id=nothing",
    "/documents/about?id=nothing",
    "/review/nothing",
    "/static/nothing.js",
    "/nowhere",
)
HELD = (
    "failure=any",
    "failure=retrieval_failed",
    "failure=answer_judge_failed",
    "failure=poison_filter_failed",
    "failure=some_stage_of_tomorrow_failed",
    "flag=failing:gate",
    "flag=failing:retrieval",
    "flag=accepted",
    "flag=copied",
    "status=no-claims",
    "decision=ERROR",
    *(f"of={name}" for name in OF),
    *(f"by={name}" for name in BY),
)


def test_the_form_holds_every_filter_of_its_address(client: TestClient, kb: KnowledgeBase) -> None:
    """Filters that the form does not show are lost when it is next submitted."""
    kb.ask("When did the bridge open?")
    for query in HELD:
        answer = client.get(f"/audit?{query}", headers=HTML)
        assert answer.status_code == 200, query
        name, value = query.split("=")
        field = re.search(rf'<select name="{name}">(.*?)</select>', answer.text)
        assert field is not None
        chosen = re.search(r'<option(?: value="([^"]*)")? selected>([^<]*)', field[1])
        assert chosen is not None, query
        assert (chosen[1] or chosen[2]) == value


MEANINGLESS = ("since=soon", "status=x", "confidence=x", "version=v", "of=x", "cursor=x")
NO_PLACES = (
    f"also={'9' * 5_000}-1",
    "start=5&end=2",
    "start=-3&end=9999999",
    "start=0&end=5&also=1-2%20x-y%209-",
    "at=-5",
)


def test_what_cannot_be_shown_is_a_page_that_says_so(client: TestClient) -> None:
    for path in ABSENT:
        answer = client.get(path, headers=HTML)
        assert (answer.status_code, "<h1>" in answer.text) == (404, True), path
    for query in MEANINGLESS:
        answer = client.get(f"/audit?{query}", headers=HTML)
        assert (answer.status_code, "<h1>" in answer.text) == (400, True), query
    for query in ("since=soon", "by=x"):
        assert client.get(f"/health?{query}", headers=HTML).status_code == 400, query


def test_a_place_that_is_none_marks_nothing_and_shows_the_document(client: TestClient) -> None:
    for query in NO_PLACES:
        answer = client.get(f"/documents/view?id=bridge.md&{query}", headers=HTML)
        assert (answer.status_code, "The bridge" in answer.text) == (200, True), query


def test_signing_in_never_leads_away(client: TestClient) -> None:
    for address in ("//evil.example", "https://evil.example", "/\\evil.example", "x"):
        shown = client.get("/login", params={"next": address}, headers=HTML).text
        assert 'name="next" value="/"' in shown, address


SHARED = (
    "/audit?decision=ABSTAIN&since=30d",
    "/documents/view?id=a%26b%20c.md&version=sha256%3A1&start=3&end=9&also=12-15+40-42",
    "/answers/req_000000000000000000000000",
)


@pytest.mark.parametrize("address", SHARED)
def test_signing_in_leads_to_the_whole_address_that_was_asked_for(
    client: TestClient, keys: Any, address: str
) -> None:
    key = keys("alice")["Authorization"].removeprefix("Bearer ")
    login = client.get(address, headers=HTML)
    assert login.url.path == "/login"
    fields = dict(re.findall(r'<input type="hidden" name="(\w+)" value="([^"]*)"', login.text))
    data = {name: html.unescape(value) for name, value in fields.items()} | {"key": key}
    entered = client.post("/login", data=data, headers=HTML, follow_redirects=False)
    assert (entered.status_code, entered.headers["location"]) == (303, address)


def test_an_address_of_another_site_in_the_path_is_not_gone_to(client: TestClient, keys: Any) -> None:
    keys("alice")
    for path in ("//evil.example/audit", "/audit?next=//evil.example", "/documents?q=https://evil.example"):
        login = client.get(f"{LOOPBACK}{path}", headers=HTML, follow_redirects=False)
        place = urlsplit(login.headers.get("location", ""))
        assert (place.netloc, place.path) in (("", "/login"), ("", "")), path


def test_every_page_is_under_the_policy_and_no_template_steps_out_of_it(client: TestClient) -> None:
    policy = client.get("/", headers=HTML).headers["content-security-policy"]
    assert "script-src 'self'" in policy
    assert "unsafe" not in policy
    for path in sorted((FOLDER / "templates").glob("*.html")):
        text = path.read_text()
        assert not re.search(r"<script(?! src=)|<style|\sstyle=|\son\w+=|javascript:|\|\s*safe", text), (
            path.name
        )
    script = (FOLDER / "static" / "citewell.js").read_text()
    assert not re.search(
        r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(|https?://(?!www\.w3)", script
    )
    assert templates().autoescape is True


def test_static_files_are_kept_for_ever_under_an_address_of_their_content(client: TestClient) -> None:
    sheet = re.search(r"/static/citewell\.css\?\w+", client.get("/", headers=HTML).text)
    assert sheet is not None
    assert "immutable" in client.get(sheet[0]).headers["cache-control"]


def verdict(status: Status, proof: Proof | None = None) -> Verdict:
    return Verdict(status=status, reason="", maker=Maker(name="m"), proof=proof)


@pytest.mark.parametrize(
    ("status", "proof", "kind", "words"),
    [
        (Status.VERIFIED, Proof.VERBATIM, Kind.CITED, "Verified verbatim"),
        (Status.VERIFIED, Proof.ENTAILED, Kind.CITED, "Verified by entailment"),
        (Status.VERIFIED, Proof.NUMERIC, Kind.CITED, "Verified by numbers"),
        (Status.VERIFIED, Proof.ENTAILED, Kind.INFERENCE, "Inference"),
        (Status.VERIFIED, Proof.COMPUTED, Kind.INFERENCE, "Calculated from cited values"),
        (Status.UNSUPPORTED, None, Kind.UNSUPPORTED, "No supporting passage found"),
        (Status.UNSUPPORTED, None, Kind.INFERENCE, "No supporting passage found"),
        (Status.CONTRADICTED, None, Kind.CITED, "Contradicted"),
        (Status.BROKEN, None, Kind.CITED, "Broken citation"),
        (Status.UNCHECKED, None, Kind.CITED, "Unchecked"),
    ],
)
def test_a_claim_has_its_state_in_words(status: Status, proof: Proof | None, kind: Kind, words: str) -> None:
    claim = Claim(text="t", kind=kind, answer_start=0, answer_end=1, verdict=verdict(status, proof))
    assert display_state(claim).words == words


def test_every_state_has_a_shape_and_a_colour() -> None:
    shapes = (FOLDER / "static" / "shapes.svg").read_text()
    style = (FOLDER / "static" / "citewell.css").read_text()
    for name in STATES:
        assert f'id="{name}"' in shapes
        assert f".is-{name}" in style
    drawn = re.findall(r"<symbol[^>]*>(.*?)</symbol>", shapes)
    assert len(set(drawn)) == len(drawn) == shapes.count("<symbol")


def test_the_documentation_names_each_state_as_the_pages_do() -> None:
    page = (Path(__file__).parents[3] / "docs" / "pages.md").read_text(encoding="utf-8")
    named = re.findall(r"^\| ([^|]+) \|", page.partition("## Claim states")[2].partition("## Ask")[0], re.M)
    assert sorted(named[1:]) == sorted(state.words for state in STATES.values())
    glossary = (Path(__file__).parents[3] / "docs" / "glossary.md").read_text(encoding="utf-8")
    assert [name for name in Decision if f"*{DECISIONS[name.value][0]}*" not in glossary] == []


def test_the_pages_are_in_the_folder_that_the_wheel_takes() -> None:
    assert Path(FOLDER).parts[-3:] == ("citewell", "server", "pages")
    assert {path.name for path in (FOLDER / "static").iterdir()} == {
        "citewell.css",
        "citewell.js",
        "icon.svg",
        "shapes.svg",
    }


def test_an_answer_of_every_kind_is_shown_for_what_it_is(
    client: TestClient, kb: KnowledgeBase, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One record whose claims ended in every way, with a conflict, a stale card and a missing aspect."""
    request_id = kb.ask("When did the bridge open?").request_id
    record = kb.audit.record(request_id)
    (claim,) = record.claims
    citation = claim.citations[0]
    broken = msgspec.structs.replace(
        citation, start=-1, end=-1, quote="made of glass", verdict=verdict(Status.BROKEN)
    )
    others = [
        msgspec.structs.replace(claim, text=f"Claim {status.value}.", verdict=verdict(status), shown=False)
        for status in (Status.UNSUPPORTED, Status.CONTRADICTED, Status.UNCHECKED)
    ]
    failed = msgspec.structs.replace(
        claim, text="It is glass.", verdict=verdict(Status.BROKEN), citations=(broken,), shown=False
    )
    conflict = Conflict(about="the year", sides=(citation, citation), dates=("1932-03-19", "1931-01-01"))
    report = record.confidence_report
    assert report is not None
    altered = msgspec.structs.replace(
        record,
        claims=(claim, *others, failed),
        conflicts=(conflict,),
        missing=("who built it",),
        confidence_report=msgspec.structs.replace(report, card_note="other prompts"),
    )
    monkeypatch.setattr(Auditing, "record", lambda *_, **__: altered)
    shown = client.get(f"/answers/{request_id}", headers=HTML)
    assert shown.status_code == 200
    for words in (
        "Verified verbatim",
        "No supporting passage found",
        "Contradicted",
        "Unchecked",
        "Broken citation",
        "not part of the answer",
        "made of glass",
        "Sources disagree",
        "1932-03-19",
        "1931-01-01",
        "who built it",
        "calibration card in use is stale",
        "not measured",
    ):
        assert words in shown.text, words
    assert shown.text.count('<a class="claim ') == 1


def test_a_record_shows_the_prompts_that_its_hashes_are_of(client: TestClient, kb: KnowledgeBase) -> None:
    record = kb.audit.record(kb.ask("When did the bridge open?").request_id)
    written = {
        1: hash_prompts(prompt_files(Form.INLINE, Writer())),
        2: "sha256:of-another-release",
    }
    for number, hash in written.items():
        makers = (*record.makers, Maker(name="a judge", prompt_hash=GATE.hash))
        altered = msgspec.structs.replace(
            record, request_id=f"req_{number:024d}", generation_prompt_hash=hash, makers=makers
        )
        kb.parts.log.append(altered)
        shown = html.unescape(client.get(f"/audit/records/{altered.request_id}", headers=HTML).text)
        assert GATE.text in shown
        assert (RULES.text in shown) == (number == 1)
        assert ("they belong to another release" in shown) == (number == 2)


def test_a_curator_reviews_with_the_passages_and_without_links_that_lead_nowhere(
    client: TestClient, kb: KnowledgeBase, keys: Any
) -> None:
    request_id = kb.ask("When did the bridge open?", user="bob").request_id
    curator, auditor = keys("carol", Role.CURATOR), keys("ann", Role.AUDITOR)
    shown = client.get(f"/review/{request_id}", headers=HTML | curator).text
    assert 'data-document="bridge.md"' in shown
    assert "no longer kept" not in shown
    links = (f"/audit/records/{request_id}", f"/answers/{request_id}")
    for link in links:
        assert client.get(link, headers=HTML | curator).status_code == 404
        assert f'href="{link}"' not in shown
        assert f'href="{link}"' in client.get(f"/review/{request_id}", headers=HTML | auditor).text


def test_a_review_of_what_found_nothing_says_that(client: TestClient, kb: KnowledgeBase) -> None:
    answer = kb.ask("When did the bridge open?", tag="nowhere")
    shown = client.get(f"/review/{answer.request_id}", headers=HTML).text
    assert "Nothing was retrieved." in shown
    assert "no longer kept" not in shown


def test_a_new_version_replaces_the_old_one_and_names_the_answers_that_lean_on_it(
    client: TestClient, kb: KnowledgeBase
) -> None:
    before = kb.ask("When did the bridge open?").request_id
    about = client.get("/documents/about?id=bridge.md", headers=HTML).text
    assert "1 past answer leans on this document." in about
    newer = {"file": ("policy.md", b"# The bridge\n\nThe bridge opened in 1933.\n")}
    said = form(client, "/documents/version", {"id": "bridge.md"}, files=newer).text
    assert "New version: updated." in said
    assert "1 past answer leans</strong>" not in said
    assert "1 past answer leans on an older version" in said
    assert [entry.document_id for entry in kb.documents()] == ["bridge.md", "lamp.md", "merger.md"]
    assert "1933" in kb.ask("When did the bridge open?").text
    recalled = form(client, "/documents/recall", {"id": "bridge.md"}).text
    assert f'href="/answers/{before}"' in recalled
    assert "does not hold" in recalled
    assert "A source changed since" in client.get(f"/answers/{before}", headers=HTML).text


def test_an_upload_of_a_known_name_asks_whether_it_is_a_new_version(client: TestClient) -> None:
    said = form(
        client, "/documents", files={"files": ("bridge.md", b"# Bridge\n\nIt opened in 1933.\n")}
    ).text
    assert "both are searched now" in said
    assert "/documents/about?id=bridge.md#version" in said


def test_files_of_known_names_become_new_versions_if_asked_to(client: TestClient, kb: KnowledgeBase) -> None:
    before = {one.document_id for one in kb.documents()}
    revised = ("lamp.md", b"# Lamps\n\nThey burn gas.\n", "text/markdown")
    new = ("new.md", b"# New\n\nIt is new.\n", "text/markdown")
    fields = {"replace": "yes", "tag": "fresh"}
    said = form(client, "/documents", fields, files=[("files", revised), ("files", new)]).text
    assert "<strong>lamp.md</strong>: updated" in said
    assert "both are searched now" not in said
    assert {one.document_id for one in kb.documents()} == {*before, "uploads/new.md"}
    assert "gas" in kb.document("lamp.md").text
    assert [one.tags for one in kb.documents() if one.document_id == "lamp.md"] == [()]


def test_documents_are_sorted_by_any_column(client: TestClient) -> None:
    def listed(sort: str) -> list[str]:
        shown = client.get(f"/documents?sort={sort}", headers=HTML).text
        return re.findall(r'about\?id=([a-z]+)\.md"', shown)

    assert listed("name") == ["bridge", "lamp", "merger"]
    assert listed("-name") == ["merger", "lamp", "bridge"]
    assert set(listed("-added")) == set(listed("text")) == {"merger", "lamp", "bridge"}


def test_a_question_in_another_language_is_told_that_the_models_read_english(
    client: TestClient, kb: KnowledgeBase
) -> None:
    asked = "Wann wurde die Brücke mit der Maut von der Stadt für den Verkehr geöffnet?"
    shown = client.get(f"/answers/{kb.ask(asked).request_id}", headers=HTML).text
    assert "it appears to be German" in shown
    assert "The models read English" in shown


def test_a_record_shows_passages_quotes_signals_review_and_readers(
    client: TestClient, kb: KnowledgeBase, keys: Any
) -> None:
    request_id = kb.ask("When did the bridge open?", user="bob").request_id
    kb.feedback(request_id, "thumbs_down", user="bob", meta={"reason": "too early"})
    auditor = HTML | keys("ann", Role.AUDITOR)
    client.get(f"/answers/{request_id}", headers=auditor)
    kb.review.dismiss(request_id, reviewer="carol", reason="it is right")
    shown = client.get(f"/audit/records/{request_id}", headers=auditor).text
    for words in (
        "The toll was abolished in 1958.",  # from the passage
        "<q>The bridge opened in 1932.</q>",
        "Read for an answer from a relevance of 0.70",
        "too early",
        "dismissed by carol: it is right",
        "Read by ann",
    ):
        assert words in shown, words


def test_what_a_reader_said_stands_there_again(client: TestClient, kb: KnowledgeBase) -> None:
    request_id = kb.ask("When did the bridge open?", user="owner").request_id
    form(client, f"/answers/{request_id}/feedback", {"signal": "thumbs_down", "claim": "1", "reason": "1931"})
    shown = client.get(f"/answers/{request_id}", headers=HTML).text
    assert '<blockquote class="said-by">1931</blockquote>' in shown
    assert 'aria-pressed="true" aria-label="claim 1 is wrong"' in shown
    assert 'aria-label="The bridge opened in 1932. (Verified verbatim)"' in shown


def test_many_are_dismissed_for_one_reason(client: TestClient, kb: KnowledgeBase) -> None:
    asked = [kb.ask(f"What colour is the submarine {n}?").request_id for n in range(3)]
    form(client, "/review/dismiss", {"chosen": asked[:2], "reason": "no submarine"})
    assert [item.request_id for item in kb.review.queue().items] == asked[2:]
    assert kb.review.show(asked[0]).item.reason == "no submarine"


def test_one_thing_has_one_name_in_filters_and_rows(client: TestClient, kb: KnowledgeBase) -> None:
    kb.ask("What colour is the submarine?")
    shown = client.get("/audit", headers=HTML).text
    assert '<option value="ABSTAIN">Not answered</option>' in shown
    assert '<option value="relevance_gate_failed">No relevant passage was found</option>' in shown
    assert "<small>No relevant passage was found</small>" in shown
    record = kb.audit.record(kb.ask("When did the bridge open?").request_id)
    (claim,) = record.claims
    unsupported = msgspec.structs.replace(claim, verdict=verdict(Status.UNSUPPORTED))
    kb.parts.log.append(msgspec.structs.replace(record, request_id=f"req_{1:024d}", claims=(unsupported,)))
    by_status = client.get("/audit?of=status", headers=HTML).text
    assert "<li>No supporting passage found <strong>1</strong>" in by_status
    by_model = client.get("/audit?of=model", headers=HTML).text  # models keep their names
    assert "<li>fake/word-ranker <strong>3</strong>" in by_model
    export = client.get("/v1/audit/export", params={"format": "csv"}).text
    assert export.splitlines()[0].startswith(
        "Record,When,Asked by,Session,Question,Decision,Confidence,Answer"
    )
    for words in (
        "Verified,No supporting passage found,Contradicted,Broken citation,Unchecked",
        ",Not answered,",
    ):
        assert words in export
    for code in ("ABSTAIN", "relevance_gate_failed", "unsupported"):
        assert code not in export


def test_a_notebook_shows_answers_with_their_states_and_nothing_that_runs(kb: KnowledgeBase) -> None:
    answer = kb.ask("When did the bridge open?")
    shown = answer._repr_html_()
    assert "Verified verbatim" in shown
    assert "<mark>The bridge opened in 1932.</mark>" in shown
    assert "#2f8f57" not in shown  # not compared with the question
    hostile = msgspec.structs.replace(answer, question="<script>x\x1b[2J</script>")
    assert "<script" not in hostile._repr_html_()
    assert "\x1b" not in str(hostile)
    plain = str(answer)
    assert plain.startswith("When did the bridge open?\n\nAnswered, confidence ")
    assert "1. Verified verbatim: The bridge opened in 1932.\n" in plain
    assert "   bridge.md: “The bridge opened in 1932.”" in plain
    (claim,) = answer.claims
    computed = msgspec.structs.replace(claim, verdict=verdict(Status.VERIFIED, Proof.COMPUTED))
    assert "#2f8f57" in msgspec.structs.replace(answer, claims=(computed,))._repr_html_()
    in_place = '<span style="text-decoration:underline 2px #3a86c4" title="Verified verbatim">The bridge'
    assert in_place in shown
    (side,) = claim.citations
    disputed = msgspec.structs.replace(answer, conflicts=(Conflict(about="<b>the year", sides=(side,)),))
    assert "<p>Sources disagree: &lt;b&gt;the year</p><blockquote" in disputed._repr_html_()
    assert "Sources disagree: <b>the year\n   bridge.md: “The bridge opened in 1932.”\n\n" in str(disputed)


def test_a_notebook_shows_a_report_of_somebody_else_s_answer() -> None:
    said = "The bridge opened in 1932. [1] It has <b>wings</b>. [1]"
    report = verify(said, ["The bridge opened in 1932."], entailer=FakeEntailer())
    shown = report._repr_html_()
    for words in ("All of it is supported: ", "Verified verbatim", "&lt;b&gt;wings"):
        assert words in shown, words
    plain = str(report)
    assert plain.startswith("All of it is supported: ")
    assert "1. Verified verbatim: " in plain
    assert "VerifyReport(" not in plain


def test_a_guessed_date_is_called_a_guess_wherever_it_is_shown(
    client: TestClient, kb: KnowledgeBase, tmp_path: Path
) -> None:
    (tmp_path / "tower.md").write_text(
        "# The tower\n\nThe tower opened in 1889. It is shut as of 3 May 2024 for repairs.\n"
    )
    kb.ingest(tmp_path / "tower.md")
    answer = kb.ask("When did the tower open?")
    assert answer.text
    for path in ("/documents/view?id=tower.md", f"/answers/{answer.request_id}"):
        assert "published 2024-05-03, a guess" in client.get(path, headers=HTML).text, path


def test_pages_of_which_words_are_missing_are_named_wherever_they_are_read(
    client: TestClient, kb: KnowledgeBase, monkeypatch: pytest.MonkeyPatch
) -> None:
    request_id = kb.ask("When did the bridge open?").request_id
    whole = KnowledgeBase.document
    monkeypatch.setattr(
        KnowledgeBase, "document", lambda *a, **k: msgspec.structs.replace(whole(*a, **k), incomplete=(3, 4))
    )
    for path in ("/documents/about?id=bridge.md", "/documents/view?id=bridge.md", f"/answers/{request_id}"):
        shown = client.get(path, headers=HTML).text
        assert "Some of what is printed on pages 3-4 is missing from the text." in shown, path


def test_every_page_of_the_measurement_opens(
    client: TestClient, kb: KnowledgeBase, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pages, "FILING", "bridge.md")
    asked = [kb.ask("When did the bridge open?").request_id for _ in range(4)]
    for name, path in pages.addresses(kb, asked).items():
        assert client.get(path, headers=HTML).status_code == (404 if name == "error" else 200), name


def test_an_answer_whose_source_changed_is_green_nowhere(
    client: TestClient, kb: KnowledgeBase, tmp_path: Path
) -> None:
    record = kb.audit.record(kb.ask("When did the bridge open?", session_id="ses_turns").request_id)
    (claim,) = record.claims
    green = msgspec.structs.replace(
        record,
        request_id=f"req_{8:024d}",
        claims=(msgspec.structs.replace(claim, verdict=verdict(Status.VERIFIED, Proof.COMPUTED)),),
    )
    kb.parts.log.append(green)
    later = kb.ask("When was the toll abolished?", session_id="ses_turns").request_id
    paths = (f"/answers/{later}", f"/audit/records/{green.request_id}", "/audit")

    def greens() -> list[int]:
        return [client.get(path, headers=HTML).text.count("is-ANSWER") for path in paths]

    before = greens()
    (tmp_path / "bridge.md").write_text("# The bridge\n\nThe bridge opened in 1933.\n")
    kb.ingest(tmp_path / "bridge.md", document_id="bridge.md")
    assert [was - now for was, now in zip(before, greens(), strict=True)] == [1, 2, 1]


def test_review_shows_no_answer_in_green_that_did_not_earn_it(client: TestClient, kb: KnowledgeBase) -> None:
    request_id = kb.ask("When did the bridge open?").request_id  # not compared with the question here
    kb.feedback(request_id, "thumbs_down")
    for path in ("/review", f"/review/{request_id}"):
        shown = client.get(path, headers=HTML).text
        assert "<span>Answered</span>" in shown, path
        assert "is-ANSWER" not in shown, path


def test_after_a_decision_comes_the_next_case(client: TestClient, kb: KnowledgeBase) -> None:
    """Not the newest, which a reviewer may have left for later."""
    for n in range(3):
        kb.ask(f"What colour is the submarine {n}?")
    newest, middle, oldest = (item.request_id for item in kb.review.queue().items)

    def decided(request_id: str, how: str, data: dict[str, str]) -> str:
        answer = form(client, f"/review/{request_id}/{how}", data, follow_redirects=False)
        return str(urlsplit(answer.headers["location"]).path)

    assert decided(middle, "accept", {"abstain": "no submarine"}) == f"/review/{oldest}"
    assert decided(oldest, "dismiss", {"reason": "no submarine"}) == f"/review/{newest}"
    assert decided(newest, "dismiss", {"reason": "no submarine"}) == "/review"
