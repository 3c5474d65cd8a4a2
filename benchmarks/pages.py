"""``python -m benchmarks.pages [--home HOME] [--shots]``: weight of each page, time until it can be used.

In: Debian's Chromium and its driver; CITEWELL_DATA for one filing. HOME (made when missing) holds this
project's own documentation and that filing, with questions asked through ten weeks of a turned clock, some
of them flagged. Out: docs/measurements/pages.md; with ``--shots`` pictures in docs/images, in both themes.
"""

from __future__ import annotations

import argparse
import io
import json
import os
import socket
import statistics
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import uvicorn
from selenium import webdriver
from selenium.webdriver.common.by import By

from benchmarks.chromium import chromium
from benchmarks.reporting import data_folder, table, write
from citewell.evaluation import sampling
from citewell.knowledge.home import KnowledgeBase
from citewell.knowledge.opening import open
from citewell.server import create_app

ROOT = Path(__file__).parents[1]
IMAGES = ROOT / "docs" / "images"
FILING = "AMAZON_2019_10K.pdf"
NET_INCOME = "What is Amazon's FY2019 net income?"
QUESTIONS = (
    "What is the default relevance threshold?",
    "What were Amazon's net sales and operating income in 2019?",
    "How many employees did Amazon have at the end of 2019?",
    "What happens when the log cannot be written?",
    "What is the default retrieval.pool?",
    "Who signs the checkpoint of the log?",
    "What did Amazon spend on technology and content in 2019?",
    "What did Citewell earn in fiscal year 2031?",
    "What does documents.timeout_s bound?",
    NET_INCOME,
)
WRONG = {2: "It leaves out the part-time employees.", 3: "docs/architecture.md says it: there is no answer."}
LOADS = 5
PICTURES = (
    *("ask", "answer", "source", "partial", "abstained", "view", "history", "documents", "about", "audit"),
    *("record", "integrity", "review", "case", "spot-check", "health", "login", "error"),
)
"""Every page, and an answer with a claim's source opened."""
WIDTHS = {1280: ".png", 390: "-390.png"}
"""Window width in pixels -> what the names of its pictures end with."""
TIMES = """
const page = performance.getEntriesByType("navigation")[0];
const paint = performance.getEntriesByName("first-contentful-paint")[0];
const parts = performance.getEntriesByType("resource");
const sum = (of) => [page, ...parts].reduce((all, one) => all + of(one), 0);
const images = parts.filter((one) => one.name.includes("page.png"));
return {
  server: page.responseStart - page.requestStart,
  paint: paint ? paint.startTime : null,
  interactive: page.domContentLoadedEventEnd,
  loaded: page.loadEventEnd,
  html: page.encodedBodySize,
  all: sum((one) => one.encodedBodySize),
  images: images.reduce((all, one) => all + one.encodedBodySize, 0),
  requests: 1 + parts.length,
};
"""


class TurnedClock:
    """A clock that moves forward a week with each question."""

    def __init__(self) -> None:
        self.weeks_ago = len(QUESTIONS) - 1

    def now(self) -> datetime:
        return datetime.now(UTC) - timedelta(weeks=self.weeks_ago)


