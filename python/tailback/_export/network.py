"""The network of a scenario as exports see it: directed links, flows with their paths, and the parts that a target omits."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from tailback import _core

__all__ = ["Change", "Flow", "Network", "Omissions", "Port", "Quantity", "buffer_of", "host_routes", "quantity", "seconds"]

Quantity = tuple[float, str]


class Omissions(list[tuple[str, str]]):
    """Places in the scenario that a target does not express, with the reason; each pair once.

    `remarks` has those that do not change the network or its flows.
    """

    def __init__(self) -> None:
        super().__init__()
        self.remarks: list[tuple[str, str]] = []

    def add(self, at: str, reason: str) -> None:
        if (at, reason) not in self:
            self.append((at, reason))


_UNLIMITED = {"policy": "drop_tail", "buffer": "unlimited"}
# The queue of a sender in front of its access link.
_INTERFACE = {"policy": "drop_tail", "buffer": "1000 packets"}


@dataclass(frozen=True)
class Port:
    """One direction of a link.

    `rate_bps` is the rate of all transmitters, or the mean of a trace or table; None: no serialisation. `settings` is the table
    of the link, or its reverse table. `table` has the columns of a table of rates, or is empty. While a rate is 0, `is_out` is
    true, and `rate_bps` is the rate before. Buffers in percent or as a time are relative to `buffer_bps`, the first or mean rate,
    also after changes.
    """

    name: str
    source: str
    sink: str
    rate_bps: float | None
    delay_s: float
    queue: Mapping[str, Any]
    settings: Mapping[str, Any]
    at: str
    opportunities: tuple[tuple[int, int], ...] = ()
    table: Mapping[str, Any] = field(default_factory=dict)
    transmitters: int = 1
    is_down: bool = False
    is_out: bool = False
    buffer_bps: float = 0.0

    @property
    def is_interface(self) -> bool:
        """Whether the queue is that of a host's interface, which the scenario does not describe: it has no sizes of packets."""
        return self.queue.get("bdp_packet_size", "") == "0 B" or self.queue is _INTERFACE


@dataclass(frozen=True)
class Change:
    """The state of a port before and after a change."""

    at_s: float
    before: Port
    after: Port


@dataclass(frozen=True)
class Flow:
    """A flow. `forward` and `backward` are the names of ports."""

    group: str
    index: int
    source: str
    sink: str
    forward: tuple[str, ...]
    backward: tuple[str, ...]
    start_s: float
    stop_s: float | None
    size_bytes: int | None
    settings: Mapping[str, Any] = field(repr=False)

    @property
    def name(self) -> str:
        return f"{self.group}[{self.index}]"

    @property
    def ports(self) -> tuple[str, ...]:
        return self.forward + self.backward

    @property
    def packet_bytes(self) -> int | None:
        """A full data packet with its headers of IP and of TCP or UDP; None if the size is not one number."""
        tcp, size = self.settings.get("tcp") or {}, (self.settings.get("source") or {}).get("packet_size")
        if isinstance(size, str):
            return round(quantity(size)[0])
        return round(quantity(tcp["mss"])[0] + (52 if tcp["timestamps"] else 40)) if "timestamps" in tcp else None

    def window_s(self, duration_s: float) -> float:
        """The time in which the flow may send."""
        return min(duration_s, duration_s if self.stop_s is None else self.stop_s) - self.start_s


class Network:
    """An expanded scenario: `description` has no topology, and `flows` are those of `_core.described_flows`.

    A private access link of a flow becomes a node of its own and a link, since no target has such links.
    """

    def __init__(self, description: Mapping[str, Any], flows: list[dict[str, Any]]) -> None:
        self.name = str(description["name"] or "scenario")
        self.seed = int(description["seed"])
        self.duration_s = seconds(description["duration"])
        self.warmup_s = seconds(description["warmup"])
        self.nodes = list(description["nodes"])
        self.ports = {port.name: port for name, link in description["links"].items() for port in _ports(name, link)}
        self.groups: dict[str, dict[str, Any]] = description["flows"]
        counted: dict[str, int] = dict.fromkeys(self.groups, 0)
        for name in {name for flow in flows for name in flow["forward"]}:
            port = self.ports[name]
            # A reverse link that data cross has the queue of its link, unless it has its own.
            if name.endswith(".reverse") and "queue" not in port.settings:
                self.ports[name] = replace(port, queue=self.ports[name.removesuffix(".reverse")].queue)
        self.flows = []
        for flow in flows:
            index = counted[flow["group"]]
            counted[flow["group"]] += 1
            self.flows.append(self._flow(flow, index))
        self.changes: list[Change] = []

    def largest_packet(self) -> int:
        """In bytes, at least 1500: of all flows."""
        return max([1500, *(flow.packet_bytes or 0 for flow in self.flows)])

    def reverse(self, port: Port) -> Port | None:
        """The other direction of a link."""
        name = port.name
        return self.ports.get(name.removesuffix(".reverse") if name.endswith(".reverse") else f"{name}.reverse")

    def links(self) -> list[tuple[Port, Port | None]]:
        """Both directions of each link."""
        return [(port, self.reverse(port)) for port in self.ports.values() if not port.name.endswith(".reverse")]

    def both(self, port: Port, omitted: Omissions) -> Port:
        """The other direction of a link, for targets whose links have two; a link with one gets an ideal one."""
        if reverse := self.reverse(port):
            return reverse
        omitted.add(port.at, "gets a second direction with the same rate and delay, without losses and with an unlimited buffer")
        return replace(port, queue=_UNLIMITED, settings={}, opportunities=(), table={}, is_down=False, is_out=False)

    def _flow(self, flow: dict[str, Any], index: int) -> Flow:
        source, sink = flow["source"], flow["sink"]
        forward, backward = flow["forward"], flow["backward"]
        settings = self.groups[flow["group"]]
        if _is_link(flow["sender_access"]):
            source, link = self._access(flow["sender_access"], f"{flow['group']}-{index}", source)
            forward, backward = [link, *forward], [*backward, f"{link}.reverse"]
        if _is_link(flow["receiver_access"]):
            sink, link = self._access(flow["receiver_access"], f"{flow['group']}-{index}-sink", sink)
            forward, backward = [*forward, f"{link}.reverse"], [link, *backward]
        times = flow["start_s"], flow["stop_s"], flow["size_bytes"]
        return Flow(flow["group"], index, source, sink, tuple(forward), tuple(backward), *times, settings)

    def _access(self, access: Mapping[str, Any], name: str, at: str) -> tuple[str, str]:
        """A node behind a private link, and the name of this link."""
        while name in self.nodes or f"{name}-access" in self.ports:
            name += "_"
        self.nodes.append(name)
        link = f"{name}-access"
        for title, source, sink, queue in ((link, name, at, _INTERFACE), (f"{link}.reverse", at, name, _UNLIMITED)):
            self.ports[title] = Port(title, source, sink, access["rate_bps"], access["delay_s"], queue, {}, f"flows.{name}")
        return name, link


