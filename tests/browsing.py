"""What tests do in a browser: open a page, move over its first plot, and look at what is drawn."""

from __future__ import annotations

from typing import Any

from playwright.sync_api import Browser, BrowserContext, FloatRect, Locator, Page, ViewportSize

DESKTOP: ViewportSize = {"width": 1200, "height": 900}
PHONE = {"width": 390, "height": 844}


class Windows:
    """Opens pages, and remembers what they fetched and complained of.

    Attributes
    ----------
    asked : set of str
        Addresses.
    said : list of str
        Errors.
    """

    def __init__(self, browser: Browser, usual: BrowserContext) -> None:
        self._browser = browser
        self._usual = usual
        self._pages: list[Page] = []
        self._contexts: list[BrowserContext] = []
        self.asked: set[str] = set()
        self.said: list[str] = []

    def open(self, address: str, **options: Any) -> Page:
        context = self._usual
        if options:
            context = self._browser.new_context(**{"viewport": DESKTOP, **options})
            self._contexts.append(context)
        shown = context.new_page()
        self._pages.append(shown)
        shown.on("request", lambda request: self.asked.add(request.url))
        shown.on("console", lambda message: self.said.append(message.text) if message.type == "error" else None)
        shown.on("pageerror", lambda error: self.said.append(str(error)))
        shown.goto(address)
        return shown

    def close(self) -> None:
        for one in [*self._pages, *self._contexts]:
            one.close()


def over(shown: Page) -> FloatRect:
    """Where on the screen the panel is in which curves are drawn."""
    panel = shown.locator("figure .u-over").first
    panel.scroll_into_view_if_needed()
    box = panel.bounding_box()
    assert box
    return box


def under_cursor(shown: Page, part: float) -> tuple[str, str]:
    """What the legend says when the cursor is at that part of the width: the place and the value of the curve."""
    box = over(shown)
    shown.mouse.move(box["x"] + part * box["width"], box["y"] + box["height"] / 2)
    place, value, *_ = shown.locator(".uplot").first.locator(".u-value").all_inner_texts()
    return place, value


def finger(shown: Page, *places: tuple[float, float]) -> None:
    """Puts a finger down at the first of these places of the screen, moves it over the others, and lifts it."""
    session = shown.context.new_cdp_session(shown)
    for kind, (x, y) in zip(["touchStart", *["touchMove"] * (len(places) - 1)], places, strict=True):
        session.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": [{"x": x, "y": y}]})
    session.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
    session.detach()


def inked(shown: Page, colour: str) -> int:
    """Pixels of the canvas that have this colour, nearly, once what was asked of the page before is drawn."""
    # A page hears of a changed ground in its next frame, and draws before the one after that.
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
    """Of a part of the page, and of what is seen of it."""
    whole, seen = part.evaluate("element => [element.scrollWidth, element.clientWidth]")
    return whole, seen
