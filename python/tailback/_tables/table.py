"""Result tables: columns that any Arrow library can read, also available as NumPy arrays."""

from __future__ import annotations

import csv
import io
import math
import os
from collections.abc import Iterator, Mapping, Sequence
from numbers import Real
from typing import TYPE_CHECKING, Any

from tailback import _core
from tailback._arguments import arguments_checked
from tailback._html import HtmlTable, notebook
from tailback.errors import MissingExtra, ParameterError, UnknownName

if TYPE_CHECKING:
    import numpy as np
    import pandas
    from numpy.typing import NDArray

__all__ = ["COUNTERS", "Table"]

# The tables that are not traces. The last three exist only in runs with classes, with ABR flows, and with `flows_of_queues`.
COUNTERS = ("flows", "queues", "groups", "classes", "edges", "messages", "queue_flows")

_SHOWN_ROWS = 10
_DTYPES = {"float": "f8", "integer": "i8", "word": "u4"}


@arguments_checked
class Table:
    """Named columns of equal length. Units are part of the names (``goodput_bps``, ``time_s``).

    A table supports the Arrow PyCapsule interface, so ``polars.DataFrame(table)``, ``pyarrow.table(table)``,
    ``pandas.DataFrame.from_arrow(table)`` and DuckDB read it without a copy. ``dict(table)`` gives the columns as NumPy arrays,
    and `to_pandas` a data frame with any version of pandas. Missing numbers are null in Arrow and NaN elsewhere. Tables can be
    pickled.

    Examples
    --------
    >>> import tailback as tb
    >>> run = tb.simulate(tb.dumbbell(rate="10 Mbps", delay="10 ms", buffer="20 packets", duration="5 s"))
    >>> run.queues.columns[:3]
    ['queue', 'unit', 'arrived_units']
    >>> run.queues["queue"][0]
    np.str_('bottleneck')
    """

    def __init__(self, core: _core.Table) -> None:
        self._core = core
        self._kinds = dict(core.columns)

    @classmethod
    def _of(cls, name: str, columns: Mapping[str, Sequence[Any]], examples: Mapping[str, Any] | None = None) -> Table:
        """A table of values. The example of a column, by default its first value, decides its type: word, integer or float."""
        packed = [_packed(title, list(values), (examples or {}).get(title)) for title, values in columns.items()]
        return cls(_core.Table(name, packed))

    @classmethod
    def _of_rows(cls, name: str, rows: Sequence[Mapping[str, Any]], missing: Mapping[str, Any]) -> Table:
        """A table with a column for each key of `missing`, which has the value where a row lacks it, and thereby the type."""
        return cls._of(name, {column: [row.get(column, value) for row in rows] for column, value in missing.items()}, missing)

    @property
    def name(self) -> str:
        """``flows``, ``queues``, ``groups``, or the kind of a trace."""
        return self._core.name

    @property
    def columns(self) -> list[str]:
        """Names of the columns."""
        return list(self._kinds)

    @property
    def meanings(self) -> dict[str, str]:
        """Description of each column of a run's table, with its unit. See also docs/reference/tables.md.

        Examples
        --------
        >>> import tailback as tb
        >>> run = tb.simulate(tb.dumbbell(rate="10 Mbps", delay="10 ms", buffer="20 packets", duration="5 s"))
        >>> run.groups.meanings["fairness"].split(":")[0]
        "Jain's index"
        """
        known = {table: dict(columns) for table, _, columns in _core.described_tables()}.get(self.name, {})
        return {column: known[column] for column in self if column in known}

    def __len__(self) -> int:
        return len(self._core)

    def __iter__(self) -> Iterator[str]:
        return iter(self._kinds)

    def __contains__(self, column: object) -> bool:
        return isinstance(column, str) and column in self._kinds

    def __getitem__(self, column: str) -> NDArray[Any]:
        """One column as a read-only NumPy array: float64, int64 or text."""
        import numpy as np

        values = self._raw(column)
        if self._kinds[column] == "word":
            values = np.array(self._core.words(column), dtype=str)[values]
        return values

    def keys(self) -> list[str]:
        """Names of the columns; required by ``dict(table)``."""
        return self.columns

    def __array__(self, dtype: object = None, copy: bool | None = None) -> NDArray[Any]:
        # Called by pandas.DataFrame(table), which would otherwise use the column names as data.
        raise TypeError(
            "a table has columns of several types, which no single array can hold: use table[column], table.to_numpy(), "
            "table.to_pandas() or pandas.DataFrame.from_arrow(table)"
        )

    def to_pandas(self) -> pandas.DataFrame:
        """Convert the table to a pandas data frame.

        Raises
        ------
        MissingExtra
            pandas is not installed.
        """
        try:
            import pandas
        except ImportError:
            raise MissingExtra("a data frame", "pandas", "pandas") from None
        return pandas.DataFrame(self.to_numpy())

    def to_numpy(self) -> dict[str, NDArray[Any]]:
        """All columns as NumPy arrays."""
        return {column: self[column] for column in self}

    def to_dict(self) -> dict[str, list[Any]]:
        """All columns as lists of ``float``, ``int`` or ``str``."""
        return {column: self._core.values(column) for column in self}

    def to_rows(self) -> list[dict[str, Any]]:
        """One dictionary per row; intended for few rows."""
        columns = self.to_dict()
        return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]

    def where(self, **equal: str | float | None) -> Table:
        """The rows in which all named columns have the given values. `None` matches missing values.

        Raises
        ------
        UnknownName
            There is no such column, or the column cannot contain that word; the message lists the valid ones.
        ParameterError
            The value of a word column is not a word, that of a numeric column not a number, or several values were given.

        Examples
        --------
        >>> import tailback as tb
        >>> run = tb.simulate(tb.dumbbell(rate="10 Mbps", delay="10 ms", buffer="20 packets", duration="5 s"))
        >>> len(run.queues.where(queue="bottleneck"))
        1
        """
        import numpy as np

        chosen: NDArray[np.bool_] = np.ones(len(self), dtype=bool)
        for column, value in equal.items():
            values = self._raw(column)
            written = self._written(column, value)
            chosen &= (values != values) if written != written else values == written
        return self._rows(chosen)

    def select(self, *columns: str) -> Table:
        """A table of these columns in the given order.

        Raises
        ------
        UnknownName
            There is no such column; the message lists the columns.
        ParameterError
            No column is named, or the columns were passed as a list.
        """
        if not columns:
            raise ParameterError(f"no column of `{self.name}` is selected; expected names, for example `{next(iter(self))}`")
        first: object = columns[0]
        if isinstance(first, (list, tuple)):
            raise ParameterError(f"`select` takes names as separate arguments, not {first!r}; write `select(*{first!r})`")
        return Table(_core.Table(self.name, [self._packed_column(column) for column in columns]))

    def sort(self, *by: str, descending: bool = False) -> Table:
        """The rows sorted by these columns, the first one being the primary key. The sort is stable; missing numbers are last.

        Raises
        ------
        UnknownName
            There is no such column; the message lists the columns.

        Examples
        --------
        >>> import tailback as tb
        >>> run = tb.simulate(tb.dumbbell(rate="10 Mbps", delay="10 ms", buffer="20 packets", flows=3, duration="5 s"))
        >>> run.flows.sort("goodput_bps", descending=True).select("flow", "goodput_bps").columns
        ['flow', 'goodput_bps']
        """
        import numpy as np

        order = np.arange(len(self))
        for column in reversed(by):
            values = self[column][order]
            ranks = np.unique(values, return_inverse=True, equal_nan=False)[1].reshape(len(values))
            missing = values != values
            keys = np.where(missing, len(values), -ranks if descending else ranks)
            order = order[np.argsort(keys, kind="stable")]
        return self._rows(order)

    def to_csv(self) -> str:
        """The table as CSV: numbers in Python's notation, which preserves all bits; missing numbers are empty.

        Examples
        --------
        >>> import tailback as tb
        >>> link = {"rate": "10 Mbps", "delay": "10 ms", "buffer": "20 packets"}
        >>> run = tb.simulate(tb.dumbbell(**link, flows={"web": {"tcp": {"preset": "sack"}}}, duration="1 s"))
        >>> run.groups.to_csv().splitlines()[0][:24]
        'group,flows,goodput_bps,'
        """
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(self.columns)
        for row in zip(*self.to_dict().values(), strict=True):
            writer.writerow(["" if value != value else value for value in row])
        return text.getvalue()

    def write_parquet(self, path: str | os.PathLike[str]) -> None:
        """Write the table to `path` as Parquet (Snappy)."""
        self._core.write_parquet(path)

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self._core.__arrow_c_stream__(requested_schema)

    def __repr__(self) -> str:
        lines = [f"{self.name}: {len(self)} rows x {len(self.columns)} columns", *self._rendered_rows()]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        return notebook(tables=[self._shown()])

    def _shown(self) -> HtmlTable:
        """The first rows as a table for a notebook."""
        rows = min(len(self), _SHOWN_ROWS)
        cells = zip(*([shown(value) for value in self.head(column, rows)] for column in self), strict=True)
        return HtmlTable(self.name, list(self), list(cells), f"{len(self) - rows} more rows" if len(self) > rows else "")

    def _rendered_rows(self) -> Iterator[str]:
        """Render the transposed table, because tables usually have many columns and few rows are shown."""
        rows = min(len(self), 4)
        width = max((len(column) for column in self), default=0)
        for column in self:
            cells = "  ".join(f"{shown(value):>12}" for value in self.head(column, rows))
            yield f"  {column:<{width}}  {cells}" + ("  ..." if len(self) > rows else "")

    def head(self, column: str, rows: int) -> list[Any]:
        """The first values of a column as a list, without NumPy."""
        self._kind(column)
        return self._core.values(column, rows)

    def _raw(self, column: str) -> NDArray[Any]:
        """A column as stored: words are indices into the word list."""
        import numpy as np

        kind = self._kind(column)
        return np.frombuffer(self._core.buffer(column), dtype=_DTYPES[kind])

    def _rows(self, chosen: NDArray[Any]) -> Table:
        """The rows selected by indices or by a boolean mask."""
        return Table(_core.Table(self.name, [self._packed_column(column, chosen) for column in self]))

    def _packed_column(self, column: str, chosen: Any = slice(None)) -> tuple[str, str, bytes, list[str]]:
        """Some rows of a column in the core's format."""
        kind = self._kind(column)
        return column, kind, self._raw(column)[chosen].astype(f"<{_DTYPES[kind]}").tobytes(), self._core.words(column)

    def _written(self, column: str, value: object) -> float:
        """A value in the encoding of `_raw`: NaN for a missing number."""
        if value is not None and not isinstance(value, (str, Real)):
            raise ParameterError(
                f"`{column}` of `{self.name}` cannot be {value!r}; expected one value, or `None` where it is missing"
            )
        if self._kind(column) != "word":
            if value is None:
                return math.nan
            if isinstance(value, str):
                raise ParameterError(f"`{column}` of `{self.name}` contains numbers; expected a number, not `{value}`")
            return float(value)
        if not isinstance(value, str):
            raise ParameterError(f"`{column}` of `{self.name}` contains words; expected a string, not {value!r}")
        words = self._core.words(column)
        if value not in words and words:
            raise UnknownName(f"{column} in `{self.name}`", value, filter(None, words))
        # Without words there are no rows.
        return words.index(value) if words else -1

    def _kind(self, column: str) -> str:
        if not isinstance(column, str) or column not in self._kinds:
            raise UnknownName(f"column in `{self.name}`", column, self._kinds)
        return self._kinds[column]


def shown(value: float | int | str) -> str:
    """Format a value for display: five significant digits, a dash for a missing number."""
    if isinstance(value, float):
        return "-" if value != value else f"{value:.5g}"
    return str(value)


def _packed(name: str, values: list[Any], example: object = None) -> tuple[str, str, bytes, list[str]]:
    """A column in the core's format: name, kind, bytes and words."""
    import numpy as np

    if example is None and values:
        example = values[0]
    if isinstance(example, str):
        words = list(dict.fromkeys(values))
        place = {word: index for index, word in enumerate(words)}
        return name, "word", np.array([place[value] for value in values], "u4").tobytes(), words
    if isinstance(example, int):
        return name, "integer", np.array(values, "i8").tobytes(), []
    return name, "float", np.array(values, "f8").tobytes(), []
