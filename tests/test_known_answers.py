"""Scenarios whose answers are known from a kernel, from an RFC or from the authors of a scheme."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tailback as tb


def over_dumbbell(rate: str, delay: str, buffer: str, duration: str, **flows: dict[str, Any]) -> dict[str, Any]:
    ends = {"from": "left", "to": "right"}
    return {
        "duration": duration,
        "topology": {"dumbbell": {"rate": rate, "delay": delay, "queue": {"buffer": buffer}}},
        "flows": {name: {**ends, **flow} for name, flow in flows.items()},
    }


@pytest.mark.parametrize(("tcp", "expected"), [({}, (0.11, 0.12)), ({"handshake": False}, (0.05, 0.4))])
def test_short_flows_of_linux_complete_as_in_the_kernel(tcp: dict[str, Any], expected: tuple[float, float]) -> None:
    # Medians of a kernel with a handshake: 0.114 and 0.120 s. Open connections lose more of the 30 windows that they send
    # at once, and those without an RTT sample had a median of 1.092 s.
    flow = {"count": 30, "size": "30 kB", "tcp": {"preset": "linux/cubic", **tcp}}
    run = tb.simulate(over_dumbbell("50 Mbps", "2 ms", "20 packets", "5 s", short=flow))
    least, most = expected
    assert least < np.median(run.flows["completion_time_s"]) < most
    (group,) = run.groups.to_rows()
    assert group["probes"] == sum(run.flows["probes"]) > 0


@pytest.mark.parametrize(
    ("preset", "size", "link", "expected"),
    [
        ("linux/reno", 20, ("1.87 Mbps", "4.44 ms", "4 packets"), 0.1511),  # 0.380 s without the handshake's last packet
        ("linux/cubic", 22, ("3.63 Mbps", "2.44 ms", "5 packets"), 0.3106),  # 0.080 s without it
        ("linux/cubic", 4, ("7.31 Mbps", "1.69 ms", "3 packets"), 0.2379),  # 0.012 s without the FIN, which is the probe
    ],
)
def test_packets_without_data_take_places_in_short_queues_as_in_the_kernel(
    preset: str, size: int, link: tuple[str, str, str], expected: float
) -> None:
    # Linux 6.12.117 with 1000 ticks per second.
    rate, delay, buffer = link
    ends = {"from": "a", "to": "b"}
    tcp = {"preset": preset, "timer": {"jiffy": "1 ms"}}
    scenario = {
        "duration": "5 s",
        "nodes": {"a": {"kind": "host"}, "b": {"kind": "host"}},
        "links": {"l": {**ends, "rate": rate, "delay": delay, "queue": {"buffer": buffer}, "reverse": {"rate": "100 Gbps"}}},
        "flows": {"short": {**ends, "start": "50 ms", "size": f"{1448 * size} B", "tcp": tcp}},
    }
    assert tb.simulate(scenario).flows["completion_time_s"][0] == pytest.approx(expected, rel=0.05)


def test_duplicates_made_by_the_network_undo_no_reduction_of_linux() -> None:
    # Linux 6.1 and 6.12: 3.5 to 3.7 Mbit/s. If each duplicate may undo a reduction: 85 to 95 Mbit/s.
    scenario = over_dumbbell("100 Mbps", "20 ms", "333 packets", "20 s", bulk={"tcp": {"preset": "linux/reno"}})
    scenario["topology"]["dumbbell"] |= {"loss": {"probability": 0.01}, "duplication": 0.05}
    assert 2.9e6 < tb.simulate(scenario).flows["goodput_bps"][0] < 4.5e6


def test_a_lone_segment_is_acknowledged_at_once_as_in_the_kernel() -> None:
    # 0 of 600 lone segments waited with Linux 6.1, 6.12 and 6.18; the timer of a delayed acknowledgement has 40 ms.
    lone = {"application": {"kind": "constant", "rate": "115840 bps"}, "tcp": {"preset": "linux/reno"}}
    run = tb.simulate(over_dumbbell("100 Mbps", "20 ms", "100 packets", "60 s", lone=lone))
    assert run.flows["mean_rtt_s"][0] == pytest.approx(0.0401, rel=0.02)


@pytest.mark.parametrize(("tcp", "most"), [({}, 0.25), ({"timer": {"min_rto": "5 ms"}}, 0.02)])
def test_the_minimum_rto_applies_from_the_first_segment_of_an_incast(tcp: dict[str, Any], most: float) -> None:
    # 62 senders of 256 kB take at least 13.05 ms over 10 Gbit/s. The 99th percentile was 1000.5 ms in both cases.
    fabric = {"leaves": 4, "spines": 4, "hosts": 16, "rate": "100 Gbps", "host_rate": "10 Gbps", "delay": "1 us"}
    scenario = {
        "duration": "3 s",
        "routing": "ecmp",
        "topology": {
            "leaf_spine": {**fabric, "queue": {"buffer": "200 packets", "policy": "threshold", "threshold": "65 packets"}}
        },
        "flows": {
            "answers": {
                "traffic": {"incast": {"nodes": "host*", "senders": 62}},
                "size": "256 kB",
                "tcp": {"preset": "linux/dctcp", **tcp},
            }
        },
    }
    assert 0.01305 < tb.simulate(scenario).groups["completion_p99_s"][0] < most


def reordering(seed: int) -> dict[str, Any]:
    """One flow over a link whose jitter reorders packets, without any loss."""
    jitter = {"delay": {"normal": {"mean": "100 ms", "deviation": "10 ms"}}, "reordering": True}
    chain = {"rates": ["50 Mbps"], "delays": ["1 ms"], "queue": {"buffer": "20000 packets"}, "jitter": jitter}
    scenario = {
        "duration": "20 s",
        "topology": {"chain": chain},
        "flows": {"bulk": {"from": "n0", "to": "n1", "tcp": {"preset": "linux/cubic"}}},
    }
    (row,) = tb.simulate(scenario, seed=seed).flows.to_rows()
    return row


def test_a_link_that_reorders_slows_linux_down_as_it_does_the_kernel() -> None:
    # Three runs of a kernel: 29.3, 25.6 and 33.3 Mbit/s with 4 to 15 retransmissions.
    rows = [reordering(seed) for seed in range(1, 11)]
    assert np.mean([row["goodput_bps"] for row in rows]) == pytest.approx(29.4e6, rel=0.2)
    assert np.mean([row["retransmitted_packets"] for row in rows]) < 2 * 15
    # RFC 7323 section 5.3: no first transmission is discarded by its timestamp.
    assert sum(row["retransmitted_packets"] - row["spurious_retransmissions"] for row in rows) == 0


def test_a_second_loss_below_the_first_maximum_reduces_cubic_once() -> None:
    # RFC 9438 section 4.7 lowers the maximum to 0.85 of the window, and section 4.6 the window to 0.7.
    scenario = over_dumbbell("100 Mbps", "50 ms", "unlimited", "6 s", bulk={"tcp": {"preset": "linux/cubic"}})
    drops = [{"group": "bulk", "segment": segment} for segment in (200, 3000)]
    scenario["topology"]["dumbbell"]["loss"] = {"drops": drops}
    scenario["record"] = {"traces": ["cwnd"]}
    windows = np.array(tb.simulate(scenario).trace("cwnd")["cwnd_packets"])
    ratios = windows[1:] / windows[:-1]
    assert ratios[ratios < 0.9] == pytest.approx([0.7, 0.7], abs=0.005)


def test_a_flow_that_sends_above_its_share_gets_no_more_than_the_others() -> None:
    # RFC 8290 section 4.2: 10 Mbit/s for five flows, one of which sends 5 Mbit/s.
    source = {"kind": "constant", "rate": "5 Mbps", "packet_size": "1500 B"}
    bulk = {"count": 4, "tcp": {"preset": "linux/cubic"}}
    scenario = over_dumbbell("10 Mbps", "10 ms", "10000 packets", "20 s", bulk=bulk, fast={"source": source})
    scenario["topology"]["dumbbell"]["queue"] |= {"scheduler": "flow_queue", "policy": "codel"}
    scenario["warmup"] = "5 s"
    assert tb.simulate(scenario).groups["goodput_bps"][1] == pytest.approx(2e6, rel=0.025)


def test_a_block_over_a_fast_link_takes_as_long_as_in_the_kernel() -> None:
    # Kernel: 1.115 to 1.119 s, and 17 retransmissions.
    flow = {"size": "12.5 MB", "tcp": {"preset": "linux/cubic"}}
    (row,) = tb.simulate(over_dumbbell("100 Mbps", "10 ms", "170 packets", "6 s", block=flow)).flows.to_rows()
    assert row["completion_time_s"] == pytest.approx(1.117, rel=0.03)
    assert row["retransmitted_packets"] == pytest.approx(17, abs=3)


def test_pages_beside_a_long_flow_wait_in_its_queue_as_in_the_kernel() -> None:
    # Kernel: 0.585 s per page of 100 kB, and a mean queue of 56.8 packets.
    tcp = {"preset": "linux/reno"}
    pages = {"kind": "requests", "connections": "new", "requests": 17, "response_size": "100 kB", "think_time": "2 s"}
    page = {"start": "4 s", "application": pages, "tcp": tcp}
    run = tb.simulate(over_dumbbell("10 Mbps", "2 ms", "100 packets", "40 s", long={"tcp": tcp}, page=page))
    times = np.array([row["completion_time_s"] for row in run.messages.to_rows() if row["group"] == "page"])
    assert np.nanmean(times) == pytest.approx(0.585, rel=0.1)
    assert run.queues.where(queue="bottleneck")["mean_queue_units"][0] == pytest.approx(56.8, abs=3)


def guaranteed(seed: int, *minimums: str | None) -> list[float]:
    """Goodput in Mbit/s of VCs with these minimum cell rates, over 100 Mbit/s with ERICA."""
    abr = {"buffer": "unlimited", "pcr": "100 Mbps"}
    flows: dict[str, Any] = {}
    for index, minimum in enumerate(minimums):
        own = {"icr": "10 Mbps"} if minimum is None else {"icr": minimum, "mcr": minimum}
        flows[f"vc{index}"] = {
            "framing": {},
            "sender_access": {"rate": "155 Mbps"},
            "start": {"uniform": ["0 s", "0.5 s"]},
            "abr": {**abr, **own},
            "tcp": {"preset": "sack"},
        }
    link = {"rate": "100 Mbps", "delay": "5 ms", "queue": {"buffer": "2000 cells", "policy": "erica"}}
    scenario = {"duration": "5 s", "warmup": "1 s", "topology": {"dumbbell": link}, "flows": flows}
    return [float(rate) / 1e6 for rate in tb.simulate(tb.Scenario(scenario), seed=seed).groups["goodput_bps"]]


@pytest.mark.parametrize("seed", range(1, 11))
def test_erica_guarantees_minimum_cell_rates(seed: int) -> None:
    # Of the target, 90 Mbit/s, the MCR leaves 30, of which both VCs get 15 (Vandalore and others, ICNP 1998). One in 32 cells is
    # an RM cell, a cell has 48 bytes of payload, and 32 of them carry 1460 bytes. Without MCRs in the switch, seeds had 0 to 56.
    payload = 31 / 32 * 48 / 53 * 1460 / (32 * 48)
    assert guaranteed(seed, "60 Mbps", None) == pytest.approx([75 * payload, 15 * payload], rel=0.1)
    # 30 + 60 / 4 and 15.
    assert guaranteed(seed, "30 Mbps", None, None, None) == pytest.approx([45 * payload, *[15 * payload] * 3], rel=0.1)


def test_each_timeout_doubles_the_retransmission_timeout() -> None:
    scenario = over_dumbbell("10 Mbps", "10 ms", "20 packets", "60 s", f={"tcp": {"preset": "newreno"}})
    scenario["topology"]["dumbbell"]["loss"] = {"probability": "20 %"}
    scenario["record"] = {"traces": ["rto", "state"]}
    run = tb.simulate(scenario, seed=1)
    rto = dict(zip(run.trace("rto")["time_s"], run.trace("rto")["rto_s"], strict=True))
    state = run.trace("state")
    times = list(rto)
    # A timeout changes the state, unless the sender was in that state already.
    timeouts = [time for time, word in zip(state["time_s"], state["state"], strict=True) if word == "timeout"]
    assert len(timeouts) > 5
    for time in timeouts:
        before = rto[times[times.index(time) - 1]]
        assert rto[time] == pytest.approx(2 * before)
