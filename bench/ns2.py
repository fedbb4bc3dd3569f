"""Run drawn dumbbells with ns-2 and store the results, for docs/evidence/ns2.md.

    python bench/ns2.py

Requires ns-2 (Debian's package `ns2`) and takes half an hour. It writes docs/evidence/ns2.json: scenarios, with round
trips and starts of every run, and the results of ns-2. The page runs the same scenarios with the current version of Tailback.
"""

from __future__ import annotations

import json
import random
import subprocess
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
OUT = ROOT / "docs" / "evidence" / "ns2.json"
PROGRAM = ROOT / "bench" / "peers" / "scenario.tcl"

SCENARIOS, RUNS = 15, 100
# Scenarios with comparisons that 100 runs leave inconclusive.
MORE_RUNS = {2: 300, 4: 300, 8: 300, 9: 300}
WARMUP_S, END_S = 20, 120
PACKET_BITS = 8 * 1040

AGENTS = {
    "tahoe": ("Agent/TCP", "Agent/TCPSink"),
    "reno": ("Agent/TCP/Reno", "Agent/TCPSink"),
    "newreno": ("Agent/TCP/Newreno", "Agent/TCPSink"),
    "sack": ("Agent/TCP/Sack1", "Agent/TCPSink/Sack1"),
    "vegas": ("Agent/TCP/Vegas", "Agent/TCPSink"),
}


def main() -> None:
    draw = random.Random(1)
    scenarios = [drawn(number, draw) for number in range(SCENARIOS)]
    for scenario in scenarios:
        scenario["ns2"] = [measured(scenario, seed, run) for seed, run in enumerate(scenario["runs"], 1)]
    lines = ",\n".join(json.dumps(scenario) for scenario in scenarios)
    OUT.write_text(f'{{"version": "2.35+dfsg-5", "scenarios": [\n{lines}\n]}}\n')


def drawn(number: int, draw: random.Random) -> dict[str, Any]:
    """A scenario: the senders take turns, everything else is drawn."""
    agent = list(AGENTS)[number % len(AGENTS)]
    rate = draw.choice([2, 5, 10, 20, 45])
    rtt = round(draw.uniform(20, 200))
    flows = draw.choice([1, 2, 4, 8, 16])
    delayed = draw.random() < 0.5
    red = draw.random() < 0.3
    bdp = rate * 1e3 * rtt / PACKET_BITS
    buffer = max(6, round(draw.uniform(0.25, 1.5) * bdp))
    low = max(3, round(0.25 * bdp))
    of_runs = random.Random(number)
    runs = [
        {
            "rtts_ms": [round(of_runs.uniform(0.8, 1.2) * rtt, 1) for _ in range(flows)],
            "starts_s": [round(of_runs.uniform(0, 2), 2) for _ in range(flows)],
        }
        for _ in range(MORE_RUNS.get(number, RUNS))
    ]
    return {
        "agent": agent,
        "rate_mbps": rate,
        "rtt_ms": rtt,
        "flows": flows,
        "delayed_ack": delayed,
        "buffer": 6 * low if red else buffer,
        "red": [low, 3 * low, 0.1] if red else [],
        "runs": runs,
    }


def measured(scenario: dict[str, Any], seed: int, run: dict[str, Any]) -> dict[str, float]:
    """One run of ns-2."""
    agent, sink = AGENTS[scenario["agent"]]
    settings = {
        "agent": agent,
        "sink": sink + "/DelAck" * scenario["delayed_ack"],
        "rate": scenario["rate_mbps"],
        "buffer": scenario["buffer"],
        "red": ",".join(map(str, scenario["red"])),
        "rtts": ",".join(map(str, run["rtts_ms"])),
        "starts": ",".join(map(str, run["starts_s"])),
        # A random delay of at most a packet's transmission time avoids phase effects.
        "overhead": PACKET_BITS / scenario["rate_mbps"] / 1e6,
        "warmup": WARMUP_S,
        "end": END_S,
        "seed": seed,
    }
    command = ["ns", str(PROGRAM), *(f"{name}={value}" for name, value in settings.items())]
    first, *rest = subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()
    link, flows = words(first), [words(line) for line in rest]
    duration = END_S - WARMUP_S
    acked = [flow["acked"] for flow in flows]
    return {
        "utilisation": round(link["bytes"] * 8 / (scenario["rate_mbps"] * 1e6 * duration), 5),
        "mean queue": round(link["queue_s"] / duration, 3),
        "loss": round(link["drops"] / link["arrivals"], 6),
        "retransmissions": sum(flow["resent"] for flow in flows),
        "timeouts": sum(flow["timeouts"] for flow in flows),
        "fairness (Jain)": round(sum(acked) ** 2 / len(acked) / sum(value**2 for value in acked), 5),
    }


def words(line: str) -> dict[str, float]:
    """Pairs of name and value."""
    parts = line.split()
    return dict(zip(parts[::2], map(float, parts[1::2]), strict=True))


if __name__ == "__main__":
    main()
