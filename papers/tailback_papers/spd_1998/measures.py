"""The quantities that the document measures."""

from __future__ import annotations

import numpy as np

import tailback as tb
from tailback.papers import Measure

__all__ = [
    "BADPUT_SHARE",
    "CELL_BITS",
    "FAIRNESS",
    "FRAME_GOODPUT",
    "MAX_QUEUE",
    "MEAN_QUEUE",
    "RATE_BPS",
    "RATIO",
    "normalised_goodput",
    "time_above",
    "timeouts",
    "zeros_per_second",
]

CELL_BITS = 424
RATE_BPS = 10e6

# Cells that arrived in whole packets, including duplicates.
FRAME_GOODPUT = "sum(flows.*.frame_goodput_cells)"
# The document's measure: cells leaving the network in whole packets, divided by cells sent by the first switch.
RATIO = f"{FRAME_GOODPUT} / queues.link12.departed_units"
# Fraction of the arriving cells that do not belong to a whole packet.
BADPUT_SHARE = f"sum(flows.*.badput_cells) / (sum(flows.*.badput_cells) + {FRAME_GOODPUT})"
# Occupancy of the second switch's buffer, in cells.
MEAN_QUEUE = "queues.link23.mean_queue_units"
MAX_QUEUE = "queues.link23.max_queue_units"
FAIRNESS = "jain(flows.*.delivered_packets)"


def normalised_goodput(run: tb.Run) -> float:
    """Cells of packets delivered once, as a fraction of the capacity of the narrow link."""
    cells = float((run.flows["delivered_packets"] * run.flows["frame_cells"]).sum())
    return cells * CELL_BITS / RATE_BPS / run.simulated_s


def timeouts(run: tb.Run) -> float:
    """Timeouts per connection and second, averaged over connections."""
    return float(run.flows["timeouts"].mean()) / run.simulated_s


def time_above(cells: int) -> Measure:
    """Fraction of time with at least this many cells in the buffer; requires the trace `queue`."""

    def share(run: tb.Run) -> float:
        trace = run.trace("queue")
        times = np.append(trace["time_s"], run.simulated_s)
        return float(np.diff(times)[trace["queue_units"] >= cells].sum()) / run.simulated_s

    return share


def zeros_per_second(run: tb.Run) -> float:
    """Number of times per second at which a queue of more than one packet became empty; requires the trace `queue`."""
    cells = run.trace("queue")["queue_units"]
    # Maximum occupancy since the buffer was last empty.
    empty = np.flatnonzero(cells == 0)
    peaks = np.maximum.reduceat(cells, empty[:-1]) if len(empty) > 1 else np.array([])
    return float((peaks > 23).sum()) / run.simulated_s
