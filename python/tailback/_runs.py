"""Runs of one scenario with several seeds, side by side, and means over them."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from numbers import Integral
from typing import Any, overload

from tailback._html import notebook
from tailback._interval import Interval
from tailback._processors import processors
from tailback._quantity import Column, Quantity, quantity_of
from tailback._run import Run
from tailback._scenario import Scenario, _whole
from tailback._table import Table
from tailback.errors import ParameterError

__all__ = ["Runs", "RunsInterrupted", "run_all"]


class Runs(Sequence[Run]):
    """Runs of one scenario, one for each seed.

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
        """Those that were run, in their order."""
        return [run.seed for run in self._runs]

    def values(self, quantity: str = "goodput") -> list[float]:
        """A quantity in each run.

        Parameters
        ----------
        quantity : str
            ``goodput`` of all groups together (bit/s), or ``TABLE.NAME.COLUMN`` such as ``queues.bottleneck.utilisation``; ``*``
            for NAME is the mean of all rows.

        Raises
        ------
        ParameterError, UnknownName
            No such quantity.
        """
        asked = quantity_of(quantity)
        return [asked.value(_columns(run, asked)) for run in self._runs]

    def mean(self, quantity: str = "goodput") -> Interval:
        """The mean of a quantity and its 95 % interval (Student's t): ``mean``, ``low`` and ``high``; quantities as in `values`.

        The interval is unknown (NaN) with one seed, and where nothing is random, so that every seed gives the same.

        Raises
        ------
        ParameterError, UnknownName
            No such quantity, or no run.
        """
        values = self.values(quantity)
        if not values:
            raise ParameterError("no run was done: there is no mean")
        if len(values) > 1 and (self._is_random or len(set(values)) > 1):
            return Interval.of(values)
        return Interval(values[0], math.nan)

    def means(self, *quantities: str) -> Table:
        """One row a quantity: its mean, ``low`` and ``high``, and the number of seeds; quantities as in `values`."""
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
        name = self._runs[0].scenario.get("name") or "scenario"
        seeds = "1 seed" if len(self) == 1 else f"{len(self)} seeds"
        return f"<Runs of {name}: {seeds}, goodput {goodput.mean / 1e6:.4g} Mbps ({spread})>"


def _columns(run: Run, asked: Quantity) -> list[Column]:
    """Of the table that the quantity stands in: the first one, whose words name the rows, and its own."""
    table = run.tables[asked.table]
    # All of them where there is no such column: the error names them.
    wanted = [table.columns[0], asked.column] if asked.column in table else table.columns
    return [table._packed_column(column) for column in wanted]


class RunsInterrupted(KeyboardInterrupt):
    """Ctrl-C during runs of several seeds.

    Attributes
    ----------
    runs : Runs
        Those that were done.
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
    """A run for each seed, as many at once as there are processors: the core releases Python's lock."""
    chosen = _chosen(seeds)
    done = dict.fromkeys(chosen, 0.0)
    stopped, lock = threading.Event(), threading.Lock()

    def tell(seed: int, part: float) -> None:
        if stopped.is_set():
            raise _StoppedError
        with lock:
            done[seed] = part
            if progress:
                progress(sum(done.values()) / len(done))

    with ThreadPoolExecutor(min(len(chosen), processors())) as pool:
        futures: dict[int, Future[Run]] = {
            seed: pool.submit(one, scenario, seed, lambda part, seed=seed: tell(seed, part))  # type: ignore[misc]
            for seed in chosen
        }
        try:
            # Awake now and then: a signal is handled between two calls, and not while a lock is waited for.
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
    """Another run has failed, or Ctrl-C."""


def _chosen(seeds: object) -> list[int]:
    """Seeds 1 to N, or those that are given."""
    if type(seeds) is not bool and isinstance(seeds, Integral):
        chosen = list(range(1, int(seeds) + 1))
    elif isinstance(seeds, Iterable) and not isinstance(seeds, str | bytes):
        chosen = [_whole(seed) for seed in seeds]
    else:
        raise ParameterError(f"`seeds` is {seeds!r}; expected a number of seeds, or the seeds themselves")
    if not chosen or len(set(chosen)) < len(chosen):
        raise ParameterError(f"`seeds` is {seeds!r}; expected at least one, and each once")
    return chosen
