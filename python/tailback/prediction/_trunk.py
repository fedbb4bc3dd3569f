"""Inputs of a switch that share a trunk: the detailed model of cui-thesis, section 3.6.1, and what comes closest to it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TypedDict, TypeGuard

from tailback import models
from tailback.models import LOSS_MODELS, LossModel
from tailback.prediction._datagrams import misfit_of_port, misfit_of_sending
from tailback.prediction._network import DatagramGroup, Group, Network, Port, TcpGroup
from tailback.prediction._outcome import Outcome

__all__ = ["predict_trunks"]

_THESIS = "cui-thesis, section 3.6.1"
# Inputs times transmitters up to which the exact chain without places takes a fraction of a second.
_SMALL_CHAIN = 1024
# What the models of a trunk take at most.
_MOST_INPUTS = 1_000_000
_MOST_PLACES = 1_000_000_000


class _Trunk(TypedDict):
    """As the models of a trunk take it."""

    inputs: int
    transmitters: int
    buffer: int
    load: float


@dataclass(frozen=True)
class _Loss:
    """Which model says what is lost, and how far it is off."""

    share: float
    model: str
    source: str
    simplifies: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()


def predict_trunks(network: Network, outcome: Outcome) -> None:
    """Every link that alternating sources and no TCP cross."""
    predicted = []
    for name, port in network.ports.items():
        groups = network.crossing(name)
        if any(isinstance(group, TcpGroup) for group in groups) or not any(_alternates(group) for group in groups):
            continue
        why = _misfit(network, port, groups)
        if why:
            outcome.leave(*why)
        elif _predict_port(outcome, port, _inputs(groups)):
            predicted.append(name)
    for group in network.groups:
        if _alternates(group):
            _deliver(network, outcome, group, predicted)


def _misfit(network: Network, port: Port, groups: list[Group]) -> tuple[str, str] | None:
    """The first assumption of the detailed model that fails at this link, with its place."""
    at = f"links.{port.name}"
    for group in groups:
        why = _misfit_of_input(network, port, group)
        if why:
            return why
    first, *others = _inputs(groups)
    for group in others:
        if (_mean_bytes(group), _mean_idle_s(group)) != (_mean_bytes(first), _mean_idle_s(first)):
            return (
                at,
                f"flows.{first.name} and flows.{group.name} differ in packets or idle times, and inputs of the model are alike",
            )
    if sum(group.count for group in groups) > _MOST_INPUTS:
        return at, f"more than the {_MOST_INPUTS} inputs of its models"
    return misfit_of_port(port)


def _misfit_of_input(network: Network, port: Port, group: Group) -> tuple[str, str] | None:
    place = f"flows.{group.name}"
    if not _alternates(group):
        return place, "is not an alternating source, but shares the trunk with some"
    if group.path is None or not _undisturbed(network, group.path[: group.path.index(port.name)]):
        return f"links.{port.name}", f"{place} reaches it over other links, which change the process of arrivals"
    if group.jitter_s or group.processing:
        return place, "jitter or processing changes the process of arrivals"
    if group.source.size != "exponential" or group.source.header:
        return f"{place}.source.packet", "packets, with their headers, are not exponential in size"
    if group.source.rate_bps != port.rate_bps:
        why = f"not the rate of a transmitter of links.{port.name}: in the model a packet arrives as fast as it leaves"
        return f"{place}.source.rate", why
    # From a source without a link of its own a packet comes at once, its last bit with its first.
    at_once = group.path[0] == port.name and group.sender_access_bps is None
    if not port.cuts_through and not at_once:
        why = (
            "store_and_forward: an input may send its next packet while its last one is still leaving, which the model "
            "does not allow"
        )
        return f"links.{port.name}.switching", why
    return misfit_of_sending(group)


def _undisturbed(network: Network, before: tuple[str, ...]) -> bool:
    """Whether packets come as they were sent: over no link, or over one with a transmitter for each of its inputs."""
    if not before:
        return True
    port, groups = network.ports[before[0]], network.crossing(before[0])
    inputs = sum(group.count for group in groups)
    if len(before) > 1 or inputs > port.transmitters or port.random_loss or port.unmodelled:
        return False
    # Inputs themselves, so that this asks for no further link.
    first = all(_alternates(group) and group.path and group.path[0] == port.name for group in groups)
    return first and _misfit(network, port, groups) is None


def _alternates(group: Group) -> TypeGuard[DatagramGroup]:
    return isinstance(group, DatagramGroup) and group.alternates


def _inputs(groups: list[Group]) -> list[DatagramGroup]:
    return [group for group in groups if _alternates(group)]


def _mean_bytes(group: DatagramGroup) -> float:
    return group.source.packet_bytes or 0.0


def _mean_idle_s(group: DatagramGroup) -> float:
    return group.source.mean_idle_s or 0.0


def _predict_port(outcome: Outcome, port: Port, groups: list[DatagramGroup]) -> bool:
    """Whether there is an equilibrium to predict."""
    packet_s = 8 * _mean_bytes(groups[0]) / port.rate_bps
    inputs = sum(group.count for group in groups)
    # (3.14): nothing holds an input back, whatever becomes of its packets.
    load = packet_s / (packet_s + _mean_idle_s(groups[0])) * inputs / port.transmitters
    waiting = port.waiting_places()
    names = [f"links.{port.name}", *(f"flows.{group.name}" for group in groups)]
    if waiting is None and load >= 1:
        outcome.leave(names[0], f"a load of {load:.3g} with room for everything has no equilibrium")
        outcome.queues[port.name]["utilisation"] = 1.0
        return False
    found = _loss(inputs, port.transmitters, waiting, load)
    lost = found.share + (1 - found.share) * port.random_loss
    # A packet is taken or not whatever its length is, so that loss of packets is loss of bytes.
    utilisation = load * (1 - found.share)
    outcome.queues[port.name].update(loss_share=lost, utilisation=utilisation)
    if waiting == 0 or inputs <= port.transmitters:
        held = utilisation * port.transmitters if port.counts_in_service else 0.0
        outcome.queues[port.name].update(mean_queue_units=held, mean_wait_s=0.0)
    outcome.say(found.model, found.source, names, list(found.simplifies), found.warnings)
    return True


def _deliver(network: Network, outcome: Outcome, group: DatagramGroup, predicted: list[str]) -> None:
    """What arrives of the payload that each flow sends, if all links that may lose some are predicted."""
    crossed = [name for name in group.path or () if name in predicted]
    if not crossed:
        return
    last = network.ports[crossed[-1]]
    for name in (group.path or ())[len(crossed) :]:
        later = network.ports[name]
        strangers = [other for other in network.crossing(name) if other not in network.crossing(last.name)]
        loses = later.buffer is not None or later.random_loss or later.unmodelled
        if loses or strangers or later.capacity_bps < last.capacity_bps:
            outcome.leave(f"flows.{group.name}", f"what is lost at links.{name}, beyond its trunk, is in no model")
            return
    arrives = math.prod(1 - outcome.queues[name]["loss_share"] for name in crossed)
    bits = 8 * _mean_bytes(group)
    sent_bps = bits / (bits / last.rate_bps + _mean_idle_s(group))
    outcome.flows[group.name]["goodput_bps"][:] = sent_bps * arrives
    outcome.flows[group.name]["loss_share"][:] = 1 - arrives


def _loss(inputs: int, transmitters: int, waiting: int | None, load: float) -> _Loss:
    """By the exact chain where it is small, else by the model that the map has nearest to the detailed one."""
    if inputs <= transmitters:
        return _Loss(0.0, "a transmitter for each input", _THESIS)
    if waiting is None:
        return _Loss(0.0, "room for everything", _THESIS)
    trunk = _Trunk(inputs=inputs, transmitters=transmitters, buffer=min(waiting, _MOST_PLACES), load=load)
    if waiting == 0 and inputs * transmitters <= _SMALL_CHAIN:
        exact = models.exact_trunk_loss(**trunk, reading="own_length")
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
    """The model that is least off at the worst of the mapped points around; EBL, mostly the best, where there are none."""
    off = {name: models.trunk_accuracy(**trunk, model=name) for name in LOSS_MODELS}
    if not off["ebl"].mapped:
        return "ebl", off["ebl"]
    # Not at the place itself, for a model that is too low on one side and too high on the other is right in between by chance.
    best = min(off, key=lambda name: max(abs(math.log(off[name].low)), abs(math.log(off[name].high))))
    return best, off[best]
