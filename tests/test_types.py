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
    assert (ROOT / "python/tailback/_types.pyi").read_text() == made, (
        "run: .venv/bin/python tools/scenario_types.py > python/tailback/_types.pyi"
    )


def test_a_type_describes_its_keys() -> None:
    assert tb.Tcp.__doc__ is not None
    assert "\nmss\n    Maximum segment size" in tb.Tcp.__doc__, tb.Tcp.__doc__


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
