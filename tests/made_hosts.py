"""Helpers for emulation tests: whether emulation is possible, programs to run, and detection of leftovers."""

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

# Environment variable that identifies a test's processes.
MARK = "TAILBACK_TEST"

SCENARIO = """\
name = "emulated"
duration = "20 s"

[topology.dumbbell]
rate = "10 Mbps"
delay = "20 ms"
queue = { buffer = "50 packets" }
"""

# Answers datagrams, sending the first byte back first.
ECHO = """
import socket
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.bind(("", 7))
while True:
    data, sender = s.recvfrom(2000)
    s.sendto(data, sender)
"""


def python(program: str, *arguments: str) -> list[str]:
    """A command that runs a Python program."""
    return [sys.executable, "-c", program, *arguments]


@cache
def why_not() -> str:
    """Why emulation is not possible here; empty if it is."""
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
    """Whether an emulation succeeded. On a busy machine it may report that it did not keep up. Its messages are separated from
    the output of its commands.
    """
    own = [line for line in done.stderr.splitlines() if line.startswith(("error:", "`")) or "a kernel flow: " in line]
    late = [line for line in own if "could not keep up" in line]
    return done.returncode == 0 or (done.returncode == 1 and own == late != [])


class Traces:
    """Objects of this test's emulations on this machine: processes that inherit an environment variable, and devices. Network
    namespaces exist as long as a process is in them.
    """

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        mark = str(uuid.uuid4())
        self._word = f"{MARK}={mark}"
        monkeypatch.setenv(MARK, mark)
        self._devices = self._named()

    def processes(self) -> int:
        """The existing objects."""
        found = 0
        for process in Path("/proc").iterdir():
            if process.name.isdigit():
                with suppress(OSError):
                    found += self._word.encode() in (process / "environ").read_bytes()
        return found

    def are_gone(self, patience_s: float = 0.0) -> bool:
        """Whether nothing remains, now or soon."""
        deadline = time.monotonic() + patience_s
        while self.processes() and time.monotonic() < deadline:
            time.sleep(0.05)
        return self.processes() == 0 and self._named() == self._devices

    def _named(self) -> set[str]:
        return {path.name for path in Path("/sys/class/net").iterdir()}
