"""Plots of runs: one panel per trace over a shared time axis, and one column per run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import cycle
from typing import TYPE_CHECKING, Any

from tailback._tables.summary import rate_column
from tailback._tables.summary import title as column_title
from tailback._tables.text import quantity
from tailback.errors import ParameterError, UnknownName
from tailback.plots import COLOURS, STYLE, head, name_column, require, sized

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from tailback._tables.table import Table

__all__ = ["TRACES", "TraceSelection", "draw_traces", "plot_runs", "show", "thinned"]

# Maximum number of lines in a panel.
_LINES = 8

# Above the maximum number of flows of a group.
_FLOWS = 1 << 32

# Number of time intervals for which a thinned line shows the extremes; finer than print resolution.
_SPANS = 2000

# Maximum number of dots with labels, and the height of a label in inches.
_NAMED = 24
_NAME_HEIGHT = 0.19

# For each trace: its value column, whether a value holds until the next row, and the title of its panel.
TRACES = {
    "cwnd": ("cwnd_packets", True, "window, packets"),
    "ssthresh": ("ssthresh_packets", True, "slow-start threshold, packets"),
    "in_flight": ("in_flight_packets", True, "in flight, packets"),
    "rtt": ("rtt_s", False, "round trip, s"),
    "rto": ("rto_s", True, "retransmission timeout, s"),
    "throughput": ("throughput_bps", True, "throughput"),
    "queue": ("queue_units", True, "queue"),
    "segments": ("segment", False, "segment sent"),
    "acks": ("ack", False, "acknowledgement"),
    "drops": ("segment", False, "segment discarded"),
}
_POINTS = ("segments", "acks", "drops")


@dataclass(frozen=True)
class TraceSelection:
    """Selection of the traces and lines of a plot.

    Attributes
    ----------
    traces : tuple of str or None
        Kinds of trace, in this order; all kinds that can be plotted if None.
    lines : tuple of str or None
        Groups (``web``), flows (``web 3``) and queues; the first few of each trace if None.
    time_range : tuple of float or None
        Start and end, in seconds.
    by_group : bool
        One colour per group instead of one per flow.
    """

    traces: tuple[str, ...] | None = None
    lines: tuple[str, ...] | None = None
    time_range: tuple[float, float] | None = None
    by_group: bool = False

    @classmethod
    def of(
        cls,
        traces: str | Sequence[str] | None,
        lines: str | Sequence[str] | None,
        time_range: tuple[float, float] | None,
        by: str,
        end_s: float,
    ) -> TraceSelection:
        """The selection of these arguments of `Run.plot`, for runs that end at `end_s` or later.

        Raises
        ------
        ParameterError
            An argument is not valid.
        """
        if by not in ("flow", "group"):
            raise ParameterError(f"`by` is {by!r}; expected `flow` or `group`")
        if time_range is not None and not _is_time_range(time_range, end_s):
            raise ParameterError(
                f"`time_range` is {time_range!r}; expected two times within {end_s:g} s, in seconds, the earlier one first"
            )
        return cls(_tuple(traces), _tuple(lines), time_range, by == "group")


def _tuple(words: str | Sequence[str] | None) -> tuple[str, ...] | None:
    if words is None or isinstance(words, str):
        return None if words is None else (words,)
    if not isinstance(words, Sequence) or not all(isinstance(word, str) for word in words):
        raise ParameterError(f"{words!r} is not a trace or line; expected a name, or a list of names")
    return tuple(words)


def _is_time_range(time_range: Any, end: float) -> bool:
    """Whether `time_range` is two ascending times up to `end`."""
    try:
        begin, until = (float(time) for time in time_range)
    except (TypeError, ValueError):
        return False
    return 0 <= begin < until <= end


def show(title: str, tables: Mapping[str, Table]) -> None:
    """Show the plot of a run in a window, and wait until it is closed."""
    import matplotlib.pyplot as plt

    plot_runs({title: tables}, TraceSelection())
    plt.show()


def plot_runs(runs: Mapping[str, Mapping[str, Table]], chosen: TraceSelection, width: float | None = None) -> Figure:
    """A pyplot figure of runs side by side; see `Run.plot`."""
    require()
    import matplotlib.pyplot as plt

    from tailback._paper_figure import PaperFigure

    kinds = _kinds(runs, chosen)
    with plt.rc_context(STYLE):
        heights = [1.8 for _ in kinds] or _dots_heights(runs)
        rows, columns = len(heights), len(runs)
        size = (8 if columns == 1 else 1.2 + 4 * columns, 1 + sum(heights))
        figure, axes = plt.subplots(
            rows,
            columns,
            figsize=sized(size, width),
            FigureClass=PaperFigure,
            squeeze=False,
            sharex=bool(kinds),
            sharey="row",
            height_ratios=heights,
            layout="constrained",
        )
        for place, (title, tables) in enumerate(runs.items()):
            panels = list(axes[:, place])
            if kinds:
                shown = [_cut(tables[kind], chosen.time_range) for kind in kinds]
                until = None if chosen.time_range is None else chosen.time_range[1]
                last = place == columns - 1
                draw_traces(panels, shown, legend=last, only=chosen.lines, by_group=chosen.by_group, until=until)
                panels[-1].set_xlabel("time, s")
                if chosen.time_range:
                    panels[-1].set_xlim(chosen.time_range)
            else:
                flows, queues = tables["flows"], tables["queues"]
                rate = rate_column(flows)
                _dots(panels[0], _names(flows, "group", "flow"), flows[rate], rate, f"{column_title(rate)} by flow")
                _dots(panels[1], _names(queues, "queue"), queues["utilisation"], "utilisation", "utilisation by queue")
            if columns > 1:
                name_column(panels[0], title, width)
        if columns == 1:
            figure.suptitle(next(iter(runs)), x=0.01, ha="left", fontsize=9, color="#333333")
    return figure


def _kinds(runs: Mapping[str, Mapping[str, Table]], chosen: TraceSelection) -> list[str]:
    """The traces to draw: the selected ones, or all that every run has."""
    known = [kind for kind in TRACES if all(kind in tables and len(tables[kind]) for tables in runs.values())]
    if chosen.traces == ():
        raise ParameterError("`traces` is empty; expected at least one kind of trace, or None for all")
    if not known and len(runs) > 1 and any(kind in tables for kind in TRACES for tables in runs.values()):
        raise ParameterError("the runs have no trace in common; record the same `record.traces` in their scenarios")
    for kind in chosen.traces or ():
        if kind not in known:
            raise UnknownName("trace", kind, known, note="; add it to `record.traces` of the scenario")
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


def _cut(table: Table, time_range: tuple[float, float] | None) -> Table:
    """The rows within a time range, and the row before it, whose value still holds."""
    if time_range is None:
        return table
    import numpy as np

    begin, end = np.searchsorted(table["time_s"], time_range)
    if not TRACES[table.name][1]:
        return table._rows(np.arange(begin, end))
    # The last row of each line: a queue may have changed long before.
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
    """Draw one panel per trace. A flow has the same colour in all panels; a legend is omitted if it equals the one above.

    Lines whose value still holds at `until` are extended to it.
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
        # The value axis of a narrow panel has no room for its title, so the title is above the panel.
        head(axis, title + more)
        if value == "throughput_bps":
            axis.yaxis.set_major_formatter(lambda bps, _place: quantity("throughput_bps", float(bps)))
        if legend and len(names) > 1 and names != above:
            axis.legend(frameon=False, fontsize=8, loc="upper left", bbox_to_anchor=(1, 1), markerscale=4)
        above = names


