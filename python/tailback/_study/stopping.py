"""Seeds until a mean is known well enough.

Method: the sequential procedure for a relative error of Law, Simulation Modeling and Analysis (5th ed., 2015), section 9.4.1.
With n seeds, mean m and half width h of the interval of Student's t, stop once h / |m| <= w / (1 + w), where w is the relative
width asked for: the error of the estimate then is at most w of the true mean in about as many cases as the interval's
confidence says. The interval is asymptotically valid (Chow and Robbins, Annals of Mathematical Statistics 36(2), 1965); Law
advises n >= 10 and w <= 0.15.

Differs: seeds are added in rounds, at most twice as many and as many as the interval so far asks for, instead of one at a time,
so that workers have something to do; `rounds` says when. Each decision looks at seeds 1 to n of its point and at nothing else, so
that a study that was interrupted takes the same decisions as one that was not.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

from tailback._interval import Interval
from tailback._quantity import quantity_of
from tailback.errors import ParameterError

__all__ = ["Until", "until"]


@dataclass(frozen=True)
class Until:
    """A quantity, and how well its mean is to be known.

    Attributes
    ----------
    quantity : str
        As `Quantity` has it.
    width : float
        Half width of the 95 % interval, as a share of the mean.
    """

    quantity: str
    width: float

    def reached(self, values: Sequence[float]) -> bool:
        """Whether the mean of these values is known well enough."""
        return self.share(values) <= self._goal

    def needed(self, values: Sequence[float]) -> int | None:
        """About how many seeds would do, if more have the mean and the deviation of these; None if no number helps."""
        share = self.share(values)
        return math.ceil(len(values) * (share / self._goal) ** 2) if math.isfinite(share) else None

    def seeds(self, values: Sequence[float], most: int) -> int:
        """How many seeds there should be: as many as there are if that is enough, or no number helps."""
        known = len(values)
        share = self.share(values)
        if share <= self._goal or math.isnan(share) or known >= most:
            return known
        wanted = known * (share / self._goal) ** 2 if math.isfinite(share) else math.inf
        return min(most, math.ceil(min(2 * known, max(known + 1, wanted))))

    @property
    def _goal(self) -> float:
        return self.width / (1 + self.width)

    def share(self, values: Sequence[float]) -> float:
        """Half width over mean; NaN where a run has no such number, or there are fewer than two."""
        if len(values) < 2 or any(math.isnan(value) for value in values):
            return math.nan
        interval = Interval.of(values)
        return 0.0 if interval.half == 0 else interval.half / abs(interval.mean) if interval.mean else math.inf


def until(text: str) -> Until:
    """What a text such as ``goodput:2%`` asks for.

    Raises
    ------
    ParameterError
        Shows the text, and what would fit.
    """
    match = re.fullmatch(r"\s*([\w*.-]+)\s*:\s*(\d+(?:\.\d+)?)\s*%\s*", text) if isinstance(text, str) else None
    expected = "expected QUANTITY:WIDTH% such as `goodput:2%` or `queues.bottleneck.utilisation:1%`"
    if match is None:
        raise ParameterError(f"`{text}` is not a goal; {expected}")
    asked = Until(quantity_of(match[1]).name, float(match[2]) / 100)
    if not 0 < asked.width < 1:
        raise ParameterError(f"a width of {match[2]} %; expected more than 0 % and less than 100 %")
    return asked
