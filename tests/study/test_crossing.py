"""The search for a crossing, without simulations: exact and noisy curves, in any direction."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pytest

import tailback as tb
from tailback._study.crossing import Crossing
from tailback._study.span import span
from tailback.statistics import Bounds


def searched(
    curve: Callable[[float], float], target: float, ends: Any = (1, 2000), noise: float = 0.0, seed: int = 1
) -> Crossing:
    """A finished search; means have normal errors with this standard error."""
    crossing, draws = Crossing(span("x", ends), target), random.Random(seed)
    while due := crossing.following():
        for index in due:
            assert index not in crossing.known
            mean = curve(float(crossing.span.numbers[index])) + draws.gauss(0, noise)
            crossing.known[index] = Bounds(mean, mean - 1.96 * noise, mean + 1.96 * noise)
        assert len(crossing.known) < 60
    return crossing


def value(crossing: Crossing) -> Any:
    return crossing.span.value(crossing.answer)


@pytest.mark.parametrize("target", [0.02, 0.3, 0.8, 0.98, 0.9999])
@pytest.mark.parametrize("sign", [1, -1])
def test_an_exact_curve_is_crossed_at_the_first_value_that_reaches_the_target(target: float, sign: int) -> None:
    found = searched(lambda x: sign * (1 - math.exp(-x / 60)), sign * target)
    first = next(number for number in found.span.numbers if 1 - math.exp(-float(number) / 60) >= target)
    assert found.span.numbers[found.answer] == first
    assert found.interval in ((found.answer, found.answer), (None, found.answer))
    assert (found.outside, found.reversal, found.is_rising) == (None, None, sign > 0)


def test_a_smooth_curve_takes_few_steps() -> None:
    assert len(searched(lambda x: math.sqrt(x), 17.3, (1, 999)).known) < 14


@pytest.mark.parametrize("ends", [(1, 2), (1, 3), (0, 1), (-5, 5), (0.0, 1.0), ("1 ms", "2 s")])
def test_any_range_can_be_searched(ends: Any) -> None:
    low, high = (float(end.number) for end in (span("x", ends).low, span("x", ends).high))
    found = searched(lambda x: x, 0.3 * low + 0.7 * high, ends)
    assert found.span.numbers[found.answer] >= Decimal(str(0.3 * low + 0.7 * high))
    assert found.span.numbers[found.answer - 1] < Decimal(str(0.3 * low + 0.7 * high))


def test_the_interval_covers_the_crossing_as_often_as_that_of_a_mean() -> None:
    covered, within = 0, 0
    for seed in range(400):
        found = searched(lambda x: 1 - math.exp(-x / 60), 0.8, noise=0.01, seed=seed)
        low, high = found.interval
        assert low is not None
        assert high is not None
        numbers = found.span.numbers
        # The exact crossing is at 96.57, so that the answer is 97.
        covered += numbers[low] <= 97 <= numbers[high]
        within += abs(numbers[found.answer] - 97) <= 12
    assert covered / 400 > 0.93
    assert within / 400 > 0.9


@pytest.mark.parametrize(("target", "side"), [(0.5, "below"), (3.0, "above")])
def test_a_target_outside_the_range_is_reported_after_the_first_values(target: float, side: str) -> None:
    found = searched(lambda x: 1 + x / 2000, target)
    assert (found.outside, found.reversal, len(found.known)) == (side, None, 5)


@pytest.mark.parametrize(
    ("curve", "target", "is_outside"),
    [
        # A hump between two low ends, a trough between two high ones, and three crossings.
        (lambda x: math.exp(-((math.log(x / 45)) ** 2)), 0.5, True),
        (lambda x: -math.exp(-((math.log(x / 45)) ** 2)), -0.5, True),
        (lambda x: math.log(x) + 4 * math.sin(math.log(x) * 2), 4.0, False),
    ],
)
def test_a_curve_that_is_not_monotonic_is_reported(curve: Callable[[float], float], target: float, is_outside: bool) -> None:
    found = searched(curve, target)
    assert found.reversal is not None
    first, second = (curve(float(found.span.numbers[index])) for index in found.reversal)
    assert (first >= target > second) if found.is_rising else (first <= target < second)
    assert (found.outside is not None) == is_outside


def test_noise_is_not_reported_as_a_reversal() -> None:
    reported = sum(
        searched(lambda x: 1 - math.exp(-x / 60), 0.8, noise=0.01, seed=seed).reversal is not None for seed in range(400)
    )
    assert reported < 12


def test_values_between_the_ends_have_three_digits_and_the_units_of_the_ends() -> None:
    found = span("x", ("1 packet", "2000 packets"))
    assert [found.value(index) for index in (0, 1, len(found) - 2, len(found) - 1)] == [
        "1 packet",
        "2 packets",
        "1990 packets",
        "2000 packets",
    ]
    assert len(found) == 1100
    times = span("x", ("900 us", "1.2 s"))
    assert {times.value(index).split()[1] for index in range(len(times))} == {"us", "ms", "s"}
    assert "1.01 ms" in [times.value(index) for index in range(len(times))]
    assert span("x", (1, 10)).value(4) == 5
    assert span("x", (0.5, 0.9)).value(1) == 0.501
    assert span("x", ("1 B", "9 B")).value(4) == "5 B"
    assert span("x", ("10 %", "20 %")).value(1) == "10.1 %"


@pytest.mark.parametrize(
    "ends",
    [
        "1 packet",
        ("1 packet",),
        (1, 2, 3),
        (2, 1),
        (1, 1),
        ("1 packet", "1 ms"),
        (1, "2 packets"),
        (True, 2),
        ("x", "y"),
        (1, math.inf),
    ],
)
def test_a_range_that_is_none_is_refused_with_its_setting(ends: Any) -> None:
    with pytest.raises(tb.ParameterError, match=r"`links\.a\.delay` has"):
        span("links.a.delay", ends)
