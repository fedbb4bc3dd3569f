"""The quantities that the document measures."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

import tailback as tb

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = [
    "ACTIVE",
    "BADPUT",
    "FAIRNESS",
    "GOODPUT",
    "MAX_TIMEOUTS",
    "TIMEOUTS",
    "burst_share",
    "close_losses",
    "mean_window",
    "peak_window",
    "timeout_free_share",
    "typical_loss_spacing",
]

# Cells of segments delivered once, as a fraction of the capacity of the link.
GOODPUT = "sum(flows.*.goodput_bps * flows.*.frame_cells * 53 / 536) / 75e6"
# Fraction of time during which connections are not waiting for a timeout.
ACTIVE = "flows.*.active_share"
TIMEOUTS = "flows.*.timeouts"
MAX_TIMEOUTS = "max(flows.*.timeouts)"
# Fraction of the arriving cells that belong to incomplete packets.
BADPUT = "sum(flows.*.badput_cells) / (sum(flows.*.badput_cells) + sum(flows.*.frame_goodput_cells))"
# Section 6.2, after its reference 15.
FAIRNESS = "jain(flows.*.delivered_packets)"

# The first second of a run is start-up.
SETTLED_S = 1.0
# For the experiments on the spacing of losses: packets, and 90 % of 1200 cells.
GAP = 25
UPPER_CELLS = 1080


def timeout_free_share(run: tb.Run) -> float:
    """Fraction of connections without a timeout."""
    return float((run.flows["timeouts"] == 0).mean())


def peak_window(run: tb.Run) -> float:
    """Largest window after start-up, averaged over connections; requires the trace `cwnd`."""
    trace = run.trace("cwnd")
    later = trace["time_s"] >= SETTLED_S
    flows, windows = trace["flow"][later], trace["cwnd_packets"][later]
    return float(np.mean([windows[flows == flow].max() for flow in np.unique(flows)]))


def mean_window(run: tb.Run) -> float:
    """Time average of the windows after start-up; requires the trace `cwnd`."""
    trace = run.trace("cwnd")
    means = []
    for flow in range(len(run.flows)):
        own = trace.where(flow=flow)
        edges = np.maximum(np.append(own["time_s"], run.simulated_s), SETTLED_S)
        means.append(np.average(np.asarray(own["cwnd_packets"], float), weights=np.diff(edges)))
    return float(np.mean(means))


def typical_loss_spacing(run: tb.Run) -> float:
    """The most common number of segments between two losses of a connection; see `_losses` for the required traces."""
    segments = _losses(run).segments
    return float(np.bincount(segments[segments > 0]).argmax())


def burst_share(run: tb.Run) -> float:
    """Fraction of losses within 25 packets of the connection's previous loss."""
    return float((_losses(run).packets <= GAP).mean())


def close_losses(run: tb.Run) -> float:
    """Number of losses within 25 packets of the previous loss while the buffer is below the upper threshold."""
    losses = _losses(run)
    return float(((losses.packets <= GAP) & (losses.cells < UPPER_CELLS)).sum())


@dataclass(frozen=True)
class Losses:
    """Every loss except a connection's first: packets and segment numbers since the previous loss, and the buffer occupancy in
    cells.

    Packets count retransmissions and segment numbers do not, so packets that are adjacent on the link may be far apart in the
    data.
    """

    packets: NDArray[np.int64]
    segments: NDArray[np.int64]
    cells: NDArray[np.int64]


@lru_cache(maxsize=1)
def _losses(run: tb.Run) -> Losses:
    """All losses of a run with the traces `segments`, `drops` and `queue`.

    The access link preserves order, so a packet's index among those sent by its connection is also its index at the switch.
    """
    segments, drops, queue = (run.trace(kind) for kind in ("segments", "drops", "queue"))
    rows: list[tuple[int, int, float]] = []
    for flow in range(len(run.flows)):
        sent, cells = segments.where(flow=flow), drops.where(flow=flow)
        order = {packet: place for place, packet in enumerate(zip(sent["segment"], sent["transmission"], strict=True))}
        # A packet is lost when the first of its cells is lost.
        lost: dict[tuple[int, int], float] = {}
        for when, segment, transmission in zip(cells["time_s"], cells["segment"], cells["transmission"], strict=True):
            lost.setdefault((order[segment, transmission], int(segment)), float(when))
        rows += [(after[0] - before[0], after[1] - before[1], lost[after]) for before, after in pairwise(lost)]
    packets, numbers, times = (np.array(column) for column in zip(*rows, strict=True))
    return Losses(packets, numbers, queue["queue_units"][queue["time_s"].searchsorted(times, side="right") - 1])
