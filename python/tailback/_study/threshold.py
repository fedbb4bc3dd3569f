"""The value of a setting at which a quantity reaches a target: a study whose runs are chosen by a bisection."""

from __future__ import annotations

import os
import shutil
import tempfile
import weakref
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Executor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from tailback import _core
from tailback._arguments import arguments_checked
from tailback._html import HtmlList, notebook
from tailback._scenario import Scenario
from tailback._study import means
from tailback._study.directory import prepare_study, working
from tailback._study.executors import check, open_pool
from tailback._study.finished import samples
from tailback._study.ledger import LEDGER, Ledger
from tailback._study.runner import Progress
from tailback._study.searching import Search
from tailback._study.study import Study
from tailback._study.vary import label
from tailback._tables.quantity import quantity_of
from tailback._tables.table import Table
from tailback._tables.text import aligned
from tailback._tables.text import quantity as written
from tailback.errors import StudyInterrupted
from tailback.user_code._loading import place
from tailback.user_code._registry import provenance_of

__all__ = ["Threshold", "threshold"]


@arguments_checked
@dataclass(frozen=True)
class Threshold:
    """The value of a setting at which a quantity reaches a target.

    Attributes
    ----------
    key, quantity : str
        The setting and the quantity.
    target : float
    value : str, int, float or None
        The first value from which on the mean over the seeds reaches the target: at or above it if the mean rises with the
        setting, at or below it if the mean falls. Three significant digits. None if the target is outside the range.
    low, high : str, int, float or None
        Ends of the 95 % interval of `value`; None where it extends beyond the range, and if nothing is random.
    outside : "below", "above" or None
        Whether the quantity reaches the target below or above the whole range.
    is_random : bool
        False if all seeds give the same results, so that `value` is exact to its digits.
    problem : str
        Why `value` is missing or not unique: the target is outside the range, or the quantity is not monotonic. Empty if neither.
    study : Study
        The study with all runs.
    """

    key: str
    quantity: str
    target: float
    value: Any
    low: Any
    high: Any
    outside: Literal["below", "above"] | None
    is_random: bool
    problem: str
    study: Study
    _order: Mapping[Any, int]

    @property
    def runs(self) -> Table:
        """All runs, as in `Study.runs`."""
        return self.study.runs

    @property
    def means(self) -> Table:
        """The mean at every value of the search with its 95 % interval, as in `Study.means`, in ascending order of the values."""
        return means_in_order(self.study, self.quantity, self.key, self._order)

    def to_dict(self) -> dict[str, Any]:
        """All results, in types that JSON supports except NaN."""
        names = ("key", "quantity", "target", "value", "low", "high", "outside", "is_random", "problem")
        return {name: getattr(self, name) for name in names} | {
            "runs": self.study.counts.done,
            "means": self.means.to_rows(),
        }

    @property
    def sentence(self) -> str:
        """The answer in one sentence."""
        if self.value is None:
            return self.problem
        text = f"{self.quantity} reaches {self.target:.10g} at {self.key} = {self.value}"
        if not self.is_random:
            return f"{text}; nothing is random, so that there is no interval"
        low, high = ("the end of the range" if end is None else end for end in (self.low, self.high))
        return f"{text}, 95 % interval {low} to {high}"

    def __str__(self) -> str:
        column = "goodput_bps" if self.quantity == "goodput" else self.quantity.rpartition(".")[2]
        lines = [[self.key, "seeds", self.quantity, "95 % interval"]]
        for row in self.means.to_rows():
            mean, low, high = (written(column, row[end]) for end in ("mean", "low", "high"))
            lines.append([str(row[self.key]), str(row["seeds"]), mean, "-" if low == "-" else f"{low} to {high}"])
        problem = f"\n{self.problem}" if self.problem and self.value is not None else ""
        return f"{aligned(lines)}\n\n{self.sentence}{problem}"

    def _repr_html_(self) -> str:
        lists = (HtmlList("problem", [self.problem] if self.problem else []),)
        return notebook(self.sentence, tables=[self.means._shown()], lists=lists)


