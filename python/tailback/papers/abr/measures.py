"""Measured quantities, defined in the same way with and without edge devices."""

from __future__ import annotations

from tailback._run import Run
from tailback.papers.spd_1998.measures import fairness, timeouts

__all__ = ["MEASURES"]

CELL_BITS = 424
NARROW = {"link23": 10e6, "bottleneck": 75e6}


def _narrow(run: Run) -> str:
    return next(str(name) for name in run.queues["queue"] if name in NARROW)


def goodput(run: Run) -> float:
    """Cells of packets delivered once, as a fraction of the capacity of the narrow link."""
    cells = float((run.flows["delivered_packets"] * run.flows["frame_cells"]).sum())
    return cells * CELL_BITS / NARROW[_narrow(run)] / run.simulated_s


def loss(run: Run) -> float:
    """Fraction of sent packets lost at switches or edges."""
    sent = run.flows["sent_packets"].astype(float)
    return float((run.flows["loss_rate"] * sent).sum() / sent.sum())


def switch_loss(run: Run) -> float:
    """Fraction of the cells arriving at the narrow link that is discarded."""
    return float(run.queues.where(queue=_narrow(run))["loss_rate"][0])


def switch_queue(run: Run) -> float:
    """Time-averaged queue at the narrow link, in cells."""
    return float(run.queues.where(queue=_narrow(run))["mean_queue_units"][0])


def edge_queue(run: Run) -> float:
    """Time-averaged sum of the queues at all edges, in cells; 0 without edges."""
    return float(run.edges["mean_queue_cells"].sum()) if _has_edges(run) else 0.0


def total_queue(run: Run) -> float:
    """Time-averaged sum of the queues at the narrow link and the edges, in cells."""
    return switch_queue(run) + edge_queue(run)


def max_switch_queue(run: Run) -> float:
    """Maximum queue at the narrow link, in cells."""
    return float(run.queues.where(queue=_narrow(run))["max_queue_units"][0])


def _has_edges(run: Run) -> bool:
    return any("abr" in flows for flows in run.scenario["flows"].values())


MEASURES = {
    "goodput": goodput,
    "fairness": fairness,
    "loss": loss,
    "switch_loss": switch_loss,
    "switch_queue": switch_queue,
    "edge_queue": edge_queue,
    "total_queue": total_queue,
    "max_switch_queue": max_switch_queue,
    "timeouts": timeouts,
}
