"""The runs of experiments: each distinct run is executed once, and failures name their experiments."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import tailback as tb
from tailback._study.runner import Progress
from tailback.papers import (
    AxisValue,
    Claim,
    Condition,
    Experiment,
    at,
    vary,
)
from tailback.papers._plan import Plan
from toy_experiment import BASE, TIMEOUTS, TOY, buffers, goodput


def test_equal_runs_of_several_experiments_run_once() -> None:
    other = Experiment(
        "toy/fig2", "", "", "", vary(BASE, buffers(50, 2, 9)), {"timeouts": TIMEOUTS, "goodput": goodput}, claims=()
    )
    plan = Plan([TOY, other], 3)
    assert plan.run(workers=2) == 0
    # Two common buffers and a third, three seeds each, and the trace, which records more.
    assert (plan.tally.planned, plan.tally.runs, plan.requested) == (10, 10, 3 * 5 + 1)
    assert len(set(plan.tally.hashes)) == 10
    first, second = plan.outcomes()
    for packets in (2, 50):
        ours, theirs = (each.values("goodput", packets=packets) for each in (first, second))
        np.testing.assert_array_equal(ours, theirs)


def test_values_are_in_the_order_of_seeds_with_any_number_of_workers() -> None:
    measured = []
    for workers in (1, 2):
        plan = Plan([TOY], 3)
        plan.run(workers=workers)
        measured.append(plan.outcomes()[0].values("goodput", packets=2))
    scenario = BASE.with_({"topology.dumbbell.queue.buffer": "2 packets"})
    expected = [goodput(tb.simulate(scenario, seed=seed)) for seed in (1, 2, 3)]
    assert measured[0].tolist() == measured[1].tolist() == expected


def test_progress_counts_runs_up_to_all_of_them() -> None:
    heard: list[Progress] = []
    Plan([TOY], 2).run(workers=2, progress=heard.append)
    assert heard[0] == Progress(done=0, failed=0, total=5)
    assert heard[-1] == Progress(done=5, failed=0, total=5)


def test_a_failing_run_names_its_experiment_variant_and_seed() -> None:
    def broken(run: tb.Run) -> float:
        return 1 / 0 if run.seed == 2 else 0.0

    plan = Plan([Experiment("toy/fig9", "", "", "", TOY.variants[:1], {"broken": broken}, ())], 2)
    with pytest.raises(tb.InternalError) as caught:
        plan.run(workers=1)
    assert re.fullmatch(
        r"toy/fig9 \(policy drop_tail, packets 2\), seed 2: .*broken-\w{20}: ZeroDivisionError: division by zero",
        caught.value.message,
    )
    assert (len(caught.value.content_hash), caught.value.seed) == (64, 2)


def test_a_scenario_that_cannot_run_names_its_experiment_before_anything_runs() -> None:
    variants = vary(BASE, [AxisValue({"rate": "none"}, {"topology.dumbbell.rate": "10"})])
    with pytest.raises(tb.InternalError, match=r"toy/fig9 \(rate none\): .*`rate` has no unit"):
        Plan([Experiment("toy/fig9", "", "", "", variants, {"goodput": goodput}, ())], 2)


def test_points_that_are_only_drawn_have_three_seeds_unless_in_the_full_form() -> None:
    both = at("goodput", packets=50) > at("goodput", packets=2)
    variants = (*vary(BASE, buffers(2, 20), state="a"), *vary(BASE, buffers(2, 20, 50), state="b"))

    def experiment(**more: Any) -> Experiment:
        return Experiment("toy/fig1", "", "", "", variants, TOY.measures, **more)

    condition = Condition("state", "not stated", ("b", "a"), "the usual")
    claim = Claim("T1", "more", at("goodput", packets=20).equals(1, 0.5))
    assert experiment(claims=()).seeds_of_variants(5) == [5, 5, 5, 5, 5]
    assert experiment(claims=(Claim("T1", "", at("goodput", packets=50) > 0),)).seeds_of_variants(5) == [3, 3, 3, 3, 5]
    assert experiment(claims=(Claim("T1", "", both),), conditions=(condition,)).seeds_of_variants(5) == [3, 3, 5, 3, 5]
    assert experiment(claims=(claim,), conditions=(condition,)).seeds_of_variants(5) == [3, 5, 3, 5, 3]
    answered = experiment(
        claims=(claim,), conditions=(condition,), answer=lambda results: results.formatted(at("goodput", packets=50))
    )
    assert answered.seeds_of_variants(5) == [3, 5, 3, 5, 5]
    # An answer that fails with arbitrary values may read all points.
    failing = experiment(
        claims=(claim,), conditions=(condition,), answer=lambda results: {}[results.mean(at("goodput", packets=50))]
    )
    assert failing.seeds_of_variants(5) == [5, 5, 5, 5, 5]
    assert replace(answered, is_full=True).seeds_of_variants(5) == [5, 5, 5, 5, 5]
    assert answered.seeds_of_variants(2) == [2, 2, 2, 2, 2]


def test_an_experiment_may_take_a_multiple_of_the_seeds() -> None:
    thrice = Experiment("toy/fig1", "", "", "", TOY.variants, TOY.measures, (), times=3)
    exact = Experiment("toy/fig1", "", "", "", TOY.variants, TOY.measures, (), exact=True)
    assert [each.seeds(None) for each in (TOY, thrice, exact)] == [10, 30, 1]
    assert [each.runs() for each in (TOY, thrice, exact)] == [21, 60, 2]
    assert [each.seeds(4) for each in (TOY, thrice, exact)] == [4, 4, 1]
