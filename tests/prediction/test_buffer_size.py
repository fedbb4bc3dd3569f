"""Buffer sizes by all rules."""

from __future__ import annotations

import re
from typing import Any

import pytest

import tailback as tb

TRUNK: dict[str, Any] = {
    "rate": "40 Gbps",
    "base_rtt": "100 ms",
    "transmitters": 16,
    "inputs": 32,
    "flows": 64000,
    "packet_size": "1040 B",
}

LINK: dict[str, Any] = {"target": 0.8, "transmitters": 1, "inputs": None, "flows": 6000, "paced": False}


def test_all_rules_give_an_answer() -> None:
    answers = tb.size_buffer(**TRUNK, paced=True, target="80 %")
    # cui-thesis, table 3.4; the bandwidth-delay product there uses an integer number of packets per second.
    assert answers["cui_trunk"].buffer == 16
    assert answers["enachescu"].buffer == 208
    assert answers["bandwidth_delay"].buffer == 7_692_308
    assert answers["gorinsky"].buffer == 64
    assert (answers["beheshti"].buffer, answers["beheshti"].max_buffer) == (10, 20)
    assert answers["cui_link"].buffer is None
    assert answers.recommended is answers["cui_trunk"]
    assert answers.recommended is not None
    assert answers.recommended.bytes == 16 * 1040
    assert answers.recommended.delay_s == pytest.approx(16 * 8320 / 640e9)
    assert len(answers) == len(tb.models.SIZING_RULES)


@pytest.mark.parametrize(
    ("changes", "rule"),
    [
        ({"target": 1}, "full_utilisation"),
        ({"target": 0.98}, "appenzeller"),
        ({"target": 0.99, "simulate": False}, None),
        ({"target": 0.8}, "appenzeller"),
        ({"target": 0.8, "paced": True}, "cui_trunk"),
        ({"target": 0.99, "flows": 3}, "synchronised"),
        ({"target": 0.8, "flows": 1}, "synchronised"),
        # Synchronised flows need no buffer below 75 %; their bursts do.
        ({**LINK, "target": 0.7, "rate": "400 Mbps", "flows": 90, "access_rate": "80 Mbps"}, "unpaced"),
        ({**LINK, "target": 0.7, "flows": 1}, "bandwidth_delay"),
        ({"target": 0.8, "paced": False, "access_rate": "10 Gbps"}, "appenzeller"),
        ({"target": 0.8, "paced": False, "access_rate": "1 Gbps"}, "cui_trunk"),
        ({**LINK, "access_rate": "4 Gbps"}, "unpaced"),
        ({**LINK, "access_rate": "30 Gbps"}, "appenzeller"),
        ({**LINK, "access_rate": "400 Mbps"}, "cui_link"),
        ({**LINK, "access_rate": "800 Mbps"}, "unpaced"),
        ({**LINK, "access_rate": "4 Gbps", "flows": 90}, "synchronised"),
        ({**LINK, "access_rate": "4 Gbps", "flows": 100_000}, "appenzeller"),
        ({"target": 0.3, "window": 50}, "enachescu"),
        ({"target": 0.8, "window": 50}, None),
    ],
)
def test_the_recommended_rule_depends_on_the_case(changes: dict[str, Any], rule: str | None) -> None:
    recommended = tb.size_buffer(**{**TRUNK, **changes}).recommended
    assert (recommended and recommended.rule.name) == rule


def test_a_target_closer_to_full_utilisation_than_the_error_of_a_rule_needs_a_simulation() -> None:
    # The sum of windows is off by up to 1.9 points: docs/evidence/theory.md. 2,987 million packets are not simulated unasked.
    many: dict[str, Any] = {"rate": "10 Gbps", "base_rtt": "80 ms", "flows": 2000}
    answers = tb.size_buffer(**many, target=0.99)
    assert (answers.recommended, answers.is_uncovered, answers.simulated) == (None, True, None)
    assert answers.advice.startswith("No rule is accurate enough for 99 %: simulate the case. The 1,512 packets of appenzeller")
    assert "request it with `simulate`" in answers.advice
    few = tb.size_buffer(rate="20 Mbps", base_rtt="50 ms", flows=120, target=0.99)
    found = few.simulated
    assert found is not None
    assert found.low is not None
    assert found.buffer is not None
    assert found.high is not None
    assert found.low <= found.buffer <= found.high


@pytest.mark.parametrize("target", [0.3, 0.6, 0.8, 0.9])
@pytest.mark.parametrize(("inputs", "transmitters"), [(2, 1), (16, 1), (5, 4), (8, 4), (32, 16), (256, 16)])
@pytest.mark.parametrize("flows", [100, 4000, 100_000])
def test_the_trunk_rule_is_conservative(inputs: int, transmitters: int, flows: int, target: float) -> None:
    trunk: dict[str, Any] = {"inputs": inputs, "transmitters": transmitters, "flows": flows, "rate_bps": 40e9}
    trunk |= {"packet_bytes": 1040, "harmonic_rtt_s": 0.1}
    buffer = tb.models.cui_trunk_buffer(**trunk, utilisation=target).buffer
    assert tb.models.closed_loop(model="ebd", **trunk, buffer=buffer).utilisation >= target


