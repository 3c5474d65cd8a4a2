"""No serious accessibility fault on any page, in both themes, by axe-core."""

from __future__ import annotations

import importlib.resources
from typing import Any

import pytest

from citewell.knowledge.home import KnowledgeBase

pytestmark = [pytest.mark.slow, pytest.mark.enable_socket]

SERIOUS = ("serious", "critical")


@pytest.fixture(scope="module")
def axe() -> str:
    package = importlib.resources.files("axe_core_python")
    return (package / "axe.min.js").read_text(encoding="utf-8")


@pytest.mark.parametrize(("theme", "width"), [("light", 1280), ("dark", 1280), ("light", 390), ("dark", 390)])
def test_no_page_has_a_serious_fault(
    browser: Any, axe: str, kb: KnowledgeBase, theme: str, width: int
) -> None:
    browser.theme(theme)
    browser.driver.set_window_size(width, 900)
    browser.ask("When did the bridge open?")
    answer = browser.path
    request_id = answer.rpartition("/")[2]
    view = browser.find("#claim-1 .cited a").get_attribute("href").removeprefix(browser.base)
    kb.feedback(request_id, "thumbs_down", meta={"reason": "too early"})
    nothing = kb.ask("What colour is the submarine?").request_id
    found = []
    for place in (
        answer,
        "/",
        f"/answers/{nothing}",
        view,
        "/history",
        "/documents",
        "/documents/about?id=bridge.md",
        "/audit",
        f"/audit/records/{request_id}",
        "/audit/integrity",
        "/review",
        f"/review/{request_id}",
        "/spot-check",
        "/health",
        "/login",
        "/nowhere",
    ):
        browser.open(place)
        browser.run("for (const one of document.querySelectorAll('details')) one.open = true")
        browser.run(axe)
        result: Any = browser.driver.execute_async_script(
            "const done = arguments[0]; axe.run().then(done, (error) => done({failed: String(error)}))"
        )
        assert "failed" not in result, place
        found += [
            (place, fault["id"], node["target"], node["failureSummary"])
            for fault in result["violations"]
            if fault["impact"] in SERIOUS
            for node in fault["nodes"]
        ]
    assert found == []
