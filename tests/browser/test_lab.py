"""The lab in a real browser, served by `tailback lab`."""

from __future__ import annotations

import json
import re
import runpy
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from functools import partial
from hashlib import sha256
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

import tailback as tb
from browsing import PHONE, BrowserPages, finger, widths
from support import ROOT
from tailback._lab import write as write_page
from tailback.papers import document, experiments

GOLDEN = json.loads((ROOT / "tests/golden/hashes.json").read_text())
table_bytes = runpy.run_path(str(ROOT / "tests/golden/golden.py"))["table_bytes"]
FASTEST = "as fast as possible"
# Timeout for Debian's Chromium on a busy machine.
PATIENCE = 30_000

Open = Callable[..., Page]


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """Address at which `tailback lab` serves the page; checks that Ctrl-C ends the server cleanly."""
    command = [sys.executable, "-m", "tailback", "lab", "--no-open"]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert server.stdout is not None
    yield server.stdout.readline().strip()
    server.send_signal(2)
    assert (server.wait(10), server.communicate()[1]) == (0, "press Ctrl-C to stop the server\n\n")


@pytest.fixture
def opened(windows: BrowserPages, address: str) -> Iterator[Open]:
    """Opens the lab, and checks afterwards that it requested nothing from other servers."""

    def shown(place: str = "", **options: object) -> Page:
        page = windows.open(address + place, **options)
        page.set_default_timeout(PATIENCE)
        page.wait_for_selector("body[data-ready]")
        return page

    yield shown
    assert {url for url in windows.requested_urls if not url.startswith((address, "blob:"))} == set()


def run(page: Page, speed: str = FASTEST) -> str:
    """Run the open scenario to its end, and return the hash of its results."""
    page.select_option("#speed", label=speed)
    page.click("#play")
    page.wait_for_selector("#hash-A")
    return page.inner_text("#hash-A")


def until(page: Page, condition: str, argument: object = None) -> None:
    """Wait by polling from outside, because the page's policy forbids evaluating text in it."""
    end = time.monotonic() + PATIENCE / 1000
    while not page.evaluate(condition, argument):
        assert time.monotonic() < end, condition
        page.wait_for_timeout(20)


def of_wheel(toml: str, seed: int) -> str:
    """The hash of the same run by the package."""
    tables = tb.simulate(tb.Scenario.from_toml(toml), seed=seed).tables.values()
    return sha256(b"".join(table_bytes(table) for table in tables)).hexdigest()


def write(page: Page, toml: str) -> None:
    """Replace the text of the scenario."""
    page.click("#as-text")
    page.fill("#toml", toml)
    page.click("#apply")


def dropped(page: Page, name: str, content: str) -> None:
    page.set_input_files("#file", {"name": name, "mimeType": "application/toml", "buffer": content.encode()})


def test_a_run_gives_the_same_bytes_as_the_package(opened: Open) -> None:
    page = opened("#example=two_rtts")
    assert run(page) == GOLDEN["two_rtts.toml"]["1"]["results"]
    # The numbers also equal those of the command line.
    goodput = tb.simulate(tb.load(ROOT / "examples/two_rtts.toml"), seed=1).flows["goodput_bps"]
    shown = page.locator("#results td[title]").evaluate_all("cells => cells.map((cell) => cell.title)")
    assert {str(float(value)).removesuffix(".0") for value in goodput} <= set(shown)


def test_showing_packets_does_not_change_the_results(opened: Open) -> None:
    page = opened("#example=fast_retransmit")
    page.select_option("#speed", label="1/10")
    page.click("#play")
    until(page, "parseFloat(document.getElementById('clock').textContent) > 0.05")
    page.click("#play")
    for step in ("event", "packet", "round_trip"):
        before, end = page.inner_text("#clock"), time.monotonic() + PATIENCE / 1000
        # The next event may occur at the same instant.
        while page.inner_text("#clock") == before:
            assert time.monotonic() < end, step
            page.click(f"[data-step={step}]")
            page.wait_for_timeout(100)
    # The run up to this point is repeated from the list of events.
    assert run(page) == GOLDEN["fast_retransmit.toml"]["1"]["results"]


def test_another_seed_gives_another_run(opened: Open) -> None:
    page = opened("#example=random_loss")
    page.fill("#seed", "2")
    page.press("#seed", "Enter")
    expect(page.locator("#status")).to_contain_text("Press Run")
    assert run(page) == GOLDEN["random_loss.toml"]["2"]["results"]


def test_a_control_changes_the_text_and_the_run(opened: Open) -> None:
    page = opened("#example=one_flow")
    knob = page.locator("[id='knob-topology.dumbbell.queue.buffer']")
    knob.fill("7 packets")
    knob.press("Enter")
    expect(page.locator("#toml")).to_have_value(re.compile('buffer = "7 packets"'))
    toml = page.input_value("#toml")
    # Nothing else has changed, including comments.
    assert toml == re.sub('buffer = "[^"]*"', 'buffer = "7 packets"', (ROOT / "examples/one_flow.toml").read_text())
    assert run(page) == of_wheel(toml, 1)


