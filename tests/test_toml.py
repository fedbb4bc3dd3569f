"""Writing a scenario as TOML preserves it."""

from __future__ import annotations

import tomllib
from typing import Any

import pytest

from tailback._scenario.toml import toml


@pytest.mark.parametrize(
    "description",
    [
        {"duration": "1 s", "links": {"a.b": {"rate": "1 Mbps"}, "ü": {"delay": "1 ms"}}, "flows": {"x": {"count": 2}}},
        {"name": 'quotes " and \\ and \x00\x7f\n', "seed": 2**53, "share": 1e-7, "large": 1e22, "is": True},
        {
            "timeline": [{"at": "1 s", "link": "a", "loss": 0.5}, {"at": "2 s", "group": "g", "stop": True}],
            "empty": [],
            "none": {},
        },
        {"nodes": {"switch": {}, "0": {"kind": "host"}}, "topology": {"dumbbell": {"queue": {"policy": {"kind": "red"}}}}},
    ],
)
def test_written_scenarios_read_back_equal(description: dict[str, Any]) -> None:
    assert tomllib.loads(toml(description)) == description


def test_groups_and_links_have_sections_of_their_own() -> None:
    text = toml({"duration": "1 s", "flows": {"a": {"tcp": {"preset": "sack"}}}, "record": {"traces": ["cwnd"]}})
    assert text == 'duration = "1 s"\n\n[flows.a]\ntcp = {preset = "sack"}\n\n[record]\ntraces = ["cwnd"]\n'
