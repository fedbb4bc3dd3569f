"""Speedup of a run on several threads: the core's own programs on one thread and on several, in turn.

    python bench/threads.py                  # one thread per processor
    python bench/threads.py --threads 2 --repetitions 5

Wall-clock time of the run, including the division of the network and the merging of the parts: the median of interleaved runs.
`bound` is an upper bound of the speedup with any number of processors: all events, over the events of the busiest thread in each
epoch. It is counted, not timed, and therefore known for any number of threads on any machine.
"""

# ruff: noqa: T201 (the purpose of this script is to print)

from __future__ import annotations

import argparse
import json
import os
import pathlib
import statistics
import subprocess
from typing import Any

ROOT = pathlib.Path(__file__).resolve().parent.parent
RUNS: dict[str, tuple[str, dict[str, Any]]] = {
    "W2": ("dumbbell", {"n": 100, "c": 1000, "acc": 100, "rmin": 60, "rmax": 180, "buf": 10, "t": 100, "ss": 100, "start": 1}),
    "W3-1000": (
        "dumbbell",
        {"n": 1000, "c": 10000, "acc": 100, "rmin": 60, "rmax": 180, "buf": 100, "t": 10, "ss": 100, "start": 1},
    ),
    "parking lot of 20": ("parking_lot", {}),
    "fat tree, 1024 hosts": ("fat_tree", {"k": 16}),
    "fat tree, 1024 hosts, mixed": ("fat_tree", {"k": 16, "mixed": 1}),
    "fat tree, 8192 hosts": ("fat_tree", {"k": 32}),
    "fat tree, 8192 hosts, mixed": ("fat_tree", {"k": 32, "mixed": 1}),
}
"""Program and settings. `mixed`: flows share links; otherwise no two flows do."""
BOUNDS = (2, 16, 64)
LARGE = "8192"
"""The bound is not computed for these runs, which take too long on many threads."""


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--threads", type=int, default=max(2, os.cpu_count() or 2), help="number of threads of the parallel runs")
    parser.add_argument("--repetitions", type=int, default=3, help="runs per measurement; the median counts")
    parser.add_argument("--only", default="", help="only runs whose names start with this text")
    arguments = parser.parse_args()
    subprocess.run(["cargo", "build", "--release", "--package", "tailback-core", "--examples"], cwd=ROOT, check=True)
    bounds_of = ", ".join(map(str, BOUNDS))
    print(
        f"| load {os.getloadavg()[0]:.1f} | 1 thread, s | {arguments.threads}, s | times | epochs | MB | bound on {bounds_of} |"
    )
    for name, (program, settings) in RUNS.items():
        if not name.startswith(arguments.only):
            continue
        runs = [
            [measured(program, settings, threads) for threads in (1, arguments.threads)] for _ in range(arguments.repetitions)
        ]
        alone, shared = ([pair[index] for pair in runs] for index in (0, 1))
        one, several = (statistics.median(run["run_wall_s"] for run in of) for of in (alone, shared))
        megabytes = " to ".join(f"{of[0]['peak_rss_kb'] / 1e3:.0f}" for of in (alone, shared))
        many = [] if LARGE in name else [measured(program, settings, threads) for threads in BOUNDS]
        bounds = ", ".join(f"{run['events'] / run['critical_events']:.1f}" for run in many)
        print(f"| {name} | {one:.3f} | {several:.3f} | {one / several:.2f} | {shared[0]['epochs']} | {megabytes} | {bounds} |")


def measured(program: str, settings: dict[str, Any], threads: int) -> dict[str, float]:
    words = [f"{name}={value}" for name, value in (settings | {"threads": threads}).items()]
    finished = subprocess.run([ROOT / "target/release/examples" / program, *words], check=True, stdout=subprocess.PIPE, text=True)
    numbers: dict[str, float] = json.loads(finished.stdout)
    return numbers


if __name__ == "__main__":
    main()
