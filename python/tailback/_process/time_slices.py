"""Run long operations in slices of about 0.1 s, so that Ctrl-C and progress bars work."""

from __future__ import annotations

import time
from collections.abc import Callable

__all__ = ["in_slices"]

_SLICE_S = 0.1


def in_slices(advance: Callable[[int], bool], first: int, report: Callable[[], None], *, growth: float = 10.0) -> None:
    """Call `advance` with a number of steps until it returns true, and `report` after each call.

    `first` is the initial number of steps. The number grows at most by the factor `growth` per call, because a coarse clock may
    measure no time at all, and can shrink by any factor.
    """
    steps, done = first, False
    while not done:
        began = time.perf_counter()
        done = advance(steps)
        took = time.perf_counter() - began
        steps = max(1, int(steps * min(growth, _SLICE_S / max(took, 1e-9))))
        report()
