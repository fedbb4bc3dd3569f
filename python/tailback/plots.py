"""Style and output of figures, following Tufte: ink for data, labels next to the lines."""

from __future__ import annotations

import importlib.util
import math
from typing import TYPE_CHECKING, Any, TypeAlias

from tailback._arguments import arguments_checked
from tailback.errors import MissingExtra, OutputError, ParameterError

if TYPE_CHECKING:
    from pathlib import Path

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["COLOURS", "PAGE", "STYLE", "LineEnd", "close", "head", "name_column", "name_ends", "require", "save", "sized"]

COLOURS = ("#1f5a99", "#c2571a", "#3c7d3c", "#8a3d8f", "#9a7b00", "#2a8a8a", "#a83248", "#555555")

# Text remains text in SVG: it can be searched, and uses the fonts of the page.
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

# Style of figures inside a report.
PAGE: Any = {**STYLE, "font.size": 9.5, "font.sans-serif": ["DejaVu Sans"], "text.color": "#333333"}

# Valid widths of a figure in inches.
_WIDTHS = (2.0, 40.0)

# x, y and colour of a line's end.
LineEnd: TypeAlias = tuple[float, float, str]


@arguments_checked
def require(*, window: bool = False) -> None:
    """Raise an error if plotting is not possible, before anything is run."""
    if importlib.util.find_spec("matplotlib") is None:
        raise MissingExtra("plotting", "matplotlib", "plot")
    if window:
        import matplotlib as mpl

        if mpl.get_backend().lower() == "agg":
            raise OutputError("there is no display for a plot; with --out DIR the plot is written to DIR/plot.svg")


@arguments_checked
def sized(usual: tuple[float, float], width: float | None) -> tuple[float, float]:
    """Width and height in inches of a figure that is `width` inches wide; its height shrinks half as much as its width.

    Raises
    ------
    ParameterError
        The width is not 2 to 40 inches.
    """
    if width is None:
        return usual
    if isinstance(width, bool) or not isinstance(width, int | float) or not _WIDTHS[0] <= width <= _WIDTHS[1]:
        raise ParameterError(f"`width` is {width!r}; expected inches, {_WIDTHS[0]:g} to {_WIDTHS[1]:g}, such as 3.5 for a column")
    return width, usual[1] * min(1.0, (1 + width / usual[0]) / 2)


@arguments_checked
def head(axis: Axes, title: str) -> None:
    """Set the title of an axis, above its left end. It is the axis's only title, which ``Axes.set_title`` replaces."""
    axis.set_title(title, x=0, ha="left", fontsize=9, color="#333333")


@arguments_checked
def name_column(axis: Axes, name: str, width: float | None) -> None:
    """Name a column of panels above its first one, next to the title of the panel, or above it if the figure may be narrow."""
    if width is None:
        axis.set_title(name, loc="right", fontsize=9, color="#333333")
    else:
        head(axis, f"{name}\n{axis.get_title()}")


@arguments_checked
def close(figure: Figure) -> Figure:
    """Detach a figure from pyplot, because notebooks would show an open figure a second time."""
    import matplotlib.pyplot as plt

    plt.close(figure)
    return figure


@arguments_checked
def save(figure: Figure, path: Path) -> None:
    """Write a figure in the format given by the file name's suffix.

    Raises
    ------
    OutputError
        matplotlib does not support the format, or the file cannot be written.
    """
    known = figure.canvas.get_supported_filetypes()
    kind = path.suffix.removeprefix(".").lower()
    if kind not in known:
        raise OutputError(f"cannot write a plot to {path}; expected a name that ends in .svg, .png or .pdf")
    try:
        figure.savefig(path, metadata={"Date": None} if kind == "svg" else None)
    except OSError as error:
        raise OutputError(f"cannot write the plot to {path}: {error.strerror or error}") from None


@arguments_checked
def name_ends(axis: Axes, ends: dict[str, LineEnd], *, end: int) -> None:
    """Label each line at its end, moving labels apart where they would overlap. Call it after all limits are set."""
    points = 72 / axis.figure.dpi
    heights = {name: float(axis.transData.transform((x, y))[1]) * points for name, (x, y, _) in ends.items()}
    spread = _spread_out(heights, gap=11, top=float(axis.bbox.y1) * points)
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


def _spread_out(heights: dict[str, float], gap: float, top: float = math.inf) -> dict[str, float]:
    """Heights at least `gap` apart and at most `top`, in the same order and with small shifts; crowded labels are centred."""
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