def thinned(times: Any, values: Any, spans: int = _SPANS) -> tuple[Any, Any]:
    """Reduce a long line to the first, last, minimum and maximum rows of each of many equal time intervals.

    The plot looks the same in print, and its file stays small for traces of millions of rows.
    """
    import numpy as np

    if len(times) <= 4 * spans:
        return times, values
    starts = np.unique(np.searchsorted(times, np.linspace(times[0], times[-1], spans, endpoint=False)))
    ends = np.append(starts[1:], len(times)) - 1
    rows = np.diff(np.append(starts, len(times)))

    def places(extremes: Any) -> Any:
        """The first row of each interval with its extreme value."""
        equal = np.append(np.flatnonzero(values == np.repeat(extremes, rows)), len(times) - 1)
        return equal[np.searchsorted(equal[:-1], starts)]

    # An interval without rows repeats the row of the next one.
    lowest, highest = (places(extreme.reduceat(values, starts)) for extreme in (np.fmin, np.fmax))
    kept = np.unique(np.concatenate([starts, ends, lowest, highest]))
    return times[kept], values[kept]


def _shown(table: Table, only: tuple[str, ...] | None, *, by_group: bool) -> list[str]:
    """The flows or queues to draw: the first few of the selected ones, or of each group."""
    known = [name for name in sorted(_lines(table), key=_natural) if only is None or _wanted(name, only)]
    if not by_group:
        return known[:_LINES]
    groups: dict[str, list[str]] = {}
    for name in known:
        groups.setdefault(_group_of(name), []).append(name)
    return [name for members in groups.values() for name in members[:_LINES]]


