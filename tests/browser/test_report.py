"""Reports in a real browser."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import Browser, Page, expect

from browsing import PHONE, BrowserPages, double_tap, finger, inked, over, under_cursor, widths
from tailback._html.pictures import DARK_GROUND
from tailback._study.measurements import Tally
from tailback.papers import Curves, Document, Line, Outcome, Point, document, experiments
from tailback.papers._report import Basis, page
from tailback.plots import COLOURS
from toy_experiment import TOY

HOSTILE = "<img src=x onerror=alert(1)>"
PLACES = (2, 5, 10, 20, 50, 100, 200)

Open = Callable[..., Page]


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A report with one figure over a logarithmic axis, with a line, a band and published values."""
    points = [
        Point({"packets": place, "printed": 0.5, "line": HOSTILE}, {"goodput": np.array([share - 0.001, share + 0.001])})
        for place, share in zip(PLACES, (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7), strict=True)
    ]
    lines = (Line(HOSTILE, {"line": HOSTILE}),)
    panel = Curves("goodput", "packets", lines, "goodput", "buffer, packets", printed=True, log_over=True)
    wide = {f"a measure with a long name, number {number}": TOY.measures["goodput"] for number in range(9)}
    measured = [replace(point, values={**point.values, **dict.fromkeys(wide, point.values["goodput"])}) for point in points]
    toy = replace(TOY, panels=((panel,),), claims=(), measures={"goodput": TOY.measures["goodput"], **wide})
    outcome = Outcome(measured, experiment=toy, seeds=2)
    file = tmp_path_factory.mktemp("report") / "toy.html"
    toys = Document("toy", "Toys", "A toy box", {}, (toy,))
    file.write_text(page(toys, [outcome], [], Basis(2, 14, Tally(14, 14, 1, 1.0, []))))
    return file


@pytest.fixture
def opened(windows: BrowserPages, report: Path) -> Iterator[Open]:
    """Opens the report, and checks afterwards that it fetched nothing."""
    yield partial(windows.open, report.as_uri())
    assert windows.requested_urls == {report.as_uri()}


def test_a_figure_becomes_a_plot_that_shows_its_values(opened: Open) -> None:
    shown = opened()
    assert shown.locator("figure .picture").is_hidden()
    assert inked(shown, COLOURS[0]) > 300
    # The mean of two seeds with its interval, at the first and at the last x.
    assert under_cursor(shown, 0.02)[0] == "2"
    place, value = under_cursor(shown, 0.98)
    assert place == "200"
    assert value.startswith("0.7 (")
    labels = shown.locator(".u-legend .u-label").all_inner_texts()
    # Names are not interpreted.
    assert labels == ["buffer, packets", HOSTILE, "printed"]


def test_dragging_zooms_and_a_double_click_shows_all_again(opened: Open) -> None:
    shown = opened()
    box = over(shown)
    middle = box["y"] + box["height"] / 2
    shown.mouse.move(box["x"] + 0.5 * box["width"], middle)
    shown.mouse.down()
    shown.mouse.move(box["x"] + 0.9 * box["width"], middle + 2, steps=4)
    shown.mouse.up()
    # 0.5 of the decades from 2 to 200 is at 20.
    assert under_cursor(shown, 0.02)[0] == "20"
    shown.mouse.dblclick(box["x"] + 0.5 * box["width"], middle)
    assert under_cursor(shown, 0.02)[0] == "2"


def test_a_finger_along_the_plot_zooms_and_two_taps_show_all_again(opened: Open) -> None:
    shown = opened(viewport=PHONE, has_touch=True, is_mobile=True)
    box = over(shown)
    middle = box["y"] + box["height"] / 2
    across = [(box["x"] + part * box["width"], middle) for part in (0.48, 0.6, 0.7, 0.8, 0.9)]
    place = shown.locator(".u-legend .u-value").first
    finger(shown, *across)
    left = (box["x"] + 0.02 * box["width"], middle)
    finger(shown, left)
    # Half of the decades from 2 to 200 is at 20.
    expect(place).to_have_text("20")
    double_tap(shown, left, lambda: place.inner_text() == "2")


