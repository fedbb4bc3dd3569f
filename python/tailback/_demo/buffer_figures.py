"""The figures of the first report, with labels next to the lines."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal

from tailback import models
from tailback._demo.buffer_grid import BDP_PACKETS, Cell, Study, rule
from tailback._html.pictures import Curve, Panel, Picture, picture
from tailback.plots import PAGE, LineEnd, name_ends

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["draw"]

_WIDTH = 7.4
_INK = "#333333"
_BLACK = "#000000"
_PALE = "#999999"


def draw(study: Study) -> dict[str, Picture]:
    """All figures by name."""
    import matplotlib as mpl

    figures: dict[str, Callable[[Study], tuple[Figure, list[Panel]]]] = {
        "utilisation": _utilisation,
        "paced": _paced,
        "loss": _loss,
        "delay": _delay,
        "single": _single,
        "sawtooth": _sawtooth,
    }
    with mpl.rc_context(PAGE):
        return {name: picture(*figure(study)) for name, figure in figures.items()}


def _utilisation(study: Study) -> tuple[Figure, list[Panel]]:
    figure, panel = _panel(4.0)
    axis = panel.axis
    ends = _curves(panel, study, "utilisation", 100, end=0)
    _closed_form(panel, 0.01, 2, _BLACK, line="dashed", linewidth=0.9, zorder=4)
    label, end = "dashed: closed form for 1 flow", (200, 92.5)
    axis.annotate(label, end, (0, -4), textcoords="offset points", ha="right", va="top", color=_INK)
    axis.set_ylim(0, 101.5)
    axis.set_ylabel("utilisation, %")
    _buffer_axis(axis, (0.5, 220))
    name_ends(axis, ends, end=0)
    return figure, [panel]


def _paced(study: Study) -> tuple[Figure, list[Panel]]:
    """Utilisation with small buffers, with ACK-clocked and with paced senders."""
    figure, panel = _panel(3.6)
    axis = panel.axis
    ends = {}
    colours = _colours(study)
    for flows in study.paced_flows:
        for paced in (True, False):
            small = [cell for cell in study.cells(flows, paced=paced) if cell.share <= 0.5]
            name = _flows(flows) + (", paced" if paced else "")
            curve = _curve(study, name, small, "utilisation", 100, colours[flows], "dashed" if paced else "solid")
            panel.draw(curve)
            ends[name] = (curve.x[0], curve.y[0], colours[flows])
    axis.set_ylim(top=101)
    axis.set_ylabel("utilisation, %")
    _buffer_axis(axis, (0.4, 55))
    name_ends(axis, ends, end=0)
    return figure, [panel]


def _loss(study: Study) -> tuple[Figure, list[Panel]]:
    figure, panel = _panel(3.6)
    axis = panel.axis
    ends = _curves(panel, study, "loss_rate", 100, end=0)
    _decades(axis)
    axis.set_ylabel("packets lost, %")
    _buffer_axis(axis, (0.5, 220))
    name_ends(axis, ends, end=0)
    return figure, [panel]


def _delay(study: Study) -> tuple[Figure, list[Panel]]:
    figure, panel = _panel(3.6)
    axis = panel.axis
    ends = _curves(panel, study, "mean_wait_s", 1e3, end=-1)
    _decades(axis)
    axis.set_ylabel("mean wait in the queue, ms")
    _buffer_axis(axis, (0.9, 400))
    name_ends(axis, ends, end=-1)
    return figure, [panel]


def _single(study: Study) -> tuple[Figure, list[Panel]]:
    """The closed form as a line and simulations as points with intervals; next to it the difference on its own scale."""
    import numpy as np
    from matplotlib.figure import Figure

    figure = Figure(figsize=(_WIDTH, 4.4), layout="constrained")
    panels = [Panel(axis) for axis in figure.subplots(2, 1, sharex=True, height_ratios=[3, 1.3])]
    above, below = (panel.axis for panel in panels)
    _closed_form(panels[0], 0.008, 2.2, _PALE)
    cells = study.cells(1)
    places = [100 * cell.share for cell in cells]
    measured = [study.interval("utilisation", cell) for cell in cells]
    theory = models.single_flow_utilisation([cell.share for cell in cells])
    means = np.array([100 * interval.mean for interval in measured])
    ends = np.array([[100 * interval.low, 100 * interval.high] for interval in measured])
    low, high = np.where(np.isnan(ends), means[:, np.newaxis], ends).T
    colour = _colours(study)[1]
    for panel, less in zip(panels, (0, 100 * theory), strict=True):
        simulated = Curve("simulated", places, means - less, colour, low - less, high - less, line="none", mark="o", bars=True)
        panel.draw(simulated, markersize=4)
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
    below.set_ylabel("difference,\npercentage points")
    _buffer_axis(below, (0.8, 220))
    return figure, panels


def _closed_form(
    panel: Panel, first: float, last: float, colour: str, line: Literal["solid", "dashed"] = "solid", **style: Any
) -> None:
    """The closed form of utilisation by one flow over shares of the bandwidth-delay product."""
    import numpy as np

    shares = np.geomspace(first, last, 300)
    theory = 100 * models.single_flow_utilisation(shares)
    panel.draw(Curve("closed form", 100 * shares, theory, colour, line=line), **style)


def _sawtooth(study: Study) -> tuple[Figure, list[Panel]]:
    """Window above queue, one column per buffer, on common scales."""
    from matplotlib.figure import Figure

    traces = study.sawtooth
    figure = Figure(figsize=(_WIDTH, 3.9), layout="constrained")
    axes = figure.subplots(2, len(traces), sharex=True, sharey="row")
    colour = _colours(study)[1]
    panels = [[Panel(axis) for axis in row] for row in axes]
    for window, queue, trace in zip(*panels, traces, strict=True):
        window.draw(Curve("window", trace.time_s, trace.window, colour), linewidth=0.9)
        window.level("one BDP", BDP_PACKETS)
        queue.draw(Curve("queue", trace.time_s, trace.queue, colour, steps=True, filled=True))
        queue.level("buffer", trace.share * BDP_PACKETS)
        title = f"buffer {100 * trace.share:g} % of BDP\n{100 * trace.utilisation:.1f} % utilised"
        window.axis.set_title(title, loc="left", fontsize=9.5, color=_INK)
        window.title = queue.title = title
        queue.axis.set_xlabel("measured time, s")
    axes[0, 0].set_ylim(bottom=0)
    axes[1, 0].set_ylim(bottom=0)
    axes[0, 0].set_ylabel("window, packets")
    axes[1, 0].set_ylabel("queue, packets")
    axes[0, -1].annotate(
        "one BDP", (traces[-1].time_s[-1], BDP_PACKETS), (0, 3), textcoords="offset points", ha="right", color="#777777"
    )
    return figure, [panel for column in zip(*panels, strict=True) for panel in column]


def _curves(panel: Panel, study: Study, quantity: str, scale: float, *, end: int) -> dict[str, LineEnd]:
    """A curve for each number of flows, with rings at the square-root rule. Returns one end of each curve, by name."""
    colours = _colours(study)
    ends = {}
    for flows in study.plan.flows:
        curve = _curve(study, _flows(flows), study.cells(flows), quantity, scale, colours[flows])
        panel.draw(curve)
        ends[_flows(flows)] = (curve.x[end], curve.y[end], colours[flows])
    rules = sorted((100 * rule(flows).share, scale * study.interval(quantity, rule(flows)).mean) for flows in study.plan.flows)
    places, means = zip(*rules, strict=True)
    panel.draw(Curve("BDP/√N", places, means, _INK, line="none", mark="ring"), markersize=5, zorder=3)
    return ends


def _curve(
    study: Study,
    name: str,
    cells: list[Cell],
    quantity: str,
    scale: float,
    colour: str,
    line: Literal["solid", "dashed"] = "solid",
) -> Curve:
    """A line of means with its 95 % band."""
    intervals = [study.interval(quantity, cell) for cell in cells]
    places = [100 * cell.share for cell in cells]
    means = [scale * interval.mean for interval in intervals]
    low = [scale * interval.low for interval in intervals]
    high = [scale * interval.high for interval in intervals]
    return Curve(name, places, means, colour, low, high, line)


def _flows(flows: int) -> str:
    return "1 flow" if flows == 1 else f"{flows} flows"


def _decades(axis: Axes) -> None:
    """A logarithmic axis with the range of the means, without their bands, and space above for the names."""
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


def _panel(height: float) -> tuple[Figure, Panel]:
    """One panel with fixed margins, so that names can be placed before it is drawn."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(_WIDTH, height))
    figure.subplots_adjust(left=0.1, right=0.99, top=0.98, bottom=0.5 / height)
    return figure, Panel(figure.subplots())


def _buffer_axis(axis: Axes, limits: tuple[float, float]) -> None:
    axis.set_xscale("log")
    shares = (1, 2, 5, 10, 20, 50, 100, 200)
    axis.set_xticks(shares, [str(share) for share in shares])
    axis.minorticks_off()
    axis.set_xlim(limits)
    axis.set_xlabel("buffer, % of the bandwidth-delay product")