@arguments_checked
def threshold(
    scenario: Scenario | Mapping[str, Any],
    quantity: str,
    target: float | str,
    *,
    over: Mapping[str, Any],
    seeds: int | Iterable[int] = 10,
    precision: float | None = None,
    max_seeds: int = 128,
    out: str | os.PathLike[str] | None = None,
    executor: Literal["threads", "processes"] | Executor | None = None,
    workers: int | None = None,
    extend: bool = False,
    progress: Callable[[Progress], object] | None = None,
) -> Threshold:
    """Find the value of a setting at which a quantity reaches a target, with its 95 % interval, by bisection.

    The mean over the seeds decides at every value. All values use the same seeds, and thus common random numbers. The quantity
    may rise or fall with the setting, but should be monotonic; `Threshold.problem` reports contradictions.

    Parameters
    ----------
    scenario : Scenario or mapping
    quantity : str
        As in `Study.means`, such as ``queues.bottleneck.utilisation``.
    target : float or str
        In the unit of the quantity, or a text with a unit, such as ``"98 %"`` or ``"20 ms"``.
    over : mapping
        Maps a path to the two ends of its range, such as ``{"topology.dumbbell.queue.buffer": ("1 packet", "2000 packets")}``:
        numbers, or quantities of one kind. ``*`` in a path matches every name.
    seeds : int or iterable of int
        The number of seeds, from 1, or a list of seeds; at least 2 if anything is random.
    precision : float, optional
        Double the number of seeds until the half width of the 95 % interval of the quantity at the answer is at most this, in its
        unit.
    max_seeds : int
        With `precision`: maximum number of seeds.
    out : path, optional
        Directory of the study: new, or one of the same search, which is resumed. Without it the study is temporary.
    executor, workers, progress
        As in `sweep`.
    extend : bool
        If `out` is another search, replace it and keep the results of runs in both.

    Raises
    ------
    ScenarioError
        The scenario, the path or an end of the range is not valid.
    ParameterError, UnknownName
        There is no such quantity, or the target, the range or the number of seeds is not valid.
    StudyError
        A run failed, or `out` is not such a study, is in use, or out of disk space. Finished runs are stored.
    StudyInterrupted
        Ctrl-C. Finished runs are stored.

    Examples
    --------
    >>> import tailback as tb
    >>> flows = {"tcp": {"start": {"uniform": ["0 s", "1 s"]}, "tcp": {"preset": "sack"}}}
    >>> scenario = tb.dumbbell(rate="10 Mbps", delay="10 ms", buffer="20 packets", duration="20 s", warmup="5 s", flows=flows)
    >>> buffer = {"topology.dumbbell.queue.buffer": ("1 packet", "100 packets")}
    >>> found = tb.threshold(scenario, "queues.bottleneck.utilisation", "95 %", over=buffer, seeds=4)
    >>> found.low, found.value, found.high
    ('11 packets', '11 packets', '12 packets')
    """
    described = scenario if isinstance(scenario, Scenario) else Scenario(scenario)
    search = Search.of(described, quantity, target, over, seeds, precision, max_seeds)
    return searched(search, out=out, executor=executor, workers=workers, extend=extend, progress=progress)


def searched(
    search: Search,
    *,
    out: str | os.PathLike[str] | None,
    executor: Literal["threads", "processes"] | Executor | None = None,
    workers: int | None = None,
    extend: bool = False,
    progress: Callable[[Progress], object] | None = None,
) -> Threshold:
    """The outcome of a search; see `threshold`."""
    check(executor, workers)
    directory = Path(tempfile.mkdtemp(prefix="tailback-study-")) if out is None else Path(out)
    prepare_study(directory, search.plan, tuple, extend=extend)
    code = sorted({(kind, name) for kind, name, _ in _core.named_user_code(*search.ends.scenario._source())})
    pool = open_pool(executor, workers, with_code=bool(code))
    try:
        with working(directory, pool, again="the same", fail_fast=True, on_progress=progress) as (ledger, runner):
            # The search is replayed from its start: finished runs are found by their content.
            ledger.restart(search.plan)
            ledger.keep_code(provenance_of(code))
            ledger.retry_failed()
            search.run(ledger, runner, tuple(place(kind, name) for kind, name in code))
    except KeyboardInterrupt:
        raise StudyInterrupted(f"interrupted; finished runs are stored in `{directory}`, and the same search resumes") from None
    study = Study(directory)
    if out is None:
        weakref.finalize(study, shutil.rmtree, directory, ignore_errors=True)
    crossing, value = search.crossing, search.value
    low, high = crossing.interval if crossing.outside is None and search.is_random else (None, None)
    return Threshold(
        key=search.key,
        quantity=search.quantity,
        target=crossing.target,
        value=None if crossing.outside else value(crossing.answer),
        low=None if low is None else value(low),
        high=None if high is None else value(high),
        outside=crossing.outside,
        is_random=search.is_random,
        problem=search.problem,
        study=study,
        _order={label(value(index)): index for index in crossing.known},
    )


def means_in_order(study: Study, quantity: str, key: str, order: Mapping[Any, int]) -> Table:
    """The means of a study with one axis, ordered by the places of its labels."""
    with Ledger(study.directory / LEDGER, thorough=False) as ledger:
        texts = {labels[key]: text for _, labels, text in ledger.points()}
        found = sorted(samples(ledger, quantity), key=lambda sample: order[sample[0][key]])
        is_random = {name: _core.is_random(text, "", "json") for name, text in texts.items()}
    columns = means.means(found, [key], means.student(quantity_of(quantity).range), lambda labels: is_random[labels[key]])
    return Table(_core.Table(quantity, columns))
