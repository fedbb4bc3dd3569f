"""The trace files of a study: written before their result is committed, and checked when they are read.

The ledger has a digest of every file, because neither Parquet nor the file system detects every changed byte.
"""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from tailback._study.failpoint import reach
from tailback._study.ledger import Ledger, StoredTrace, synced
from tailback._tables.table import Table
from tailback.errors import StudyError

__all__ = ["TRACES", "DamagedTrace", "damaged", "file_of", "names", "read", "write"]

TRACES = "traces"


@dataclass(frozen=True)
class DamagedTrace:
    """A trace of a finished run that is missing or has changed: point, seed, kind and file."""

    point: int
    seed: int
    kind: str
    file: Path


def write(folder: Path, content_hash: str, traces: dict[str, Table]) -> dict[str, bytes]:
    """Write the traces of a run durably, and return the digests of the files by kind."""
    target, partial = folder / content_hash, folder / f".{content_hash}.partial"
    for left_behind in (target, partial):
        shutil.rmtree(left_behind, ignore_errors=True)
    reach("traces: about to be written")
    partial.mkdir(parents=True)
    digests = {}
    for kind, table in traces.items():
        file = partial / f"{kind}.parquet"
        table.write_parquet(file)
        with file.open("rb+") as stream:
            digests[kind] = _digest(stream.read())
            os.fsync(stream.fileno())
        reach("traces: one written")
    synced(partial)
    partial.rename(target)
    reach("traces: named")
    synced(folder)
    reach("traces: name synced")
    return digests


def file_of(folder: Path, trace: StoredTrace) -> Path:
    """The file of a trace in the folder of a study's traces."""
    return folder / trace.content_hash / f"{trace.kind}.parquet"


def read(folder: Path, trace: StoredTrace) -> bytes:
    """The content of a trace file.

    Raises
    ------
    StudyError
        The file is missing or has changed.
    """
    file = file_of(folder, trace)
    try:
        content = file.read_bytes()
    except OSError as error:
        fault = f"cannot be read ({error.strerror})"
    else:
        if _digest(content) == trace.file:
            return content
        fault = "is damaged"
    raise StudyError(f"the trace `{file}` {fault}; `tailback study resume {folder.parent}` repeats its run")


def damaged(ledger: Ledger, folder: Path) -> Iterator[tuple[str, DamagedTrace]]:
    """The traces of the plan's runs that cannot be read, each with the content hash of its run."""
    for trace in ledger.traces():
        try:
            read(folder, trace)
        except StudyError:
            yield trace.content_hash, DamagedTrace(trace.point, trace.seed, trace.kind, file_of(folder, trace))


def names(traces: Iterable[DamagedTrace]) -> str:
    """The runs of some traces, for a message."""
    runs = dict.fromkeys(f"point {trace.point}, seed {trace.seed}" for trace in traces)
    shown = list(runs)[:5]
    return "; ".join(shown) + (f" and {len(runs) - 5} more" if len(runs) > 5 else "")


def _digest(content: bytes) -> bytes:
    return hashlib.blake2b(content, digest_size=16).digest()
