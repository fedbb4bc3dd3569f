"""The lab in a notebook: the widget's module, driven in a real browser by the contract of anywidget."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from playwright.sync_api import Browser, FrameLocator, expect

import tailback as tb
from browsing import PATIENCE
from lab_page import text_of
from support import ROOT
from tailback._lab.widget import files

GOLDEN = json.loads((ROOT / "tests/golden/hashes.json").read_text())

# The part of a notebook that the widget uses: a state from Python, bytes as views, and an element to render into.
HOST = """<!doctype html><meta charset="utf-8"><title>notebook</title><div id="cell"></div><script type="module">
import widget from "./widget.js";
const state = await (await fetch("state.json")).json();
const files = {};
for (const name of state.files) {
  files[name] = new DataView(await (await fetch("files/" + name)).arrayBuffer());
}
const model = { get: (name) => ({ ...state, files })[name] };
globalThis.close_widget = await widget.render({ model, el: document.getElementById("cell") });
</script>"""


@pytest.fixture
def notebook(tmp_path: Path) -> Iterator[tuple[Path, str]]:
    """Address of a server for a directory."""
    handler = partial(SimpleHTTPRequestHandler, directory=str(tmp_path))
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield tmp_path, f"http://127.0.0.1:{server.server_address[1]}/"
    server.shutdown()
    server.server_close()


def shown(browser: Browser, notebook: tuple[Path, str], widget: object) -> tuple[FrameLocator, set[str]]:
    """The page in the cell, and its requests after the widget had all files."""
    folder, address = notebook
    (folder / "widget.js").write_text(widget._esm if isinstance(widget._esm, str) else widget._esm.read_text())  # type: ignore[attr-defined]
    (folder / "files").mkdir()
    for name, packed in widget.files.items():  # type: ignore[attr-defined]
        (folder / "files" / name).write_bytes(packed)
    state = {"files": list(widget.files), "fragment": widget.fragment, "height": widget.height}  # type: ignore[attr-defined]
    (folder / "state.json").write_text(json.dumps(state))
    (folder / "host.html").write_text(HOST)
    page = browser.new_page()
    page.set_default_timeout(PATIENCE)
    requested_urls: set[str] = set()
    page.on("request", lambda request: requested_urls.add(request.url))
    page.on("pageerror", lambda error: pytest.fail(str(error)))
    page.goto(address + "host.html")
    frame = page.frame_locator("#cell iframe")
    frame.locator("body[data-ready]").wait_for()
    return frame, {url.removeprefix(address) for url in requested_urls if not url.startswith("blob:")}


def test_a_scenario_in_a_cell_gives_the_same_bytes_as_the_package(browser: Browser, notebook: tuple[Path, str]) -> None:
    scenario = tb.load(ROOT / "examples/two_rtts.toml")
    frame, requested_urls = shown(browser, notebook, tb.lab(scenario, seed=2, height=700))
    assert requested_urls <= {"host.html", "widget.js", "state.json", "favicon.ico", *(f"files/{name}" for name in files())}
    # The text is unchanged, including comments, and names the seed of the run.
    text = text_of(frame)
    assert text.replace("seed = 2\n", "", 1) == (ROOT / "examples/two_rtts.toml").read_text()
    frame.locator("#speed").select_option(label="as fast as possible")
    frame.locator("#play").click()
    expect(frame.locator("#hash-A")).to_have_text(GOLDEN["two_rtts.toml"]["2"]["results"])


def test_a_scenario_from_python_is_shown_as_equivalent_text(browser: Browser, notebook: tuple[Path, str]) -> None:
    made = tb.dumbbell(rate="5 Mbps", delay="5 ms", buffer="20 packets", flows=2, duration="5 s")
    frame, _ = shown(browser, notebook, tb.lab(made))
    assert tb.Scenario.from_toml(text_of(frame)) == made
    # Without a scenario the gallery is shown, which is also included.
    frame.locator("#tab-gallery").click()
    expect(frame.locator("[data-example]").first).to_be_visible()


def test_the_widget_contains_the_page_and_checks_its_arguments() -> None:
    assert {"index.html", "lab.js", "core.wasm"} <= files().keys()
    with pytest.raises(ValueError, match="expected a whole number of pixels"):
        tb.lab(height=3)
    with pytest.raises(tb.errors.ScenarioError):
        tb.lab({"duration": "1"})
