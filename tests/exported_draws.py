"""Drawn scenarios as exported scripts of tc and in the simulator, with the same kernels as hosts: only the network differs.

    python tests/exported_draws.py [NUMBER ...]

compares 50 draws, or those with these numbers, and prints a table. Exit code 1 if the export is worse than `judged` requires. It
needs a built kernel with 1000 Hz (`tailback kernel build`), and runs $JOBS draws at a time (default: 2).
"""

from __future__ import annotations

import math
import os
import random
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean, variance
from typing import Any

import exported_guest
import tailback as tb

__all__ = ["NUMBER", "Compared", "compared", "judged"]

NUMBER = 50

# The first link is compared. Each kind is drawn about three times in 50.
KINDS = (
    *("drop_tail", "codel", "fq_codel", "pie", "red", "sfq", "jitter", "loss", "table", "outage"),
    *("drop_tail", "codel", "fq_codel", "red", "drop_tail", "threshold"),
)

# Runs of each side where something is random, flows share a queue, or a flow has BBR; each run has another delay, by this share.
# Both sides of a run have the same. Otherwise a chance meeting of packets would decide about a draw.
RUNS, _SHIFT = 4, 0.004

# Student's t of 95 % with six degrees of freedom, for two samples of RUNS runs.
_T = 2.447

# Packets of a run, about.
_PACKETS = 25_000

# Largest differences of goodput and mean queue, or of the mean queue in packets; the same for drops.
_GOODPUT, _QUEUE, _PACKETS_OF_QUEUE, _DROPS, _NUMBER_OF_DROPS = 0.05, 0.05, 0.5, 0.10, 2


# Goodput of all flows in bit/s, mean queue in packets, and drops.
Measures = tuple[float, float, float]


@dataclass(frozen=True)
class Compared:
    """The runs of a draw, of the script and of the simulator; none if parts of the scenario are not exported."""

    kind: str
    summary: str
    omissions: list[str]
    script: list[Measures]
    simulator: list[Measures]

    def means(self) -> Iterator[tuple[float, float, float]]:
        """Of each measure: both means, and half the 95 % interval of their difference (Welch, six degrees of freedom)."""
        for ours, theirs in zip(zip(*self.script, strict=True), zip(*self.simulator, strict=True), strict=True):
            spread = sum(variance(values) / len(values) for values in (ours, theirs)) if len(ours) > 1 else 0.0
            yield fmean(ours), fmean(theirs), _T * math.sqrt(spread)

    def differences(self, with_spread: bool = True) -> list[str]:
        """The measures that are too far apart, also for the spread of the runs."""
        allowed = ((_GOODPUT, 0.0), (_QUEUE, _PACKETS_OF_QUEUE), (_DROPS, _NUMBER_OF_DROPS))
        names = ("goodput", "queue", "drops")
        return [
            name
            for name, (one, other, spread), (share, number) in zip(names, self.means(), allowed, strict=False)
            if abs(one - other) > max(share * other, number, spread if with_spread else 0.0)
        ]


