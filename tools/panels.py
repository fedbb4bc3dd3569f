"""What of a picture can be zoomed and read off: the numbers of its lines, taken from the figure that is drawn.

They stand in the picture's own file, as `<metadata>`, so that a picture and its numbers are one. The site hands them to the
script that reports have (`web/`); elsewhere the picture is what is shown. A figure with something that a plot would not show
(bars, maps, words that name no line) has none, and stays a picture.
"""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np
from matplotlib.collections import FillBetweenPolyCollection
from matplotlib.colors import to_hex
from matplotlib.container import ErrorbarContainer

from tailback._pictures import Curve, Panel
from tailback._run_plot import thinned

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D
    from numpy.typing import NDArray

__all__ = ["read", "with_numbers"]

# Of a longer line the extremes in so many spans, which panels side by side share: a span is about two points of the page wide.
SPANS = 300
# As many digits as the legend tells, of places and of values.
DIGITS = {"x": 5, "y": 4}
# Marks of the script, by matplotlib's; for those that it does not have the nearest.
MARKS: Any = {
    "o": "o",
    ".": "o",
    "^": "o",
    "v": "o",
    "P": "s",
    "s": "s",
    "D": "s",
    "x": "x",
    "X": "x",
    "_": "_",
    "None": "",
    "": "",
}
DASHES: Any = {"-": "solid", "--": "dashed", ":": "dashed", "-.": "dashed", "None": "none"}
# How a scale tells a number: `5 Mbps`.
TOLD = re.compile(r"([-\N{MINUS SIGN}]?[\d.,]+(?:e[-+]?\d+)?)(?: (.*))?")
NUMBERS = re.compile(r'<metadata id="numbers">(.*?)</metadata>')

Side: TypeAlias = Literal["x", "y"]
SIDES: tuple[Side, ...] = ("x", "y")
# The ends of an interval, by its place.
Ends: TypeAlias = dict[float, tuple[float, float]]


class Unread(Exception):
    """What of a figure a plot would not show."""


def with_numbers(svg: str, figure: Figure) -> str:
    """A picture with the numbers of its figure, which has been drawn; without, if there is more in it than lines."""
    try:
        text = json.dumps(numbers(figure), separators=(",", ":"), allow_nan=False)
    except Unread:
        return svg
    return svg.replace("</svg>", f'<metadata id="numbers">{html.escape(text, quote=False)}</metadata>\n</svg>')


def read(svg: str) -> dict[str, Any] | None:
    """The numbers that a picture has in it."""
    found = NUMBERS.search(svg)
    return json.loads(html.unescape(found[1])) if found else None


def numbers(figure: Figure) -> dict[str, Any]:
    """Panels, how many stand side by side, and words that belong to all.

    Raises
    ------
    Unread
        There is more in it than lines, on scales of numbers.
    """
    if figure.legends or figure.patches or figure.images:
        raise Unread("something beside the panels")
    columns = max(grid.get_gridspec().ncols for axis in figure.axes if (grid := axis.get_subplotspec()))
    spans = SPANS // columns
    words = [text.get_text() for text in figure.texts]
    panels = [_panel(axis, spans, words) for axis in figure.axes]
    if any(_long(_seen(line, axis)[0], spans) for axis in figure.axes for line in axis.lines):
        words.append(f"of long lines the first, last, least and largest value in each of {spans} spans")
    return {"panels": panels, "columns": columns, "words": "; ".join(dict.fromkeys(words))}


def _panel(axis: Axes, spans: int, words: list[str]) -> dict[str, Any]:
    """A panel. What is written at its levels is added to the words."""
    if axis.patches or axis.images or axis.tables or axis.artists or axis.child_axes:
        raise Unread("areas")
    texts = {to_hex(text.get_color()): text.get_text() for text in axis.texts}
    if len(texts) < len(axis.texts):
        raise Unread("several words in one colour")
    scales = {side: _scale(axis, side) for side in SIDES}
    bars, parts = _bars(axis)
    bands = _bands(axis)
    curves: list[Curve] = []
    levels = []
    for line in axis.lines:
        if line in parts:
            continue
        name, colour = _name(line, axis, texts), to_hex(line.get_color())
        upright, across = line.get_transform().contains_branch_seperately(axis.transData)
        if not (upright and across):
            side: Side = "x" if upright else "y"
            level = float(_data(line)[SIDES.index(side)][0])
            levels.append({"label": name, "value": _told(level * scales[side][0], side), "upright": upright, "colour": colour})
            continue
        x, y = _seen(line, axis)
        if _long(x, spans):
            x, y = thinned(x, y, spans)
        ends = bars.get(line) or bands.pop(colour, {})
        low, high = ([ends.get(place, (np.nan, np.nan))[end] for place in x] if ends else [] for end in (0, 1))
        curve = Curve(
            name,
            _all_told(x, scales, "x"),
            _all_told(y, scales, "y"),
            colour,
            _all_told(low, scales, "y"),
            _all_told(high, scales, "y"),
            line=DASHES[line.get_linestyle()],
            mark=_mark(line),
            steps=_steps(line),
            bars=line in bars,
        )
        curves.append(curve)
    if bands:
        raise Unread("a band of no line")
    if unread := {*texts.values()} - {curve.name for curve in curves} - {level["label"] for level in levels}:
        raise Unread(f"words that name no line: {unread}")
    words += [f"dotted: {level['label']}" for level in levels if level["label"] not in {"", *(curve.name for curve in curves)}]
    made = Panel(axis, title=_title(axis), curves=curves).to_dict()
    for side, limits in zip(SIDES, (axis.get_xlim(), axis.get_ylim()), strict=True):
        factor, unit = scales[side]
        made[side]["label"] = ", ".join(filter(None, (made[side]["label"], unit)))
        made[side]["low"], made[side]["high"] = (_told(factor * limit, side) for limit in sorted(limits))
    for curve in made["curves"]:
        curve["name"] = curve["name"] or made["y"]["label"] or made["title"]
    return made | {"levels": levels}


