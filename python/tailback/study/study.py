"""A study: a sweep that lives in a directory, survives its process, and is read as tables."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from tailback import _core
from tailback.code.loading import Place, place
from tailback.code.registry import told
from tailback.errors import ParameterError, StudyError, StudyInterrupted, UnknownName
from tailback.scenario import Scenario
from tailback.study import comparison, exporting, figures, statistics
from tailback.study.comparison import Comparison
from tailback.study.crew import check, crew
from tailback.study.grid import Grid, grid
from tailback.study.ledger import LEDGER, Counts, Ledger
from tailback.study.lock import Lock, held
from tailback.study.place import LOCK, TRACES, laid, working, writing
from tailback.study.rounds import Rounds
from tailback.study.rows import Column, column, join, unpack
from tailback.study.runner import Progress, Runner
from tailback.study.stopping import Until, quantity_of, until
from tailback.study.vary import Vary
from tailback.study.work import Simulated
from tailback.table import Table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["Removed", "Study", "sweep"]

# With `until`: how many seeds a point has first, and at most. Law advises at least ten.
_FIRST_SEEDS = 10
_MOST_SEEDS = 1000


@dataclass(frozen=True)
class Removed:
    """What `Study.gc` removed: results that the plan no longer asks for, traces without a result, and their bytes."""

    results: int
    traces: int
    bytes: int


class Study:
    """A study on disk.

    Parameters
    ----------
    directory : path
        Where `sweep` or ``tailback sweep --out`` made it.

    Raises
    ------
    StudyError
        There is none, or its ledger is damaged, foreign, or of a newer Tailback.

    Examples
    --------
    >>> import tailback as tb
    >>> scenario = tb.dumbbell(rate="10 Mbps", delay="10 ms", buffer="20 packets", duration="2 s")
    >>> study = tb.sweep(scenario, vary={"topology.dumbbell.queue.buffer": ["5 packets", "50 packets"]}, seeds=3)
    >>> study.counts.done, len(study.queues)
    (6, 12)
    >>> study.queues.columns[:3]
    ['point', 'seed', 'topology.dumbbell.queue.buffer']
    """

    def __init__(self, directory: str | os.PathLike[str]) -> None:
        self.directory = Path(directory)
        with self._ledger(thorough=True):
            pass

    @property
    def counts(self) -> Counts:
        """Runs that are planned, running, done and failed."""
        with self._ledger() as ledger:
            return ledger.counts(working=self.working)

    @property
    def working(self) -> bool:
        """Whether a process works on it now."""
        return held(self.directory / LOCK)

    @property
    def owner(self) -> dict[str, Any] | None:
        """``process`` and ``host`` of who works on it now."""
        with self._ledger() as ledger:
            return ledger.owner if self.working else None

    @property
    def plan(self) -> dict[str, Any]:
        """What was asked for: scenario, columns, seeds, the width if one was asked for, and the version."""
        with self._ledger() as ledger:
            return ledger.plan

    @property
    def runs(self) -> Table:
        """One row a run: its point, seed and labels, its state, and what became of it."""
        with self._ledger() as ledger:
            rows = ledger.runs()
            columns = [
                *_labels(ledger, [(row.point, row.seed) for row in rows]),
                column("state", [row.state for row in rows]),
                column("error", [row.error or "" for row in rows]),
                column("events", [row.events for row in rows]),
                column("simulated_s", [float(row.simulated_s) for row in rows]),
                column("content_hash", [row.content_hash for row in rows]),
            ]
        return Table(_core.Table("runs", columns))

    @property
    def flows(self) -> Table:
        """`Run.flows` of all runs that are done, in front of it point, seed and labels."""
        return self.table("flows")

    @property
    def queues(self) -> Table:
        """`Run.queues` of all runs that are done, in front of it point, seed and labels."""
        return self.table("queues")

    @property
    def groups(self) -> Table:
        """`Run.groups` of all runs that are done, in front of it point, seed and labels."""
        return self.table("groups")

    def table(self, name: str) -> Table:
        """``flows``, ``queues`` or ``groups`` of all runs that are done.

        Raises
        ------
        UnknownName
            No run has such a table.
        """
        with self._ledger() as ledger:
            known = ledger.table_names()
            if name not in known:
                raise UnknownName("table", name, known)
            runs: list[tuple[int, int]] = []
            parts: list[list[Column]] = []
            for point, seed, packed in ledger.tables(name):
                runs.append((point, seed))
                parts.append(unpack(packed))
            return join(name, parts, _labels(ledger, runs))

    @property
    def tables(self) -> dict[str, Table]:
        """All tables by name, `runs` first."""
        with self._ledger() as ledger:
            names = ledger.table_names()
        return {"runs": self.runs, **{name: self.table(name) for name in names}}

    def means(self, quantity: str = "goodput", *, interval: Literal["t", "bootstrap"] = "t", seed: int = 1) -> Table:
        """A quantity at every point: seeds, mean, and ``low`` and ``high``, the ends of its 95 % interval.

        Parameters
        ----------
        quantity : str
            ``goodput`` of all groups together (bit/s), or ``TABLE.NAME.COLUMN`` such as ``queues.bottleneck.utilisation``; ``*``
            for NAME is the mean of all rows.
        interval : "t" or "bootstrap"
            Of Student's t, for means that are about normal, or by `tailback.statistics.bootstrap` (BCa), for skewed ones.
        seed : int
            Of the bootstrap's draws, >= 0.

        Raises
        ------
        ParameterError, UnknownName
            No such quantity or interval.
        """
        if interval not in ("t", "bootstrap"):
            raise ParameterError(f"`interval` is {interval!r}; expected `t` or `bootstrap`")
        bounds = statistics.student if interval == "t" else statistics.bootstrapped(seed)
        with self._ledger() as ledger:
            columns = statistics.means(_samples(ledger, quantity), ledger.plan["columns"], bounds)
        return Table(_core.Table(quantity, columns))

    def difference(self, axis: str, left: Any, right: Any, quantity: str = "goodput") -> Table:
        """How much more a quantity is with the label `right` of an axis than with `left`, for each combination of the others.

        The mean of the differences seed by seed, and its 95 % interval: paired on common random numbers. A difference is
        there if the interval does not hold zero.

        Raises
        ------
        ParameterError, UnknownName
            No such quantity, axis or label.

        Examples
        --------
        >>> import tailback as tb
        >>> scenario = tb.dumbbell(rate="10 Mbps", delay="10 ms", buffer="20 packets", duration="2 s")
        >>> study = tb.sweep(scenario, vary={"flows.tcp.count": [1, 2]}, seeds=3)
        >>> study.difference("flows.tcp.count", 1, 2)["seeds"].tolist()
        [3]
        """
        with self._ledger() as ledger:
            columns = statistics.differences(_samples(ledger, quantity), ledger.plan["columns"], axis, left, right)
        return Table(_core.Table(quantity, columns))

    def plot(
        self,
        quantity: str = "goodput",
        *,
        kind: figures.Kind = "line",
        over: str | Sequence[str] | None = None,
        by: str | None = None,
        where: Mapping[str, Any] | None = None,
    ) -> Figure:
        """A quantity along the axes of the study; needs matplotlib. ``savefig`` of what is returned writes PDF or SVG.

        Parameters
        ----------
        quantity : str
            As in `means`.
        kind : "line", "ecdf" or "heat"
            The mean over seeds along one axis, in its 95 % band of Student's t; the share of rows of all runs at or below a
            value (of runs, for ``goodput``), where rows without a number, such as flows that were not done, count as never; or
            the mean over two axes as colours.
        over : str or pair of str, optional
            The axis along x, for ``heat`` the axes along x and y; those that are left without it. None for ``ecdf``.
        by : str, optional
            The axis that has a line for each of its labels, at most eight. None for ``heat``.
        where : mapping, optional
            Axis to the one label that is shown. Every axis that varies needs a place.

        Raises
        ------
        MissingExtra
            If matplotlib is not installed.
        ParameterError, UnknownName
            No such quantity, kind, axis or label; an axis has no place, or two; or no run is finished.

        Examples
        --------
        >>> import tailback as tb
        >>> scenario = tb.dumbbell(rate="10 Mbps", delay="10 ms", buffer="20 packets", duration="2 s")
        >>> study = tb.sweep(scenario, vary={"topology.dumbbell.queue.buffer": ["5 packets", "20 packets"]}, seeds=3)
        >>> study.plot("queues.bottleneck.utilisation").axes[0].get_xlabel()
        'topology.dumbbell.queue.buffer, packets'
        """
        measured = quantity_of(quantity)
        with self._ledger() as ledger:
            labels = {point: labels for point, labels, _ in ledger.points()}
            asked = figures.drawn(kind, over, by, where, list(labels.values()))
            runs = ((labels[point], unpack(packed)) for point, _, packed in ledger.tables(measured.table))
            every_row = kind == "ecdf" and measured.name != "goodput"
            numbers = ((own, measured.values(columns) if every_row else [measured.value(columns)]) for own, columns in runs)
            return figures.figure(measured, asked, numbers)

    def traces(self, kind: str) -> list[dict[str, Any]]:
        """The traces of a kind: point, seed, labels, and the Parquet ``file`` of each run that recorded it.

        Raises
        ------
        UnknownName
            No run has a trace of that kind.
        """
        with self._ledger() as ledger:
            labels = {point: labels for point, labels, _ in ledger.points()}
            found = ledger.traces()
        if kind not in {recorded for _, _, recorded, _ in found}:
            raise UnknownName("trace", kind, sorted({recorded for _, _, recorded, _ in found}))
        folder = self.directory / TRACES
        return [
            {"point": point, "seed": seed, **labels[point], "file": folder / content_hash / f"{kind}.parquet"}
            for point, seed, recorded, content_hash in found
            if recorded == kind
        ]

    def provenance(self, point: int, seed: int) -> dict[str, Any]:
        """The full scenario, seed, version, content hash and user code of one run that is done.

        Raises
        ------
        UnknownName
            There is no such run, or it is not done.
        """
        with self._ledger() as ledger:
            done = {(row.point, row.seed): row for row in ledger.runs() if row.state == "done"}
            if (point, seed) not in done:
                raise UnknownName("finished run", f"{point}, {seed}", [f"{point}, {seed}" for point, seed in list(done)[:10]])
            row, scenario = done[point, seed], ledger.normalised(point)
            provenance = {
                "scenario": {**scenario, "seed": seed},
                "seed": seed,
                "version": ledger.version(row.content_hash),
                "content_hash": row.content_hash,
                "simulated_s": row.simulated_s,
                "events": row.events,
            }
            known = {(code["kind"], code["name"]): code for code in ledger.code}
            named = _core.user_code(json.dumps(scenario), "", "json") if known else []
            told_of = [{"at": at, **known[kind, name]} for kind, name, at in named]
            return {**provenance, "user_code": told_of} if told_of else provenance

    def resume(
        self,
        *,
        executor: Literal["threads", "processes"] | Executor | None = None,
        workers: int | None = None,
        fail_fast: bool = False,
        retry_failed: bool = False,
        refresh: bool = False,
        progress: Callable[[Progress], object] | None = None,
    ) -> Study:
        """Do what is left; runs that are done stay.

        Parameters
        ----------
        executor, workers, fail_fast, progress
            As in `sweep`.
        retry_failed : bool
            Do failed runs again, too.
        refresh : bool
            If the core or user code has changed since: do all runs again with this one. Without it such a study is refused,
            for its runs would not be comparable.

        Raises
        ------
        StudyError
            Another process works on it, the core or user code has changed, or the disk is full. What was finished is kept.
        ScenarioError
            A scenario names user code that is not registered.
        StudyInterrupted
            Ctrl-C. What was finished is kept.
        """
        if command := self.plan.get("command"):
            raise StudyError(f"`{self.directory}` keeps the runs of `{command}`: that command goes on with them")
        again = f"`tailback study resume {self.directory}`"
        with self._ledger() as ledger:
            code = _code(ledger)
        workforce = crew(executor, workers, with_code=bool(code))
        try:
            with working(self.directory, workforce, again=again, fail_fast=fail_fast, tell=progress) as (ledger, runner):
                self._renew_hashes(ledger, refresh=refresh)
                ledger.keep_code(told(code))
                ledger.begin()
                if retry_failed:
                    ledger.retry_failed()
                self._work(ledger, runner, tuple(place(kind, name) for kind, name in code))
        except KeyboardInterrupt:
            counts = self.counts
            text = f"interrupted; {counts.done + counts.failed} of {counts.total} runs are kept"
            raise StudyInterrupted(f"{text}; {again} does the rest") from None
        return self

    def export(
        self, directory: str | os.PathLike[str], *, format: Literal["parquet", "csv", "json"] = "parquet", traces: bool = False
    ) -> None:
        """Write all tables, and the plan, to a new directory: all of it or nothing.

        The bytes depend on the plan and the version alone: not on who did the runs, in which order, how often it was
        interrupted, or when. Traces are copied if asked for; they are Parquet in every format.

        Raises
        ------
        OutputError
            The directory exists or cannot be written.
        """
        files = []
        if traces:
            with self._ledger() as ledger:
                files = [
                    (f"{kind}-{point}-{seed}.parquet", self.directory / TRACES / content_hash / f"{kind}.parquet")
                    for point, seed, kind, content_hash in ledger.traces()
                ]
        exporting.write(Path(directory), self.tables, self.plan, format, files)

    def compare(self, other: Study) -> Comparison:
        """Where the results of two studies differ: runs that only one of them has, and values that are not the same.

        Runs are the same if their labels and seeds are.
        """
        with self._ledger() as ours, other._ledger() as theirs:
            return comparison.compare(ours, theirs, self.directory / TRACES, other.directory / TRACES)

    def gc(self) -> Removed:
        """Remove what nothing refers to: results of an earlier plan or core, and traces of runs that were cut off.

        Raises
        ------
        StudyError
            A process works on it.
        """
        with Lock(self.directory / LOCK), writing(self.directory, "the same"), self._ledger() as ledger:
            results = ledger.sweep_out()
            kept = {content_hash for *_, content_hash in ledger.traces()}
            folder = self.directory / TRACES
            stale = [entry for entry in folder.iterdir() if entry.name not in kept] if folder.exists() else []
            freed = sum(file.stat().st_size for entry in stale for file in entry.rglob("*") if file.is_file())
            for entry in stale:
                shutil.rmtree(entry)
        return Removed(results, len(stale), freed)

    def _work(self, ledger: Ledger, runner: Runner, code: tuple[Place, ...]) -> None:
        """All runs of the plan, and more seeds until the width is reached."""
        until = ledger.plan.get("until")
        asked = None if until is None else Until(until["quantity"], until["width"])
        work = {point: Simulated(text, code) for point, _, text in ledger.points()}
        rounds = Rounds(ledger, work, asked, until["most"] if until else 0)
        runner.run(rounds.first(), None if asked is None else rounds.after)

    def _renew_hashes(self, ledger: Ledger, *, refresh: bool) -> None:
        """Refuse, or take up, a core that is not the one that the plan was made with."""
        texts = {point: text for point, _, text in ledger.points()}
        seeds: dict[int, dict[int, str]] = {}
        for row in ledger.runs():
            seeds.setdefault(row.point, {})[row.seed] = row.content_hash
        stale = []
        for point, known in seeds.items():
            hashes = _core.content_hashes(texts[point], "", "json", list(known))
            stale += [(point, seed, now) for (seed, before), now in zip(known.items(), hashes, strict=True) if now != before]
        if stale and not refresh:
            raise StudyError(
                f"`{self.directory}` was planned with another core (Tailback {ledger.plan['version']}), or with user code that "
                "has changed since: its runs could not be compared with new ones. Begin a new study, or do all runs again with "
                "`tailback study resume --refresh`"
            )
        ledger.rehash(stale)

    def _ledger(self, *, thorough: bool = False) -> Ledger:
        return Ledger(self.directory / LEDGER, thorough=thorough)

    def __repr__(self) -> str:
        counts = self.counts
        return f"<Study {self.directory}: {counts.done} of {counts.total} runs done, {counts.failed} failed>"

    def _repr_html_(self) -> str:
        return f"<h4>{escape(repr(self)[1:-1])}</h4>{self.runs._repr_html_()}"


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
        (``flows.*.tcp.preset``). A tuple of paths to a list of tuples varies these side by side. A name to a mapping
        has named variants: label to changes, which are path to value. Different keys are crossed.
    seeds : int or iterable of int, optional
        So many seeds from 1, or these; 1 without it, or 10 with `until`. Every point runs with the same seeds, and so with
        common random numbers.
    out : path, optional
        The study's directory: new, or one that has this very plan, which then goes on where it was. Without it the study
        vanishes with the object.
    until : str, optional
        ``QUANTITY:WIDTH%``, such as ``goodput:2%`` or ``queues.bottleneck.utilisation:1%``: add seeds to each point until the
        half width of the 95 % interval is within so much of the mean.
    most_seeds : int
        With `until`: no more seeds than this.
    executor : "threads", "processes" or Executor, optional
        Who runs; the executor of anybody who speaks `concurrent.futures`, for example that of a Dask client. Without it threads,
        or processes where a scenario names user code in Python: that holds Python's lock. Workers import it, or load its file.
    workers : int, optional
        How many; as many as there are processors without it.
    fail_fast : bool
        Stop at the first run that fails. Otherwise its error is kept, and the others go on.
    extend : bool
        Let `out` be a study with another plan: it gets this one, and keeps the results that both ask for.
    progress : callable, optional
        Called with a `Progress` whenever runs are finished, and at the start.

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
        `until`, `workers` or `executor` make no sense.
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


def _code(ledger: Ledger) -> list[tuple[str, str]]:
    """Kind and name of all user code that the plan names."""
    texts = (text for *_, text in ledger.points() if '"user:' in text)
    return sorted({(kind, name) for text in texts for kind, name, _ in _core.user_code(text, "", "json")})


def _samples(ledger: Ledger, quantity: str) -> Iterator[statistics.Sample]:
    """Labels, seed and value of every run that is done."""
    measured = quantity_of(quantity)
    labels = {point: labels for point, labels, _ in ledger.points()}
    for point, seed, packed in ledger.tables(measured.table):
        columns = unpack(packed)
        yield labels[point], seed, measured.value(columns)


def _labels(ledger: Ledger, runs: list[tuple[int, int]]) -> list[Column]:
    """Point, seed and labels of some runs, one value a run."""
    labels = {point: labels for point, labels, _ in ledger.points()}
    return [
        column("point", [point for point, _ in runs]),
        column("seed", [seed for _, seed in runs]),
        *(column(title, [labels[point][title] for point, _ in runs]) for title in ledger.plan["columns"]),
    ]
