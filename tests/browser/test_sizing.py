"""The lab's buffer calculator compared with `tailback.size_buffer`: the same answers in the same words."""

from __future__ import annotations

import random
import re
from typing import Any

import pytest
from playwright.sync_api import Page, expect

import tailback as tb
from browsing import PHONE, BrowserPages

# Values on both sides of every condition of the rules.
VALUES: dict[str, list[Any]] = {
    "rate": ["2 Mbps", "300 Mbps", "1 Gbps", "40 Gbps"],
    "base_rtt": [
        "100 ms",
        "7.3 ms",
        "400 us",
        ["60 ms", "180 ms"],
        {"uniform": ["60 ms", "180 ms"]},
        {"evenly": ["20 ms", "90 ms"]},
    ],
    "flows": [1, 2, 99, 100, 1000, 8192, 64000],
    "target": ["50 %", "70 %", 0.8, "85 %", "87 %", "90 %", "93 %", "95 %", "98 %", "100 %", "99.97 %"],
    "packet_size": [None, "1040 B", "500 B", "53 B"],
    "transmitters": [None, None, 1, 2, 16, 300],
    "inputs": [None, None, None, 3, 32, 256, 100_000],
    "access_rate": [None, None, "100 kbps", "10 Mbps", "300 Mbps", "8 Gbps"],
    "paced": [None, None, True, False],
    "window": [None, None, None, None, None, 3, 70, 100_000],
    "preset": [None, None, None, ["sack"], ["cubic"], ["linux/bbr"], ["cubic", "linux/bbr"]],
}
# Answers of the compiled core to all questions, as requested by the page's worker.
ANSWERS = """async (questions) => {
    const { instance } = await WebAssembly.instantiateStreaming(fetch("core.wasm"));
    const core = instance.exports;
    return questions.map((question) => {
        const bytes = new TextEncoder().encode(JSON.stringify({ ask: "sizing", question }));
        const at = core.tailback_scenario(bytes.length);
        new Uint8Array(core.memory.buffer, at, bytes.length).set(bytes);
        core.tailback_lab();
        const answer = new Uint8Array(core.memory.buffer, core.tailback_answer(), core.tailback_answer_bytes());
        return JSON.parse(new TextDecoder().decode(answer));
    });
}"""


@pytest.fixture
def calculator(windows: BrowserPages, address: str) -> Page:
    return opened(windows, address)


def opened(windows: BrowserPages, address: str, **options: Any) -> Page:
    page = windows.open(address + "#sizing", **options)
    page.wait_for_selector("#view-sizing tbody tr")
    return page


def questions(count: int) -> list[dict[str, Any]]:
    chance = random.Random(1)
    drawn = [{name: chance.choice(values) for name, values in VALUES.items()} for _ in range(count)]
    given = ({name: value for name, value in question.items() if value is not None} for question in drawn)
    return [question for question in given if len(question.get("preset", [])) <= question["flows"]]


def by_package(question: dict[str, Any]) -> dict[str, Any]:
    """A number in the notation of the page's core."""
    answers = tb.size_buffer(**question, simulate=False)
    rules = [
        {
            "rule": answer.rule.name,
            "idea": answer.rule.idea,
            "equation": answer.rule.equation,
            "source": answer.rule.source,
            "assumes": list(answer.rule.assumes),
            "packets": answer.buffer,
            "max_packets": answer.max_buffer,
            "bytes": answer.bytes,
            "delay_s": None if answer.delay_s is None else pytest.approx(answer.delay_s, rel=1e-12),
            "applies": answer.applies,
            "why": answer.why,
        }
        for answer in answers.answers
    ]
    recommended = None if answers.recommended is None else answers.recommended.rule.name
    return {"asked": str(answers).split("\n")[0], "rules": rules, "recommended": recommended, "advice": answers.advice}


def test_the_page_gives_the_answers_of_the_command(calculator: Page) -> None:
    beyond = {"rate": "10000 Gbps", "base_rtt": "10000 s", "transmitters": 10**6, "packet_size": "1 B", "flows": 1}
    asked = [*questions(750), {**beyond, "target": 1}, {**beyond, "target": 0.7}]
    of_page = calculator.evaluate(ANSWERS, asked)
    reasons, recommended = set(), set()
    for question, answer in zip(asked, of_page, strict=True):
        assert answer == by_package(question), question
        reasons |= {re.sub(r"[0-9.,]+", "#", part) for rule in answer["rules"] for part in rule["why"].split("; ")}
        recommended.add(answer["recommended"])
    # The questions cover nearly all possible texts.
    assert len(recommended) >= 8, recommended
    assert len(reasons) >= 30, reasons


