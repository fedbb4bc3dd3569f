"""Measurements of a packet capture, a qlog file, a report of iperf3 or a data file of Flent."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from tailback import _core, _store
from tailback._arguments import arguments_checked
from tailback._formats import reader_of, readers
from tailback._formats.damage import CaptureDamage
from tailback._formats.format import Measured, WrongFormatError
from tailback._html import notebook
from tailback._tables.summary import ROWS, TextTable, listed, tabulated
from tailback._tables.table import Table
from tailback.errors import CaptureError, UnknownName, in_one_line

__all__ = ["Analysis", "CaptureDamage", "analyse", "listings", "notes"]

# Columns of the summary, in addition to the two ends. Logs have fewer than captures, and some of their own.
_COLUMNS = (
    "unique_payload_bytes",
    "goodput_bps",
    "retransmitted_packets",
    "lost_packets",
    "inferred_timeouts",
    "inferred_loss_probes",
    "reordered_packets",
    "min_rtt_s",
    "rtt_p95_s",
    "max_in_flight_bytes",
)

_UDP_COLUMNS = ("protocol", "packets", "payload_bytes", "throughput_bps", "max_gap_s", "spin_bit", "spin_rtt_p50_s")


@arguments_checked
class Analysis:
    """The measurements of a packet capture, a qlog file, a report of iperf3 or a data file of Flent, as tables of columns.

    Attributes
    ----------
    complete : bool
        False if the file is damaged before its end.
    damage : CaptureDamage or None
        Where the file is damaged.
    packets : int
        Packets in the file, including those in `skipped`; 0 for reports of iperf3 and files of Flent.
    packets_out_of_time : int
        Packets with an earlier timestamp than the previous packet at the same point of capture. If there are any, time-dependent
        results are less certain.
    comments : list of str
        Comments in the file's section headers.
    provenance : dict
        File, version, and outcome of the analysis.
    """

    def __init__(self, measured: Measured, file: str) -> None:
        self._tables = measured.tables
        self.damage = measured.damage
        self.complete = self.damage is None
        self.packets = measured.packets
        self._out_of_time = measured.packets_out_of_time
        self.packets_out_of_time = sum(packets for _, packets in measured.packets_out_of_time)
        self.comments = list(measured.comments)
        self._losses_left_out = measured.losses_left_out
        self._notes = measured.notes
        self.provenance: dict[str, Any] = {
            "file": file,
            "version": _core.__version__,
            "complete": self.complete,
            "damage": None if self.damage is None else asdict(self.damage),
            "packets": self.packets,
            "packets_out_of_time": self.packets_out_of_time,
            "began": None if measured.began_ns is None else _iso(measured.began_ns),
            "comments": self.comments,
            "notes": list(measured.notes),
        }

    @property
    def connections(self) -> Table:
        """Two rows per connection, one per direction; ``docs/howto/captures.md`` defines every column."""
        return self._tables["connections"]

    @property
    def udp_flows(self) -> Table:
        """Two rows per UDP flow of a capture, one per direction, with the spin bit of QUIC.

        ``docs/howto/captures.md`` defines every column.

        Raises
        ------
        UnknownName
            The file is no capture of packets.
        """
        if "udp_flows" not in self._tables:
            raise UnknownName("table", "udp_flows", self._tables, note="; only captures of packets have it")
        return self._tables["udp_flows"]

    @property
    def skipped(self) -> Table:
        """Packets that were not analysed: ``reason`` and ``packets``."""
        return self._tables["skipped"]

    @property
    def losses(self) -> Table:
        """Each loss of data: time, connection, sequence number, drop reason if the capture records it, and repair.

        ``docs/howto/captures.md`` defines every column. At most 65,536 losses per direction are stored.
        """
        return self._tables["losses"]

    @property
    def rtt(self) -> Table:
        """Every RTT sample: ``time_s``, ``connection``, ``direction``, ``rtt_s``.

        Raises
        ------
        UnknownName
            `analyse` was called without ``samples=True``.
        """
        return self._sampled("rtt")

    @property
    def in_flight(self) -> Table:
        """Data sent but not acknowledged, at each change: ``in_flight_bytes`` and ``in_flight_packets``.

        Raises
        ------
        UnknownName
            `analyse` was called without ``samples=True``.
        """
        return self._sampled("in_flight")

    @property
    def tables(self) -> dict[str, Table]:
        """All tables by name."""
        return dict(self._tables)

    def summary(self) -> str:
        """A summary of the connections as text."""
        return listed(str(self), listings(self), notes(self))

    def save(self, directory: str | os.PathLike[str]) -> None:
        """Write every table as Parquet, and ``provenance.json``, to a new directory, atomically.

        Raises
        ------
        OutputError
            The directory exists or cannot be written.
        """
        with _store.staged(directory) as folder:
            _store.write(self._tables, self.provenance, folder)

    def __str__(self) -> str:
        cut = "" if self.complete else ", INCOMPLETE"
        if "series" in self._tables:
            return f"{in_one_line(self.provenance['file'])}: {len(self._tables['series']):,} series of Flent"
        connections = len(self.connections) // 2
        plural = "" if connections == 1 else "s"
        packets = f"{self.packets:,} packets, " if self.packets else ""
        return f"{in_one_line(self.provenance['file'])}: {packets}{connections:,} connection{plural}{cut}"

    def __repr__(self) -> str:
        return f"<Analysis {self}>"

    def _repr_html_(self) -> str:
        return notebook(str(self), tables=tabulated(listings(self)), texts=notes(self))

    def _sampled(self, name: str) -> Table:
        if name not in self._tables:
            raise UnknownName("table", name, self._tables, note="; analyse with `samples=True`")
        return self._tables[name]


@arguments_checked
def analyse(
    path: str | os.PathLike[str],
    *,
    samples: bool = False,
    progress: Callable[[float], None] | None = None,
) -> Analysis:
    """Measure the TCP connections and UDP flows of a packet capture, as seen at the capture point, the connections of a qlog file
    or of iperf3, or the series of Flent.

    Parameters
    ----------
    path : path
        A pcap or pcapng file, a qlog file as JSON or JSON text sequence (drafts 01 to 13), one or more reports of ``iperf3 -J``
        or ``--json-stream``, or a data file of Flent. Other compressed files must be decompressed first.
    samples : bool
        Also return tables of every RTT sample and of every change of the data in flight, of the metrics in a qlog file, and of
        the intervals of iperf3 and the values of Flent. They use some tens of bytes of memory per packet; without them, memory
        does not grow with the length of a capture. Other files are read into memory.
    progress : callable, optional
        Called about ten times a second with the completed fraction, 0 to 1; for example a `tailback.ProgressBar`.

    Returns
    -------
    Analysis
        Connections, samples and skipped packets. For a damaged file, the results up to the damage, with ``complete`` false.

    Raises
    ------
    CaptureError
        The file cannot be read, or is none of these.
    """
    name = os.fspath(path)
    if not name:
        raise CaptureError("the file name is empty; expected a capture")
    try:
        measured = reader_of(Path(name)).measure(Path(name), samples, progress or _ignore)
    except OSError as error:
        raise CaptureError(f"`{name}` cannot be read: {error.strerror or error}") from None
    except WrongFormatError as error:
        *others, last = (reader.files for reader in readers())
        raise CaptureError(f"`{name}` is {error}; expected {', '.join(others)}, or {last}") from None
    except ValueError as error:
        raise CaptureError(f"`{name}` is {error}") from None
    return Analysis(measured, name)


def listings(analysis: Analysis) -> Iterator[TextTable]:
    """The directions that carry data, those with the most payload first, and the first losses."""
    if "series" in analysis.tables:
        series = analysis.tables["series"]
        if not len(series):
            return
        yield TextTable.of("series", {column: series.head(column, ROWS) for column in series.columns}, len(series))
        return
    table = analysis.connections
    payload = _payload(table)
    places = sorted((place for place, sent in enumerate(payload) if sent > 0), key=lambda place: -payload[place])
    if places:
        yield _connections(table, places)
    if "udp_flows" in analysis.tables:
        yield from _udp_flows(analysis.udp_flows)
    losses = analysis.losses
    if len(losses):
        yield TextTable.of("losses", {column: losses.head(column, ROWS) for column in losses.columns}, len(losses))


def _connections(table: Table, places: list[int]) -> TextTable:
    """The rows at these places."""
    rows = {column: [table.head(column, len(table))[place] for place in places[:ROWS]] for column in table}
    if "sender_port" in table:
        ends = {
            end: [_end(*where) for where in zip(rows[f"{end}_address"], rows[f"{end}_port"], strict=True)]
            for end in ("sender", "receiver")
        }
    else:
        ends = {"trace": rows["interface"], "sender": rows["sender_address"]}
    columns = {column: rows[column] for column in _COLUMNS if column in rows}
    return TextTable.of("connections", {**ends, **columns}, len(places))


def _udp_flows(table: Table) -> Iterator[TextTable]:
    """The directions of UDP flows with packets, those with the most payload first."""
    payload = table.head("payload_bytes", len(table))
    packets = table.head("packets", len(table))
    places = sorted((place for place, sent in enumerate(packets) if sent), key=lambda place: -payload[place])
    if not places:
        return
    rows = {column: [table.head(column, len(table))[place] for place in places[:ROWS]] for column in table}
    ends = {
        end: [_end(*where) for where in zip(rows[f"{end}_address"], rows[f"{end}_port"], strict=True)]
        for end in ("sender", "receiver")
    }
    columns = {column: rows[column] for column in _UDP_COLUMNS}
    yield TextTable.of("udp_flows", {**ends, **columns}, len(places))


def _payload(table: Table) -> list[float]:
    """The payload of each row; where iperf3 does not know what was sent, that which arrived."""
    sent = table.head("payload_bytes", len(table))
    arrived = table.head("unique_payload_bytes", len(table)) if "unique_payload_bytes" in table else sent
    return [one if one == one else other for one, other in zip(sent, arrived, strict=True)]


def notes(analysis: Analysis) -> Iterator[str]:
    """Notes that affect the interpretation of the results."""
    return map(in_one_line, _noted(analysis))


def _noted(analysis: Analysis) -> Iterator[str]:
    yield from analysis._notes
    reasons = zip(analysis.skipped.head("reason", ROWS), analysis.skipped.head("packets", ROWS), strict=True)
    skipped = [f"{packets:,} {reason}" for reason, packets in reasons]
    if len(analysis.skipped) > ROWS:
        skipped.append(f"and {len(analysis.skipped) - ROWS} more reasons")
    if skipped:
        yield "not analysed: " + "; ".join(skipped)
    for name, packets in analysis._out_of_time:
        yield f"{packets:,} packets of interface {name} are earlier than its previous packet: its times are less certain"
    table = analysis.connections
    forgotten = sum(table.head("forgotten_segments", len(table))) if "forgotten_segments" in table else 0
    if forgotten:
        yield f"{forgotten:,} segments were never acknowledged in the capture: the other direction may be missing"
    if analysis._losses_left_out:
        yield f"{analysis._losses_left_out:,} losses are not in the table `losses`, which has at most 65,536 per direction"
    if analysis.damage is not None:
        yield f"INCOMPLETE: {analysis.damage}"


def _end(address: str, port: int) -> str:
    """Address and port in the notation of URLs."""
    return f"[{address}]:{port}" if ":" in address else f"{address}:{port}"


def _iso(nanoseconds: int) -> str:
    """A timestamp in ISO 8601 with nanoseconds."""
    seconds, rest = divmod(nanoseconds, 1_000_000_000)
    return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%dT%H:%M:%S}.{rest:09}Z"


def _ignore(_fraction: float) -> None:
    pass
