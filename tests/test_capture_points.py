"""Captures in which a packet appears at several points, or one direction only: mirror ports, VLANs of a router, taps."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import tailback as tb

RAW, ETHERNET, COOKED = 101, 1, 113
SENDER = bytes([198, 18, 0, 1])


@dataclass(frozen=True)
class Packet:
    """An IP packet of a capture: its time in nanoseconds, its captured bytes, and its length."""

    at: int
    ip: bytes
    length: int

    @property
    def is_data(self) -> bool:
        return self.ip[12:16] == SENDER


def read(path: Path) -> Iterator[Packet]:
    """The packets of a capture that Tailback wrote."""
    content, place = path.read_bytes(), 0
    while place < len(content):
        kind, size = struct.unpack_from("<II", content, place)
        if kind == 6:
            _, high, low, captured, length = struct.unpack_from("<IIIII", content, place + 8)
            yield Packet(high << 32 | low, content[place + 28 : place + 28 + captured], length)
        place += size


def write(path: Path, interfaces: list[tuple[str, int]], frames: Iterable[tuple[int, bytes, Packet]]) -> tb.Analysis:
    """Write frames (interface, link header, packet), and analyse them."""

    def block(kind: int, body: bytes) -> bytes:
        body += bytes(-len(body) % 4)
        return struct.pack("<II", kind, len(body) + 12) + body + struct.pack("<I", len(body) + 12)

    def option(code: int, value: bytes) -> bytes:
        return struct.pack("<HH", code, len(value)) + value + bytes(-len(value) % 4)

    content = block(0x0A0D0D0A, struct.pack("<IHHq", 0x1A2B3C4D, 1, 0, -1))
    for name, link in interfaces:
        content += block(1, struct.pack("<HHI", link, 0, 0) + option(2, name.encode()) + option(9, b"\x09") + bytes(4))
    for interface, header, packet in frames:
        frame = header + packet.ip
        size = struct.pack("<IIIII", interface, packet.at >> 32, packet.at & 0xFFFFFFFF, len(frame), packet.length + len(header))
        content += block(6, size + frame)
    path.write_bytes(content)
    return tb.analyse(path)


def tagged(vlan: int) -> bytes:
    return bytes(12) + struct.pack(">HHH", 0x8100, vlan, 0x0800)


def cooked(kind: int) -> bytes:
    """Header of the device `any`: 0 for received packets, 4 for sent ones."""
    return struct.pack(">HHHQH", kind, 1, 6, 0, 0x0800)


@pytest.fixture(scope="module")
def packets(tmp_path_factory: pytest.TempPathFactory) -> list[Packet]:
    path = tmp_path_factory.mktemp("points") / "run.pcapng"
    run = tb.simulate(tb.dumbbell(rate="10 Mbps", delay="10 ms", buffer="20 packets", duration="3 s", traces=["packets"]))
    run.save_capture(path)
    return list(read(path))


@pytest.fixture(scope="module")
def plain(packets: list[Packet], tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The forward direction as captured once."""
    analysis = write(tmp_path_factory.mktemp("plain") / "a.pcapng", [("eth0", RAW)], ((0, b"", packet) for packet in packets))
    row = forward(analysis)[0]
    assert row["retransmitted_packets"] > 0
    assert row["max_in_flight_bytes"] > 0
    return row


def forward(analysis: tb.Analysis) -> list[dict[str, Any]]:
    return analysis.connections.where(direction="forward").to_rows()


def delayed(packet: Packet, nanoseconds: int) -> Packet:
    return Packet(packet.at + nanoseconds, packet.ip, packet.length)


def in_time(frames: Iterable[tuple[int, bytes, Packet]]) -> list[tuple[int, bytes, Packet]]:
    return sorted(frames, key=lambda frame: frame[2].at)