def test_selecting_a_policy_adds_its_required_settings(opened: Open) -> None:
    page = opened("#example=red")
    choice = page.locator("[id='knob-topology.dumbbell.queue.policy']")
    words = choice.evaluate("choice => [...choice.options].map((option) => option.value)")
    assert {"red", "codel", "bpd", "policer"} < set(words)
    of_cells = set()
    for word in [*words, "red"]:
        choice.select_option(word)
        expect(page.locator("#toml")).to_have_value(re.compile(f'policy = "{word}"'))
        told = page.locator("#problems li").all_inner_texts()
        # A policy for cells has no other error than this.
        assert all("cells" in one or "virtual channels" in one for one in told), told
        if told:
            of_cells.add(word)
    assert of_cells == {"ppd", "epd", "epd_per_vc", "bpd", "spd", "erica"}
    toml = page.input_value("#toml")
    assert 'policy = "red", buffer = "200 packets", min_threshold = "25 %", max_threshold = "75 %"' in toml
    assert run(page) == of_wheel(toml, 1)


def test_valid_keys_of_a_table_can_be_added_and_removed(opened: Open) -> None:
    page = opened("#example=one_flow")
    shipped = page.input_value("#toml")

    def settle(section: str, choice: str) -> None:
        below = page.locator(".settings", has=page.get_by_label(f"Add to or remove from {section}", exact=True))
        below.locator("select").select_option(choice)
        below.locator("button").click()

    settle("topology.dumbbell", "+loss")
    # An empty table is a section to add to.
    settle("topology.dumbbell.loss", "+probability")
    knob = page.locator("[id='knob-topology.dumbbell.loss.probability']")
    expect(knob).to_be_focused()
    knob.fill("0.1 %")
    knob.press("Enter")
    expect(page.locator("#toml")).to_have_value(re.compile('probability = "0.1 %"'))
    toml = page.input_value("#toml")
    assert run(page) == of_wheel(toml, 1) != GOLDEN["one_flow.toml"]["1"]["results"]
    settle("topology.dumbbell", "-loss")
    expect(page.locator("#toml")).to_have_value(shipped)
    expect(page.get_by_label("Add to or remove from topology.dumbbell", exact=True)).to_be_focused()


def test_settings_to_edit_by_hand_are_reported_and_unchanged(opened: Open) -> None:
    page = opened("#example=red")
    text = page.input_value("#toml").replace('policy = "red"', 'policy = "red" # by Floyd').replace("queue = {", "queue = {\n ")
    text = re.sub(r'policy = "red" # by Floyd,(.*)}', r'\1, policy = "red" # by Floyd\n}', text)
    write(page, text)
    expect(page.locator("#problems li")).to_have_count(0)
    page.click("#as-knobs")
    page.locator("[id='knob-topology.dumbbell.queue.policy']").select_option("rem")
    expect(page.locator("#notice")).to_contain_text("manually")
    assert page.locator("[id='knob-topology.dumbbell.queue.policy']").input_value() == "red"
    assert page.input_value("#toml") == text


def test_two_variants_are_compared_and_their_first_difference_is_named(opened: Open) -> None:
    page = opened("#example=two_rtts")
    page.click("#compare")
    expect(page.locator("#difference")).to_contain_text("A and B are the same")
    knob = page.locator("[id='knob-topology.dumbbell.queue.buffer']")
    knob.fill("10 packets")
    knob.press("Enter")
    expect(page.locator("#difference")).to_contain_text("First difference at", timeout=PATIENCE)
    assert "bottleneck" in page.inner_text("#difference")
    assert run(page) == GOLDEN["two_rtts.toml"]["1"]["results"]
    # It remains after the end of the run.
    expect(page.locator("#status")).to_have_text("Done.")
    expect(page.locator("#difference")).to_contain_text("First difference at")
    assert page.inner_text("#hash-B") == of_wheel(page.input_value("#toml"), 1)
    page.click("#compare")
    expect(page.locator(".pane")).to_have_count(1)


@pytest.mark.parametrize(("what", "value"), [("rate", "3 Mbps"), ("buffer", "90 packets")])
def test_a_fork_continues_with_one_change(opened: Open, what: str, value: str) -> None:
    page = opened("#example=one_flow")
    run(page)
    over = page.locator(".panel .u-over").first
    box = over.bounding_box()
    assert box
    over.click(position={"x": box["width"] / 2, "y": box["height"] - 20})
    expect(page.locator("#fork")).to_contain_text(re.compile("Fork at (29.9|30)"))
    page.select_option("[aria-label='Property to change']", what)
    page.fill("#fork input", value)
    page.click("#fork-go")
    page.wait_for_selector("#hash-B")
    toml = page.input_value("#toml")
    assert f'{what} = "{value}"' in toml[toml.index("[[timeline]]") :]
    assert page.inner_text("#hash-B") == of_wheel(toml, 1)
    assert page.inner_text("#hash-A") == GOLDEN["one_flow.toml"]["1"]["results"]


