"""The other views of the lab: gallery, lessons and calculator; phones, keyboards, and use without a network."""

from __future__ import annotations

import threading
import time
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

import tailback as tb
from browsing import PHONE, double_tap, finger, widths
from lab_page import GOLDEN, Open, example, expect_text, of_wheel, run, text_of, until
from support import HANGS_S, ROOT
from tailback._lab.page import write as write_page
from tailback.papers import document, experiments


@pytest.mark.parametrize("lesson", range(6))
def test_every_task_of_a_lesson_has_a_correct_choice(opened: Open, lesson: int) -> None:
    page = opened("#lessons")
    page.click(f"[data-lesson] >> nth={lesson}")
    page.wait_for_selector(".lesson-step >> nth=2")
    for task in range(3):
        page.check(f"input[name=task-{task}][value='0']")
        page.click(f".lesson-step >> nth={task} >> button")
        expect(page.locator(f"#verdict-{task}")).to_contain_text("It is")
        assert "none of these" not in page.inner_text(f"#verdict-{task}")


def test_a_lesson_compares_a_prediction_with_the_measurement(opened: Open) -> None:
    page = opened("#lessons")
    assert page.locator("[data-lesson]").count() == 6
    page.click("[data-lesson=sawtooth]")
    page.wait_for_selector(".lesson-step")
    page.click(".lesson-step >> nth=0 >> button")
    expect(page.locator("#verdict-0")).to_contain_text("Predict first")
    # Three quarters of the link, without a buffer.
    page.check("input[name=task-0][value='1']")
    page.click(".lesson-step >> nth=0 >> button")
    expect(page.locator("#verdict-0")).to_contain_text("As predicted")
    expect(page.locator(".pane")).to_have_count(2)


def test_a_lesson_ignores_the_stop_condition_of_runs(opened: Open) -> None:
    page = opened("#lessons")
    page.click("[data-lesson=sawtooth]")
    page.wait_for_selector(".lesson-step")
    page.click("#breaks summary")
    page.check("#break-loss")
    page.check("input[name=task-0][value='1']")
    page.click(".lesson-step >> nth=0 >> button")
    expect(page.locator("#verdict-0")).to_contain_text("As predicted")


def test_the_calculator_shows_the_results_of_the_models(opened: Open) -> None:
    page = opened("#sizing")
    page.fill("#size-flows", "10000")
    page.press("#size-flows", "Enter")
    link = {"rate_bps": 1e9, "packet_bytes": 1500, "flows": 10_000, "mean_rtt_s": 0.1, "utilisation": 0.98}
    buffer = tb.models.appenzeller_buffer(**link).buffer
    expect(page.locator("#view-sizing tr:has(th:text-is('appenzeller'))")).to_contain_text(f"{buffer:,}")
    page.fill("#size-rate", "1 Gbits")
    page.press("#size-rate", "Enter")
    expect(page.locator("#view-sizing .problem")).to_contain_text("unknown unit")


def test_every_control_has_a_name_and_works_by_keyboard(opened: Open) -> None:
    page = opened("#example=one_flow")
    page.keyboard.press("r")
    until(page, "parseFloat(document.getElementById('clock').textContent) > 0")
    page.keyboard.press("Space")
    expect(page.locator("#play")).to_have_text("Pause")
    page.keyboard.press("Space")
    expect(page.locator("#play")).to_have_text("Run")
    nameless = """() => [...document.querySelectorAll("button, input, select, textarea, summary")]
        .filter((one) => one.checkVisibility() && !(one.textContent.trim() || one.ariaLabel || one.labels?.length))
        .map((one) => one.outerHTML)"""
    assert page.evaluate(nameless) == []


def test_touch_zooms_and_a_double_tap_resets(opened: Open) -> None:
    page = opened("#example=one_flow", viewport=PHONE, has_touch=True)
    run(page)
    over = page.locator(".panel .u-over").first
    over.scroll_into_view_if_needed()
    box = over.bounding_box()
    assert box

    def without_cursor() -> bytes:
        """A picture after pending changes are drawn."""
        page.mouse.move(0, 0)
        page.evaluate("() => new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)))")
        return over.screenshot()

    whole = without_cursor()
    middle = box["y"] + box["height"] / 2
    finger(page, (box["x"] + 60, middle), (box["x"] + 100, middle + 1), (box["x"] + 140, middle + 1))
    assert without_cursor() != whole
    double_tap(page, (box["x"] + 100, middle), lambda: without_cursor() == whole)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_page_fits_a_phone(opened: Open, scheme: str) -> None:
    for place in ("#example=red", "#gallery", "#lessons", "#sizing"):
        page = opened(place, viewport=PHONE, color_scheme=scheme)
        whole, seen = widths(page.locator("html"))
        assert whole <= seen, place
    # The assumptions of the calculator's rules are not cut off either.
    page.wait_for_selector("#view-sizing tbody tr")
    whole, seen = widths(page.locator("#view-sizing .wide"))
    assert whole <= seen


