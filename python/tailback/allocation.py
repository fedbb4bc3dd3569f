"""Fair shares of a network's capacity: the rates that an ideal allocation gives to greedy flows.

There are several definitions of fairness. `max_min` increases no rate at the expense of a smaller one; `proportional` maximises
the sum of ``w log x``, which gives less to flows that use more links. Both compute exact rates for flows with routes and weights
on links with capacities, in any one unit of rate. `tailback.Run.fairness` compares a run with both.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tailback import _core
from tailback._arguments import arguments_checked
from tailback.errors import ParameterError, UnknownName

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["MaxMin", "Proportional", "max_min", "proportional"]


@dataclass(frozen=True, eq=False)
class MaxMin:
    """Max-min fair rates: no rate can increase without decreasing one that is not larger relative to its weight.

    Attributes
    ----------
    rates : array of shape (flows,)
        Rates, in the unit of the capacities.
    bottlenecks : array of int of shape (flows,)
        Index of each flow's bottleneck link: it is full, and no flow on it has a larger rate relative to its weight.
    """

    rates: NDArray[np.float64]
    bottlenecks: NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Proportional:
    """Rates that maximise the sum of ``w log x``, and the prices of the links.

    A flow's rate is its weight over the sum of the prices on its route.

    Attributes
    ----------
    rates : array of shape (flows,)
        Rates, in the unit of the capacities, with a relative error of about 1e-7.
    prices : array of shape (links,)
        Link prices, at least 0: the derivative of the sum of ``w log x`` with respect to the capacity. Links that are not full
        have a price of about 0.
    """

    rates: NDArray[np.float64]
    prices: NDArray[np.float64]


@arguments_checked
def max_min(
    routes: Iterable[Iterable[Any]],
    capacities: Iterable[float] | Mapping[Any, float],
    weights: Iterable[float] | None = None,
) -> MaxMin:
    """Max-min fair rates, by progressive filling.

    The rates of all flows increase together in proportion to their weights. When a link becomes full, the rates of its flows are
    fixed, and the others continue to increase.

    Parameters
    ----------
    routes : sequence of sequences
        The links of each flow, at least one: keys of `capacities` if it is a mapping, otherwise indices from 0. A link that is
        listed twice is crossed twice.
    capacities : sequence or mapping
        Capacity of each link, 1e-9 to 1e18 in any unit of rate.
    weights : sequence of float, optional
        Weight of each flow, 1e-6 to 1e6; by default 1. A flow of weight 2 counts as two flows.

    Returns
    -------
    MaxMin
        Rates and bottlenecks.

    Raises
    ------
    ParameterError
        A link or flow is not valid; the message names it, the given value and the valid ones.
    UnknownName
        A route contains a link that is not a key of `capacities`.

    References
    ----------
    D. Bertsekas and R. Gallager, Data Networks, second edition, 1992, section 6.5.2.

    Examples
    --------
    A long flow over two links of 10 Mbit/s, with one other flow on the first and two on the second:

    >>> import tailback as tb
    >>> tb.allocation.max_min([[0, 1], [0], [1], [1]], [10, 10]).rates.round(3)
    array([3.333, 6.667, 3.333, 3.333])
    """
    import numpy as np

    rates, bottlenecks = _answer(_core.max_min, routes, capacities, weights)
    return MaxMin(np.frombuffer(rates), np.frombuffer(bottlenecks, np.int64))


@arguments_checked
def proportional(
    routes: Iterable[Iterable[Any]],
    capacities: Iterable[float] | Mapping[Any, float],
    weights: Iterable[float] | None = None,
) -> Proportional:
    """Proportionally fair rates and the prices of the links.

    Parameters
    ----------
    routes, capacities, weights
        As for `max_min`. Flows with equal routes cost no more time than one, and links that are not full almost none; 1000 full
        links and 10,000 different routes take seconds, 2500 full links about a minute.

    Returns
    -------
    Proportional
        Rates and prices.

    Raises
    ------
    ParameterError
        As for `max_min`; also if the solver does not converge.
    UnknownName
        As for `max_min`.

    References
    ----------
    F. P. Kelly, A. K. Maulloo and D. K. H. Tan, Rate control for communication networks: shadow prices, proportional fairness and
    stability, J. Oper. Res. Soc. 49, 1998.

    Examples
    --------
    A long flow over two links, each shared with a short flow, gets a third, because it uses twice the capacity:

    >>> import tailback as tb
    >>> fair = tb.allocation.proportional([["a", "b"], ["a"], ["b"]], {"a": 3.0, "b": 3.0})
    >>> fair.rates.round(6), fair.prices.round(6)
    (array([1., 2., 2.]), array([0.5, 0.5]))
    """
    import numpy as np

    rates, prices = _answer(_core.proportional, routes, capacities, weights)
    return Proportional(np.frombuffer(rates), np.frombuffer(prices))


_Solver = Callable[[Sequence[Sequence[int]], Sequence[float], Sequence[float], Sequence[str]], tuple[bytes, bytes]]


def _answer(
    solve: _Solver,
    routes: Iterable[Iterable[Any]],
    capacities: Iterable[float] | Mapping[Any, float],
    weights: Iterable[float] | None,
) -> tuple[bytes, bytes]:
    place: dict[Hashable, int] | None = None
    names: list[str] = []
    if isinstance(capacities, Mapping):
        place = {link: index for index, link in enumerate(capacities)}
        names = [str(link) for link in capacities]
        capacities = list(capacities.values())
    crossed = [_route(flow, route, place) for flow, route in enumerate(routes)]
    rates = [_number(value, "capacity", "link", index) for index, value in enumerate(capacities)]
    if weights is None:
        weights = [1.0] * len(crossed)
    return solve(crossed, rates, [_number(value, "weight", "flow", index) for index, value in enumerate(weights)], names)


def _route(flow: int, route: Iterable[Any], place: Mapping[Hashable, int] | None) -> list[int]:
    if isinstance(route, str) or not isinstance(route, Iterable):
        raise ParameterError(f"the route of flow {flow} is {route!r}; expected a list of links")
    links = list(route)
    if place is not None:
        for link in links:
            if not isinstance(link, Hashable) or link not in place:
                raise UnknownName("link", link, map(str, place))
        return [place[link] for link in links]
    try:
        places = [operator.index(link) for link in links]
    except TypeError:
        raise ParameterError(f"the route of flow {flow} is {links}; expected indices of links, from 0") from None
    # Python would count negative indices from the end.
    if any(not 0 <= link < 2**32 for link in places):
        raise ParameterError(f"the route of flow {flow} is {links}; expected indices of links, from 0")
    return places


def _number(value: Any, what: str, of: str, index: int) -> float:
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        raise ParameterError(f"the {what} of {of} {index} is {value!r}; expected a number") from None
