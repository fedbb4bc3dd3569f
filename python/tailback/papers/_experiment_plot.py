"""Plots of an experiment: one figure per row of panels."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Literal

from tailback._html.pictures import Curve, Picture, picture
from tailback._html.pictures import Panel as Plotted
from tailback._interval import Interval
from tailback._run.plot import thinned
from tailback.papers._experiment import Curves, Panel, Ranking, ReferenceLine, TracePanel
from tailback.papers._measured import Measured, Point
from tailback.plots import COLOURS, PAGE, LineEnd, name_ends

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["draw"]

_WIDTH = 8.2
_NAMED = 12
# Numbers on a scale use prefixes from here on: 7 G.
_LARGE = 1e6
_INK = "#333333"
_PALE = "#888888"


def draw(rows: Iterable[tuple[Panel, ...]], measured: Measured) -> list[Picture]:
    """Draw each row of panels as a picture."""
    import matplotlib as mpl

    with mpl.rc_context(PAGE):
        return [_row(measured, panels) for panels in rows]


def _row(measured: Measured, panels: tuple[Panel, ...]) -> Picture:
    """Draw panels side by side with a common vertical scale."""
    from matplotlib.figure import Figure

    rank = isinstance(panels[0], Ranking)
    titled = any(panel.title or (isinstance(panel, TracePanel) and len(panel.traces) > 1) for panel in panels)
    above, below = (0.3 if titled else 0.1), 0.5
    height = above + below + (_height(panels[0]) if len(panels) == 1 else 2.2)
    figure = Figure(figsize=(_WIDTH, height))
    axes = figure.subplots(1, len(panels), sharey=True, squeeze=False)[0]
    left = _room(panels[0]) if isinstance(panels[0], Ranking) else 0.085
    figure.subplots_adjust(left=left, right=0.985, top=1 - above / height, bottom=below / height, wspace=0.06)
    ends = {}
    plotted = [Plotted(axis) for axis in axes]
    thin = False
    for axis, panel, into in zip(axes, panels, plotted, strict=True):
        axis.set_title(panel.title, loc="left", fontsize=9.5, color=_INK)
        if isinstance(panel, Curves):
            ends = _curves(into, measured, panel, names=axis is axes[-1])
        elif isinstance(panel, Ranking):
            _ranking(axis, measured, panel)
        else:
            thin = _drawn(into, measured, panel) or thin
    if isinstance(panels[0], TracePanel):
        # Autoscale only after all panels have their data; the first panel would fix the scale otherwise.
        lowest = min(axis.dataLim.y0 for axis in axes)
        if lowest >= 0:
            axes[0].set_ylim(bottom=-0.03 * axes[0].get_ylim()[1] if panels[0].markers else 0)
    cut = isinstance(panels[0], Curves) and _around_means(axes, log=panels[0].log)
    if not rank:
        axes[0].set_ylabel(panels[0].axis)
    name_ends(axes[-1], ends, end=-1)
    notes = [_caption(panels[0])]
    if panels[0].reference_lines:
        notes.append("Dotted: " + "; ".join(level.label for level in panels[0].reference_lines) + ".")
    if isinstance(panels[0], Curves) and panels[0].printed:
        notes.append("Crosses: values printed in the document.")
    if cut:
        notes.append("95 % bands extend beyond the scale.")
    if thin:
        notes.append("Long traces show the first, last, smallest and largest value of each of 2000 intervals.")
    # A ranking prints its numbers, so there is nothing to zoom.
    return picture(figure, (panel for panel in plotted if panel.curves), " ".join(notes))


def _caption(panel: Panel) -> str:
    """Title of the axes: ``Goodput over EPD threshold.`` Units are on the axes."""
    words = panel.axis.partition(",")[0]
    over = "" if isinstance(panel, Ranking) else f" over {panel.unit.partition(',')[0]}"
    return f"{words[:1].upper()}{words[1:]}{over}."


def _room(panel: Ranking) -> float:
    """Margin for the row names, as a fraction of the width."""
    widest = max(_width(line.label) for line in panel.lines)
    return max(0.24, min(0.5, (widest + 6) / (72 * _WIDTH)))


def _height(panel: Panel) -> float:
    if isinstance(panel, Ranking):
        return 0.24 * len(panel.lines)
    return 2.2 if isinstance(panel, TracePanel) else 3.0


def _curves(into: Plotted, measured: Measured, panel: Curves, *, names: bool) -> dict[str, LineEnd]:
    """Draw lines of means with their bands, and reserve room for their names at the right if they are placed there. Returns the
    right end of each line.
    """
    axis = into.axis
    chosen = {line.label: measured.where(**line.where) for line in panel.lines}
    places = sorted({_place(point, panel) for points in chosen.values() for point in points if panel.over in point.labels})
    ends: dict[str, LineEnd] = {}
    for colour, line in zip(COLOURS, panel.lines, strict=False):
        points = chosen[line.label]
        curve = sorted((point for point in points if panel.over in point.labels), key=lambda point: _place(point, panel))
        # A point without a value on the axis is drawn as a horizontal line.
        across = not curve
        x = [places[0], places[-1]] if across else [_place(point, panel) for point in curve]
        intervals = [_interval(measured, panel, point) for point in (points * 2 if across else curve)]
        means = [interval.mean for interval in intervals]
        low, high = [interval.low for interval in intervals], [interval.high for interval in intervals]
        dash: Literal["dashed", "solid"] = "dashed" if across or line.dashed else "solid"
        into.draw(Curve(line.label, x, means, colour, low, high, line=dash, mark="" if across else "o"), markersize=2.5)
        # A missing value leaves a gap in the line.
        known = [
            (place, mean) for place, mean in zip(x, means, strict=True) if math.isfinite(mean) and (mean > 0 or not panel.log)
        ]
        if known:
            ends[line.label] = (*known[-1], colour)
    if panel.printed:
        _printed(into, panel, chosen)
    widest = max(map(_width, ends), default=0.0) if names else 0.0
    # As a fraction of the axis; the lines keep at least half of it.
    room = min(0.5, widest / (axis.bbox.width * 72 / axis.figure.dpi))
    before, behind = 0.04, 0.04 + 1.08 * room / (1 - room)
    if panel.log_over:
        axis.set_xscale("log")
        span = places[-1] / places[0] if len(places) > 1 else 10.0
        axis.set_xlim(places[0] / span**before, places[-1] * span**behind)
    else:
        span = places[-1] - places[0] if len(places) > 1 else abs(places[0]) or 1.0
        axis.set_xlim(places[0] - before * span, places[-1] + behind * span)
    # With many values, only round numbers are labelled, and otherwise the last value and every second one before it.
    if len(places) <= _NAMED:
        named = places if len(places) <= 6 else places[::-2]
        axis.set_xticks(named, [f"{place:g}" for place in named])
        axis.set_xticks([], minor=True)
    axis.set_xlabel(panel.unit)
    _levels(into, panel.reference_lines)
    return ends


def _width(name: str) -> float:
    """Width of a line's name and the space before it, in points."""
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import TextToPath

    width, _, _ = TextToPath().get_text_width_height_descent(name, FontProperties(size=PAGE["font.size"]), ismath=False)
    return float(width) + 8