def test_the_page_works_offline_and_updates_online(browser: Browser, tmp_path: Path) -> None:
    folder = tmp_path / "page"
    write_page(folder)
    handler = partial(SimpleHTTPRequestHandler, directory=str(folder))
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    address = f"http://127.0.0.1:{server.server_address[1]}/"
    context = browser.new_context()
    page = context.new_page()
    page.goto(address)
    expect(page.locator("#offline")).to_contain_text("works without a network")
    # The cache of another build is deleted; this is the first build.
    kept = page.evaluate("caches.keys()")
    assert len(kept) == 1
    # An upgrade is shown immediately.
    for name in ("index.html", "offline.js"):
        file = folder / name
        file.write_text(
            file.read_text().replace("Tailback lab", "Tailback lab, new").replace(kept[0].removeprefix("tailback-lab-"), "new")
        )
    page.goto(address)
    expect(page).to_have_title("Tailback lab, new")
    until(page, "caches.keys().then((names) => names.join() === 'tailback-lab-new')")
    server.shutdown()
    server.server_close()
    page.goto(address + "#example=one_flow")
    page.reload()
    page.wait_for_selector("body[data-ready]")
    expect(page).to_have_title("Tailback lab, new")
    assert run(page) == GOLDEN["one_flow.toml"]["1"]["results"]
    context.close()


def test_every_experiment_has_a_card_and_its_scenario_opens(opened: Open) -> None:
    page = opened()
    listed = page.locator("[data-experiment]").evaluate_all(
        "cards => cards.map((card) => [card.dataset.experiment, card.tagName])"
    )
    assert [name for name, _ in listed] == [experiment.id for experiment in experiments()]
    assert {tag for _, tag in listed} == {"BUTTON", "DIV"}
    page.click("[data-experiment='spd-1998/fig5.12']")
    expect(page.locator("#question")).to_contain_text(document("spd-1998").title)
    assert page.evaluate("location.hash") == "#experiment=spd-1998/fig5.12"
    assert run(page) == of_wheel(text_of(page), 1)


def test_only_visible_cards_are_animated_once(opened: Open) -> None:
    page = opened()
    first, last = page.locator(".thumb").first, page.locator(".thumb").last
    facts = page.locator("button:has(.thumb) > small")
    expect(facts.first).to_contain_text("1 flow")
    before = first.evaluate("canvas => canvas.toDataURL()")
    until(page, "before => document.querySelector('.thumb').toDataURL() !== before", before)
    # The last one was never visible, and thus not even loaded.
    assert facts.last.inner_text() == ""
    last.scroll_into_view_if_needed()
    expect(facts.last).not_to_be_empty()


def test_reduced_motion_shows_a_figure_of_the_whole_run(opened: Open) -> None:
    page = opened(reduced_motion="reduce")
    page.fill(".find", "two_rtts")
    canvas = page.locator("[data-example=two_rtts] .thumb")
    blank = canvas.evaluate("canvas => canvas.toDataURL()")
    pictures: set[str] = set()
    end = time.monotonic() + HANGS_S
    while len(pictures) < 1 and time.monotonic() < end:
        pictures |= {canvas.evaluate("canvas => canvas.toDataURL()")} - {blank}
    page.wait_for_timeout(500)
    pictures.add(canvas.evaluate("canvas => canvas.toDataURL()"))
    assert len(pictures) == 1


def test_every_experiment_opens_and_has_curves(opened: Open) -> None:
    page = opened()
    names = page.locator("[data-example]").evaluate_all("cards => cards.map((card) => card.dataset.example)")
    assert len(names) == len(list((ROOT / "examples").glob("*.toml")))
    for name in names:
        page.evaluate("name => { location.hash = `example=${name}`; }", name)
        expect_text(page, example(name))
        page.click("[data-step=round_trip]")
        until(page, "parseFloat(document.getElementById('clock').textContent) > 0")
        assert page.locator("#problems li").count() == 0, name
        assert page.locator("#notice").is_hidden(), name
