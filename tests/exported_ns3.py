"""Exported programs of ns-3 beside the simulator: 95 % intervals of the total goodput over seeds.

    NS3=/usr python tests/exported_ns3.py

needs g++ and Debian's packages `libns3-dev` and `libgsl27`; `NS3` is the directory with `include` and `lib`, by default /usr. It
fails if a program does not compile or run; the TCP of ns-3 is another, so that its goodput is a finding and no condition.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

import tailback as tb

SEEDS = range(1, 6)

# Student's t of 95 % with four degrees of freedom.
_T = 2.776

LIBRARIES = ("applications", "point-to-point", "internet", "traffic-control", "bridge", "network", "stats", "core")


def scenarios() -> dict[str, tb.Scenario]:
    """Random losses, and queues that signal at random, for three controllers."""

    def one(law: str, queue: dict[str, Any], **wire: Any) -> tb.Scenario:
        link = {"from": "left", "to": "right", "rate": "20 Mbps", "delay": "20 ms", "queue": queue, **wire}
        flows = {f"flow{place}": {"from": "left", "to": "right", "tcp": {"preset": f"linux/{law}"}} for place in range(2)}
        return tb.Scenario(
            {"duration": "30 s", "nodes": {"left": {}, "right": {}}, "links": {"bottleneck": link}, "flows": flows}
        )

    fifo = {"buffer": "60 packets"}
    red = {"policy": "red", "buffer": "200 packets", "min_threshold": "15 packets", "max_threshold": "45 packets"}
    return {
        "reno, loss 1 %": one("reno", fifo, loss={"probability": 0.01}),
        "cubic, loss 0.1 %": one("cubic", fifo, loss={"probability": 0.001}),
        "bbr, loss 1 %": one("bbr", fifo, loss={"probability": 0.01}),
        "cubic, pie": one("cubic", {"policy": "pie", "buffer": "1000 packets"}),
        "reno, red": one("reno", red),
    }


def built(scenario: tb.Scenario, program: Path) -> None:
    prefix = Path(os.environ.get("NS3", "/usr"))
    places = [prefix / "lib", prefix / "lib/x86_64-linux-gnu"]
    source = program.with_suffix(".cc")
    source.write_text(scenario.export("ns3").text)
    found = [word for place in places for word in (f"-L{place}", f"-Wl,-rpath,{place}", f"-Wl,-rpath-link,{place}")]
    libraries = [f"-lns3-{name}" for name in LIBRARIES]
    subprocess.run(["g++", "-O1", "-std=c++17", f"-I{prefix}/include", "-o", program, source, *found, *libraries], check=True)


def interval(values: list[float]) -> tuple[float, float]:
    """Mean and half width, in Mbit/s."""
    return fmean(values) * 1e-6, _T * stdev(values) / len(values) ** 0.5 * 1e-6


def main() -> None:
    sys.stdout.write("| scenario | ns-3, Mbit/s | Tailback, Mbit/s | not exported |\n|---|---|---|---|\n")
    with tempfile.TemporaryDirectory() as directory:
        for number, (name, scenario) in enumerate(scenarios().items()):
            program = Path(directory) / f"program{number}"
            built(scenario, program)
            runs = [
                subprocess.run([program, f"--RngRun={seed}"], check=True, capture_output=True, text=True).stdout for seed in SEEDS
            ]
            theirs, wide = interval([sum(map(float, re.findall(r" (\d+) bit/s", text))) for text in runs])
            ours, own_wide = interval([float(sum(tb.simulate(scenario, seed=seed).flows["goodput_bps"])) for seed in SEEDS])
            lost = "; ".join(dict.fromkeys(at for at, _ in scenario.export("ns3").omissions))
            sys.stdout.write(f"| {name} | {theirs:.2f} ± {wide:.2f} | {ours:.2f} ± {own_wide:.2f} | {lost} |\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main()
