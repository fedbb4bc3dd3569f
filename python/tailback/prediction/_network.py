"""The network of a scenario as models see it, in the scenario's words: ports, groups, and round trips before anything is sent."""

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
        As a path has it: ``bottleneck``, ``bottleneck.reverse``.
    rate_bps : int
        Of one transmitter.
    transmitters : int
    cuts_through : bool
        Whether it decides on a packet's head.
    buffer : int or None
        In `unit`; None where there is room for everything.
    unit : str
        ``packets`` (also where they are cells) or ``bytes``.
    counts_in_service : bool
        Whether the packet being sent holds a place.
    policy : str
        As the scenario writes it; ``user`` of user code.
    random_loss : float
        Probability that a packet is lost.
    listed_drops : int
        How many packets the scenario lists to be discarded.
    unmodelled : str or None
        What the link does that is in no closed form: ``has jitter``, ``follows a delivery trace``, ...
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
        """Packets that can wait, where the buffer is counted in packets."""
        if self.buffer is None or self.unit != "packets":
            return None
        return max(0, self.buffer - self.transmitters) if self.counts_in_service else self.buffer


@dataclass(frozen=True)
class Tcp:
    """What the TCP flows of a group have in common; sizes in bytes, windows in segments.

    `controller` and `recovery` are words of the scenario, ``user`` of user code; `pacing_bps` is the rate of a fixed window that
    has one; `keeps_packets` what each flow keeps in the queue, of laws that do without draining it, `keeps_pps` the same where it
    is given as a rate.
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
        """A full data packet on the wire."""
        return self.mss + self.header

    @property
    def segments_per_increase(self) -> int:
        """Segments that open the window as one does: b of the models, 1 where what is acknowledged is counted (RFC 3465)."""
        return 1 if self.counts_bytes else self.segments_per_ack

    @property
    def halves(self) -> bool:
        """Whether the window falls by half for each loss and grows by a segment a round trip, as the models of TCP have it."""
        return self.controller == "reno"

    @property
    def final_window(self) -> int | None:
        """The window in whole segments that a flow ends at if nothing is ever lost, where its controller leaves no doubt."""
        match self.controller:
            case "reno" | "cubic":
                return self.receiver_window
            case "fixed":
                return min(math.floor(self.initial_window), self.receiver_window)
            case _:
                return None


@dataclass(frozen=True)
class Source:
    """What sends the datagrams of each flow of a group.

    `kind` is a word of the scenario; `packet_bytes` is the mean payload, `packets_per_s` how many there are, both None of user
    code; `rate_bps` and `mean_idle_s` are those of an alternating source.
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
    """Flows of one kind. `path` is ports by name, None where its flows differ; access rates are the least of its flows.

    `paths` are those of its flows, and `path_of_flows` the place there of each flow's, empty where there is but one.
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
        """How many of its flows cross the port."""
        return sum(count for path, count in zip(self.paths, self._flows_by_path, strict=True) if port in path)

    def across(self, port: str) -> Self:
        """The same of those flows only that cross the port."""
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
    """Flows of TCP. `ways_back` are those of their acknowledgements, as ports by name."""

    tcp: Tcp
    ways_back: tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class DatagramGroup(Group):
    """Flows of datagrams."""

    source: Source

    @property
    def alternates(self) -> bool:
        """Whether its flows send a datagram, are idle, and so on."""
        return self.source.kind == "alternating"


class Network:
    """What a scenario describes. Nothing is simulated; `seed`, if given, replaces the scenario's own."""

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
        """Groups whose data crosses the port, or may."""
        return [group for group in self.groups if group.path is None or port in group.path]

    def inputs(self, port: str) -> int | None:
        """Links that feed the port one transmitter's rate each; None where flows come over links of their own instead."""
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
