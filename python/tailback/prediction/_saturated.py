"""Greedy flows that fill one bottleneck: the sawtooth of a single flow, a closed loop, or normally distributed total window."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tailback import models
from tailback._core import FEW_FLOWS, QUIET_LOAD, SHORT_QUEUE, SMALL_WINDOW, is_slow
from tailback.models import OPEN_LOOPS, round_trips
from tailback.prediction._delay_based import DELAY_BASED, predict_delay_based
from tailback.prediction._network import Network, Port, TcpGroup
from tailback.prediction._outcome import Outcome

__all__ = ["predict_saturated"]


@dataclass(frozen=True)
class _Bottleneck:
    """Numbers of the port and its flows."""

    port: Port
    buffer: int
    groups: list[TcpGroup]
    packet_bytes: float
    flows: int
    trips: models.RoundTrips
    segments_per_increase: int
    smooth: bool

    @property
    def product(self) -> float:
        """Bandwidth-delay product in packets."""
        return self.port.capacity_bps * self.trips.mean_s / (8 * self.packet_bytes)

    @property
    def numbers(self) -> dict[str, Any]:
        return {
            "transmitters": self.port.transmitters,
            "rate_bps": self.port.rate_bps,
            "packet_bytes": self.packet_bytes,
        }


def predict_saturated(network: Network, outcome: Outcome, groups: list[TcpGroup], ports: list[Port]) -> None:
    """Predict groups that share `ports`, if one port is the bottleneck of all flows."""
    if any(group.tcp.controller in DELAY_BASED for group in groups):
        predict_delay_based(outcome, groups, _bottleneck(network, groups))
        return
    for group in groups:
        if not group.tcp.halves:
            outcome.exclude(
                f"flows.{group.name}.tcp.controller", f"the controller is {group.tcp.controller}, but models require Reno"
            )
            return
    port = _bottleneck(network, groups)
    if isinstance(port, str):
        outcome.exclude(f"flows.{groups[0].name}", port)
        return
    waiting = port.waiting_places()
    if waiting is None:
        outcome.exclude(f"links.{port.name}.queue", "the buffer is unlimited: windows and queue grow up to the receiver's window")
        return
    if len({group.tcp.packet_bytes for group in groups}) > 1:
        outcome.exclude(f"links.{port.name}", "packets of several sizes share it")
        return
    rtts = [rtt for group in groups for rtt in group.base_rtts_s]
    found = _Bottleneck(
        port=port,
        buffer=waiting,
        groups=groups,
        packet_bytes=float(groups[0].tcp.packet_bytes),
        flows=len(rtts),
        trips=round_trips(rtts),
        segments_per_increase=max(group.tcp.segments_per_increase for group in groups),
        smooth=all(group.tcp.pacing or is_slow(group.sender_access_bps, port.rate_bps, port.transmitters) for group in groups),
    )
    hasty = [group.name for group in groups if group.tcp.recovery in ("tahoe", "reno")]
    if found.flows > 1 and hasty:
        why = "it needs a timeout for several losses of a window, which models of many flows do not include"
        outcome.exclude(f"flows.{hasty[0]}.tcp.recovery", why)
        return
    if found.flows == 1:
        utilisation, loss, queue = _sawtooth(outcome, found)
    elif found.smooth and found.buffer <= SHORT_QUEUE * found.product:
        utilisation, loss, queue = _closed_loop(network, outcome, found)
    else:
        utilisation, loss, queue = _fluid(outcome, found)
    _share(network, outcome, found, utilisation, loss, queue)


def _bottleneck(network: Network, groups: list[TcpGroup]) -> Port | str:
    """The port with the smallest capacity per flow, if all flows cross it and no other is close; else why there is none."""
    flows: dict[str, int] = {}
    for group in groups:
        for name in group.path or ():
            flows[name] = flows.get(name, 0) + group.count
    shares = {name: network.ports[name].capacity_bps / count for name, count in flows.items()}
    tight = min(shares, key=lambda name: shares[name])
    total = sum(group.count for group in groups)
    if flows[tight] != total:
        return f"no link is the bottleneck of all flows: links.{tight} is the bottleneck of {flows[tight]} of {total}"
    rivals = [name for name in flows if name != tight and QUIET_LOAD * shares[name] < shares[tight]]
    if rivals:
        return f"links.{rivals[0]} limits the flows about as much as links.{tight}"
    access = [rate for group in groups for rate in (group.sender_access_bps, group.receiver_access_bps) if rate is not None]
    if access and min(access) * total <= network.ports[tight].capacity_bps:
        return f"private links of {min(access):g} bit/s limit the flows, not links.{tight}"
    return network.ports[tight]


def _sawtooth(outcome: Outcome, found: _Bottleneck) -> tuple[float, float, float]:
    """A single flow: utilisation, one loss per sawtooth, mean queue."""
    utilisation = models.synchronised_utilisation(**found.numbers, mean_rtt_s=found.trips.mean_s, buffer=found.buffer)
    peak = found.product + found.buffer
    limit = float(found.groups[0].tcp.receiver_window)
    if limit < peak:
        # The window never overflows the buffer.
        rate = min(1.0, limit / found.product)
        _add_model(outcome, found, "window over round trip", "RFC 7323, section 1.1", [])
        return rate, 0.0, max(0.0, limit - found.product)
    simplifies = [
        "fluid model: packets are discrete, and window growth takes effect one RTT later",
        "recovery lets the network drain to half a window",
    ]
    _add_model(outcome, found, "sawtooth of one flow", "Villamizar and Song 1994; docs/evidence/theory.md", simplifies)
    # From half the peak to the peak: 3 peak^2 / 8 packets, times the number of segments per acknowledgement.
    return float(utilisation), 8 / (3 * found.segments_per_increase * peak * peak), _queue_of_sawtooth(found)


def _queue_of_sawtooth(found: _Bottleneck) -> float:
    """Mean number of queued packets."""
    return float(models.single_flow_mean_queue(found.buffer / found.product)) * found.product


def _closed_loop(network: Network, outcome: Outcome, found: _Bottleneck) -> tuple[float, float, float]:
    """Smooth arrivals and a short queue: the fixed point of TCP's load and the loss at this load."""
    inputs = network.inputs(found.port.name)
    # Arrivals are a Poisson process unless input links space the packets out.
    model: Any = "g1dm" if inputs else "md1k" if found.port.transmitters == 1 else "mmkkb"
    end = models.closed_loop(
        inputs=inputs or 1_000_000,
        model=model,
        buffer=found.buffer,
        flows=found.flows,
        harmonic_rtt_s=found.trips.harmonic_s,
        segments_per_ack=found.segments_per_increase,
        rto_s=max(found.groups[0].tcp.min_rto_s, found.trips.mean_s),
        receiver_window=min(group.tcp.receiver_window for group in found.groups),
        **found.numbers,
    )
    lengths = "" if model == "md1k" else " and have exponential lengths"
    simplifies = [f"packets arrive as a Poisson process{lengths}", "losses are spread evenly over flows"]
    if inputs:
        simplifies.append("no input link is saturated; a saturated one occupies a transmitter, and its flows get more")
    if not end.keeps_bound:
        simplifies.append("outside the range of its loss model: the predicted utilisation is above 1")
    if found.product / found.flows < SMALL_WINDOW:
        simplifies.append("windows of fewer than four packets")
    name = f"closed loop of {OPEN_LOOPS[model]} and Padhye"
    warnings = _warnings(found, inputs, end) if inputs else []
    _add_model(outcome, found, name, "cui-thesis, section 3.7; Padhye et al. 1998", simplifies, warnings)
    return end.utilisation, end.loss, math.nan


