"""What is measured of a run, the same with edges and without."""

from __future__ import annotations

from tailback._run import Run
from tailback.papers.spd_1998.measures import fairness, timeouts

__all__ = ["MEASURES"]

CELL_BITS = 424
NARROW = {"link23": 10e6, "bottleneck": 75e6}


def _narrow(run: Run) -> str:
    return next(str(name) for name in run.queues["queue"] if name in NARROW)


def goodput(run: Run) -> float:
    """Cells of packets delivered once, as a fraction of all that the narrow link can carry."""
    cells = float((run.flows["delivered_packets"] * run.flows["frame_cells"]).sum())
    return cells * CELL_BITS / NARROW[_narrow(run)] / run.simulated_s


def loss(run: Run) -> float:
    """Of the packets that senders sent, the share that was lost at switches or edges."""
    sent = run.flows["sent_packets"].astype(float)
    return float((run.flows["loss_rate"] * sent).sum() / sent.sum())


def switch_loss(run: Run) -> float:
    """Of the cells that came to the narrow link, the share that was discarded."""
    return float(run.queues.where(queue=_narrow(run))["loss_rate"][0])


def switch_queue(run: Run) -> float:
    """Cells that wait at the narrow link, on average over time."""
    return float(run.queues.where(queue=_narrow(run))["mean_queue_units"][0])


def edge_queue(run: Run) -> float:
    """Cells that wait at all edges together, on average over time; none where there are no edges."""
    return float(run.edges["mean_queue_cells"].sum()) if _has_edges(run) else 0.0


def total_queue(run: Run) -> float:
    """Both."""
    return switch_queue(run) + edge_queue(run)


def largest_switch_queue(run: Run) -> float:
    """The most cells that ever waited at the narrow link."""
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
    "largest_switch_queue": largest_switch_queue,
    "timeouts": timeouts,
}
