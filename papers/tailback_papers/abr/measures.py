"""Measured quantities, defined in the same way with and without edge devices."""

from __future__ import annotations

from functools import partial

import tailback as tb
from tailback.papers import Measure
from tailback_papers.spd_1998.measures import FAIRNESS, timeouts

__all__ = ["MEASURES"]

CELL_BITS = 424
NARROW = {"link23": 10e6, "bottleneck": 75e6}


def _narrow(run: tb.Run) -> str:
    return next(str(name) for name in run.queues["queue"] if name in NARROW)


def goodput(run: tb.Run) -> float:
    """Cells of packets delivered once, as a fraction of the capacity of the narrow link."""
    cells = float((run.flows["delivered_packets"] * run.flows["frame_cells"]).sum())
    return cells * CELL_BITS / NARROW[_narrow(run)] / run.simulated_s


def _queue(run: tb.Run, column: str) -> float:
    return run.value(f"queues.{_narrow(run)}.{column}")


def edge_queue(run: tb.Run) -> float:
    """Time-averaged sum of the queues at all edges, in cells; 0 without edges."""
    return run.value("sum(edges.*.mean_queue_cells)") if _has_edges(run) else 0.0


def total_queue(run: tb.Run) -> float:
    """Time-averaged sum of the queues at the narrow link and the edges, in cells."""
    return _queue(run, "mean_queue_units") + edge_queue(run)


def _has_edges(run: tb.Run) -> bool:
    return any("abr" in flows for flows in run.scenario["flows"].values())


MEASURES: dict[str, Measure] = {
    "goodput": goodput,
    "fairness": FAIRNESS,
    # Fraction of sent packets lost at switches or edges.
    "loss": "sum(flows.*.loss_rate * flows.*.sent_packets) / sum(flows.*.sent_packets)",
    # Fraction of the cells arriving at the narrow link that is discarded, and its queue in cells.
    "switch_loss": partial(_queue, column="loss_rate"),
    "switch_queue": partial(_queue, column="mean_queue_units"),
    "edge_queue": edge_queue,
    "total_queue": total_queue,
    "max_switch_queue": partial(_queue, column="max_queue_units"),
    "timeouts": timeouts,
}
