"""How pictures in docs/images are drawn and written, so that the same version makes the same bytes, and few of them."""

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

# Beside the style of all plots, what those that are drawn with matplotlib itself need not say again.
LOOKS: Any = {
    **STYLE,
    "axes.prop_cycle": cycler(color=COLOURS),
    "axes.titlelocation": "left",
    "axes.titlesize": 9,
    "figure.figsize": (7, 3.4),
    "figure.constrained_layout.use": True,
    "legend.frameon": False,
    # In points: finer than print, and pictures a tenth as large.
    "path.simplify_threshold": 0.5,
}


def svg(figure: Figure) -> str:
    """The figure as a slim file, with its numbers."""
    text = io.StringIO()
    with mpl.rc_context(LOOKS):
        figure.savefig(text, format="svg")
        return with_numbers(slim(text.getvalue()), figure)


def slim(svg: str) -> str:
    """A picture without the date and version of what drew it, and without digits that nobody can see."""
    svg = re.sub(r" *<metadata>.*?</metadata>\n", "", svg, flags=re.DOTALL)
    svg = re.sub(r"(?<=[\s\"(,])-?\d+\.\d{2,}", lambda number: f"{float(number[0]):.1f}".removesuffix(".0"), svg)
    return re.sub(r' d="(M [-\d. \nML]*)"', lambda path: f' d="{_relative(path[1])}"', svg)


def _relative(line: str) -> str:
    """A path of straight lines, each point told from the one before, and only where it differs: a third of the characters."""
    told = []
    at = (0, 0)
    for command, x, y in re.findall(r"([ML]) (\S+) (\S+)", line):
        point = (round(10 * float(x)), round(10 * float(y)))
        if command == "M":
            told.append(f"M{point[0] / 10:g} {point[1] / 10:g}")
        elif point != at:
            told.append(f"l{(point[0] - at[0]) / 10:g} {(point[1] - at[1]) / 10:g}".replace(" -", "-"))
        at = point
    return "".join(told)
