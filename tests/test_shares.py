"""Shares of flows over links that are equally fast: no flow owns a queue because its packets arrive when a place becomes free."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tailback as tb


def in_series(**flow: Any) -> dict[str, Any]:
    """Two flows whose access links are as fast as the bottleneck. The second one starts later."""
    common: dict[str, Any] = {
        "from": "left",
        "to": "right",
        "sender_access": {"rate": "20 Mbps"},
        "tcp": {"preset": "linux/cubic"},
        **flow,
    }
    return {
        "duration": "25 s",
        "warmup": "8 s",
        "topology": {"dumbbell": {"rate": "20 Mbps", "delay": "5 ms", "queue": {"buffer": "50 packets"}}},
        "flows": {
            "first": {**common, "propagation_rtt": "20 ms"},
            "second": {**common, "propagation_rtt": "21 ms", "start": "4 s"},
        },
    }


def test_of_two_flows_through_equal_links_in_series_the_later_one_wins_as_in_the_kernel() -> None:
    # Kernel, three runs: 0.07 : 19.33, 0.33 : 19.12 and 0 : 19.35 Mbit/s.
    shares = []
    for seed in range(1, 6):
        first, second = tb.simulate(in_series(), seed=seed).flows["goodput_bps"]
        shares.append(second / (first + second))
    assert np.mean(shares) > 0.8


@pytest.mark.parametrize("rate", ["100 Mbps", "2.5 Gbps"])
def test_no_flow_between_hosts_as_fast_as_their_fabric_starves(rate: str) -> None:
    duration = 3.0
    scenario = {
        "duration": f"{duration} s",
        "topology": {
            "leaf_spine": {
                "leaves": 2,
                "spines": 2,
                "hosts": 4,
                "rate": rate,
                "delay": "10 us",
                "queue": {"buffer": "50 packets"},
            }
        },
        "flows": {
            f"to0_{sender}": {
                "from": f"host{sender}",
                "to": "host0",
                "start": {"uniform": ["0 s", "0.3 s"]},
                "tcp": {"preset": "linux/cubic"},
            }
            for sender in range(1, 5)
        },
        "record": {"traces": ["acks"]},
    }
    acks = tb.simulate(scenario, seed=3).trace("acks")
    groups, numbers, times = (np.array(acks[name]) for name in ("group", "ack", "time_s"))
    for group in set(groups):
        of_group = groups == group
        advances = np.diff(numbers[of_group], prepend=-1) > 0
        gaps = np.diff(np.append(times[of_group][advances], duration))
        assert gaps.max() < 1.0, group


def test_a_flow_that_its_own_interface_limits_stops_opening_its_window() -> None:
    # 20 ms at 100 Mbit/s are 167 packets, and a millisecond of packets more may wait at the interface.
    scenario = in_series(sender_access={"rate": "100 Mbps"})
    scenario["topology"]["dumbbell"]["rate"] = "1 Gbps"
    del scenario["flows"]["second"]
    scenario["record"] = {"traces": ["cwnd"]}
    run = tb.simulate(scenario)
    assert max(run.trace("cwnd")["cwnd_packets"]) < 185
    assert run.flows["goodput_bps"][0] == pytest.approx(100e6 * 1448 / 1500, rel=1e-3)
