"""Plots of a study: lines with confidence bands, empirical distributions, or heat maps."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import cycle
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

from tailback import _core
from tailback._interval import Interval
from tailback._tables.quantity import Quantity
from tailback._tables.text import quantity as written
from tailback.errors import ParameterError, UnknownName
from tailback.plots import COLOURS, STYLE, LineEnd, close, head, name_ends, require, sized

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["LogAxes", "PlotKind", "PlotSpec", "figure", "plot_spec"]

PlotKind: TypeAlias = Literal["line", "ecdf", "heat", "traces"]
LogAxes: TypeAlias = Literal["", "x", "y", "xy"]

Values = tuple[dict[str, Any], list[float]]
"""Labels of one run and its values: the quantity itself, or one value per row for distributions."""

# Maximum number of lines in a panel, limited by the colours.
_LINES = len(COLOURS)
# Scales that may be logarithmic, and the reason for the others.
_SCALES: dict[PlotKind, str] = {"line": "xy", "ecdf": "x", "heat": "", "traces": ""}
_FIT: dict[PlotKind, str] = {
    "ecdf": "shares begin at 0; expected `x`",
    "heat": "its cells are equidistant; expected no `log`",
    "traces": "time begins at 0; expected no `log`",
}
# Maximum number of cells of a heat map in which values are printed.
_NUMBERED = 64


@dataclass(frozen=True)
class PlotSpec:
    """The contents of a plot.

    Attributes
    ----------
    kind : str
        ``line``, ``ecdf``, ``heat`` or ``traces``.
    over : tuple of str
        The axis along x, and for a heat map also the axis along y; empty for distributions.
    by : str or None
        The axis with one line, or one column of traces, per label.
    where : dict
        Maps axes to the selected label.
    log : str
        Logarithmic scales: ``x``, ``y``, ``xy``, or none if empty.
    """

    kind: PlotKind
    over: tuple[str, ...]
    by: str | None
    where: dict[str, Any]
    log: LogAxes = ""


def plot_spec(
    kind: PlotKind,
    over: str | Sequence[str] | None,
    by: str | None,
    where: Mapping[str, Any] | None,
    labels: list[dict[str, Any]],
    log: LogAxes = "",
) -> PlotSpec:
    """Validate the requested contents against the labels of all points: every axis that varies must be used.

    Raises
    ------
    ParameterError, UnknownName
        There is no such kind, axis, label or scale, or an axis is not used.
    """
    if kind not in get_args(PlotKind):
        raise ParameterError(f"`kind` is {kind!r}; expected `line`, `ecdf`, `heat` or `traces`")
    if log not in get_args(LogAxes):
        raise ParameterError(f"`log` is {log!r}; expected `x`, `y` or `xy`")
    if unfit := [side for side in log if side not in _SCALES[kind]]:
        raise ParameterError(f"the {unfit[0]} axis of kind `{kind}` cannot be logarithmic; {_FIT[kind]}")
    axes = list(labels[0]) if labels else []
    chosen = dict(where or {})
    places = () if over is None else (over,) if isinstance(over, str) else tuple(over)
    named = [*places, *([] if by is None else [by]), *chosen]
    for axis in named:
        if axis not in axes:
            raise UnknownName("axis", axis, axes)
    if twice := next((axis for axis in named if named.count(axis) > 1), None):
        raise ParameterError(f"`{twice}` is given twice; expected each axis once")
    for axis, label in chosen.items():
        known = list(dict.fromkeys(point[axis] for point in labels))
        if label not in known:
            raise UnknownName(f"value of `{axis}`", label, [str(word) for word in known])
    varying = [axis for axis in axes if axis not in named and len({str(point[axis]) for point in labels}) > 1]
    wanted = {"line": 1, "ecdf": 0, "heat": 2, "traces": 0}[kind]
    if over is None and len(varying) == wanted:
        places, varying = tuple(varying), []
    if len(places) != wanted or (kind == "heat" and by is not None):
        expected = ("no `over`", "one axis as `over`", "two axes as `over` and no `by`")[wanted]
        raise ParameterError(f"kind `{kind}` takes {expected}; expected one of {_listed(axes)}")
    if varying:
        shown = "column" if kind == "traces" else "line"
        hint = "" if kind == "heat" or by is not None else f"draw a {shown} per label with `by`, or "
        raise ParameterError(f"`{varying[0]}` also varies; {hint}select one label with `where={{{varying[0]!r}: ...}}`")
    return PlotSpec(kind, places, by, chosen, log)


def figure(measured: Quantity, spec: PlotSpec, runs: Iterable[Values], width: float | None = None) -> Figure:
    """Draw the plot, detached from pyplot."""
    require()
    import matplotlib.pyplot as plt

    from tailback._paper_figure import PaperFigure

    chosen = [(labels, values) for labels, values in runs if all(labels[axis] == label for axis, label in spec.where.items())]
    if not chosen:
        raise ParameterError("there is no finished run to plot")
    draw = {"line": _lines, "ecdf": _shares, "heat": _map}[spec.kind]
    with plt.rc_context(STYLE):
        made, axis = plt.subplots(figsize=sized((5.6, 3.5), width), FigureClass=PaperFigure, layout="constrained")
        draw(axis, measured, spec, chosen)
        if spec.where:
            note = ", ".join(f"{name} = {label}" for name, label in spec.where.items())
            made.supxlabel(note, x=0.01, ha="left", fontsize=8, color="#666666")
    return close(made)


def _lines(axis: Axes, measured: Quantity, spec: PlotSpec, runs: list[Values]) -> None:
    """Mean over seeds along an axis, with a 95 % band by Student's t; points with one seed have no band."""
    (over,) = spec.over
    places = _Places(over, [labels[over] for labels, _ in runs])
    if "x" in spec.log:
        places.require_positive()
        axis.set_xscale("log")
    ends: dict[str, LineEnd] = {}
    banded = below = False
    for name, colour, mine in _by(spec, runs):
        x, points = [], []
        for place, values in _grouped((places.of(labels[over]), values) for labels, values in mine):
            x.append(place)
            points.append(Interval.of(values, within=measured.range) if len(values) > 1 else Interval(values[0], math.nan))
        means = [point.mean for point in points]
        if "y" in spec.log:
            _require_positive(means, measured, f"at `{over}`", [places.word(place) for place in x])
            below = below or any(point.low <= 0 for point in points)
        axis.fill_between(
            x, [point.low for point in points], [point.high for point in points], color=colour, alpha=0.18, linewidth=0
        )
        axis.plot(x, means, color=colour, marker="o", markersize=3)
        if len(x) == 1:
            # A band at a single point has no width.
            (point,) = points
            axis.errorbar(x, means, yerr=[[point.mean - point.low], [point.high - point.mean]], color=colour)
        banded = banded or any(math.isfinite(point.half) for point in points)
        known = [(place, mean) for place, mean in zip(x, means, strict=True) if math.isfinite(mean)]
        if known and name:
            ends[name] = (*known[-1], colour)
    if "y" in spec.log:
        axis.set_yscale("log", nonpositive="clip")
        _mark_decades(axis.yaxis)
    places.mark(axis.xaxis)
    axis.set_xlabel(places.title)
    _scale(axis.yaxis, measured)
    shown = ", mean and 95 % interval" if banded else ", mean"
    # Parts of a band at or below zero are not visible on a logarithmic scale.
    shown += "\nbands that reach the bottom extend to 0 or below" if below else ""
    head(axis, _title(measured) + shown)
    _name(axis, spec, ends)


