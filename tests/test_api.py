"""The Python interface: scenarios, runs and tables as a user meets them."""

from __future__ import annotations

import json
import pickle
import subprocess
import sys
import threading
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import tailback as tb
from tailback import _core, _store


def test_a_dictionary_a_file_and_a_helper_are_the_same_scenario() -> None:
    helper = tb.dumbbell(rate="10 Mbps", delay="10 ms", buffer="20 packets", flows=2, duration="5 s")
    text = """
        duration = "5 s"
        topology.dumbbell = { rate = "10 Mbps", delay = "10 ms", queue = { policy = "drop_tail", buffer = "20 packets" } }
        flows.tcp = { count = 2, from = "left", to = "right", tcp = { preset = "newreno" } }
    """
    runs = [tb.simulate(each) for each in (helper, helper.to_dict(), tb.Scenario.from_toml(text))]
    runs.append(tb.simulate(tb.Scenario.from_json(json.dumps(helper.to_dict()))))
    assert len({run.content_hash for run in runs}) == 1
    for run in runs:
        np.testing.assert_equal(run.flows.to_dict(), runs[0].flows.to_dict())


def test_with_changes_a_copy(scenario: tb.Scenario) -> None:
    changed = scenario.with_({"topology.dumbbell.rate": "5 Mbps", "flows.*.count": 3, "record.traces[0]": "rtt", "warmup": None})
    assert scenario["topology.dumbbell.rate"] == "10 Mbps"
    assert (changed["topology.dumbbell.rate"], changed["flows.tcp.count"], changed["record.traces[0]"]) == ("5 Mbps", 3, "rtt")
    assert "warmup" not in changed.to_dict()
    changed.check()
    with pytest.raises(KeyError, match=r"flows\.web"):
        changed["flows.web"]


def test_numpy_values_are_numbers(scenario: tb.Scenario) -> None:
    changed = scenario.with_({"flows.tcp.count": np.int64(2), "flows.tcp.rtt": list(np.array(["50 ms", "60 ms"]))})
    assert changed["flows.tcp.count"] == 2
    changed.check()


def test_the_seed_decides(scenario: tb.Scenario) -> None:
    random = scenario.with_({"flows.tcp.start": {"uniform": ["0 s", "1 s"]}})
    first, again, other = (tb.simulate(random, seed=seed) for seed in (1, 1, 2))
    assert (first.seed, other.seed) == (1, 2)
    assert first.content_hash == again.content_hash != other.content_hash
    assert pa.table(first.trace("cwnd")).equals(pa.table(again.trace("cwnd")))
    assert not pa.table(first.trace("cwnd")).equals(pa.table(other.trace("cwnd")))
    assert first.scenario["seed"] == 1


def test_every_reader_of_arrow_sees_the_same(scenario: tb.Scenario) -> None:
    run = tb.simulate(scenario)
    for table in run.tables.values():
        arrow = pa.table(table)
        assert arrow.column_names == table.columns
        assert arrow.num_rows == len(table)
        columns = table.to_dict()
        np.testing.assert_equal(arrow.to_pydict(), columns)
        np.testing.assert_equal(pl.DataFrame(table).to_dict(as_series=False), columns)
        np.testing.assert_equal(pd.DataFrame.from_arrow(table).to_dict("list"), columns)
        np.testing.assert_equal(table.to_pandas().to_dict("list"), columns)
        assert table.to_pandas().columns.tolist() == table.columns
        arrays: dict[str, Any] = dict(table)
        np.testing.assert_equal({name: array.tolist() for name, array in arrays.items()}, columns)
        np.testing.assert_equal({name: column.tolist() for name, column in table.to_numpy().items()}, columns)


def test_pandas_takes_no_names_for_data(scenario: tb.Scenario) -> None:
    flows = tb.simulate(scenario).flows
    with pytest.raises(TypeError, match=r"table\.to_pandas\(\)"):
        pd.DataFrame(flows)


def test_columns_have_the_types_they_should(scenario: tb.Scenario) -> None:
    flows = tb.simulate(scenario).flows
    assert (flows["goodput_bps"].dtype, flows["flow"].dtype) == (np.dtype("f8"), np.dtype("i8"))
    assert flows["group"].tolist() == ["tcp", "tcp"]
    with pytest.raises(tb.UnknownName, match="did you mean `goodput_bps`"):
        flows["goodput"]


