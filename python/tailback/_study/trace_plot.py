"""Traces of chosen runs of a study over time: a column for each run, a row for each kind of trace, on common scales."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from tailback._run_plot import TRACES, draw_traces
from tailback._table import Table
from tailback.errors import ParameterError, UnknownName
from tailback.plots import STYLE, close, require

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["figure", "kinds"]

# Runs that fit side by side.
_COLUMNS = 4


def kinds(asked: str | Sequence[str] | None, recorded: Sequence[str]) -> list[str]:
    """The kinds of trace that are asked for, or all that were recorded and have a picture.

    Raises
    ------
    UnknownName
        One was not recorded, or none was.
    """
    known = [kind for kind in TRACES if kind in recorded]
    wanted = known if asked is None else [asked] if isinstance(asked, str) else list(asked)
    for kind in wanted or ["cwnd"]:
        if kind not in known:
            raise UnknownName("trace", kind, known, note="; ask for it in `record.traces` of the scenario")
    return wanted


def figure(columns: dict[str, list[Table]], where: str) -> Figure:
    """The picture, out of pyplot's hands: under each title the traces of a run, the same kinds in each column."""
    require()
    import matplotlib.pyplot as plt

    if len(columns) > _COLUMNS:
        raise ParameterError(f"{len(columns)} runs side by side; expected at most {_COLUMNS}, choose others with `where`")
    rows = len(next(iter(columns.values())))
    with plt.rc_context(STYLE):
        size = (max(5.6, 1.2 + 2.6 * len(columns)), 0.9 + 1.6 * rows)
        made, axes = plt.subplots(
            rows, len(columns), figsize=size, sharex=True, sharey="row", squeeze=False, layout="constrained"
        )
        for place, (title, tables) in enumerate(columns.items()):
            panels = list(axes[:, place])
            draw_traces(panels, tables, legend=place == len(columns) - 1)
            for panel in panels if place else ():
                # What a row shows stands once, at its left.
                panel.set_title("", loc="left")
            panels[0].set_title(title, loc="right", fontsize=9, color="#333333")
            panels[-1].set_xlabel("time, s")
        made.supxlabel(where, x=0.01, ha="left", fontsize=8, color="#666666")
    return close(made)
