"""The tables of a qlog file: the same quantities as of a capture, as the logging endpoint saw them."""

from __future__ import annotations

import json
import math
from bisect import bisect_left, bisect_right, insort
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from tailback._formats.qlog.events import Event, Log, as_object
from tailback._formats.qlog.outstanding import Outstanding, Payload, SentPacket
from tailback._tables.table import Table
from tailback._tables.text import quantity

__all__ = ["tables"]

Packet = tuple[str, int]
"""Packet number space and number (RFC 9000 section 12.3)."""

_MAX_PACKET = 2**32
"""Sizes of packets and frames are below, in bytes; the packets of simulated runs may exceed an IP packet."""

_SPACES = {"initial": "initial", "handshake": "handshake"}
_METRICS = {
    "congestion_window": "congestion_window_bytes",
    "cwnd": "congestion_window_bytes",
    "ssthresh": "ssthresh_bytes",
    "bytes_in_flight": "bytes_in_flight",
    "latest_rtt": "latest_rtt_s",
    "smoothed_rtt": "smoothed_rtt_s",
    "rtt_variance": "rtt_variance_s",
    "min_rtt": "min_rtt_s",
    "pacing_rate": "pacing_rate_bps",
}
"""Fields of ``metrics_updated``, and their columns."""
_RTTS = ("latest_rtt_s", "smoothed_rtt_s", "rtt_variance_s", "min_rtt_s")
_SHOWN = {"congestion_window_bytes": "windows in bytes", "smoothed_rtt_s": "smoothed RTTs", "min_rtt_s": "minimum RTTs"}
"""Columns of metrics that a summary shows if a log has no packets."""
_UNSET = 2**62
"""Implementations write their largest integer for a threshold that is not set; QUIC's are smaller (RFC 9000 section 16)."""
_SECONDS = (200.0, 1010.0)
"""Round trips that packets show, over those of metrics, between which the metrics are in seconds instead of milliseconds."""


def tables(log: Log, *, samples: bool) -> dict[str, Table]:
    """Tables ``connections``, ``losses`` and ``skipped``; with samples ``rtt``, ``in_flight`` and ``metrics``.

    What limits the measurements is added to the notes of the log.
    """
    first_s = min((event.time_s for event in log.events), default=0.0)
    half_open = _half_open(log.events)
    connections: dict[str, _Connection] = {}
    skipped: dict[str, int] = {}
    for event in log.events:
        if event.trace not in connections:
            connections[event.trace] = _Connection(len(connections), event, first_s, event.trace in half_open)
        if not connections[event.trace].take(event):
            skipped[event.name] = skipped.get(event.name, 0) + 1
    every = list(connections.values())
    # A file has one writer.
    unit = 1000.0 if any(connection.is_in_seconds() for connection in every) else 1.0
    if unit > 1:
        log.notes.append("the round trips of metrics are in seconds, not in milliseconds, as the times of packets show")
    for connection in every:
        connection.end(unit)
    for note in sorted({note for connection in every for note in connection.notes()}):
        log.notes.append(note)
    found = {
        "connections": Table._of_rows("connections", [row for one in every for row in one.rows()], _CONNECTION),
        "losses": Table._of_rows("losses", [loss.row(one) for one in every for loss in one.losses.values()], _LOSS),
        "skipped": Table._of_rows(
            "skipped", [{"reason": f"events {name}", "packets": n} for name, n in sorted(skipped.items())], _SKIPPED
        ),
    }
    if samples:
        found["rtt"] = Table._of_rows("rtt", [row for one in every for row in one.rtts], _RTT)
        changes = [row for one in every if one.has_acks() for row in one.in_flight.changes]
        found["in_flight"] = Table._of_rows("in_flight", changes, _IN_FLIGHT)
        found["metrics"] = Table._of_rows("metrics", [row for one in every for row in one.metrics], _METRIC)
    return found


