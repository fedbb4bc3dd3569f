"""Measurements stored in a study: recomputation, and computations other than scenarios."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tailback as tb
from made_code import PLAIN, module
from tailback._study.fingerprint import Fingerprints, fingerprint
from tailback._study.measurements import Curve, Number
from tailback.papers import AxisValue, Computation, Experiment, Measure, Trace, vary
from tailback.papers._plan import Plan

BASE = tb.dumbbell(rate="10 Mbps", delay="10 ms", buffer="20 packets", duration="1 s")


def goodput(run: tb.Run) -> float:
    return float(run.groups["goodput_bps"][0])


def sent(run: tb.Run) -> float:
    return float(run.flows["sent_packets"].sum())


def experiment(id: str, **measures: Measure) -> Experiment:
    buffers = [AxisValue({"packets": n}, {"topology.dumbbell.queue.buffer": f"{n} packets"}) for n in (5, 20)]
    return Experiment(id, "", "", "", vary(BASE, buffers), measures, ())


class TestKept:
    def test_stored_runs_are_not_repeated(self, tmp_path: Path) -> None:
        both = [experiment("toy/a", goodput=goodput), experiment("toy/b", sent=sent)]
        assert Plan(both, 2).run(tmp_path) == 0
        for fewer in (both[:1], both[1:], both):
            assert Plan(fewer, 2).run(tmp_path) == 4
        assert Plan(both, 3).run(tmp_path) == 4
        assert tb.Study(tmp_path).counts.done == 6

    def test_only_a_measure_that_has_changed_is_measured_again(self, tmp_path: Path) -> None:
        first, second = (module(f"def measure(run):\n    return {number}").measure for number in (1, 2))
        Plan([experiment("toy/a", goodput=goodput), experiment("toy/b", other=first)], 2).run(tmp_path)
        again = Plan([experiment("toy/a", goodput=goodput)], 2)
        assert again.run(tmp_path) == 4
        changed = Plan([experiment("toy/b", other=second)], 2)
        assert changed.run(tmp_path) == 0
        assert changed.outcomes()[0].values("other", packets=5).tolist() == [2.0, 2.0]
        assert Plan([experiment("toy/b", other=first)], 2).run(tmp_path) == 4

    def test_prune_removes_unrequested_measurements(self, tmp_path: Path) -> None:
        Plan([experiment("toy/a", goodput=goodput, sent=sent)], 2).run(tmp_path)
        Plan([experiment("toy/a", goodput=goodput)], 2).run(tmp_path)
        tb.Study(tmp_path).prune()
        assert Plan([experiment("toy/a", goodput=goodput)], 2).run(tmp_path) == 4
        assert Plan([experiment("toy/a", sent=sent)], 2).run(tmp_path) == 0

    def test_a_failed_run_is_run_again(self, tmp_path: Path) -> None:
        def broken(run: tb.Run) -> float:
            return 1 / 0

        with pytest.raises(tb.InternalError, match=r"toy/a \(packets 5\), seed 1: .*broken-\w+: ZeroDivisionError"):
            Plan([experiment("toy/a", goodput=goodput, broken=broken)], 2).run(tmp_path, workers=1)
        assert tb.Study(tmp_path).counts.failed > 0
        plan = Plan([experiment("toy/a", goodput=goodput)], 2)
        plan.run(tmp_path)
        assert tb.Study(tmp_path).counts.done == plan.tally.runs == 4

    def test_fresh_runs_everything_again(self, tmp_path: Path) -> None:
        Plan([experiment("toy/a", goodput=goodput)], 2).run(tmp_path)
        assert Plan([experiment("toy/a", goodput=goodput)], 2).run(tmp_path, fresh=True) == 0

    def test_only_its_command_resumes_the_study(self, tmp_path: Path) -> None:
        Plan([experiment("toy/a", goodput=goodput)], 2).run(tmp_path)
        study = tb.Study(tmp_path)
        assert study.runs["of"].tolist() == ["toy/a (packets 5)"] * 2 + ["toy/a (packets 20)"] * 2
        (name,) = (name for name in study.tables if name.startswith("goodput-"))
        assert len(study.table(name)["value"]) == 4
        assert study.compare(study)
        with pytest.raises(
            tb.StudyError, match=r"stores the runs of `tailback reproduce toy/a --seeds 2`: resume them with that command"
        ):
            study.resume()
        with pytest.raises(tb.StudyError, match="contains a reproduction; give a new name"):
            tb.sweep(BASE, out=tmp_path, extend=True)
        tb.sweep(BASE, out=tmp_path / "sweep")
        with pytest.raises(tb.StudyError, match="contains a sweep; give a new name"):
            Plan([experiment("toy/a", goodput=goodput)], 2).run(tmp_path / "sweep")

    def test_different_reproductions_are_distinguished(self, tmp_path: Path) -> None:
        for name, measure in (("left", lambda run: 1.0), ("right", lambda run: 2.0)):
            Plan([experiment("toy/a", goodput=measure)], 2).run(tmp_path / name)
        assert not tb.Study(tmp_path / "left").compare(tb.Study(tmp_path / "right"))


def throw(seed: int, sides: int, throws: int = 1000) -> Any:
    """A Monte Carlo experiment."""
    return np.random.default_rng(seed).integers(1, sides + 1, throws)


def mean(drawn: Any) -> float:
    return float(drawn.mean())


def steps(drawn: Any) -> tuple[Any, Any]:
    return np.arange(3), drawn[:3].astype(float)


class TestComputation:
    def experiment(self, function: Callable[..., Any] = throw) -> Experiment:
        dice = vary(Computation(function, {"throws": 500}), [AxisValue({"sides": n}, {"sides": n}) for n in (6, 20)])
        return Experiment("toy/dice", "", "", "", dice, {"mean": mean}, (), traces=(Trace("first", {"sides": 6}, None, steps),))

    def test_it_is_run_read_and_kept_as_a_scenario_is(self, tmp_path: Path) -> None:
        plan = Plan([self.experiment()], 3)
        assert (plan.run(tmp_path), plan.tally.runs) == (0, 6)
        (outcome,) = plan.outcomes()
        assert outcome.values("mean", sides=20).tolist() == [throw(seed, 20, 500).mean() for seed in (1, 2, 3)]
        x, y = outcome.traces["first"]
        assert (x.tolist(), y.tolist()) == ([0, 1, 2], throw(1, 6, 500)[:3].tolist())
        assert Plan([self.experiment()], 3).run(tmp_path) == 6

    def test_it_is_computed_again_once_its_code_has_changed(self, tmp_path: Path) -> None:
        text = "def drawn(seed, sides, throws):\n    import numpy\n    return numpy.full(throws, seed * sides)\n"
        first, second = (module(each).drawn for each in (text, text.replace("*", "+")))
        assert [Plan([self.experiment(function)], 2).run(tmp_path) for function in (first, first, second, first)] == [0, 4, 0, 4]

    def test_code_that_was_read_before_has_the_same_fingerprint(self) -> None:
        own = module(PLAIN)
        for function in (throw, own.helper, own.closed(2), tb.models.closed_loop):
            known = Fingerprints(function)
            given = ([("sides", 6)], [("sides", 20)], [("sides", 6)])
            assert [known.given(each) for each in given] == [fingerprint(function, each) for each in given]

    def test_without_randomness_all_seeds_are_one_run(self, tmp_path: Path) -> None:
        models = vary(
            Computation(tb.models.mm1k, {"places": 4}), [AxisValue({"load": load}, {"load": load}) for load in (0.5, 1.0)]
        )
        plan = Plan([Experiment("toy/model", "", "", "", models, {"loss": lambda model: model.loss}, ())], 5)
        plan.run(tmp_path)
        assert plan.tally.runs == 2
        assert plan.outcomes()[0].values("loss", load=1.0).tolist() == [0.2] * 5

    def test_errors_name_their_place(self, tmp_path: Path) -> None:
        with pytest.raises(tb.InternalError, match=r"toy/dice \(sides 6.*\), seed 1: ValueError: math domain error"):
            Plan([self.experiment(lambda sides, throws: math.sqrt(-sides))], 2).run(tmp_path, workers=1)


def test_readings_come_back_to_the_last_bit() -> None:
    values = [0.1, -0.0, math.inf, 5e-324]
    assert [Number.value(Number(lambda value: value).read(value)) for value in values] == values
    assert math.isnan(Number.value(Number(lambda value: value).read(math.nan)))
    x, y = Curve.value(Curve(lambda _: (np.array([1, 2**60]), np.array(values[:2]))).read(None))
    assert (x.dtype, x.tolist(), y.tolist()) == (np.dtype("i8"), [1, 2**60], values[:2])
