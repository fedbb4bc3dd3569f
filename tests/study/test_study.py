"""Studies from the user's perspective: tables, and resuming."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tailback as tb
from small_sweep import BUFFER, PRESET, VARY, counted, exported, failing, one_by_one
from tailback._study import runner
from tailback._study.ledger import Ledger


class TestTables:
    def test_every_row_identifies_its_run(self, small: tb.Scenario) -> None:
        study = tb.sweep(small, VARY, seeds=2)
        assert study.groups.columns[:6] == ["point", "seed", BUFFER, f"{BUFFER}_packets", PRESET, "group"]
        assert study.groups["point"].tolist() == [0, 0, 1, 1, 2, 2, 3, 3]
        assert study.groups["seed"].tolist() == [1, 2] * 4
        assert study.groups[PRESET].tolist() == ["reno", "reno", "sack", "sack"] * 2

    def test_quantities_that_vary_are_numbers_too(self, small: tb.Scenario) -> None:
        rate, mixed = "topology.dumbbell.rate", {BUFFER: ["5 packets", "9 kB"]}
        rows = tb.sweep(small, {rate: ["500 kbps", "1 Mbps"], **mixed}).groups
        assert rows[f"{rate}_bps"].tolist() == [5e5, 5e5, 1e6, 1e6]
        assert rows[rate].tolist() == ["500 kbps", "500 kbps", "1 Mbps", "1 Mbps"]
        # The name is already an axis, whose labels are kept.
        named = {"size": {"5 packets": {}}, "size_packets": {"one": {}, "two": {PRESET: "reno"}}}
        assert tb.sweep(small, named).groups["size_packets"].tolist() == ["one", "two"]
        assert tb.sweep(small, named).means()["size_packets"].tolist() == ["one", "two"]
        # Labels of different kinds do not fit into one column.
        assert [name for name in rows.columns if name.startswith(BUFFER)] == [BUFFER]

    def test_the_rows_are_those_of_the_runs(self, small: tb.Scenario) -> None:
        study = tb.sweep(small, VARY, seeds=2)
        run = tb.simulate(small.with_({BUFFER: "5 packets", PRESET: "sack"}), seed=2)
        for name in ("flows", "queues", "groups"):
            rows = study.table(name).where(point=1, seed=2)
            for column in run.tables[name]:
                np.testing.assert_array_equal(rows[column], run.tables[name][column])

    def test_words_of_different_runs_do_not_mix(self, small: tb.Scenario) -> None:
        other = {"from": "left", "to": "right", "tcp": {"preset": "sack"}}
        vary = {"kind": {"one": {}, "two": {"flows": {"web": other, "tcp": other}}}}
        study = tb.sweep(small, vary)
        assert list(zip(study.groups["kind"].tolist(), study.groups["group"].tolist(), strict=True)) == [
            ("one", "tcp"),
            ("two", "web"),
            ("two", "tcp"),
        ]

    def test_data_frames_read_it_in_one_line(self, small: tb.Scenario) -> None:
        pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
        study = tb.sweep(small, VARY)
        assert len(study.flows.to_pandas()) == len(pandas.DataFrame.from_arrow(study.flows)) == 4
        assert polars.DataFrame(study.flows)["goodput_bps"].to_list() == study.flows["goodput_bps"].tolist()

    def test_duckdb_reads_it_in_one_line(self, small: tb.Scenario) -> None:
        duckdb = pytest.importorskip("duckdb")
        flows = tb.sweep(small, VARY).flows
        assert duckdb.sql("SELECT count(*) FROM flows").fetchall() == [(len(flows),)]

    def test_traces_are_parquet_files_with_the_labels_of_their_run(self, small: tb.Scenario) -> None:
        study = tb.sweep(small.with_({"record.traces": ["cwnd"]}), VARY)
        found = study.traces("cwnd")
        assert [(trace["point"], trace[PRESET]) for trace in found] == [(0, "reno"), (1, "sack"), (2, "reno"), (3, "sack")]
        assert all(trace["file"].read_bytes()[:4] == b"PAR1" for trace in found)
        with pytest.raises(tb.UnknownName, match="cwnd"):
            study.traces("rtt")

    def test_a_run_has_its_provenance(self, small: tb.Scenario) -> None:
        run = tb.simulate(small.with_({BUFFER: "20 packets", PRESET: "sack"}), seed=2)
        provenance = tb.sweep(small, VARY, seeds=2).provenance(3, 2)
        assert provenance == {key: run.provenance[key] for key in provenance}
        assert provenance["content_hash"] == run.content_hash

    def test_notes_of_its_scenarios_are_those_of_the_study(self) -> None:
        flows: Any = {"web": {"count": 2, "propagation_rtt": ["40 ms", "42 ms"], "tcp": {"preset": "sack"}}}
        scenario = tb.dumbbell(rate="2 Mbps", delay="5 ms", buffer="20 packets", duration="3 s", flows=flows)
        queues = {"topology.dumbbell.queue": [{"buffer": "9 packets", "scheduler": "drr"}, {"buffer": "20 packets"}]}
        assert tb.sweep(scenario, queues).notes == scenario.notes() != []

    def test_identical_runs_are_executed_once(self, small: tb.Scenario, monkeypatch: pytest.MonkeyPatch) -> None:
        done = counted(monkeypatch)
        study = tb.sweep(small, {"kind": {"one": {}, "two": {BUFFER: "20 packets"}}}, seeds=3)
        assert (len(done), study.counts.done, len(study.groups)) == (3, 6, 6)


class TestGoingOn:
    def test_the_same_sweep_again_does_nothing(self, small: tb.Scenario, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        tb.sweep(small, VARY, out=tmp_path / "study")
        done = counted(monkeypatch)
        assert tb.sweep(small, VARY, out=tmp_path / "study").counts.done == 4
        assert done == []

    def test_another_plan_is_rejected_unless_extended(
        self, small: tb.Scenario, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        study = tb.sweep(small, VARY, out=tmp_path / "study")
        with pytest.raises(tb.StudyError, match=r"contains another study .*--extend"):
            tb.sweep(small, VARY, seeds=3, out=tmp_path / "study")
        assert study.counts.total == 4
        done = counted(monkeypatch)
        assert tb.sweep(small, VARY, seeds=3, out=tmp_path / "study", extend=True).counts.done == 12
        assert len(done) == 8
        assert exported(study, tmp_path / "a") == exported(tb.sweep(small, VARY, seeds=3), tmp_path / "b")

    def test_other_processes_see_running_runs(self, small: tb.Scenario, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        one_by_one(monkeypatch)
        seen = []

        def look(_progress: Any) -> None:
            seen.append(tb.Study(tmp_path / "study").counts)

        tb.sweep(small, VARY, seeds=5, out=tmp_path / "study", workers=1, progress=look)
        # One run in progress and one that waits, so that the worker is never idle.
        assert {(counts.running, counts.total) for counts in seen[1:-2]} == {(2, 20)}
        assert (seen[-1].done, seen[-1].running) == (20, 0)

    def test_prune_removes_results_outside_the_plan(self, small: tb.Scenario, tmp_path: Path) -> None:
        traced = small.with_({"record.traces": ["cwnd"]})
        study = tb.sweep(traced, VARY, out=tmp_path / "study")
        tb.sweep(traced, {PRESET: ["sack"], BUFFER: ["20 packets"]}, out=tmp_path / "study", extend=True)
        (study.directory / "traces" / ".cut-off.partial").mkdir()
        removed = study.prune()
        assert (removed.results, removed.traces, removed.bytes > 0) == (3, 4, True)
        assert study.counts.done == len(list((study.directory / "traces").iterdir())) == 1

    def test_a_failed_run_is_stored_with_its_error_and_stops_no_others(
        self, small: tb.Scenario, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        with monkeypatch.context() as patched:
            failing(patched, {2})
            study = tb.sweep(small, VARY, seeds=3, out=tmp_path / "study")
        assert (study.counts.done, study.counts.failed) == (8, 4)
        assert study.runs["error"].tolist() == ["", "MemoryError: no", ""] * 4
        assert study.resume().counts.failed == 4
        assert study.resume(retry_failed=True).counts.done == 12

    def test_fail_fast_stops_at_the_first(self, small: tb.Scenario, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        failing(monkeypatch, {2})
        one_by_one(monkeypatch)
        with pytest.raises(tb.StudyError, match="MemoryError: no"):
            tb.sweep(small, VARY, seeds=100, out=tmp_path / "study", workers=1, fail_fast=True)
        counts = tb.Study(tmp_path / "study").counts
        assert (counts.failed >= 1, counts.planned > 0, counts.running) == (True, True, 0)

    def test_ctrl_c_keeps_finished_runs(self, small: tb.Scenario, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        one_by_one(monkeypatch)

        def pressed(progress: runner.Progress) -> None:
            if progress.done >= 3:
                raise KeyboardInterrupt

        with pytest.raises(tb.StudyInterrupted, match=r"\d+ of 400 runs are stored; `tailback study resume"):
            tb.sweep(small, VARY, seeds=100, out=tmp_path / "study", workers=1, progress=pressed)
        kept = tb.Study(tmp_path / "study").counts
        assert (kept.done >= 3, kept.planned > 0, kept.running) == (True, True, 0)

    def test_another_core_is_rejected_unless_refreshed(self, small: tb.Scenario, tmp_path: Path) -> None:
        study = tb.sweep(small, VARY, out=tmp_path / "study")
        before = exported(study, tmp_path / "before")
        with Ledger(study.directory / "study.sqlite3", thorough=False) as ledger:
            ledger._connection.execute("UPDATE runs SET content_hash = 'old' || content_hash")
            ledger._connection.execute("UPDATE results SET content_hash = 'old' || content_hash")
        with pytest.raises(tb.StudyError, match="another core"):
            study.resume()
        study.resume(refresh=True)
        assert study.prune().results == 4
        assert exported(study, tmp_path / "after") == before
