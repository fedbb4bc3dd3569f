"""Numbers of a picture's lines for interactive plots, taken from the drawn figure.

The numbers are stored in the picture's own file, as `<metadata>`, so that they cannot get separated. The site passes them to the
script of the reports (`web/`); elsewhere only the picture is shown. A figure with elements that a plot cannot show (bars, maps,
text without a line) has no numbers and remains a picture.
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

from tailback._html.pictures import Curve, Panel
from tailback._run.plot import thinned

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D
    from numpy.typing import NDArray

__all__ = ["read", "with_numbers"]

# Longer lines are reduced to their extremes in this number of intervals, shared by panels side by side: about two points each.
SPANS = 300
# Number of digits in the legend, by axis.
DIGITS = {"x": 5, "y": 4}
# Markers of the script by matplotlib's marker; the nearest one if there is no equivalent.
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
# A tick label: `5 Mbps`.
TICK_LABEL = re.compile(r"([-\N{MINUS SIGN}]?[\d.,]+(?:e[-+]?\d+)?)(?: (.*))?")
NUMBERS = re.compile(r'<metadata id="numbers">(.*?)</metadata>')

Side: TypeAlias = Literal["x", "y"]
SIDES: tuple[Side, ...] = ("x", "y")
# The ends of intervals, by x.
Ends: TypeAlias = dict[float, tuple[float, float]]


class UnsupportedElement(Exception):
    """The figure has elements that a plot cannot show."""


def with_numbers(svg: str, figure: Figure) -> str:
    """The picture with the numbers of its drawn figure; unchanged if the figure has more than lines."""
    try:
        text = json.dumps(numbers(figure), separators=(",", ":"), allow_nan=False)
    except UnsupportedElement:
        return svg
    return svg.replace("</svg>", f'<metadata id="numbers">{html.escape(text, quote=False)}</metadata>\n</svg>')


def read(svg: str) -> dict[str, Any] | None:
    """The numbers stored in a picture."""
    found = NUMBERS.search(svg)
    return json.loads(html.unescape(found[1])) if found else None


def numbers(figure: Figure) -> dict[str, Any]:
    """Panels, the number of columns, and text for all panels.

    Raises
    ------
    Unread
        The figure has more than lines on numeric scales.
    """
    if figure.legends or figure.patches or figure.images:
        raise UnsupportedElement("elements outside the panels")
    columns = max(grid.get_gridspec().ncols for axis in figure.axes if (grid := axis.get_subplotspec()))
    spans = SPANS // columns
    words = [text.get_text() for text in figure.texts]
    panels = [_panel(axis, spans, words) for axis in figure.axes]
    if any(_long(_seen(line, axis)[0], spans) for axis in figure.axes for line in axis.lines):
        words.append(f"long lines show the first, last, smallest and largest value in each of {spans} intervals")
    return {"panels": panels, "columns": columns, "words": "; ".join(dict.fromkeys(words))}


def _panel(axis: Axes, spans: int, words: list[str]) -> dict[str, Any]:
    """A panel. Labels of its levels are added to the words."""
    if axis.patches or axis.images or axis.tables or axis.artists or axis.child_axes:
        raise UnsupportedElement("areas")
    texts = {to_hex(text.get_color()): text.get_text() for text in axis.texts}
    if len(texts) < len(axis.texts):
        raise UnsupportedElement("several texts in one colour")
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
            levels.append({"label": name, "value": _rounded(level * scales[side][0], side), "upright": upright, "colour": colour})
            continue
        x, y = _seen(line, axis)
        if _long(x, spans):
            x, y = thinned(x, y, spans)
        ends = bars.get(line) or bands.pop(colour, {})
        low, high = ([ends.get(place, (np.nan, np.nan))[end] for place in x] if ends else [] for end in (0, 1))
        curve = Curve(
            name,
            _all_rounded(x, scales, "x"),
            _all_rounded(y, scales, "y"),
            colour,
            _all_rounded(low, scales, "y"),
            _all_rounded(high, scales, "y"),
            line=DASHES[line.get_linestyle()],
            mark=_mark(line),
            steps=_steps(line),
            bars=line in bars,
        )
        curves.append(curve)
    if bands:
        raise UnsupportedElement("a band without a line")
    if unread := {*texts.values()} - {curve.name for curve in curves} - {level["label"] for level in levels}:
        raise UnsupportedElement(f"text without a line: {unread}")
    words += [f"dotted: {level['label']}" for level in levels if level["label"] not in {"", *(curve.name for curve in curves)}]
    made = Panel(axis, title=_title(axis), curves=curves).to_dict()
    for side, limits in zip(SIDES, (axis.get_xlim(), axis.get_ylim()), strict=True):
        factor, unit = scales[side]
        made[side]["label"] = ", ".join(filter(None, (made[side]["label"], unit)))
        made[side]["low"], made[side]["high"] = (_rounded(factor * limit, side) for limit in sorted(limits))
    for curve in made["curves"]:
        curve["name"] = curve["name"] or made["y"]["label"] or made["title"]
    return made | {"levels": levels}


def _title(axis: Axes) -> str:
    """Quantity, run and legend title. In a grid some of these appear only at the head of a row or a column."""
    grids = {each: grid for each in axis.figure.axes if (grid := each.get_subplotspec())}
    above = [each for each, grid in grids.items() if axis in grids and grid.colspan == grids[axis].colspan]
    left = [each for each, grid in grids.items() if axis in grids and grid.rowspan == grids[axis].rowspan]
    run = next((title for each in (axis, *above) if (title := each.get_title(loc="right"))), "")
    shown = next((title for each in (axis, *left) if (title := _left_title(each))), "")
    legend = axis.get_legend()
    by = legend.get_title().get_text() if legend else ""
    centred = "" if _left_title(axis) else axis.get_title()
    return ", ".join(filter(None, (centred, run, shown, by and f"by {by}")))


def _left_title(axis: Axes) -> str:
    """The title at the left end; `tailback.plots.head` moves the usual one there."""
    return axis.get_title(loc="left") or (axis.get_title() if axis.title.get_position()[0] == 0 else "")


def _name(line: Line2D, axis: Axes, texts: dict[str, str]) -> str:
    """Its label, that of another line in its colour, or a text in its colour; empty if there is none."""
    colour = to_hex(line.get_color())
    given = [str(each.get_label()) for each in axis.containers if line in each]
    given += [str(each.get_label()) for each in (line, *axis.lines) if to_hex(each.get_color()) == colour]
    return next((label for label in given if not label.startswith("_")), texts.get(colour, ""))


def _scale(axis: Axes, side: Side) -> tuple[float, str]:
    """The factor and the unit of tick labels: 5e6 is labelled `5 Mbps`."""
    scale = {"x": axis.xaxis, "y": axis.yaxis}[side]
    if scale.get_scale() not in ("linear", "log"):
        raise UnsupportedElement(f"a {scale.get_scale()} scale")
    low, high = sorted(scale.get_view_interval())
    places = sorted((place for place in scale.get_majorticklocs() if low <= place <= high), key=abs)
    factors: dict[str, list[float]] = {}
    for place, text in zip(places, map(str, scale.get_major_formatter().format_ticks(places)), strict=True):
        # Matplotlib's powers of ten are unscaled.
        if not text or "mathdefault" in text:
            continue
        found = TICK_LABEL.fullmatch(text)
        number = float(found[1].replace("\N{MINUS SIGN}", "-").replace(",", "")) if found else np.nan
        if found and number and place:
            factors.setdefault(found[2] or "", []).append(number / place)
        elif number or place:
            raise UnsupportedElement(f"text at a scale: {text}")
    if scale.get_major_formatter().get_offset():
        raise UnsupportedElement("a scale with an offset")
    if not factors:
        return 1.0, ""
    # The unit of the largest label.
    unit, found_factors = next(reversed(factors.items()))
    factor = 10.0 ** round(np.log10(found_factors[-1]))
    if any(abs(each / factor - 1) > 0.02 for each in found_factors):
        raise UnsupportedElement("text at a scale")
    return factor, unit


def _bars(axis: Axes) -> tuple[dict[Line2D, Ends], set[Line2D]]:
    """Lines with error bars, and lines that are parts of error bars."""
    found: dict[Line2D, Ends] = {}
    parts: set[Line2D] = set()
    for each in axis.containers:
        if not isinstance(each, ErrorbarContainer) or each.has_xerr or each.lines[0] is None:
            raise UnsupportedElement("bars")
        line, caps, (bars,) = each.lines
        found[line] = {segment[0][0]: (segment[0][1], segment[-1][1]) for segment in bars.get_segments()}
        parts |= {*caps}
    return found, parts


def _bands(axis: Axes) -> dict[str, Ends]:
    """Bands around lines, by colour."""
    found: dict[str, Ends] = {}
    bars = {part for each in axis.containers if isinstance(each, ErrorbarContainer) for part in each.lines[2]}
    for each in axis.collections:
        if each in bars:
            continue
        if not isinstance(each, FillBetweenPolyCollection):
            raise UnsupportedElement("areas")
        heights: dict[float, list[float]] = {}
        for path in each.get_paths():
            for place, height in np.asarray(path.vertices):
                heights.setdefault(float(place), []).append(float(height))
        found[to_hex(np.asarray(each.get_facecolor())[0])] = {place: (min(both), max(both)) for place, both in heights.items()}
    return found


def _seen(line: Line2D, axis: Axes) -> tuple[NDArray[Any], NDArray[Any]]:
    """x and y values; for a line with ascending x, the points within the limits and one more on each side."""
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
        raise UnsupportedElement(f"markers: {line.get_marker()}")
    return str(found)


def _steps(line: Line2D) -> bool:
    if line.get_drawstyle() not in ("default", "steps-post"):
        raise UnsupportedElement("steps other than steps-post")
    return line.get_drawstyle() == "steps-post"


def _all_rounded(values: Iterable[float], scales: dict[Side, tuple[float, str]], side: Side) -> list[float]:
    return [_rounded(value * scales[side][0], side) for value in values]


def _rounded(value: float, side: Side) -> float:
    return float(f"{value:.{DIGITS[side]}g}")
