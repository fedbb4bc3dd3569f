"""A run in a few lines: which columns a person wants first."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from html import escape

from tailback._format import aligned, quantity
from tailback._table import COUNTERS, Table

__all__ = ["Listing", "html", "listings", "text"]

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

    def __init__(self, table: Table) -> None:
        self.title = table.name
        wanted = [column for column in _COLUMNS[table.name] if column in table]
        shown = {column: table.head(column, _ROWS) for column in wanted}
        # A column in which nothing is known says nothing.
        known = [column for column in wanted if any(value == value for value in shown[column])]
        self.columns = [_title(column) for column in known]
        self.rows = [
            [quantity(column, value) for column, value in zip(known, row, strict=True)]
            for row in zip(*(shown[column] for column in known), strict=True)
        ]
        self.left_out = len(table) - len(self.rows)


def listings(tables: Mapping[str, Table]) -> Iterator[Listing]:
    """Groups, queues and flows, each as far as it has rows."""
    for name in _COLUMNS:
        if len(tables[name]):
            yield Listing(tables[name])


def text(title: str, tables: Mapping[str, Table]) -> str:
    """The whole summary, aligned with spaces."""
    blocks = [title]
    for listing in listings(tables):
        table = aligned([listing.columns, *listing.rows])
        rest = f"\n  and {listing.left_out} more" if listing.left_out else ""
        blocks.append(f"{listing.title}\n{table}{rest}")
    traces = [f"{name} ({len(table)} rows)" for name, table in tables.items() if name not in COUNTERS]
    if traces:
        blocks.append("traces: " + ", ".join(traces))
    return "\n\n".join(blocks)


def html(tables: Mapping[str, Table]) -> str:
    """The same as tables of a notebook."""
    parts = []
    for listing in listings(tables):
        head = "".join(f"<th>{escape(column)}</th>" for column in listing.columns)
        body = "".join("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in listing.rows)
        rest = f"<p>and {listing.left_out} more</p>" if listing.left_out else ""
        parts.append(f"<table><caption>{listing.title}</caption><tr>{head}</tr>{body}</table>{rest}")
    return "".join(parts)


def _title(column: str) -> str:
    """The column without its unit, which the values carry."""
    if column == "retransmitted_packets":
        return "resent"
    for unit in ("_bps", "_s", "_packets", "_units"):
        column = column.removesuffix(unit)
    return column.replace("_", " ")