def ask(page: Page, **fields: str) -> None:
    for name, text in fields.items():
        page.fill(f"#size-{name}", text)
        page.press(f"#size-{name}", "Enter")


def test_a_rule_that_does_not_apply_has_the_reason_of_the_command(calculator: Page) -> None:
    ask(calculator, flows="2", access_rate="2 Gbps")
    calculator.select_option("#size-paced", label="no, bursts")
    question: dict[str, Any] = {"rate": "1 Gbps", "base_rtt": "100 ms", "flows": 2, "target": "98 %"}
    answers = tb.size_buffer(**question, access_rate="2 Gbps", paced=False)
    expect(calculator.locator("tr[data-rule=cui_link]")).to_contain_text("packets arrive in bursts")
    assert calculator.locator("tbody tr").count() == len(answers) == 12
    for answer in answers:
        row = calculator.locator(f"tr[data-rule={answer.rule.name}]")
        expect(row.locator(".why")).to_have_text(re.compile(re.escape(answer.why) + "$"))
        places = "\N{EN DASH}" if answer.buffer is None else f"{answer.buffer:,}"
        expect(row.locator("td").first).to_contain_text(
            places if answer.max_buffer is None else f"{places} to {answer.max_buffer:,}"
        )
        assert row.evaluate("row => row.classList.contains('applies')") is answer.applies
    expect(calculator.locator(".advice")).to_have_text(answers.advice)
    assert answers.recommended is not None
    expect(calculator.locator("tr.recommended th")).to_have_text(answers.recommended.rule.name)


def test_the_controller_can_be_chosen(calculator: Page) -> None:
    ask(calculator, flows="1")
    calculator.select_option("#size-preset", label="CUBIC")
    expect(calculator.locator("tr.recommended th")).to_have_text("cubic")
    calculator.select_option("#size-preset", label="CUBIC and BBR, half each")
    expect(calculator.locator("#view-sizing .problem")).to_contain_text("more presets than flows")
    ask(calculator, flows="40")
    expect(calculator.locator(".advice")).to_contain_text("No rule covers 40 flows of bbrv1 and cubic")


def test_a_field_accepts_the_values_of_the_command(calculator: Page) -> None:
    ask(calculator, target="0.8", base_rtt='{uniform = ["60 ms", "180 ms"]}')
    expect(calculator.locator("caption")).to_contain_text("80 % of 1 Gbps, 1,000 flows over 120 ms (mean; harmonic 109.2 ms)")


def test_an_error_keeps_the_last_answers_and_marks_them(calculator: Page) -> None:
    ask(calculator, flows="2", rate="1 Gbits")
    expect(calculator.locator("#view-sizing .problem")).to_contain_text("unknown unit")
    assert calculator.get_attribute("#size-rate", "aria-invalid") == "true"
    expect(calculator.locator("#sizes.stale caption")).to_contain_text("98 % of 1 Gbps, 2 flows")
    ask(calculator, rate="2 Gbps")
    expect(calculator.locator("#sizes:not(.stale) caption")).to_contain_text("98 % of 2 Gbps, 2 flows")
    assert calculator.locator("#view-sizing .problem").count() == 0
    ask(calculator, base_rtt="0 s")
    expect(calculator.locator("#view-sizing .problem")).to_contain_text("Round trip without queueing; a round trip is zero")


def test_answers_and_faults_fit_a_phone(windows: BrowserPages, address: str) -> None:
    page = opened(windows, address, viewport=PHONE)
    ask(page, rate="1 Gbits")
    expect(page.locator("#view-sizing .problem")).to_be_in_viewport(ratio=1)
    assert page.evaluate("document.documentElement.scrollWidth") == PHONE["width"]
    wide = page.locator("#sizes .wide")
    assert wide.evaluate("element => element.scrollWidth <= element.clientWidth")
