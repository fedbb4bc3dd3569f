"""The files of a run: its own directory, and the formats of other programs."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from tailback import _store
from tailback._arguments import arguments_checked
from tailback._run.provenance import RunProvenance
from tailback._run.tables import RunTables

__all__ = ["RunFiles"]


@arguments_checked
class RunFiles(RunTables, RunProvenance):
    """The files of a `Run`."""

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
