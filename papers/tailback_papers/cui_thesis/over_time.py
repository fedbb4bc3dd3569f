"""Curves over time in the figures of chapter 4 and appendix B: windows, alpha, rates and queues."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

import tailback as tb
from tailback.papers import Label, Trace

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["PAYLOAD_BITS", "alpha", "flow_traces", "name", "queue", "queue_trace", "rate", "recording", "window"]

# Payload of a packet of chapter 4, which has 1000 bytes on the wire.
PAYLOAD_BITS = 8 * 960

Points: TypeAlias = "tuple[NDArray[Any], NDArray[Any]]"


def name(number: int) -> str:
    """Name of a flow by its arrival index, in the order of the tables."""
    return f"flow{number:02}"


def recording(flows: int, kinds: Iterable[str] = (), queues: Iterable[str] = (), bin_s: float = 0.0) -> dict[str, Any]:
    """`record.traces` for the first flows: kinds of traces of flows, queues, and rates in bins of this width."""
    names = [name(number) for number in range(1, flows + 1)]
    record: dict[str, Any] = dict.fromkeys(kinds, names)
    if queues := list(queues):
        record["queue"] = queues
    if bin_s:
        record["throughput"] = {"bin": f"{bin_s:g} s", "flows": names}
    return record


def to_the_end(run: tb.Run, number: int, times: Any, values: Any) -> Points:
    """Changes of a quantity of a flow. A constant quantity has no rows, so the last value is extended to the end of the flow."""
    stop = run.scenario["flows"][name(number)].get("stop")
    end = run.simulated_s if stop is None else min(run.simulated_s, float(stop.removesuffix(" s")))
    return np.append(np.asarray(times, float), end), np.append(np.asarray(values, float), values[-1:])


def window(run: tb.Run, number: int) -> Points:
    """Window of a flow, in packets."""
    trace = run.trace("cwnd").where(group=name(number))
    return to_the_end(run, number, trace["time_s"], trace["cwnd_packets"])


def alpha(run: tb.Run, number: int) -> Points:
    """Current alpha of a flow, in packets."""
    trace = run.trace("controller").where(group=name(number), quantity="alpha_packets")
    return to_the_end(run, number, trace["time_s"], trace["value"])


def rate(run: tb.Run, number: int) -> Points:
    """Rate of a flow, in packets per second."""
    trace = run.trace("throughput").where(group=name(number))
    return trace["time_s"], np.asarray(trace["throughput_bps"], float) / PAYLOAD_BITS


def queue(run: tb.Run, link: str = "bottleneck") -> Points:
    """Packets in a queue."""
    trace = run.trace("queue").where(queue=link)
    return trace["time_s"], trace["queue_units"]


def flow_traces(
    label: str, of: Callable[..., Points], flows: int | Sequence[Label], where: Mapping[str, Label], record: dict[str, Any]
) -> tuple[Trace, ...]:
    """Curves of the first flows, named by a format of their number or of these names. Curves of a run with the same `record`
    share it.
    """
    names = range(1, flows + 1) if isinstance(flows, int) else flows
    return tuple(Trace(label.format(each), where, record, partial(of, number=number)) for number, each in enumerate(names, 1))


def queue_trace(label: str, where: Mapping[str, Label], record: dict[str, Any], link: str = "bottleneck") -> Trace:
    """A queue."""
    return Trace(label, where, record, partial(queue, link=link))
