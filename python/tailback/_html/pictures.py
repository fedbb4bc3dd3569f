"""Figures of an HTML page: an SVG by matplotlib, and the same data for the script that redraws the figure when it is zoomed."""

from __future__ import annotations

import colorsys
import io
import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

__all__ = ["Curve", "Panel", "Picture", "dark_inks", "picture"]

Numbers: TypeAlias = "Sequence[float] | NDArray[Any]"

# Background of a page in dark mode, and the minimum contrast with it: that of WCAG 2 for text.
DARK_GROUND = "#16181b"
_CONTRAST = 4.5

_DASHES: dict[str, Any] = {"solid": "solid", "dashed": (0, (5, 2)), "dotted": (0, (1, 2)), "none": "none"}
# Significant digits of the numbers in a page; more are not visible on a screen.
_DIGITS = 7
# Margin before the first and behind the last x value, as a share of the axis.
_MARGIN = 0.03


@dataclass(frozen=True)
class Curve:
    """A named series of values.

    Attributes
    ----------
    x, y : sequence of float
        Values that are not finite in `y` leave a gap in the line.
    colour : str
        ``#rrggbb``, in light mode.
    low, high : sequence of float
        Ends of intervals, drawn as a band; no band if empty.
    line : str
        ``solid``, ``dashed``, ``dotted`` or ``none``.
    mark : str
        Marker of each value: ``o``, ``x``, ``s``, ``_``, ``ring`` or none.
    steps : bool
        Draw steps: a value holds until the next x.
    bars : bool
        Draw intervals as bars instead of a band.
    filled : bool
        Fill the area down to zero instead of drawing a line.
    """

    name: str
    x: Numbers
    y: Numbers
    colour: str
    low: Numbers = ()
    high: Numbers = ()
    line: Literal["solid", "dashed", "dotted", "none"] = "solid"
    mark: str = ""
    steps: bool = False
    bars: bool = False
    filled: bool = False


@dataclass
class Panel:
    """An axis and its curves.

    Attributes
    ----------
    axis : Axes
        Axis with its labels, scales and limits.
    time_range : tuple of float or None
        Initial range of the x axis; all values if None.
    title : str
        Title for the script, if different from the axis's.
    """

    axis: Axes
    time_range: tuple[float, float] | None = None
    title: str = ""
    curves: list[Curve] = field(default_factory=list)
    levels: dict[str, float] = field(default_factory=dict)

    def draw(self, curve: Curve, **style: Any) -> None:
        """Add a curve; `style` is passed to matplotlib's line."""
        self.curves.append(curve)
        colour, step = curve.colour, "post" if curve.steps else None
        if len(curve.low) and not curve.bars:
            self.axis.fill_between(curve.x, curve.low, curve.high, color=colour, alpha=0.18, linewidth=0)
        if curve.filled:
            self.axis.fill_between(curve.x, curve.y, step=step, color=colour, alpha=0.35, linewidth=0)  # type: ignore[arg-type]
            return
        drawstyle = "steps-post" if curve.steps else "default"
        mark = {"marker": "o", "markerfacecolor": "#ffffff"} if curve.mark == "ring" else {"marker": curve.mark}
        given = {"linestyle": _DASHES[curve.line], "drawstyle": drawstyle, "label": curve.name, **mark, **style}
        self.axis.plot(curve.x, curve.y, color=colour, **given)
        if curve.bars:
            self.axis.vlines(curve.x, curve.low, curve.high, color=colour, linewidth=1)

    def level(self, name: str, value: float) -> None:
        """Add a thin horizontal reference line."""
        self.levels[name] = value
        self.axis.axhline(value, color="#888888", linewidth=0.9, linestyle=_DASHES["dotted"], zorder=1)

    def to_dict(self) -> dict[str, Any]:
        """The data for the script; call this after all limits are set."""
        axis = self.axis
        log_x, log_y = axis.get_xscale() == "log", axis.get_yscale() == "log"
        low, high = self.time_range or _around([place for curve in self.curves for place in curve.x], log=log_x)
        return {
            "title": ", ".join((self.title or axis.get_title(loc="left")).splitlines()),
            "x": {"label": _label(axis, "x"), "log": log_x, "low": low, "high": high},
            "y": {
                "label": _label(axis, "y"),
                "log": log_y,
                **dict(zip(("low", "high"), axis.get_ylim(), strict=True)),
            },
            "curves": [
                {
                    "name": curve.name,
                    "x": _plain(curve.x),
                    "y": _plain(curve.y, log=log_y),
                    "low": _plain(curve.low),
                    "high": _plain(curve.high),
                    "colour": curve.colour,
                    "line": "none" if curve.filled else curve.line,
                    "mark": curve.mark,
                    "steps": curve.steps,
                    "bars": curve.bars,
                    "filled": curve.filled,
                }
                for curve in self.curves
            ],
            "levels": [{"label": label, "value": value} for label, value in self.levels.items()],
        }


