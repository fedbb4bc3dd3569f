"""Run a scenario, in slices so that Ctrl-C and progress bars work, and without the GIL so that threads run in parallel."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import nullcontext
from numbers import Integral
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

from tailback import _core, _store
from tailback._arguments import arguments_checked
from tailback._process.interrupts import interrupts
from tailback._run import Interrupted, Run, advance
from tailback._run.starvation import warn_of_starved_flows
from tailback._scenario import Scenario
from tailback.errors import (
    CheckpointError,
    CheckpointWarning,
    HostError,
    OutputError,
    ParameterError,
    ThreadsWarning,
    warn,
)

if TYPE_CHECKING:
    from tailback._simulation.runs import Runs

__all__ = ["CHECKPOINT_EVERY_S", "has_stack", "simulate", "simulate_keeping_checkpoint"]

CHECKPOINT_EVERY_S = 60.0

_MAX_THREADS = 1024


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
    capture: str | os.PathLike[str] | None = None,
) -> Run: ...
@overload
def simulate(
    scenario: Scenario | Mapping[str, Any],
    *,
    seeds: int | Iterable[int],
    progress: Callable[[float], None] | None = None,
) -> Runs: ...
@arguments_checked
def simulate(
    scenario: Scenario | Mapping[str, Any],
    seed: int | None = None,
    *,
    seeds: int | Iterable[int] | None = None,
    progress: Callable[[float], None] | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    checkpoint_every_s: float = CHECKPOINT_EVERY_S,
    threads: int = 1,
    capture: str | os.PathLike[str] | None = None,
) -> Run | Runs:
    """Simulate a scenario.

    Parameters
    ----------
    scenario : Scenario or mapping
        The scenario to simulate.
    seed : int, optional
        Seed to use instead of the scenario's; 0 <= seed < 2**53. The same scenario, seed and version give the same results, byte
        for byte, on every platform.
    seeds : int or iterable of int, optional
        Simulate several seeds: 1, 2, ... up to this number, or the given ones, in as many threads as there are processors. For a
        grid of scenarios, or more runs than fit in memory, use `tailback.sweep`.
    progress : callable, optional
        Called about ten times a second with the completed fraction, 0 to 1; for example a `tailback.ProgressBar`. An exception
        that it raises ends the run.
    checkpoint : path, optional
        Checkpoint file. The run resumes from it if it exists, and saves to it about every `checkpoint_every_s` seconds of
        wall-clock time and at Ctrl-C; saving takes at most a twentieth of the time. A resumed run gives the same bytes as an
        uninterrupted one. The file is removed at the end of the run. User code is not supported.
    checkpoint_every_s : float
        Seconds between checkpoints, above 0.
    threads : int
        Number of threads of the run, 1 to 1024; results do not depend on it. Threads pay off for networks with many flows and
        with link delays that are not much smaller than the times between packets. Each thread needs as much memory as the whole
        run. If the scenario supports fewer threads, for example because of user code, a `ThreadsWarning` gives the reason.
    capture : path, optional
        Write the packets of flows with a ``stack``, as seen at both ends, to this new pcapng file. For other flows, use
        `Run.save_capture`.

    Returns
    -------
    Run
        Flows, queues, groups and traces as columns. With `seeds`, a `Runs` with all runs and their means and intervals.

    Raises
    ------
    ScenarioError
        The scenario cannot be run, or the seed is not valid; nothing was run.
    ParameterError
        `seeds` is not valid or combined with `seed`, `checkpoint`, `threads` or `capture`, `threads` is not a number from 1 to
        1024, or `capture` is given for a scenario without a ``stack``.
    HostError
        A transport at the end of a flow failed; ``run`` holds the results so far.
    Interrupted
        Ctrl-C; ``run`` holds the results so far. It is a `KeyboardInterrupt`. With `seeds` it is `RunsInterrupted`, whose
        ``runs`` are the completed ones.
    CheckpointError
        The file belongs to another run or version, is damaged, or cannot be written; nothing more was run.
    InternalError
        A bug in Tailback, for example a violation of packet conservation.

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
        others = {
            "seed": seed is not None,
            "checkpoint": checkpoint is not None,
            "threads": threads != 1,
            "capture": capture is not None,
        }
        for other, is_given in others.items():
            if is_given:
                raise ParameterError(f"`seeds` cannot be combined with `{other}`; expected one of them")
        from tailback._simulation.runs import run_all

        described._simulation(None)
        runs = run_all(
            described, seeds, lambda one, own, report: simulate_keeping_checkpoint(one, own, progress=report), progress
        )
        warn_of_starved_flows(run.tables for run in runs)
        return runs
    if capture is not None and not has_stack(described.to_dict()):
        raise ParameterError("`capture` writes the packets of flows with a `stack`, and the scenario has none")
    fault = None
    with nullcontext() if capture is None else _store.staged_file(capture) as packets:
        try:
            run = simulate_keeping_checkpoint(
                described,
                seed,
                progress=progress,
                checkpoint=checkpoint,
                checkpoint_every_s=checkpoint_every_s,
                threads=threads,
                packets=packets,
            )
        except HostError as error:
            # The capture shows what led to it.
            fault = error
    if fault is not None:
        try:
            raise fault
        finally:
            # Its traceback has this frame. The cycle would keep the hosts, which may be processes, until the next collection.
            del fault
    if checkpoint is not None:
        Path(checkpoint).unlink(missing_ok=True)
    warn_of_starved_flows([run.tables])
    return run


