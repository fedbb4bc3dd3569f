"""A run: the results of a simulation and their provenance."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import deepcopy
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING, Any, Literal

from tailback import _core, _store
from tailback._arguments import arguments_checked
from tailback._html import notebook
from tailback._process.time_slices import in_slices
from tailback._run.starvation import starved_flows
from tailback._scenario import Scenario
from tailback._scenario.description import name_of
from tailback._tables.summary import listings, tabulated, text
from tailback._tables.table import COUNTERS, Table
from tailback.errors import HostError, HostWarning, ParameterError, UnknownName, warn

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from tailback._run.fairness import Fairness
    from tailback._tables.quantity import Column, Quantity

__all__ = ["Interrupted", "Run", "advance", "read_run", "with_changes"]

_FIRST_EVENTS = 10_000
# A note names unlimited queues in which packets wait for more base round-trip times than this on average.
_LONG_WAIT_RTTS = 10


@arguments_checked
class Run:
    """The results of one simulation, as tables of columns.

    Attributes
    ----------
    complete : bool
        False if the run was interrupted.
    simulated_s : float
        Simulated time in seconds.
    events : int
        Number of events that the engine processed.

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

    # The tables that are not traces.
    _counters: tuple[str, ...] = COUNTERS

    def __init__(self, results: _core.Results) -> None:
        self._results = results
        self.complete = results.complete
        self.simulated_s = results.simulated_s
        self.events = results.events

    # Objects of Python are made when they are read, which takes longer than a short run.
    @cached_property
    def _tables(self) -> dict[str, Table]:
        return {name: Table(table) for name, table in self._results.tables}

    @cached_property
    def provenance(self) -> dict[str, Any]:
        """The complete scenario, seed, version, content hash, and outcome of the run."""
        provenance: dict[str, Any] = json.loads(self._results.provenance)
        return provenance

    def __getstate__(self) -> dict[str, Any]:
        state = {**vars(self), "_tables": self._tables, "provenance": self.provenance}
        state.pop("_results", None)
        return state

    @classmethod
    def read(cls, directory: str | os.PathLike[str]) -> Run:
        """Read a run that `save` or ``tailback run --out`` wrote: `tailback.read_run`."""
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

        Counts, means, shares and goodputs cover the measurement interval, from the end of the warm-up to the end of the run. The
        completion time lasts from the flow's start until its receiver has all data; the warm-up does not shorten it, and the
        transfer rate is the size of the transfer divided by it. `starved` is 1 if the flow always had data and delivered next to
        nothing. The active
        share is the share of the time between the flow's start, or the end of the warm-up, and its end in which it does not wait
        for a retransmission timeout. Such a wait begins at the last transmission; waiting for a tail loss probe does not count.
        `waiting_at_end` is 1 if the flow is waiting for a timeout at the end of the run.
        """
        return self._tables["flows"]

    @property
    def queues(self) -> Table:
        """One row per queue, that is, per direction of a link: arrivals, discards by reason, utilisation, waiting time, ..."""
        return self._tables["queues"]

    @property
    def groups(self) -> Table:
        """One row per flow group: total goodput, fairness, percentiles of the completion time, ..."""
        return self._tables["groups"]

    @property
    def classes(self) -> Table:
        """One row per class at each queue with classes: arrivals, discards, throughput, waiting time.

        Raises
        ------
        UnknownName
            No queue of the scenario has `classes`.
        """
        return self._table_if_any("classes", "a queue with a scheduler can have `classes`")

    @property
    def edges(self) -> Table:
        """One row per flow with the available bit rate service: its rate, RM cells, and the queue and discards at its edge.

        Raises
        ------
        UnknownName
            No flow of the scenario has `abr`.
        """
        return self._table_if_any("edges", "flows with `abr` have edges")

    @property
    def messages(self) -> Table:
        """One row per message of an application: a scripted write, a request, a response, or a chunk of video.

        Raises
        ------
        UnknownName
            No flow of the scenario has such an application.
        """
        return self._table_if_any("messages", 'flows with `application` of kind "script", "requests" or "video" have messages')

    @property
    def queue_flows(self) -> Table:
        """One row per queue and flow with traffic in it: units, bytes and throughput, including headers.

        Raises
        ------
        UnknownName
            The scenario has no ``record = {queue_flows = true}``.
        """
        return self._table_if_any("queue_flows", "it exists with `record.queue_flows = true`")

    def _table_if_any(self, name: str, where: str) -> Table:
        """A table that only some runs have; `where` says which."""
        if name not in self._tables:
            raise UnknownName("table", name, list(self._tables), note=f"; {where}")
        return self._tables[name]

    def completions(self, classes: Sequence[str] = ("100 kB", "10 MB"), percentiles: Sequence[float] = (50, 95, 99)) -> Table:
        """Completion times and slowdowns of transfers, by size class.

        Parameters
        ----------
        classes : sequence of str
            Boundaries between the size classes, ascending; a class includes its upper boundary. By default short, medium and long
            flows.
        percentiles : sequence of float
            Percentiles to report, above 0 and at most 100, by nearest rank.

        Returns
        -------
        Table
            One row per group and non-empty class: sizes ``above_bytes`` and ``up_to_bytes`` (missing for the last class), the
            numbers of ``flows`` and ``completed`` flows, ``completion_mean_s``, ``completion_p50_s``, ... of the completed flows,
            and ``slowdown_mean``, ``slowdown_p50``, ...: the completion time divided by the minimum that the links allow.
            Unfinished flows are excluded, which biases the table against long flows.

        Raises
        ------
        ParameterError
            `classes` are not ascending sizes, `percentiles` are not valid, or no flow has a size.

        Examples
        --------
        >>> import tailback as tb
        >>> arrivals, size = {"load": 0.5, "reference_rate": "10 Mbps"}, {"exponential": "50 kB"}
        >>> flows = {"web": {"arrivals": arrivals, "size": size, "tcp": {"preset": "sack"}}}
        >>> run = tb.simulate(tb.dumbbell(rate="10 Mbps", delay="10 ms", buffer="50 packets", flows=flows, duration="30 s"))
        >>> run.completions(["50 kB"]).select("up_to_bytes", "flows", "completed", "slowdown_p50")
        completions: 2 rows x 4 columns
          up_to_bytes          50000             -
          flows                  242           129
          completed              242           128
          slowdown_p50        1.4469        1.5357
        """
        from tailback._run.completions import completions

        return completions(self.flows, classes, percentiles)

    def write_mahimahi(self, path: str | os.PathLike[str], queue: str) -> None:
        """Write the departures of a queue as a Mahimahi trace, which reproduces the service of this queue on another link.

        The trace has an opportunity in the millisecond in which another 1504 bytes have departed, with 4 bytes of header for each
        packet, as mm-link counts. Times are those of the run.
        Departures after the last complete opportunity are not in the trace, which repeats from there.

        Parameters
        ----------
        path : str or PathLike
            File to write; one that exists is overwritten.
        queue : str
            A queue in ``record.traces`` of the scenario: ``{"departures": ["bottleneck"]}``.

        Raises
        ------
        UnknownName
            The departures were not recorded, or there is no such queue.
        ParameterError
            Less than one opportunity has departed.
        OutputError
            The file cannot be written.
        """
        from tailback._formats.mahimahi import write

        with _store.replaced_file(path) as file:
            write(self, file, queue=queue)

    def write_flent(
        self, path: str | os.PathLike[str], series: Mapping[str, str], *, test: str = "rrul", step: str = "200 ms"
    ) -> None:
        """Write a data file of Flent (``.flent.gz``), which plots the run beside measurements of real networks.

        Means and sums such as ``TCP download sum`` and ``Ping (ms) avg`` are added. Equal runs give equal files.

        Parameters
        ----------
        path : path
            File to write, which Flent requires to end in ``.flent.gz``; one that exists is overwritten.
        series : mapping of str to str
            Flow groups by Flent's names of series. ``TCP upload BE`` and others are the throughput of a group, from the trace
            ``throughput``; names that begin with ``Ping`` are the round trips of its ``requests`` (table `messages`), or else
            of its TCP (trace ``rtt``).
        test : str
            Flent's test with these names, which defines the plots.
        step : str
            Step of the time series.

        Raises
        ------
        UnknownName
            There is no such group, or the trace was not recorded.
        ParameterError
            `path` has another suffix, `series` is empty, its groups are not in the trace, or `step` is not a time within the run.
        OutputError
            The file cannot be written.

        Examples
        --------
        >>> import tempfile, tailback as tb
        >>> scenario = tb.dumbbell(
        ...     rate="10 Mbps", delay="10 ms", buffer="50 packets", duration="5 s", traces=["throughput", "rtt"],
        ...     flows={"down": {"tcp": {"preset": "linux/cubic"}}},
        ... )
        >>> with tempfile.TemporaryDirectory() as directory:
        ...     tb.simulate(scenario).write_flent(
        ...         f"{directory}/run.flent.gz", {"TCP download BE": "down", "Ping (ms) ICMP": "down"}
        ...     )
        """
        from tailback._formats.flent import WRITER

        WRITER.check_name(path)
        with _store.replaced_file(path) as file:
            WRITER.write(self, file, series=series, test=test, step=step)

    @property
    def traces(self) -> list[str]:
        """Kinds of the recorded traces."""
        return [name for name in self._tables if name not in self._counters]

    def trace(self, kind: str) -> Table:
        """A trace: ``cwnd``, ``queue``, ``rtt``, ..., if it is in ``record.traces`` of the scenario.

        Raises
        ------
        UnknownName
            The trace was not recorded; the message lists the recorded ones.
        """
        if kind not in self.traces:
            raise UnknownName("trace", kind, self.traces, note="; add it to `record.traces` of the scenario")
        return self._tables[kind]

    @property
    def tables(self) -> dict[str, Table]:
        """All tables by name."""
        return dict(self._tables)

    def value(self, quantity: str | Quantity = "goodput") -> float:
        """A scalar result.

        Parameters
        ----------
        quantity : str
            ``goodput`` of all groups together (bit/s); a column as ``TABLE.NAME.COLUMN``, such as
            ``queues.bottleneck.utilisation``, where TABLE is `flows`, `queues`, `groups`, `classes` or `edges`, and NAME selects
            the rows of one name, or ``*`` all rows; or a formula of these with numbers, ``+ - * /`` between spaces, parentheses,
            and the functions ``sum``, ``mean``, ``min``, ``max``, ``jain`` (Jain's index) and ``share`` (of a name in the sum of
            all). Arithmetic on columns is by row; a result with several rows is their mean.

        Raises
        ------
        ParameterError, UnknownName
            No such quantity.

        Examples
        --------
        >>> import tailback as tb
        >>> flows = {name: {"tcp": {"preset": "reno"}} for name in ("first", "second")}
        >>> run = tb.simulate(tb.dumbbell(rate="10 Mbps", delay="10 ms", buffer="20 packets", flows=flows, duration="5 s"))
        >>> run.value("goodput") == run.value("sum(groups.*.goodput_bps)")
        True
        >>> run.value("share(flows.first.goodput_bps) + share(flows.second.goodput_bps)")
        1.0
        >>> 0.5 <= run.value("jain(flows.*.goodput_bps)") <= 1
        True
        """
        from tailback._tables.quantity import quantity_of

        asked = quantity_of(quantity) if isinstance(quantity, str) else quantity
        return asked.value({name: self._columns(asked, name) for name in asked.tables})

    def _columns(self, asked: Quantity, name: str) -> list[Column]:
        """The packed columns of a table that the quantity needs: those that name its rows, and its own."""
        table = self._table_if_any(name, "only some scenarios have it")
        own = [cells.column for cells in asked.cells if cells.table == name]
        # If a column is missing, return all: the error message lists them.
        wanted = table.columns if any(column not in table for column in own) else [table.columns[0], "class", *own]
        return [table._packed_column(column) for column in dict.fromkeys(wanted) if column in table]

    @property
    def seed(self) -> int:
        """The seed of the run."""
        return int(self.provenance["seed"])

    @property
    def content_hash(self) -> str:
        """Hash of scenario, seed and version: equal hashes mean equal results."""
        return str(self.provenance["content_hash"])

    @property
    def scenario(self) -> dict[str, Any]:
        """The scenario of the run, including defaults."""
        return deepcopy(dict(self.provenance["scenario"]))

    @property
    def notes(self) -> list[str]:
        """Notes that affect the interpretation of the results (`Scenario.notes`)."""
        measured = (self._not_measured(), self._beyond_range(), self._long_waits(), starved_flows([self._tables]))
        return [*Scenario(self.scenario).notes(), *chain.from_iterable(measured)]

    def _not_measured(self) -> Iterator[str]:
        """A note if the run was interrupted within its warm-up."""
        warmup = self.scenario.get("warmup", "0 s")
        seconds, _ = _core.in_column_units(warmup) or (0.0, "s")
        if not self.complete and self.simulated_s <= seconds:
            yield f"nothing was measured: the run was interrupted within its warm-up of {warmup}"

    def _beyond_range(self) -> Iterator[str]:
        """A note for each queue whose price was outside the range of the marking scheme."""
        if "clamped_packets" not in self.queues.columns:
            return
        rows = zip(self.queues["queue"], self.queues["clamped_packets"], self.queues["departed_units"], strict=True)
        for queue, beyond, departed in rows:
            if beyond:
                yield (
                    f"the price of `{queue}` left the range of `prices` and was clamped to it for {beyond} of {departed} packets"
                )

    def _long_waits(self) -> Iterator[str]:
        """A note for each unlimited queue in which packets wait for more than ten base round-trip times on average."""
        shortest = min((rtt for rtt in self.flows.head("base_rtt_s", len(self.flows)) if rtt > 0), default=math.inf)
        waits = dict(zip(*(self.queues.head(column, len(self.queues)) for column in ("queue", "mean_wait_s")), strict=True))
        if not any(wait > _LONG_WAIT_RTTS * shortest for wait in waits.values()):
            return
        for queue, base_rtt_s in _core.unlimited_queues(json.dumps(self.scenario), "", "json"):
            if waits[queue] > _LONG_WAIT_RTTS * base_rtt_s:
                yield (
                    f"the queue of `{queue}` is unlimited, and its mean wait of {waits[queue]:.3g} s exceeds {_LONG_WAIT_RTTS} "
                    f"base round-trip times ({base_rtt_s:.3g} s): equipment with a buffer would discard packets"
                )

    def fairness(self, weights: Mapping[str, float] | None = None, compare_red: bool = True) -> Fairness:
        """Compare the flows' goodputs with ideal allocations: max-min fair and proportionally fair rates.

        Flows that send greedily over the whole measurement interval share the capacity. Other traffic on their links (datagrams,
        application-limited flows, completed transfers, flows that start or stop during the interval) keeps its measured goodput,
        including headers, and is listed in `Fairness.notes`. The capacity of a link is its rate; the goodput of a flow is the
        payload share of a full packet. The rate of a flow is limited by its access path and by the maximum rate of its
        controller. Rates of links are those at the end of the warm-up. Acknowledgements, random loss, losses downstream of a
        link, and receiver windows are ignored.

        Parameters
        ----------
        weights : mapping of str to float, optional
            Weights of flow groups, applied to each of their flows, 1e-6 to 1e6; by default 1.
        compare_red : bool
            Whether a complete run over drop-tail bottlenecks is simulated once more with RED there, which takes as long as the
            run. A note names groups that get another part of their fair rate, because phases of packets decide it at a drop-tail
            queue (docs/howto/round_trips.md).

        Raises
        ------
        UnknownName
            No such flow group.
        ParameterError
            There is no single optimum: no flow sends greedily, a route or the rate of a link changes in the measurement interval,
            other flows use all of a link, nothing was measured, or the run is an emulation with real flows.

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
        >>> fair = run.fairness()
        >>> (fair.flows["max_min_bps"] / 1e6).round(3), (fair.flows["proportional_bps"] / 1e6).round(3)
        (array([4.867, 4.867, 4.867]), array([3.244, 6.489, 6.489]))
        >>> fair.proportional.distance < fair.max_min.distance
        True
        """
        from tailback._run.fairness import fairness_of
        from tailback._run.fairness_red import with_red

        def simulated(changed: Scenario) -> tuple[Table, float]:
            simulation = changed._simulation(self.seed)
            advance(simulation, lambda _done: None)
            run = Run(simulation.results())
            return run.flows, run.simulated_s

        scenario = Scenario(self.scenario)
        found = fairness_of(scenario, self.seed, self.flows, self.simulated_s, weights or {})
        return with_red(found, scenario, self.seed, weights or {}, simulated) if compare_red and self.complete else found

    def fork(
        self,
        at: str,
        changes: Mapping[str, Any] | Sequence[Mapping[str, Any]],
        *,
        progress: Callable[[float], None] | None = None,
    ) -> Run:
        """Simulate the run again with changes from a time on; before it, both runs are the same.

        Parameters
        ----------
        at : str
            Simulated time, such as ``"20 s"``.
        changes : mapping or sequence of mapping
            Entries of the scenario's ``timeline``, without ``at``: new rates, delays, losses and buffers of a link, a failure of
            a link, or the start, stop or route of a flow group.
        progress : callable, optional
            As in `tailback.simulate`.

        Raises
        ------
        ScenarioError
            `at` is not a time within the run, or a change is not valid.

        Examples
        --------
        >>> import tailback as tb
        >>> run = tb.simulate(tb.dumbbell(rate="10 Mbps", delay="10 ms", buffer="20 packets", duration="20 s"))
        >>> slower = run.fork("10 s", {"link": "bottleneck", "rate": "5 Mbps"})
        >>> 0.74 < slower.value() / run.value() < 0.76
        True
        """
        simulation = Scenario(with_changes(self.scenario, at, changes))._simulation(self.seed)
        advance(simulation, progress or (lambda _done: None))
        return Run(simulation.results())

    def summary(self) -> str:
        """A summary of the results as text."""
        return "\n\n".join([text(str(self), self._tables, self.traces), *(f"note: {text}" for text in self.notes)])

    def plot(
        self,
        traces: str | Sequence[str] | None = None,
        *,
        lines: str | Sequence[str] | None = None,
        time_range: tuple[float, float] | None = None,
        by: Literal["flow", "group"] = "flow",
        compare: Run | Mapping[str, Run] | None = None,
        width: float | None = None,
    ) -> Figure:
        """Plot traces over time, or flows and queues if the run has no traces; requires matplotlib.

        ``savefig`` writes PDF with embedded TrueType fonts, SVG with text, or PNG. ``figure.axes[0].set_title(...)`` replaces the
        title of a panel, and ``figure.suptitle(...)`` that of the figure.

        Long lines are thinned to the minimum and maximum of each of many time intervals, so that extremes remain visible.

        Parameters
        ----------
        traces : str or sequence of str, optional
            Kinds of trace, such as ``("cwnd", "queue")``; by default all that were recorded.
        lines : str or sequence of str, optional
            Groups (``"web"``), flows (``"web 3"``) and queues (``"bottleneck"``); by default the first eight of each trace.
        time_range : pair of float, optional
            Start and end, in seconds; by default the whole run.
        by : "flow" or "group"
            Colour by flow, or by group with up to eight flows of each.
        compare : Run, or mapping of str to Run, optional
            Other runs, each drawn in its own column on the same scales, with its name as title.
        width : float, optional
            Width of the figure in inches, 2 to 40; the columns of a page are 3.3 to 3.5 inches wide. By default 8 for one run.

        Raises
        ------
        MissingExtra
            matplotlib is not installed.
        UnknownName
            No such trace, group, flow or queue.
        ParameterError
            `time_range` is not valid or extends beyond a run, `by` is not valid, `compare` is not a run, or the runs have no
            common trace.

        Examples
        --------
        >>> import tailback as tb
        >>> flows = {"web": {"count": 2, "tcp": {"preset": "sack"}}}
        >>> scenario = tb.dumbbell(
        ...     rate="10 Mbps", delay="10 ms", buffer="20 packets", flows=flows, duration="10 s", traces=["cwnd", "queue"]
        ... )
        >>> run = tb.simulate(scenario)
        >>> len(run.plot("cwnd", lines="web 1", time_range=(2, 4)).axes[0].lines)
        1
        >>> len(run.plot(compare=tb.simulate(scenario.with_({"flows.web.tcp.preset": "cubic"}))).axes)
        4
        """
        from tailback._run.plot import TraceSelection, plot_runs
        from tailback.plots import close

        titles = _titles(self, compare)
        shortest = min(run.simulated_s for run in titles.values())
        chosen = TraceSelection.of(traces, lines, time_range, by, shortest)
        return close(plot_runs({title: run._tables for title, run in titles.items()}, chosen, width))

    def save(self, directory: str | os.PathLike[str]) -> None:
        """Write every table as Parquet, and ``provenance.json``, to a new directory, atomically.

        Raises
        ------
        OutputError
            The directory exists or cannot be written.
        """
        with _store.staged(directory) as folder:
            _store.write(self._tables, self.provenance, folder)

    def save_as(self, path: str | os.PathLike[str], format: str | None = None, **options: Any) -> None:
        """Write the run to a new file, in a format that other programs read; see ``docs/howto/captures.md``.

        Parameters
        ----------
        path : path
            File to write.
        format : str, optional
            ``pcapng`` (`save_capture`), ``qlog`` (`save_qlog`), ``flent`` (`write_flent`) or ``mahimahi`` (`write_mahimahi`). By
            default that of the suffix: ``.pcapng``, ``.qlog``, ``.flent.gz`` or ``.trace``.
        **options
            Further arguments of the method in parentheses, such as ``series`` of `write_flent` and ``queue`` of
            `write_mahimahi`.

        Raises
        ------
        UnknownName
            There is no such format, or the run lacks a trace, flow group or queue.
        ParameterError
            No format has the suffix of `path`, a required argument is missing, or the format rejects the value of one.
        ArgumentError
            The format has no such argument.
        OutputError
            The file exists or cannot be written.

        Examples
        --------
        >>> import tempfile, tailback as tb
        >>> traces = ["packets", "departures"]
        >>> scenario = tb.dumbbell(rate="10 Mbps", delay="10 ms", buffer="9 packets", duration="5 s", traces=traces)
        >>> run = tb.simulate(scenario)
        >>> with tempfile.TemporaryDirectory() as directory:
        ...     run.save_as(f"{directory}/run.pcapng")
        ...     run.save_as(f"{directory}/bottleneck.trace", queue="bottleneck")
        ...     packets = tb.analyse(f"{directory}/run.pcapng").packets
        >>> packets == len(run.trace("packets"))
        True
        """
        from tailback._formats import save

        save(self, path, format, options)

    def save_capture(self, path: str | os.PathLike[str]) -> None:
        """Write the packets at the sending hosts to a new pcapng file, with real headers; see ``docs/howto/captures.md``.

        Parameters
        ----------
        path : path
            File to write. It contains the packets of the trace ``packets``, as tcpdump would capture them at the senders, with a
            comment on each packet that a queue discarded. Packets of flows with a ``stack`` have constructed headers; ``capture``
            of `simulate` writes the real ones.

        Raises
        ------
        UnknownName
            ``packets`` was not recorded; add it to ``record.traces`` of the scenario.
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
        self.save_as(path, "pcapng")

    def save_qlog(self, path: str | os.PathLike[str]) -> None:
        """Write the events of every sender to a new qlog file (version 0.3), which qvis opens; see ``docs/howto/captures.md``.

        Parameters
        ----------
        path : path
            File to write. It contains one trace per flow with packets: packets sent and acknowledgements received, losses, and
            those of ``cwnd``, ``ssthresh``, ``rtt``, ``in_flight`` and ``state`` that were recorded.

        Raises
        ------
        UnknownName
            ``packets`` was not recorded; add it to ``record.traces`` of the scenario.
        OutputError
            The file exists or cannot be written.

        Examples
        --------
        >>> import tempfile, tailback as tb
        >>> traces = ["packets", "cwnd", "rtt"]
        >>> scenario = tb.dumbbell(rate="10 Mbps", delay="10 ms", buffer="9 packets", duration="5 s", traces=traces)
        >>> run = tb.simulate(scenario)
        >>> with tempfile.TemporaryDirectory() as directory:
        ...     run.save_qlog(f"{directory}/run.qlog")
        ...     analysis = tb.analyse(f"{directory}/run.qlog")
        >>> analysis.connections.head("lost_packets", 1) == run.flows.head("retransmitted_packets", 1)
        True
        """
        self.save_as(path, "qlog")

    @property
    def _title(self) -> str:
        return name_of(self.scenario)

    def __str__(self) -> str:
        cut = "" if self.complete else ", INCOMPLETE"
        return f"{self._title}: {self.simulated_s:g} s simulated{cut}, seed {self.seed}, {self.events:,} events"

    def __repr__(self) -> str:
        return f"<Run {self}>"

    def _repr_html_(self) -> str:
        return notebook(str(self), tables=tabulated(listings(self._tables)))


