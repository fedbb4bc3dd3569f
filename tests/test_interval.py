"""Means with intervals, compared with SciPy and by hand."""

from __future__ import annotations

import pytest
import scipy.stats

from tailback._interval import Interval, student_t


@pytest.mark.parametrize("freedom", [1, 2, 3, 5, 9, 10, 29, 100])
def test_student_agrees_with_scipy(freedom: int) -> None:
    assert student_t(freedom) == pytest.approx(scipy.stats.t.ppf(0.975, freedom), rel=1e-9)
    assert student_t(freedom, 0.999) == pytest.approx(scipy.stats.t.ppf(0.9995, freedom), rel=1e-9)


def test_an_interval_by_hand() -> None:
    # Mean 2, standard deviation 1, t(2) = 4.3027: 4.3027 / sqrt(3).
    interval = Interval.of([1.0, 2.0, 3.0])
    assert interval.mean == 2.0
    assert interval.half == pytest.approx(2.48414, abs=1e-5)
