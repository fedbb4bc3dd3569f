"""The plots of an experiment."""

from __future__ import annotations

import math
import re
from dataclasses import replace

import numpy as np
import pytest

from tailback._html.pictures import Picture
from tailback.papers import (
    Curves,
    Line,
    Measured,
    Point,
    Ranking,
    TracePanel,
)
from tailback.papers._experiment_plot import draw
from toy_experiment import TOY


@pytest.mark.parametrize("log", [False, True])
def test_a_line_has_a_gap_at_missing_values(log: bool) -> None:
    panels = [(Curves("goodput", "packets", (Line("toy", {}),), "goodput", "buffer, packets", log=log),)]
    known = {2: [0.1, 0.2], 20: [math.nan, math.nan], 30: [0.0, 0.0], 40: [0.5, 0.6], 50: [math.inf, math.inf]}
    points = [Point({"packets": packets}, {"goodput": np.array(values)}) for packets, values in known.items()]
    (drawn,) = draw(panels, Measured(points))
    assert drawn.svg.count("toy") == 1
    nothing = [Point(point.labels, {"goodput": point.values["goodput"] * math.nan}) for point in points]
    (empty,) = draw(panels, Measured(nothing))
    assert "toy" not in empty.svg


def test_printed_numbers_are_crosses_in_the_plot() -> None:
    panel = Curves("goodput", "packets", (Line("toy", {}),), "goodput", "buffer, packets")
    points = [
        Point({"packets": packets, "printed": number}, {"goodput": np.array([packets / 100, packets / 90])})
        for packets, number in ((2, 0.4), (20, "0.5 and 0.6"), (50, 0.7))
    ]
    (drawn,) = draw([(replace(panel, printed=True),)], Measured(points))
    (without,) = draw([(panel,)], Measured(points))
    assert "Crosses: values printed in the document." in drawn.note
    assert "rinted" not in without.note


def test_bands_beyond_the_scale_are_named() -> None:
    level, _ = TOY.panels
    assert isinstance(level, Curves)
    curve = replace(level, reference_lines=())

    def drawn(second: float) -> str:
        points = [Point({"packets": n}, {"goodput": np.array([n, n * second])}) for n in (2, 50)]
        return draw([(curve,)], Measured(points))[0].note

    assert "bands extend beyond the scale" in drawn(3.0)
    assert "bands" not in drawn(1.0001)


def texts(drawn: Picture) -> list[str]:
    """All text in a drawing."""
    return [each.strip() for each in re.findall(r"<text[^>]*>([^<]*)</text>", drawn.svg)]


def test_the_last_place_has_its_number_and_large_numbers_a_prefix() -> None:
    points = [Point({"packets": n}, {"goodput": np.array([n * 1e9, n * 1.1e9])}) for n in (5, 8, 10, 12, 14, 16, 18, 20)]
    panel = Curves("goodput", "packets", (Line("toy", {}),), "goodput", "buffer, packets")
    (drawn,) = draw([(panel,)], Measured(points))
    assert {"8", "12", "16", "20"} <= set(texts(drawn))
    assert "20 G" in texts(drawn)
    (over_decades,) = draw([(replace(panel, log_over=True),)], Measured(points[:4]))
    assert {"5", "8", "10", "12"} <= set(texts(over_decades))


def test_a_panel_may_be_relative_to_one_of_its_lines() -> None:
    factors = {"model": 3.0, "simulation": 1.0}
    points = [
        Point({"by": by, "packets": n}, {"goodput": factor * np.array([n - 1.0, n + 1.0])})
        for by, factor in factors.items()
        for n in (10, 1000)
    ]
    shown = tuple(Line(by, {"by": by}) for by in factors)
    panel = Curves("goodput", "packets", shown, "ratio", "packets", relative_to={"by": "simulation"})
    (drawn,) = draw([(panel,)], Measured(points))
    assert {"1.0", "3.0"} <= set(texts(drawn))


def test_traces_below_zero_are_visible() -> None:
    x = np.linspace(0, 9, 10)
    results = Measured([], {"falling": (x, -x)})
    (drawn,) = draw([(TracePanel(("falling",), "log10 of a share", "interval"),)], results)
    below = {text for text in texts(drawn) if text.startswith("\N{MINUS SIGN}")}
    assert below


def test_long_names_of_rows_have_room() -> None:
    name = "module, present window, timer backs off, and more"
    points = [Point({"packets": 2}, {"goodput": np.array([1.0, 2.0])})]
    (drawn,) = draw([(Ranking("goodput", (Line(name, {}),), "goodput"),)], Measured(points))
    (place,) = re.findall(r'text-anchor: end[^>]*?x="([0-9.]+)"[^>]*>module', drawn.svg)
    # At 9.5 points, a name of this length takes some 220 of the figure's 590 points.
    assert float(place) > 220
