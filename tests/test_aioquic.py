"""The example that connects aioquic."""

from __future__ import annotations

from typing import Any

import pytest

import tailback as tb
from support import ROOT

pytest.importorskip("aioquic", reason="aioquic is not installed: `pip install aioquic`")


@pytest.mark.parametrize("congestion", ["reno", "cubic"])
def test_a_transfer_of_aioquic_fills_the_link(congestion: str) -> None:
    tb.user_code.load(ROOT / "examples/aioquic_host.py")
    tcp: Any = {"stack": "user:aioquic", "parameters": {"congestion": congestion}}
    scenario = tb.dumbbell(
        rate="10 Mbps",
        delay="10 ms",
        buffer="50 packets",
        duration="4 s",
        flows={"web": {"from": "left", "to": "right", "size": "3 MB", "tcp": tcp}},
    )
    run = tb.simulate(scenario.with_({"record.traces": ["cwnd", "rtt"]}))
    assert run.flows["delivered_bytes"][0] == 3_000_000
    assert run.flows["transfer_rate_bps"][0] * run.flows["completion_time_s"][0] == pytest.approx(24e6)
    assert 0.02 < run.flows["min_rtt_s"][0] < 0.025
    assert min(run.trace("rtt")["rtt_s"]) >= 0.02
    assert len(run.trace("cwnd")) > 10
