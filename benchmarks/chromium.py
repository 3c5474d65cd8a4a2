"""Debian's headless Chromium and its driver, for testing the pages and taking pictures of them.

In: a folder for its profile. Out: a driver for the duration of the context. It makes no network requests of
its own.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from selenium import webdriver
from selenium.webdriver.chrome.service import Service

PROGRAM, DRIVER = "/usr/bin/chromium", "/usr/bin/chromedriver"
FLAGS = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
    "--window-size=1280,900",
)


def missing() -> str:
    """What is not installed, "" if both are."""
    lacking = [program for program in (PROGRAM, DRIVER) if shutil.which(program) is None]
    return f"{lacking[0]} is not there: apt-get install chromium chromium-driver" if lacking else ""


@contextmanager
def chromium(profile: Path, *flags: str) -> Iterator[webdriver.Chrome]:
    """A browser whose console can be read."""
    options = webdriver.ChromeOptions()
    options.binary_location = PROGRAM
    for flag in (*FLAGS, *flags, f"--user-data-dir={profile}"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = webdriver.Chrome(options=options, service=Service(DRIVER))
    try:
        yield driver
    finally:
        driver.quit()
