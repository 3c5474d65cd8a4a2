"""``python -m benchmarks.tasks [--before]``: four tasks done on the pages, in steps and seconds.

In: Debian's Chromium and its driver. Out: docs/measurements/tasks.md. A step is one click, key, scroll,
filled field, chosen option or attached file. Seconds are those of the keystroke-level model (Card, Moran and
Newell, 1980) for the person, and measured ones for the pages. The models are the tests' stand-ins, so that
the pages are timed and not the models. ``--before`` does the tasks the old way, on the old pages: run it with
PYTHONPATH=OLD/src:., where OLD is a worktree of ``BEFORE``. Its figures stay in docs/measurements/tasks.json.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
from reportlab.pdfgen.canvas import Canvas
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.remote.webelement import WebElement
from selenium.webdriver.support.ui import Select
from selenium.webdriver.support.wait import WebDriverWait

import citewell
from benchmarks.pages import browser, serving_home
from benchmarks.reporting import RESULTS, table, write
from citewell.core.records import Draft, DraftClaim, Maker, Quote, Status
from citewell.knowledge.home import KnowledgeBase
from citewell.knowledge.opening import open

BEFORE = "a2eff901^"
"""The commit before the pages were rebuilt."""
THINK, POINT, CLICK, KEY = 1.35, 1.1, 0.2, 0.2
"""Seconds to prepare a step, move the pointer, press its button, and press a key."""
LEAVE, TRAVEL = "policies/leave.pdf", "policies/travel.pdf"
SAYS = {
    LEAVE: (
        "Annual leave is 25 days a year.",
        "The line manager approves leave.",
        "Leave expires on 31 March.",
    ),
    TRAVEL: ("Travel is booked by the office.", "Hotels cost at most 140 euros.", "Trains are second class."),
}
"""One sentence for each page."""
IN_VIEW = """
const box = arguments[0].getBoundingClientRect();
const found = document.elementFromPoint(box.left + Math.min(box.width, 40) / 2, box.top + box.height / 2);
return Boolean(found) && (arguments[0].contains(found) || found.contains(arguments[0]));
"""


class QuotingWriter:
    """Quotes every sentence it finds in the passages."""

    maker = Maker(name="fake/quoting", hash="sha256:quoting", prompt_hash="sha256:p")

    def generate(self, request: Any) -> Draft:
        held = [
            (said, passage.chunk.chunk_id)
            for said in (*SAYS[LEAVE], *SAYS[TRAVEL])
            for passage in request.passages
            if said in passage.chunk.content
        ]
        text, claims = " ".join(dict(held)), []
        for said, source in dict(held).items():
            start, quotes = text.index(said), (Quote(source=source, text=said),)
            end = start + len(said)
            claims.append(
                DraftClaim(text=said, start=start, end=end, quotes=quotes, aspect=request.aspects[0])
            )
        return Draft(text=text, raw=text, claims=tuple(claims), maker=self.maker)


class CertainRanker:
    maker = Maker(name="fake/certain")

    def rank(self, _: str, passages: list[str]) -> list[float]:
        return [0.95 for _ in passages]


class Person:
    """Does one step after the other; ``said_s`` is the model's time, ``waited_s`` that of the pages."""

    def __init__(self, driver: Any, base: str) -> None:
        self.driver, self.base = driver, base
        self.steps, self.said_s, self.waited_s = 0, 0.0, 0.0

    def open(self, path: str) -> None:
        """Where the task begins; not a step."""
        self.driver.get(self.base + path)

    def all(self, selector: str) -> list[WebElement]:
        return list(self.driver.find_elements(By.CSS_SELECTOR, selector))

    def find(self, selector: str, words: str = "") -> WebElement:
        return next(one for one in self.all(selector) if words in one.text)

    def step(self, seconds: float) -> None:
        self.steps += 1
        self.said_s += THINK + seconds

    def wait(self, true: Callable[[], object]) -> None:
        began = time.monotonic()
        ignored = [Exception]
        WebDriverWait(self.driver, 20, 0.02, ignored_exceptions=ignored).until(lambda _: true())
        self.waited_s += time.monotonic() - began

    def see(self, node: WebElement) -> WebElement:
        """Scrolls to it if it is not in view."""
        if not self.driver.execute_script(IN_VIEW, node):
            self.step(POINT)
            self.driver.execute_script("arguments[0].scrollIntoView({block: 'center'})", node)
        return node

    def click(self, node: WebElement, then: Callable[[], object] = lambda: True) -> None:
        self.see(node)
        self.step(POINT + CLICK)
        node.click()
        self.wait(then)

    def type(self, node: WebElement, text: str) -> None:
        self.see(node)
        self.step(POINT + CLICK + KEY * len(text))
        node.clear()
        node.send_keys(text)

    def attach(self, node: WebElement, path: Path) -> None:
        self.see(node)
        self.step(POINT + CLICK + KEY * len(path.name))
        node.send_keys(str(path))

    def choose(self, node: WebElement, value: str) -> None:
        self.see(node)
        self.step(2 * (POINT + CLICK))
        Select(node).select_by_value(value)

    def press(self, *keys: str, then: Callable[[], object] = lambda: True) -> None:
        self.step(KEY * len(keys))
        self.driver.switch_to.active_element.send_keys("".join(keys))
        self.wait(then)

    def back(self, then: Callable[[], object]) -> None:
        self.step(POINT + CLICK)
        self.driver.back()
        self.wait(then)

    def path(self) -> str:
        return str(self.driver.current_url.removeprefix(self.base))

    def drawn(self, selector: str) -> bool:
        return all(
            self.driver.execute_script("return arguments[0].naturalWidth", one) for one in self.all(selector)
        )


