"""The pages in a real browser: what a reader sees, does with the keyboard, and is protected from."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.keys import Keys

from citewell.audit.question import AuditQuery
from citewell.core.records import Draft, DraftClaim, Maker, Quote
from citewell.knowledge.home import KnowledgeBase

pytestmark = [pytest.mark.slow, pytest.mark.enable_socket]

QUESTION = "When did the bridge open?"
SENTENCE = "The bridge opened in 1932."


def test_a_claim_lights_its_words_and_opens_them_in_their_document(browser: Any) -> None:
    answer = browser.ask(QUESTION)
    claim = browser.find(".text .claim")
    assert claim.text == SENTENCE
    assert "Verified verbatim" in answer.text
    assert "is-verbatim" in claim.get_attribute("class")
    assert browser.path.startswith("/answers/req_")
    ActionChains(browser.driver).move_to_element(claim).perform()
    browser.until(lambda: browser.all("mark.span.lit"))
    assert browser.find("mark.span.lit").text.startswith(SENTENCE)
    claim.click()
    assert browser.path.startswith("/answers/req_")
    browser.find("#claim-1 .cited a").click()
    browser.until(lambda: browser.path.startswith("/documents/view"))
    assert browser.find("mark.span").text == SENTENCE
    assert browser.find("mark.span").get_attribute("id") == "here"
    browser.find(".crumbs .button").click()
    browser.until(lambda: browser.path.endswith("#claim-1"))
    assert browser.find("#claim-1").is_displayed()
    assert browser.errors() == []


def test_the_words_lie_under_a_rectangle_of_the_printed_page(
    browser: Any, kb: KnowledgeBase, paper: Callable[..., Path]
) -> None:
    kb.ingest(paper([(72, 700, "About this tower"), (72, 640, "The tower was finished in 1889.")]))
    browser.ask("When was the tower finished?")
    browser.find('.switch input[value="printed"]').click()
    browser.find(".text .claim").click()
    image = browser.wait(".sheet img")
    browser.until(lambda: browser.run("return arguments[0].naturalWidth", image))
    rectangles = browser.all(".over rect")
    assert len(rectangles) == 1
    for width in (1280, 1000):
        browser.driver.set_window_size(width, 900)
        sheet, drawn = browser.find(".sheet img").rect, rectangles[0].rect
        scale = sheet["height"] / 792
        top, bottom = drawn["y"] - sheet["y"], drawn["y"] + drawn["height"] - sheet["y"]
        # Its baseline is 640 points above the bottom of 792, its letters at most 12 points higher.
        assert (792 - 640 - 14) * scale <= top < (792 - 640) * scale <= bottom + scale
        assert bottom <= (792 - 640 + 6) * scale
        assert (72 - 4) * scale <= drawn["x"] - sheet["x"] <= 72 * scale
        assert 140 * scale < drawn["width"] < 200 * scale
    assert browser.errors() == []


SETTLED = """
const done = arguments[0];
const after = () => setTimeout(done, 300);
if (document.readyState === "complete") after(); else addEventListener("load", after);
"""


def test_a_cited_cell_lies_under_a_rectangle_of_its_own(
    browser: Any, kb: KnowledgeBase, paper: Callable[..., Path]
) -> None:
    rows = [
        ("Net sales", "177,866", "232,887", "280,522"),
        ("Cost of sales", "111,934", "139,156", "165,536"),
    ]
    lines = [(72.0, 740.0, "CONSOLIDATED STATEMENTS OF OPERATIONS")]
    lines += [(x, 720.0, year) for x, year in ((330.0, "2017"), (410.0, "2018"), (490.0, "2019"))]
    for place, (label, *values) in enumerate(rows):
        y = 700.0 - 14 * place
        lines += [
            (72.0, y, label),
            *((x, y, value) for x, value in zip((320, 400, 480), values, strict=True)),
        ]
    kb.ingest(paper(lines, name="sales.pdf"))
    text = kb.document("sales.pdf").text
    at = text.index("280,522")
    label = text.index("Net sales")
    also = f"&also={label}-{label + len('Net sales')}"
    browser.open(f"/documents/view?id=sales.pdf&start={at}&end={at + 7}{also}")
    image = browser.wait(".sheet img")
    browser.until(lambda: browser.run("return arguments[0].naturalWidth", image))
    scale = image.rect["height"] / 792
    drawn = sorted((one.rect["x"] - image.rect["x"], one.rect["width"]) for one in browser.all(".over rect"))
    (first, wide), (second, narrow) = [(x / scale, width / scale) for x, width in drawn]
    assert 68 <= first < 73
    assert 40 < wide < 70
    assert 476 <= second < 481
    assert 35 < narrow < 55
    # On a phone the value is in view, not the label, and so is the way back above the page.
    size = {"width": 390, "height": 844, "deviceScaleFactor": 1, "mobile": False}
    browser.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    browser.open("/documents")
    browser.open(f"/documents/view?id=sales.pdf&start={at}&end={at + 7}{also}#here")
    browser.driver.execute_async_script(SETTLED)
    cell, label_of_row = sorted(browser.all(".over rect"), key=lambda one: -one.rect["x"])
    assert inside(browser, cell, 844, 390)
    assert not inside(browser, label_of_row, 844, 390)
    assert inside(browser, browser.find("h1"), 844, 390)
    browser.driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
    assert browser.errors() == []


class Changeable:
    """Shows an invented claim, waits until it was seen, and withdraws it."""

    maker = Maker(name="fake/changeable", hash="sha256:changeable", prompt_hash="sha256:p")

    def __init__(self) -> None:
        self.seen = threading.Event()

    def stream(self, request: Any, emit: Any) -> Draft:
        emit(self._draft(request, "The bridge was made of glass."))
        self.seen.wait(30)
        draft = self._draft(request, SENTENCE)
        emit(draft)
        return draft

    def generate(self, request: Any) -> Draft:
        return self._draft(request, SENTENCE)

    def _draft(self, request: Any, text: str) -> Draft:
        quotes = (Quote(source=request.passages[0].chunk.chunk_id, text=SENTENCE),)
        claim = DraftClaim(text=text, start=0, end=len(text), quotes=quotes, aspect=request.aspects[0])
        return Draft(text=text, raw=text, claims=(claim,), maker=self.maker)


def test_a_claim_that_is_withdrawn_disappears(browser: Any, kb: KnowledgeBase) -> None:
    writer = Changeable()
    kb._parts.__dict__["generator"] = writer
    kb._parts.__dict__.pop("answering", None)
    browser.open("/")
    browser.find("#question").send_keys(QUESTION, Keys.ENTER)
    shown = browser.wait("#live .claims li")
    assert "The bridge was made of glass." in shown.text
    writer.seen.set()
    browser.wait("#answer")
    assert SENTENCE in browser.text("#answer .text")
    assert "glass" not in browser.text("main")
    assert browser.errors() == []


def test_a_line_that_breaks_is_taken_up_again(browser: Any, kb: KnowledgeBase) -> None:
    writer = Changeable()
    kb._parts.__dict__["generator"] = writer
    kb._parts.__dict__.pop("answering", None)
    browser.open("/")
    browser.find("#question").send_keys(QUESTION, Keys.ENTER)
    browser.wait("#live .claims li")
    assert browser.path.startswith("/answers/req_")
    browser.driver.refresh()  # anyone who leaves finds it again
    browser.wait("#live .claims li")
    writer.seen.set()
    browser.wait("#answer")
    assert SENTENCE in browser.text("#answer .text")
    assert len(kb.audit.query(AuditQuery()).records) == 1


def test_without_scripts_the_form_asks_and_leads_to_the_answer(browser: Any) -> None:
    browser.scripts(on=False)
    browser.open("/")
    browser.find("#question").send_keys(QUESTION)
    browser.find("#ask button.main").click()
    browser.wait("#answer")
    assert SENTENCE in browser.text("#answer .text")
    assert browser.path.startswith("/answers/req_")


def test_an_abstention_says_what_is_missing(browser: Any) -> None:
    answer = browser.ask("What colour is the submarine?")
    assert "Not answered" in answer.text
    assert "passages ranked highest we found no answer" in answer.text
    assert "under 0.70" in browser.text(".related")
    browser.find(".confidence summary").click()
    assert "not measured" in browser.text(".confidence")


def test_the_keyboard_alone_asks_and_checks(browser: Any) -> None:
    def press(*keys: str) -> Any:
        ActionChains(browser.driver).send_keys(*keys).perform()
        return browser.driver.switch_to.active_element

    browser.open("/documents")
    assert press(Keys.TAB).get_attribute("class") == "skip"
    assert press(Keys.ENTER).get_attribute("id") == "main"
    browser.open("/")
    assert browser.driver.switch_to.active_element.get_attribute("id") == "question"
    press(QUESTION, Keys.ENTER)
    browser.wait("#answer")
    for _ in range(15):
        if "claim" in (press(Keys.TAB).get_attribute("class") or "").split():
            break
    assert browser.find("mark.span.lit").text.startswith(SENTENCE)
    press(Keys.ENTER)
    assert browser.path.startswith("/answers/")
    assert browser.find("mark.span.lit").text.startswith(SENTENCE)


def test_a_judgement_is_kept_with_its_reason(browser: Any, kb: KnowledgeBase) -> None:
    browser.ask(QUESTION)
    claim = browser.find("#claim-1")
    browser.run("arguments[0].querySelector('.feedback details').open = true", claim)
    browser.wait("#claim-1 textarea").send_keys("it was 1931")
    browser.wait("#claim-1 .feedback details button").click()
    browser.until(lambda: "Thank you" in browser.text("#told"))
    request_id = browser.path.rpartition("/")[2]
    said = kb._parts.feedback.of(request_id)
    assert [(one.signal.value, one.claim, one.meta) for one in said if one.meta] == [
        ("thumbs_down", 1, {"reason": "it was 1931"})
    ]


def test_what_a_reader_does_next_is_noticed(browser: Any, kb: KnowledgeBase) -> None:
    """Asked again, then corrected: one session in a browser, and the page itself says nothing."""
    store = kb._parts.feedback

    def signals() -> list[set[str]]:
        return [{one.signal.value for one in store.of(request)} for request in asked]

    def follow_up(question: str) -> str:
        before = browser.path
        browser.find("#question").send_keys(question, Keys.ENTER)
        browser.until(lambda: browser.path not in ("/", before) and browser.all("#answer"))
        return str(browser.path.rpartition("/")[2])

    browser.open("/")
    asked = [follow_up(QUESTION), follow_up("When did the bridge really open?")]
    asked.append(follow_up("That is wrong, the bridge opened in 1934."))
    browser.until(lambda: signals()[:2] == [{"rephrased_query"}, {"follow_up_correction"}], str(signals()))
    assert {one.found_by for request in asked for one in store.of(request)} == {"citewell"}


def test_words_that_changed_since_are_said_to_have(browser: Any, kb: KnowledgeBase, tmp_path: Path) -> None:
    browser.ask(QUESTION)
    place = browser.path
    (tmp_path / "bridge.md").write_text("# The bridge\n\nThe bridge opened in 1933. No toll.\n")
    kb.ingest(tmp_path / "bridge.md")
    browser.open(place)
    assert "Changed since" in browser.text(".sources")
    assert "A source changed since this was answered" in browser.text(".notice")
    assert browser.all(".decided .is-ANSWER") == []
    browser.find("#claim-1 .cited a").click()
    browser.until(lambda: browser.path.startswith("/documents/view"))
    assert "Changed since" in browser.text(".notice")
    assert "1933" in browser.text(".notice")
    assert browser.find("mark.span").text == SENTENCE


def test_filters_make_an_address_that_shows_the_same_again(browser: Any) -> None:
    browser.ask(QUESTION)
    browser.ask("What colour is the submarine?")
    browser.open("/audit")
    assert len(browser.all(".list tbody tr")) == 2
    browser.find('select[name="decision"] option[value="ABSTAIN"]').click()
    browser.find('form[role="search"] button.main').click()
    browser.until(lambda: len(browser.all(".list tbody tr")) == 1)
    assert "submarine" in browser.text(".list tbody")
    assert "decision=ABSTAIN" in browser.path
    assert "=&" not in browser.path
    shared = browser.path
    browser.open("/")
    browser.open(shared)
    assert "submarine" in browser.text(".list tbody")
    browser.find(".list tbody a").click()
    browser.wait(".chain")
    for word in ("Asked", "Retrieved", "Enough evidence?", "Raw output", "Claims and verdicts", "Decision"):
        assert word in browser.text(".chain")


def test_a_replay_says_what_came_out_and_what_is_not_as_it_was(browser: Any) -> None:
    """The stub models of this home are not those that a replay rebuilds: it must say so."""
    browser.ask(QUESTION)
    browser.open("/audit/records/" + browser.path.rpartition("/")[2])
    browser.find(".replay button").click()
    browser.wait('.notice[role="status"]')
    assert "It came out differently." in browser.text(".notice")
    assert "fake/word-ranker" in browser.text(".notice")


def test_the_log_is_checked_on_its_page(browser: Any) -> None:
    browser.ask(QUESTION)
    browser.open("/audit/integrity")
    assert "citewell" in browser.text("pre")
    browser.find("main button.main").click()
    browser.until(lambda: browser.all(".notice"))
    assert "The log is intact" in browser.text(".notice")


ATTACK = "<img src=x onerror=hacked=1>"


def test_nothing_in_a_document_runs(browser: Any, kb: KnowledgeBase, tmp_path: Path) -> None:
    hostile = tmp_path / f"{ATTACK}\"'.txt"
    said = f"</mark></script><script>hacked=1</script>{ATTACK}"
    hostile.write_text(f"{said}\n\nThe ferry {said} sails at noon {{{{7*7}}}}.\n")
    report = kb.ingest(hostile, tags=[ATTACK])
    assert not report.failed
    answer = browser.ask(f"When sails the ferry {said}?")
    assert ATTACK in answer.text
    places = [browser.path, "/", "/documents", f"/documents?q={ATTACK}", "/audit", f"/audit?user={ATTACK}"]
    browser.open("/documents")
    places += [
        link.get_attribute("href").removeprefix(browser.base)
        for link in browser.all("main a")
        if "/documents/" in (link.get_attribute("href") or "")
    ]
    browser.open(places[0])
    places += [browser.find(".sources h2 a").get_attribute("href").removeprefix(browser.base)]
    places += ["/audit/records/" + places[0].rpartition("/")[2]]
    for place in places:
        browser.open(place)
        assert browser.run("return window.hacked === undefined"), place
        assert browser.run("return document.querySelectorAll('img[src=x], body script').length") == 0, place
        assert browser.errors() == [], place


def test_the_theme_is_the_system_s(browser: Any) -> None:
    browser.open("/")
    colour = "return getComputedStyle(document.documentElement).backgroundColor"
    light = browser.run(colour)
    browser.theme("dark")
    assert browser.run(colour) != light


@pytest.mark.parametrize("width", [320, 390, 1280])  # 320 is a window of 1,280 at 400 %
def test_no_page_is_wider_than_its_window(browser: Any, kb: KnowledgeBase, width: int) -> None:
    browser.ask(QUESTION)
    place = browser.path
    request_id = place.rpartition("/")[2]
    kb.feedback(request_id, "thumbs_down", meta={"reason": "too early"})
    nothing = kb.ask("What colour is the submarine?").request_id
    paths = [place, f"/answers/{nothing}", browser.find("#claim-1 .cited a").get_attribute("href")]
    paths += ["/", "/history", "/documents", "/documents/about?id=bridge.md", "/audit", "/audit/integrity"]
    paths += [f"/audit/records/{request_id}", "/review", f"/review/{request_id}", "/spot-check", "/health"]
    browser.driver.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride",
        {"width": width, "height": 800, "deviceScaleFactor": 1, "mobile": False},
    )
    try:
        for path in paths:
            browser.open(path.removeprefix(browser.base))
            assert browser.run("return document.documentElement.scrollWidth") <= width, path
    finally:
        browser.driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def test_a_flagged_answer_becomes_a_canary_case_with_the_right_words(browser: Any, kb: KnowledgeBase) -> None:
    """The rejected answer's words are not a case: nothing is selected until somebody selects it."""
    browser.ask("When was the toll abolished, and who asked?")
    request_id = browser.path.rpartition("/")[2]
    later = kb.ask("When did the bridge open, and for whom?").request_id
    for one in (request_id, later):
        kb.feedback(one, "thumbs_down", meta={"reason": "nobody asked"})
    browser.open("/review")
    assert "Marked as wrong" in browser.text(".groups")
    browser.all(".flagged a")[1].click()
    browser.wait("#accept")
    assert "nobody asked" in browser.text(".said")
    assert "2 of 2" in browser.text("main")
    assert [box.get_attribute("value") for box in browser.all("#spans textarea")] == [""]
    # Words are selected in the source, as with the mouse, and taken with their position.
    browser.run(
        "const all = [...document.querySelectorAll('.excerpt label')];"
        "const p = all.find((one) => one.textContent.includes('toll'));"
        "getSelection().selectAllChildren(p)"
    )
    taking = browser.wait("#take")
    assert 0 <= taking.rect["y"] - browser.run("return scrollY") < 900
    taking.click()
    assert "abolished in 1958" in browser.find("#spans textarea").get_attribute("value")
    browser.find(".remove").click()
    assert browser.all("#spans textarea") == []
    browser.wait("#told button").click()
    assert "abolished in 1958" in browser.find("#spans textarea").get_attribute("value")
    browser.find(".remove").click()
    # And a sentence is picked with the keyboard alone.
    sentences = browser.all('.picks input[name="picked"]')
    (toll,) = [one for one in sentences if "toll" in one.find_element("xpath", "..").text]
    browser.run("arguments[0].focus()", toll)
    toll.send_keys(Keys.SPACE)
    browser.find('#accept input[name="expected"]').send_keys("1958", Keys.CONTROL + Keys.ENTER)
    browser.until(lambda: "was accepted" in browser.text(".notice"))
    assert browser.path.startswith(f"/review/{later}")
    (case,) = kb.review.cases()
    assert case.expected == "1958"
    assert [(span.document, span.quote) for span in case.spans] == [
        ("bridge.md", "The toll was abolished in 1958.")
    ]
    browser.find(".notice button").click()
    browser.until(lambda: browser.path == f"/review/{request_id}")
    assert kb.review.cases() == ()
    assert browser.errors() == []


