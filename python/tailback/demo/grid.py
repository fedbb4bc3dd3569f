"""What the demonstration runs: one link, 1 to 200 flows, buffers of 1 % to 200 % of a bandwidth-delay product, some seeds."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tailback.interval import Interval
from tailback.scenario import Scenario
from tailback.simulation import simulate
from tailback.topologies import dumbbell

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from tailback.run import Run

__all__ = ["BDP_PACKETS", "Cell", "Plan", "Point", "Study", "plan", "run", "scenario"]

RATE_MBPS = 100
# Two-way propagation: of a single flow, or the mean of many.
RTT_MS = 100
RTT_SPREAD_MS = (60, 140)
PACKET_BYTES = 1500
BDP_PACKETS = round(RATE_MBPS * 1e6 * RTT_MS * 1e-3 / 8 / PACKET_BYTES)


@dataclass(frozen=True)
class Times:
    """Seconds of simulated time: flows start at random until `starts`, measurement begins at `warmup` and lasts `measured`."""

    starts: int
    warmup: int
    measured: int

    @property
    def whole(self) -> int:
        """The length of a run."""
        return self.warmup + self.measured


# The sawtooth of one flow takes minutes, and its start is random over a whole one, so that measurement begins at any phase of it.
_TIMES = {1: Times(120, 240, 480), 2: Times(60, 120, 240), 5: Times(20, 50, 120)}
_USUAL_TIMES = Times(10, 20, 60)

# Shares of the bandwidth-delay product for which the single flow is drawn.
SAWTOOTH_SHARES = (0.1, 1.0, 2.0)

# Numbers of flows that are also run with paced senders, in small buffers.
_PACED = (10, 100)


@dataclass(frozen=True, order=True)
class Cell:
    """One place of the grid: so many flows, a buffer of this share of the bandwidth-delay product, senders paced or not."""

    flows: int
    share: float
    paced: bool = False

    @property
    def buffer_packets(self) -> int:
        """Waiting places, at least one."""
        return max(1, round(self.share * BDP_PACKETS))

    @property
    def times(self) -> Times:
        """When the flows start and what is measured."""
        return _TIMES.get(self.flows, _USUAL_TIMES)


@dataclass(frozen=True)
class Point:
    """One run: a cell and a seed; or a run that is traced."""

    cell: Cell
    seed: int
    traced: bool = False

    @property
    def cost(self) -> int:
        """Simulated seconds, which is what the work is proportional to: the link is always busy."""
        return self.cell.times.whole


@dataclass(frozen=True)
class Plan:
    """All runs, the longest first so that no thread is left alone with one at the end."""

    flows: tuple[int, ...]
    seeds: tuple[int, ...]
    points: tuple[Point, ...]


@dataclass(frozen=True)
class Sawtooth:
    """Window and queue of a single flow over the measured time, at even instants."""

    share: float
    time_s: NDArray[np.float64]
    window: NDArray[np.float64]
    queue: NDArray[np.float64]
    utilisation: float


@dataclass
class Study:
    """What was measured: for each quantity and cell the values of all seeds."""

    plan: Plan
    values: dict[str, dict[Cell, list[float]]] = field(default_factory=dict)
    sawtooth: list[Sawtooth] = field(default_factory=list)
    hashes: list[str] = field(default_factory=list)
    events: int = 0
    simulated_s: float = 0.0
    took_s: float = 0.0
    threads: int = 1

    def cells(self, flows: int, *, paced: bool = False) -> list[Cell]:
        """The cells of one curve by growing buffer."""
        cells = {point.cell for point in self.plan.points if not point.traced}
        return sorted(cell for cell in cells if cell.flows == flows and cell.paced == paced)

    @property
    def paced_flows(self) -> list[int]:
        """The numbers of flows that were also run with pacing."""
        return sorted({point.cell.flows for point in self.plan.points if point.cell.paced})

    def interval(self, quantity: str, cell: Cell) -> Interval:
        """Mean and 95 % interval over the seeds."""
        return Interval.of(self.values[quantity][cell])


def rule(flows: int) -> Cell:
    """The rule of Appenzeller, Keslassy and McKeown: a bandwidth-delay product over the square root of the flows."""
    return Cell(flows, flows**-0.5)


def plan(*, quick: bool) -> Plan:
    """The full grid, or a coarse one."""
    flows = (1, 10, 100) if quick else (1, 2, 5, 10, 20, 50, 100, 200)
    shares = (0.01, 0.1, 0.5, 1.0, 2.0) if quick else (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0)
    seeds = tuple(range(1, 4 if quick else 7))
    cells = {Cell(count, share) for count in flows for share in shares} | {rule(count) for count in flows}
    cells |= {Cell(count, share, paced=True) for count in _PACED if count in flows for share in shares if share <= 0.5}
    points = [Point(cell, seed) for cell in cells for seed in seeds]
    points += [Point(Cell(1, share), seeds[0], traced=True) for share in SAWTOOTH_SHARES]
    points.sort(key=lambda point: (-point.cost, not point.traced, point.cell, point.seed))
    return Plan(flows, seeds, tuple(points))


def scenario(point: Point) -> Scenario:
    """The dumbbell of one run."""
    flows = point.cell.flows
    times = point.cell.times
    low, high = RTT_SPREAD_MS
    record: dict[str, Any] = {"record": {"traces": {"cwnd": ["tcp"], "queue": ["bottleneck"]}}} if point.traced else {}
    return dumbbell(
        name=f"{flows} flows, buffer {point.cell.share:.3g} BDP",
        rate=f"{RATE_MBPS} Mbps",
        delay="10 ms",
        buffer=f"{point.cell.buffer_packets} packets",
        duration=f"{times.whole} s",
        warmup=f"{times.warmup} s",
        seed=point.seed,
        flows={
            "tcp": {
                "count": flows,
                "rtt": f"{RTT_MS} ms" if flows == 1 else {"uniform": [f"{low} ms", f"{high} ms"]},
                "start": {"uniform": ["0 s", f"{times.starts} s"]},
                "tcp": {"preset": "sack", "pacing": point.cell.paced},
            }
        },
        **record,
    )


def run(plan: Plan, *, threads: int, done: Callable[[], object]) -> Study:
    """Run everything, `threads` at a time: the core does not hold Python's lock. `done` is called after each run.

    Ctrl-C stops all threads within a slice of simulated time.
    """
    study = Study(plan, threads=threads)
    stopping = threading.Event()

    def one(point: Point) -> Measured:
        measured = _measure(point, simulate(scenario(point), progress=lambda _fraction: _stop_if(stopping)))
        done()
        return measured

    with ThreadPoolExecutor(threads) as pool:
        futures = [pool.submit(one, point) for point in plan.points]
        try:
            for point, future in zip(plan.points, futures, strict=True):
                _take(study, point, future.result())
        except BaseException:
            stopping.set()
            pool.shutdown(cancel_futures=True)
            raise
    study.sawtooth.sort(key=lambda trace: trace.share)
    return study


class _Stopped(Exception):
    """Another thread was interrupted."""


def _stop_if(stopping: threading.Event) -> None:
    if stopping.is_set():
        raise _Stopped


@dataclass(frozen=True)
class Measured:
    """What is kept of one run."""

    values: dict[str, float]
    sawtooth: Sawtooth | None
    content_hash: str
    events: int
    simulated_s: float


def _measure(point: Point, run: Run) -> Measured:
    bottleneck = next(row for row in run.queues.to_rows() if row["queue"] == "bottleneck")
    values = {quantity: bottleneck[quantity] for quantity in ("utilisation", "loss_share", "mean_wait_s")}
    values["timeouts_per_flow_s"] = sum(run.flows.to_dict()["timeouts"]) / point.cell.flows / point.cell.times.measured
    values["fairness"] = run.groups.to_dict()["fairness"][0]
    sawtooth = _sawtooth(point, run, values["utilisation"]) if point.traced else None
    return Measured(values, sawtooth, run.content_hash, run.events, run.simulated_s)


def _take(study: Study, point: Point, measured: Measured) -> None:
    study.events += measured.events
    study.simulated_s += measured.simulated_s
    study.hashes.append(measured.content_hash)
    if measured.sawtooth:
        study.sawtooth.append(measured.sawtooth)
        return
    for quantity, value in measured.values.items():
        study.values.setdefault(quantity, {}).setdefault(point.cell, []).append(value)


def _sawtooth(point: Point, run: Run, utilisation: float) -> Sawtooth:
    import numpy as np

    times = np.linspace(point.cell.times.warmup, run.simulated_s, 1200)
    window = _held(run.trace("cwnd")["time_s"], run.trace("cwnd")["cwnd_packets"], times)
    queue = _held(run.trace("queue")["time_s"], run.trace("queue")["queue_units"], times)
    return Sawtooth(point.cell.share, times - times[0], window, queue, utilisation)


def _held(known: NDArray[Any], values: NDArray[Any], times: NDArray[np.float64]) -> NDArray[np.float64]:
    """The last value at or before each instant."""
    held: NDArray[np.float64] = values[known.searchsorted(times, side="right") - 1].astype(float)
    return held
