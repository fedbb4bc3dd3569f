"""What an experiment gave: its points, its claims judged, and both as plain data."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from tailback._interval import Interval
from tailback.papers._experiment import Claim, Contrast, Experiment, Requirement
from tailback.papers._measured import Measured

__all__ = ["Contrasted", "Outcome", "Verdict"]


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


@dataclass(kw_only=True)
class Outcome(Measured):
    """What one experiment gave, and what becomes of its claims. `seeds` is the number of runs at each point."""

    experiment: Experiment
    seeds: int

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


def _ends(interval: Interval, name: str = "measured") -> dict[str, float | None]:
    ends = {name: interval.mean, "low": interval.low, "high": interval.high}
    return {end: value if math.isfinite(value) else None for end, value in ends.items()}
