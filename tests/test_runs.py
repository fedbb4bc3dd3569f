"""Several seeds at once, and runs that are read back."""

from __future__ import annotations

import json
import os
import re
import signal
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tailback as tb
from tailback._interval import Interval

FLOWS: Any = {"web": {"count": 2, "start": {"uniform": ["0 s", "1 s"]}, "tcp": {"preset": "sack"}}}
SCENARIO = tb.dumbbell(rate="10 Mbps", delay="10 ms", buffer="9 packets", flows=FLOWS, duration="3 s", traces=["queue"])


def test_several_seeds_are_the_same_runs_and_their_means() -> None:
    done: list[float] = []
    runs = tb.simulate(SCENARIO, seeds=4, progress=done.append)
    assert runs.seeds == [1, 2, 3, 4]
    assert done[-1] == 1.0
    alone = tb.simulate(SCENARIO, seed=3)
    np.testing.assert_equal(runs[2].flows.to_dict(), alone.flows.to_dict())
    used = [float(run.queues.where(queue="bottleneck")["utilisation"][0]) for run in runs]
    assert runs.values("queues.bottleneck.utilisation") == used
    assert runs.mean("queues.bottleneck.utilisation") == Interval.of(used)
    assert runs.mean().mean == np.mean([float(run.groups["goodput_bps"][0]) for run in runs])
    table = runs.means("goodput", "flows.*.timeouts")
    assert table.columns == ["quantity", "mean", "low", "high", "seeds"]
    assert [run.seed for run in tb.simulate(SCENARIO, seeds=[9, 7])] == [9, 7]


def test_without_chance_there_is_no_interval() -> None:
    runs = tb.simulate(SCENARIO.with_({"flows.web.start": "0 s"}), seeds=2)
    assert np.isnan(runs.mean().low)
    assert "nothing is random" in repr(runs)


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ({"seeds": 0}, "at least one"),
        ({"seeds": [1, 1]}, "each once"),
        ({"seeds": "3"}, "a number of seeds"),
        ({"seeds": True}, "a number of seeds"),
        ({"seeds": 2, "seed": 1}, "expected one of them"),
        ({"seeds": 2, "checkpoint": "here"}, "expected one of them"),
    ],
)
def test_seeds_that_are_none_are_refused(words: dict[str, Any], told: str) -> None:
    with pytest.raises(tb.ParameterError, match=told):
        tb.simulate(SCENARIO, **words)


def test_a_quantity_that_no_run_has_is_named() -> None:
    runs = tb.simulate(SCENARIO, seeds=2)
    with pytest.raises(tb.UnknownName, match="no row in `queues`"):
        runs.mean("queues.botleneck.utilisation")
    with pytest.raises(tb.UnknownName, match="did you mean `utilisation`"):
        runs.mean("queues.bottleneck.utilization")


def test_ctrl_c_stops_all_of_them() -> None:
    endless = SCENARIO.with_({"duration": "1000000 s", "record.traces": []})
    threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()
    with pytest.raises(tb.RunsInterrupted) as stopped:
        tb.simulate(endless, seeds=3)
    assert len(stopped.value.runs) == 0


def test_a_run_is_read_back(tmp_path: Path) -> None:
    run = tb.simulate(SCENARIO)
    run.save(tmp_path / "run")
    again = tb.read_run(tmp_path / "run")
    assert (again.traces, again.seed, again.complete, again.events) == (run.traces, run.seed, run.complete, run.events)
    assert again.summary() == run.summary()
    for name, table in run.tables.items():
        np.testing.assert_equal(again.tables[name].to_dict(), table.to_dict())


@pytest.mark.parametrize(
    ("damage", "told"),
    [
        (lambda folder: (folder / "provenance.json").unlink(), "provenance.json"),
        (lambda folder: (folder / "provenance.json").write_text("{"), "provenance.json"),
        (lambda folder: (folder / "provenance.json").write_text(json.dumps([1])), "nothing of a scenario"),
        (lambda folder: (folder / "queues.parquet").unlink(), "queues.parquet"),
        (lambda folder: (folder / "queue.parquet").write_bytes(b"PAR1"), "queue.parquet"),
    ],
)
def test_a_directory_without_a_run_is_told(tmp_path: Path, damage: Any, told: str) -> None:
    tb.simulate(SCENARIO).save(tmp_path / "run")
    damage(tmp_path / "run")
    with pytest.raises(tb.ParameterError, match=told):
        tb.read_run(tmp_path / "run")


def test_completion_shows_what_there_is_for_users() -> None:
    assert dir(tb) == sorted(tb.__all__)


def test_one_seed_is_not_said_to_be_without_chance() -> None:
    flows: Any = {"web": {"start": {"uniform": ["0 s", "1 s"]}, "tcp": {"preset": "sack"}}}
    runs = tb.simulate(tb.dumbbell(rate="10 Mbps", delay="10 ms", buffer="9 packets", flows=flows, duration="2 s"), seeds=1)
    assert re.fullmatch(r"<Runs of scenario: 1 seed, goodput \S+ Mbps \(no interval\)>", repr(runs))
    with pytest.raises(tb.ParameterError, match="no run was done"):
        tb.Runs([], is_random=True).mean()
