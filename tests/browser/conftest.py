"""Fixtures for Debian's Chromium without a display."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, BrowserContext, Error, Page, sync_playwright

from browsing import DESKTOP, BrowserPages
from lab_page import Open
from support import HANGS_S

# No profile and no network.
SWITCHES = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--disable-background-networking", "--disable-component-update"]


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """One browser for all tests; each test opens its own pages."""
    # The shell has the same engine without the processes of a desktop browser.
    chromium = shutil.which("chromium-headless-shell") or shutil.which("chromium")
    with sync_playwright() as playwright:
        try:
            # Without a path, the one that `playwright install` installed.
            started = playwright.chromium.launch(executable_path=chromium, args=SWITCHES)
        except Error:
            if chromium is not None or os.environ.get("CI") == "true":
                raise
            pytest.skip("there is no chromium here")
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


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """Address at which `tailback lab` serves the page; checks that Ctrl-C ends the server cleanly."""
    # Files of tests run at the same time, each with a server.
    command = [sys.executable, "-m", "tailback", "lab", "--no-open", "--port", "0"]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert server.stdout is not None
    yield server.stdout.readline().strip()
    server.send_signal(2)
    assert (server.wait(HANGS_S), server.communicate()[1]) == (0, "press Ctrl-C to stop the server\n\n")


@pytest.fixture
def opened(windows: BrowserPages, address: str) -> Iterator[Open]:
    """Opens the lab, and checks afterwards that it requested nothing from other servers."""

    def shown(place: str = "", **options: object) -> Page:
        page = windows.open(address + place, **options)
        page.wait_for_selector("body[data-ready]")
        return page

    yield shown
    assert {url for url in windows.requested_urls if not url.startswith((address, "blob:"))} == set()
