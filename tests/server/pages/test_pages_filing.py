"""A real filing in a real browser, with the embedded models: words light up, in text and on the page."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pypdfium2
import pytest
from selenium.webdriver.common.action_chains import ActionChains

from citewell.knowledge.home import KnowledgeBase
from citewell.knowledge.opening import open

pytestmark = [pytest.mark.slow, pytest.mark.enable_socket]

FILING = "FOOTLOCKER_2022_8K_dated-2022-05-20.pdf"
QUESTION = "How many votes for did Richard A. Johnson receive?"
VALUE, PAGE = "54,484,293", 2


@pytest.fixture
def filing(data: Path) -> Path:
    return data / "financebench" / "pdfs" / FILING


@pytest.fixture
def kb(tmp_path: Path, filing: Path) -> Iterator[KnowledgeBase]:
    with open(tmp_path / "home") as knowledge_base:
        knowledge_base.ingest(filing)
        yield knowledge_base


def printed(filing: Path, words: str, page: int) -> tuple[float, float, float, float]:
    """Left, bottom, right and top of the words on the page, in points: from the characters themselves."""
    with pypdfium2.PdfDocument(filing) as pdf:
        text = pdf[page - 1].get_textpage()
        start, count = text.search(words).get_next()
        boxes = [text.get_charbox(start + n) for n in range(count)]
    lefts, bottoms, rights, tops = zip(*boxes, strict=True)
    return min(lefts), min(bottoms), max(rights), max(tops)


def test_an_answer_from_a_filing_is_lit_and_framed_where_it_is_printed(browser: Any, filing: Path) -> None:
    answer = browser.ask(QUESTION)
    assert "Verified verbatim" in answer.text
    claim = browser.find(".text .claim")
    assert claim.text.endswith(VALUE)
    ActionChains(browser.driver).move_to_element(claim).perform()
    browser.until(lambda: VALUE in [mark.text for mark in browser.all("mark.span.lit")])
    browser.find('.switch input[value="printed"]').click()
    claim.click()
    image = browser.wait(".sheet img")
    browser.until(lambda: browser.run("return arguments[0].naturalWidth", image))
    assert f"Page {PAGE} of" in browser.text(".sources")
    assert browser.path.startswith("/answers/")
    assert VALUE in browser.text(".headline")
    left, bottom, right, top = printed(filing, VALUE, PAGE)
    frame = browser.run("return arguments[0].getAttribute('viewBox')", browser.find(".over"))
    width, height = (float(size) for size in frame.split()[2:])
    scale = image.rect["width"] / width
    framed = [
        (
            one.rect["x"] - image.rect["x"],
            one.rect["y"] - image.rect["y"],
            one.rect["width"],
            one.rect["height"],
        )
        for one in browser.all(".over rect")
    ]
    x, y, wide, high = max(framed)  # the value is to the right of its label
    assert abs(x / scale - left) < 4
    assert abs((x + wide) / scale - right) < 4
    assert y / scale <= height - top
    assert (y + high) / scale >= height - bottom
    assert high / scale < 2 * (top - bottom) + 4
    assert browser.errors() == []
