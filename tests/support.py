"""Shared helpers of tests."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]

Command = Callable[..., subprocess.CompletedProcess[str]]

SMALL = """\
name = "small"
duration = "5 s"
warmup = "1 s"

[topology.dumbbell]
rate = "10 Mbps"
delay = "10 ms"
queue = { buffer = "20 packets" }

[flows.tcp]
count = 2
from = "left"
to = "right"
tcp = { preset = "newreno" }

[record]
traces = ["cwnd", "queue", "drops"]
"""


def left_behind(directory: Path) -> set[str]:
    """Names of all files in a directory, including hidden ones."""
    return {path.name for path in directory.iterdir()}
