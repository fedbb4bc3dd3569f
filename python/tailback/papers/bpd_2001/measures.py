"""What the document measures, as functions of a run."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tailback.run import Run

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = [
    "active",
    "burst_share",
    "close_losses",
    "fairness",
    "goodput",
    "largest_queue",
    "loss_spacing",
    "mean_queue",
    "most_timeouts",
    "peak_window",
    "timeouts",
    "untroubled",
]

RATE_BPS = 75e6
CELL_BYTES = 53
MSS_BYTES = 536
# The first second of a run is start-up.
SETTLED_S = 1.0


def goodput(run: Run) -> float:
    """Cells of segments delivered once, as a fraction of all that the link can carry."""
    wire_bps = run.flows["goodput_bps"] * run.flows["frame_cells"] * CELL_BYTES / MSS_BYTES
    return float(wire_bps.sum()) / RATE_BPS


def active(run: Run) -> float:
    """Share of the time that connections do not wait for a timeout, over all of them."""
    return float(run.flows["active_share"].mean())


def timeouts(run: Run) -> float:
    """Timeouts of a connection, on average over them."""
    return float(run.flows["timeouts"].mean())


def most_timeouts(run: Run) -> float:
    """Timeouts of the connection that has most."""
    return float(run.flows["timeouts"].max())


def untroubled(run: Run) -> float:
    """Share of the connections without any timeout."""
    return float((run.flows["timeouts"] == 0).mean())


def fairness(run: Run) -> float:
    """Jain's index of what the connections deliver: section 6.2, after its reference 15."""
    delivered = run.flows["delivered_packets"].astype(float)
    return float(delivered.sum() ** 2 / (len(delivered) * (delivered**2).sum()))


def mean_queue(run: Run) -> float:
    """Cells in the buffer, on average over time."""
    return float(run.queues.where(queue="bottleneck")["mean_queue_units"][0])


def largest_queue(run: Run) -> float:
    """The most cells that were ever in the buffer."""
    return float(run.queues.where(queue="bottleneck")["max_queue_units"][0])


def peak_window(run: Run) -> float:
    """The largest window of a connection after start-up, on average over them; needs the trace `cwnd`."""
    trace = run.trace("cwnd")
    later = trace["time_s"] >= SETTLED_S
    flows, windows = trace["flow"][later], trace["cwnd_packets"][later]
    return float(np.mean([windows[flows == flow].max() for flow in np.unique(flows)]))


def loss_spacing(run: Run) -> float:
    """Packets of a connection from one loss to the next, the median after start-up; needs the traces `segments` and `drops`."""
    return float(np.median(_spacings(run)))


def close_losses(run: Run) -> float:
    """Losses after start-up that come within 25 packets of the connection's loss before; needs `segments` and `drops`."""
    return float((_spacings(run) <= 25).sum())


def burst_share(run: Run) -> float:
    """Share of the losses after start-up that come within 25 packets of the connection's loss before."""
    return float((_spacings(run) <= 25).mean())


def _spacings(run: Run) -> NDArray[np.int64]:
    """Packets between one loss and the next of the same connection after start-up: 1 if they are neighbours.

    The access link keeps order, so the place of a packet among those that its connection sent is its place at the switch.
    """
    segments, drops = run.trace("segments"), run.trace("drops")
    found = [np.empty(0, dtype=np.int64)]
    for flow in np.unique(drops["flow"]):
        sent, lost = segments.where(flow=int(flow)), drops.where(flow=int(flow))
        places: list[int] = []
        for when, segment in zip(lost["time_s"], lost["segment"], strict=True):
            # Of several transmissions of a segment the last one before the loss.
            before = np.flatnonzero((sent["segment"] == segment) & (sent["time_s"] <= when))
            if when >= SETTLED_S:
                places.append(int(before[-1]))
        found.append(np.array(places[1:], dtype=np.int64) - np.array(places[:-1], dtype=np.int64))
    return np.concatenate(found)
