"""Every controller fills a link at its default settings, or a warning names the settings that do not suit the path."""

from __future__ import annotations

import re
import warnings
from typing import Any

import pytest

import tailback as tb

FORMS = [form["properties"]["kind"] for form in tb.schema()["$defs"]["ControllerTable"]["oneOf"]]
# These use prices, whose settings belong to the link; `fixed` has a window that never changes.
OTHERS = {"clamp", "fixed", "maxnet", "rcp", "rem", "xcp"}
LAWS = [form["const"] for form in FORMS if "const" in form and form["const"] not in OTHERS]

# Delays of the round trip in microseconds, and rates in Mbit/s, with at most 200 packets on the path.
PATHS = [(10, 1), (10, 100), (10, 10_000), (10, 100_000), (1000, 1), (1000, 100), (50_000, 1), (600_000, 1)]


def scenario(rtt_us: int, megabits: int, law: str, **tcp: Any) -> tb.Scenario:
    """One flow over a buffer of four bandwidth-delay products, for at least 400 round trips and at most about 200,000 packets."""
    packet_us = 12e3 / megabits
    packets = max(20, round(rtt_us / packet_us))
    duration_us = min(max(400 * rtt_us, 2000 * packet_us, 1e6), max(200_000 * packet_us, 400 * rtt_us))
    queue: dict[str, Any] = {"buffer": f"{4 * packets} packets"}
    if law in ("dctcp", "prague"):
        queue |= {"policy": "threshold", "threshold": f"{max(5, packets // 4)} packets"}
        tcp["ecn"] = True
    link = {"rate": f"{megabits} Mbps", "delay": f"{rtt_us / 2:g} us", "queue": queue}
    flow = {"from": "left", "to": "right", "tcp": {"preset": "linux/cubic", "controller": law, **tcp}}
    duration = {"duration": f"{duration_us:.0f} us", "warmup": f"{duration_us / 2:.0f} us"}
    return tb.Scenario({**duration, "topology": {"dumbbell": link}, "flows": {"a": flow}})


def advice(given: tb.Scenario) -> str:
    """The expected values of all warnings."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", tb.ScenarioWarning)
        given.check()
    found = [warning.message.problem.expected for warning in caught if isinstance(warning.message, tb.ScenarioWarning)]
    return "; ".join(filter(None, found))


@pytest.mark.filterwarnings("ignore::tailback.ScenarioWarning", "ignore::tailback.StarvationWarning")
@pytest.mark.parametrize("law", LAWS)
def test_a_controller_fills_a_path_or_a_warning_names_its_settings(law: str) -> None:
    for rtt_us, megabits in PATHS:
        given = scenario(rtt_us, megabits, law)
        used = tb.simulate(given).queues["utilisation"][0]
        assert used > 0.5 or advice(given), f"{rtt_us} us, {megabits} Mbps: {used}"


@pytest.mark.filterwarnings("ignore::tailback.ScenarioWarning", "ignore::tailback.StarvationWarning")
@pytest.mark.parametrize("path", [(60, 1000), (60, 10_000), (72, 100_000), (1000, 100), (50_000, 10)])
@pytest.mark.parametrize("law", ["swift", "timely"])
def test_the_advised_settings_fill_a_path(law: str, path: tuple[int, int]) -> None:
    settings: dict[str, str] = {"kind": law}
    prompt = {"delayed_ack": False, "timestamps": True}
    for _ in range(3):
        given = scenario(*path, "", **prompt, controller=settings)
        expected = advice(given)
        settings |= dict(re.findall(r"`(\w+)` of (\d+ \w+)", expected))
    assert expected == ""
    assert tb.simulate(given).queues["utilisation"][0] > 0.5, settings


@pytest.mark.parametrize(
    ("law", "rate"), [("swift", "1 Gbps"), ("swift", "10 Gbps"), ("swift", "100 Gbps"), ("timely", "10 Gbps")]
)
@pytest.mark.parametrize("delay", ["5 us", "30 us", "36 us"])
def test_presets_of_data_centres_fill_links_of_their_networks(law: str, rate: str, delay: str) -> None:
    flows: Any = {"a": {"tcp": {"preset": f"datacentre/{law}"}}}
    length: Any = {"duration": "60 ms", "warmup": "40 ms"}
    given = tb.dumbbell(rate=rate, delay=delay, buffer="1000 packets", flows=flows, **length)
    assert tb.simulate(given).queues["utilisation"][0] > 0.8
