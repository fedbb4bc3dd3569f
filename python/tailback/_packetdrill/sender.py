"""The simulated sender of a script: it maps the bytes of the script to segments."""

from __future__ import annotations

import warnings
from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tailback._packetdrill.script import Incoming, Script
from tailback._topologies import dumbbell
from tailback.errors import ScenarioWarning

if TYPE_CHECKING:
    from tailback._types import Tcp

__all__ = ["ScriptedSender", "Sent"]

# Segment 0 of a connection that is opened.
_SYN = 0
_FIRST_BYTE = 1
# Steps of a wait.
_STEP_S = 0.0005
_LONGEST_NS = 1 << 62


@dataclass(frozen=True)
class Sent:
    """A segment that the sender has sent, with its bytes."""

    time_s: float
    start: int
    end: int
    reports_reduction: bool


class ScriptedSender:
    """A sender that is driven by the events of a script. Its first data byte has number 1."""

    def __init__(self, script: Script, tcp: Tcp) -> None:
        scenario = dumbbell(rate="1 Gbps", delay="1 ms", buffer="1 packet", duration="1 s", flows={"sender": {"tcp": tcp}})
        with warnings.catch_warnings():
            # The sender has no network whose queues could mark.
            warnings.simplefilter("ignore", ScenarioWarning)
            self._core = scenario._lone_sender()
        self._script = script
        # The byte behind each data segment.
        self._ends: list[int] = []
        self._sent_at: defaultdict[int, list[int]] = defaultdict(list)
        self._min_rtt = _LONGEST_NS
        self._delivered: set[int] = set()
        self._acked = _SYN
        self._echo = 0
        self._window = 65_535
        self.now_s = 0.0
        self.sent: list[Sent] = []

    def advance(self, time_s: float) -> None:
        self.now_s = max(self.now_s, time_s)
        self._core.advance(round(self.now_s * 1e9))
        self._collect()

    def wait(self, awaited: Counter[tuple[int, int]], until_s: float) -> None:
        """Time passes until these segments have been sent, each so many times, at most until this time."""
        while self.now_s < until_s and not awaited <= Counter((one.start, one.end) for one in self.sent):
            self.advance(min(self.now_s + _STEP_S, until_s))

    def open(self) -> None:
        """Sends the SYN."""
        self._core.write(0)
        self._collect()

    def write(self, size: int) -> None:
        """The application writes bytes. Its last segment may be short."""
        first = self._ends[-1] if self._ends else _FIRST_BYTE
        ends = [*range(first + self._script.mss, first + size, self._script.mss), first + size] if size else []
        self._ends += ends
        self._core.write(len(ends))
        self._collect()

    def acknowledge(self, segment: Incoming) -> str:
        """An acknowledgement arrives. Returns what could not be represented, or nothing."""
        if segment.window is not None:
            self._window = segment.window << (0 if segment.is_syn else self._script.window_scale)
        ack, is_whole = self._next_segment(segment.ack or 0)
        blocks = [(self._first_whole(start), self._next_segment(end)[0]) for start, end in segment.blocks]
        blocks = [(first, end) for first, end in blocks if first < end]
        delivered = {*range(self._acked, ack), *(place for block in blocks for place in range(*block))} - self._delivered
        if delivered:
            self._echo = max(self._transmission(place) for place in delivered)
        understood = self._core.acknowledge(
            ack,
            blocks=blocks,
            echo=self._echo,
            echoes_mark=self._script.ecn and "E" in segment.flags and not segment.is_syn,
            window=self._window // self._script.mss,
        )
        if not understood:
            return "acknowledges data that the sender has not sent; ignored"
        self._delivered |= delivered
        self._acked = max(self._acked, ack)
        self._collect()
        return "" if is_whole else "ends within a segment, which counts as not acknowledged"

    def info(self) -> dict[str, int]:
        """The state by the names of Linux's ``tcp_info``."""
        info = dict(self._core.tcp_info())
        # The SYN occupies no place in the window.
        if self._acked == _SYN:
            info["tcpi_unacked"] = 0
        return info

    def pieces(self, start: int, end: int) -> list[tuple[int, int]]:
        """The segments that contain these bytes."""
        first = bisect_right(self._ends, start)
        last = bisect_left(self._ends, end)
        return [self._bytes(place) for place in range(first, min(last + 1, len(self._ends)))]

    def _transmission(self, segment: int) -> int:
        """The time of the transmission that has arrived: the last one that was a minimum RTT ago, as kernels judge it."""
        times, now = self._sent_at[segment], round(self.now_s * 1e9)
        if len(times) == 1:
            self._min_rtt = min(self._min_rtt, now - times[0])
        return next((time for time in reversed(times) if now - time >= self._min_rtt), times[0] if times else 0)

    def _bytes(self, place: int) -> tuple[int, int]:
        return (self._ends[place - 1] if place else _FIRST_BYTE), self._ends[place]

    def _next_segment(self, number: int) -> tuple[int, bool]:
        """The segment that begins with this byte, and whether one does. A FIN follows the last byte; nothing follows it."""
        if number < _FIRST_BYTE:
            return _SYN, True
        whole = bisect_right(self._ends, number)
        begins = [_FIRST_BYTE, *self._ends][whole]
        if whole == len(self._ends) and number > begins + 1:
            return whole + 2, True
        return whole + 1, number == begins or whole == len(self._ends)

    def _first_whole(self, number: int) -> int:
        """The first segment that does not begin before this byte."""
        segment, begins = self._next_segment(number)
        return segment if begins else segment + 1

    def _collect(self) -> None:
        for nanoseconds, segment, _, reports_reduction in self._core.take_departures():
            self._sent_at[segment].append(nanoseconds)
            if segment != _SYN:
                self.sent.append(Sent(nanoseconds / 1e9, *self._bytes(segment - 1), reports_reduction))
