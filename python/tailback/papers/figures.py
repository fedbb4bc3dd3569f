"""The drawings of an experiment, as inline SVG: one figure a row of panels."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tailback.papers.experiment import Curves, Drawn, Level, Panel, Ranking
from tailback.papers.outcome import Outcome
from tailback.plots import COLOURS, PAGE, End, name_ends, svg

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["draw"]

_WIDTH = 8.2
_INK = "#333333"
_PALE = "#888888"


def draw(outcome: Outcome) -> list[str]:
    """Each row of panels as an SVG element."""
    import matplotlib as mpl

    with mpl.rc_context(PAGE):
        return [_row(outcome, row) for row in outcome.experiment.panels]


def _row(outcome: Outcome, panels: tuple[Panel, ...]) -> str:
    """Panels side by side on one vertical scale."""
    from matplotlib.figure import Figure

    height = max(_height(panel) for panel in panels) if len(panels) == 1 else 2.9
    figure = Figure(figsize=(_WIDTH, height))
    axes = figure.subplots(1, len(panels), sharey=True, squeeze=False)[0]
    rank = isinstance(panels[0], Ranking)
    titled = any(panel.title or (isinstance(panel, Drawn) and len(panel.traces) > 1) for panel in panels)
    figure.subplots_adjust(
        left=0.24 if rank else 0.085, right=0.99, top=1 - (0.3 if titled else 0.1) / height, bottom=0.5 / height, wspace=0.06
    )
    for place, (axis, panel) in enumerate(zip(axes, panels, strict=True)):
        axis.set_title(panel.title, loc="left", fontsize=9.5, color=_INK)
        if isinstance(panel, Curves):
            _curves(axis, outcome, panel, named=place == len(panels) - 1)
        elif isinstance(panel, Ranking):
            _ranking(axis, outcome, panel)
        else:
            _drawn(axis, outcome, panel)
        if place == 0 and not rank:
            axis.set_ylabel(panel.axis)
    return svg(figure)


def _height(panel: Panel) -> float:
    if isinstance(panel, Ranking):
        return 0.85 + 0.24 * len(panel.lines)
    return 2.8 if isinstance(panel, Drawn) else 3.6


def _curves(axis: Axes, outcome: Outcome, panel: Curves, *, named: bool) -> None:
    """Lines of means in their bands; names at the right ends, in the last panel of a row."""
    ends: dict[str, End] = {}
    places = sorted({float(point.labels[panel.over]) for point in outcome.points if panel.over in point.labels})
    for colour, line in zip(COLOURS, panel.lines, strict=False):
        points = outcome.where(**line.where)
        curve = sorted(
            ((float(each.labels[panel.over]), each) for each in points if panel.over in each.labels), key=lambda pair: pair[0]
        )
        x = [place for place, _ in curve] or [places[0], places[-1]]
        intervals = [outcome.interval(each.values[panel.measure]) for _, each in curve]
        if not curve:
            intervals = [outcome.interval(points[0].values[panel.measure])] * 2
        means = [interval.mean for interval in intervals]
        axis.fill_between(
            x,
            [interval.low for interval in intervals],
            [interval.high for interval in intervals],
            color=colour,
            alpha=0.18,
            linewidth=0,
        )
        axis.plot(
            x,
            means,
            color=colour,
            linestyle=(0, (5, 2)) if line.dashed or not curve else "solid",
            marker="o" if curve else "",
            markersize=2.5,
        )
        ends[line.label] = (x[-1], means[-1], colour)
    span = places[-1] - places[0]
    axis.set_xlim(places[0] - 0.04 * span, places[-1] + (0.36 if named else 0.04) * span)
    axis.set_xticks([place for place in axis.get_xticks() if places[0] - 0.04 * span <= place <= places[-1] + 0.04 * span])
    axis.set_xlabel(panel.unit)
    _levels(axis, panel.levels, named=named)
    if named:
        name_ends(axis, ends, end=-1)


def _levels(axis: Axes, levels: tuple[Level, ...], *, named: bool = True) -> None:
    """What the document's text states, as thin lines with a name each."""
    for level in levels:
        axis.axhline(level.value, color=_PALE, linewidth=0.8, linestyle=(0, (1, 2)), zorder=1)
        if named:
            axis.annotate(
                level.label,
                (1, level.value),
                (0, 2),
                xycoords=("axes fraction", "data"),
                textcoords="offset points",
                ha="right",
                va="bottom",
                fontsize=8,
                color="#666666",
            )


def _ranking(axis: Axes, outcome: Outcome, panel: Ranking) -> None:
    """A dot with its interval in each row, the first on top."""
    for row, line in enumerate(reversed(panel.lines)):
        (point,) = outcome.where(**line.where)
        interval = outcome.interval(point.values[panel.measure])
        axis.errorbar(interval.mean, row, xerr=interval.half, fmt="o", markersize=4.5, elinewidth=1.1, color=COLOURS[0])
    axis.set_yticks(range(len(panel.lines)), [line.label for line in reversed(panel.lines)])
    axis.tick_params(axis="y", length=0)
    axis.spines["left"].set_visible(False)
    axis.set_ylim(-0.6, len(panel.lines) - 0.4)
    axis.set_xlim(left=0)
    axis.margins(x=0.06)
    axis.set_xlabel(panel.axis)
    for level in panel.levels:
        axis.axvline(level.value, color=_PALE, linewidth=0.8, linestyle=(0, (1, 2)), zorder=1)
        axis.annotate(
            level.label,
            (level.value, 1),
            (3, -1),
            xycoords=("data", "axes fraction"),
            textcoords="offset points",
            va="top",
            fontsize=8,
            color="#666666",
        )


def _drawn(axis: Axes, outcome: Outcome, panel: Drawn) -> None:
    """Traces; named in a legend above where there are several."""
    for place, (colour, name) in enumerate(zip(COLOURS, panel.traces, strict=False)):
        x, y = outcome.traces[name]
        if panel.markers:
            axis.plot(
                x,
                y,
                panel.markers[place],
                linestyle="none",
                markersize=6 if panel.markers[place] == "x" else 3,
                color=colour,
                label=name,
            )
        else:
            axis.plot(x, y, drawstyle="steps-post", linewidth=0.8, color=colour, label=name)
    if panel.span:
        axis.set_xlim(panel.span)
        seen = [
            y[(x >= panel.span[0]) & (x <= panel.span[1])].max(initial=0)
            for x, y in (outcome.traces[name] for name in panel.traces)
        ]
        axis.set_ylim(top=1.06 * max(seen))
    axis.set_ylim(bottom=-1 if panel.markers else 0)
    axis.set_xlabel(panel.unit)
    _levels(axis, panel.levels)
    if len(panel.traces) > 1:
        axis.legend(
            frameon=False, fontsize=8.5, loc="lower left", bbox_to_anchor=(0, 1), ncols=len(panel.traces), borderaxespad=0.2
        )