class Places(NamedTuple):
    kb: KnowledgeBase
    answer: str
    revision: Path


def check_pages(person: Person, places: Places, before: bool) -> None:
    person.open(f"/answers/{places.answer}")
    if not before:
        person.click(person.find('.switch input[value="printed"]'))
    for number in (1, 2, 3):
        if before:
            there = lambda: person.path().startswith("/documents/view") and person.drawn(".sheet img")  # noqa: E731
            person.click(person.all(".text .claim")[number - 1], there)
            person.see(person.find(".over rect"))
            if number < 3:
                person.back(lambda: person.all(".text .claim"))
        else:
            person.click(person.all(".text .claim")[number - 1], lambda: person.all(".over rect.lit"))
            lit = person.find(".over rect.lit")
            image = lit.find_element(By.XPATH, "ancestor::div[1]/img")
            person.wait(lambda: person.driver.execute_script("return arguments[0].naturalWidth", image))  # noqa: B023
            person.see(lit)


def find_unsupported(person: Person, places: Places, before: bool) -> None:
    person.open("/audit")
    person.type(person.find('input[name="since"]'), "30d")
    person.type(person.find('input[name="document"]'), LEAVE)
    person.choose(person.find('select[name="status"]'), "any-unsupported")
    person.click(
        person.find('form[role="search"] button.main'), lambda: len(person.all(".list tbody tr")) == 1
    )
    if before:
        person.click(person.find(".list tbody a"), lambda: person.all(".chain"))
        person.see(person.find(".chain .is-unsupported"))
    else:
        person.see(person.find(".peek .is-unsupported"))


def make_case(person: Person, places: Places, before: bool) -> None:
    right = SAYS[LEAVE][1]
    person.open("/review")
    person.click(person.find(".flagged a", "Who approves leave?"), lambda: person.all("#accept"))
    if before:
        for box in person.all("#spans textarea"):
            if box.get_attribute("value") not in ("", right):
                person.type(box, "")
    else:
        person.click(person.find(".picks label", right))
    expected = person.find('#accept input[name="expected"]')
    person.type(expected, "The line manager")
    if before:
        person.click(person.find("#accept button.main"), lambda: places.kb.review.cases())
    else:
        person.press(Keys.CONTROL, Keys.ENTER, then=lambda: places.kb.review.cases())
    (case,) = places.kb.review.cases()
    assert [span.quote for span in case.spans] == [right], case.spans


def replace_policy(person: Person, places: Places, before: bool) -> None:
    person.open("/documents")
    if not before:
        person.click(
            person.find(".list tbody tr", TRAVEL).find_element(By.TAG_NAME, "a"),
            lambda: person.all("#version"),
        )
        person.attach(person.find('#version input[type="file"]'), places.revision)
        person.click(person.find("#version button.main"), lambda: person.find("main .notice", "New version"))
        recall = person.find('form[action="/documents/recall"] button')
        person.click(recall, lambda: person.find("main .notice", "Recalled"))
        assert "3 past answers" in person.see(person.find("main .notice", "Recalled")).text
        return
    person.attach(person.find('#upload input[type="file"]'), places.revision)
    person.click(person.find("#upload button.main"), lambda: person.find(".notice", "added"))
    person.click(
        person.find(".list tbody tr", TRAVEL).find_element(By.TAG_NAME, "a"), lambda: person.all(".danger")
    )
    person.click(person.find(".danger summary"))
    person.type(person.find('.danger input[name="reason"]'), "replaced")
    person.click(person.find("button.bad"), lambda: person.find(".notice", "Withdrawn"))
    person.click(person.find("main a", "See them"), lambda: len(person.all(".list tbody tr")) == 3)
    for row in range(3):
        person.click(person.all(".list tbody a")[row], lambda: person.all(".chain"))
        person.click(person.find("a.button", "See the answer"), lambda: person.all("#answer"))
        person.see(person.find(".sources .tag.changed"))
        if row < 2:
            person.back(lambda: person.all(".chain"))
            person.back(lambda: person.all(".list tbody"))


