"""How many runs go side by side."""

from __future__ import annotations

import os

__all__ = ["processors"]


def processors() -> int:
    """Those that this process may use, where the system tells."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
