"""How pictures look and where they are written, in the manner of Tufte: ink for data, labels beside the lines."""

from __future__ import annotations

import importlib.util
import math
from typing import TYPE_CHECKING, Any, TypeAlias

from tailback.errors import MissingExtra, OutputError

if TYPE_CHECKING:
    from pathlib import Path

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["COLOURS", "PAGE", "STYLE", "End", "close", "name_ends", "require", "save"]

COLOURS = ("#1f5a99", "#c2571a", "#3c7d3c", "#8a3d8f", "#9a7b00", "#2a8a8a", "#a83248", "#555555")

# Text stays text: it can be searched, and takes the fonts of the page.
STYLE: Any = {
    "font.family": "sans-serif",
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": "#777777",
    "axes.labelcolor": "#333333",
    "axes.linewidth": 0.7,
    "xtick.color": "#555555",
    "ytick.color": "#555555",
    "xtick.major.width": 0.7,
    "ytick.major.width": 0.7,
    "lines.linewidth": 1.1,
    "svg.fonttype": "none",
    "svg.hashsalt": "tailback",
}

# The same for figures inside a report.
PAGE: Any = {**STYLE, "font.size": 9.5, "font.sans-serif": ["DejaVu Sans"], "text.color": "#333333"}

# Place, height and colour of a line's end.
End: TypeAlias = tuple[float, float, str]


def require(*, window: bool = False) -> None:
    """Raise what is in the way of a plot, before anything is run."""
    if importlib.util.find_spec("matplotlib") is None:
        raise MissingExtra("plotting", "matplotlib", "plot")
    if window:
        import matplotlib as mpl

        if mpl.get_backend().lower() == "agg":
            raise OutputError("there is no display for a plot; with --out DIR it is written to DIR/plot.svg")


def close(figure: Figure) -> Figure:
    """The figure, out of pyplot's hands: a notebook shows what it is handed, and an open figure a second time."""
    import matplotlib.pyplot as plt

    plt.close(figure)
    return figure


def save(figure: Figure, path: Path) -> None:
    """Write the figure in the format that the name ends in.

    Raises
    ------
    OutputError
        If matplotlib has no such format, or the file cannot be written.
    """
    known = figure.canvas.get_supported_filetypes()
    kind = path.suffix.removeprefix(".").lower()
    if kind not in known:
        raise OutputError(f"a plot cannot be written to {path}; expected a name that ends in .svg, .png or .pdf")
    try:
        figure.savefig(path, metadata={"Date": None} if kind == "svg" else None)
    except OSError as error:
        raise OutputError(f"the plot cannot be written to {path}: {error.strerror or error}") from None


def name_ends(axis: Axes, ends: dict[str, End], *, end: int) -> None:
    """The name of each line at its end, moved apart where names would overlap. Call it when all limits are set."""
    points = 72 / axis.figure.dpi
    heights = {name: float(axis.transData.transform((x, y))[1]) * points for name, (x, y, _) in ends.items()}
    spread = _apart(heights, gap=11, top=float(axis.bbox.y1) * points)
    for name, (x, y, colour) in ends.items():
        axis.annotate(
            name,
            (x, y),
            (-6 if end == 0 else 6, spread[name] - heights[name]),
            textcoords="offset points",
            ha="right" if end == 0 else "left",
            va="center",
            color=colour,
        )


def _apart(heights: dict[str, float], gap: float, top: float = math.inf) -> dict[str, float]:
    """Heights at least `gap` apart and at most `top`, in the same order, as near as can be; crowded names share their middle."""
    blocks: list[tuple[list[str], float]] = []
    for name in sorted(heights, key=heights.__getitem__):
        names, middle = [name], heights[name]
        while blocks and middle - blocks[-1][1] < gap * (len(names) + len(blocks[-1][0])) / 2:
            names = blocks.pop()[0] + names
            middle = sum(heights[each] for each in names) / len(names)
        blocks.append((names, middle))
    spread = {}
    for names, middle in reversed(blocks):
        for place, name in enumerate(reversed(names)):
            top = spread[name] = min(top, middle + gap * ((len(names) - 1) / 2 - place))
            top -= gap
    return spread
