"""Overhead of a study over its runs: a thousand short runs in a bare loop, then as a study.

    python bench/studies.py                      # runs of a minute of simulated time: several milliseconds each
    python bench/studies.py --duration '200 s'

Per run: the CPU time added by the study, and the CPU time of the ledger thread. In total: the fraction of the study's CPU time
that simulates, and the bare loop's CPU time over workers x wall time, which is 1 if no worker ever waits. The last value requires
an otherwise idle machine. The bare loop runs on the same number of cores as the study, because cores that share caches and power
slow each other down. Both are measured several times in turn, and the minimum of each counts.
"""

# ruff: noqa: T201 (the purpose of this script is to print)

from __future__ import annotations

import argparse
import json
import os
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import tailback as tb

BUFFERS, SEEDS = range(5, 55), 20
FIELD = "topology.dumbbell.queue.buffer"


def bare(scenario: tb.Scenario, workers: int) -> float:
    """CPU seconds of the runs alone, with the seeds divided among the workers."""
    points = [scenario.with_({FIELD: f"{buffer} packets"}) for buffer in BUFFERS]

    def share(worker: int) -> None:
        for point in points:
            for seed in range(1 + worker, SEEDS + 1, workers):
                tb.simulate(point, seed)

    began = time.process_time()
    with ThreadPoolExecutor(workers) as pool:
        list(pool.map(share, range(workers)))
    return time.process_time() - began


@dataclass(frozen=True)
class Cost:
    """Seconds: CPU time of the process and of its first thread, and wall time."""

    cpu: float
    first: float
    wall: float


def study(scenario: tb.Scenario, workers: int) -> Cost:
    """The same runs as a study."""
    cpu, first, wall = time.process_time(), time.thread_time(), time.perf_counter()
    done = tb.sweep(scenario, {FIELD: [f"{buffer} packets" for buffer in BUFFERS]}, seeds=SEEDS, workers=workers)
    cost = Cost(time.process_time() - cpu, time.thread_time() - first, time.perf_counter() - wall)
    assert done.counts.done == len(BUFFERS) * SEEDS
    return cost


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--duration", default="60 s")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--repeat", type=int, default=3)
    arguments = parser.parse_args()
    scenario = tb.dumbbell(rate="10 Mbps", delay="10 ms", buffer="20 packets", flows=2, duration=arguments.duration)
    runs = len(BUFFERS) * SEEDS
    measured = [(bare(scenario, arguments.workers), study(scenario, arguments.workers)) for _ in range(arguments.repeat)]
    alone = min(cpu for cpu, _ in measured)
    cpu, first, wall = (min(getattr(cost, name) for _, cost in measured) for name in ("cpu", "first", "wall"))
    report = {
        "runs": runs,
        "ms_per_run": 1e3 * alone / runs,
        "overhead_ms_per_run": 1e3 * (cpu - alone) / runs,
        "ledger_thread_ms_per_run": 1e3 * first / runs,
        "workers": arguments.workers,
        "simulating_share_of_cpu": alone / cpu,
        "simulating_share_of_wall": alone / (arguments.workers * wall),
        "load_average": os.getloadavg()[0],
    }
    print(json.dumps(report, indent=2))


if __name__ == "__main__":
    main()
