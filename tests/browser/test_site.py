"""The documentation site in a real browser: a page with one figure that can be zoomed and one that cannot."""

from __future__ import annotations

import io
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.figure import Figure
from matplotlib.image import imread
from playwright.sync_api import Page

from browsing import PHONE, BrowserPages, inked, over, under_cursor, widths
from pictures import LOOKS, svg
from support import ROOT
from tailback.plots import COLOURS

PAGE = """\
# Two pictures

![A line](images/line.svg)

Words between them.

![Bars](images/bars.svg)
"""

Open = Callable[..., Page]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site, built like `make docs`."""
    docs, out = (tmp_path_factory.mktemp(name) for name in ("docs", "out"))
    (docs / "images").mkdir()
    (docs / "index.md").write_text(PAGE)
    with mpl.rc_context(LOOKS):
        line, bars = Figure(), Figure()
        line.subplots().plot([0, 50, 100], [0, 10, 100], label="<b>a line</b>")
        bars.subplots().bar([1, 2], [3, 4])
    (docs / "images/line.svg").write_text(svg(line))
    (docs / "images/bars.svg").write_text(svg(bars))
    options = ["--quiet", "--fail-on-warning", "--conf-dir", str(ROOT / "docs")]
    subprocess.run([sys.executable, "-m", "sphinx", *options, str(docs), str(out)], check=True)
    return out


@pytest.fixture
def opened(windows: BrowserPages, site: Path) -> Iterator[Open]:
    """Opens the page, and checks afterwards that it fetched only parts of the site."""
    yield partial(windows.open, (site / "index.html").as_uri())
    assert {address for address in windows.requested_urls if not address.startswith(site.as_uri())} == set()


def test_lines_can_be_zoomed_and_bars_stay_a_picture(opened: Open) -> None:
    shown = opened()
    assert shown.locator(".uplot").count() == 1
    assert [image.is_visible() for image in shown.locator("article img").all()] == [False, True]
    assert shown.get_by_text("drag along the plot").is_visible()
    assert shown.locator(".u-legend .u-label").last.inner_text() == "<b>a line</b>"
    assert inked(shown, COLOURS[0]) > 100
    assert under_cursor(shown, 0.98) == ("100", "100")
    box = over(shown)
    middle = box["y"] + box["height"] / 2
    shown.mouse.move(box["x"] + 0.3 * box["width"], middle)
    shown.mouse.down()
    shown.mouse.move(box["x"] + 0.7 * box["width"], middle, steps=4)
    shown.mouse.up()
    assert under_cursor(shown, 0.98) == ("50", "10")


def test_without_scripts_all_figures_are_shown(opened: Open) -> None:
    shown = opened(java_script_enabled=False)
    assert [image.is_visible() for image in shown.locator("article img").all()] == [True, True]
    assert shown.locator(".uplot").count() == 0
    assert shown.get_by_text("drag along the plot").is_hidden()


def test_every_page_has_the_script_once(site: Path) -> None:
    pages = [page.read_text() for page in site.glob("*.html")]
    assert pages
    assert {page.count("plots.js") for page in pages} == {1}
    assert len([*site.rglob("plots.js")]) == 1


@pytest.mark.parametrize("scripts", [True, False])
def test_on_a_dark_page_lines_and_pictures_are_light_on_dark(opened: Open, scripts: bool) -> None:
    shown = opened(color_scheme="dark", java_script_enabled=scripts)
    screen = np.asarray(imread(io.BytesIO(shown.locator("figure").screenshot())))[..., :3]
    assert (screen.max(axis=2) < 0.2).mean() > 0.7
    assert (screen.max(axis=2) > 0.6).sum() > 200


@pytest.mark.parametrize("scripts", [True, False])
def test_on_a_phone_the_page_is_no_wider_than_the_screen(opened: Open, scripts: bool) -> None:
    shown = opened(viewport=PHONE, java_script_enabled=scripts)
    whole, seen = widths(shown.locator("html"))
    assert whole <= seen == PHONE["width"]
