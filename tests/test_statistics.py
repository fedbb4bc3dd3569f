"""Statistics of one run and of skewed values: numbers worked by hand, and compared with SciPy."""

from __future__ import annotations

import math
import warnings

import numpy as np
import pytest
import scipy.stats

import tailback as tb
from tailback._interval import student_t
from tailback.statistics import batch_means, bootstrap, mser5

# One value per seed, skewed like completion times.
# Multiples of a quarter: means of others are rounded, and SciPy's comparison with the mean then depends on the unit.
SKEWED = [1.0, 1.25, 1.5, 1.75, 2.0, 2.5, 3.5, 9.0]


class TestWarmUp:
    def test_a_transient_is_cut_where_the_standard_error_is_smallest(self) -> None:
        # Batch means: 0, 4, 8 and then 9, 11 in turn, twenty in all. With d of 20 batches discarded, the sum of squares over n^2:
        # d = 3, 17 remain: nine 9s and eight 11s, squares 9 * 8 / 17 * 2^2 = 16.94, over 289: 0.0586.
        # d = 4, 16 remain, eight of each: squares 16, over 256: 0.0625. d = 2 includes the 8: squares
        # 16.94 + 17/18 * (8 - 9.94)^2 = 20.5, over 324: 0.0633. So three batches of five are discarded.
        steady = [9, 11] * 8 + [9]
        values = [value for mean in [0, 4, 8, *steady] for value in [mean] * 5]
        found = mser5(values)
        assert (found.discard, found.settled) == (15, True)
        assert found.mean == pytest.approx(169 / 17)

    def test_a_steady_run_loses_nothing(self) -> None:
        assert mser5([2, 4, 6, 8, 10] * 10) == tb.statistics.WarmUp(discard=0, mean=6.0, settled=True)

    def test_a_growing_run_has_not_settled(self) -> None:
        # A line: n values of step 1 have squares n (n^2 - 1) / 12, over n^2 about n / 12, which is smallest for the smallest n.
        found = mser5(range(100))
        assert (found.discard, found.settled) == (50, False)

    def test_values_that_fill_no_batch_are_ignored(self) -> None:
        assert mser5([1.0] * 50 + [1000.0] * 4).mean == 1.0

    def test_a_running_sum_of_squares_is_that_of_each_rest(self) -> None:
        values = 1e6 + np.random.default_rng(7).normal(size=1000) + 20 * np.exp(-np.arange(1000) / 40)
        means = values.reshape(-1, 5).mean(axis=1)
        errors = [means[first:].var() / (len(means) - first) for first in range(101)]
        assert mser5(values).discard == 5 * int(np.argmin(errors)) > 0


class TestBatchMeans:
    def test_the_interval_is_that_of_the_batch_means(self) -> None:
        # Batches of two with means 1, 2, 1, 2, ...: mean 1.5, squares 10 / 4, deviation sqrt(2.5 / 9).
        found = batch_means([0, 2, 1, 3] * 5, batches=10)
        assert (found.interval.mean, found.batches, found.size) == (1.5, 10, 2)
        assert found.interval.half == pytest.approx(student_t(9) * math.sqrt(2.5 / 9 / 10))
        # Nine pairs of neighbours, each product -1/4, over 10/4.
        assert found.correlation == pytest.approx(-0.9)
        assert not found.correlated

    def test_correlated_batches_are_reported(self) -> None:
        # Means 0 five times and 1 five times: eight products 1/4 and one -1/4, over 10/4: 0.7.
        # Ends (1/4 + 1/4) / (2 * 10/4) = 0.1; times sqrt(99 / 8) = 3.52: 2.81, beyond 1.645.
        found = batch_means([0] * 10 + [1] * 10, batches=10)
        assert found.correlation == pytest.approx(0.7)
        assert found.correlated

    def test_values_that_fill_no_batch_are_ignored(self) -> None:
        assert batch_means([1.0] * 29 + [50.0], batches=14).interval.mean == 1.0

    def test_it_covers_the_mean_of_a_process_with_memory(self) -> None:
        # x' = 0.5 x + noise has mean 0. About 190 of 200 intervals should cover it; the 99.9 % limit of binomial(200, 0.95) is
        # 178.
        draw = np.random.default_rng(3)
        covered = 0
        for _ in range(200):
            value, values = 0.0, []
            for noise in draw.normal(size=1000).tolist():
                value = 0.5 * value + noise
                values.append(value)
            interval = batch_means(values).interval
            covered += interval.low <= 0 <= interval.high
        assert covered >= 178