def _shares(axis: Axes, measured: Quantity, spec: PlotSpec, runs: list[Values]) -> None:
    """Share of all rows of all runs that are at most x. Rows without a number, such as unfinished flows, never count."""
    lines = [(name, colour, [value for _, row in mine for value in row]) for name, colour, mine in _by(spec, runs)]
    everything = [value for _, _, values in lines for value in values]
    last = max(filter(math.isfinite, everything), default=math.nan)
    if "x" in spec.log:
        _require_positive(everything, measured, "in a row of", [_rows(measured)] * len(everything))
        axis.set_xscale("log")
        _mark_decades(axis.xaxis)
    for name, colour, values in lines:
        known = sorted(filter(math.isfinite, values))
        heights = [place / len(values) for place in range(len(known) + 1)]
        if known:
            # All lines extend to the same x, so that a final share below 1 is visible.
            axis.plot([known[0], *known, last], [*heights, heights[-1]], drawstyle="steps-post", color=colour, label=name)
    unknown = len(everything) - sum(map(math.isfinite, everything))
    _scale(axis.xaxis, measured)
    axis.set_ylim(0, 1.02)
    head(axis, f"share of {_rows(measured)} at or below")
    axis.set_xlabel(_title(measured) + (f" (missing in {unknown:,} of {len(everything):,} {_rows(measured)})" if unknown else ""))
    if spec.by is not None:
        # All lines end close together at the top, where labels would overlap.
        axis.legend(frameon=False, fontsize=8, title=spec.by, title_fontsize=8, loc="upper left", bbox_to_anchor=(1, 1))


