"""A study as a user has it: tables, resuming, executors, seeds until a width is reached, comparison, and the commands."""

from __future__ import annotations

import json
import os
import random
import threading
import time
from collections.abc import Callable
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest

import tailback as tb
from support import Command
from tailback._interval import Interval
from tailback._study import crew, runner, work
from tailback._study.ledger import Ledger
from tailback._study.stopping import Until, until

BUFFER, PRESET = "topology.dumbbell.queue.buffer", "flows.*.tcp.preset"
VARY: dict[Any, Any] = {BUFFER: ["5 packets", "20 packets"], PRESET: ["reno", "sack"]}


@pytest.fixture
def small() -> tb.Scenario:
    """A second of one flow that starts at random."""
    flow: Any = {"start": {"uniform": ["0 s", "0.2 s"]}, "tcp": {"preset": "newreno"}}
    return tb.dumbbell(rate="10 Mbps", delay="10 ms", buffer="20 packets", duration="1 s", flows={"tcp": flow})


def exported(study: tb.Study, folder: Path, **options: Any) -> dict[str, bytes]:
    study.export(folder, **options)
    return {str(file.relative_to(folder)): file.read_bytes() for file in sorted(folder.rglob("*")) if file.is_file()}


class TestTables:
    def test_every_row_says_which_run_it_is_of(self, small: tb.Scenario) -> None:
        study = tb.sweep(small, VARY, seeds=2)
        assert study.groups.columns[:5] == ["point", "seed", BUFFER, PRESET, "group"]
        assert study.groups["point"].tolist() == [0, 0, 1, 1, 2, 2, 3, 3]
        assert study.groups["seed"].tolist() == [1, 2] * 4
        assert study.groups[PRESET].tolist() == ["reno", "reno", "sack", "sack"] * 2

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
            ("two", "tcp"),
            ("two", "web"),
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

    def test_runs_that_are_the_same_are_done_once(self, small: tb.Scenario, monkeypatch: pytest.MonkeyPatch) -> None:
        done = counted(monkeypatch)
        study = tb.sweep(small, {"kind": {"one": {}, "two": {BUFFER: "20 packets"}}}, seeds=3)
        assert (len(done), study.counts.done, len(study.groups)) == (3, 6, 6)


