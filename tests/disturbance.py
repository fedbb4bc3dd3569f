"""Measures how much this machine delays a test of real time."""

from __future__ import annotations

import subprocess
import sys

from tailback._emulation.machine import LIMITS, StealClock

__all__ = ["Disturbance"]

# Sleeps like a transport between packets until its stdin ends; then prints the 99th percentile of its lateness.
SLEEPER = """
import select, sys, time
late = []
while not late or not select.select([sys.stdin], [], [], 0)[0]:
    due = time.monotonic() + 0.002
    time.sleep(0.002)
    late.append(time.monotonic() - due)
print(sorted(late)[len(late) * 99 // 100])
"""


class Disturbance:
    """The processor time that other programs and other machines take from the processes of a test, from now on."""

    def __init__(self) -> None:
        words = [sys.executable, "-I", "-S", "-c", SLEEPER]
        # Tests find the processes of their emulations by an inherited variable.
        self._sleeper = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env={})
        self._steal = StealClock()

    def measured(self) -> str:
        """The measurements that are beyond the limits of an emulation, in words. Ends the measurement."""
        steal = self._steal.share()
        late_s = float(self._sleeper.communicate()[0])
        found = []
        if late_s > LIMITS["lateness_p99_s"]:
            found.append(f"a sleeping process woke up {1e3 * late_s:.1f} ms late (99th percentile)")
        if steal > LIMITS["steal_share"]:
            found.append(f"a hypervisor took {steal:.1%} of the processor time")
        return " and ".join(found)

    def end(self) -> None:
        self._sleeper.kill()
        self._sleeper.communicate()
