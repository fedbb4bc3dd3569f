"""Expressions over the measured values of an experiment: what a claim compares with a number.

``at("goodput", policy="BPD")`` selects points by their labels. Labels in which the selected points differ distinguish them:
arithmetic combines points whose common labels are equal, and reductions such as ``.max("threshold")`` remove labels. Every point
has one value per seed, so that a difference is paired by seed.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from tailback._arguments import arguments_checked
from tailback._interval import UNBOUNDED, Range
from tailback.papers._measured import Label, Measured, Values, no_points
from tailback.papers._requirement import Inequality, Requirement, Value

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["Comparison", "Expression", "at", "by_means", "computed", "furthest", "highest", "lowest"]

# Labels that describe a point but do not distinguish it.
_DESCRIPTIONS = ("printed",)


@dataclass(frozen=True)
class Row:
    """A point of an expression: the labels that distinguish it, one value per seed, all its labels, and the values' range."""

    labels: Mapping[str, Label]
    values: Values
    known: Mapping[str, Label]
    within: Range = UNBOUNDED


@arguments_checked
class Expression:
    """Values of an experiment that is not run yet.

    Numbers, other expressions, and functions of labels can be operands: ``at("loss") / (lambda load: load / 2)``. A comparison
    with ``< <= > >=`` is the statement of a claim.

    Examples
    --------
    >>> import numpy as np
    >>> from tailback.papers import Measured, Point, at
    >>> points = [("EPD", 0.5, 3.0), ("EPD", 0.9, 5.0), ("BPD", 0.5, 6.0), ("BPD", 0.9, 7.0)]
    >>> results = Measured(
    ...     [Point({"policy": policy, "threshold": at}, {"goodput": np.array([value])}) for policy, at, value in points]
    ... )
    >>> gain = at("goodput", policy="BPD") - at("goodput", policy="EPD")
    >>> gain.min("threshold")(results)
    array([2.])
    >>> (at("goodput", policy="BPD").max("threshold") / at("goodput", policy="EPD", threshold=0.5))(results)
    array([2.33333333])
    """

    def __init__(self, rows: Callable[[Measured], list[Row]]) -> None:
        self._rows = rows

    def rows(self, results: Measured) -> list[Row]:
        """The points and their values in the results of an experiment.

        Raises
        ------
        LookupError
            The experiment has no such points.
        """
        return self._rows(results)

    def __call__(self, results: Measured) -> Values:
        """The values of the only point, one per seed.

        Raises
        ------
        LookupError
            There are no such points, or several.
        """
        rows = self.rows(results)
        if len(rows) != 1:
            raise LookupError(f"{len(rows)} points: {', '.join(str(dict(row.labels)) for row in rows[:4])}; expected one")
        return rows[0].values

    def range(self, results: Measured) -> Range:
        """The lowest and the highest possible value of the only point: those of a measure that it selects without arithmetic."""
        return self.rows(results)[0].within

    def __add__(self, other: Operand) -> Expression:
        return self._with(other, lambda one, two: one + two)

    def __sub__(self, other: Operand) -> Expression:
        return self._with(other, lambda one, two: one - two)

    def __mul__(self, other: Operand) -> Expression:
        return self._with(other, lambda one, two: one * two)

    def __truediv__(self, other: Operand) -> Expression:
        return self._with(other, lambda one, two: one / two)

    def __radd__(self, other: float) -> Expression:
        return self.map(lambda values: other + values)

    def __rsub__(self, other: float | Callable[..., float]) -> Expression:
        return self._with(other, lambda one, two: two - one)

    def __rmul__(self, other: float) -> Expression:
        return self.map(lambda values: other * values)

    def __rtruediv__(self, other: float) -> Expression:
        return self.map(lambda values: other / values)

    def __pow__(self, exponent: float) -> Expression:
        return self.map(lambda values: values**exponent)

    def __neg__(self) -> Expression:
        return self.map(lambda values: -values)

    def __abs__(self) -> Expression:
        return self.map(abs)

    def __gt__(self, other: float | Expression) -> Comparison:
        return self._compared(">", other)

    def __ge__(self, other: float | Expression) -> Comparison:
        return self._compared(">=", other)

    def __lt__(self, other: float | Expression) -> Comparison:
        return self._compared("<", other)

    def __le__(self, other: float | Expression) -> Comparison:
        return self._compared("<=", other)

    def equals(self, value: float, within: float = 0.0) -> Comparison:
        """The statement that the values are those of a document, up to a tolerance."""
        return Comparison(self, Value(value, within))

    def log(self, base: float = math.e) -> Expression:
        """The logarithm."""
        import numpy as np

        return self.map(lambda values: np.log2(values) if base == 2 else np.log(values) / math.log(base))

    def map(self, function: Callable[[Values], Values], within: Range = UNBOUNDED) -> Expression:
        """A function of the values of each point, with this range."""
        return Expression(
            lambda results: [replace(row, values=function(row.values), within=within) for row in self.rows(results)]
        )

    def min(self, *over: str, each_seed: bool = False) -> Expression:
        """The point with the lowest mean over the seeds, among those that differ only in these labels; all by default.

        With `each_seed`, the lowest value of each seed, which may be that of a different point.
        """
        if each_seed:
            return self._folded(lambda values: values.min(axis=0), over)
        return self._group(over, lambda results, rows: min(rows, key=lambda row: results.centre(row.values)).values)

    def max(self, *over: str, each_seed: bool = False) -> Expression:
        """Like `min`, with the highest mean or value."""
        if each_seed:
            return self._folded(lambda values: values.max(axis=0), over)
        return self._group(over, lambda results, rows: max(rows, key=lambda row: results.centre(row.values)).values)

    def furthest(self, *over: str, ratio: bool = False) -> Expression:
        """Like `max`, with the mean that is furthest from 0 or, for a ratio, by the largest factor from 1."""

        def distance(results: Measured, row: Row) -> float:
            centre = results.centre(row.values)
            return abs(math.log(centre)) if ratio else abs(centre)

        return self._group(over, lambda results, rows: max(rows, key=lambda row: distance(results, row)).values)

    def mean(self, *over: str) -> Expression:
        """The mean over points that differ only in these labels; over all by default."""
        return self._folded(lambda values: values.mean(axis=0), over)

    def sum(self, *over: str) -> Expression:
        """The sum over points that differ only in these labels; over all by default."""
        return self.fold(lambda values: values.sum(axis=0), *over)

    def fold(self, function: Callable[[NDArray[np.float64]], Values], *over: str) -> Expression:
        """A function of the values of points that differ only in these labels: a row per point and a column per seed."""
        return self._folded(function, over).map(lambda values: values)

    def steps(self, over: str) -> Expression:
        """The differences between consecutive values of a label, in the order of the experiment's points."""

        def rows(results: Measured) -> list[Row]:
            groups = _groups(self.rows(results), (over,))
            return [
                replace(two, values=two.values - one.values, within=UNBOUNDED)
                for _, members in groups
                for one, two in pairwise(members)
            ]

        return Expression(rows)

    def _folded(self, function: Callable[[NDArray[np.float64]], Values], over: tuple[str, ...]) -> Expression:
        """Like `fold`, for a function whose value is between those of the points."""
        import numpy as np

        return self._group(over, lambda _, rows: function(np.array([row.values for row in rows])))

    def _group(self, over: tuple[str, ...], choose: Callable[[Measured, list[Row]], Values]) -> Expression:
        """One row per group, whose values are between those of its rows."""

        def rows(results: Measured) -> list[Row]:
            return [
                Row(labels, choose(results, members), _common(members), _hull(members))
                for labels, members in _groups(self.rows(results), over)
            ]

        return Expression(rows)

    def _with(self, other: Operand, combine: Callable[[Any, Any], Values]) -> Expression:
        if isinstance(other, Expression):
            return Expression(lambda results: _aligned(self.rows(results), other.rows(results), combine))
        if callable(other):
            return Expression(
                lambda results: [
                    replace(row, values=combine(row.values, _applied(other, row)), within=UNBOUNDED) for row in self.rows(results)
                ]
            )
        return self.map(lambda values: combine(values, other))

    def _compared(self, sign: Literal[">", ">=", "<", "<="], other: float | Expression) -> Comparison:
        if isinstance(other, Expression):
            return Comparison(self - other, Inequality(sign, 0))
        return Comparison(self, Inequality(sign, other))


