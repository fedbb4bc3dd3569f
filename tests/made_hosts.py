"""What tests of emulations share: whether there can be any, programs to run, and what an emulation could leave behind."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

import tailback as tb
from tailback.errors import EmulationError

__all__ = ["ECHO", "SCENARIO", "emulation_allowed", "python", "traces_of_emulations"]

SCENARIO = """\
name = "emulated"
duration = "20 s"

[topology.dumbbell]
rate = "10 Mbps"
delay = "20 ms"
queue = { buffer = "50 packets" }
"""

# Answers datagrams, the sender's first byte first.
ECHO = """
import socket
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.bind(("", 7))
while True:
    data, sender = s.recvfrom(2000)
    s.sendto(data, sender)
"""


def python(program: str, *arguments: str) -> list[str]:
    """A command that runs a program in Python."""
    return [sys.executable, "-c", program, *arguments]


def _why_not() -> str:
    if sys.platform != "linux":
        return "emulation needs Linux"
    try:
        tb.emulate(tb.Scenario.from_toml(SCENARIO), [tb.Command("left", python("pass"))])
    except EmulationError as error:
        return f"no emulation here: {error}"
    return ""


WHY_NOT = _why_not()
emulation_allowed = pytest.mark.skipif(bool(WHY_NOT), reason=WHY_NOT)


def traces_of_emulations() -> tuple[int, int, set[str]]:
    """Network namespaces, devices and processes that this machine has, as far as emulations could add to them."""
    spaces, ours = set(), 0
    for process in Path("/proc").iterdir():
        if process.name.isdigit():
            try:
                spaces.add(str((process / "ns" / "net").readlink()))
                ours += b"tailback._emulation" in (process / "cmdline").read_bytes()
            except OSError:
                continue
    devices = {path.name for path in Path("/sys/class/net").iterdir()}
    return len(spaces), ours, devices
