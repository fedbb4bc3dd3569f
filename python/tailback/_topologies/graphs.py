"""Scenarios with a given graph."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from tailback._scenario import Scenario
from tailback._topologies.building import fabric, queue_table, topology_function, without_none
from tailback._types import Flow, Queue
from tailback.errors import ParameterError

__all__ = ["from_networkx"]


@topology_function
def from_networkx(
    graph: Any,
    *,
    rate: str | None = None,
    delay: str | None = None,
    buffer: str | None = None,
    queue: Queue | None = None,
    loss: Mapping[str, Any] | None = None,
    jitter: Mapping[str, Any] | None = None,
    duplication: float | str | None = None,
    flows: int | Mapping[str, Flow] = 1,
    duration: str,
    **rest: Any,
) -> Scenario:
    """The nodes and edges of a NetworkX graph; NetworkX is not required otherwise.

    Nodes keep their names, with ``_`` for characters that are not valid in names. Nodes with ``kind="host"`` are hosts, which
    forward no traffic of others. Edges may have ``rate`` and ``delay`` as text with units; edges of a directed graph are simplex
    links.

    Parameters
    ----------
    graph : networkx.Graph, networkx.DiGraph, networkx.MultiGraph or networkx.MultiDiGraph
    rate, delay : str, optional
        Rate and one-way delay of edges without these attributes.
    buffer, queue
        Buffer of each link in both directions, as in `dumbbell`.
    loss, jitter, duplication
        Impairments of both directions of each link, as in `parking_lot`.
    flows : int or mapping
        As in `fat_tree`, between all nodes.
    duration, **rest
        As in `dumbbell`.

    Raises
    ------
    ParameterError
        Two nodes would have the same name.

    Examples
    --------
    >>> import networkx  # doctest: +SKIP
    >>> import tailback as tb
    >>> ring = networkx.cycle_graph(["a", "b", "c", "d"])  # doctest: +SKIP
    >>> tb.from_networkx(ring, rate="1 Gbps", delay="1 ms", buffer="50 packets", duration="1 s")  # doctest: +SKIP
    Scenario(...)
    """
    names = {node: re.sub(r"[^A-Za-z0-9_-]", "_", str(node)) for node in graph}
    if len(set(names.values())) < len(names):
        twice = next(name for name in names.values() if [*names.values()].count(name) > 1)
        raise ParameterError(
            f"two nodes of the graph would have the name `{twice}`; expected names that differ in letters and digits"
        )
    links = []
    for one, other, given in graph.edges(data=True):
        link = {"from": names[one], "to": names[other], "duplex": not graph.is_directed()}
        link.update({key: given[key] for key in ("rate", "delay") if key in given})
        links.append(link)
    shape: dict[str, Any] = {"links": links, "queue": queue_table(buffer, queue)}
    shape["hosts"] = [names[node] for node, given in graph.nodes(data=True) if given.get("kind") == "host"]
    shape |= without_none(rate=rate, delay=delay, loss=loss, jitter=jitter, duplication=duplication)
    return fabric({"graph": shape}, [names[node] for node in graph if graph.degree(node)], flows, duration, rest)
