"""Expressions: selection of points, arithmetic by label, reductions and comparisons."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tailback.papers import (
    Claim,
    Inequality,
    Measured,
    Point,
    Value,
    at,
    by_means,
    computed,
    furthest,
    highest,
    lowest,
)

# Goodput by policy and threshold, two seeds; only BPD has a gap.
GOODPUT = {
    ("EPD", 0.5): [3.0, 5.0],
    ("EPD", 0.9): [5.0, 5.0],
    ("BPD", 0.5): [6.0, 6.0],
    ("BPD", 0.9): [8.0, 4.0],
}


def point(policy: str, threshold: float, values: list[float]) -> Point:
    gap = {"gap": 25} if policy == "BPD" else {}
    return Point({"policy": policy, "threshold": threshold, **gap, "printed": values[0]}, {"goodput": np.array(values)})


RESULTS = Measured([point(*labels, values) for labels, values in GOODPUT.items()])
EPD, BPD = at("goodput", policy="EPD"), at("goodput", policy="BPD")


def test_labels_select_one_point_or_several() -> None:
    assert at("goodput", policy="EPD", threshold=0.9)(RESULTS).tolist() == [5, 5]
    assert [dict(row.labels) for row in at("goodput", threshold=(0.5, 0.9), policy="EPD").rows(RESULTS)] == [
        {"threshold": 0.5},
        {"threshold": 0.9},
    ]
    with pytest.raises(LookupError, match=r"2 points: \{'threshold': 0.5\}, \{'threshold': 0.9\}; expected one"):
        EPD(RESULTS)
    with pytest.raises(LookupError, match=r"0 points have \{'policy': 'RED'\}"):
        at("goodput", policy="RED")(RESULTS)


def test_arithmetic_combines_points_with_equal_labels() -> None:
    assert [row.values.tolist() for row in (BPD - EPD).rows(RESULTS)] == [[3, 1], [3, -1]]
    # A label that one side does not have is broadcast; labels in which no points differ are ignored.
    best = BPD / at("goodput", policy="EPD", threshold=0.9)
    assert [row.values.tolist() for row in best.rows(RESULTS)] == [[1.2, 1.2], [1.6, 0.8]]
    with pytest.raises(LookupError, match=r"the point \{'threshold': 0.5\} has no partner"):
        (EPD - at("goodput", policy="BPD", threshold=(0.9, 1.0))).rows(Measured([*RESULTS.points, point("BPD", 1.0, [1, 1])]))


def test_numbers_and_functions_of_labels_are_operands() -> None:
    first = at("goodput", policy="EPD", threshold=0.5)
    assert (1 - first)(RESULTS).tolist() == [-2, -4]
    assert (2 / first + 1)(RESULTS).tolist() == [2 / 3 + 1, 1.4]
    assert (-first * 2 - 1)(RESULTS).tolist() == [-7, -11]
    assert (abs(1 - first) ** 2)(RESULTS).tolist() == [4, 16]
    assert first.log(2)(RESULTS) == pytest.approx(np.log2([3, 5]))
    assert (first * (lambda threshold, printed: threshold + printed))(RESULTS).tolist() == [3 * 3.5, 5 * 3.5]
    assert ((lambda threshold: threshold) - EPD).max()(RESULTS).tolist() == [-2.5, -4.5]


def test_reductions_choose_points_by_their_mean_or_seeds() -> None:
    assert EPD.max("threshold")(RESULTS).tolist() == [5, 5]
    assert EPD.min()(RESULTS).tolist() == [3, 5]
    assert at("goodput").max(each_seed=True)(RESULTS).tolist() == [8, 6]
    assert at("goodput").min(each_seed=True)(RESULTS).tolist() == [3, 4]
    assert EPD.mean()(RESULTS).tolist() == [4, 5]
    assert BPD.sum("threshold")(RESULTS).tolist() == [14, 10]
    assert (EPD - 4.9).furthest()(RESULTS).tolist() == pytest.approx([-1.9, 0.1])
    assert (EPD / 20).furthest(ratio=True)(RESULTS).tolist() == [0.15, 0.25]
    by_policy = at("goodput").max("threshold", "gap")
    assert [(row.labels["policy"], row.values.tolist()) for row in by_policy.rows(RESULTS)] == [("EPD", [5, 5]), ("BPD", [6, 6])]
    with pytest.raises(LookupError, match="no label 'tick'; expected one of 'threshold'"):
        EPD.max("tick")(RESULTS)


def test_steps_are_between_consecutive_points() -> None:
    assert EPD.steps("threshold")(RESULTS).tolist() == [2, 0]


def test_several_expressions_are_reduced_together() -> None:
    one, two = (at("goodput", policy="EPD", threshold=each) for each in (0.5, 0.9))
    assert lowest(one, two)(RESULTS).tolist() == [3, 5]
    assert highest(one, two - 2, each_seed=True)(RESULTS).tolist() == [3, 5]
    assert furthest(one - 5, two - 5)(RESULTS).tolist() == [-2, 0]
    assert computed(lambda results: results.values("goodput", policy="EPD", threshold=0.5) + 1)(RESULTS).tolist() == [4, 6]


def test_a_comparison_is_a_measurement_with_a_requirement() -> None:
    more = BPD.max() > EPD.max()
    assert (more.measured(RESULTS).tolist(), more.must) == ([1, 1], Inequality(">", 0))
    assert [str(each.must) for each in (EPD > 1, EPD < 1)] == ["> 1", "< 1"]
    assert (EPD >= 1).must == Inequality(">=", 1)
    assert (EPD <= 1).must == Inequality("<=", 1)
    assert EPD.equals(5, 0.1).must == Value(5, 0.1)
    assert (BPD > 5).share()(RESULTS).tolist() == [1, 0.5]
    assert (EPD <= BPD).share("threshold")(RESULTS).tolist() == [1, 0.5]
    with pytest.raises(TypeError, match="only an inequality"):
        EPD.equals(1).share()


def test_the_kind_of_a_claim_follows_from_its_contrast() -> None:
    assert Claim("C", "text", EPD > 0).kind == "reproduced"
    with pytest.raises(ValueError, match="`setting` and `contrast` belong together"):
        Claim("C", "text", EPD > 0, setting="here")


def test_pseudo_values_have_the_statistic_of_the_means_as_their_mean_if_it_is_linear() -> None:
    noise = Measured([Point({}, {"loss": np.array([0.1, 0.2, 0.3])})])
    assert by_means(at("loss") * 2)(noise) == pytest.approx([0.2, 0.4, 0.6])
    # Means of all values and of all but one are 0.2, 0.25, 0.2 and 0.15.
    expected = [3 * math.log(0.2) - 2 * math.log(each) for each in (0.25, 0.2, 0.15)]
    assert by_means(at("loss").log())(noise) == pytest.approx(expected)
