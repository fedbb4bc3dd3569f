"""Starved flows are reported in summaries, JSON, warnings and studies."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import tailback as tb
from support import Command

SWIFT: dict[str, Any] = {"preset": "linux/cubic", "delayed_ack": False, "controller": "swift"}


def scenario(tcp: dict[str, Any], **flow: Any) -> tb.Scenario:
    """Two flows of `late` beside one of `usual`, on 100 Mbit/s and 10 ms."""
    flows: Any = {"late": {"count": 2, "tcp": tcp, **flow}, "usual": {"tcp": {"preset": "sack"}}}
    return tb.dumbbell(rate="100 Mbps", delay="5 ms", buffer="100 packets", duration="2 s", flows=flows)


NOTE = r"2 of 3 flows starved \(2 of `late`\): they had data for at least ten round trips, and delivered nothing, or less than"


@pytest.mark.filterwarnings("ignore::tailback.ScenarioWarning")
def test_a_run_with_starved_flows_warns_once_and_says_so_in_its_summary() -> None:
    with pytest.warns(tb.StarvationWarning, match=NOTE) as caught:
        run = tb.simulate(scenario(SWIFT))
    assert len([warning for warning in caught if warning.category is tb.StarvationWarning]) == 1
    assert run.groups["starved"].tolist() == [2, 0]
    assert run.flows["starved"].tolist() == [1, 1, 0]
    assert "note: 2 of 3 flows starved" in run.summary()
    assert any(note.startswith("2 of 3 flows starved") for note in run.notes)


@pytest.mark.filterwarnings("ignore::tailback.ScenarioWarning")
def test_several_seeds_and_a_study_warn_once() -> None:
    with pytest.warns(tb.StarvationWarning, match=r"^6 of 9 flows in 3 of 3 runs starved \(6 of `late`\)") as caught:
        tb.simulate(scenario(SWIFT), seeds=3)
    assert len([warning for warning in caught if warning.category is tb.StarvationWarning]) == 1
    vary: Any = {"flows.late.tcp.controller": ["swift", "cubic"]}
    with pytest.warns(tb.StarvationWarning, match=r"^4 of 12 flows in 2 of 4 runs starved") as caught:
        study = tb.sweep(scenario(SWIFT), vary=vary, seeds=2)
    assert len([warning for warning in caught if warning.category is tb.StarvationWarning]) == 1
    # After the notes of the scenario.
    assert study.notes[-1].startswith("4 of 12 flows in 2 of 4 runs starved")


@pytest.mark.filterwarnings("ignore::tailback.ScenarioWarning")
def test_a_run_without_starved_flows_has_no_note() -> None:
    run = tb.simulate(scenario({"preset": "linux/cubic"}, size="100 kB"))
    assert run.flows["starved"].sum() == 0
    assert run.notes == []


def test_the_command_line_reports_starved_flows(command: Command, tmp_path: Path) -> None:
    file = tmp_path / "swift.toml"
    file.write_text(
        'duration = "2 s"\n[topology.dumbbell]\nrate = "100 Mbps"\ndelay = "5 ms"\nqueue = {buffer = "100 packets"}\n'
        '[flows.late]\nfrom = "left"\nto = "right"\ntcp = {preset = "linux/cubic", controller = "swift"}\n'
    )
    done = command("run", file, "--json")
    assert done.returncode == 0
    assert done.stderr.count("1 of 1 flows starved") == 1
    written = json.loads(done.stdout)
    assert written["tables"]["groups"]["starved"] == [1]
    assert any(note.startswith("1 of 1 flows starved") for note in written["notes"])
    assert "note: 1 of 1 flows starved" in command("run", file).stdout
    swept = command("sweep", file, "--seeds", "2", "--out", tmp_path / "study", "--json")
    assert json.loads(swept.stdout)["notes"][0].startswith("2 of 2 flows in 2 of 2 runs starved")
    assert "note: 2 of 2 flows in 2 of 2 runs starved" in command("study", "status", tmp_path / "study").stdout