def _half_open(events: list[Event]) -> set[str]:
    """Traces whose ACKs report packets that were not sent yet: their ranges end behind the last packet (noq 1.4.0)."""
    largest: dict[tuple[str, str], int] = {}
    found = set()
    for event in events:
        if event.name == "packet_sent" and (packet := _packet(event.data)):
            key = (event.trace, packet[0])
            largest[key] = max(largest.get(key, -1), packet[1])
        elif event.name == "packet_received" and event.trace not in found:
            for frame in _frames(event.data):
                if frame["frame_type"] in _ACKS and (ranges := _acked(frame)):
                    sent = largest.get((event.trace, _acked_space(event.data, frame)))
                    if sent is not None and max(last for _, last in ranges) > sent:
                        found.add(event.trace)
    return found


@dataclass
class _Ranges:
    """Bytes of a stream, as sorted ranges that do not touch."""

    starts: list[int] = field(default_factory=list)
    ends: list[int] = field(default_factory=list)

    def add(self, start: int, end: int) -> int:
        """Add a range. Returns how many of its bytes are new."""
        left, right = bisect_left(self.ends, start), bisect_right(self.starts, end)
        known = sum(max(0, min(end, self.ends[place]) - max(start, self.starts[place])) for place in range(left, right))
        first, last = (min(start, self.starts[left]), max(end, self.ends[right - 1])) if left < right else (start, end)
        self.starts[left:right], self.ends[left:right] = [first], [last]
        return end - start - known


@dataclass
class _Loss:
    packet: Packet
    sent_s: float
    payload: list[Payload]
    repair: str
    repaired_s: float = math.nan
    evidence: str = "recorded"

    def row(self, connection: _Connection) -> dict[str, Any]:
        return {
            "sent_s": self.sent_s - connection.origin_s,
            "connection": connection.number,
            "direction": "forward",
            "packet_number": self.packet[1],
            "payload_bytes": sum(end - start for _, start, end in self.payload),
            "evidence": self.evidence,
            "repair": self.repair if not math.isnan(self.repaired_s) else "none" if connection.sent.has_contents else "unknown",
            "repaired_s": self.repaired_s - connection.origin_s,
        }


class _Direction:
    """Counts of the packets in one direction."""

    def __init__(self) -> None:
        self.streams: dict[Any, _Ranges] = {}
        self.times: list[float] = []
        self.has_contents = self.has_numbers = self.has_sizes = False
        # The fields of frames of data in which no length was found.
        self.unread: set[str] = set()
        self.counts = dict.fromkeys(
            ("packets", "data_packets", "payload_bytes", "unique_payload_bytes", "max_payload_bytes", "retransmitted_packets",
             "retransmitted_bytes", "acks", "ect_packets", "ce_packets"), 0
        )  # fmt: skip

    def known(self, name: str) -> float:
        """A count of frames, which is missing if packets have none."""
        is_missing = self.counts["packets"] and not self.has_contents
        return math.nan if is_missing else self.counts[name]

    def packet(self, time_s: float, data: dict[str, Any]) -> list[Payload]:
        """Count a packet. Returns its stream data."""
        counts, payload = self.counts, []
        # Events may be out of order.
        self.times = [min([time_s, *self.times]), max([time_s, *self.times])]
        # A packet has at least one frame; some writers have an empty list in each.
        self.has_contents |= bool(_frames(data))
        self.has_numbers |= _packet(data) is not None
        self.has_sizes |= _size(data) > 0
        counts["packets"] += 1
        counts["ect_packets"] += str(data.get("ecn", "")).startswith("ECT")
        counts["ce_packets"] += data.get("ecn") == "CE"
        new = 0
        for frame in _frames(data):
            kind = frame.get("frame_type")
            counts["acks"] += kind in _ACKS
            length = _length(frame)
            if kind in {"stream", "crypto", "datagram"} and length is None:
                self.unread |= set(frame)
            elif kind in {"stream", "crypto", "datagram"} and length:
                # Each packet number space has its own CRYPTO stream (RFC 9000 section 7).
                stream = (str(kind), str(frame.get("stream_id", frame.get("id", _space(data)))))
                offset = _whole(frame.get("offset")) or 0
                payload.append((stream, offset, offset + length))
                new += length if kind == "datagram" else self.streams.setdefault(stream, _Ranges()).add(offset, offset + length)
        total = sum(end - start for _, start, end in payload)
        counts["data_packets"] += total > 0
        counts["payload_bytes"] += total
        counts["unique_payload_bytes"] += new
        counts["max_payload_bytes"] = max(counts["max_payload_bytes"], total)
        counts["retransmitted_packets"] += new < total
        counts["retransmitted_bytes"] += total - new
        return payload


