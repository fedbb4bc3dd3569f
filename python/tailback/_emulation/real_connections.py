"""The TCP connections of commands as lines of text, each counted once although two hosts see it."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from tailback._tables.table import Table
from tailback._tables.text import quantity

__all__ = ["connection_lines"]

_LISTED = 10
"""Connections with a line of their own."""

_Row = Mapping[str, Any]


def connection_lines(connections: Table, hosts: Table, others: Collection[str]) -> Iterator[str]:
    """The number of connections, and a line for each with the goodput of the direction with more data.

    The goodput is that at the receiving host, and retransmitted packets are counted at the sending host. Connections of the
    hosts in `others` are left out. A program may choose another congestion control than the default of its host, which is
    printed.
    """
    places = {address: host for host, text in zip(hosts["host"], hosts["addresses"], strict=True) for address in text.split(", ")}
    laws = dict(zip(hosts["host"], hosts["congestion_control"], strict=True))
    found: dict[frozenset[tuple[str, int]], list[_Row]] = {}
    for row in connections.to_rows():
        if row["interface"] not in others:
            ends = frozenset({(row["sender_address"], row["sender_port"]), (row["receiver_address"], row["receiver_port"])})
            found.setdefault(ends, []).append(row)
    if found:
        yield f"connections of commands: {len(found)}"
    for rows in list(found.values())[:_LISTED]:
        yield f"  {_line(rows, places, laws)}"
    if len(found) > _LISTED:
        yield f"  and {len(found) - _LISTED} more in the table `connections`"


def _line(rows: Sequence[_Row], places: Mapping[str, str], laws: Mapping[str, str]) -> str:
    largest = max(rows, key=lambda row: row["payload_bytes"])
    sender, receiver = (places.get(largest[f"{end}_address"], "") for end in ("sender", "receiver"))
    same_way = [row for row in rows if row["sender_address"] == largest["sender_address"]]
    at_sender = next((row for row in same_way if row["interface"] == sender), largest)
    at_receiver = next((row for row in same_way if row["interface"] == receiver), largest)
    resent = at_sender["retransmitted_packets"]
    ends = f"{sender}:{largest['sender_port']} -> {receiver}:{largest['receiver_port']}"
    parts = [
        f"{quantity('goodput_bps', at_receiver['goodput_bps'])} goodput",
        f"{quantity('packets', at_receiver['unique_payload_bytes'])} bytes",
        f"{quantity('packets', resent)} retransmitted packets",
        *([f"{laws[sender]} by default"] if laws.get(sender) else []),
    ]
    return f"{ends}: {', '.join(parts)}"