def _printed(into: Plotted, panel: Curves, chosen: Mapping[str, list[Point]]) -> None:
    """Draw the document's numbers in the colour of their line, or in black if they are the same for all lines."""
    crosses = {
        label: [
            (_place(point, panel), point.labels["printed"])
            for point in points
            if isinstance(point.labels.get("printed"), int | float)
        ]
        for label, points in chosen.items()
    }
    alike = all(pairs == next(iter(crosses.values())) for pairs in crosses.values())
    for colour, (name, pairs) in zip(COLOURS, crosses.items(), strict=False):
        if pairs:
            x, y = zip(*sorted(pairs), strict=True)
            label, ink = ("printed", _INK) if alike else (f"{name}, printed", colour)
            into.draw(Curve(label, x, y, ink, line="none", mark="x"), markersize=5, markeredgewidth=1.2)
        if alike:
            break


def _around_means(axes: Sequence[Axes], *, log: bool) -> bool:
    """Scale the axis to the means, because bands from two seeds may be wider than the data. Returns whether any band exceeds the
    scale.
    """
    import numpy as np
    from matplotlib.ticker import EngFormatter

    drawn = np.concatenate([np.asarray(line.get_ydata(), dtype=float) for axis in axes for line in axis.lines])
    heights = drawn[np.isfinite(drawn) & ((drawn > 0) | (not log))]
    if not log and heights.size and heights.max() >= _LARGE:
        axes[0].yaxis.set_major_formatter(EngFormatter())
    elif not log:
        axes[0].ticklabel_format(axis="y", style="plain", useOffset=False)
    if not heights.size:
        return False
    low, high = float(heights.min()), float(heights.max())
    if log:
        axes[0].set_yscale("log")
        factor = (high / low) ** 0.08
        low, high = low / factor, high * factor
    else:
        margin = 0.08 * (high - low) or 0.5
        low, high = low - margin, high + margin
    axes[0].set_ylim(low, high)
    bands = [
        np.asarray(path.vertices, dtype=float)[:, 1] for axis in axes for band in axis.collections for path in band.get_paths()
    ]
    return any(bool(np.any((edge < low) | (edge > high))) for edge in bands)