def _titles(run: Run, compare: Any) -> dict[str, Run]:
    """The runs of a plot by title."""
    if isinstance(compare, Run):
        first, second = _run_label(run, compare), _run_label(compare, run)
        return {first: run, second if second != first else f"{second}, again": compare}
    if compare is None:
        return {str(run): run}
    if not isinstance(compare, Mapping) or not all(
        isinstance(name, str) and isinstance(other, Run) for name, other in compare.items()
    ):
        raise ParameterError(f"`compare` is {compare!r}; expected a run, or runs by name, for example {{'cubic': run}}")
    own = name_of(run.scenario)
    while own in compare:
        own += ", this run"
    return {own: run, **compare}


def _run_label(run: Run, other: Run) -> str:
    """A title that distinguishes a run from another: its name, seed or content hash."""
    name, others = (name_of(each.scenario) for each in (run, other))
    if name != others:
        return name
    return f"{name}, seed {run.seed}" if run.seed != other.seed else f"{name}, {run.content_hash[:8]}"


@arguments_checked
def read_run(directory: str | os.PathLike[str]) -> Run:
    """Read a run from a directory that `Run.save` or ``tailback run --out`` wrote.

    Parameters
    ----------
    directory : path
        Directory with ``provenance.json`` and one Parquet file per table.

    Raises
    ------
    ParameterError
        The directory contains no run, or a damaged one; the message names the file.

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
        The results until the interruption; its ``complete`` is false.
    """

    def __init__(self, run: Run) -> None:
        super().__init__(f"interrupted at {run.simulated_s:g} s of simulated time")
        self.run = run

    def __reduce__(self) -> tuple[Any, ...]:
        return Interrupted, (self.run,)


def advance(simulation: _core.Simulation, progress: Callable[[float], None], until_s: float | None = None) -> None:
    """Run to a time, by default the end, in slices of a number of events: one instant may have any number. Slices do not affect
    the results.
    """
    try:
        in_slices(
            lambda events: simulation.run_for(events, until_s),
            _FIRST_EVENTS,
            lambda: progress(simulation.now_s / simulation.duration_s),
        )
    except HostError as error:
        error.run = Run(simulation.results())
        raise
    is_over = until_s is None or simulation.now_s >= simulation.duration_s
    if is_over and (early_ends := simulation.early_ends()):
        warn(HostWarning(early_ends))


def with_changes(scenario: dict[str, Any], at: str, changes: Mapping[str, Any] | Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """A description with further entries of the timeline at a time."""
    events = [changes] if isinstance(changes, Mapping) else list(changes)
    return {**scenario, "timeline": [*scenario.get("timeline", []), *({"at": at, **event} for event in events)]}
