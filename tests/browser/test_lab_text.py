"""The editor of a scenario's text in the lab: typing, completion, marks of errors, undo, search, and leaving it by keyboard."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

import tailback as tb
from lab_page import Open, example, expect_text, of_wheel, replace_text, run, text_of, write

RED = example("red")
OPTIONS = "#toml .cm-tooltip-autocomplete li"


@pytest.fixture
def page(opened: Open) -> Page:
    shown = opened("#example=red")
    shown.click("#as-text")
    return shown


def select(page: Page, words: str) -> None:
    """Select the first occurrence of these words, by the editor's search."""
    page.locator("#toml .cm-content").focus()
    page.keyboard.press("Control+Home")
    page.keyboard.press("Control+f")
    page.keyboard.type(words)
    page.keyboard.press("Enter")
    page.keyboard.press("Escape")


def options(page: Page) -> list[str]:
    """The completions at the cursor."""
    page.keyboard.press("Control+Space")
    page.wait_for_selector(OPTIONS)
    return page.locator(OPTIONS).all_inner_texts()


def accept(page: Page, option: str) -> None:
    expect(page.locator(f"{OPTIONS}[aria-selected]")).to_have_text(option)
    # The editor ignores Enter for some time after the list has appeared, so that typing is not interrupted.
    page.wait_for_timeout(150)
    page.keyboard.press("Enter")


def test_tables_keys_and_values_are_completed_while_typing(page: Page) -> None:
    page.locator("#toml .cm-content").focus()
    page.keyboard.press("Control+End")
    page.keyboard.type("\n[rec")
    accept(page, "record")
    page.keyboard.press("End")
    page.keyboard.type("\ntra")
    expect(page.locator("#toml .cm-completionInfo")).to_contain_text("a list of kinds")
    accept(page, "traces")
    expect_text(page, RED + "\n[record]\ntraces = []")
    page.keyboard.type('"cw')
    accept(page, "cwnd")
    expect_text(page, RED + '\n[record]\ntraces = ["cwnd"]')
    assert tb.Scenario.from_toml(text_of(page)).to_dict()["record"] == {"traces": ["cwnd"]}


def test_a_key_with_a_choice_offers_its_values(page: Page) -> None:
    select(page, "max_probability = 0.1")
    page.keyboard.press("ArrowRight")
    page.keyboard.type(", gen")
    accept(page, "gentle")
    # Its initial value is selected.
    page.keyboard.press("ArrowRight")
    page.keyboard.type(", sched")
    accept(page, "scheduler")
    accept(page, "drr")
    assert 'max_probability = 0.1, gentle = true, scheduler = "drr" }' in text_of(page)


def test_completions_are_those_of_the_selected_alternative(page: Page) -> None:
    words = page.locator("[id='knob-topology.dumbbell.queue.policy'] option").all_inner_texts()
    select(page, 'policy = "')
    page.keyboard.press("ArrowRight")
    for _ in "red":
        page.keyboard.press("Delete")
    assert sorted(options(page)) == sorted(words)
    page.keyboard.type("cod")
    accept(page, "codel")
    select(page, "max_probability = 0.1")
    page.keyboard.press("ArrowRight")
    page.keyboard.type(", ")
    codel = options(page)
    assert "interval" in codel
    assert "gentle" not in codel


def test_errors_are_marked_while_typing(page: Page) -> None:
    marks = page.locator("#toml .cm-lint-marker-error")
    select(page, "20 Mbps")
    page.keyboard.insert_text("20 Mbits")
    expect(page.locator("#toml .cm-lintRange-error")).to_have_text('"20 Mbits"')
    expect(marks).to_have_count(1)
    marks.hover()
    expect(page.locator("#toml .cm-tooltip-lint")).to_contain_text("has an unknown unit: `Mbits`")
    # The run is still that of the applied text.
    expect(page.locator("#problems li")).to_have_count(0)
    page.keyboard.press("Control+z")
    expect(marks).to_have_count(0)
    # An error of syntax, in a text that is applied.
    write(page, RED.replace("[flows.web]", "[flows.web"))
    expect(marks).to_have_count(1)
    expect(page.locator("#problems li")).to_have_count(1)


def test_edits_and_changed_parameters_are_undone_and_redone(page: Page) -> None:
    page.locator("#toml .cm-content").focus()
    page.keyboard.press("Control+End")
    page.keyboard.insert_text("# mine\n")
    page.click("#apply")
    page.click("#as-knobs")
    knob = page.locator("[id='knob-topology.dumbbell.queue.buffer']")
    knob.fill("7 packets")
    knob.press("Enter")
    changed = RED.replace("200 packets", "7 packets") + "# mine\n"
    expect_text(page, changed)
    page.click("#as-text")
    page.locator("#toml .cm-content").focus()
    for text in (RED + "# mine\n", RED):
        page.keyboard.press("Control+z")
        expect_text(page, text)
    page.keyboard.press("Control+y")
    page.keyboard.press("Control+y")
    expect_text(page, changed)
    page.keyboard.press("Control+z")
    page.keyboard.press("Control+Enter")
    expect(knob).to_have_value("200 packets")
    assert run(page) == of_wheel(RED, 1)


def test_each_variant_has_its_own_history(page: Page) -> None:
    page.click("#compare")
    expect(page.locator("#variants button")).to_have_count(2)
    write(page, RED.replace("200 packets", "8 packets"))
    page.click("#variants button:has-text('A')")
    expect_text(page, RED)
    page.locator("#toml .cm-content").focus()
    page.keyboard.press("Control+z")
    assert text_of(page) == RED
    page.click("#variants button:has-text('B')")
    page.locator("#toml .cm-content").focus()
    page.keyboard.press("Control+z")
    expect_text(page, RED)
    # Another scenario has none.
    page.evaluate("location.hash = 'example=md1'")
    md1 = example("md1")
    expect_text(page, md1)
    page.locator("#toml .cm-content").focus()
    page.keyboard.press("Control+z")
    assert text_of(page) == md1


def test_escape_and_tab_leave_the_text_and_shortcuts_of_the_page_do_not_apply_in_it(page: Page) -> None:
    replace_text(page, "")
    page.keyboard.type("e p\tr0")
    assert text_of(page) == "e p\tr0"
    assert page.inner_text("#clock").startswith("0")
    assert page.inner_text("#play") == "Run"
    page.keyboard.press("Escape")
    page.keyboard.press("Escape")
    page.keyboard.press("Tab")
    expect(page.locator("#apply")).to_be_focused()
    page.keyboard.press("Shift+Tab")
    expect(page.locator("#toml .cm-content")).to_be_focused()
    expect(page.get_by_label("Scenario in TOML")).to_have_count(1)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_colours_follow_the_colour_scheme(opened: Open, scheme: str) -> None:
    page = opened("#example=red", color_scheme=scheme)
    page.click("#as-text")
    brightness = """element => {
        const [, red, green, blue] = /rgb\\((\\d+), (\\d+), (\\d+)/.exec(getComputedStyle(element)[PROPERTY]);
        return (Number(red) + Number(green) + Number(blue)) / 3;
    }"""
    ground = page.locator("#toml .cm-editor").evaluate(brightness.replace("PROPERTY", "'backgroundColor'"))
    words = page.locator("#toml .cm-line span").all()[:40]
    inks = {
        name: word.evaluate(brightness.replace("PROPERTY", "'color'")) for word in words if (name := word.inner_text().strip())
    }
    assert {"RED", '"RED"', "60 s"} & inks.keys()
    assert len({round(ink) for ink in inks.values()}) > 3
    assert all(abs(ink - ground) > 90 for ink in inks.values()), (ground, inks)
