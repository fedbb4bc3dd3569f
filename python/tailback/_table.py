"""A result table: columns that any Arrow reader takes, and NumPy arrays where that is all one needs."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Mapping, Sequence
from numbers import Real
from typing import TYPE_CHECKING, Any

from tailback import _core
from tailback._html import Shown, notebook
from tailback.errors import MissingExtra, ParameterError, UnknownName

if TYPE_CHECKING:
    import numpy as np
    import pandas
    from numpy.typing import NDArray

__all__ = ["COUNTERS", "Table"]

# The tables that are no traces; the last two only of runs in which some queue tells classes apart, or that ask for them.
COUNTERS = ("flows", "queues", "groups", "classes", "edges", "queue_flows")

_SHOWN_ROWS = 10
_DTYPES = {"float": "f8", "integer": "i8", "word": "u4"}


class Table:
    """Named columns of one length; units are part of the names (``goodput_bps``, ``time_s``).

    It speaks the Arrow PyCapsule interface, so ``polars.DataFrame(table)``, ``pyarrow.table(table)``,
    ``pandas.DataFrame.from_arrow(table)`` and DuckDB read it without a copy. ``dict(table)`` has its columns as NumPy arrays,
    `to_pandas` a data frame of any version of pandas. Missing numbers are null in Arrow and NaN elsewhere. It can be pickled.

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
    def _of(cls, name: str, columns: Mapping[str, Sequence[Any]]) -> Table:
        """A table of values: of words, whole numbers, or else numbers, by the first of them."""
        return cls(_core.Table(name, [_packed(title, list(values)) for title, values in columns.items()]))

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
        """What each column is, where it is one of a run: also the unit, and when a value is missing. docs/reference/tables.md has all.

        Examples
        --------
        >>> import tailback as tb
        >>> run = tb.simulate(tb.dumbbell(rate="10 Mbps", delay="10 ms", buffer="20 packets", duration="5 s"))
        >>> run.groups.meanings["fairness"]
        "Jain's index of the flows' goodputs, 1 if all are alike, 1/n if one has all. Missing if nothing was delivered."
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
        """Names of the columns: what ``dict(table)`` asks for."""
        return self.columns

    def __array__(self, dtype: object = None, copy: bool | None = None) -> NDArray[Any]:
        # pandas.DataFrame(table) comes here and would otherwise take the names of the columns for the data.
        raise TypeError(
            "a table has columns of several types, which no single array holds: use table[column], table.to_numpy(), "
            "table.to_pandas() or pandas.DataFrame.from_arrow(table)"
        )

    def to_pandas(self) -> pandas.DataFrame:
        """The table as a data frame of pandas.

        Raises
        ------
        MissingExtra
            If pandas is not installed.
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
        """One dictionary per row: for few rows."""
        columns = self.to_dict()
        return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]

    def where(self, **equal: str | float | None) -> Table:
        """The rows in which the named columns have the given values, as a table of the same columns. `None` is a missing value.

        Raises
        ------
        UnknownName
            No such column; says which there are.
        ParameterError
            A number was asked of a column of words, a word of a column of numbers, or several values at once.

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
        """A table of these columns, in this order.

        Raises
        ------
        UnknownName
            No such column; says which there are.
        ParameterError
            None is named, or they are in a list.
        """
        if not columns:
            raise ParameterError(f"no column is selected of `{self.name}`; expected names, such as `{next(iter(self))}`")
        first: object = columns[0]
        if isinstance(first, (list, tuple)):
            raise ParameterError(f"`select` takes names one by one, not {first!r}; write `select(*{first!r})`")
        return Table(_core.Table(self.name, [self._packed_column(column) for column in columns]))

    def sort(self, *by: str, descending: bool = False) -> Table:
        """The rows in the order of these columns, the first one first. Equal rows stay as they are, missing numbers come last.

        Raises
        ------
        UnknownName
            No such column; says which there are.

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

    def _shown(self) -> Shown:
        """The first rows, as a notebook shows them."""
        rows = min(len(self), _SHOWN_ROWS)
        cells = zip(*([shown(value) for value in self.head(column, rows)] for column in self), strict=True)
        return Shown(self.name, list(self), list(cells), f"{len(self) - rows} more rows" if len(self) > rows else "")

    def _rendered_rows(self) -> Iterator[str]:
        """Columns down, rows across: many columns and few rows is the usual shape."""
        rows = min(len(self), 4)
        width = max((len(column) for column in self), default=0)
        for column in self:
            cells = "  ".join(f"{shown(value):>12}" for value in self.head(column, rows))
            yield f"  {column:<{width}}  {cells}" + ("  ..." if len(self) > rows else "")

    def head(self, column: str, rows: int) -> list[Any]:
        """The first values of a column, without NumPy."""
        self._kind(column)
        return self._core.values(column, rows)

    def _raw(self, column: str) -> NDArray[Any]:
        """A column as it is kept: words by their places in the list of all."""
        import numpy as np

        kind = self._kind(column)
        return np.frombuffer(self._core.buffer(column), dtype=_DTYPES[kind])

    def _rows(self, chosen: NDArray[Any]) -> Table:
        """The rows at these places, or where this is true."""
        return Table(_core.Table(self.name, [self._packed_column(column, chosen) for column in self]))

    def _packed_column(self, column: str, chosen: Any = slice(None)) -> tuple[str, str, bytes, list[str]]:
        """As the core's table takes it, of some rows."""
        kind = self._kind(column)
        return column, kind, self._raw(column)[chosen].astype(f"<{_DTYPES[kind]}").tobytes(), self._core.words(column)

    def _written(self, column: str, value: object) -> float:
        """A value as `_raw` has it; -1, which no word has, for a word that is not there, and no number for what is missing."""
        if value is not None and not isinstance(value, (str, Real)):
            raise ParameterError(
                f"`{column}` of `{self.name}` cannot be {value!r}; expected one value, or `None` where it is missing"
            )
        if self._kind(column) != "word":
            if value is None:
                return math.nan
            if isinstance(value, str):
                raise ParameterError(f"`{column}` of `{self.name}` holds numbers; expected one, not `{value}`")
            return float(value)
        if not isinstance(value, str):
            raise ParameterError(f"`{column}` of `{self.name}` holds words; expected one in quotes, not {value!r}")
        words = self._core.words(column)
        return words.index(value) if value in words else -1

    def _kind(self, column: str) -> str:
        if not isinstance(column, str) or column not in self._kinds:
            raise UnknownName(f"column in `{self.name}`", column, self._kinds)
        return self._kinds[column]


def shown(value: float | int | str) -> str:
    """A value as a person reads it: five digits, a dash for what is missing."""
    if isinstance(value, float):
        return "-" if value != value else f"{value:.5g}"
    return str(value)


def _packed(name: str, values: list[Any]) -> tuple[str, str, bytes, list[str]]:
    """As the core's table takes it: a kind, bytes, and words."""
    import numpy as np

    if values and isinstance(values[0], str):
        words = list(dict.fromkeys(values))
        place = {word: index for index, word in enumerate(words)}
        return name, "word", np.array([place[value] for value in values], "u4").tobytes(), words
    if values and isinstance(values[0], int):
        return name, "integer", np.array(values, "i8").tobytes(), []
    return name, "float", np.array(values, "f8").tobytes(), []
