"""Export of a study to files. The bytes depend only on the plan, not on how the runs were executed."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from tailback import _store
from tailback._tables.table import Table
from tailback.errors import ParameterError

__all__ = ["write"]

FORMATS = ("parquet", "csv", "json")


def write(
    directory: Path, tables: dict[str, Table], plan: dict[str, Any], format: str, traces: Iterable[tuple[str, bytes]]
) -> None:
    """Write one file per table, the plan as JSON, and the contents of trace files under names that identify their runs."""
    if format not in FORMATS:
        raise ParameterError(f"format `{format}` is not supported; expected one of {', '.join(FORMATS)}")
    with _store.staged(directory) as folder:
        for name, table in tables.items():
            file = folder / f"{name}.{format}"
            if format == "parquet":
                table.write_parquet(file)
            elif format == "csv":
                file.write_text(table.to_csv(), encoding="utf-8", newline="")
            else:
                _write_json(table, file)
        (folder / "plan.json").write_text(json.dumps(plan, indent=2, sort_keys=True) + "\n", encoding="utf-8")
        for name, content in traces:
            (folder / "traces").mkdir(exist_ok=True)
            (folder / "traces" / name).write_bytes(content)


def _write_json(table: Table, file: Path) -> None:
    """Write columns, with null for missing numbers."""
    columns = {name: [None if value != value else value for value in values] for name, values in table.to_dict().items()}
    file.write_text(json.dumps(columns, allow_nan=False) + "\n", encoding="utf-8")
