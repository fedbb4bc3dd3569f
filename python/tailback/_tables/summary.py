"""The summary of a run: the most important columns of its tables, as text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tailback._html import HtmlTable
from tailback._tables.table import Table
from tailback._tables.text import aligned, quantity

__all__ = ["COLUMNS", "ROWS", "TextTable", "listed", "listings", "rate_column", "tabulated", "text", "title"]

# Maximum number of rows per table in a summary.
ROWS = 12

# Its tables and their columns.
COLUMNS = {
    "groups": (
        "group",
        "flows",
        "goodput_bps",
        "fairness",
        "completed",
        "completion_p50_s",
        "completion_p99_s",
        "delay_p50_s",
        "delay_p95_s",
        "delay_p99_s",
    ),
    "queues": (
        "queue",
        "utilisation",
        "loss_rate",
        "dropped_units",
        "mean_queue_units",
        "max_queue_units",
        "mean_wait_s",
        "wait_p50_s",
        "wait_p95_s",
        "wait_p99_s",
    ),
    "classes": ("queue", "class", "throughput_bps", "loss_rate", "mean_wait_s"),
    "flows": (
        "group",
        "flow",
        "base_rtt_s",
        "mean_rtt_s",
        "goodput_bps",
        "loss_rate",
        "retransmitted_packets",
        "timeouts",
        "completion_time_s",
        "transfer_rate_bps",
    ),
}


@dataclass(frozen=True)
class TextTable:
    """A part of a table as text.

    Attributes
    ----------
    title : str
        Name of the table.
    columns : list of str
        Column heads.
    rows : list of list of str
        Values with their units.
    left_out : int
        Number of rows that are not shown.
    """

    title: str
    columns: list[str]
    rows: list[list[str]]
    left_out: int

    @classmethod
    def of(cls, name: str, columns: Mapping[str, Sequence[Any]], rows: int) -> TextTable:
        """The first values of some columns of a table with `rows` rows."""
        # Columns without any value are omitted.
        known = {column: values for column, values in columns.items() if any(value == value for value in values)}
        shown = [
            [quantity(column, value) for column, value in zip(known, row, strict=True)]
            for row in zip(*known.values(), strict=True)
        ]
        return cls(name, [title(column) for column in known], shown, rows - len(shown))


def listings(tables: Mapping[str, Table]) -> Iterator[TextTable]:
    """Groups, queues, classes and flows, if they have rows; many flows are summarised by group."""
    for name, wanted in COLUMNS.items():
        table = tables.get(name)
        if table is None:
            continue
        columns = [column for column in wanted if column in table]
        if name == "queues" and len(table) > ROWS:
            yield TextTable.of("busiest queues", _busiest(table, columns), len(table))
        elif name == "flows" and len(table) > ROWS:
            yield _spread(table)
        elif len(table):
            yield TextTable.of(name, {column: table.head(column, ROWS) for column in columns}, len(table))


def _busiest(queues: Table, columns: Sequence[str]) -> dict[str, list[Any]]:
    """The rows of the busiest queues: the order of many queues, by link name, does not reflect importance."""
    used = queues.head("utilisation", len(queues))
    order = sorted(range(len(used)), key=lambda row: -used[row] if used[row] == used[row] else 0.0)[:ROWS]
    values = {column: queues.head(column, len(queues)) for column in columns}
    return {column: [values[column][row] for row in order] for column in columns}


def _spread(flows: Table) -> TextTable:
    """Minimum, median and maximum of the flows of each group, because the first few of many flows are not representative."""
    members: dict[str, list[int]] = {}
    for row, group in enumerate(flows.head("group", len(flows))):
        members.setdefault(group, []).append(row)

    def of(column: str) -> list[Any]:
        return flows.head(column, len(flows)) if column in flows else []

    rate = rate_column(flows)
    rates, trips, losses = of(rate), of("mean_rtt_s"), of("loss_rate")
    counted = {"retransmissions": of("retransmitted_packets"), "timeouts": of("timeouts")}
    rows = []
    for group, places in list(members.items())[:ROWS]:
        measured = sorted(rates[place] for place in places if rates[place] == rates[place])
        middle = len(measured) // 2
        cells = [quantity(rate, value) for value in (measured[0], measured[middle], measured[-1])] if measured else ["-"] * 3
        middles = [
            quantity(column, known[len(known) // 2]) if known else "-"
            for column, values in (("mean_rtt_s", trips), ("loss_rate", losses))
            for known in [sorted(values[place] for place in places if values[place] == values[place])]
        ]
        totals = [quantity(name, sum(values[place] for place in places)) for name, values in counted.items()]
        rows.append([group, f"{len(places):,}", *cells, *middles, *totals])
    titles = ["group", "flows", f"{title(rate)}: min", "median", "max", "median mean rtt", "median loss rate", *counted]
    return TextTable("flows by group", titles, rows, len(members) - len(rows))


def rate_column(flows: Table) -> str:
    """The rate by which flows are compared: that of transfers if all flows have a size, otherwise the goodput."""
    are_transfers = "transfer_rate_bps" in flows and all(size == size for size in flows["size_bytes"])
    return "transfer_rate_bps" if are_transfers else "goodput_bps"


def text(title: str, tables: Mapping[str, Table], traces: Sequence[str]) -> str:
    """The whole summary, aligned with spaces; traces only with their numbers of rows."""
    rows = [f"{name} ({len(tables[name])} rows)" for name in traces]
    return listed(title, listings(tables), ["traces: " + ", ".join(rows)] if rows else [])


def listed(title: str, parts: Iterable[TextTable], notes: Iterable[str]) -> str:
    """Title, listings aligned with spaces, and notes as text."""
    blocks = [title]
    for listing in parts:
        table = aligned([listing.columns, *listing.rows])
        rest = f"\n  and {listing.left_out} more" if listing.left_out else ""
        blocks.append(f"{listing.title}\n{table}{rest}")
    return "\n\n".join([*blocks, *notes])


def tabulated(parts: Iterable[TextTable]) -> list[HtmlTable]:
    """Listings as tables for a notebook."""
    return [
        HtmlTable(listing.title, listing.columns, listing.rows, f"and {listing.left_out} more" if listing.left_out else "")
        for listing in parts
    ]


def title(column: str) -> str:
    """The column name without its unit, which the values carry."""
    if column == "retransmitted_packets":
        return "retransmissions"
    for unit in ("_bps", "_s", "_packets", "_units"):
        column = column.removesuffix(unit)
    return column.replace("_", " ")
