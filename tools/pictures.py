"""Draws and writes the pictures in docs/images reproducibly and compactly."""

from __future__ import annotations

import io
import re
from typing import TYPE_CHECKING, Any

import matplotlib as mpl
from cycler import cycler

from panels import with_numbers
from tailback.plots import COLOURS, STYLE

if TYPE_CHECKING:
    from matplotlib.figure import Figure

mpl.use("agg")

# The style of all plots, and common settings of plots drawn with matplotlib directly.
LOOKS: Any = {
    **STYLE,
    "axes.prop_cycle": cycler(color=COLOURS),
    "axes.titlelocation": "left",
    "axes.titlesize": 9,
    "figure.figsize": (7, 3.4),
    "figure.constrained_layout.use": True,
    "legend.frameon": False,
    # In points: finer than print resolution, and a tenth of the file size.
    "path.simplify_threshold": 0.5,
}


def svg(figure: Figure) -> str:
    """The figure as a compact SVG file, with its numbers."""
    text = io.StringIO()
    with mpl.rc_context(LOOKS):
        figure.savefig(text, format="svg")
        return with_numbers(slim(text.getvalue()), figure)


def slim(svg: str) -> str:
    """A picture without date, program version and invisible digits."""
    svg = re.sub(r" *<metadata>.*?</metadata>\n", "", svg, flags=re.DOTALL)
    svg = re.sub(r"(?<=[\s\"(,])-?\d+\.\d{2,}", lambda number: f"{float(number[0]):.1f}".removesuffix(".0"), svg)
    return re.sub(r' d="(M [-\d. \nML]*)"', lambda path: f' d="{_relative(path[1])}"', svg)


def _relative(line: str) -> str:
    """A path of straight lines with relative coordinates and without repeated points: a third of the characters."""
    commands = []
    at = (0, 0)
    for command, x, y in re.findall(r"([ML]) (\S+) (\S+)", line):
        point = (round(10 * float(x)), round(10 * float(y)))
        if command == "M":
            commands.append(f"M{point[0] / 10:g} {point[1] / 10:g}")
        elif point != at:
            commands.append(f"l{(point[0] - at[0]) / 10:g} {(point[1] - at[1]) / 10:g}".replace(" -", "-"))
        at = point
    return "".join(commands)
