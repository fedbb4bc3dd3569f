"""A study: a sweep that lives in a directory, outlives its process, and is read as tables."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from tailback import _core
from tailback._html import notebook
from tailback._quantity import quantity_of
from tailback._study import comparison, exporting, means, quantity_plot, trace_plot
from tailback._study.columns import Column, column, join, unpack, varied
from tailback._study.comparison import Comparison
from tailback._study.crew import crew
from tailback._study.directory import LOCK, TRACES, working, writing
from tailback._study.ledger import LEDGER, Counts, Ledger
from tailback._study.lock import Lock, held
from tailback._study.rounds import Rounds
from tailback._study.runner import Progress, Runner
from tailback._study.stopping import Until
from tailback._study.vary import label
from tailback._study.work import Simulated
from tailback._table import Table
from tailback.errors import ParameterError, StudyError, StudyInterrupted, UnknownName
from tailback.user_code._loading import Place, place
from tailback.user_code._registry import provenance_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["Missed", "Removed", "Study"]


@dataclass(frozen=True)
class Removed:
    """What `Study.gc` removed: results that the plan no longer asks for, traces without a result, and their bytes."""

    results: int
    traces: int
    bytes: int


@dataclass(frozen=True)
class Missed:
    """A point whose mean is not known as well as was asked.

    Attributes
    ----------
    point : int
    labels : dict
    seeds : int
        That are done.
    width : float
        Half width of the 95 % interval over the mean; infinite for a mean of 0, NaN where a run has no such number.
    needed : int or None
        About how many seeds would do; None if no number helps.
    """

    point: int
    labels: dict[str, Any]
    seeds: int
    width: float
    needed: int | None


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
        """One row per run: its point, seed and labels, its state, and what became of it."""
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
        """`Run.flows` of all runs that are done, preceded by point, seed and labels."""
        return self.table("flows")

    @property
    def queues(self) -> Table:
        """`Run.queues` of all runs that are done, preceded by point, seed and labels."""
        return self.table("queues")

    @property
    def groups(self) -> Table:
        """`Run.groups` of all runs that are done, preceded by point, seed and labels."""
        return self.table("groups")

    def table(self, name: str) -> Table:
        """``flows``, ``queues``, ``groups`` or ``classes`` of all runs that are done.

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

        They are unknown (NaN) with one seed, and where nothing is random, so that every seed gives the same.

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
        bounds = means.student if interval == "t" else means.bootstrapped(seed)
        with self._ledger() as ledger:
            texts = {json.dumps(labels): text for _, labels, text in ledger.points()}

            def is_random(labels: dict[str, Any]) -> bool:
                return _core.is_random(texts[json.dumps(labels)], "", "json")

            columns = means.means(_samples(ledger, quantity), ledger.plan["columns"], bounds, is_random)
        return Table(_core.Table(quantity, columns))

    @property
    def missed(self) -> list[Missed]:
        """Points whose mean is not known as well as `until` asked for; none if nothing was asked."""
        with self._ledger() as ledger:
            until = ledger.plan.get("until")
            if until is None:
                return []
            asked = Until(until["quantity"], until["width"])
            measured = quantity_of(asked.quantity)
            values: dict[int, list[float]] = {point: [] for point, *_ in ledger.points()}
            for point, _, packed in ledger.tables(measured.table):
                values[point].append(measured.value(unpack(packed)))
            return [
                Missed(point, labels, len(found), asked.share(found), asked.needed(found))
                for point, labels, _ in ledger.points()
                if not asked.reached(found := values[point])
            ]

    def difference(self, axis: str, left: Any, right: Any, quantity: str = "goodput") -> Table:
        """How much more a quantity is with the label `right` of an axis than with `left`, for each combination of the others.

        The mean of the differences seed by seed, and its 95 % interval: paired on common random numbers. The difference is
        significant if the interval does not contain zero.

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
            columns = means.differences(_samples(ledger, quantity), ledger.plan["columns"], axis, label(left), label(right))
        return Table(_core.Table(quantity, columns))

    def plot(
        self,
        quantity: str | Sequence[str] | None = None,
        *,
        kind: quantity_plot.Kind = "line",
        over: str | Sequence[str] | None = None,
        by: str | None = None,
        where: Mapping[str, Any] | None = None,
        seed: int | None = None,
        log: quantity_plot.Log = "",
    ) -> Figure:
        """A quantity along the axes of the study, or traces; needs matplotlib. ``savefig`` of what is returned writes PDF or SVG.

        Parameters
        ----------
        quantity : str, optional
            As in `means`; by default ``goodput``. For ``traces`` a kind of trace or several, such as ``("cwnd", "queue")``; by
            default all that were recorded.
        kind : "line", "ecdf", "heat" or "traces"
            The mean over seeds along one axis, with its 95 % band of Student's t; the share of rows of all runs at or below a
            value (of runs, for ``goodput``), where rows without a number, such as unfinished flows, count as never reaching it;
            the mean over two axes as colours; or traces of runs over time, side by side on common scales.
        over : str or pair of str, optional
            The axis along x, for ``heat`` the axes along x and y; by default those that are left. None for the others.
        by : str, optional
            The axis that has a line for each of its labels, at most eight; for ``traces`` a column, at most four. None for
            ``heat``.
        where : mapping, optional
            Axis to the one label that is shown. Every axis that varies needs a place.
        seed : int, optional
            For ``traces``: which run; by default the first seed of the plan.
        log : "x", "y" or "xy"
            Which scales are logarithmic; none by default. For ``line`` the axis `over`, of numbers, and the quantity; for
            ``ecdf`` the values along x. A number that is not above 0 is an error; of a band that reaches there the title says so.

        Raises
        ------
        MissingExtra
            If matplotlib is not installed.
        ParameterError, UnknownName
            No such quantity, kind, axis, label, trace or seed; an axis has no place, or two; no run is finished; or a number has
            no place on a logarithmic scale.

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
            return self._plot_traces(quantity, over, by, where, seed, log)
        if not isinstance(quantity, str | None) or seed is not None:
            raise ParameterError("several quantities, and a seed, are for kind `traces`; expected one quantity")
        measured = quantity_of(quantity or "goodput")
        with self._ledger() as ledger:
            labels = {point: labels for point, labels, _ in ledger.points()}
            asked = quantity_plot.drawn(kind, over, by, where, list(labels.values()), log)
            runs = ((labels[point], unpack(packed)) for point, _, packed in ledger.tables(measured.table))
            every_row = kind == "ecdf" and measured.name != "goodput"
            numbers = ((own, measured.values(columns) if every_row else [measured.value(columns)]) for own, columns in runs)
            return quantity_plot.figure(measured, asked, numbers)

    def _plot_traces(
        self,
        quantity: str | Sequence[str] | None,
        over: str | Sequence[str] | None,
        by: str | None,
        where: Mapping[str, Any] | None,
        seed: int | None,
        log: quantity_plot.Log,
    ) -> Figure:
        with self._ledger() as ledger:
            points = {point: labels for point, labels, _ in ledger.points()}
            recorded = {kind for _, _, kind, _ in ledger.traces()}
            first = ledger.plan["seeds"][0]
        asked = quantity_plot.drawn("traces", over, by, where, list(points.values()), log)
        kinds = trace_plot.kinds(quantity, sorted(recorded))
        chosen = first if seed is None else seed
        shown = [point for point, labels in points.items() if all(labels[axis] == label for axis, label in asked.where.items())]
        titles = {"" if asked.by is None else str(points[point][asked.by]): point for point in reversed(shown)}
        ordered = reversed(titles.items())
        columns = {title: [self.trace(kind, point, chosen) for kind in kinds] for title, point in ordered}
        provenance_of = [
            *([] if by is None else [f"columns: {by}"]),
            *(f"{axis} = {label}" for axis, label in asked.where.items()),
        ]
        return trace_plot.figure(columns, ", ".join([*provenance_of, f"seed {chosen}"]))

    def trace(self, kind: str, point: int, seed: int) -> Table:
        """A trace of one run, as `Run.trace` has it.

        Raises
        ------
        UnknownName
            The run recorded no such trace, or is not done.
        """
        found = {(trace["point"], trace["seed"]): trace["file"] for trace in self.traces(kind)}
        if (point, seed) not in found:
            known = [f"{point}, {seed}" for point, seed in list(found)[:10]]
            raise UnknownName(f"finished run with a trace `{kind}`", f"{point}, {seed}", known)
        return Table(_core.Table.read_parquet(kind, found[point, seed]))

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
            named = _core.named_user_code(json.dumps(scenario), "", "json") if known else []
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
            Repeat failed runs, too.
        refresh : bool
            If the core or user code has changed since: repeat all runs with this version. Without it such a study is refused,
            because its runs would not be comparable.

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
            raise StudyError(f"`{self.directory}` keeps the runs of `{command}`: that command resumes them")
        again = f"`tailback study resume {self.directory}`"
        with self._ledger() as ledger:
            code = _code(ledger)
        workforce = crew(executor, workers, with_code=bool(code))
        try:
            with working(self.directory, workforce, again=again, fail_fast=fail_fast, tell=progress) as (ledger, runner):
                self._renew_hashes(ledger, refresh=refresh)
                ledger.keep_code(provenance_of(code))
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
        """Remove what nothing refers to: results of an earlier plan or core, and traces of interrupted runs.

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
                "has changed since: its runs could not be compared with new ones. Begin a new study, or repeat all runs with "
                "`tailback study resume --refresh`"
            )
        ledger.rehash(stale)

    def _ledger(self, *, thorough: bool = False) -> Ledger:
        return Ledger(self.directory / LEDGER, thorough=thorough)

    def __repr__(self) -> str:
        counts = self.counts
        return f"<Study {self.directory}: {counts.done} of {counts.total} runs done, {counts.failed} failed>"

    def _repr_html_(self) -> str:
        return notebook(repr(self)[1:-1], tables=[self.runs._shown()])


def _code(ledger: Ledger) -> list[tuple[str, str]]:
    """Kind and name of all user code that the plan names."""
    texts = (text for *_, text in ledger.points() if '"user:' in text)
    return sorted({(kind, name) for text in texts for kind, name, _ in _core.named_user_code(text, "", "json")})


def _samples(ledger: Ledger, quantity: str) -> Iterator[means.Sample]:
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
        *varied(ledger.plan["columns"], [labels[point] for point, _ in runs]),
    ]
