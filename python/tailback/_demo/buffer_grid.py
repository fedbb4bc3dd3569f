"""The runs of the first question: one link, 1 to 200 flows, buffers of 1 % to 200 % of a bandwidth-delay product."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from tailback._interval import UNBOUNDED, Interval
from tailback._run import Run
from tailback._scenario import Scenario
from tailback._study.measurements import Tally
from tailback._tables.quantity import FRACTION, is_fraction
from tailback._topologies import dumbbell
from tailback.papers import Experiment, Outcome, Trace, Variant

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["BDP_PACKETS", "Cell", "Needed", "Plan", "Study", "experiment", "plan", "rule", "scenario"]

RATE_MBPS = 100
# Two-way propagation: of a single flow, or the mean of many.
RTT_MS = 100
RTT_SPREAD_MS = (60, 140)
PACKET_BYTES = 1500
BDP_PACKETS = round(RATE_MBPS * 1e6 * RTT_MS * 1e-3 / 8 / PACKET_BYTES)


@dataclass(frozen=True)
class Times:
    """Seconds of simulated time: flows start at random before `starts`; measurement begins at `warmup` and lasts `measured`."""

    starts: int
    warmup: int
    measured: int

    @property
    def whole(self) -> int:
        """The duration of a run."""
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
    """One point of the grid: number of flows, buffer as a share of the bandwidth-delay product, pacing."""

    flows: int
    share: float
    paced: bool = False

    @property
    def buffer_packets(self) -> int:
        """Buffer size, at least one packet."""
        return max(1, round(self.share * BDP_PACKETS))

    @property
    def times(self) -> Times:
        """Start of the flows and measured interval."""
        return _TIMES.get(self.flows, _USUAL_TIMES)


@dataclass(frozen=True)
class Plan:
    """Cells and the number of seeds; the longest runs come first, so that all workers end at about the same time."""

    flows: tuple[int, ...]
    seeds: int
    cells: tuple[Cell, ...]


@dataclass(frozen=True)
class Sawtooth:
    """Window and queue of a single flow over the measured time, at equal intervals."""

    share: float
    time_s: NDArray[np.float64]
    window: NDArray[np.float64]
    queue: NDArray[np.float64]
    utilisation: float


@dataclass(frozen=True)
class Needed:
    """A buffer and the ends of its 95 % interval, as shares of the bandwidth-delay product; None beyond the range of the grid."""

    share: float | None
    low: float | None
    high: float | None

    def __str__(self) -> str:
        if self.share is None:
            return "not reached"
        low, high = ("less" if self.low is None else _percent(self.low), "more" if self.high is None else _percent(self.high))
        return f"{_percent(self.share)} % ({low} to {high})"


@dataclass
class Study:
    """Results by cell, the cost of the runs, and the buffer that each number of flows needs."""

    plan: Plan
    outcome: Outcome
    tally: Tally
    needed: dict[int, Needed] = field(default_factory=dict)

    def cells(self, flows: int, *, paced: bool = False) -> list[Cell]:
        """The cells of one curve by growing buffer."""
        return sorted(cell for cell in self.plan.cells if cell.flows == flows and cell.paced == paced)

    @property
    def paced_flows(self) -> list[int]:
        """The numbers of flows that were also run with pacing."""
        return sorted({cell.flows for cell in self.plan.cells if cell.paced})

    def interval(self, quantity: str, cell: Cell) -> Interval:
        """Mean and 95 % interval over the seeds."""
        return Interval.of(self._measured[cell][quantity].tolist(), within=FRACTION if is_fraction(quantity) else UNBOUNDED)

    @property
    def sawtooth(self) -> list[Sawtooth]:
        """The single flow at each of the drawn buffers."""
        drawn = []
        for share in SAWTOOTH_SHARES:
            (time_s, window), (_, queue) = (self.outcome.traces[f"{what} at {share:g} BDP"] for what in ("window", "queue"))
            # From the run without traces: recording does not change other results.
            utilisation = float(self._measured[Cell(1, share)]["utilisation"][0])
            drawn.append(Sawtooth(share, time_s, window, queue, utilisation))
        return drawn

    @cached_property
    def _measured(self) -> dict[Cell, Any]:
        return {cell: point.values for cell, point in zip(self.plan.cells, self.outcome.points, strict=True)}


def rule(flows: int) -> Cell:
    """The rule of Appenzeller, Keslassy and McKeown: a bandwidth-delay product over the square root of the flows."""
    return Cell(flows, flows**-0.5)


def plan(*, full: bool) -> Plan:
    """The full grid, or a coarse one."""
    flows = (1, 2, 5, 10, 20, 50, 100, 200) if full else (1, 10, 100)
    shares = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0) if full else (0.01, 0.1, 0.2, 0.5, 1.0, 2.0)
    cells = {Cell(count, share) for count in flows for share in shares} | {rule(count) for count in flows}
    cells |= {Cell(count, share, paced=True) for count in _PACED if count in flows for share in shares if share <= 0.5}
    return Plan(flows, 6 if full else 3, tuple(sorted(cells, key=lambda cell: (-cell.times.whole, cell))))


def scenario(cell: Cell) -> Scenario:
    """The dumbbell of one cell."""
    low, high = RTT_SPREAD_MS
    return dumbbell(
        name=f"{cell.flows} flows, buffer {cell.share:.3g} BDP",
        rate=f"{RATE_MBPS} Mbps",
        delay="10 ms",
        buffer=f"{cell.buffer_packets} packets",
        duration=f"{cell.times.whole} s",
        warmup=f"{cell.times.warmup} s",
        flows={
            "tcp": {
                "count": cell.flows,
                "propagation_rtt": f"{RTT_MS} ms" if cell.flows == 1 else {"uniform": [f"{low} ms", f"{high} ms"]},
                "start": {"uniform": ["0 s", f"{cell.times.starts} s"]},
                "tcp": {"preset": "sack", "pacing": cell.paced},
            }
        },
    )


def experiment(plan: Plan) -> Experiment:
    """The plan as an experiment, so that experiments of documents and the demonstration run and store alike."""
    return Experiment(
        id="demo/buffer",
        title="How much buffer does a TCP link need?",
        question="How much buffer does a TCP link need?",
        source="",
        variants=tuple(
            Variant({"flows": cell.flows, "share": cell.share, "paced": str(cell.paced)}, scenario(cell)) for cell in plan.cells
        ),
        measures={
            "utilisation": _of_bottleneck("utilisation"),
            "loss_rate": _of_bottleneck("loss_rate"),
            "mean_wait_s": _of_bottleneck("mean_wait_s"),
            "timeouts_per_flow_s": _timeouts_per_flow_s,
            "fairness": lambda run: run.groups.to_dict()["fairness"][0],
        },
        claims=(),
        traces=tuple(
            Trace(f"{what} at {share:g} BDP", {"flows": 1, "share": share}, _RECORDED, of)
            for share in SAWTOOTH_SHARES
            for what, of in (("window", _window), ("queue", _queue))
        ),
    )


_RECORDED = {"cwnd": ["tcp"], "queue": ["bottleneck"]}


def _of_bottleneck(column: str) -> Callable[[Run], float]:
    return lambda run: float(run.queues.where(queue="bottleneck")[column][0])


def _timeouts_per_flow_s(run: Run) -> float:
    timeouts: list[int] = run.flows.to_dict()["timeouts"]
    return sum(timeouts) / len(timeouts) / Cell(len(timeouts), 1).times.measured


def _window(run: Run) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The window of a single flow at equal intervals of the measured time."""
    return _held(run.trace("cwnd")["time_s"], run.trace("cwnd")["cwnd_packets"], run.simulated_s)


def _queue(run: Run) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The queue of the bottleneck at the same instants."""
    return _held(run.trace("queue")["time_s"], run.trace("queue")["queue_units"], run.simulated_s)


def _percent(share: float) -> str:
    return f"{100 * share:.3g}"


def _held(known: NDArray[Any], values: NDArray[Any], end_s: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Equally spaced instants from the warm-up of a single flow to the end, and the last value at or before each."""
    import numpy as np

    times = np.linspace(_TIMES[1].warmup, end_s, 1200)
    return times - times[0], values[known.searchsorted(times, side="right") - 1].astype(float)