def test_a_finger_down_the_plot_scrolls_the_page(opened: Open) -> None:
    shown = opened(viewport=PHONE, has_touch=True, is_mobile=True)
    box = over(shown)
    before = shown.evaluate("scrollY")
    x, low = box["x"] + 0.5 * box["width"], box["y"] + 0.9 * box["height"]
    finger(shown, *((x + up / 20, low - up) for up in range(0, 200, 20)))
    shown.wait_for_function(f"scrollY > {before} + 100")
    assert shown.locator(".u-select").evaluate("element => element.style.width") == "0px"
    finger(shown, (box["x"] + 0.02 * box["width"], box["y"] + 10))
    expect(shown.locator(".u-legend .u-value").first).to_have_text("2")


def test_the_legend_hides_and_shows_curves(opened: Open) -> None:
    shown = opened()
    before = inked(shown, COLOURS[0])
    shown.locator(".u-legend .u-label").nth(1).click()
    shown.mouse.move(0, 0)
    assert inked(shown, COLOURS[0]) == 0
    shown.locator(".u-legend .u-label").nth(1).click()
    assert inked(shown, COLOURS[0]) >= before


def test_without_scripts_the_figure_is_shown(opened: Open) -> None:
    shown = opened(java_script_enabled=False)
    assert shown.locator("figure .picture svg").is_visible()
    assert shown.locator(".uplot").count() == 0
    assert shown.get_by_text("drag along the plot").is_hidden()


def test_a_figure_that_cannot_be_drawn_keeps_its_picture(browser: Browser, report: Path, tmp_path: Path) -> None:
    damaged = tmp_path / "damaged.html"
    damaged.write_text(report.read_text().replace('"curves"', '"crooked"'))
    shown = browser.new_page()
    errors: list[str] = []
    shown.on("console", lambda message: errors.append(message.type))
    shown.goto(damaged.as_uri())
    assert shown.locator("figure .picture svg").is_visible()
    assert shown.locator(".plots").count() == 0
    assert errors == ["error"]
    shown.close()


@pytest.mark.parametrize("scripts", [True, False])
def test_dark_mode_has_light_lines(opened: Open, scripts: bool) -> None:
    from matplotlib.image import imread

    shown = opened(color_scheme="dark", java_script_enabled=scripts)
    screen = np.asarray(imread(io.BytesIO(shown.locator("figure").screenshot())))[..., :3]
    ground = np.array([int(DARK_GROUND[place : place + 2], 16) for place in (1, 3, 5)]) / 255
    off = np.abs(screen - ground).max(axis=2)
    # Most of the page is background, and axes, words and curves are lighter.
    assert (off < 0.02).mean() > 0.7
    assert (screen.min(axis=2) > 0.5).sum() > 200
    assert (screen.max(axis=2) < ground.min() - 0.02).sum() == 0


def test_a_plot_follows_a_change_of_the_colour_scheme(opened: Open) -> None:
    shown = opened(color_scheme="light")
    assert inked(shown, COLOURS[0]) > 300
    shown.emulate_media(color_scheme="dark")
    assert inked(shown, COLOURS[0]) == 0


@pytest.mark.parametrize("width", [896, 1280])
def test_all_columns_of_a_claim_are_in_sight(windows: BrowserPages, tmp_path: Path, width: int) -> None:
    (experiment,) = experiments("bpd-2001/fig12")
    random = np.random.default_rng(1)
    points = [
        Point(each.labels, {name: random.uniform(-1e4, 1e4, 5) for name in experiment.measures}) for each in experiment.variants
    ]
    outcome = Outcome(points, experiment=replace(experiment, panels=()), seeds=5)
    file = tmp_path / "claims.html"
    file.write_text(page(document("bpd-2001"), [outcome], [], Basis(5, 5, Tally(5, 5, 1, 1.0, []))))
    shown = windows.open(file.as_uri(), viewport={"width": width, "height": 800})
    tables = shown.locator("div.wide:has(> .claims)").all()
    assert tables
    for table in tables:
        whole, seen = widths(table)
        assert whole <= seen


@pytest.mark.parametrize("scripts", [True, False])
def test_on_a_phone_tables_and_scenarios_scroll_and_the_page_does_not(opened: Open, scripts: bool) -> None:
    shown = opened(viewport=PHONE, java_script_enabled=scripts)
    for summary in shown.locator("summary").all():
        summary.click()
    whole, seen = widths(shown.locator("html"))
    assert whole <= seen == PHONE["width"]
    table, room = widths(shown.locator("details .wide").first)
    assert table > room
