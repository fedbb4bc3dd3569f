"""Runs in the lab: results, comparison of variants, forks, steps, and exports."""

from __future__ import annotations

import re
import time
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

import tailback as tb
from lab_page import FASTEST, GOLDEN, Open, dropped, example, expect_text, of_wheel, run, text_of, until
from support import HANGS_S, ROOT


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
        before, end = page.inner_text("#clock"), time.monotonic() + HANGS_S
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


def test_two_variants_are_compared_and_their_first_difference_is_named(opened: Open) -> None:
    page = opened("#example=two_rtts")
    page.click("#compare")
    expect(page.locator("#difference")).to_contain_text("A and B are the same")
    knob = page.locator("[id='knob-topology.dumbbell.queue.buffer']")
    knob.fill("10 packets")
    knob.press("Enter")
    expect(page.locator("#difference")).to_contain_text("First difference at")
    assert "bottleneck" in page.inner_text("#difference")
    assert run(page) == GOLDEN["two_rtts.toml"]["1"]["results"]
    # It remains after the end of the run.
    expect(page.locator("#status")).to_have_text("Done.")
    expect(page.locator("#difference")).to_contain_text("First difference at")
    assert page.inner_text("#hash-B") == of_wheel(text_of(page), 1)
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
    toml = text_of(page)
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
    expect(page.locator("#status")).to_contain_text("a loss at bottleneck (full)")
    toml = example("one_flow").partition("[record]")[0] + '[record]\ntraces = ["drops"]\n'
    drops = tb.simulate(tb.Scenario.from_toml(toml)).trace("drops")
    assert float(page.inner_text("#clock").split("\u202f")[0]) == pytest.approx(float(drops["time_s"][0]), abs=2e-3)


def test_two_variants_step_together(opened: Open) -> None:
    page = opened("#example=one_flow")
    page.click("#compare")
    expect(page.locator(".pane")).to_have_count(2)
    knob = page.locator("[id='knob-flows.web.propagation_rtt']")
    knob.fill("240 ms")
    knob.press("Enter")
    expect(page.locator("#difference")).to_contain_text("First difference")
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


def test_exported_files_can_be_read(opened: Open, tmp_path: Path) -> None:
    page = opened("#example=md1")
    run(page)

    def taken(label: str) -> bytes:
        page.click("summary:has-text('Export')")
        with page.expect_download() as download:
            page.click(f"#exports button:has-text('{label}')")
        return download.value.path().read_bytes()

    assert taken("Scenario (TOML)") == example("md1").encode()
    header, *rows = taken("Table queues (CSV)").decode().splitlines()
    queues = tb.simulate(tb.load(ROOT / "examples/md1.toml"), seed=1).queues
    assert header.split(",") == list(queues.columns)
    assert float(rows[0].split(",")[header.split(",").index("mean_wait_s")]) == queues["mean_wait_s"][0]
    assert taken("Curves (CSV)").startswith(b"variant,quantity,of,time_s,value\nA,")
    assert taken("Curves (SVG)").startswith(b"<svg")
    assert taken("Picture (PNG)").startswith(b"\x89PNG")


def test_a_step_does_not_apply_to_a_scenario_opened_meanwhile(opened: Open) -> None:
    page = opened("#example=two_rtts")
    page.click("[data-step=round_trip]")
    until(page, "parseFloat(document.getElementById('clock').textContent) > 0")
    page.click("[data-step=round_trip]")
    page.evaluate("location.hash = 'example=fat_tree'")
    page.click("[data-step=round_trip]")
    expect_text(page, example("fat_tree"))
    page.click("[data-step=round_trip]")
    until(page, "parseFloat(document.getElementById('clock').textContent) > 0")


def test_the_theory_equals_the_predictions_of_the_package(opened: Open) -> None:
    page = opened()
    drawn = set()
    for file in sorted((ROOT / "examples").glob("*.toml")):
        page.evaluate("name => { location.hash = `example=${name}`; }", file.stem)
        expect_text(page, example(file.stem))
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
    toml = text_of(page)
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


def test_keys_step_also_after_a_button_was_pressed(opened: Open) -> None:
    page = opened("#example=one_flow")
    page.click("#reset")
    for key in ("r", "p", "e"):
        before = page.inner_text("#clock")
        end = time.monotonic() + HANGS_S
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
        )
        expect(page.locator("#status")).to_have_text("Done.")
        expect(page.locator("#difference")).to_contain_text("First difference at")
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
        expect(page.locator("#why")).to_contain_text("Why was a packet lost")
        page.click("#why .close")
    # A click below the marks selects a time.
    over.click(position={"x": box["width"] / 2, "y": box["height"] / 2})
    expect(page.locator("#fork")).to_contain_text("Fork at")
    page.click("#reset")
    expect(page.locator("#play")).to_have_text("Run")


FAT_TREE = """duration = "1 s"
[topology]
fat_tree = {k = 4, rate = "10 Mbps", delay = "1 ms", queue = {buffer = "50 packets"}}
[flows.all]
traffic = {permutation = "host*"}
tcp = {preset = "sack"}
"""


def test_a_fat_tree_is_drawn_in_levels_with_its_pods_together(opened: Open) -> None:
    def names(page: Page, level: int, nodes: int) -> list[str]:
        """The names of the nodes of a level, from the left, as the pointer shows them."""
        box = canvas.bounding_box()
        assert box
        y = box["y"] + 30 + (1 - level / 3) * (box["height"] - 62)
        found = []
        for place in range(nodes):
            page.mouse.move(box["x"] + 20 + (place + 0.5) / nodes * (box["width"] - 40), y)
            found.append(canvas.get_attribute("title") or "")
        return found

    pictures = set()
    for _ in range(2):
        page = opened("#example=one_flow")
        dropped(page, "fat_tree.toml", FAT_TREE)
        canvas = page.locator("canvas.network")
        expect(canvas).to_have_attribute("aria-label", re.compile("16 flows"))
        canvas.scroll_into_view_if_needed()
        hosts = [int(name.removeprefix("host")) for name in names(page, 0, 16)]
        assert sorted(hosts) == list(range(16))
        # Neighbours share their edge switch, and four share their pod.
        assert all(len({host // size for host in hosts[at : at + size]}) == 1 for size in (2, 4) for at in range(0, 16, size))
        pods = [host // 4 for host in hosts[::4]]
        for level, kind in ((1, "edge"), (2, "agg")):
            assert [name.rpartition("_")[0] for name in names(page, level, 8)] == [
                f"{kind}{pod}" for pod in pods for _ in range(2)
            ]
        assert {name[:4] for name in names(page, 3, 4)} == {"core"}
        page.mouse.move(0, 0)
        pictures.add(canvas.evaluate("canvas => canvas.toDataURL()"))
    assert len(pictures) == 1
