"""The places of a scenario that name files, whose contents become part of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from tailback._description import value_at

__all__ = ["named_files"]

_Path = tuple[str, ...]

# Keys within a flow group whose text is the name of a file; other values are listed.
_FILES = ("cdf", "profile", "weights", "writes")


def named_files(description: Mapping[str, Any]) -> Iterator[_Path]:
    """The places whose values the core reads from a CSV file, a trace or a graph; the values may be missing."""
    for name, group in _tables(description, "flows"):
        traffic = group.get("traffic")
        if isinstance(traffic, Mapping) and "table" in traffic:
            # Columns of a table become sizes and start times of the group.
            yield from (("flows", name, key) for key in ("traffic", "size", "start"))
        elif value_at(group, ("traffic", "matrix", "table")) is not None:
            yield "flows", name, "traffic"
        yield from _within(group, ("flows", name))
    if any(value_at(description, ("topology", "graph", key)) is not None for key in ("graphml", "gml")):
        yield "topology", "graph"
    for link in (*(("links", name) for name, _ in _tables(description, "links")), ("topology", "dumbbell")):
        for place in ((*link, "rate"), (*link, "reverse", "rate")):
            if value_at(description, (*place, "trace")) is not None:
                yield place


def _tables(description: Mapping[str, Any], key: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    tables = description.get(key)
    if isinstance(tables, Mapping):
        yield from ((name, table) for name, table in tables.items() if isinstance(table, Mapping))


def _within(table: Mapping[str, Any], at: _Path) -> Iterator[_Path]:
    """Distributions, profiles and writes from files, at any depth."""
    for key, value in table.items():
        if (key in _FILES and isinstance(value, str)) or (isinstance(value, Mapping) and "csv" in value):
            yield *at, key
        elif isinstance(value, Mapping):
            yield from _within(value, (*at, key))
