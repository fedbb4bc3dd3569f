"""Fair shares of a network's capacity: what an ideal allocation gives to flows that take all they can get.

Which rates are fair is a choice, and the two usual ones are here, exactly: `max_min` gives nobody more where it would take from
somebody who has less; `proportional` maximises the sum of ``w log x`` and so gives less to flows that use more links. Both share
links with capacities among flows with routes and weights, in any one unit of rate. `tailback.Run.optimum` holds a run against
both.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tailback import _core
from tailback.errors import ParameterError, UnknownName

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["MaxMin", "Proportional", "max_min", "proportional"]


@dataclass(frozen=True, eq=False)
class MaxMin:
    """Rates of which none can rise without lowering one that is no higher for its weight.

    Attributes
    ----------
    rates : array of shape (flows,)
        In the unit of the capacities.
    bottlenecks : array of int of shape (flows,)
        The link that holds each flow, by its place in `capacities`: it is full, and no flow on it has more for its weight.
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
        In the unit of the capacities; to about 1e-7 of each.
    prices : array of shape (links,)
        At least 0, in the order of `capacities`: how much the sum of ``w log x`` would grow by a unit of capacity. Where a link
        is not full, 0 or next to it.
    """

    rates: NDArray[np.float64]
    prices: NDArray[np.float64]


def max_min(
    routes: Iterable[Iterable[Any]],
    capacities: Iterable[float] | Mapping[Any, float],
    weights: Iterable[float] | None = None,
) -> MaxMin:
    """Max-min fair rates, by filling the network like water.

    The rate for a weight of 1 rises for all flows together; where a link becomes full, its flows stay, and the others rise on.

    Parameters
    ----------
    routes : sequence of sequences
        For each flow the links that it crosses: keys of `capacities` where that is a mapping, otherwise places in it, from 0. At
        least one for each flow; a link that stands there twice is crossed twice.
    capacities : sequence or mapping
        Of each link, 1e-9 to 1e18 in any unit of rate.
    weights : sequence of float, optional
        Of each flow, 1e-6 to 1e6; 1 if not given. A flow of weight 2 counts as two flows.

    Returns
    -------
    MaxMin
        Rates and bottlenecks.

    Raises
    ------
    ParameterError
        Names the link or the flow that cannot be shared, what was given and what would fit.
    UnknownName
        A route over a link that `capacities`, as a mapping, does not have.

    References
    ----------
    D. Bertsekas and R. Gallager, Data Networks, second edition, 1992, section 6.5.2.

    Examples
    --------
    A long flow over two links of 10 Mbit/s, beside one flow on the first and two on the second:

    >>> import tailback as tb
    >>> tb.allocation.max_min([[0, 1], [0], [1], [1]], [10, 10]).rates.round(3)
    array([3.333, 6.667, 3.333, 3.333])
    """
    import numpy as np

    rates, bottlenecks = _answer(_core.max_min, routes, capacities, weights)
    return MaxMin(np.frombuffer(rates), np.frombuffer(bottlenecks, np.int64))


def proportional(
    routes: Iterable[Iterable[Any]],
    capacities: Iterable[float] | Mapping[Any, float],
    weights: Iterable[float] | None = None,
) -> Proportional:
    """Proportionally fair rates and the prices of the links, by an interior point solver.

    Parameters
    ----------
    routes, capacities, weights
        As of `max_min`. Flows of the same route cost no more time than one, and links that are not full almost none; with 1000
        full links and 10,000 different routes it takes seconds, with 2500 about a minute.

    Returns
    -------
    Proportional
        Rates and prices.

    Raises
    ------
    ParameterError
        As `max_min`; also if the solver does not come near enough, as where capacities differ by many powers of ten.
    UnknownName
        As `max_min`.

    References
    ----------
    F. P. Kelly, A. K. Maulloo and D. K. H. Tan, Rate control for communication networks: shadow prices, proportional fairness and
    stability, J. Oper. Res. Soc. 49, 1998. P. J. Goulart and Y. Chen, Clarabel: an interior-point solver for conic programs with
    quadratic objectives, arXiv:2405.12762, 2024.

    Examples
    --------
    A long flow over two links, each shared with a short one: it gets a third, for it uses twice as much.

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
        raise ParameterError(f"the route of flow {flow} is {route!r}; expected a list of links, even of one")
    links = list(route)
    if place is not None:
        for link in links:
            if not isinstance(link, Hashable) or link not in place:
                raise UnknownName("link", link, map(str, place))
        return [place[link] for link in links]
    try:
        places = [operator.index(link) for link in links]
    except TypeError:
        raise ParameterError(f"the route of flow {flow} is {links}; expected places of links, counted from 0") from None
    # Python would count negative ones from the back.
    if any(not 0 <= link < 2**32 for link in places):
        raise ParameterError(f"the route of flow {flow} is {links}; places of links are counted from 0")
    return places


def _number(value: Any, what: str, of: str, index: int) -> float:
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        raise ParameterError(f"the {what} of {of} {index} is {value!r}; expected a number") from None
