"""The network of a scenario as a NetworkX graph."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tailback._export.network import Network
from tailback.errors import MissingExtra

if TYPE_CHECKING:
    import networkx

__all__ = ["networkx_graph"]


def networkx_graph(description: dict[str, Any]) -> networkx.MultiDiGraph:
    """A graph with an edge per direction of a link, of an expanded scenario.

    Raises
    ------
    MissingExtra
        NetworkX is not installed.
    """
    try:
        import networkx
    except ImportError:
        raise MissingExtra("a NetworkX graph", "networkx", "networkx") from None
    network = Network(description, [])
    graph = networkx.MultiDiGraph(name=network.name)
    for name, node in description["nodes"].items():
        graph.add_node(name, kind=node["kind"])
    for port in network.ports.values():
        loss = (port.settings.get("loss") or {}).get("probability", 0.0)
        rate, delay = float(port.rate_bps or 0), port.delay_s
        graph.add_edge(
            port.source,
            port.sink,
            key=port.name,
            name=port.name,
            rate=f"{round(rate)} bps",
            delay=f"{round(delay * 1e12)} ps",
            rate_bps=rate,
            delay_s=delay,
            loss=loss,
            buffer=port.queue["buffer"],
            policy=port.queue.get("policy", "drop_tail"),
        )
    return graph
