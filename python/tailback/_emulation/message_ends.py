"""Kernel flows with requests and responses: the programs of clients and servers, which run on hosts like `transfer`.

The times and sizes of messages follow from the rules of a simulation, in the extension module, and from the deliveries that the
sockets measure.
"""

from __future__ import annotations

import os
import selectors
import socket
import sys
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from tailback._core import MessageRules
from tailback._emulation.transfer import PIECE, PORT, SPACE, EventLoop, Flow, flow_of, make_socket, run

__all__ = ["main"]


@dataclass(kw_only=True)
class MessageFlow(Flow):
    """One end of a connection with requests and responses.

    Attributes
    ----------
    requests, responses : MessageRules
        The rules of a simulation, of which each end plays its part.
    requested_on : int
        Number of the simulated flow of the requests.
    handshake : bool
        Whether the first requests wait for the handshake; otherwise they are written once it is complete.
    """

    requests: MessageRules
    responses: MessageRules
    requested_on: int
    handshake: bool
    # Time at which the client opens the connection.
    opened_s: float | None = None
    # Times of the requests at the client, and sizes of requests and responses.
    asked: list[float] = field(default_factory=list)
    sizes: list[tuple[int, int]] = field(default_factory=list)
    # Times at which this end received its messages, and the bytes up to the next one.
    delivered: list[float] = field(default_factory=list)
    received: int = 0
    # Data to send, and the first bytes of an incomplete request.
    outgoing: deque[memoryview] = field(default_factory=deque)
    head: bytearray = field(default_factory=bytearray)

    def report(self, until_s: float) -> dict[str, Any]:
        """The report of the flow until this time, with the times of its messages and the quality of a video."""
        messages = {name: getattr(self, name) for name in ("opened_s", "asked", "sizes", "delivered")}
        delivered = sum(time < until_s for time in self.delivered)
        return {**super().report(until_s), "messages": {**messages, "playback": self.responses.playback(delivered, until_s)}}


# Bytes in which a request names the size of its response, which the rules of a server do not know if the client selects it.
_HEAD = 8


class MessageEnd(ABC):
    """One end of connections with requests and responses."""

    def __init__(self, flows: Sequence[MessageFlow], controller: str, loop: EventLoop) -> None:
        self._agenda, self._controller = loop, controller
        for flow in flows:
            if flow.stop_s is not None:
                loop.at(flow.stop_s, partial(self._stop, flow))

    def count(self, flow: MessageFlow) -> None:
        """Update the counts of the flow."""
        flow.read_counters()

    def _established(self, flow: MessageFlow) -> None:
        assert flow.connection is not None
        flow.began_s = self._agenda.now()
        # The last segment of a message is sent at once.
        flow.connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._await(flow)

    def _await(self, flow: MessageFlow) -> None:
        """Wait for data and, if there is something to send, for space."""
        assert flow.connection is not None
        events = selectors.EVENT_READ | (selectors.EVENT_WRITE if flow.outgoing else 0)
        if flow.connection.fileno() in self._agenda.selector.get_map():
            self._agenda.selector.modify(flow.connection, events, partial(self._serve, flow))
        else:
            self._agenda.selector.register(flow.connection, events, partial(self._serve, flow))

    def _serve(self, flow: MessageFlow) -> None:
        """Read and write as much as possible."""
        if not flow.is_open:
            return
        try:
            is_ended = self._read(flow)
            self._write(flow)
        except OSError as error:
            flow.failure = error.strerror
            is_ended = True
        if is_ended:
            self._close(flow)
        elif flow.is_open:
            self._await(flow)

    def _read(self, flow: MessageFlow) -> bool:
        """Read all data. Returns whether the connection has ended."""
        assert flow.connection is not None
        with suppress(BlockingIOError):
            while count := flow.connection.recv_into(SPACE):
                self._receive(flow, memoryview(SPACE)[:count])
            return True
        return False

    def _write(self, flow: MessageFlow) -> None:
        assert flow.connection is not None
        outgoing = flow.outgoing
        with suppress(BlockingIOError):
            while outgoing:
                sent = flow.connection.send(outgoing[0])
                self._sent(flow, sent)
                if sent == len(outgoing[0]):
                    outgoing.popleft()
                else:
                    outgoing[0] = outgoing[0][sent:]

    def _send(self, flow: MessageFlow, size: int, head: bytes = b"") -> None:
        """Write a message of this size, which begins with `head`."""
        head = head[:size]
        flow.outgoing.append(memoryview(head))
        for start in range(len(head), size, len(PIECE)):
            flow.outgoing.append(memoryview(PIECE)[: size - start])
        self._serve(flow)

    def _stop(self, flow: MessageFlow) -> None:
        if flow.is_open and flow.ended_s is None:
            assert flow.connection is not None
            flow.outgoing.clear()
            with suppress(OSError):
                flow.connection.shutdown(socket.SHUT_WR)
        flow.ended_s = self._agenda.now() if flow.ended_s is None else flow.ended_s

    def _close(self, flow: MessageFlow) -> None:
        assert flow.connection is not None
        flow.read_counters()
        with suppress(KeyError):
            self._agenda.selector.unregister(flow.connection)
        flow.connection.close()

    @abstractmethod
    def _receive(self, flow: MessageFlow, data: memoryview) -> None: ...

    # Clients end by what they receive.
    def _sent(self, flow: MessageFlow, count: int) -> None:  # noqa: B027
        pass


