"""The first data packet that differs between two captures of a scenario, at the senders.

`tailback diff` compares runs event by event, and a run with a kernel has neither these events nor exactly the same times. Packets
of both sides have TCP headers, so that their order and their times can be compared.
"""

from __future__ import annotations

import math
import re
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tailback._diff import EventDifference

__all__ = ["FirstPacket", "SentPacket", "first_packet", "sent_packets"]

_SYN = 0x02

# Blocks and the option of an interface's name in pcapng.
_INTERFACE, _PACKET, _NAME = 1, 6, 2


@dataclass(frozen=True)
class SentPacket:
    """A data packet at its sender.

    Attributes
    ----------
    time_s : float
        Since the first packet of the capture.
    offset, payload : int
        First byte in the flow's data, and number of bytes.
    is_repeated : bool
        Whether it has no new data.
    """

    time_s: float
    offset: int
    payload: int
    is_repeated: bool


@dataclass(frozen=True)
class FirstPacket:
    """The first packet that differs.

    Attributes
    ----------
    flow : str
    number : int
        Number of the flow's data packets before it.
    event : EventDifference
        Both packets; the left one is the kernel's.
    cause : str
        Kind of the difference, for groups of draws.
    """

    flow: str
    number: int
    event: EventDifference
    cause: str


def first_packet(
    kernel: dict[str, list[SentPacket]], simulated: dict[str, list[SentPacket]], *, mss: int, tolerance_s: float
) -> FirstPacket | None:
    """The earliest difference of all flows: another packet, or the same one at a time that differs by more than the tolerance."""
    found = [
        first
        for flow in sorted({*kernel, *simulated})
        if (first := _first_of(flow, kernel.get(flow, []), simulated.get(flow, []), mss, tolerance_s))
    ]
    return min(found, key=lambda first: first.event.time_s, default=None)


def _first_of(
    flow: str, kernel: list[SentPacket], simulated: list[SentPacket], mss: int, tolerance_s: float
) -> FirstPacket | None:
    has_repeated = False
    for number in range(max(len(kernel), len(simulated))):
        real = kernel[number] if number < len(kernel) else None
        made = simulated[number] if number < len(simulated) else None
        if cause := _cause(real, made, tolerance_s):
            texts = [None if packet is None else _text(packet, mss) for packet in (real, made)]
            times = [None if packet is None else packet.time_s for packet in (real, made)]
            first_s = min(time for time in times if time is not None)
            event = EventDifference(first_s, texts[0], texts[1], times[0], times[1])
            phase = "after" if has_repeated else "before"
            return FirstPacket(flow, number, event, f"{cause}, {phase} the first retransmission")
        has_repeated |= real is not None and real.is_repeated
    return None


def _cause(real: SentPacket | None, made: SentPacket | None, tolerance_s: float) -> str:
    if real is None or made is None:
        return f"only the {'simulator' if real is None else 'kernel'} sends another packet"
    if (real.offset, real.payload) != (made.offset, made.payload):
        if real.is_repeated != made.is_repeated:
            return f"only the {'kernel' if real.is_repeated else 'simulator'} retransmits"
        if real.is_repeated:
            return "other retransmission"
        return "other payload" if real.offset == made.offset else "other data"
    if abs(made.time_s - real.time_s) > tolerance_s:
        return f"the simulator sends {'later' if made.time_s > real.time_s else 'earlier'}"
    return ""


def _text(packet: SentPacket, mss: int) -> str:
    words = "retransmits" if packet.is_repeated else "sends"
    size = "" if packet.payload == mss else f" ({packet.payload} B)"
    return f"{words} segment {packet.offset / mss:g}{size}"


def sent_packets(capture: Path) -> dict[str, list[SentPacket]]:
    """The data packets of a capture by flow, as `Run.save_capture` and the argument ``capture`` of `simulate` write it."""
    names: list[str] = []
    firsts: dict[tuple[str, bytes], int] = {}
    began_s = math.inf
    ends: dict[tuple[str, bytes], int] = {}
    packets: dict[tuple[str, bytes], list[SentPacket]] = {}
    for kind, body in _blocks(capture.read_bytes()):
        if kind == _INTERFACE:
            names.append(_name(body))
            continue
        interface, high, low, length = struct.unpack_from("<4I", body)
        name, header = names[interface], body[20 : 20 + length]
        if name.endswith(".receiver") or ".receiver[" in name:
            continue
        total, source = struct.unpack_from(">H", header, 2)[0], header[12:16]
        (sequence,), data, flags = struct.unpack_from(">I", header, 24), header[32] >> 4, header[33]
        connection, time_s = (name, source), (high << 32 | low) / 1e9
        began_s = min(began_s, time_s)
        if flags & _SYN and connection not in firsts and not flags & 0x10:
            firsts[connection] = sequence + 1
            ends[connection], packets[connection] = 0, []
        payload = total - 20 - 4 * data
        if connection in firsts and payload > 0 and not flags & _SYN:
            offset = (sequence - firsts[connection]) & 0xFFFFFFFF
            sent = SentPacket(time_s - began_s, offset, payload, offset + payload <= ends[connection])
            packets[connection].append(sent)
            ends[connection] = max(ends[connection], offset + payload)
    return _by_flow(packets)


def _by_flow(packets: dict[tuple[str, bytes], list[SentPacket]]) -> dict[str, list[SentPacket]]:
    """Name the flows of both kinds of captures alike.

    Interfaces of kernels have names such as ``web.sender[2]``. Interfaces of simulated senders are groups, in which addresses
    ascend.
    """
    named: dict[str, list[SentPacket]] = {}
    places: dict[str, int] = {}
    for name, source in sorted(packets):
        if match := re.fullmatch(r"(.*)\.sender(?:\[(\d+)\])?", name):
            flow = f"{match[1]}[{match[2] or 0}]"
        else:
            flow = f"{name}[{places.get(name, 0)}]"
            places[name] = places.get(name, 0) + 1
        named[flow] = packets[name, source]
    return named


def _blocks(data: bytes) -> Iterator[tuple[int, bytes]]:
    at = 0
    while at + 12 <= len(data):
        kind, length = struct.unpack_from("<2I", data, at)
        if kind in (_INTERFACE, _PACKET):
            yield kind, data[at + 8 : at + length - 4]
        at += length


def _name(body: bytes) -> str:
    at = 8
    while at + 4 <= len(body):
        code, length = struct.unpack_from("<2H", body, at)
        if code == _NAME:
            return body[at + 4 : at + 4 + length].decode()
        at += 4 + (length + 3) // 4 * 4
    return ""
