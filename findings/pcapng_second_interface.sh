#!/bin/sh
# dpkt 1.9.8 reads the times of every packet in a pcapng file with the resolution and offset of the first interface, and scapy 2.8.0 and
# python-pcapng 2.1.1 ignore the offset of an interface. The pcapng specification gives both options (if_tsresol, if_tsoffset) to each
# Interface Description Block. tshark honours both, so that one file has three different durations.
#
# The file has three packets in a quarter of a second: on an interface that counts microseconds, on one that counts nanoseconds, and on one
# that counts nanoseconds from an offset of 10^9 s. Seen:
#
#   right          1000000000.25  1000000000.5    1000000000.75
#   dpkt           1000000000.25  1000000000500.0 750.0
#   scapy          1000000000.25  1000000000.5    0.75
#   python-pcapng  1000000000.25  1000000000.5    0.75
#
# Captures of two devices that were merged into one file have such interfaces: a phone beside a server, or a switch beside `any`.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv tools
tools/bin/pip --quiet install dpkt==1.9.8 scapy==2.8.0 python-pcapng==2.1.1
cat > read.py <<'PYTHON'
import logging
import struct

import dpkt
import pcapng

logging.disable()
from scapy.utils import PcapNgReader

FILE, OFFSET_S = "three.pcapng", 10**9


def block(kind: int, body: bytes) -> bytes:
    body += bytes(-len(body) % 4)
    return struct.pack("<II", kind, len(body) + 12) + body + struct.pack("<I", len(body) + 12)


def option(code: int, value: bytes) -> bytes:
    return struct.pack("<HH", code, len(value)) + value + bytes(-len(value) % 4)


def interface(*options: bytes) -> bytes:
    return block(1, struct.pack("<HHI", 1, 0, 65535) + b"".join(options) + option(0, b""))


def packet(number: int, ticks: int) -> bytes:
    frame = bytes(12) + b"\x08\x00" + bytes(46)
    sizes = len(frame), len(frame)
    return block(6, struct.pack("<IIIII", number, ticks >> 32, ticks & 0xFFFFFFFF, *sizes) + frame)


resolution = {"us": option(9, b"\x06"), "ns": option(9, b"\x09")}
with open(FILE, "wb") as file:
    file.write(block(0x0A0D0D0A, struct.pack("<IHHq", 0x1A2B3C4D, 1, 0, -1)))
    file.write(interface(resolution["us"]) + interface(resolution["ns"]))
    file.write(interface(resolution["ns"], option(14, struct.pack("<q", OFFSET_S))))
    file.write(packet(0, OFFSET_S * 10**6 + 250_000) + packet(1, OFFSET_S * 10**9 + 500_000_000) + packet(2, 750_000_000))

with open(FILE, "rb") as file:
    by_dpkt = [float(time) for time, _ in dpkt.pcapng.Reader(file)]
by_scapy = [float(one.time) for one in PcapNgReader(FILE)]
with open(FILE, "rb") as file:
    by_pcapng = [float(one.timestamp) for one in pcapng.FileScanner(file) if hasattr(one, "timestamp")]
for name, times in {"dpkt": by_dpkt, "scapy": by_scapy, "python-pcapng": by_pcapng}.items():
    print(f"{name:14} {times}")


def near(times: list[float], expected: list[float]) -> bool:
    return len(times) == 3 and all(abs(one - other) < 1e-3 for one, other in zip(times, expected))


assert near(by_dpkt, [OFFSET_S + 0.25, OFFSET_S * 1000 + 500.0, 750.0]), "dpkt has changed"
assert near(by_scapy, [OFFSET_S + 0.25, OFFSET_S + 0.5, 0.75]), "scapy has changed"
assert near(by_pcapng, [OFFSET_S + 0.25, OFFSET_S + 0.5, 0.75]), "python-pcapng has changed"
PYTHON
tools/bin/python read.py
