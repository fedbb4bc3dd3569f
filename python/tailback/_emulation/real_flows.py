"""Known results of real flows. The engine sees IP packets only; the transport's statistics come from the kernel's sockets."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from tailback._emulation.kernel_flows import kernel_name
from tailback._emulation.kernel_messages import message_columns, playback_columns
from tailback._run import Run
from tailback._tables.table import Table

__all__ = ["FlowReports", "real_flow_tables"]

# For each kernel group: the group, and the reports of its senders and receivers by flow.
FlowReports: TypeAlias = Sequence[tuple[Mapping[str, Any], Sequence[Mapping[str, Any]], Sequence[Mapping[str, Any]]]]

_MISSING = float("nan")

# Columns that the engine counts for IP packets, which are not those of the transport.
_OF_PACKETS = ("delivered_packets", "delivered_bytes", "goodput_bps", "transfer_rate_bps")
_RANKS = {"completion_p50_s": 0.5, "completion_p95_s": 0.95, "completion_p99_s": 0.99}

_TRANSFER_COLUMNS = ("group", "flow", "controller", "began_s", "failure")


def real_flow_tables(run: Run, warmup_s: float, reports: FlowReports) -> dict[str, Table]:
    """Tables of flows and groups with the known values of real flows, and a table of the kernel flows.

    The kernel's goodput is the data that the receivers' programs read during the measurement interval. A completion time lasts
    from the establishment of the connection until the receiver has all data; simulated connections are established at the start.
    """
    transfers = {
        (group["group"], number): both for group, *ends in reports for number, both in enumerate(zip(*ends, strict=True))
    }
    described = {(group["group"], number): each for group, *_ in reports for number, each in enumerate(group["transfers"])}
    flows, groups = run.flows.to_dict(), run.groups.to_dict()
    real = {name for name in groups["group"] if "->" in name} | {
        f"{name}{way}" for name, _ in transfers for way in ("", ".reverse", ".requests")
    }
    for row, place in enumerate(zip(flows["group"], flows["flow"], strict=True)):
        if place[0] in real:
            known = _of_transfer(transfers[place], run.simulated_s - warmup_s) if place in transfers else {}
            given = described.get(place, {})
            flows["start_s"][row] = given.get("start_s") if given.get("start_s") is not None else flows["start_s"][row]
            flows["size_bytes"][row] = given.get("size") if given.get("size") is not None else flows["size_bytes"][row]
            rate = flows["size_bytes"][row] * 8 / known["completion_time_s"] if known.get("completion_time_s") else _MISSING
            values = {**known, "transfer_rate_bps": rate}
            for column, value in (dict.fromkeys(_OF_PACKETS, _MISSING) | values).items():
                flows[column][row] = value
    for row, name in enumerate(groups["group"]):
        if name in real:
            members = [place for place, group in enumerate(flows["group"]) if group == name]
            columns = ("size_bytes", "goodput_bps", "transfer_rate_bps", "completion_time_s")
            values = _of_group(*([flows[column][member] for member in members] for column in columns))
            for column, value in values.items():
                groups[column][row] = value
    laws = {group["group"]: kernel_name(group["controller"]) for group, *_ in reports}
    rows = [
        (*place, laws[place[0]], _began(sender), _failure(sender, receiver)) for place, (sender, receiver) in transfers.items()
    ]
    listed = {name: [row[index] for row in rows] for index, name in enumerate(_TRANSFER_COLUMNS)}
    flows |= playback_columns(flows, transfers)
    tables = {"flows": flows, "groups": groups, "transfers": listed}
    simulated = run.tables["messages"].to_dict() if "messages" in run.tables else {}
    messages = message_columns(simulated, transfers, run.simulated_s)
    if messages is not None:
        tables["messages"] = messages
    return {name: Table._of(name, {column: _alike(values) for column, values in table.items()}) for name, table in tables.items()}


def _of_transfer(ends: tuple[Mapping[str, Any], ...], measured_s: float) -> dict[str, float]:
    sender, receiver = ends
    received = receiver["measured"]["transferred"]
    ended = _MISSING if receiver["ended_s"] is None else receiver["ended_s"]
    return {
        "retransmitted_packets": sender["measured"]["retransmitted"],
        "timeouts": sender["measured"]["timeouts"],
        "delivered_bytes": received,
        "goodput_bps": received * 8 / measured_s if measured_s > 0 else _MISSING,
        "completion_time_s": ended - _began(sender),
    }


def _of_group(
    sizes: list[float], goodputs: list[float], transfer_rates: list[float], completion_times: list[float]
) -> dict[str, float]:
    done = sorted(time for time in completion_times if not math.isnan(time))
    nearest = {column: done[math.ceil(share * len(done)) - 1] if done else _MISSING for column, share in _RANKS.items()}
    are_finite = not any(math.isnan(size) for size in sizes)
    fairness = _jain([rate for rate in (transfer_rates if are_finite else goodputs) if not math.isnan(rate)])
    return {"goodput_bps": sum(goodputs), "fairness": fairness, "completed": len(done), **nearest}


def _jain(rates: list[float]) -> float:
    squares = sum(rate**2 for rate in rates)
    return sum(rates) ** 2 / (len(rates) * squares) if squares > 0 else _MISSING


def _began(sender: Mapping[str, Any]) -> float:
    return _MISSING if sender["began_s"] is None else sender["began_s"]


def _failure(sender: Mapping[str, Any], receiver: Mapping[str, Any]) -> str:
    failure = sender["failure"] or receiver["failure"]
    # A connection that follows another may not have been opened.
    is_opened = receiver.get("messages", {}).get("opened_s", 0.0) is not None
    return failure or ("" if receiver["began_s"] is not None or not is_opened else "the connection failed")


def _alike(values: list[Any]) -> list[Any]:
    """Convert all values to floats if one is a float, such as NaN."""
    return [float(value) for value in values] if any(isinstance(value, float) for value in values) else values
