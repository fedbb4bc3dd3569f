"""Price schemes, alone and in scenarios: estimates, warnings and errors."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import tailback as tb

LOT = {
    "duration": "20 s",
    "warmup": "10 s",
    "topology": {"parking_lot": {"hops": 2, "rate": "10 Mbps", "delay": "5 ms", "queue": {"buffer": "500 packets"}}},
}


def lot(policy: dict[str, Any], law: str | dict[str, Any], prices: dict[str, Any] | None = None) -> tb.Scenario:
    tcp = {"preset": "newreno", "controller": law}
    flows = {
        name: {"from": ends[0], "to": ends[1], "tcp": tcp} for name, ends in {"long": ("n0", "n2"), "short": ("n0", "n1")}.items()
    }
    scenario = tb.Scenario({**LOT, "flows": flows}).with_({"topology.parking_lot.queue": {"buffer": "500 packets", **policy}})
    return scenario if prices is None else scenario.with_({"prices": prices})


def test_estimates_of_every_scheme_converge_to_the_price() -> None:
    cases: dict[str, tuple[dict[str, Any], float]] = {
        "adpm": ({}, 0.7),
        "rpm": ({"levels": 50, "memory": 500}, 0.7),
        "tpm": ({"bits": 8, "hops": 3}, 1.3),
        "tpm with two bits": ({"bits": 8, "hops": 3, "ecn_bits": "two"}, 1.3),
        "ram": ({"memory": 20_000}, 1.3),
        "rem": ({"memory": 20_000}, 1.3),
    }
    for scheme, (settings, price) in cases.items():
        found = tb.prices.probe([[0.2, 0.7, 0.4]], [20_000], scheme=scheme.split()[0], **settings)
        assert found.prices[0, 0] == pytest.approx(price), scheme
        assert abs(found.errors[0, 0]) < 0.05, scheme


def test_a_ramp_and_a_step_change_the_price_of_the_first_queue() -> None:
    ramp = tb.prices.probe([[0.9]], [1, 101, 201], ramp=0.001)
    assert ramp.prices[0] == pytest.approx([0.9, 1.0, 0.9])
    step = tb.prices.probe([[0.9, 0.3]], [10, 11], step=(10, 0.1))
    assert step.prices[0] == pytest.approx([0.9, 0.3])


@pytest.mark.parametrize(
    ("prices", "after", "more", "says"),
    [
        ([[1.5]], [10], {}, "prices[0] has a price of 1.5"),
        ([[0.5], []], [10], {}, "prices[1] has 0 queues"),
        ([[0.5]], [10, 10], {}, "after does not ascend"),
        ([[0.5]], [], {}, "after does not ascend"),
        ([[0.5]], [0], {}, "after does not ascend"),
        ([[0.5]], [10**12], {}, "expected at most"),
        ([[0.5]], [10], {"ramp": 0.1, "step": (1, 0.2)}, "ramp and step are both given"),
        ([[0.5]], [10], {"ramp": float("nan")}, "ramp is nan"),
        ([[0.5]], [10], {"step": (-1, 0.2)}, "step is at probe -1"),
        ([[0.5]], [10], {"step": (1, 2)}, "step has a price of 2"),
        ([0.5], [10], {}, "prices[0] is 0.5; expected the prices of a path's queues"),
        ([[0.5]], [10], {"seed": -1}, "seed is -1; expected a whole number from 0"),
        ([[0.5]], [10], {"step": 5}, "step is 5; expected a number of probes and a price"),
        ([[0.5]], [10], {"step": (5,)}, "step is (5,); expected a number of probes and a price"),
        ([[0.5]], [10], {"scheme": "ram", "memory": float("nan")}, "memory is nan; expected a finite number"),
        ([[0.1, 0.2, 0.3]], [10], {"scheme": "tpm", "hops": 2}, "prices[0] has 3 queues; the scheme distinguishes 1 to 2"),
    ],
)
def test_invalid_probes_are_rejected(prices: Any, after: list[int], more: dict[str, Any], says: str) -> None:
    with pytest.raises(tb.ParameterError) as refused:
        tb.prices.probe(prices, after, **more)
    assert says in str(refused.value)


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"scheme": "rem", "phi": 1}, "`phi` of 1 marks no packets\n  at       phi\n"),
        ({"scheme": "rpm", "levels": 1}, "`levels` is out of range"),
        ({"scheme": "apdm"}, "did you mean `adpm`?"),
        ({"scheme": "adpm", "levels": 3}, "`levels` is not a known key"),
    ],
)
def test_an_invalid_scheme_is_rejected_as_in_a_scenario(settings: dict[str, Any], says: str) -> None:
    with pytest.raises(tb.ScenarioError) as refused:
        tb.prices.probe([[0.5]], [10], **settings)
    assert says in str(refused.value)


def test_sources_share_by_the_price_signalled_by_marks() -> None:
    run = tb.simulate(
        lot({"policy": "maxnet"}, {"kind": "maxnet", "max_rate": "10 Mbps"}, {"scheme": "adpm", "min_price": 0, "max_price": 6})
    )
    assert np.ptp(run.flows["goodput_bps"]) / np.mean(run.flows["goodput_bps"]) < 0.05
    assert run.queues["price"][0] > 0.5
    assert np.isnan(run.queues["price"][1])


def test_clamp_shares_by_weights_and_keeps_the_queue_of_its_settings() -> None:
    # In equilibrium, slope x queue - offset is the sum of weights x backlog: (8 x 3 + 10 packets of 1500 bytes) / 1. Flows count
    # the data in flight before an acknowledgement, in whole segments, which is half a segment too much each.
    groups = {"one": ({"uniform": ["40 ms", "60 ms"]}, 1.0), "three": ({"uniform": ["80 ms", "120 ms"]}, 3.0)}
    scenario = tb.dumbbell(
        rate="10 Mbps",
        delay="2 ms",
        duration="60 s",
        warmup="30 s",
        queue={"policy": "clamp", "slope": 1, "offset": "15 kB", "buffer": "200 packets"},
        flows={
            name: {
                "count": 2,
                "propagation_rtt": rtt,
                "start": {"uniform": ["0 s", "1 s"]},
                "tcp": {"preset": "sack", "controller": {"kind": "clamp", "weight": weight}},
            }
            for name, (rtt, weight) in groups.items()
        },
        traces=["controller"],
    )
    run = tb.simulate(scenario, seed=1)
    queue = run.queues.where(queue="bottleneck")
    one, three = run.groups["goodput_bps"]
    assert 2.8 < three / one < 3.3
    assert 0.88 < queue["mean_wait_s"][0] / (34 * 12_000 / 10e6) < 1
    assert queue["utilisation"][0] > 0.999
    assert abs(run.trace("controller").where(quantity="price (s)")["value"][-1] - 24 * 12_000 / 10e6) < 0.006


def test_rem_has_a_price_without_senders_that_use_it() -> None:
    run = tb.simulate(lot({"policy": "rem", "target": "5 packets"}, "reno"))
    assert run.queues["price"][0] > 0


def test_a_price_beyond_its_range_is_noted() -> None:
    narrow = {"scheme": "adpm", "min_price": 0, "max_price": 0.1}
    run = tb.simulate(lot({"policy": "maxnet"}, {"kind": "maxnet", "max_rate": "10 Mbps"}, narrow))
    assert run.queues["clamped_packets"][0] > 0
    assert any("left the range of `prices`" in remark for remark in run.notes)


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        (
            {
                "links.extra": {"from": "n2", "to": "n3", "rate": "10 Mbps", "delay": "1 ms", "queue": {"buffer": "9 packets"}},
                "nodes.n3": {},
                "flows.long.to": "n3",
            },
            "receives prices from some queues on its path only",
        ),
        ({"topology.parking_lot.queue.policy": "drop_tail"}, "receives no price from the queues on its path"),
        (
            {"flows.long.tcp.controller": "reno", "flows.short.tcp.controller": "reno"},
            "a price that no sender on this link uses",
        ),
        ({"prices": {"scheme": "exact", "min_price": 1}}, "prices are sent as numbers"),
        ({"prices": {"scheme": "adpm", "min_price": 0, "max_price": 1e9}}, "the prices 0.000e0 and 1.000e0 of"),
        ({"prices": {"scheme": "adpm", "min_price": 0, "max_price": 9, "scale": 2}}, "only the signed mapping uses it"),
        ({"prices": {"scheme": "exact", "identification": "random"}}, "`identification` is ignored"),
        ({"flows.short.tcp.controller": "reno"}, "a price that some senders on this link do not use"),
        (
            {
                "topology.parking_lot.queue.policy": "drop_tail",
                "flows.long.tcp.controller": "reno",
                "flows.short.tcp.controller": "reno",
                "prices": {"scheme": "exact"},
            },
            "no sender uses prices",
        ),
    ],
)
def test_unintended_price_settings_cause_warnings(changes: dict[str, Any], says: str) -> None:
    scenario = lot({"policy": "maxnet"}, "maxnet").with_(changes)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        tb.simulate(scenario.with_({"duration": "1 s", "warmup": "0 s"}))
    assert any(says in str(warning.message) for warning in caught), [str(warning.message) for warning in caught]


def test_a_scheme_for_the_maximum_price_causes_a_warning_if_the_sum_is_used() -> None:
    rem = {"policy": "rem", "target": "5 packets"}
    with pytest.warns(tb.ScenarioWarning, match="uses the sum of the prices on its path"):
        tb.simulate(
            lot(rem, "rem", {"scheme": "adpm", "min_price": 0, "max_price": 1}).with_({"duration": "1 s", "warmup": "0 s"})
        )


def test_a_range_too_wide_for_a_link_causes_a_warning() -> None:
    wide = lot({"policy": "rcp"}, "rcp", {"scheme": "adpm", "min_price": 0, "max_price": 5}).with_(
        {"duration": "1 s", "warmup": "0 s"}
    )
    with pytest.warns(tb.ScenarioWarning, match="too wide a range"):
        tb.simulate(wide)


@pytest.mark.parametrize(
    ("policy", "law", "says"),
    [
        ({"policy": "maxnet", "gain": 1}, {"kind": "maxnet", "max_rate": "10 Mbps"}, "less than"),
        (
            {"policy": "rem", "target": "5 packets", "gamma": 1},
            {"kind": "rem", "max_rate": "10 Mbps"},
            "half of that leaves a margin",
        ),
        ({"policy": "maxnet", "gain": 0.3}, {"kind": "maxnet", "max_rate": "10 Mbps"}, "may make price and rates oscillate"),
        ({"policy": "rcp", "alpha": 2}, "rcp", "less than 1.571"),
        ({"policy": "clamp", "slope": 1.6}, "clamp", "less than 1.57"),
    ],
)
def test_an_unstable_gain_causes_a_warning(policy: dict[str, Any], law: dict[str, Any], says: str) -> None:
    with pytest.warns(tb.ScenarioWarning, match="price and rates oscillate, with round trips of .* ms") as caught:
        tb.simulate(lot(policy, law).with_({"duration": "1 s", "warmup": "0 s"}))
    assert says in str(caught[0].message)


def test_slow_price_signals_cause_a_warning() -> None:
    late = lot({"policy": "rcp"}, "rcp", {"scheme": "rpm", "min_rate": "1 kbps", "max_rate": "10 Mbps"})
    with pytest.warns(tb.ScenarioWarning, match="may make price and rates oscillate, .* and price feedback by marks in 120 ms"):
        tb.simulate(late.with_({"duration": "1 s", "warmup": "0 s"}))
