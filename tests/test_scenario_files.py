"""Scenarios that are written to files and read again."""

from __future__ import annotations

from pathlib import Path

import pytest

import tailback as tb
from support import ROOT, SMALL
from tailback.errors import OutputError


@pytest.mark.parametrize("suffix", ["toml", "json"])
@pytest.mark.parametrize("path", sorted((ROOT / "examples").glob("*.toml")), ids=lambda path: path.stem)
def test_examples_as_dictionaries_remain_the_same_in_a_file(path: Path, suffix: str, tmp_path: Path) -> None:
    scenario = tb.Scenario(tb.load(path).to_dict())
    file = tmp_path / f"scenario.{suffix}"
    scenario.save(file)
    assert tb.load(file) == scenario
    assert tb.load(file).normalised() == scenario.normalised()


def test_text_from_toml_is_written_as_it_was(tmp_path: Path) -> None:
    text = f"# A comment.\r\n{SMALL}"
    scenario = tb.Scenario.from_toml(text)
    assert scenario.to_toml() == text
    scenario.save(tmp_path / "again.toml")
    assert (tmp_path / "again.toml").read_bytes() == text.encode()
    assert "# A comment." not in scenario.with_({"seed": 2}).to_toml()


def test_a_scenario_contains_the_files_that_it_names(tmp_path: Path) -> None:
    folder = tmp_path / "given"
    folder.mkdir()
    (folder / "sizes.csv").write_text("value_bytes,share\n1000,0.3\n20000,1\n")
    (folder / "day.csv").write_text("at,factor\n0 s,1\n10 s,3\n")
    (folder / "writes.csv").write_text("at,size\n0 s,1 kB\n1 s,2 kB\n")
    tcp = 'from = "left"\nto = "right"\ntcp = {preset = "sack"}'
    web = f'[flows.web]\n{tcp}\nsize = {{cdf = "sizes.csv"}}\narrivals = {{mean_interval = "1 s", profile = "day.csv"}}\n'
    script = f'[flows.script]\n{tcp}\napplication = {{kind = "script", writes = "writes.csv"}}\n'
    (folder / "scenario.toml").write_text(f"{SMALL}{web}{script}")
    scenario = tb.load(folder / "scenario.toml")
    complete = scenario.normalised()
    scenario.save(tmp_path / "elsewhere.toml")
    for file in folder.iterdir():
        file.unlink()
    assert tb.load(tmp_path / "elsewhere.toml").normalised() == complete
    assert scenario.with_({"seed": 2}).normalised() == {**complete, "seed": 2}


def test_any_name_of_a_scenario_is_text_in_toml(scenario: tb.Scenario) -> None:
    named = scenario.with_({"name": 'a "name" with \\, \n, \x7f, \u2028 and ünicode'})
    assert tb.Scenario.from_toml(named.to_toml()) == named


def test_invalid_scenarios_and_existing_files_are_errors(scenario: tb.Scenario, tmp_path: Path) -> None:
    file = tmp_path / "scenario.toml"
    with pytest.raises(tb.ScenarioError, match="tpc"):
        scenario.with_({"flows.tcp.tpc": {}}).save(file)
    assert not file.exists()
    scenario.save(file)
    with pytest.raises(OutputError, match="exists"):
        scenario.save(file)