def test_rows_can_be_chosen(scenario: tb.Scenario) -> None:
    cwnd = tb.simulate(scenario).trace("cwnd")
    second = cwnd.where(group="tcp", flow=1)
    assert (type(second), second.name, second.columns) == (tb.Table, "cwnd", cwnd.columns)
    assert set(second["flow"]) == {1}
    assert len(second) + len(cwnd.where(flow=0)) == len(cwnd)
    by_hand = pl.DataFrame(cwnd).filter(pl.col("flow") == 1)
    assert pl.DataFrame(second).equals(by_hand)
    early = second["time_s"][0]
    assert (
        second.where(time_s=early)["cwnd_packets"].tolist() == by_hand.filter(pl.col("time_s") == early)["cwnd_packets"].to_list()
    )
    assert len(cwnd.where(group="another")) == len(cwnd.where(flow=7)) == 0


def test_rows_that_cannot_be_chosen(scenario: tb.Scenario) -> None:
    flows = tb.simulate(scenario).flows
    with pytest.raises(tb.UnknownName, match="did you mean `group`"):
        flows.where(groups="tcp")
    with pytest.raises(tb.ParameterError, match="`flow` of `flows` holds numbers; expected one, not `1`"):
        flows.where(flow="1")
    with pytest.raises(tb.ParameterError, match="`group` of `flows` holds words; expected one in quotes, not 1"):
        flows.where(group=1)


def test_a_trace_that_was_not_asked_for(scenario: tb.Scenario) -> None:
    run = tb.simulate(scenario)
    assert run.traces == ["cwnd", "queue", "drops"]
    with pytest.raises(
        tb.UnknownName, match=r"no trace `rtt`; there is `cwnd`, `queue`, `drops`; ask for it in `record\.traces`"
    ):
        run.trace("rtt")


@pytest.mark.parametrize("name", [None, 3, ["cwnd"]])
def test_a_name_that_is_none(scenario: tb.Scenario, name: Any) -> None:
    run = tb.simulate(scenario)
    with pytest.raises(tb.UnknownName) as caught:
        run.trace(name)
    assert str(caught.value).startswith(f"no trace `{name!r}`; there is `cwnd`, `queue`, `drops`")
    with pytest.raises(tb.UnknownName, match="no column in `flows` `"):
        run.flows[name]
    assert name not in run.flows


def test_results_add_up(scenario: tb.Scenario) -> None:
    run = tb.simulate(scenario)
    drops, queues = run.trace("drops"), run.queues.where(queue="bottleneck")
    measured = drops.where(queue="bottleneck")["time_s"] >= 1
    assert queues["discarded_units"].tolist() == [np.count_nonzero(measured)]
    assert run.groups["goodput_bps"].sum() == pytest.approx(run.flows["goodput_bps"].sum())
    assert queues["utilisation"][0] <= 1


def test_displays_show_what_there_is(scenario: tb.Scenario) -> None:
    run = tb.simulate(scenario.with_({"name": "<b>two</b>"}))
    assert repr(run).startswith("<Run <b>two</b>: 5 s simulated, seed 1, ")
    assert "&lt;b&gt;two&lt;/b&gt;" in run._repr_html_()
    assert "bottleneck" in run.summary()
    assert repr(run.flows).startswith("flows: 2 rows x ")
    assert run.flows._repr_html_().count("<tr>") == 3
    assert "10 Mbps" in scenario._repr_html_()


@pytest.mark.parametrize("traces", [["cwnd", "queue"], []])
def test_a_run_can_be_plotted(scenario: tb.Scenario, traces: list[str]) -> None:
    run = tb.simulate(scenario.with_({"record.traces": traces}))
    figure = run.plot()
    lines = [line for axis in figure.axes for line in axis.lines]
    # Two windows and the one queue that ever held a packet; or the dots of flows and of queues.
    assert len(figure.axes) == 2
    assert len(lines) == (3 if traces else 2)


def test_nine_panels_keep_their_words_apart_and_their_colours(scenario: tb.Scenario) -> None:
    kinds = ["cwnd", "ssthresh", "rtt", "in_flight", "segments", "acks", "throughput", "queue", "drops"]
    figure = tb.simulate(scenario.with_({"record.traces": kinds})).plot()
    figure.canvas.draw()
    boxes = [axis.get_tightbbox() for axis in figure.axes]
    assert len(boxes) == 9
    assert all(above.y0 >= below.y1 for above, below in pairwise(boxes) if above is not None and below is not None)
    colours = {(line.get_label(), line.get_color()) for axis in figure.axes for line in axis.lines}
    # Two flows and a queue, each of one colour throughout.
    assert len(colours) == len({name for name, _ in colours}) == 3