def _wanted(name: str, only: tuple[str, ...]) -> bool:
    """Whether a flow or queue, or its group, is in `only`."""
    return name in only or _group_of(name) in only


def _group_of(name: str) -> str:
    """The group ``web`` of ``web 3``; the name itself for a queue."""
    word, _, number = name.rpartition(" ")
    return word if number.isdigit() else name


def _label(name: str, names: list[str], *, by_group: bool) -> str:
    """Legend label. With `by_group`, only the first line of a group has one."""
    if not by_group:
        return name
    group = _group_of(name)
    return group if name == next(each for each in names if _group_of(each) == group) else "_"


def _natural(name: str) -> tuple[str, int]:
    """Sort key that puts ``web 10`` after ``web 9``."""
    word, _, number = name.rpartition(" ")
    return (word, int(number)) if number.isdigit() else (name, 0)


def _series(table: Table, value: str, shown: list[str]) -> Iterator[tuple[str, Any, Any]]:
    """Name, times and values of each of the shown lines."""
    codes, known = _codes(table), _lines(table)
    times, values = table["time_s"], table[value]
    for name in shown:
        chosen = codes == known[name]
        if table.name == "drops":
            # An acknowledgement is not a segment.
            chosen &= table["kind"] == "data"
        yield name, times[chosen], values[chosen]


def _codes(table: Table) -> Any:
    """A code for each row that identifies its flow or queue; names of millions of rows would take seconds."""
    import numpy as np

    if "group" not in table:
        return table._raw("queue").astype(np.int64)
    return table._raw("group").astype(np.int64) * _FLOWS + table["flow"]


def _lines(table: Table) -> dict[str, int]:
    """The flows or queues that have rows: name, such as ``web 3`` or ``bottleneck``, and code."""
    import numpy as np

    codes = _codes(table)
    # Most rows belong to the same line as the previous row.
    present = np.unique(codes[np.append(True, codes[1:] != codes[:-1])] if len(codes) else codes).tolist()
    if "group" not in table:
        words = table._core.words("queue")
        return {words[code]: code for code in present}
    words = table._core.words("group")
    return {f"{words[code // _FLOWS]} {code % _FLOWS}": code for code in present}


def _keys(table: Table) -> tuple[str, ...]:
    return ("group", "flow") if "group" in table else ("queue",)


def _names(table: Table, *keys: str) -> list[str]:
    """One name per row: ``web 3``, ``bottleneck``."""
    columns = table.to_dict()
    return [" ".join(str(part) for part in row) for row in zip(*(columns[key] for key in keys), strict=True)]


def _dots_heights(runs: Mapping[str, Mapping[str, Table]]) -> list[float]:
    """Heights of the panels of flows and of queues in inches, for the labels of their dots."""

    def height(kind: str) -> float:
        named = [count for tables in runs.values() if (count := len(tables[kind])) <= _NAMED]
        return max([1.8, *(0.5 + _NAME_HEIGHT * count for count in named)])

    return [height("flows"), height("queues")]


def _dots(axis: Axes, names: list[str], values: Any, column: str, title: str) -> None:
    """Plot one sorted dot per row, with labels if there is room."""
    order = values.argsort()
    places = range(len(order))
    axis.plot(values[order], places, "o", markersize=4 if len(order) <= _NAMED else 2, color=COLOURS[0])
    axis.set_xlim(left=0)
    axis.xaxis.set_major_formatter(lambda value, _place: quantity(column, float(value)))
    if len(order) <= _NAMED:
        axis.set_yticks(list(places), [names[index] for index in order])
    else:
        axis.set_ylabel(f"{len(order)} rows, sorted")
    head(axis, title)
