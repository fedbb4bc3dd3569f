"""Plots of runs: one panel a trace over a shared time axis, and a column for each run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import cycle
from typing import TYPE_CHECKING, Any

from tailback._format import quantity
from tailback.errors import ParameterError, UnknownName
from tailback.plots import COLOURS, STYLE, require

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from tailback._table import Table

__all__ = ["TRACES", "Chosen", "draw_traces", "plot_runs", "show", "thinned"]

# Lines that one panel shows; more would be a carpet.
_LINES = 8

# More than a group may have.
_FLOWS = 1 << 32

# Spans of time of which a line shows the extremes; no print is as fine.
_SPANS = 2000

# Dots that have their names beside them, each of which takes so many inches.
_NAMED = 24
_NAME_HEIGHT = 0.19

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


@dataclass(frozen=True)
class Chosen:
    """What of a run is drawn.

    Attributes
    ----------
    traces : tuple of str or None
        Kinds of trace, in this order; all that have a picture if None.
    lines : tuple of str or None
        Groups (``web``), flows (``web 3``) and queues; the first few of each trace if None.
    span : tuple of float or None
        From and to, in seconds.
    by_group : bool
        A colour for each group instead of one for each flow.
    """

    traces: tuple[str, ...] | None = None
    lines: tuple[str, ...] | None = None
    span: tuple[float, float] | None = None
    by_group: bool = False


def show(title: str, tables: Mapping[str, Table]) -> None:
    """Open a window with the plot of a run and wait until it is closed."""
    import matplotlib.pyplot as plt

    plot_runs({title: tables}, Chosen())
    plt.show()


def plot_runs(runs: Mapping[str, Mapping[str, Table]], chosen: Chosen) -> Figure:
    """A pyplot figure of the tables of some runs, side by side; see `Run.plot`."""
    require()
    import matplotlib.pyplot as plt

    kinds = _kinds(runs, chosen)
    with plt.rc_context(STYLE):
        heights = [1.8 for _ in kinds] or _dots_heights(runs)
        rows, columns = len(heights), len(runs)
        size = (8 if columns == 1 else 1.2 + 4 * columns, 1 + sum(heights))
        figure, axes = plt.subplots(
            rows,
            columns,
            figsize=size,
            squeeze=False,
            sharex=bool(kinds),
            sharey="row",
            height_ratios=heights,
            layout="constrained",
        )
        for place, (title, tables) in enumerate(runs.items()):
            panels = list(axes[:, place])
            if kinds:
                shown = [_cut(tables[kind], chosen.span) for kind in kinds]
                until = None if chosen.span is None else chosen.span[1]
                last = place == columns - 1
                draw_traces(panels, shown, legend=last, only=chosen.lines, by_group=chosen.by_group, until=until)
                panels[-1].set_xlabel("time, s")
                if chosen.span:
                    panels[-1].set_xlim(chosen.span)
            else:
                flows, queues = tables["flows"], tables["queues"]
                _dots(panels[0], _names(flows, "group", "flow"), flows["goodput_bps"], "goodput_bps", "goodput by flow")
                _dots(panels[1], _names(queues, "queue"), queues["utilisation"], "utilisation", "utilisation by queue")
            if columns > 1:
                panels[0].set_title(title, loc="right", fontsize=9, color="#333333")
        if columns == 1:
            figure.suptitle(next(iter(runs)), x=0.01, ha="left", fontsize=9, color="#333333")
    return figure


def _kinds(runs: Mapping[str, Mapping[str, Table]], chosen: Chosen) -> list[str]:
    """The traces that are drawn: those that are asked for, or all that every run has."""
    known = [kind for kind in TRACES if all(kind in tables and len(tables[kind]) for tables in runs.values())]
    if chosen.traces == ():
        raise ParameterError("`traces` names none; expected at least one, or nothing for all")
    if not known and len(runs) > 1 and any(kind in tables for kind in TRACES for tables in runs.values()):
        raise ParameterError("the runs have no trace in common; ask for the same ones in `record.traces` of their scenarios")
    for kind in chosen.traces or ():
        if kind not in known:
            raise UnknownName("trace", kind, known, note="; ask for it in `record.traces` of the scenario")
    if chosen.lines is not None:
        names = {name for tables in runs.values() for kind in known for name in _lines(tables[kind])}
        there = names | {_group_of(name) for name in names}
        for line in chosen.lines:
            if line not in there:
                raise UnknownName("group, flow or queue in these traces", line, sorted(there, key=_natural))
        known = [
            kind
            for kind in known
            if any(_wanted(name, chosen.lines) for tables in runs.values() for name in _lines(tables[kind]))
        ]
    return known if chosen.traces is None else [kind for kind in chosen.traces if kind in known]


def _cut(table: Table, span: tuple[float, float] | None) -> Table:
    """The rows of a span of time, and the one before it, whose value still holds."""
    if span is None:
        return table
    import numpy as np

    begin, end = np.searchsorted(table["time_s"], span)
    if not TRACES[table.name][1]:
        return table._rows(np.arange(begin, end))
    # Of each line: a queue may have changed last long before.
    codes = _codes(table)[:begin]
    last = begin - 1 - np.unique(codes[::-1], return_index=True)[1]
    return table._rows(np.concatenate([np.sort(last), np.arange(begin, end)]).astype(np.intp))


def draw_traces(
    panels: list[Axes],
    tables: list[Table],
    *,
    legend: bool = True,
    only: tuple[str, ...] | None = None,
    by_group: bool = False,
    until: float | None = None,
) -> None:
    """A panel a trace. A flow has one colour in all of them, and the legend stands where it differs from the one above.

    `until`: what still holds then is drawn as far as that.
    """
    import numpy as np

    shown = {table.name: _shown(table, only, by_group=by_group) for table in tables}
    colours: dict[tuple[str, ...], str] = {}
    for keys in {_keys(table) for table in tables}:
        found = sorted({name for table in tables if _keys(table) == keys for name in shown[table.name]}, key=_natural)
        named = list(dict.fromkeys(_group_of(name) for name in found)) if by_group else found
        of_name = dict(zip(named, cycle(COLOURS), strict=False))
        colours.update({(*keys, name): of_name[_group_of(name) if by_group else name] for name in found})
    above: list[str] = []
    for axis, table in zip(panels, tables, strict=False):
        names = shown[table.name]
        value, holds, title = TRACES[table.name]
        for name, times, values in _series(table, value, names):
            colour = colours[*_keys(table), name]
            label = _label(name, names, by_group=by_group)
            if table.name in _POINTS:
                axis.plot(times, values, ".", markersize=2, color=colour, label=label)
            else:
                if holds and until is not None:
                    times, values = np.append(times, until), np.append(values, values[-1:])
                drawn = thinned(times, values)
                axis.plot(*drawn, drawstyle="steps-post" if holds else "default", color=colour, label=label)
        count = len(_lines(table))
        more = f" ({len(names)} of {count})" if len(names) < count else ""
        # Across, not along the axis: a narrow panel has no room for a word that stands on its head.
        axis.set_title(title + more, loc="left", fontsize=9, color="#333333")
        if value == "throughput_bps":
            axis.yaxis.set_major_formatter(lambda bps, _place: quantity("throughput_bps", float(bps)))
        if legend and len(names) > 1 and names != above:
            axis.legend(frameon=False, fontsize=8, loc="upper left", bbox_to_anchor=(1, 1), markerscale=4)
        above = names


def thinned(times: Any, values: Any, spans: int = _SPANS) -> tuple[Any, Any]:
    """Of a long line, in each of many equal spans of time, the first and last row and those of the least and largest value.

    It covers the same ground on paper, and a trace of millions of rows is not a file of hundreds of megabytes.
    """
    import numpy as np

    if len(times) <= 4 * spans:
        return times, values
    starts = np.unique(np.searchsorted(times, np.linspace(times[0], times[-1], spans, endpoint=False)))
    ends = np.append(starts[1:], len(times)) - 1
    rows = np.diff(np.append(starts, len(times)))

    def places(extremes: Any) -> Any:
        """The first row of each span with its extreme."""
        equal = np.append(np.flatnonzero(values == np.repeat(extremes, rows)), len(times) - 1)
        return equal[np.searchsorted(equal[:-1], starts)]

    # Where a span has no number, that of the next one is kept twice.
    lowest, highest = (places(extreme.reduceat(values, starts)) for extreme in (np.fmin, np.fmax))
    kept = np.unique(np.concatenate([starts, ends, lowest, highest]))
    return times[kept], values[kept]


def _shown(table: Table, only: tuple[str, ...] | None, *, by_group: bool) -> list[str]:
    """The flows or queues of a trace that are drawn: the first few of those that are asked for, or of each group."""
    known = [name for name in sorted(_lines(table), key=_natural) if only is None or _wanted(name, only)]
    if not by_group:
        return known[:_LINES]
    groups: dict[str, list[str]] = {}
    for name in known:
        groups.setdefault(_group_of(name), []).append(name)
    return [name for members in groups.values() for name in members[:_LINES]]


def _wanted(name: str, only: tuple[str, ...]) -> bool:
    """Whether a flow or queue, or its group, is among these."""
    return name in only or _group_of(name) in only


def _group_of(name: str) -> str:
    """``web`` of ``web 3``; a queue is its own."""
    word, _, number = name.rpartition(" ")
    return word if number.isdigit() else name


def _label(name: str, names: list[str], *, by_group: bool) -> str:
    """In the legend: of a group only its first line is named."""
    if not by_group:
        return name
    group = _group_of(name)
    return group if name == next(each for each in names if _group_of(each) == group) else "_"


def _natural(name: str) -> tuple[str, int]:
    """``web 10`` comes after ``web 9``."""
    word, _, number = name.rpartition(" ")
    return (word, int(number)) if number.isdigit() else (name, 0)


def _series(table: Table, value: str, shown: list[str]) -> Iterator[tuple[str, Any, Any]]:
    """Name, times and values of each of these."""
    codes, known = _codes(table), _lines(table)
    times, values = table["time_s"], table[value]
    for name in shown:
        chosen = codes == known[name]
        yield name, times[chosen], values[chosen]


def _codes(table: Table) -> Any:
    """A number for each row: which flow or queue it is of. Names of millions of rows would take seconds."""
    import numpy as np

    if "group" not in table:
        return table._raw("queue").astype(np.int64)
    return table._raw("group").astype(np.int64) * _FLOWS + table["flow"]


def _lines(table: Table) -> dict[str, int]:
    """The flows or queues that have rows: name, such as ``web 3`` or ``bottleneck``, and code."""
    import numpy as np

    codes = _codes(table)
    # Most rows are of the line of the row before.
    present = np.unique(codes[np.append(True, codes[1:] != codes[:-1])] if len(codes) else codes).tolist()
    if "group" not in table:
        words = table._core.words("queue")
        return {words[code]: code for code in present}
    words = table._core.words("group")
    return {f"{words[code // _FLOWS]} {code % _FLOWS}": code for code in present}


def _keys(table: Table) -> tuple[str, ...]:
    return ("group", "flow") if "group" in table else ("queue",)


def _names(table: Table, *keys: str) -> list[str]:
    """One name a row: ``web 3``, ``bottleneck``."""
    columns = table.to_dict()
    return [" ".join(str(part) for part in row) for row in zip(*(columns[key] for key in keys), strict=True)]


def _dots_heights(runs: Mapping[str, Mapping[str, Table]]) -> list[float]:
    """Of the panels of flows and of queues, in inches: what their names need."""

    def height(kind: str) -> float:
        named = [count for tables in runs.values() if (count := len(tables[kind])) <= _NAMED]
        return max([1.8, *(0.5 + _NAME_HEIGHT * count for count in named)])

    return [height("flows"), height("queues")]


def _dots(axis: Axes, names: list[str], values: Any, column: str, title: str) -> None:
    """Sorted dots: one a row, with names where they fit."""
    order = values.argsort()
    places = range(len(order))
    axis.plot(values[order], places, "o", markersize=4 if len(order) <= _NAMED else 2, color=COLOURS[0])
    axis.set_xlim(left=0)
    axis.xaxis.set_major_formatter(lambda value, _place: quantity(column, float(value)))
    if len(order) <= _NAMED:
        axis.set_yticks(list(places), [names[index] for index in order])
    else:
        axis.set_ylabel(f"{len(order)} of them, sorted")
    axis.set_title(title, loc="left", fontsize=9, color="#333333")