def made(home: Path) -> dict[str, str]:
    """The addresses to visit, in a home that is filled if it does not exist."""
    known = home / "pages.json"
    if not known.exists():
        clock = TurnedClock()
        with open(home, clock=clock) as kb:
            kb.ingest(ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")))
            kb.ingest(data_folder() / "financebench" / "pdfs" / FILING, tags=["filing"])
            requests = []
            for place, question in enumerate(QUESTIONS):
                clock.weeks_ago = len(QUESTIONS) - 1 - place
                requests.append(kb.ask(question, user="ann" if place % 2 else "owner").request_id)
                if place in WRONG:
                    kb.feedback(requests[-1], "thumbs_down", user="ann", meta={"reason": WRONG[place]})
            known.write_text(json.dumps(addresses(kb, requests), indent=1))
    found: dict[str, str] = json.loads(known.read_text())
    return found


def addresses(kb: KnowledgeBase, requests: list[str]) -> dict[str, str]:
    from citewell.server.pages.answers import show_answer

    last = show_answer(kb.audit.record(requests[-1]), kb)
    view = next(source.href for claim in last.claims for source in claim.sources if source.href)
    return {
        "ask": "/",
        "answer": f"/answers/{requests[-1]}",
        "partial": f"/answers/{requests[2]}",
        "abstained": f"/answers/{requests[3]}",
        "view": view,
        "history": "/history",
        "documents": "/documents",
        "about": f"/documents/about?id={FILING}",
        "audit": "/audit",
        "record": f"/audit/records/{requests[-1]}",
        "integrity": "/audit/integrity",
        "review": "/review",
        "case": f"/review/{requests[3]}",
        "spot-check": f"/spot-check/{sampling.draw(kb, since='90d', n=20).sample_id}",
        "health": "/health",
        "login": "/login",
        "error": "/nowhere",
    }


@contextmanager
def serving(home: Path) -> Iterator[str]:
    with open(home) as kb, serving_home(kb) as base:
        yield base


@contextmanager
def serving_home(kb: KnowledgeBase) -> Iterator[str]:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        server = uvicorn.Server(uvicorn.Config(create_app(kb), log_level="error", ws="none"))
        thread = threading.Thread(target=server.run, args=([listening],), daemon=True)
        thread.start()
        while not server.started:
            time.sleep(0.05)
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
        server.should_exit = True
        thread.join(10)


@contextmanager
def browser() -> Iterator[webdriver.Chrome]:
    folder = tempfile.TemporaryDirectory(prefix="citewell-chromium-", ignore_cleanup_errors=True)
    with folder as profile, chromium(Path(profile), "--hide-scrollbars") as driver:
        yield driver


def measured(driver: webdriver.Chrome, address: str) -> dict[str, Any]:
    """Medians over ``LOADS`` loads, each with an emptied cache."""
    loads: list[dict[str, float]] = []
    driver.execute_cdp_cmd("Network.enable", {})
    for _ in range(LOADS):
        driver.execute_cdp_cmd("Network.clearBrowserCache", {})
        driver.get("about:blank")
        driver.get(address)
        time.sleep(0.4)
        loads.append(driver.execute_script(TIMES))  # type: ignore[no-untyped-call]
    taken = {name: [one[name] for one in loads if one[name] is not None] for name in loads[0]}
    return {name: statistics.median(values) if values else None for name, values in taken.items()}


def weigh(base: str, places: dict[str, str]) -> None:
    with browser() as driver:
        driver.get(base)
        found = {name: measured(driver, base + path) for name, path in places.items()}
    rows = [
        [
            name,
            f"{one['html'] / 1000:.1f}",
            f"{(one['all'] - one['images']) / 1000:.1f}",
            f"{one['images'] / 1000:.0f}" if one["images"] else "",
            f"{one['requests']:.0f}",
            f"{one['server']:.0f}",
            f"{one['paint']:.0f}" if one["paint"] is not None else "not measured",
            f"{one['interactive']:.0f}",
        ]
        for name, one in found.items()
    ]
    heads = ["page", "HTML kB", "with style, script, shapes kB", "page image kB", "requests", "server ms",
             "first paint ms", "interactive ms"]  # fmt: skip
    body = f"""`python -m benchmarks.pages`. A home of this project's documentation and one filing
({FILING}, 83 pages), {len(QUESTIONS)} answers in its log; headless Chromium on the same machine as the
server, cache emptied before each load; medians of n = {LOADS} loads. *Interactive* is
when the script has run (`domContentLoadedEventEnd`), from the click; *server* is the time to the first
byte. Nothing is compressed on the wire. The stylesheet, script and icons are fetched once and cached
permanently. The load
average of the machine was {os.getloadavg()[0]:.0f} on {os.cpu_count()} cores.

{table(heads, rows)}
"""
    title = "Page size and load time"
    write("pages", title, body, {"loads": LOADS, "pages": found})


@contextmanager
def looking(width: int, theme: str) -> Iterator[webdriver.Chrome]:
    phone = width < 600
    features = [
        {"name": "prefers-color-scheme", "value": theme},
        {"name": "prefers-reduced-motion", "value": "reduce"},
    ]
    size = {"width": width, "height": 844 if phone else 900, "deviceScaleFactor": 1, "mobile": phone}
    with browser() as driver:
        driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
        yield driver


def photograph(base: str, places: dict[str, str]) -> None:
    IMAGES.mkdir(parents=True, exist_ok=True)
    for width, theme in [(width, theme) for width in WIDTHS for theme in ("light", "dark")]:
        with looking(width, theme) as driver:
            for name, path in places.items():
                driver.get(base + path)
                time.sleep(1)
                if name == "answer":
                    driver.execute_script("document.querySelector('.text .claim').focus()")  # type: ignore[no-untyped-call]
                picture(driver, f"{name}-{theme}{WIDTHS[width]}")
            driver.get(base + places["answer"])
            driver.find_element(By.CSS_SELECTOR, ".text .claim").click()
            time.sleep(1)
            picture(driver, f"source-{theme}{WIDTHS[width]}")


def picture(driver: webdriver.Chrome, name: str) -> None:
    from PIL import Image

    image = Image.open(io.BytesIO(driver.get_screenshot_as_png())).convert("RGB")
    image.quantize(128).save(IMAGES / name, optimize=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--home", type=Path, default=Path(".bench-pages"))
    parser.add_argument("--shots", action="store_true", help="pictures instead of figures")
    options = parser.parse_args()
    places = made(options.home)
    with serving(options.home) as base:
        if not options.shots:
            weigh(base, places)
        else:
            photograph(base, places)


if __name__ == "__main__":
    main()
