"""The types of a scenario's tables agree with the schema."""

from __future__ import annotations

import subprocess
import sys

import tailback as tb
from support import ROOT


def test_the_file_is_generated_from_the_schema() -> None:
    made = subprocess.run(
        [sys.executable, "tools/scenario_types.py"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout
    assert (ROOT / "python/tailback/_types.py").read_text() == made, (
        "run: .venv/bin/python tools/scenario_types.py > python/tailback/_types.py"
    )


def test_tables_make_a_scenario() -> None:
    scenario = tb.Scenario(
        {
            "duration": "1 s",
            "nodes": {"a": tb.Node(), "b": tb.Node()},
            "links": {
                "wire": {"from": "a", "to": "b", "rate": "10 Mbps", "delay": "1 ms", "queue": tb.Queue(buffer="9 packets")}
            },
            "flows": {"web": {"from": "a", "to": "b", "count": 2, "tcp": tb.Tcp(preset="sack")}},
        }
    )
    assert tb.simulate(scenario).groups["flows"].tolist() == [2]
