"""Comparison of kernel and simulator: differences with confidence intervals."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from statistics import fmean
from typing import Any

from tailback._interval import Interval
from tailback._validation.cases import Case
from tailback._validation.measures import Measure

__all__ = ["Comparison", "Spread", "Verdict", "compared"]


class Verdict(Enum):
    """Interpretation of the interval of a difference."""

    AGREE = "agree"
    WITHIN_SPREAD = "within spread"
    DIFFER = "differ"
    INCONCLUSIVE = "inconclusive"


class Spread(Enum):
    """Causes of the variation of a kernel's values between seeds."""

    # Noise of the machine as well: values that differ say nothing about the kernel.
    MACHINE = "machine"
    # Only round trips and start times, which both sides share: values that differ are those of other starts.
    STARTS = "starts"


@dataclass(frozen=True)
class Comparison:
    """Comparison of one measure of a case.

    Attributes
    ----------
    case, measure, unit : str
    labels : dict
    kernel, simulated : Interval
        Means over the seeds.
    difference : Interval
        Simulated minus kernel, paired by seed, as a fraction of the kernel's mean; absolute if that is 0.
    tolerance : float
        Tolerance of the difference, as a fraction.
    resolution : float
        Smallest difference that the kernel's measurements show, as a fraction.
    verdict : Verdict
        ``agree`` if the whole interval is within the larger of both, ``differ`` if it is outside. Otherwise ``within spread`` if
        the kernel has no noise and the mean of each side is in the range of the other side's values (`Spread`), and else
        ``inconclusive``.
    seeds : int
        Number of seeds for which the measure is defined on both sides.
    values : tuple
        Values of kernel and simulator by seed. Where shares vary with RTTs, their distributions are more informative than means.
    """

    case: str
    labels: dict[str, Any]
    measure: str
    unit: str
    kernel: Interval
    simulated: Interval
    difference: Interval
    tolerance: float
    resolution: float
    verdict: Verdict
    seeds: int
    values: tuple[tuple[float, float], ...]


def compared(
    case: Case,
    measure: Measure,
    kernel: Sequence[float],
    simulated: Sequence[float],
    resolution: float = 0.0,
    spread: Spread = Spread.MACHINE,
) -> Comparison:
    """Compare values by seed; a seed determines RTTs and start times on both sides. `resolution` has the unit of the measure."""
    pairs = [(real, made) for real, made in zip(kernel, simulated, strict=True) if math.isfinite(real) and math.isfinite(made)]
    if len(pairs) < 2:
        nothing = Interval(math.nan, math.nan)
        verdict, finest, ends = Verdict.INCONCLUSIVE, math.nan, (nothing, nothing, nothing)
    else:
        real, made = (Interval.of(values, within=measure.within) for values in zip(*pairs, strict=True))
        apart = Interval.of([made - real for real, made in pairs])
        scale = real.mean if real.mean > 0 else 1.0
        difference, finest = Interval(apart.mean / scale, apart.half / scale), resolution / scale
        verdict, ends = _verdict(difference, max(measure.tolerance, finest)), (real, made, difference)
        if verdict is Verdict.INCONCLUSIVE and spread is Spread.STARTS and _overlap(pairs):
            verdict = Verdict.WITHIN_SPREAD
    labels = dict(case.labels)
    return Comparison(
        case.name, labels, measure.name, measure.unit, *ends, measure.tolerance, finest, verdict, len(pairs), tuple(pairs)
    )


def _overlap(pairs: Sequence[tuple[float, float]]) -> bool:
    """Whether the mean of each side is in the range of the other side's values."""
    real, made = zip(*pairs, strict=True)
    return bool(min(made) <= fmean(real) <= max(made) and min(real) <= fmean(made) <= max(real))


def _verdict(difference: Interval, tolerance: float) -> Verdict:
    if -tolerance <= difference.low and difference.high <= tolerance:
        return Verdict.AGREE
    if difference.low > tolerance or difference.high < -tolerance:
        return Verdict.DIFFER
    return Verdict.INCONCLUSIVE
