"""Inputs of a switch that share a trunk: the detailed model of cui-thesis, section 3.6.1, and the closest other models."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TypedDict, TypeGuard

from tailback import models
from tailback.models import LOSS_MODELS, LossModel
from tailback.prediction._datagrams import violation_of_port, violation_of_source
from tailback.prediction._network import DatagramGroup, Group, Network, Port, TcpGroup
from tailback.prediction._outcome import Outcome

__all__ = ["predict_trunks"]

_THESIS = "cui-thesis, section 3.6.1"
# Inputs times transmitters up to which the exact chain without a buffer takes a fraction of a second.
_SMALL_CHAIN = 1024
# Limits of the models of a trunk.
_MAX_INPUTS = 1_000_000
_MAX_PLACES = 1_000_000_000


class _Trunk(TypedDict):
    """Parameters of the models of a trunk."""

    inputs: int
    transmitters: int
    buffer: int
    load: float


@dataclass(frozen=True)
class _Loss:
    """The predicted loss, its model, and known errors of the model."""

    share: float
    model: str
    source: str
    simplifies: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()


def predict_trunks(network: Network, outcome: Outcome) -> None:
    """Predict every link with alternating sources and without TCP."""
    predicted = []
    for name, port in network.ports.items():
        groups = network.crossing(name)
        if any(isinstance(group, TcpGroup) for group in groups) or not any(_alternates(group) for group in groups):
            continue
        why = _violation(network, port, groups)
        if why:
            outcome.exclude(*why)
        elif _predict_port(outcome, port, _inputs(groups)):
            predicted.append(name)
    for group in network.groups:
        if _alternates(group):
            _deliver(network, outcome, group, predicted)


def _violation(network: Network, port: Port, groups: list[Group]) -> tuple[str, str] | None:
    """The first violated assumption of the detailed model at this link, with its path."""
    at = f"links.{port.name}"
    for group in groups:
        why = _violation_of_input(network, port, group)
        if why:
            return why
    first, *others = _inputs(groups)
    for group in others:
        if (_mean_bytes(group), _mean_idle_s(group)) != (_mean_bytes(first), _mean_idle_s(first)):
            return (
                at,
                f"flows.{first.name} and flows.{group.name} differ in packets or idle times, but inputs of the model are equal",
            )
    if sum(group.count for group in groups) > _MAX_INPUTS:
        return at, f"there are more than {_MAX_INPUTS} inputs, the limit of the models"
    return violation_of_port(port)


def _violation_of_input(network: Network, port: Port, group: Group) -> tuple[str, str] | None:
    place = f"flows.{group.name}"
    if not _alternates(group):
        return place, "is not an alternating source, but shares the trunk with alternating sources"
    if group.path is None or not _preserves_arrivals(network, group.path[: group.path.index(port.name)]):
        return f"links.{port.name}", f"{place} reaches it over other links, which change the arrival process"
    if group.jitter_s or group.processing:
        return place, "jitter or processing changes the arrival process"
    if group.source.size != "exponential" or group.source.header:
        return f"{place}.source.packet_size", "packet sizes, including headers, are not exponential"
    if group.source.rate_bps != port.rate_bps:
        why = f"differs from the rate of a transmitter of links.{port.name}; in the model they are equal"
        return f"{place}.source.rate", why
    # Without an access link, all bits of a packet arrive at the same time.
    at_once = group.path[0] == port.name and group.sender_access_bps is None
    if not port.cuts_through and not at_once:
        why = (
            "store_and_forward: an input may send its next packet while its previous one is still in transmission, which the "
            "model does not allow"
        )
        return f"links.{port.name}.switching", why
    return violation_of_source(group)


def _preserves_arrivals(network: Network, before: tuple[str, ...]) -> bool:
    """Whether the upstream links preserve the arrival process: none, or one with a transmitter for each of its inputs."""
    if not before:
        return True
    port, groups = network.ports[before[0]], network.crossing(before[0])
    inputs = sum(group.count for group in groups)
    if len(before) > 1 or inputs > port.transmitters or port.random_loss or port.unmodelled:
        return False
    # Sources must be at this link, so that the check does not recurse further.
    first = all(_alternates(group) and group.path and group.path[0] == port.name for group in groups)
    return first and _violation(network, port, groups) is None


def _alternates(group: Group) -> TypeGuard[DatagramGroup]:
    return isinstance(group, DatagramGroup) and group.alternates


def _inputs(groups: list[Group]) -> list[DatagramGroup]:
    return [group for group in groups if _alternates(group)]


def _mean_bytes(group: DatagramGroup) -> float:
    return group.source.packet_bytes or 0.0


def _mean_idle_s(group: DatagramGroup) -> float:
    return group.source.mean_idle_s or 0.0


def _predict_port(outcome: Outcome, port: Port, groups: list[DatagramGroup]) -> bool:
    """Predict a port. Returns whether it has an equilibrium."""
    packet_s = 8 * _mean_bytes(groups[0]) / port.rate_bps
    inputs = sum(group.count for group in groups)
    # (3.14): inputs are never blocked, whether or not their packets are lost.
    load = packet_s / (packet_s + _mean_idle_s(groups[0])) * inputs / port.transmitters
    waiting = port.waiting_places()
    names = [f"links.{port.name}", *(f"flows.{group.name}" for group in groups)]
    if waiting is None and load >= 1:
        outcome.exclude(names[0], f"a load of {load:.3g} with an unlimited buffer has no equilibrium")
        outcome.queues[port.name]["utilisation"] = 1.0
        return False
    found = _loss(inputs, port.transmitters, waiting, load)
    lost = found.share + (1 - found.share) * port.random_loss
    # The loss of a packet does not depend on its length, so the loss of packets equals the loss of bytes.
    utilisation = load * (1 - found.share)
    outcome.queues[port.name].update(loss_rate=lost, utilisation=utilisation)
    if waiting == 0 or inputs <= port.transmitters:
        held = utilisation * port.transmitters if port.counts_in_service else 0.0
        outcome.queues[port.name].update(mean_queue_units=held, mean_wait_s=0.0)
    outcome.add_model(found.model, found.source, names, list(found.simplifies), found.warnings)
    return True


def _deliver(network: Network, outcome: Outcome, group: DatagramGroup, predicted: list[str]) -> None:
    """Goodput of each flow, if all links with losses are predicted."""
    crossed = [name for name in group.path or () if name in predicted]
    if not crossed:
        return
    last = network.ports[crossed[-1]]
    for name in (group.path or ())[len(crossed) :]:
        later = network.ports[name]
        strangers = [other for other in network.crossing(name) if other not in network.crossing(last.name)]
        loses = later.buffer is not None or later.random_loss or later.unmodelled
        if loses or strangers or later.capacity_bps < last.capacity_bps:
            outcome.exclude(f"flows.{group.name}", f"no model covers losses at links.{name}, beyond its trunk")
            return
    arrives = math.prod(1 - outcome.queues[name]["loss_rate"] for name in crossed)
    bits = 8 * _mean_bytes(group)
    sent_bps = bits / (bits / last.rate_bps + _mean_idle_s(group))
    outcome.flows[group.name]["goodput_bps"][:] = sent_bps * arrives
    outcome.flows[group.name]["loss_rate"][:] = 1 - arrives


def _loss(inputs: int, transmitters: int, waiting: int | None, load: float) -> _Loss:
    """Loss by the exact chain if it is small, else by the model with the smallest error according to the map."""
    if inputs <= transmitters:
        return _Loss(0.0, "one transmitter per input", _THESIS)
    if waiting is None:
        return _Loss(0.0, "unlimited buffer", _THESIS)
    trunk = _Trunk(inputs=inputs, transmitters=transmitters, buffer=min(waiting, _MAX_PLACES), load=load)
    if waiting == 0 and inputs * transmitters <= _SMALL_CHAIN:
        exact = models.exact_trunk_loss(**trunk, variant="own_length")
        return _Loss(float(exact.loss), "exact chain of the detailed model of a trunk", _THESIS)
    model, off = _nearest(trunk)
    chosen = LOSS_MODELS[model]
    where = f"M = {inputs}, K = {transmitters}, B = {waiting}, load {load:.3g}"
    text = f"the loss by {chosen} at {where}: {off}; see docs/evidence/trunk_accuracy.md"
    near = off.within(1.05)
    return _Loss(
        float(models.trunk_loss(**trunk, model=model).loss),
        chosen.title,
        chosen.source,
        simplifies=(text,) if near else (),
        warnings=() if near else (text,),
    )


def _nearest(trunk: _Trunk) -> tuple[LossModel, models.TrunkAccuracy]:
    """The model with the smallest maximum error at the surrounding points of the map; EBL, usually the best, outside the map."""
    off = {name: models.trunk_accuracy(**trunk, model=name) for name in LOSS_MODELS}
    if not off["ebl"].mapped:
        return "ebl", off["ebl"]
    # Errors at the surrounding points decide: a model that is too low on one side and too high on the other may be right by
    # chance.
    best = min(off, key=lambda name: max(abs(math.log(off[name].low)), abs(math.log(off[name].high))))
    return best, off[best]