def counted(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The content hashes of the runs that threads do from now on."""
    done: list[str] = []
    measure = work.measure

    def counting(task: work.Task, stopping: Callable[[], bool] | None = None) -> work.Measured:
        done.append(task.content_hash)
        return measure(task, stopping)

    monkeypatch.setattr(crew, "measure", counting)
    return done


def one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs are handed out and committed one at a time, whatever the clock says."""
    monkeypatch.setattr(runner, "_COMMIT_S", 0.0)
    monkeypatch.setattr(runner, "_AHEAD_S", 0.0)


def failing(monkeypatch: pytest.MonkeyPatch, seeds: set[int]) -> None:
    """Runs with these seeds fail from now on, in threads."""
    measure = work.measure

    def broken(task: work.Task, stopping: Callable[[], bool] | None = None) -> work.Measured:
        failed = work.Result(task.content_hash, "MemoryError: no")
        return work.Measured(failed) if task.seed in seeds else measure(task, stopping)

    monkeypatch.setattr(crew, "measure", broken)


class TestGoingOn:
    def test_the_same_sweep_again_does_nothing(self, small: tb.Scenario, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        tb.sweep(small, VARY, out=tmp_path / "study")
        done = counted(monkeypatch)
        assert tb.sweep(small, VARY, out=tmp_path / "study").counts.done == 4
        assert done == []

    def test_another_plan_is_refused_unless_it_is_an_extension(
        self, small: tb.Scenario, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        study = tb.sweep(small, VARY, out=tmp_path / "study")
        with pytest.raises(tb.StudyError, match=r"holds another study .*--extend"):
            tb.sweep(small, VARY, seeds=3, out=tmp_path / "study")
        assert study.counts.total == 4
        done = counted(monkeypatch)
        assert tb.sweep(small, VARY, seeds=3, out=tmp_path / "study", extend=True).counts.done == 12
        assert len(done) == 8
        assert exported(study, tmp_path / "a") == exported(tb.sweep(small, VARY, seeds=3), tmp_path / "b")

    def test_others_see_what_is_running(self, small: tb.Scenario, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        one_by_one(monkeypatch)
        seen = []

        def look(_progress: Any) -> None:
            seen.append(tb.Study(tmp_path / "study").counts)

        tb.sweep(small, VARY, seeds=5, out=tmp_path / "study", workers=1, progress=look)
        # One run under way and one that waits for it, so that the worker is never idle.
        assert {(counts.running, counts.total) for counts in seen[1:-2]} == {(2, 20)}
        assert (seen[-1].done, seen[-1].running) == (20, 0)

    def test_gc_removes_what_the_plan_no_longer_asks_for(self, small: tb.Scenario, tmp_path: Path) -> None:
        traced = small.with_({"record.traces": ["cwnd"]})
        study = tb.sweep(traced, VARY, out=tmp_path / "study")
        tb.sweep(traced, {PRESET: ["sack"], BUFFER: ["20 packets"]}, out=tmp_path / "study", extend=True)
        (study.directory / "traces" / ".cut-off.partial").mkdir()
        removed = study.gc()
        assert (removed.results, removed.traces, removed.bytes > 0) == (3, 4, True)
        assert study.counts.done == len(list((study.directory / "traces").iterdir())) == 1

    def test_a_failed_run_is_kept_with_its_error_and_stops_nothing(
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

    def test_ctrl_c_keeps_what_was_finished(self, small: tb.Scenario, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        one_by_one(monkeypatch)

        def pressed(progress: runner.Progress) -> None:
            if progress.done >= 3:
                raise KeyboardInterrupt

        with pytest.raises(tb.StudyInterrupted, match=r"\d+ of 400 runs are kept; `tailback study resume"):
            tb.sweep(small, VARY, seeds=100, out=tmp_path / "study", workers=1, progress=pressed)
        kept = tb.Study(tmp_path / "study").counts
        assert (kept.done >= 3, kept.planned > 0, kept.running) == (True, True, 0)

    def test_another_core_is_refused_and_refreshed_if_asked_for(self, small: tb.Scenario, tmp_path: Path) -> None:
        study = tb.sweep(small, VARY, out=tmp_path / "study")
        before = exported(study, tmp_path / "before")
        with Ledger(study.directory / "study.sqlite3", thorough=False) as ledger:
            ledger._connection.execute("UPDATE runs SET content_hash = 'old' || content_hash")
            ledger._connection.execute("UPDATE results SET content_hash = 'old' || content_hash")
        with pytest.raises(tb.StudyError, match="another core"):
            study.resume()
        study.resume(refresh=True)
        assert study.gc().results == 4
        assert exported(study, tmp_path / "after") == before


def deadly(task: work.Task) -> work.Measured:
    """In a worker process: seed 2 takes it down the first time, seed 3 always."""
    mark = Path(os.environ["TAILBACK_TEST_MARK"])
    if task.seed == 3 or (task.seed == 2 and not mark.exists()):
        mark.touch()
        os._exit(9)
    return work.measure(task)


class TestExecutors:
    @pytest.mark.parametrize("executor", ["threads", "processes", "pool"])
    def test_the_bytes_do_not_depend_on_who_did_the_runs(self, small: tb.Scenario, tmp_path: Path, executor: str) -> None:
        whole = exported(tb.sweep(small, VARY, seeds=3, workers=1), tmp_path / "one")
        with ThreadPoolExecutor(3) as pool:
            study = tb.sweep(small, VARY, seeds=3, executor=pool if executor == "pool" else executor)  # type: ignore[arg-type]
        assert exported(study, tmp_path / "other") == whole

    def test_runs_of_workers_that_die_are_done_again_and_the_deadly_one_fails(
        self, small: tb.Scenario, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(crew, "measure_in_process", deadly)
        monkeypatch.setenv("TAILBACK_TEST_MARK", str(tmp_path / "mark"))
        study = tb.sweep(small, seeds=12, executor="processes", workers=2)
        assert (study.counts.done, study.counts.failed, study.counts.total) == (11, 1, 12)
        rows = study.runs.to_rows()
        assert [row["seed"] for row in rows if row["error"].startswith("WorkerDied")] == [3]
        assert study.groups["seed"].tolist() == [1, 2, *range(4, 13)]

    def test_a_borrowed_pool_that_breaks_stops_the_study_which_then_resumes(
        self, small: tb.Scenario, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("TAILBACK_TEST_MARK", str(tmp_path / "mark"))
        with monkeypatch.context() as patched, ProcessPoolExecutor(1) as pool:
            patched.setattr(crew, "measure", deadly)
            with pytest.raises(tb.StudyError, match="workers died; the study is kept"):
                tb.sweep(small, seeds=2, executor=pool, out=tmp_path / "study")
        assert tb.Study(tmp_path / "study").resume().counts.done == 2

    @pytest.mark.parametrize("wrong", [{"executor": "cloud"}, {"executor": 3}, {"workers": 0}, {"workers": True}])
    def test_who_cannot_run_is_refused_before_anything_is_made(self, small: tb.Scenario, tmp_path: Path, wrong: Any) -> None:
        with pytest.raises(tb.ParameterError):
            tb.sweep(small, out=tmp_path / "study", **wrong)
        assert not (tmp_path / "study").exists()


TIGHT = "queues.bottleneck.mean_wait_s:0.001%"


class Shuffled(Executor):
    """Four workers that are done in an order of their own."""

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
            # Whoever waits for these gets them even if nobody else comes.
            threading.Timer(0.05, self._finish).start()
        return future

    def _finish(self) -> None:
        held, self._held = self._held, []
        self._random.shuffle(held)
        for future, do in held:
            future.set_result(do())


class Unfair(Executor):
    """Does everything at once, but for one run, which it does when nothing else is left."""

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


def until_there(there: Callable[[], bool]) -> None:
    """Wait for something that must come, and not for ever."""
    for _ in range(6000):
        if there():
            return
        time.sleep(0.01)


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
        assert Until("goodput", 0.34).reached(values)  # 0.34 / 1.34 = 0.2537
        assert not Until("goodput", 0.33).reached(values)  # 0.33 / 1.33 = 0.2481
        # 0.2 / 1.2 = 0.1667 asks for 3 (0.2484 / 0.1667)^2 = 6.66, but a round at most doubles; 0.3 / 1.3 = 0.2308 for 3.48.
        assert [Until("goodput", width).seeds(values, 100) for width in (0.34, 0.3, 0.2)] == [3, 4, 6]
        assert Until("goodput", 0.2).seeds(values, 5) == 5

    def test_what_no_number_of_seeds_helps_is_left_alone(self) -> None:
        assert Until("goodput", 0.1).seeds([1.0, float("nan")], 100) == 2
        assert Until("goodput", 0.1).seeds([0.0, 0.0], 100) == 2
        assert Until("goodput", 0.1).seeds([-1.0, 1.0], 100) == 4

    def test_a_point_does_not_wait_for_the_rounds_of_others(self, small: tb.Scenario, monkeypatch: pytest.MonkeyPatch) -> None:
        one_by_one(monkeypatch)
        study = tb.sweep(small, {BUFFER: ["5 packets", "50 packets"]}, seeds=2, until=TIGHT, most_seeds=9, executor=Unfair())
        assert study.counts.done == 18
        # The last run of all is the first point's second one, which the other point has not waited for.
        assert Unfair.did[:2] == ["5 packets, 1", "50 packets, 1"]
        assert Unfair.did.index("5 packets, 2") > Unfair.did.index("50 packets, 9")

    def test_who_is_done_first_decides_nothing(self, small: tb.Scenario, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        one_by_one(monkeypatch)
        vary = {BUFFER: ["5 packets", "5packets", "9 packets"], "flows.*.tcp.preset": ["reno", "sack"]}
        whole = exported(tb.sweep(small, vary, seeds=3, until="goodput:4%", most_seeds=40), tmp_path / "whole")
        for seed in range(3):
            study = tb.sweep(small, vary, seeds=3, until="goodput:4%", most_seeds=40, executor=Shuffled(seed))
            assert exported(study, tmp_path / str(seed)) == whole
            seeds = [len(study.groups.where(point=point)["seed"]) for point in range(6)]
            assert seeds[:2] == seeds[2:4]
            assert len(set(seeds)) > 1

    def test_progress_ends_with_every_run(self, small: tb.Scenario) -> None:
        heard: list[runner.Progress] = []
        same = {BUFFER: ["5 packets", "5packets"]}
        study = tb.sweep(small, same, seeds=2, until=TIGHT, most_seeds=7, progress=heard.append)
        assert heard[-1] == runner.Progress(14, 0, 14)
        assert len(set(study.runs["content_hash"])) == 7

    def test_there_are_never_more_seeds_than_allowed(self, small: tb.Scenario) -> None:
        study = tb.sweep(small, {BUFFER: ["5 packets"]}, seeds=2, until="queues.bottleneck.mean_wait_s:0.001%", most_seeds=9)
        assert study.counts.done == 9

    @pytest.mark.parametrize(
        "text", ["goodput", "goodput:2", "goodput:0%", "goodput:100%", "good:2%", "queues.utilisation:1%", ":1%"]
    )
    def test_a_goal_that_cannot_be_read_is_shown(self, text: str) -> None:
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


class TestStatistics:
    def test_a_mean_has_the_interval_of_its_seeds(self, small: tb.Scenario) -> None:
        study = tb.sweep(small, VARY, seeds=4)
        means = study.means("queues.bottleneck.utilisation")
        by_hand = Interval.of(study.queues.where(point=2, queue="bottleneck")["utilisation"].tolist())
        assert means.columns == [BUFFER, PRESET, "seeds", "mean", "low", "high"]
        assert (means["seeds"][2], means["mean"][2], means["low"][2]) == (4, by_hand.mean, by_hand.mean - by_hand.half)

    def test_a_mean_can_have_a_bootstrap_interval(self, small: tb.Scenario) -> None:
        study = tb.sweep(small, VARY, seeds=4)
        values = study.queues.where(point=2, queue="bottleneck")["utilisation"].tolist()
        by_hand = tb.statistics.bootstrap(values, seed=8)
        row = study.means("queues.bottleneck.utilisation", interval="bootstrap", seed=8).to_rows()[2]
        assert (row["mean"], row["low"], row["high"]) == (by_hand.mean, by_hand.low, by_hand.high)
        with pytest.raises(tb.ParameterError, match="`interval` is 'z'; expected `t` or `bootstrap`"):
            study.means(interval="z")  # type: ignore[arg-type]

    def test_goodput_is_that_of_all_groups_together(self, small: tb.Scenario) -> None:
        both = small.with_({"flows.web": {"from": "left", "to": "right", "tcp": {"preset": "sack"}}})
        study = tb.sweep(both)
        assert study.means()["mean"][0] == sum(study.groups["goodput_bps"])
        assert np.isnan(study.means()["low"][0])

    def test_a_difference_is_paired_by_seed(self, small: tb.Scenario) -> None:
        study = tb.sweep(small, VARY, seeds=5)
        goodput = {label: study.groups.where(**{BUFFER: "5 packets", PRESET: label})["goodput_bps"] for label in ("reno", "sack")}
        by_hand = Interval.of((goodput["sack"] - goodput["reno"]).tolist())
        row = study.difference(PRESET, "reno", "sack").to_rows()[0]
        assert row == {
            BUFFER: "5 packets",
            "seeds": 5,
            "mean": by_hand.mean,
            "low": by_hand.mean - by_hand.half,
            "high": by_hand.mean + by_hand.half,
        }

    def test_what_is_not_there_is_told(self, small: tb.Scenario) -> None:
        study = tb.sweep(small, VARY)
        for wrong in (("presets", "reno", "sack"), (PRESET, "reno", "sakc"), (PRESET, "reno", "sack", "queues.x.utilisation")):
            with pytest.raises(tb.UnknownName):
                study.difference(*wrong)
        for text in ("goodputs", "queues.utilisation"):
            with pytest.raises(tb.ParameterError, match="no quantity"):
                study.means(text)


class TestExport:
    @pytest.mark.parametrize("format", ["parquet", "csv", "json"])
    def test_it_has_the_bytes_of_any_other_study_of_this_plan(self, small: tb.Scenario, tmp_path: Path, format: str) -> None:
        a, b = (exported(tb.sweep(small, VARY, seeds=2), tmp_path / name, format=format) for name in "ab")
        assert a == b
        assert a.keys() == {"plan.json", *(f"{name}.{format}" for name in ("runs", "flows", "queues", "groups"))}

    def test_numbers_read_back_to_the_same_bits(self, small: tb.Scenario, tmp_path: Path) -> None:
        study = tb.sweep(small, VARY)
        study.export(tmp_path / "json", format="json")
        columns = json.loads((tmp_path / "json" / "queues.json").read_text())
        assert columns["utilisation"] == study.queues["utilisation"].tolist()

    def test_a_directory_that_exists_is_refused(self, small: tb.Scenario, tmp_path: Path) -> None:
        with pytest.raises(tb.OutputError, match="exists"):
            tb.sweep(small).export(tmp_path)


class TestCompare:
    def test_studies_of_one_plan_are_the_same(self, small: tb.Scenario) -> None:
        found = tb.sweep(small, VARY, seeds=2).compare(tb.sweep(small, VARY, seeds=2))
        assert (bool(found), found.runs) == (True, 8)

    def test_it_says_where_they_differ(self, small: tb.Scenario) -> None:
        found = tb.sweep(small, VARY).compare(tb.sweep(small.with_({"topology.dumbbell.rate": "11 Mbps"}), VARY))
        goodput = next(one for one in found.differences if one.at == "groups.goodput_bps[0]")
        assert (bool(found), goodput.run) == (
            False,
            f'{PRESET}="reno", {BUFFER}="20 packets", seed 1',
        ) or goodput.left < goodput.right

    def test_runs_that_only_one_has_are_differences(self, small: tb.Scenario) -> None:
        found = tb.sweep(small, seeds=2).compare(tb.sweep(small, seeds=3))
        assert [(one.run, one.left, one.right) for one in found.differences] == [("seed 3", "missing", "there")]


class TestCommands:
    AXES = ("--vary", "flows.*.tcp.preset=reno,sack", "--vary", f"{BUFFER}=5 packets,20 packets")

    def test_a_sweep_is_run_shown_exported_and_compared(self, command: Command, file: Path, tmp_path: Path) -> None:
        swept = command("sweep", file, *self.AXES, "--seeds", 2, "--out", "a", "--json")
        assert (swept.returncode, json.loads(swept.stdout)["done"]) == (0, 8)
        assert command("sweep", file, *self.AXES, "--seeds", 2, "--out", "b", "--executor", "processes").returncode == 0
        same = command("study", "compare", "a", "b")
        assert (same.returncode, same.stdout) == (0, "the same: 8 runs\n")
        assert command("study", "export", "a", "--out", "tables", "--format", "csv").returncode == 0
        assert (tmp_path / "tables" / "groups.csv").read_text().count("\n") == 9
        assert command("study", "resume", "a").returncode == 0
        assert command("study", "gc", "a").stdout.startswith("removed 0 results")

    def test_means_and_plots_of_a_study(self, command: Command, file: Path, tmp_path: Path) -> None:
        pytest.importorskip("matplotlib")
        command("sweep", file, "--vary", "flows.tcp.count=1,2", "--vary", f"{BUFFER}=5 packets,20 packets", "--out", "a")
        means = json.loads(command("study", "means", "a", "queues.bottleneck.utilisation", "--json").stdout)
        study = tb.Study(tmp_path / "a")
        assert [row["mean"] for row in means] == study.means("queues.bottleneck.utilisation")["mean"].tolist()
        assert [row["low"] for row in means] == [None] * 4
        # Labels are numbers here, and text on the command line.
        for words, name in (
            (("--over", BUFFER, "--where", "flows.tcp.count=2"), "line.pdf"),
            (("flows.*.goodput_bps", "--kind", "ecdf", "--by", BUFFER, "--where", "flows.tcp.count=2"), "ecdf.svg"),
            (("--kind", "heat", "--over", f"{BUFFER},flows.tcp.count"), "heat.png"),
            (("cwnd,queue", "--kind", "traces", "--by", BUFFER, "--where", "flows.tcp.count=2"), "traces.pdf"),
        ):
            drawn = command("study", "plot", "a", *words, "--out", name)
            assert (drawn.returncode, drawn.stderr) == (0, f"wrote {name}\n")
            assert (tmp_path / name).stat().st_size > 1000
        for asked, told in (
            (("--over", BUFFER, "--where", "flows.tcp.count=3", "--out", "b.pdf"), "there is `1`, `2`"),
            (
                ("--over", BUFFER, "--where", "flows.tcp.count=2", "--out", "b.xyz"),
                "cannot be written to b.xyz; expected a name",
            ),
            (("--over", BUFFER, "--where", "flows.tcp.count=2", "--out", "no/b.pdf"), "cannot be written to no/b.pdf"),
        ):
            refused = command("study", "plot", "a", *asked)
            assert (refused.returncode, told in refused.stderr) == (2, True), refused.stderr

    def test_status_counts_what_is_planned_running_done_and_failed(self, command: Command, file: Path) -> None:
        command("sweep", file, "--seeds", 3, "--out", "a")
        status = json.loads(command("study", "status", "a", "--json").stdout)
        assert {key: status[key] for key in ("planned", "running", "done", "failed", "total", "working")} == {
            "planned": 0,
            "running": 0,
            "done": 3,
            "failed": 0,
            "total": 3,
            "working": False,
        }

    def test_compare_exits_with_1_where_results_differ(self, command: Command, file: Path) -> None:
        command("sweep", file, "--seeds", 2, "--out", "a")
        command("sweep", file, "--seeds", 3, "--out", "b")
        different = command("study", "compare", "a", "b")
        assert (different.returncode, different.stdout) == (
            1,
            "seed 3: run: missing and there\n1 differences; 2 runs are in both\n",
        )

    def test_a_dry_run_shows_the_grid_and_an_estimate_and_makes_nothing(
        self, command: Command, file: Path, tmp_path: Path
    ) -> None:
        shown = command("sweep", file, *self.AXES, "--seeds", 5, "--out", "a", "--dry-run")
        assert shown.stdout.startswith("4 points x 5 seeds = 20 runs\n")
        assert "\nestimate: " in shown.stdout
        assert (shown.returncode, shown.stderr, (tmp_path / "a").exists()) == (0, "nothing was run\n", False)

    @pytest.mark.parametrize(
        ("words", "told"),
        [
            (("--vary", "links.bottleneck.queue.gap=5"), "did you mean `topology.dumbbell.queue.gap`?"),
            (("--vary", "flows.tcp.count=1..1000000000"), "1,000,000,000 points"),
            (("--vary", "flows.tcp.count="), "an empty grid"),
            (("--vary", "flows.tcp.count"), "is no axis"),
            (("--until", "goodput"), "is no goal"),
            (("--executor", "cloud"), "no executor 'cloud'"),
        ],
    )
    def test_bad_input_is_told_in_the_houses_words_and_exits_with_2(
        self, command: Command, file: Path, tmp_path: Path, words: tuple[str, ...], told: str
    ) -> None:
        refused = command("sweep", file, *words, "--out", "a")
        assert (refused.returncode, told in refused.stderr, "nothing was run" in refused.stderr) == (2, True, True), (
            refused.stderr
        )
        assert not (tmp_path / "a").exists()

    def test_a_sweep_needs_a_place(self, command: Command, file: Path) -> None:
        refused = command("sweep", file)
        assert (refused.returncode, "--out DIR" in refused.stderr) == (2, True)

    def test_a_study_that_is_none_is_refused(self, command: Command) -> None:
        for words in (("status", "a"), ("resume", "a"), ("gc", "a"), ("export", "a", "--out", "b"), ("compare", "a", "b")):
            refused = command("study", *words)
            assert (refused.returncode, refused.stderr) == (2, "error: there is no study in `a`\n")
