"""Stopping rule: add seeds until the confidence interval of a mean is narrow enough.

Method: the sequential procedure for a relative error of Law, Simulation Modeling and Analysis (5th ed., 2015), section 9.4.1.
With n seeds, mean m and half width h of the interval by Student's t, stop when h / |m| <= w / (1 + w), where w is the requested
relative width. The error of the estimate is then at most w of the true mean with about the confidence of the interval. The
interval is asymptotically valid (Chow and Robbins, Annals of Mathematical Statistics 36(2), 1965); Law recommends n >= 10 and
w <= 0.15.

Differs: seeds are added in batches instead of one at a time, to keep workers busy. A batch at most doubles the number of seeds,
and is not larger than the current interval requires; see `seed_batches`. Each decision depends only on seeds 1 to n of its point,
so an interrupted study makes the same decisions as an uninterrupted one.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

from tailback._interval import Interval
from tailback._tables.quantity import quantity_of
from tailback.errors import ParameterError

__all__ = ["StoppingRule", "until"]


@dataclass(frozen=True)
class StoppingRule:
    """A quantity and the target width of its interval.

    Attributes
    ----------
    quantity : str
        Name of a `Quantity`.
    width : float
        Half width of the 95 % interval, as a share of the mean.
    """

    quantity: str
    width: float

    def reached(self, values: Sequence[float]) -> bool:
        """Whether the interval of the mean is narrow enough."""
        return self.share(values) <= self._goal

    def needed(self, values: Sequence[float]) -> int | None:
        """Estimated number of seeds for the target, given the mean and the deviation of these values; None if impossible."""
        share = self.share(values)
        return math.ceil(len(values) * (share / self._goal) ** 2) if math.isfinite(share) else None

    def seeds(self, values: Sequence[float], most: int) -> int:
        """The next number of seeds; the current number if that is enough or the target is impossible."""
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
        """Half width divided by mean; NaN if a value is missing or there are fewer than two values."""
        if len(values) < 2 or any(math.isnan(value) for value in values):
            return math.nan
        interval = Interval.of(values)
        return 0.0 if interval.half == 0 else interval.half / abs(interval.mean) if interval.mean else math.inf


def until(text: str) -> StoppingRule:
    """Parse a text such as ``goodput:2%``.

    Raises
    ------
    ParameterError
        The text is not valid; the message shows the text and the expected form.
    """
    match = re.fullmatch(r"\s*([^:]*[^:\s])\s*:\s*(\d+(?:\.\d+)?)\s*%\s*", text) if isinstance(text, str) else None
    expected = "expected QUANTITY:WIDTH%, for example `goodput:2%` or `queues.bottleneck.utilisation:1%`"
    if match is None:
        raise ParameterError(f"`{text}` is not a target width; {expected}")
    asked = StoppingRule(quantity_of(match[1]).name, float(match[2]) / 100)
    if not 0 < asked.width < 1:
        raise ParameterError(f"a width of {match[2]} %; expected more than 0 % and less than 100 %")
    return asked
