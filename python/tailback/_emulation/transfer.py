"""Kernel flows: this file runs as a program on a host, with the argument ``sender`` or ``receiver``.

It reads two lines of JSON from stdin: the flows (addresses, start, stop, size, writes, controller), which it confirms with a line
when all is ready; then the start of the emulation on the monotonic clock, with the warm-up and the duration. At the end of stdin
it writes the results as a line of JSON to stdout. It imports no other module of Tailback, so that it starts fast.
"""

from __future__ import annotations

import heapq
import json
import os
import selectors
import signal
import socket
import struct
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any, Protocol, TypeVar

__all__ = ["PIECE", "PORT", "SPACE", "EventLoop", "Flow", "flow_of", "make_socket", "run"]

# Port of the discard service (RFC 863), because received data is discarded.
PORT = 9

# Below that of the thread that forwards packets.
_PRIORITY = 5

PIECE = bytes(1 << 18)

# An unlimited flow is read at this interval. Linux acknowledges two segments at once if the program has read the earlier ones, or
# if less than SO_RCVLOWAT is unread, of which there are 20 ms at 800 Mbit/s. With a program that reads at every arrival, its
# delays would delay acknowledgements, and their end would release a burst.
_READING_INTERVAL_S = 0.02
_UNREAD = 1 << 21

# <netinet/tcp.h>
_TCP_CONGESTION = 13
_TCP_INFO = 11
# Offsets in `struct tcp_info` of <linux/tcp.h>: `tcpi_total_retrans`, and `tcpi_total_rto`, which exists since Linux 6.7.
_RETRANSMITTED = struct.Struct("@100xI")
_TIMEOUTS = struct.Struct("@240xH")


@dataclass
class TransferCounts:
    """Transferred bytes, retransmitted segments, and timeouts."""

    transferred: int = 0
    retransmitted: int = 0
    timeouts: int = 0


@dataclass
class Flow:
    """One end of a connection.

    Attributes
    ----------
    number : int
        Index in its group.
    ends : tuple
        Addresses of sender and receiver.
    start_s, stop_s : float or None
        Time since the start of the emulation; without a start, an earlier connection causes it.
    size : int or None
        Bytes to transfer; None if unlimited.
    writes : list of (float, int), or None
        Times at which the application writes, with the bytes written until then; None if it writes everything at the start.
    """

    number: int
    ends: tuple[str, str]
    start_s: float | None
    stop_s: float | None
    size: int | None
    writes: list[tuple[float, int]] | None = None
    # Bytes written by the application.
    written: int = 0
    connection: socket.socket | None = None
    began_s: float | None = None
    ended_s: float | None = None
    counts: TransferCounts = field(default_factory=TransferCounts)
    # Counts at the end of the warm-up.
    before: TransferCounts = field(default_factory=TransferCounts)
    failure: str | None = None

    def ready(self) -> int | None:
        """Bytes to send now; None if unlimited."""
        total = self.size if self.writes is None else self.written
        return None if total is None else total - self.counts.transferred

    @property
    def is_open(self) -> bool:
        return self.connection is not None and self.connection.fileno() >= 0

    def read_counters(self) -> None:
        """Read the kernel's counters of the connection."""
        if self.connection is None or not self.is_open:
            return
        with suppress(OSError):
            info = self.connection.getsockopt(socket.IPPROTO_TCP, _TCP_INFO, 512)
            (self.counts.retransmitted,) = _RETRANSMITTED.unpack_from(info)
            if len(info) >= _TIMEOUTS.size:
                (self.counts.timeouts,) = _TIMEOUTS.unpack_from(info)

    def report(self, until_s: float) -> dict[str, Any]:
        """The report of the flow until this time, with counts of the measurement interval."""
        measured = {name: count - getattr(self.before, name) for name, count in vars(self.counts).items()}
        return {"began_s": self.began_s, "ended_s": self.ended_s, "failure": self.failure, "measured": measured}