def drawn(number: int) -> tuple[str, dict[str, Any]]:
    """Kind and scenario of a draw, with presets."""
    source = random.Random(f"exported {number}")
    kind = KINDS[number % len(KINDS)]
    rate, rtt = _log(source, 1, 300), _log(source, 2, 200)
    bdp = rate * rtt * 1e3 / 12_000
    buffer = max(5, round(bdp * _log(source, 0.3, 3)))
    seconds = max(4, min(20, round(_PACKETS * 0.012 / rate)))
    flows = source.choice((1, 1, 1, 2, 3, 4))
    laws = source.choices(("cubic", "reno", "bbr"), (5, 3, 2), k=flows)
    link: dict[str, Any] = {"from": "left", "to": "right", "rate": f"{rate:.4g} Mbps", "delay": f"{rtt / 2:.4g} ms"}
    link["queue"] = _queue(source, kind, buffer)
    scenario: dict[str, Any] = {
        "name": f"{kind} {number}",
        "duration": f"{seconds} s",
        "nodes": {"left": {}, "right": {}},
        "links": {"bottleneck": link},
        # iperf3 runs for whole seconds.
        "flows": {
            f"flow{place}": {"from": "left", "to": "right", "start": f"{place} s", "tcp": {"preset": f"linux/{law}"}}
            for place, law in enumerate(laws)
        },
    }
    if kind == "jitter":
        link["jitter"] = {"delay": {"uniform": ["0 ms", f"{rtt * _log(source, 0.02, 0.3):.4g} ms"]}}
    elif kind == "loss":
        link["loss"] = {"probability": round(_log(source, 5e-4, 0.02), 5)}
    elif kind == "table":
        step = source.choice((0.1, 0.5, 1.0))
        rows = [
            {"at": f"{step * row:g} s", "link": "bottleneck", "rate": f"{rate * source.uniform(0.3, 1):.4g} Mbps"}
            for row in range(1, round(seconds / step))
        ]
        scenario["timeline"] = rows
    elif kind == "outage":
        begin, length = source.uniform(1, seconds / 2), source.uniform(0.05, 1.5)
        scenario["timeline"] = [
            {"at": f"{begin:.3f} s", "link": "bottleneck", "down": True},
            {"at": f"{begin + length:.3f} s", "link": "bottleneck", "up": True},
        ]
    return kind, scenario


