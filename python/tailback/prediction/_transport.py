"""TCP: the limit of each group of flows, and the model that applies to it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeGuard

from tailback import models
from tailback._core import QUIET_LOAD
from tailback.prediction._network import Group, Network, Port, TcpGroup
from tailback.prediction._outcome import Outcome
from tailback.prediction._saturated import predict_saturated

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["predict_tcp"]


@dataclass(frozen=True)
class _Bundle:
    """TCP groups that share links, directly or through other groups, with these links."""

    groups: list[TcpGroup]
    ports: list[Port]


def predict_tcp(network: Network, outcome: Outcome) -> None:
    """Predict every bundle of TCP groups separately: limited by windows, by random loss, or by one saturated bottleneck."""
    usable = []
    for group in network.groups:
        if not isinstance(group, TcpGroup):
            continue
        why = _violation(network, group)
        if why:
            outcome.exclude(*why)
        else:
            usable.append(group)
    for bundle in _bundles(network, usable):
        _predict_bundle(network, outcome, bundle)


def _violation(network: Network, group: TcpGroup) -> tuple[str, str] | None:
    """The first violated assumption of all TCP models, with its path."""
    at = f"flows.{group.name}"
    if group.path is None:
        return at, "its flows take different routes"
    if not group.greedy or group.stops:
        return at, "not greedy for the whole run; models require flows that always have data to send"
    if group.in_cells:
        return f"{at}.framing", "packets travel in cells, but models count packets"
    if group.processing:
        return at, "no model covers processing times at hosts"
    shared = {name for port in group.path for name in (other.name for other in network.crossing(port))}
    strangers = [other.name for other in network.groups if other.name in shared and not isinstance(other, TcpGroup)]
    if strangers:
        return at, f"datagrams (flows.{', flows.'.join(strangers)}) share its links"
    # RTTs also depend on the links of acknowledgements.
    for name, port in network.ports.items():
        if port.unmodelled:
            return f"links.{name}", f"it {port.unmodelled}, which no model covers"
    for name in group.path:
        port = network.ports[name]
        if port.policy != "drop_tail":
            return f"links.{name}.queue", f"the policy is {port.policy}, but models require drop_tail"
        if port.listed_drops:
            return f"links.{name}.loss.drops", "listed packets are discarded"
        if port.buffer is not None and port.unit != "packets":
            return f"links.{name}.queue.buffer", "the buffer is in bytes, but models count packets"
    return _violation_of_ack_paths(network, group)


def _violation_of_ack_paths(network: Network, group: TcpGroup) -> tuple[str, str] | None:
    """Assumption of the models: acknowledgements are neither lost nor queued."""
    for name in dict.fromkeys(name for way in group.ways_back for name in way):
        port = network.ports[name]
        if port.random_loss:
            return f"links.{name}", "it loses acknowledgements, but in models all of them arrive"
        brought = sum(_acknowledgements_bps(network, other) for other in network.groups if _acks_cross(other, name))
        if brought > QUIET_LOAD * port.capacity_bps:
            share = f"{100 * brought / port.capacity_bps:.3g} %"
            return (
                f"links.{name}",
                f"acknowledgements can take up to {share} of it, but in models none of them wait",
            )
    return None


def _acks_cross(group: Group, name: str) -> TypeGuard[TcpGroup]:
    return isinstance(group, TcpGroup) and any(name in way for way in group.ways_back)


def _acknowledgements_bps(network: Network, group: TcpGroup) -> float:
    """Maximum rate of acknowledgements, given the narrowest link of the data or the maximum windows and base RTTs."""
    packet = group.tcp.packet_bytes
    windows = sum(8 * group.tcp.receiver_window * packet / rtt for rtt in group.base_rtts_s if rtt > 0)
    narrowest = min((network.ports[name].capacity_bps for name in group.path or ()), default=math.inf)
    return min(windows, narrowest) * group.tcp.ack_bytes / (packet * group.tcp.segments_per_ack)


def _bundles(network: Network, groups: list[TcpGroup]) -> list[_Bundle]:
    """Partition the groups into bundles of groups that share links."""
    left, bundles = list(groups), []
    while left:
        members, names = [left.pop(0)], set[str]()
        grew = True
        while grew:
            names = {name for group in members for name in group.path or ()}
            joining = [group for group in left if names & set(group.path or ())]
            members += joining
            left = [group for group in left if group not in joining]
            grew = bool(joining)
        ports = [port for name, port in network.ports.items() if name in names]
        bundles.append(_Bundle(members, ports))
    return bundles


def _predict_bundle(network: Network, outcome: Outcome, bundle: _Bundle) -> None:
    members = {group.name for group in bundle.groups}
    for port in bundle.ports:
        strange = [group.name for group in network.crossing(port.name) if group.name not in members]
        if strange:
            outcome.exclude(f"links.{port.name}", f"flows.{', flows.'.join(strange)}, which no model covers, cross it too")
            return
    lossy = [port for port in bundle.ports if port.random_loss]
    if _window_limited(bundle):
        _predict_windows(outcome, bundle)
    elif lossy:
        _predict_random_loss(network, outcome, bundle)
    else:
        predict_saturated(network, outcome, bundle.groups, bundle.ports)


def _window_limited(bundle: _Bundle) -> bool:
    """Whether links and buffers hold the final windows of all flows, so that nothing is ever lost."""
    if any(port.random_loss for port in bundle.ports) or any(group.tcp.final_window is None for group in bundle.groups):
        return False
    for port in bundle.ports:
        if port.buffer is None:
            continue
        crossing = [group for group in bundle.groups if port.name in (group.path or ())]
        windows = sum(group.count * _window(group) for group in crossing)
        # Packets in transit are ignored: nothing is lost whatever the RTTs.
        if windows > port.buffer:
            return False
    return all(_window(group) < 1e6 for group in bundle.groups)


def _window(group: TcpGroup) -> int:
    """The final window of a flow in segments; 0 if its controller does not define one."""
    return group.tcp.final_window or 0


def _predict_windows(outcome: Outcome, bundle: _Bundle) -> None:
    """Window divided by RTT, increased by the queueing delay of the one link that would be overloaded."""
    rates = {group.name: _rates(group, 0.0) for group in bundle.groups}
    over = [port for port in bundle.ports if _load(port, bundle.groups, rates) > 1]
    if len(over) > 1:
        outcome.exclude(f"links.{over[1].name}", f"a second bottleneck in addition to links.{over[0].name}")
        return
    queue_s = _queueing(over[0], bundle.groups) if over else 0.0
    for group in bundle.groups:
        if over and over[0].name in (group.path or ()):
            rates[group.name] = _rates(group, queue_s)
        outcome.flows[group.name]["goodput_bps"][:] = 8 * group.tcp.mss * rates[group.name]
        outcome.flows[group.name]["loss_rate"][:] = 0.0
    for port in bundle.ports:
        outcome.queues[port.name].update(loss_rate=0.0, utilisation=min(1.0, _load(port, bundle.groups, rates)))
    if over:
        packets = queue_s * over[0].capacity_bps / (8 * max(group.tcp.packet_bytes for group in bundle.groups))
        outcome.queues[over[0].name].update(mean_queue_units=packets, mean_wait_s=queue_s)
    at = [*(f"links.{port.name}" for port in bundle.ports), *(f"flows.{group.name}" for group in bundle.groups)]
    simplifies = ["all acknowledgements return without queueing"]
    if any(group.tcp.segments_per_ack > 1 for group in bundle.groups):
        simplifies.append("acknowledgements are not delayed; if they are, a small window carries less")
    outcome.add_model("window over round trip", "RFC 7323, section 1.1; Little 1961 for the queue", at, simplifies)


def _rates(group: TcpGroup, wait_s: float) -> NDArray[np.floating[Any]]:
    """Packets per second of each flow with a queueing delay of `wait_s`. All packets except the last one have the full size."""
    import numpy as np

    limits = (group.sender_access_bps, group.receiver_access_bps, group.tcp.pacing_bps)
    limit = min((rate for rate in limits if rate is not None), default=math.inf) / (8 * group.tcp.packet_bytes)
    return np.minimum(_window(group) / (np.array(group.base_rtts_s) + wait_s), limit)


def _load(port: Port, groups: list[TcpGroup], rates: dict[str, Any]) -> float:
    """Load of the port at these rates."""
    bits = (8 * group.tcp.packet_bytes * rates[group.name].sum() for group in groups if port.name in (group.path or ()))
    return float(sum(bits)) / port.capacity_bps


def _queueing(port: Port, groups: list[TcpGroup]) -> float:
    """The queueing delay, in seconds, at which the total rate of all windows equals the capacity."""
    crossing = [group for group in groups if port.name in (group.path or ())]
    low, high = 0.0, sum(8 * group.tcp.packet_bytes * group.count * _window(group) for group in crossing) / port.capacity_bps
    for _ in range(100):
        middle = (low + high) / 2
        overloaded = _load(port, crossing, {group.name: _rates(group, middle) for group in crossing}) > 1
        low, high = (middle, high) if overloaded else (low, middle)
    return high


def _predict_random_loss(network: Network, outcome: Outcome, bundle: _Bundle) -> None:
    """Padhye's rate at the loss of the route, if no link is close to its capacity."""
    import numpy as np

    rates, losses = {}, {}
    for group in bundle.groups:
        at = f"flows.{group.name}"
        if not group.tcp.halves:
            outcome.exclude(f"{at}.tcp.controller", f"the controller is {group.tcp.controller}, but the model requires Reno")
            return
        kept = math.prod(1 - network.ports[name].random_loss for name in group.path or ())
        if kept in (0.0, 1.0):
            outcome.exclude(at, "loses everything" if kept == 0 else "has no random loss, but flows on shared links do")
            return
        losses[group.name] = 1 - kept
        trips = np.array(group.base_rtts_s)
        rto_s = np.maximum(group.tcp.min_rto_s, trips)
        rates[group.name] = _padhye(models.padhye_rate, group, trips, 1 - kept, rto_s)
        goodput = _padhye(models.padhye_goodput, group, trips, 1 - kept, rto_s)
        outcome.flows[group.name].update(goodput_bps=goodput, loss_rate=np.full(group.count, 1 - kept))
    loads = {port.name: _load(port, bundle.groups, rates) for port in bundle.ports}
    busiest = max(loads, key=lambda name: loads[name])
    if loads[busiest] > QUIET_LOAD:
        why = f"its load under random losses would be {100 * min(loads[busiest], 99):.3g} %; no model covers its queueing delay"
        outcome.exclude(f"links.{busiest}", why)
        for group in bundle.groups:
            outcome.flows[group.name].update({column: np.full(group.count, math.nan) for column in ("goodput_bps", "loss_rate")})
        return
    for port in bundle.ports:
        outcome.queues[port.name].update(utilisation=loads[port.name], loss_rate=port.random_loss)
    of = [f"flows.{group.name}" for group in bundle.groups]
    simplifies = ["a loss implies the loss of the rest of its round", "the first timeout is the minimum, or one RTT"]
    outcome.add_model("Padhye", "Padhye, Firoiu, Towsley and Kurose, 1998 and 2000", of, simplifies)


def _padhye(law: Any, group: TcpGroup, trips: Any, loss: float, rto_s: Any) -> Any:
    """Packets per second for the rate, bit/s of payload for the goodput."""
    rate = law(
        mss_bytes=group.tcp.mss,
        rtt_s=trips,
        loss=loss,
        rto_s=rto_s,
        receiver_window=group.tcp.receiver_window,
        segments_per_ack=group.tcp.segments_per_increase,
    )
    return rate / (8 * group.tcp.mss) if law is models.padhye_rate else rate
