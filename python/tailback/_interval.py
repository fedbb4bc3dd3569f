"""The mean over seeds and its confidence interval."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from statistics import fmean, stdev
from typing import TypeAlias

from tailback._arguments import arguments_checked

__all__ = ["UNBOUNDED", "Interval", "Range", "student_t"]

Range: TypeAlias = tuple[float, float]
"""The lowest and the highest possible value of a quantity."""

UNBOUNDED: Range = (-math.inf, math.inf)
# exp overflows beyond.
_MAX_EXPONENT = 700.0


@arguments_checked
@dataclass(frozen=True)
class Interval:
    """Mean and half width of a confidence interval by Student's t; 95 % by default.

    `within` are the lowest and the highest possible value, for example (0, 1) for a utilisation and (0, inf) for a count. Where
    mean and half width would leave this range, which is a sign of skewed values, `low` and `high` are computed on the scale of
    the logit, or of the logarithm where only one end is finite.
    """

    mean: float
    half: float
    within: Range = UNBOUNDED

    @classmethod
    def of(cls, values: Sequence[float], level: float = 0.95, within: Range = UNBOUNDED) -> Interval:
        """The interval of at least two independent values, one per seed. NaN if any value is not finite."""
        if not all(map(math.isfinite, values)):
            return cls(math.nan, math.nan)
        # A quantity with other values has been given the range of another one.
        bounded = within[0] <= min(values) and max(values) <= within[1]
        half = student_t(len(values) - 1, level) * stdev(values) / math.sqrt(len(values))
        return cls(fmean(values), half, within if bounded else UNBOUNDED)

    @property
    def low(self) -> float:
        """Lower end."""
        return self._ends[0]

    @property
    def high(self) -> float:
        """Upper end."""
        return self._ends[1]

    @property
    def is_symmetric(self) -> bool:
        """Whether both ends have the distance `half` from the mean."""
        low, high = self.mean - self.half, self.mean + self.half
        return not (math.isfinite(self.half) and (low < self.within[0] or high > self.within[1]))

    def text(self, digits: int, scale: float = 1.0) -> str:
        """Mean and half width, ``0.93 ± 0.02``; or mean and ends, ``0.98 (0.91 to 0.99)``, if the interval is not symmetric."""
        mean, half, low, high = (f"{scale * each:.{digits}f}" for each in (self.mean, self.half, self.low, self.high))
        return f"{mean} ± {half}" if self.is_symmetric else f"{mean} ({low} to {high})"

    @property
    def _ends(self) -> tuple[float, float]:
        """The t interval of logit(mean), with the standard error by the delta method, as for proportions in surveys.

        Source: method `xlogit` of svyciprop in the R package survey (T. Lumley), and of SUDAAN and SPSS Complex Samples.
        """
        low, high = self.mean - self.half, self.mean + self.half
        if self.is_symmetric:
            return low, high
        least, most = self.within
        if math.isinf(most):
            above = self.mean - least
            factor = math.exp(min(self.half / above, _MAX_EXPONENT)) if above > 0 else 1.0
            return least + above / factor, least + above * factor
        share = (self.mean - least) / (most - least)
        if share * (1 - share) == 0:
            # The values differ from an end of the range by rounding.
            return max(low, least), min(high, most)
        half = self.half / (most - least) / (share * (1 - share))
        ends = (share / (share + (1 - share) * math.exp(min(side * half, _MAX_EXPONENT))) for side in (1, -1))
        low, high = (least + (most - least) * end for end in ends)
        return low, high


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
