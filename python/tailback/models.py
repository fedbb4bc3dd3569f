"""Closed forms: what theory says of the quantities that the simulator measures.

Every parameter may be a number or an array; arrays are broadcast against each other, and the result is then an array of their
common shape. Queues are dimensionless: load is offered work over capacity, times are in mean service times.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from tailback import _core
from tailback.errors import ParameterError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Numbers: TypeAlias = float | Sequence[float] | NDArray[np.generic]
    Result: TypeAlias = Any  # a float for numbers, an array for arrays

__all__ = [
    "FastRetransmit",
    "FiniteQueue",
    "SlowStart",
    "erlang_b",
    "fast_retransmit",
    "mathis_rate",
    "md1_mean_wait",
    "md1k",
    "mm1k",
    "mmck",
    "padhye_goodput",
    "padhye_rate",
    "single_flow_utilisation",
    "slow_start",
    "window_limited_rate",
]


@dataclass(frozen=True)
class FiniteQueue:
    """A port with limited room in equilibrium.

    Attributes
    ----------
    loss : float or array
        Fraction of arrivals refused, 0 to 1.
    mean_number : float or array
        Mean number of units in the port, those in service included.
    mean_wait : float or array
        Mean time that an accepted unit waits before its service begins, in mean service times.
    """

    loss: Result
    mean_number: Result
    mean_wait: Result


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


def mm1k(load: Numbers, places: Numbers) -> FiniteQueue:
    """M/M/1/K: Poisson arrivals, exponential service, one transmitter.

    Parameters
    ----------
    load : float or array
        Offered load, >= 0; may exceed 1.
    places : int or array
        Units that fit, the one in service included; 0 to 1,000,000.

    Raises
    ------
    ParameterError
        Names the parameter, what was given and what fits.

    References
    ----------
    L. Kleinrock, Queueing Systems 1, 1975, section 3.6.

    Examples
    --------
    >>> import tailback as tb
    >>> tb.models.mm1k(load=1.0, places=4).loss
    0.2
    """
    return FiniteQueue(*_over(_core.mm1k, load, places))


def md1k(load: Numbers, places: Numbers) -> FiniteQueue:
    """M/D/1/K: Poisson arrivals, units of one size, one transmitter.

    Parameters
    ----------
    load : float or array
        Offered load, 0 to 500.
    places : int or array
        Units that fit, the one in service included; 0 to 10,000.

    References
    ----------
    R. B. Cooper, Introduction to Queueing Theory, 2nd ed., 1981, chapter 5.

    Examples
    --------
    >>> import tailback as tb
    >>> tb.models.md1k(load=0.8, places=10).loss < tb.models.mm1k(load=0.8, places=10).loss
    True
    """
    return FiniteQueue(*_over(_core.md1k, load, places))


def mmck(load: Numbers, servers: Numbers, places: Numbers) -> FiniteQueue:
    """M/M/c/K: Poisson arrivals, exponential service, `servers` transmitters.

    Parameters
    ----------
    load : float or array
        Offered work over the capacity of all transmitters, >= 0.
    servers : int or array
        Transmitters, 1 to 1,000,000.
    places : int or array
        Units that fit, those in service included; 0 to 1,000,000.

    References
    ----------
    L. Kleinrock, Queueing Systems 1, 1975, sections 3.5 to 3.8.

    Examples
    --------
    >>> import tailback as tb
    >>> tb.models.mmck(load=1.0, servers=1, places=4) == tb.models.mm1k(load=1.0, places=4)
    True
    """
    return FiniteQueue(*_over(_core.mmck, load, servers, places))


def erlang_b(load: Numbers, servers: Numbers) -> Result:
    """Erlang B: fraction of Poisson arrivals that find all transmitters of a port without waiting places busy.

    Parameters
    ----------
    load : float or array
        Offered load per transmitter, >= 0.
    servers : int or array
        Transmitters, 1 to 1,000,000.

    Returns
    -------
    float or array
        Loss, 0 to 1. Only the mean of the service time matters.

    References
    ----------
    L. Kleinrock, Queueing Systems 1, 1975, section 3.7.

    Examples
    --------
    >>> import tailback as tb
    >>> tb.models.erlang_b(load=1.0, servers=1)
    0.5
    """
    return _over(_core.erlang_b, load, servers)


def md1_mean_wait(load: Numbers) -> Result:
    """M/D/1: mean time that a unit waits before its service begins, in service times.

    Parameters
    ----------
    load : float or array
        At least 0 and below 1.

    References
    ----------
    L. Kleinrock, Queueing Systems 1, 1975, section 5.6 (Pollaczek-Khinchine).

    Examples
    --------
    >>> import tailback as tb
    >>> tb.models.md1_mean_wait(0.5)
    0.5
    """
    return _over(_core.md1_mean_wait, load)


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
    return _over(_core.mathis_rate, mss_bytes, rtt_s, loss, segments_per_ack)


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
    return _over(_core.padhye_rate, mss_bytes, rtt_s, loss, rto_s, receiver_window, segments_per_ack)


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
    return _over(_core.padhye_goodput, mss_bytes, rtt_s, loss, rto_s, receiver_window, segments_per_ack)


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
    return _over(_core.single_flow_utilisation, buffer_over_bdp)


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
    return SlowStart(*_over(_core.slow_start, segments, initial_window, rtt_s, segment_s))


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
    return _over(_core.window_limited_rate, window_bytes, rtt_s, capacity_bps)


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
    recovers, retransmitted, new_segments, failed = _one(_core.fast_retransmit, window, list(lost))
    number, formula = failed or (None, None)
    return FastRetransmit(recovers, retransmitted, tuple(new_segments), number, formula)


def _over(model: Callable[..., Any], *parameters: Any) -> Any:
    """The model of numbers, or of each element of arrays; several results become as many arrays."""
    if all(isinstance(value, (int, float)) for value in parameters):
        return _one(model, *parameters)
    import numpy as np

    broadcast = np.broadcast_arrays(*parameters)
    if broadcast[0].size == 0:
        raise ParameterError("an empty array; expected at least one number")
    flat = [[item.item() for item in array.ravel()] for array in broadcast]
    results = [_one(model, *values) for values in zip(*flat, strict=True)]
    shape = broadcast[0].shape
    if isinstance(results[0], tuple):
        return tuple(_shaped(column, shape) for column in zip(*results, strict=True))
    return _shaped(results, shape)


def _one(model: Callable[..., Any], *values: Any) -> Any:
    try:
        return model(*values)
    except (TypeError, OverflowError) as error:
        # PyO3 adds the name of the parameter as a note.
        raise ParameterError(", ".join([str(error), *getattr(error, "__notes__", [])])) from None


def _shaped(values: Sequence[Any], shape: tuple[int, ...]) -> Any:
    import numpy as np

    return cast("NDArray[Any]", np.array(values).reshape(shape))[()]