def test_threads_run_side_by_side_and_agree(scenario: tb.Scenario) -> None:
    alone = tb.simulate(scenario).flows.to_dict()
    results: list[dict[str, list[Any]]] = []
    threads = [threading.Thread(target=lambda: results.append(tb.simulate(scenario).flows.to_dict())) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 4
    for result in results:
        np.testing.assert_equal(result, alone)


def test_progress_goes_from_start_to_end(scenario: tb.Scenario) -> None:
    seen: list[float] = []
    tb.simulate(scenario, progress=seen.append)
    assert seen == sorted(seen)
    assert seen[-1] == 1


def test_an_interrupt_carries_what_was_measured(scenario: tb.Scenario) -> None:
    def interrupt(fraction: float) -> None:
        if fraction > 0.5:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt) as caught:
        tb.simulate(scenario, progress=interrupt)
    assert isinstance(caught.value, tb.Interrupted)
    run = caught.value.run
    assert not run.complete
    assert not run.provenance["complete"]
    assert 2.5 < run.simulated_s < 5
    assert run.queues["departed_units"][0] > 0
    assert "INCOMPLETE" in run.summary()


def test_a_run_can_be_interrupted_within_one_instant() -> None:
    seen: list[float] = []

    def interrupt(fraction: float) -> None:
        seen.append(fraction)
        raise KeyboardInterrupt

    # All of them start at 0, and starting one is an event. The first slice has a fixed number
    # of events; later ones follow the clock.
    crowd = tb.dumbbell(rate="10 Gbps", delay="10 ms", buffer="20 packets", flows=50_000, duration="1 s")
    with pytest.raises(tb.Interrupted) as caught:
        tb.simulate(crowd, progress=interrupt)
    assert seen == [0]
    assert caught.value.run.simulated_s == 0
    assert caught.value.run.events < 50_000


def test_what_a_callback_raises_ends_the_run(scenario: tb.Scenario) -> None:
    def fail(_fraction: float) -> None:
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        tb.simulate(scenario, progress=fail)


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


def test_a_damaged_pickle_is_refused() -> None:
    damaged: list[tuple[str, str, bytes, list[str]]] = [
        ("a", "float", b"1234567", []),
        ("a", "word", bytes(4), []),
        ("a", "date", b"", []),
    ]
    for column in damaged:
        with pytest.raises(ValueError, match="a damaged table"):
            _core.Table("t", [column])
    with pytest.raises(ValueError, match="a damaged table"):
        _core.Table("t", [("a", "float", bytes(8), []), ("b", "float", bytes(16), [])])


def test_the_normalised_form_has_every_setting_and_is_the_same_scenario(scenario: tb.Scenario) -> None:
    run = tb.simulate(scenario)
    tcp = run.scenario["flows"]["tcp"]["tcp"]
    assert (tcp["preset"], tcp["mss"], tcp["initial_window"], tcp["recovery"]) == ("newreno", "1460 B", 10, "newreno")
    assert (tcp["timer"]["form"], tcp["timer"]["min_rto"]) == ("exact", "1 s")
    again = tb.simulate(run.scenario)
    assert (again.content_hash, again.scenario) == (run.content_hash, run.scenario)


def test_errors_survive_a_process_boundary() -> None:
    with pytest.raises(tb.ScenarioError) as caught:
        tb.Scenario({}).check()
    copy = pickle.loads(pickle.dumps(caught.value))
    assert (str(copy), copy.problems) == (str(caught.value), caught.value.problems)
    bug = pickle.loads(pickle.dumps(tb.InternalError("a packet vanished", "abc", 7)))
    assert (bug.content_hash, bug.seed) == ("abc", 7)
    assert "please report it" in str(bug)


def test_an_interrupt_survives_a_process_boundary(scenario: tb.Scenario) -> None:
    interrupt = pickle.loads(pickle.dumps(tb.Interrupted(tb.simulate(scenario))))
    assert isinstance(interrupt, tb.Interrupted)
    assert interrupt.run.simulated_s == 5


def test_what_a_killed_run_left_is_removed_and_a_living_one_is_kept(tmp_path: Path) -> None:
    begin = f"""
import os, sys
from tailback import _store
with _store.staged({str(tmp_path / "results")!r}) as folder:
    print(folder.name, flush=True)
    sys.stdin.read()
    os._exit(9)
"""
    dead, living = (
        subprocess.Popen([sys.executable, "-c", begin], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        for _ in range(2)
    )
    assert dead.stdout is not None
    assert living.stdout is not None
    left, kept = dead.stdout.readline().strip(), living.stdout.readline().strip()
    other = tmp_path / ".results.more.abcdefgh.partial"
    other.mkdir()
    try:
        dead.communicate("")
        assert {left, kept, other.name} == {path.name for path in tmp_path.iterdir()}
        with _store.staged(tmp_path / "results"):
            assert {path.name for path in tmp_path.iterdir()} > {kept, other.name}
            assert left not in {path.name for path in tmp_path.iterdir()}
        assert {path.name for path in tmp_path.iterdir()} == {"results", kept, other.name}
    finally:
        living.communicate("")
