"""What a study costs beside the runs in it: a thousand short runs in a bare loop, then as a study.

    python bench/studies.py                      # runs of a minute of simulated time: some milliseconds each
    python bench/studies.py --duration '200 s'

Two numbers: CPU time per run that the study adds, and the bare loop's CPU time over workers x wall time, which is 1 if no worker
ever waits. The second needs a machine with nothing else to do.
"""

# ruff: noqa: T201 (printing is what this script is for)

from __future__ import annotations

import argparse
import json
import os
import time

import tailback as tb

BUFFERS, SEEDS = range(5, 55), 20
FIELD = "topology.dumbbell.queue.buffer"


def bare(scenario: tb.Scenario) -> float:
    """CPU seconds of the runs and nothing else."""
    points = [scenario.with_({FIELD: f"{buffer} packets"}) for buffer in BUFFERS]
    began = time.process_time()
    for point in points:
        for seed in range(1, SEEDS + 1):
            tb.simulate(point, seed)
    return time.process_time() - began


def study(scenario: tb.Scenario, workers: int) -> tuple[float, float]:
    """CPU and wall seconds of the same runs as a study."""
    cpu, wall = time.process_time(), time.perf_counter()
    done = tb.sweep(scenario, {FIELD: [f"{buffer} packets" for buffer in BUFFERS]}, seeds=SEEDS, workers=workers)
    cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
    assert done.counts.done == len(BUFFERS) * SEEDS
    return cpu, wall


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--duration", default="60 s")
    parser.add_argument("--workers", type=int, default=2)
    arguments = parser.parse_args()
    scenario = tb.dumbbell(rate="10 Mbps", delay="10 ms", buffer="20 packets", flows=2, duration=arguments.duration)
    runs = len(BUFFERS) * SEEDS
    alone = bare(scenario)
    cpu, wall = study(scenario, arguments.workers)
    measured = {
        "runs": runs,
        "ms_per_run": 1e3 * alone / runs,
        "overhead_ms_per_run": 1e3 * (cpu - alone) / runs,
        "workers": arguments.workers,
        "simulating_share": alone / (arguments.workers * wall),
        "load_average": os.getloadavg()[0],
    }
    print(json.dumps(measured, indent=2))


if __name__ == "__main__":
    main()