def test_a_loss_shows_its_reason(opened: Open) -> None:
    page = opened("#example=one_flow")
    run(page)
    page.click("summary:has-text('last losses')")
    page.click("button:has-text('Why?') >> nth=0")
    page.wait_for_selector("#why ol")
    told = page.inner_text("#why")
    for part in ("the buffer was full", "It held", "duplicate acknowledgement", "retransmitted the segment"):
        assert part in told


def test_a_run_stops_at_the_first_loss(opened: Open) -> None:
    page = opened("#example=one_flow")
    page.click("#break-summary")
    page.check("#break-loss")
    page.select_option("#speed", label=FASTEST)
    page.click("#play")
    expect(page.locator("#status")).to_contain_text("a loss at bottleneck (full)", timeout=PATIENCE)
    toml = (ROOT / "examples/one_flow.toml").read_text().partition("[record]")[0] + '[record]\ntraces = ["drops"]\n'
    drops = tb.simulate(tb.Scenario.from_toml(toml)).trace("drops")
    assert float(page.inner_text("#clock").split("\u202f")[0]) == pytest.approx(float(drops["time_s"][0]), abs=2e-3)


def test_a_link_holds_both_variants_and_the_seed(opened: Open) -> None:
    page = opened("#example=md1")
    page.fill("#seed", "5")
    page.press("#seed", "Enter")
    page.click("#compare")
    page.wait_for_selector("#variants button >> nth=1")
    page.click("#share")
    until(page, "location.hash.startsWith('#1.')")
    place = page.evaluate("location.hash")
    other = opened(place)
    assert other.input_value("#seed") == "5"
    expect(other.locator(".pane")).to_have_count(2)
    assert run(other) == of_wheel((ROOT / "examples/md1.toml").read_text(), 5)


@pytest.mark.parametrize(
    ("place", "told"),
    [
        ("cut", "truncated or altered"),
        ("altered", "truncated or altered"),
        ("#2.AAAA", "another version"),
        ("#1.", "truncated or altered"),
        ("#<img src=x onerror=alert(1)>", "not a link of the lab"),
    ],
)
def test_an_invalid_link_is_reported_and_keeps_the_scenario(opened: Open, place: str, told: str) -> None:
    page = opened("#example=one_flow")
    if not place.startswith("#"):
        page.click("#share")
        until(page, "location.hash.startsWith('#1.')")
        whole = page.evaluate("location.hash")
        place = whole[:-9] if place == "cut" else whole[:60] + ("A" if whole[60] != "A" else "B") + whole[61:]
    page.evaluate("place => { location.hash = place; }", place)
    expect(page.locator("#notice")).to_contain_text(told)
    assert page.locator("#toml").input_value() == (ROOT / "examples/one_flow.toml").read_text()


def test_the_contents_of_a_link_are_not_executed(opened: Open, windows: BrowserPages) -> None:
    hostile = (ROOT / "examples/one_flow.toml").read_text().replace('name = "', 'name = "<img src=x onerror=alert(1)>', 1)
    page = opened("#example=one_flow")
    write(page, "# <script>alert(1)</script>\n" + hostile)
    expect(page.locator("#title")).to_contain_text("<img src=x")
    page.click("#share")
    until(page, "location.hash.startsWith('#1.')")
    other = opened(page.evaluate("location.hash"))
    expect(other.locator("#title")).to_contain_text("<img src=x")
    expect(other.locator("#question")).to_contain_text("<script>alert(1)</script>")
    assert other.locator("main img").count() == 0


def test_errors_are_shown_at_their_places(opened: Open) -> None:
    page = opened("#example=one_flow")
    sound = page.input_value("#toml")
    write(page, sound.replace("Mbps", "Mbits", 1))
    problem = page.locator("#problems li").first
    expect(problem).to_contain_text("has an unknown unit: `Mbits`")
    for part in ("topology.dumbbell.rate", "given", "expected", "did you mean"):
        expect(problem).to_contain_text(part)
    assert page.locator("#numbers b").count() == 1
    # The valid text still runs.
    assert run(page) == GOLDEN["one_flow.toml"]["1"]["results"]
    write(page, sound)
    expect(page.locator("#problems li")).to_have_count(0)


