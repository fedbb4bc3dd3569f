"""A run: what was measured, and what it was measured from."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from tailback import _core, _store
from tailback._completions import completions
from tailback._delivery_trace import of_departures, write_opportunities
from tailback._html import notebook
from tailback._scenario import Scenario
from tailback._summary import listings, tabulated, text
from tailback._table import COUNTERS, Table
from tailback.errors import ParameterError, UnknownName

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from tailback._optimum import Optimum

__all__ = ["Interrupted", "Run", "read_run"]


class Run:
    """The results of one simulation, as tables of columns.

    Attributes
    ----------
    complete : bool
        False if the run was interrupted.
    simulated_s : float
        Simulated seconds.
    events : int
        Events that the engine handled.
    provenance : dict
        The full scenario, seed, version, content hash, and what became of the run.

    Examples
    --------
    >>> import tailback as tb
    >>> scenario = tb.dumbbell(rate="10 Mbps", delay="10 ms", buffer="20 packets", duration="10 s", traces=["cwnd"])
    >>> run = tb.simulate(scenario)
    >>> run.traces
    ['cwnd']
    >>> run.trace("cwnd").columns
    ['time_s', 'group', 'flow', 'cwnd_packets']
    """

    # The tables that are no traces.
    _counters: tuple[str, ...] = COUNTERS

    def __init__(self, results: _core.Results) -> None:
        self._tables = {name: Table(table) for name, table in results.tables}
        self.complete = results.complete
        self.simulated_s = results.simulated_s
        self.events = results.events
        self.provenance: dict[str, Any] = json.loads(results.provenance)

    @classmethod
    def read(cls, directory: str | os.PathLike[str]) -> Run:
        """What `save`, or ``tailback run --out``, wrote: `tailback.read_run`."""
        tables, provenance = _store.read(directory)
        run = cls.__new__(cls)
        run._tables = tables
        run.complete = bool(provenance["complete"])
        run.simulated_s = float(provenance["simulated_s"])
        run.events = int(provenance["events"])
        run.provenance = provenance
        return run

    @property
    def flows(self) -> Table:
        """One row per flow: packets, retransmissions, timeouts, goodput, completion time, ...

        Counts, means and shares cover the measured part, from the end of the warm-up to the end of the run; goodput is over the
        whole of it, even for a flow that ends earlier. The completion time is from the flow's start to the instant at which its
        receiver has everything, and is not cut by the warm-up. The active share is the share of the time from the flow's start,
        or the end of the warm-up, to its end in which it did not wait for a timeout, from its last transmission on; waiting for a
        tail loss probe is not that. `waiting_at_end` is 1 if it waits for a timeout as the run ends.
        """
        return self._tables["flows"]

    @property
    def queues(self) -> Table:
        """One row per queue, which is one direction of a link: arrivals, discards by reason, utilisation, waiting time, ..."""
        return self._tables["queues"]

    @property
    def groups(self) -> Table:
        """One row per flow group: total goodput, fairness, percentiles of the completion time, ..."""
        return self._tables["groups"]

    @property
    def classes(self) -> Table:
        """One row per class at each queue that tells classes apart: arrivals, discards, throughput, waiting time.

        Raises
        ------
        UnknownName
            No queue of the scenario has `classes`.
        """
        return self._table_if_any("classes", "a queue with a scheduler can have `classes`")

    @property
    def edges(self) -> Table:
        """One row per flow with the available bit rate service: its rate, RM cells, and what waits and is discarded at its edge.

        Raises
        ------
        UnknownName
            No flow of the scenario has `abr`.
        """
        return self._table_if_any("edges", "flows with `abr` have edges")

    @property
    def queue_flows(self) -> Table:
        """One row per queue and flow of which something passed it: units, bytes and throughput, headers included.

        Raises
        ------
        UnknownName
            The scenario has no ``record = {flows_of_queues = true}``.
        """
        return self._table_if_any("queue_flows", "it exists with `record.flows_of_queues = true`")

    def _table_if_any(self, name: str, where: str) -> Table:
        """One that not every run has; `where` says which do."""
        if name not in self._tables:
            raise UnknownName("table", name, list(self._tables), note=f"; {where}")
        return self._tables[name]

    def completions(self, classes: Sequence[str] = ("100 kB", "10 MB"), percentiles: Sequence[float] = (50, 95, 99)) -> Table:
        """Completion times and slowdowns of transfers, by the class of their size.

        Parameters
        ----------
        classes : sequence of str
            Sizes that part the classes, ascending; a class has its upper end. Short, middling and long flows if not given.
        percentiles : sequence of float
            Percentiles to tell, above 0 and at most 100, by nearest rank.

        Returns
        -------
        Table
            A row for each group and class that has flows: sizes ``above_bytes`` and ``up_to_bytes`` (missing for the last class),
            ``flows`` and how many of them ``completed``; of these ``completion_mean_s``, ``completion_p50_s``, ..., and
            ``slowdown_mean``, ``slowdown_p50``, ...: the completion time over the least that the links allow. Of flows that were
            not done when the run ended it knows nothing, and long ones are the first to be cut off.

        Raises
        ------
        ParameterError
            `classes` are no ascending sizes, `percentiles` no percentiles, or no flow has a size.

        Examples
        --------
        >>> import tailback as tb
        >>> arrivals, size = {"load": 0.5, "of": "10 Mbps"}, {"exponential": "50 kB"}
        >>> flows = {"web": {"arrivals": arrivals, "size": size, "tcp": {"preset": "sack"}}}
        >>> run = tb.simulate(tb.dumbbell(rate="10 Mbps", delay="10 ms", buffer="50 packets", flows=flows, duration="30 s"))
        >>> run.completions(["50 kB"]).select("up_to_bytes", "flows", "completed", "slowdown_p50")
        completions: 2 rows x 4 columns
          up_to_bytes          50000             -
          flows                  242           129
          completed              242           128
          slowdown_p50        1.4469        1.5357
        """
        return completions(self.flows, classes, percentiles)

    def write_mahimahi(self, path: str | os.PathLike[str], queue: str) -> None:
        """Write what left a queue as a trace of Mahimahi's: a link that sends by it gives others what flows got of this one.

        An opportunity of 1500 bytes stands in the millisecond in which so many more bytes had left. Time is that of the run, and
        what comes after the last opportunity is not in the trace, which begins anew there.

        Parameters
        ----------
        path : str or PathLike
            File to write; one that exists is overwritten.
        queue : str
            A queue that ``record.traces`` of the scenario follows: ``{"departures": ["bottleneck"]}``.

        Raises
        ------
        UnknownName
            Departures were not recorded, or there is no such queue.
        ParameterError
            Too little has left the queue.
        OutputError
            The file cannot be written.
        """
        departures = self.trace("departures")
        queues = [str(name) for name in self.queues["queue"]]
        if queue not in queues:
            raise UnknownName("queue", queue, queues)
        rows = [row for row, name in enumerate(departures["queue"]) if name == queue]
        times, sizes = departures["time_s"], departures["bytes"]
        write_opportunities(path, of_departures((times[row] for row in rows), (sizes[row] for row in rows)))

    @property
    def traces(self) -> list[str]:
        """Kinds of the traces that the scenario asked for."""
        return [name for name in self._tables if name not in self._counters]

    def trace(self, kind: str) -> Table:
        """A trace: ``cwnd``, ``queue``, ``rtt``, ... as far as ``record.traces`` of the scenario asked for it.

        Raises
        ------
        UnknownName
            It was not recorded; says which were.
        """
        if kind not in self.traces:
            raise UnknownName("trace", kind, self.traces, note="; ask for it in `record.traces` of the scenario")
        return self._tables[kind]

    @property
    def tables(self) -> dict[str, Table]:
        """All tables by name."""
        return dict(self._tables)

    @property
    def seed(self) -> int:
        """The seed that was used."""
        return int(self.provenance["seed"])

    @property
    def content_hash(self) -> str:
        """Hash of scenario, seed and version: equal hashes mean equal results."""
        return str(self.provenance["content_hash"])

    @property
    def scenario(self) -> dict[str, Any]:
        """The scenario as it was run, defaults filled in."""
        return dict(self.provenance["scenario"])

    @property
    def remarks(self) -> list[str]:
        """What a reader of these results should know (`Scenario.remarks`)."""
        return [*Scenario(self.scenario).remarks(), *self._not_measured(), *self._beyond_range()]

    def _not_measured(self) -> Iterator[str]:
        """A run that was interrupted before anything counted."""
        warmup = self.scenario.get("warmup", "0 s")
        seconds, _ = _core.in_column_units(warmup) or (0.0, "s")
        if not self.complete and self.simulated_s <= seconds:
            yield f"nothing was measured: the run was interrupted within its warm-up of {warmup}"

    def _beyond_range(self) -> Iterator[str]:
        """Queues whose prices the range of the scheme did not always cover."""
        if "beyond_range_packets" not in self.queues.columns:
            return
        rows = zip(self.queues["queue"], self.queues["beyond_range_packets"], self.queues["departed_units"], strict=True)
        for queue, beyond, departed in rows:
            if beyond:
                yield (
                    f"the price of `{queue}` was beyond the range of `prices` for {beyond} of {departed} packets, "
                    "which were told its end"
                )

    def optimum(self, weights: Mapping[str, float] | None = None) -> Optimum:
        """How far the flows are from the rates that ideal allocations would give them: max-min and proportionally fair ones.

        Flows that send all they can over the whole measured part share the capacity. Whatever else crosses their links
        (datagrams, what an application limits, transfers that were completed, flows that start or stop meanwhile) keeps what it
        was measured to deliver, headers included, and `Optimum.notes` names it. A link carries its rate, of which a flow's
        goodput is the payload's part of a full packet. A flow has at most what its access path and the `fastest` of its
        controller let through. Rates of links are those at the end of the warm-up. Left out of account
        are acknowledgements, random loss, what is lost behind a link that it crossed, and windows that receivers limit.

        Parameters
        ----------
        weights : mapping of str to float, optional
            Of flow groups, for each of their flows, 1e-6 to 1e6; 1 where none is given.

        Raises
        ------
        UnknownName
            No such flow group.
        ParameterError
            There is no one optimum: no flow sends all it can, a route or the rate of a link changes in the measured part, others
            take all of a link, nothing was measured, or real flows were emulated.

        Examples
        --------
        >>> import tailback as tb
        >>> run = tb.simulate(tb.parking_lot(
        ...     hops=2, rate="10 Mbps", delay="5 ms", buffer="50 packets", duration="60 s", warmup="20 s",
        ...     flows={
        ...         "long": {"tcp": {"preset": "newreno"}},
        ...         "first": {"to": "n1", "tcp": {"preset": "newreno"}},
        ...         "second": {"from": "n1", "tcp": {"preset": "newreno"}},
        ...     },
        ... ))
        >>> optimum = run.optimum()
        >>> (optimum.flows["max_min_bps"] / 1e6).round(3), (optimum.flows["proportional_bps"] / 1e6).round(3)
        (array([4.867, 4.867, 4.867]), array([3.244, 6.489, 6.489]))
        >>> optimum.proportional.distance < optimum.max_min.distance
        True
        """
        from tailback._optimum import optimum_of

        return optimum_of(Scenario(self.scenario), self.seed, self.flows, self.simulated_s, weights or {})

    def summary(self) -> str:
        """What a person wants to know first, as text."""
        return "\n\n".join([text(str(self), self._tables, self.traces), *(f"note: {remark}" for remark in self.remarks)])

    def plot(
        self,
        traces: str | Sequence[str] | None = None,
        *,
        lines: str | Sequence[str] | None = None,
        span: tuple[float, float] | None = None,
        by: Literal["flow", "group"] = "flow",
        beside: Run | Mapping[str, Run] | None = None,
    ) -> Figure:
        """Traces over time, or flows and queues side by side if there is none; needs matplotlib.

        Long lines are thinned to the least and the largest value of each of many spans of time: nothing that stands out is lost.

        Parameters
        ----------
        traces : str or sequence of str, optional
            Kinds of trace, such as ``("cwnd", "queue")``; all that were recorded if not given.
        lines : str or sequence of str, optional
            Groups (``"web"``), flows (``"web 3"``) and queues (``"bottleneck"``); the first eight of each trace if not given.
        span : pair of float, optional
            From and to, in seconds; the whole run if not given.
        by : "flow" or "group"
            Whether each flow has a colour of its own, or each group, of which then eight flows are drawn.
        beside : Run, or mapping of str to Run, optional
            Other runs, each in a column beside this one on the same scales; the names stand above.

        Raises
        ------
        MissingExtra
            If matplotlib is not installed.
        UnknownName
            No such trace, group, flow or queue.
        ParameterError
            `span` is none or beyond the end of a run, `by` is neither, `beside` is no run, or the runs have no trace in common.

        Examples
        --------
        >>> import tailback as tb
        >>> flows = {"web": {"count": 2, "tcp": {"preset": "sack"}}}
        >>> scenario = tb.dumbbell(
        ...     rate="10 Mbps", delay="10 ms", buffer="20 packets", flows=flows, duration="10 s", traces=["cwnd", "queue"]
        ... )
        >>> run = tb.simulate(scenario)
        >>> len(run.plot("cwnd", lines="web 1", span=(2, 4)).axes[0].lines)
        1
        >>> len(run.plot(beside=tb.simulate(scenario.with_({"flows.web.tcp.preset": "cubic"}))).axes)
        4
        """
        from tailback._run_plot import Chosen, plot_runs
        from tailback.plots import close

        if by not in ("flow", "group"):
            raise ParameterError(f"`by` is {by!r}; expected `flow` or `group`")
        titles = _titles(self, beside)
        shortest = min(run.simulated_s for run in titles.values())
        if span is not None and not _is_span(span, shortest):
            raise ParameterError(
                f"`span` is {span!r}; expected two times within {shortest:g} s, in seconds, the earlier one first"
            )
        chosen = Chosen(_tuple(traces), _tuple(lines), span, by == "group")
        return close(plot_runs({title: run._tables for title, run in titles.items()}, chosen))

    def save(self, directory: str | os.PathLike[str]) -> None:
        """Write every table as Parquet, and ``provenance.json``, to a new directory: all of it or nothing.

        Raises
        ------
        OutputError
            The directory exists or cannot be written.
        """
        with _store.staged(directory) as folder:
            _store.write(self._tables, self.provenance, folder)

    def save_capture(self, path: str | os.PathLike[str]) -> None:
        """Write what the senders sent and heard as a new pcapng file, with real headers; see ``docs/howto/captures.md``.

        Parameters
        ----------
        path : path
            What tcpdump would have seen at the sending hosts: packets of the trace ``packets``, with a comment where a queue
            discarded one.

        Raises
        ------
        UnknownName
            ``packets`` was not recorded; ask for it in ``record.traces`` of the scenario.
        OutputError
            The file exists or cannot be written.

        Examples
        --------
        >>> import tempfile, tailback as tb
        >>> scenario = tb.dumbbell(rate="10 Mbps", delay="10 ms", buffer="9 packets", duration="5 s", traces=["packets"])
        >>> run = tb.simulate(scenario)
        >>> with tempfile.TemporaryDirectory() as directory:
        ...     run.save_capture(f"{directory}/run.pcapng")
        ...     analysis = tb.analyse(f"{directory}/run.pcapng")
        >>> analysis.connections.head("retransmitted_packets", 1) == run.flows.head("retransmitted_packets", 1)
        True
        """
        self.trace("packets")
        with _store.staged_file(path) as file:
            self._write_capture(file)

    def _write_capture(self, file: Path) -> None:
        """The same to a place that is the caller's to prepare."""
        name = str(self.scenario.get("name") or "scenario")
        _core.write_capture(self.trace("packets")._core, file, scenario=name, seed=self.seed)

    def __str__(self) -> str:
        name = self.scenario.get("name") or "scenario"
        cut = "" if self.complete else ", INCOMPLETE"
        return f"{name}: {self.simulated_s:g} s simulated{cut}, seed {self.seed}, {self.events:,} events"

    def __repr__(self) -> str:
        return f"<Run {self}>"

    def _repr_html_(self) -> str:
        return notebook(str(self), tables=tabulated(listings(self._tables)))


