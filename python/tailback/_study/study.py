"""A study: a sweep that is stored in a directory, can be resumed by another process, and is read as tables."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from tailback import _core
from tailback._arguments import arguments_checked
from tailback._html import notebook
from tailback._run.starvation import starved_flows, warn_of_starved_flows
from tailback._study import comparison, exporting, means, quantity_plot, trace_files, trace_plot
from tailback._study.columns import Column, column, join, unpack
from tailback._study.comparison import Comparison
from tailback._study.directory import LOCK, working, writing
from tailback._study.executors import open_pool
from tailback._study.finished import labels_of_runs, samples, tables_of_runs
from tailback._study.ledger import LEDGER, Counts, Ledger, StoredTrace
from tailback._study.lock import Lock, held
from tailback._study.renewal import code_of, renew_hashes
from tailback._study.runner import Progress, Runner
from tailback._study.seed_batches import SeedBatches
from tailback._study.stopping import StoppingRule
from tailback._study.trace_files import TRACES, DamagedTrace
from tailback._study.vary import label
from tailback._study.work import Simulated
from tailback._tables.quantity import quantity_of
from tailback._tables.table import Table
from tailback.errors import ParameterError, ScenarioError, StudyError, StudyInterrupted, UnknownName
from tailback.user_code._loading import ClassLocation, place
from tailback.user_code._registry import provenance_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["PruneResult", "Study", "Unconverged"]

# Number of points whose notes are collected: building a network takes milliseconds, and points seldom differ in their notes.
_NOTED = 20


@dataclass(frozen=True)
class PruneResult:
    """Files removed by `Study.prune`: results that the plan does not need, traces without a result, and their total size."""

    results: int
    traces: int
    bytes: int


@dataclass(frozen=True)
class Unconverged:
    """A point whose interval is wider than the target.

    Attributes
    ----------
    point : int
    labels : dict
    seeds : int
        Number of finished seeds.
    width : float
        Half width of the 95 % interval divided by the mean; infinite for a mean of 0, NaN if a value is missing.
    needed : int or None
        Estimated number of seeds for the target; None if impossible.
    """

    point: int
    labels: dict[str, Any]
    seeds: int
    width: float
    needed: int | None


@arguments_checked
class Study:
    """A study on disk.

    Parameters
    ----------
    directory : path
        Directory that `sweep` or ``tailback sweep --out`` created.

    Raises
    ------
    StudyError
        There is no study, or its ledger is damaged, not a ledger, or of a newer version of Tailback.

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
        # User code may change the working directory.
        self._place = self.directory.absolute()
        with Ledger(self.directory / LEDGER, thorough=True):
            pass

    @property
    def counts(self) -> Counts:
        """Number of planned, running, finished and failed runs."""
        with self._ledger() as ledger:
            return ledger.counts(working=self.working)

    @property
    def working(self) -> bool:
        """Whether a process is working on the study."""
        return held(self._place / LOCK)

    @property
    def owner(self) -> dict[str, Any] | None:
        """``process`` and ``host`` of the process that is working on the study; else None."""
        with self._ledger() as ledger:
            return ledger.owner if self.working else None

    @property
    def plan(self) -> dict[str, Any]:
        """The plan: scenario, columns, seeds, the target width if any, and the version of Tailback."""
        with self._ledger() as ledger:
            return ledger.plan

    @property
    def runs(self) -> Table:
        """One row per run: point, seed and labels, state, error, number of events, simulated time and content hash."""
        with self._ledger() as ledger:
            rows = ledger.runs()
            columns = [
                *labels_of_runs(ledger, [(row.point, row.seed) for row in rows]),
                column("state", [row.state for row in rows]),
                column("error", [row.error or "" for row in rows]),
                column("events", [row.events for row in rows]),
                column("simulated_s", [float(row.simulated_s) for row in rows]),
                column("content_hash", [row.content_hash for row in rows]),
            ]
        return Table(_core.Table("runs", columns))

    @property
    def notes(self) -> list[str]:
        """Notes that affect the interpretation of the results: those of the scenario (`Scenario.notes`), and starved flows."""
        return [*self._scenario_notes(), *starved_flows(self._group_tables())]

    def _scenario_notes(self) -> list[str]:
        """Notes of the first points, each once; none if user code of the study is not registered."""
        found: dict[str, None] = {}
        with self._ledger() as ledger, suppress(ScenarioError):
            for _, _, text in ledger.points()[:_NOTED]:
                found |= dict.fromkeys(note for _, note in _core.notes(text, "", "json"))
        return list(found)

    @property
    def flows(self) -> Table:
        """`Run.flows` of all finished runs, preceded by point, seed and labels."""
        return self.table("flows")

    @property
    def queues(self) -> Table:
        """`Run.queues` of all finished runs, preceded by point, seed and labels."""
        return self.table("queues")

    @property
    def groups(self) -> Table:
        """`Run.groups` of all finished runs, preceded by point, seed and labels."""
        return self.table("groups")

    def table(self, name: str, *, failed: bool = False) -> Table:
        """A table of all finished runs: ``flows``, ``queues``, ``groups`` or ``classes``.

        Parameters
        ----------
        failed : bool
            The table of runs that a `HostError` has ended, up to the error, instead.

        Raises
        ------
        UnknownName
            No run has such a table.
        """
        with self._ledger() as ledger:
            state = "failed" if failed else "done"
            known = ledger.table_names(state)
            if name not in known:
                raise UnknownName("table", name, known)
            runs: list[tuple[int, int]] = []
            parts: list[list[Column]] = []
            for point, seed, packed in ledger.tables(name, state):
                runs.append((point, seed))
                parts.append(unpack(packed))
            return join(name, parts, labels_of_runs(ledger, runs))

    @property
    def tables(self) -> dict[str, Table]:
        """All tables by name, `runs` first."""
        with self._ledger() as ledger:
            names = ledger.table_names()
        return {"runs": self.runs, **{name: self.table(name) for name in names}}

    def means(self, quantity: str = "goodput", *, interval: Literal["t", "bootstrap"] = "t", seed: int = 1) -> Table:
        """The mean of a quantity at every point, with the number of seeds and the ends ``low`` and ``high`` of its 95 % interval.

        The ends are NaN with one seed, and for a deterministic scenario, in which all seeds give the same result.

        Parameters
        ----------
        quantity : str
            ``goodput`` of all groups together (bit/s), ``TABLE.NAME.COLUMN`` such as ``queues.bottleneck.utilisation``, or a
            formula of such columns; see `Run.value`.
        interval : "t" or "bootstrap"
            Student's t, for approximately normal means, with ends from 0 to 1 for a share (`tailback.statistics.Interval`); or
            `tailback.statistics.bootstrap` (BCa), for skewed ones with at least 20 seeds.
        seed : int
            Seed of the bootstrap, >= 0.

        Raises
        ------
        ParameterError, UnknownName
            There is no such quantity or interval.

        Warns
        -----
        IntervalWarning
            A bootstrap interval is of fewer than 20 seeds.
        """
        if interval not in ("t", "bootstrap"):
            raise ParameterError(f"`interval` is {interval!r}; expected `t` or `bootstrap`")
        bounds = means.student(quantity_of(quantity).range) if interval == "t" else means.bootstrapped(seed)
        with self._ledger() as ledger:
            texts = {json.dumps(labels): text for _, labels, text in ledger.points()}

            def is_random(labels: dict[str, Any]) -> bool:
                return _core.is_random(texts[json.dumps(labels)], "", "json")

            columns = means.means(samples(ledger, quantity), ledger.plan["columns"], bounds, is_random)
        return Table(_core.Table(quantity, columns))

    @property
    def unconverged(self) -> list[Unconverged]:
        """Points whose interval is wider than the `until` target; empty without a target."""
        with self._ledger() as ledger:
            until = ledger.plan.get("until")
            if until is None:
                return []
            rule = StoppingRule(until["quantity"], until["width"])
            measured = quantity_of(rule.quantity)
            values: dict[int, list[float]] = {point: [] for point, *_ in ledger.points()}
            for point, _, tables in tables_of_runs(ledger, measured):
                values[point].append(measured.value(tables))
            return [
                Unconverged(point, labels, len(found), rule.share(found), rule.needed(found))
                for point, labels, _ in ledger.points()
                if not rule.reached(found := values[point])
            ]

    def difference(self, axis: str, left: Any, right: Any, quantity: str = "goodput") -> Table:
        """The difference of a quantity between two labels of an axis, `right` minus `left`, for each combination of the others.

        The result is the mean of the differences by seed with its 95 % interval, paired on common random numbers. A difference is
        significant if the interval does not contain zero.

        Raises
        ------
        ParameterError, UnknownName
            There is no such quantity, axis or label.

        Examples
        --------
        >>> import tailback as tb
        >>> scenario = tb.dumbbell(rate="10 Mbps", delay="10 ms", buffer="20 packets", duration="2 s")
        >>> study = tb.sweep(scenario, vary={"flows.tcp.count": [1, 2]}, seeds=3)
        >>> study.difference("flows.tcp.count", 1, 2)["seeds"].tolist()
        [3]
        """
        with self._ledger() as ledger:
            columns = means.differences(
                samples(ledger, quantity),
                ledger.plan["columns"],
                axis,
                label(left),
                label(right),
                within=quantity_of(quantity).range,
            )
        return Table(_core.Table(quantity, columns))

    def plot(
        self,
        quantity: str | Sequence[str] | None = None,
        *,
        kind: quantity_plot.PlotKind = "line",
        over: str | Sequence[str] | None = None,
        by: str | None = None,
        where: Mapping[str, Any] | None = None,
        seed: int | None = None,
        log: quantity_plot.LogAxes = "",
        width: float | None = None,
    ) -> Figure:
        """Plot a quantity along the axes of the study, or traces; requires matplotlib. ``savefig`` writes PDF or SVG.

        Parameters
        ----------
        quantity : str, optional
            As in `means`; by default ``goodput``. For ``traces`` one or several kinds of trace, such as ``("cwnd", "queue")``; by
            default all that were recorded.
        kind : "line", "ecdf", "heat" or "traces"
            ``line``: the mean over seeds along one axis, with a 95 % band by Student's t. ``ecdf``: the share of rows of all runs
            (of runs, for ``goodput``) at or below a value; rows without a number, such as unfinished flows, never reach it.
            ``heat``: the mean over two axes as colours. ``traces``: traces of runs over time, in columns with common scales.
        over : str or pair of str, optional
            The axis along x, for ``heat`` the axes along x and y; by default the unused ones. None for other kinds.
        by : str, optional
            The axis with one line per label, at most eight; for ``traces`` one column per label, at most four. None for ``heat``.
        where : mapping, optional
            Maps axes to the selected label. Every axis that varies must be used.
        seed : int, optional
            For ``traces``: seed of the run; by default the first seed of the plan.
        log : "x", "y" or "xy"
            Logarithmic scales; none by default. For ``line`` the axis `over`, which must be numeric, and the quantity; for
            ``ecdf`` the values along x. Values that are not above 0 are an error; a band that reaches 0 is noted in the title.
        width : float, optional
            As in `Run.plot`; by default 5.6, or more for columns of traces.

        Raises
        ------
        MissingExtra
            matplotlib is not installed.
        ParameterError, UnknownName
            There is no such quantity, kind, axis, label, trace or seed; an axis is not used, or used twice; no run is finished;
            or a value cannot be shown on a logarithmic scale.

        Examples
        --------
        >>> import tailback as tb
        >>> scenario = tb.dumbbell(rate="10 Mbps", delay="10 ms", buffer="20 packets", duration="2 s", traces=["cwnd", "queue"])
        >>> study = tb.sweep(scenario, vary={"topology.dumbbell.queue.buffer": ["5 packets", "20 packets"]}, seeds=3)
        >>> study.plot("queues.bottleneck.utilisation").axes[0].get_xlabel()
        'topology.dumbbell.queue.buffer, packets'
        >>> len(study.plot(kind="traces", by="topology.dumbbell.queue.buffer").axes)
        4
        """
        if kind == "traces":
            return self._plot_traces(quantity, over, by, where, seed, log, width)
        if not isinstance(quantity, str | None) or seed is not None:
            raise ParameterError("several quantities, and a seed, are only valid for kind `traces`; expected one quantity")
        measured = quantity_of(quantity or "goodput")
        with self._ledger() as ledger:
            labels = {point: labels for point, labels, _ in ledger.points()}
            spec = quantity_plot.plot_spec(kind, over, by, where, list(labels.values()), log)
            runs = ((labels[point], tables) for point, _, tables in tables_of_runs(ledger, measured))
            every_row = kind == "ecdf"
            numbers = ((own, measured.values(tables) if every_row else [measured.value(tables)]) for own, tables in runs)
            return quantity_plot.figure(measured, spec, numbers, width)

    def _plot_traces(
        self,
        quantity: str | Sequence[str] | None,
        over: str | Sequence[str] | None,
        by: str | None,
        where: Mapping[str, Any] | None,
        seed: int | None,
        log: quantity_plot.LogAxes,
        width: float | None,
    ) -> Figure:
        with self._ledger() as ledger:
            points = {point: labels for point, labels, _ in ledger.points()}
            recorded = {trace.kind for trace in ledger.traces()}
            first = ledger.plan["seeds"][0]
        spec = quantity_plot.plot_spec("traces", over, by, where, list(points.values()), log)
        kinds = trace_plot.kinds(quantity, sorted(recorded))
        chosen = first if seed is None else seed
        shown = [point for point, labels in points.items() if all(labels[axis] == label for axis, label in spec.where.items())]
        titles = {"" if spec.by is None else str(points[point][spec.by]): point for point in reversed(shown)}
        ordered = reversed(titles.items())
        columns = {title: [self.trace(kind, point, chosen) for kind in kinds] for title, point in ordered}
        provenance_of = [
            *([] if by is None else [f"columns: {by}"]),
            *(f"{axis} = {label}" for axis, label in spec.where.items()),
        ]
        return trace_plot.figure(columns, ", ".join([*provenance_of, f"seed {chosen}"]), width)

    def trace(self, kind: str, point: int, seed: int) -> Table:
        """A trace of one run, like `Run.trace`.

        Raises
        ------
        UnknownName
            The run has no such trace, or is not finished.
        StudyError
            The file of the trace is damaged.
        """
        found = {(trace.point, trace.seed): trace for trace in self._traces(kind)}
        if (point, seed) not in found:
            known = [f"{point}, {seed}" for point, seed in list(found)[:10]]
            raise UnknownName(f"finished run with a trace `{kind}`", f"{point}, {seed}", known)
        folder = self._place / TRACES
        trace_files.read(folder, found[point, seed])
        return Table(_core.Table.read_parquet(kind, trace_files.file_of(folder, found[point, seed])))

    def traces(self, kind: str) -> list[dict[str, Any]]:
        """All traces of a kind: point, seed, labels, and the Parquet ``file`` of each run that recorded it.

        The files are not checked; `verify` does.

        Raises
        ------
        UnknownName
            No run has a trace of this kind.
        """
        with self._ledger() as ledger:
            labels = {point: labels for point, labels, _ in ledger.points()}
        folder = self._place / TRACES
        return [
            {"point": trace.point, "seed": trace.seed, **labels[trace.point], "file": trace_files.file_of(folder, trace)}
            for trace in self._traces(kind)
        ]

    def _traces(self, kind: str) -> list[StoredTrace]:
        with self._ledger() as ledger:
            found = ledger.traces()
        if kind not in {trace.kind for trace in found}:
            raise UnknownName("trace", kind, sorted({trace.kind for trace in found}))
        return [trace for trace in found if trace.kind == kind]

    def verify(self) -> list[DamagedTrace]:
        """The traces whose files are missing or have changed; empty if the study is intact. `resume` repeats their runs.

        The ledger, with all tables, is verified whenever a study is opened.
        """
        with self._ledger(thorough=True) as ledger:
            return [trace for _, trace in trace_files.damaged(ledger, self._place / TRACES)]

    def provenance(self, point: int, seed: int) -> dict[str, Any]:
        """The complete scenario, seed, version, content hash and user code of a finished run.

        Raises
        ------
        UnknownName
            There is no such run, or it is not finished.
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
            named = _core.named_user_code(json.dumps(scenario), "", "json") if known else []
            named_code = [{"at": at, **known[kind, name]} for kind, name, at in named]
            return {**provenance, "user_code": named_code} if named_code else provenance

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
        """Execute the remaining runs, and repeat runs whose trace files are damaged; other finished runs are kept.

        Parameters
        ----------
        executor, workers, fail_fast, progress
            As in `sweep`.
        retry_failed : bool
            Repeat failed runs.
        refresh : bool
            If the core or user code has changed, repeat the runs that use it: for the core all, for user code those that name a
            changed class. Without it such a study raises an error, because its runs would not be comparable.

        Raises
        ------
        StudyError
            Another process works on the study, the core or user code has changed, or the disk is full. Finished runs are stored.
        ScenarioError
            A scenario names user code that is not registered.
        StudyInterrupted
            Ctrl-C. Finished runs are stored.
        """
        if command := self.plan.get("command"):
            raise StudyError(f"`{self.directory}` stores the runs of `{command}`: resume them with that command")
        again = f"`tailback study resume {self.directory}`"
        with self._ledger() as ledger:
            code = code_of(ledger)
        workforce = open_pool(executor, workers, with_code=bool(code))
        try:
            with working(self.directory, workforce, again=again, fail_fast=fail_fast, on_progress=progress) as (ledger, runner):
                renew_hashes(self.directory, ledger, refresh=refresh)
                ledger.keep_code(provenance_of(code))
                ledger.begin()
                if retry_failed:
                    ledger.retry_failed()
                self._work(ledger, runner, tuple(place(kind, name) for kind, name in code))
        except KeyboardInterrupt:
            counts = self.counts
            text = f"interrupted; {counts.done + counts.failed} of {counts.total} runs are stored"
            raise StudyInterrupted(f"{text}; {again} runs the rest") from None
        warn_of_starved_flows(self._group_tables())
        return self

    def _group_tables(self) -> Iterator[dict[str, Table]]:
        """The table of groups of each finished run."""
        with self._ledger() as ledger:
            for _, _, packed in ledger.tables("groups"):
                yield {"groups": Table(_core.Table("groups", unpack(packed)))}

    def export(
        self, directory: str | os.PathLike[str], *, format: Literal["parquet", "csv", "json"] = "parquet", traces: bool = False
    ) -> None:
        """Write all tables and the plan to a new directory, atomically.

        The bytes depend only on the plan and the version, not on the executor, the order of the runs, interruptions, or the time.
        Traces are copied if requested; they are Parquet in every format.

        Raises
        ------
        OutputError
            The directory exists or cannot be written.
        StudyError
            The file of a trace is damaged.
        """
        with self._ledger() as ledger:
            stored = ledger.traces() if traces else []
        folder = self._place / TRACES
        files = ((f"{trace.kind}-{trace.point}-{trace.seed}.parquet", trace_files.read(folder, trace)) for trace in stored)
        exporting.write(Path(directory), self.tables, self.plan, format, files)

    def compare(self, other: Study) -> Comparison:
        """Compare the results of two studies: runs that only one of them has, and different values.

        Runs correspond if their labels and seeds are equal.

        Raises
        ------
        StudyError
            The file of a trace is damaged.
        """
        with self._ledger() as ours, other._ledger() as theirs:
            return comparison.compare(ours, theirs, self._place / TRACES, other._place / TRACES)

    def prune(self) -> PruneResult:
        """Remove unused files: results of an earlier plan or core, and traces of interrupted runs.

        Raises
        ------
        StudyError
            A process is working on the study.
        """
        with Lock(self._place / LOCK), writing(self.directory, "the same"), self._ledger() as ledger:
            results = ledger.delete_unreferenced()
            kept = {trace.content_hash for trace in ledger.traces()}
            folder = self._place / TRACES
            stale = [entry for entry in folder.iterdir() if entry.name not in kept] if folder.exists() else []
            freed = sum(file.stat().st_size for entry in stale for file in entry.rglob("*") if file.is_file())
            for entry in stale:
                shutil.rmtree(entry)
        return PruneResult(results, len(stale), freed)

    def _work(self, ledger: Ledger, runner: Runner, code: tuple[ClassLocation, ...]) -> None:
        """Execute all runs of the plan, and more seeds until the target width is reached."""
        until = ledger.plan.get("until")
        rule = None if until is None else StoppingRule(until["quantity"], until["width"])
        work = {point: Simulated(text, code) for point, _, text in ledger.points()}
        batches = SeedBatches(ledger, work, rule, until["max_seeds"] if until else 0)
        runner.run(batches.first(), None if rule is None else batches.after)

    def _ledger(self, *, thorough: bool = False) -> Ledger:
        return Ledger(self._place / LEDGER, thorough=thorough)

    def __repr__(self) -> str:
        counts = self.counts
        return f"<Study {self.directory}: {counts.done} of {counts.total} runs done, {counts.failed} failed>"

    def _repr_html_(self) -> str:
        return notebook(repr(self)[1:-1], tables=[self.runs._shown()])
