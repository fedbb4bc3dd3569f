"""The training set for profile-guided optimisation of the package: typical runs, five seconds in total.

    maturin build --release --pgo

builds the package with instrumentation, runs this script with it (`pgo-command` in pyproject.toml), and builds it again with
the profile. That changes the cost of a run, never its results. The set contains every example, and with them most controllers,
policies and traces; and dumbbells of one to 200 flows, with packets and with cells, because most runs are dumbbells.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from pathlib import Path

import tailback as tb

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"

# Number of flows, and simulated seconds in which they send several hundred thousand packets.
SIZES = {1: 40, 3: 40, 10: 20, 50: 5, 200: 2}

# TCP settings of the flows of a dumbbell.
SENDERS: list[tb.Tcp] = [
    {"preset": "newreno", "delayed_ack": False},
    {"preset": "newreno", "delayed_ack": {"every": 2, "timeout": "200 ms"}},
    {"preset": "sack", "delayed_ack": False},
    {"preset": "cubic"},
]

# Queue policies at the switch of examples/atm.toml.
POLICIES: list[tb.Queue] = [
    {"buffer": "1200 cells"},
    {"policy": "bpd", "buffer": "1200 cells", "lower_threshold": "40 %", "upper_threshold": "90 %", "gap": 25},
    {
        "policy": "spd",
        "buffer": "1200 cells",
        "dropping_threshold": "20 cells",
        "congestion_threshold": "240 cells",
        "epd_threshold": "960 cells",
    },
]


def main() -> None:
    """Runs the training set."""
    warnings.simplefilter("ignore", tb.ScenarioWarning)
    for scenario in scenarios():
        tb.simulate(scenario, seed=1)


def scenarios() -> Iterator[tb.Scenario]:
    """The training set."""
    yield from (tb.load(path) for path in sorted(EXAMPLES.glob("*.toml")))
    for sender in SENDERS:
        yield from (dumbbell(flows, seconds, sender) for flows, seconds in SIZES.items())
    yield dumbbell(10, 5, SENDERS[0]).with_({"record": {"traces": ["cwnd", "rtt", "queue", "drops"]}})
    yield from (tb.load(EXAMPLES / "atm.toml").with_({"links.bottleneck.queue": queue}) for queue in POLICIES)


def dumbbell(flows: int, seconds: int, tcp: tb.Tcp) -> tb.Scenario:
    """Greedy flows with different round trips, with 20 Mbit/s and at least one buffer place per flow."""
    queue = {"buffer": f"{50 + flows} packets"}
    greedy: tb.Flow = {
        "count": flows,
        "from": "left",
        "to": "right",
        "propagation_rtt": {"uniform": ["40 ms", "150 ms"]},
        "start": {"uniform": ["0 s", "1 s"]},
        "sender_access": {"rate": "500 Mbps"},
        "receiver_access": {"rate": "500 Mbps"},
        "tcp": tcp,
    }
    return tb.Scenario(
        {
            "duration": f"{seconds} s",
            "topology": {"dumbbell": {"rate": f"{30 + 20 * flows} Mbps", "delay": "10 ms", "queue": queue}},
            "flows": {"greedy": greedy},
        }
    )


if __name__ == "__main__":
    main()
