"""Requirements on the confidence interval of a claim, and the number of seeds that decides whether they are met."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean, stdev
from typing import TYPE_CHECKING, Literal, TypeAlias

from tailback._arguments import arguments_checked
from tailback._interval import UNBOUNDED, Interval, Range, student_t

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["LEVEL", "MAX_SEEDS", "Finding", "Inequality", "Requirement", "Value", "decided_by"]

Finding: TypeAlias = Literal["holds", "depends", "contradicted", "cannot tell"]

# Confidence level for claims: a page judges about a hundred claims, so several 95 % intervals would miss by chance.
LEVEL = 0.999
# Maximum number of seeds that `decided_by` considers.
MAX_SEEDS = 1000


@arguments_checked
@dataclass(frozen=True)
class Inequality:
    """Holds if the whole interval satisfies the inequality, and is contradicted if none of it does."""

    sign: Literal[">", ">=", "<", "<="]
    bound: float

    def judge(self, interval: Interval) -> Finding:
        """The finding for an interval; an unknown interval (NaN) is undecided."""
        low, high, bound = interval.low, interval.high, self.bound
        above, below = {
            ">": (low > bound, high <= bound),
            ">=": (low >= bound, high < bound),
            "<": (low >= bound, high < bound),
            "<=": (low > bound, high <= bound),
        }[self.sign]
        if not above and not below:
            return "cannot tell"
        return "holds" if above == (self.sign in (">", ">=")) else "contradicted"

    def holds(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """1 for each value that satisfies the inequality, otherwise 0."""
        compare = {">": values > self.bound, ">=": values >= self.bound, "<": values < self.bound, "<=": values <= self.bound}
        return compare[self.sign].astype(float)

    def __str__(self) -> str:
        sign = {">=": "\N{GREATER-THAN OR EQUAL TO}", "<=": "\N{LESS-THAN OR EQUAL TO}"}.get(self.sign, self.sign)
        return f"{sign} {self.bound:g}"


@arguments_checked
@dataclass(frozen=True)
class Value:
    """Holds if the whole interval is within `tolerance` of the value, and is contradicted if none of it is."""

    value: float
    tolerance: float

    def judge(self, interval: Interval) -> Finding:
        """The finding for an interval; an unknown interval (NaN) is undecided."""
        least, most = self.value - self.tolerance, self.value + self.tolerance
        if least <= interval.low and interval.high <= most:
            return "holds"
        return "contradicted" if interval.high < least or interval.low > most else "cannot tell"

    def __str__(self) -> str:
        return f"{self.value:g} \N{PLUS-MINUS SIGN} {self.tolerance:g}" if self.tolerance else f"{self.value:g}"


Requirement: TypeAlias = Inequality | Value


def decided_by(values: Sequence[float], must: Requirement, within: Range = UNBOUNDED) -> int | None:
    """Least number of seeds that decides the claim, assuming the mean and deviation of the given values, which have this range.

    None if `MAX_SEEDS` are not enough or a value is unknown. One for a single value, because the measure is deterministic.
    """
    if len(values) == 1:
        return 1
    if not all(map(math.isfinite, values)):
        return None
    mean, deviation = fmean(values), stdev(values)

    def decides(seeds: int) -> bool:
        half = student_t(seeds - 1, LEVEL) * deviation / math.sqrt(seeds)
        return must.judge(Interval(mean, half, within)) != "cannot tell"

    if not decides(MAX_SEEDS):
        return None
    return bisect_left(range(2, MAX_SEEDS), True, key=decides) + 2
