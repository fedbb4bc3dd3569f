"""Places at which a test may kill this process or fill the disk: before and after every step that has to survive it.

`TAILBACK_FAILPOINT=kill:17` kills the process where the 17th such place is reached, as `kill -9` would; `full:17` lets the disk
be full from there on; `count` only counts. Without the variable a place costs one comparison.
"""

from __future__ import annotations

import errno
import os
import signal
from dataclasses import dataclass

__all__ = ["arm", "reach", "reached"]


@dataclass
class Trap:
    """What happens at which place, and how many were reached."""

    action: str
    at: int
    reached: int = 0

    def spring(self, place: str) -> None:
        self.reached += 1
        if self.action == "kill" and self.reached == self.at:
            os.kill(os.getpid(), signal.SIGKILL if hasattr(signal, "SIGKILL") else signal.SIGTERM)
        if self.action == "full" and self.reached >= self.at:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), place)


def arm(text: str) -> Trap | None:
    """Set the trap that the environment variable describes; none if it is empty."""
    global _trap
    action, _, at = text.partition(":")
    _trap = Trap(action, int(at or 0)) if action else None
    return _trap


def reach(place: str) -> None:
    """A step that has to survive whatever comes is about to happen, or has."""
    if _trap is not None:
        _trap.spring(place)


def reached() -> int:
    """Places reached since the trap was set."""
    return _trap.reached if _trap else 0


_trap: Trap | None = None
arm(os.environ.get("TAILBACK_FAILPOINT", ""))
