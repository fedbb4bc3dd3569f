"""Figures of pages: the script receives the data that matplotlib draws, and both are readable in dark mode."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

from tailback._html.pictures import DARK_GROUND, Curve, Panel, dark_inks, picture
from tailback.plots import COLOURS, PAGE

pytest.importorskip("matplotlib")


def drawn(*curves: Curve, log: str = "") -> Panel:
    """One panel with these curves."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    with mpl.rc_context(PAGE):
        panel = Panel(Figure().subplots())
        for curve in curves:
            panel.draw(curve)
    panel.axis.set(xscale="log" if "x" in log else "linear", yscale="log" if "y" in log else "linear")
    return panel


def test_the_script_receives_the_data_that_matplotlib_draws() -> None:
    panel = drawn(Curve("a", [1, 2, 4], [0.1, 0.3, 0.2], COLOURS[0], [0, 0.2, 0.1], [0.2, 0.4, 0.3]))
    (line,), (band,) = panel.axis.lines, panel.axis.collections
    (curve,) = panel.to_dict()["curves"]
    assert (curve["x"], curve["y"]) == (list(line.get_xdata()), list(line.get_ydata()))  # type: ignore[arg-type]
    edges = np.asarray(band.get_paths()[0].vertices)
    assert set(edges[:, 1].tolist()) >= {*curve["low"], *curve["high"]}
    assert curve["colour"] == line.get_color()


def test_scales_and_limits_are_those_of_the_axis() -> None:
    panel = drawn(Curve("a", [1, 100], [0.1, 10], COLOURS[0]), log="xy")
    panel.axis.set_ylim(0.05, 20)
    made = panel.to_dict()
    assert (made["x"]["log"], made["y"]["log"]) == (True, True)
    assert (made["y"]["low"], made["y"]["high"]) == (0.05, 20)
    # All values, with a margin of 3 % of the decades on each side.
    assert made["x"]["low"] == pytest.approx(100**-0.03)
    assert made["x"]["high"] == pytest.approx(100**1.03)
    panel.time_range = (2, 3)
    assert panel.to_dict()["x"]["low"] == 2


@pytest.mark.parametrize(("log", "expected"), [("", [0, -1, None, None]), ("y", [None, None, None, None])])
def test_values_outside_the_axis_are_null(log: str, expected: list[float | None]) -> None:
    (curve,) = drawn(Curve("a", [1, 2, 3, 4, 5], [0, -1, math.nan, math.inf, 2], COLOURS[0]), log=log).to_dict()["curves"]
    assert curve["y"] == [*expected, 2]
    assert "NaN" not in json.dumps(curve)


def luminance(colour: str) -> float:
    """Relative luminance by WCAG 2."""
    parts = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return sum(weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def test_every_colour_is_readable_in_dark_mode() -> None:
    panel = drawn(*(Curve(colour, [1, 2], [1, 2], colour) for colour in COLOURS))
    panel.level("maximum", 1.5)
    made = picture(panel.axis.figure, [panel])  # type: ignore[arg-type]
    inks = dark_inks([made])
    assert {f"--on-{colour[1:]}" for colour in COLOURS} <= set(inks)
    assert "#" + COLOURS[0][1:] not in made.svg.replace(f"var(--on-{COLOURS[0][1:]}, {COLOURS[0]})", "")
    ground = luminance(DARK_GROUND)
    for name, colour in inks.items():
        # Text has 4.5, and axes at least 3.
        assert (luminance(colour) + 0.05) / (ground + 0.05) >= 3, (name, colour)


def test_a_ring_is_filled_with_the_background() -> None:
    panel = drawn(Curve("rule", [1, 2], [1, 2], "#333333", line="none", mark="ring"))
    inks = dark_inks([picture(panel.axis.figure)])  # type: ignore[arg-type]
    assert inks["--on-ffffff"] == DARK_GROUND


def test_a_picture_without_panels_has_nothing_to_zoom() -> None:
    panel = drawn(Curve("a", [1, 2], [1, 2], COLOURS[0]))
    assert picture(panel.axis.figure).numbers is None  # type: ignore[arg-type]
