"""Schedulers with classes as classful qdiscs: tc-prio(8) and tc-drr(8), with filters on the ports of iperf3."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from tailback._export.common import kind_of, number
from tailback._export.network import Network, Omissions, Port
from tailback._export.qdisc import queue_discipline

__all__ = ["class_commands", "port_of_flow"]

# Linux's limit of bands of prio.
_MAX_BANDS = 16

_BY_SHARE = ("drr", "wfq", "start_time_fair")


def port_of_flow(index: int) -> int:
    """The port of a flow's iperf3 server; those of one node differ."""
    return 5201 + index % 60000


def class_commands(network: Network, port: Port, omitted: Omissions) -> list[tuple[str, str]] | None:
    """The objects of tc (`qdisc`, `class` or `filter`) below the rate limiter, with their words; None without such classes."""
    scheduler, classes = port.queue.get("scheduler"), port.queue.get("classes") or []
    kind = kind_of(scheduler)
    if not classes or not (kind in _BY_SHARE or (kind == "strict_priority" and len(classes) <= _MAX_BANDS)):
        return None
    at = f"{port.at}.queue"
    omitted.add(f"{at}.classes", "each class has a buffer of its own instead of a part of the common one")
    if kind in ("wfq", "start_time_fair"):
        omitted.add(f"{at}.scheduler", f"`{kind}` is not a qdisc; deficit round robin with the same shares is used")
    default = next((index for index, each in enumerate(classes) if each["default"]), len(classes) - 1)
    if kind == "strict_priority":
        return [
            ("qdisc", f"parent 3:1 handle 2: prio bands {max(2, len(classes))} priomap {' '.join([str(default)] * 16)}"),
            *_children(port, classes, network.largest_packet(), omitted),
            *_filters(network, port, classes, default),
        ]
    quantum = number(scheduler.get("quantum", "1500 B") if isinstance(scheduler, Mapping) else "1500 B")
    least = min(each["share"] for each in classes)
    shares = [
        ("class", f"parent 2: classid 2:{index + 1:x} drr quantum {round(quantum * each['share'] / least)}")
        for index, each in enumerate(classes)
    ]
    return [
        ("qdisc", "parent 3:1 handle 2: drr"),
        *shares,
        *_children(port, classes, network.largest_packet(), omitted),
        *_filters(network, port, classes, default),
        # Packets without a class, such as ARP, would be discarded.
        ("filter", f"parent 2: protocol all prio 2 u32 match u32 0 0 flowid 2:{default + 1:x}"),
    ]


def _children(port: Port, classes: list[dict[str, Any]], packet: int, omitted: Omissions) -> Iterator[tuple[str, str]]:
    """The queue of each class."""
    for index, each in enumerate(classes):
        own = {**each, "buffer": port.queue["buffer"] if each["buffer"] == "unlimited" else each["buffer"]}
        for key in ("bdp_rtt", "bdp_packet_size"):
            own.setdefault(key, port.queue.get(key))
        words = queue_discipline(replace(port, queue=own), packet, omitted)
        yield "qdisc", f"parent 2:{index + 1:x} handle {16 + index:x}: {words}"


def _filters(network: Network, port: Port, classes: list[dict[str, Any]], default: int) -> Iterator[tuple[str, str]]:
    places = {each["name"]: index for index, each in enumerate(classes)}
    for index, flow in enumerate(network.flows):
        place = places.get(flow.settings.get("class") or "", default)
        for names, word in ((flow.forward, "dport"), (flow.backward, "sport")):
            if port.name in names and place != default:
                match = f"match ip {word} {port_of_flow(index)} 0xffff"
                yield "filter", f"parent 2: protocol ip prio 1 u32 {match} flowid 2:{place + 1:x}"
