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


@pytest.mark.parametrize(("access", "seeds"), [("141 Mbps", 10), ("155 Mbps", 3)])
def test_plain_discard_of_cells_carries_less_than_epd_and_no_circuit_has_everything(access: str, seeds: int) -> None:
    # Romanow and Floyd, JSAC 13(4), 1995. With equal clocks one circuit of ten had 121.4 Mbit/s for ever.
    flow = {
        "count": 10,
        "framing": {},
        "sender_access": {"rate": access, "delay": "3 us"},
        "start": {"uniform": ["0 s", "0.1 s"]},
        "jitter": "200 us",
        "tcp": {
            "preset": "reno",
            "initial_window": 1,
            "receiver_window": "64 kB",
            "timer": {"form": "coarse_bsd", "tick": "0.1 s"},
        },
    }
    carried, jain = {}, {}
    for policy, more in {"drop_tail": {}, "epd": {"threshold": "80 %"}}.items():
        queue: Any = {"policy": policy, "buffer": "1000 cells", **more}
        flows: Any = {"vc": flow}
        link = tb.dumbbell(rate="141 Mbps", delay="3 us", queue=queue, flows=flows, duration="15 s", warmup="1 s")
        goodput = np.array([run.flows["goodput_bps"] for run in tb.simulate(link, seeds=seeds)])
        carried[policy] = goodput.sum(axis=1).mean()
        jain[policy] = (goodput.sum(axis=1) ** 2 / (10 * (goodput**2).sum(axis=1))).mean()
    assert carried["drop_tail"] < carried["epd"]
    assert min(jain.values()) >= 0.5
