"""Several seeds in parallel, and runs that are read back."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import threading
from collections.abc import Callable
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
    assert runs.mean("queues.bottleneck.utilisation") == Interval.of(used, within=(0, 1))
    assert runs.mean().mean == np.mean([float(run.groups["goodput_bps"][0]) for run in runs])
    table = runs.means("goodput", "flows.*.timeouts")
    assert table.columns == ["quantity", "mean", "low", "high", "seeds"]
    assert [run.seed for run in tb.simulate(SCENARIO, seeds=[9, 7])] == [9, 7]


def test_without_randomness_there_is_no_interval() -> None:
    runs = tb.simulate(SCENARIO.with_({"flows.web.start": "0 s"}), seeds=2)
    assert np.isnan(runs.mean().low)
    assert "nothing is random" in repr(runs)


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ({"seeds": 0}, "at least one"),
        ({"seeds": [1, 1]}, "each seed once"),
        ({"seeds": "3"}, "a number of seeds"),
        ({"seeds": True}, "a number of seeds"),
        ({"seeds": 2, "seed": 1}, "expected one of them"),
        ({"seeds": 2, "checkpoint": "here"}, "expected one of them"),
    ],
)
def test_invalid_seeds_are_rejected(words: dict[str, Any], told: str) -> None:
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
    # Background processes of a shell ignore Ctrl-C by default.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()
    try:
        with pytest.raises(tb.RunsInterrupted) as stopped:
            tb.simulate(endless, seeds=3)
    finally:
        signal.signal(signal.SIGINT, before)
    assert len(stopped.value.runs) == 0


def flipped(file: Path) -> None:
    """Flip a bit in the middle of a file."""
    data = bytearray(file.read_bytes())
    data[len(data) // 2] ^= 1
    file.write_bytes(data)


def said(folder: Path, **other: Any) -> None:
    """Change the provenance of a run."""
    file = folder / "provenance.json"
    file.write_text(json.dumps({**json.loads(file.read_text()), **other}))


def test_other_directories_are_identified(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    tb.sweep(SCENARIO, {"flows.web.count": [1, 2]}, out=tmp_path / "study", seeds=1)
    kinds = {"nowhere": "no directory", "file": "is a file", "study": "is a study", ".": "provenance.json is missing"}
    for name, told in kinds.items():
        with pytest.raises(tb.ParameterError, match=told):
            tb.read_run(tmp_path / name)


def test_flows_are_in_the_order_of_the_scenario() -> None:
    flows: Any = {name: {"tcp": {"preset": "reno"}} for name in ("zeta", "alpha")}
    run = tb.simulate(tb.dumbbell(rate="10 Mbps", delay="10 ms", buffer="9 packets", flows=flows, duration="1 s"))
    assert [*run.scenario["flows"]] == ["zeta", "alpha"]
    again = tb.simulate(tb.Scenario(run.scenario))
    assert again.content_hash == run.content_hash
    np.testing.assert_equal(again.groups.to_dict(), run.groups.to_dict())


def test_invalid_selections_are_rejected() -> None:
    run: Any = tb.simulate(SCENARIO)
    runs: Any = tb.simulate(SCENARIO, seeds=1)
    wrong: list[tuple[Callable[[], object], str]] = [
        (lambda: run.flows.select(), "no column of `flows` is selected"),
        (lambda: run.flows.select(["flow"]), r"write `select\(\*\['flow'\]\)`"),
        (lambda: run.flows.where(flow=[0, 1]), "expected one value"),
        (lambda: run.plot(3), "is not a trace or line"),
        (lambda: runs.mean(None), "is not a quantity"),
    ]
    for ask, told in wrong:
        with pytest.raises(tb.ParameterError, match=told):
            ask()


def test_missing_values_are_found() -> None:
    run = tb.simulate(SCENARIO)
    assert len(run.flows.where(completion_time_s=None)) == len(run.flows)
    assert len(run.flows.where(flow=None)) == 0


def test_part_of_the_runs_are_runs() -> None:
    three: Any = np.int64(3)
    runs = tb.simulate(SCENARIO, seeds=three)
    assert runs[1:].seeds == [2, 3]
    assert "3 seeds" in runs._repr_html_()


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
        (lambda folder: (folder / "provenance.json").write_text(json.dumps([1])), "not the provenance of a run"),
        (lambda folder: (folder / "queues.parquet").unlink(), "queues.parquet"),
        (lambda folder: (folder / "queue.parquet").write_bytes(b"PAR1"), "queue.parquet"),
        (lambda folder: (folder / "queue.parquet").unlink(), "queue.parquet"),
        (
            lambda folder: shutil.copy(folder / "flows.parquet", folder / "groups.parquet"),
            "groups.parquet: the file was modified",
        ),
        (lambda folder: said(folder, seed=None), "`seed` is None"),
        (lambda folder: said(folder, events=[1]), r"`events` is \[1\]"),
        (lambda folder: said(folder, complete=1), "`complete` is 1"),
        (lambda folder: said(folder, scenario="none"), "`scenario` is 'none'"),
        (lambda folder: said(folder, tables={"../flows": ""}), "`tables` is"),
        (lambda folder: said(folder, tables={}), "the table `flows` is missing"),
        (lambda folder: flipped(folder / "flows.parquet"), "flows.parquet: the file was modified"),
    ],
)
def test_a_directory_without_a_run_is_rejected(tmp_path: Path, damage: Any, told: str) -> None:
    tb.simulate(SCENARIO).save(tmp_path / "run")
    damage(tmp_path / "run")
    with pytest.raises(tb.ParameterError, match=told):
        tb.read_run(tmp_path / "run")


def test_completion_lists_public_names() -> None:
    assert dir(tb) == sorted(tb.__all__)


def test_one_seed_is_not_reported_as_deterministic() -> None:
    flows: Any = {"web": {"start": {"uniform": ["0 s", "1 s"]}, "tcp": {"preset": "sack"}}}
    runs = tb.simulate(tb.dumbbell(rate="10 Mbps", delay="10 ms", buffer="9 packets", flows=flows, duration="2 s"), seeds=1)
    assert re.fullmatch(r"<Runs of scenario: 1 seed, goodput \S+ Mbps \(no interval\)>", repr(runs))
    with pytest.raises(tb.ParameterError, match="no run was completed"):
        tb.Runs([], is_random=True).mean()
