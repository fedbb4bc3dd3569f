"""Runs: results, displays and traces."""

from __future__ import annotations

import math
import pickle
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import tailback as tb


def test_a_trace_that_was_not_recorded(scenario: tb.Scenario) -> None:
    run = tb.simulate(scenario)
    assert run.traces == ["cwnd", "queue", "drops"]
    with pytest.raises(
        tb.UnknownName, match=r"no trace `rtt`; expected one of `cwnd`, `queue`, `drops`; add it to `record\.traces`"
    ):
        run.trace("rtt")


def test_a_change_of_its_scenario_does_not_change_a_run(scenario: tb.Scenario) -> None:
    run = tb.simulate(scenario)
    run.scenario["flows"]["tcp"]["count"] = 50
    assert run.scenario["flows"]["tcp"]["count"] == 2


@pytest.mark.parametrize("name", [None, 3, ["cwnd"]])
def test_an_unknown_name(scenario: tb.Scenario, name: Any) -> None:
    run = tb.simulate(scenario)
    with pytest.raises(tb.UnknownName) as caught:
        run.trace(name)
    assert str(caught.value).startswith(f"no trace `{name!r}`; expected one of `cwnd`, `queue`, `drops`")
    with pytest.raises(tb.UnknownName, match="no column in `flows` `"):
        run.flows[name]
    assert name not in run.flows


def test_results_add_up(scenario: tb.Scenario) -> None:
    run = tb.simulate(scenario)
    drops, queues = run.trace("drops"), run.queues.where(queue="bottleneck")
    measured = drops.where(queue="bottleneck")["time_s"] >= 1
    assert queues["dropped_units"].tolist() == [np.count_nonzero(measured)]
    assert run.groups["goodput_bps"].sum() == pytest.approx(run.flows["goodput_bps"].sum())
    assert queues["utilisation"][0] <= 1


def test_displays_show_the_results(scenario: tb.Scenario) -> None:
    run = tb.simulate(scenario.with_({"name": "<b>two</b>"}))
    assert repr(run).startswith("<Run <b>two</b>: 5 s simulated, seed 1, ")
    assert "&lt;b&gt;two&lt;/b&gt;" in run._repr_html_()
    assert "bottleneck" in run.summary()
    assert repr(run.flows).startswith("flows: 2 rows x ")
    assert run.flows._repr_html_().count("<tr>") == 3
    assert "10 Mbps" in scenario._repr_html_()


def test_a_run_survives_a_process_boundary(scenario: tb.Scenario) -> None:
    run = tb.simulate(scenario)
    copy = pickle.loads(pickle.dumps(run))
    assert copy.provenance == run.provenance
    assert (copy.complete, copy.simulated_s, copy.events) == (run.complete, run.simulated_s, run.events)
    assert list(copy.tables) == list(run.tables)
    for name, table in run.tables.items():
        assert copy.tables[name].name == name
        assert pa.table(copy.tables[name]).schema == pa.table(table).schema
        np.testing.assert_equal(copy.tables[name].to_dict(), table.to_dict())
    assert copy.summary() == run.summary()


def test_an_interrupt_survives_a_process_boundary(scenario: tb.Scenario) -> None:
    interrupt = pickle.loads(pickle.dumps(tb.Interrupted(tb.simulate(scenario))))
    assert isinstance(interrupt, tb.Interrupted)
    assert interrupt.run.simulated_s == 5


def test_an_interruption_in_the_warm_up_is_noted() -> None:
    def stopped(least: float) -> tb.Run:
        def stop(done: float) -> None:
            if done >= least:
                raise KeyboardInterrupt

        with pytest.raises(tb.Interrupted) as caught:
            tb.simulate(scenario, progress=stop)
        return caught.value.run

    scenario = tb.dumbbell(rate="10 Mbps", delay="10 ms", buffer="20 packets", duration="4000 s", warmup="2000 s")
    said = "nothing was measured: the run was interrupted within its warm-up of 2000 s"
    assert said in stopped(0.0).notes
    assert said not in stopped(0.6).notes


# In phase with 20 synchronous flows, some lose all packets, wait for timeouts, and deliver nothing.
@pytest.mark.filterwarnings("ignore::tailback.StarvationWarning")
def test_a_summary_shows_the_spread_of_many_flows() -> None:
    flows: Any = {"web": {"count": 20, "tcp": {"preset": "sack"}}, "noise": {"source": NOISE}}
    run = tb.simulate(tb.dumbbell(rate="10 Mbps", delay="10 ms", buffer="20 packets", duration="3 s", flows=flows))
    shown = run.summary()
    assert "flows by group" in shown
    goodputs = sorted(run.flows.where(group="web")["goodput_bps"].tolist())
    (line,) = [line.split() for line in shown[shown.index("flows by group") :].splitlines() if line.split()[:1] == ["web"]]
    assert line[1] == "20"
    assert f"{sum(run.flows.where(group='web')['timeouts'])}" == line[-1]
    assert goodputs[0] <= goodputs[10] <= goodputs[-1]
    assert "flows by group" in run._repr_html_()
    few = tb.simulate(tb.dumbbell(rate="10 Mbps", delay="10 ms", buffer="20 packets", duration="3 s", flows=3))
    assert "flows by group" not in few.summary()


NOISE = {"kind": "poisson", "rate": "1 Mbps", "packet_size": "1000 B"}


def test_goodput_is_that_of_the_interval_and_the_transfer_rate_that_of_the_transfer() -> None:
    flows = {
        "transfer": {"size": "1 MB", "start": "2 s", "tcp": {"preset": "sack"}},
        "stopped": {"stop": "5 s", "tcp": {"preset": "sack"}},
        "greedy": {"tcp": {"preset": "sack"}},
        "over": {"size": "10 kB", "tcp": {"preset": "sack"}},
    }
    link = {"rate": "10 Mbps", "delay": "10 ms", "buffer": "50 packets"}
    run = tb.simulate(tb.dumbbell(**link, flows=flows, duration="20 s", warmup="1 s"))  # type: ignore[arg-type]
    row = {row["group"]: row for row in run.flows.to_rows()}
    assert row["transfer"]["transfer_rate_bps"] == pytest.approx(8e6 / row["transfer"]["completion_time_s"])
    assert all(flow["goodput_bps"] == 8 * flow["delivered_bytes"] / 19 for flow in row.values())
    assert row["over"]["goodput_bps"] == 0
    assert row["over"]["transfer_rate_bps"] == pytest.approx(8e4 / row["over"]["completion_time_s"])
    assert math.isnan(row["greedy"]["transfer_rate_bps"])
    assert math.isnan(row["stopped"]["transfer_rate_bps"])
    assert run.groups["goodput_bps"].sum() == pytest.approx(8 * run.flows["delivered_bytes"].sum() / 19)
