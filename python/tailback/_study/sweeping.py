"""What starts a study: a grid of runs, everything about it checked before anything is run."""

from __future__ import annotations

import os
import shutil
import tempfile
import weakref
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Executor
from pathlib import Path
from typing import Any, Literal

from tailback._quantity import quantity_of
from tailback._scenario import Scenario
from tailback._study.columns import unpack
from tailback._study.crew import check
from tailback._study.directory import laid
from tailback._study.grid import Grid, grid
from tailback._study.runner import Progress
from tailback._study.stopping import Until, until
from tailback._study.study import Study
from tailback._study.vary import Vary
from tailback.errors import ParameterError

__all__ = ["planned", "sweep"]

# With `until`: how many seeds a point has first, and at most. Law advises at least ten.
_FIRST_SEEDS = 10
_MOST_SEEDS = 1000


def sweep(
    scenario: Scenario | Mapping[str, Any],
    vary: Vary | None = None,
    *,
    seeds: int | Iterable[int] | None = None,
    out: str | os.PathLike[str] | None = None,
    until: str | None = None,
    most_seeds: int = _MOST_SEEDS,
    executor: Literal["threads", "processes"] | Executor | None = None,
    workers: int | None = None,
    fail_fast: bool = False,
    extend: bool = False,
    progress: Callable[[Progress], object] | None = None,
) -> Study:
    """Run a scenario at every point of a grid with every seed, and keep the results in a study.

    Parameters
    ----------
    scenario : Scenario or mapping
        What all points share.
    vary : mapping, optional
        Path of a field to the values that it takes: a list, a ``range`` or a `Span`; ``*`` stands for every name
        (``flows.*.tcp.preset``). A tuple of paths to a list of tuples varies these in step. A name to a mapping has named
        variants: label to changes, which are path to value. Different keys are crossed.
    seeds : int or iterable of int, optional
        The number of seeds, counted from 1, or the seeds themselves; by default 1 seed, or 10 with `until`. Every point runs with
        the same seeds, and so with common random numbers.
    out : path, optional
        The study's directory: new, or one with this same plan, which then resumes. Without it the study vanishes with the object.
    until : str, optional
        ``QUANTITY:WIDTH%``, such as ``goodput:2%`` or ``queues.bottleneck.utilisation:1%``: add seeds to each point until the
        half width of the 95 % interval is within that fraction of the mean.
    most_seeds : int
        With `until`: no more seeds than this.
    executor : "threads", "processes" or Executor, optional
        What does the runs: any `concurrent.futures` executor will do, for example that of a Dask client. By default threads, or
        processes where a scenario names user code in Python, which holds Python's lock. Workers import it, or load its file.
    workers : int, optional
        Number of workers; by default one per processor.
    fail_fast : bool
        Stop at the first run that fails. Otherwise its error is kept, and the others go on.
    extend : bool
        Let `out` be a study with another plan: it gets this one, and keeps the results that both ask for.
    progress : callable, optional
        Called with a `Progress` whenever runs are finished, and at the start, such as a `tailback.RunsBar`.

    Returns
    -------
    Study
        Its tables have all runs.

    Raises
    ------
    ScenarioError
        Everything that is wrong with the grid: paths that the scenario does not have, values that do not fit, no points at
        all, or more than a million runs. Nothing was run.
    StudyError
        `out` is something else, in use, or without room.
    ParameterError
        `until`, `workers` or `executor` make no sense, or `until` is asked of a point where nothing is random.
    StudyInterrupted
        Ctrl-C. What was finished is kept.

    Examples
    --------
    >>> import tailback as tb
    >>> scenario = tb.dumbbell(rate="10 Mbps", delay="10 ms", buffer="20 packets", duration="2 s")
    >>> study = tb.sweep(scenario, vary={"flows.*.tcp.preset": ["reno", "sack"]}, seeds=2)
    >>> study.groups.to_dict()["flows.*.tcp.preset"]
    ['reno', 'reno', 'sack', 'sack']
    """
    chosen, asked = planned(scenario, vary, seeds=seeds, until=until, most_seeds=most_seeds)
    check(executor, workers)
    directory = Path(tempfile.mkdtemp(prefix="tailback-study-")) if out is None else Path(out)
    laid(directory, _plan(chosen, asked, most_seeds), chosen.planned, extend=extend)
    study = Study(directory)
    if out is None:
        weakref.finalize(study, shutil.rmtree, directory, ignore_errors=True)
    return study.resume(executor=executor, workers=workers, fail_fast=fail_fast, progress=progress)


def planned(
    scenario: Scenario | Mapping[str, Any],
    vary: Vary | None,
    *,
    seeds: int | Iterable[int] | None,
    until: str | None,
    most_seeds: int,
) -> tuple[Grid, Until | None]:
    """The grid that a sweep would run, everything about it checked."""
    described = scenario if isinstance(scenario, Scenario) else Scenario(scenario)
    asked = _goal(until, seeds, most_seeds)
    chosen = grid(described, vary, _FIRST_SEEDS if seeds is None and asked else 1 if seeds is None else seeds)
    chosen.check()
    if asked is not None:
        _check_quantity(chosen, asked)
        _check_chance(chosen)
    return chosen, asked


def _goal(text: str | None, seeds: int | Iterable[int] | None, most: int) -> Until | None:
    """What `until` asks for, if it fits the seeds."""
    if text is None:
        return None
    if seeds is not None and (not isinstance(seeds, int) or isinstance(seeds, bool) or seeds < 2):
        raise ParameterError(f"`until` begins with a number of seeds, at least 2; given {seeds!r}")
    if most < (seeds or _FIRST_SEEDS):
        raise ParameterError(f"at most {most} seeds, but the first round has {seeds or _FIRST_SEEDS}")
    return until(text)


def _plan(chosen: Grid, asked: Until | None, most: int) -> dict[str, Any]:
    """What was asked for, as the ledger keeps it."""
    return {
        "digest": chosen.digest(),
        "scenario": chosen.scenario.to_dict(),
        "columns": chosen.columns,
        "axes": [axis.text for axis in chosen.axes],
        "seeds": list(chosen.seeds),
        "until": None if asked is None else {"quantity": asked.quantity, "width": asked.width, "most": most},
    }


def _check_quantity(chosen: Grid, asked: Until) -> None:
    """Raise an `UnknownName` before anything runs: a run that has not begun has its tables too."""
    measured = quantity_of(asked.quantity)
    tables = dict(chosen.point(0).scenario._simulation(None).results().tables)
    measured.value(unpack(tables[measured.table].packed()))


def _check_chance(chosen: Grid) -> None:
    """Raise where more seeds would tell nothing."""
    for point in chosen.points():
        if not point.scenario.is_random:
            where = chosen.where(point.index)
            raise ParameterError(
                f"`until` asks for seeds, and nothing is random{' at ' + where if where else ''}: every seed gives the same run; "
                'expected something drawn, such as start = {uniform = ["0 s", "1 s"]}'
            )
