"""Results as a data file of Flent (https://flent.org), which plots them beside measurements of real networks."""

from __future__ import annotations

import gzip
import json
import math
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from tailback import _core
from tailback._formats.format import RecordedRun
from tailback._scenario.description import name_of
from tailback._tables.table import Table
from tailback.errors import ParameterError, UnknownName

__all__ = ["write"]

# Version of the file format, of Flent 1.3 and later.
_VERSION = 4

# A simulation has no date.
_EPOCH = "1970-01-01T00:00:00.000000Z"

Points = list[tuple[float, float]]


def write(run: RecordedRun, file: Path, *, series: Mapping[str, str], test: str = "rrul", step: str = "200 ms") -> None:
    """Write the series; see `Run.write_flent`."""
    duration_s = run.simulated_s
    if not series:
        raise ParameterError('`series` is empty; expected groups by series, such as {"TCP download BE": "down"}')
    found = _core.in_column_units(step)
    if found is None or found[1] != "s" or not 0 < found[0] <= duration_s:
        raise ParameterError(f"`step` is {step!r}; expected a time up to the duration of the run, such as `200 ms`")
    grid = [round(index * found[0], 9) for index in range(1 + int(duration_s / found[0] + 1e-9))]
    points = {name: _points(name, group, run.tables) for name, group in series.items()}
    results = {name: _on_grid(of_series, grid) for name, of_series in points.items()}
    results |= dict(_combined(results))
    units = {name: "ms" if _is_ping(name) else "Mbits/s" for name in results}
    metadata = {
        "NAME": test,
        "TITLE": name_of(run.scenario),
        "TIME": _EPOCH,
        "T0": _EPOCH,
        "HOST": "simulated",
        "HOSTS": ["simulated"],
        "LOCAL_HOST": "tailback",
        "STEP_SIZE": found[0],
        "LENGTH": duration_s,
        "TOTAL_LENGTH": duration_s,
        "NOTE": f"Simulated by Tailback {_core.__version__}",
        "IP_VERSION": 4,
        "TEST_PARAMETERS": {},
        "DATA_FILENAME": file.name,
        "SERIES_META": {name: {"UNITS": unit} for name, unit in units.items()},
    }
    raw = {name: [{"t": time, "val": value} for time, value in of_series] for name, of_series in points.items()}
    document = {"version": _VERSION, "x_values": grid, "results": results, "metadata": metadata, "raw_values": raw}
    # Equal runs give equal bytes.
    file.write_bytes(gzip.compress(json.dumps(document, allow_nan=False).encode(), mtime=0))


def _is_ping(series: str) -> bool:
    return series.startswith("Ping")


def _points(series: str, group: str, tables: Mapping[str, Table]) -> Points:
    """Times and values of a series, in seconds, and in ms or Mbit/s."""
    groups = [str(name) for name in tables["groups"].to_dict()["group"]]
    if group not in groups:
        raise UnknownName("flow group", group, groups)
    messages = tables.get("messages")
    if _is_ping(series) and messages is not None and group in messages.to_dict()["group"]:
        # From the request to the end of the response, for those that are complete.
        trips = _of_group(messages, group, "start_s", "completion_time_s")
        return sorted((start, 1e3 * trip) for start, trip in trips if trip == trip)
    kind, column, scale = ("rtt", "rtt_s", 1e3) if _is_ping(series) else ("throughput", "throughput_bps", 1e-6)
    if kind not in tables:
        raise UnknownName("trace", kind, [name for name in tables if name not in ("flows", "queues", "groups")], "; record it")
    totals: dict[float, float] = {}
    found: Points = []
    for time, value in _of_group(tables[kind], group, "time_s", column):
        totals[time] = totals.get(time, 0.0) + scale * value
        found.append((time, scale * value))
    if not found:
        raise ParameterError(f"the trace `{kind}` has no flows of `{group}`; expected its name in `record.traces`")
    # Flows share a throughput; round trips are samples.
    return sorted(found) if _is_ping(series) else sorted(totals.items())


def _of_group(table: Table, group: str, *columns: str) -> Iterable[tuple[Any, ...]]:
    values = table.to_dict()
    for name, *row in zip(values["group"], *(values[column] for column in columns), strict=True):
        if name == group:
            yield tuple(row)


def _on_grid(points: Points, grid: list[float]) -> list[float | None]:
    """The mean of the points in the step up to each time; None without points."""
    step = grid[1] - grid[0] if len(grid) > 1 else math.inf
    sums, counts = [0.0] * len(grid), [0] * len(grid)
    for time, value in points:
        place = min(len(grid) - 1, math.ceil(time / step - 1e-9))
        sums[place] += value
        counts[place] += 1
    return [total / count if count else None for total, count in zip(sums, counts, strict=True)]


def _combined(results: Mapping[str, list[float | None]]) -> Iterable[tuple[str, list[float | None]]]:
    """The means and sums that Flent's tests of several flows have."""
    for kind in ("TCP upload", "TCP download", "Ping (ms)"):
        rows = [values for name, values in results.items() if name.startswith(kind)]
        if rows:
            yield f"{kind} avg", [_mean(column) for column in zip(*rows, strict=True)]
            if kind != "Ping (ms)":
                yield f"{kind} sum", [_sum(column) for column in zip(*rows, strict=True)]
    rows = [values for name, values in results.items() if name.startswith("TCP")]
    if rows:
        yield "TCP totals", [_sum(column) for column in zip(*rows, strict=True)]


def _sum(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) if known else None


def _mean(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None
