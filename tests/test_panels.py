"""Figures of the documentation contain the data of their lines, except where an interactive plot would show less."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from xml.etree import ElementTree

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from panels import SPANS, read
from pictures import LOOKS, svg
from support import ROOT


def found(draw: Callable[[Axes], object]) -> dict[str, Any] | None:
    """The data of a figure with one panel."""
    with mpl.rc_context(LOOKS):
        figure = Figure()
        draw(figure.subplots())
    return read(svg(figure))


def panel(draw: Callable[[Axes], object]) -> dict[str, Any]:
    numbers = found(draw)
    assert numbers
    (only,) = numbers["panels"]
    return dict(only)


def test_a_line_has_its_drawn_values() -> None:
    def draw(axis: Axes) -> None:
        axis.plot([1, 2, 4], [0.5, np.nan, 0.25], "o--", color="#c2571a", drawstyle="steps-post", label="<Reno> & more")
        axis.set(title="one", xlabel="time, s", ylabel="share", xscale="log", ylim=(0, 1))

    made = panel(draw)
    assert made["title"] == "one"
    assert made["x"]["log"]
    assert made["x"]["label"] == "time, s"
    assert made["y"] == {"label": "share", "log": False, "low": 0, "high": 1}
    (curve,) = made["curves"]
    assert (curve["x"], curve["y"]) == ([1, 2, 4], [0.5, None, 0.25])
    assert (curve["name"], curve["colour"]) == ("<Reno> & more", "#c2571a")
    assert (curve["line"], curve["mark"], curve["steps"]) == ("dashed", "o", True)


def test_values_are_in_the_units_of_the_scale() -> None:
    def draw(axis: Axes) -> None:
        axis.plot([0, 1], [5e6, 10e6])
        axis.axhline(7.5e6, color="#777777")
        axis.yaxis.set_major_formatter(lambda bps, _place: f"{bps / 1e6:g} Mbps")

    made = panel(draw)
    assert made["y"]["label"] == "Mbps"
    assert made["curves"][0]["y"] == [5, 10]
    assert made["curves"][0]["name"] == "Mbps"
    assert made["levels"] == [{"label": "", "value": 7.5, "upright": False, "colour": "#777777"}]


def test_bands_and_bars_are_intervals() -> None:
    def band(axis: Axes) -> None:
        axis.fill_between([1, 2, 3], [0, 1, 2], [2, 3, 4], color="#1f5a99", alpha=0.2)
        axis.plot([1, 2, 3], [1, 2, 3], color="#1f5a99")

    def bars(axis: Axes) -> None:
        axis.errorbar([1, 2, 3], [1, 2, 3], 1, fmt="o-", capsize=3, label="with")

    for draw, name in ((band, ""), (bars, "with")):
        (curve,) = panel(draw)["curves"]
        assert (curve["low"], curve["high"]) == ([0, 1, 2], [2, 3, 4])
        assert curve["bars"] is (draw is bars)
        assert curve["name"] == name


def test_a_word_in_the_colour_of_a_line_is_its_name() -> None:
    def draw(axis: Axes) -> None:
        axis.plot([1, 2], [1, 2], color="#1f5a99")
        axis.text(2, 2, "EPD", color="#1f5a99")
        axis.axvline(1.5, color="#777777")
        axis.text(1.5, 2, "as printed", color="#777777")

    numbers = found(draw)
    assert numbers
    assert numbers["panels"][0]["curves"][0]["name"] == "EPD"
    assert numbers["panels"][0]["levels"] == [{"label": "as printed", "value": 1.5, "upright": True, "colour": "#777777"}]
    assert numbers["words"] == "dotted: as printed"


def test_long_lines_keep_their_extremes_and_a_note() -> None:
    def draw(axis: Axes) -> None:
        values = np.zeros(100_000)
        values[[1234, 56_789]] = (-5, 7)
        axis.plot(np.arange(100_000.0), values)
        axis.set_xlim(0, 90_000)

    numbers = found(draw)
    assert numbers
    (curve,) = numbers["panels"][0]["curves"]
    assert len(curve["x"]) <= 4 * SPANS
    assert max(curve["x"]) == 90_000
    assert {-5, 7} <= {*curve["y"]}
    assert f"in each of {SPANS} intervals" in numbers["words"]


@pytest.mark.parametrize(
    "draw",
    [
        lambda axis: axis.bar(["a", "b"], [1, 2]),
        lambda axis: axis.imshow([[1, 2], [3, 4]]),
        lambda axis: axis.scatter([1, 2], [3, 4]),
        lambda axis: axis.fill_between([1, 2], [3, 4]),
        lambda axis: axis.plot(["drop-tail", "EPD"], [1, 2]),
        lambda axis: axis.errorbar([1, 2], [1, 2], xerr=1),
        lambda axis: axis.step([1, 2], [1, 2]),
        lambda axis: axis.plot([1, 2], [1, 2], marker="*"),
        lambda axis: [axis.plot([1, 2], [1, 2]), axis.text(1, 1, "here", color="red")],
        lambda axis: [axis.plot([1, 2], [1, 2]), axis.set_xscale("symlog")],
        lambda axis: axis.plot([1, 2], [1e9, 2e9]),
    ],
)
def test_figures_that_a_plot_cannot_show_stay_static(draw: Callable[[Axes], object]) -> None:
    assert found(draw) is None


def test_figures_of_the_documentation_are_well_formed_and_most_have_data() -> None:
    pictures = [path.read_text(encoding="utf-8") for path in (ROOT / "docs/images").glob("*/*.svg")]
    for picture in pictures:
        ElementTree.fromstring(picture)
    assert sum(read(picture) is not None for picture in pictures) > 0.8 * len(pictures)