Operand: TypeAlias = Expression | float | Callable[..., float]


@arguments_checked
@dataclass(frozen=True)
class Comparison:
    """A statement about an expression. The confidence interval of its mean decides it."""

    measured: Expression
    must: Requirement

    def share(self, *over: str) -> Expression:
        """The fraction of points at which an inequality holds, for each seed."""
        must = self.must
        if not isinstance(must, Inequality):
            raise TypeError("only an inequality has a share")
        return self.measured.map(must.holds, within=(0.0, 1.0)).mean(*over)


def at(measure: str, /, **labels: Label | tuple[Label, ...]) -> Expression:
    """Select points by labels.

    A tuple selects several values of a label. Labels that all selected points have in common do not distinguish them.
    """

    def rows(results: Measured) -> list[Row]:
        found = [
            point
            for point in results.points
            if all(point.labels.get(name) in (label if isinstance(label, tuple) else (label,)) for name, label in labels.items())
        ]
        if not found:
            raise no_points(results.points, labels)
        common = {name for name, label in found[0].labels.items() if all(point.labels.get(name) == label for point in found)}
        return [
            Row(
                {name: label for name, label in point.labels.items() if name not in common.union(_DESCRIPTIONS)},
                point.value_of(measure),
                point.labels,
                results.ranges.get(measure, UNBOUNDED),
            )
            for point in found
        ]

    return Expression(rows)


