"""What was measured at each point of an experiment: what claims ask for values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

from tailback._interval import Interval

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["Label", "Measured", "Point", "Values", "highest", "lowest", "point"]

# A value for each seed.
Values: TypeAlias = "NDArray[np.float64]"
Label: TypeAlias = str | int | float


@dataclass(frozen=True)
class Point:
    """A variant and what was measured there: for each measure one value a seed."""

    labels: Mapping[str, Label]
    values: Mapping[str, Values]


@dataclass
class Measured:
    """What the runs of an experiment gave. Claims ask it for values, one a seed, in the order of the seeds."""

    points: list[Point] = field(default_factory=list)
    traces: dict[str, tuple[NDArray[Any], NDArray[Any]]] = field(default_factory=dict)

    def where(self, **labels: Label) -> list[Point]:
        """The points that have all these labels."""
        return [point for point in self.points if all(point.labels.get(name) == label for name, label in labels.items())]

    def values(self, measure: str, **labels: Label) -> Values:
        """What was measured at the one point that has these labels.

        Raises
        ------
        LookupError
            None or several have them.
        """
        found = self.where(**labels)
        if len(found) != 1:
            raise LookupError(f"{len(found)} points have {labels}")
        return found[0].values[measure]

    def best(self, measure: str, **labels: Label) -> Values:
        """What was measured at that of the points in which the mean over the seeds is largest."""
        return highest(*(point.values[measure] for point in self.where(**labels)))

    def interval(self, values: Values, level: float = 0.95) -> Interval:
        """Mean and 95 % interval, or another; without width where nothing is random and one run says all."""
        return Interval(float(values[0]), 0.0) if len(values) == 1 else Interval.of(values.tolist(), level)


def point(labels: Mapping[str, Label], runs: list[dict[str, float]]) -> Point:
    """A point from what was measured of its runs, in the order of the seeds."""
    import numpy as np

    return Point(labels, {name: np.array([run[name] for run in runs]) for name in runs[0]})


def lowest(*values: Values) -> Values:
    """Those values whose mean is lowest."""
    return min(values, key=lambda each: float(each.mean()))


def highest(*values: Values) -> Values:
    """Those values whose mean is highest."""
    return max(values, key=lambda each: float(each.mean()))
