"""Files of other programs. Each format is a file or folder with a `FORMAT`, and a line in `FORMATS`.

`netem_trace` has none: its files are rates of a link, which a public function of its own reads.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tailback import _core, _store
from tailback._arguments import refuse_unknown
from tailback._formats import flent, iperf3, mahimahi, pcapng, qlog
from tailback._formats.format import Reader, RecordedRun, Writer
from tailback.errors import ParameterError, UnknownName

__all__ = ["FORMATS", "reader_of", "readers", "save"]

# Formats are recognised from the last to the first: iperf3 and Flent are JSON, other JSON is qlog, and other files are captures.
FORMATS = (
    pcapng.FORMAT,
    qlog.FORMAT,
    iperf3.FORMAT,
    flent.FORMAT,
    mahimahi.FORMAT,
)

_WRITERS: dict[str, Writer] = {each.name: each.writer for each in FORMATS if each.writer is not None}

# Length of the beginning of a file that names iperf3, with a description of each of up to 128 streams before it.
_BEGINNING = 65_536


def readers() -> tuple[Reader, ...]:
    """The readers, in the order of `FORMATS`."""
    return tuple(each.reader for each in FORMATS if each.reader is not None)


def reader_of(path: Path) -> Reader:
    """The reader of a file, by its beginning and its name."""
    captures, *others = readers()
    # The beginning of a pipe could not be read again.
    if not path.is_file():
        return captures
    with path.open("rb") as file:
        beginning = file.read(_BEGINNING)
    return next((reader for reader in reversed(others) if reader.recognises(beginning, path.name)), captures)


def save(run: RecordedRun, path: str | os.PathLike[str], name: str | None, options: Mapping[str, Any]) -> None:
    """Write a run to a new file; see `Run.save_as`."""
    name = _format_of(path) if name is None else name
    if name not in _WRITERS:
        raise UnknownName("format", name, _WRITERS)
    writer = _WRITERS[name]
    writer.check_name(path)
    if unknown := [option for option in options if option not in writer.options]:
        refuse_unknown(f"save_as(..., {name!r})", unknown, [*writer.options])
    missing = [option for option, is_required in writer.options.items() if is_required and option not in options]
    if missing:
        raise ParameterError(f"files of the format `{name}` require the argument `{'`, `'.join(missing)}`")
    with _store.staged_file(path) as file:
        writer.write(run, file, **options)


def _format_of(path: str | os.PathLike[str]) -> str:
    """The name of the format with the suffix of a file."""
    suffixes = {writer.suffix: name for name, writer in _WRITERS.items()}
    found = next((name for suffix, name in suffixes.items() if Path(path).name.endswith(suffix)), None)
    if found is None:
        near = _core.hint(Path(path).suffix, list(suffixes))
        raise ParameterError(
            f"the suffix of `{os.fspath(path)}` is of no format; expected {_core.listed(list(suffixes))}, or the argument "
            f"`format`{f'; {near}' if near else ''}"
        )
    return found