def _interval(measured: Measured, panel: Curves, point: Point) -> Interval:
    """The interval of a point, divided by the mean of its reference."""
    interval = measured.interval_of(point, panel.measure)
    if not panel.relative_to:
        return interval
    (reference,) = measured.where(**panel.relative_to, **{panel.over: point.labels[panel.over]})
    mean = float(reference.values[panel.measure].mean()) or math.nan
    return Interval(interval.mean / mean, interval.half / mean)


def _place(point: Point, panel: Curves) -> float:
    return float(point.labels[panel.over])


def _levels(into: Plotted, reference_lines: tuple[ReferenceLine, ...]) -> None:
    """Draw values stated in the document's text as thin horizontal lines."""
    for level in reference_lines:
        into.level(level.label, level.value)


def _ranking(axis: Axes, measured: Measured, panel: Ranking) -> None:
    """Draw one dot with its interval per row, the first at the top."""
    ends = []
    for row, line in enumerate(reversed(panel.lines)):
        (point,) = measured.where(**line.where)
        interval = measured.interval_of(point, panel.measure)
        ends_around_mean = [[interval.mean - interval.low], [interval.high - interval.mean]]
        axis.errorbar(interval.mean, row, xerr=ends_around_mean, fmt="o", markersize=4.5, elinewidth=1.1, color=COLOURS[0])
        ends.append(interval.high)
    axis.set_yticks(range(len(panel.lines)), [line.label for line in reversed(panel.lines)])
    axis.tick_params(axis="y", length=0)
    axis.spines["left"].set_visible(False)
    axis.set_ylim(-0.6, len(panel.lines) - 0.4)
    groups = [line.label.partition(":")[0] for line in reversed(panel.lines)]
    for row, (own, above) in enumerate(pairwise(groups)):
        if own != above:
            axis.axhline(row + 0.5, color=_PALE, linewidth=0.4)
    reach = [each for each in (*ends, *(level.value for level in panel.reference_lines)) if math.isfinite(each)]
    axis.set_xlim(0, 1.06 * max(reach, default=1.0) or 1.0)
    axis.set_xlabel(panel.axis)
    for level in panel.reference_lines:
        axis.axvline(level.value, color=_PALE, linewidth=0.9, linestyle=(0, (1, 2)), zorder=1)


def _drawn(into: Plotted, measured: Measured, panel: TracePanel) -> bool:
    """Draw traces, with a legend above if there are several. Returns whether any trace is reduced to extremes."""
    axis, thin = into.axis, False
    for place, (colour, name) in enumerate(zip(COLOURS, panel.traces, strict=False)):
        x, y = measured.traces[name]
        if panel.markers:
            mark = panel.markers[place]
            into.draw(Curve(name, x, y, colour, line="none", mark=mark), markersize=6 if mark == "x" else 3)
        else:
            kept = thinned(x, y)
            thin = thin or len(kept[0]) < len(x)
            into.draw(Curve(name, *kept, colour, steps=True), linewidth=0.8)
    if panel.time_range:
        axis.set_xlim(panel.time_range)
        into.time_range = panel.time_range
        curves = [measured.traces[name] for name in panel.traces]
        low, high = panel.time_range
        axis.set_ylim(top=1.06 * max(y[(x >= low) & (x <= high)].max(initial=0) for x, y in curves))
    axis.set_xlabel(panel.unit)
    _levels(into, panel.reference_lines)
    if len(panel.traces) > 1:
        axis.legend(
            frameon=False, fontsize=8.5, loc="lower left", bbox_to_anchor=(0, 1), ncols=len(panel.traces), borderaxespad=0.2
        )
    return thin
