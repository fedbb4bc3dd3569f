"""What a law, a policy and a source have to be able to do: the core's own interfaces, in Python."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Set
from enum import Enum
from typing import Any, ClassVar, Generic, TypeVar

from tailback._core import Ack, Congestion, Draw, Occupancy, RoundTrip, Signal, Start, Turn, Unit

__all__ = ["Controller", "Policy", "Source", "Verdict"]

PerFlow = TypeVar("PerFlow")


class Verdict(Enum):
    """What a policy decides about one unit, a packet or a cell. An accepted unit is still refused if there is no room.

    Attributes
    ----------
    ACCEPT
        Take it.
    MARK
        Tell its sender of congestion (RFC 3168). The port discards a unit that cannot carry the mark.
    DISCARD
        Refuse it although there may be room; counted as ``early``. Of a departing unit, counted as ``late``.
    DISCARD_PARTIAL
        It belongs to a frame that has already lost a cell; counted as ``partial``.
    DISCARD_SINGLE
        The one packet discarded from a queue that is building up; counted as ``single``.
    DISCARD_FULL
        There is no room; counted as ``full``, as is what the port itself refuses.
    """

    ACCEPT = "accept"
    MARK = "mark"
    DISCARD = "discard"
    DISCARD_PARTIAL = "partial"
    DISCARD_SINGLE = "single"
    DISCARD_FULL = "full"


class Controller(ABC):
    """The control law of one flow. It learns what loss recovery concluded, never how.

    After each call Tailback reads `window`, `ssthresh` and `pacing_bps`.

    Parameters
    ----------
    start : Start
        Its ``window`` and ``ssthresh`` are the scenario's, in segments; ``packet_bytes`` is a full segment with its headers;
        ``counts_bytes``: in congestion avoidance a segment more belongs to a whole window acknowledged (RFC 3465 section 2.1),
        not ``1 / window`` to each acknowledgement.
    **parameters
        The scenario's ``parameters``.

    Attributes
    ----------
    window : float
        Congestion window in segments: finite, at least 1. Only its whole part is used.
    ssthresh : float
        Slow-start threshold in segments: at least 1, infinite where the law has none.
    pacing_bps : float or None
        The rate on the wire, bit/s, at which full segments leave; None leaves it to acknowledgements, or to ``tcp.pacing``.
    release : int or None
        At most this many segments leave because of the acknowledgement just received, >= 0; None leaves it to the window. Read
        only if `asks_for` has ``release``.
    asks_for : set of str
        What the class asks for that most laws do not need, for all flows alike: ``marks``, an exact count of them
        (``ack.marks``); ``price``, what the path's queues wrote (``ack.price``); ``delivered_rate``, samples of it
        (``ack.delivered_rate``); ``one_way_delay``, as the receiver measures it (`on_one_way_delay`); ``release``, to bound what
        an acknowledgement releases.
    draw : Draw
        Random numbers of this flow: seed, group and flow decide them.
    """

    window: float
    ssthresh: float
    pacing_bps: float | None = None
    release: int | None = None
    asks_for: ClassVar[Set[str]] = frozenset()
    draw: Draw

    def __init__(self, start: Start) -> None:
        self.window, self.ssthresh = start.window, start.ssthresh

    def draw_from(self, draw: Draw) -> None:
        """Called once, before anything else: where random numbers come from."""
        self.draw = draw

    @abstractmethod
    def on_ack(self, ack: Ack) -> None:
        """New data was acknowledged outside loss recovery.

        ``ack`` has ``now_s``; ``acked``, the segments that it acknowledges; ``counted``, those for which the window opens: all,
        fewer in slow start, or one (``tcp.counting``, ``tcp.slow_start_limit``); ``rtt_s``, a round-trip sample or None;
        ``in_flight``, segments outstanding before it; and ``window_validated``: the window may open, as it is smaller than the
        receiver's and used as far as ``tcp.window_validation`` asks. Where the class `asks_for` them: ``marks``, segments that
        arrived with a mark and that no earlier acknowledgement had reported; ``price``, or None; ``delivered_rate`` in segments
        per second, or None, with ``app_limited`` if there was too little data to fill the window.
        """

    @abstractmethod
    def on_congestion(self, seen: Congestion) -> None:
        """Loss recovery found congestion, or a mark reported it: once per episode.

        ``seen`` has ``now_s`` and ``in_flight``, the segments outstanding: RFC 5681's FlightSize, or the window, as
        ``tcp.halves`` says; and ``least_window``: the window is reduced no further, 1 for a mark where the preset follows the
        RFCs (RFC 3168, RFC 9438), else 2. With ``recovery = "rack_tlp"`` needless reductions are taken back of built-in laws,
        not of these.
        """

    @abstractmethod
    def on_timeout(self, seen: Congestion) -> None:
        """The retransmission timer expired; ``seen.repeated``: for a segment that had timed out before (RFC 5681, 3.1)."""

    def on_other_ack(self, ack: Ack) -> None:  # noqa: B027
        """An acknowledgement for which `on_ack` is not called: a duplicate, or one during loss recovery. Called only for classes
        with `asks_for`."""

    def on_round_trip(self, measured: RoundTrip) -> None:  # noqa: B027
        """A round trip was measured; called before anything else but `on_one_way_delay` about the acknowledgement that gave it.

        ``measured`` has ``sample_s`` and ``smoothed_s``, the retransmission timer's average or None.
        """

    def on_one_way_delay(self, delay_s: float, now_s: float) -> None:  # noqa: B027
        """The receiver reported how long data took, in seconds from when a segment was sent until it arrived: the least of the
        segments of which this acknowledgement is the first to tell. Called before anything else about the acknowledgement, be it
        new, a duplicate or late, and only for classes whose `asks_for` has ``one_way_delay``."""

    def limit_window(self, segments: float) -> None:
        """The window may be no larger.

        At the end of loss recovery, which must not release more at once (RFC 6582 section 3.2 step 3); where an echo of a mark
        would enlarge it (RFC 3168 section 6.1.2); and where it was not in use (``tcp.window_validation``).
        """
        self.window = min(self.window, segments)


class Policy(ABC, Generic[PerFlow]):
    """A queue policy. It decides; the port stores, counts and refuses what does not fit.

    Parameters
    ----------
    **parameters
        The scenario's ``parameters``.

    Attributes
    ----------
    period_s : float or None
        Time between calls of `on_period`, at least 1e-6 s. Read once, when the port is made.
    draw : Draw
        Random numbers of this port: seed and link decide them.
    """

    period_s: float | None = None
    draw: Draw

    def draw_from(self, draw: Draw) -> None:
        """Called once, before anything else: where random numbers come from."""
        self.draw = draw

    def new_flow(self) -> PerFlow | Any:
        """What the policy remembers about a flow (VC), made before its first unit: an empty dictionary unless overridden. The
        port keeps it."""
        return {}

    @abstractmethod
    def on_arrival(self, unit: Unit, flow: PerFlow, buffer: Occupancy, now_s: float) -> Verdict:
        """Decide what happens to an arriving unit.

        ``unit`` has ``bytes`` and ``is_last`` (of its frame; a packet is its own). ``buffer`` has ``units`` and ``bytes`` in
        total, ``of_flow`` in units, ``flows`` whose route crosses the port, ``backlogged`` flows, ``has_room`` for this unit,
        ``idle_s`` since the port last sent, and ``rate_bps``. The unit being sent is included only where the queue counts it.
        """

    def on_departure(self, unit: Unit, turn: Turn) -> Verdict:
        """The unit's turn to be sent has come. ``turn`` has ``now_s``, ``waited_s`` and ``bytes_behind`` it."""
        return Verdict.ACCEPT

    def on_signal(self, unit: Unit, turn: Turn, signal: Signal) -> None:
        """The unit is sent: what it carries may be rewritten.

        ``signal`` has ``is_capable`` of a mark, ``is_marked`` and ``price``, a float or None; the last two may be set. Only units
        of flows whose controller asks for prices carry one.
        """

    def on_period(self, held_bytes: int, rate_bps: int) -> None:
        """Called every `period_s`, with what the port holds and the rate at which it sends."""


class Source(ABC):
    """When a flow sends datagrams, and how large they are.

    Parameters
    ----------
    **parameters
        The scenario's ``parameters``.
    """

    @abstractmethod
    def next(self, now_s: float, draw: Draw) -> tuple[float, int] | None:
        """The wait until the next packet, in seconds from `now_s`, and its payload in bytes; None if there are no more.

        Asked at the start of the flow, and then with each packet that leaves. ``draw`` gives the random numbers of this flow,
        the same ones as a built-in Poisson source takes its gaps from.
        """
