"""What the interval of a claim's values has to fulfil, and how many seeds it takes to say whether it does."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean, stdev
from typing import Literal, TypeAlias

from tailback._interval import Interval, student_t

__all__ = ["LEVEL", "MAX_SEEDS", "Finding", "Inequality", "Requirement", "Value", "decided_by"]

Finding: TypeAlias = Literal["holds", "contradicted", "cannot tell"]

# Of intervals by which claims are judged: a page judges about a hundred claims, so that with 95 % some would be luck.
LEVEL = 0.999
# `decided_by` looks no further.
MAX_SEEDS = 1000


@dataclass(frozen=True)
class Inequality:
    """Holds when the whole interval lies on its side of the bound, and is contradicted when the whole lies on the other."""

    sign: Literal[">", ">=", "<", "<="]
    bound: float

    def judge(self, interval: Interval) -> Finding:
        """What the interval says; one that is not known (NaN) cannot tell."""
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

    def __str__(self) -> str:
        sign = {">=": "\N{GREATER-THAN OR EQUAL TO}", "<=": "\N{LESS-THAN OR EQUAL TO}"}.get(self.sign, self.sign)
        return f"{sign} {self.bound:g}"


@dataclass(frozen=True)
class Value:
    """Holds when the whole interval lies within `tolerance` of the value, and is contradicted when the whole lies outside."""

    value: float
    tolerance: float

    def judge(self, interval: Interval) -> Finding:
        """What the interval says; one that is not known (NaN) cannot tell."""
        least, most = self.value - self.tolerance, self.value + self.tolerance
        if least <= interval.low and interval.high <= most:
            return "holds"
        return "contradicted" if interval.high < least or interval.low > most else "cannot tell"

    def __str__(self) -> str:
        return f"{self.value:g} \N{PLUS-MINUS SIGN} {self.tolerance:g}" if self.tolerance else f"{self.value:g}"


Requirement: TypeAlias = Inequality | Value


def decided_by(values: Sequence[float], must: Requirement) -> int | None:
    """The least number of seeds that decides, if more of them have the mean and the deviation of these.

    None if `MAX_SEEDS` do not, and where a value is not known. One if there is but one value: nothing is random.
    """
    if len(values) == 1:
        return 1
    if not all(map(math.isfinite, values)):
        return None
    mean, deviation = fmean(values), stdev(values)

    def decides(seeds: int) -> bool:
        half = student_t(seeds - 1, LEVEL) * deviation / math.sqrt(seeds)
        return must.judge(Interval(mean, half)) != "cannot tell"

    if not decides(MAX_SEEDS):
        return None
    return bisect_left(range(2, MAX_SEEDS), True, key=decides) + 2
