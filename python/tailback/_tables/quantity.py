"""A scalar result of a run, given by a text such as ``queues.bottleneck.utilisation`` or ``jain(flows.*.goodput_bps)``.

    quantity = sum of products of factors, with + - * / and parentheses
    factor   = number | column | function(quantity) | goodput
    column   = TABLE.NAME.COLUMN: the rows of a name, or all rows if NAME is *

Arithmetic on columns is by row. A quantity that still has several rows at the end is their mean.
"""

from __future__ import annotations

import math
import operator
import re
import struct
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from tailback._core import hint
from tailback._interval import UNBOUNDED, Range
from tailback.errors import ParameterError, UnknownName

__all__ = ["FRACTION", "Column", "Quantity", "is_fraction", "numbers", "quantity_of"]

Column = tuple[str, str, bytes, list[str]]
"""Name, kind (`float`, `integer`, `word`), values in little-endian order, words."""

Tables = Mapping[str, list[Column]]
Vector = list[float]

FRACTION: Range = (0.0, 1.0)
"""The range of columns such as `utilisation`."""

NOT_NEGATIVE: Range = (0.0, math.inf)
"""The range of the other columns, such as `timeouts`."""

_TABLES = ("flows", "queues", "groups", "classes", "edges")


@dataclass(frozen=True)
class Cells:
    """A column of a table, or its rows of one name."""

    table: str
    row: str
    column: str

    def vector(self, tables: Tables) -> Vector:
        """The values, one per row."""
        columns = tables[self.table]
        known = {title: (kind, data, words) for title, kind, data, words in columns}
        if self.column not in known or known[self.column][0] == "word":
            numbers_there = [title for title, (kind, _, _) in known.items() if kind != "word"]
            raise UnknownName(f"number in `{self.table}`", self.column, numbers_there)
        values: Vector = numbers(*known[self.column][:2])
        if self.row != "*":
            # The table of classes has one row per class and queue; rows are selected by class.
            kind, data, words = known.get("class", next(iter(known.values())))
            if self.row not in words:
                raise UnknownName(f"row in `{self.table}`", self.row, words)
            wanted = words.index(self.row)
            values = [value for value, place in zip(values, numbers(kind, data), strict=True) if place == wanted]
        return values


@dataclass(frozen=True)
class Constant:
    """A number."""

    number: float

    def vector(self, tables: Tables) -> Vector:
        """The number, which applies to every row."""
        return [self.number]


