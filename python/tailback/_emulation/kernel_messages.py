"""Messages of kernel flows, as measured by their programs."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

__all__ = ["message_columns", "playback_columns"]

_MISSING = float("nan")

_COLUMNS = ("group", "flow", "message", "size_bytes", "start_s", "completion_time_s")
_PLAYBACK = ("stalls", "stalled_s", "bitrate_switches", "mean_bitrate_bps", "startup_s")

# The reports of the sender and the receiver of each flow.
Transfers = Mapping[tuple[str, int], tuple[Mapping[str, Any], Mapping[str, Any]]]


def message_columns(simulated: Mapping[str, Sequence[Any]], transfers: Transfers, until_s: float) -> dict[str, list[Any]] | None:
    """The table `messages`: the simulated rows, and those of kernel flows until this time; None if there are none."""
    rows = list(zip(*(simulated[name] for name in _COLUMNS), strict=True)) if simulated else []
    if not simulated and not any("messages" in receiver for _, receiver in transfers.values()):
        return None
    for which, suffix in ((1, ""), (0, ".requests")):
        for (group, flow), (server, client) in transfers.items():
            if "messages" in client:
                delivered = (client if which else server)["messages"]["delivered"]
                own = _of_flow(client["messages"], delivered, which, until_s)
                rows.extend((f"{group}{suffix}", flow, *row) for row in own)
    return {name: [row[place] for row in rows] for place, name in enumerate(_COLUMNS)}


def _of_flow(client: Mapping[str, Any], delivered: Sequence[float], which: int, until_s: float) -> Iterator[tuple[Any, ...]]:
    for number, (start, sizes) in enumerate(zip(client["asked"], client["sizes"], strict=True)):
        if start < until_s:
            at = delivered[number] if number < len(delivered) and delivered[number] < until_s else _MISSING
            yield number, sizes[which], start, at - start


def playback_columns(flows: Mapping[str, Sequence[Any]], transfers: Transfers) -> dict[str, list[float]]:
    """The columns of the table of flows that describe the playback of video; none without video in kernel flows."""
    found = {}
    for place, (_, client) in transfers.items():
        playback = client.get("messages", {}).get("playback")
        if playback is not None:
            *values, started = playback
            start = client["messages"]["opened_s"]
            found[place] = (*map(float, values), _MISSING if started is None else started - start)
    if not found:
        return {}
    missing = (_MISSING,) * len(_PLAYBACK)
    places = list(zip(flows["group"], flows["flow"], strict=True))
    known = [flows.get(name, [_MISSING] * len(places)) for name in _PLAYBACK]
    rows = [found.get(place, tuple(column[row] for column in known) if known else missing) for row, place in enumerate(places)]
    return {name: [_number(row[index]) for row in rows] for index, name in enumerate(_PLAYBACK)}


def _number(value: Any) -> float:
    return _MISSING if value is None or math.isnan(value) else float(value)
