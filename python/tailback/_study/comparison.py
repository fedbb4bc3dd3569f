"""Comparison of the results of two studies."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tailback._study import trace_files
from tailback._study.columns import Column, unpack
from tailback._study.ledger import Ledger, RunRow, StoredTrace
from tailback._tables.quantity import numbers

__all__ = ["Comparison", "Difference", "compare"]


@dataclass(frozen=True)
class Difference:
    """One difference between two studies.

    Attributes
    ----------
    run : str
        Labels and seed of the run.
    at : str
        Table, row and column; or the missing part.
    left, right : Any
        The values in the two studies.
    """

    run: str
    at: str
    left: Any
    right: Any

    def __str__(self) -> str:
        return f"{self.run}: {self.at}: {self.left} and {self.right}"


@dataclass(frozen=True)
class Comparison:
    """Result of a comparison; true if there are no differences.

    Attributes
    ----------
    runs : int
        Number of runs in both studies.
    differences : tuple of Difference
        The first difference in each column and run.
    """

    runs: int
    differences: tuple[Difference, ...]

    def __bool__(self) -> bool:
        return not self.differences


def compare(left: Ledger, right: Ledger, left_traces: Path, right_traces: Path) -> Comparison:
    """Compare runs with equal labels and seed: tables value by value, traces byte by byte.

    Raises
    ------
    StudyError
        A trace file is damaged.
    """
    ours, theirs = _by_name(left), _by_name(right)
    found: list[Difference] = []
    for name in sorted(ours.keys() ^ theirs.keys()):
        found.append(Difference(name, "run", *(("present", "missing") if name in ours else ("missing", "present"))))
    both = [name for name in ours if name in theirs]
    tables = dict.fromkeys([*left.table_names(), *right.table_names()])
    traces = [_traces(ledger) for ledger in (left, right)]
    for name in both:
        a, b = ours[name], theirs[name]
        if a.state != b.state or a.error != b.error:
            found.append(Difference(name, "state", a.error or a.state, b.error or b.state))
            continue
        if a.state != "done":
            continue
        for table in tables:
            found += _tables_differ(name, table, left.table(a.content_hash, table), right.table(b.content_hash, table))
        of_run = [of_study.get(run.content_hash, {}) for of_study, run in zip(traces, (a, b), strict=True)]
        for kind in sorted(of_run[0].keys() | of_run[1].keys()):
            sides = [
                trace_files.read(folder, own[kind]) if kind in own else None
                for folder, own in zip((left_traces, right_traces), of_run, strict=True)
            ]
            if sides[0] != sides[1]:
                found.append(Difference(name, f"trace `{kind}`", *(_size(data) for data in sides)))
    return Comparison(len(both), tuple(found))


def _by_name(ledger: Ledger) -> dict[str, RunRow]:
    labels = {point: labels for point, labels, _ in ledger.points()}
    return {_name(labels[row.point], row.seed): row for row in ledger.runs()}


def _name(labels: dict[str, Any], seed: int) -> str:
    return ", ".join([*(f"{column}={json.dumps(label)}" for column, label in sorted(labels.items())), f"seed {seed}"])


def _traces(ledger: Ledger) -> dict[str, dict[str, StoredTrace]]:
    """Traces by content hash and kind."""
    traces: dict[str, dict[str, StoredTrace]] = {}
    for trace in ledger.traces():
        traces.setdefault(trace.content_hash, {})[trace.kind] = trace
    return traces


def _size(data: bytes | None) -> str:
    return "missing" if data is None else f"{len(data)} bytes"


def _tables_differ(run: str, table: str, left: bytes | None, right: bytes | None) -> Iterator[Difference]:
    """The first difference in each column."""
    if left == right:
        return
    if left is None or right is None:
        sides = ("missing", "present") if left is None else ("present", "missing")
        yield Difference(run, f"table `{table}`", *sides)
        return
    ours = {name: _values(column) for column in unpack(left) for name in [column[0]]}
    theirs = {name: _values(column) for column in unpack(right) for name in [column[0]]}
    for name in [*ours, *(name for name in theirs if name not in ours)]:
        if name not in ours or name not in theirs:
            place = ("present", "missing") if name in ours else ("missing", "present")
            yield Difference(run, f"{table}.{name}", *place)
        elif len(ours[name]) != len(theirs[name]):
            yield Difference(run, f"{table}.{name}", f"{len(ours[name])} rows", f"{len(theirs[name])} rows")
        else:
            pairs = enumerate(zip(ours[name], theirs[name], strict=True))
            # Missing numbers are NaN and count as equal.
            first = next(((row, a, b) for row, (a, b) in pairs if a != b and not (a != a and b != b)), None)
            if first is not None:
                yield Difference(run, f"{table}.{name}[{first[0]}]", first[1], first[2])


def _values(column: Column) -> list[Any]:
    _, kind, data, words = column
    values = numbers(kind, data)
    return [words[place] for place in values] if kind == "word" else values
