"""Run a scenario: in slices, so that Ctrl-C and progress bars work, and without the GIL, so that threads run side by side."""

from __future__ import annotations

import os
import time
import warnings
from collections.abc import Callable, Iterable, Mapping
from numbers import Integral
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

from tailback import _core
from tailback._run import Interrupted, Run
from tailback._scenario import Scenario
from tailback._slices import in_slices
from tailback.errors import CheckpointError, CheckpointWarning, ParameterError, ThreadsWarning

if TYPE_CHECKING:
    from tailback._runs import Runs

__all__ = ["CHECKPOINT_EVERY_S", "advance", "simulate"]

CHECKPOINT_EVERY_S = 60.0

_FIRST_EVENTS = 10_000

_MOST_THREADS = 1024


@overload
def simulate(
    scenario: Scenario | Mapping[str, Any],
    seed: int | None = None,
    *,
    seeds: None = None,
    progress: Callable[[float], None] | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    checkpoint_every_s: float = CHECKPOINT_EVERY_S,
    threads: int = 1,
) -> Run: ...
@overload
def simulate(
    scenario: Scenario | Mapping[str, Any],
    *,
    seeds: int | Iterable[int],
    progress: Callable[[float], None] | None = None,
) -> Runs: ...
def simulate(
    scenario: Scenario | Mapping[str, Any],
    seed: int | None = None,
    *,
    seeds: int | Iterable[int] | None = None,
    progress: Callable[[float], None] | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    checkpoint_every_s: float = CHECKPOINT_EVERY_S,
    threads: int = 1,
) -> Run | Runs:
    """Simulate a scenario from its start to its duration.

    Parameters
    ----------
    scenario : Scenario or mapping
        What to simulate.
    seed : int, optional
        Instead of the scenario's own; 0 <= seed < 2**53. The same scenario, seed and version give the same results, byte for
        byte, on every platform.
    seeds : int or iterable of int, optional
        Run it with several: with 1, 2, ... up to this number, or with these; as many at once as there are processors. For a grid
        of scenarios, or more runs than fit in memory, there is `tailback.sweep`.
    progress : callable, optional
        Called about ten times a second with the fraction done, 0 to 1, such as a `tailback.ProgressBar`. Whatever it raises ends
        the run.
    checkpoint : path, optional
        A file from which the run goes on, if it is there, and to which it is written about every `checkpoint_every_s` seconds of
        wall-clock time, at most a twentieth of the time being spent on that, and at Ctrl-C. A run that was killed goes on to the
        same bytes. At the end the file is removed. Not for user code.
    checkpoint_every_s : float
        Above 0.
    threads : int
        Threads that share the run, 1 to 1024: the same bytes for any number. It pays for networks of many flows and links whose
        delays are not far below the times between packets; each thread takes memory as the whole run does. Where fewer can share
        it, as with user code, a `ThreadsWarning` says why.

    Returns
    -------
    Run
        Flows, queues, groups and traces as columns. With `seeds` a `Runs`: all runs, and means over them with intervals.

    Raises
    ------
    ScenarioError
        The description cannot run, or the seed is not valid; nothing was run.
    ParameterError
        `seeds` are none, or together with `seed`, `checkpoint` or `threads`; `threads` are no number from 1 to 1024.
    Interrupted
        Ctrl-C; its ``run`` holds what was measured until then. It is a `KeyboardInterrupt`. With `seeds` it is `RunsInterrupted`,
        whose ``runs`` are those that were done.
    CheckpointError
        The file is of another run or version, was damaged, or cannot be written; nothing more was run.
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
    if seeds is not None:
        for other, is_given in {"seed": seed is not None, "checkpoint": checkpoint is not None, "threads": threads != 1}.items():
            if is_given:
                raise ParameterError(f"`seeds` with `{other}`; expected one of them")
        from tailback._runs import run_all

        described._simulation(None)
        return run_all(described, seeds, lambda one, own, tell: simulate(one, own, progress=tell), progress)
    simulation = described._simulation(seed, _number(threads))
    kept = None if checkpoint is None else _Kept(simulation, Path(checkpoint), checkpoint_every_s)

    if simulation.fewer_threads:
        warnings.warn(ThreadsWarning(simulation.fewer_threads), stacklevel=2)

    def tell(done: float) -> None:
        if kept:
            kept.write_if_due()
        if progress:
            progress(done)

    try:
        advance(simulation, tell)
    except KeyboardInterrupt:
        if kept:
            kept.write()
        raise Interrupted(Run(simulation.results())) from None
    run = Run(simulation.results())
    if kept:
        kept.path.unlink(missing_ok=True)
    return run


def _number(threads: object) -> int:
    if type(threads) is not bool and isinstance(threads, Integral) and 1 <= int(threads) <= _MOST_THREADS:
        return int(threads)
    raise ParameterError(f"`threads` is {threads!r}; expected a whole number from 1 to {_MOST_THREADS}")


# At most so much of the time is spent on writing checkpoints.
_WRITING = 1 / 20


class _Kept:
    """The checkpoint of a run: read, or written at once, so that what cannot be written is known before anything runs."""

    def __init__(self, simulation: _core.Simulation, path: Path, every_s: float) -> None:
        if not every_s > 0:
            raise ParameterError(f"checkpoint_every_s is {every_s}; expected seconds above 0")
        self.path = path
        self._simulation = simulation
        self._every_s = every_s
        self._due = 0.0
        if path.exists():
            simulation.resume(path)
        self._write()

    def write_if_due(self) -> None:
        if time.monotonic() >= self._due:
            self.write()

    def write(self) -> None:
        """In the middle of a run a full disk is no reason to lose it."""
        try:
            self._write()
        except CheckpointError as error:
            self._due = time.monotonic() + self._every_s
            warnings.warn(CheckpointWarning(f"{error}; the run goes on"), stacklevel=2)

    def _write(self) -> None:
        began = time.monotonic()
        self._simulation.save(self.path)
        ended = time.monotonic()
        self._due = ended + max(self._every_s, (ended - began) / _WRITING)


def advance(simulation: _core.Simulation, progress: Callable[[float], None]) -> None:
    """Run to the end, in slices: of a number of events, for any number of them may lie in one instant. They change no byte."""
    in_slices(simulation.run_for, _FIRST_EVENTS, lambda: progress(simulation.now_s / simulation.duration_s))
