"""Scenarios of the usual shapes. Each fills in a plain dictionary; `Scenario.to_dict` shows it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tailback._scenario import Scenario
from tailback._types import Flow, Queue

__all__ = ["chain", "dumbbell", "dwdm", "parking_lot"]


def dumbbell(
    *,
    rate: str,
    delay: str,
    buffer: str | None = None,
    queue: Queue | None = None,
    flows: int | Mapping[str, Flow] = 1,
    duration: str,
    **rest: Any,
) -> Scenario:
    """Hosts on two sides and one link between: nodes ``left`` and ``right``, link ``bottleneck``.

    Parameters
    ----------
    rate, delay : str
        Of the bottleneck: ``"10 Mbps"``, ``"10 ms"`` (one way).
    buffer : str, optional
        Waiting places of a drop-tail queue: ``"100 packets"`` or ``"150 kB"``.
    queue : mapping, optional
        The whole queue instead of `buffer`, such as ``{"policy": "drop_tail", "buffer": "100 packets"}``.
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
    return _scenario({"dumbbell": shape}, flows, ("left", "right"), duration, rest)


def parking_lot(
    *,
    hops: int,
    rate: str,
    delay: str,
    buffer: str | None = None,
    queue: Queue | None = None,
    flows: int | Mapping[str, Flow] = 1,
    duration: str,
    **rest: Any,
) -> Scenario:
    """Equal links in a row: nodes ``n0`` to ``n{hops}``, links ``hop1`` to ``hop{hops}``. Parameters as in `dumbbell`.

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
    return _scenario({"parking_lot": shape}, flows, ("n0", f"n{hops}"), duration, rest)


def chain(
    *,
    rates: Sequence[str],
    delays: Sequence[str],
    buffer: str | None = None,
    queue: Queue | None = None,
    flows: int | Mapping[str, Flow] = 1,
    duration: str,
    **rest: Any,
) -> Scenario:
    """Different links in a row: nodes ``n0``, ``n1``, ..., links ``link1``, ``link2``, ... Parameters as in `dumbbell`.

    Examples
    --------
    >>> import tailback as tb
    >>> scenario = tb.chain(rates=["10 Mbps", "5 Mbps"], delays=["1 ms", "9 ms"], buffer="20 packets", duration="20 s")
    >>> tb.simulate(scenario).queues.to_dict()["queue"][:2]
    ['link1', 'link1.reverse']
    """
    shape = {"rates": rates, "delays": delays, "queue": _queue(buffer, queue)}
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
    rate, delay : str
        Bit rate of each input link and each channel; one-way delay of the trunk.
    buffer, queue
        Waiting places of the trunk, shared by its channels with conversion and for each channel without, as in `dumbbell`.
    conversion : bool
        Whether a packet may leave on any channel (full wavelength conversion).
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
        "queue": _queue(buffer, queue),
        "conversion": conversion,
    }
    return _scenario({"dwdm": shape}, flows, ("edge*", "far"), duration, rest)


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
    if "traces" in rest:
        rest["record"] = {**(rest.get("record") or {}), "traces": rest.pop("traces")}
    return Scenario({"duration": duration, **rest, "topology": topology, "flows": groups})
