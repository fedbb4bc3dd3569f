"""The lab's copy of the documents' experiments, written by tools/experiments.py."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import tailback as tb
from support import ROOT
from tailback.papers import experiments

KEPT: list[dict[str, Any]] = json.loads((ROOT / "web/lab/experiments.json").read_text())


def test_the_page_agrees_with_the_documents() -> None:
    written = subprocess.run([sys.executable, ROOT / "tools/experiments.py"], capture_output=True, text=True, check=True).stdout
    assert written == (ROOT / "web/lab/experiments.json").read_text()


def test_every_text_is_a_scenario_of_its_experiment() -> None:
    known = {experiment.id: experiment for experiment in experiments()}
    assert [kept["name"] for kept in KEPT] == list(known)
    for kept in KEPT:
        scenarios = [each.scenario for each in known[kept["name"]].variants if isinstance(each.scenario, tb.Scenario)]
        if kept["toml"] is None:
            assert scenarios == []
        else:
            number, of = kept["point"].partition(":")[0].split(" of ")
            assert (len(scenarios), scenarios[int(number) - 1]) == (int(of), tb.Scenario.from_toml(kept["toml"]))
