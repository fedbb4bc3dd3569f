"""Debian's Chromium, without a window."""

from __future__ import annotations

import shutil
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, BrowserContext, sync_playwright

from browsing import DESKTOP, Windows

# Nothing of a profile, nothing from the network.
SWITCHES = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--disable-background-networking", "--disable-component-update"]


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """One browser for all; each test opens pages of its own."""
    chromium = shutil.which("chromium")
    if chromium is None:
        pytest.skip("there is no chromium here")
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=chromium, args=SWITCHES)
        yield started
        started.close()


@pytest.fixture(scope="module")
def usual(browser: Browser) -> BrowserContext:
    """For pages that are opened as usual: what the browser compiled for one is there for the next."""
    context = browser.new_context(viewport=DESKTOP)
    # A page is opened beside this one, in its window: a window of its own takes as long again.
    context.new_page()
    return context


@pytest.fixture
def windows(browser: Browser, usual: BrowserContext) -> Iterator[Windows]:
    """For pages that have nothing to complain of."""
    made = Windows(browser, usual)
    yield made
    made.close()
    assert made.said == []
