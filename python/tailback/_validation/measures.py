"""The compared measures: numbers that are computed in the same way from simulated runs and from runs on the kernel."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from tailback._interval import UNBOUNDED, Range
from tailback._run import Run
from tailback._tables.quantity import FRACTION

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = [
    "BOTTLENECK",
    "COMPLETION",
    "DEPTH",
    "DROPS_PER_EVENT",
    "FAIRNESS",
    "PERIOD",
    "QUEUE",
    "RETRANSMISSIONS",
    "SHARE",
    "TIMEOUTS",
    "UTILISATION",
    "Measure",
    "case_rows",
    "total",
]

BOTTLENECK = "bottleneck"


@dataclass(frozen=True)
class Measure:
    """A number of a run, and the tolerance of its comparison.

    Attributes
    ----------
    name, unit : str
    of : callable
    tolerance : float
        Tolerance, as a fraction of the kernel's value.
    within : (float, float)
        Lowest and highest possible value.
    """

    name: str
    unit: str
    of: Callable[[Run], float]
    tolerance: float = 0.02
    within: Range = UNBOUNDED


def utilisation(run: Run) -> float:
    return _of_bottleneck(run, "utilisation")


def mean_queue(run: Run) -> float:
    return _of_bottleneck(run, "mean_queue_units")


def retransmissions(run: Run) -> float:
    return total(run, "retransmitted_packets")


def timeouts(run: Run) -> float:
    return total(run, "timeouts")


def fairness(run: Run) -> float:
    """Jain's index over the flows of the only group."""
    return float(run.groups["fairness"][case_rows(run.groups["group"])][0])


def share(run: Run) -> float:
    """Share of the first group in the total goodput."""
    goodputs = run.groups["goodput_bps"][case_rows(run.groups["group"])]
    return float(goodputs[0] / goodputs.sum())


def completion(run: Run) -> float:
    """Mean over the completed transfers."""
    times = run.flows["completion_time_s"][case_rows(run.flows["group"])]
    done = times[times == times]
    return float(done.mean()) if len(done) else math.nan


def period(run: Run) -> float:
    """Mean time between loss events; NaN if there are fewer than three."""
    begins, _ = _events(run)
    return float((begins[-1] - begins[0]) / (len(begins) - 1)) if len(begins) > 2 else math.nan


def drops_per_event(run: Run) -> float:
    """Mean number of packets lost per loss event."""
    begins, drops = _events(run)
    return drops / len(begins) if len(begins) else math.nan


def depth(run: Run) -> float:
    """Drop of the queue after a loss event, in packets: maximum minus minimum of each sawtooth, averaged."""
    import numpy as np

    begins, _ = _events(run)
    trace = run.trace("queue")
    times, lengths = trace["time_s"], trace["queue_units"]
    teeth = [lengths[slice(*np.searchsorted(times, ends))] for ends in pairwise(begins)]
    falls = [int(tooth.max() - tooth.min()) for tooth in teeth if len(tooth)]
    return float(np.mean(falls)) if len(falls) > 1 else math.nan


UTILISATION = Measure("utilisation", "", utilisation, within=FRACTION)
QUEUE = Measure("mean queue", "packets", mean_queue)
PERIOD = Measure("period of the sawtooth", "s", period, 0.03)
DEPTH = Measure("depth of the sawtooth", "packets", depth)
DROPS_PER_EVENT = Measure("drops per loss event", "packets", drops_per_event)
RETRANSMISSIONS = Measure("retransmissions", "packets", retransmissions)
TIMEOUTS = Measure("timeouts", "", timeouts)
FAIRNESS = Measure("fairness (Jain)", "", fairness, within=FRACTION)
SHARE = Measure("share of the first controller", "", share, within=FRACTION)
COMPLETION = Measure("completion time", "s", completion)


def _events(run: Run) -> tuple[NDArray[np.float64], int]:
    """Start times of the loss events after the warm-up, and the total number of lost packets.

    Drops within five base RTTs belong to one event: this is the RTT with a full buffer of four bandwidth-delay products.
    """
    import numpy as np

    drops = run.trace("drops")
    times = np.sort(drops["time_s"][drops["queue"] == BOTTLENECK])
    times = times[times >= _warmup_s(run)]
    apart = 5 * float(run.flows["base_rtt_s"][case_rows(run.flows["group"])].mean())
    is_first = np.diff(times, prepend=-math.inf) > apart
    return times[is_first], len(times)


def _warmup_s(run: Run) -> float:
    # The cases give the warm-up in seconds.
    return float(str(run.scenario.get("warmup", "0 s")).removesuffix(" s"))


def _of_bottleneck(run: Run, column: str) -> float:
    return float(run.queues[column][run.queues["queue"] == BOTTLENECK][0])


def total(run: Run, column: str) -> float:
    """Sum of a column of `flows` over the groups of the case."""
    return float(run.flows[column][case_rows(run.flows["group"])].sum())


def case_rows(groups: NDArray[Any]) -> NDArray[np.bool_]:
    """The flow groups of the cases, without reverse groups and groups of other packets between nodes."""
    import numpy as np

    return np.array([name.startswith("flow") and "." not in name for name in groups])
