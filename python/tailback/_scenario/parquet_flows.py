"""Flow tables in Parquet files, whose columns become part of the scenario."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from tailback import _core
from tailback.errors import ScenarioError

__all__ = ["inline_parquet", "of_tables", "without_parquet"]

# Maximum number of problems of an error, as in the core.
_MAX_PROBLEMS = 100


def without_parquet(text: str, file: str, format: Literal["json", "toml"]) -> str | None:
    """The scenario as JSON with Parquet columns in place of file names; None if it has none or cannot be parsed."""
    try:
        description = json.loads(text if format == "json" else _core.toml_as_json(text) or "")
    except ValueError:
        return None
    if not isinstance(description, dict) or not inline_parquet(description, file, text if format == "toml" else None):
        return None
    return json.dumps(description)


def inline_parquet(description: dict[str, Any], file: str, written: str | None) -> dict[str, str]:
    """Replace the names of Parquet flow tables, relative to the scenario's directory, by their columns. Returns the names by
    their places in the scenario.

    `written` is the original TOML text, if any.
    """
    groups = description.get("flows")
    found = {}
    for name, group in groups.items() if isinstance(groups, dict) else ():
        traffic = group.get("traffic") if isinstance(group, dict) else None
        if not isinstance(traffic, dict):
            continue
        table = traffic.get("table")
        if isinstance(table, str) and table.endswith(".parquet"):
            path = Path(file).parent / table
            at = f"flows.{name}.traffic.table"
            try:
                names = _core.Table.parquet_columns(path)
                # Other columns are ignored.
                columns = [name for name in names if re.fullmatch(_READ_COLUMNS, name)]
                if twice := [name for name in columns if columns.count(name) > 1]:
                    said = f"`{table}` has several columns `{twice[0]}`"
                    raise _core.scenario_error(file, at, said, given=", ".join(names), expected="one column", written=written)
                if missing := [name for name in ("source", "sink") if name not in columns]:
                    said, expected = f"`{table}` has no column `{missing[0]}`", "`source` and `sink`"
                    raise _core.scenario_error(file, at, said, given=", ".join(names), expected=expected, written=written)
                read = _core.Table.read_parquet("flows", path, columns)
            except OSError as error:
                said, expected = f"`{table}` cannot be read: {error}", "a Parquet file, relative to the scenario's directory"
                raise _core.scenario_error(file, at, said, given=str(path), expected=expected, written=written) from None
            traffic["table"] = dict(_of_parquet(column, read.values(column), columns) for column in columns)
            found[at] = table
    return found


def of_tables(error: ScenarioError, tables: Mapping[str, str]) -> Exception:
    """The error, in which invalid values of Parquet flow tables name their file."""
    # Further problems are only counted in the text.
    if not tables or len(error.problems) >= _MAX_PROBLEMS:
        return error
    listed = []
    for problem in error.problems:
        table = next((table for at, table in tables.items() if problem.at.startswith(f"{at}.")), None)
        given = problem.given if table is None else f"{problem.given or 'a value'} in `{table}`"
        listed.append((problem.at, problem.message, given, problem.expected, problem.hint))
    return _core.scenario_errors(error.file, listed, 0)


# Columns of a flow table that are read; some have a unit suffix.
_READ_COLUMNS = "source|sink|(size|start)(_.*)?"


def _of_parquet(column: str, values: Iterable[Any], columns: Sequence[str]) -> tuple[str, list[Any]]:
    """Convert a Parquet column to the scenario's form; a unit in its name moves to the values unless the schema has that name."""
    name, _, unit = column.partition("_")
    # Missing values are empty words or NaN here, and null in JSON. JSON has no infinity.
    plain = [None if value == "" or value != value else str(value) if value in _INFINITE else value for value in values]
    # If both columns exist, keep the original name, so that the core reports the unknown column.
    if unit and column not in ("size_bytes", "start_s") and name not in columns:
        return name, [None if value is None else f"{value} {unit}" for value in plain]
    return column, plain


_INFINITE = (float("inf"), -float("inf"))
