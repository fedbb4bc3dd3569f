"""How claims are judged, and what comes of them as data."""

from __future__ import annotations

import pytest

import tailback as tb
from tailback._interval import Interval
from tailback.papers import (
    Claim,
    Contrast,
    Experiment,
    Inequality,
    Value,
)
from toy_experiment import more_with_fifty, outcome, replaced


@pytest.mark.parametrize(
    ("requirement", "low", "high", "holds"),
    [
        (Inequality(">", 1), 1.0, 3.0, False),
        (Inequality(">", 1), 1.1, 3.0, True),
        (Inequality(">=", 1), 1.0, 3.0, True),
        (Inequality(">=", 1), 0.9, 3.0, False),
        (Inequality("<", 3), 1.0, 3.0, False),
        (Inequality("<", 3), 1.0, 2.9, True),
        (Inequality("<=", 3), 1.0, 3.0, True),
        (Inequality("<=", 3), 1.0, 3.1, False),
        (Value(2, 0), 1.0, 3.0, True),
        (Value(4, 1), 1.0, 3.0, True),
        (Value(4.1, 1), 1.0, 3.0, False),
        (Value(0, 1), 1.0, 3.0, True),
        (Value(-0.1, 1), 1.0, 3.0, False),
        (Inequality(">", 0), float("nan"), float("nan"), False),
        (Value(1, 9), float("nan"), float("nan"), False),
    ],
)
def test_the_whole_interval_lies_on_its_side(requirement: Inequality | Value, low: float, high: float, holds: bool) -> None:
    assert requirement.holds(Interval((low + high) / 2, (high - low) / 2)) is holds


def test_an_order_is_the_interval_of_paired_differences() -> None:
    # Differences 1, 2, 3: mean 2, deviation 1, t(2) = 4.3027, half width 4.3027 / sqrt(3) = 2.484: zero is inside.
    wide = outcome(epd=[10.0, 20.0, 30.0], bpd=[11.0, 22.0, 33.0])
    difference = wide.interval(wide.values("goodput", policy="bpd") - wide.values("goodput", policy="epd"))
    assert difference.mean == 2.0
    assert difference.half == pytest.approx(2.48414, abs=1e-5)
    assert not Inequality(">", 0).holds(difference)
    # Differences 2, 2, 2 have no width, though each policy's own interval is far wider than their distance.
    narrow = outcome(epd=[10.0, 20.0, 30.0], bpd=[12.0, 22.0, 32.0])
    difference = narrow.interval(narrow.values("goodput", policy="bpd") - narrow.values("goodput", policy="epd"))
    assert (difference.mean, difference.half) == (2.0, 0.0)
    assert Inequality(">", 0).holds(difference)


def test_the_best_is_the_point_with_the_largest_mean() -> None:
    seen = outcome(a=[1.0, 9.0], b=[4.0, 7.0], c=[0.0, 0.0])
    assert seen.best("goodput").tolist() == [4.0, 7.0]


def test_a_measurement_names_exactly_one_point() -> None:
    with pytest.raises(LookupError, match=r"0 points have \{'policy': 'red'\}"):
        outcome(a=[1.0], b=[2.0]).values("goodput", policy="red")
    with pytest.raises(LookupError, match="2 points have"):
        outcome(a=[1.0], b=[2.0]).values("goodput")


def test_only_an_s_claim_has_a_setting_and_a_contrast() -> None:
    with pytest.raises(ValueError, match="C1: an S claim"):
        Claim("C1", "S", "text", more_with_fifty, Inequality(">", 0))
    with pytest.raises(ValueError, match="C1: an S claim"):
        Claim("C1", "R", "text", more_with_fifty, Inequality(">", 0), contrast=Contrast("there", more_with_fifty))


@pytest.mark.usefixtures("toys")
def test_claims_as_data() -> None:
    done = tb.reproduce("toy/fig1", seeds=3)
    (experiment,) = done.to_dict()["experiments"]
    assert list(experiment) == ["id", "points", "claims"]
    assert [(point["policy"], point["packets"], point["goodput"]["seeds"]) for point in experiment["points"]] == [
        ("drop_tail", 2, 3),
        ("drop_tail", 50, 3),
    ]
    first, second, third = experiment["claims"]
    assert set(first) == {"id", "kind", "text", "published", "measured", "low", "high", "holds", "contrast"}
    assert (first["kind"], first["holds"], first["published"], first["contrast"]) == ("R", True, None, None)
    assert first["low"] < first["measured"] < first["high"]
    assert (second["text"], second["published"], second["holds"]) == ("half of the link is used (50 packets)", 0.9, True)
    assert set(second["contrast"]) == {"setting", "measured", "low", "high", "holds"}
    assert (second["contrast"]["setting"], second["contrast"]["holds"]) == ("2 packets", False)
    assert (third["kind"], third["holds"], third["published"]) == ("N", False, 0.99)
    assert done.verdict() == (
        "1 of 1 robust claims hold; 1 of 1 that need a special setting hold there and fail in the contrasting one; "
        "1 of 1 that were not obtained in any setting are not obtained here either"
    )
    assert done.holds
    assert done.complete
    assert "T1" in done._repr_html_()
    assert repr(done).startswith("<Reproduction toy/fig1: 1 of 1 robust")
    assert done.points[0]["experiment"] == "toy/fig1"


def test_what_is_not_known_is_null_and_holds_nothing(toys: list[Experiment]) -> None:
    claim = Claim("T", "N", "unknown", lambda seen: seen.values("goodput", packets=2) * float("nan"), Inequality(">", 0))
    toys[:] = [replaced(claim)]
    (judged,) = tb.reproduce("toy", seeds=2).to_dict()["experiments"][0]["claims"]
    assert (judged["measured"], judged["low"], judged["high"], judged["holds"]) == (None, None, None, False)
