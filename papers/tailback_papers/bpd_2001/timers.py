"""Figure 3: the retransmission timeout compared with the round trip from which it is estimated (section 2.1)."""

from __future__ import annotations

from typing import Any

import numpy as np

import tailback as tb
from tailback.papers import Experiment, Trace, TracePanel, at, vary
from tailback_papers.bpd_2001.networks import CONNECTION, PPD, TICKS, bottleneck, ticks
from tailback_papers.claims import claims_of

__all__ = ["EXPERIMENTS"]

claim = claims_of(__name__)

CONNECTIONS = 300


def many_connections() -> tb.Scenario:
    """Hundreds of connections with different round trips behind the switch of the other experiments."""
    return tb.Scenario(
        {
            "name": "bpd-2001, several hundreds of connections",
            "duration": "30 s",
            "nodes": {"switch": {}, "destination": {"kind": "host"}},
            "links": {"bottleneck": bottleneck("1200 cells")},
            "flows": {
                "source": {
                    **CONNECTION,
                    "count": CONNECTIONS,
                    "propagation_rtt": {"uniform": ["1 ms", "30 ms"]},
                    "tcp": {"preset": "bpd-2001/reno", "timer": {"tick": "0.5 s"}},
                }
            },
        }
    )


def waiting(run: tb.Run) -> tuple[Any, Any]:
    """Mean round trip and mean duration of timeouts, for each connection that had both."""
    flows = run.flows
    known = (flows["timeouts"] > 0) & np.isfinite(flows["mean_rtt_s"])
    waits = flows["timeouts"][known] + flows["waiting_at_end"][known]
    return flows["mean_rtt_s"][known], (1 - flows["active_share"][known]) * run.simulated_s / waits


def ratio(run: tb.Run) -> float:
    """Duration of a timeout divided by the round trip, for the median connection."""
    round_trips, waits = waiting(run)
    return float(np.median(waits / round_trips))


figure_3 = Experiment(
    id="bpd-2001/fig3",
    title="Retransmission timeout and round trip",
    question="How much longer than a round trip does a connection wait for its timer?",
    source="figure 3, section 2.1; no values in the text",
    variants=vary(many_connections(), PPD, ticks(*TICKS)),
    measures={"ratio": ratio},
    claims=(claim("C6", at("ratio", tick=(0.3, 0.5)).min() >= 10),),
    panels=(
        TracePanel(("tick 0.5 s", "tick 0.3 s", "tick 0.1 s"), "duration of a timeout, s", "mean round trip, s", markers="ooo"),
    ),
    traces=tuple(Trace(f"tick {tick:g} s", {"tick": tick}, [], waiting) for tick in TICKS),
    assumptions={
        "the connections": f"{CONNECTIONS} connections over one PPD switch as in figure 6, round trips of 1 to 30 ms without "
        "queueing, 30 s",
        "plotted quantity": "the mean duration of a timeout: from a connection's last transmission until its timer expires, with "
        "or without backoff",
        "tick of the retransmission timer": "0.1, 0.3 and 0.5 s; section 2.1 calls 500 ms typical",
    },
)

EXPERIMENTS = (figure_3,)
