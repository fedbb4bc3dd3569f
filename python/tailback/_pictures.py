"""Pictures of a page: drawn by matplotlib, and the same numbers for the script that draws them again where they can be zoomed."""

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

# What a page's ground is when it is dark, and the least contrast of ink on it: that of WCAG 2 for text.
DARK_GROUND = "#16181b"
_CONTRAST = 4.5

_DASHES: dict[str, Any] = {"solid": "solid", "dashed": (0, (5, 2)), "dotted": (0, (1, 2)), "none": "none"}
# Digits of the numbers that a page carries; no screen shows more.
_DIGITS = 7
# Part of the axis before the first place and behind the last.
_MARGIN = 0.03


@dataclass(frozen=True)
class Curve:
    """Numbers under one name.

    Attributes
    ----------
    x, y : sequence of float
        Where nothing is known, `y` is not finite and the line has a gap.
    colour : str
        ``#rrggbb``, on a light page.
    low, high : sequence of float
        Ends of intervals, drawn as a band; none if empty.
    line : str
        ``solid``, ``dashed``, ``dotted`` or ``none``.
    mark : str
        A sign at each place: ``o``, ``x``, ``s``, ``_``, ``ring`` or none.
    steps : bool
        A value holds until the next place.
    bars : bool
        Intervals are bars instead of a band.
    filled : bool
        The area down to zero instead of a line.
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
    """An axis, and what is drawn on it.

    Attributes
    ----------
    axis : Axes
        It has the labels, scales and limits.
    span : tuple of float or None
        What of the horizontal axis is shown at first; all places if None.
    title : str
        For the script, if not that of the axis.
    """

    axis: Axes
    span: tuple[float, float] | None = None
    title: str = ""
    curves: list[Curve] = field(default_factory=list)
    levels: dict[str, float] = field(default_factory=dict)

    def draw(self, curve: Curve, **style: Any) -> None:
        """Add a curve; `style` is matplotlib's, of the line."""
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
        """Add a thin line across."""
        self.levels[name] = value
        self.axis.axhline(value, color="#888888", linewidth=0.9, linestyle=_DASHES["dotted"], zorder=1)

    def to_dict(self) -> dict[str, Any]:
        """What the script needs; call it when all limits are set."""
        axis = self.axis
        log_x, log_y = axis.get_xscale() == "log", axis.get_yscale() == "log"
        low, high = self.span or _around([place for curve in self.curves for place in curve.x], log=log_x)
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
    """A figure of a page.

    Attributes
    ----------
    svg : str
        An element of the page, whose colours the page's style may change: see `dark_inks`.
    numbers : dict or None
        Its panels, for the script; None if there is nothing to zoom.
    note : str
        What a reader has to know of it, in words.
    """

    svg: str
    numbers: dict[str, Any] | None = None
    note: str = ""


def picture(figure: Figure, panels: Iterable[Panel] = (), note: str = "") -> Picture:
    """The figure for a page, as wide as the column; with `panels`, which share its vertical axis or not, it can be zoomed."""
    text = io.StringIO()
    figure.savefig(text, format="svg", transparent=True, metadata={"Date": None})
    whole = text.getvalue()
    element = re.sub(r'<svg ([^>]*?)width="[^"]*" height="[^"]*"', r'<svg \1role="img"', whole[whole.index("<svg") :], count=1)
    inked = re.sub(r"(fill|stroke): #([0-9a-f]{6})", r"\1: var(--on-\2, #\2)", element)
    known = [panel.to_dict() for panel in panels]
    return Picture(inked, {"panels": known} if known else None, note)


def dark_inks(pictures: Iterable[Picture]) -> dict[str, str]:
    """For each colour of the pictures the one that it has on a dark page, by the name of the style's variable."""
    found = {colour for each in pictures for colour in re.findall(r"var\(--on-([0-9a-f]{6})", each.svg)}
    return {f"--on-{colour}": _on_dark(colour) for colour in sorted(found)}


def _on_dark(colour: str) -> str:
    """The same hue, as light as it must be; grey and white turned around."""
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
    """Of the axis, or of the one beside or below it that has the label for both."""
    alike = {"x": axis.get_shared_x_axes, "y": axis.get_shared_y_axes}[side]().get_siblings(axis)
    labels = (getattr(each, f"get_{side}label")() for each in (axis, *alike))
    return " ".join(next(filter(None, labels), "").split())


def _around(places: Sequence[float], *, log: bool) -> tuple[float, float]:
    """From the first to the last place, and a little more."""
    low, high = float(min(places)), float(max(places))
    if log:
        factor = (high / low) ** _MARGIN if high > low else 1.1
        return low / factor, high * factor
    margin = _MARGIN * (high - low) or 0.5
    return low - margin, high + margin


def _plain(values: Iterable[float], *, log: bool = False) -> list[float | None]:
    """Numbers as JSON has them; null for what has no place on the axis."""
    return [
        float(f"{value:.{_DIGITS}g}") if math.isfinite(value) and (value > 0 or not log) else None for value in map(float, values)
    ]