def _tuple(words: str | Sequence[str] | None) -> tuple[str, ...] | None:
    if words is None or isinstance(words, str):
        return None if words is None else (words,)
    if not isinstance(words, Sequence) or not all(isinstance(word, str) for word in words):
        raise ParameterError(f"{words!r} names no trace and no line; expected a name, or a list of names")
    return tuple(words)


def _titles(run: Run, beside: Any) -> dict[str, Run]:
    """The runs of a picture, by what stands above them."""
    if isinstance(beside, Run):
        first, second = _told(run, beside), _told(beside, run)
        return {first: run, second if second != first else f"{second}, again": beside}
    if beside is None:
        return {str(run): run}
    if not isinstance(beside, Mapping) or not all(
        isinstance(name, str) and isinstance(other, Run) for name, other in beside.items()
    ):
        raise ParameterError(f"`beside` is {beside!r}; expected a run, or runs by name such as {{'cubic': run}}")
    own = str(run.scenario.get("name") or "scenario")
    while own in beside:
        own += ", this run"
    return {own: run, **beside}


def _is_span(span: Any, end: float) -> bool:
    """Whether these are two times of a run that ends then, the earlier one first."""
    try:
        begin, until = (float(time) for time in span)
    except (TypeError, ValueError):
        return False
    return 0 <= begin < until <= end


