"""Plots of a run: one panel a trace over a shared time axis, in the manner of Tufte: ink for data, labels beside the lines."""

from __future__ import annotations

import importlib.util
import io
import math
import re
from collections.abc import Iterator
from itertools import cycle
from typing import TYPE_CHECKING, Any, TypeAlias

from tailback._summary import header, quantity
from tailback.errors import MissingExtra, OutputError

if TYPE_CHECKING:
    from pathlib import Path

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from tailback._run import Run
    from tailback._table import Table

__all__ = [
    "COLOURS",
    "PAGE",
    "STYLE",
    "TRACES",
    "End",
    "close",
    "draw_traces",
    "name_ends",
    "plot_run",
    "require",
    "save",
    "show",
    "svg",
]

COLOURS = ("#1f5a99", "#c2571a", "#3c7d3c", "#8a3d8f", "#9a7b00", "#2a8a8a", "#a83248", "#555555")

# Lines that one panel shows; more would be a carpet.
_LINES = 8

# Spans of time of which a line shows the extremes; no print is as fine.
_SPANS = 2000

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
PAGE: Any = {**STYLE, "font.size": 9.5, "font.sans-serif": ["DejaVu Sans"]}

# Place, height and colour of a line's end.
End: TypeAlias = tuple[float, float, str]

# How each trace is drawn: its value, whether it holds until the next row, and the title of its panel.
TRACES = {
    "cwnd": ("cwnd_packets", True, "window, packets"),
    "ssthresh": ("ssthresh_packets", True, "slow-start threshold, packets"),
    "in_flight": ("in_flight_packets", True, "in flight, packets"),
    "rtt": ("rtt_s", False, "round trip, s"),
    "throughput": ("throughput_bps", True, "throughput"),
    "queue": ("queue_units", True, "queue"),
    "segments": ("segment", False, "segment sent"),
    "acks": ("ack", False, "acknowledgement"),
    "drops": ("segment", False, "segment discarded"),
}
_POINTS = ("segments", "acks", "drops")


def require(*, window: bool = False) -> None:
    """Raise what is in the way of a plot, before anything is run."""
    if importlib.util.find_spec("matplotlib") is None:
        raise MissingExtra("plotting", "matplotlib", "plot")
    if window:
        import matplotlib as mpl

        if mpl.get_backend().lower() == "agg":
            raise OutputError("there is no display for a plot; with --out DIR it is written to DIR/plot.svg")


def show(run: Run) -> None:
    """Open a window with the plot and wait until it is closed."""
    import matplotlib.pyplot as plt

    plot_run(run)
    plt.show()


def plot_run(run: Run) -> Figure:
    """A pyplot figure; see `Run.plot`."""
    require()
    import matplotlib.pyplot as plt

    kinds = [kind for kind in run.traces if kind in TRACES and len(run.trace(kind))]
    with plt.rc_context(STYLE):
        rows = len(kinds) or 2
        figure, axes = plt.subplots(rows, 1, figsize=(8, 1 + 1.8 * rows), squeeze=False, sharex=bool(kinds), layout="constrained")
        panels = list(axes[:, 0])
        draw_traces(panels, [run.trace(kind) for kind in kinds])
        if kinds:
            panels[-1].set_xlabel("time, s")
        else:
            _dots(panels[0], _names(run.flows, "group", "flow"), run.flows["goodput_bps"], "goodput_bps", "goodput by flow")
            _dots(panels[1], _names(run.queues, "queue"), run.queues["utilisation"], "utilisation", "utilisation by queue")
        figure.suptitle(header(run), x=0.01, ha="left", fontsize=9, color="#333333")
    return figure


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


def svg(figure: Figure) -> str:
    """The figure as an element of a page: as wide as the column, without a prologue."""
    text = io.StringIO()
    figure.savefig(text, format="svg", transparent=True, metadata={"Date": None})
    whole = text.getvalue()
    element = whole[whole.index("<svg") :]
    return re.sub(r'<svg ([^>]*?)width="[^"]*" height="[^"]*"', r'<svg \1role="img"', element, count=1)


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


