"""Measurements of a packet capture, per TCP connection."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Any

from tailback import _core, _store
from tailback._arguments import arguments_checked
from tailback._html import notebook
from tailback._summary import ROWS, TextTable, listed, tabulated
from tailback._table import Table
from tailback._time_slices import in_slices
from tailback.errors import CaptureError, UnknownName

__all__ = ["Analysis", "CaptureDamage", "analyse", "listings", "notes"]

_FIRST_PACKETS = 10_000

_ENDS = ("sender_address", "sender_port", "receiver_address", "receiver_port")

# Columns of the summary, in addition to the two ends.
_COLUMNS = (
    "unique_payload_bytes",
    "goodput_bps",
    "retransmitted_packets",
    "inferred_timeouts",
    "reordered_packets",
    "min_rtt_s",
    "rtt_p95_s",
    "max_in_flight_bytes",
)


@dataclass(frozen=True)
class CaptureDamage:
    """Position and kind of the first error in a damaged capture.

    Attributes
    ----------
    at_byte : int
        Offset of the block or record that cannot be read, in bytes from 0.
    what : str
        Description of the error.
    """

    at_byte: int
    what: str

    def __str__(self) -> str:
        return f"the file is damaged at byte {self.at_byte:,}: {self.what}"


@arguments_checked
class Analysis:
    """The measurements of a packet capture, as tables of columns.

    Attributes
    ----------
    complete : bool
        False if the file is damaged before its end.
    damage : CaptureDamage or None
        Where the file is damaged.
    packets : int
        Packets in the file, including those in `skipped`.
    packets_out_of_time : int
        Packets with an earlier timestamp than the previous packet. If there are any, time-dependent results are less certain.
    comments : list of str
        Comments in the file's section headers.
    provenance : dict
        File, version, and outcome of the analysis.
    """

    def __init__(self, capture: _core.CaptureAnalysis, file: str) -> None:
        self._tables = {name: Table(table) for name, table in capture.tables()}
        self.damage = None if capture.damage is None else CaptureDamage(*capture.damage)
        self.complete = self.damage is None
        self.packets = capture.packets
        self.packets_out_of_time = capture.packets_out_of_time
        self.comments = capture.comments
        self._losses_left_out = capture.losses_left_out
        self.provenance: dict[str, Any] = {
            "file": file,
            "version": _core.__version__,
            "complete": self.complete,
            "damage": None if self.damage is None else asdict(self.damage),
            "packets": self.packets,
            "packets_out_of_time": self.packets_out_of_time,
            "began": None if capture.began_ns is None else _iso(capture.began_ns),
            "comments": self.comments,
        }

    @property
    def connections(self) -> Table:
        """Two rows per TCP connection, one per direction; ``docs/howto/captures.md`` defines every column."""
        return self._tables["connections"]

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
        return f"{self.provenance['file']}: {self.packets:,} packets, {len(self.connections) // 2:,} TCP connections{cut}"

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
    """Measure the TCP connections of a packet capture, as seen at the capture point.

    Parameters
    ----------
    path : path
        A pcap or pcapng file. Compressed files must be decompressed first.
    samples : bool
        Also return tables of every RTT sample and of every change of the data in flight. They use some tens of bytes of memory
        per packet; without them, memory does not grow with the length of the file.
    progress : callable, optional
        Called about ten times a second with the completed fraction, 0 to 1; for example a `tailback.ProgressBar`.

    Returns
    -------
    Analysis
        Connections, samples and skipped packets. For a damaged file, the results up to the damage, with ``complete`` false.

    Raises
    ------
    CaptureError
        The file cannot be read, or is not a capture.
    """
    name = os.fspath(path)
    if not name:
        raise CaptureError("the file name is empty; expected a capture")
    try:
        capture = _core.CaptureAnalysis(name, samples=samples)
        _advance(capture, progress or _ignore)
    except OSError as error:
        raise CaptureError(f"`{name}` cannot be read: {error.strerror or error}") from None
    except ValueError as error:
        raise CaptureError(f"`{name}` is {error}") from None
    return Analysis(capture, name)


def listings(analysis: Analysis) -> Iterator[TextTable]:
    """The directions that carry data, those with the most payload first, and the first losses."""
    table = analysis.connections
    payload = table.head("payload_bytes", len(table))
    places = sorted((place for place, sent in enumerate(payload) if sent), key=lambda place: -payload[place])
    if not places:
        return
    every = {column: table.head(column, len(table)) for column in (*_ENDS, *_COLUMNS)}
    shown = {column: [values[place] for place in places[:ROWS]] for column, values in every.items()}
    ends = {
        end: [_end(*where) for where in zip(shown[f"{end}_address"], shown[f"{end}_port"], strict=True)]
        for end in ("sender", "receiver")
    }
    yield TextTable.of("connections", {**ends, **{column: shown[column] for column in _COLUMNS}}, len(places))
    losses = analysis.losses
    if len(losses):
        yield TextTable.of("losses", {column: losses.head(column, ROWS) for column in losses.columns}, len(losses))


def notes(analysis: Analysis) -> Iterator[str]:
    """Notes that affect the interpretation of the results."""
    reasons = zip(analysis.skipped.head("reason", ROWS), analysis.skipped.head("packets", ROWS), strict=True)
    skipped = [f"{packets:,} {reason}" for reason, packets in reasons]
    if len(analysis.skipped) > ROWS:
        skipped.append(f"and {len(analysis.skipped) - ROWS} more reasons")
    if skipped:
        yield "not analysed: " + "; ".join(skipped)
    if analysis.packets_out_of_time:
        yield f"{analysis.packets_out_of_time:,} packets are earlier than the previous packet: times are less certain"
    forgotten = sum(analysis.connections.head("forgotten_segments", len(analysis.connections)))
    if forgotten:
        yield f"{forgotten:,} segments were never acknowledged in the capture: the other direction may be missing"
    if analysis._losses_left_out:
        yield f"{analysis._losses_left_out:,} losses are not in the table `losses`, which has at most 65,536 per direction"
    if analysis.damage is not None:
        yield f"INCOMPLETE: {analysis.damage}"


def _advance(capture: _core.CaptureAnalysis, progress: Callable[[float], None]) -> None:
    """Read the capture to its end. The size of a pipe is unknown."""
    in_slices(
        capture.advance,
        _FIRST_PACKETS,
        lambda: progress(min(1.0, capture.bytes_read / (capture.file_bytes or capture.bytes_read or 1))),
    )


def _end(address: str, port: int) -> str:
    """Address and port in the notation of URLs."""
    return f"[{address}]:{port}" if ":" in address else f"{address}:{port}"


def _iso(nanoseconds: int) -> str:
    """A timestamp in ISO 8601 with nanoseconds."""
    seconds, rest = divmod(nanoseconds, 1_000_000_000)
    return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%dT%H:%M:%S}.{rest:09}Z"


def _ignore(_fraction: float) -> None:
    pass
