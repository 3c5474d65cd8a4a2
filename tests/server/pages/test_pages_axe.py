"""No serious accessibility fault on any page, in both themes, by axe-core."""

from __future__ import annotations

import importlib.resources
from typing import Any

import msgspec
import pytest

from citewell.core.records import Conflict
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
    size = {"width": width, "height": 844, "deviceScaleFactor": 1, "mobile": False}
    browser.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    browser.ask("When did the bridge open?")
    answer = browser.path
    request_id = answer.rpartition("/")[2]
    view = browser.find("#claim-1 .cited a").get_attribute("href").removeprefix(browser.base)
    kb.feedback(request_id, "thumbs_down", meta={"reason": "too early"})
    nothing = kb.ask("What colour is the submarine?").request_id
    record = kb.audit.record(request_id)
    (side,) = record.claims[0].citations
    conflict = Conflict(about="the year", sides=(side, side), dates=("2025-03-01", "2026-02-01"))
    disputed = msgspec.structs.replace(
        record, request_id=f"req_{1:024d}", conflicts=(conflict,), missing=("the toll",)
    )
    kb.parts.log.append(disputed)
    found = []
    for place in (
        answer,
        "/",
        f"/answers/{nothing}",
        f"/answers/{disputed.request_id}",
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
        assert browser.run("return innerWidth") == width
        for claim in browser.all(".text a.claim")[:1]:
            claim.click()  # opens the sheet of a phone
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
    browser.driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
    assert found == []