def test_a_dismissal_needs_its_reason(browser: Any, kb: KnowledgeBase) -> None:
    browser.ask("What colour is the submarine?")
    request_id = browser.path.rpartition("/")[2]
    browser.open(f"/review/{request_id}")
    browser.find('form[action$="/dismiss"] input[name="reason"]').send_keys("there is no submarine")
    browser.find('form[action$="/dismiss"] button').click()
    browser.until(lambda: browser.path == "/review")
    assert kb.review.show(request_id).item.state == "dismissed"


def test_a_spot_check_shows_claim_and_words_and_no_verdict(browser: Any) -> None:
    browser.ask(QUESTION)
    browser.open("/spot-check")
    browser.find("main button.main").click()
    browser.wait(".judge")
    assert SENTENCE in browser.text(".claim-said")
    assert "erified" not in browser.text("article")
    browser.find('.judge button[value="supported"]').click()
    browser.until(lambda: "All 1 are judged" in browser.text("main"))


def test_a_key_opens_the_door_and_its_role_decides_what_is_behind(
    browser: Any, keys: Any, kb: KnowledgeBase
) -> None:
    secret = keys("alice")["Authorization"].removeprefix("Bearer ")
    browser.open("/documents")
    browser.until(lambda: browser.path.startswith("/login"))
    browser.find('input[name="key"]').send_keys("wrong", Keys.ENTER)
    browser.until(lambda: "unknown" in browser.text("#wrong"))
    browser.find('input[name="key"]').send_keys(secret, Keys.ENTER)
    browser.until(lambda: browser.path == "/documents")
    assert "The bridge" in browser.text("main")
    assert "The merger" not in browser.driver.page_source
    assert [tab.text for tab in browser.all("nav li")] == ["Ask", "History", "Documents"]
    for place in ("/audit", "/review", "/audit/integrity"):
        browser.open(place)
        assert "role" in browser.text("main")
        assert browser.text("h1")
    browser.open("/documents/about?id=merger.md")
    assert "nothing here, or you may not see it" in browser.text("h1")
    browser.find(".self form button").click()
    browser.until(lambda: browser.path.startswith("/login"))
    browser.open("/")
    browser.until(lambda: browser.path.startswith("/login"))


