"""The network of a scenario as models see it: ports, groups, and the round trips of the flows before anything is sent."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from tailback import _core
from tailback._scenario import Scenario
from tailback.errors import UnknownName

__all__ = ["Group", "Network", "Port"]


@dataclass(frozen=True)
class Port:
    """One direction of a link.

    `buffer` is in `unit` (``packets``, ``bytes``), or None where there is room for everything; `switching` is
    ``store_and_forward`` or ``cut_through``.
    """

    name: str
    rate_bps: float
    transmitters: int
    switching: str
    buffer: int | None
    unit: str
    counts_in_service: bool
    policy: str
    random_loss: float
    listed_drops: int

    @property
    def capacity_bps(self) -> float:
        return self.rate_bps * self.transmitters

    def waiting_places(self) -> int | None:
        """Packets that can wait, where the buffer is counted in packets."""
        if self.buffer is None or self.unit != "packets":
            return None
        return max(0, self.buffer - self.transmitters) if self.counts_in_service else self.buffer


@dataclass(frozen=True)
class Group:
    """Flows of one kind; `path` and `way_back` are ports by name, None where flows of the group differ."""

    name: str
    count: int
    path: tuple[str, ...] | None
    way_back: tuple[str, ...] | None
    kind: str
    settings: dict[str, Any]
    controller: str
    in_cells: bool
    processing: bool
    sender_access_bps: float | None
    receiver_access_bps: float | None
    jitter_s: float
    greedy: bool
    stops: bool
    last_start_s: float

    @property
    def is_tcp(self) -> bool:
        return self.kind == "tcp"

    @property
    def alternates(self) -> bool:
        """Whether its flows send a datagram, are idle, and so on."""
        return not self.is_tcp and "Alternating" in self.settings["arrivals"]

    @property
    def packet_bytes(self) -> int:
        """A full TCP data packet on the wire."""
        return int(self.settings["mss"] + self.settings["header"])

    @property
    def segments_per_ack(self) -> int:
        delayed = self.settings["delayed_ack"]
        return int(delayed["every"]) if delayed else 1


class Network:
    """What a scenario describes, built but not run."""

    def __init__(self, scenario: Scenario, seed: int | None = None) -> None:
        self.scenario, self._seed = scenario, seed
        outline = json.loads(_core.outline(*scenario._source()))
        self.ports = {port["name"]: _port(port) for port in outline["ports"]}
        names = list(self.ports)
        paths = [tuple(names[port] for port in path) for path in outline["paths"]]
        self.groups = [_group(group, paths) for group in outline["groups"]]
        self.changes: int = outline["changes"]

    @cached_property
    def flows(self) -> Mapping[str, Any]:
        """Columns ``group``, ``flow`` and ``base_rtt_s`` of all flows."""
        tables = dict(self.scenario._simulation(self._seed).results().tables)
        flows = tables["flows"]
        return {name: flows.values(name) for name in ("group", "flow", "base_rtt_s")}

    def base_rtts(self, group: str) -> list[float]:
        """Of each flow of the group, seconds, serialisation included and queueing not."""
        return [rtt for name, rtt in zip(self.flows["group"], self.flows["base_rtt_s"], strict=True) if name == group]

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
        for group in self.crossing(port):
            if group.path is None or group.path.index(port) == 0:
                return None
            feeding.add(group.path[group.path.index(port) - 1])
        transmitters = [self.ports[name] for name in feeding]
        if any(link.rate_bps != self.ports[port].rate_bps for link in transmitters):
            return None
        return sum(link.transmitters for link in transmitters)


def _port(port: dict[str, Any]) -> Port:
    buffer, unit = port.pop("buffer"), "packets"
    if isinstance(buffer, dict):
        [(word, buffer)] = buffer.items()
        unit = "bytes" if word == "Bytes" else "packets"
    else:
        buffer = None
    policy, switching = port.pop("policy"), port.pop("switching")
    port.pop("delay_s")
    return Port(**port, buffer=buffer, unit=unit, policy=_snake(_variant(policy)[0]), switching=_snake(switching))


def _group(group: dict[str, Any], paths: list[tuple[str, ...]]) -> Group:
    def only(indices: list[int]) -> tuple[str, ...] | None:
        return paths[indices[0]] if len(indices) == 1 else None

    path, way_back = only(group.pop("paths")), only(group.pop("ways_back"))
    kind, settings = _variant(group.pop("transport"))
    controller = ""
    if kind == "Tcp":
        settings, law = settings
        controller = _snake(_variant(law)[0])
    return Group(**group, path=path, way_back=way_back, kind=_snake(kind), settings=settings, controller=controller)


def _variant(value: Any) -> tuple[str, Any]:
    """A variant as the core writes it: its name, or its name and what it holds."""
    if isinstance(value, str):
        return value, None
    [(name, inner)] = value.items()
    return name, inner


def _snake(name: str) -> str:
    """``DropTail`` as ``drop_tail``."""
    return "".join(f"_{letter.lower()}" if letter.isupper() and place else letter.lower() for place, letter in enumerate(name))
