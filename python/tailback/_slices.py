"""What takes long, in slices, so that Ctrl-C and progress bars work: of as many steps as take about a tenth of a second."""

from __future__ import annotations

import time
from collections.abc import Callable

__all__ = ["in_slices"]

_SLICE_S = 0.1


def in_slices(advance: Callable[[int], bool], first: int, tell: Callable[[], None], *, growth: float = 10.0) -> None:
    """Call `advance` with a number of steps until it says that this was the end, and `tell` after each time.

    `first` is the first number. It grows at most by the factor `growth`, for a clock may say that nothing took no time, and
    shrinks at once.
    """
    steps, done = first, False
    while not done:
        began = time.perf_counter()
        done = advance(steps)
        took = time.perf_counter() - began
        steps = max(1, int(steps * min(growth, _SLICE_S / max(took, 1e-9))))
        tell()
