"""Scenarios with common topologies. Each function fills in a plain dictionary, which `Scenario.to_dict` shows."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ParamSpec

from tailback import _core
from tailback._scenario import Scenario, schema
from tailback._types import Flow, Queue, Reverse
from tailback.errors import ParameterError

__all__ = [
    "chain",
    "dragonfly",
    "dumbbell",
    "dwdm",
    "fat_tree",
    "from_networkx",
    "leaf_spine",
    "parking_lot",
    "random_regular",
    "torus",
    "waxman",
]

P = ParamSpec("P")


def _arguments_checked(function: Callable[P, Scenario]) -> Callable[P, Scenario]:
    """A function that reports unknown keyword arguments, with the nearest valid name, before missing ones."""
    code = function.__code__
    own = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]

    @functools.wraps(function)
    def checked(*arguments: P.args, **keywords: P.kwargs) -> Scenario:
        if others := [name for name in keywords if name not in own]:
            known = list(dict.fromkeys([*own, *_tables(), "traces"]))
            problems: list[tuple[str, str, str | None, str | None, str | None]] = []
            for name in others:
                if name not in known:
                    near = _core.nearest_word(name, known)
                    expected = "one of " + ", ".join(f"`{word}`" for word in known)
                    hint = near and f"did you mean `{near}`?"
                    problems.append((name, f"`{function.__name__}()` has no argument `{name}`", None, expected, hint))
            if problems:
                raise _core.argument_errors(problems)
        return function(*arguments, **keywords)

    return checked


@functools.cache
def _tables() -> tuple[str, ...]:
    """The keys of a scenario that a topology function does not set itself."""
    return tuple(key for key in schema()["properties"] if key != "topology")


@_arguments_checked
def dumbbell(
    *,
    rate: str | Mapping[str, Any],
    delay: str,
    buffer: str | None = None,
    queue: Queue | None = None,
    reverse: Reverse | None = None,
    loss: Mapping[str, Any] | None = None,
    jitter: Mapping[str, Any] | None = None,
    duplication: float | str | None = None,
    flows: int | Mapping[str, Flow] = 1,
    duration: str,
    **rest: Any,
) -> Scenario:
    """A dumbbell: hosts ``left`` and ``right``, connected by the link ``bottleneck``.

    Parameters
    ----------
    rate : str or mapping
        Rate of the bottleneck: ``"10 Mbps"``, or its delivery opportunities, ``{"trace": "cell.trace"}`` or
        ``{"opportunities": [[1, 2], [4, 1]]}``.
    delay : str
        One-way propagation delay of the bottleneck: ``"10 ms"``.
    buffer : str, optional
        Buffer size of a drop-tail queue: ``"100 packets"`` or ``"150 kB"``.
    queue : mapping, optional
        The complete queue instead of `buffer`, for example ``{"policy": "drop_tail", "buffer": "100 packets"}``.
    reverse : mapping, optional
        Differences of the reverse direction, for example ``{"rate": "1 Mbps", "queue": {"buffer": "50 packets"}}``. By default it
        has the same rate, and its queue is unlimited.
    loss, jitter : mapping, optional
        Random loss of the bottleneck, for example ``{"probability": 0.01}``, and variation of its delay, for example
        ``{"delay": {"exponential": "2 ms"}, "reordering": True}``.
    duplication : float or str, optional
        Probability that a packet that is not lost arrives twice.
    flows : int or mapping
        Number of greedy NewReno flows in a group ``tcp``; or flow groups as in a scenario file, by default from ``left`` to
        ``right``.
    duration : str
        Simulated time: ``"60 s"``.
    **rest
        Other tables and values of a scenario: ``warmup="10 s"``, ``seed=7``, ``record={...}``.
    traces : list of str, optional
        Shorthand for ``record={"traces": [...]}``.

    Examples
    --------
    >>> import tailback as tb
    >>> scenario = tb.dumbbell(
    ...     rate="10 Mbps", delay="10 ms", buffer="20 packets", duration="60 s", warmup="10 s",
    ...     flows={"web": {"count": 10, "propagation_rtt": {"uniform": ["40 ms", "120 ms"]}, "tcp": {"preset": "sack"}}},
    ... )
    >>> scenario["flows.web.to"]
    'right'
    """
    shape = {"rate": rate, "delay": delay, "queue": _queue(buffer, queue)}
    shape |= _given(reverse=reverse, loss=loss, jitter=jitter, duplication=duplication)
    return _scenario({"dumbbell": shape}, flows, ("left", "right"), duration, rest)


@_arguments_checked
def parking_lot(
    *,
    hops: int,
    rate: str | Mapping[str, Any],
    delay: str,
    buffer: str | None = None,
    queue: Queue | None = None,
    loss: Mapping[str, Any] | None = None,
    jitter: Mapping[str, Any] | None = None,
    duplication: float | str | None = None,
    flows: int | Mapping[str, Flow] = 1,
    duration: str,
    **rest: Any,
) -> Scenario:
    """A parking lot: equal links in a row, with nodes ``n0`` to ``n{hops}`` and links ``hop1`` to ``hop{hops}``.

    Parameters as in `dumbbell`. `loss`, `jitter` and `duplication` apply to the forward direction of each link, and `loss` may
    not list drops. Flows run from ``n0`` to the last node by default.

    Examples
    --------
    >>> import tailback as tb
    >>> scenario = tb.parking_lot(
    ...     hops=2, rate="10 Mbps", delay="5 ms", buffer="20 packets", duration="20 s",
    ...     flows={"long": {"tcp": {"preset": "newreno"}}, "short": {"from": "n1", "to": "n2", "tcp": {"preset": "newreno"}}},
    ... )
    >>> tb.simulate(scenario).groups.to_dict()["group"]
    ['long', 'short']
    """
    shape = {"hops": hops, "rate": rate, "delay": delay, "queue": _queue(buffer, queue)}
    shape |= _given(loss=loss, jitter=jitter, duplication=duplication)
    return _scenario({"parking_lot": shape}, flows, ("n0", f"n{hops}"), duration, rest)


@_arguments_checked
def chain(
    *,
    rates: Sequence[str | Mapping[str, Any]],
    delays: Sequence[str],
    buffer: str | None = None,
    queue: Queue | None = None,
    loss: Mapping[str, Any] | None = None,
    jitter: Mapping[str, Any] | None = None,
    duplication: float | str | None = None,
    flows: int | Mapping[str, Flow] = 1,
    duration: str,
    **rest: Any,
) -> Scenario:
    """A chain of links with individual rates and delays: nodes ``n0``, ``n1``, ..., links ``link1``, ``link2``, ...

    Parameters as in `parking_lot`.

    Examples
    --------
    >>> import tailback as tb
    >>> scenario = tb.chain(rates=["10 Mbps", "5 Mbps"], delays=["1 ms", "9 ms"], buffer="20 packets", duration="20 s")
    >>> tb.simulate(scenario).queues.to_dict()["queue"][:2]
    ['link1', 'link1.reverse']
    """
    shape = {"rates": rates, "delays": delays, "queue": _queue(buffer, queue)}
    shape |= _given(loss=loss, jitter=jitter, duplication=duplication)
    return _scenario({"chain": shape}, flows, ("n0", f"n{len(rates)}"), duration, rest)


@_arguments_checked
def dwdm(
    *,
    inputs: int,
    transmitters: int,
    rate: str,
    buffer: str | None = None,
    queue: Queue | None = None,
    wavelength_conversion: bool = True,
    delay: str = "0 ms",
    input_delay: str = "0 ms",
    edge_queue: Queue | None = None,
    switching: str = "store_and_forward",
    flows: int | Mapping[str, Flow] = 1,
    duration: str,
    **rest: Any,
) -> Scenario:
    """Edge routers and an optical switch with a trunk of wavelength channels (cui-thesis, section 3.2).

    Nodes are ``edge1`` to ``edge{inputs}``, ``switch`` and ``far``; links are ``input1`` to ``input{inputs}`` and ``trunk``.
    Without wavelength conversion there are ``switch1``, ``trunk1`` and so on, one per wavelength; edge routers are assigned to
    them in turn. By default flows begin at the edge routers in turn and end at ``far``.

    Parameters
    ----------
    inputs : int
        Number of edge routers, M.
    transmitters : int
        Number of wavelength channels of the trunk, K.
    rate, delay, input_delay : str
        Bit rate of each input link and each channel; one-way delay of the trunk and of each input link.
    buffer, queue
        Buffer of the trunk, as in `dumbbell`: shared by its channels with wavelength conversion, one per channel without.
    wavelength_conversion : bool
        Whether a packet may leave on any channel (full wavelength conversion).
    edge_queue : mapping, optional
        Queue of each edge router, as in `dumbbell`; by default unlimited.
    switching : str
        ``"store_and_forward"``, or ``"cut_through"``, which requires an `input_delay`.
    flows, duration, **rest
        As in `dumbbell`.

    Examples
    --------
    >>> import tailback as tb
    >>> scenario = tb.dwdm(
    ...     inputs=8, transmitters=4, rate="100 Mbps", buffer="2 packets", duration="20 s", warmup="10 s",
    ...     flows={"web": {
    ...         "count": 80, "propagation_rtt": {"uniform": ["60 ms", "180 ms"]}, "tcp": {"preset": "sack", "pacing": True},
    ...     }},
    ... )
    >>> bool(0.5 < tb.simulate(scenario).queues.where(queue="trunk")["utilisation"][0] < 1)
    True
    """
    shape = {
        "inputs": inputs,
        "transmitters": transmitters,
        "rate": rate,
        "delay": delay,
        "input_delay": input_delay,
        "queue": _queue(buffer, queue),
        "wavelength_conversion": wavelength_conversion,
        "switching": switching,
        **_given(edge_queue=edge_queue),
    }
    return _scenario({"dwdm": shape}, flows, ("edge*", "far"), duration, rest)


@_arguments_checked
def fat_tree(
    *,
    k: int,
    rate: str | Mapping[str, Any],
    delay: str,
    host_rate: str | Mapping[str, Any] | None = None,
    host_delay: str | None = None,
    host_queue: Queue | None = None,
    buffer: str | None = None,
    queue: Queue | None = None,
    routing: str = "ecmp",
    loss: Mapping[str, Any] | None = None,
    jitter: Mapping[str, Any] | None = None,
    duplication: float | str | None = None,
    flows: int | Mapping[str, Flow] = 1,
    duration: str,
    **rest: Any,
) -> Scenario:
    """A fat tree of switches with `k` ports: ``k**3 / 4`` hosts ``host0``, ``host1``, ... below edge, aggregation and core.

    Parameters
    ----------
    k : int
        Number of ports of each switch, even.
    rate, delay : str
        Rate and one-way delay of each link.
    host_rate, host_delay : str, optional
        Rate and one-way delay of the links of hosts, if different.
    host_queue : mapping, optional
        Queue of each host in front of its link; by default unlimited.
    buffer, queue
        Buffer of each port of each switch, as in `dumbbell`.
    loss, jitter, duplication
        Impairments of both directions of each link, as in `parking_lot`.
    routing : str
        ``"ecmp"``, or ``"shortest"``.
    flows : int or mapping
        Number of flows between random pairs of hosts; or flow groups as in a scenario file, by default random permutations of
        the hosts.
    duration, **rest
        As in `dumbbell`.

    Examples
    --------
    >>> import tailback as tb
    >>> scenario = tb.fat_tree(
    ...     k=4, rate="10 Gbps", delay="1 us", buffer="50 packets", duration="5 s",
    ...     flows={"web": {"size": "100 kB", "tcp": {"preset": "newreno"}}},
    ... )
    >>> tb.simulate(scenario).groups.to_dict()["completed"]
    [16]
    """
    shape = {"k": k, "rate": rate, "delay": delay, "queue": _queue(buffer, queue)}
    shape |= _given(
        host_rate=host_rate, host_delay=host_delay, host_queue=host_queue, loss=loss, jitter=jitter, duplication=duplication
    )
    return _fabric({"fat_tree": shape}, "host*", flows, duration, {"routing": routing, **rest})


@_arguments_checked
def leaf_spine(
    *,
    leaves: int,
    spines: int,
    hosts: int,
    rate: str | Mapping[str, Any],
    delay: str,
    host_rate: str | Mapping[str, Any] | None = None,
    host_delay: str | None = None,
    host_queue: Queue | None = None,
    buffer: str | None = None,
    queue: Queue | None = None,
    routing: str = "ecmp",
    loss: Mapping[str, Any] | None = None,
    jitter: Mapping[str, Any] | None = None,
    duplication: float | str | None = None,
    flows: int | Mapping[str, Flow] = 1,
    duration: str,
    **rest: Any,
) -> Scenario:
    """A leaf-spine network: every leaf switch has `hosts` hosts and a link to every spine switch. Parameters as in `fat_tree`.

    Examples
    --------
    >>> import tailback as tb
    >>> incast = {"traffic": {"incast": {"nodes": "host*", "senders": 20}}, "size": "20 kB", "tcp": {"preset": "newreno"}}
    >>> scenario = tb.leaf_spine(
    ...     leaves=4, spines=2, hosts=8, rate="40 Gbps", host_rate="10 Gbps", delay="1 us", buffer="50 packets",
    ...     flows={"incast": incast}, duration="20 ms",
    ... )
    >>> tb.simulate(scenario).groups.to_dict()["flows"]
    [20]
    """
    shape = {"leaves": leaves, "spines": spines, "hosts": hosts, "rate": rate, "delay": delay, "queue": _queue(buffer, queue)}
    shape |= _given(
        host_rate=host_rate, host_delay=host_delay, host_queue=host_queue, loss=loss, jitter=jitter, duplication=duplication
    )
    return _fabric({"leaf_spine": shape}, "host*", flows, duration, {"routing": routing, **rest})


@_arguments_checked
def torus(
    *,
    dimensions: Sequence[int],
    hosts: int = 1,
    rate: str | Mapping[str, Any],
    delay: str,
    host_rate: str | Mapping[str, Any] | None = None,
    host_delay: str | None = None,
    host_queue: Queue | None = None,
    buffer: str | None = None,
    queue: Queue | None = None,
    routing: str = "ecmp",
    loss: Mapping[str, Any] | None = None,
    jitter: Mapping[str, Any] | None = None,
    duplication: float | str | None = None,
    flows: int | Mapping[str, Flow] = 1,
    duration: str,
    **rest: Any,
) -> Scenario:
    """A torus: a grid of switches that wraps around in each dimension, each with `hosts` hosts. Parameters as in `fat_tree`, and:

    Parameters
    ----------
    dimensions : sequence of int
        Number of switches in each of 1 to 6 dimensions, for example ``[4, 4, 4]``. A dimension with two switches has one link
        between them.
    hosts : int
        Number of hosts per switch. If 0, flows run between switches.

    Examples
    --------
    >>> import tailback as tb
    >>> scenario = tb.torus(
    ...     dimensions=[4, 4], rate="10 Gbps", delay="1 us", buffer="50 packets", duration="5 s",
    ...     flows={"web": {"size": "100 kB", "tcp": {"preset": "newreno"}}},
    ... )
    >>> tb.simulate(scenario).groups.to_dict()["completed"]
    [16]
    """
    shape = {"dimensions": dimensions, "hosts": hosts, "rate": rate, "delay": delay, "queue": _queue(buffer, queue)}
    shape |= _given(
        host_rate=host_rate, host_delay=host_delay, host_queue=host_queue, loss=loss, jitter=jitter, duplication=duplication
    )
    return _fabric({"torus": shape}, "switch*" if hosts == 0 else "host*", flows, duration, {"routing": routing, **rest})


@_arguments_checked
def dragonfly(
    *,
    switches: int,
    hosts: int,
    global_links: int,
    rate: str | Mapping[str, Any],
    delay: str,
    global_rate: str | Mapping[str, Any] | None = None,
    global_delay: str | None = None,
    host_rate: str | Mapping[str, Any] | None = None,
    host_delay: str | None = None,
    host_queue: Queue | None = None,
    buffer: str | None = None,
    queue: Queue | None = None,
    routing: str = "ecmp",
    loss: Mapping[str, Any] | None = None,
    jitter: Mapping[str, Any] | None = None,
    duplication: float | str | None = None,
    flows: int | Mapping[str, Flow] = 1,
    duration: str,
    **rest: Any,
) -> Scenario:
    """A dragonfly: fully meshed groups of switches, with one link between each two groups. Parameters as in `fat_tree`, and:

    Parameters
    ----------
    switches : int
        Number of switches per group.
    hosts : int
        Number of hosts per switch. If 0, flows run between switches.
    global_links : int
        Number of links from each switch to other groups, of which there are `switches` times `global_links`.
    global_rate, global_delay : str, optional
        Rate and one-way delay of the links between groups, if different.

    Examples
    --------
    >>> import tailback as tb
    >>> scenario = tb.dragonfly(
    ...     switches=4, hosts=2, global_links=2, rate="10 Gbps", delay="1 us", global_delay="5 us", buffer="50 packets",
    ...     flows={"web": {"size": "100 kB", "tcp": {"preset": "newreno"}}}, duration="5 s",
    ... )
    >>> tb.simulate(scenario).groups.to_dict()["completed"]
    [72]
    """
    shape: dict[str, Any] = {"switches": switches, "hosts": hosts, "global_links": global_links, "rate": rate, "delay": delay}
    shape |= {"queue": _queue(buffer, queue), **_given(global_rate=global_rate, global_delay=global_delay)}
    shape |= _given(
        host_rate=host_rate, host_delay=host_delay, host_queue=host_queue, loss=loss, jitter=jitter, duplication=duplication
    )
    return _fabric({"dragonfly": shape}, "switch*" if hosts == 0 else "host*", flows, duration, {"routing": routing, **rest})


@_arguments_checked
def random_regular(
    *,
    switches: int,
    degree: int,
    hosts: int = 1,
    rate: str | Mapping[str, Any],
    delay: str,
    host_rate: str | Mapping[str, Any] | None = None,
    host_delay: str | None = None,
    host_queue: Queue | None = None,
    buffer: str | None = None,
    queue: Queue | None = None,
    routing: str = "ecmp",
    loss: Mapping[str, Any] | None = None,
    jitter: Mapping[str, Any] | None = None,
    duplication: float | str | None = None,
    flows: int | Mapping[str, Flow] = 1,
    duration: str,
    **rest: Any,
) -> Scenario:
    """A random regular graph of switches, each with `degree` links and `hosts` hosts. Parameters as in `fat_tree`, and:

    The scenario's seed determines the links. The graph is always connected: others are rejected and drawn again.

    Parameters
    ----------
    switches : int
        Number of switches, at least 4.
    degree : int
        Number of links of each switch to others: at least 3, less than `switches`, and even if `switches` is odd.
    hosts : int
        Number of hosts per switch. If 0, flows run between switches.

    Examples
    --------
    >>> import tailback as tb
    >>> scenario = tb.random_regular(
    ...     switches=20, degree=4, rate="10 Gbps", delay="1 us", buffer="50 packets", duration="5 s", seed=7,
    ...     flows={"web": {"size": "100 kB", "tcp": {"preset": "newreno"}}},
    ... )
    >>> tb.simulate(scenario).groups.to_dict()["completed"]
    [20]
    """
    shape = {"switches": switches, "degree": degree, "hosts": hosts, "rate": rate, "delay": delay}
    shape |= {"queue": _queue(buffer, queue), **_given(loss=loss, jitter=jitter, duplication=duplication)}
    shape |= _given(host_rate=host_rate, host_delay=host_delay, host_queue=host_queue)
    among = "switch*" if hosts == 0 else "host*"
    return _fabric({"random_regular": shape}, among, flows, duration, {"routing": routing, **rest})


@_arguments_checked
def waxman(
    *,
    routers: int,
    alpha: float | str = 0.15,
    beta: float | str = 0.4,
    rate: str | Mapping[str, Any],
    delay: str,
    buffer: str | None = None,
    queue: Queue | None = None,
    loss: Mapping[str, Any] | None = None,
    jitter: Mapping[str, Any] | None = None,
    duplication: float | str | None = None,
    flows: int | Mapping[str, Flow] = 1,
    duration: str,
    **rest: Any,
) -> Scenario:
    """A Waxman graph: routers ``router0``, ... at random places in a square, with a higher probability of links between near
    ones.

    The scenario's seed determines the graph. Components without a link between them are joined by the shortest links.

    Parameters
    ----------
    routers : int
        Number of routers, 2 to 2000.
    alpha : float or str
        Length scale of links, above 0 to 1: larger values give more long links.
    beta : float or str
        Density of links, above 0 to 1: the probability of a link between two routers at the same place.
    rate : str
        Rate of each link.
    delay : str
        One-way delay along the diagonal of the square; the delay of each link is proportional to its length.
    buffer, queue
        Buffer of each port of each router, as in `dumbbell`.
    loss, jitter, duplication
        Impairments of both directions of each link, as in `parking_lot`.
    flows : int or mapping
        As in `fat_tree`, between all routers.
    duration, **rest
        As in `dumbbell`.

    Examples
    --------
    >>> import tailback as tb
    >>> scenario = tb.waxman(
    ...     routers=40, rate="1 Gbps", delay="20 ms", buffer="200 packets", duration="20 s", seed=7,
    ...     flows={"web": {"size": "100 kB", "tcp": {"preset": "newreno"}}},
    ... )
    >>> tb.simulate(scenario).groups.to_dict()["completed"]
    [40]
    """
    shape: dict[str, Any] = {"routers": routers, "alpha": alpha, "beta": beta, "rate": rate, "delay": delay}
    shape |= {"queue": _queue(buffer, queue), **_given(loss=loss, jitter=jitter, duplication=duplication)}
    return _fabric({"waxman": shape}, "router*", flows, duration, rest)


@_arguments_checked
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
    shape: dict[str, Any] = {"links": links, "queue": _queue(buffer, queue)}
    shape["hosts"] = [names[node] for node, given in graph.nodes(data=True) if given.get("kind") == "host"]
    shape |= _given(rate=rate, delay=delay, loss=loss, jitter=jitter, duplication=duplication)
    return _fabric({"graph": shape}, [names[node] for node in graph if graph.degree(node)], flows, duration, rest)


def _given(**settings: Any) -> dict[str, Any]:
    """The settings that are not None."""
    return {name: value for name, value in settings.items() if value is not None}


def _fabric(
    topology: dict[str, Any],
    among: str | list[str],
    flows: int | Mapping[str, Flow],
    duration: str,
    rest: dict[str, Any],
) -> Scenario:
    """A scenario with flows among many nodes."""
    groups: Any = flows
    if isinstance(flows, int):
        groups = {"tcp": Flow(count=flows, traffic={"random_pairs": among}, tcp={"preset": "newreno"})}
    elif isinstance(flows, Mapping):
        groups = {name: _among(group, among) for name, group in flows.items()}
    return _described(topology, groups, duration, rest)


def _among(group: Any, among: str | list[str]) -> Any:
    """Add the default traffic to a group without its own; values that are not tables are left to the core's validation."""
    if not isinstance(group, Mapping) or {"from", "to", "traffic"} & group.keys():
        return group
    return {**group, "traffic": {"permutation": among}}


