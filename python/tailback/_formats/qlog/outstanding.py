"""Packets in flight by their numbers."""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from dataclasses import dataclass

__all__ = ["Outstanding", "Payload", "SentPacket"]

Payload = tuple[tuple[str, str], int, int]
"""Kind and number of a stream, first byte and end."""


@dataclass
class SentPacket:
    """A packet in flight."""

    time_s: float
    size: int
    payload: list[Payload]


class Outstanding:
    """The packets in flight of a packet number space."""

    def __init__(self) -> None:
        # Sorted, as an acknowledged range may be much longer than the part of it that is in flight.
        self.numbers: list[int] = []
        self.packets: dict[int, SentPacket] = {}

    def add(self, number: int, sent: SentPacket) -> None:
        if number not in self.packets:
            insort(self.numbers, number)
        self.packets[number] = sent

    def take(self, first: int, last: int) -> list[tuple[int, SentPacket]]:
        """Remove the packets from `first` to `last`, in order."""
        part = slice(bisect_left(self.numbers, first), bisect_right(self.numbers, last))
        taken = self.numbers[part]
        del self.numbers[part]
        return [(number, self.packets.pop(number)) for number in taken]
