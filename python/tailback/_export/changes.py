"""Changes of links during a run: entries of the timeline, and rows of tables of rates."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any

from tailback._export.network import Change, Network, Omissions, Port, quantity, seconds

__all__ = ["follow"]

# Most changes of a file.
_MAX_CHANGES = 10_000

# Time, port, and its new values.
_Event = tuple[float, str, dict[str, Any]]


def follow(
    network: Network, timeline: Sequence[Mapping[str, Any]], expressed: Collection[str], omitted: Omissions
) -> list[Change]:
    """The changes of the values that a target expresses, of `rate`, `delay`, `loss`, `buffer` and `down`, in order of time.

    Ports with a table of rates get its first row. Starts and stops of groups are those of their flows.
    """
    events = list(_of_timeline(network, timeline, expressed, omitted))
    for name, port in network.ports.items():
        if port.table and "rate" in expressed:
            rows = _of_table(port, network.duration_s, expressed, omitted)
            network.ports[name] = replace(_changed(port, next(rows)[2]), table={})
            events += islice(rows, _MAX_CHANGES + 1)
    events.sort(key=lambda event: event[0])
    if len(events) > _MAX_CHANGES:
        omitted.add("timeline", f"only the first {_MAX_CHANGES:,} changes of links are exported")
    changes, ports = [], dict(network.ports)
    for at, name, values in events[:_MAX_CHANGES]:
        before = ports[name]
        ports[name] = _changed(before, values)
        changes.append(Change(at, before, ports[name]))
    return changes


def _of_timeline(
    network: Network, timeline: Sequence[Mapping[str, Any]], expressed: Collection[str], omitted: Omissions
) -> Iterator[_Event]:
    for index, event in enumerate(timeline):
        at, name = f"timeline[{index}]", event.get("link")
        for key, reason in (("route", "routes do not change during the run"), ("rebind", "addresses do not change")):
            if event.get(key):
                omitted.add(f"{at}.{key}", reason)
        if name is None:
            continue
        values = {key: event[key] for key in ("rate", "delay", "loss", "buffer") if event.get(key) is not None}
        if event["down"] or event["up"]:
            values["down"] = event["down"]
            if event.get("reroute_after"):
                omitted.add(f"{at}.reroute_after", "flows keep their routes")
        for key in [key for key in values if key not in expressed]:
            omitted.add(f"{at}.{key}", "is not exported")
            del values[key]
        if values:
            yield seconds(event["at"]), name, values
        other = network.reverse(network.ports[name])
        if other is not None and "down" in values:
            yield seconds(event["at"]), other.name, {"down": values["down"]}


def _of_table(port: Port, duration_s: float, expressed: Collection[str], omitted: Omissions) -> Iterator[_Event]:
    """The rows of a table, which repeats; its last row lasts as long as the one before it."""
    columns = {key: column for key, column in port.table.items() if key != "at" and column}
    for key in [key for key in columns if key not in expressed]:
        omitted.add(f"{port.at}.rate.table.{key}", "is not exported")
        del columns[key]
    at = [seconds(time) for time in port.table["at"]]
    period, begin = 2 * at[-1] - at[-2], 0.0
    while begin < duration_s:
        for row, time in enumerate(at):
            if begin + time < duration_s:
                yield begin + time, port.name, {key: column[row] for key, column in columns.items()}
        begin += period


def _changed(port: Port, values: Mapping[str, Any]) -> Port:
    settings, queue = {**port.settings}, {**port.queue}
    if "loss" in values:
        settings["loss"] = {**(settings.get("loss") or {}), "probability": values["loss"]}
    if "buffer" in values:
        queue["buffer"] = values["buffer"]
    rate, is_out = port.rate_bps, port.is_out
    if "rate" in values:
        given = quantity(values["rate"])[0] * port.transmitters
        rate, is_out = given or rate, not given
    return replace(
        port,
        rate_bps=rate,
        is_out=is_out,
        delay_s=seconds(values["delay"]) if "delay" in values else port.delay_s,
        is_down=values.get("down", port.is_down),
        settings=settings,
        queue=queue,
    )