def test_a_dropped_scenario_is_opened_and_other_files_are_rejected(opened: Open) -> None:
    page = opened()
    dropped(page, "noise.toml", "\x01 = [[[")
    expect(page.locator("#problems")).to_contain_text("not valid TOML")
    dropped(page, "md1.toml", (ROOT / "examples/md1.toml").read_text())
    expect(page.locator("#problems li")).to_have_count(0)
    assert run(page) == GOLDEN["md1.toml"]["1"]["results"]
    huge = 'duration = "1 s"\n[topology]\ndumbbell = {rate = "1 Gbps", delay = "1 ms", queue = {buffer = "9 packets"}}\n'
    dropped(
        page,
        "huge.toml",
        huge + '[flows.web]\ncount = 4000000\nfrom = "left"\nto = "right"\npropagation_rtt = "9 ms"\ntcp = {preset = "reno"}\n',
    )
    expect(page.locator("#notice")).to_contain_text("needs more memory than the lab allows for a run", timeout=PATIENCE)


@pytest.mark.parametrize("lesson", range(6))
def test_every_task_of_a_lesson_has_a_correct_choice(opened: Open, lesson: int) -> None:
    page = opened("#lessons")
    page.click(f"[data-lesson] >> nth={lesson}")
    page.wait_for_selector(".lesson-step >> nth=2")
    for task in range(3):
        page.check(f"input[name=task-{task}][value='0']")
        page.click(f".lesson-step >> nth={task} >> button")
        expect(page.locator(f"#verdict-{task}")).to_contain_text("It is", timeout=PATIENCE)
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
    expect(page.locator("#verdict-0")).to_contain_text("As predicted", timeout=PATIENCE)
    expect(page.locator(".pane")).to_have_count(2)


def test_a_lesson_ignores_the_stop_condition_of_runs(opened: Open) -> None:
    page = opened("#lessons")
    page.click("[data-lesson=sawtooth]")
    page.wait_for_selector(".lesson-step")
    page.click("#breaks summary")
    page.check("#break-loss")
    page.check("input[name=task-0][value='1']")
    page.click(".lesson-step >> nth=0 >> button")
    expect(page.locator("#verdict-0")).to_contain_text("As predicted", timeout=PATIENCE)


def test_help_describes_the_selected_alternative(opened: Open) -> None:
    page = opened("#example=red")
    knob = page.locator("div.knob:has([id$='queue.policy'])")
    assert "Random early detection" in knob.inner_text() or "RED" in knob.inner_text(), knob.inner_text()
    lower = page.locator("div.knob:has([id$='queue.min_threshold'])").inner_text()
    assert "VC" not in lower, lower


def test_two_variants_step_together(opened: Open) -> None:
    page = opened("#example=one_flow")
    page.click("#compare")
    knob = page.locator("[id='knob-flows.web.propagation_rtt']")
    knob.fill("240 ms")
    knob.press("Enter")
    expect(page.locator("#difference")).to_contain_text("First difference", timeout=PATIENCE)
    for _ in range(3):
        before = page.inner_text("#clock")
        page.click("[data-step=round_trip]")
        until(page, "before => document.getElementById('clock').textContent !== before", before)
    # Three of A's RTTs, not of B's.
    assert 0.1 < float(page.inner_text("#clock").split()[0]) < 0.6 or "ms" in page.inner_text("#clock")


def test_a_fork_can_be_made_by_keyboard(opened: Open) -> None:
    page = opened("#example=one_flow")
    run(page)
    page.focus("#play")
    page.keyboard.press("f")
    expect(page.locator("#fork")).to_contain_text("Fork at")
    assert page.evaluate("document.activeElement.closest('#fork') !== null")


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


def test_exported_files_can_be_read(opened: Open, tmp_path: Path) -> None:
    page = opened("#example=md1")
    run(page)

    def taken(label: str) -> bytes:
        page.click("summary:has-text('Export')")
        with page.expect_download() as download:
            page.click(f"#exports button:has-text('{label}')")
        return download.value.path().read_bytes()

    assert taken("Scenario (TOML)") == (ROOT / "examples/md1.toml").read_bytes()
    header, *rows = taken("Table queues (CSV)").decode().splitlines()
    queues = tb.simulate(tb.load(ROOT / "examples/md1.toml"), seed=1).queues
    assert header.split(",") == list(queues.columns)
    assert float(rows[0].split(",")[header.split(",").index("mean_wait_s")]) == queues["mean_wait_s"][0]
    assert taken("Curves (CSV)").startswith(b"variant,quantity,of,time_s,value\nA,")
    assert taken("Curves (SVG)").startswith(b"<svg")
    assert taken("Picture (PNG)").startswith(b"\x89PNG")


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
    whole = over.screenshot()
    middle = box["y"] + box["height"] / 2
    finger(page, (box["x"] + 60, middle), (box["x"] + 100, middle + 1), (box["x"] + 140, middle + 1))
    page.wait_for_timeout(200)
    assert over.screenshot() != whole
    for _ in range(2):
        finger(page, (box["x"] + 100, middle))
    page.wait_for_timeout(200)
    # Except for the cursor at the place of the taps.
    page.mouse.move(0, 0)
    page.wait_for_timeout(200)
    assert over.screenshot() == whole


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


