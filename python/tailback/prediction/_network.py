"""The network of a scenario in the form that models use: ports, groups, and base RTTs."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal, Self

from tailback._scenario import Scenario
from tailback.errors import UnknownName

__all__ = ["DatagramGroup", "Group", "Network", "Port", "Source", "Tcp", "TcpGroup"]


@dataclass(frozen=True)
class Port:
    """One direction of a link.

    Attributes
    ----------
    name : str
        Path of the port: ``bottleneck``, ``bottleneck.reverse``.
    rate_bps : int
        Rate of one transmitter.
    transmitters : int
    cuts_through : bool
        Whether it forwards a packet when its head has arrived.
    buffer : int or None
        Buffer size in `unit`; None if unlimited.
    unit : str
        ``packets`` (also for cells) or ``bytes``.
    counts_in_service : bool
        Whether the packet in transmission occupies the buffer.
    policy : str
        Name in the scenario; ``user`` for user code.
    random_loss : float
        Probability that a packet is lost.
    listed_drops : int
        Number of packets that the scenario lists as discarded.
    unmodelled : str or None
        Behaviour of the link that no closed form covers: ``has jitter``, ``follows a delivery trace``, ...
    """

    name: str
    rate_bps: int
    transmitters: int
    cuts_through: bool
    buffer: int | None
    unit: Literal["packets", "bytes"]
    counts_in_service: bool
    policy: str
    random_loss: float
    listed_drops: int
    unmodelled: str | None

    @property
    def capacity_bps(self) -> int:
        return self.rate_bps * self.transmitters

    def waiting_places(self) -> int | None:
        """Number of packets that can wait, if the buffer is in packets."""
        if self.buffer is None or self.unit != "packets":
            return None
        return max(0, self.buffer - self.transmitters) if self.counts_in_service else self.buffer


@dataclass(frozen=True)
class Tcp:
    """Settings that the TCP flows of a group have in common; sizes in bytes, windows in segments.

    `controller` and `recovery` are names in the scenario, ``user`` for user code. `pacing_bps` is the rate of a fixed window with
    a rate. `keeps_packets` is the number of packets that each flow keeps in the queue, for controllers that do not drain it;
    `keeps_pps` is the same if it is given as a rate.
    """

    controller: str
    recovery: str
    mss: int
    header: int
    ack_bytes: int
    initial_window: float
    receiver_window: int
    counts_bytes: bool
    segments_per_ack: int
    pacing: bool
    pacing_bps: int | None
    min_rto_s: float
    keeps_packets: float | None
    keeps_pps: float | None

    @property
    def packet_bytes(self) -> int:
        """Size of a full data packet on the wire."""
        return self.mss + self.header

    @property
    def segments_per_increase(self) -> int:
        """Segments per window increase: b of the models; 1 with appropriate byte counting (RFC 3465)."""
        return 1 if self.counts_bytes else self.segments_per_ack

    @property
    def halves(self) -> bool:
        """Whether the window halves at each loss and grows by one segment per RTT, as in the models of TCP."""
        return self.controller == "reno"

    @property
    def final_window(self) -> int | None:
        """The final window of a flow without losses, in whole segments, if its controller defines one."""
        match self.controller:
            case "reno" | "cubic":
                return self.receiver_window
            case "fixed":
                return min(math.floor(self.initial_window), self.receiver_window)
            case _:
                return None


@dataclass(frozen=True)
class Source:
    """The source of the datagrams of each flow of a group.

    `kind` is a name in the scenario. `packet_bytes` is the mean payload and `packets_per_s` the packet rate; both are None for
    user code. `rate_bps` and `mean_idle_s` belong to an alternating source.
    """

    kind: str
    size: Literal["fixed", "exponential", "user"]
    packet_bytes: float | None
    header: int
    packets_per_s: float | None
    rate_bps: int | None
    mean_idle_s: float | None


@dataclass(frozen=True)
class Group:
    """A group of flows. `path` lists ports by name, or is None if the flows' paths differ; access rates are minima over the
    flows.

    `paths` are the paths of the flows, and `path_of_flows` their indices per flow, empty if there is only one path.
    """

    name: str
    count: int
    path: tuple[str, ...] | None
    paths: tuple[tuple[str, ...], ...]
    path_of_flows: list[int]
    base_rtts_s: tuple[float, ...]
    in_cells: bool
    processing: bool
    sender_access_bps: int | None
    receiver_access_bps: int | None
    jitter_s: float
    greedy: bool
    transfers: bool
    starts_s: list[float]
    stops: bool

    @cached_property
    def _flows_by_path(self) -> list[int]:
        if not self.path_of_flows:
            return [self.count]
        found = Counter(self.path_of_flows)
        return [found[place] for place in range(len(self.paths))]

    def count_across(self, port: str) -> int:
        """Number of its flows that cross the port."""
        return sum(count for path, count in zip(self.paths, self._flows_by_path, strict=True) if port in path)

    def across(self, port: str) -> Self:
        """The group reduced to the flows that cross the port."""
        if self.count_across(port) == self.count:
            return self
        crossing = {place for place, path in enumerate(self.paths) if port in path}
        flows = [flow for flow, place in enumerate(self.path_of_flows) if place in crossing]
        return replace(
            self,
            count=len(flows),
            path_of_flows=[self.path_of_flows[flow] for flow in flows],
            base_rtts_s=tuple(self.base_rtts_s[flow] for flow in flows),
            starts_s=[self.starts_s[flow] for flow in flows],
        )


@dataclass(frozen=True)
class TcpGroup(Group):
    """TCP flows. `ways_back` are the paths of their acknowledgements, as ports by name."""

    tcp: Tcp
    ways_back: tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class DatagramGroup(Group):
    """Datagram flows."""

    source: Source

    @property
    def alternates(self) -> bool:
        """Whether its flows alternate between one datagram and an idle time."""
        return self.source.kind == "alternating"


class Network:
    """The network of a scenario, without simulating it; `seed` overrides the scenario's."""

    def __init__(self, scenario: Scenario, seed: int | None = None) -> None:
        text, base_rtts = scenario._outline(seed)
        outline: dict[str, Any] = json.loads(text)
        self.ports = {port["name"]: Port(**port) for port in outline["ports"]}
        names = list(self.ports)
        paths = [tuple(names[port] for port in path) for path in outline["paths"]]
        rtts = iter(memoryview(base_rtts).cast("d"))
        self.groups = [_group(group, paths, tuple(next(rtts) for _ in range(group["count"]))) for group in outline["groups"]]
        self.changes: int = outline["changes"]
        self.duration_s: float = outline["duration_s"]

    @cached_property
    def flows(self) -> Mapping[str, list[Any]]:
        """Columns ``group``, ``flow`` and ``base_rtt_s`` of all flows."""
        return {
            "group": [group.name for group in self.groups for _ in range(group.count)],
            "flow": [flow for group in self.groups for flow in range(group.count)],
            "base_rtt_s": [rtt for group in self.groups for rtt in group.base_rtts_s],
        }

    def port(self, name: str) -> Port:
        if name not in self.ports:
            raise UnknownName("link", name, self.ports)
        return self.ports[name]

    def crossing(self, port: str) -> list[Group]:
        """Groups whose data crosses the port, or may cross it."""
        return [group for group in self.groups if group.path is None or port in group.path]

    def inputs(self, port: str) -> int | None:
        """Number of links at a transmitter's rate that feed the port; None if flows start at the port or the rates differ."""
        feeding: set[str] = set()
        for path in {path for group in self.groups for path in group.paths if port in path}:
            if path.index(port) == 0:
                return None
            feeding.add(path[path.index(port) - 1])
        transmitters = [self.ports[name] for name in feeding]
        if any(link.rate_bps != self.ports[port].rate_bps for link in transmitters):
            return None
        return sum(link.transmitters for link in transmitters)


def _group(group: dict[str, Any], paths: list[tuple[str, ...]], base_rtts_s: tuple[float, ...]) -> Group:
    crossed, back, tcp, source = (group.pop(key) for key in ("paths", "ways_back", "tcp", "source"))
    path = paths[crossed[0]] if len(crossed) == 1 else None
    all_paths = tuple(paths[index] for index in crossed)
    common: dict[str, Any] = {**group, "path": path, "paths": all_paths, "base_rtts_s": base_rtts_s}
    if not tcp:
        return DatagramGroup(**common, source=Source(**source))
    return TcpGroup(**common, tcp=Tcp(**tcp), ways_back=tuple(paths[way] for way in back))
