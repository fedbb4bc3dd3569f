"""Executors do not affect results, and their workers may die."""

from __future__ import annotations

import os
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

import tailback as tb
from small_sweep import VARY, exported
from tailback._study import executors, work


def deadly(task: work.Task) -> work.WorkResult:
    """Initialise a worker process: seed 2 kills it the first time, seed 3 always."""
    mark = Path(os.environ["TAILBACK_TEST_MARK"])
    if task.seed == 3 or (task.seed == 2 and not mark.exists()):
        mark.touch()
        os._exit(9)
    return work.measure(task)


class TestExecutors:
    @pytest.mark.parametrize("executor", ["threads", "processes", "pool"])
    def test_the_bytes_do_not_depend_on_the_executor(self, small: tb.Scenario, tmp_path: Path, executor: str) -> None:
        whole = exported(tb.sweep(small, VARY, seeds=3, workers=1), tmp_path / "one")
        with ThreadPoolExecutor(3) as pool:
            study = tb.sweep(small, VARY, seeds=3, executor=pool if executor == "pool" else executor)  # type: ignore[arg-type]
        assert exported(study, tmp_path / "other") == whole

    def test_runs_of_dead_workers_are_repeated_and_the_fatal_one_fails(
        self, small: tb.Scenario, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(executors, "measure_in_process", deadly)
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
            patched.setattr(executors, "measure", deadly)
            with pytest.raises(tb.StudyError, match="workers died; finished runs are stored"):
                tb.sweep(small, seeds=2, executor=pool, out=tmp_path / "study")
        assert tb.Study(tmp_path / "study").resume().counts.done == 2

    @pytest.mark.parametrize("wrong", [{"executor": "cloud"}, {"executor": 3}, {"workers": 0}, {"workers": True}])
    def test_an_invalid_executor_is_rejected_before_anything_is_created(
        self, small: tb.Scenario, tmp_path: Path, wrong: Any
    ) -> None:
        with pytest.raises(tb.ParameterError):
            tb.sweep(small, out=tmp_path / "study", **wrong)
        assert not (tmp_path / "study").exists()
