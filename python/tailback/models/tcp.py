"""What one TCP flow can carry, and when it repairs its losses."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tailback import _core
from tailback.models.broadcasting import one, over

if TYPE_CHECKING:
    from tailback.models.broadcasting import Numbers, Result

__all__ = [
    "FastRetransmit",
    "SlowStart",
    "fast_retransmit",
    "mathis_rate",
    "padhye_goodput",
    "padhye_rate",
    "single_flow_mean_queue",
    "single_flow_utilisation",
    "slow_start",
    "window_limited_rate",
]


@dataclass(frozen=True)
class SlowStart:
    """How a transfer without loss went.

    Attributes
    ----------
    round_trips : int or array
        Windows that the transfer takes, the last perhaps unfinished.
    completion_s : float or array
        Seconds from the first bit sent to the last acknowledgement received.
    """

    round_trips: Result
    completion_s: Result


@dataclass(frozen=True)
class FastRetransmit:
    """What becomes of the losses of one window.

    Attributes
    ----------
    recovers : bool
        All losses are repaired without a timeout.
    retransmitted : int
        Losses repaired by fast retransmit, the first ones.
    new_segments : tuple of int
        New segments sent during the recovery of each of these.
    failed_condition : int or None
        The first of the conditions 1 to 4 that does not hold; the timer repairs that loss.
    failed_formula : str or None
        That condition, for N losses n1 < n2 < ... of a window W.
    """

    recovers: bool
    retransmitted: int
    new_segments: tuple[int, ...]
    failed_condition: int | None
    failed_formula: str | None


def mathis_rate(*, mss_bytes: Numbers, rtt_s: Numbers, loss: Numbers, segments_per_ack: Numbers = 1) -> Result:
    """The square-root law: payload rate of a greedy flow under light random loss.

    Parameters
    ----------
    mss_bytes : float or array
        Payload of a segment, bytes, > 0.
    rtt_s : float or array
        Round trip with queueing, seconds, > 0.
    loss : float or array
        Per segment, above 0 and below 1; good up to about 0.01.
    segments_per_ack : int or array
        1, or 2 with delayed acknowledgements.

    Returns
    -------
    float or array
        bit/s.

    References
    ----------
    Mathis, Semke, Mahdavi and Ott, CCR 27(3), 1997, equation (3).

    Examples
    --------
    >>> import tailback as tb
    >>> round(tb.models.mathis_rate(mss_bytes=1000, rtt_s=0.1, loss=0.006))
    1264911
    """
    return over(_core.mathis_rate, mss_bytes=mss_bytes, rtt_s=rtt_s, loss=loss, segments_per_ack=segments_per_ack)


def padhye_rate(
    *,
    mss_bytes: Numbers,
    rtt_s: Numbers,
    loss: Numbers,
    rto_s: Numbers,
    receiver_window: Numbers,
    segments_per_ack: Numbers = 1,
) -> Result:
    """Sending rate of a greedy Reno flow with timeouts and a window limit, retransmissions included.

    Parameters
    ----------
    mss_bytes, rtt_s, loss, segments_per_ack
        As in `mathis_rate`; `loss` is loss indications over packets sent.
    rto_s : float or array
        First timeout, seconds, > 0; it doubles up to 64 times.
    receiver_window : int or array
        Segments, >= 1.

    Returns
    -------
    float or array
        Payload, bit/s.

    References
    ----------
    Padhye, Firoiu, Towsley and Kurose, SIGCOMM 1998, section 2.3.

    Examples
    --------
    >>> import tailback as tb
    >>> flow = dict(mss_bytes=1000, rtt_s=0.1, loss=0.01)
    >>> tb.models.padhye_rate(**flow, rto_s=1, receiver_window=1000) < tb.models.mathis_rate(**flow)
    True
    """
    return over(
        _core.padhye_rate,
        mss_bytes=mss_bytes,
        rtt_s=rtt_s,
        loss=loss,
        rto_s=rto_s,
        receiver_window=receiver_window,
        segments_per_ack=segments_per_ack,
    )


def padhye_goodput(
    *,
    mss_bytes: Numbers,
    rtt_s: Numbers,
    loss: Numbers,
    rto_s: Numbers,
    receiver_window: Numbers,
    segments_per_ack: Numbers = 1,
) -> Result:
    """Rate at which the payload of a greedy Reno flow arrives; parameters as in `padhye_rate`.

    References
    ----------
    Padhye, Firoiu, Towsley and Kurose, IEEE/ACM ToN 8(2), 2000, section V.

    Examples
    --------
    >>> import tailback as tb
    >>> flow = dict(mss_bytes=1000, rtt_s=0.1, loss=0.01, rto_s=1, receiver_window=1000)
    >>> tb.models.padhye_goodput(**flow) < tb.models.padhye_rate(**flow)
    True
    """
    return over(
        _core.padhye_goodput,
        mss_bytes=mss_bytes,
        rtt_s=rtt_s,
        loss=loss,
        rto_s=rto_s,
        receiver_window=receiver_window,
        segments_per_ack=segments_per_ack,
    )


def single_flow_utilisation(buffer_over_bdp: Numbers) -> Result:
    """Utilisation of a link that carries one greedy Reno-like flow, 0.75 to 1.

    ``(3/4) (1 + b)^2 / (1 + b + b^2)`` for b <= 1 and 1 beyond: a fluid sawtooth without slow start or timeouts.

    Parameters
    ----------
    buffer_over_bdp : float or array
        Waiting places over rate times two-way propagation, >= 0.

    References
    ----------
    Villamizar and Song, CCR 24(5), 1994; Appenzeller, Keslassy and McKeown, SIGCOMM 2004, section 2.

    Examples
    --------
    >>> import tailback as tb
    >>> tb.models.single_flow_utilisation([0, 1]).tolist()
    [0.75, 1.0]
    """
    return over(_core.single_flow_utilisation, buffer_over_bdp=buffer_over_bdp)


def single_flow_mean_queue(buffer_over_bdp: Numbers) -> Result:
    """Mean queue of the same sawtooth as in `single_flow_utilisation`, in bandwidth-delay products.

    Parameters
    ----------
    buffer_over_bdp : float or array
        Waiting places over rate times two-way propagation, >= 0.

    References
    ----------
    Derived in docs/theory.md.

    Examples
    --------
    >>> import tailback as tb
    >>> round(tb.models.single_flow_mean_queue(1), 4)
    0.5556
    """
    return over(_core.single_flow_mean_queue, buffer_over_bdp=buffer_over_bdp)


def slow_start(*, segments: Numbers, initial_window: Numbers, rtt_s: Numbers, segment_s: Numbers) -> SlowStart:
    """A finite transfer that never leaves slow start: no loss, no delayed acknowledgement, no limit on the window.

    Parameters
    ----------
    segments : int or array
        Full segments to transfer, >= 1.
    initial_window : int or array
        Segments, >= 1.
    rtt_s : float or array
        From the first bit of a segment to its acknowledgement in an empty network, seconds.
    segment_s : float or array
        Time that the slowest link takes for a segment, seconds.

    References
    ----------
    RFC 5681 section 3.1; Kurose and Ross, Computer Networking, 2nd ed., section 3.7.

    Examples
    --------
    >>> import tailback as tb
    >>> tb.models.slow_start(segments=7, initial_window=1, rtt_s=0.1, segment_s=0.001).round_trips
    3
    """
    round_trips, completion_s = over(
        _core.slow_start, segments=segments, initial_window=initial_window, rtt_s=rtt_s, segment_s=segment_s
    )
    whole = int(round_trips) if isinstance(round_trips, float) else round_trips.astype(int)
    return SlowStart(whole, completion_s)


def window_limited_rate(*, window_bytes: Numbers, rtt_s: Numbers, capacity_bps: Numbers) -> Result:
    """Rate of a flow that its window or the link holds back: the smaller of window over RTT and capacity, bit/s.

    Parameters
    ----------
    window_bytes : float or array
        Bytes in flight that the window allows, counted as the rate shall be.
    rtt_s : float or array
        Empty network, serialisation included, seconds.
    capacity_bps : float or array
        Of the slowest link, bit/s.

    References
    ----------
    RFC 7323 section 1.1.

    Examples
    --------
    >>> import tailback as tb
    >>> tb.models.window_limited_rate(window_bytes=65535, rtt_s=0.1, capacity_bps=1e9)
    5242800.0
    """
    return over(_core.window_limited_rate, window_bytes=window_bytes, rtt_s=rtt_s, capacity_bps=capacity_bps)


def fast_retransmit(window: int, lost: Sequence[int]) -> FastRetransmit:
    """When does Reno repair the losses of one window without a timeout?

    Parameters
    ----------
    window : int
        Segments in flight, 1 to 1,000,000.
    lost : sequence of int
        Positions of the lost segments, 0 to ``window - 1``, increasing.

    References
    ----------
    The balanced-packet-discard paper (bpd-2001), section 2.2, conditions (1) to (4).

    Examples
    --------
    >>> import tailback as tb
    >>> tb.models.fast_retransmit(10, [0, 4]).recovers
    True
    >>> tb.models.fast_retransmit(9, [0, 4]).failed_formula
    'W/2 - N >= 3'
    """
    recovers, retransmitted, new_segments, failed = one(_core.fast_retransmit, window, list(lost))
    number, formula = failed or (None, None)
    return FastRetransmit(recovers, retransmitted, tuple(new_segments), number, formula)
