"""`tb.threshold`: the value of a setting at which a quantity reaches a target."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import tailback as tb
from small_sweep import BUFFER

USED = "queues.bottleneck.utilisation"
RANGE: dict[str, Any] = {BUFFER: ("1 packet", "100 packets")}


@pytest.fixture
def shared() -> tb.Scenario:
    """Three flows with random starts."""
    flows: Any = {"tcp": {"count": 3, "start": {"uniform": ["0 s", "1 s"]}, "tcp": {"preset": "newreno"}}}
    return tb.dumbbell(rate="10 Mbps", delay="10 ms", buffer="9 packets", duration="6 s", warmup="2 s", flows=flows)


def used(scenario: tb.Scenario, buffer: str, seeds: range) -> float:
    study = tb.sweep(scenario, {BUFFER: [buffer]}, seeds=list(seeds))
    return float(study.means(USED)["mean"][0])


def test_the_answer_reaches_the_target_and_its_predecessor_does_not(shared: tb.Scenario) -> None:
    found = tb.threshold(shared, USED, "95 %", over=RANGE, seeds=4)
    assert (found.problem, found.outside, found.is_random, found.target) == ("", None, True, 0.95)
    answer, low, high = (int(text.split()[0]) for text in (found.value, found.low, found.high))
    assert low <= answer <= high
    means = dict(zip(found.means[BUFFER].tolist(), found.means["mean"].tolist(), strict=True))
    assert means[found.value] >= 0.95 > means[f"{answer - 1} packets"]
    # A sweep with the same seeds has the same runs.
    assert used(shared, found.value, range(1, 5)) == means[found.value]
    assert abs(used(shared, found.value, range(11, 21)) - 0.95) < 0.03
    assert found.means[f"{BUFFER}_packets"].tolist() == sorted(found.means[f"{BUFFER}_packets"].tolist())
    assert len(found.runs) == 4 * len(found.means)
    assert f"= {found.value}, 95 % interval {found.low} to {found.high}" in str(found)
    assert found.sentence.split(" reaches")[0] in found._repr_html_()


def test_a_quantity_may_fall_and_other_settings_have_other_units(shared: tb.Scenario) -> None:
    found = tb.threshold(
        shared, "queues.bottleneck.mean_wait_s", "1 ms", over={"topology.dumbbell.rate": ("5 Mbps", "1 Gbps")}, seeds=2
    )
    assert found.value.endswith(" Mbps")
    waits = found.means["mean"].tolist()
    assert waits[0] > 1e-3 > waits[-1]
    flows = tb.threshold(shared, "goodput", "8 Mbps", over={"flows.tcp.count": (1, 40)}, seeds=2)
    assert isinstance(flows.value, int | None)


def test_a_deterministic_scenario_runs_once_per_value_and_has_no_interval(shared: tb.Scenario) -> None:
    found = tb.threshold(shared.with_({"flows.tcp.start": "0 s"}), USED, 0.95, over=RANGE)
    assert (found.low, found.high, found.is_random) == (None, None, False)
    assert set(found.means["seeds"].tolist()) == {1}
    assert "no interval" in str(found)


@pytest.mark.parametrize(("target", "side", "text"), [(0.001, "below", "below the range"), (0.999, "above", "above the range")])
def test_a_target_outside_the_range_is_reported(shared: tb.Scenario, target: float, side: str, text: str) -> None:
    found = tb.threshold(shared, USED, target, over={BUFFER: ("1 packet", "3 packets")}, seeds=2)
    assert (found.value, found.low, found.high, found.outside) == (None, None, None, side)
    assert text in found.problem
    assert "at 1 packet" in found.problem
    assert found.problem in str(found)


def test_a_target_beyond_a_share_is_refused_with_a_hint(shared: tb.Scenario) -> None:
    with pytest.raises(tb.ParameterError, match=r"the target of `.*utilisation` is 98; expected 0 to 1; write `98 %`"):
        tb.threshold(shared, USED, 98, over=RANGE, seeds=2)


def test_a_quantity_that_is_not_monotonic_is_reported(shared: tb.Scenario) -> None:
    used_by_waiting = f"{USED} - 50 * queues.bottleneck.mean_wait_s"
    found = tb.threshold(shared, used_by_waiting, 0.3, over=RANGE, seeds=2)
    assert "not monotonic" in found.problem
    assert found.to_dict()["problem"] == found.problem


def test_a_search_resumes_and_other_targets_keep_its_runs(shared: tb.Scenario, tmp_path: Path) -> None:
    out = tmp_path / "search"
    counted: list[tb._study.runner.Progress] = []
    first = tb.threshold(shared, USED, 0.95, over=RANGE, seeds=2, out=out)
    again = tb.threshold(shared, USED, 0.95, over=RANGE, seeds=2, out=out, progress=counted.append)
    assert again.to_dict() == first.to_dict()
    assert tb.Study(out).counts.done == len(first.runs)
    # Nothing was simulated again: all planned runs were finished whenever progress was reported.
    assert all(progress.done == progress.total for progress in counted)
    with pytest.raises(tb.StudyError, match="contains another study"):
        tb.threshold(shared, USED, 0.9, over=RANGE, seeds=2, out=out)
    tb.threshold(shared, USED, 0.9, over=RANGE, seeds=2, out=out, extend=True)
    with pytest.raises(tb.StudyError, match="`tailback threshold`"):
        tb.Study(out).resume()
    with pytest.raises(tb.StudyError, match="contains a threshold"):
        tb.sweep(shared, RANGE, out=out)


def test_an_interrupted_search_gives_the_same_result(shared: tb.Scenario, tmp_path: Path) -> None:
    def interrupt(progress: tb._study.runner.Progress) -> None:
        if progress.done >= 5:
            raise KeyboardInterrupt

    with pytest.raises(tb.StudyInterrupted, match="the same search resumes"):
        tb.threshold(shared, USED, 0.95, over=RANGE, seeds=4, out=tmp_path / "a", progress=interrupt, workers=1)
    assert 0 < tb.Study(tmp_path / "a").counts.done < 30
    resumed = tb.threshold(shared, USED, 0.95, over=RANGE, seeds=4, out=tmp_path / "a")
    whole = tb.threshold(shared, USED, 0.95, over=RANGE, seeds=4, workers=2)
    assert resumed.to_dict() == whole.to_dict()


def test_seeds_are_added_until_the_mean_is_precise(shared: tb.Scenario) -> None:
    rough = tb.threshold(shared, USED, 0.95, over=RANGE, seeds=2)
    half = max(high - low for low, high in zip(rough.means["low"], rough.means["high"], strict=True)) / 2
    fine = tb.threshold(shared, USED, 0.95, over=RANGE, seeds=2, precision=0.005)
    assert half > 0.005
    at = fine.means[BUFFER].tolist().index(fine.value)
    assert fine.means["high"][at] - fine.means["low"][at] <= 0.01
    assert fine.study.plan["seeds"] == list(range(1, int(fine.means["seeds"][at]) + 1))


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"over": {}}, "expected one path"),
        ({"over": {BUFFER: ("1 packet", "2 packets"), "flows.tcp.count": (1, 2)}}, "expected one path"),
        ({"over": {BUFFER: ("5 packets", "2 packets")}}, "below the second"),
        ({"over": {"topology.dumbbell.queue.bufer": ("1 packet", "2 packets")}}, "did you mean `topology.dumbbell.queue.buffer`"),
        ({"over": {BUFFER: (1, 5)}}, "has no unit"),
        ({"seeds": 1}, "at least 2"),
        ({"target": "5 ms"}, "the target of"),
        ({"target": float("nan")}, "the target of"),
        ({"quantity": "queues.bottlenek.utilisation"}, "did you mean `bottleneck`"),
        ({"precision": 0.0}, "`precision` is 0.0"),
        ({"seeds": [3, 4], "precision": 0.1}, "`seeds` as a number"),
        ({"workers": 0}, "`workers` is 0"),
    ],
)
def test_a_question_that_is_none_is_refused_before_anything_runs(shared: tb.Scenario, changes: dict[str, Any], text: str) -> None:
    question: dict[str, Any] = {"quantity": USED, "target": 0.95, "over": RANGE, **changes}
    with pytest.raises((tb.ScenarioError, tb.ParameterError, tb.UnknownName), match=text.replace("`", ".")):
        tb.threshold(shared, **question)
