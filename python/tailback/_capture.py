"""A capture of packets: what was in it, connection by connection."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Any

from tailback import _core, _store
from tailback._html import notebook
from tailback._slices import in_slices
from tailback._summary import ROWS, Listing, listed, tabulated
from tailback._table import Table
from tailback.errors import CaptureError, UnknownName

__all__ = ["Analysis", "CaptureDamage", "analyse", "listings", "remarks"]

_FIRST_PACKETS = 10_000

_ENDS = ("sender_address", "sender_port", "receiver_address", "receiver_port")

# What a person wants to know first, beside the two ends.
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
    """Where a file breaks.

    Attributes
    ----------
    at_byte : int
        First byte of the block or record that cannot be read, from 0.
    what : str
        What is wrong there.
    """

    at_byte: int
    what: str

    def __str__(self) -> str:
        return f"it breaks at byte {self.at_byte:,}: {self.what}"


class Analysis:
    """What was in a capture, as tables of columns.

    Attributes
    ----------
    complete : bool
        False if the file breaks before its end.
    damage : CaptureDamage or None
        Where it breaks.
    packets : int
        Packets in the file, those of `skipped` included.
    packets_out_of_time : int
        Packets whose time lies before that of the packet before. Where there are any, what depends on time is less certain.
    comments : list of str
        Comments on the file's sections.
    provenance : dict
        File, version, and what became of the analysis.
    """

    def __init__(self, capture: _core.CaptureAnalysis, file: str) -> None:
        self._tables = {name: Table(table) for name, table in capture.tables()}
        self.damage = None if capture.damage is None else CaptureDamage(*capture.damage)
        self.complete = self.damage is None
        self.packets = capture.packets
        self.packets_out_of_time = capture.packets_out_of_time
        self.comments = capture.comments
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
        """Two rows per TCP connection, one for each direction: ``docs/howto/captures.md`` defines every column."""
        return self._tables["connections"]

    @property
    def skipped(self) -> Table:
        """Packets that were not analysed: ``reason`` and ``packets``."""
        return self._tables["skipped"]

    @property
    def rtt(self) -> Table:
        """Every round trip: ``time_s``, ``connection``, ``direction``, ``rtt_s``.

        Raises
        ------
        UnknownName
            Without ``samples=True``.
        """
        return self._sampled("rtt")

    @property
    def in_flight(self) -> Table:
        """What was sent and not acknowledged, at each change: ``in_flight_bytes`` and ``in_flight_packets``.

        Raises
        ------
        UnknownName
            Without ``samples=True``.
        """
        return self._sampled("in_flight")

    @property
    def tables(self) -> dict[str, Table]:
        """All tables by name."""
        return dict(self._tables)

    def summary(self) -> str:
        """What a person wants to know first, as text."""
        return listed(str(self), listings(self), remarks(self))

    def save(self, directory: str | os.PathLike[str]) -> None:
        """Write every table as Parquet, and ``provenance.json``, to a new directory: all of it or nothing.

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
        return notebook(str(self), tables=tabulated(listings(self)), texts=remarks(self))

    def _sampled(self, name: str) -> Table:
        if name not in self._tables:
            raise UnknownName("table", name, self._tables, note="; analyse with `samples=True`")
        return self._tables[name]


def analyse(
    path: str | os.PathLike[str],
    *,
    samples: bool = False,
    progress: Callable[[float], None] | None = None,
) -> Analysis:
    """Measure the TCP connections of a capture, as they are seen where it was made.

    Parameters
    ----------
    path : path
        A pcap or pcapng file. A packed one has to be unpacked first.
    samples : bool
        Keep every round trip and every change of what is in flight, as tables of their own. They take some tens of bytes per
        packet; all else takes no more memory for a longer file.
    progress : callable, optional
        Called about ten times a second with the fraction done, 0 to 1, such as a `tailback.ProgressBar`.

    Returns
    -------
    Analysis
        Connections, samples, and what was skipped. If the file breaks, what was read until there; its ``complete`` is false.

    Raises
    ------
    CaptureError
        The file cannot be read, or is no capture.
    """
    name = os.fspath(path)
    if not name:
        raise CaptureError("the name of the file is empty; expected a capture")
    try:
        capture = _core.CaptureAnalysis(name, samples=samples)
        _advance(capture, progress or _ignore)
    except OSError as error:
        raise CaptureError(f"`{name}` cannot be read: {error.strerror or error}") from None
    except ValueError as error:
        raise CaptureError(f"`{name}` is {error}") from None
    return Analysis(capture, name)


def listings(analysis: Analysis) -> Iterator[Listing]:
    """Directions with data, those with most of them first."""
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
    yield Listing.of("connections", {**ends, **{column: shown[column] for column in _COLUMNS}}, len(places))


def remarks(analysis: Analysis) -> Iterator[str]:
    """What a reader has to know to judge the numbers."""
    reasons = zip(analysis.skipped.head("reason", ROWS), analysis.skipped.head("packets", ROWS), strict=True)
    skipped = [f"{packets:,} {reason}" for reason, packets in reasons]
    if len(analysis.skipped) > ROWS:
        skipped.append(f"and {len(analysis.skipped) - ROWS} more reasons")
    if skipped:
        yield "not analysed: " + "; ".join(skipped)
    if analysis.packets_out_of_time:
        yield f"{analysis.packets_out_of_time:,} packets have a time before that of the packet before: times are less certain"
    forgotten = sum(analysis.connections.head("forgotten_segments", len(analysis.connections)))
    if forgotten:
        yield f"{forgotten:,} segments were given up waiting for their acknowledgement: the other direction may be missing"
    if analysis.damage is not None:
        yield f"INCOMPLETE: {analysis.damage}"


def _advance(capture: _core.CaptureAnalysis, progress: Callable[[float], None]) -> None:
    """Read to the end. A pipe has no size."""
    in_slices(
        capture.advance,
        _FIRST_PACKETS,
        lambda: progress(min(1.0, capture.bytes_read / (capture.file_bytes or capture.bytes_read or 1))),
    )


def _end(address: str, port: int) -> str:
    """An end as URLs have it."""
    return f"[{address}]:{port}" if ":" in address else f"{address}:{port}"


def _iso(nanoseconds: int) -> str:
    """An instant to its last digit."""
    seconds, rest = divmod(nanoseconds, 1_000_000_000)
    return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%dT%H:%M:%S}.{rest:09}Z"


def _ignore(_fraction: float) -> None:
    pass
