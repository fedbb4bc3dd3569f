"""Plots of a run: one panel a trace over a shared time axis."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import cycle
from typing import TYPE_CHECKING, Any

from tailback._format import quantity
from tailback.plots import COLOURS, STYLE, require

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from tailback._table import Table

__all__ = ["TRACES", "draw_traces", "plot_run", "show"]

# Lines that one panel shows; more would be a carpet.
_LINES = 8

# Spans of time of which a line shows the extremes; no print is as fine.
_SPANS = 2000

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


def show(title: str, tables: Mapping[str, Table]) -> None:
    """Open a window with the plot of a run and wait until it is closed."""
    import matplotlib.pyplot as plt

    plot_run(title, tables)
    plt.show()


def plot_run(title: str, tables: Mapping[str, Table]) -> Figure:
    """A pyplot figure of the tables of a run; see `Run.plot`."""
    require()
    import matplotlib.pyplot as plt

    kinds = [kind for kind, table in tables.items() if kind in TRACES and len(table)]
    with plt.rc_context(STYLE):
        rows = len(kinds) or 2
        figure, axes = plt.subplots(rows, 1, figsize=(8, 1 + 1.8 * rows), squeeze=False, sharex=bool(kinds), layout="constrained")
        panels = list(axes[:, 0])
        draw_traces(panels, [tables[kind] for kind in kinds])
        if kinds:
            panels[-1].set_xlabel("time, s")
        else:
            flows, queues = tables["flows"], tables["queues"]
            _dots(panels[0], _names(flows, "group", "flow"), flows["goodput_bps"], "goodput_bps", "goodput by flow")
            _dots(panels[1], _names(queues, "queue"), queues["utilisation"], "utilisation", "utilisation by queue")
        figure.suptitle(title, x=0.01, ha="left", fontsize=9, color="#333333")
    return figure


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
