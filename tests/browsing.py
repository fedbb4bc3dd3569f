"""Helpers for browser tests: open a page, move over its first plot, and inspect the drawing."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from playwright.sync_api import Browser, BrowserContext, FloatRect, Locator, Page, ViewportSize, expect

from support import HANGS_S

# A page that takes longer than this, in ms, hangs, also on a busy machine.
PATIENCE = 1000 * HANGS_S
expect.set_options(timeout=PATIENCE)

DESKTOP: ViewportSize = {"width": 1200, "height": 900}
PHONE = {"width": 390, "height": 844}


class BrowserPages:
    """Opens pages, and records their requests and errors.

    Attributes
    ----------
    requested_urls : set of str
        Requested addresses.
    errors : list of str
        Errors.
    """

    def __init__(self, browser: Browser, usual: BrowserContext) -> None:
        self._browser = browser
        self._usual = usual
        self._pages: list[Page] = []
        self._contexts: list[BrowserContext] = []
        self.requested_urls: set[str] = set()
        self.errors: list[str] = []

    def open(self, address: str, **options: Any) -> Page:
        context = self._usual
        if options:
            context = self._browser.new_context(**{"viewport": DESKTOP, **options})
            self._contexts.append(context)
        shown = context.new_page()
        shown.set_default_timeout(PATIENCE)
        self._pages.append(shown)
        shown.on("request", lambda request: self.requested_urls.add(request.url))
        shown.on("console", lambda message: self.errors.append(message.text) if message.type == "error" else None)
        shown.on("pageerror", lambda error: self.errors.append(str(error)))
        shown.goto(address)
        return shown

    def close(self) -> None:
        for one in [*self._pages, *self._contexts]:
            one.close()


def over(shown: Page) -> FloatRect:
    """The area of the first panel on the screen."""
    panel = shown.locator("figure .u-over").first
    panel.scroll_into_view_if_needed()
    box = panel.bounding_box()
    assert box
    return box


def under_cursor(shown: Page, part: float) -> tuple[str, str]:
    """The legend with the cursor at a fraction of the width: x and the value of the curve."""
    box = over(shown)
    shown.mouse.move(box["x"] + part * box["width"], box["y"] + box["height"] / 2)
    place, value, *_ = shown.locator(".uplot").first.locator(".u-value").all_inner_texts()
    return place, value


def finger(shown: Page, *places: tuple[float, float]) -> None:
    """Touch the first of these places, move over the others, and lift the finger."""
    session = shown.context.new_cdp_session(shown)
    for kind, (x, y) in zip(["touchStart", *["touchMove"] * (len(places) - 1)], places, strict=True):
        session.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": [{"x": x, "y": y}]})
    session.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
    session.detach()


def double_tap(shown: Page, place: tuple[float, float], effect: Callable[[], bool]) -> None:
    """Tap twice, and again until it has the effect: on a busy machine, two taps may be too far apart for a double tap."""
    end = time.monotonic() + HANGS_S
    while True:
        finger(shown, place)
        finger(shown, place)
        if effect():
            return
        assert time.monotonic() < end


def inked(shown: Page, colour: str) -> int:
    """Number of canvas pixels with approximately this colour, after pending requests to the page are drawn."""
    # A page receives a change of the colour scheme in its next frame, and redraws in the one after.
    count = """async (canvas, [red, green, blue]) => {
        for (const _ of [1, 2]) await new Promise(requestAnimationFrame);
        const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
        let found = 0;
        for (let at = 0; at < data.length; at += 4) {
            const off = Math.abs(data[at] - red) + Math.abs(data[at + 1] - green) + Math.abs(data[at + 2] - blue);
            found += data[at + 3] > 200 && off < 12;
        }
        return found;
    }"""
    parts = [int(colour[place : place + 2], 16) for place in (1, 3, 5)]
    return int(shown.locator("figure canvas").first.evaluate(count, parts))


def widths(part: Locator) -> tuple[int, int]:
    """Size of a part of the page, and of its visible area."""
    whole, seen = part.evaluate("element => [element.scrollWidth, element.clientWidth]")
    return whole, seen
