"""Reports of iperf3 (`iperf3 -J`): the transfers of one or more tests in a file, in the terms of captures."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from typing import Any

from tailback._table import Table

__all__ = ["is_iperf3", "tables"]

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
    "payload_bytes": 0,
    "unique_payload_bytes": 0,
    "goodput_bps": math.nan,
    "retransmitted_packets": 0,
    "lost_packets": 0,
    "loss_rate": math.nan,
    "jitter_s": math.nan,
    "min_rtt_s": math.nan,
    "mean_rtt_s": math.nan,
    "max_rtt_s": math.nan,
    "max_cwnd_bytes": 0,
}
_INTERVAL: dict[str, Any] = {
    "time_s": math.nan,
    "connection": 0,
    "duration_s": math.nan,
    "payload_bytes": 0,
    "throughput_bps": math.nan,
    "retransmitted_packets": 0,
    "cwnd_bytes": 0,
    "rtt_s": math.nan,
}
_LOSS: dict[str, Any] = {"time_s": math.nan, "connection": 0}
_SKIPPED: dict[str, Any] = {"reason": "", "packets": 0}


def is_iperf3(beginning: bytes) -> bool:
    """Whether a file that begins so is a report of iperf3."""
    return beginning.lstrip().startswith(b"{") and b'"version":' in beginning and b'"iperf 3' in beginning


def tables(text: str, *, samples: bool) -> dict[str, Table]:
    """Tables ``connections``, ``losses`` (empty: a report has only their numbers) and ``skipped``; with samples ``intervals``.

    Raises
    ------
    ValueError
        The text is not JSON, or a report lacks fields that all versions of iperf3 write.
    """
    connections: list[dict[str, Any]] = []
    intervals: list[dict[str, Any]] = []
    skipped: list[dict[str, Any]] = []
    first_s: float | None = None
    try:
        for report in _reports(text):
            if "error" in report:
                skipped.append({"reason": f"test that failed: {report['error']}", "packets": 1})
                continue
            began_s = float(report["start"]["timestamp"]["timesecs"])
            first_s = began_s if first_s is None else first_s
            number = len(connections) // 2
            connections += _connections(report, number, began_s - first_s)
            intervals += _intervals(report, number, began_s - first_s)
    except (KeyError, TypeError, IndexError) as error:
        raise ValueError(f"not a complete report of iperf3: {error!r}") from None
    found = {
        "connections": Table._of_rows("connections", connections, _CONNECTION),
        "losses": Table._of_rows("losses", [], _LOSS),
        "skipped": Table._of_rows("skipped", skipped, _SKIPPED),
    }
    return found | ({"intervals": Table._of_rows("intervals", intervals, _INTERVAL)} if samples else {})


def _reports(text: str) -> Iterator[dict[str, Any]]:
    """The documents of a file, which may have several one after the other."""
    decoder, place = json.JSONDecoder(), 0
    while (text := text[place:].lstrip()) != "":
        try:
            report, place = decoder.raw_decode(text)
        except json.JSONDecodeError as error:
            raise ValueError(f"not a report of iperf3: {error}") from None
        if not isinstance(report, dict):
            raise ValueError("not a report of iperf3: a document is not a table")
        yield report


def _connections(report: dict[str, Any], first: int, start_s: float) -> Iterator[dict[str, Any]]:
    """Two rows per stream: its data, and the other direction, of which a report has no measurements."""
    start, is_reverse = report["start"], bool(report["start"]["test_start"].get("reverse"))
    for number, (ends, stream) in enumerate(zip(start["connected"], report["end"]["streams"], strict=True)):
        protocol = str(start["test_start"]["protocol"]).lower()
        sent = stream["udp"] if "udp" in stream else stream["sender"]
        # Versions before 3.7 do not say which side sends.
        is_local = bool(sent.get("sender", not is_reverse))
        local, remote = (ends["local_host"], ends["local_port"]), (ends["remote_host"], ends["remote_port"])
        sender, receiver = (local, remote) if is_local else (remote, local)
        common = {"connection": first + number, "protocol": protocol, "first_s": start_s + float(sent["start"])}
        row = {
            **common,
            "direction": "forward",
            **_ends(sender, receiver),
            "duration_s": float(sent["seconds"]),
            "payload_bytes": int(sent["bytes"]),
        }
        if "udp" in stream:
            lost = float(sent["lost_percent"]) / 100
            row |= {
                "unique_payload_bytes": round(sent["bytes"] * (1 - lost)),
                "goodput_bps": float(sent["bits_per_second"]) * (1 - lost),
                "lost_packets": int(sent["lost_packets"]),
                "loss_rate": lost,
                "jitter_s": float(sent["jitter_ms"]) * 1e-3,
            }
        else:
            received = stream["receiver"]
            row |= {
                "unique_payload_bytes": int(received["bytes"]),
                "goodput_bps": float(received["bits_per_second"]),
                # Reports of a receiver lack them.
                "retransmitted_packets": int(sent.get("retransmits", 0)),
                "max_cwnd_bytes": int(sent.get("max_snd_cwnd", 0)),
                **{f"{kind}_rtt_s": _microseconds(sent.get(f"{kind}_rtt")) for kind in ("min", "mean", "max")},
            }
        yield row
        yield {**common, "direction": "backward", **_ends(receiver, sender)}


def _ends(sender: tuple[str, int], receiver: tuple[str, int]) -> dict[str, Any]:
    return {
        "sender_address": str(sender[0]),
        "sender_port": int(sender[1]),
        "receiver_address": str(receiver[0]),
        "receiver_port": int(receiver[1]),
    }


def _intervals(report: dict[str, Any], first: int, start_s: float) -> Iterator[dict[str, Any]]:
    numbers = {ends["socket"]: first + number for number, ends in enumerate(report["start"]["connected"])}
    for interval in report["intervals"]:
        for stream in interval["streams"]:
            yield {
                "time_s": start_s + float(stream["start"]),
                "connection": numbers[stream["socket"]],
                "duration_s": float(stream["seconds"]),
                "payload_bytes": int(stream["bytes"]),
                "throughput_bps": float(stream["bits_per_second"]),
                "retransmitted_packets": int(stream.get("retransmits", 0)),
                "cwnd_bytes": int(stream.get("snd_cwnd", 0)),
                "rtt_s": _microseconds(stream.get("rtt")),
            }


def _microseconds(value: Any) -> float:
    """Seconds; missing where iperf3 writes 0 or nothing."""
    return float(value) * 1e-6 if value else math.nan
