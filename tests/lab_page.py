"""Actions on the page of the lab in a browser."""

from __future__ import annotations

import json
import re
import runpy
import time
from collections.abc import Callable
from hashlib import sha256

from playwright.sync_api import FrameLocator, Page

import tailback as tb
from support import HANGS_S, ROOT

GOLDEN = json.loads((ROOT / "tests/golden/hashes.json").read_text())
table_bytes = runpy.run_path(str(ROOT / "tests/golden/golden.py"))["table_bytes"]
FASTEST = "as fast as possible"

Open = Callable[..., Page]


def example(name: str) -> str:
    """The text of an example in the lab, without the address of its schema."""
    directive, _, text = (ROOT / f"examples/{name}.toml").read_text().partition("\n")
    assert directive.startswith("#:schema")
    return text


def run(page: Page, speed: str = FASTEST) -> str:
    """Run the open scenario to its end, and return the hash of its results."""
    page.select_option("#speed", label=speed)
    page.click("#play")
    page.wait_for_selector("#hash-A")
    return page.inner_text("#hash-A")


def until(page: Page, condition: str, argument: object = None) -> None:
    """Wait by polling from outside, because the page's policy forbids evaluating text in it."""
    end = time.monotonic() + HANGS_S
    while not page.evaluate(condition, argument):
        assert time.monotonic() < end, condition
        page.wait_for_timeout(20)


def of_wheel(toml: str, seed: int) -> str:
    """The hash of the same run by the package."""
    tables = tb.simulate(tb.Scenario.from_toml(toml), seed=seed).tables.values()
    return sha256(b"".join(table_bytes(table) for table in tables)).hexdigest()


def text_of(page: Page | FrameLocator) -> str:
    """The text in the editor."""
    return str(page.locator("#toml").evaluate("editor => editor.value"))


def expect_text(page: Page | FrameLocator, text: str | re.Pattern[str]) -> None:
    """Wait until the editor has this text, or a text with this pattern."""
    end = time.monotonic() + HANGS_S
    while not (text == (shown := text_of(page)) if isinstance(text, str) else text.search(shown := text_of(page))):
        assert time.monotonic() < end, shown
        time.sleep(0.02)


def replace_text(page: Page, toml: str) -> None:
    """Type another text into the editor, in place of its own."""
    page.locator("#toml .cm-content").focus()
    page.keyboard.press("ControlOrMeta+a")
    page.keyboard.insert_text(toml)


def write(page: Page, toml: str) -> None:
    """Replace the text of the scenario."""
    page.click("#as-text")
    replace_text(page, toml)
    page.click("#apply")


def dropped(page: Page, name: str, content: str) -> None:
    page.set_input_files("#file", {"name": name, "mimeType": "application/toml", "buffer": content.encode()})
