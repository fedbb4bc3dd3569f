"""Shared functions of plots."""

from __future__ import annotations

import numpy as np

from tailback import plots


def test_labels_are_moved_apart_and_keep_their_order() -> None:
    heights = {"a": 0.0, "b": 1.0, "c": 2.0, "d": 100.0}
    spread = plots._spread_out(heights, gap=10)
    assert spread == {"a": -9.0, "b": 1.0, "c": 11.0, "d": 100.0}
    assert np.all(np.diff(list(plots._spread_out({str(i): i % 3 for i in range(9)}, gap=5).values())) != 0)
    assert plots._spread_out(heights, gap=10, top=20) == {"a": -10.0, "b": 0.0, "c": 10.0, "d": 20.0}