TASKS = {
    "Check three claims of an answer against their printed pages": check_pages,
    "Find last month's answers that cite a document and contain an unsupported claim": find_unsupported,
    "Make a case of a flagged answer": make_case,
    "Replace a policy and see which answers fell": replace_policy,
}


def with_stand_ins(kb: KnowledgeBase) -> KnowledgeBase:
    """The knowledge base with the stand-in models of the tests beside the installed citewell."""
    path = Path(citewell.__file__).parents[2] / "tests" / "server" / "conftest.py"
    spec = importlib.util.spec_from_file_location("stand_ins", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    module.with_stand_ins(kb)
    kb._parts.__dict__ |= {"ranker": CertainRanker(), "generator": QuotingWriter()}
    return kb


def pdf(path: Path, sentences: tuple[str, ...]) -> None:
    canvas = Canvas(str(path), pagesize=(612, 792))
    for said in sentences:
        canvas.drawString(72, 700, path.stem.capitalize())
        canvas.drawString(72, 300, said)
        canvas.showPage()
    canvas.save()


def prepared(kb: KnowledgeBase, folder: Path) -> Places:
    policies = folder / "policies"
    policies.mkdir()
    for name, sentences in SAYS.items():
        pdf(folder / name, sentences)
    kb.ingest(policies)
    answer = kb.ask("How many days is annual leave?", document=LEAVE).request_id
    record = kb.audit.record(answer)
    assert len(record.claims) == 3, record
    for number in range(30):
        claims = record.claims
        if number == 7:
            failed = msgspec.structs.replace(claims[0].verdict, status=Status.UNSUPPORTED, proof=None)
            claims = (msgspec.structs.replace(claims[0], verdict=failed), *claims[1:])
        kb._parts.log.append(msgspec.structs.replace(record, request_id=f"req_{number:024x}", claims=claims))
    flagged = kb.ask("Who approves leave?", document=LEAVE).request_id
    kb.feedback(flagged, "thumbs_down", meta={"reason": "it says far more than I asked"})
    for question in ("How is travel booked?", "What may hotels cost?", "What class are trains?"):
        kb.ask(question, document=TRAVEL)
    revised = folder / "travel.pdf"
    pdf(revised, ("Travel is booked by oneself.", "Hotels cost at most 90 euros.", "Trains are first class."))
    return Places(kb, answer, revised)


def done(before: bool) -> dict[str, dict[str, float]]:
    found = {}
    with tempfile.TemporaryDirectory() as name, open(Path(name) / "home") as kb:
        places = prepared(with_stand_ins(kb), Path(name))
        with serving_home(kb) as base, browser() as driver:
            for task, work in TASKS.items():
                person = Person(driver, base)
                work(person, places, before)
                found[task] = {
                    "steps": person.steps,
                    "person_s": round(person.said_s, 1),
                    "pages_s": round(person.waited_s, 1),
                }
                print(task, found[task], flush=True)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--before", action="store_true", help="the old way, on the old pages")
    options = parser.parse_args()
    kept = RESULTS / "tasks.json"
    figures = json.loads(kept.read_text()) if kept.exists() else {}
    figures = {name: figures.get(name, {}) for name in ("before", "now")}
    figures["before" if options.before else "now"] = done(options.before)
    rows = []
    for task in TASKS:
        row = [task]
        for figure in ("steps", "person_s", "pages_s"):
            row += [str(figures[name].get(task, {}).get(figure, "")) for name in ("before", "now")]
        rows.append(row)
    heads = ["task", "steps before", "now", "person, s before", "now", "pages, s before", "now"]
    body = f"""`python -m benchmarks.tasks`. A scripted person does each task in a window of 1280 by 900
pixels. A step is one click, key, scroll, filled field, chosen option or attached file. *Person* is the time
that the keystroke-level model (Card, Moran and Newell, 1980) gives for these steps; *pages* is what the
pages took, measured once. *Before* is the commit before the pages were rebuilt (`{BEFORE}`), with the same
documents, answers and stand-in models.

{table(heads, rows)}

Before, a replaced policy became a second document: the old one had to be withdrawn by hand, and each of its
three answers opened to see that it no longer holds. With more answers the difference grows. The claim that
failed is seen in its row of the log instead of on the page of its record.
"""
    write("tasks", "Tasks on the pages", body, figures)


if __name__ == "__main__":
    main()