def _warnings(found: _Bottleneck, inputs: int, end: models.ClosedLoop) -> list[str]:
    """A warning about the error of the loss by G1DM at the resulting load, unless it is within 5 %."""
    where = f"M = {inputs}, K = {found.port.transmitters}, B = {found.buffer}"
    if end.inputs_full:
        return [f"the loss by G1DM at {where}: not mapped for saturated input links; see docs/evidence/trunk_accuracy.md"]
    off = models.trunk_accuracy(inputs=inputs, transmitters=found.port.transmitters, buffer=found.buffer, load=end.load)
    return (
        []
        if off.within(1.05)
        else [f"the loss by G1DM at {where}, load {end.load:.3g}: {off}; see docs/evidence/trunk_accuracy.md"]
    )


def _fluid(outcome: Outcome, found: _Bottleneck) -> tuple[float, float, float]:
    """Bursty arrivals or a long queue: synchronised windows for few flows, a normally distributed total window for many."""
    numbers: dict[str, Any] = {**found.numbers, "mean_rtt_s": found.trips.mean_s, "buffer": found.buffer}
    simplifies = []
    if found.product / found.flows < SMALL_WINDOW:
        simplifies.append("windows of fewer than four packets cause timeouts, which no fluid model includes")
    if found.flows < FEW_FLOWS:
        simplifies.append("all flows halve at the same time; the utilisation is higher if they do not")
        _add_model(outcome, found, "synchronised sawtooth", "Villamizar and Song 1994; docs/evidence/theory.md", simplifies)
        return float(models.synchronised_utilisation(**numbers)), math.nan, _queue_of_sawtooth(found)
    simplifies.append("the total window is normally distributed: no bursts, no synchronised flows")
    _add_model(outcome, found, "normal sum of windows", "Appenzeller, Keslassy and McKeown 2004", simplifies)
    return float(models.appenzeller_utilisation(**numbers, flows=found.flows)), math.nan, math.nan


def _add_model(
    outcome: Outcome, found: _Bottleneck, name: str, source: str, simplifies: list[str], warnings: Sequence[str] = ()
) -> None:
    at = [f"links.{found.port.name}", *(f"flows.{group.name}" for group in found.groups)]
    shares = ["flows share inversely to their RTTs"] if found.trips.max_s > found.trips.harmonic_s else []
    outcome.add_model(name, source, at, simplifies + shares, warnings)


def _share(network: Network, outcome: Outcome, found: _Bottleneck, utilisation: float, loss: float, queue: float) -> None:
    """Results of queue and flows; flows share inversely to their RTTs, including the mean wait in the queue."""
    import numpy as np

    per_s = found.port.capacity_bps / (8 * found.packet_bytes)
    held = queue + (utilisation * found.port.transmitters if found.port.counts_in_service else 0.0)
    wait_s = queue / (utilisation * per_s)
    outcome.queues[found.port.name].update(utilisation=utilisation, loss_rate=loss, mean_queue_units=held, mean_wait_s=wait_s)
    payload = found.groups[0].tcp.mss / found.packet_bytes
    total = utilisation * found.port.capacity_bps * payload
    queued = 0.0 if math.isnan(wait_s) else wait_s
    weights = {group.name: 1 / (np.array(group.base_rtts_s) + queued) for group in found.groups}
    whole = sum(float(weight.sum()) for weight in weights.values())
    for group in found.groups:
        outcome.flows[group.name]["goodput_bps"][:] = total * weights[group.name] / whole
        outcome.flows[group.name]["loss_rate"][:] = loss
