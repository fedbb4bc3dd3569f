"""Scenarios of the usual shapes. Each fills in a plain dictionary; `Scenario.to_dict` shows it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from tailback._scenario import Scenario
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
    """Hosts on two sides and one link between: nodes ``left`` and ``right``, link ``bottleneck``.

    Parameters
    ----------
    rate : str or mapping
        Of the bottleneck: ``"10 Mbps"``, or when it can send, ``{"trace": "cell.trace"}`` or
        ``{"opportunities": [[1, 2], [4, 1]]}``.
    delay : str
        Of the bottleneck: ``"10 ms"`` (one way).
    buffer : str, optional
        Waiting places of a drop-tail queue: ``"100 packets"`` or ``"150 kB"``.
    queue : mapping, optional
        The whole queue instead of `buffer`, such as ``{"policy": "drop_tail", "buffer": "100 packets"}``.
    reverse : mapping, optional
        What differs on the way back, such as ``{"rate": "1 Mbps", "queue": {"buffer": "50 packets"}}``. Otherwise it is as fast,
        and its queue unlimited.
    loss, jitter : mapping, optional
        What the bottleneck loses, such as ``{"probability": 0.01}``, and what it adds to its delay, such as
        ``{"delay": {"exponential": "2 ms"}, "reordering": True}``.
    duplication : float or str, optional
        Probability that a packet which it does not lose arrives twice.
    flows : int or mapping
        This many greedy NewReno flows, in a group ``tcp``; or the groups as in a scenario file, from ``left`` to ``right`` unless
        they say otherwise.
    duration : str
        Simulated time: ``"60 s"``.
    **rest
        Other tables and values of a scenario: ``warmup="10 s"``, ``seed=7``, ``record={...}``. For `traces` see there.
    traces : list of str, optional
        Short for ``record={"traces": [...]}``.

    Examples
    --------
    >>> import tailback as tb
    >>> scenario = tb.dumbbell(
    ...     rate="10 Mbps", delay="10 ms", buffer="20 packets", duration="60 s", warmup="10 s",
    ...     flows={"web": {"count": 10, "rtt": {"uniform": ["40 ms", "120 ms"]}, "tcp": {"preset": "sack"}}},
    ... )
    >>> scenario["flows.web.to"]
    'right'
    """
    shape = {"rate": rate, "delay": delay, "queue": _queue(buffer, queue)}
    shape |= _given(reverse=reverse, loss=loss, jitter=jitter, duplication=duplication)
    return _scenario({"dumbbell": shape}, flows, ("left", "right"), duration, rest)


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
    """Equal links in a row: nodes ``n0`` to ``n{hops}``, links ``hop1`` to ``hop{hops}``. Parameters as in `dumbbell`,
    of which `loss`, `jitter` and `duplication` are those of each link on the way there, without listed drops.

    Flows run from ``n0`` to the last node unless they say otherwise.

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
    """Different links in a row: nodes ``n0``, ``n1``, ..., links ``link1``, ``link2``, ... Parameters as in
    `parking_lot`.

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


def dwdm(
    *,
    inputs: int,
    transmitters: int,
    rate: str,
    buffer: str | None = None,
    queue: Queue | None = None,
    conversion: bool = True,
    delay: str = "0 ms",
    input_delay: str = "0 ms",
    edge_queue: Queue | None = None,
    switching: str = "store_and_forward",
    flows: int | Mapping[str, Flow] = 1,
    duration: str,
    **rest: Any,
) -> Scenario:
    """Edge routers and an optical switch with a trunk of wavelength channels (cui-thesis, section 3.2).

    Nodes are ``edge1`` to ``edge{inputs}``, ``switch`` and ``far``, links ``input1`` to ``input{inputs}`` and ``trunk``. Without
    wavelength conversion there are ``switch1``, ``trunk1`` and so on, one for each wavelength, on which the edge routers are in
    turn. Flows begin at the edge routers in turn and end at ``far`` unless they say otherwise.

    Parameters
    ----------
    inputs : int
        Edge routers, M.
    transmitters : int
        Wavelength channels of the trunk, K.
    rate, delay, input_delay : str
        Bit rate of each input link and each channel; one-way delay of the trunk and of each input link.
    buffer, queue
        Waiting places of the trunk, shared by its channels with conversion and for each channel without, as in `dumbbell`.
    conversion : bool
        Whether a packet may leave on any channel (full wavelength conversion).
    edge_queue : mapping, optional
        The queue of each edge router, as in `dumbbell`; unlimited if not given.
    switching : str
        When the switch decides on a packet: ``"store_and_forward"``, or ``"cut_through"``, which needs an `input_delay`.
    flows, duration, **rest
        As in `dumbbell`.

    Examples
    --------
    >>> import tailback as tb
    >>> scenario = tb.dwdm(
    ...     inputs=8, transmitters=4, rate="100 Mbps", buffer="2 packets", duration="20 s", warmup="10 s",
    ...     flows={"web": {"count": 80, "rtt": {"uniform": ["60 ms", "180 ms"]}, "tcp": {"preset": "sack", "pacing": True}}},
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
        "conversion": conversion,
        "switching": switching,
        **_given(edge_queue=edge_queue),
    }
    return _scenario({"dwdm": shape}, flows, ("edge*", "far"), duration, rest)


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
    """A fat tree of switches with `k` ports: ``k**3 / 4`` hosts, ``host0`` and so on, below edge, aggregation and core.

    Parameters
    ----------
    k : int
        Ports of each switch, an even number.
    rate, delay : str
        Of each link.
    host_rate, host_delay : str, optional
        Of the links of hosts, if not those of the others.
    host_queue : mapping, optional
        The queue of each host, in front of its link; unlimited if not given.
    buffer, queue
        Waiting places of each port of each switch, as in `dumbbell`.
    loss, jitter, duplication
        Of each link, both ways, as in `parking_lot`.
    routing : str
        ``"ecmp"``, or ``"shortest"``.
    flows : int or mapping
        This many flows between random pairs of hosts; or the groups as in a scenario file, which are permutations of the
        hosts unless they say otherwise.
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
    """Leaves with so many hosts each, and spines, of which each leaf has a link to each. Parameters as in `fat_tree`.

    Examples
    --------
    >>> import tailback as tb
    >>> incast = {"traffic": {"incast": {"among": "host*", "senders": 20}}, "size": "20 kB", "tcp": {"preset": "newreno"}}
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
    """Switches in a grid that is closed in each dimension, with so many hosts each. Parameters as in `fat_tree`, and:

    Parameters
    ----------
    dimensions : sequence of int
        Switches in each dimension, such as ``[4, 4, 4]``: 1 to 6 of them. Two switches of a dimension share one link.
    hosts : int
        Hosts of each switch. Where there are none, flows run between switches.

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
    """Groups of switches that all know one another, with one link between each two groups. Parameters as in `fat_tree`, and:

    Parameters
    ----------
    switches : int
        Of each group.
    hosts : int
        Of each switch. Where there are none, flows run between switches.
    global_links : int
        Links of each switch to other groups, of which there are so many times `switches`.
    global_rate, global_delay : str, optional
        Of the links between groups, if not those of the others.

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
    """Switches with equally many links, between random pairs, and with so many hosts each. Parameters as in `fat_tree`, and:

    The scenario's seed draws the links. Every switch reaches every other: a graph of several parts is drawn anew.

    Parameters
    ----------
    switches : int
        At least 4 of them.
    degree : int
        Links of each switch to others: at least 3, fewer than there are switches, and even where the number of switches is odd.
    hosts : int
        Hosts of each switch. Where there are none, flows run between switches.

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
    """Routers ``router0`` and so on at random places of a square, near ones linked more likely.

    The scenario's seed draws them. Parts that no link joins are joined by the shortest ones.

    Parameters
    ----------
    routers : int
        2 to 2000 of them.
    alpha : float or str
        How far links reach: larger values make more long links, above 0 to 1.
    beta : float or str
        How many links there are: the probability of a link between two routers at one place, above 0 to 1.
    rate : str
        Of each link.
    delay : str
        Of a link from corner to opposite corner; each has as much of it as it is long.
    buffer, queue
        Waiting places of each port of each router, as in `dumbbell`.
    loss, jitter, duplication
        Of each link, both ways, as in `parking_lot`.
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
    """The nodes and edges of a graph of NetworkX, which need not be installed for anything else.

    Nodes are named as in the graph, with ``_`` for what no name has; those with ``kind="host"`` only begin and end flows.
    Edges may have ``rate`` and ``delay``, as text with units; those of a directed graph have no way back.

    Parameters
    ----------
    graph : networkx.Graph, networkx.DiGraph, or one with several edges between two nodes
    rate, delay : str, optional
        Of edges that have none.
    buffer, queue
        Waiting places of each link, there and back, as in `dumbbell`.
    loss, jitter, duplication
        Of each link, there and back, as in `parking_lot`.
    flows : int or mapping
        As in `fat_tree`, between all nodes.
    duration, **rest
        As in `dumbbell`.

    Raises
    ------
    ParameterError
        If two nodes would have one name.

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
            f"two nodes of the graph would be called `{twice}`; expected names that differ in letters and digits"
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
    """What of them is there."""
    return {name: value for name, value in settings.items() if value is not None}


def _fabric(
    topology: dict[str, Any],
    among: str | list[str],
    flows: int | Mapping[str, Flow],
    duration: str,
    rest: dict[str, Any],
) -> Scenario:
    """Flows among many nodes."""
    groups: Any = flows
    if isinstance(flows, int):
        groups = {"tcp": Flow(count=flows, traffic={"random_pairs": among}, tcp={"preset": "newreno"})}
    elif isinstance(flows, Mapping):
        groups = {name: _among(group, among) for name, group in flows.items()}
    return _described(topology, groups, duration, rest)


def _among(group: Any, among: str | list[str]) -> Any:
    """A group with traffic of its own or that of all; what is no table is left to the core, which says so."""
    if not isinstance(group, Mapping) or {"from", "to", "traffic"} & group.keys():
        return group
    return {**group, "traffic": {"permutation": among}}


def _queue(buffer: str | None, queue: Queue | None) -> Queue:
    if queue is not None and buffer is None:
        return queue
    if buffer is not None and queue is None:
        return {"policy": "drop_tail", "buffer": buffer}
    raise TypeError("give either `buffer` or `queue`")


def _scenario(
    topology: dict[str, Any],
    flows: int | Mapping[str, Flow],
    ends: tuple[str, str],
    duration: str,
    rest: dict[str, Any],
) -> Scenario:
    groups: Any = {"tcp": Flow(count=flows, tcp={"preset": "newreno"})} if isinstance(flows, int) else flows
    if isinstance(groups, Mapping):
        # What is no table is left to the core, which says so.
        filled = {"from": ends[0], "to": ends[1]}
        groups = {name: {**filled, **group} if isinstance(group, Mapping) else group for name, group in groups.items()}
    return _described(topology, groups, duration, rest)


def _described(topology: dict[str, Any], groups: Any, duration: str, rest: dict[str, Any]) -> Scenario:
    if "topology" in rest:
        raise TypeError(f"a second topology; {next(iter(topology))} is the one")
    if "traces" in rest:
        rest["record"] = {**(rest.get("record") or {}), "traces": rest.pop("traces")}
    return Scenario({"duration": duration, **rest, "topology": topology, "flows": groups})
