"""Statistics of a single long run, and of values that are not normal: warm-up detection, batch means, bootstrap.

Values of a single run are equally spaced in time, for example the rows of one flow in the trace ``throughput``, and may be
correlated. Values for `bootstrap` must be independent, for example one per seed. Results are in the unit of the values.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise
from statistics import NormalDist, fmean
from typing import TYPE_CHECKING, Literal

from tailback._arguments import arguments_checked
from tailback._interval import Interval
from tailback.errors import IntervalWarning, ParameterError, warn

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["BatchMeans", "Bounds", "Interval", "WarmUp", "batch_means", "bootstrap", "mser5"]

# White, Cobb and Spratt: means of five values each.
_BATCH = 5
# The standard error of fewer batch means is not reliable.
_FEWEST_MSER = 10
# Schmeiser: 10 to 30 batches; with fewer the interval is wide and its width uncertain.
_FEWEST_BATCHES = 10
_FEWEST_RESAMPLES = 1000
# Below, intervals of skewed values contain the mean less often than Student's t.
_FEWEST_BOOTSTRAPPED = 20
# Size of a block of random numbers, so that memory does not grow with the number of resamples.
_DRAWN = 1 << 20


@dataclass(frozen=True)
class WarmUp:
    """The estimated end of a run's warm-up.

    Attributes
    ----------
    discard : int
        Number of values to discard at the beginning, a multiple of five.
    mean : float
        Mean of the remaining values that fill batches of five.
    settled : bool
        False if the estimate is the last candidate, the middle of the run: the run is not stationary and should be longer.
    """

    discard: int
    mean: float
    settled: bool


@dataclass(frozen=True)
class BatchMeans:
    """The mean of a run with a confidence interval from batch means.

    Attributes
    ----------
    interval : Interval
        Mean and half width of the 95 % interval by Student's t.
    batches, size : int
        Number of batches, and number of values in each.
    correlation : float
        Correlation of neighbouring batch means, -1 to 1; NaN if all are equal.
    correlated : bool
        Whether the correlation is significant at the 5 % level. The interval is then too narrow: the run should be longer, or the
        batches fewer.
    """

    interval: Interval
    batches: int
    size: int
    correlation: float
    correlated: bool


@dataclass(frozen=True)
class Bounds:
    """A mean and its 95 % interval, which need not be symmetric."""

    mean: float
    low: float
    high: float


@arguments_checked
def mser5(values: Iterable[float]) -> WarmUp:
    """Estimate the end of a run's warm-up by the truncation with the smallest standard error of the mean.

    MSER-5 averages the values in batches of five and discards the first d batch means. It chooses d, at most half of the batches,
    such that the sum of squared deviations of the n others, divided by n^2, is smallest.

    Parameters
    ----------
    values : sequence or array of float
        Values of one run, equally spaced in time, at least 50. Up to four values at the end that fill no batch are ignored.

    Raises
    ------
    ParameterError
        There are too few values, or a value is not a finite number.

    References
    ----------
    White, An effective truncation heuristic for bias reduction in simulation output, Simulation 69(6), 1997; White, Cobb and
    Spratt, A comparison of five steady-state truncation heuristics for simulation, WSC 2000.

    Examples
    --------
    >>> import tailback as tb
    >>> tb.statistics.mser5([0] * 10 + [8, 9, 10, 11, 12] * 10)
    WarmUp(discard=10, mean=10.0, settled=True)
    """
    known = _numbers(values, _BATCH * _FEWEST_MSER)
    means = _means(known, len(known) // _BATCH, _BATCH)
    last = len(means) // 2
    best, place, mean_there = math.inf, last, math.nan
    # Backwards, so that each step adds one value to a running mean and a running sum of squares (Welford 1962).
    mean = squares = 0.0
    for first in range(len(means) - 1, -1, -1):
        count = len(means) - first
        deviation = means[first] - mean
        mean += deviation / count
        squares += deviation * (means[first] - mean)
        if first <= last and squares / count**2 <= best:
            best, place, mean_there = squares / count**2, first, mean
    return WarmUp(_BATCH * place, mean_there, place < last)


@arguments_checked
def batch_means(values: Iterable[float], batches: int = 20) -> BatchMeans:
    """The mean of one long run with its 95 % confidence interval, from the means of consecutive batches.

    Discard the warm-up first (`mser5`). Neighbouring batch means should not be correlated; von Neumann's ratio tests this.

    Parameters
    ----------
    values : sequence or array of float
        Values of one run, equally spaced in time. Values at the end that fill no batch are ignored.
    batches : int
        Number of batches: at least 10, at most half the number of values.

    Raises
    ------
    ParameterError
        There are too few batches or values, or a value is not a finite number.

    References
    ----------
    Law, Simulation Modeling and Analysis (5th ed., 2015), section 9.5.3; Schmeiser, Operations Research 30(3), 1982 (10 to 30
    batches); Fishman, Management Science 24(5), 1978 (the test).

    Examples
    --------
    >>> import tailback as tb
    >>> found = tb.statistics.batch_means([1, 3, 3, 1, 3, 5, 5, 3] * 10, batches=10)
    >>> found.interval.mean, found.interval.half, found.size
    (3.0, 0.0, 8)
    """
    if not isinstance(batches, int) or isinstance(batches, bool) or batches < _FEWEST_BATCHES:
        raise ParameterError(f"`batches` is {batches!r}; expected an integer, at least {_FEWEST_BATCHES}")
    known = _numbers(values, 2 * batches)
    size = len(known) // batches
    means = _means(known, batches, size)
    interval = Interval.of(means)
    correlation, correlated = _correlation(means)
    return BatchMeans(interval, batches, size, correlation, correlated)


@arguments_checked
def bootstrap(
    values: Iterable[float], *, seed: int, method: Literal["bca", "percentile"] = "bca", resamples: int = 9999
) -> Bounds:
    """The mean of independent values with its 95 % confidence interval, by bootstrap.

    Unlike Student's t it does not assume normal or symmetric values, but it needs many: with 3, 5, 10 and 20 values of an
    exponential distribution, 70, 80, 88 and 90 % of 2,000 such intervals contained the mean, and
    88, 89, 90 and 90 % of those of Student's t (`Interval.of`).

    Parameters
    ----------
    values : sequence or array of float
        Independent values, for example one per seed; at least two.
    seed : int
        Seed of NumPy's default generator, >= 0; the same seed gives the same interval.
    method : "bca" or "percentile"
        Corrected for bias and skewness, or plain quantiles.
    resamples : int
        Number of resamples, at least 1000.

    Raises
    ------
    ParameterError
        There are too few values or resamples, a value is not a finite number, or there is no such method.

    Warns
    -----
    IntervalWarning
        There are fewer than 20 values.

    References
    ----------
    Efron and Tibshirani, An Introduction to the Bootstrap (1993), sections 13.3 and 14.3.

    Examples
    --------
    >>> import tailback as tb
    >>> found = tb.statistics.bootstrap([1, 2, 3, 4, 20] * 4, seed=1)
    >>> found.mean - found.low < found.high - found.mean
    True
    """
    if method not in ("bca", "percentile"):
        raise ParameterError(f"`method` is {method!r}; expected `bca` or `percentile`")
    if not isinstance(resamples, int) or isinstance(resamples, bool) or resamples < _FEWEST_RESAMPLES:
        raise ParameterError(f"`resamples` is {resamples!r}; expected an integer, at least {_FEWEST_RESAMPLES}")
    if not isinstance(seed, int) or isinstance(seed, bool) or seed < 0:
        raise ParameterError(f"`seed` is {seed!r}; expected an integer, at least 0")
    known = _numbers(values, 2)
    if len(known) < _FEWEST_BOOTSTRAPPED:
        few = f"a bootstrap interval of {len(known)} values is too narrow"
        warn(IntervalWarning(f"{few}; use at least {_FEWEST_BOOTSTRAPPED}, or Student's t"))
    mean = fmean(known)
    if min(known) == max(known):
        return Bounds(mean, mean, mean)
    import numpy as np

    means = _resampled(known, resamples, seed)
    levels = [0.025, 0.975]
    if method == "bca":
        # Means of the same values in another order differ by rounding, whose direction would depend on the unit.
        equal = np.abs(means - mean) <= len(known) * np.finfo(float).eps * max(map(abs, known))
        levels = _corrected(levels, known, below=float(np.mean(np.where(equal, 0.5, means < mean))))
    low, high = np.quantile(means, levels)
    return Bounds(mean, float(low), float(high))


def _resampled(values: list[float], resamples: int, seed: int) -> NDArray[np.float64]:
    """Means of resamples with replacement, of the same size as the values."""
    import numpy as np

    data, draw = np.array(values), np.random.default_rng(seed)
    step = max(1, _DRAWN // len(values))
    parts = [
        data[draw.integers(0, len(values), (min(step, resamples - begin), len(values)))].mean(axis=1)
        for begin in range(0, resamples, step)
    ]
    return np.concatenate(parts)


def _corrected(levels: list[float], values: list[float], below: float) -> list[float]:
    """The corrected quantile levels of BCa: Efron and Tibshirani, (14.10), (14.14) and, for a mean, (14.15)."""
    normal = NormalDist()
    mean = fmean(values)
    cubes = math.fsum((value - mean) ** 3 for value in values)
    squares = math.fsum((value - mean) ** 2 for value in values)
    bias, acceleration = normal.inv_cdf(below), cubes / (6 * squares**1.5)
    shifted = [bias + normal.inv_cdf(level) for level in levels]
    return [normal.cdf(bias + shift / (1 - acceleration * shift)) for shift in shifted]


def _means(values: list[float], batches: int, size: int) -> list[float]:
    return [fmean(values[place * size : (place + 1) * size]) for place in range(batches)]


def _correlation(means: list[float]) -> tuple[float, bool]:
    """Lag-1 correlation, and whether it is significant at 5 %, one-sided: von Neumann's ratio as a standard normal (Fishman)."""
    middle, count = fmean(means), len(means)
    deviations = [mean - middle for mean in means]
    squares = math.fsum(deviation**2 for deviation in deviations)
    if squares == 0:
        return math.nan, False
    correlation = math.fsum(one * next for one, next in pairwise(deviations)) / squares
    ends = (deviations[0] ** 2 + deviations[-1] ** 2) / (2 * squares)
    score = math.sqrt((count**2 - 1) / (count - 2)) * (correlation + ends)
    return correlation, score > NormalDist().inv_cdf(0.95)


def _numbers(values: Iterable[float], fewest: int) -> list[float]:
    """The values as finite floats, at least `fewest` of them."""
    try:
        known = [float(value) for value in values]
    except (TypeError, ValueError):
        raise ParameterError(f"`values` is {_short(values)}; expected numbers") from None
    for place, value in enumerate(known):
        if not math.isfinite(value):
            raise ParameterError(f"`values[{place}]` is {value}; expected a finite number")
    if len(known) < fewest:
        raise ParameterError(f"`values` has {len(known)} values; expected at least {fewest}")
    return known


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 40 else f"{text[:37]}..."
