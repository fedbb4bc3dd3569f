"""The functions of the topologies agree with the schema."""

from __future__ import annotations

import inspect
import json
import runpy
from typing import Any

import pytest

import tailback as tb
from support import ROOT
from tailback import _core

TOPOLOGIES = {name: json.loads(_core.toml_as_json(example) or "") for name, *_, example in _core.topologies()}
FUNCTIONS = sorted(TOPOLOGIES.keys() - {"graph"})


def test_the_stubs_are_generated_from_the_schema() -> None:
    made = runpy.run_path(str(ROOT / "tools/topologies.py"))
    again = "run: .venv/bin/python tools/topologies.py"
    assert made["STUB"].read_text() == made["stub"](), again
    assert made["PACKAGE"].read_text() == made["package"](made["PACKAGE"].read_text()), again


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_topology_function_has_the_keys_of_its_table(name: str) -> None:
    function = getattr(tb, name)
    table = tb.schema()["$defs"][tb.schema()["$defs"]["Topology"]["properties"][name]["$ref"].rpartition("/")[2]]
    own = inspect.signature(function).parameters
    assert table["properties"].keys() < own.keys()
    assert all(parameter.kind in (parameter.KEYWORD_ONLY, parameter.VAR_KEYWORD) for parameter in own.values())
    required = {key for key, parameter in own.items() if parameter.default is parameter.empty}
    assert required == {*table["required"], "duration", "rest"} - {"queue"}
    assert all(f"\n{key} : " in function.__doc__ for key in table["properties"])


@pytest.mark.parametrize("name", FUNCTIONS)
def test_the_example_of_a_topology_runs_with_its_usual_flows(name: str) -> None:
    function, example = getattr(tb, name), TOPOLOGIES[name]
    web: Any = {"size": "20 kB", "tcp": {"preset": "newreno"}}
    for flows in (2, {"web": web}):
        scenario = function(**example, flows=flows, duration="20 ms")
        assert scenario["topology"][name] == example
        assert min(tb.simulate(scenario).groups["flows"]) >= 1


def test_defaults_are_left_to_the_core() -> None:
    links: Any = {"rate": "1 Gbps", "delay": "1 ms", "buffer": "9 packets", "duration": "1 s"}
    shape = tb.waxman(routers=9, alpha=0.15, beta=0.5, **links)["topology.waxman"]
    assert {"routers", "beta"} < shape.keys()
    assert not {"alpha", "loss", "duplication"} & shape.keys()
