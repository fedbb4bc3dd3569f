"""A simulation that is advanced step by step."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tailback import _core
from tailback._arguments import arguments_checked
from tailback._run import Run, advance, with_changes
from tailback._scenario import Scenario
from tailback.errors import ParameterError

__all__ = ["Simulation"]


@arguments_checked
class Simulation:
    """A simulation that is advanced step by step, to look at the state of a network or to decide on changes during a run.

    The results do not depend on the steps.

    Parameters
    ----------
    scenario : Scenario or mapping
        The scenario to simulate.
    seed : int, optional
        Seed to use instead of the scenario's.

    Raises
    ------
    ScenarioError
        The scenario cannot be run, or the seed is not valid.

    Examples
    --------
    >>> import tailback as tb
    >>> scenario = tb.dumbbell(rate="10 Mbps", delay="10 ms", buffer="20 packets", duration="10 s")
    >>> simulation = tb.Simulation(scenario)
    >>> while simulation.step(simulation.now_s + 0.5).queues["dropped_units"].sum() == 0 and not simulation.is_complete:
    ...     pass
    >>> slower = simulation.fork({"link": "bottleneck", "rate": "5 Mbps"})
    >>> slower.now_s == simulation.now_s
    True
    """

    def __init__(self, scenario: Scenario | Mapping[str, Any], seed: int | None = None) -> None:
        self._scenario = scenario if isinstance(scenario, Scenario) else Scenario(scenario)
        self._simulation = self._scenario._simulation(seed)

    @property
    def now_s(self) -> float:
        """Simulated time reached, in seconds."""
        return self._simulation.now_s

    @property
    def is_complete(self) -> bool:
        """Whether the end of the run is reached."""
        return self.now_s >= self._simulation.duration_s

    def step(self, until: str | float | None = None, *, progress: Callable[[float], None] | None = None) -> Run:
        """Advance to a simulated time, and return the measurements up to it.

        Parameters
        ----------
        until : str or float, optional
            Time such as ``"2 s"``, or in seconds, not before `now_s`; by default the end of the run.
        progress : callable, optional
            As in `tailback.simulate`.

        Raises
        ------
        ParameterError
            `until` is not a time, or is before `now_s`.
        """
        until_s = self._simulation.duration_s if until is None else _seconds(until)
        if until_s < self.now_s:
            raise ParameterError(f"`until` is {until!r}, but {self.now_s:g} s are simulated already; expected a later time")
        advance(self._simulation, progress or (lambda _done: None), until_s)
        return Run(self._simulation.results())

    def fork(self, changes: Mapping[str, Any] | Sequence[Mapping[str, Any]]) -> Simulation:
        """Return a simulation of the same run with changes from now on. This one is unchanged.

        It simulates the time before again, with the same results.

        Parameters
        ----------
        changes : mapping or sequence of mapping
            As in `Run.fork`.
        """
        now = f"{round(self.now_s * 1e12)} ps"
        forked = Simulation(with_changes(self._scenario.to_dict(), now, changes), self._simulation.seed)
        forked.step(self.now_s)
        return forked

    def __repr__(self) -> str:
        return f"<Simulation {self._scenario.name}: {self.now_s:g} of {self._simulation.duration_s:g} s>"


def _seconds(until: str | float) -> float:
    if isinstance(until, str):
        value, unit = _core.in_column_units(until) or (math.nan, "")
        seconds = value if unit == "s" else math.nan
    else:
        seconds = float(until) if isinstance(until, int | float) and not isinstance(until, bool) else math.nan
    if math.isnan(seconds):
        raise ParameterError(f"`until` is {until!r}; expected a time such as '2 s', or a number of seconds")
    return seconds
