"""`tailback predict`."""

from __future__ import annotations

import json

import pytest

from support import ROOT, Command


def test_the_command_prints_tables_and_json(command: Command) -> None:
    path = ROOT / "examples" / "mm1k.toml"
    shown = command("predict", path)
    assert shown.returncode == 0
    assert "M/M/1/5: links.bottleneck, flows.poisson" in shown.stdout
    document = json.loads(command("predict", path, "--json").stdout)
    assert document["tables"]["queues"]["loss_rate"][0] == pytest.approx(1 / 6)
    assert document["tables"]["queues"]["loss_rate"][1] is None
    assert document["models"][0]["model"] == "M/M/1/5"
    assert command("predict", "nowhere.toml").returncode == 2