def test_a_step_does_not_apply_to_a_scenario_opened_meanwhile(opened: Open) -> None:
    page = opened("#example=two_rtts")
    page.click("[data-step=round_trip]")
    until(page, "parseFloat(document.getElementById('clock').textContent) > 0")
    page.click("[data-step=round_trip]")
    page.evaluate("location.hash = 'example=fat_tree'")
    page.click("[data-step=round_trip]")
    expect(page.locator("#toml")).to_have_value((ROOT / "examples/fat_tree.toml").read_text())
    page.click("[data-step=round_trip]")
    until(page, "parseFloat(document.getElementById('clock').textContent) > 0")


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
    expect(page.locator("#offline")).to_contain_text("works without a network", timeout=PATIENCE)
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
    assert run(page) == of_wheel(page.input_value("#toml"), 1)


def test_only_visible_cards_are_animated_once(opened: Open) -> None:
    page = opened()
    first, last = page.locator(".thumb").first, page.locator(".thumb").last
    facts = page.locator("button:has(.thumb) > small")
    expect(facts.first).to_contain_text("flows")
    before = first.evaluate("canvas => canvas.toDataURL()")
    until(page, "before => document.querySelector('.thumb').toDataURL() !== before", before)
    # The last one was never visible, and thus not even loaded.
    assert facts.last.inner_text() == ""
    last.scroll_into_view_if_needed()
    expect(facts.last).not_to_be_empty(timeout=PATIENCE)


def test_reduced_motion_shows_a_figure_of_the_whole_run(opened: Open) -> None:
    page = opened(reduced_motion="reduce")
    page.fill(".find", "two_rtts")
    canvas = page.locator("[data-example=two_rtts] .thumb")
    blank = canvas.evaluate("canvas => canvas.toDataURL()")
    pictures: set[str] = set()
    end = time.monotonic() + PATIENCE / 1000
    while len(pictures) < 1 and time.monotonic() < end:
        pictures |= {canvas.evaluate("canvas => canvas.toDataURL()")} - {blank}
    page.wait_for_timeout(500)
    pictures.add(canvas.evaluate("canvas => canvas.toDataURL()"))
    assert len(pictures) == 1


def test_the_theory_equals_the_predictions_of_the_package(opened: Open) -> None:
    page = opened()
    drawn = set()
    for file in sorted((ROOT / "examples").glob("*.toml")):
        page.evaluate("name => { location.hash = `example=${name}`; }", file.stem)
        expect(page.locator("#toml")).to_have_value(file.read_text())
        lines = page.locator(".theory dt").evaluate_all(
            "terms => terms.map(({ dataset }) => [dataset.panel, dataset.label, JSON.parse(dataset.values)])"
        )
        prediction = tb.predict(tb.load(file), seed=int(page.input_value("#seed")))
        known = {"goodput": prediction.flows["goodput_bps"], "queue": prediction.queues["mean_queue_units"]}
        for panel, label, values in lines:
            # Predictions contain no windows, and a fair share is not a prediction.
            if panel in known and label != "fair share":
                drawn.add((file.stem, label))
                for of, value in values:
                    assert value == pytest.approx(float(known[panel][of]), rel=1e-6), (file.stem, label, of)
    # Reno's sawtooth, synchronised flows, FAST, datagrams.
    assert len({name for name, _ in drawn}) >= 4, drawn
    assert {"mean goodput", "mean queue"} <= {label for _, label in drawn}


def test_a_model_that_does_not_apply_is_not_drawn_and_gives_the_reason(opened: Open) -> None:
    page = opened("#example=codel")
    page.click(".theory summary")
    expect(page.locator(".theory")).to_contain_text("the policy is codel, but models require drop_tail")
    assert page.locator(".theory dt:not([data-label='fair share'])").count() == 0


def test_a_fork_can_stop_a_group(opened: Open) -> None:
    page = opened("#example=two_rtts")
    run(page)
    over = page.locator(".panel .u-over").first
    box = over.bounding_box()
    assert box
    over.click(position={"x": box["width"] / 2, "y": box["height"] - 20})
    page.select_option("#fork select >> nth=0", label="far")
    page.click("#fork-go")
    page.wait_for_selector("#hash-B")
    toml = page.input_value("#toml")
    assert toml.rstrip().endswith('group = "far"\nstop = true')
    assert page.inner_text("#hash-B") == of_wheel(toml, 1)