def _map(axis: Axes, measured: Quantity, spec: PlotSpec, runs: list[Values]) -> None:
    """Mean over seeds at each pair of labels, as a colour and, if there is room, as a number."""
    import numpy as np

    across, up = (_Places(over, [labels[over] for labels, _ in runs]) for over in spec.over)
    means = np.full((len(up.labels), len(across.labels)), math.nan)
    cells = _grouped(((up.row(labels[up.axis]), across.row(labels[across.axis])), values) for labels, values in runs)
    for cell, values in cells:
        means[cell] = math.fsum(values) / len(values)
    if not np.isfinite(means).any():
        raise ParameterError(f"`{measured.name}` is missing at every point; expected a number for at least one")
    image = axis.imshow(means, origin="lower", aspect="auto", cmap="viridis")
    axis.set_xticks(range(len(across.labels)), across.words)
    axis.set_yticks(range(len(up.labels)), up.words)
    axis.set_xlabel(across.title)
    head(axis, f"{_title(measured)}, mean\nup: {up.title}")
    axis.tick_params(length=0)
    axis.spines[:].set_visible(False)
    low, high = float(np.nanmin(means)), float(np.nanmax(means))
    if means.size <= _NUMBERED:
        for (row, place), mean in np.ndenumerate(means):
            # Dark text on light colours, light text on dark ones.
            colour = "#222222" if (mean - low) > 0.6 * (high - low) else "#ffffff"
            text = _written(measured, float(mean))
            axis.text(place, row, text, ha="center", va="center", fontsize=8, color=colour if text != "-" else "#777777")
    else:
        bar = axis.figure.colorbar(image, ax=axis)
        bar.outline.set_visible(False)
        _scale(bar.ax.yaxis, measured)


class _Places:
    """Labels of an axis along a scale: numeric if all are numbers or quantities of one kind, otherwise equidistant."""

    def __init__(self, axis: str, labels: Iterable[Any]) -> None:
        self.axis = axis
        self.labels = list(dict.fromkeys(labels))
        parsed = [_number(label) for label in self.labels]
        units = {unit for _, unit in parsed}
        self._numbers: dict[Any, float] | None = None
        self.title = axis
        self.words = [str(label) for label in self.labels]
        if len(units) == 1 and None not in units:
            unit = units.pop()
            self._numbers = {label: number for label, (number, _) in zip(self.labels, parsed, strict=True)}
            self.labels.sort(key=self._numbers.__getitem__)
            self.words = [f"{self._numbers[label]:g}" for label in self.labels]
            self.title += f", {unit}" if unit else ""
            return
        common = {label: _core.in_column_units(label) if isinstance(label, str) else None for label in self.labels}
        kinds = {measured and measured[1] for measured in common.values()}
        if len(kinds) == 1 and None not in kinds:
            # Different units, such as 1 Mbps and 1 Gbps: each label keeps its unit.
            self._numbers = {label: measured[0] for label, measured in common.items() if measured}
            self.labels.sort(key=self._numbers.__getitem__)
            self.words = [str(label) for label in self.labels]

    def row(self, label: Any) -> int:
        """Index of a label."""
        return self.labels.index(label)

    def of(self, label: Any) -> float:
        """Position of a label on the scale."""
        return self.row(label) if self._numbers is None else self._numbers[label]

    def mark(self, scale: Any) -> None:
        """Set ticks at the labels, unless there are too many numbers."""
        if self._numbers is None or len(self.labels) <= 8:
            scale.set_ticks([self.of(label) for label in self.labels], self.words)
            scale.set_ticks([], minor=True)
        elif scale.get_scale() == "log":
            _mark_decades(scale)
            scale.set_major_formatter(lambda value, _place: f"{value:g}")

    def word(self, place: float) -> str:
        """The label at a position."""
        return next(str(label) for label in self.labels if self.of(label) == place)

    def require_positive(self) -> None:
        """Raise an error for labels that a logarithmic scale cannot show."""
        if self._numbers is None:
            raise ParameterError(f"labels of `{self.axis}` are not numbers of one kind, which a logarithmic axis requires")
        for label, number in self._numbers.items():
            if number <= 0:
                raise ParameterError(f"`{self.axis}` is {label} at a point; a logarithmic axis requires numbers above 0")


