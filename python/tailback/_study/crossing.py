"""Where a mean crosses a target: a search that decides by means with intervals, independent of how these are computed.

The answer is the first value from which on the mean has reached the target. Its 95 % interval is the set of values at which the
interval of the mean contains the target (inversion of a test: Casella and Berger, Statistical Inference, 2nd ed., 9.2.1), so that
it covers the crossing with the confidence of the interval of one mean.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass, field
from decimal import Decimal
from itertools import pairwise
from typing import Literal

from tailback._study.span import Span
from tailback.statistics import Bounds

__all__ = ["Crossing"]

# Number of values that are estimated first; those between the ends show whether the mean is monotonic.
_FIRST = 5
# One step in this number is a bisection.
_INTERPOLATIONS = 3
# Values whose means do not differ from the target are not bisected further than to this ratio.
_CLOSE = Decimal("1.05")
# The ends of the interval are located to this share of their distance from the answer, or to this share of the answer.
_SHARE, _FINE = Decimal("0.25"), Decimal("0.02")


@dataclass
class Crossing:
    """A search among the values of a span.

    `known` has the mean and its 95 % interval by index; the ends of the interval equal the mean if it is exact. `rises` tells
    whether the mean rises with the values, if that is known.
    """

    span: Span
    target: float
    rises: bool | None = None
    known: dict[int, Bounds] = field(default_factory=dict)

    def following(self) -> list[int]:
        """Indices to estimate next; empty at the end of the search."""
        if not self.known:
            return self._first()
        if self.outside is not None:
            return []
        low, high = self._bracket
        if high - low > 1 and not self._is_within_noise(low, high):
            return [self._between(low, high, "mean")]
        ends = ("high", "low") if self.is_rising else ("low", "high")
        return sorted({*self._refinement(*self._lower_end, ends[0]), *self._refinement(*self._upper_end, ends[1])})

    @property
    def is_rising(self) -> bool:
        """Whether the mean is larger at the upper end; the target is reached from below then, and otherwise from above."""
        return self.rises if self.rises is not None else self.known[self._last].mean >= self.known[0].mean

    @property
    def outside(self) -> Literal["below", "above"] | None:
        """Whether the crossing is ``below`` or ``above`` the range; None if it is inside."""
        if self._has_reached(0):
            return "below"
        return None if self._has_reached(self._last) else "above"

    @property
    def answer(self) -> int:
        """Index of the first value from which on the mean has reached the target."""
        return self._bracket[1]

    @property
    def interval(self) -> tuple[int | None, int | None]:
        """Indices of the ends of the interval of the answer; None where it extends beyond the range."""
        (below, within), (_, above) = self._lower_end, self._upper_end
        return None if below is None else min(below + 1, within), above

    @property
    def reversal(self) -> tuple[int, int] | None:
        """Two values that contradict a monotonic mean: the first has reached the target, the second one has not.

        Only means whose intervals exclude the target count.
        """
        reached = next((index for index in sorted(self.known) if self._has_surely_reached(index)), None)
        missed = max((index for index in self.known if not self._may_have_reached(index)), default=None)
        return None if reached is None or missed is None or missed < reached else (reached, missed)

    @property
    def _last(self) -> int:
        return len(self.span) - 1

    def _first(self) -> list[int]:
        found = [0, self._last]
        while len(found) < _FIRST:
            halves = [self.span.middle(low, high) for low, high in pairwise(found) if high - low > 1]
            if not halves:
                break
            found = sorted([*found, *halves])
        return found

    def _has_reached(self, index: int) -> bool:
        mean = self.known[index].mean
        return mean >= self.target if self.is_rising else mean <= self.target

    def _has_surely_reached(self, index: int) -> bool:
        """Whether the whole interval of the mean has reached the target."""
        found = self.known[index]
        return found.low >= self.target if self.is_rising else found.high <= self.target

    def _may_have_reached(self, index: int) -> bool:
        """Whether a part of the interval of the mean has reached the target."""
        found = self.known[index]
        return found.high >= self.target if self.is_rising else found.low <= self.target

    @property
    def _bracket(self) -> tuple[int, int]:
        """The last known value that has not reached the target, and the following one."""
        last = max(index for index in self.known if not self._has_reached(index))
        return last, min(index for index in self.known if index > last)

    @property
    def _lower_end(self) -> tuple[int | None, int]:
        """The last known value before the interval of the answer, and the first within it."""
        first = min(index for index in self.known if self._may_have_reached(index))
        return max((index for index in self.known if index < first), default=None), first

    @property
    def _upper_end(self) -> tuple[int, int | None]:
        """The last known value within the interval of the answer, and the first after it."""
        last = max(index for index in self.known if not self._has_surely_reached(index))
        return last, min((index for index in self.known if index > last), default=None)

    def _between(self, low: int, high: int, end: str) -> int:
        """The next index between two others on whose sides of the target the mean, or an end of its interval, is.

        Interpolation is faster on smooth curves, and bisection bounds the number of steps on others.
        """
        if len(self.known) % _INTERPOLATIONS == 0:
            return self.span.middle(low, high)
        before, after = (getattr(self.known[index], end) for index in (low, high))
        numbers, share = self.span.numbers, Decimal((self.target - before) / (after - before))
        return min(max(bisect_left(numbers, numbers[low] + share * (numbers[high] - numbers[low])), low + 1), high - 1)

    def _is_within_noise(self, low: int, high: int) -> bool:
        """Whether neither mean differs from the target, and the values are close."""
        numbers = self.span.numbers
        is_undecided = self._may_have_reached(low) and not self._has_surely_reached(high)
        return is_undecided and numbers[high] <= _CLOSE * numbers[low]

    def _refinement(self, low: int | None, high: int | None, end: str) -> list[int]:
        """The next value between two others around an end of the interval, unless it is known well enough."""
        if low is None or high is None or high - low <= 1:
            return []
        numbers, answer = self.span.numbers, self.span.numbers[self.answer]
        distance = max(answer - numbers[low], numbers[high] - answer)
        enough = max(_SHARE * distance, _FINE * abs(answer))
        return [self._between(low, high, end)] if numbers[high] - numbers[low] > enough else []
