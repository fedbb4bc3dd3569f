"""Measured values at each point of an experiment, as claims request them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from tailback._arguments import arguments_checked
from tailback._core import hint
from tailback._interval import UNBOUNDED, Interval, Range
from tailback.errors import UnknownName

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["BoundedValues", "Label", "Measured", "Point", "Values", "no_points", "point"]

# One value per seed.
Values: TypeAlias = "NDArray[np.float64]"
Label: TypeAlias = str | int | float


class BoundedValues(Protocol):
    """An expression: its values, one per seed, and the lowest and highest possible one."""

    def __call__(self, results: Measured, /) -> Values: ...
    def range(self, results: Measured, /) -> Range: ...


@arguments_checked
@dataclass(frozen=True)
class Point:
    """A variant and its measured values: one value per seed for each measure."""

    labels: Mapping[str, Label]
    values: Mapping[str, Values]

    def value_of(self, measure: str) -> Values:
        """Values of a measure. Raises `UnknownName`."""
        if measure not in self.values:
            raise UnknownName("measure", measure, self.values)
        return self.values[measure]


@arguments_checked
@dataclass
class Measured:
    """Measurements of an experiment. Claims request values, one per seed, in the order of the seeds.

    `ranges` has the lowest and highest possible value of measures that are bounded.
    """

    points: list[Point] = field(default_factory=list)
    traces: dict[str, tuple[NDArray[Any], NDArray[Any]]] = field(default_factory=dict)
    ranges: Mapping[str, Range] = field(default_factory=dict)

    def where(self, **labels: Label) -> list[Point]:
        """Points that have all these labels."""
        return [point for point in self.points if all(point.labels.get(name) == label for name, label in labels.items())]

    def values(self, measure: str, **labels: Label) -> Values:
        """Values at the only point that has these labels.

        Raises
        ------
        LookupError
            No point has them, or several points do.
        UnknownName
            There is no such measure.
        """
        found = self.where(**labels)
        if not found:
            raise no_points(self.points, labels)
        if len(found) != 1:
            raise LookupError(f"{len(found)} points have {labels}")
        return found[0].value_of(measure)

    def mean(self, measured: Callable[[Measured], Values]) -> float:
        """Mean over the seeds of an expression or of another function of the measurements."""
        return float(measured(self).mean())

    def formatted(self, measured: BoundedValues, digits: int = 2, scale: float = 1.0) -> str:
        """The mean of an expression as text with its 95 % interval: ``0.93 ± 0.02``, or ``0.98 (0.91 to 0.996)``."""
        return self.interval(measured(self), within=measured.range(self)).text(digits, scale)

    def centre(self, values: Values) -> float:
        """The value by which points are ordered: the mean over the seeds."""
        return float(values.mean())

    def means(self) -> Measured:
        """Means over all seeds, and over all but one, each omitted in turn, in place of the values of single seeds."""
        return _Means(
            [Point(point.labels, {name: _means(values) for name, values in point.values.items()}) for point in self.points],
            ranges=self.ranges,
        )

    def interval(self, values: Values, level: float = 0.95, within: Range = UNBOUNDED) -> Interval:
        """Mean and confidence interval (95 % by default) of values with this range; deterministic measures have zero width."""
        return Interval(float(values[0]), 0.0) if len(values) == 1 else Interval.of(values.tolist(), level, within)

    def interval_of(self, point: Point, measure: str) -> Interval:
        """The 95 % interval of a measure at a point."""
        return self.interval(point.values[measure], within=self.ranges.get(measure, UNBOUNDED))


def point(labels: Mapping[str, Label], runs: list[dict[str, float]]) -> Point:
    """Build a point from the measures of its runs, in the order of the seeds."""
    import numpy as np

    return Point(labels, {name: np.array([run[name] for run in runs]) for name in runs[0]})


class _Means(Measured):
    """Means over all seeds, then over all but one."""

    def centre(self, values: Values) -> float:
        """The mean over all seeds."""
        return float(values[0])


def _means(values: Values) -> Values:
    import numpy as np

    # Deterministic values stay unchanged to the last digit.
    if np.ptp(values) == 0:
        return np.repeat(values[0], len(values) + 1)
    return np.concatenate([[values.mean()], (values.sum() - values) / (len(values) - 1)])


def no_points(points: Iterable[Point], labels: Mapping[str, Label | tuple[Label, ...]]) -> LookupError:
    """The error for labels that no point has, with the first unknown name or value."""
    known: dict[str, list[Label]] = {}
    for one in points:
        for name, label in one.labels.items():
            values = known.setdefault(name, [])
            if label not in values:
                values.append(label)
    why = ""
    for name, given in labels.items():
        wanted = given if isinstance(given, tuple) else (given,)
        if name not in known:
            near = hint(name, list(known))
            why = f": no label `{name}`; expected one of {', '.join(f'`{each}`' for each in known)}{f'; {near}' if near else ''}"
            break
        if not any(each in known[name] for each in wanted):
            why = f": no {name} {given!r}; expected one of {', '.join(map(repr, known[name]))}"
            break
    return LookupError(f"0 points have {dict(labels)}{why}")