def _number(label: Any) -> tuple[float, str | None]:
    """A label as a number with its unit: ``""`` for a plain number, None if it is not a number."""
    if isinstance(label, (int, float)) and not isinstance(label, bool):
        return float(label), ""
    match = re.fullmatch(r"([-+]?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?)\s*([A-Za-z%/]*)", label) if isinstance(label, str) else None
    return (float(match[1]), match[2]) if match else (math.nan, None)


def _by(spec: PlotSpec, runs: list[Values]) -> list[tuple[str, str, list[Values]]]:
    """Name, colour and runs of each line."""
    if spec.by is None:
        return [("", COLOURS[0], runs)]
    labels = _Places(spec.by, [labels[spec.by] for labels, _ in runs]).labels
    if len(labels) > _LINES:
        raise ParameterError(f"`{spec.by}` has {len(labels)} labels; expected at most {_LINES} lines, select labels with `where`")
    return [
        (str(label), colour, [run for run in runs if run[0][spec.by] == label])
        for label, colour in zip(labels, cycle(COLOURS), strict=False)
    ]


def _grouped(placed: Iterable[tuple[Any, list[float]]]) -> list[tuple[Any, list[float]]]:
    """The values of all runs at each position, sorted by position."""
    groups: dict[Any, list[float]] = {}
    for place, values in placed:
        groups.setdefault(place, []).extend(values)
    return sorted(groups.items())


def _name(axis: Axes, spec: PlotSpec, ends: dict[str, LineEnd]) -> None:
    """Label the lines at their right ends, after the layout is final."""
    if not ends:
        return
    assert spec.by is not None
    low, high = axis.get_xlim()
    longest = max(len(name) for name in ends)
    # Room for the labels: a character is about 1/75 of the panel.
    room = longest / 75
    axis.set_xlim(low, high * (high / low) ** room if "x" in spec.log else high + (high - low) * room)
    axis.set_ylim(axis.get_ylim())
    axis.figure.draw_without_rendering()  # type: ignore[union-attr]
    name_ends(axis, ends, end=-1)


def _require_positive(values: Iterable[float], measured: Quantity, where: str, words: Iterable[str]) -> None:
    """Raise an error for values that a logarithmic scale cannot show; missing values are ignored."""
    for value, word in zip(values, words, strict=True):
        if value <= 0:
            amount = _written(measured, value)
            raise ParameterError(f"{_title(measured)} is {amount} {where} {word}; a logarithmic axis requires numbers above 0")


def _mark_decades(scale: Any) -> None:
    """Set ticks at 1, 2 and 5 of each decade."""
    from matplotlib.ticker import LogLocator, NullFormatter

    scale.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    scale.set_minor_formatter(NullFormatter())


def _scale(scale: Any, measured: Quantity) -> None:
    scale.set_major_formatter(lambda value, _place: _written(measured, float(value)))


def _written(measured: Quantity, value: float) -> str:
    """A value with the unit of its column."""
    return written("" if measured.column is None else measured.column.column, value)


def _title(measured: Quantity) -> str:
    """A title such as ``utilisation of bottleneck``; the unit is shown at the scale."""
    if measured.name == "goodput":
        return "goodput"
    if measured.column is None:
        return measured.name
    column = re.sub(r"_(bps|s)$", "", measured.column.column).replace("_", " ")
    return column if measured.column.row == "*" else f"{column} of {measured.column.row}"


def _rows(measured: Quantity) -> str:
    return "runs" if measured.column is None or measured.name == "goodput" else measured.column.table


def _listed(axes: Sequence[str]) -> str:
    return ", ".join(f"`{axis}`" for axis in axes) or "no axis"