class Beside:
    """An answer check that finds every passage promising but no line an answer."""

    maker = Maker(name="fake/check")
    border, least = 0.5, 0.5

    def answers(self, pairs: Any) -> list[float]:
        return [0.1 for _ in pairs]

    def weigh(self, _: str, candidates: Any) -> list[float]:
        return [0.9 for _ in candidates]

    def says(self, *_: str) -> str:
        return ""


class Answers(Beside):
    def answers(self, pairs: Any) -> list[float]:
        return [0.9 for _ in pairs]


def checked_by(kb: KnowledgeBase, check: Any) -> None:
    kb._parts.__dict__["answer_check"] = check
    kb._parts.__dict__.pop("answering", None)


def test_green_is_an_answer_and_not_a_true_quote(browser: Any, kb: KnowledgeBase) -> None:
    answer = browser.ask(QUESTION)  # not compared with the question here
    assert "Does this answer what you asked?\nNot checked" in answer.text
    assert browser.all("main .is-ANSWER") == []
    checked_by(kb, Answers())
    browser.ask(QUESTION)
    green = browser.find(".decided .is-ANSWER").value_of_css_property("color")
    quoted = browser.find(".two .is-quoted").value_of_css_property("color")
    assert green != quoted == browser.find("#claim-1 .is-verbatim").value_of_css_property("color")
    checked_by(kb, Beside())
    answer = browser.ask(QUESTION)
    assert "the quotes found are related, but do not answer it" in answer.text
    assert "Not answered" in answer.text
    assert browser.all("main .is-ANSWER") == []
    assert SENTENCE in browser.text(".checked")


