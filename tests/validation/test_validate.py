"""`tailback.validate` with a pack of one short case on this machine's kernel in real time."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

import tailback as tb
from tailback._validation import validating
from tailback._validation.cases import CaseSet, quick

pytestmark = [pytest.mark.usefixtures("emulation"), pytest.mark.filterwarnings("ignore::tailback.EmulationWarning")]


@pytest.fixture
def short(monkeypatch: pytest.MonkeyPatch) -> CaseSet:
    """Two transfers of 100 packets, with two seeds."""
    case = quick().cases[-1]
    changes = {"duration": "2 s", "flows.flow1.count": 2, "flows.flow1.start": {"evenly": ["0 s", "1 s"]}}
    short = CaseSet("short", (replace(case, scenario=case.scenario.with_(changes), seeds=2),), 2)
    monkeypatch.setattr(validating, "quick", lambda: short)
    return short


@pytest.mark.real_time
def test_both_run_the_same_scenario_and_runs_are_stored(short: CaseSet, tmp_path: Path) -> None:
    done = tb.validate(tmp_path / "study", real_time=True, jobs=2)
    completion = next(each for each in done.comparisons if each.measure == "completion time")
    # On a busy machine the emulation may not keep up; such runs are excluded.
    assert completion.seeds == done.kept_up <= done.runs == 2
    assert all(0.1 < time < 0.4 for pair in completion.values for time in pair)
    assert json.loads(json.dumps(done.to_dict()))["comparisons"]
    told: list[int] = []
    again = tb.validate(tmp_path / "study", real_time=True, jobs=2, progress=lambda progress: told.append(progress.done))
    assert str(again.to_dict()) == str(done.to_dict())
    assert told[0] == 2
