"""Reports of iperf3 (`iperf3 -J` and `--json-stream`): the transfers of one or more tests in a file, in the terms of captures."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tailback._formats.format import Format, Measured, Reader
from tailback._tables.table import Table

__all__ = ["FORMAT"]

# Columns, with the value that stands for a missing one.
_CONNECTION: dict[str, Any] = {
    "connection": 0,
    "direction": "",
    "protocol": "",
    "sender_address": "",
    "sender_port": 0,
    "receiver_address": "",
    "receiver_port": 0,
    "first_s": math.nan,
    "duration_s": math.nan,
    "payload_bytes": math.nan,
    "unique_payload_bytes": math.nan,
    "goodput_bps": math.nan,
    "retransmitted_packets": math.nan,
    "lost_packets": math.nan,
    "loss_rate": math.nan,
    "jitter_s": math.nan,
    "min_rtt_s": math.nan,
    "mean_rtt_s": math.nan,
    "max_rtt_s": math.nan,
    "max_cwnd_bytes": math.nan,
}
_INTERVAL: dict[str, Any] = {
    "time_s": math.nan,
    "connection": 0,
    "duration_s": math.nan,
    "omitted": 0,
    "payload_bytes": math.nan,
    "throughput_bps": math.nan,
    "retransmitted_packets": math.nan,
    "lost_packets": math.nan,
    "jitter_s": math.nan,
    "cwnd_bytes": math.nan,
    "rtt_s": math.nan,
}
_LOSS: dict[str, Any] = {"time_s": math.nan, "connection": 0}
_SKIPPED: dict[str, Any] = {"reason": "", "packets": 0}


def _is_iperf3(beginning: bytes, _name: str) -> bool:
    return beginning.lstrip().startswith(b"{") and b'"version":' in beginning and b'"iperf 3' in beginning


def _measured(path: Path, samples: bool, _progress: Callable[[float], None]) -> Measured:
    """Tables and notes.

    The tables are ``connections``, ``losses`` (empty, as a report has only numbers) and ``skipped``; with samples ``intervals``.

    Raises
    ------
    ValueError
        The text is not JSON, or a report lacks fields that all versions of iperf3 write.
    """
    connections: list[dict[str, Any]] = []
    intervals: list[dict[str, Any]] = []
    skipped: list[dict[str, Any]] = []
    notes: list[str] = []
    first_s: float | None = None
    for report in _reports(path.read_text(errors="replace")):
        if "error" in report.values and not _has_data(report):
            skipped.append({"reason": f"test that failed: {report.values['error']}", "packets": 1})
            continue
        began_s = report.object("start").object("timestamp").number("timesecs")
        first_s = began_s if first_s is None else first_s
        number = len(connections) // 2
        if "end" in report.values:
            rows = list(_connections(report, number, began_s - first_s))
            if "error" in report.values:
                notes.append(f"a test of {len(rows) // 2} connections ended early: {report.values['error']}")
                if not str(report.values["error"]).startswith("interrupt"):
                    # The end that the other has left reports the time and retransmissions of the interval before.
                    rows = [row | dict.fromkeys(("duration_s", "goodput_bps", "retransmitted_packets"), math.nan) for row in rows]
            connections += rows
            intervals += _intervals(report, number, began_s - first_s)
        else:
            skipped.append({"reason": "test without an end", "packets": 1})
    found = {
        "connections": Table._of_rows("connections", connections, _CONNECTION),
        "losses": Table._of_rows("losses", [], _LOSS),
        "skipped": Table._of_rows("skipped", skipped, _SKIPPED),
    }
    found |= {"intervals": Table._of_rows("intervals", intervals, _INTERVAL)} if samples else {}
    return Measured(found, notes=tuple(notes))


@dataclass(frozen=True)
class _Object:
    """An object of a report, with its path for messages."""

    values: dict[str, Any]
    at: str = ""

    def object(self, key: str) -> _Object:
        return _as_object(self._required(key), self._path(key))

    def objects(self, key: str) -> list[_Object]:
        found = self._required(key)
        if not isinstance(found, list):
            raise self._wrong(key, "a list")
        return [_as_object(each, f"{self._path(key)}[{place}]") for place, each in enumerate(found)]

    def number(self, key: str) -> float:
        """A required number."""
        self._required(key)
        return self.known(key)

    def known(self, key: str) -> float:
        """A number; NaN if it is missing."""
        value = self.values.get(key)
        if value is None:
            return math.nan
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            raise self._wrong(key, "a number")
        try:
            return float(value)
        except OverflowError:
            raise self._wrong(key, "a number below 1.8e308") from None

    def port(self, key: str) -> int:
        value = self._required(key)
        if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < 65536:
            raise self._wrong(key, "a port from 0 to 65535")
        return value

    def text(self, key: str) -> str:
        return str(self._required(key))

    def _required(self, key: str) -> Any:
        if key not in self.values:
            raise ValueError(f"not a complete report of iperf3: `{self._path(key)}` is missing")
        return self.values[key]

    def _wrong(self, key: str, expected: str) -> ValueError:
        given = json.dumps(self.values[key])
        shown = given if len(given) <= 40 else f"{given[:37]}..."
        return ValueError(f"not a report of iperf3: `{self._path(key)}` is {shown}; expected {expected}")

    def _path(self, key: str) -> str:
        return f"{self.at}.{key}" if self.at else key


def _has_data(report: _Object) -> bool:
    """Whether a report with an error has the data up to it, such as after Ctrl-C."""
    start, end = (report.values.get(key) for key in ("start", "end"))
    return isinstance(start, dict) and isinstance(end, dict) and bool(start.get("connected")) and bool(end.get("streams"))


def _as_object(value: Any, at: str) -> _Object:
    if not isinstance(value, dict):
        raise ValueError(f"not a report of iperf3: `{at or 'a document'}` is not an object")
    return _Object(value, at)


def _reports(text: str) -> Iterator[_Object]:
    """The tests of a file, which may have several; the events of `--json-stream` become one document per test."""
    streamed: dict[str, Any] = {}
    for document in _documents(text):
        if "event" not in document.values:
            yield document
            continue
        event = document.values["event"]
        # A test that is interrupted has an end after its error, others have none.
        if streamed and (event == "start" or (event == "error" and "error" in streamed)):
            yield _Object(streamed)
            streamed = {}
        if event == "interval":
            streamed.setdefault("intervals", []).append(document.values.get("data"))
        else:
            # Others, such as `server_output_text`, are not read.
            streamed[str(event)] = document.values.get("data")
        if event == "end":
            yield _Object(streamed)
            streamed = {}
    if streamed:
        yield _Object(streamed)


def _documents(text: str) -> Iterator[_Object]:
    decoder, place = json.JSONDecoder(), 0
    while place < len(text):
        if text[place].isspace():
            place += 1
            continue
        try:
            document, place = decoder.raw_decode(text, place)
        except (ValueError, RecursionError) as error:
            raise ValueError(f"not a report of iperf3: {error}") from None
        yield _as_object(document, "")


def _connections(report: _Object, first: int, start_s: float) -> Iterator[dict[str, Any]]:
    """Two rows per stream: its data, and the other direction, which a report does not measure."""
    start, end = report.object("start"), report.object("end")
    test = start.object("test_start")
    connected, streams = start.objects("connected"), end.objects("streams")
    if len(connected) != len(streams):
        counts = f"`start.connected` has {len(connected)} entries and `end.streams` {len(streams)}"
        raise ValueError(f"not a complete report of iperf3: {counts}")
    for number, (ends, stream) in enumerate(zip(connected, streams, strict=True)):
        is_udp = "udp" in stream.values
        sent = stream.object("udp" if is_udp else "sender")
        # Versions before 3.7 do not say which side sends.
        is_local = bool(sent.values.get("sender", not test.values.get("reverse")))
        local, remote = ((ends.text(f"{side}_host"), ends.port(f"{side}_port")) for side in ("local", "remote"))
        sender, receiver = (local, remote) if is_local else (remote, local)
        common = {
            "connection": first + number,
            "protocol": test.text("protocol").lower(),
            "first_s": start_s + sent.number("start"),
        }
        measured = (
            _datagrams(report, sent, ends, is_local, len(streams) == 1) if is_udp else _transfer(sent, stream.object("receiver"))
        )
        yield {
            **common,
            "direction": "forward",
            **_ends(sender, receiver),
            "duration_s": sent.number("seconds"),
            **measured,
        }
        yield {**common, "direction": "backward", **_ends(receiver, sender)}


def _transfer(sent: _Object, received: _Object) -> dict[str, Any]:
    """The columns of a TCP stream. The report of a server has 0 for what only the client knows, and conversely."""
    payload, unique = _unless_0(sent.number("bytes")), _unless_0(received.number("bytes"))
    return {
        "payload_bytes": payload,
        "unique_payload_bytes": unique,
        "goodput_bps": received.number("bits_per_second") if unique == unique else math.nan,
        "retransmitted_packets": sent.known("retransmits") if payload == payload else math.nan,
        "max_cwnd_bytes": _unless_0(sent.known("max_snd_cwnd")),
        **{f"{kind}_rtt_s": 1e-6 * _unless_0(sent.known(f"{kind}_rtt")) for kind in ("min", "mean", "max")},
    }


def _datagrams(report: _Object, stream: _Object, ends: _Object, is_sender: bool, is_only: bool) -> dict[str, Any]:
    """The columns of a UDP stream. A receiver has its bytes only in the intervals and in `sum_received`."""
    end = report.object("end")
    seconds, sent = stream.number("seconds"), _unless_0(stream.number("bytes"))
    if is_sender and "accepted_connection" in report.object("start").values:
        # The client sends its counts to the server after the server's report; the report has zeros instead.
        return {"payload_bytes": sent}
    losses = end.object("sum") if is_only and "sum" in end.values else stream
    lost, packets = losses.known("lost_packets"), losses.known("packets")
    if is_sender and not lost and "sum_received" in end.values and not end.object("sum_received").known("bytes"):
        # An interrupted client has not received the server's counts.
        return {"payload_bytes": sent}
    # The streams of a server have a `lost_percent` of 0.
    loss_rate = lost / packets if packets > 0 else losses.known("lost_percent") / 100
    if is_only and "sum_received" in end.values:
        received = end.object("sum_received")
        unique, seconds = received.known("bytes"), received.known("seconds")
    elif is_sender:
        unique = sent * (1 - loss_rate)
    else:
        unique = sum(
            each.known("bytes")
            for each in _streams(report)
            if each.values.get("socket") == ends.values.get("socket") and not each.values.get("omitted")
        )
    unique = _unless_0(float(round(unique)) if math.isfinite(unique) else unique)
    return {
        "payload_bytes": sent if is_sender else math.nan,
        "unique_payload_bytes": unique,
        "goodput_bps": 8 * unique / seconds if seconds > 0 else math.nan,
        "lost_packets": lost,
        "loss_rate": loss_rate,
        "jitter_s": 1e-3 * stream.known("jitter_ms"),
    }


def _ends(sender: tuple[str, int], receiver: tuple[str, int]) -> dict[str, Any]:
    return {
        "sender_address": sender[0],
        "sender_port": sender[1],
        "receiver_address": receiver[0],
        "receiver_port": receiver[1],
    }


def _streams(report: _Object) -> Iterator[_Object]:
    """The streams of all intervals."""
    for interval in report.objects("intervals") if "intervals" in report.values else []:
        yield from interval.objects("streams")


def _intervals(report: _Object, first: int, start_s: float) -> Iterator[dict[str, Any]]:
    connected = report.object("start").objects("connected")
    numbers = {ends.text("socket"): first + number for number, ends in enumerate(connected)}
    for stream in _streams(report):
        if stream.text("socket") not in numbers:
            raise ValueError(f"not a report of iperf3: `{stream.at}.socket` is not in `start.connected`")
        yield {
            "time_s": start_s + stream.number("start"),
            "connection": numbers[stream.text("socket")],
            "duration_s": stream.number("seconds"),
            "omitted": int(bool(stream.values.get("omitted"))),
            "payload_bytes": stream.number("bytes"),
            "throughput_bps": stream.number("bits_per_second"),
            "retransmitted_packets": stream.known("retransmits"),
            "lost_packets": stream.known("lost_packets"),
            "jitter_s": 1e-3 * stream.known("jitter_ms"),
            "cwnd_bytes": _unless_0(stream.known("snd_cwnd")),
            "rtt_s": 1e-6 * _unless_0(stream.known("rtt")),
        }


def _unless_0(value: float) -> float:
    """Missing where iperf3 writes 0 for what it does not know."""
    return value or math.nan


FORMAT = Format("iperf3", Reader("reports of `iperf3 -J` or `--json-stream`", _is_iperf3, _measured))
