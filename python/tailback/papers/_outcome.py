"""What an experiment gave: its points, its claims judged, and both as plain data."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from tailback._interval import Interval
from tailback.papers._experiment import Claim, Contrast, Experiment, Label, Requirement, Values, Variant

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["Contrasted", "Outcome", "Point", "Verdict", "highest", "lowest"]


@dataclass(frozen=True)
class Point:
    """A variant and what was measured there: for each measure one value a seed."""

    labels: Mapping[str, Label]
    values: Mapping[str, Values]


@dataclass(frozen=True)
class Contrasted:
    """A contrast, measured."""

    contrast: Contrast
    interval: Interval
    holds: bool

    def to_dict(self) -> dict[str, Any]:
        """Setting, measured value, its interval, and whether the claim holds there (it should not)."""
        return {"setting": self.contrast.setting, **_ends(self.interval), "holds": self.holds}


@dataclass(frozen=True)
class Verdict:
    """A claim, measured."""

    claim: Claim
    interval: Interval
    holds: bool
    contrast: Contrasted | None

    @property
    def shown(self) -> bool:
        """As its kind asks: an R claim holds, an S claim holds and its contrast does not, an N claim holds after all."""
        return self.holds and (self.contrast is None or not self.contrast.holds)

    @property
    def text(self) -> str:
        """The claim, with the setting in which it is made."""
        return f"{self.claim.text} ({self.claim.setting})" if self.claim.setting else self.claim.text

    def to_dict(self) -> dict[str, Any]:
        """As `tailback reproduce --json` prints it."""
        return {
            "id": self.claim.id,
            "kind": self.claim.kind,
            "text": self.text,
            "published": self.claim.published,
            **_ends(self.interval),
            "holds": self.holds,
            "contrast": self.contrast.to_dict() if self.contrast else None,
        }


@dataclass
class Outcome:
    """What one experiment gave. Claims ask it for values, one a seed, in the order of the seeds."""

    experiment: Experiment
    seeds: int
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
            raise LookupError(f"{self.experiment.id}: {len(found)} points have {labels}")
        return found[0].values[measure]

    def best(self, measure: str, **labels: Label) -> Values:
        """What was measured at that of the points in which the mean over the seeds is largest."""
        return highest(*(point.values[measure] for point in self.where(**labels)))

    def interval(self, values: Values) -> Interval:
        """Mean and 95 % interval; without width where nothing is random."""
        return Interval(float(values[0]), 0.0) if self.experiment.exact else Interval.of(values.tolist())

    @cached_property
    def claims(self) -> list[Verdict]:
        """Every claim of the experiment, judged."""
        return [self._judged(claim) for claim in self.experiment.claims]

    @cached_property
    def answer(self) -> str:
        """The answer in words; nothing if the experiment gives none."""
        return self.experiment.answer(self) if self.experiment.answer else ""

    def to_dict(self) -> dict[str, Any]:
        """As `tailback reproduce --json` prints it."""
        points = []
        for point in self.points:
            measured = {
                name: {**_ends(self.interval(values), "mean"), "seeds": len(values)} for name, values in point.values.items()
            }
            points.append({**point.labels, **measured})
        said = {"answer": self.answer} if self.answer else {}
        return {"id": self.experiment.id, **said, "points": points, "claims": [verdict.to_dict() for verdict in self.claims]}

    def _judged(self, claim: Claim) -> Verdict:
        interval = self.interval(claim.measured(self))
        contrast = self._contrasted(claim.contrast, claim.must) if claim.contrast else None
        return Verdict(claim, interval, claim.must.holds(interval), contrast)

    def _contrasted(self, contrast: Contrast, must: Requirement) -> Contrasted:
        interval = self.interval(contrast.measured(self))
        return Contrasted(contrast, interval, must.holds(interval))


def point(variant: Variant, runs: list[dict[str, float]]) -> Point:
    """A point from what was measured of its runs, in the order of the seeds."""
    return Point(variant.labels, {name: np.array([run[name] for run in runs]) for name in runs[0]})


def lowest(*values: Values) -> Values:
    """Those values whose mean is lowest."""
    return min(values, key=lambda each: float(np.mean(each)))


def highest(*values: Values) -> Values:
    """Those values whose mean is highest."""
    return max(values, key=lambda each: float(np.mean(each)))


def _ends(interval: Interval, name: str = "measured") -> dict[str, float | None]:
    ends = {name: interval.mean, "low": interval.low, "high": interval.high}
    return {end: value if math.isfinite(value) else None for end, value in ends.items()}
