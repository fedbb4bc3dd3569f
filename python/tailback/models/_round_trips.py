"""Means of the RTTs of many flows, from a list or a distribution."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tailback import _core
from tailback._arguments import arguments_checked
from tailback.errors import ParameterError, UnknownName

__all__ = ["RoundTrips", "round_trips"]

# Parameters of each distribution, and their form in messages.
_DISTRIBUTIONS = {
    "lognormal": (("median", "sigma"), "{'median': m, 'sigma': s}"),
    "pareto": (("mean", "shape"), "{'mean': m, 'shape': a}"),
    "uniform": (("low", "high"), "[low, high]"),
}


@dataclass(frozen=True)
class RoundTrips:
    """Means of the RTTs of many flows.

    Attributes
    ----------
    harmonic_s : float
        Harmonic mean: the common RTT with which flows that follow the square-root law would have the same total rate.
    mean_s : float
        Arithmetic mean.
    max_s : float
        Maximum; infinite for an unbounded distribution.
    """

    harmonic_s: float
    mean_s: float
    max_s: float


@arguments_checked
def round_trips(rtt_s: float | Sequence[float] | Mapping[str, Any]) -> RoundTrips:
    """Means of the RTTs of many flows, from a list or a distribution.

    Parameters
    ----------
    rtt_s : float, sequence of float or mapping
        RTTs in seconds, > 0: one for all flows, one per flow, or a distribution as in a scenario: ``{"uniform": [low, high]}``,
        ``{"lognormal": {"median": m, "sigma": s}}`` or ``{"pareto": {"mean": m, "shape": a}}`` with a shape above 1.

    Raises
    ------
    ParameterError
        An RTT is not above 0. An exponential distribution is not valid because its harmonic mean is 0.

    References
    ----------
    Y. Cui, Three problems in TCP performance analysis and congestion management, section 3.3.2: ``(b - a) / ln(b / a)``.

    Examples
    --------
    >>> import tailback as tb
    >>> round(tb.models.round_trips({"uniform": [0.06, 0.18]}).harmonic_s, 4)
    0.1092
    """
    if isinstance(rtt_s, Mapping):
        if len(rtt_s) != 1:
            raise ParameterError(f"`rtt_s` is {rtt_s!r}; expected one distribution, for example {{'uniform': [0.06, 0.18]}}")
        [(word, shape)] = rtt_s.items()
        if word == "exponential":
            raise ParameterError("`rtt_s` is exponential, which has a harmonic mean of 0; expected RTTs with a lower bound")
        if word not in _DISTRIBUTIONS:
            raise UnknownName("RTT distribution", word, _DISTRIBUTIONS)
        return _of_distribution(word, shape)
    values = [rtt_s] if isinstance(rtt_s, (int, float)) else list(rtt_s)
    if not values:
        raise ParameterError("`rtt_s` is empty; expected at least one RTT")
    return RoundTrips(*_core.round_trips("list", [_positive("rtt_s", value) for value in values]))


def _of_distribution(word: str, shape: Any) -> RoundTrips:
    names, expected = _DISTRIBUTIONS[word]
    try:
        low, high = shape if word == "uniform" else (shape[name] for name in names)
    except (TypeError, ValueError, KeyError):
        raise ParameterError(f"`rtt_s.{word}` is {shape!r}; expected {expected}") from None
    places = ("rtt_s.uniform", "rtt_s.uniform") if word == "uniform" else [f"rtt_s.{word}.{name}" for name in names]
    first, second = _positive(places[0], low), _positive(places[1], high)
    if word == "uniform" and first > second:
        raise ParameterError(f"`rtt_s.uniform` is {shape!r}; expected the lower bound first")
    if word == "pareto" and second <= 1:
        raise ParameterError(f"`rtt_s.pareto.shape` is {second:g}; expected more than 1, so that there is a mean")
    return RoundTrips(*_core.round_trips(word, [first, second]))


def _positive(name: str, value: Any) -> float:
    number = float(value) if isinstance(value, (int, float)) or hasattr(value, "__float__") else math.nan
    if not (0 < number < math.inf):
        raise ParameterError(f"`{name}` is {value!r}; expected a finite number above 0")
    return number
