"""`tailback threshold`."""

from __future__ import annotations

import json
from pathlib import Path

from support import Command

SCENARIO = """
duration = "6 s"
warmup = "2 s"
topology.dumbbell = {rate = "10 Mbps", delay = "10 ms", queue = {buffer = "9 packets"}}

[flows.web]
from = "left"
to = "right"
count = 3
start = {uniform = ["0 s", "1 s"]}
tcp = {preset = "newreno"}
"""
ASKED = ("threshold", "a.toml", "--quantity", "queues.bottleneck.utilisation", "--seeds", "2")
OVER = "topology.dumbbell.queue.buffer=1 packet..100 packets"


def test_the_command_prints_the_answer_and_resumes(command: Command, tmp_path: Path) -> None:
    (tmp_path / "a.toml").write_text(SCENARIO)
    shown = command(*ASKED, "--target", "95 %", "--over", OVER, "--out", "runs")
    assert shown.returncode == 0
    assert "queues.bottleneck.utilisation reaches 0.95 at topology.dumbbell.queue.buffer = " in shown.stdout
    again = command(*ASKED, "--target", "0.95", "--over", OVER, "--out", "runs", "--json")
    document = json.loads(again.stdout)
    assert f"= {document['value']}, 95 % interval {document['low']} to {document['high']}" in shown.stdout
    other = command(*ASKED, "--target", "90 %", "--over", OVER, "--out", "runs")
    assert other.returncode == 2
    assert "--extend" in other.stderr
    assert command(*ASKED, "--target", "90 %", "--over", OVER, "--out", "runs", "--extend").returncode == 0


def test_a_target_outside_the_range_has_exit_code_1(command: Command, tmp_path: Path) -> None:
    (tmp_path / "a.toml").write_text(SCENARIO)
    missed = command(*ASKED, "--target", "150 %", "--over", OVER)
    assert missed.returncode == 1
    assert "above the range" in missed.stdout


def test_a_range_that_is_none_is_refused(command: Command, tmp_path: Path) -> None:
    (tmp_path / "a.toml").write_text(SCENARIO)
    refused = command(*ASKED, "--target", "0.9", "--over", "topology.dumbbell.queue.buffer=5 packets")
    assert refused.returncode == 2
    assert "expected PATH=LOW..HIGH" in refused.stderr
