"""Data files of Flent (``.flent`` and ``.flent.gz``): the series of a test, in the units that the file states."""

from __future__ import annotations

import gzip
import json
import math
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tailback._formats.format import Measured
from tailback._tables.table import Table

__all__ = ["is_flent", "measured"]

_CONNECTION: dict[str, Any] = {"connection": 0, "direction": "", "payload_bytes": math.nan}
_LOSS: dict[str, Any] = {"time_s": math.nan, "connection": 0}
_SKIPPED: dict[str, Any] = {"reason": "", "packets": 0}
_SERIES: dict[str, Any] = {
    "series": "",
    "unit": "",
    "samples": 0,
    "missing": 0,
    "mean": math.nan,
    "min": math.nan,
    "p50": math.nan,
    "p95": math.nan,
    "max": math.nan,
}
_VALUE: dict[str, Any] = {"time_s": math.nan, "series": "", "value": math.nan}
# The longest text that is read, so that a small compressed file cannot fill the memory.
_MOST_BYTES = 1 << 28


def is_flent(beginning: bytes, name: str) -> bool:
    """Whether a file with this name that begins so is a data file of Flent."""
    is_json = beginning.lstrip().startswith(b"{")
    return name.endswith((".flent", ".flent.gz")) or (is_json and b'"x_values"' in beginning and b'"metadata"' in beginning)


def measured(path: Path, samples: bool, _progress: Callable[[float], None]) -> Measured:
    """Table ``series``, with samples ``values``; ``connections``, ``losses`` and ``skipped`` are empty.

    Raises
    ------
    ValueError
        The file is not a data file of Flent.
    """
    document = _document(path)
    times = [_number(value, f"x_values[{place}]") for place, value in enumerate(_part(document, "x_values", list))]
    results, metadata = _part(document, "results", dict), document.get("metadata")
    described = metadata.get("SERIES_META") if isinstance(metadata, dict) else None
    series, values = [], []
    for name, column in results.items():
        if not isinstance(column, list) or len(column) != len(times):
            raise ValueError(f"not a data file of Flent: `results.{name}` is not a list as long as `x_values`")
        known = [_number(value, f"results.{name}[{place}]") for place, value in enumerate(column)]
        about = described.get(name) if isinstance(described, dict) else None
        unit = about.get("UNITS", "") if isinstance(about, dict) else ""
        series.append({"series": name, "unit": str(unit), **_summary(known)})
        values += [{"time_s": time, "series": name, "value": value} for time, value in zip(times, known, strict=True)]
    found = {
        "connections": Table._of_rows("connections", [], _CONNECTION),
        "losses": Table._of_rows("losses", [], _LOSS),
        "skipped": Table._of_rows("skipped", [], _SKIPPED),
        "series": Table._of_rows("series", series, _SERIES),
    }
    return Measured(found | ({"values": Table._of_rows("values", values, _VALUE)} if samples else {}))


def _summary(values: list[float]) -> dict[str, Any]:
    known = sorted(value for value in values if not math.isnan(value))
    counts = {"samples": len(known), "missing": len(values) - len(known)}
    if not known:
        return counts
    p50, p95 = (known[max(0, math.ceil(share * len(known)) - 1)] for share in (0.5, 0.95))
    return {**counts, "mean": math.fsum(known) / len(known), "min": known[0], "p50": p50, "p95": p95, "max": known[-1]}


def _document(path: Path) -> dict[str, Any]:
    with path.open("rb") as file:
        is_compressed = file.read(2) == b"\x1f\x8b"
    try:
        with gzip.open(path) if is_compressed else path.open("rb") as file:
            text = file.read(_MOST_BYTES + 1)
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise ValueError(f"not a data file of Flent: its compressed data are damaged: {error}") from None
    if len(text) > _MOST_BYTES:
        raise ValueError(f"not a data file of Flent: it has more than {_MOST_BYTES:,} bytes")
    try:
        document = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"not a data file of Flent: {error}") from None
    if not isinstance(document, dict):
        raise ValueError("not a data file of Flent: the document is not an object")
    return document


def _part(document: dict[str, Any], key: str, kind: type) -> Any:
    if not isinstance(document.get(key), kind):
        raise ValueError(f"not a data file of Flent: `{key}` is missing or not a {kind.__name__}")
    return document[key]


def _number(value: Any, at: str) -> float:
    """A number; NaN for null."""
    if value is None:
        return math.nan
    if isinstance(value, bool) or not isinstance(value, (int, float)) or abs(value) > 1e300:
        raise ValueError(f"not a data file of Flent: `{at}` is not a number")
    return float(value)