def _title(axis: Axes) -> str:
    """What it shows, of what, and what its lines differ in. In a grid some stands only at the head of a row or a column."""
    grids = {each: grid for each in axis.figure.axes if (grid := each.get_subplotspec())}
    above = [each for each, grid in grids.items() if axis in grids and grid.colspan == grids[axis].colspan]
    left = [each for each, grid in grids.items() if axis in grids and grid.rowspan == grids[axis].rowspan]
    run = next((title for each in (axis, *above) if (title := each.get_title(loc="right"))), "")
    shown = next((title for each in (axis, *left) if (title := each.get_title(loc="left"))), "")
    legend = axis.get_legend()
    by = legend.get_title().get_text() if legend else ""
    return ", ".join(filter(None, (axis.get_title(), run, shown, by and f"by {by}")))


def _name(line: Line2D, axis: Axes, texts: dict[str, str]) -> str:
    """Its label, that of another line in its colour, or a word in it; nothing if there is none."""
    colour = to_hex(line.get_color())
    given = [str(each.get_label()) for each in axis.containers if line in each]
    given += [str(each.get_label()) for each in (line, *axis.lines) if to_hex(each.get_color()) == colour]
    return next((label for label in given if not label.startswith("_")), texts.get(colour, ""))


def _scale(axis: Axes, side: Side) -> tuple[float, str]:
    """What numbers are multiplied by where a scale tells them, and the unit behind them: it tells 5e6 as `5 Mbps`."""
    scale = {"x": axis.xaxis, "y": axis.yaxis}[side]
    if scale.get_scale() not in ("linear", "log"):
        raise Unread(f"a {scale.get_scale()} scale")
    low, high = sorted(scale.get_view_interval())
    places = sorted((place for place in scale.get_majorticklocs() if low <= place <= high), key=abs)
    factors: dict[str, list[float]] = {}
    for place, text in zip(places, map(str, scale.get_major_formatter().format_ticks(places)), strict=True):
        # Powers of ten, as matplotlib sets them, tell what is there.
        if not text or "mathdefault" in text:
            continue
        found = TOLD.fullmatch(text)
        number = float(found[1].replace("\N{MINUS SIGN}", "-").replace(",", "")) if found else np.nan
        if found and number and place:
            factors.setdefault(found[2] or "", []).append(number / place)
        elif number or place:
            raise Unread(f"words at a scale: {text}")
    if scale.get_major_formatter().get_offset():
        raise Unread("a scale with a power beside it")
    if not factors:
        return 1.0, ""
    # The unit of the largest.
    unit, found_factors = next(reversed(factors.items()))
    factor = 10.0 ** round(np.log10(found_factors[-1]))
    if any(abs(each / factor - 1) > 0.02 for each in found_factors):
        raise Unread("words at a scale")
    return factor, unit


def _bars(axis: Axes) -> tuple[dict[Line2D, Ends], set[Line2D]]:
    """Lines whose intervals are bars, and lines that are parts of bars."""
    found: dict[Line2D, Ends] = {}
    parts: set[Line2D] = set()
    for each in axis.containers:
        if not isinstance(each, ErrorbarContainer) or each.has_xerr or each.lines[0] is None:
            raise Unread("bars")
        line, caps, (bars,) = each.lines
        found[line] = {segment[0][0]: (segment[0][1], segment[-1][1]) for segment in bars.get_segments()}
        parts |= {*caps}
    return found, parts


def _bands(axis: Axes) -> dict[str, Ends]:
    """Bands around lines, by their colour."""
    found: dict[str, Ends] = {}
    bars = {part for each in axis.containers if isinstance(each, ErrorbarContainer) for part in each.lines[2]}
    for each in axis.collections:
        if each in bars:
            continue
        if not isinstance(each, FillBetweenPolyCollection):
            raise Unread("areas")
        heights: dict[float, list[float]] = {}
        for path in each.get_paths():
            for place, height in np.asarray(path.vertices):
                heights.setdefault(float(place), []).append(float(height))
        found[to_hex(np.asarray(each.get_facecolor())[0])] = {place: (min(both), max(both)) for place, both in heights.items()}
    return found


def _seen(line: Line2D, axis: Axes) -> tuple[NDArray[Any], NDArray[Any]]:
    """Places and values, of a line in order those within the limits and one more on each side."""
    x, y = _data(line)
    if np.any(np.diff(x) < 0):
        return x, y
    first, last = np.searchsorted(x, sorted(axis.get_xlim()))
    kept = slice(max(first - 1, 0), last + 1)
    return x[kept], y[kept]


def _data(line: Line2D) -> list[NDArray[Any]]:
    return [np.asarray(each, dtype=float) for each in line.get_data()]


def _long(x: NDArray[Any], spans: int) -> bool:
    return len(x) > 4 * spans and not np.any(np.diff(x) < 0)


def _mark(line: Line2D) -> str:
    found = MARKS.get(line.get_marker())
    if found is None:
        raise Unread(f"marks: {line.get_marker()}")
    return str(found)


def _steps(line: Line2D) -> bool:
    if line.get_drawstyle() not in ("default", "steps-post"):
        raise Unread("steps that hold before their place")
    return line.get_drawstyle() == "steps-post"


def _all_told(values: Iterable[float], scales: dict[Side, tuple[float, str]], side: Side) -> list[float]:
    return [_told(value * scales[side][0], side) for value in values]


def _told(value: float, side: Side) -> float:
    return float(f"{value:.{DIGITS[side]}g}")
