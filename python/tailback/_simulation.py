"""Run a scenario: in slices, so that Ctrl-C and progress bars work, and without the GIL, so that threads run side by side."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from tailback import _core
from tailback._run import Interrupted, Run
from tailback._scenario import Scenario
from tailback._slices import in_slices

__all__ = ["advance", "simulate"]

_FIRST_EVENTS = 10_000


def simulate(
    scenario: Scenario | Mapping[str, Any],
    seed: int | None = None,
    *,
    progress: Callable[[float], None] | None = None,
) -> Run:
    """Simulate a scenario from its start to its duration.

    Parameters
    ----------
    scenario : Scenario or mapping
        What to simulate.
    seed : int, optional
        Instead of the scenario's own; 0 <= seed < 2**53. The same scenario, seed and version give the same results, byte for
        byte, on every platform.
    progress : callable, optional
        Called about ten times a second with the fraction done, 0 to 1, such as a `tailback.ProgressBar`. Whatever it raises ends
        the run.

    Returns
    -------
    Run
        Flows, queues, groups and traces as columns.

    Raises
    ------
    ScenarioError
        The description cannot run, or the seed is not valid; nothing was run.
    Interrupted
        Ctrl-C; its ``run`` holds what was measured until then. It is a `KeyboardInterrupt`.
    InternalError
        A bug in Tailback, such as a packet that appeared or vanished.

    Examples
    --------
    >>> import tailback as tb
    >>> scenario = tb.dumbbell(rate="10 Mbps", delay="10 ms", buffer="20 packets", flows=2, duration="10 s")
    >>> run = tb.simulate(scenario, seed=1)
    >>> run.complete, run.simulated_s, len(run.flows)
    (True, 10.0, 2)
    """
    described = scenario if isinstance(scenario, Scenario) else Scenario(scenario)
    simulation = described._simulation(seed)
    try:
        advance(simulation, progress or _ignore)
    except KeyboardInterrupt:
        raise Interrupted(Run(simulation.results())) from None
    return Run(simulation.results())


def advance(simulation: _core.Simulation, progress: Callable[[float], None]) -> None:
    """Run to the end, in slices: of a number of events, for any number of them may lie in one instant. They change no byte."""
    in_slices(simulation.run_for, _FIRST_EVENTS, lambda: progress(simulation.now_s / simulation.duration_s))


def _ignore(_fraction: float) -> None:
    pass