class EventLoop:
    """An event loop with sockets and timers, relative to the start of the emulation."""

    def __init__(self) -> None:
        self.selector = selectors.DefaultSelector()
        self.selector.register(sys.stdin, selectors.EVENT_READ, None)
        self.origin = 0.0
        self._timers: list[tuple[float, int, Callable[[], None]]] = []
        self._numbers = count()

    def now(self) -> float:
        return time.monotonic() - self.origin

    def at(self, at_s: float, action: Callable[[], None]) -> None:
        """Call `action` at this time."""
        heapq.heappush(self._timers, (at_s, next(self._numbers), action))

    def run(self) -> None:
        while True:
            while self._timers and self._timers[0][0] <= self.now():
                heapq.heappop(self._timers)[2]()
            patience = self._timers[0][0] - self.now() if self._timers else None
            for key, _ in self.selector.select(patience):
                if key.data is None:
                    return
                key.data()


class Senders:
    """Sends on each flow from its start, as much as the socket accepts."""

    def __init__(self, flows: Sequence[Flow], controller: str, loop: EventLoop) -> None:
        self._agenda = loop
        for flow in flows:
            flow.connection = make_socket(controller)
            flow.connection.bind((flow.ends[0], 0))
            assert flow.start_s is not None
            loop.at(flow.start_s, partial(self._connect, flow))
            if flow.stop_s is not None:
                loop.at(flow.stop_s, partial(self._finish, flow))
            if flow.writes:
                loop.at(flow.writes[0][0], partial(self._write, flow, 0))

    def _connect(self, flow: Flow) -> None:
        assert flow.connection is not None
        with suppress(BlockingIOError):
            flow.connection.connect((flow.ends[1], PORT))
        self._await_space(flow)

    def _write(self, flow: Flow, number: int) -> None:
        """The write of this number by the flow's application; it schedules the next one."""
        assert flow.writes is not None
        _, flow.written = flow.writes[number]
        if number + 1 < len(flow.writes):
            self._agenda.at(flow.writes[number + 1][0], partial(self._write, flow, number + 1))
        if flow.began_s is not None:
            self._send(flow)

    def _send(self, flow: Flow) -> None:
        """Send all that has been written, or as much as the socket accepts; then wait until it accepts more."""
        if flow.connection is None or flow.ended_s is not None:
            return
        if flow.began_s is None:
            flow.began_s = self._agenda.now()
        try:
            while (ready := flow.ready()) is None or ready > 0:
                flow.counts.transferred += flow.connection.send(PIECE if ready is None else memoryview(PIECE)[:ready])
        except BlockingIOError:
            self._await_space(flow)
            return
        except OSError as error:
            flow.failure = error.strerror
        if flow.failure is None and flow.counts.transferred != flow.size:
            self._ignore_space(flow)
        else:
            self._finish(flow)

    def _await_space(self, flow: Flow) -> None:
        assert flow.connection is not None
        with suppress(KeyError):
            self._agenda.selector.register(flow.connection, selectors.EVENT_WRITE, partial(self._send, flow))

    def _ignore_space(self, flow: Flow) -> None:
        assert flow.connection is not None
        with suppress(KeyError):
            self._agenda.selector.unregister(flow.connection)

    def count(self, flow: Flow) -> None:
        """Update the counts of the flow."""
        flow.read_counters()

    def _finish(self, flow: Flow) -> None:
        if flow.connection is None or flow.ended_s is not None:
            return
        flow.ended_s = self._agenda.now()
        self._ignore_space(flow)
        with suppress(OSError):
            flow.connection.shutdown(socket.SHUT_WR)


