"""The drawings of an experiment."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from tailback.papers import (
    Curves,
    Line,
    Measured,
    Point,
)
from tailback.papers._experiment_plot import draw
from toy_experiment import TOY


@pytest.mark.parametrize("log", [False, True])
def test_a_line_has_a_gap_where_nothing_is_known(log: bool) -> None:
    panels = [(Curves("goodput", "packets", (Line("toy", {}),), "goodput", "buffer, packets", log=log),)]
    known = {2: [0.1, 0.2], 20: [math.nan, math.nan], 30: [0.0, 0.0], 40: [0.5, 0.6], 50: [math.inf, math.inf]}
    points = [Point({"packets": packets}, {"goodput": np.array(values)}) for packets, values in known.items()]
    (drawn,) = draw(panels, Measured(points))
    assert drawn.count("toy") == 1
    nothing = [Point(point.labels, {"goodput": point.values["goodput"] * math.nan}) for point in points]
    (empty,) = draw(panels, Measured(nothing))
    assert "toy" not in empty


def test_printed_numbers_are_crosses_in_the_plot() -> None:
    panel = Curves("goodput", "packets", (Line("toy", {}),), "goodput", "buffer, packets")
    points = [
        Point({"packets": packets, "printed": number}, {"goodput": np.array([packets / 100, packets / 90])})
        for packets, number in ((2, 0.4), (20, "0.5 and 0.6"), (50, 0.7))
    ]
    (drawn,) = draw([(replace(panel, printed=True),)], Measured(points))
    (without,) = draw([(panel,)], Measured(points))
    assert "crosses: printed in the document" in drawn
    assert "printed" not in without


def test_bands_beyond_the_scale_are_named() -> None:
    (level,), _ = TOY.panels
    assert isinstance(level, Curves)
    curve = replace(level, levels=())

    def drawn(second: float) -> str:
        points = [Point({"packets": n}, {"goodput": np.array([n, n * second])}) for n in (2, 50)]
        return draw([(curve,)], Measured(points))[0]

    assert "bands go on beyond the scale" in drawn(3.0)
    assert "bands" not in drawn(1.0001)
