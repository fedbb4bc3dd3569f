"""Traces of selected runs of a study over time: one column per run, one row per kind of trace, with common scales."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from tailback._run.plot import TRACES, draw_traces
from tailback._tables.table import Table
from tailback.errors import ParameterError, UnknownName
from tailback.plots import STYLE, close, name_column, require, sized

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["figure", "kinds"]

# Maximum number of columns.
_COLUMNS = 4


def kinds(asked: str | Sequence[str] | None, recorded: Sequence[str]) -> list[str]:
    """The requested kinds of trace, or all recorded ones that can be plotted.

    Raises
    ------
    UnknownName
        A kind was not recorded, or no trace was.
    """
    known = [kind for kind in TRACES if kind in recorded]
    wanted = known if asked is None else [asked] if isinstance(asked, str) else list(asked)
    for kind in wanted or ["cwnd"]:
        if kind not in known:
            raise UnknownName("trace", kind, known, note="; add it to `record.traces` of the scenario")
    return wanted


def figure(columns: dict[str, list[Table]], where: str, width: float | None = None) -> Figure:
    """Draw the plot, detached from pyplot: the traces of a run under each title, the same kinds in each column."""
    require()
    import matplotlib.pyplot as plt

    from tailback._paper_figure import PaperFigure

    if len(columns) > _COLUMNS:
        raise ParameterError(f"there are {len(columns)} columns; expected at most {_COLUMNS}, select labels with `where`")
    rows = len(next(iter(columns.values())))
    with plt.rc_context(STYLE):
        size = (max(5.6, 1.2 + 2.6 * len(columns)), 0.9 + 1.6 * rows)
        made, axes = plt.subplots(
            rows,
            len(columns),
            figsize=sized(size, width),
            FigureClass=PaperFigure,
            sharex=True,
            sharey="row",
            squeeze=False,
            layout="constrained",
        )
        for place, (title, tables) in enumerate(columns.items()):
            panels = list(axes[:, place])
            draw_traces(panels, tables, legend=place == len(columns) - 1)
            for panel in panels if place else ():
                # The title of a row is shown only in its first column.
                panel.set_title("")
            name_column(panels[0], title, width)
            panels[-1].set_xlabel("time, s")
        made.supxlabel(where, x=0.01, ha="left", fontsize=8, color="#666666")
    return close(made)
