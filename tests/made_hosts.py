"""What tests of emulations share: whether there can be any, programs to run, and what an emulation could leave behind."""

from __future__ import annotations

import subprocess
import sys
import time
import uuid
import warnings
from contextlib import suppress
from functools import cache
from pathlib import Path

import pytest

import tailback as tb
from tailback.errors import EmulationError

__all__ = ["ECHO", "MARK", "SCENARIO", "Traces", "fine", "python", "why_not"]

# By this variable of its environment a test's processes are known.
MARK = "TAILBACK_TEST"

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


@cache
def why_not() -> str:
    """Why there can be no emulation here; empty if there can."""
    if sys.platform != "linux":
        return "emulation needs Linux"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", tb.EmulationWarning)
        try:
            tb.emulate(tb.Scenario.from_toml(SCENARIO), [tb.Command("left", python("pass"))])
        except EmulationError as error:
            return f"no emulation here: {error}"
    return ""


def fine(done: subprocess.CompletedProcess[str]) -> bool:
    """Whether an emulation went well: on a machine that is busy with other tests it may say that it did not keep up. What its
    commands write stands beside what it says itself.
    """
    own = [line for line in done.stderr.splitlines() if line.startswith(("error:", "`")) or "a kernel flow: " in line]
    late = [line for line in own if "could not keep up" in line]
    return done.returncode == 0 or (done.returncode == 1 and own == late != [])


class Traces:
    """What this test's emulations have on this machine: processes that inherit a word of its environment, wherever they have
    gone, and the devices of the machine itself. Network namespaces live as long as a process is in them.
    """

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        mark = str(uuid.uuid4())
        self._word = f"{MARK}={mark}"
        monkeypatch.setenv(MARK, mark)
        self._devices = self._named()

    def processes(self) -> int:
        """Those that are there now."""
        found = 0
        for process in Path("/proc").iterdir():
            if process.name.isdigit():
                with suppress(OSError):
                    found += self._word.encode() in (process / "environ").read_bytes()
        return found

    def are_gone(self, patience_s: float = 0.0) -> bool:
        """Whether nothing is left, now or soon."""
        deadline = time.monotonic() + patience_s
        while self.processes() and time.monotonic() < deadline:
            time.sleep(0.05)
        return self.processes() == 0 and self._named() == self._devices

    def _named(self) -> set[str]:
        return {path.name for path in Path("/sys/class/net").iterdir()}
