"""Datagram flows at their first link: queues in equilibrium."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from tailback import models
from tailback.prediction._network import DatagramGroup, Group, Network, Port
from tailback.prediction._outcome import Outcome

__all__ = ["predict_datagrams", "violation_of_port", "violation_of_source"]

# Buffer that approximates an unlimited one at any load with a reasonable equilibrium.
_ROOMY = 1_000_000


@dataclass(frozen=True)
class _Source:
    """Numbers of a datagram group: packets per second of one flow, payload and wire bytes."""

    group: DatagramGroup
    packets_per_s: float
    payload_bytes: float
    wire_bytes: float
    exponential: bool


@dataclass(frozen=True)
class _Queue:
    model: str
    source: str
    loss: float
    mean_wait: float


def predict_datagrams(network: Network, outcome: Outcome) -> None:
    """Predict every link with datagram flows only, if it is the first link of all of them and no source is alternating."""
    for name, port in network.ports.items():
        crossing = network.crossing(name)
        groups = [group for group in crossing if isinstance(group, DatagramGroup) and not group.alternates]
        if not groups or len(groups) < len(crossing):
            continue
        sources = [_source(group) for group in groups]
        why = _violation(port, groups, sources)
        if why:
            outcome.exclude(*why)
            continue
        _predict_port(network, outcome, port, [source for source in sources if isinstance(source, _Source)])


def _source(group: DatagramGroup) -> _Source | str:
    """The packet process of a group, or the reason why no model covers it."""
    source = group.source
    if source.kind != "poisson" or source.packet_bytes is None or source.packets_per_s is None:
        return "packets do not arrive as a Poisson process"
    if source.size == "exponential" and source.header:
        return "packet sizes, including headers, are neither constant nor exponential"
    on_wire = source.packet_bytes + source.header
    return _Source(group, source.packets_per_s, source.packet_bytes, on_wire, source.size == "exponential")


def _violation(port: Port, groups: list[DatagramGroup], sources: list[_Source | str]) -> tuple[str, str] | None:
    """The first violated assumption at this link, with its path."""
    at = f"links.{port.name}"
    for group, source in zip(groups, sources, strict=True):
        place = f"flows.{group.name}"
        if isinstance(source, str):
            return place, source
        if group.path is None or group.path[0] != port.name:
            return at, f"{place} reaches it over other links, which change the arrival process"
        if group.sender_access_bps is not None or group.jitter_s or group.processing:
            return place, "a private link, jitter or processing changes the arrival process"
        why = violation_of_source(group)
        if why:
            return why
    known = [source for source in sources if isinstance(source, _Source)]
    if len({(source.exponential, source.wire_bytes) for source in known}) > 1:
        return at, "packets of several sizes share it"
    return violation_of_port(port)


def violation_of_source(group: Group) -> tuple[str, str] | None:
    """Assumptions of all queues in equilibrium: packets instead of cells, and flows that last for the whole run."""
    if group.in_cells:
        return f"flows.{group.name}", "packets travel in cells"
    if not group.greedy or group.stops:
        return f"flows.{group.name}", "does not send during the whole run"
    return None


def violation_of_port(port: Port) -> tuple[str, str] | None:
    """Assumptions about a port: a drop-tail queue that counts packets."""
    at = f"links.{port.name}"
    if port.unmodelled:
        return at, f"it {port.unmodelled}"
    if port.policy != "drop_tail":
        return f"{at}.queue", f"the policy is {port.policy}, not drop_tail"
    if port.listed_drops:
        return f"{at}.loss.drops", "listed packets are discarded"
    if port.buffer is not None and port.unit != "packets":
        return f"{at}.queue.buffer", "the buffer is in bytes, but models count packets"
    return None


def _predict_port(network: Network, outcome: Outcome, port: Port, sources: list[_Source]) -> None:
    arrivals = math.fsum(source.packets_per_s * source.group.count for source in sources)
    service_s = 8 * sources[0].wire_bytes / port.rate_bps
    load = arrivals * service_s / port.transmitters
    waiting = port.waiting_places()
    names = [f"links.{port.name}", *(f"flows.{source.group.name}" for source in sources)]
    if waiting is None and load >= 1:
        outcome.exclude(names[0], f"a load of {load:.3g} with an unlimited buffer has no equilibrium")
        outcome.queues[port.name]["utilisation"] = 1.0
        return
    queue = _queue(port, load, waiting, exponential=sources[0].exponential)
    if isinstance(queue, str):
        outcome.exclude(names[0], queue)
        return
    accepted = arrivals * (1 - queue.loss)
    lost = queue.loss + (1 - queue.loss) * port.random_loss
    waits = accepted * queue.mean_wait * service_s
    busy = load * (1 - queue.loss)
    outcome.queues[port.name] = {
        "loss_rate": lost,
        "utilisation": busy,
        "mean_queue_units": waits + (busy * port.transmitters if port.counts_in_service else 0.0),
        "mean_wait_s": queue.mean_wait * service_s,
    }
    for source in sources:
        _deliver(network, outcome, source.group, 8 * source.packets_per_s * source.payload_bytes, lost)
    outcome.add_model(queue.model, queue.source, names, [])


def _deliver(network: Network, outcome: Outcome, group: Group, sent_bps: float, lost: float) -> None:
    """Goodput of each flow, if nothing is lost beyond its first link."""
    later = (group.path or ())[1:]
    ports = [network.ports[name] for name in later]
    if any(port.buffer is not None or port.random_loss or port.unmodelled for port in ports):
        outcome.exclude(f"flows.{group.name}", "no model covers losses beyond its first link")
        return
    outcome.flows[group.name]["goodput_bps"][:] = sent_bps * (1 - lost)
    outcome.flows[group.name]["loss_rate"][:] = lost


def _queue(port: Port, load: float, waiting: int | None, *, exponential: bool) -> _Queue | str:
    """Loss and wait by the model that applies to this port, or the reason why there is none."""
    servers = port.transmitters
    places = _ROOMY if waiting is None else servers + waiting

    def finite(name: str) -> str:
        return name if waiting is None else f"{name}/{places}"

    if servers > 1 and waiting == 0:
        return _Queue("Erlang B", "Erlang 1917", float(models.erlang_b(load, servers)), 0.0)
    if exponential:
        queue: Any = models.mmck(load, servers, places)
        name = f"M/M/{servers}"
    elif servers > 1:
        return f"no model covers packets of constant size on {servers} transmitters with a buffer"
    elif waiting is None:
        return _Queue("M/D/1", "Pollaczek-Khinchine", 0.0, float(models.md1_mean_wait(load)))
    elif places > 10_000:
        return f"M/D/1/{places} exceeds the limit of the model, 10000 places"
    else:
        queue, name = models.md1k(load, places), "M/D/1"
    return _Queue(
        finite(name),
        "Kleinrock, Queueing Systems 1, 1975" if exponential else "the chain at departures",
        float(queue.loss),
        float(queue.mean_wait),
    )
