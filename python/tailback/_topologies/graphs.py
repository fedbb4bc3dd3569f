"""Scenarios with a given graph."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from math import asin, cos, isfinite, radians, sin, sqrt
from numbers import Real
from typing import Any

from tailback import _core
from tailback._scenario import Scenario
from tailback._topologies.building import fabric, queue_table, topology_function, without_none
from tailback._types import Flow, Queue
from tailback.errors import ParameterError, ScenarioWarning, UnknownName, warn

__all__ = ["from_networkx"]

# The mean radius of the Earth, in kilometres (IUGG).
_EARTH_KM = 6371.0088


@topology_function
def from_networkx(
    graph: Any,
    *,
    rate: str | None = None,
    delay: str | None = None,
    buffer: str | None = None,
    queue: Queue | None = None,
    name_attribute: str | None = None,
    distance_attribute: str | None = None,
    delay_per_km: str | None = None,
    demands: str | Mapping[Any, Any] | None = None,
    demand_unit: str | None = None,
    loss: Mapping[str, Any] | None = None,
    jitter: Mapping[str, Any] | None = None,
    duplication: float | str | None = None,
    flows: int | Mapping[str, Flow] = 1,
    duration: str,
    **rest: Any,
) -> Scenario:
    """The nodes and edges of a NetworkX graph; NetworkX is not required otherwise.

    Nodes keep their names, with ``_`` for characters that are not valid in names. Nodes with ``kind="host"`` are hosts, which
    forward no traffic of others. Edges may have ``rate`` and ``delay`` as text with units, or ``LinkSpeedRaw`` in bit/s as in the
    Topology Zoo; edges of a directed graph are simplex links. Edges from a node to itself are left out, with a `ScenarioWarning`.

    Parameters
    ----------
    graph : networkx.Graph, networkx.DiGraph, networkx.MultiGraph or networkx.MultiDiGraph
    rate, delay : str, optional
        Rate and one-way delay of edges without these attributes.
    buffer, queue
        Buffer of each link in both directions, as in `dumbbell`.
    name_attribute : str, optional
        Node attribute for the names, such as ``"label"`` of the Topology Zoo; further nodes of a name get ``_2`` and so on.
    distance_attribute : str, optional
        Edge attribute with the length in kilometres, such as ``"dist"`` of TopoHub, for edges without a delay.
    delay_per_km : str, optional
        Delay per kilometre; with `distance_attribute` by default ``"4.9 us"``, of light in fibre. Without it, of the great-circle
        distance of nodes with the attributes ``Latitude`` and ``Longitude`` in degrees.
    demands : str or mapping, optional
        Traffic matrix of flow groups without their own traffic: demands by source and sink (``{source: {sink: 3.5}}`` or
        ``{(source, sink): 3.5}``), or the graph attribute that has them (``"demands"`` of TopoHub and its SNDlib networks).
    demand_unit : str, optional
        Unit of demands, such as ``"Mbps"``, to which ``arrivals={"load": ...}`` then refers. Default: demands are only relative.
    loss, jitter, duplication
        Impairments of both directions of each link, as in `parking_lot`.
    flows : int or mapping
        As in `fat_tree`, between all nodes, or by `demands`.
    duration, **rest
        As in `dumbbell`.

    Raises
    ------
    ParameterError
        Two nodes would have the same name, or a rate, distance or demand is not a number.
    UnknownName
        No edge has `distance_attribute`, no node `name_attribute`, or the graph has no such demands.

    Examples
    --------
    >>> import networkx  # doctest: +SKIP
    >>> import tailback as tb
    >>> ring = networkx.cycle_graph(["a", "b", "c", "d"])  # doctest: +SKIP
    >>> tb.from_networkx(ring, rate="1 Gbps", delay="1 ms", buffer="50 packets", duration="1 s")  # doctest: +SKIP
    Scenario(...)
    """
    names = _names(graph, name_attribute)
    per_km = _seconds(delay_per_km or ("4.9 us" if distance_attribute else None))
    edges = list(graph.edges(data=True))
    if distance_attribute is not None and not any(distance_attribute in given for _, _, given in edges):
        raise UnknownName("attribute of edges", distance_attribute, sorted({key for _, _, given in edges for key in given}))
    links, loops = [], 0
    places = dict(graph.nodes(data=True)) if per_km is not None and distance_attribute is None else {}
    for one, other, given in edges:
        if one == other:
            loops += 1
            continue
        link = {"from": names[one], "to": names[other], "duplex": not graph.is_directed()}
        link.update({key: given[key] for key in ("rate", "delay") if key in given})
        if "rate" not in given and "LinkSpeedRaw" in given:
            link["rate"] = f"{round(_number(given['LinkSpeedRaw'], 'LinkSpeedRaw'))} bps"
        if "delay" not in given and per_km is not None:
            km = given.get(distance_attribute) if distance_attribute else _great_circle(places[one], places[other])
            if km is not None:
                link["delay"] = f"{round(_number(km, distance_attribute or '') * per_km * 1e9)} ns"
        links.append(link)
    if loops:
        _warn_of_loops(loops)
    shape: dict[str, Any] = {"links": links, "queue": queue_table(buffer, queue)}
    shape["hosts"] = [names[node] for node, given in graph.nodes(data=True) if given.get("kind") == "host"]
    shape |= without_none(rate=rate, delay=delay, loss=loss, jitter=jitter, duplication=duplication)
    matrix = None if demands is None else _matrix(graph, demands, demand_unit, names)
    return fabric({"graph": shape}, [names[node] for node in graph if graph.degree(node)], flows, duration, rest, matrix)


def _names(graph: Any, attribute: str | None) -> dict[Any, str]:
    """Valid names of the nodes."""
    if attribute is None:
        names = {node: _plain(node) for node in graph}
        if len(set(names.values())) < len(names):
            twice = next(name for name in names.values() if [*names.values()].count(name) > 1)
            raise ParameterError(
                f"two nodes of the graph would have the name `{twice}`; expected names that differ in letters and digits"
            )
        return names
    given = dict(graph.nodes(data=True))
    if not any(attribute in attributes for attributes in given.values()):
        raise UnknownName("attribute of nodes", attribute, sorted({key for attributes in given.values() for key in attributes}))
    wanted = {node: _plain(given[node].get(attribute) or node) for node in graph}
    all_wanted, taken, names = set(wanted.values()), set[str](), {}
    for node, name in wanted.items():
        number = 2
        while name in taken:
            other = f"{wanted[node]}_{number}"
            name, number = (name if other in all_wanted else other), number + 1
        taken.add(name)
        names[node] = name
    return names


def _plain(name: Any) -> str:
    return re.sub(r"[^A-Za-z0-9_-]", "_", str(name))


def _great_circle(one: Mapping[str, Any], other: Mapping[str, Any]) -> float | None:
    """The distance in kilometres by the haversine formula; None if a node has no coordinates."""
    degrees = [node.get(key) for node in (one, other) for key in ("Latitude", "Longitude")]
    known = [radians(float(angle)) for angle in degrees if isinstance(angle, Real)]
    if len(known) < len(degrees):
        return None
    latitude, longitude, to_latitude, to_longitude = known
    half = sin((to_latitude - latitude) / 2) ** 2
    half += cos(latitude) * cos(to_latitude) * sin((to_longitude - longitude) / 2) ** 2
    return 2 * _EARTH_KM * asin(min(1.0, sqrt(half)))


def _matrix(graph: Any, demands: str | Mapping[Any, Any], unit: str | None, names: Mapping[Any, str]) -> dict[str, Any]:
    """A traffic matrix of the scenario."""
    if isinstance(demands, str):
        if demands not in graph.graph:
            raise UnknownName("attribute of the graph", demands, sorted(map(str, graph.graph)))
        demands = graph.graph[demands]
    if not isinstance(demands, Mapping):
        raise ParameterError(f"`demands` is {demands!r}; expected a mapping, or the name of an attribute of the graph")
    # JSON has text as keys.
    known = {**{str(node): name for node, name in names.items()}, **names}
    columns: dict[str, list[Any]] = {"source": [], "sink": [], "demand": []}
    for source, row in demands.items():
        pairs = row.items() if isinstance(row, Mapping) else [(source, row)]
        for sink, value in pairs:
            ends = (source, sink) if isinstance(row, Mapping) else source
            if not isinstance(ends, tuple) or len(ends) != 2:
                raise ParameterError(
                    f"`demands` has the key {ends!r}; expected a pair of nodes, or a mapping from sinks to demands"
                )
            for column, node in zip(("source", "sink"), ends, strict=True):
                if node not in known:
                    raise UnknownName("node of `demands`", node, known.values())
                columns[column].append(known[node])
            number = _number(value, "demands")
            columns["demand"].append(number if unit is None else f"{number:.12g} {unit}")
    return {"table": columns}


def _number(value: Any, name: str) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = float("nan")
    if not isfinite(number) or number < 0:
        raise ParameterError(f"`{name}` is {value!r} at one place; expected a number of at least 0")
    return number


def _seconds(text: str | None) -> float | None:
    if text is None:
        return None
    found = _core.in_column_units(text)
    if found is None or found[1] != "s":
        raise ParameterError(f"`delay_per_km` is {text!r}; expected a time such as `4.9 us`")
    return found[0]


def _warn_of_loops(loops: int) -> None:
    message, given, expected = "the graph has edges from a node to itself, which are left out", f"{loops} such edges", "two nodes"
    problem = {"at": "topology.graph", "message": message, "given": given, "expected": f"edges between {expected}"}
    warn(ScenarioWarning(json.dumps(problem), f"{message} ({given})"))
