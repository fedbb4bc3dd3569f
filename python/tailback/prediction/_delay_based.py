"""FAST and Vegas at a bottleneck with enough buffer: equilibrium with simultaneous or sequential starts."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from tailback import models
from tailback.prediction._network import Port, TcpGroup
from tailback.prediction._outcome import Outcome

__all__ = ["DELAY_BASED", "predict_delay_based"]

# Names of the controllers in a scenario.
DELAY_BASED = ("fast", "vegas")

SIMULTANEOUS = "equilibrium of delays"
WITHIN = "each flow keeps alpha to beta packets in the queue; no model gives their number, nor the waiting time"

# Number of base RTTs after which flows count as being in equilibrium.
AT_REST = 100


def predict_delay_based(outcome: Outcome, groups: list[TcpGroup], port: Port | str) -> None:
    """Predict rates and queue in equilibrium. `port` is the bottleneck, or the reason why there is none."""
    import numpy as np

    where = f"flows.{groups[0].name}"
    if isinstance(port, str):
        outcome.exclude(where, port)
        return
    laws = {group.tcp.controller for group in groups}
    if len(laws) > 1:
        outcome.exclude(where, f"{' and '.join(sorted(laws))} share the bottleneck, but models cover only one controller")
        return
    for group in groups:
        if group.tcp.keeps_packets is None and group.tcp.keeps_pps is None:
            outcome.exclude(
                f"flows.{group.name}.tcp.controller", "its flows drain the queue, but models require flows that do not"
            )
            return
    if len({group.tcp.packet_bytes for group in groups}) > 1:
        outcome.exclude(f"links.{port.name}", "packets of several sizes share it")
        return
    starts = np.array([start for group in groups for start in group.starts_s])
    found = _simultaneous(groups) if len(set(starts.tolist())) == 1 else _sequential(outcome, groups, starts, port)
    if found is None:
        return
    shares, queue = found.shares, found.queue
    waiting = port.waiting_places()
    if waiting is not None and queue > waiting:
        why = f"the flows keep {queue:.4g} packets in a queue of {waiting}, and no model covers the overflow"
        outcome.exclude(f"links.{port.name}.queue.buffer", why)
        return
    keeps_alpha = laws == {"fast"} or found.model != SIMULTANEOUS
    _fill(outcome, groups, port, shares, queue if keeps_alpha else math.nan)
    at = [f"links.{port.name}", *(f"flows.{group.name}" for group in groups)]
    simplifies = [found.simplifies]
    if laws == {"vegas"}:
        simplifies.append("each flow keeps alpha in the queue, although alpha to beta is possible" if keeps_alpha else WITHIN)
    outcome.add_model(found.model, found.source, at, simplifies)


@dataclass(frozen=True)
class _Equilibrium:
    """Shares of the flows in the order of the groups, and number of queued packets."""

    model: str
    source: str
    simplifies: str
    shares: Any
    queue: float


def _simultaneous(groups: list[TcpGroup]) -> _Equilibrium | None:
    """Simultaneous starts: flows measure the base RTT of the empty path, and rates are proportional to the packets they keep."""
    import numpy as np

    kept = np.array([_queue_target(group, rtt) for group in groups for rtt in group.base_rtts_s])
    simplifies = "all flows know the base RTT of the empty path"
    return _Equilibrium(SIMULTANEOUS, "cui-thesis, equations (4.6) and (4.8)", simplifies, kept / kept.sum(), kept.sum())


def _queue_target(group: TcpGroup, base_rtt_s: float) -> float:
    """Number of packets in the queue of a flow with a correct base RTT."""
    if group.tcp.keeps_packets is not None:
        return group.tcp.keeps_packets
    return (group.tcp.keeps_pps or 0.0) * base_rtt_s


def _sequential(outcome: Outcome, groups: list[TcpGroup], starts: Any, port: Port) -> _Equilibrium | None:
    """Sequential starts: each flow mistakes the existing queueing delay for propagation delay."""
    import numpy as np

    where = f"flows.{groups[0].name}.start"
    apart = float(np.diff(np.sort(starts)).min())
    rtts = [rtt for group in groups for rtt in group.base_rtts_s]
    if apart < AT_REST * max(rtts):
        why = f"flows start {apart:.3g} s apart; models require simultaneous starts, or one after another in equilibrium"
        outcome.exclude(where, why)
        return None
    if len({(group.tcp.keeps_packets, group.tcp.keeps_pps) for group in groups}) > 1:
        outcome.exclude(where, "flows that start sequentially have different queue targets; models require equal ones")
        return None
    place = np.argsort(np.argsort(starts)) + 1
    tcp = groups[0].tcp
    simplifies = "each flow starts when earlier ones are in equilibrium, and mistakes the existing queueing delay for propagation"
    if tcp.keeps_packets is not None:
        arrived = models.fast_arrivals(arrived=len(starts), flow=place)
        queue = tcp.keeps_packets * float(np.ravel(arrived.queue)[0])
        return _Equilibrium("arrivals one by one", "cui-thesis, equations (4.19) and (4.20)", simplifies, arrived.share, queue)
    if len(set(rtts)) > 1:
        outcome.exclude(where, "flows of Vegas that start sequentially have different RTTs; models require equal ones")
        return None
    capacity_pps = port.capacity_bps / (8 * tcp.packet_bytes)
    arrived = models.vegas_arrivals(alpha_pps=tcp.keeps_pps or 0.0, capacity_pps=capacity_pps, arrived=len(starts), flow=place)
    queue = float(np.ravel(arrived.queue)[0]) * rtts[0] * capacity_pps
    return _Equilibrium("arrivals one by one", "cui-thesis, equations (4.10) and (4.12)", simplifies, arrived.share, queue)


def _fill(outcome: Outcome, groups: list[TcpGroup], port: Port, shares: Any, queue: float) -> None:
    """Fill in the results: the link is full, and nothing is lost."""
    tcp = groups[0].tcp
    wait_s = queue * 8 * tcp.packet_bytes / port.capacity_bps
    held = queue + (port.transmitters if port.counts_in_service else 0)
    outcome.queues[port.name].update(utilisation=1.0, loss_rate=0.0, mean_queue_units=held, mean_wait_s=wait_s)
    first = 0
    for group in groups:
        own = shares[first : first + group.count]
        first += group.count
        outcome.flows[group.name]["goodput_bps"][:] = own * port.capacity_bps * tcp.mss / tcp.packet_bytes
        outcome.flows[group.name]["loss_rate"][:] = 0.0
