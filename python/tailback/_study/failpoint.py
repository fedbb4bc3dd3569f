"""Failpoints for tests of durability: places before and after every critical step, where the process can be killed.

`TAILBACK_FAILPOINT=kill:17` kills the process at the 17th failpoint, like `kill -9`; `full:17` simulates a full disk from there
on; `count` only counts. Without the variable a failpoint costs one comparison.
"""

from __future__ import annotations

import errno
import os
import signal
from dataclasses import dataclass

__all__ = ["arm", "reach", "reached"]


@dataclass
class Failpoint:
    """The action, its failpoint, and the number of failpoints reached."""

    action: str
    at: int
    reached: int = 0

    def trigger(self, place: str) -> None:
        self.reached += 1
        if self.action == "kill" and self.reached == self.at:
            os.kill(os.getpid(), signal.SIGKILL if hasattr(signal, "SIGKILL") else signal.SIGTERM)
        if self.action == "full" and self.reached >= self.at:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), place)


def arm(text: str) -> Failpoint | None:
    """Set the action that the environment variable describes; none if it is empty."""
    global _failpoint
    action, _, at = text.partition(":")
    _failpoint = Failpoint(action, int(at or 0)) if action else None
    return _failpoint


def reach(place: str) -> None:
    """A failpoint before or after a critical step."""
    if _failpoint is not None:
        _failpoint.trigger(place)


def reached() -> int:
    """Number of failpoints reached since the action was set."""
    return _failpoint.reached if _failpoint else 0


_failpoint: Failpoint | None = None
arm(os.environ.get("TAILBACK_FAILPOINT", ""))