def _is_link(access: Mapping[str, Any]) -> bool:
    return access["rate_bps"] is not None or access["delay_s"] > 0


def _ports(name: str, link: Mapping[str, Any]) -> Iterator[Port]:
    yield _port(name, link["from"], link["to"], link, link, f"links.{name}")
    if link["duplex"]:
        reverse = link.get("reverse") or {}
        yield _port(f"{name}.reverse", link["to"], link["from"], link, reverse, f"links.{name}.reverse")


def _port(name: str, source: str, sink: str, link: Mapping[str, Any], own: Mapping[str, Any], at: str) -> Port:
    rate, delay = own.get("rate", link["rate"]), own.get("delay", link["delay"])
    trace: tuple[tuple[int, int], ...] = ()
    table = rate.get("table") if isinstance(rate, dict) else None
    if table:
        mean = _mean(table)
    elif isinstance(rate, dict):
        trace = tuple((at, count) for at, count in rate["opportunities"])
        # An opportunity sends 1500 bytes; the trace repeats after its last millisecond.
        mean = 12e6 * sum(count for _, count in trace) / trace[-1][0]
    else:
        mean = quantity(rate)[0]
    transmitters = link["transmitters"]
    return Port(
        name,
        source,
        sink,
        mean * transmitters,
        seconds(delay),
        own.get("queue", _UNLIMITED),
        own,
        at,
        trace,
        table or {},
        transmitters,
        buffer_bps=mean * transmitters,
    )


def _mean(table: Mapping[str, Any]) -> float:
    """The mean rate of a table, whose last row lasts as long as the one before it."""
    at = [seconds(time) for time in table["at"]]
    ends = [*at[1:], 2 * at[-1] - at[-2]]
    return sum(quantity(rate)[0] * (end - begin) for rate, begin, end in zip(table["rate"], at, ends, strict=True)) / ends[-1]


def seconds(text: str) -> float:
    """A duration in seconds."""
    return quantity(text)[0]


def quantity(text: str) -> Quantity:
    found = _core.in_column_units(text)
    if found is None:
        raise ValueError(f"`{text}` of a normalised scenario is not a quantity")
    return found


def buffer_of(port: Port) -> Quantity | None:
    """The buffer in packets, bytes or cells; None if it is unlimited."""
    written = port.queue["buffer"]
    if written == "unlimited":
        return None
    size, unit = quantity(written)
    if unit not in ("percent", "s"):
        return size, unit
    if unit == "percent":
        length = size / 100 * port.buffer_bps / 8 * seconds(port.queue["bdp_rtt"])
    else:
        length = size * port.buffer_bps / 8
        # A buffer as a time has bytes, unless the thresholds of its policy count packets.
        keys = ("min_threshold", "max_threshold", "threshold", *(["target"] if port.queue.get("policy") == "rem" else []))
        units = {quantity(port.queue[key])[1] for key in keys if key in port.queue}
        if not units or "bytes" in units:
            return float(round(length)), "bytes"
    return float(round(length / quantity(port.queue["bdp_packet_size"])[0])), "packets"


def host_routes(network: Network, omitted: Omissions) -> dict[tuple[str, str], Port]:
    """The next port from each node to the ends of flows, by node and end.

    Routes depend on the destination only: where flows differ, the first one counts.
    """
    routes: dict[tuple[str, str], Port] = {}
    for flow in network.flows:
        for path, end in ((flow.forward, flow.sink), (flow.backward, flow.source)):
            for port in (network.ports[name] for name in path):
                if routes.setdefault((port.source, end), port) is not port:
                    omitted.add(
                        f"flows.{flow.group}",
                        f"routes depend on the destination only, and all flows to `{end}` use the first route",
                    )
    return routes