def test_turns_stay_and_every_asker_has_a_history(browser: Any) -> None:
    first = browser.ask(QUESTION)
    place = browser.path
    browser.find("#question").send_keys("When was the toll abolished?", Keys.ENTER)
    browser.until(lambda: browser.path != place and browser.all("#answer"))
    assert QUESTION in browser.text(".turns")
    browser.open("/history")
    assert [one.text for one in browser.all(".past a")] == ["When was the toll abolished?", QUESTION]
    browser.all(".past a")[1].click()
    browser.until(lambda: browser.path == place)
    assert first


def test_a_question_is_cancelled(browser: Any, kb: KnowledgeBase) -> None:
    writer = Changeable()
    kb._parts.__dict__["generator"] = writer
    kb._parts.__dict__.pop("answering", None)
    browser.open("/")
    browser.find("#question").send_keys(QUESTION, Keys.ENTER)
    browser.wait("#live .claims li")
    assert browser.all("#live .did li")
    browser.find("#live form button").click()
    writer.seen.set()
    browser.until(lambda: browser.all(".notice"))
    browser.driver.refresh()
    assert "Cancelled before it was answered" in browser.text(".notice")


LONG = "an-extremely-long-name-of-a-report-without-any-blank-" * 4


def test_a_phone_shows_what_matters_first(
    browser: Any, kb: KnowledgeBase, tmp_path: Path, paper: Callable[..., Path]
) -> None:
    (tmp_path / f"{LONG}.md").write_text(f"# {LONG}\n\nThe ferry sails at noon.\n")
    lines = [(72, 700 - 20 * n, f"Line {n} of the long report.") for n in range(30)]
    printed = paper([*lines, (72, 90, "The tower was finished in 1889.")])
    kb.ingest(tmp_path / f"{LONG}.md", printed)
    browser.ask("When was the tower finished?")
    answer = browser.path
    record = kb.audit.record(answer.rpartition("/")[2])
    for number in range(200):
        kb.parts.log.append(msgspec.structs.replace(record, request_id=f"req_{number:024x}"))
    for width in (390, 1280, 320):  # 320 is a window of 1,280 at 400 %
        browser.driver.execute_cdp_cmd(
            "Emulation.setDeviceMetricsOverride",
            {"width": width, "height": 844, "deviceScaleFactor": 1, "mobile": False},
        )
        for path in ("/documents", "/audit", answer, "/history", "/review"):
            browser.open(path)
            assert browser.run("return document.documentElement.scrollWidth") <= width, (path, width)
        if width == 1280:
            browser.open("/documents")
            added = browser.all('.cards td[data-head="Added"]')
            assert all(one.rect["x"] + one.rect["width"] <= width for one in added)
            continue
        browser.open("/audit")
        assert browser.find(".list tbody tr").rect["y"] < 700
        browser.open(answer)
        browser.find(".text .claim").click()
        browser.wait(".sources.open .over rect")
        browser.until(lambda: inside(browser, browser.find(".over rect"), 844, width))  # noqa: B023
        source = browser.find("#claim-1 .cited a").get_attribute("href")
        browser.driver.get(source)
        browser.until(lambda: inside(browser, browser.find(".over rect"), 844, width))  # noqa: B023
        image = browser.find(".sheet img").rect["width"]
        assert image / 612 * 12 > 12  # letters of 12 points are large enough to read
    browser.driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def inside(browser: Any, node: Any, height: int, width: int) -> bool:
    script = "const b = arguments[0].getBoundingClientRect(); return [b.top, b.bottom, b.left, b.right]"
    top, bottom, left, right = browser.run(script, node)
    return bool(0 <= top < bottom <= height and 0 <= left < right <= width)
