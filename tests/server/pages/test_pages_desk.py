"""The pages in a real browser, in use: looking into sources, stepping through lists, many documents."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec
import pytest
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.keys import Keys

from citewell.core.records import Conflict, Draft, DraftClaim, Maker, Quote
from citewell.knowledge.home import KnowledgeBase

pytestmark = [pytest.mark.slow, pytest.mark.enable_socket]

QUESTION = "When did the bridge open?"
SENTENCES = ("The bridge opened in 1932.", "The toll was abolished in 1958.")
NOTHING = "What colour is the submarine?"


class Quoting:
    """Quotes every sentence about the bridge, and takes ``wait_s`` to do it."""

    maker = Maker(name="fake/quoting", hash="sha256:quoting", prompt_hash="sha256:p")

    def __init__(self, wait_s: float = 0.0) -> None:
        self.wait_s = wait_s

    def stream(self, request: Any, emit: Any) -> Draft:
        time.sleep(self.wait_s)
        draft = self.generate(request)
        emit(draft)
        return draft

    def generate(self, request: Any) -> Draft:
        text, claims = " ".join(SENTENCES), []
        source, aspect = request.passages[0].chunk.chunk_id, request.aspects[0]
        for said in SENTENCES:
            start, quotes = text.index(said), (Quote(source=source, text=said),)
            claims.append(
                DraftClaim(text=said, start=start, end=start + len(said), quotes=quotes, aspect=aspect)
            )
        return Draft(text=text, raw=text, claims=tuple(claims), maker=self.maker)


def written_by(kb: KnowledgeBase, writer: object) -> None:
    kb._parts.__dict__["generator"] = writer
    kb._parts.__dict__.pop("answering", None)


def press(browser: Any, *keys: str) -> Any:
    ActionChains(browser.driver).send_keys(*keys).perform()
    return browser.driver.switch_to.active_element


def test_a_printed_page_fits_the_width_and_is_enlarged_around_the_words(
    browser: Any, kb: KnowledgeBase, paper: Callable[..., Path]
) -> None:
    kb.ingest(paper([(72, 700, "About this tower"), (330, 140, "The tower was finished in 1889.")]))
    browser.ask("When was the tower finished?")
    browser.find('.switch input[value="printed"]').click()
    browser.find(".text .claim").click()
    image = browser.wait(".sheet img")
    browser.until(lambda: browser.run("return arguments[0].naturalWidth", image))
    sheet = browser.find(".sheet")
    fitted = image.rect["width"]
    assert abs(fitted - sheet.rect["width"]) <= 2
    browser.find('.zoom input[value="3"]').click()
    browser.until(lambda: abs(image.rect["width"] / fitted - 2.5) < 0.01)
    within = (
        "const a = arguments[0].getBoundingClientRect(), b = arguments[1].getBoundingClientRect();"
        "return a.left >= b.left - 1 && a.right <= b.right + 1 && a.top >= b.top && a.bottom <= b.bottom"
    )
    browser.until(lambda: browser.run(within, browser.find(".over rect"), browser.find(".sources")))
    assert browser.errors() == []


def test_arrows_step_through_the_claims_and_light_their_words(browser: Any, kb: KnowledgeBase) -> None:
    written_by(kb, Quoting())
    browser.ask(QUESTION)
    first, second = browser.all(".text .claim")
    place = browser.path
    first.click()
    assert browser.find("mark.span.lit").text.startswith(SENTENCES[0])
    assert press(browser, Keys.ARROW_RIGHT) == second
    assert browser.find("mark.span.lit").text.startswith(SENTENCES[1])
    assert press(browser, Keys.ARROW_LEFT) == first
    assert browser.path == place
    for claim, said in ((first, SENTENCES[0]), (second, SENTENCES[1])):
        assert claim.accessible_name == f"{said} (Verified verbatim)"


def test_while_it_works_the_page_shows_what_is_read_and_never_stands_still(
    browser: Any, kb: KnowledgeBase
) -> None:
    written_by(kb, Quoting(wait_s=5))
    browser.open("/")
    browser.find("#question").send_keys(QUESTION, Keys.ENTER)
    browser.wait("#live .candidates summary")
    assert "The bridge" in browser.text("#live .candidates summary")
    assert "relevance 0.95" in browser.text("#live .candidates summary")
    for _ in range(2):
        before = browser.text("#live")
        time.sleep(1.9)
        assert browser.text("#live") != before
    assert all(" s" in one.text for one in browser.all("#live .did li"))
    assert re.match(r"Writing from the passages \(\d passages?\)", browser.text("#live .doing"))
    waited = float(browser.text("#live .clock").split()[0])
    browser.driver.refresh()  # the clock goes on
    browser.until(lambda: float(browser.text("#live .clock").split()[0]) >= waited)
    browser.wait("#answer")
    assert browser.errors() == []


def test_an_abstention_leads_on_and_names_the_language_limit(browser: Any) -> None:
    browser.ask(NOTHING)
    browser.find(".related .meta a:last-of-type").click()
    browser.until(lambda: browser.path.startswith("/?"))
    assert browser.find("#question").get_attribute("value") == NOTHING
    assert browser.find('input[name="document"]').is_displayed()
    assert browser.find('input[name="document"]').get_attribute("value").endswith(".md")
    browser.driver.back()
    browser.find(".none .button").click()  # ask differently
    browser.until(lambda: browser.path.startswith("/?"))
    assert browser.driver.switch_to.active_element.get_attribute("id") == "question"
    assert browser.find("#question").get_attribute("value") == NOTHING
    browser.ask("Wann wurde die Brücke mit der Maut von der Stadt für den Verkehr geöffnet?")
    assert "it appears to be German" in browser.text(".none")
    assert "No document says" not in browser.text("main")


def test_how_a_follow_up_was_understood_can_be_changed(browser: Any, kb: KnowledgeBase) -> None:
    record = kb.audit.record(kb.ask(QUESTION, user="owner", session_id="ses_one").request_id)
    asked = {**record.parameters, "searched_as": "When was the bridge's toll abolished?"}
    follow_up = {"request_id": f"req_{1:024d}", "user_query": "And the toll?", "parameters": asked}
    later = datetime.now(UTC).isoformat()
    kb.parts.log.append(msgspec.structs.replace(record, **follow_up, timestamp=later))
    browser.open(f"/answers/req_{1:024d}")
    assert QUESTION in browser.text(".turns")
    browser.find("header .hint a").click()
    browser.until(lambda: browser.path.startswith("/?"))
    assert browser.find("#question").get_attribute("value") == "When was the bridge's toll abolished?"
    assert QUESTION in browser.text(".turns")
    assert browser.find('input[name="session_id"]').get_attribute("value") == "ses_one"


def test_sources_that_disagree_stand_above_the_answer_and_in_every_list(
    browser: Any, kb: KnowledgeBase
) -> None:
    record = kb.audit.record(kb.ask(QUESTION, user="owner").request_id)
    (one,) = record.claims[0].citations
    conflict = Conflict(about="the approver", sides=(one, one), dates=("2025-03-01", "2026-02-01"))
    kb.parts.log.append(msgspec.structs.replace(record, request_id=f"req_{2:024d}", conflicts=(conflict,)))
    browser.open(f"/answers/req_{2:024d}")
    banner = browser.find(".conflicts")
    assert banner.rect["y"] < browser.find(".text").rect["y"]
    older, newer = browser.all(".conflicts blockquote")
    assert ("newer" in newer.text, "newer" in older.text) == (True, False)
    assert browser.all("main .is-ANSWER") == []
    for place in ("/history", "/audit"):
        browser.open(place)
        assert "Sources disagree" in browser.text("main"), place
        assert browser.all(".past .is-ANSWER, tbody .is-ANSWER") == [], place


def test_j_and_k_step_through_records_and_stages(browser: Any, kb: KnowledgeBase) -> None:
    for question in (QUESTION, NOTHING):
        kb.ask(question)
    browser.open("/audit")
    newest, oldest = browser.all("tbody th > a")
    assert press(browser, "j") == newest
    assert press(browser, "j") == oldest
    assert press(browser, "k") == newest
    assert [one.is_displayed() for one in browser.all(".peek p")] == [False, False]
    browser.all(".peek summary")[1].click()
    assert SENTENCES[0] in browser.all(".peek")[1].text
    assert "bridge.md" in browser.all(".peek")[1].text
    address = oldest.get_attribute("href")
    browser.open("/audit?status=any-verified&document=bridge.md")  # asked by claims, rows show their claims
    assert SENTENCES[0] in browser.find(".peek").text
    browser.driver.get(address)
    assert len([one for one in browser.all(".chain > li") if one.is_displayed()]) == 9
    for stage in ("all", "asked", "retrieved", "gate", "written", "claims"):
        press(browser, "j")
        browser.until(lambda: browser.path.endswith(f"#{stage}"), stage)  # noqa: B023 - waited for here
    shown = [one.get_attribute("id") for one in browser.all(".chain > li") if one.is_displayed()]
    assert shown == ["claims"]
    assert SENTENCES[0] in browser.text("#claims q")
    assert browser.text(".trace nav [aria-current]") == "Claims and verdicts"
    press(browser, "k")
    browser.until(lambda: browser.path.endswith("#written"))


def test_a_revision_in_the_list_of_documents_replaces_its_namesake(
    browser: Any, kb: KnowledgeBase, tmp_path: Path
) -> None:
    revision = tmp_path / "bridge.md"
    revision.write_text("# The bridge\n\nThe bridge opened in 1933.\n")
    browser.open("/documents")
    browser.find('#upload input[type="file"]').send_keys(str(revision))
    browser.find('#upload input[name="replace"]').click()
    browser.find("#upload button").click()
    browser.until(lambda: "bridge.md: updated" in browser.text("main"))
    answer = browser.ask(QUESTION).text
    assert "1933" in answer
    assert "1932" not in answer
    assert "Sources disagree" not in answer


def test_a_revision_is_uploaded_in_place_and_the_answers_that_fell_are_named(
    browser: Any, kb: KnowledgeBase, tmp_path: Path
) -> None:
    kb.ask(QUESTION)
    revision = tmp_path / "revised.md"
    revision.write_text("# The bridge\n\nThe bridge opened in 1933.\n" + "\n" * 200_000)
    browser.open("/documents/about?id=bridge.md")
    assert "1 past answer leans on this document" in browser.text("#version")
    browser.find('#version input[type="file"]').send_keys(str(revision))
    slow = {"offline": False, "latency": 0, "downloadThroughput": -1, "uploadThroughput": 100_000}
    browser.driver.execute_cdp_cmd("Network.enable", {})
    browser.driver.execute_cdp_cmd("Network.emulateNetworkConditions", slow)
    try:
        browser.find("#version button").click()
        sent = "return (document.querySelector('.sending progress') || {}).position"
        browser.until(lambda: 0 < (browser.run(sent) or 0) < 1)
        assert "Uploading" in browser.text(".sending")
        browser.until(lambda: "New version: updated" in browser.text("main"))
    finally:
        browser.driver.execute_cdp_cmd("Network.emulateNetworkConditions", {**slow, "uploadThroughput": -1})
    assert [one.document_id for one in kb.documents() if one.title == "The bridge"] == ["bridge.md"]
    assert "1 past answer leans on an older version" in browser.text(".notice.bad")
    browser.find('form[action="/documents/recall"] button').click()
    browser.until(lambda: "Recalled" in browser.text("main"))
    assert QUESTION in browser.text("main .notice")
    assert "does not hold" in browser.text("main .notice")
    assert browser.errors() == []


def test_the_signals_of_a_reader_stay_and_are_on_the_record(browser: Any, kb: KnowledgeBase) -> None:
    browser.ask(QUESTION)
    place = browser.path
    browser.find('.whole button[value="thumbs_down"]').click()
    browser.until(lambda: "Thank you" in browser.text("#told"))
    browser.find(".whole summary").click()
    browser.find(".whole textarea").send_keys("it was 1931")
    browser.find(".whole details button").click()
    browser.until(lambda: browser.all(".whole .said-by"))
    browser.open(place)  # again
    assert browser.find('.whole button[value="thumbs_down"]').get_attribute("aria-pressed") == "true"
    assert browser.text(".whole .said-by") == "it was 1931"
    browser.open(f"/audit/records/{place.rpartition('/')[2]}")
    browser.find("#retrieved summary").click()
    assert SENTENCES[0] in browser.text("#retrieved .excerpt")
    assert SENTENCES[0] in browser.text("#claims q")
    assert "it was 1931" in browser.text("#after")
    asked_again = kb.ask(QUESTION).request_id
    kb.feedback(asked_again, "rephrased_query")
    browser.open("/review")  # where a weak signal alone does not wait
    assert len(browser.all(".flagged")) == 1
    browser.find('.groups a[href*="rephrased_query"]').click()
    browser.until(lambda: "cause=rephrased_query" in browser.path)
    assert browser.find(".flagged a").get_attribute("href").endswith(asked_again)


def test_many_are_dismissed_together_and_taken_back(browser: Any, kb: KnowledgeBase) -> None:
    for number in range(3):
        kb.ask(f"What colour is the submarine {number}?")
    browser.open("/review")
    browser.find("#every").click()
    browser.find('.bulk input[name="reason"]').send_keys("there is no submarine", Keys.ENTER)
    browser.until(lambda: "3 answers were dismissed" in browser.text(".notice"))
    assert browser.all(".flagged") == []
    browser.find(".notice button").click()
    browser.until(lambda: len(browser.all(".flagged")) == 3)
    assert kb.review.queue(state="dismissed").items == ()


def test_a_thousand_documents_are_listed_sorted_and_found(
    browser: Any, kb: KnowledgeBase, tmp_path: Path
) -> None:
    folder = tmp_path / "reports"
    folder.mkdir()
    for number in range(1_000):
        (folder / f"report-{number:04}.txt").write_text(f"Report {number}.\n")
    assert not kb.ingest(folder).failed
    browser.open("/documents?sort=-name")
    assert "1003 in all" in browser.text(".heading")
    assert len(browser.all(".list tbody tr")) == 50
    assert len(browser.driver.page_source) < 100_000
    assert browser.find("thead [aria-sort]").get_attribute("aria-sort") == "descending"
    browser.find("thead [aria-sort] a").click()
    browser.until(lambda: browser.find("thead [aria-sort]").get_attribute("aria-sort") == "ascending")
    browser.find('.steps a[rel="next"]').click()
    browser.until(lambda: "start=50" in browser.path)
    browser.driver.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride",
        {"width": 390, "height": 844, "deviceScaleFactor": 1, "mobile": False},
    )
    browser.open("/documents?sort=-name")  # a phone has no column heads to sort by
    assert browser.all(".list tbody tr")[3].rect["y"] < 844
    browser.find('select[name="sort"] option[value="-added"]').click()
    browser.find('form[role="search"] button').click()
    browser.until(lambda: "sort=-added" in browser.path)
    browser.driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
    browser.find('input[name="q"]').send_keys("report-0999", Keys.ENTER)
    browser.until(lambda: "1 shown" in browser.text(".heading"))
    assert "report-0999" in browser.text(".list tbody")
    browser.ask(QUESTION)
    assert SENTENCES[0] in browser.text("#answer .text")


def test_times_are_the_reader_s_own(browser: Any, kb: KnowledgeBase) -> None:
    kb.ask(QUESTION, user="owner")
    shown = []
    for zone in ("Asia/Tokyo", "America/New_York"):
        browser.driver.execute_cdp_cmd("Emulation.setTimezoneOverride", {"timezoneId": zone})
        browser.open("/history")
        shown.append(browser.text(".past time"))
        assert browser.find(".past time").get_attribute("title").endswith(" UTC")
    browser.driver.execute_cdp_cmd("Emulation.setTimezoneOverride", {"timezoneId": ""})
    assert shown[0] != shown[1]
