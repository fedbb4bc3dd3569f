"""Estimate of the cost of a grid, from the beginnings of a few runs."""

from __future__ import annotations

import time
from dataclasses import dataclass

from tailback._simulation import simulate
from tailback._study.grid import Grid

__all__ = ["Estimate", "estimate"]

# Maximum duration of each probe, in seconds.
_PROBE_S = 0.4


@dataclass(frozen=True)
class Estimate:
    """Estimated cost, assuming that every run costs the mean of the probes.

    Attributes
    ----------
    cpu_s : float
        Processor time of all runs in seconds.
    wall_s : float
        Elapsed time in seconds with this many workers, each on its own processor.
    lowest_s, highest_s : float
        Processor time if every run costs as much as the cheapest or the most expensive probe.
    probes : int
        Number of probes.
    """

    cpu_s: float
    wall_s: float
    lowest_s: float
    highest_s: float
    probes: int
    workers: int


class _ProbeDone(Exception):
    pass


def estimate(grid: Grid, workers: int) -> Estimate:
    """Start a run at the first, the middle and the last point, and extrapolate its cost linearly in simulated time."""
    indices = sorted({0, len(grid) // 2, len(grid) - 1})
    costs = [_cost(grid, index) for index in indices]
    mean = sum(costs) / len(costs)
    runs = grid.runs
    return Estimate(mean * runs, mean * runs / min(workers, runs), min(costs) * runs, max(costs) * runs, len(costs), workers)


def _cost(grid: Grid, index: int) -> float:
    began = time.thread_time()
    done = 0.0

    def watch(fraction: float) -> None:
        nonlocal done
        done = fraction
        if time.thread_time() - began > _PROBE_S and fraction > 0:
            raise _ProbeDone

    try:
        simulate(grid.point(index).scenario, grid.seeds[0], progress=watch)
        done = 1.0
    except _ProbeDone:
        pass
    return (time.thread_time() - began) / done
