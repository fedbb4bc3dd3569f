"""A scalar result of a run, selected by a name such as ``queues.bottleneck.utilisation``."""

from __future__ import annotations

import math
import struct
from dataclasses import dataclass
from typing import Any

from tailback._core import nearest_word
from tailback.errors import ParameterError, UnknownName

__all__ = ["Column", "Quantity", "numbers", "quantity_of"]

Column = tuple[str, str, bytes, list[str]]
"""Name, kind (`float`, `integer`, `word`), values in little-endian order, words."""

_TABLES = ("flows", "queues", "groups", "classes")


@dataclass(frozen=True)
class Quantity:
    """A scalar result: the mean of a column over all rows or the rows of one name; `goodput` is the sum over all groups.

    Attributes
    ----------
    name : str
        Name as given by the user.
    table, row, column : str
        Location of the values; ``*`` selects every row.
    """

    name: str
    table: str
    row: str
    column: str

    def value(self, columns: list[Column]) -> float:
        """The quantity in one run, given the columns of its table."""
        values = self.values(columns)
        total = math.fsum(values)
        return total if self.name == "goodput" else total / len(values)

    def values(self, columns: list[Column]) -> list[float]:
        """The values whose mean or sum is `value`, one per row."""
        known = {title: (kind, data, words) for title, kind, data, words in columns}
        if self.column not in known or known[self.column][0] == "word":
            numbers_there = [title for title, (kind, _, _) in known.items() if kind != "word"]
            raise UnknownName(f"number in `{self.table}`", self.column, numbers_there)
        values = numbers(*known[self.column][:2])
        if self.row != "*":
            # The table of classes has one row per class and queue; rows are selected by class.
            kind, data, words = known.get("class", next(iter(known.values())))
            if self.row not in words:
                raise UnknownName(f"row in `{self.table}`", self.row, words)
            wanted = words.index(self.row)
            values = [value for value, place in zip(values, numbers(kind, data), strict=True) if place == wanted]
        return values


def quantity_of(text: str) -> Quantity:
    """Parse ``goodput`` or ``TABLE.NAME.COLUMN``.

    Raises
    ------
    ParameterError
        The text has neither form.
    """
    if text == "goodput":
        return Quantity(text, "groups", "*", "goodput_bps")
    table, _, rest = text.partition(".") if isinstance(text, str) else ("", "", "")
    row, _, column = rest.rpartition(".")
    if table not in _TABLES or not row or not column:
        places = " or ".join(f"`{name}.NAME.COLUMN`" for name in _TABLES)
        near = nearest_word(text, ["goodput"]) if isinstance(text, str) else None
        hint = f"; did you mean `{near}`?" if near else ""
        raise ParameterError(f"`{text}` is not a quantity; expected `goodput`, {places}{hint}")
    return Quantity(text, table, row, column)


def numbers(kind: str, data: bytes) -> list[Any]:
    """The values of a column; indices into its words for a column of words."""
    letter, width = {"float": ("d", 8), "integer": ("q", 8), "word": ("I", 4)}[kind]
    return list(struct.unpack(f"<{len(data) // width}{letter}", data))
