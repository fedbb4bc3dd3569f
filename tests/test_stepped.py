"""Simulations in steps, and forks of runs."""

from __future__ import annotations

import numpy as np
import pytest

import tailback as tb


def test_steps_do_not_change_the_results(scenario: tb.Scenario) -> None:
    whole = tb.simulate(scenario)
    simulation = tb.Simulation(scenario)
    seen = [simulation.step(until) for until in ("1 s", 2.5, 2.5, "3000 ms")]
    assert [run.simulated_s for run in seen] == [1.0, 2.5, 2.5, 3.0]
    assert simulation.now_s == 3.0
    assert seen[-1].trace("cwnd")["time_s"].max() <= 3.0
    last = simulation.step()
    assert simulation.is_complete
    assert last.complete
    for name, table in whole.tables.items():
        for column in table.columns:
            np.testing.assert_array_equal(last.tables[name][column], table[column])


def test_a_fork_differs_only_after_its_time(scenario: tb.Scenario) -> None:
    simulation = tb.Simulation(scenario, seed=3)
    simulation.step("2 s")
    slower = simulation.fork([{"link": "bottleneck", "rate": "2 Mbps"}, {"link": "bottleneck", "delay": "30 ms"}])
    assert slower.now_s == 2.0
    of_simulation, of_run = slower.step(), tb.simulate(scenario, seed=3).fork("2 s", slower._scenario.to_dict()["timeline"])
    one, other = (run.trace("cwnd") for run in (simulation.step(), of_simulation))
    before = [run["time_s"] < 2.0 for run in (one, other)]
    np.testing.assert_array_equal(one["cwnd_packets"][before[0]], other["cwnd_packets"][before[1]])
    assert other["cwnd_packets"].tolist() != one["cwnd_packets"].tolist()
    assert of_run.value() == of_simulation.value()


@pytest.mark.parametrize("until", ["soon", "5 Mbps", True, float("nan"), None])
def test_a_step_ends_at_a_later_time(scenario: tb.Scenario, until: object) -> None:
    simulation = tb.Simulation(scenario)
    simulation.step("1 s")
    with pytest.raises(tb.ParameterError, match="`until`"):
        simulation.step("0.5 s" if until is None else until)  # type: ignore[arg-type]


def test_changes_of_a_fork_are_checked(scenario: tb.Scenario) -> None:
    run = tb.simulate(scenario)
    with pytest.raises(tb.ScenarioError, match=r"timeline\[0\].link"):
        run.fork("2 s", {"link": "nowhere", "rate": "2 Mbps"})
    with pytest.raises(tb.ScenarioError, match="before the end"):
        run.fork("7 s", {"link": "bottleneck", "rate": "2 Mbps"})
