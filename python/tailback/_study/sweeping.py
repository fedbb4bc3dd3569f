"""Start a study: a grid of runs, completely validated before anything is run."""

from __future__ import annotations

import os
import shutil
import tempfile
import weakref
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Executor
from pathlib import Path
from typing import Any, Literal

from tailback._arguments import arguments_checked
from tailback._scenario import Scenario
from tailback._study.columns import unpack
from tailback._study.directory import prepare_study
from tailback._study.executors import check
from tailback._study.grid import Grid, grid
from tailback._study.runner import Progress
from tailback._study.stopping import StoppingRule, until
from tailback._study.study import Study
from tailback._study.vary import Vary
from tailback._tables.quantity import quantity_of
from tailback.errors import ParameterError

__all__ = ["check_quantity", "planned", "sweep"]

# With `until`: initial and maximum number of seeds per point. Law recommends at least ten.
_FIRST_SEEDS = 10
_MAX_SEEDS = 1000


@arguments_checked
def sweep(
    scenario: Scenario | Mapping[str, Any],
    vary: Vary | None = None,
    *,
    seeds: int | Iterable[int] | None = None,
    out: str | os.PathLike[str] | None = None,
    until: str | None = None,
    max_seeds: int = _MAX_SEEDS,
    executor: Literal["threads", "processes"] | Executor | None = None,
    workers: int | None = None,
    fail_fast: bool = False,
    extend: bool = False,
    progress: Callable[[Progress], object] | None = None,
) -> Study:
    """Run a scenario at every point of a grid with every seed, and store the results in a study.

    Parameters
    ----------
    scenario : Scenario or mapping
        The base scenario of all points.
    vary : mapping, optional
        Maps paths to values: a list, a ``range`` or a `Range`; ``*`` in a path matches every name (``flows.*.tcp.preset``). A
        tuple of paths with a list of tuples varies them together. A name with a mapping defines named variants: label to changes,
        which map paths to values. The grid is the product of all keys.
    seeds : int or iterable of int, optional
        The number of seeds, from 1, or a list of seeds; by default 1 seed, or 10 with `until`. All points use the same seeds, and
        thus common random numbers.
    out : path, optional
        Directory of the study: new, or one with the same plan, which is resumed. Without it the study is temporary.
    until : str, optional
        ``QUANTITY:WIDTH%``, such as ``goodput:2%`` or ``queues.bottleneck.utilisation:1%``: add seeds to each point until the
        half width of the 95 % interval is within this fraction of the mean.
    max_seeds : int
        With `until`: maximum number of seeds per point.
    executor : "threads", "processes" or Executor, optional
        Executor of the runs: any `concurrent.futures` executor, for example that of a Dask client. By default threads, or
        processes if a scenario names user code in Python, which holds the GIL. Workers import user code, or load its file.
    workers : int, optional
        Number of workers; by default one per processor.
    fail_fast : bool
        Stop at the first run that fails. Otherwise its error is stored, and the others continue.
    extend : bool
        If `out` is a study with another plan, replace its plan and keep the results of runs in both.
    progress : callable, optional
        Called with a `Progress` at the start and whenever runs finish; for example a `tailback.RunsBar`.

    Returns
    -------
    Study
        The study; its tables contain all runs.

    Raises
    ------
    ScenarioError
        The grid is not valid: paths that the scenario does not have, invalid values, no points, or more than a million runs.
        Lists every problem; nothing was run.
    StudyError
        `out` is not a study, is in use, or out of disk space.
    ParameterError
        `until`, `workers` or `executor` is not valid, or `until` is combined with a deterministic point.
    StudyInterrupted
        Ctrl-C. Finished runs are stored.

    Examples
    --------
    >>> import tailback as tb
    >>> scenario = tb.dumbbell(rate="10 Mbps", delay="10 ms", buffer="20 packets", duration="2 s")
    >>> study = tb.sweep(scenario, vary={"flows.*.tcp.preset": ["reno", "sack"]}, seeds=2)
    >>> study.groups.to_dict()["flows.*.tcp.preset"]
    ['reno', 'reno', 'sack', 'sack']
    """
    chosen, asked = planned(scenario, vary, seeds=seeds, until=until, max_seeds=max_seeds)
    check(executor, workers)
    directory = Path(tempfile.mkdtemp(prefix="tailback-study-")) if out is None else Path(out)
    prepare_study(directory, _plan(chosen, asked, max_seeds), chosen.planned, extend=extend)
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
    max_seeds: int,
) -> tuple[Grid, StoppingRule | None]:
    """The validated grid of a sweep."""
    described = scenario if isinstance(scenario, Scenario) else Scenario(scenario)
    asked = _goal(until, seeds, max_seeds)
    chosen = grid(described, vary, _FIRST_SEEDS if seeds is None and asked else 1 if seeds is None else seeds)
    chosen.check()
    if asked is not None:
        check_quantity(chosen, asked.quantity)
        _check_randomness(chosen)
    return chosen, asked


def _goal(text: str | None, seeds: int | Iterable[int] | None, most: int) -> StoppingRule | None:
    """Parse `until`, and check the number of seeds."""
    if text is None:
        return None
    if seeds is not None and (not isinstance(seeds, int) or isinstance(seeds, bool) or seeds < 2):
        raise ParameterError(f"`until` requires an initial number of seeds, at least 2; given {seeds!r}")
    if most < (seeds or _FIRST_SEEDS):
        raise ParameterError(f"the maximum of {most} seeds is below the initial number, {seeds or _FIRST_SEEDS}")
    return until(text)


def _plan(chosen: Grid, asked: StoppingRule | None, most: int) -> dict[str, Any]:
    """The plan in the form of the ledger."""
    return {
        "digest": chosen.digest(),
        "scenario": chosen.scenario.to_dict(),
        "columns": chosen.columns,
        "axes": [axis.text for axis in chosen.axes],
        "seeds": list(chosen.seeds),
        "until": None if asked is None else {"quantity": asked.quantity, "width": asked.width, "max_seeds": most},
    }


def check_quantity(chosen: Grid, quantity: str) -> None:
    """Raise an `UnknownName` before anything runs; a simulation that has not started has its tables already."""
    measured = quantity_of(quantity)
    tables = dict(chosen.point(0).scenario._simulation(None).results().tables)
    measured.value({name: unpack(tables[name].packed()) for name in measured.tables})


def _check_randomness(chosen: Grid) -> None:
    """Raise an error if a point is deterministic, so that more seeds have no effect."""
    for point in chosen.points():
        if not point.scenario.is_random:
            where = chosen.where(point.index)
            raise ParameterError(
                f"`until` requires randomness, but nothing is random{' at ' + where if where else ''}: every seed gives the same "
                'run; expected a random value, for example start = {uniform = ["0 s", "1 s"]}'
            )