def test_other_flows_can_be_selected(opened: Open) -> None:
    page = opened("#example=red")
    count = tb.simulate(tb.load(ROOT / "examples/red.toml")).flows["flow"].size
    page.fill("#follow-from", "11")
    page.press("#follow-from", "Enter")
    expect(page.locator(".legend b").first).to_contain_text("11")
    expect(page.locator(".legend li")).to_have_count(8)
    page.fill("#follow-from", str(count))
    page.press("#follow-from", "Enter")
    expect(page.locator("#notice")).to_contain_text(f"expected 0 to {count - 1}")
    # Flows that were observed still are.
    expect(page.locator(".legend b").first).to_contain_text("11")


def test_every_experiment_opens_and_has_curves(opened: Open) -> None:
    page = opened()
    names = page.locator("[data-example]").evaluate_all("cards => cards.map((card) => card.dataset.example)")
    assert len(names) == len(list((ROOT / "examples").glob("*.toml")))
    for name in names:
        page.evaluate("name => { location.hash = `example=${name}`; }", name)
        expect(page.locator("#toml")).to_have_value((ROOT / f"examples/{name}.toml").read_text())
        page.click("[data-step=round_trip]")
        until(page, "parseFloat(document.getElementById('clock').textContent) > 0")
        assert page.locator("#problems li").count() == 0, name
        assert page.locator("#notice").is_hidden(), name


def test_the_seed_field_and_the_text_stay_in_step(opened: Open) -> None:
    page = opened("#example=red")
    knob = page.locator("[id='knob-seed']")
    knob.fill("7")
    knob.press("Enter")
    expect(page.locator("#seed")).to_have_value("7")
    toml = page.input_value("#toml")
    # In any notation, and with similar text elsewhere.
    for written, seed in (
        ("seed = 1_000", "1000"),
        ('"seed" = 9', "9"),
        ("seed = 0x10", "16"),
        ("seed = 3 # not\n# seed = 5", "3"),
    ):
        write(page, toml.replace("seed = 7", written))
        expect(page.locator("#seed")).to_have_value(seed)
    assert run(page) == of_wheel(page.input_value("#toml"), 3)
    # The reverse direction, also with two variants.
    page.click("#compare")
    expect(page.locator("#variants button")).to_have_count(2)
    page.fill("#seed", "2")
    page.press("#seed", "Enter")
    for name in ("B", "A"):
        page.click(f"#variants button:has-text('{name}')")
        expect(page.locator("[id='knob-seed']")).to_have_value("2")
    write(page, toml)
    expect(page.locator("#seed")).to_have_value("7")
    page.click("#variants button:has-text('B')")
    expect(page.locator("[id='knob-seed']")).to_have_value("7")
    # The same for a file that is opened.
    dropped(page, "red.toml", toml.replace("seed = 7", 'name = """\nseed = 4\n"""').replace("\nname", "\n# name", 1))
    expect(page.locator("#seed")).to_have_value("1")


def test_a_seed_that_is_set_is_added_to_the_text(opened: Open) -> None:
    page = opened("#example=random_loss")
    shipped = (ROOT / "examples/random_loss.toml").read_text()
    assert "seed" not in shipped
    # Typed input has priority, so there is no need to wait.
    page.fill("#seed", "2")
    assert run(page) == GOLDEN["random_loss.toml"]["2"]["results"]
    page.click("summary:has-text('Export')")
    with page.expect_download() as download:
        page.click("#exports button:has-text('Scenario (TOML)')")
    taken = download.value.path().read_text()
    assert taken.replace("seed = 2\n", "", 1) == shipped
    assert tb.Scenario.from_toml(taken).to_dict()["seed"] == 2


@pytest.mark.parametrize("typed", ["abc", "-1", "1.5", "9007199254740992", ""])
def test_an_invalid_seed_is_reported_and_does_not_run(opened: Open, typed: str) -> None:
    page = opened("#example=md1")
    page.fill("#seed", typed)
    page.click("#play")
    expect(page.locator("#status")).to_contain_text("Nothing runs")
    expect(page.locator("#seed-problem")).to_contain_text("a whole number from 0 to 9007199254740991")
    expect(page.locator("#seed")).to_have_attribute("aria-invalid", "true")
    page.click("[data-step=round_trip]")
    page.wait_for_timeout(200)
    assert page.input_value("#seed") == typed
    assert page.inner_text("#clock").startswith("0")
    assert page.inner_text("#play") == "Run"
    page.fill("#seed", "1")
    page.press("#seed", "Enter")
    expect(page.locator("#seed-problem")).to_be_empty()
    assert run(page) == GOLDEN["md1.toml"]["1"]["results"]


@pytest.mark.parametrize("typed", ["abc", "-1", "1.5", "20 packets", ""])
def test_an_invalid_queue_mark_is_reported_and_does_not_run(opened: Open, typed: str) -> None:
    page = opened("#example=one_flow")
    page.click("#break-summary")
    page.check("#break-queue")
    page.fill("#break-units", typed)
    page.select_option("#speed", label=FASTEST)
    page.click("#play")
    expect(page.locator("#status")).to_contain_text("Nothing runs")
    expect(page.locator("#break-problem")).to_contain_text("a whole number of units")
    expect(page.locator("#break-problem")).to_be_visible()
    expect(page.locator("#break-units")).to_have_attribute("aria-invalid", "true")
    page.fill("#break-units", "9")
    page.click("#play")
    expect(page.locator("#status")).to_contain_text("Stopped at", timeout=PATIENCE)


