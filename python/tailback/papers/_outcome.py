"""Outcome of an experiment: its points and judged claims, also as plain data."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from tailback._interval import Interval
from tailback.papers._experiment import Claim, Contrast, Experiment
from tailback.papers._measured import Measured
from tailback.papers._requirement import LEVEL, Finding, Requirement, decided_by

__all__ = ["Contrasted", "Outcome", "Verdict"]


@dataclass(frozen=True)
class Contrasted:
    """A contrast with its measured values."""

    contrast: Contrast
    interval: Interval
    finding: Finding

    def to_dict(self) -> dict[str, Any]:
        """Setting, measured value, its 99.9 % interval, and whether the claim holds there (it should not)."""
        return {"setting": self.contrast.setting, **_ends(self.interval), "finding": self.finding}


@dataclass(frozen=True)
class Verdict:
    """A judged claim.

    Attributes
    ----------
    interval : Interval
        The 99.9 % confidence interval that decides the claim.
    finding : str
        ``holds``, ``contradicted``, or ``cannot tell`` (too few seeds, or too near the bound).
    seeds : int
        Number of seeds used.
    decided_by : int or None
        Number of seeds that would be enough for this mean and deviation; None if more than a thousand.
    """

    claim: Claim
    interval: Interval
    finding: Finding
    seeds: int
    decided_by: int | None
    contrast: Contrasted | None

    @property
    def holds(self) -> bool:
        """Whether the finding is ``holds``."""
        return self.finding == "holds"

    @property
    def special(self) -> bool:
        """Whether the claim holds in its setting and does not hold, or is undecided, in the contrasting one."""
        return self.holds and self.contrast is not None and self.contrast.finding != "holds"

    @property
    def text(self) -> str:
        """The text of the claim, with its setting."""
        return f"{self.claim.text} ({self.claim.setting})" if self.claim.setting else self.claim.text

    def to_dict(self) -> dict[str, Any]:
        """Return the dictionary that `tailback reproduce --json` prints."""
        return {
            "id": self.claim.id,
            "kind": self.claim.kind,
            "text": self.text,
            "ours": self.claim.ours,
            "published": self.claim.published,
            **_ends(self.interval),
            "finding": self.finding,
            "seeds": self.seeds,
            "decided_by": self.decided_by,
            "contrast": self.contrast.to_dict() if self.contrast else None,
        }


@dataclass(kw_only=True)
class Outcome(Measured):
    """Points and judged claims of one experiment. `seeds` is the number of runs per point."""

    experiment: Experiment
    seeds: int

    @cached_property
    def claims(self) -> list[Verdict]:
        """All claims of the experiment, judged."""
        return [self._judged(claim) for claim in self.experiment.claims]

    @cached_property
    def answer(self) -> str:
        """The answer in words; empty if the experiment defines none."""
        return self.experiment.answer(self) if self.experiment.answer else ""

    def to_dict(self) -> dict[str, Any]:
        """Return the dictionary that `tailback reproduce --json` prints."""
        points = []
        for point in self.points:
            measured = {
                name: {**_ends(self.interval(values), "mean"), "seeds": len(values)} for name, values in point.values.items()
            }
            points.append({**point.labels, **measured})
        said = {"answer": self.answer} if self.answer else {}
        return {"id": self.experiment.id, **said, "points": points, "claims": [verdict.to_dict() for verdict in self.claims]}

    def _judged(self, claim: Claim) -> Verdict:
        values = claim.statement.measured(self)
        interval = self.interval(values, LEVEL)
        contrast = self._contrasted(claim.contrast, claim.must) if claim.contrast else None
        needed = decided_by(values.tolist(), claim.must)
        return Verdict(claim, interval, claim.must.judge(interval), len(values), needed, contrast)

    def _contrasted(self, contrast: Contrast, must: Requirement) -> Contrasted:
        interval = self.interval(contrast.measured(self), LEVEL)
        return Contrasted(contrast, interval, must.judge(interval))


def _ends(interval: Interval, name: str = "measured") -> dict[str, float | None]:
    ends = {name: interval.mean, "low": interval.low, "high": interval.high}
    return {end: value if math.isfinite(value) else None for end, value in ends.items()}
