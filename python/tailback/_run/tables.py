"""The tables of a run, and the numbers computed from them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from tailback import _core
from tailback._arguments import arguments_checked
from tailback._tables.table import COUNTERS, Table
from tailback.errors import UnknownName

if TYPE_CHECKING:
    from tailback._tables.quantity import Column, Quantity

__all__ = ["RunTables"]


@arguments_checked
class RunTables:
    """The tables of a `Run`."""

    _results: _core.Results
    # The tables that are not traces.
    _counters: tuple[str, ...] = COUNTERS

    # Objects of Python are made when they are read, which takes longer than a short run.
    @cached_property
    def _tables(self) -> dict[str, Table]:
        return {name: Table(table) for name, table in self._results.tables}

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
