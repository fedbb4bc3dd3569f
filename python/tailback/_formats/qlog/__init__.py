"""qlog: runs as event logs of their senders, and measurements of the logs of real stacks."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from tailback._formats.format import Format, Measured, Reader, Writer
from tailback._formats.qlog.events import is_qlog, read
from tailback._formats.qlog.measuring import tables
from tailback._formats.qlog.writing import TRACES, write

__all__ = ["FORMAT", "TRACES", "write"]


def _measured(path: Path, samples: bool, _progress: Callable[[float], None]) -> Measured:
    log = read(path.read_bytes())
    packets = sum(event.name in {"packet_sent", "packet_received"} for event in log.events)
    # Measuring adds notes.
    found = tables(log, samples=samples)
    return Measured(found, packets, tuple(log.comments), log.damage, notes=tuple(log.notes))


FORMAT = Format("qlog", Reader("qlog", lambda beginning, _name: is_qlog(beginning), _measured), Writer(".qlog", write))
