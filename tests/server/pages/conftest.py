"""A running server and a real browser, Debian's Chromium in headless mode; skipped where there is none."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest
import uvicorn
from benchmarks.chromium import chromium, missing
from selenium import webdriver
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.remote.webelement import WebElement
from selenium.webdriver.support.wait import WebDriverWait

from citewell.knowledge.home import KnowledgeBase
from citewell.server import create_app

WAIT_S = 30


class Browser:
    """What a person does and sees."""

    def __init__(self, driver: webdriver.Chrome) -> None:
        self.driver = driver
        self.base = ""

    def open(self, path: str) -> None:
        self.driver.get(self.base + path)

    def find(self, selector: str) -> WebElement:
        return self.driver.find_element(By.CSS_SELECTOR, selector)

    def all(self, selector: str) -> list[WebElement]:
        return self.driver.find_elements(By.CSS_SELECTOR, selector)

    def wait(self, selector: str) -> WebElement:
        """The element, once it is shown."""
        self.until(lambda: any(one.is_displayed() for one in self.all(selector)), selector)
        return next(one for one in self.all(selector) if one.is_displayed())

    def until(self, true: Callable[[], object], what: str = "") -> None:
        WebDriverWait(self.driver, WAIT_S, ignored_exceptions=[Exception]).until(lambda _: true(), what)

    def ask(self, question: str) -> WebElement:
        """The finished answer."""
        self.open("/")
        self.find("#question").send_keys(question, Keys.ENTER)
        return self.wait("#answer")

    def text(self, selector: str) -> str:
        return self.find(selector).text

    @property
    def path(self) -> str:
        return self.driver.current_url.removeprefix(self.base)

    def run(self, script: str, *values: object) -> object:
        return self.driver.execute_script(script, *values)  # type: ignore[no-untyped-call]

    def theme(self, name: str) -> None:
        self.driver.execute_cdp_cmd(
            "Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": name}]}
        )

    def scripts(self, *, on: bool) -> None:
        """Off: the page's script never arrives. The driver needs scripts of its own to see the page."""
        self.driver.execute_cdp_cmd("Network.enable", {})
        self.driver.execute_cdp_cmd("Network.setBlockedURLs", {"urls": [] if on else ["*.js*"]})

    def errors(self) -> list[str]:
        """The console's complaints since the last call, including refusals by the content policy."""
        return [
            entry["message"]
            for entry in self.driver.get_log("browser")  # type: ignore[no-untyped-call]
            if entry["level"] in ("SEVERE", "WARNING")
        ]


@pytest.fixture(scope="session", name="chromium")
def running_chromium(tmp_path_factory: pytest.TempPathFactory) -> Iterator[webdriver.Chrome]:
    if lacking := missing():
        pytest.skip(lacking)
    with chromium(tmp_path_factory.mktemp("chromium")) as driver:
        yield driver


@pytest.fixture
def browser(chromium: webdriver.Chrome, live: str) -> Iterator[Browser]:
    """A page of the running server, reset: no cookies, scripts on, light theme."""
    found = Browser(chromium)
    found.base = live
    chromium.execute_cdp_cmd("Network.clearBrowserCookies", {})
    found.scripts(on=True)
    found.theme("light")
    chromium.set_window_size(1280, 900)
    found.errors()
    yield found
    # The page's requests end before its server does.
    chromium.get("about:blank")


@pytest.fixture
def live(kb: KnowledgeBase) -> Iterator[str]:
    """The application of ``kb`` on its own port."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port = listening.getsockname()[1]
        app = create_app(kb)
        server = uvicorn.Server(
            uvicorn.Config(app, log_level="error", ws="none", timeout_graceful_shutdown=1)
        )
        thread = threading.Thread(target=server.run, args=([listening],), daemon=True)
        thread.start()
        while not server.started:
            time.sleep(0.01)
        # A test may change the parts of the pass, but not while they are being assembled.
        assert app.state.site.ready.wait(WAIT_S), app.state.site.failed
        yield f"http://127.0.0.1:{port}"
        server.should_exit = True
        thread.join(WAIT_S)


class Paper:
    """A one-page PDF by hand, so that a test knows where its lines are: points from the bottom left."""

    WIDTH, HEIGHT = 612, 792

    def __init__(self, lines: Sequence[tuple[float, float, str]], title: str = "Note") -> None:
        self._lines, self._title = lines, title

    def bytes(self) -> bytes:
        said = "\n".join(f"BT /F1 12 Tf 1 0 0 1 {x} {y} Tm ({text}) Tj ET" for x, y, text in self._lines)
        objects = [
            "<< /Type /Catalog /Pages 2 0 R >>",
            "<< /Type /Pages /Kids [4 0 R] /Count 1 >>",
            "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>",
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 {self.WIDTH} {self.HEIGHT}] /Contents 5 0 R "
            "/Resources << /Font << /F1 3 0 R >> >> >>",
            f"<< /Length {len(said)} >>\nstream\n{said}\nendstream",
            f"<< /Title ({self._title}) >>",
        ]
        body, places = "%PDF-1.7\n", []
        for number, text in enumerate(objects, 1):
            places.append(len(body))
            body += f"{number} 0 obj\n{text}\nendobj\n"
        table = "".join(f"{place:010d} 00000 n \n" for place in places)
        size = len(objects) + 1
        end = f"xref\n0 {size}\n0000000000 65535 f \n{table}"
        end += f"trailer\n<< /Size {size} /Root 1 0 R /Info 6 0 R >>\n"
        return f"{body}{end}startxref\n{len(body)}\n%%EOF\n".encode("ascii")


@pytest.fixture
def paper(tmp_path: Path) -> Callable[..., Path]:
    """Writes a one-page PDF; returns its path."""

    def write(lines: Sequence[tuple[float, float, str]], name: str = "tower.pdf", **options: str) -> Path:
        path = tmp_path / name
        path.write_bytes(Paper(lines, **options).bytes())
        return path

    return write