@dataclass(frozen=True)
class Operation:
    """An operation on two quantities, by row."""

    sign: str
    left: Node
    right: Node

    def vector(self, tables: Tables) -> Vector:
        """One value per row; a single value applies to every row."""
        left, right = self.left.vector(tables), self.right.vector(tables)
        rows = max(len(left), len(right))
        if {len(left), len(right)} - {1, rows}:
            raise ParameterError(f"`{self.sign}` combines {len(left)} rows with {len(right)}; expected the same number, or one")
        combine = _OPERATIONS[self.sign]
        return [combine(one, other) for one, other in zip(left * (rows // len(left)), right * (rows // len(right)), strict=True)]


@dataclass(frozen=True)
class Reduction:
    """A function of all rows."""

    function: str
    of: Node

    def vector(self, tables: Tables) -> Vector:
        """A single value."""
        return [_FUNCTIONS[self.function](self.of.vector(tables))]


Node = Cells | Constant | Operation | Reduction


@dataclass(frozen=True)
class Quantity:
    """A scalar result of a run.

    Attributes
    ----------
    name : str
        The text as given by the user.
    """

    name: str
    root: Node

    @cached_property
    def cells(self) -> tuple[Cells, ...]:
        """The columns that the quantity refers to."""
        return tuple(_cells(self.root))

    @property
    def tables(self) -> tuple[str, ...]:
        """The tables that the quantity refers to."""
        return tuple(dict.fromkeys(cells.table for cells in self.cells))

    @property
    def column(self) -> Cells | None:
        """The column, if the quantity is its mean or, for `goodput`, its sum; its name gives the unit."""
        root = self.root.of if isinstance(self.root, Reduction) and self.name == "goodput" else self.root
        return root if isinstance(root, Cells) else None

    @cached_property
    def range(self) -> Range:
        """The lowest and the highest possible value, as far as the names of the columns and the formula show them."""
        return _range(self.root)

    def value(self, tables: Tables) -> float:
        """The quantity in one run, given the columns of its tables."""
        return _mean(self.values(tables))

    def values(self, tables: Tables) -> list[float]:
        """The values whose mean is `value`, one per row."""
        return self.root.vector(tables)


def quantity_of(text: str) -> Quantity:
    """Parse a quantity.

    Raises
    ------
    ParameterError
        The text is not a quantity.
    """
    if not isinstance(text, str):
        raise _not_a_quantity(text, "")
    parser = _Parser(text)
    return Quantity(text, parser.whole())


def numbers(kind: str, data: bytes) -> list[Any]:
    """The values of a column; indices into its words for a column of words."""
    letter, width = {"float": ("d", 8), "integer": ("q", 8), "word": ("I", 4)}[kind]
    return list(struct.unpack(f"<{len(data) // width}{letter}", data))


class _Parser:
    """Recursive descent over the tokens of a text."""

    # Names contain `-` and `.`, so an operator after a column requires a space.
    _TOKEN = re.compile(
        rf"\s*(?:(?P<cells>(?:{'|'.join(_TABLES)})\.(?:\*|[\w.-]+)\.\w+)"
        r"|(?P<number>\d+\.?\d*(?:[eE][-+]?\d+)?)|(?P<word>[A-Za-z_]\w*)|(?P<sign>[-+*/()]))"
    )

    def __init__(self, text: str) -> None:
        self._text = text
        self._tokens: list[tuple[str, str]] = []
        end = 0
        while rest := text[end:].strip():
            match = self._TOKEN.match(text, end)
            if match is None:
                raise _not_a_quantity(text, rest)
            self._tokens.append((str(match.lastgroup), match.group(str(match.lastgroup))))
            end = match.end()

    def whole(self) -> Node:
        """The whole text as one quantity."""
        root = self._sum()
        if self._tokens:
            raise _not_a_quantity(self._text, self._tokens[0][1])
        return root

    def _sum(self) -> Node:
        return self._chain("+-", lambda: self._chain("*/", self._factor))

    def _chain(self, signs: str, part: Callable[[], Node]) -> Node:
        node = part()
        while self._tokens and self._tokens[0][1] in signs:
            node = Operation(self._tokens.pop(0)[1], node, part())
        return node

    def _factor(self) -> Node:
        kind, token = self._tokens.pop(0) if self._tokens else ("end", "")
        if kind == "cells":
            table, _, rest = token.partition(".")
            row, _, column = rest.rpartition(".")
            return Cells(table, row, column)
        if kind == "number":
            return Constant(float(token))
        if token == "goodput":
            return Reduction("sum", Cells("groups", "*", "goodput_bps"))
        if token == "-":
            return Operation("-", Constant(0.0), self._factor())
        if token == "(" or (token in (*_FUNCTIONS, "share") and self._next("(")):
            inner = self._sum()
            if not self._next(")"):
                raise _not_a_quantity(self._text, "")
            return inner if token == "(" else self._call(token, inner)
        raise _not_a_quantity(self._text, token)

    def _call(self, function: str, of: Node) -> Node:
        if function != "share":
            return Reduction(function, of)
        if not isinstance(of, Cells):
            raise ParameterError(f"`share` in `{self._text}` takes a column; expected `share(TABLE.NAME.COLUMN)`")
        return Operation("/", Reduction("sum", of), Reduction("sum", Cells(of.table, "*", of.column)))

    def _next(self, token: str) -> bool:
        """Remove the next token if it is this one."""
        found = bool(self._tokens) and self._tokens[0][1] == token
        if found:
            self._tokens.pop(0)
        return found


def _cells(node: Node) -> list[Cells]:
    if isinstance(node, Cells):
        return [node]
    parts = {Operation: ("left", "right"), Reduction: ("of",)}.get(type(node), ())
    return [cells for part in parts for cells in _cells(getattr(node, part))]


def is_fraction(column: str) -> bool:
    """Whether a column or measure of this name has values from 0 to 1."""
    return column in ("utilisation", "loss_rate", "fairness", "share") or column.endswith("_share")


def _range(node: Node) -> Range:
    match node:
        case Constant(number):
            return number, number
        case Cells(_, _, column):
            # The tables have no negative numbers.
            return FRACTION if is_fraction(column) else NOT_NEGATIVE
        case Reduction("jain"):
            return FRACTION
        case Operation("/", Reduction("sum", Cells(table, _, column)), Reduction("sum", Cells() as whole)) if whole == Cells(
            table, "*", column
        ):
            return FRACTION
        case Reduction("mean" | "min" | "max", of):
            return _range(of)
        case Reduction("sum", of) if _range(of)[0] >= 0:
            return NOT_NEGATIVE
        case Operation(sign, left, right):
            return _combined(sign, _range(left), _range(right))
    return UNBOUNDED


def _combined(sign: str, left: Range, right: Range) -> Range:
    """Interval arithmetic; unbounded if an operand is, or for a divisor that may be 0, but no sign is lost."""
    if sign in "+*/" and min(left[0], right[0]) >= 0 and (math.isinf(max(left[1], right[1])) or (sign == "/" and right[0] == 0)):
        return NOT_NEGATIVE
    if not all(map(math.isfinite, (*left, *right))) or (sign == "/" and right[0] <= 0 <= right[1]):
        return UNBOUNDED
    corners = [_OPERATIONS[sign](one, other) for one in left for other in right]
    return min(corners), max(corners)


def _not_a_quantity(text: Any, token: str) -> ParameterError:
    words = ["goodput", *_FUNCTIONS, "share"]
    forms = " or ".join(f"`{name}.NAME.COLUMN`" for name in _TABLES)
    near = hint(token, words) if token and token not in words else None
    if near is None and token.isidentifier() and token not in words and token == text:
        near = f"a column has its table before it, as in `queues.bottleneck.{token}`"
    where = f" at `{token}`" if token and token != text else ""
    return ParameterError(f"`{text}` is not a quantity{where}; expected `goodput`, {forms}{f'; {near}' if near else ''}")


def _divided(left: float, right: float) -> float:
    """IEEE division: by zero it is infinite, or NaN."""
    if right:
        return left / right
    return math.nan if left == 0 or math.isnan(left) else math.copysign(math.inf, left)


def _mean(values: Vector) -> float:
    return _divided(math.fsum(values), len(values))


def _jain(values: Vector) -> float:
    """Jain's index: 1 if all values are equal, 1 / n if all but one are 0."""
    return _divided(math.fsum(values) ** 2, len(values) * math.fsum(value * value for value in values))


def _extreme(choose: Callable[[Vector], float]) -> Callable[[Vector], float]:
    """The smallest or largest value; NaN if any value is missing."""
    return lambda values: math.nan if any(map(math.isnan, values)) else choose(values)


_OPERATIONS: dict[str, Callable[[float, float], float]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": _divided,
}

_FUNCTIONS: dict[str, Callable[[Vector], float]] = {
    "sum": math.fsum,
    "mean": _mean,
    "min": _extreme(min),
    "max": _extreme(max),
    "jain": _jain,
}
