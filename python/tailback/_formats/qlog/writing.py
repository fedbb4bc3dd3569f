"""A run as a qlog file, one trace per flow, as its sender would log it.

The format is qlog 0.3 as JSON (draft-ietf-quic-qlog-main-schema-02, draft-ietf-quic-qlog-quic-events-01), which qvis and the
crate `qlog` read. TCP has no packet numbers: every transmission of a flow gets the next one.
"""

from __future__ import annotations

import heapq
import json
from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any, TextIO

from tailback import _core
from tailback._formats.format import RecordedRun
from tailback._scenario.description import name_of
from tailback._tables.table import Table

__all__ = ["TRACES", "write"]

TRACES = ("packets", "cwnd", "ssthresh", "rtt", "in_flight", "state")
"""The traces that a qlog file contains. Only `packets` is required."""

Flow = tuple[str, int]
Event = tuple[float, str, dict[str, Any]]
"""Time in seconds, name, data."""

_RECEIVED = {"ack", "syn_ack"}
_ECN = {"capable": "ECT(0)", "reduced": "ECT(0)", "capable_echo": "ECT(0)", "l4s": "ECT(1)", "l4s_echo": "ECT(1)"}


def write(run: RecordedRun, file: Path) -> None:
    """Write the traces of a run, among which is `packets`."""
    run.trace("packets")
    scenario = run.scenario
    description = f"seed {run.seed}, content hash {run.content_hash}"
    head = {"qlog_version": "0.3", "qlog_format": "JSON", "title": name_of(scenario), "description": description}
    stacks = {name: flow["tcp"] for name, flow in scenario["flows"].items() if "stack" in flow.get("tcp", {})}
    # In bytes.
    mtus = {name: size[0] for name, tcp in stacks.items() if (size := _core.in_column_units(tcp["mtu"]))}
    with file.open("w", encoding="utf-8") as out:
        out.write(json.dumps(head)[:-1] + ', "traces": [')
        for place, (flow, is_tcp, events) in enumerate(_traces(run.tables, mtus)):
            out.write(",\n" if place else "\n")
            _write_trace(out, flow, is_tcp, events)
        out.write("\n]}\n")


def _write_trace(out: TextIO, flow: Flow, is_tcp: bool, events: Iterable[Event]) -> None:
    # The protocol of datagrams is that of their source.
    protocol = {"protocol_type": ["TCP"]} if is_tcp else {}
    trace = {
        "title": f"{flow[0]} {flow[1]}",
        "vantage_point": {"name": f"Tailback {_core.__version__}", "type": "server"},
        "common_fields": {"time_format": "relative", "reference_time": 0, **protocol},
    }
    out.write(json.dumps(trace)[:-1] + ', "events": [')
    for place, (time_s, name, data) in enumerate(events):
        out.write(",\n" if place else "\n")
        # Whole picoseconds, the resolution of simulated time.
        out.write(json.dumps({"time": round(time_s * 1e3, 9), "name": name, "data": data}, separators=(",", ":")))
    out.write("]}")


def _traces(traces: Mapping[str, Table], mtus: Mapping[str, float]) -> Iterator[tuple[Flow, bool, Iterator[Event]]]:
    """The flows with packets, in order, whether they are TCP, and the events of each, in order of time."""
    packets, *others = [(kind, _by_flow(traces[kind])) for kind in TRACES if kind in traces]
    for flow, rows in packets[1].items():
        # The windows of stacks are in packets of their MTU, and their RTTs are smoothed.
        mtu = mtus.get(flow[0])
        packet_bytes, rtt = (max(row["payload_bytes"] for row in rows), "latest_rtt") if mtu is None else (mtu, "smoothed_rtt")
        of_flow = {kind: traced.get(flow, []) for kind, traced in others}
        parts = (_Sender().events(rows), _metrics(of_flow, packet_bytes, rtt), _states(of_flow), _discards(rows))
        is_tcp = any(row["kind"] != "datagram" for row in rows)
        yield flow, is_tcp, heapq.merge(*parts, key=itemgetter(0))


def _by_flow(trace: Table) -> dict[Flow, list[dict[str, Any]]]:
    flows: dict[Flow, list[dict[str, Any]]] = {}
    for row in trace.to_rows():
        flows.setdefault((row["group"], row["flow"]), []).append(row)
    return flows