def test_no_buffer_exceeds_the_capacity_of_the_inputs() -> None:
    answers = tb.size_buffer(**{**TRUNK, "inputs": 4, "target": 0.8})
    assert answers.recommended is None
    assert (
        answers.advice
        == "No buffer achieves 80 %: the inputs, each as fast as a transmitter, carry at most 25 % of the capacity."
    )


@pytest.mark.parametrize("target", [0.7, 1])
def test_a_buffer_out_of_integer_range_is_reported_as_such(target: float) -> None:
    answers = tb.size_buffer(rate="10000 Gbps", base_rtt="10000 s", transmitters=10**6, packet_size="1 B", flows=1, target=target)
    assert answers["bandwidth_delay"].buffer is None
    assert "2^53 packets or more" in answers.advice


def test_the_advice_for_one_flow_explains_why_synchronised_is_too_small() -> None:
    answers = tb.size_buffer(rate="10 Mbps", base_rtt="61.36 ms", flows=1, paced=False, target=0.9, simulate=False)
    assert f"The {answers['synchronised'].buffer:,} packets of synchronised may be too few" in answers.advice


def test_a_trunk_that_is_not_on_the_map_is_recommended_with_a_warning() -> None:
    answers = tb.size_buffer(**{**TRUNK, "transmitters": 300, "inputs": 1200, "paced": True}, target=0.8)
    assert answers.recommended is answers["cui_trunk"]
    assert "has not been measured" in answers.advice
    assert re.search(r"The next rule requires [\d,]+ packets \(\w+\)", answers.advice)
    assert "for all that were measured" in str(answers)
    assert "measured" not in str(tb.size_buffer(**TRUNK, target=0.8))


def test_the_buffer_for_bursts_is_sufficient_in_the_simulation() -> None:
    def scenario(buffer: int) -> tb.Scenario:
        tcp: Any = {"preset": "newreno", "mss": "1000 B", "delayed_ack": False}
        flows: Any = {
            "count": 150,
            "propagation_rtt": {"uniform": ["60 ms", "180 ms"]},
            "start": {"uniform": ["0 s", "1 s"]},
            "tcp": tcp,
        }
        flows["sender_access"] = {"rate": "40 Mbps"}
        return tb.dumbbell(
            rate="200 Mbps", delay="10 ms", buffer=f"{buffer} packets", duration="40 s", warmup="20 s", flows={"web": flows}
        )

    answers = tb.size_buffer(scenario(10), target=0.8)
    recommended = answers.recommended
    assert recommended is answers["unpaced"]
    assert recommended.buffer is not None
    used = float(tb.simulate(scenario(recommended.buffer), seed=1).queues["utilisation"][0])
    # Within four percentage points, as the rule states.
    assert used == pytest.approx(0.8, abs=0.08)


def test_a_scenario_supplies_missing_values() -> None:
    scenario = tb.dumbbell(
        rate="50 Mbps",
        delay="10 ms",
        buffer="40 packets",
        duration="10 s",
        flows={
            "web": {"count": 20, "propagation_rtt": {"evenly": ["80 ms", "120 ms"]}, "tcp": {"preset": "sack", "pacing": True}}
        },
    )
    answers = tb.size_buffer(scenario, target=0.9)
    assert (answers.question.flows, answers.question.rate_bps, answers.question.packet_bytes) == (20, 50e6, 1500)
    # Serialisation is part of the RTT.
    assert answers.question.base_rtt.mean_s == pytest.approx(0.1, rel=0.01)
    assert answers.question.paced
    assert answers.recommended is answers["cui_link"]
    more = tb.size_buffer(scenario, target=0.9, flows=200, base_rtt="10 ms")
    assert (more.question.flows, more.question.base_rtt.mean_s, more.question.rate_bps) == (200, 0.01, 50e6)


@pytest.mark.parametrize(("conversion", "flows", "inputs", "transmitters"), [(True, 200, 16, 4), (False, 50, 4, 1)])
def test_flows_of_one_line_count_where_they_cross(conversion: bool, flows: int, inputs: int, transmitters: int) -> None:
    """Flows of a trunk arrive over all its inputs; if packets stay on their wavelength, each channel has its own flows."""
    scenario = tb.dwdm(
        inputs=16,
        transmitters=4,
        wavelength_conversion=conversion,
        rate="250 Mbps",
        buffer="8 packets",
        flows=200,
        duration="20 s",
    )
    asked = tb.size_buffer(scenario, target=0.8).question
    assert (asked.flows, asked.inputs, asked.transmitters) == (flows, inputs, transmitters)


