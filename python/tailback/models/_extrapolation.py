"""The extrapolation method: predict a network that is too large to simulate from smaller ones with the same rate per flow.

If packets arrive as a Poisson process, utilisation and loss depend only on the rate per flow (cui-thesis, equation (3.4)), so
both converge as link rate and number of flows grow together. `fit` fits a curve to simulated results, `Fit.predict` extrapolates
it, and `poisson_check` tests whether packets arrive as a Poisson process; the method is not valid otherwise.
`tailback.prediction.scaled` creates the family of networks, `sending_intervals` returns the intervals of a run.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from tailback._arguments import arguments_checked
from tailback.errors import ParameterError, UnknownName

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["Extrapolation", "Fit", "PoissonCheck", "extrapolate", "fit", "poisson_check"]

Form: TypeAlias = Literal["constant", "line", "hyperbola"]

_PARAMETERS = {"constant": 1, "line": 2, "hyperbola": 3}
# Intervals per block: enough to test a distribution, but few enough that negligible deviations do not fail the test.
_BLOCK = 200
_FEWEST_BLOCKS = 10
# Two-sided 5 % quantile of the normal distribution.
_NORMAL = 1.959963984540054
# 5 % critical value of A^2 (1 + 0.6 / n) for an exponential distribution with estimated mean.
_ANDERSON_DARLING = 1.321
# Golden section.
_SECTION = (math.sqrt(5) - 1) / 2


@arguments_checked
@dataclass(frozen=True)
class Fit:
    """A least-squares fit of a curve.

    Attributes
    ----------
    form : str
        ``constant`` a, ``line`` a + b x, or ``hyperbola`` a + b / (x - c) with a pole c below all points.
    parameters : tuple of float
        a, b, c, as many as the form has.
    standard_error : float
        Square root of the sum of squared residuals divided by the degrees of freedom; NaN without degrees of freedom.
    correlation : float
        Square root of the explained share of the variance, 0 to 1; NaN for a constant.
    covariance : tuple of tuples of float
        Covariance of the parameters, linearised at the fit; NaN without degrees of freedom.
    points : int
        Number of points.
    """

    form: Form
    parameters: tuple[float, ...]
    standard_error: float
    correlation: float
    covariance: tuple[tuple[float, ...], ...]
    points: int

    def at(self, x: float) -> float:
        """Value of the curve at `x`."""
        a, b, c = (*self.parameters, 0.0, 0.0)[:3]
        if self.form == "hyperbola":
            return a + b / (x - c)
        return a + b * x

    def predict(self, x: float) -> Extrapolation:
        """Value of the curve at `x`, with its standard error from the covariance of the parameters."""
        if not math.isfinite(x):
            raise ParameterError(f"`x` is {x}; expected a finite number")
        gradient = _gradient(self.form, self.parameters, x)
        variance = sum(
            one * other * self.covariance[row][column]
            for row, one in enumerate(gradient)
            for column, other in enumerate(gradient)
        )
        return Extrapolation(self.at(x), math.sqrt(max(variance, 0.0)) if not math.isnan(variance) else math.nan, self)


@dataclass(frozen=True)
class Extrapolation:
    """A value of a fitted curve.

    Attributes
    ----------
    value, standard_error : float
        The mean at this x and its standard error; the scatter of single points is `fit.standard_error`.
    fit : Fit
    """

    value: float
    standard_error: float
    fit: Fit


@dataclass(frozen=True)
class PoissonCheck:
    """Result of a test whether intervals come from a Poisson process.

    Attributes
    ----------
    holds : bool
        Whether they are exponential and independent.
    exponential, independent : bool
        Results of the two parts of the test.
    blocks : int
        Number of tested blocks, of 200 intervals each.
    exponential_blocks, independent_blocks : int
        Number of blocks that passed each part at the 5 % level.
    positive_blocks : int
        Number of blocks in which neighbouring intervals are positively correlated.
    mean_s, variation : float
        Mean, and coefficient of variation (1 for an exponential distribution), of all intervals.
    """

    holds: bool
    exponential: bool
    independent: bool
    blocks: int
    exponential_blocks: int
    independent_blocks: int
    positive_blocks: int
    mean_s: float
    variation: float

    def __str__(self) -> str:
        verdict = "are" if self.holds else "are not"
        return (
            f"arrivals {verdict} a Poisson process: {self.exponential_blocks} of {self.blocks} blocks have exponential and "
            f"{self.independent_blocks} independent intervals, where {round(0.95 * self.blocks)} are expected by chance; "
            f"neighbours are positively correlated in {self.positive_blocks}; coefficient of variation {self.variation:.3g}"
        )


@arguments_checked
def fit(x: Sequence[float] | NDArray[Any], y: Sequence[float] | NDArray[Any], form: Form = "hyperbola") -> Fit:
    """Fit a curve to points by least squares.

    Parameters
    ----------
    x, y : sequence of float
        Finite values, with at least as many different x as the form has parameters (1, 2, 3).
    form : str
        ``"constant"``, ``"line"`` or ``"hyperbola"``, a + b / (x - c) with c below all x.

    Raises
    ------
    ParameterError
        There are too few points, or the points do not approach a limit as a hyperbola does; a line fits better then.

    References
    ----------
    cui-thesis, section 3.3.2. Golub and Pereyra, SIAM J. Numer. Anal. 10(2), 1973: the best a and b follow from c, so only c is
    searched.

    Examples
    --------
    >>> from tailback.models import fit
    >>> curve = fit([0.4, 0.8, 1.6, 2.4, 6, 10], [0.877, 0.774, 0.735, 0.723, 0.710, 0.707])
    >>> round(curve.predict(40).value, 3)
    0.703
    """
    import numpy as np

    if form not in _PARAMETERS:
        raise UnknownName("form of curve", form, _PARAMETERS)
    xs, ys = _points(x, y, form)
    if form == "hyperbola":
        pole = _pole(xs, ys)
        parameters: tuple[float, ...] = (*_linear(1 / (xs - pole), ys), pole)
    else:
        parameters = _linear(xs, ys) if form == "line" else (float(ys.mean()),)
    gradients = np.array([_gradient(form, parameters, float(place)) for place in xs])
    fitted = gradients[:, 0] * parameters[0] + (gradients[:, 1] * parameters[1] if len(parameters) > 1 else 0.0)
    residuals = float(((ys - fitted) ** 2).sum())
    total = float(((ys - ys.mean()) ** 2).sum())
    spare = len(xs) - len(parameters)
    variance = residuals / spare if spare else math.nan
    covariance = variance * np.linalg.pinv(gradients.T @ gradients)
    return Fit(
        form=form,
        parameters=tuple(float(value) for value in parameters),
        standard_error=math.sqrt(variance),
        correlation=math.sqrt(max(0.0, 1 - residuals / total)) if total and form != "constant" else math.nan,
        covariance=tuple(tuple(float(value) for value in row) for row in covariance),
        points=len(xs),
    )


@arguments_checked
def extrapolate(
    x: Sequence[float] | NDArray[Any],
    y: Sequence[float] | NDArray[Any],
    at: float,
    *,
    form: Form = "hyperbola",
    intervals_s: Sequence[float] | NDArray[Any],
) -> Extrapolation:
    """Extrapolate utilisation, or the logarithm of the loss, to a network that is too large to simulate.

    Raises an error if packets do not arrive as a Poisson process.

    Parameters
    ----------
    x, y : sequence of float
        Bit rates, and the results at each, with the number of flows proportional to the rate.
    at : float
        Bit rate of the prediction.
    form : str
        As in `fit`.
    intervals_s : sequence of float
        Intervals between the packets of all senders in the largest simulated network, in seconds.

    Raises
    ------
    ParameterError
        As for `fit`; also if `poisson_check` fails.

    References
    ----------
    cui-thesis, section 3.3: valid for paced flows with single losses, as long as packets arrive as a Poisson process.
    """
    check = poisson_check(intervals_s)
    if not check.holds:
        raise ParameterError(f"{check}. Utilisation and loss then depend on more than the rate per flow, and need not converge")
    return fit(x, y, form).predict(at)


@arguments_checked
def poisson_check(intervals_s: Sequence[float] | NDArray[Any]) -> PoissonCheck:
    """Test whether packets arrive as a Poisson process.

    Blocks of 200 successive intervals are tested separately, so that negligible deviations do not fail a long run: for an
    exponential distribution by Anderson and Darling with the block's mean, for independence by the lag-1 correlation. Each test
    passes 95 % of the blocks of a Poisson process; the number of passes must be consistent with this, and the sign of the
    correlations with 50 %.

    Parameters
    ----------
    intervals_s : sequence of float
        At least 2000 values, >= 0; values at the end that do not fill a block are ignored.

    References
    ----------
    Paxson and Floyd, Wide-Area Traffic: The Failure of Poisson Modeling, IEEE/ACM ToN 3(3), 1995, appendix A: the method.
    Stephens in D'Agostino and Stephens, Goodness-of-Fit Techniques, 1986, table 4.14: the critical value.

    Examples
    --------
    >>> import numpy as np
    >>> from tailback.models import poisson_check
    >>> random = np.random.default_rng(1)
    >>> poisson_check(random.exponential(0.001, 10_000)).holds, poisson_check(np.full(10_000, 0.001)).holds
    (True, False)
    """
    import numpy as np

    intervals = np.asarray(intervals_s, dtype=float)
    least = _BLOCK * _FEWEST_BLOCKS
    if intervals.ndim != 1 or len(intervals) < least:
        raise ParameterError(f"`intervals_s` has shape {intervals.shape}; expected one axis of at least {least} intervals")
    if not np.isfinite(intervals).all() or intervals.min() < 0 or intervals.max() == 0:
        raise ParameterError("`intervals_s` has invalid values; expected finite intervals of at least 0, not all 0")
    blocks = intervals[: len(intervals) // _BLOCK * _BLOCK].reshape(-1, _BLOCK)
    correlations = _neighbours(blocks)
    exponential_blocks = int((_anderson_darling(blocks) <= _ANDERSON_DARLING).sum())
    independent_blocks = int((abs(correlations) <= _NORMAL / math.sqrt(_BLOCK)).sum())
    positive_blocks = int((correlations > 0).sum())
    count = len(blocks)
    exponential = exponential_blocks >= _fewest_by_chance(count, 0.95, 0.05)
    side = _fewest_by_chance(count, 0.5, 0.025)
    independent = independent_blocks >= _fewest_by_chance(count, 0.95, 0.05) and side <= positive_blocks <= count - side
    mean = float(intervals.mean())
    return PoissonCheck(
        holds=exponential and independent,
        exponential=exponential,
        independent=independent,
        blocks=count,
        exponential_blocks=exponential_blocks,
        independent_blocks=independent_blocks,
        positive_blocks=positive_blocks,
        mean_s=mean,
        variation=float(intervals.std()) / mean,
    )


def _points(x: Any, y: Any, form: Form) -> tuple[NDArray[Any], NDArray[Any]]:
    import numpy as np

    xs, ys = np.asarray(x, dtype=float), np.asarray(y, dtype=float)
    if xs.ndim != 1 or xs.shape != ys.shape:
        raise ParameterError(f"`x` has shape {xs.shape} and `y` {ys.shape}; expected two sequences of one length")
    if not (np.isfinite(xs).all() and np.isfinite(ys).all()):
        raise ParameterError("`x` or `y` has numbers that are not finite")
    different = len(np.unique(xs))
    if different < _PARAMETERS[form]:
        raise ParameterError(f"there are {different} different `x`; expected at least {_PARAMETERS[form]} for a {form}")
    return xs, ys


def _linear(x: NDArray[Any], y: NDArray[Any]) -> tuple[Any, Any]:
    """Intercept and slope of the best line, for each row of `x`."""
    middle = x.mean(axis=-1, keepdims=True)
    centred = x - middle
    slope = (centred * y).sum(axis=-1) / (centred**2).sum(axis=-1)
    return y.mean() - slope * middle[..., 0], slope


def _pole(x: NDArray[Any], y: NDArray[Any]) -> float:
    """The c of the best hyperbola: a grid search over eleven decades of distance from the lowest point, then golden section."""
    import numpy as np

    lowest, spread = float(x.min()), float(np.ptp(x))

    def squares(*exponents: float) -> NDArray[Any]:
        inverse = 1 / (x - lowest + spread * np.array([[10**exponent] for exponent in exponents]))
        a, b = _linear(inverse, y)
        return np.asarray(((y - a[:, None] - b[:, None] * inverse) ** 2).sum(axis=1))

    grid = np.linspace(-8, 3, 111)
    best = int(np.argmin(squares(*grid)))
    if best == len(grid) - 1:
        # A pole at a thousand times the range of the points is a line.
        raise ParameterError("the points do not approach a limit; expected the form `line`")
    low, high = float(grid[max(best - 1, 0)]), float(grid[best + 1])
    while high - low > 1e-10:
        one, other = high - _SECTION * (high - low), low + _SECTION * (high - low)
        left, right = squares(one, other)
        low, high = (low, other) if left <= right else (one, high)
    return lowest - spread * 10 ** ((low + high) / 2)


def _gradient(form: Form, parameters: Sequence[float], x: float) -> tuple[float, ...]:
    """Partial derivatives of the curve at `x` with respect to its parameters."""
    if form == "constant":
        return (1.0,)
    if form == "line":
        return (1.0, x)
    _, b, c = parameters
    return (1.0, 1 / (x - c), b / (x - c) ** 2)


def _anderson_darling(blocks: NDArray[np.float64]) -> NDArray[np.float64]:
    """A^2 (1 + 0.6 / n) of each row, against an exponential distribution with the row's mean."""
    import numpy as np

    n = blocks.shape[1]
    scaled = np.sort(blocks, axis=1) / np.maximum(blocks.mean(axis=1, keepdims=True), np.finfo(float).tiny)
    # ln F = ln(1 - exp(-x)), ln(1 - F) = -x. ln F of an interval of 0 is infinite and is replaced by that of a tiny interval.
    below = np.log(-np.expm1(-np.maximum(scaled, 1e-300)))
    weights = 2 * np.arange(1, n + 1) - 1
    statistic = -n - (weights * (below - scaled[:, ::-1])).mean(axis=1)
    return np.asarray(statistic * (1 + 0.6 / n))


def _neighbours(blocks: NDArray[np.float64]) -> NDArray[np.float64]:
    """Lag-1 correlation of each row; 1 if all intervals are equal."""
    import numpy as np

    centred = blocks - blocks.mean(axis=1, keepdims=True)
    variance = (centred**2).sum(axis=1)
    products = (centred[:, 1:] * centred[:, :-1]).sum(axis=1)
    same = variance <= 1e-24 * (blocks**2).sum(axis=1)
    return np.where(same, 1.0, products / np.where(same, 1.0, variance))


def _fewest_by_chance(trials: int, chance: float, tail: float) -> int:
    """The smallest count at which the cumulative binomial probability exceeds `tail`."""
    ln_all = math.lgamma(trials + 1)
    below = 0.0
    for count in range(trials + 1):
        ln_ways = ln_all - math.lgamma(count + 1) - math.lgamma(trials - count + 1)
        below += math.exp(ln_ways + count * math.log(chance) + (trials - count) * math.log1p(-chance))
        if below > tail:
            return count
    return trials
