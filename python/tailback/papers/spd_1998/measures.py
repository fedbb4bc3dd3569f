"""The quantities that the document measures, as functions of a run."""

from __future__ import annotations

import numpy as np

from tailback._run import Run
from tailback.papers import Measure

__all__ = [
    "RATE_BPS",
    "badput_share",
    "carried",
    "fairness",
    "frame_goodput",
    "goodput_to_input",
    "max_queue",
    "mean_queue",
    "normalised_goodput",
    "timeouts",
    "zeros_per_second",
]

CELL_BITS = 424
RATE_BPS = 10e6


def frame_goodput(run: Run) -> float:
    """Cells that arrived in whole packets, including duplicates."""
    return float(run.flows["frame_goodput_cells"].sum())


def goodput_to_input(run: Run) -> float:
    """The document's measure: cells leaving the network in whole packets, divided by cells sent by the first switch."""
    return frame_goodput(run) / float(run.queues.where(queue="link12")["departed_units"][0])


def badput_share(run: Run) -> float:
    """Fraction of the arriving cells that do not belong to a whole packet."""
    badput = float(run.flows["badput_cells"].sum())
    return badput / (badput + frame_goodput(run))


def normalised_goodput(run: Run) -> float:
    """Cells of packets delivered once, as a fraction of the capacity of the narrow link."""
    cells = float((run.flows["delivered_packets"] * run.flows["frame_cells"]).sum())
    return cells * CELL_BITS / RATE_BPS / run.simulated_s


def carried(group: str) -> Measure:
    """Cells that arrived in whole packets at the receivers of one group."""
    return lambda run: float(run.flows.where(group=group)["frame_goodput_cells"].sum())


def mean_queue(run: Run) -> float:
    """Time-averaged occupancy of the second switch's buffer, in cells."""
    return float(run.queues.where(queue="link23")["mean_queue_units"][0])


def max_queue(run: Run) -> float:
    """Maximum occupancy of that buffer, in cells."""
    return float(run.queues.where(queue="link23")["max_queue_units"][0])


def fairness(run: Run) -> float:
    """Jain's index of the connections' deliveries."""
    delivered = run.flows["delivered_packets"].astype(float)
    return float(delivered.sum() ** 2 / (len(delivered) * (delivered**2).sum()))


def timeouts(run: Run) -> float:
    """Timeouts per connection and second, averaged over connections."""
    return float(run.flows["timeouts"].mean()) / run.simulated_s


def time_above(cells: int) -> Measure:
    """Fraction of time with at least this many cells in the buffer; requires the trace `queue`."""

    def share(run: Run) -> float:
        trace = run.trace("queue")
        times = np.append(trace["time_s"], run.simulated_s)
        return float(np.diff(times)[trace["queue_units"] >= cells].sum()) / run.simulated_s

    return share


def zeros_per_second(run: Run) -> float:
    """Number of times per second at which a queue of more than one packet became empty; requires the trace `queue`."""
    cells = run.trace("queue")["queue_units"]
    # Maximum occupancy since the buffer was last empty.
    empty = np.flatnonzero(cells == 0)
    peaks = np.maximum.reduceat(cells, empty[:-1]) if len(empty) > 1 else np.array([])
    return float((peaks > 23).sum()) / run.simulated_s