@pytest.mark.filterwarnings("ignore::tailback.IntervalWarning")
class TestBootstrap:
    @pytest.mark.parametrize("method", ["bca", "percentile"])
    def test_it_agrees_with_scipy_draw_for_draw(self, method: str) -> None:
        theirs = scipy.stats.bootstrap((SKEWED,), np.mean, n_resamples=9999, method=method, rng=np.random.default_rng(5))
        ours = bootstrap(SKEWED, seed=5, method=method)  # type: ignore[arg-type]
        assert ours.mean == pytest.approx(sum(SKEWED) / 8)
        assert (ours.low, ours.high) == pytest.approx(tuple(theirs.confidence_interval), rel=1e-6)

    def test_of_two_values_the_plain_interval_is_both(self) -> None:
        # Means of two draws from 0 and 1 are 0, 0.5 and 1 in 1, 2 and 1 of 4 cases: both ends have more than 2.5 %.
        assert bootstrap([0, 1], seed=1, method="percentile") == tb.statistics.Bounds(0.5, 0.0, 1.0)

    def test_skewed_values_have_the_longer_side_where_the_tail_is(self) -> None:
        found = bootstrap(SKEWED, seed=1)
        assert found.high - found.mean > found.mean - found.low > 0

    def test_the_seed_determines_the_results(self) -> None:
        assert bootstrap(SKEWED, seed=1) == bootstrap(SKEWED, seed=1) != bootstrap(SKEWED, seed=2)

    def test_the_unit_does_not_matter(self) -> None:
        # Resampled means of the original values in another order are neither above nor below their mean.
        highs = [bootstrap([unit * value for value in (1, 1, 1, 1, 2)], seed=1).high / unit for unit in (1, 0.1, 0.7, 1e-9, 3e8)]
        assert highs == pytest.approx([highs[0]] * 5, rel=1e-12)

    def test_a_warning_says_that_it_needs_many_values(self) -> None:
        with pytest.warns(tb.IntervalWarning, match="of 19 values is too narrow; use at least 20, or Student's t"):
            bootstrap(range(19), seed=1)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            bootstrap(range(20), seed=1)

    def test_equal_values_have_an_interval_of_width_0(self) -> None:
        assert bootstrap([3.0] * 5, seed=1) == tb.statistics.Bounds(3.0, 3.0, 3.0)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: mser5([1.0] * 49), "`values` has 49 values; expected at least 50"),
        (lambda: mser5([1.0] * 30 + [math.nan] + [1.0] * 30), r"`values\[30\]` is nan; expected a finite number"),
        (lambda: mser5("many words"), "`values` is 'many words'; expected numbers"),  # type: ignore[arg-type]
        (lambda: batch_means([1.0] * 39), "`values` has 39 values; expected at least 40"),
        (lambda: batch_means([1.0] * 100, batches=9), "`batches` is 9; expected an integer, at least 10"),
        (lambda: bootstrap([1.0], seed=1), "`values` has 1 values; expected at least 2"),
        (lambda: bootstrap([1.0, 2.0], seed=-1), "`seed` is -1; expected an integer, at least 0"),
        (lambda: bootstrap([1.0, 2.0], seed=1, resamples=10), "`resamples` is 10; expected an integer, at least 1000"),
        (lambda: bootstrap([1.0, 2.0], seed=1, method="bc"), "`method` is 'bc'; expected `bca` or `percentile`"),  # type: ignore[arg-type]
    ],
)
def test_invalid_parameters_are_named(call: object, message: str) -> None:
    assert callable(call)
    with pytest.raises(tb.ParameterError, match=message):
        call()
