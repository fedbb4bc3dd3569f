"""Kernel and simulator side by side: how far apart, and how sure."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any

from tailback._interval import Interval
from tailback._validation.cases import Case
from tailback._validation.measures import Measure

__all__ = ["Comparison", "Verdict", "compared"]


class Verdict(Enum):
    """What the interval of the difference says."""

    AGREE = "agree"
    PART = "part"
    CANNOT_TELL = "cannot tell"


@dataclass(frozen=True)
class Comparison:
    """A measure of a case.

    Attributes
    ----------
    case, measure, unit : str
    labels : dict
    kernel, simulated : Interval
        Over the seeds.
    difference : Interval
        Simulated less kernel, with the same round trips, as a fraction of the kernel's mean; as it is where that is 0.
    bar : float
    verdict : Verdict
        ``agree`` if the whole interval lies within the bar, ``part`` if all of it lies beyond.
    seeds : int
        In which the measure was defined on both sides.
    values : tuple
        Kernel's and simulator's, by seed: where shares vary with round trips, their distributions say more than means.
    """

    case: str
    labels: dict[str, Any]
    measure: str
    unit: str
    kernel: Interval
    simulated: Interval
    difference: Interval
    bar: float
    verdict: Verdict
    seeds: int
    values: tuple[tuple[float, float], ...]


def compared(case: Case, measure: Measure, kernel: Sequence[float], simulated: Sequence[float]) -> Comparison:
    """Values by seed, those of one seed with the same round trips and starts."""
    pairs = [(real, made) for real, made in zip(kernel, simulated, strict=True) if math.isfinite(real) and math.isfinite(made)]
    if len(pairs) < 2:
        nothing = Interval(math.nan, math.nan)
        verdict, ends = Verdict.CANNOT_TELL, (nothing, nothing, nothing)
    else:
        real, made = (Interval.of(values) for values in zip(*pairs, strict=True))
        apart = Interval.of([made - real for real, made in pairs])
        scale = real.mean if real.mean > 0 else 1.0
        difference = Interval(apart.mean / scale, apart.half / scale)
        verdict, ends = _verdict(difference, measure.bar), (real, made, difference)
    return Comparison(
        case.name, dict(case.labels), measure.name, measure.unit, *ends, measure.bar, verdict, len(pairs), tuple(pairs)
    )


def _verdict(difference: Interval, bar: float) -> Verdict:
    if -bar <= difference.low and difference.high <= bar:
        return Verdict.AGREE
    if difference.low > bar or difference.high < -bar:
        return Verdict.PART
    return Verdict.CANNOT_TELL
