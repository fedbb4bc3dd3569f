"""The drawings of the report, as inline SVG. Labels stand beside lines; ranges are those of the data."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from tailback import models
from tailback._demo.buffer_grid import BDP_PACKETS, Cell, Study, rule
from tailback.plots import PAGE, End, name_ends, svg

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["draw"]

_WIDTH = 7.4
_INK = "#333333"
_PALE = "#999999"


def draw(study: Study) -> dict[str, str]:
    """All figures by name."""
    import matplotlib as mpl

    figures: dict[str, Callable[[Study], Figure]] = {
        "utilisation": _utilisation,
        "paced": _paced,
        "loss": _loss,
        "delay": _delay,
        "single": _single,
        "sawtooth": _sawtooth,
    }
    with mpl.rc_context(PAGE):
        return {name: svg(figure(study)) for name, figure in figures.items()}


def _utilisation(study: Study) -> Figure:
    figure, axis = _panel(4.0)
    ends = _curves(axis, study, "utilisation", 100, end=0)
    _closed_form(axis, 0.01, 2, color="black", linewidth=0.9, linestyle=(0, (2, 3)), zorder=4)
    axis.annotate("dashed: closed form for 1 flow", (35, 92.5), (8, -4), textcoords="offset points", va="top", color=_INK)
    axis.set_ylim(0, 101.5)
    axis.set_ylabel("utilisation, %")
    _buffer_axis(axis, (0.5, 220))
    name_ends(axis, ends, end=0)
    return figure


def _paced(study: Study) -> Figure:
    """The small buffers again: senders that acknowledgements clock against senders that spread their window over a round trip."""
    figure, axis = _panel(3.6)
    ends = {}
    colours = _colours(study)
    for flows in study.paced_flows:
        for cells, line in ((study.cells(flows, paced=True), (0, (5, 2))), (study.cells(flows), "solid")):
            small = [cell for cell in cells if cell.share <= 0.5]
            places, means = _curve(axis, study, small, "utilisation", 100, colours[flows], line)
            ends[_flows(flows) + ("" if line == "solid" else ", paced")] = (places[0], means[0], colours[flows])
    axis.set_ylim(top=101)
    axis.set_ylabel("utilisation, %")
    _buffer_axis(axis, (0.4, 55))
    name_ends(axis, ends, end=0)
    return figure


def _loss(study: Study) -> Figure:
    figure, axis = _panel(3.6)
    ends = _curves(axis, study, "loss_share", 100, end=0)
    _decades(axis)
    axis.set_ylabel("packets lost, %")
    _buffer_axis(axis, (0.5, 220))
    name_ends(axis, ends, end=0)
    return figure


def _delay(study: Study) -> Figure:
    figure, axis = _panel(3.6)
    ends = _curves(axis, study, "mean_wait_s", 1e3, end=-1)
    _decades(axis)
    axis.set_ylabel("mean wait in the queue, ms")
    _buffer_axis(axis, (0.9, 400))
    name_ends(axis, ends, end=-1)
    return figure


def _single(study: Study) -> Figure:
    """Theory as a line, measurement as points with their intervals; the difference below on its own scale."""
    import numpy as np
    from matplotlib.figure import Figure

    figure = Figure(figsize=(_WIDTH, 4.4), layout="constrained")
    above, below = figure.subplots(2, 1, sharex=True, height_ratios=[3, 1.3])
    _closed_form(above, 0.008, 2.2, color=_PALE)
    cells = study.cells(1)
    places = [100 * cell.share for cell in cells]
    measured = [study.interval("utilisation", cell) for cell in cells]
    theory = models.single_flow_utilisation([cell.share for cell in cells])
    means = np.array([100 * interval.mean for interval in measured])
    halves = np.nan_to_num(np.array([100 * interval.half for interval in measured]))
    colour = _colours(study)[1]
    above.errorbar(places, means, halves, fmt="o", markersize=4, color=colour, elinewidth=1)
    above.annotate(
        "closed form",
        (14, 100 * models.single_flow_utilisation(0.14)),
        (-6, 8),
        textcoords="offset points",
        ha="right",
        color="#777777",
    )
    above.annotate("simulated", (places[3], means[3]), (8, -6), textcoords="offset points", va="top", color=colour)
    above.set_ylabel("utilisation, %")
    below.axhline(0, color=_PALE, linewidth=0.8)
    below.errorbar(places, means - 100 * theory, halves, fmt="o", markersize=4, color=colour, elinewidth=1)
    below.set_ylabel("difference,\npercentage points")
    _buffer_axis(below, (0.8, 220))
    return figure


def _closed_form(axis: Axes, first: float, last: float, **line: Any) -> None:
    """Utilisation by one flow as theory has it, over shares of the bandwidth-delay product."""
    import numpy as np

    shares = np.geomspace(first, last, 300)
    axis.plot(100 * shares, 100 * models.single_flow_utilisation(shares), **line)


def _sawtooth(study: Study) -> Figure:
    """Window above queue, one column a buffer, on common scales."""
    from matplotlib.figure import Figure

    traces = study.sawtooth
    figure = Figure(figsize=(_WIDTH, 3.9), layout="constrained")
    axes = figure.subplots(2, len(traces), sharex=True, sharey="row")
    colour = _colours(study)[1]
    for (window, queue), trace in zip(axes.T, traces, strict=True):
        window.axhline(BDP_PACKETS, color=_PALE, linewidth=0.7, linestyle=(0, (4, 3)))
        window.plot(trace.time_s, trace.window, color=colour, linewidth=0.9)
        queue.fill_between(trace.time_s, trace.queue, step="post", color=colour, alpha=0.35, linewidth=0)
        queue.axhline(trace.share * BDP_PACKETS, color=_PALE, linewidth=0.7, linestyle=(0, (4, 3)))
        window.set_title(
            f"buffer {100 * trace.share:g} % of BDP\n{100 * trace.utilisation:.1f} % utilised",
            loc="left",
            fontsize=9.5,
            color=_INK,
        )
        queue.set_xlabel("measured time, s")
    axes[0, 0].set_ylim(bottom=0)
    axes[1, 0].set_ylim(bottom=0)
    axes[0, 0].set_ylabel("window, packets")
    axes[1, 0].set_ylabel("queue, packets")
    axes[0, -1].annotate(
        "one BDP", (traces[-1].time_s[-1], BDP_PACKETS), (0, 3), textcoords="offset points", ha="right", color="#777777"
    )
    return figure


def _curves(axis: Axes, study: Study, quantity: str, scale: float, *, end: int) -> dict[str, End]:
    """A curve for each number of flows, and a ring where the square-root rule lies. Returns one end of each, by name."""
    colours = _colours(study)
    ends = {}
    for flows in study.plan.flows:
        places, means = _curve(axis, study, study.cells(flows), quantity, scale, colours[flows])
        ring = (100 * rule(flows).share, scale * study.interval(quantity, rule(flows)).mean)
        axis.plot(*ring, "o", markersize=5, markerfacecolor="white", markeredgecolor=colours[flows], zorder=3)
        ends[_flows(flows)] = (places[end], means[end], colours[flows])
    return ends


def _curve(
    axis: Axes, study: Study, cells: list[Cell], quantity: str, scale: float, colour: str, line: Any = "solid"
) -> tuple[list[float], list[float]]:
    """A line of means in its 95 % band. Returns places and means."""
    intervals = [study.interval(quantity, cell) for cell in cells]
    places = [100 * cell.share for cell in cells]
    means = [scale * interval.mean for interval in intervals]
    low = [scale * (interval.mean - interval.half) for interval in intervals]
    high = [scale * (interval.mean + interval.half) for interval in intervals]
    axis.fill_between(places, low, high, color=colour, alpha=0.2, linewidth=0)
    axis.plot(places, means, color=colour, linestyle=line)
    return places, means


def _flows(flows: int) -> str:
    return "1 flow" if flows == 1 else f"{flows} flows"


def _decades(axis: Axes) -> None:
    """A logarithmic axis around the means, whatever the bands do, with room above for the names."""
    import numpy as np

    heights = np.concatenate([np.asarray(line.get_ydata(), dtype=float) for line in axis.lines])
    positive = heights[heights > 0]
    axis.set_yscale("log")
    axis.set_ylim(0.5 * positive.min(), 6 * positive.max())
    axis.yaxis.set_major_formatter(lambda value, _place: f"{value:g}")


def _colours(study: Study) -> dict[int, str]:
    """From dark blue for one flow to warm for many."""
    import matplotlib as mpl
    from matplotlib.colors import to_hex

    scale = mpl.colormaps["viridis"]
    count = max(len(study.plan.flows) - 1, 1)
    return {flows: to_hex(scale(0.86 * index / count)) for index, flows in enumerate(study.plan.flows)}


def _panel(height: float) -> tuple[Figure, Axes]:
    """One panel with fixed margins, so that names can be placed before it is drawn."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(_WIDTH, height))
    figure.subplots_adjust(left=0.1, right=0.99, top=0.98, bottom=0.5 / height)
    return figure, figure.subplots()


def _buffer_axis(axis: Axes, limits: tuple[float, float]) -> None:
    axis.set_xscale("log")
    shares = (1, 2, 5, 10, 20, 50, 100, 200)
    axis.set_xticks(shares, [str(share) for share in shares])
    axis.minorticks_off()
    axis.set_xlim(limits)
    axis.set_xlabel("buffer, % of the bandwidth-delay product")
