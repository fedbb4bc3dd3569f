"""Shared helpers of tests."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]

Command = Callable[..., subprocess.CompletedProcess[str]]

HANGS_S = 120
"""A process that takes longer than this hangs, also on a busy machine."""

PROGRESS = re.compile(r"^.+: (\d+%|[\d,]+ of [\d,]+ runs(, [\d,]+ failed)?) after \d+ s(, about \d+ s left)?\n", re.MULTILINE)

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


def own_members(kind: type) -> dict[str, Any]:
    """The attributes of a class of Tailback, also those that it inherits from another one."""
    bases = [base for base in reversed(kind.__mro__) if base.__module__.partition(".")[0] == "tailback"]
    return {name: member for base in bases for name, member in vars(base).items()}


def left_behind(directory: Path) -> set[str]:
    """Names of all files in a directory, including hidden ones."""
    return {path.name for path in directory.iterdir()}


def without_progress(stderr: str) -> str:
    """Messages without the lines of progress that a command prints if it takes more than five seconds, as on a busy machine."""
    return PROGRESS.sub("", stderr)