def _queue(source: random.Random, kind: str, buffer: int) -> dict[str, Any]:
    queue: dict[str, Any] = {"buffer": f"{buffer} packets"}
    if kind in ("codel", "pie"):
        return {"policy": kind, "buffer": "1000 packets", **({"mean_packet_size": "1514 B"} if kind == "pie" else {})}
    if kind == "fq_codel":
        return {"policy": "codel", "scheduler": {"kind": "flow_queue", "queues": 1024}, "buffer": "1000 packets"}
    if kind == "red":
        low = max(5, buffer // 6)
        thresholds = {"min_threshold": f"{1500 * low} B", "max_threshold": f"{4500 * low} B", "buffer": f"{9000 * low} B"}
        law = {"weight": 2.0 ** -source.randint(6, 9), "gentle": False, "queue_unit": "bytes", "mean_packet_size": "1500 B"}
        return {"policy": "red", **thresholds, **law}
    if kind == "sfq":
        return {"scheduler": "sfq", "buffer": f"{min(buffer, 127)} packets"}
    if kind == "threshold":
        return {**queue, "policy": "threshold", "threshold": f"{max(2, buffer // 4)} packets"}
    return queue


def _log(source: random.Random, low: float, high: float) -> float:
    return math.exp(source.uniform(math.log(low), math.log(high)))


def is_random(kind: str, scenario: dict[str, Any]) -> bool:
    """Whether runs with other seeds differ."""
    flows = scenario["flows"].values()
    return kind in ("pie", "red", "jitter", "loss") or len(flows) > 1 or any("bbr" in flow["tcp"]["preset"] for flow in flows)


def compared(number: int, folder: Path, runs: int | None = None) -> Compared:
    """Run both sides of a draw, if all of it is exported."""
    kind, table = drawn(number)
    link = table["links"]["bottleneck"]
    laws = ", ".join(flow["tcp"]["preset"].removeprefix("linux/") for flow in table["flows"].values())
    summary = f"{link['rate']}, {link['delay']}, {link['queue']['buffer']}; {laws}; {table['duration']}"
    omissions = [f"{at}: {reason}" for at, reason in tb.Scenario(table).export("tc").omissions]
    seeds = () if omissions else range(1, 1 + (runs or (RUNS if is_random(kind, table) else 1)))
    script, simulator = [], []
    for seed in seeds:
        shifted = _shifted(table, seed)
        found = exported_guest.measured(tb.Scenario(shifted), "bottleneck", seed, folder / f"{number}-{seed}")
        script.append((sum(found.goodput_bps), found.mean_queue, float(found.drops)))
        run = tb.simulate(_with_kernels(shifted), seed=seed)
        queue = {name: float(run.queues[name][0]) for name in ("mean_queue_units", "dropped_units", "dropped_random")}
        # Losses of the wire are not drops of the queue.
        drops = queue["dropped_units"] - queue["dropped_random"]
        simulator.append((float(sum(run.flows["goodput_bps"])), queue["mean_queue_units"], drops))
    return Compared(kind, summary, omissions, script, simulator)


def _shifted(table: dict[str, Any], seed: int) -> dict[str, Any]:
    """The scenario of a run."""
    link = table["links"]["bottleneck"]
    delay = float(link["delay"].removesuffix(" ms")) * (1 + _SHIFT * (seed - 1))
    return {**table, "links": {"bottleneck": {**link, "delay": f"{delay:.6g} ms"}}}


def _with_kernels(table: dict[str, Any]) -> tb.Scenario:
    """The scenario with kernels as hosts, which have the settings of the script."""
    buffers = {"net": {"ipv4": {"tcp_rmem": "4096 6291456 67108864", "tcp_wmem": "4096 4194304 67108864"}}}
    flows = {}
    for name, flow in table["flows"].items():
        law = flow["tcp"]["preset"].removeprefix("linux/")
        flows[name] = {**flow, "tcp": {"stack": "linux", "congestion": law, "parameters": {"sysctl": buffers, "memory": 256}}}
    return tb.Scenario({**table, "flows": flows})


def judged(found: dict[int, Compared]) -> list[str]:
    """What is worse than required of the draws: 80 % are exported without a loss, and 90 % of those agree."""
    whole = [each for each in found.values() if not each.omissions]
    near = [each for each in whole if not each.differences()]
    problems = []
    if len(whole) < 0.8 * len(found):
        problems.append(f"{len(whole)} of {len(found)} are exported without a loss")
    if len(near) < 0.9 * len(whole):
        problems.append(f"{len(near)} of {len(whole)} agree")
    return problems


def _print(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def main(numbers: list[int]) -> int:
    if lacks := exported_guest.missing():
        sys.exit(f"needs {lacks}")
    found = {}
    jobs = int(os.environ.get("JOBS", "2"))
    with tempfile.TemporaryDirectory(prefix="tailback-draws-") as directory, ThreadPoolExecutor(jobs) as pool:
        folder = Path(directory)
        exported_guest.program(folder)
        _print("| draw | scenario | goodput, Mbit/s | mean queue | drops | not exported, different |")
        _print("|---|---|---|---|---|---|")
        for number, each in zip(numbers, pool.map(lambda one: compared(one, folder), numbers), strict=True):
            found[number] = each
            forms = zip(each.means(), ("{:.3f}", "{:.2f}", "{:.1f}"), (1e-6, 1, 1), strict=False)
            texts = [f"{form.format(one * scale)} / {form.format(other * scale)}" for (one, other, _), form, scale in forms]
            cells = " | ".join(texts or ["", "", ""])
            notes = "; ".join(
                [*each.omissions, *(f"**{name}**" if name in each.differences() else name for name in each.differences(False))]
            )
            _print(f"| {number} {each.kind} | {each.summary} | {cells} | {notes} |")
    whole = [each for each in found.values() if not each.omissions]
    near = [sum(not each.differences(with_spread) for each in whole) for with_spread in (True, False)]
    _print(
        f"\n{len(whole)} of {len(found)} without a loss; {near[0]} of them agree, {near[1]} without regard to the spread of runs"
    )
    for problem in (problems := judged(found)):
        _print(f"not enough: {problem}")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main([int(word) for word in sys.argv[1:]] or list(range(NUMBER))))