def same(row: dict[str, Any], other: dict[str, Any], *, but: tuple[str, ...] = ()) -> None:
    """The rows are equal except for these columns and the interface. NaN equals NaN."""
    different = {key for key in other if row[key] != other[key] and not (row[key] != row[key] and other[key] != other[key])}
    assert different <= {"interface", *but}


def test_vlans_of_a_router_are_separate_points(packets: list[Packet], plain: dict[str, Any], tmp_path: Path) -> None:
    twice = [(0, tagged(vlan), delayed(packet, after)) for packet in packets for vlan, after in ((10, 0), (20, 5000))]
    analysis = write(tmp_path / "a.pcapng", [("trunk", ETHERNET)], in_time(twice))
    rows = forward(analysis)
    assert [row["interface"] for row in rows] == ["trunk, VLAN 10", "trunk, VLAN 20"]
    for row in rows:
        same(row, plain, but=("connection", "first_s", "last_s"))


def test_duplicates_of_a_mirror_port_count_once(packets: list[Packet], plain: dict[str, Any], tmp_path: Path) -> None:
    twice = [(0, b"", delayed(packet, after)) for packet in packets for after in (0, 20_000)]
    analysis = write(tmp_path / "a.pcapng", [("mirror", RAW)], in_time(twice))
    (row,) = forward(analysis)
    same(row, plain)
    assert analysis.skipped.to_rows() == [{"reason": "captured before", "packets": len(packets)}]
    assert f"{len(packets):,} captured before" in analysis.summary()


def test_the_device_any_of_a_router_counts_a_packet_once(packets: list[Packet], plain: dict[str, Any], tmp_path: Path) -> None:
    def forwarded(packet: Packet) -> Packet:
        """One hop later, behind a queue."""
        return Packet(packet.at + 30_000_000, packet.ip[:8] + bytes([packet.ip[8] - 1]) + packet.ip[9:], packet.length)

    twice = [(0, cooked(0), packet) for packet in packets] + [(0, cooked(4), forwarded(packet)) for packet in packets]
    (row,) = forward(write(tmp_path / "a.pcapng", [("any", COOKED)], in_time(twice)))
    same(row, plain)


def test_the_two_interfaces_of_a_tap_are_one_point(packets: list[Packet], plain: dict[str, Any], tmp_path: Path) -> None:
    frames = ((0 if packet.is_data else 1, b"", packet) for packet in packets)
    analysis = write(tmp_path / "a.pcapng", [("tx", RAW), ("rx", RAW)], frames)
    (row,) = forward(analysis)
    same(row, plain)
    assert "interfaces tx and rx have one direction of each connection: they are analysed as one, tx" in analysis.summary()


def test_of_one_direction_the_data_in_flight_are_missing(packets: list[Packet], plain: dict[str, Any], tmp_path: Path) -> None:
    frames = ((0, b"", packet) for packet in packets if packet.is_data)
    (row,) = forward(write(tmp_path / "a.pcapng", [("eth0", RAW)], frames))
    assert row["payload_bytes"] == plain["payload_bytes"]
    for column in ("max_in_flight_bytes", "max_in_flight_packets", "mean_in_flight_bytes", "max_rtt_s"):
        assert row[column] != row[column], column


def test_interfaces_one_after_the_other_are_in_time(packets: list[Packet], plain: dict[str, Any], tmp_path: Path) -> None:
    frames = [(interface, b"", packet) for interface in (0, 1) for packet in packets]
    analysis = write(tmp_path / "a.pcapng", [("left", RAW), ("right", RAW)], frames)
    assert analysis.packets_out_of_time == 0
    for row in forward(analysis):
        same(row, plain, but=("connection",))
    late = [(0, b"", packet) for packet in packets] + [(1, b"", packet) for packet in (packets[-1], packets[0])]
    analysis = write(tmp_path / "b.pcapng", [("left", RAW), ("right", RAW)], late)
    assert analysis.packets_out_of_time == 1
    assert "1 packets of interface right are earlier than its previous packet" in analysis.summary()
