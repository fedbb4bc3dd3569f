"""Seeds until a target width is reached."""

from __future__ import annotations

import json
import random
import threading
from collections.abc import Callable
from concurrent.futures import Executor, Future
from pathlib import Path
from typing import Any, ClassVar

import pytest

import tailback as tb
from small_sweep import BUFFER, exported, one_by_one, until_there
from tailback._interval import Interval
from tailback._study import runner, work
from tailback._study.stopping import StoppingRule, until

TIGHT = "queues.bottleneck.mean_wait_s:0.001%"


class Shuffled(Executor):
    """Four workers that finish in a defined order."""

    _max_workers = 4

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        self._held: list[tuple[Future[Any], Callable[[], Any]]] = []

    def submit(self, function: Any, /, *arguments: Any, **options: Any) -> Future[Any]:
        future: Future[Any] = Future()
        self._held.append((future, lambda: function(*arguments)))
        if len(self._held) == self._max_workers:
            self._finish()
        else:
            # These runs are released even if no others arrive.
            threading.Timer(0.05, self._finish).start()
        return future

    def _finish(self) -> None:
        held, self._held = self._held, []
        self._random.shuffle(held)
        for future, do in held:
            future.set_result(do())


class Unfair(Executor):
    """Executes everything immediately, except one run, which is executed last."""

    _max_workers = 2
    did: ClassVar[list[str]] = []

    def __init__(self) -> None:
        self.did.clear()

    def submit(self, function: Any, task: work.Task, /) -> Future[Any]:  # type: ignore[override]
        assert isinstance(task.work, work.Simulated)
        buffer = json.loads(task.work.scenario)["topology"]["dumbbell"]["queue"]["buffer"]
        name = f"{buffer}, {task.seed}"
        future: Future[Any] = Future()

        def finish() -> None:
            self.did.append(name)
            future.set_result(function(task))

        def held() -> None:
            until_there(lambda: "50 packets, 9" in self.did)
            finish()

        if name == "5 packets, 2":
            threading.Thread(target=held).start()
        else:
            finish()
        return future


class TestUntil:
    def test_a_point_stops_once_its_interval_is_narrow_enough(self, small: tb.Scenario) -> None:
        study = tb.sweep(small, {BUFFER: ["5 packets", "50 packets"]}, seeds=4, until="goodput:3%")
        goodput = study.groups.where(point=0)["goodput_bps"].tolist()
        interval = Interval.of(goodput)
        assert interval.half / interval.mean <= 0.03 / 1.03
        assert study.groups.where(point=0)["seed"].tolist() == list(range(1, len(goodput) + 1))

    def test_the_rule_by_hand(self) -> None:
        # Mean 10, standard deviation 1, t(2) = 4.3027: half width 4.3027 / sqrt 3 = 2.484, a share of 0.2484.
        values = [9.0, 10.0, 11.0]
        assert StoppingRule("goodput", 0.34).reached(values)  # 0.34 / 1.34 = 0.2537
        assert not StoppingRule("goodput", 0.33).reached(values)  # 0.33 / 1.33 = 0.2481
        # 0.2 / 1.2 = 0.1667 requires 3 (0.2484 / 0.1667)^2 = 6.66, but a batch at most doubles; 0.3 / 1.3 = 0.2308 requires 3.48.
        assert [StoppingRule("goodput", width).seeds(values, 100) for width in (0.34, 0.3, 0.2)] == [3, 4, 6]
        assert StoppingRule("goodput", 0.2).seeds(values, 5) == 5

    def test_an_unreachable_target_gets_no_more_seeds(self) -> None:
        assert StoppingRule("goodput", 0.1).seeds([1.0, float("nan")], 100) == 2
        assert StoppingRule("goodput", 0.1).seeds([0.0, 0.0], 100) == 2
        assert StoppingRule("goodput", 0.1).seeds([-1.0, 1.0], 100) == 4

    def test_a_point_does_not_wait_for_the_rounds_of_others(self, small: tb.Scenario, monkeypatch: pytest.MonkeyPatch) -> None:
        one_by_one(monkeypatch)
        study = tb.sweep(small, {BUFFER: ["5 packets", "50 packets"]}, seeds=2, until=TIGHT, max_seeds=9, executor=Unfair())
        assert study.counts.done == 18
        # The very last run is the first point's second one, for which the other point did not wait.
        assert Unfair.did[:2] == ["5 packets, 1", "50 packets, 1"]
        assert Unfair.did.index("5 packets, 2") > Unfair.did.index("50 packets, 9")

    def test_the_order_of_completion_does_not_matter(
        self, small: tb.Scenario, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        one_by_one(monkeypatch)
        vary = {BUFFER: ["5 packets", "5packets", "9 packets"], "flows.*.tcp.preset": ["reno", "sack"]}
        whole = exported(tb.sweep(small, vary, seeds=3, until="goodput:4%", max_seeds=40), tmp_path / "whole")
        for seed in range(3):
            study = tb.sweep(small, vary, seeds=3, until="goodput:4%", max_seeds=40, executor=Shuffled(seed))
            assert exported(study, tmp_path / str(seed)) == whole
            seeds = [len(study.groups.where(point=point)["seed"]) for point in range(6)]
            assert seeds[:2] == seeds[2:4]
            assert len(set(seeds)) > 1

    def test_progress_ends_with_every_run(self, small: tb.Scenario) -> None:
        heard: list[runner.Progress] = []
        same = {BUFFER: ["5 packets", "5packets"]}
        study = tb.sweep(small, same, seeds=2, until=TIGHT, max_seeds=7, progress=heard.append)
        assert heard[-1] == runner.Progress(14, 0, 14)
        assert len(set(study.runs["content_hash"])) == 7

    def test_there_are_never_more_seeds_than_allowed(self, small: tb.Scenario) -> None:
        study = tb.sweep(small, {BUFFER: ["5 packets"]}, seeds=2, until="queues.bottleneck.mean_wait_s:0.001%", max_seeds=9)
        assert study.counts.done == 9
        (missed,) = study.unconverged
        row = study.means("queues.bottleneck.mean_wait_s").to_rows()[0]
        assert (missed.point, missed.labels, missed.seeds) == (0, {BUFFER: "5 packets"}, 9)
        assert missed.width == pytest.approx((row["high"] - row["mean"]) / row["mean"])
        # The half width decreases with the square root of the number of seeds.
        assert missed.needed == pytest.approx(9 * (missed.width / 1e-5) ** 2, rel=1e-3)
        assert not tb.sweep(small, {BUFFER: ["5 packets"]}, seeds=2, until="goodput:90%").unconverged

    @pytest.mark.parametrize(
        "text", ["goodput", "goodput:2", "goodput:0%", "goodput:100%", "good:2%", "queues.utilisation:1%", ":1%"]
    )
    def test_an_invalid_target_is_shown(self, text: str) -> None:
        with pytest.raises(tb.ParameterError, match="expected"):
            until(text)

    @pytest.mark.parametrize(
        "text", ["queues.botleneck.utilisation:1%", "queues.bottleneck.utilization:1%", "flows.tcp.group:1%"]
    )
    def test_a_quantity_that_no_run_has_is_refused_before_anything_runs(
        self, small: tb.Scenario, tmp_path: Path, text: str
    ) -> None:
        with pytest.raises(tb.UnknownName):
            tb.sweep(small, until=text, out=tmp_path / "study")
        assert not (tmp_path / "study").exists()
