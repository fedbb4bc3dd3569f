"""The networks that people run: presets, paced controllers and AQMs, with ns-3's own where the package has them.

    python bench/presets.py
    python bench/presets.py --program target/setup/examples/cost --only linux

Ten flows over 100 Mbit/s; see `SCENARIO`. Results are compared first: utilisation and loss of 30 s after a warm-up. Speed is
packets through the bottleneck per CPU second of that time; repetitions are interleaved, and the least CPU time counts.
Instructions are counted by callgrind (`valgrind`), without those of the first seconds.
"""

# ruff: noqa: T201 (the purpose of this script is to print)

from __future__ import annotations

import argparse
import json
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from report import FILE, machine, note, store, table
from run import (
    LOSS_FACTOR,
    UTILISATION_TOLERANCE,
    Measured,
    build_ns3,
    build_programs,
    fastest,
    instructions,
    output,
    pairs,
    words,
)

SCENARIO = """
duration = "{duration} s"
warmup = "{warmup} s"

[topology.dumbbell]
rate = "100 Mbps"
delay = "10 ms"
queue = {{{queue}}}

[flows.bulk]
count = 10
from = "left"
to = "right"
sender_access = {{rate = "1 Gbps"}}
receiver_access = {{rate = "1 Gbps", delay = "1 ms"}}
propagation_rtt = {rtts}
start = {starts}
tcp = {{{tcp}}}
"""
FLOWS = 10
# As in peers/dumbbell-ns3.cc.
RTTS = [f"{60 + 120 * (7919 * flow % FLOWS + 0.5) / FLOWS} ms" for flow in range(FLOWS)]
STARTS = [f"{flow / FLOWS} s" for flow in range(FLOWS)]
WARMUP_S, END_S = 10, 40
COUNTED_S = (5, 10)
"""Instructions are counted in this interval."""
OF_NS3 = {
    "n": FLOWS, "c": 100, "acc": 1000, "t": END_S, "warmup": WARMUP_S, "mss": 1448, "timestamps": 1, "delack": 2, "sack": 1,
    "recovery": "Prr", "ss": 1_000_000, "sndbuf": 4_194_304,
}  # fmt: skip

CUBIC = 'preset = "linux/cubic"'
PRAGUE = 'preset = "sack", controller = "prague", ecn = true, timestamps = true'
DROP_TAIL, AQM = 100, 1000
"""Buffers of 10 and 100 ms, in packets."""


@dataclass(frozen=True)
class Row:
    """TCP settings, policy and scheduler, and ns-3's settings if it has the same."""

    name: str
    tcp: str
    policy: str = ""
    ns3: dict[str, Any] | None = None

    @property
    def buffer(self) -> int:
        return AQM if self.policy else DROP_TAIL

    def scenario(self, duration: float, warmup: float = 0) -> str:
        queue = f'buffer = "{self.buffer} packets"{self.policy}'
        return SCENARIO.format(tcp=self.tcp, queue=queue, duration=duration, warmup=warmup, rtts=RTTS, starts=STARTS)


ROWS = [
    Row("newreno, an ACK per packet", 'preset = "newreno", delayed_ack = false'),
    Row("newreno", 'preset = "newreno"'),
    Row("linux/reno", 'preset = "linux/reno"'),
    Row("linux/cubic", CUBIC, ns3={"tcp": "Cubic"}),
    Row("linux/cubic, RED", CUBIC, ', policy = "red", min_threshold = "5 %", max_threshold = "15 %"'),
    Row("linux/cubic, PIE", CUBIC, ', policy = "pie"', {"tcp": "Cubic", "disc": "Pie"}),
    Row("linux/cubic, CoDel", CUBIC, ', policy = "codel"', {"tcp": "Cubic", "disc": "CoDel"}),
    Row(
        "linux/cubic, FQ-CoDel",
        CUBIC,
        ', policy = "codel", scheduler = {kind = "flow_queue", queues = 1024}',
        {"tcp": "Cubic", "disc": "FqCoDel"},
    ),
    Row("linux/cubic, DualPI2", CUBIC, ', scheduler = "dualpi2"'),
    Row("prague, DualPI2", PRAGUE, ', scheduler = "dualpi2"'),
    Row("bbrv3", f'{CUBIC}, controller = "bbrv3"'),
    Row("copa", f'{CUBIC}, controller = "copa"'),
    # With delayed ACKs, ns-3.37's BBR sends almost nothing after the first losses.
    Row("linux/bbr", 'preset = "linux/bbr"', ns3={"tcp": "Bbr", "delack": 1}),
]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", type=Path, help="a built example `cost` of crates/scenario; default: build the release")
    parser.add_argument("--only", default="", help="only rows whose names start with this text")
    parser.add_argument("--keep-peers", action="store_true", help="take the runs of ns-3 from the last report")
    parser.add_argument("--repetitions", type=int, default=9, help="timed runs per row; the fastest counts")
    arguments = parser.parse_args()
    program = arguments.program.resolve() if arguments.program else build_programs([], {})["cost"]
    chosen = [row for row in ROWS if row.name.startswith(arguments.only)]
    with tempfile.TemporaryDirectory() as folder:
        cost = Cost(program, Path(folder) / "scenario.toml")
        peers = last_peers() if arguments.keep_peers else of_ns3([row for row in chosen if row.ns3])
        runs: dict[str, list[Measured]] = {row.name: [] for row in chosen}
        for repetition in range(arguments.repetitions):
            note(f"timing, {repetition + 1} of {arguments.repetitions}")
            for row in chosen:
                runs[row.name].append(cost.run(row.scenario(END_S, WARMUP_S)))
        counts = {row.name: cost.instructions_per_packet(row) for row in chosen}
    rows: list[dict[str, Any]] = []
    for row in chosen:
        ours, theirs = summary(fastest(runs[row.name])), peers.get(row.name)
        agreed = theirs and agree(ours, theirs)
        rows.append(
            {"name": row.name, "instructions_per_packet": counts[row.name], "tailback": ours, "ns3": theirs, "agree": agreed}
        )
    report = {"machine": machine(), "rows": rows}
    show(report)
    store("presets", report)


