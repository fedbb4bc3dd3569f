"""Networks with one bottleneck, a row of links, or a trunk."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tailback._scenario import Scenario
from tailback._topologies.building import arguments_checked, from_end_to_end, queue_table, without_none
from tailback._types import Flow, Queue, Reverse

__all__ = ["chain", "dumbbell", "dwdm", "parking_lot"]


@arguments_checked
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
    shape = {"rate": rate, "delay": delay, "queue": queue_table(buffer, queue)}
    shape |= without_none(reverse=reverse, loss=loss, jitter=jitter, duplication=duplication)
    return from_end_to_end({"dumbbell": shape}, flows, ("left", "right"), duration, rest)


@arguments_checked
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
    shape = {"hops": hops, "rate": rate, "delay": delay, "queue": queue_table(buffer, queue)}
    shape |= without_none(loss=loss, jitter=jitter, duplication=duplication)
    return from_end_to_end({"parking_lot": shape}, flows, ("n0", f"n{hops}"), duration, rest)


@arguments_checked
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
    shape = {"rates": rates, "delays": delays, "queue": queue_table(buffer, queue)}
    shape |= without_none(loss=loss, jitter=jitter, duplication=duplication)
    return from_end_to_end({"chain": shape}, flows, ("n0", f"n{len(rates)}"), duration, rest)


@arguments_checked
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
        "queue": queue_table(buffer, queue),
        "wavelength_conversion": wavelength_conversion,
        "switching": switching,
        **without_none(edge_queue=edge_queue),
    }
    return from_end_to_end({"dwdm": shape}, flows, ("edge*", "far"), duration, rest)
