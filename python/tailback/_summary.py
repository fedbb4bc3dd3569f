"""A run in a few lines: which columns a person wants first, and how numbers are written."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tailback._run import Run

__all__ = ["Listing", "header", "html", "listings", "quantity", "text"]

# Rows of a table that a summary shows.
_ROWS = 12

_COLUMNS = {
    "groups": ("group", "flows", "goodput_bps", "fairness", "completed", "completion_p50_s", "completion_p99_s"),
    "queues": (
        "queue",
        "utilisation",
        "loss_share",
        "discarded_units",
        "mean_queue_units",
        "max_queue_units",
        "mean_wait_s",
    ),
    "flows": (
        "group",
        "flow",
        "base_rtt_s",
        "mean_rtt_s",
        "goodput_bps",
        "loss_share",
        "retransmitted_packets",
        "timeouts",
        "completion_time_s",
    ),
}


class Listing:
    """A part of a table as text: `title`, `columns`, `rows`, and how many rows were left out."""

    def __init__(self, run: Run, name: str) -> None:
        table = run.tables[name]
        self.title = name
        wanted = [column for column in _COLUMNS[name] if column in table]
        shown = {column: table.head(column, _ROWS) for column in wanted}
        # A column in which nothing is known says nothing.
        known = [column for column in wanted if any(value == value for value in shown[column])]
        self.columns = [_title(column) for column in known]
        self.rows = [
            [quantity(column, value) for column, value in zip(known, row, strict=True)]
            for row in zip(*(shown[column] for column in known), strict=True)
        ]
        self.left_out = len(table) - len(self.rows)


def listings(run: Run) -> Iterator[Listing]:
    """Groups, queues and flows, each as far as it has rows."""
    for name in _COLUMNS:
        if len(run.tables[name]):
            yield Listing(run, name)


def header(run: Run) -> str:
    """One line: what ran, for how long, with which seed."""
    name = run.scenario.get("name") or "scenario"
    cut = "" if run.complete else ", INCOMPLETE"
    return f"{name}: {run.simulated_s:g} s simulated{cut}, seed {run.seed}, {run.events:,} events"


def text(run: Run) -> str:
    """The whole summary, aligned with spaces."""
    blocks = [header(run)]
    for listing in listings(run):
        table = aligned([listing.columns, *listing.rows])
        rest = f"\n  and {listing.left_out} more" if listing.left_out else ""
        blocks.append(f"{listing.title}\n{table}{rest}")
    if run.traces:
        blocks.append("traces: " + ", ".join(f"{kind} ({len(run.trace(kind))} rows)" for kind in run.traces))
    return "\n\n".join(blocks)


def html(run: Run) -> str:
    """The same as tables of a notebook."""
    parts = []
    for listing in listings(run):
        head = "".join(f"<th>{escape(column)}</th>" for column in listing.columns)
        body = "".join("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in listing.rows)
        rest = f"<p>and {listing.left_out} more</p>" if listing.left_out else ""
        parts.append(f"<table><caption>{listing.title}</caption><tr>{head}</tr>{body}</table>{rest}")
    return "".join(parts)


def aligned(rows: Sequence[Sequence[str]]) -> str:
    """Columns of text: the first to the left, the others to the right."""
    widths = [max(len(row[index]) for row in rows) for index in range(len(rows[0]))]
    lines = []
    for row in rows:
        others = (f"{cell:>{width}}" for cell, width in zip(row[1:], widths[1:], strict=True))
        lines.append("  " + "  ".join([row[0].ljust(widths[0]), *others]).rstrip())
    return "\n".join(lines)


def quantity(column: str, value: float | int | str) -> str:
    """A value in the unit that its column's name ends in: ``goodput_bps`` 9.53e6 is ``9.53 Mbps``; a dash for what is missing."""
    if isinstance(value, str):
        return value
    if value != value:
        return "-"
    if column.endswith("_bps"):
        return _scaled(value, [(1e9, "Gbps"), (1e6, "Mbps"), (1e3, "kbps"), (1.0, "bps")])
    if column.endswith("_s"):
        return _scaled(value, [(1.0, "s"), (1e-3, "ms"), (1e-6, "us")])
    if column.endswith("_share") or column == "utilisation":
        return f"{100 * value:.3g} %" if value < 0.995 else f"{100 * value:.2f} %"
    return f"{value:,}" if isinstance(value, int) else f"{value:.4g}"


def _scaled(value: float, units: Sequence[tuple[float, str]]) -> str:
    for size, unit in units:
        if abs(value) >= size:
            return f"{value / size:.4g} {unit}"
    size, unit = units[-1]
    return f"{value / size:.4g} {unit}" if value else "0"


def _title(column: str) -> str:
    """The column without its unit, which the values carry."""
    if column == "retransmitted_packets":
        return "resent"
    for unit in ("_bps", "_s", "_packets", "_units"):
        column = column.removesuffix(unit)
    return column.replace("_", " ")
