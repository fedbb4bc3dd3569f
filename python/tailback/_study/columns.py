"""Result tables of many runs: packed for the ledger, joined into one table for the user."""

from __future__ import annotations

import json
import struct
from collections.abc import Iterable, Sequence
from typing import Any

from tailback import _core
from tailback._tables.quantity import Column
from tailback._tables.table import Table

__all__ = ["Column", "column", "join", "packed", "repeated", "unpack", "varied"]


def packed(columns: list[Column]) -> bytes:
    """Pack columns for the ledger."""
    return _core.Table("", columns).packed()


def unpack(packed: bytes) -> list[Column]:
    """Unpack the columns of a table; see `Table.packed` of the core."""
    (length,) = struct.unpack_from("<I", packed)
    begin = 4 + length
    columns: list[Column] = []
    for name, kind, size, words in json.loads(packed[4:begin]):
        columns.append((name, kind, packed[begin : begin + size], words))
        begin += size
    return columns


def rows_of(columns: list[Column]) -> int:
    """Number of rows."""
    _, kind, data, _ = columns[0]
    return len(data) // (4 if kind == "word" else 8)


def column(name: str, values: list[Any]) -> Column:
    """A column of Python values: integers if all are integers, floats if all are numbers, words otherwise."""
    if all(isinstance(value, int) and not isinstance(value, bool) and -(2**63) <= value < 2**63 for value in values):
        return name, "integer", struct.pack(f"<{len(values)}q", *values), []
    if all(isinstance(value, (int, float)) and not isinstance(value, bool) for value in values):
        return name, "float", struct.pack(f"<{len(values)}d", *values), []
    words = {str(value): None for value in values}
    places = {word: place for place, word in enumerate(words)}
    return name, "word", struct.pack(f"<{len(values)}I", *(places[str(value)] for value in values)), list(words)


def varied(axes: list[str], labels: Sequence[dict[str, Any]]) -> list[Column]:
    """Columns with the labels of all axes, one row per run or point."""
    return [found for axis in axes for found in _varied(axis, [of[axis] for of in labels], axes)]


def _varied(name: str, labels: list[Any], axes: list[str]) -> list[Column]:
    """The labels of an axis; also a numeric column with the unit in its name if all labels are quantities of one kind."""
    found = {label: _core.in_column_units(label) if isinstance(label, str) else None for label in labels}
    units = {measured and measured[1] for measured in found.values()}
    if len(units) != 1 or None in units:
        return [column(name, labels)]
    title = f"{name}_{units.pop()}"
    if title in axes:
        return [column(name, labels)]
    numbers = [measured[0] for measured in map(found.__getitem__, labels) if measured]
    return [column(name, labels), column(title, numbers)]


def repeated(one_a_run: Column, times: list[int]) -> Column:
    """Repeat each run's value for every row of the run."""
    name, kind, data, words = one_a_run
    width = 4 if kind == "word" else 8
    values = (data[place : place + width] for place in range(0, len(data), width))
    return name, kind, b"".join(value * count for value, count in zip(values, times, strict=True)), words


def join(name: str, runs: Iterable[list[Column]], labels: list[Column]) -> Table:
    """Join the tables of all runs, preceded by the columns of labels, which have one value per run."""
    counts: list[int] = []
    parts: dict[str, tuple[str, list[bytes], dict[str, int]]] = {}
    for columns in runs:
        counts.append(rows_of(columns))
        for title, kind, data, words in columns:
            _, pieces, known = parts.setdefault(title, (kind, [], {}))
            pieces.append(_renumbered(data, words, known) if kind == "word" else data)
    front = [repeated((_free(title, parts), kind, data, words), counts) for title, kind, data, words in labels]
    body = [(title, kind, b"".join(pieces), list(known)) for title, (kind, pieces, known) in parts.items()]
    return Table(_core.Table(name, [*front, *body]))


def _free(title: str, taken: Iterable[str]) -> str:
    """A name that differs from all columns of the results."""
    return f"vary.{title}" if title in taken else title


def _renumbered(data: bytes, words: list[str], known: dict[str, int]) -> bytes:
    """Convert indices into a run's words to indices into the words of all runs."""
    places = [known.setdefault(word, len(known)) for word in words]
    if places == list(range(len(places))):
        return data
    import numpy as np

    renumbered: bytes = np.array(places, dtype="<u4")[np.frombuffer(data, dtype="<u4")].tobytes()
    return renumbered
