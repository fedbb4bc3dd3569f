"""What kept this machine's processors from the emulation: waiting processes of kernel flows, and time stolen by a hypervisor.

Packets can be in time while the kernel's TCP is not: its timers and the programs that read and write run later on a busy machine.
The forwarding thread's lateness does not show this. Pressure-stall information does not either: it counts any waiting process,
also those that wait because the emulation has priority.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

__all__ = ["LIMITS", "StealClock", "exceeded", "longest_wait"]

# Limits of the columns of the table `emulation` beyond which a run does not represent its scenario. A packet of 1500 bytes at
# 12 Mbit/s takes a millisecond. At a mean wait of 0.3 ms the utilisation of a CUBIC flow behind a small buffer was 0.5 % lower
# than on an idle machine, at 1.1 ms 30 % (one run each).
LIMITS = {"slipped_share": 0.01, "lateness_p99_s": 1e-3, "steal_share": 0.01, "kernel_flows_wait_s": 2e-4}

# Column of steal time in the line `cpu` of /proc/stat (proc_stat(5)), after the name.
_STEAL = 7


def exceeded(timing: Mapping[str, float]) -> list[str]:
    """The columns of `timing` that are beyond their limits. NaN, for what is not known, is not."""
    return [name for name, limit in LIMITS.items() if timing[name] > limit]


class StealClock:
    """The share of processor time that a hypervisor gave to others since the start."""

    def __init__(self) -> None:
        self._before = self._read()

    @staticmethod
    def _read() -> tuple[int, int]:
        try:
            ticks = [int(word) for word in Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:9]]
        except OSError:
            # Hidden in some containers.
            return 0, 0
        return ticks[_STEAL], sum(ticks)

    def share(self) -> float:
        """From 0 to 1; 0 if unknown."""
        steal, total = (now - before for now, before in zip(self._read(), self._before, strict=True))
        return steal / total if total else 0.0


def longest_wait(waits_s: Sequence[float | None]) -> float:
    """The longest of the mean waits for a processor; NaN if none is known."""
    return max((wait for wait in waits_s if wait is not None), default=float("nan"))
