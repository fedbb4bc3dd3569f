"""The input of buffer sizing: a bottleneck and its flows in numbers, from arguments or from a scenario."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from tailback import _core
from tailback._scenario import Scenario
from tailback.errors import ParameterError, Problem, ScenarioError
from tailback.models import RoundTrips, enachescu_window, round_trips
from tailback.prediction._network import Network, TcpGroup

__all__ = ["SizingCase", "ask", "windows"]

# Number of flows from which evenly spaced RTTs are treated as a uniform distribution.
_MANY = 1000


@dataclass(frozen=True)
class SizingCase:
    """A bottleneck, its flows, and the target utilisation.

    Attributes
    ----------
    rate_bps, packet_bytes : float
        Rate of one transmitter, and size of a packet on the wire.
    transmitters, flows : int
    base_rtt : RoundTrips
        RTT without queueing delay, including serialisation.
    target : float
        Target utilisation, above 0, at most 1.
    inputs : int or None
        Number of input links; None for unlimited.
    access_rate_bps : float or None
        Rate of the senders' access links, if known.
    paced : bool or None
        Whether senders pace their packets, if known.
    window : int or None
        Maximum window of a flow in packets, if any.
    warnings : tuple of str
        Properties of the scenario that no rule takes into account.
    """

    rate_bps: float
    packet_bytes: float
    transmitters: int
    flows: int
    base_rtt: RoundTrips
    target: float
    inputs: int | None = None
    access_rate_bps: float | None = None
    paced: bool | None = None
    window: int | None = None
    warnings: tuple[str, ...] = ()

    @property
    def capacity_bps(self) -> float:
        return self.rate_bps * self.transmitters

    @property
    def over_provision(self) -> float | None:
        """Load of the bottleneck if every flow had its maximum window."""
        if self.window is None:
            return None
        return self.flows * self.window * 8 * self.packet_bytes / (self.capacity_bps * self.base_rtt.mean_s)


def ask(given: Mapping[str, Any], scenario: Scenario | None, link: str | None, *, flags: bool = False) -> SizingCase:
    """Resolve the question to numbers. Given values override those of the scenario.

    Parameters
    ----------
    given : mapping
        Arguments of `tailback.size_buffer` that are not None.
    flags : bool
        Whether errors name command-line flags.
    """
    if scenario is None:
        if link is not None:
            raise ParameterError(f"`link` is {link!r}, but there is no scenario to find it in")
        return _read(given, flags=flags)
    network = Network(scenario)
    described = _of_scenario(network, link)
    # Placeholders for required values that are not given; the scenario's values replace them below.
    filled = {"rate": "1 bps", "base_rtt": "1 s", "flows": 1} | dict(given)
    read = _read(filled, flags=flags)
    fields = {"rate": "rate_bps", "packet_size": "packet_bytes", "access_rate": "access_rate_bps"}
    changed = {fields.get(name, name): getattr(read, fields.get(name, name)) for name in given}
    return replace(described, **changed)


def windows(question: SizingCase) -> dict[str, float]:
    """Window and over-provisioning: those of the flows, or else those of the document cui-thesis (section 3.8.1)."""
    if question.over_provision is not None and question.over_provision < 1:
        return {"window": float(question.window or 0), "over_provision": question.over_provision}
    window = enachescu_window(
        transmitters=question.transmitters,
        rate_bps=question.rate_bps,
        packet_bytes=question.packet_bytes,
        flows=question.flows,
        mean_rtt_s=question.base_rtt.mean_s,
    )
    return {"window": window, "over_provision": 0.95}


def _read(given: Mapping[str, Any], *, flags: bool) -> SizingCase:
    try:
        numbers = json.loads(_core.buffer_question(json.dumps(_plain(given)), ""))
    except ScenarioError as error:
        if not flags:
            raise
        raise _core.argument_errors([_of_flag(problem) for problem in error.problems]) from None
    rtt = numbers.pop("base_rtt_s")
    if isinstance(rtt, dict) and "evenly" in rtt:
        (low, high), flows = rtt["evenly"], numbers["flows"]
        steps = [low + (high - low) * (flow + 0.5) / flows for flow in range(flows)] if flows <= _MANY else None
        rtt = steps or {"uniform": [low, high]}
    return SizingCase(base_rtt=round_trips(rtt), **numbers)


def _plain(given: Mapping[str, Any]) -> dict[str, Any]:
    """The values in the form of a scenario; raises an error for values that a scenario cannot contain."""
    return Scenario(dict(given)).to_dict()


def _flag(at: str) -> str:
    """Convert ``access_rate`` to ``--access-rate``; the rest of the path is unchanged."""
    head, dot, rest = at.partition(".")
    return f"--{head.replace('_', '-')}{dot}{rest}" if head else at


def _of_flag(problem: Problem) -> tuple[str, str, str | None, str | None, str | None]:
    """A problem of an option of the command line, which its message names as well."""
    flag = _flag(problem.at)
    message = problem.message.replace(f"`{problem.at}`", f"`{flag}`")
    return flag, message, problem.given, problem.expected, problem.hint


def _of_scenario(network: Network, link: str | None) -> SizingCase:
    """The question for the bottleneck of a scenario, without a target."""
    port = network.port(link) if link is not None else network.ports[_bottleneck(network)]
    groups = [group.across(port.name) for group in _tcp(network, port.name)]
    if not groups:
        raise ParameterError(f"no long-lived TCP flow crosses `{port.name}`; {_EXPECTED}")
    rtts = [rtt for group in groups for rtt in group.base_rtts_s]
    packets = {group.tcp.packet_bytes for group in groups}
    access = [rate for group in groups for rate in (group.sender_access_bps,) if rate is not None]
    return SizingCase(
        rate_bps=port.rate_bps,
        packet_bytes=max(packets),
        transmitters=port.transmitters,
        flows=sum(group.count for group in groups),
        base_rtt=round_trips(rtts),
        target=1.0,
        inputs=network.inputs(port.name),
        access_rate_bps=max(access) if len(access) == len(groups) else None,
        paced=all(group.tcp.pacing for group in groups),
        window=max(group.tcp.receiver_window for group in groups),
        warnings=tuple(_warnings(network, port.name, groups)),
    )


def _bottleneck(network: Network) -> str:
    """The port with the smallest capacity per TCP flow."""
    limited = [name for name, port in network.ports.items() if port.buffer is not None]
    flows: dict[str, int] = {name: sum(group.count_across(name) for group in _tcp(network, name)) for name in limited}
    crossed = [name for name, count in flows.items() if count]
    if not crossed:
        raise ParameterError(f"the scenario has no link with a limited buffer and long-lived TCP flows; {_EXPECTED}")
    return min(crossed, key=lambda name: network.ports[name].capacity_bps / flows[name])


def _tcp(network: Network, port: str) -> list[TcpGroup]:
    """Long-lived flows. Transfers are excluded, because the number of concurrent ones is unknown."""
    lasting = [group for group in network.groups if isinstance(group, TcpGroup) and not group.transfers]
    return [group for group in lasting if group.count_across(port)]


_EXPECTED = "expected flows without a `size`, or a question with the number of concurrent `flows`"


def _warnings(network: Network, link: str, groups: list[TcpGroup]) -> list[str]:
    port = network.ports[link]
    warnings = []
    if port.policy != "drop_tail":
        warnings.append(f"`{link}` has the policy {port.policy}; the rules are for drop-tail queues")
    if port.unmodelled:
        warnings.append(f"`{link}` {port.unmodelled}; the rules are for a work-conserving link of constant rate")
    if port.random_loss or port.listed_drops:
        warnings.append(f"`{link}` has losses of its own; in the rules only a full buffer loses packets")
    for group in groups:
        if not group.tcp.halves:
            warnings.append(f"flows.{group.name}: the controller is {group.tcp.controller}; the rules are for windows that halve")
        if not group.greedy or group.stops:
            warnings.append(f"flows.{group.name}: not greedy for the whole run; idle flows use less")
        if group.in_cells:
            warnings.append(f"flows.{group.name}: packets travel in cells; the rules count packets")
    passing = [group.name for group in network.crossing(link) if isinstance(group, TcpGroup) and group.transfers]
    if passing:
        warnings.append(f"flows.{', flows.'.join(passing)}: transfers of limited size; the rules count long-lived flows")
    others = [group.name for group in network.crossing(link) if not isinstance(group, TcpGroup)]
    if others:
        warnings.append(f"flows.{', flows.'.join(others)}: datagrams use part of the link, which the rules assign to TCP")
    return warnings
