"""Paced flows."""

from __future__ import annotations

from typing import Any

import pytest

import tailback as tb


@pytest.mark.parametrize(("preset", "least"), [("sack", 0.9), ("newreno", 0.9), ("reno", 0.78)])
@pytest.mark.parametrize(
    ("rate", "delay", "buffer"), [("10 Mbps", "10 ms", 20), ("20 Mbps", "20 ms", 61), ("2 Mbps", "80 ms", 21)]
)
def test_a_paced_flow_keeps_its_fast_retransmissions(preset: str, least: float, rate: str, delay: str, buffer: int) -> None:
    flows: Any = {"f": {"tcp": {"preset": preset, "pacing": True}}}
    run = tb.simulate(
        tb.dumbbell(rate=rate, delay=delay, buffer=f"{buffer} packets", duration="60 s", warmup="10 s", flows=flows)
    )
    # RFC 9002 section 7.7. Before, each fast retransmission of `sack` was lost: a timeout each, and a utilisation of 0.72.
    assert run.flows["timeouts"][0] == 0
    assert run.queues["utilisation"][0] > least