def test_the_typed_text_is_run(opened: Open) -> None:
    page = opened("#example=one_flow")
    shipped = page.input_value("#toml")
    page.click("#as-text")
    for buffer, button in (("7", "#compare"), ("8", "[data-step=event]"), ("9", "#variants button:has-text('B')")):
        page.fill("#toml", re.sub('buffer = "[^"]*"', f'buffer = "{buffer} packets"', page.input_value("#toml")))
        page.click(button)
        expect(page.locator("[id='knob-topology.dumbbell.queue.buffer']")).to_have_value(f"{buffer} packets")
    page.fill("#toml", page.input_value("#toml").replace("9 packets", "10 packets"))
    page.fill("#seed", "2")
    page.press("#seed", "Enter")
    expect(page.locator("#toml")).to_have_value(re.compile('seed = 2\n(.|\n)*"10 packets"'))
    page.click("#compare")
    expect(page.locator(".pane")).to_have_count(1)
    # Returning to the start keeps the typed text.
    typed = shipped.replace('duration = "60 s"', 'duration = "61 s"')
    page.fill("#toml", typed)
    page.click("#reset")
    assert page.input_value("#toml") == typed
    assert run(page) == of_wheel(typed, 1)
    # The same again.
    typed = re.sub('buffer = "[^"]*"', 'buffer = "11 packets"', typed)
    page.fill("#toml", typed)
    assert page.inner_text("#play") == "Again"
    page.click("#play")
    expect(page.locator("#hash-A")).to_have_text(of_wheel(typed, 1), timeout=PATIENCE)
    # The error is shown, and nothing runs.
    page.fill("#toml", typed.replace("Mbps", "Mbits", 1))
    page.click("#play")
    expect(page.locator("#problems li").first).to_contain_text("has an unknown unit: `Mbits`")
    expect(page.locator("#status")).to_contain_text("Nothing runs")
    assert page.inner_text("#play") == "Again"


def test_back_and_forward_keep_the_edits(opened: Open) -> None:
    page = opened("#example=one_flow")
    edited = re.sub('buffer = "[^"]*"', 'buffer = "7 packets"', page.input_value("#toml"))
    write(page, edited)
    expect(page.locator("[id='knob-topology.dumbbell.queue.buffer']")).to_have_value("7 packets")
    page.click("[data-step=round_trip]")
    until(page, "parseFloat(document.getElementById('clock').textContent) > 0")
    clock = page.inner_text("#clock")
    page.click("#tab-sizing")
    page.go_back()
    expect(page.locator("#view-lab")).to_be_visible()
    assert (page.input_value("#toml"), page.inner_text("#clock")) == (edited, clock)
    # A file survives, and so does the scenario that it replaced.
    md1 = (ROOT / "examples/md1.toml").read_text()
    dropped(page, "md1.toml", md1)
    expect(page.locator("#toml")).to_have_value(md1)
    page.fill("#toml", md1 + "# mine\n")
    page.click("#tab-gallery")
    page.go_back()
    expect(page.locator("#toml")).to_have_value(md1 + "# mine\n")
    page.go_back()
    expect(page.locator("#toml")).to_have_value(edited)
    page.go_forward()
    expect(page.locator("#toml")).to_have_value(md1 + "# mine\n")
    # Choosing the example again restores it.
    page.click("#tab-gallery")
    page.click("[data-example=one_flow]")
    expect(page.locator("#toml")).to_have_value((ROOT / "examples/one_flow.toml").read_text())


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"\x01 = [[[", "not valid TOML"),
        (b'duration = "1 s"\n', "broken.toml cannot be opened"),
        (b"\x89PNG\r\n\x1a\n\x00\x00", "is not a text file"),
        (b"duration = 1\x00", "is not a text file"),
        (b"#" * 1_000_001, "has at most a million"),
    ],
)
def test_a_file_that_cannot_be_opened_keeps_the_scenario(opened: Open, content: bytes, told: str) -> None:
    page = opened("#example=one_flow")
    edited = re.sub('buffer = "[^"]*"', 'buffer = "7 packets"', page.input_value("#toml"))
    write(page, edited)
    expect(page.locator("[id='knob-topology.dumbbell.queue.buffer']")).to_have_value("7 packets")
    page.set_input_files("#file", {"name": "broken.toml", "mimeType": "application/toml", "buffer": content})
    expect(page.locator("#notice")).to_contain_text(told)
    assert page.input_value("#toml") == edited
    assert page.locator("#problems li").count() == 0
    assert page.evaluate("location.hash") == "#example=one_flow"
    assert run(page) == of_wheel(edited, 1)