def test_properties_that_no_rule_covers_are_reported() -> None:
    scenario = tb.dumbbell(
        rate="50 Mbps",
        delay="10 ms",
        queue={"policy": "codel", "buffer": "40 packets"},
        duration="10 s",
        flows={"web": {"count": 3, "tcp": {"preset": "cubic"}}},
    )
    answers = tb.size_buffer(scenario, target=0.9, simulate=False)
    warnings = " ".join(answers.question.warnings)
    assert "codel" in warnings
    assert "flows.web: the controller is cubic" in warnings
    # No rule is for several flows with such windows, so that none applies or is recommended.
    assert answers.question.other_controllers == ("cubic",)
    assert (answers.recommended, [answer.rule.name for answer in answers if answer.applies]) == (None, [])
    assert answers.advice.startswith("No rule covers 3 flows of cubic: simulate the case.")


@pytest.mark.parametrize("target", [0.6, 0.8])
def test_the_recommended_buffer_reaches_the_target_in_the_simulation(target: float) -> None:
    """Paced flows over access links: the rule is conservative. At 90 % it is not, and states so: docs/howto/buffer_sizing.md."""
    shape = {"count": 40, "propagation_rtt": {"uniform": ["60 ms", "180 ms"]}, "sender_access": {"rate": "100 Mbps"}}
    tcp = {"preset": "newreno", "pacing": True, "delayed_ack": False, "mss": "1000 B"}
    start = {"uniform": ["0 s", "5 s"]}

    def scenario(buffer: int) -> tb.Scenario:
        flows: Any = {"web": {**shape, "start": start, "tcp": tcp}}
        return tb.dumbbell(
            rate="100 Mbps", delay="10 ms", buffer=f"{buffer} packets", duration="60 s", warmup="20 s", flows=flows
        )

    recommended = tb.size_buffer(scenario(10), target=target).recommended
    assert recommended is not None
    assert recommended.buffer is not None
    runs = [tb.simulate(scenario(recommended.buffer), seed=seed) for seed in range(1, 4)]
    assert sum(float(run.queues["utilisation"][0]) for run in runs) / 3 > target


def test_the_plot_has_a_curve_for_every_rule_that_relates_buffer_and_utilisation() -> None:
    figure = tb.size_buffer(**TRUNK, target=0.8).plot()
    labels = {text.get_text() for text in figure.axes[0].texts}
    assert {"closed loop", "cui_trunk", "enachescu", "appenzeller", "synchronised"} <= labels
    assert "bandwidth_delay, full_utilisation" in labels


def test_the_plot_has_the_rules_of_the_controllers() -> None:
    link: dict[str, Any] = {"rate": "100 Mbps", "base_rtt": "40 ms", "flows": 1, "target": 0.95}
    halving, cubic = (
        {text.get_text() for text in tb.size_buffer(**link, preset=preset).plot().axes[0].texts} for preset in ("sack", "cubic")
    )
    assert "cubic" in cubic
    assert not any("cubic" in text or "bbr" in text for text in halving)


def test_an_unknown_rule_gets_the_nearest_name() -> None:
    with pytest.raises(tb.UnknownName, match="did you mean `appenzeller`"):
        tb.size_buffer(**TRUNK, target=0.8)["apenzeller"]


def test_a_notebook_shows_every_answer_and_the_advice() -> None:
    answers = tb.size_buffer(**TRUNK, target=0.8)
    page = answers._repr_html_()
    assert all(f"<td>{answer.rule.name}</td>" in page for answer in answers)
    assert answers.advice in page


def test_transfers_are_not_counted_as_long_lived_flows() -> None:
    transfers: Any = {"arrivals": {"load": 0.5, "reference_rate": "10 Mbps"}, "size": "20 kB", "tcp": {"preset": "sack"}}
    link: Any = {"rate": "10 Mbps", "delay": "10 ms", "buffer": "50 packets", "duration": "10 s"}
    with pytest.raises(tb.ParameterError, match="expected flows without a `size`"):
        tb.size_buffer(tb.dumbbell(**link, flows={"web": transfers}), target=0.9)
    lasting: Any = {"count": 3, "tcp": {"preset": "sack"}}
    both = tb.size_buffer(tb.dumbbell(**link, flows={"web": transfers, "bulk": lasting}), target=0.9)
    assert both.question.flows == 3
    assert any("transfers of limited size" in warning for warning in both.question.warnings)


def test_impairments_of_a_link_are_reported() -> None:
    link: Any = {
        "rate": "10 Mbps",
        "delay": "10 ms",
        "duration": "10 s",
        "flows": {"bulk": {"count": 3, "tcp": {"preset": "sack"}}},
    }
    shaped: Any = {"buffer": "50 packets", "shaper": {"rate": "5 Mbps", "burst": "15 kB"}}

    def warnings(**rest: Any) -> str:
        return "; ".join(tb.size_buffer(tb.dumbbell(**link, **rest), target=0.9).question.warnings)

    assert "has a shaper" in warnings(queue=shaped)
    assert "has losses of its own" in warnings(buffer="50 packets", loss={"probability": 0.01})
    assert warnings(buffer="50 packets") == ""
