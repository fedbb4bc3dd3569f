"""The number of processors, which is the default number of parallel runs."""

from __future__ import annotations

import os

__all__ = ["processors"]


def processors() -> int:
    """Number of processors available to this process, where the system reports it; else all."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