def _queue(buffer: str | None, queue: Queue | None) -> Queue:
    if queue is not None and buffer is None:
        return queue
    if buffer is not None and queue is None:
        return {"policy": "drop_tail", "buffer": buffer}
    message = "`buffer` or `queue` is required" if buffer is None else "`buffer` and `queue` exclude each other"
    raise _core.argument_errors([("queue", message, None, "either `buffer` or `queue`", None)])


def _scenario(
    topology: dict[str, Any],
    flows: int | Mapping[str, Flow],
    ends: tuple[str, str],
    duration: str,
    rest: dict[str, Any],
) -> Scenario:
    groups: Any = {"tcp": Flow(count=flows, tcp={"preset": "newreno"})} if isinstance(flows, int) else flows
    if isinstance(groups, Mapping):
        # Values that are not tables are left to the core's validation.
        filled = {"from": ends[0], "to": ends[1]}
        groups = {name: {**filled, **group} if isinstance(group, Mapping) else group for name, group in groups.items()}
    return _described(topology, groups, duration, rest)


def _described(topology: dict[str, Any], groups: Any, duration: str, rest: dict[str, Any]) -> Scenario:
    if "traces" in rest:
        rest["record"] = {**(rest.get("record") or {}), "traces": rest.pop("traces")}
    return Scenario({"duration": duration, **rest, "topology": topology, "flows": groups})
