"""What the stylesheet alone does: filters, themes, and nothing that axe-core calls serious."""

from __future__ import annotations

import importlib.resources
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from selenium import webdriver
from selenium.webdriver.chrome.service import Service

from citewell.evaluation.report import write_page
from citewell.evaluation.results import Run

pytestmark = [pytest.mark.slow, pytest.mark.enable_socket]

CHROMIUM, DRIVER = "/usr/bin/chromium", "/usr/bin/chromedriver"
FLAGS = ("--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-dev-shm-usage")


@pytest.fixture(scope="module")
def chromium(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    if not shutil.which(CHROMIUM) or not shutil.which(DRIVER):
        pytest.skip("chromium is not there: apt-get install chromium chromium-driver")
    options = webdriver.ChromeOptions()
    options.binary_location = CHROMIUM
    for flag in (*FLAGS, f"--user-data-dir={tmp_path_factory.mktemp('chromium')}"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = webdriver.Chrome(options=options, service=Service(DRIVER))
    yield driver
    driver.quit()


def shown(chromium: Any) -> list[str]:
    return [
        case.get_attribute("class").split()[1]
        for case in chromium.find_elements("css selector", "details.case")
        if case.is_displayed()
    ]


def show_in(chromium: Any, theme: str) -> None:
    features = [{"name": "prefers-color-scheme", "value": theme}]
    chromium.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})


def test_filters_and_themes_work_without_script(
    chromium: Any, run_with: Callable[[str], Run], tmp_path: Path
) -> None:
    write_page(run_with(""), tmp_path / "report.html")
    chromium.get((tmp_path / "report.html").as_uri())
    assert shown(chromium) == ["wrong", "error", "unknown", "right"]
    for label, left in (("o-wrong", ["wrong"]), ("o-all", ["wrong", "error", "unknown", "right"])):
        chromium.find_element("css selector", f"label[for={label}]").click()
        assert shown(chromium) == left
    chromium.find_element("css selector", "label[for=d-answer]").click()
    assert shown(chromium) == ["right"]
    grounds = set()
    for theme in ("light", "dark"):
        show_in(chromium, theme)
        body = chromium.find_element("css selector", "body")
        grounds.add(body.value_of_css_property("background-color"))
    assert len(grounds) == 2
    refused = [entry for entry in chromium.get_log("browser") if "favicon" not in entry["message"]]
    assert refused == []


def test_axe_finds_nothing_serious(chromium: Any, run_with: Callable[[str], Run], tmp_path: Path) -> None:
    axe = (importlib.resources.files("axe_core_python") / "axe.min.js").read_text(encoding="utf-8")
    write_page(run_with(""), tmp_path / "report.html")
    chromium.get((tmp_path / "report.html").as_uri())
    chromium.execute_script("for (const one of document.querySelectorAll('details')) one.open = true")
    for theme in ("light", "dark"):
        show_in(chromium, theme)
        chromium.execute_script(axe)
        result = chromium.execute_async_script("const done = arguments[0]; axe.run().then(done)")
        assert [
            (fault["id"], fault["nodes"][0]["html"])
            for fault in result["violations"]
            if fault["impact"] in ("serious", "critical", "moderate")
        ] == []
