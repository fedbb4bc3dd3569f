"""Networks of switches and hosts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tailback._scenario import Scenario
from tailback._topologies.building import arguments_checked, fabric, queue_table, without_none
from tailback._types import Flow, Queue

__all__ = ["dragonfly", "fat_tree", "leaf_spine", "random_regular", "torus"]


@arguments_checked
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
    shape = {"k": k, "rate": rate, "delay": delay, "queue": queue_table(buffer, queue)}
    shape |= without_none(
        host_rate=host_rate, host_delay=host_delay, host_queue=host_queue, loss=loss, jitter=jitter, duplication=duplication
    )
    return fabric({"fat_tree": shape}, "host*", flows, duration, {"routing": routing, **rest})


@arguments_checked
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
    shape = {
        "leaves": leaves,
        "spines": spines,
        "hosts": hosts,
        "rate": rate,
        "delay": delay,
        "queue": queue_table(buffer, queue),
    }
    shape |= without_none(
        host_rate=host_rate, host_delay=host_delay, host_queue=host_queue, loss=loss, jitter=jitter, duplication=duplication
    )
    return fabric({"leaf_spine": shape}, "host*", flows, duration, {"routing": routing, **rest})


@arguments_checked
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
    shape = {"dimensions": dimensions, "hosts": hosts, "rate": rate, "delay": delay, "queue": queue_table(buffer, queue)}
    shape |= without_none(
        host_rate=host_rate, host_delay=host_delay, host_queue=host_queue, loss=loss, jitter=jitter, duplication=duplication
    )
    return fabric({"torus": shape}, "switch*" if hosts == 0 else "host*", flows, duration, {"routing": routing, **rest})


@arguments_checked
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
    shape |= {"queue": queue_table(buffer, queue), **without_none(global_rate=global_rate, global_delay=global_delay)}
    shape |= without_none(
        host_rate=host_rate, host_delay=host_delay, host_queue=host_queue, loss=loss, jitter=jitter, duplication=duplication
    )
    return fabric({"dragonfly": shape}, "switch*" if hosts == 0 else "host*", flows, duration, {"routing": routing, **rest})


@arguments_checked
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
    shape |= {"queue": queue_table(buffer, queue), **without_none(loss=loss, jitter=jitter, duplication=duplication)}
    shape |= without_none(host_rate=host_rate, host_delay=host_delay, host_queue=host_queue)
    among = "switch*" if hosts == 0 else "host*"
    return fabric({"random_regular": shape}, among, flows, duration, {"routing": routing, **rest})