class Receivers:
    """Receives and discards data."""

    def __init__(self, flows: Sequence[Flow], controller: str, loop: EventLoop) -> None:
        self._agenda = loop
        for flow in flows:
            listener = make_socket(controller)
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind((flow.ends[1], PORT))
            listener.listen(1)
            loop.selector.register(listener, selectors.EVENT_READ, partial(self._accept, flow, listener))

    def _accept(self, flow: Flow, listener: socket.socket) -> None:
        flow.connection, _ = listener.accept()
        flow.connection.setblocking(False)
        flow.began_s = self._agenda.now()
        if flow.size is None:
            flow.connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVLOWAT, _UNREAD)
            self._read_regularly(flow)
        else:
            self._agenda.selector.register(flow.connection, selectors.EVENT_READ, partial(self._read, flow))

    def _read_regularly(self, flow: Flow) -> None:
        self._read(flow)
        if flow.ended_s is None:
            self._agenda.at(self._agenda.now() + _READING_INTERVAL_S, partial(self._read_regularly, flow))

    def count(self, flow: Flow) -> None:
        """Update the counts of the flow."""
        if flow.is_open:
            self._read(flow)
        flow.read_counters()

    def _read(self, flow: Flow) -> None:
        assert flow.connection is not None
        try:
            while count := flow.connection.recv_into(SPACE):
                flow.counts.transferred += count
                # The FIN may arrive later: it is a separate segment, which may have to wait for the window.
                if flow.counts.transferred == flow.size:
                    flow.ended_s = self._agenda.now()
        except BlockingIOError:
            return
        except OSError as error:
            flow.failure = error.strerror
        if flow.ended_s is None:
            flow.ended_s = self._agenda.now()
        with suppress(KeyError):
            # An unlimited flow is not registered.
            self._agenda.selector.unregister(flow.connection)
        # The result is recorded; the sender waits for the close.
        flow.connection.close()


SPACE = bytearray(1 << 20)


def make_socket(controller: str) -> socket.socket:
    made = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    made.setblocking(False)
    made.setsockopt(socket.IPPROTO_TCP, _TCP_CONGESTION, controller.encode())
    return made


class ProcessorWait:
    """The time for which this process could run and waited for a processor, by the kernel's statistics of the scheduler."""

    def __init__(self) -> None:
        self._waited_ns, self._turns = self._read()

    @staticmethod
    def _read() -> tuple[int, int]:
        try:
            _, waited_ns, turns = Path("/proc/self/schedstat").read_text().split()
        except OSError:
            # A kernel without these statistics.
            return 0, 0
        return int(waited_ns), int(turns)

    def mean_s(self) -> float | None:
        """The mean wait since the start, in seconds; None if unknown."""
        waited_ns, turns = (now - before for now, before in zip(self._read(), (self._waited_ns, self._turns), strict=True))
        return waited_ns / 1e9 / turns if turns else None


def answer(message: Any) -> None:
    sys.stdout.write(json.dumps(message) + "\n")
    sys.stdout.flush()


class Ends(Protocol):
    """One end of a group's flows."""

    def count(self, flow: Any) -> None:
        """Update the counts of the flow."""


F = TypeVar("F", bound=Flow)


def run(make_flow: Callable[[int, dict[str, Any]], F], make_ends: Callable[[list[F], str, EventLoop], Ends]) -> None:
    """Run one end of a group's flows: of the described flows, each with its number."""
    # The emulating process handles Ctrl-C.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    given = json.loads(sys.stdin.readline())
    flows = [make_flow(number, described) for number, described in enumerate(given["flows"])]
    with suppress(OSError):
        # Not permitted for every user. A delayed program delays the kernel's acknowledgements and the data that it may send.
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(_PRIORITY))
    loop = EventLoop()
    ends = make_ends(flows, given["controller"], loop)
    answer("ready")
    began = json.loads(sys.stdin.readline())
    loop.origin = began["origin"]
    wait = ProcessorWait()

    def note_before() -> None:
        for flow in flows:
            ends.count(flow)
            flow.before = replace(flow.counts)

    if began["warmup_s"] > 0:
        loop.at(began["warmup_s"], note_before)
    loop.run()
    for flow in flows:
        ends.count(flow)
    answer({"flows": [flow.report(min(loop.now(), began["duration_s"])) for flow in flows], "mean_wait_s": wait.mean_s()})


def flow_of(number: int, described: dict[str, Any]) -> Flow:
    """The flow of this description."""
    start_s, stop_s, size = (described[key] for key in ("start_s", "stop_s", "size"))
    return Flow(number, (described["from"], described["to"]), start_s, stop_s, size, described.get("writes"))


if __name__ == "__main__":
    run(flow_of, Senders if sys.argv[1] == "sender" else Receivers)
