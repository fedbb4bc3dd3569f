"""Captures of packets: pcap and pcapng files are read, and pcapng files are written. `crates/capture` has the formats."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

from tailback import _core
from tailback._formats.damage import CaptureDamage
from tailback._formats.format import Format, Measured, Reader, RecordedRun, Writer, WrongFormatError
from tailback._process.time_slices import in_slices
from tailback._scenario.description import name_of
from tailback._tables.table import Table

__all__ = ["FORMAT", "write"]

_FIRST_PACKETS = 10_000


def write(run: RecordedRun, file: Path) -> None:
    """Write the packets of the trace `packets`."""
    _core.write_capture(run.trace("packets")._core, file, scenario=name_of(run.scenario), seed=run.seed)


def _measured(path: Path, samples: bool, progress: Callable[[float], None]) -> Measured:
    try:
        capture = _core.CaptureAnalysis(path, samples=samples)
    except ValueError as error:
        raise WrongFormatError(str(error)) from None
    # The size of a pipe is unknown.
    in_slices(
        capture.advance,
        _FIRST_PACKETS,
        lambda: progress(min(1.0, capture.bytes_read / (capture.file_bytes or capture.bytes_read or 1))),
    )
    return Measured(
        {table: Table(core) for table, core in capture.tables()},
        capture.packets,
        tuple(capture.comments),
        None if capture.damage is None else CaptureDamage(*capture.damage),
        tuple(capture.packets_out_of_time),
        capture.losses_left_out,
        capture.began_ns,
        tuple(_points_noted(capture.joined)),
    )


def _points_noted(joined: list[tuple[str, str]]) -> Iterator[str]:
    for first, second in joined:
        yield f"interfaces {first} and {second} have one direction of each connection: they are analysed as one, {first}"


FORMAT = Format(
    "pcapng",
    Reader("pcap, pcapng", lambda _beginning, _name: True, _measured),
    Writer(".pcapng", write),
)
