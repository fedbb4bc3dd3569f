"""The evaluation of claims, and outcomes as data."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

import tailback as tb
from tailback._interval import Interval
from tailback.papers import (
    Claim,
    Condition,
    Contrast,
    Experiment,
    Inequality,
    Outcome,
    Point,
    Value,
    at,
    axis,
    vary,
)
from tailback.papers._claim_text import failures, finding_label, seeds_used
from tailback.papers._requirement import decided_by
from toy_experiment import BASE, MORE_WITH_FIFTY, outcome, replaced


@pytest.mark.parametrize(
    ("requirement", "low", "high", "finding"),
    [
        (Inequality(">", 1), 1.1, 3.0, "holds"),
        (Inequality(">", 1), 1.0, 3.0, "cannot tell"),
        (Inequality(">", 3), 1.0, 3.0, "contradicted"),
        (Inequality(">=", 1), 1.0, 3.0, "holds"),
        (Inequality(">=", 1), 0.9, 3.0, "cannot tell"),
        (Inequality(">=", 3), 1.0, 3.0, "cannot tell"),
        (Inequality(">=", 3), 1.0, 2.9, "contradicted"),
        (Inequality("<", 3), 1.0, 2.9, "holds"),
        (Inequality("<", 3), 1.0, 3.0, "cannot tell"),
        (Inequality("<", 1), 1.0, 3.0, "contradicted"),
        (Inequality("<=", 3), 1.0, 3.0, "holds"),
        (Inequality("<=", 3), 1.0, 3.1, "cannot tell"),
        (Inequality("<=", 1), 1.0, 3.0, "cannot tell"),
        (Inequality("<=", 1), 1.1, 3.0, "contradicted"),
        (Value(2, 1), 1.0, 3.0, "holds"),
        # Closeness of the mean is not sufficient: noise does not make a value hold.
        (Value(2, 0.9), 1.0, 3.0, "cannot tell"),
        (Value(4, 1), 1.0, 3.0, "cannot tell"),
        (Value(4.1, 1), 1.0, 3.0, "contradicted"),
        (Value(-0.1, 1), 1.0, 3.0, "contradicted"),
        (Value(2, 0), 2.0, 2.0, "holds"),
        (Inequality(">", 0), 0.0, 0.0, "contradicted"),
        (Inequality(">=", 0), 0.0, 0.0, "holds"),
        (Inequality(">", 0), float("nan"), float("nan"), "cannot tell"),
        (Value(1, 9), float("nan"), float("nan"), "cannot tell"),
    ],
)
def test_the_whole_interval_decides(requirement: Inequality | Value, low: float, high: float, finding: str) -> None:
    assert requirement.judge(Interval((low + high) / 2, (high - low) / 2)) == finding


def test_the_number_of_seeds_that_decides() -> None:
    # Mean 1, deviation 1: 99.9 % require t(n - 1) < sqrt(n), which t(15) = 4.073 violates and t(16) = 4.015 satisfies.
    values = [1 - 0.5**0.5, 1 + 0.5**0.5]
    assert decided_by(values, Inequality(">", 0)) == 17
    assert decided_by([2.0, 2.0, 2.0], Inequality(">", 0)) == 2
    assert decided_by([2.0], Inequality(">", 3)) == 1
    assert decided_by([0.9, 1.1], Inequality(">", 1)) is None
    assert decided_by([1.0, float("nan")], Inequality(">", 0)) is None


def test_an_order_is_the_interval_of_paired_differences() -> None:
    # Differences 1, 2, 3: mean 2, deviation 1, t(2) = 4.3027, half width 4.3027 / sqrt(3) = 2.484: zero is inside.
    wide = outcome(epd=[10.0, 20.0, 30.0], bpd=[11.0, 22.0, 33.0])
    difference = wide.interval(wide.values("goodput", policy="bpd") - wide.values("goodput", policy="epd"))
    assert difference.mean == 2.0
    assert difference.half == pytest.approx(2.48414, abs=1e-5)
    assert Inequality(">", 0).judge(difference) == "cannot tell"
    # Differences 2, 2, 2 have no width, though each policy's own interval is far wider than their distance.
    narrow = outcome(epd=[10.0, 20.0, 30.0], bpd=[12.0, 22.0, 32.0])
    difference = narrow.interval(narrow.values("goodput", policy="bpd") - narrow.values("goodput", policy="epd"))
    assert (difference.mean, difference.half) == (2.0, 0.0)
    assert Inequality(">", 0).judge(difference) == "holds"


def test_the_best_is_the_point_with_the_largest_mean() -> None:
    results = outcome(a=[1.0, 9.0], b=[4.0, 7.0], c=[0.0, 0.0])
    assert at("goodput").max()(results).tolist() == [4.0, 7.0]


def test_a_measurement_names_exactly_one_point() -> None:
    with pytest.raises(LookupError, match=r"0 points have \{'policy': 'red'\}"):
        outcome(a=[1.0], b=[2.0]).values("goodput", policy="red")
    with pytest.raises(LookupError, match="2 points have"):
        outcome(a=[1.0], b=[2.0]).values("goodput")


def test_a_contrast_is_judged_under_every_value_of_a_condition() -> None:
    statement, other = (at("goodput", packets=packets) > 3 for packets in (2, 50))
    claim = Claim("T", "text", statement, setting="small", contrast=Contrast("large", other.measured))
    varied = replace(VARIED, claims=(claim,))
    points = [
        Point({"packets": packets, "senders": senders}, {"goodput": np.array([value, value])})
        for packets, senders, value in ((2, "paced", 4.0), (2, "regular", 2.0), (50, "paced", 1.0), (50, "regular", 9.0))
    ]
    (verdict,) = Outcome(points, experiment=varied, seeds=2).claims
    assert [(each.setting, each.finding) for each in verdict.settings] == [
        ("small, senders: regular", "contradicted"),
        ("small, senders: paced", "holds"),
        ("large, senders: regular", "holds"),
        ("large, senders: paced", "contradicted"),
    ]
    assert verdict.decided_by_condition("senders")


def test_a_setting_requires_a_contrast() -> None:
    with pytest.raises(ValueError, match="C1: `setting` and `contrast` belong together"):
        Claim("C1", "text", MORE_WITH_FIFTY, setting="here")
    with pytest.raises(ValueError, match="C1: `setting` and `contrast` belong together"):
        Claim("C1", "text", MORE_WITH_FIFTY, contrast=Contrast("there", MORE_WITH_FIFTY.measured))


@pytest.mark.usefixtures("toys")
def test_claims_as_data() -> None:
    done = tb.reproduce("toy/fig1", seeds=8)
    (experiment,) = done.to_dict()["experiments"]
    assert list(experiment) == ["id", "form", "points", "claims"]
    assert experiment["form"] == "full"
    assert [(point["policy"], point["packets"], point["goodput"]["seeds"]) for point in experiment["points"]] == [
        ("drop_tail", 2, 8),
        ("drop_tail", 50, 8),
    ]
    first, second, third = experiment["claims"]
    judged = {"measured", "low", "high", "finding", "whose", "seeds", "decided_by", "settings"}
    assert set(first) == {"id", "kind", "text", "ours", "published"} | judged
    assert (first["kind"], first["finding"], first["published"], first["whose"]) == ("reproduced", "holds", None, "ours")
    assert first["low"] < first["measured"] < first["high"]
    assert 2 <= first["decided_by"] <= first["seeds"] == 8
    assert (second["text"], second["published"], second["finding"]) == ("half of the link is used (50 packets)", 0.9, "depends")
    assert set(second["settings"][0]) == {"setting", "measured", "low", "high", "finding"}
    assert [(each["setting"], each["finding"]) for each in second["settings"]] == [
        ("50 packets", "holds"),
        ("2 packets", "contradicted"),
    ]
    assert (third["kind"], third["finding"], third["published"]) == ("not_reproduced", "cannot tell", 0.99)
    assert [each["finding"] for each in third["settings"]] == ["contradicted"]
    assert done.verdict() == "3 statements: 1 holds, 1 holds in some settings, 1 is undecided"
    assert done.holds
    assert done.complete
    assert "T1" in done._repr_html_()
    assert repr(done).startswith("<Reproduction toy/fig1: 3 statements: 1 holds")
    assert done.points[0]["experiment"] == "toy/fig1"


SENDERS = Condition("senders", "nothing", ("regular", "paced"), "usual then")
MORE = at("goodput", policy="bpd") > at("goodput", policy="epd")
VARIED = Experiment(
    "toy/fig2",
    "A toy",
    "Which?",
    "figure 2",
    vary(BASE, axis("senders", {"regular": {}, "paced": {}}), policy="epd"),
    {"goodput": "goodput"},
    (
        Claim("A", "BPD carries more than EPD", MORE),
        Claim("B", "with pacing it does", at("goodput", policy="bpd") > at("goodput", policy="epd", senders="paced")),
        Claim("C", "BPD carries 6", at("goodput", policy="bpd").equals(6)),
        Claim("D", "BPD carries 6", at("goodput", policy="bpd").equals(6), closed="BPD has no senders"),
        Claim("E", "EPD carries 5", at("goodput", policy="epd").equals(5)),
    ),
    conditions=(SENDERS,),
)


@pytest.mark.parametrize(
    ("regular", "paced", "finding", "whose"),
    [(1, 2, "holds", "document"), (1, 8, "depends", "undecided"), (9, 8, "contradicted", "document")],
)
def test_a_claim_is_judged_under_every_value_of_an_open_condition(regular: float, paced: float, finding: str, whose: str) -> None:
    measured = {"bpd": ({}, 5.0), "regular": ({"senders": "regular"}, regular), "paced": ({"senders": "paced"}, paced)}
    points = [
        Point({"policy": "bpd" if name == "bpd" else "epd", **labels}, {"goodput": np.array([value] * 3)})
        for name, (labels, value) in measured.items()
    ]
    every, only_paced, alone, closed, value = Outcome(points, experiment=VARIED, seeds=3).claims
    assert (every.finding, every.whose) == (finding, whose)
    assert [judged.setting for judged in every.settings] == ["senders: regular", "senders: paced"]
    assert [judged.interval.mean for judged in every.settings] == [5 - regular, 5 - paced]
    assert every.interval.mean == 5 - regular
    assert every.decided_by_condition("senders") is (finding == "depends")
    assert not only_paced.decided_by_condition("senders")
    # A claim that selects a value is judged under it alone, and one that no value affects is judged once.
    assert [judged.setting for judged in only_paced.settings] == ["senders: paced"]
    assert (only_paced.finding, only_paced.whose) == ("holds" if paced < 5 else "cannot tell", "ours")
    # Nothing varied: the numbers contradict the claim, but not the document.
    assert [judged.finding for judged in alone.settings] == ["contradicted"]
    assert (alone.finding, alone.whose) == ("cannot tell", "ours")
    assert finding_label(alone) == "CONTRADICTED IN OUR SETTING"
    assert (closed.finding, closed.whose) == ("contradicted", "document")
    # EPD carries less with one kind of senders and more with the other.
    assert value.finding == ("cannot tell" if finding == "depends" else "contradicted")


@pytest.mark.parametrize(
    ("paced", "quick", "fails"),
    [([2, 2, 2], True, False), ([2, 9, 4], True, False), ([2, 9, 4], False, True), ([8, 8, 8], True, True)],
)
def test_a_quick_form_may_leave_a_setting_undecided(paced: list[float], quick: bool, fails: bool) -> None:
    whole = replace(VARIED, claims=VARIED.claims[:1])
    form = replace(whole, full=whole, undecided="the paced senders") if quick else whole
    outcome = Outcome(points_with(paced), experiment=form, seeds=3)
    assert [verdict.claim.id for verdict in outcome.failed] == ["A"] * fails


def points_with(paced: list[float]) -> list[Point]:
    """EPD carries 1 with regular senders, and these values with paced ones; BPD carries 5."""
    measured = {"bpd": ({}, [5.0] * 3), "regular": ({"senders": "regular"}, [1.0] * 3), "paced": ({"senders": "paced"}, paced)}
    return [
        Point({"policy": "bpd" if name == "bpd" else "epd", **labels}, {"goodput": np.array(values)})
        for name, (labels, values) in measured.items()
    ]


def test_a_claim_depends_only_if_a_setting_contradicts_it() -> None:
    experiment = replace(VARIED, claims=VARIED.claims[:1])
    (undecided,) = Outcome(points_with([2, 9, 4]), experiment=experiment, seeds=3).claims
    assert [judged.finding for judged in undecided.settings] == ["holds", "cannot tell"]
    assert (undecided.finding, undecided.whose) == ("cannot tell", "undecided")
    assert finding_label(undecided) == "HOLDS IN 1 OF 2 SETTINGS, UNDECIDED IN THE OTHERS"
    assert not undecided.decided_by_condition("senders")
    (contradicted,) = Outcome(points_with([8, 8, 8]), experiment=experiment, seeds=3).claims
    assert (contradicted.finding, contradicted.decided_by_condition("senders")) == ("depends", True)


def test_a_claim_may_compare_the_values_of_a_condition() -> None:
    points = [Point({"senders": each}, {"goodput": np.array([value] * 3)}) for each, value in (("regular", 1.0), ("paced", 2.0))]
    paced_more = Claim("F", "pacing helps", at("goodput", senders="paced") > at("goodput", senders="regular"))
    (verdict,) = Outcome(points, experiment=replace(VARIED, claims=(paced_more,)), seeds=3).claims
    assert [(judged.setting, judged.interval.mean) for judged in verdict.settings] == [("", 1.0)]
    assert verdict.finding == "holds"


def test_a_condition_is_varied_by_the_experiment() -> None:
    with pytest.raises(ValueError, match="needs two values"):
        Condition("senders", "nothing", ("paced",), "usual then")
    with pytest.raises(ValueError, match="toy/fig2: the variants have senders"):
        replace(VARIED, conditions=(replace(SENDERS, values=("regular", "bursty")),))


def test_missing_values_are_null_and_satisfy_no_claim(toys: list[Experiment]) -> None:
    claim = Claim("T", "unknown", at("goodput", packets=2) * math.nan > 0, kind="not_reproduced")
    toys[:] = [replaced(claim)]
    (judged,) = tb.reproduce("toy", seeds=2).to_dict()["experiments"][0]["claims"]
    assert (judged["measured"], judged["low"], judged["high"], judged["finding"]) == (None, None, None, "cannot tell")


def test_a_deterministic_experiment_has_one_run_without_a_seed(toys: list[Experiment]) -> None:
    toys[:] = [replace(toys[0], exact=True)]
    (verdict, *_) = tb.reproduce("toy", seeds=2).claims
    assert seeds_used(verdict) == "1 deterministic run"


def test_own_claims_are_counted_separately(toys: list[Experiment]) -> None:
    toys[:] = [replaced(*(Claim(name, "more", MORE_WITH_FIFTY, ours=name != "A") for name in "ABC"))]
    done = tb.reproduce("toy", seeds=4)
    assert done.verdict() == "1 statement: 1 holds; 2 additional claims: 2 hold"


def test_too_few_seeds_are_neither_failure_nor_success(toys: list[Experiment]) -> None:
    toys[:] = [replaced(Claim("T", "more", MORE_WITH_FIFTY))]
    done = tb.reproduce("toy", seeds=2)
    (verdict,) = done.claims
    assert (verdict.finding, verdict.holds, done.holds) == ("cannot tell", False, False)
    assert verdict.decided_by is not None
    assert verdict.decided_by > 2
    assert failures(done.failed) == f"1 reproduced claim does not hold: T (cannot tell by 2 seeds, {verdict.decided_by} needed)"
    assert finding_label(verdict) == "CANNOT TELL"
