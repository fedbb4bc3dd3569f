"""The mean over seeds and its confidence interval."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from statistics import fmean, stdev

from tailback._arguments import arguments_checked

__all__ = ["Interval", "student_t"]


@arguments_checked
@dataclass(frozen=True)
class Interval:
    """Mean and half width of a confidence interval by Student's t; 95 % by default."""

    mean: float
    half: float

    @classmethod
    def of(cls, values: Sequence[float], level: float = 0.95) -> Interval:
        """The interval of at least two independent values, one per seed. NaN if any value is not finite."""
        if not all(map(math.isfinite, values)):
            return cls(math.nan, math.nan)
        return cls(fmean(values), student_t(len(values) - 1, level) * stdev(values) / math.sqrt(len(values)))

    @property
    def low(self) -> float:
        """Lower end."""
        return self.mean - self.half

    @property
    def high(self) -> float:
        """Upper end."""
        return self.mean + self.half


@cache
def student_t(freedom: int, level: float = 0.95) -> float:
    """The two-sided quantile of Student's t at `level` (up to 0.999) for `freedom` degrees of freedom, at least 1.

    Examples
    --------
    >>> round(student_t(4), 3)
    2.776
    """
    low, high = 0.0, 1000.0
    while high - low > 1e-12 * high:
        middle = (low + high) / 2
        low, high = (middle, high) if _within(middle, freedom) < level else (low, middle)
    return high


def _within(t: float, freedom: int) -> float:
    """P(-t < T < t): Abramowitz and Stegun, Handbook of Mathematical Functions, 26.7.3 and 26.7.4."""
    angle = math.atan(t / math.sqrt(freedom))
    sine, cosine = math.sin(angle), math.cos(angle)
    odd = freedom % 2
    term, total = (cosine if odd else 1.0), 0.0
    for step in range(2 + odd, freedom + 1, 2):
        total += term
        term *= cosine * cosine * (step - 1) / step
    return (angle + sine * total) * 2 / math.pi if odd else sine * total