def draw_traces(panels: list[Axes], tables: list[Table], *, legend: bool = True) -> None:
    """A panel a trace. A flow has one colour in all of them, and the legend stands where it differs from the one above."""
    shown = {table.name: _shown(table) for table in tables}
    colours: dict[tuple[str, ...], str] = {}
    for keys in {_keys(table) for table in tables}:
        found = sorted({name for table in tables if _keys(table) == keys for name in shown[table.name]}, key=_natural)
        colours.update({(*keys, name): colour for name, colour in zip(found, cycle(COLOURS), strict=False)})
    above: list[str] = []
    for axis, table in zip(panels, tables, strict=False):
        names = shown[table.name]
        value, holds, title = TRACES[table.name]
        for name, times, values in _series(table, value, names):
            colour = colours[*_keys(table), name]
            if table.name in _POINTS:
                axis.plot(times, values, ".", markersize=2, color=colour, label=name)
            else:
                drawn = _thinned(times, values)
                axis.plot(*drawn, drawstyle="steps-post" if holds else "default", color=colour, label=name)
        count = len(set(_names(table, *_keys(table))))
        more = f" ({_LINES} of {count})" if count > _LINES else ""
        # Across, not along the axis: a narrow panel has no room for a word that stands on its head.
        axis.set_title(title + more, loc="left", fontsize=9, color="#333333")
        if value == "throughput_bps":
            axis.yaxis.set_major_formatter(lambda bps, _place: quantity("throughput_bps", float(bps)))
        if legend and len(names) > 1 and names != above:
            axis.legend(frameon=False, fontsize=8, loc="upper left", bbox_to_anchor=(1, 1), markerscale=4)
        above = names


def _thinned(times: Any, values: Any) -> tuple[Any, Any]:
    """Of a long line, in each of many equal spans of time, the first and last row and those of the least and largest value.

    It covers the same ground on paper, and a trace of millions of rows is not a file of hundreds of megabytes.
    """
    import numpy as np

    if len(times) <= 4 * _SPANS:
        return times, values
    starts = np.unique(np.searchsorted(times, np.linspace(times[0], times[-1], _SPANS, endpoint=False)))
    ends = np.append(starts[1:], len(times)) - 1
    # The place of each span's extreme: the first of its rows in the order of spans and then values.
    span = np.repeat(np.arange(len(starts)), np.diff(np.append(starts, len(times))))
    lowest, highest = (np.lexsort((sign * values, span))[starts] for sign in (1, -1))
    kept = np.unique(np.concatenate([starts, ends, lowest, highest]))
    return times[kept], values[kept]


def _shown(table: Table) -> list[str]:
    """The first few flows or queues of a trace."""
    return sorted(set(_names(table, *_keys(table))), key=_natural)[:_LINES]


def _natural(name: str) -> tuple[str, int]:
    """``web 10`` comes after ``web 9``."""
    word, _, number = name.rpartition(" ")
    return (word, int(number)) if number.isdigit() else (name, 0)


def _series(table: Table, value: str, shown: list[str]) -> Iterator[tuple[str, Any, Any]]:
    """Name, times and values of each of these."""
    import numpy as np

    names = np.array(_names(table, *_keys(table)))
    times, values = table["time_s"], table[value]
    for name in shown:
        chosen = names == name
        yield name, times[chosen], values[chosen]


def _keys(table: Table) -> tuple[str, ...]:
    return ("group", "flow") if "group" in table else ("queue",)


def _names(table: Table, *keys: str) -> list[str]:
    """One name a row: ``web 3``, ``bottleneck``."""
    columns = table.to_dict()
    return [" ".join(str(part) for part in row) for row in zip(*(columns[key] for key in keys), strict=True)]


def _dots(axis: Axes, names: list[str], values: Any, column: str, title: str) -> None:
    """Sorted dots: one a row, with names where they fit."""
    order = values.argsort()
    places = range(len(order))
    axis.plot(values[order], places, "o", markersize=4 if len(order) <= 24 else 2, color=COLOURS[0])
    axis.set_xlim(left=0)
    axis.xaxis.set_major_formatter(lambda value, _place: quantity(column, float(value)))
    if len(order) <= 24:
        axis.set_yticks(list(places), [names[index] for index in order])
    else:
        axis.set_ylabel(f"{len(order)} of them, sorted")
    axis.set_title(title, loc="left", fontsize=9, color="#333333")
