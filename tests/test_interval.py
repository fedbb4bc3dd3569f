"""Means with intervals, compared with SciPy and by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest
import scipy.stats

from tailback._interval import Interval, student_t
from tailback._tables.quantity import quantity_of


@pytest.mark.parametrize("freedom", [1, 2, 3, 5, 9, 10, 29, 100])
def test_student_agrees_with_scipy(freedom: int) -> None:
    assert student_t(freedom) == pytest.approx(scipy.stats.t.ppf(0.975, freedom), rel=1e-9)
    assert student_t(freedom, 0.999) == pytest.approx(scipy.stats.t.ppf(0.9995, freedom), rel=1e-9)


def test_an_interval_by_hand() -> None:
    # Mean 2, standard deviation 1, t(2) = 4.3027: 4.3027 / sqrt(3).
    interval = Interval.of([1.0, 2.0, 3.0])
    assert interval.mean == 2.0
    assert interval.half == pytest.approx(2.48414, abs=1e-5)


def test_the_interval_of_a_share_stays_between_0_and_1() -> None:
    # Mean 0.9, deviation 0.1, t(2) = 4.3027: half is 0.24841, and 2.7602 on the scale of the logit, where the mean is 2.19722.
    interval = Interval.of([0.8, 0.9, 1.0], within=(0, 1))
    assert interval.half == pytest.approx(0.248414, abs=1e-6)
    assert (interval.low, interval.high) == pytest.approx((1 / (1 + math.exp(0.56293)), 1 / (1 + math.exp(-4.95737))), abs=1e-5)
    # Mirrored at 1/2, and scaled.
    mirrored, scaled = Interval.of([0.2, 0.1, 0.0], within=(0, 1)), Interval.of([80, 90, 100], within=(0, 100))
    assert (1 - mirrored.high, 1 - mirrored.low) == pytest.approx((interval.low, interval.high))
    assert (scaled.low / 100, scaled.high / 100) == pytest.approx((interval.low, interval.high))


def test_an_interval_of_a_count_does_not_go_below_zero() -> None:
    values = [0.0, 0.0, 1.0, 9.0]
    interval = Interval.of(values, within=(0, math.inf))
    plain = Interval.of(values)
    assert plain.low < 0 < interval.low < interval.mean < plain.high < interval.high
    # Symmetric on the scale of the logarithm.
    assert interval.low * interval.high == pytest.approx(interval.mean**2)
    assert Interval.of([0.0, 0.0], within=(0, math.inf)).low == 0


@pytest.mark.parametrize(
    ("quantity", "lowest"),
    [("sum(flows.*.timeouts)", 0), ("queues.x.drops / 2 + 1", 0), ("queues.x.drops - 3", -math.inf), ("-goodput", -math.inf)],
)
def test_a_quantity_knows_whether_it_can_be_negative(quantity: str, lowest: float) -> None:
    assert quantity_of(quantity).range[0] == lowest


def test_an_interval_within_its_range_is_that_of_student() -> None:
    values = [0.5, 0.52, 0.51]
    assert Interval.of(values, within=(0, 1)).low == Interval.of(values).low
    # Values outside show that the range is that of another quantity.
    assert Interval.of([0.2, 1.4], within=(0, 1)).low == Interval.of([0.2, 1.4]).low


@pytest.mark.parametrize("values", [[1.0, 1.0], [0.0, 1.0], [1.0, 1.0 - 1e-16], [0.0, 5e-324], [1e-300, 1.0], [0.0, 0.0, 1e-9]])
@pytest.mark.parametrize("level", [0.95, 0.999])
def test_extreme_shares_have_an_interval_around_their_mean(values: list[float], level: float) -> None:
    interval = Interval.of(values, level, within=(0, 1))
    assert 0 <= interval.low <= interval.mean <= interval.high <= 1


@pytest.mark.parametrize(("mean", "beta"), [(0.95, (1.9, 0.1)), (0.02, (0.2, 9.8)), (0.9, (9.0, 1.0))])
def test_the_interval_of_skewed_shares_covers_their_mean_more_often_than_one_cut_at_the_ends(
    mean: float, beta: tuple[float, float]
) -> None:
    random = np.random.default_rng(1)
    samples = random.beta(*beta, size=(2000, 5)).tolist()
    intervals = [(Interval.of(values), Interval.of(values, within=(0, 1))) for values in samples]
    plain, bounded = (sum(each.low <= mean <= each.high for each in column) for column in zip(*intervals, strict=True))
    assert bounded >= plain
    assert all(each.low >= 0 and each.high <= 1 for _, each in intervals)