def test_links_that_are_too_long_are_not_created(opened: Open) -> None:
    page = opened("#example=one_flow")
    long = page.input_value("#toml") + "# \n" * 300_000
    dropped(page, "long.toml", long)
    expect(page.locator("#toml")).to_have_value(long)
    page.click("#compare")
    expect(page.locator(".pane")).to_have_count(2)
    page.click("#share")
    expect(page.locator("#status")).to_contain_text("There is no link to this", timeout=PATIENCE)
    assert page.evaluate("location.hash") == "#lab"


def test_keys_step_also_after_a_button_was_pressed(opened: Open) -> None:
    page = opened("#example=one_flow")
    page.click("#reset")
    for key in ("r", "p", "e"):
        before = page.inner_text("#clock")
        end = time.monotonic() + PATIENCE / 1000
        # The clock's display may be too coarse to distinguish events.
        while page.inner_text("#clock") == before and time.monotonic() < end:
            page.keyboard.press(key)
            page.wait_for_timeout(50)
        assert page.inner_text("#clock") != before, key
    # Except where the keys are letters.
    page.focus("#seed")
    before = page.inner_text("#clock")
    page.keyboard.press("r")
    page.wait_for_timeout(200)
    assert (page.inner_text("#clock"), page.input_value("#seed")) == (before, "r1")


def test_a_fork_names_the_first_difference_and_the_closed_variant(opened: Open) -> None:
    page = opened("#example=one_flow")
    run(page)

    def forked(pane: int, rate: str) -> str:
        over = page.locator(".pane").nth(pane).locator(".panel .u-over").first
        over.scroll_into_view_if_needed()
        box = over.bounding_box()
        assert box
        # Until the new B has run, results belong to the old one.
        earlier = page.locator("#hash-B").all_inner_texts()
        over.click(position={"x": box["width"] / 2, "y": box["height"] - 20})
        told = page.inner_text("#fork")
        page.fill("#fork input", rate)
        page.click("#fork-go")
        page.wait_for_function(
            "earlier => ![undefined, ...earlier].includes(document.getElementById('hash-B')?.innerText)",
            arg=earlier,
            timeout=PATIENCE,
        )
        expect(page.locator("#status")).to_have_text("Done.")
        expect(page.locator("#difference")).to_contain_text("First difference at", timeout=PATIENCE)
        return told

    assert "closed" not in forked(0, "3 Mbps")
    assert "The current B is closed" in forked(0, "4 Mbps")
    before = page.inner_text("#hash-B")
    assert "The current A is closed and this B takes its place" in forked(1, "2 Mbps")
    assert page.inner_text("#hash-A") == before
    # Each curve belongs to its own variant, and an impossible fork closes nothing.
    over = page.locator(".pane").first.locator(".panel .u-over").first
    over.click(position={"x": 100, "y": 100})
    expect(page.locator("#fork")).to_contain_text("Fork of A")
    page.fill("#fork input", "3 Mbits")
    page.click("#fork-go")
    expect(page.locator("#notice")).to_contain_text("has an unknown unit: `Mbits`")
    expect(page.locator(".pane")).to_have_count(2)
    assert page.inner_text("#hash-A") == before


def test_losses_can_be_inspected_in_every_part_of_a_run(opened: Open) -> None:
    page = opened()
    flows = """[flows.web]
count = 100
start = {uniform = ["0 s", "1 s"]}
from = "left"
to = "right"
propagation_rtt = "40 ms"
tcp = {preset = "reno"}
"""
    link = """duration = "60 s"
[topology]
dumbbell = {rate = "40 Mbps", delay = "10 ms", queue = {buffer = "20 packets"}}
"""
    dropped(page, "many.toml", link + flows)
    run(page)
    over = page.locator(".panel").filter(has_text="Queue at").locator(".u-over")
    over.scroll_into_view_if_needed()
    box = over.bounding_box()
    assert box
    for part in (0.1, 0.3, 0.5, 0.7, 0.9):
        over.click(position={"x": part * box["width"], "y": 6})
        expect(page.locator("#why")).to_contain_text("Why was a packet lost", timeout=PATIENCE)
        page.click("#why .close")
    # A click below the marks selects a time.
    over.click(position={"x": box["width"] / 2, "y": box["height"] / 2})
    expect(page.locator("#fork")).to_contain_text("Fork at")
    page.click("#reset")
    expect(page.locator("#play")).to_have_text("Run")


def test_an_invalid_scenario_does_not_ask_to_be_run(opened: Open) -> None:
    page = opened()
    dropped(page, "noise.toml", "\x01 = [[[")
    expect(page.locator("#problems")).to_contain_text("not valid TOML")
    expect(page.locator("#status")).to_contain_text("There is nothing to run yet")