@arguments_checked
def computed(function: Callable[[Measured], Values]) -> Expression:
    """Any function of the results."""
    return Expression(lambda results: [Row({}, function(results), {})])


@arguments_checked
def lowest(*expressions: Expression, each_seed: bool = False) -> Expression:
    """The expression with the lowest mean. With `each_seed`, the lowest value of each seed."""
    return _listed(expressions).min("", each_seed=each_seed)


@arguments_checked
def highest(*expressions: Expression, each_seed: bool = False) -> Expression:
    """The expression with the highest mean. With `each_seed`, the highest value of each seed."""
    return _listed(expressions).max("", each_seed=each_seed)


@arguments_checked
def furthest(*expressions: Expression) -> Expression:
    """The expression with the highest absolute mean."""
    return _listed(expressions).furthest("")


@arguments_checked
def by_means(statistic: Expression) -> Expression:
    """A statistic of the means over all seeds, by the jackknife.

    Its pseudo-values, one per seed, have an interval. The logarithm of a noisy value is biased, and its absolute distance from a
    reference is always positive; pseudo-values are unbiased to first order (J. W. Tukey, Bias and confidence in not-quite large
    samples, 1958).
    """

    def values(results: Measured) -> Values:
        import numpy as np

        all_seeds, *without_one = statistic(results.means())
        spread: Values = all_seeds + (len(without_one) - 1) * (all_seeds - np.array(without_one))
        return spread

    return computed(values)


def _listed(expressions: Iterable[Expression]) -> Expression:
    """Several expressions as one, with their position as a label without a name."""
    listed = list(expressions)
    return Expression(
        lambda results: [
            replace(row, labels={**row.labels, "": place}) for place, each in enumerate(listed) for row in each.rows(results)
        ]
    )


def _hull(rows: list[Row]) -> Range:
    """The smallest range that contains those of all rows."""
    return min(row.within[0] for row in rows), max(row.within[1] for row in rows)


def _common(rows: list[Row]) -> dict[str, Label]:
    """Labels that all rows have."""
    return {name: label for name, label in rows[0].known.items() if all(row.known.get(name) == label for row in rows)}


def _groups(rows: list[Row], over: tuple[str, ...]) -> list[tuple[dict[str, Label], list[Row]]]:
    """Rows that differ only in the labels `over`, or all rows, with the other labels."""
    known = {name for row in rows for name in row.labels}
    if missing := set(over) - known:
        raise LookupError(f"no label {', '.join(map(repr, missing))}; expected one of {', '.join(map(repr, sorted(known)))}")
    groups: dict[tuple[tuple[str, Label], ...], list[Row]] = {}
    for row in rows:
        rest = {name: label for name, label in row.labels.items() if over and name not in over}
        groups.setdefault(tuple(rest.items()), []).append(row)
    return [(dict(rest), members) for rest, members in groups.items()]


def _aligned(left: list[Row], right: list[Row], combine: Callable[[Any, Any], Values]) -> list[Row]:
    """Every pair whose common labels are equal. A point without a partner is an error."""
    found, partners = [], set()
    for one in left:
        matching = [
            place
            for place, other in enumerate(right)
            if all(one.labels[name] == label for name, label in other.labels.items() if name in one.labels)
        ]
        if not matching:
            raise LookupError(f"the point {dict(one.labels)} has no partner")
        partners.update(matching)
        for other in (right[place] for place in matching):
            labels, known = {**other.labels, **one.labels}, {**other.known, **one.known}
            found.append(Row(labels, combine(one.values, other.values), known))
    if single := set(range(len(right))) - partners:
        raise LookupError(f"the point {dict(right[min(single)].labels)} has no partner")
    return found


def _applied(function: Callable[..., float], row: Row) -> float:
    """A function of the labels that its parameters name."""
    return function(**{name: row.known[name] for name in inspect.signature(function).parameters})
