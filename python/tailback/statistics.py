"""Statistics of one long run, and of values that are not normal: warm-up, batch means, bootstrap.

Values of one run follow each other at equal steps, such as the rows of one flow in the trace ``throughput``; they may depend on
each other. Values of `bootstrap` must not: one a seed. Every result is in the unit of the values.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise
from statistics import NormalDist, fmean
from typing import TYPE_CHECKING, Literal

from tailback._interval import Interval
from tailback.errors import ParameterError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["BatchMeans", "Bounds", "Interval", "WarmUp", "batch_means", "bootstrap", "mser5"]

# White, Cobb and Spratt: means of five values each.
_BATCH = 5
# A standard error of fewer batch means says little.
_FEWEST_MSER = 10
# Schmeiser: 10 to 30 batches; with fewer the interval is wide and its width uncertain.
_FEWEST_BATCHES = 10
_FEWEST_RESAMPLES = 1000
# Numbers that are drawn at once, so that memory does not grow with the number of resamples.
_DRAWN = 1 << 20


@dataclass(frozen=True)
class WarmUp:
    """Where a run seems to have settled.

    Attributes
    ----------
    discard : int
        How many values from the front to leave out: a multiple of five.
    mean : float
        Of the others, as far as they fill batches of five.
    settled : bool
        False if the best place is the last that was looked at, the middle of the run: it still changes, and should be longer.
    """

    discard: int
    mean: float
    settled: bool


@dataclass(frozen=True)
class BatchMeans:
    """The mean of a run, and how sure of it we are.

    Attributes
    ----------
    interval : Interval
        Mean and half width of the 95 % interval of Student's t.
    batches, size : int
        How many batches, and values in each.
    correlation : float
        Of neighbouring batch means, -1 to 1; NaN if all are the same.
    correlated : bool
        Whether that is more than independent means would show in 5 % of all cases. The interval is then too narrow: the run
        should be longer, or the batches fewer.
    """

    interval: Interval
    batches: int
    size: int
    correlation: float
    correlated: bool


@dataclass(frozen=True)
class Bounds:
    """A mean and the ends of its 95 % interval, which need not lie at equal distances."""

    mean: float
    low: float
    high: float


def mser5(values: Iterable[float]) -> WarmUp:
    """Where the warm-up of a run ends: the truncation that leaves the smallest standard error of the mean.

    MSER-5: of the means of five values each, leave out the first d so that the sum of squared deviations of the n others, over
    n^2, is smallest; d is at most half of them.

    Parameters
    ----------
    values : sequence or array of float
        Of one run, at equal steps; at least 50. Up to four at the end that fill no batch are left out.

    Raises
    ------
    ParameterError
        Too few values, or one that is no number.

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
    # From the back, so that each truncation is one more value of a running mean and a running sum of squares (Welford 1962).
    mean = squares = 0.0
    for first in range(len(means) - 1, -1, -1):
        count = len(means) - first
        deviation = means[first] - mean
        mean += deviation / count
        squares += deviation * (means[first] - mean)
        if first <= last and squares / count**2 <= best:
            best, place, mean_there = squares / count**2, first, mean
    return WarmUp(_BATCH * place, mean_there, place < last)


def batch_means(values: Iterable[float], batches: int = 20) -> BatchMeans:
    """The mean of one long run and its 95 % interval, from the means of batches that follow each other.

    Leave out the warm-up before (`mser5`). Neighbouring batch means should not be correlated, which von Neumann's ratio tests.

    Parameters
    ----------
    values : sequence or array of float
        Of one run, at equal steps. Those at the end that fill no batch are left out.
    batches : int
        At least 10, and no more than half the number of values.

    Raises
    ------
    ParameterError
        Too few batches or values, or a value that is no number.

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


def bootstrap(
    values: Iterable[float], *, seed: int, method: Literal["bca", "percentile"] = "bca", resamples: int = 9999
) -> Bounds:
    """The mean of independent values and its 95 % interval, from the means of resampled values.

    Unlike Student's t it assumes the values to be neither normal nor symmetric. With fewer than about ten values both are rough.

    Parameters
    ----------
    values : sequence or array of float
        Independent, such as one a seed; at least two.
    seed : int
        Of NumPy's default generator, >= 0: the same seed gives the same interval.
    method : "bca" or "percentile"
        Corrected for bias and skewness, or the plain quantiles.
    resamples : int
        How often to draw, at least 1000.

    Raises
    ------
    ParameterError
        Too few values or resamples, a value that is no number, or no such method.

    References
    ----------
    Efron and Tibshirani, An Introduction to the Bootstrap (1993), sections 13.3 and 14.3.

    Examples
    --------
    >>> import tailback as tb
    >>> found = tb.statistics.bootstrap([1, 2, 3, 4, 20], seed=1)
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
    mean = fmean(known)
    if min(known) == max(known):
        return Bounds(mean, mean, mean)
    import numpy as np

    means = _resampled(known, resamples, seed)
    levels = [0.025, 0.975]
    if method == "bca":
        levels = _corrected(levels, known, below=float(np.mean((means < mean) + 0.5 * (means == mean))))
    low, high = np.quantile(means, levels)
    return Bounds(mean, float(low), float(high))


def _resampled(values: list[float], resamples: int, seed: int) -> NDArray[np.float64]:
    """Means of as many values, drawn with replacement."""
    import numpy as np

    data, draw = np.array(values), np.random.default_rng(seed)
    step = max(1, _DRAWN // len(values))
    parts = [
        data[draw.integers(0, len(values), (min(step, resamples - begin), len(values)))].mean(axis=1)
        for begin in range(0, resamples, step)
    ]
    return np.concatenate(parts)


def _corrected(levels: list[float], values: list[float], below: float) -> list[float]:
    """The levels at which BCa reads the quantiles: Efron and Tibshirani, (14.10), (14.14) and, for a mean, (14.15)."""
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
    """Of neighbours, and whether it is significant at 5 %, one-sided: von Neumann's ratio as a standard normal (Fishman)."""
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
    """The values as finite floats, at least so many."""
    try:
        known = [float(value) for value in values]
    except (TypeError, ValueError):
        raise ParameterError(f"`values` is {_short(values)}; expected numbers") from None
    for place, value in enumerate(known):
        if not math.isfinite(value):
            raise ParameterError(f"`values[{place}]` is {value}; expected a finite number")
    if len(known) < fewest:
        raise ParameterError(f"`values` has {len(known)}; expected at least {fewest}")
    return known


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 40 else f"{text[:37]}..."