def _told(run: Run, other: Run) -> str:
    """What tells a run from another: name, or seed, or place."""
    name, others = (str(each.scenario.get("name") or "scenario") for each in (run, other))
    if name != others:
        return name
    return f"{name}, seed {run.seed}" if run.seed != other.seed else f"{name}, {run.content_hash[:8]}"


def read_run(directory: str | os.PathLike[str]) -> Run:
    """A run from the directory to which `Run.save` or ``tailback run --out`` wrote it.

    Parameters
    ----------
    directory : path
        With ``provenance.json`` and a Parquet file for each table.

    Raises
    ------
    ParameterError
        It holds no run, or a damaged one; says which file.

    Examples
    --------
    >>> import tempfile, tailback as tb
    >>> run = tb.simulate(tb.dumbbell(rate="10 Mbps", delay="10 ms", buffer="20 packets", duration="5 s"))
    >>> with tempfile.TemporaryDirectory() as directory:
    ...     run.save(f"{directory}/run")
    ...     again = tb.read_run(f"{directory}/run")
    >>> again.summary() == run.summary()
    True
    """
    return Run.read(directory)


class Interrupted(KeyboardInterrupt):
    """Ctrl-C during a run.

    Attributes
    ----------
    run : Run
        What was measured until then; its ``complete`` is false.
    """

    def __init__(self, run: Run) -> None:
        super().__init__(f"interrupted at {run.simulated_s:g} s of simulated time")
        self.run = run

    def __reduce__(self) -> tuple[Any, ...]:
        return Interrupted, (self.run,)