class _InFlight:
    """Bytes sent and neither acknowledged nor declared lost."""

    def __init__(self, connection: int) -> None:
        self.connection = connection
        self.bytes = self.packets = self.max_bytes = self.max_packets = 0
        self.byte_seconds = 0.0
        self.first_s = self.last_s = math.nan
        self.changes: list[dict[str, Any]] = []

    def change(self, time_s: float, origin_s: float, size: int, packets: int) -> None:
        """`size` and `packets`: what is sent, or negative what left."""
        if math.isnan(self.first_s):
            self.first_s = self.last_s = time_s
        self.byte_seconds += self.bytes * (time_s - self.last_s)
        self.last_s = time_s
        self.bytes, self.packets = self.bytes + size, self.packets + packets
        self.max_bytes, self.max_packets = max(self.max_bytes, self.bytes), max(self.max_packets, self.packets)
        self.changes.append({
            "time_s": time_s - origin_s, "connection": self.connection, "direction": "forward",
            "in_flight_bytes": self.bytes, "in_flight_packets": self.packets,
        })  # fmt: skip

    def mean_bytes(self) -> float:
        elapsed = self.last_s - self.first_s
        return self.byte_seconds / elapsed if elapsed > 0 else math.nan


class _Connection:
    """One connection at the endpoint that logged it."""

    def __init__(self, number: int, first: Event, origin_s: float, is_half_open: bool) -> None:
        self.number, self.title, self.vantage, self.origin_s = number, first.trace, first.vantage, origin_s
        self.is_half_open = is_half_open
        # The marks of the peer's ACK frames, and quiche's count of lost packets.
        self.marks = {"ect_packets": 0, "ce_packets": 0}
        self.counted_losses: int | None = None
        self.sent, self.received = _Direction(), _Direction()
        self.in_flight = _InFlight(number)
        self.outstanding: dict[str, Outstanding] = {}
        # When packets without frames were sent: whether they are in flight is not known.
        self.without_frames: dict[Packet, float] = {}
        self.last_sent_s = self.latest_rtt_s = math.nan
        # The time since a packet was sent, over a new round trip of the metrics: at most 1, if both are in the same unit.
        self.waits: list[float] = []
        self.losses: dict[Packet, _Loss] = {}
        # The numbers of lost packets that no acknowledgement has refuted, sorted.
        self.lost: dict[str, list[int]] = {}
        # The lost data of each stream that were not sent again, sorted: first byte, end, packet; and the longest length.
        self.unrepaired: dict[tuple[str, str], list[tuple[int, int, Packet]]] = {}
        self.longest = 0
        self.rtts: list[dict[str, Any]] = []
        self.metrics: list[dict[str, Any]] = []
        self.unread_metrics: set[str] = set()
        self.datagrams = 0

    def take(self, event: Event) -> bool:
        """Measure an event. Returns false for events of other kinds."""
        match event.name:
            case "packet_sent":
                self._on_sent(event)
            case "packet_received":
                self._on_received(event)
            case "packet_lost":
                self._on_lost(event)
            case "key_discarded" | "key_retired":
                self._discard(event, next((space for space in _SPACES if space in str(event.data.get("key_type"))), ""))
            case "metrics_updated" | "metric_update" | "recovery_metrics_updated":
                self._on_metrics(event)
            case "datagrams_received" | "datagram_received":
                self.datagrams += 1
                return False
            case _:
                return False
        return True

    def _on_sent(self, event: Event) -> None:
        payload = self.sent.packet(event.time_s, event.data)
        for stream, start, end in payload:
            self._repair(event.time_s, self.unrepaired.get(stream, []), start, end)
        if self.vantage == "client" and _space(event.data) == "handshake":
            self._discard(event, "initial")
        packet = _packet(event.data)
        # ACK, PADDING and CONNECTION_CLOSE frames do not elicit acknowledgements and are not in flight (RFC 9002 section 2).
        elicits = any(frame.get("frame_type") not in {"ack", "padding", "connection_close"} for frame in _frames(event.data))
        self.last_sent_s = event.time_s
        if packet is not None and elicits:
            size = _size(event.data)
            self.outstanding.setdefault(packet[0], Outstanding()).add(packet[1], SentPacket(event.time_s, size, payload))
            self.in_flight.change(event.time_s, self.origin_s, size, 1)
        elif packet is not None and not _frames(event.data):
            self.without_frames[packet] = event.time_s

    def _repair(self, time_s: float, unrepaired: list[tuple[int, int, Packet]], start: int, end: int) -> None:
        """Data that are sent repair the losses with which they overlap."""
        first, last = bisect_left(unrepaired, (start - self.longest,)), bisect_left(unrepaired, (end,))
        for _, _, packet in (repaired := [one for one in unrepaired[first:last] if one[1] > start]):
            self.losses[packet].repaired_s = time_s
        if repaired:
            unrepaired[first:last] = [one for one in unrepaired[first:last] if one[1] <= start]

    def _discard(self, event: Event, space: str) -> None:
        """With the keys of a space its packets leave the flight (RFC 9002 section 6.4)."""
        left = self.outstanding.pop(space, Outstanding()).packets
        if left:
            self.in_flight.change(event.time_s, self.origin_s, -sum(sent.size for sent in left.values()), -len(left))

    def _on_received(self, event: Event) -> None:
        self.received.packet(event.time_s, event.data)
        if self.vantage == "server" and _space(event.data) == "handshake":
            self._discard(event, "initial")
        for frame in _frames(event.data):
            if frame["frame_type"] in _ACKS:
                ranges = _acked(frame)
                if self.is_half_open:
                    ranges = [(first, last - 1) for first, last in ranges if last > first]
                self._on_ack(event.time_s, _acked_space(event.data, frame), ranges)
                seen = {"ect_packets": (_whole(frame.get("ect0")) or 0) + (_whole(frame.get("ect1")) or 0)}
                seen["ce_packets"] = _whole(frame.get("ce")) or 0
                self.marks = {name: max(count, seen[name]) for name, count in self.marks.items()}

    def _on_ack(self, time_s: float, space: str, ranges: list[tuple[int, int]]) -> None:
        outstanding, lost = self.outstanding.get(space, Outstanding()), self.lost.get(space, [])
        largest = max((last for _, last in ranges), default=-1)
        for first, last in ranges:
            for number, sent in outstanding.take(first, last):
                self.in_flight.change(time_s, self.origin_s, -sent.size, -1)
                # RFC 9002 section 5.1: a sample is of the largest acknowledged packet, if newly acknowledged.
                if number == largest:
                    sample = {"connection": self.number, "direction": "forward", "rtt_s": time_s - sent.time_s}
                    self.rtts.append({"time_s": time_s - self.origin_s, **sample})
            refuted = slice(bisect_left(lost, first), bisect_right(lost, last))
            for number in lost[refuted]:
                self.losses[space, number].evidence = "refuted"
            del lost[refuted]

    def _on_lost(self, event: Event) -> None:
        packet = _packet(event.data)
        if packet is None or packet in self.losses:
            return
        taken = self.outstanding.get(packet[0], Outstanding()).take(packet[1], packet[1])
        sent = taken[0][1] if taken else SentPacket(self.without_frames.get(packet, math.nan), 0, [])
        if taken:
            self.in_flight.change(event.time_s, self.origin_s, -sent.size, -1)
        repair = "timeout" if "pto" in str(event.data.get("trigger", "")) else "fast"
        self.losses[packet] = _Loss(packet, sent.time_s, sent.payload, repair)
        for stream, start, end in sent.payload:
            # DATAGRAM frames are never sent again (RFC 9221 section 5.2).
            if stream[0] != "datagram":
                self.longest = max(self.longest, end - start)
                insort(self.unrepaired.setdefault(stream, []), (start, end, packet))
        insort(self.lost.setdefault(packet[0], []), packet[1])

    def _on_metrics(self, event: Event) -> None:
        row: dict[str, Any] = {"time_s": event.time_s - self.origin_s, "connection": self.number}
        # A number, or as in netty 4.2.18 its total and its change.
        counted = event.data.get("cf_lost_packets")
        lost = _whole(counted.get("total") if isinstance(counted, dict) else counted)
        if lost is not None:
            self.counted_losses = max(lost, self.counted_losses or 0)
        for key, column in _METRICS.items():
            value = event.data.get(key)
            if isinstance(value, int | float) and not isinstance(value, bool) and value < _UNSET:
                row[column] = value * (event.rtt_unit_s if column in _RTTS else 1)
        if not _METRICS.keys() & event.data.keys():
            self.unread_metrics |= set(event.data)
        latest_s = row.get("latest_rtt_s", 0)
        if latest_s > 0 and latest_s != self.latest_rtt_s and event.time_s > self.last_sent_s:
            self.waits.append((event.time_s - self.last_sent_s) / latest_s)
        self.latest_rtt_s = latest_s or self.latest_rtt_s
        self.metrics.append(row)

    def is_in_seconds(self) -> bool:
        """Whether the metrics have round trips in seconds, by the acknowledgements of packets or, without frames, by their times.

        An acknowledged packet was sent before the last one, so that no round trip is shorter than the time since then.
        """
        said = sorted(row["latest_rtt_s"] for row in self.metrics if row.get("latest_rtt_s", 0) > 0)
        shown = sorted(row["rtt_s"] for row in self.rtts)
        least, most = _SECONDS
        if said and shown:
            return bool(shown[len(shown) // 2] > least * said[len(said) // 2])
        return least < max(self.waits, default=0) < most

    def end(self, rtt_unit: float) -> None:
        """Corrects the units of metrics."""
        if self.counted_losses is not None:
            for row in self.metrics:
                # quiche writes bytes per second.
                row["pacing_rate_bps"] = 8 * row.get("pacing_rate_bps", math.nan)
        for row in self.metrics:
            row |= {column: rtt_unit * row[column] for column in _RTTS if column in row}

    def notes(self) -> Iterator[str]:
        """What limits the measurements."""
        if self.is_half_open:
            yield f"{self.title}: ACKs report packets that were not sent; their ranges are read without the last packet"
        if self.counted_losses is not None:
            yield f"{self.title}: lost packets are counted and not named, so that data in flight are not known"
        directions = [each for each in (self.sent, self.received) if each.counts["packets"]]
        if self.unread_metrics and not any(column in row for row in self.metrics for column in _METRICS.values()):
            yield f"{self.title}: metrics have no field that is read ({', '.join(_METRICS)}), only {_listed(self.unread_metrics)}"
        if not self.metrics and not directions:
            yield f"{self.title}: a log without packets and metrics"
        if self.datagrams > 2 * (logged := self.received.counts["packets"]):
            yield f"{self.title}: {self.datagrams:,} datagrams were received, and {logged:,} packets of them are in the log"
        if unread := self.sent.unread | self.received.unread:
            yield f"{self.title}: frames of data without a known length are not counted; their fields are {_listed(unread)}"
        if directions and not any(each.has_sizes for each in directions):
            yield f"{self.title}: packets have no size, so that bytes in flight are not known"
        if self.metrics and not any(each.has_contents for each in directions):
            missing = "contents of packets" if directions else "packets"
            yield f"{self.title}: a log without {missing}; its {len(self.metrics)} metrics have {self._ranges()}"
        if directions and not any(each.has_contents for each in directions):
            yield f"{self.title}: packets have no frames, so that payload, losses and retransmissions are not known"
        elif directions and not any(each.has_numbers for each in directions):
            yield f"{self.title}: packets have no numbers, so that losses and round trips are not known"

    def _ranges(self) -> str:
        """Minimum, median and maximum of the logged windows and round trips."""
        found = []
        for column, name in _SHOWN.items():
            values = sorted(row[column] for row in self.metrics if column in row)
            if values:
                shown = (quantity(column, value) for value in (values[0], values[len(values) // 2], values[-1]))
                found.append(f"{name} (minimum, median, maximum) {', '.join(shown)}")
        return "; ".join(found) or "neither windows nor round trips"

    def has_acks(self) -> bool:
        """Without them, nothing ever leaves the data in flight."""
        return self.received.counts["acks"] > 0

    def rows(self) -> Iterator[dict[str, Any]]:
        """The two directions: sent and received by the logging endpoint."""
        peer = {"client": "server", "server": "client"}.get(self.vantage, "peer")
        rtts = sorted(row["rtt_s"] for row in self.rtts)
        measured: dict[str, Any] = {
            "lost_packets": len(self.losses) if self.counted_losses is None else self.counted_losses,
            "spurious_losses": sum(loss.evidence == "refuted" for loss in self.losses.values()),
            "rtt_samples": len(rtts),
            **({"min_rtt_s": rtts[0], "mean_rtt_s": sum(rtts) / len(rtts), "max_rtt_s": rtts[-1]} if rtts else {}),
            **{f"rtt_p{share}_s": rtts[math.ceil(share / 100 * len(rtts)) - 1] for share in (50, 95, 99) if rtts},
            "mean_in_flight_bytes": self.in_flight.mean_bytes(),
            "max_in_flight_bytes": self.in_flight.max_bytes,
            "max_in_flight_packets": self.in_flight.max_packets,
        }
        # A log without packets of the other direction and without losses says nothing about the fate of what was sent: that of a
        # flow of datagrams, or of a stack, whose contents are unknown, too.
        unknown: set[str] = set()
        if not self.has_acks() or self.counted_losses is not None:
            unknown |= _ACKNOWLEDGED
        if self.counted_losses is not None:
            unknown.add("spurious_losses")
        if not (self.sent.has_numbers and self.sent.has_contents):
            unknown |= _ACKNOWLEDGED | ({"spurious_losses"} if self.losses else _LOST)
        if not self.sent.has_contents:
            unknown |= _REPEATED
        if not self.sent.has_sizes:
            unknown |= _SIZES
        if not (self.received.counts["packets"] or self.losses):
            unknown |= _LOST if self.sent.streams else _LOST | _REPEATED
        # ACKs are counted in the row of the data that they acknowledge.
        acks = {"forward": self.received.known("acks"), "backward": self.sent.known("acks")}
        for name, direction, ends in (
            ("forward", self.sent, (self.vantage, peer)),
            ("backward", self.received, (peer, self.vantage)),
        ):
            row: dict[str, Any] = {"connection": self.number, "direction": name, "interface": self.title}
            row |= {"sender_address": ends[0], "receiver_address": ends[1]} | direction.counts | {"acks": acks[name]}
            if direction.times:
                first_s, last_s = direction.times
                elapsed = last_s - first_s
                row |= {"first_s": first_s - self.origin_s, "last_s": last_s - self.origin_s, "duration_s": elapsed}
                if elapsed > 0:
                    row["throughput_bps"] = row["payload_bytes"] * 8 / elapsed
                    row["goodput_bps"] = row["unique_payload_bytes"] * 8 / elapsed
            if direction.counts["packets"] and not direction.has_contents:
                row |= dict.fromkeys(_CONTENTS, math.nan)
            if name == "forward":
                marks = {name: max(count, row[name]) for name, count in self.marks.items()}
                row |= measured | marks | dict.fromkeys(unknown, math.nan)
            yield row


_NAN = math.nan
_SIZES = {"mean_in_flight_bytes", "max_in_flight_bytes"}
_ACKNOWLEDGED = _SIZES | {"max_in_flight_packets"}
_LOST = {"lost_packets", "spurious_losses"}
_CONTENTS = (
    "data_packets", "payload_bytes", "unique_payload_bytes", "max_payload_bytes", "throughput_bps", "goodput_bps",
    "retransmitted_packets", "retransmitted_bytes",
)  # fmt: skip
_REPEATED = {"retransmitted_packets", "retransmitted_bytes", "unique_payload_bytes", "goodput_bps"}
_CONNECTION: dict[str, Any] = {
    "connection": 0, "direction": "", "interface": "", "sender_address": "", "receiver_address": "", "first_s": _NAN,
    "last_s": _NAN, "duration_s": _NAN, "packets": 0, "data_packets": _NAN, "payload_bytes": _NAN, "unique_payload_bytes": _NAN,
    "throughput_bps": _NAN, "goodput_bps": _NAN, "max_payload_bytes": _NAN, "retransmitted_packets": _NAN,
    "retransmitted_bytes": _NAN, "lost_packets": _NAN, "spurious_losses": _NAN, "rtt_samples": 0, "min_rtt_s": _NAN,
    "mean_rtt_s": _NAN, "rtt_p50_s": _NAN, "rtt_p95_s": _NAN, "rtt_p99_s": _NAN, "max_rtt_s": _NAN,
    "mean_in_flight_bytes": _NAN, "max_in_flight_bytes": _NAN, "max_in_flight_packets": _NAN, "acks": _NAN, "ect_packets": 0,
    "ce_packets": 0,
}  # fmt: skip
_LOSS = {
    "sent_s": _NAN, "connection": 0, "direction": "", "packet_number": 0, "payload_bytes": 0, "evidence": "", "repair": "",
    "repaired_s": _NAN,
}  # fmt: skip
_SKIPPED = {"reason": "", "packets": 0}
_RTT = {"time_s": _NAN, "connection": 0, "direction": "", "rtt_s": _NAN}
_IN_FLIGHT = {"time_s": _NAN, "connection": 0, "direction": "", "in_flight_bytes": 0, "in_flight_packets": 0}
_METRIC = {"time_s": _NAN, "connection": 0} | dict.fromkeys(_METRICS.values(), _NAN)


def _listed(fields: set[str]) -> str:
    """The first of the names of fields of a file."""
    return json.dumps(sorted(fields)[:8])[1:-1][:200]


def _frames(data: dict[str, Any]) -> list[dict[str, Any]]:
    frames = data.get("frames")
    if not isinstance(frames, list):
        return []
    return [{**frame, "frame_type": str(frame.get("frame_type"))} for frame in frames if isinstance(frame, dict)]


_ACKS = {"ack", "path_ack"}


def _length(frame: dict[str, Any]) -> int | None:
    """Payload of a frame; writers disagree on its field, and some give that of the whole frame as well."""
    raw = as_object(frame.get("raw"))
    given = (raw.get("payload_length"), frame.get("length"), raw.get("length"))
    return _whole(next((length for length in given if length is not None), None), _MAX_PACKET)


def _space(data: dict[str, Any]) -> str:
    """The packet number space; with multipath QUIC each path has its own."""
    header = as_object(data.get("header"))
    kind = header.get("packet_type", data.get("packet_type", data.get("type")))
    space = _SPACES.get(str(kind).lower(), "application")
    return _of_path(space, header.get("path_id"))


def _acked_space(data: dict[str, Any], frame: dict[str, Any]) -> str:
    """The space of the packets that an ACK frame reports."""
    return _of_path("application", frame.get("path_id")) if frame["frame_type"] == "path_ack" else _space(data)


def _of_path(space: str, path: Any) -> str:
    return space if path in (None, 0) else f"{space} of path {path}"


def _packet(data: dict[str, Any]) -> Packet | None:
    number = _whole(as_object(data.get("header")).get("packet_number", data.get("packet_number")))
    return None if number is None else (_space(data), number)


def _size(data: dict[str, Any]) -> int:
    header = as_object(data.get("header"))
    sizes = (as_object(data.get("raw")).get("length"), header.get("packet_size"), data.get("packet_size"), header.get("length"))
    return _whole(next((size for size in sizes if size is not None), None), _MAX_PACKET) or 0


def _acked(frame: dict[str, Any]) -> list[tuple[int, int]]:
    """Ranges as pairs, as single numbers, or as text, depending on the draft."""
    ranges = []
    listed = frame.get("acked_ranges")
    for one in listed if isinstance(listed, list) else ():
        parts = one.split("-") if isinstance(one, str) else one if isinstance(one, list) else [one]
        ends = [end for end in map(_whole, parts) if end is not None]
        if ends:
            ranges.append((min(ends), max(ends)))
    return ranges


def _whole(value: Any, limit: int = 2**62) -> int | None:
    """A number, which some implementations write as text; None if it is not below the limit, by default QUIC's of integers
    (RFC 9000 section 16)."""
    try:
        number = -1 if isinstance(value, bool) else int(value)
    except (TypeError, ValueError, OverflowError):
        return None
    return number if 0 <= number < limit else None