class _Sender:
    """The packets of one sender: the packet number of each transmission, and which are acknowledged."""

    def __init__(self) -> None:
        self.sent = 0
        self.received = 0
        # Transmissions of a segment that are neither acknowledged nor declared lost: number, and whether it was discarded.
        self.open: dict[int, list[tuple[int, bool]]] = {}
        self.segment_at: dict[int, int] = {}
        self.start_of: dict[int, int] = {}
        self.expected = 0
        self.largest_acked: int | None = None

    def events(self, rows: list[dict[str, Any]]) -> Iterator[Event]:
        for row in rows:
            yield from self._acknowledgement(row) if row["kind"] in _RECEIVED else self._transmission(row)

    def _transmission(self, row: dict[str, Any]) -> Iterator[Event]:
        segment, time_s = row["segment"], row["time_s"]
        packet_type = "initial" if row["kind"] == "syn" else "1RTT"
        number, self.sent = self.sent, self.sent + 1
        transmissions = self.open.setdefault(segment, [])
        if row["transmission"] > 1 and transmissions:
            # A sender retransmits what it considers lost: of its transmissions, the latest.
            lost, _ = transmissions[-1]
            yield time_s, "recovery:packet_lost", {"header": {"packet_type": packet_type, "packet_number": lost}}
        transmissions.append((number, bool(row["queue"])))
        self.segment_at[row["sequence_bytes"]], self.start_of[segment] = segment, row["sequence_bytes"]
        data: dict[str, Any] = {
            "header": {"packet_type": packet_type, "packet_number": number},
            "raw": {"length": row["bytes"], "payload_length": row["payload_bytes"]},
            "frames": _frames(row),
        }
        if row["ecn"] in _ECN:
            data["ecn"] = _ECN[row["ecn"]]
        yield time_s, "transport:packet_sent", data

    def _acknowledgement(self, row: dict[str, Any]) -> Iterator[Event]:
        number, self.received = self.received, self.received + 1
        acked = [self._acknowledged(segment) for segment in range(self.expected, row["segment"])]
        self.expected = max(self.expected, row["segment"])
        for block in row["sack_blocks"].split():
            first, _, end = block.partition("-")
            acked += [self._acknowledged(segment) for segment in self._segments(int(first), int(end))]
        new = sorted(number for number in acked if number is not None)
        if new:
            self.largest_acked = max(new[-1], self.largest_acked or 0)
        # A duplicate repeats the largest number, because an ACK frame has at least one range.
        ranges = _ranges(new) or ([] if self.largest_acked is None else [[self.largest_acked, self.largest_acked]])
        packet_type = "initial" if row["kind"] == "syn_ack" else "1RTT"
        frames = [{"frame_type": "ack", "acked_ranges": ranges}] if ranges else []
        header = {"packet_type": packet_type, "packet_number": number}
        yield row["time_s"], "transport:packet_received", {"header": header, "raw": {"length": row["bytes"]}, "frames": frames}

    def _acknowledged(self, segment: int) -> int | None:
        """The number of the transmission that is acknowledged: the first that was not discarded. None if it already was."""
        transmissions = self.open.pop(segment, [])
        return next((number for number, is_discarded in transmissions if not is_discarded), None)

    def _segments(self, first_byte: int, end_byte: int) -> Iterator[int]:
        segment = self.segment_at.get(first_byte)
        while segment is not None and self.start_of.get(segment, end_byte) < end_byte:
            yield segment
            segment += 1


def _discards(rows: list[dict[str, Any]]) -> list[Event]:
    """Discards by queues, which no sender could log, as messages."""
    sent = enumerate(row for row in rows if row["kind"] not in _RECEIVED)
    discards = [
        (row["dropped_s"], "generic:message", {"message": f"packet {number} discarded at {row['queue']}: {row['reason']}"})
        for number, row in sent
        if row["queue"]
    ]
    return sorted(discards, key=itemgetter(0))


def _frames(row: dict[str, Any]) -> list[dict[str, Any]]:
    if row["kind"] == "syn":
        return []
    if row["kind"] == "datagram":
        return [{"frame_type": "datagram", "length": row["payload_bytes"]}]
    return [{"frame_type": "stream", "stream_id": 0, "offset": row["sequence_bytes"], "length": row["payload_bytes"]}]


def _ranges(numbers: list[int]) -> list[list[int]]:
    """Sorted numbers as inclusive ranges."""
    ranges: list[list[int]] = []
    for number in numbers:
        if ranges and ranges[-1][1] == number - 1:
            ranges[-1][1] = number
        else:
            ranges.append([number, number])
    return ranges


def _metrics(traces: dict[str, list[dict[str, Any]]], packet_bytes: float, rtt: str) -> Iterator[Event]:
    """One event per time at which quantities of the sender change."""
    fields = (_metrics_of(kind, rows, packet_bytes, rtt) for kind, rows in traces.items() if kind != "state")
    for time_s, changes in groupby(heapq.merge(*fields, key=itemgetter(0)), key=itemgetter(0)):
        yield time_s, "recovery:metrics_updated", {name: value for _, metrics in changes for name, value in metrics.items()}


def _metrics_of(kind: str, rows: list[dict[str, Any]], packet_bytes: float, rtt: str) -> Iterator[tuple[float, dict[str, Any]]]:
    min_rtt_s = float("inf")
    for row in rows:
        match kind:
            case "cwnd":
                metrics: dict[str, Any] = {"congestion_window": _whole(row["cwnd_packets"] * packet_bytes)}
            case "ssthresh":
                # An unused threshold is infinite, which JSON cannot say.
                threshold = row["ssthresh_packets"]
                metrics = {"ssthresh": _whole(threshold * packet_bytes)} if threshold < float("inf") else {}
            case "rtt":
                min_rtt_s = min(min_rtt_s, row["rtt_s"])
                metrics = {rtt: round(row["rtt_s"] * 1e3, 9)}
                if rtt == "latest_rtt":
                    metrics["min_rtt"] = round(min_rtt_s * 1e3, 9)
            case _:
                packets = row["in_flight_packets"]
                metrics = {"bytes_in_flight": _whole(packets * packet_bytes), "packets_in_flight": packets}
        if metrics:
            yield row["time_s"], metrics


def _whole(size: float) -> int:
    """Whole bytes. A product of floats may be slightly below a whole number."""
    return int(size + 1e-6)


def _states(traces: dict[str, list[dict[str, Any]]]) -> Iterator[Event]:
    old: dict[str, str] = {}
    for row in traces.get("state", []):
        yield row["time_s"], "recovery:congestion_state_updated", {**old, "new": row["state"]}
        old = {"old": row["state"]}
