"""Fixtures for Debian's Chromium in headless mode."""

from __future__ import annotations

import shutil
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, BrowserContext, sync_playwright

from browsing import DESKTOP, BrowserPages

# No profile and no network.
SWITCHES = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--disable-background-networking", "--disable-component-update"]


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """One browser for all tests; each test opens its own pages."""
    chromium = shutil.which("chromium")
    if chromium is None:
        pytest.skip("there is no chromium here")
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=chromium, args=SWITCHES)
        yield started
        started.close()


@pytest.fixture(scope="module")
def usual(browser: Browser) -> BrowserContext:
    """A shared context for normal pages, so that compiled code is cached between pages."""
    context = browser.new_context(viewport=DESKTOP)
    # Pages are opened in an existing window, because a new window takes as long again.
    context.new_page()
    return context


@pytest.fixture
def windows(browser: Browser, usual: BrowserContext) -> Iterator[BrowserPages]:
    """A context for pages that must not report errors."""
    made = BrowserPages(browser, usual)
    yield made
    made.close()
    assert made.errors == []
