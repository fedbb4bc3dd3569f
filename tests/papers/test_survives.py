"""Reproductions and the demonstration are studies: if killed anywhere they resume, and stored runs are not repeated."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from typing import Any

import pytest

from support import ROOT


@pytest.fixture(scope="module")
def report() -> Iterator[dict[str, Any]]:
    """The outcomes of killed processes."""
    shared = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    with tempfile.TemporaryDirectory(dir=shared) as folder:
        killer = [sys.executable, str(ROOT / "tests" / "reproduction_killer.py"), folder]
        done = subprocess.run(killer, capture_output=True, text=True, env={**os.environ, "MPLBACKEND": "agg"})
        assert done.returncode == 0, done.stderr
        yield json.loads(done.stdout)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="each trial is a fork")
@pytest.mark.parametrize("way", ["reproduce", "demo"])
class TestKilled:
    def test_it_was_killed_there_and_resumed(self, report: dict[str, Any], way: str) -> None:
        assert len(report[way]["trials"]) >= 5
        assert [trial["at"] for trial in report[way]["trials"] if not trial["killed"] or not trial["resumed"]] == []

    def test_no_finished_run_is_lost_or_repeated(self, report: dict[str, Any], way: str) -> None:
        trials, runs = report[way]["trials"], report[way]["runs"]
        assert [trial for trial in trials if trial["before"] + trial["after"] != runs] == []
        # The number of results per commit depends on the threads, but some processes were stopped in the middle.
        assert any(0 < trial["before"] < runs for trial in trials)

    def test_pages_and_results_equal_those_of_an_uninterrupted_one(self, report: dict[str, Any], way: str) -> None:
        assert {trial["digest"] for trial in report[way]["trials"]} == {report[way]["digest"]}

    def test_a_second_time_runs_nothing(self, report: dict[str, Any], way: str) -> None:
        assert report[way]["again"] == 0