def simulate_keeping_checkpoint(
    described: Scenario,
    seed: int | None,
    *,
    progress: Callable[[float], None] | None,
    checkpoint: str | os.PathLike[str] | None = None,
    checkpoint_every_s: float = CHECKPOINT_EVERY_S,
    threads: int = 1,
    packets: Path | None = None,
) -> Run:
    """Like `simulate`, but the checkpoint remains, and the caller has prepared the file `packets` of the capture: for callers
    that first store the results. Starved flows cause no warning: the caller may have many runs.
    """
    simulation = described._simulation(seed, _number(threads))
    if packets is not None:
        simulation.capture(packets)
    saved = None if checkpoint is None else _CheckpointFile(simulation, Path(checkpoint), checkpoint_every_s)

    if simulation.fewer_threads:
        warn(ThreadsWarning(simulation.fewer_threads))

    def report(done: float) -> None:
        if saved:
            saved.write_if_due()
        if progress:
            progress(done)

    received: list[int] | None = None
    try:
        with interrupts() if simulation.has_user_code else nullcontext() as received:
            advance(simulation, report)
    except HostError:
        _finish_capture(simulation)
        raise
    except KeyboardInterrupt as interrupt:
        _finish_capture(simulation)
        if received == [] and (error := getattr(interrupt, "user_code_error", None)):
            raise error from interrupt
        if saved:
            saved.write()
        raise Interrupted(Run(simulation.results())) from None
    _finish_capture(simulation)
    return Run(simulation.results())


def has_stack(description: Mapping[str, Any]) -> bool:
    """Whether a flow of the scenario runs on a transport stack."""
    return any("stack" in (flow.get("tcp") or {}) for flow in description.get("flows", {}).values())


def _finish_capture(simulation: _core.Simulation) -> None:
    if problem := simulation.finish_capture():
        error = OutputError(problem)
        error.was_run = True
        raise error


def _number(threads: object) -> int:
    if type(threads) is not bool and isinstance(threads, Integral) and 1 <= int(threads) <= _MAX_THREADS:
        return int(threads)
    raise ParameterError(f"`threads` is {threads!r}; expected a whole number from 1 to {_MAX_THREADS}")


# Maximum share of the time that is spent on writing checkpoints.
_WRITING = 1 / 20


class _CheckpointFile:
    """The checkpoint of a run. It is read or written at construction, so that write errors appear before the run starts."""

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
        """Save the run. During a run, a write error (such as a full disk) is only a warning."""
        try:
            self._write()
        except CheckpointError as error:
            self._due = time.monotonic() + self._every_s
            warn(CheckpointWarning(f"{error}; the run continues"))

    def _write(self) -> None:
        began = time.monotonic()
        self._simulation.save(self.path)
        ended = time.monotonic()
        self._due = ended + max(self._every_s, (ended - began) / _WRITING)
