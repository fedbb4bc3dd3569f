"""One end of a flow on an installed stack, in real time.

``python emulated_stack.py STACK PARAMETERS sender|receiver LOCAL REMOTE SECONDS``. The stack is the one of the simulation, called
through the same table of functions (``tailback.h``). It hands out whole IPv4 packets of UDP, whose payloads a socket sends.
"""

from __future__ import annotations

import ctypes
import select
import socket
import struct
import sys
import time

from tailback_stacks import stacks

PORTS = {"sender": (49_152, 443), "receiver": (443, 49_152)}
NONE = 2**64 - 1
IP, UDP = 20, 8


class End(ctypes.Structure):
    _fields_ = (
        *((name, ctypes.c_uint64) for name in ("seed", "size", "start", "stop")),
        *((name, ctypes.c_uint32) for name in ("local_address", "remote_address")),
        *((name, ctypes.c_uint16) for name in ("local_port", "remote_port")),
        ("mtu", ctypes.c_uint32),
        ("is_sender", ctypes.c_uint8),
        ("parameters", ctypes.c_char_p),
    )


class Payload(ctypes.Structure):
    _fields_ = (
        *((name, ctypes.c_uint32) for name in ("source_address", "destination_address")),
        *((name, ctypes.c_uint16) for name in ("source_port", "destination_port")),
        ("ecn", ctypes.c_uint8),
        ("data", ctypes.POINTER(ctypes.c_char)),
        ("length", ctypes.c_size_t),
    )


Send = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.POINTER(Payload))


class Stack(ctypes.Structure):
    _fields_ = (
        ("abi", ctypes.c_uint32),
        ("sends_ip", ctypes.c_uint8),
        *((name, ctypes.c_char_p) for name in ("name", "version")),
        ("create", ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.POINTER(End), ctypes.c_char_p, ctypes.c_size_t)),
        ("receive", ctypes.CFUNCTYPE(ctypes.c_char_p, ctypes.c_void_p, ctypes.c_uint64, ctypes.POINTER(Payload))),
        ("poll", ctypes.CFUNCTYPE(ctypes.c_char_p, ctypes.c_void_p, ctypes.c_uint64, Send, ctypes.c_void_p)),
        ("deadline", ctypes.CFUNCTYPE(ctypes.c_uint64, ctypes.c_void_p)),
        ("destroy", ctypes.CFUNCTYPE(None, ctypes.c_void_p)),
    )


def stack(name: bytes) -> Stack:
    table = ctypes.cast(stacks(), ctypes.POINTER(ctypes.POINTER(Stack)))
    found: Stack = next(table[index].contents for index in range(9) if table[index].contents.name == name)
    assert found.sends_ip == 1
    return found


def main(name: str, parameters: str, way: str, *addresses: str, seconds: float) -> None:
    functions = stack(name.encode())
    local, remote = (struct.unpack(">I", socket.inet_aton(address))[0] for address in addresses)
    own, other = PORTS[way]
    message = ctypes.create_string_buffer(256)
    end = End(7, NONE, 0, NONE, local, remote, own, other, 1500, way == "sender", parameters.encode())
    host = functions.create(ctypes.byref(end), message, 256)
    assert host, message.value
    link = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    link.bind((addresses[0], own))
    link.connect((addresses[1], other))
    link.setblocking(False)

    def send(_outbox: int, payload: ctypes._Pointer[Payload]) -> None:
        packet = ctypes.string_at(payload.contents.data, payload.contents.length)
        link.send(packet[IP + UDP :])

    sending, began = Send(send), time.monotonic()

    def now() -> int:
        return int((time.monotonic() - began) * 1e12)

    def header(length: int) -> bytes:
        total, sent = IP + UDP + length, struct.pack(">IIHHHH", remote, local, other, own, UDP + length, 0)
        return struct.pack(">BBHHHBBH", 0x45, 0, total, 0, 0x4000, 64, 17, 0) + sent

    while time.monotonic() < began + seconds:
        assert functions.poll(host, now(), sending, None) is None
        due = functions.deadline(host)
        left = min((due - now()) / 1e12, 0.1) if due != NONE else 0.1
        if select.select([link], [], [], max(left, 0))[0]:
            try:
                data = link.recv(65_535)
            except ConnectionRefusedError:
                continue
            packet = ctypes.create_string_buffer(header(len(data)) + data, IP + UDP + len(data))
            payload = Payload(0, 0, 0, 0, 0, ctypes.cast(packet, ctypes.POINTER(ctypes.c_char)), len(packet))
            assert functions.receive(host, now(), ctypes.byref(payload)) is None


if __name__ == "__main__":
    main(*sys.argv[1:-1], seconds=float(sys.argv[-1]))
