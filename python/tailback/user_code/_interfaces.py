"""Base classes of user-defined applications, controllers, hosts, policies and sources: the core's interfaces in Python."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Set
from dataclasses import dataclass
from enum import Enum, IntEnum
from typing import Any, ClassVar, Generic, TypeVar

from tailback._core import Ack, Congestion, Departure, Draw, HostEnd, Occupancy, RoundTrip, Signal, Start, Unit

__all__ = ["Application", "Controller", "Ecn", "Host", "HostReport", "Policy", "Source", "Verdict"]

PerFlow = TypeVar("PerFlow")


class Verdict(Enum):
    """A policy's decision about a unit, which is a packet or a cell. An accepted unit is still discarded if there is no room.

    Attributes
    ----------
    ACCEPT
        Accept the unit.
    MARK
        Accept and mark it as having experienced congestion (RFC 3168). The port discards a unit that is not ECN-capable.
    DISCARD
        Discard it although there may be room; counted as ``early``, or as ``late`` for a departing unit.
    DISCARD_PARTIAL
        Discard a cell of a frame that has already lost a cell; counted as ``partial``.
    DISCARD_SINGLE
        Discard a single packet of a queue that is building up; counted as ``single``.
    DISCARD_FULL
        Discard it because there is no room; counted as ``full``, as are the discards of the port itself.
    """

    ACCEPT = "accept"
    MARK = "mark"
    DISCARD = "discard"
    DISCARD_PARTIAL = "partial"
    DISCARD_SINGLE = "single"
    DISCARD_FULL = "full"


class Controller(ABC):
    """The congestion controller of one flow. Loss recovery is separate: the controller receives its conclusions only.

    After each call Tailback reads `window`, `ssthresh` and `pacing_bps`.

    Parameters
    ----------
    start : Start
        ``window`` and ``ssthresh`` are the scenario's initial values, in segments; ``packet_bytes`` is a full segment with
        headers. If ``counts_bytes`` is true, congestion avoidance should open the window by one segment per acknowledged window
        (RFC 3465 section 2.1), not by ``1 / window`` per acknowledgement.
    **parameters
        The scenario's ``parameters``.

    Attributes
    ----------
    window : float
        Congestion window in segments: finite, at least 1. Only its integer part is used.
    ssthresh : float
        Slow-start threshold in segments: at least 1, infinite if unused.
    pacing_bps : float or None
        Pacing rate of full segments on the wire, in bit/s; None for ACK clocking, or for ``tcp.pacing``.
    release : int or None
        Maximum number of segments, >= 0, that the current acknowledgement may release; None for no limit besides the window.
        Read only if `subscriptions` has ``release``.
    subscriptions : set of str
        Optional inputs that the class requires, for all flows alike: ``marks``, an exact count of ECN marks (``ack.marks``);
        ``price``, the price signalled by the path's queues (``ack.price``); ``delivered_rate``, samples of the delivery rate
        (``ack.delivered_rate``); ``one_way_delay``, as measured by the receiver (`on_one_way_delay`); ``release``, to limit the
        segments that an acknowledgement releases.
    draw : Draw
        Random numbers of this flow, determined by seed, group and flow.
    """

    window: float
    ssthresh: float
    pacing_bps: float | None = None
    release: int | None = None
    subscriptions: ClassVar[Set[str]] = frozenset()
    draw: Draw

    def __init__(self, start: Start) -> None:
        self.window, self.ssthresh = start.window, start.ssthresh

    def draw_from(self, draw: Draw) -> None:
        """Receive the source of random numbers. Called once, before all other methods."""
        self.draw = draw

    @abstractmethod
    def on_ack(self, ack: Ack) -> None:
        """Handle an acknowledgement of new data outside loss recovery.

        ``ack`` has ``now_s``; ``acked``, the number of newly acknowledged segments; ``counted``, the number of segments for
        which the window opens: all, fewer in slow start, or one (``tcp.ack_counting``, ``tcp.abc_limit``); ``rtt_s``, an RTT
        sample or None; ``in_flight``, the segments outstanding before it; and ``window_validated``: whether the window may open,
        because it is below the receiver's window and sufficiently used (``tcp.window_validation``). With `subscriptions` it also
        has ``marks``, the number of segments that arrived with a mark not reported before; ``price``, or None;
        ``delivered_rate`` in segments per second, or None, with ``app_limited`` if the application did not fill the window.
        """

    @abstractmethod
    def on_congestion(self, congestion: Congestion) -> None:
        """Reduce the window after a loss or an ECN mark. Called once per congestion episode.

        ``congestion`` has ``now_s``; ``in_flight``, the segments outstanding: RFC 5681's FlightSize, or the window, depending on
        ``tcp.ssthresh_from``; and ``min_window``, the lower limit of the reduction: 1 for a mark if the preset follows the RFCs
        (RFC 3168, RFC 9438), else 2. With ``recovery = "rack_tlp"``, spurious reductions are undone for built-in controllers but
        not for user code.
        """

    @abstractmethod
    def on_timeout(self, congestion: Congestion) -> None:
        """Handle a retransmission timeout. ``seen.repeated``: the segment had timed out before (RFC 5681, 3.1)."""

    def on_other_ack(self, ack: Ack) -> None:  # noqa: B027
        """Handle other ACKs: duplicates, and those during loss recovery. Called only if `subscriptions` is not empty."""

    def on_round_trip(self, measured: RoundTrip) -> None:  # noqa: B027
        """Handle a new RTT sample. Only `on_one_way_delay` is called earlier for the same acknowledgement.

        ``measured`` has ``sample_s`` and ``smoothed_s``, the smoothed RTT of the retransmission timer or None.
        """

    def on_one_way_delay(self, delay_s: float, now_s: float) -> None:  # noqa: B027
        """Handle a one-way delay reported by the receiver: the minimum, in seconds, over the segments that this acknowledgement
        is the first to report. Called before all other methods for the acknowledgement, which may be new, a duplicate or out of
        order. Called only if `subscriptions` has ``one_way_delay``."""

    def limit_window(self, segments: float) -> None:
        """Limit the window to `segments`.

        Called at the end of loss recovery, which must not release a burst (RFC 6582 section 3.2 step 3); when the echo of a mark
        would enlarge the window (RFC 3168 section 6.1.2); and when the window was not used (``tcp.window_validation``).
        """
        self.window = min(self.window, segments)


class Policy(ABC, Generic[PerFlow]):
    """A queue policy. It decides about units; the port stores and counts them, and discards units that do not fit.

    Parameters
    ----------
    **parameters
        The scenario's ``parameters``.

    Attributes
    ----------
    period_s : float or None
        Interval between calls of `on_period`, at least 1e-6 s. Read once, when the port is created.
    draw : Draw
        Random numbers of this port, determined by seed and link.
    """

    period_s: float | None = None
    draw: Draw

    def draw_from(self, draw: Draw) -> None:
        """Receive the source of random numbers. Called once, before all other methods."""
        self.draw = draw

    def new_flow(self) -> PerFlow | Any:
        """State of the policy for a new flow (VC), created before its first unit and stored by the port. By default an empty
        dictionary."""
        return {}

    @abstractmethod
    def on_arrival(self, unit: Unit, flow: PerFlow, buffer: Occupancy, now_s: float) -> Verdict:
        """Decide about an arriving unit.

        ``unit`` has ``bytes`` and ``is_last`` (of its frame; a packet is a frame of its own). ``buffer`` has ``units`` and
        ``bytes`` in total, ``flow_units``, ``flows`` whose route crosses the port, ``backlogged`` flows, ``has_room``
        for this unit, ``idle_s`` since the last transmission, and ``rate_bps``. The unit in transmission is included only if the
        queue counts it.
        """

    def on_departure(self, unit: Unit, departure: Departure) -> Verdict:
        """Decide about a unit at the head of the queue. ``departure`` has ``now_s``, ``waited_s`` and ``bytes_behind``."""
        return Verdict.ACCEPT

    def on_signal(self, unit: Unit, departure: Departure, signal: Signal) -> None:
        """Rewrite the congestion signals of a departing unit.

        ``signal`` has ``ecn_capable`` (of an ECN mark), ``is_marked`` and ``price``, a float or None; the last two can be set.
        Only units of flows whose controller asks for prices carry a price.
        """

    def on_period(self, held_bytes: int, rate_bps: int) -> None:
        """Called every `period_s`, with the bytes in the queue and the rate of the port."""


class Application(ABC):
    """The client of one flow, at its receiver: it requests data from the sender, which answers each request with a response.

    Parameters
    ----------
    **parameters
        The scenario's ``parameters``.

    Attributes
    ----------
    draw : Draw
        Random numbers of this flow, determined by seed, group and flow.
    """

    draw: Draw
    _decisions: list[tuple[Any, ...]] | None = None

    def draw_from(self, draw: Draw) -> None:
        """Receive the source of random numbers. Called once, before all other methods."""
        self.draw = draw

    @abstractmethod
    def on_start(self, now_s: float) -> None:
        """The flow starts. Without a request or a timer, nothing else happens."""

    def on_response(self, number: int, now_s: float) -> None:  # noqa: B027
        """All data of response `number`, counted from 0, are delivered. Responses have the order of their requests."""

    def on_timer(self, now_s: float) -> None:  # noqa: B027
        """A time of `wake` has come."""

    def request(self, response_bytes: int, *, after_s: float = 0.0, request_bytes: int = 300) -> None:
        """Request a response of this size.

        Parameters
        ----------
        response_bytes, request_bytes : int
            Payload of the response and of the request, 1 to 2**32 bytes.
        after_s : float
            Time until the request is written to TCP, in seconds. Requests are written in the order of these times.
        """
        self._decide(after_s, request_bytes, response_bytes)

    def wake(self, after_s: float) -> None:
        """Call `on_timer` after this time, above 0 s. Earlier calls remain in force."""
        self._decide(after_s)

    def _decide(self, *decision: Any) -> None:
        if self._decisions is None:
            self._decisions = []
        self._decisions.append(decision)

    def _take_decisions(self) -> list[tuple[Any, ...]]:
        decisions, self._decisions = self._decisions or [], None
        return decisions


class Ecn(IntEnum):
    """The ECN field of an IP header (RFC 3168 section 5; ECT(1): RFC 9331).

    Attributes
    ----------
    NOT_ECT
        Not ECN-capable: queues discard packets instead of marking them.
    ECT1, ECT0
        ECN-capable.
    CE
        A queue has marked the packet.
    """

    NOT_ECT = 0
    ECT1 = 1
    ECT0 = 2
    CE = 3


class Host(ABC):
    """A transport at one end of a flow, which receives and sends the payloads of UDP datagrams. Each flow has two objects.

    Calls follow from the simulation alone, so that a run can be repeated if the transport takes its time from `now_s` and its
    random numbers from ``end.seed``. Packets are IPv4 with UDP, 28 bytes longer than their payload. They go to the other end, at
    the port from which its last packet came.

    Parameters
    ----------
    end : HostEnd
        ``is_sender``: whether it is the end that sends the flow's data; ``size_bytes``: the data to send, None without a limit;
        ``start_s`` and ``stop_s``: times of the flow, the latter None without a stop; ``max_payload_bytes``: the largest payload
        that the interface sends; ``flow``: index in the group; ``seed``: of this end's random numbers.
    **parameters
        The scenario's ``parameters``.

    Attributes
    ----------
    end : HostEnd
    """

    def __init__(self, end: HostEnd) -> None:
        self.end = end

    @abstractmethod
    def receive(self, now_s: float, data: bytes, ecn: int) -> None:
        """Process the payload of a packet, and its ECN field as in `Ecn`. `poll` is called next, at the same time."""

    @abstractmethod
    def poll(self, now_s: float) -> Iterable[bytes | tuple[bytes, int]] | None:
        """Return the payloads to send now, or pairs of payload and ECN field; by default packets are not ECN-capable.

        Called at the start of the flow (a receiver: of the run), after each `receive`, and at the time of `deadline_s`.
        """

    def deadline_s(self) -> float | None:
        """Return the time of the next poll if nothing arrives; None if only an arrival can cause an action.

        Read after each `poll`. It must not be before the time of that poll.
        """
        return None

    def report(self) -> HostReport | None:
        """Return the state after the last `poll`, for the results of the run; None if nothing is known.

        Called at the end of the warm-up and of the run, unless the host has not been polled yet. Called after each `poll` of a
        sender whose `cwnd` or `rtt` is traced, and of the receiver of a transfer with a `size`: it is complete at the first
        `poll` after which ``delivered_bytes`` is at least its size.
        """
        return None


@dataclass(frozen=True, kw_only=True, slots=True)
class HostReport:
    """The state of a transport. Values that are None are missing in the results. Counts are whole numbers from 0 to 2**63 - 1.

    Attributes
    ----------
    delivered_bytes : int
        Payload that the application has read, in order. Results take it from the receiver, and everything else from the sender.
    cwnd_bytes : int
        Congestion window.
    ssthresh_bytes : int
        Slow-start threshold; None also while there is no limit.
    in_flight_bytes : int
        Data sent, and neither acknowledged nor declared lost.
    state : str
        State of congestion control, as in Linux: ``open``, ``disorder``, ``cwr``, ``recovery`` or ``loss``.
    smoothed_rtt_s, min_rtt_s : float
    rtt_samples : int
        Number of RTT samples since the start of the run, as the other counts.
    rtt_sum_s : float
        Sum of the RTT samples.
    rto_s : float
        Retransmission timeout, with its backoff.
    timeouts : int
        Expirations of the retransmission timer.
    retransmitted_packets : int
    lost_packets : int
        Packets declared lost.
    ended_at_s : float
        Time at which the transport ended the connection by itself, for example after a timeout. Before the transfer is complete
        and the application stops, this is a `HostWarning`.
    end_reason : str
        Why it did. Required with `ended_at_s`.
    """

    delivered_bytes: int | None = None
    cwnd_bytes: int | None = None
    ssthresh_bytes: int | None = None
    in_flight_bytes: int | None = None
    state: str | None = None
    smoothed_rtt_s: float | None = None
    min_rtt_s: float | None = None
    rtt_samples: int | None = None
    rtt_sum_s: float | None = None
    rto_s: float | None = None
    timeouts: int | None = None
    retransmitted_packets: int | None = None
    lost_packets: int | None = None
    ended_at_s: float | None = None
    end_reason: str | None = None


class Source(ABC):
    """A source of datagrams: their times and sizes.

    Parameters
    ----------
    **parameters
        The scenario's ``parameters``.
    """

    @abstractmethod
    def next(self, now_s: float, draw: Draw) -> tuple[float, int] | None:
        """Time until the next packet, in seconds from `now_s`, and its payload in bytes; None after the last packet.

        Called at the start of the flow and after each packet. ``draw`` gives the random numbers of this flow, the same that a
        built-in Poisson source uses for its gaps.
        """
