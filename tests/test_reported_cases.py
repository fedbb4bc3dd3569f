"""Scenarios from users' reports whose results are known from real kernels or from a specification."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tailback as tb


def dumbbell(rate: str, delay: str, queue: dict[str, Any], flows: dict[str, Any], duration: str, **link: Any) -> tb.Run:
    shape = {"dumbbell": {"rate": rate, "delay": delay, "queue": queue, **link}}
    ends = {"from": "left", "to": "right"}
    flows = {name: ends | flow for name, flow in flows.items()}
    return tb.simulate(tb.Scenario({"duration": duration, "topology": shape, "flows": flows, "record": {"traces": ["cwnd"]}}))


def test_cubic_reduces_once_for_a_second_loss_below_its_maximum() -> None:
    """RFC 9438 section 4.7 lowers W_max, and not the window (quinn#2640, quicly#679)."""
    drops = [{"group": "a", "segment": segment} for segment in (200, 3000)]
    flow = {"tcp": {"preset": "linux/cubic"}}
    run = dumbbell("100 Mbps", "50 ms", {"buffer": "unlimited"}, {"a": flow}, "6 s", loss={"drops": drops})
    windows = np.array(run.trace("cwnd")["cwnd_packets"])
    factors = windows[1:] / windows[:-1]
    assert factors[factors < 0.9] == pytest.approx([0.7, 0.7], abs=0.005)


def test_a_flow_that_sends_above_its_share_is_not_sparse() -> None:
    """RFC 8290 section 4.2: whoever returns with a backlog is no new flow (dtaht/sch_cake#145)."""
    queue = {"scheduler": "flow_queue", "policy": "codel", "buffer": "10000 packets"}
    flows = {
        "bulk": {"count": 4, "tcp": {"preset": "linux/cubic"}},
        "regular": {"source": {"kind": "constant", "rate": "5 Mbps", "packet_size": "1500 B"}},
    }
    run = dumbbell("10 Mbps", "10 ms", queue, flows, "20 s")
    assert run.groups["goodput_bps"][1] == pytest.approx(2e6, abs=0.05e6)


def test_a_block_of_a_ledger_arrives_as_in_the_kernel() -> None:
    """12.5 MB take 1.115 to 1.119 s in Linux 6.12, with 17 retransmissions (ouroboros-consensus#1756)."""
    flow = {"tcp": {"preset": "linux/cubic"}, "size": "12.5 MB"}
    run = dumbbell("100 Mbps", "10 ms", {"buffer": "170 packets"}, {"a": flow}, "6 s")
    assert run.flows["completion_time_s"][0] == pytest.approx(1.117, rel=0.03)
    assert run.flows["retransmitted_packets"][0] == pytest.approx(17, abs=3)


def test_pages_beside_a_long_flow_are_as_late_as_in_the_kernel() -> None:
    """The exercise on bufferbloat of several courses: 0.585 s and a mean queue of 56.8 packets in Linux 6.12."""
    pages = {"kind": "requests", "connections": "new", "requests": 17, "response_size": "100 kB", "think_time": "2 s"}
    flows = {
        "long": {"tcp": {"preset": "linux/reno"}},
        "page": {"tcp": {"preset": "linux/reno"}, "start": "4 s", "application": pages},
    }
    run = dumbbell("10 Mbps", "2 ms", {"buffer": "100 packets"}, flows, "40 s")
    times = [row["completion_time_s"] for row in run.messages.to_rows() if row["group"] == "page"]
    assert np.nanmean(times) == pytest.approx(0.585, rel=0.1)
    assert run.queues.where(queue="bottleneck")["mean_queue_units"][0] == pytest.approx(56.8, abs=3)