class Servers(MessageEnd):
    """Answers requests."""

    def __init__(self, flows: Sequence[MessageFlow], controller: str, loop: EventLoop) -> None:
        super().__init__(flows, controller, loop)
        self._flows = {flow.ends[0]: flow for flow in flows}
        # One socket for all connections, whose number may exceed that of open files.
        self._listener = make_socket(controller)
        self._listener.bind(("", PORT))
        self._listener.listen(socket.SOMAXCONN)
        loop.selector.register(self._listener, selectors.EVENT_READ, self._accept)

    def _accept(self) -> None:
        connection, _ = self._listener.accept()
        connection.setblocking(False)
        flow = self._flows[connection.getsockname()[0]]
        flow.connection = connection
        self._established(flow)

    def _receive(self, flow: MessageFlow, data: memoryview) -> None:
        while data:
            number = len(flow.delivered)
            size = flow.requests.size(number)
            if size is None:
                return
            part = data[: size - flow.received]
            data = data[len(part) :]
            flow.head += part[: _HEAD - len(flow.head)]
            flow.received += len(part)
            if flow.received == size:
                # The rules know the size of a response that the client does not select.
                response = flow.responses.size(number) or int.from_bytes(flow.head, "big")
                flow.received = 0
                flow.head.clear()
                flow.delivered.append(self._agenda.now())
                follow_up = flow.requests.after_delivery(number, flow.delivered[-1])
                if follow_up is not None:
                    self._agenda.at(follow_up[1], partial(self._respond, flow, response))

    def _respond(self, flow: MessageFlow, size: int) -> None:
        if flow.is_open and flow.ended_s is None:
            self._send(flow, size)

    def _sent(self, flow: MessageFlow, count: int) -> None:
        flow.counts.transferred += count
        if flow.counts.transferred == flow.size:
            flow.ended_s = self._agenda.now()


class Clients(MessageEnd):
    """Opens connections and writes requests."""

    def __init__(self, flows: Sequence[MessageFlow], controller: str, loop: EventLoop) -> None:
        super().__init__(flows, controller, loop)
        self._flows = {flow.requested_on: flow for flow in flows}
        for flow in flows:
            if flow.start_s is not None:
                loop.at(flow.start_s, partial(self._open, flow))

    def _open(self, flow: MessageFlow) -> None:
        flow.connection = make_socket(self._controller)
        flow.opened_s = self._agenda.now()
        try:
            flow.connection.bind((flow.ends[1], 0))
            with suppress(BlockingIOError):
                flow.connection.connect((flow.ends[0], PORT))
            self._agenda.selector.register(flow.connection, selectors.EVENT_WRITE, partial(self._connected, flow))
        except OSError as error:
            flow.failure = error.strerror

    def _connected(self, flow: MessageFlow) -> None:
        assert flow.connection is not None
        if problem := flow.connection.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR):
            flow.failure = os.strerror(problem)
            self._close(flow)
            return
        self._established(flow)
        start_s = flow.opened_s if flow.handshake else flow.began_s
        assert start_s is not None
        flow.responses.first(start_s)
        # A connection that follows another begins with one request.
        for _ in range(len(flow.requests.first(start_s)) or 1):
            self._request(flow, start_s)

    def _request(self, flow: MessageFlow, at_s: float | None = None) -> None:
        if flow.opened_s is None and flow.ended_s is None:
            self._open(flow)
        elif flow.is_open and flow.ended_s is None:
            number = len(flow.asked)
            size, response = flow.requests.size(number), flow.responses.size(number)
            assert size is not None
            assert response is not None
            flow.asked.append(self._agenda.now() if at_s is None else at_s)
            flow.sizes.append((size, response))
            self._send(flow, size, response.to_bytes(_HEAD, "big"))

    def _receive(self, flow: MessageFlow, data: memoryview) -> None:
        flow.counts.transferred += len(data)
        flow.received += len(data)
        while len(flow.delivered) < len(flow.asked):
            number = len(flow.delivered)
            _, size = flow.sizes[number]
            if flow.received < size:
                return
            flow.received -= size
            flow.delivered.append(self._agenda.now())
            follow_up = flow.responses.after_delivery(number, flow.delivered[-1])
            if follow_up is not None:
                self._agenda.at(follow_up[1], partial(self._request, self._flows[follow_up[0]]))
            if number + 1 == flow.responses.count:
                flow.ended_s = flow.delivered[-1]
                self._agenda.at(flow.ended_s, partial(self._close, flow))


def main() -> None:
    """Run one end of a group's flows; the argument is ``sender``, for the servers, or ``receiver``."""

    def make_flow(number: int, described: dict[str, Any]) -> MessageFlow:
        talk = described["conversation"]
        return MessageFlow(
            **vars(flow_of(number, described)),
            requests=MessageRules(talk["requests"]),
            responses=MessageRules(talk["responses"]),
            requested_on=talk["requested_on"],
            handshake=talk["handshake"],
        )

    run(make_flow, Servers if sys.argv[1] == "sender" else Clients)