@dataclass(frozen=True)
class Cost:
    """The example `cost`, and the file of its scenario."""

    program: Path
    file: Path

    def run(self, scenario: str) -> Measured:
        self.file.write_text(scenario, encoding="utf-8")
        measured: Measured = json.loads(output([self.program, self.file]))
        return measured

    def instructions_per_packet(self, row: Row) -> float:
        note(f"counting {row.name}")
        spent = []
        for duration in COUNTED_S:
            self.file.write_text(row.scenario(duration), encoding="utf-8")
            spent.append(instructions([self.program, self.file]))
        begin, end = COUNTED_S
        return (spent[1] - spent[0]) / self.run(row.scenario(end, warmup=begin))["delivered"]


def of_ns3(rows: list[Row]) -> dict[str, dict[str, float]]:
    program, peers = build_ns3(), {}
    for row in rows:
        note(f"ns-3: {row.name}")
        settings = OF_NS3 | {"buf": row.buffer} | (row.ns3 or {})
        peers[row.name] = summary(words(output([program, *(f"--{pair}" for pair in pairs(settings))])))
    return peers


def last_peers() -> dict[str, dict[str, float]]:
    rows = json.loads(FILE.read_text(encoding="utf-8"))["presets"]["rows"]
    return {row["name"]: row["ns3"] for row in rows}


def summary(run: Measured) -> dict[str, float]:
    return {
        "packets_per_cpu_s": run["delivered"] / run["run_cpu_s"],
        "events_per_packet": run["events"] / run["delivered"],
        "utilisation": run["utilisation"],
        "loss": run["loss"],
    }


def agree(ours: dict[str, float], theirs: dict[str, float]) -> bool:
    """Whether utilisation and loss differ by no more than they may from ns-2's in the classic comparison."""
    alike = abs(ours["utilisation"] / theirs["utilisation"] - 1) <= UTILISATION_TOLERANCE
    return alike and 1 / LOSS_FACTOR <= ours["loss"] / theirs["loss"] <= LOSS_FACTOR


def show(report: dict[str, Any]) -> None:
    about = report["machine"]
    print(f"\n{about['cpu']}, load {about['load_average']:.1f}, commit {about['commit']}, {about['date']}\n")
    rows = [
        ["", "utilisation", "loss, %", "thousand/s", "instructions", "events", "utilisation", "loss, %", "thousand/s", "times"]
    ]
    for row in report["rows"]:
        ours, theirs = row["tailback"], row["ns3"]
        shown = [*results(ours), f"{row['instructions_per_packet']:.0f}", f"{ours['events_per_packet']:.2f}"]
        compared = [""] * 4
        if theirs:
            times = f"{ours['packets_per_cpu_s'] / theirs['packets_per_cpu_s']:.0f}{'' if row['agree'] else ' *'}"
            compared = [*results(theirs), times]
        rows.append([row["name"], *shown, *compared])
    table("What people run, in Tailback and in ns-3 (*: results differ by more than the tolerance)", rows)


def results(of: dict[str, float]) -> list[str]:
    return [f"{of['utilisation']:.3f}", f"{100 * of['loss']:.3f}", f"{of['packets_per_cpu_s'] / 1e3:,.1f}"]


if __name__ == "__main__":
    main()
