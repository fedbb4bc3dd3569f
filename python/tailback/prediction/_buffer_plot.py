"""Plot of utilisation over buffer size: a curve for each rule that relates them, a line for each of the other rules."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from tailback import _core, models
from tailback.errors import ParameterError
from tailback.plots import COLOURS, STYLE, LineEnd, close, head, name_ends, require, sized
from tailback.prediction._sizing_case import SizingCase

if TYPE_CHECKING:
    import numpy as np
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.text import Annotation
    from numpy.typing import NDArray

__all__ = ["curves", "plot"]

# Number of points of a curve; smooth over six decades.
_POINTS = 200
# Maximum buffer of the loss models; losses beyond it are not visible.
_MAX_BUFFER = 1e9
# Utilisation at the start of the label of a vertical line.
_LOWEST = 0.02


def plot(question: SizingCase, answers: Mapping[str, int], width: float | None = None) -> Figure:
    """See `SizingResults.plot`. `answers` maps the rules to their buffers in packets."""
    require()
    import matplotlib.pyplot as plt
    import numpy as np

    from tailback._paper_figure import PaperFigure

    most = max(answers.values())
    buffers = np.concatenate([[0.0], np.unique(np.rint(np.geomspace(1, 2 * max(most, 10), _POINTS)))])
    with plt.rc_context(STYLE):
        figure, axis = plt.subplots(figsize=sized((8, 4.5), width), FigureClass=PaperFigure, layout="constrained")
        found = curves(question, buffers)
        ends: dict[str, LineEnd] = {}
        for (name, utilisation), colour in zip(found.items(), COLOURS, strict=False):
            axis.plot(buffers, utilisation, color=colour)
            last = np.flatnonzero(~np.isnan(utilisation))[-1]
            ends[name] = (float(buffers[last]), float(utilisation[last]), colour)
        axis.axhline(question.target, color="#777777", linewidth=0.7, linestyle=":")
        axis.set_xscale("symlog", linthresh=1)
        axis.set_xlim(0, float(buffers[-1]))
        axis.set_ylim(0, 1.02)
        axis.set_xlabel("buffer, packets")
        head(axis, "utilisation at a buffer size")
        axis.yaxis.set_major_formatter(lambda share, _place: f"{100 * share:.0f} %")
        marks = _mark(axis, question.target, answers, set(found))
        figure.canvas.draw()
        name_ends(axis, ends, end=-1)
        # Labels of lines reduce the axes, so the curves move.
        figure.canvas.draw()
        for mark in marks:
            _clear(mark, axis, [(buffers, utilisation) for utilisation in found.values()])
    return close(figure)


def curves(question: SizingCase, buffers: NDArray[np.floating[Any]]) -> dict[str, NDArray[Any]]:
    """Utilisation over `buffers` by each rule that has an answer, and by the closed loop of the trunk rule."""
    bottleneck: dict[str, Any] = {
        "transmitters": question.transmitters,
        "rate_bps": question.rate_bps,
        "packet_bytes": question.packet_bytes,
    }
    flows: dict[str, Any] = {"flows": question.flows}
    harmonic, mean = {"harmonic_rtt_s": question.base_rtt.harmonic_s}, {"mean_rtt_s": question.base_rtt.mean_s}
    single = {name: value for name, value in bottleneck.items() if name != "transmitters"}
    inputs = question.inputs
    lines: dict[str, Callable[[], Any]] = {
        "closed loop": lambda: _closed_loop(question, buffers, {**bottleneck, **flows, **harmonic}),
        "cui_trunk": lambda: models.cui_trunk_utilisation(inputs=inputs or 1, buffer=buffers, **bottleneck, **flows, **harmonic),
        "cui_link": lambda: models.cui_link_utilisation(buffer=buffers, **single, **flows, **harmonic),
        "unpaced": lambda: models.unpaced_utilisation(buffer=buffers, **bottleneck, **flows, **mean),
        "enachescu": lambda: models.enachescu_utilisation(
            buffer=buffers, **dict(zip(("window", "over_provision"), _core.max_windows(question), strict=True))
        ),
        "appenzeller": lambda: models.appenzeller_utilisation(buffer=buffers, **bottleneck, **flows, **mean),
        "synchronised": lambda: models.synchronised_utilisation(buffer=buffers, **bottleneck, **mean),
        "cubic": lambda: models.cubic_utilisation(buffer=buffers, **bottleneck, **mean),
    }
    if question.other_controllers != ("cubic",):
        del lines["cubic"]
    if inputs is None:
        del lines["cui_trunk"]
    if inputs is not None or question.transmitters > 1:
        del lines["cui_link"]
    found = {}
    for name, line in lines.items():
        try:
            found[name] = line()
        except ParameterError:
            # A rule without any answer has no curve; the table gives the reason.
            continue
    return found


def _closed_loop(question: SizingCase, buffers: NDArray[Any], bottleneck: dict[str, Any]) -> NDArray[Any]:
    """Utilisation of the closed loop; NaN outside the range of the loss model. Without `inputs` arrivals are Poisson."""
    import numpy as np

    inputs: dict[str, Any] = {"inputs": question.inputs or 1_000_000, "model": "g1dm" if question.inputs else "mmkkb"}
    ends = models.closed_loop(buffer=buffers.clip(max=_MAX_BUFFER), **inputs, **bottleneck)
    return np.where(ends.keeps_bound, ends.utilisation, np.nan)


def _mark(axis: Axes, target: float, answers: Mapping[str, int], drawn: set[str]) -> list[Annotation]:
    """Mark the target's buffer on each curve, and the buffers of rules without a curve. Returns the labels of the latter."""
    lines: dict[int, list[str]] = {}
    for name, buffer in answers.items():
        if name in drawn:
            axis.plot(buffer, target, "o", markersize=4, color="#333333")
        elif name not in ("cui_link", "cui_trunk"):
            near = next((other for other in lines if abs(other - buffer) <= 0.1 * other), buffer)
            lines.setdefault(near, []).append(name)
    looks: dict[str, Any] = {"rotation": 90, "fontsize": 8, "color": "#777777", "ha": "right", "va": "bottom"}
    marks = []
    for buffer, names in lines.items():
        axis.axvline(buffer, color="#bbbbbb", linewidth=0.7)
        marks.append(axis.annotate(", ".join(names), (buffer, _LOWEST), (-2, 0), textcoords="offset points", **looks))
    return marks


def _clear(name: Annotation, axis: Axes, curves: Sequence[tuple[NDArray[Any], NDArray[Any]]]) -> None:
    """Move a label up along its line to a place that no curve crosses; it stays at the bottom if there is none."""
    import numpy as np
    from matplotlib.path import Path

    bottom, top = axis.transData.transform([(0, height) for height in (_LOWEST, 1)])[:, 1]
    box = name.get_window_extent().padded(2)
    paths = [Path(axis.transData.transform(np.column_stack(curve))) for curve in curves]
    for up in np.arange(0, top - bottom - box.height, 2):
        if not any(path.intersects_bbox(box.translated(0, up), filled=False) for path in paths):
            name.set_y(up * 72 / axis.figure.dpi)
            return
