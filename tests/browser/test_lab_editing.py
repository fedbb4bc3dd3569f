"""Scenarios in the lab: controls, text, seeds, files and links."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

import tailback as tb
from browsing import BrowserPages
from lab_page import (
    FASTEST,
    GOLDEN,
    Open,
    dropped,
    example,
    expect_text,
    of_wheel,
    replace_text,
    run,
    text_of,
    until,
    write,
)


def test_a_control_changes_the_text_and_the_run(opened: Open) -> None:
    page = opened("#example=one_flow")
    knob = page.locator("[id='knob-topology.dumbbell.queue.buffer']")
    knob.fill("7 packets")
    knob.press("Enter")
    expect_text(page, re.compile('buffer = "7 packets"'))
    toml = text_of(page)
    # Nothing else has changed, including comments.
    assert toml == re.sub('buffer = "[^"]*"', 'buffer = "7 packets"', example("one_flow"))
    assert run(page) == of_wheel(toml, 1)


def test_selecting_a_policy_adds_its_required_settings(opened: Open) -> None:
    page = opened("#example=red")
    choice = page.locator("[id='knob-topology.dumbbell.queue.policy']")
    words = choice.evaluate("choice => [...choice.options].map((option) => option.value)")
    assert {"red", "codel", "bpd", "policer"} < set(words)
    of_cells = set()
    for word in [*words, "red"]:
        choice.select_option(word)
        expect_text(page, re.compile(f'policy = "{word}"'))
        told = page.locator("#problems li").all_inner_texts()
        # A policy for cells has no other error than this.
        assert all("cells" in one or "virtual channels" in one for one in told), told
        if told:
            of_cells.add(word)
    assert of_cells == {"ppd", "epd", "epd_per_vc", "bpd", "spd", "erica"}
    toml = text_of(page)
    assert 'policy = "red", buffer = "200 packets", min_threshold = "25 %", max_threshold = "75 %"' in toml
    assert run(page) == of_wheel(toml, 1)


def test_valid_keys_of_a_table_can_be_added_and_removed(opened: Open) -> None:
    page = opened("#example=one_flow")
    shipped = text_of(page)

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
    expect_text(page, re.compile('probability = "0.1 %"'))
    toml = text_of(page)
    assert run(page) == of_wheel(toml, 1) != GOLDEN["one_flow.toml"]["1"]["results"]
    settle("topology.dumbbell", "-loss")
    expect_text(page, shipped)
    expect(page.get_by_label("Add to or remove from topology.dumbbell", exact=True)).to_be_focused()


def test_settings_to_edit_by_hand_are_reported_and_unchanged(opened: Open) -> None:
    page = opened("#example=red")
    text = text_of(page).replace('policy = "red"', 'policy = "red" # by Floyd').replace("queue = {", "queue = {\n ")
    text = re.sub(r'policy = "red" # by Floyd,(.*)}', r'\1, policy = "red" # by Floyd\n}', text)
    write(page, text)
    expect(page.locator("#problems li")).to_have_count(0)
    page.click("#as-knobs")
    page.locator("[id='knob-topology.dumbbell.queue.policy']").select_option("rem")
    expect(page.locator("#notice")).to_contain_text("manually")
    assert page.locator("[id='knob-topology.dumbbell.queue.policy']").input_value() == "red"
    assert text_of(page) == text


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
    assert run(other) == of_wheel(example("md1"), 5)


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
    assert text_of(page) == example("one_flow")


def test_the_contents_of_a_link_are_not_executed(opened: Open, windows: BrowserPages) -> None:
    hostile = example("one_flow").replace('name = "', 'name = "<img src=x onerror=alert(1)>', 1)
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
    sound = text_of(page)
    write(page, sound.replace("Mbps", "Mbits", 1))
    problem = page.locator("#problems li").first
    expect(problem).to_contain_text("has an unknown unit: `Mbits`")
    for part in ("topology.dumbbell.rate", "given", "expected", "write `10 Mbps`"):
        expect(problem).to_contain_text(part)
    expect(page.locator("#toml .cm-lint-marker-error")).to_have_count(1)
    # The valid text still runs.
    assert run(page) == GOLDEN["one_flow.toml"]["1"]["results"]
    write(page, sound)
    expect(page.locator("#problems li")).to_have_count(0)


def test_a_dropped_scenario_is_opened_and_other_files_are_rejected(opened: Open) -> None:
    page = opened()
    dropped(page, "noise.toml", "\x01 = [[[")
    expect(page.locator("#problems")).to_contain_text("not valid TOML")
    dropped(page, "md1.toml", example("md1"))
    expect(page.locator("#problems li")).to_have_count(0)
    assert run(page) == GOLDEN["md1.toml"]["1"]["results"]
    huge = 'duration = "1 s"\n[topology]\ndumbbell = {rate = "1 Gbps", delay = "1 ms", queue = {buffer = "9 packets"}}\n'
    dropped(
        page,
        "huge.toml",
        huge + '[flows.web]\ncount = 4000000\nfrom = "left"\nto = "right"\npropagation_rtt = "9 ms"\ntcp = {preset = "reno"}\n',
    )
    expect(page.locator("#notice")).to_contain_text("needs more memory than the lab allows for a run")


def test_help_describes_the_selected_alternative(opened: Open) -> None:
    page = opened("#example=red")
    knob = page.locator("div.knob:has([id$='queue.policy'])")
    assert "Random early detection" in knob.inner_text() or "RED" in knob.inner_text(), knob.inner_text()
    lower = page.locator("div.knob:has([id$='queue.min_threshold'])").inner_text()
    assert "VC" not in lower, lower


def test_the_seed_field_and_the_text_stay_in_step(opened: Open) -> None:
    page = opened("#example=red")
    knob = page.locator("[id='knob-seed']")
    knob.fill("7")
    knob.press("Enter")
    expect(page.locator("#seed")).to_have_value("7")
    toml = text_of(page)
    # In any notation, and with similar text elsewhere.
    for written, seed in (
        ("seed = 1_000", "1000"),
        ('"seed" = 9', "9"),
        ("seed = 0x10", "16"),
        ("seed = 3 # not\n# seed = 5", "3"),
    ):
        write(page, toml.replace("seed = 7", written))
        expect(page.locator("#seed")).to_have_value(seed)
    assert run(page) == of_wheel(text_of(page), 3)
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
    shipped = example("random_loss")
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
    expect(page.locator("#status")).to_contain_text("Stopped at")


def test_the_typed_text_is_run(opened: Open) -> None:
    page = opened("#example=one_flow")
    shipped = text_of(page)
    page.click("#as-text")
    for buffer, button in (("7", "#compare"), ("8", "[data-step=event]"), ("9", "#variants button:has-text('B')")):
        replace_text(page, re.sub('buffer = "[^"]*"', f'buffer = "{buffer} packets"', text_of(page)))
        page.click(button)
        expect(page.locator("[id='knob-topology.dumbbell.queue.buffer']")).to_have_value(f"{buffer} packets")
    replace_text(page, text_of(page).replace("9 packets", "10 packets"))
    page.fill("#seed", "2")
    page.press("#seed", "Enter")
    expect_text(page, re.compile('seed = 2\n(.|\n)*"10 packets"'))
    page.click("#compare")
    expect(page.locator(".pane")).to_have_count(1)
    # Returning to the start keeps the typed text.
    typed = shipped.replace('duration = "60 s"', 'duration = "61 s"')
    replace_text(page, typed)
    page.click("#reset")
    assert text_of(page) == typed
    assert run(page) == of_wheel(typed, 1)
    # The same again.
    typed = re.sub('buffer = "[^"]*"', 'buffer = "11 packets"', typed)
    replace_text(page, typed)
    assert page.inner_text("#play") == "Again"
    page.click("#play")
    expect(page.locator("#hash-A")).to_have_text(of_wheel(typed, 1))
    # The error is shown, and nothing runs.
    replace_text(page, typed.replace("Mbps", "Mbits", 1))
    page.click("#play")
    expect(page.locator("#problems li").first).to_contain_text("has an unknown unit: `Mbits`")
    expect(page.locator("#status")).to_contain_text("Nothing runs")
    assert page.inner_text("#play") == "Again"


def test_back_and_forward_keep_the_edits(opened: Open) -> None:
    page = opened("#example=one_flow")
    edited = re.sub('buffer = "[^"]*"', 'buffer = "7 packets"', text_of(page))
    write(page, edited)
    expect(page.locator("[id='knob-topology.dumbbell.queue.buffer']")).to_have_value("7 packets")
    page.click("[data-step=round_trip]")
    until(page, "parseFloat(document.getElementById('clock').textContent) > 0")
    clock = page.inner_text("#clock")
    page.click("#tab-sizing")
    page.go_back()
    expect(page.locator("#view-lab")).to_be_visible()
    assert (text_of(page), page.inner_text("#clock")) == (edited, clock)
    # A file survives, and so does the scenario that it replaced.
    md1 = example("md1")
    dropped(page, "md1.toml", md1)
    expect_text(page, md1)
    replace_text(page, md1 + "# mine\n")
    page.click("#tab-gallery")
    page.go_back()
    expect_text(page, md1 + "# mine\n")
    page.go_back()
    expect_text(page, edited)
    page.go_forward()
    expect_text(page, md1 + "# mine\n")
    # Choosing the example again restores it.
    page.click("#tab-gallery")
    page.click("[data-example=one_flow]")
    expect_text(page, example("one_flow"))


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
    edited = re.sub('buffer = "[^"]*"', 'buffer = "7 packets"', text_of(page))
    write(page, edited)
    expect(page.locator("[id='knob-topology.dumbbell.queue.buffer']")).to_have_value("7 packets")
    page.set_input_files("#file", {"name": "broken.toml", "mimeType": "application/toml", "buffer": content})
    expect(page.locator("#notice")).to_contain_text(told)
    assert text_of(page) == edited
    assert page.locator("#problems li").count() == 0
    assert page.evaluate("location.hash") == "#example=one_flow"
    assert run(page) == of_wheel(edited, 1)


def test_links_that_are_too_long_are_not_created(opened: Open) -> None:
    page = opened("#example=one_flow")
    long = text_of(page) + "# \n" * 300_000
    dropped(page, "long.toml", long)
    expect_text(page, long)
    page.click("#compare")
    expect(page.locator(".pane")).to_have_count(2)
    page.click("#share")
    expect(page.locator("#status")).to_contain_text("There is no link to this")
    assert page.evaluate("location.hash") == "#lab"


def test_an_invalid_scenario_does_not_ask_to_be_run(opened: Open) -> None:
    page = opened()
    dropped(page, "noise.toml", "\x01 = [[[")
    expect(page.locator("#problems")).to_contain_text("not valid TOML")
    expect(page.locator("#status")).to_contain_text("There is nothing to run yet")
