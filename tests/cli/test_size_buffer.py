"""`tailback size-buffer`."""

from __future__ import annotations

import json
from pathlib import Path

import tailback as tb
from support import Command

FLAGS = [
    "--rate",
    "40 Gbps",
    "--base-rtt",
    "100 ms",
    "--flows",
    "64000",
    "--transmitters",
    "16",
    "--inputs",
    "32",
    "--packet-size",
    "1040 B",
    "--paced",
]


def test_the_command_prints_a_table_and_json(command: Command, tmp_path: Path) -> None:
    shown = command("size-buffer", *FLAGS, "--target", "80 %", "--plot", "plot.svg")
    assert shown.returncode == 0
    assert "For 80 %: 16 packets (cui_trunk)" in shown.stdout
    assert (tmp_path / "plot.svg").read_text().startswith("<?xml")
    document = json.loads(command("size-buffer", *FLAGS, "--target", "0.8", "--json").stdout)
    assert document["recommended"] == "cui_trunk"
    assert {answer["rule"] for answer in document["answers"]} == set(tb.models.SIZING_RULES)
    assert document["question"]["base_rtt"]["mean_s"] == 0.1


def test_the_command_names_every_flag_that_is_wrong(command: Command) -> None:
    refused = command("size-buffer", "--rate", "40Gbits", "--base-rtt", "100", "--flows", "x", "--target", "120 %")
    assert refused.returncode == 2
    for flag in ("--rate", "--base-rtt", "--flows", "--target"):
        assert f"at       {flag}" in refused.stderr
    assert "hint     write `40 Gbps`" in refused.stderr
    assert "error: `--rate` has an unknown unit: `Gbits`\n" in refused.stderr
    assert refused.stderr.endswith("4 errors; nothing was run\n")
    assert refused.stdout == ""


def test_presets_are_simulated_where_no_rule_covers_them(command: Command) -> None:
    link = ("--rate", "5 Mbps", "--base-rtt", "20 ms", "--flows", "6", "--preset", "cubic", "--preset", "newreno")
    done = command("size-buffer", *link, "--target", "90 %", "--json")
    assert done.returncode == 0
    document = json.loads(done.stdout)
    assert document["recommended"] is None
    assert document["simulated"]["buffer"] >= 1
    assert document["advice"] == document["simulated"]["sentence"]
    ruled = command("size-buffer", *link, "--target", "90 %", "--no-simulate")
    assert "No rule covers 6 flows of cubic" in ruled.stdout
    never = command("size-buffer", *link, "--window", "1", "--target", "100 %", "--simulate")
    assert never.returncode == 1
    assert "no buffer of up to" in never.stdout
