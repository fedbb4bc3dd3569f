"""The input of buffer sizing: a bottleneck and its flows in numbers, from arguments or from a scenario."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from tailback import _core
from tailback._scenario import Scenario
from tailback.errors import ParameterError, Problem, ScenarioError
from tailback.models import RoundTrips

__all__ = ["SizingCase", "ask"]


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
    other_controllers : tuple of str
        Controllers of the flows whose windows do not halve.
    link : str or None
        Link of the scenario whose buffer is sized.
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
    other_controllers: tuple[str, ...] = ()
    link: str | None = None
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
    described = _case(_core.sizing_scenario(scenario._source(), link))
    # Placeholders for required values that are not given; the scenario's values replace them below.
    filled = {"rate": "1 bps", "base_rtt": "1 s", "flows": 1} | dict(given)
    read = _read(filled, flags=flags)
    fields = {"rate": "rate_bps", "packet_size": "packet_bytes", "access_rate": "access_rate_bps", "preset": "other_controllers"}
    changed = {fields.get(name, name): getattr(read, fields.get(name, name)) for name in given}
    return replace(described, **changed)


def _read(given: Mapping[str, Any], *, flags: bool) -> SizingCase:
    try:
        # A scenario rejects values that no scenario can contain.
        return _case(_core.sizing_question(json.dumps(Scenario(dict(given)).to_dict())))
    except ScenarioError as error:
        if not flags:
            raise
        raise _core.argument_errors([_of_flag(problem) for problem in error.problems]) from None


def _case(found: dict[str, Any]) -> SizingCase:
    words = {name: tuple(found[name]) for name in ("other_controllers", "warnings")}
    numbers = found | {"base_rtt": RoundTrips(*found["base_rtt"])} | words
    return SizingCase(**numbers)


def _flag(at: str) -> str:
    """Convert ``access_rate`` to ``--access-rate``; the rest of the path is unchanged."""
    head, dot, rest = at.partition(".")
    return f"--{head.replace('_', '-')}{dot}{rest}" if head else at


def _of_flag(problem: Problem) -> tuple[str, str, str | None, str | None, str | None]:
    """A problem of an option of the command line, which its message names as well."""
    flag = _flag(problem.at)
    message = problem.message.replace(f"`{problem.at}`", f"`{flag}`")
    return flag, message, problem.given, problem.expected, problem.hint