@dataclass(frozen=True)
class Picture:
    """A figure of an HTML page.

    Attributes
    ----------
    svg : str
        The SVG element. Its colours are CSS variables: see `dark_inks`.
    numbers : dict or None
        Data of its panels for the script; None if the figure cannot be zoomed.
    note : str
        Caption or warning for the reader.
    """

    svg: str
    numbers: dict[str, Any] | None = None
    note: str = ""


def picture(figure: Figure, panels: Iterable[Panel] = (), note: str = "") -> Picture:
    """Convert a figure for a page, at the width of the column. It can be zoomed if `panels` are given."""
    text = io.StringIO()
    figure.savefig(text, format="svg", transparent=True, metadata={"Date": None})
    whole = text.getvalue()
    element = re.sub(r'<svg ([^>]*?)width="[^"]*" height="[^"]*"', r'<svg \1role="img"', whole[whole.index("<svg") :], count=1)
    inked = re.sub(r"(fill|stroke): #([0-9a-f]{6})", r"\1: var(--on-\2, #\2)", element)
    known = [panel.to_dict() for panel in panels]
    return Picture(inked, {"panels": known} if known else None, note)


def dark_inks(pictures: Iterable[Picture]) -> dict[str, str]:
    """The colours of the pictures in dark mode, by name of the CSS variable."""
    found = {colour for each in pictures for colour in re.findall(r"var\(--on-([0-9a-f]{6})", each.svg)}
    return {f"--on-{colour}": _on_dark(colour) for colour in sorted(found)}


def _on_dark(colour: str) -> str:
    """The same hue, lightened to the required contrast; grey and white are inverted."""
    hue, light, saturation = colorsys.rgb_to_hls(*_parts(colour))
    if saturation < 0.1:
        if light == 1:
            return DARK_GROUND
        light = 0.12 + 0.8 * (1 - light)
    else:
        while _luminance(_hex(hue, light, saturation)) + 0.05 < _CONTRAST * (_luminance(DARK_GROUND[1:]) + 0.05):
            light += 0.01
    return f"#{_hex(hue, light, saturation)}"


def _hex(hue: float, light: float, saturation: float) -> str:
    return "".join(f"{round(255 * part):02x}" for part in colorsys.hls_to_rgb(hue, light, saturation))


def _parts(colour: str) -> tuple[float, float, float]:
    red, green, blue = (int(colour[place : place + 2], 16) / 255 for place in (0, 2, 4))
    return red, green, blue


def _luminance(colour: str) -> float:
    """Relative luminance, as WCAG 2 defines it."""
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in _parts(colour))
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _label(axis: Axes, side: Literal["x", "y"]) -> str:
    """Label of the axis, or of an axis that shares this one and has the label for both."""
    alike = {"x": axis.get_shared_x_axes, "y": axis.get_shared_y_axes}[side]().get_siblings(axis)
    labels = (getattr(each, f"get_{side}label")() for each in (axis, *alike))
    return " ".join(next(filter(None, labels), "").split())


def _around(places: Sequence[float], *, log: bool) -> tuple[float, float]:
    """The range of the values, with a margin."""
    low, high = float(min(places)), float(max(places))
    if log:
        factor = (high / low) ** _MARGIN if high > low else 1.1
        return low / factor, high * factor
    margin = _MARGIN * (high - low) or 0.5
    return low - margin, high + margin


def _plain(values: Iterable[float], *, log: bool = False) -> list[float | None]:
    """Numbers for JSON; null for values that cannot be drawn on the axis."""
    return [
        float(f"{value:.{_DIGITS}g}") if math.isfinite(value) and (value > 0 or not log) else None for value in map(float, values)
    ]
