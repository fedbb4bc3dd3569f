"""Fair shares: by hand, by their definitions, and compared with SciPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.optimize import LinearConstraint, linprog, minimize

from tailback.allocation import max_min, proportional
from tailback.errors import ParameterError, UnknownName


def test_a_parking_lot() -> None:
    routes = [[0, 1, 2], [0], [1], [2]]
    np.testing.assert_allclose(max_min(routes, [1.0] * 3).rates, [0.5] * 4)
    np.testing.assert_allclose(proportional(routes, [1.0] * 3).rates, [0.25, 0.75, 0.75, 0.75])
    np.testing.assert_allclose(proportional(routes, [1.0] * 3).prices, [4 / 3] * 3)


def test_links_may_have_names_and_be_arrays() -> None:
    by_name = max_min([["left", "right"], ["right"]], {"right": 10, "left": 2})
    assert by_name.rates.tolist() == [2.0, 8.0]
    # Bottlenecks are indices into `capacities`.
    assert by_name.bottlenecks.tolist() == [1, 0]
    assert max_min(np.array([[0, 1], [1, 1]]), np.array([2, 10])).rates.tolist() == [2.0, 4.0]


def test_weights_are_parts_of_a_link() -> None:
    assert max_min([[0], [0]], [8], [1, 3]).rates.tolist() == [2.0, 6.0]
    np.testing.assert_allclose(proportional([[0], [0]], [8], np.array([1, 3])).rates, [2.0, 6.0])


def test_no_flows_share_nothing() -> None:
    assert max_min([], []).rates.shape == (0,)
    assert proportional([], [1.0]).prices.tolist() == [0.0]


@pytest.mark.parametrize("share", [max_min, proportional])
@pytest.mark.parametrize(
    ("routes", "capacities", "weights", "text"),
    [
        ([[0]], [0], None, "the capacity of link 0 is 0; expected a number from 1e-9 to 1e18"),
        ([["a"]], {"a": float("nan")}, None, "the capacity of link `a` is NaN; expected a number from 1e-9 to 1e18"),
        ([[0]], ["fast"], None, "the capacity of link 0 is 'fast'; expected a number"),
        ([[0]], [1], [0], "the weight of flow 0 is 0; expected a number from 1e-6 to 1e6"),
        ([[0]], [1], [None], "the weight of flow 0 is None; expected a number"),
        ([[0]], [1], [1, 1], "there are 2 weights; expected one for each of 1 flows"),
        ([[0], []], [1], None, "flow 1 crosses no link, so that its rate is unlimited; expected at least one link"),
        ([[1]], [1], None, "flow 0 crosses link 1; expected one of the 1 links, counted from 0"),
        ([[-1]], [1], None, "the route of flow 0 is [-1]; expected indices of links, from 0"),
        ([[0.5]], [1], None, "the route of flow 0 is [0.5]; expected indices of links, from 0"),
        (["ab"], {"ab": 1}, None, "the route of flow 0 is 'ab'; expected a list of links"),
        ([0], [1], None, "the route of flow 0 is 0; expected a list of links"),
    ],
)
def test_invalid_links_and_flows_are_named(share: Any, routes: Any, capacities: Any, weights: Any, text: str) -> None:
    with pytest.raises(ParameterError) as caught:
        share(routes, capacities, weights)
    assert str(caught.value) == text


def test_an_unknown_link_is_named() -> None:
    with pytest.raises(UnknownName, match="no link `lefft`; expected one of `left`, `right`; did you mean `left`"):
        max_min([["lefft"]], {"left": 1, "right": 1})
    with pytest.raises(UnknownName):
        max_min([[["left"]]], {"left": 1})


@pytest.mark.parametrize("seed", range(10))
def test_scipy_finds_the_same(seed: int) -> None:
    routes, capacities, weights, crossing = drawn(seed, flows=12, links=6)
    # The minimum rate is the largest that all flows can have at the same time.
    level = linprog([-1.0], crossing @ weights[:, None], capacities).x[0]
    assert (max_min(routes, capacities, weights).rates / weights).min() == pytest.approx(level)
    start = capacities.min() / len(routes) / 2
    found = minimize(
        lambda rates: -weights @ np.log(rates),
        np.full(len(routes), start),
        jac=lambda rates: -weights / rates,
        method="SLSQP",
        bounds=[(start / 1e3, None)] * len(routes),
        constraints=[LinearConstraint(crossing, -np.inf, capacities)],
        options={"ftol": 1e-13, "maxiter": 1000},
    )
    # The solver stops when it makes no progress, and may report that as a failure; the rates show whether it is one.
    np.testing.assert_allclose(proportional(routes, capacities, weights).rates, found.x, rtol=1e-4)


def test_hundreds_of_flows_satisfy_the_definitions() -> None:
    routes, capacities, weights, crossing = drawn(1, flows=500, links=50)
    filled = max_min(routes, capacities, weights)
    level = filled.rates / weights
    assert (crossing @ filled.rates <= capacities * (1 + 1e-9)).all()
    for flow, link in enumerate(filled.bottlenecks):
        assert crossing[link, flow]
        assert crossing[link] @ filled.rates == pytest.approx(capacities[link])
        assert level[crossing[link] > 0].max() == pytest.approx(level[flow])
    fair = proportional(routes, capacities, weights)
    assert (fair.prices >= 0).all()
    assert (crossing @ fair.rates <= capacities * (1 + 1e-6)).all()
    np.testing.assert_allclose(weights / fair.rates, crossing.T @ fair.prices)
    np.testing.assert_allclose(fair.prices * (capacities - crossing @ fair.rates), 0, atol=1e-6)
    assert weights @ np.log(fair.rates) > weights @ np.log(filled.rates)


def drawn(
    seed: int, flows: int, links: int
) -> tuple[list[list[int]], NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Routes, capacities, weights, and which link (row) each flow (column) crosses."""
    random = np.random.default_rng(seed)
    routes = [random.choice(links, size=random.integers(1, 5), replace=False).tolist() for _ in range(flows)]
    crossing = np.zeros((links, flows))
    for flow, route in enumerate(routes):
        crossing[route, flow] = 1
    return routes, random.uniform(1, 10, links), random.uniform(0.5, 2, flows), crossing
