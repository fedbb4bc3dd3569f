"""Parallel runs of one scenario with several seeds, and means over them."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from numbers import Integral
from typing import Any, overload

from tailback._arguments import arguments_checked
from tailback._html import notebook
from tailback._interval import Interval
from tailback._process.processors import processors
from tailback._run import Run
from tailback._scenario import Scenario
from tailback._scenario.description import name_of
from tailback._scenario.scenario import seed_number
from tailback._tables.quantity import quantity_of
from tailback._tables.table import Table
from tailback.errors import ParameterError

__all__ = ["Runs", "RunsInterrupted", "run_all"]


@arguments_checked
class Runs(Sequence[Run]):
    """Runs of one scenario, one per seed.

    Attributes
    ----------
    seeds : list of int

    Examples
    --------
    >>> import tailback as tb
    >>> flows = {"web": {"count": 2, "start": {"uniform": ["0 s", "1 s"]}, "tcp": {"preset": "sack"}}}
    >>> runs = tb.simulate(tb.dumbbell(rate="10 Mbps", delay="10 ms", buffer="9 packets", flows=flows, duration="5 s"), seeds=5)
    >>> len(runs), runs[0].seed
    (5, 1)
    >>> used = runs.mean("queues.bottleneck.utilisation")
    >>> used.low < used.mean < used.high
    True
    """

    def __init__(self, runs: Iterable[Run], *, is_random: bool) -> None:
        self._runs = list(runs)
        self._is_random = is_random

    @property
    def seeds(self) -> list[int]:
        """The seeds of the runs, in order."""
        return [run.seed for run in self._runs]

    def values(self, quantity: str = "goodput") -> list[float]:
        """The values of a quantity, one per run.

        Parameters
        ----------
        quantity : str
            ``goodput`` of all groups together (bit/s), ``TABLE.NAME.COLUMN`` such as ``queues.bottleneck.utilisation``, or a
            formula of such columns; see `Run.value`.

        Raises
        ------
        ParameterError, UnknownName
            No such quantity.
        """
        asked = quantity_of(quantity)
        return [run.value(asked) for run in self._runs]

    def mean(self, quantity: str = "goodput") -> Interval:
        """The mean of a quantity with its 95 % confidence interval (Student's t): ``mean``, ``low``, ``high``; see `values`.

        The ends of a utilisation, loss rate, share or index of fairness are from 0 to 1: see `tailback.statistics.Interval`. The
        interval is NaN with a single seed, and for a deterministic scenario, in which all seeds give the same result.

        Raises
        ------
        ParameterError, UnknownName
            There is no such quantity, or no run was completed.
        """
        asked = quantity_of(quantity)
        values = [run.value(asked) for run in self._runs]
        if not values:
            raise ParameterError("no run was completed, so there is no mean")
        if len(values) > 1 and (self._is_random or len(set(values)) > 1):
            return Interval.of(values, within=asked.range)
        return Interval(values[0], math.nan)

    def means(self, *quantities: str) -> Table:
        """One row per quantity: mean, ``low`` and ``high``, and the number of seeds; see `values`."""
        found = [self.mean(quantity) for quantity in quantities]
        columns: dict[str, list[Any]] = {
            "quantity": list(quantities),
            "mean": [float(one.mean) for one in found],
            "low": [float(one.low) for one in found],
            "high": [float(one.high) for one in found],
            "seeds": [len(self._runs)] * len(found),
        }
        return Table._of("means", columns)

    @overload
    def __getitem__(self, index: int) -> Run: ...
    @overload
    def __getitem__(self, index: slice) -> Runs: ...
    def __getitem__(self, index: int | slice) -> Run | Runs:
        if isinstance(index, slice):
            return Runs(self._runs[index], is_random=self._is_random)
        return self._runs[index]

    def __len__(self) -> int:
        return len(self._runs)

    def __iter__(self) -> Iterator[Run]:
        return iter(self._runs)

    def _repr_html_(self) -> str:
        return notebook(repr(self)[1:-1], tables=[self.means("goodput")._shown()] if self._runs else [])

    def __repr__(self) -> str:
        if not self._runs:
            return "<Runs: none>"
        goodput = self.mean()
        if math.isfinite(goodput.half):
            spread = f"{goodput.low / 1e6:.4g} to {goodput.high / 1e6:.4g}"
        else:
            spread = "no interval" if self._is_random else "nothing is random"
        name = name_of(self._runs[0].scenario)
        seeds = "1 seed" if len(self) == 1 else f"{len(self)} seeds"
        return f"<Runs of {name}: {seeds}, goodput {goodput.mean / 1e6:.4g} Mbps ({spread})>"


class RunsInterrupted(KeyboardInterrupt):
    """Ctrl-C during runs of several seeds.

    Attributes
    ----------
    runs : Runs
        The completed runs.
    """

    def __init__(self, runs: Runs) -> None:
        super().__init__(f"interrupted after {len(runs)} runs")
        self.runs = runs

    def __reduce__(self) -> tuple[Any, ...]:
        return RunsInterrupted, (self.runs,)


def run_all(
    scenario: Scenario,
    seeds: int | Iterable[int],
    one: Callable[[Scenario, int, Callable[[float], None]], Run],
    progress: Callable[[float], None] | None,
) -> Runs:
    """Run every seed, in as many threads as there are processors; the core releases the GIL."""
    chosen = _seed_list(seeds)
    done = dict.fromkeys(chosen, 0.0)
    stopped, lock = threading.Event(), threading.Lock()

    def report(seed: int, part: float) -> None:
        if stopped.is_set():
            raise _StoppedError
        with lock:
            done[seed] = part
            if progress:
                progress(sum(done.values()) / len(done))

    with ThreadPoolExecutor(min(len(chosen), processors())) as pool:
        futures: dict[int, Future[Run]] = {
            seed: pool.submit(one, scenario, seed, lambda part, seed=seed: report(seed, part))  # type: ignore[misc]
            for seed in chosen
        }
        try:
            # The timeout is for signals: they are handled between calls, but not while waiting for a lock.
            while wait(futures.values(), timeout=0.1, return_when=FIRST_EXCEPTION).not_done:
                if any(future.done() and future.exception() for future in futures.values()):
                    break
            finished = {seed: future.result() for seed, future in futures.items()}
        except BaseException as error:
            stopped.set()
            for future in futures.values():
                future.cancel()
            if isinstance(error, KeyboardInterrupt):
                rest = {seed: future for seed, future in futures.items() if future.done() and not future.cancelled()}
                kept = [future.result() for future in rest.values() if future.exception() is None]
                raise RunsInterrupted(Runs(kept, is_random=scenario.is_random)) from None
            raise
    return Runs(finished.values(), is_random=scenario.is_random)


class _StoppedError(Exception):
    """Stops a run because another one failed, or because of Ctrl-C."""


def _seed_list(seeds: object) -> list[int]:
    """The seeds 1 to N, or the given seeds."""
    if type(seeds) is not bool and isinstance(seeds, Integral):
        chosen = list(range(1, int(seeds) + 1))
    elif isinstance(seeds, Iterable) and not isinstance(seeds, str | bytes):
        chosen = [seed_number(seed) for seed in seeds]
    else:
        raise ParameterError(f"`seeds` is {seeds!r}; expected a number of seeds, or a list of seeds")
    if not chosen or len(set(chosen)) < len(chosen):
        raise ParameterError(f"`seeds` is {seeds!r}; expected at least one seed, and each seed once")
    return chosen
