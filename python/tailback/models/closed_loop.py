"""A trunk and the TCP flows that load it: the loss that makes the flows send the load that loses so much."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from tailback import _core
from tailback.errors import ParameterError, UnknownName
from tailback.models.broadcasting import in_order, over

if TYPE_CHECKING:
    from tailback.models.broadcasting import Numbers, Result

__all__ = ["ClosedLoop", "RoundTrips", "closed_loop", "round_trips"]

OpenLoop: TypeAlias = Literal["g1dm", "ebd", "ebi", "eb", "mmkkb", "ebl", "md1k"]

_DISTRIBUTIONS = ("lognormal", "pareto", "uniform")


@dataclass(frozen=True)
class ClosedLoop:
    """Where the flows and the trunk agree.

    Attributes
    ----------
    load : float or array
        Intended load: what the flows would send over what the transmitters carry. At most ``inputs / transmitters``.
    loss : float or array
        Fraction of packets lost; 0 where it is below the smallest float.
    ln_loss : float or array
        Its natural logarithm; minus infinity where nothing is lost.
    utilisation : float or array
        Share of the transmitters' capacity that is used, ``load * (1 - loss)``.
    throughput_bps : float or array
        The same in bit/s on the wire.
    inputs_full : bool or array
        The flows would send more than the input links carry; these are the bottleneck, not the trunk.
    keeps_bound : bool or array
        False where the utilisation came out above 1, which no trunk does: the loss model is beyond its range, as G1DM and EBI are
        with many waiting places at high loads. The numbers are then what the equations say, and no prediction.
    """

    load: Result
    loss: Result
    ln_loss: Result
    utilisation: Result
    throughput_bps: Result
    inputs_full: Result
    keeps_bound: Result


def closed_loop(
    *,
    inputs: Numbers,
    transmitters: Numbers,
    buffer: Numbers,
    rate_bps: Numbers,
    packet_bytes: Numbers,
    flows: Numbers,
    harmonic_rtt_s: Numbers,
    segments_per_ack: Numbers = 1,
    rto_s: Numbers | None = None,
    receiver_window: Numbers | None = None,
    model: OpenLoop = "g1dm",
) -> ClosedLoop:
    """Utilisation and loss of a trunk that greedy TCP flows share: the fixed point of a loss model and a law of TCP's rate.

    Parameters
    ----------
    inputs : int or array
        Input links M, each as fast as one transmitter, 1 to 1,000,000.
    transmitters : int or array
        Transmitters K that share the buffer, 1 to 1,000,000. With at least as many as inputs nothing is lost.
    buffer : int or array
        Packets that can wait, 0 to 1,000,000,000.
    rate_bps : float or array
        Of one transmitter.
    packet_bytes : float or array
        On the wire.
    flows : int or array
        Greedy flows N.
    harmonic_rtt_s : float or array
        Harmonic mean of their round trips without queueing; see `round_trips`. Queueing adds nothing: for small buffers.
    segments_per_ack : int or array
        1, or 2 with delayed acknowledgements.
    rto_s, receiver_window : float or int or array, optional
        First timeout in seconds and receiver window in segments: the rate is then Padhye's instead of the square-root law. Its
        timeouts make the harmonic mean an approximation where round trips differ.
    model : str
        Loss at a given load: ``"g1dm"``, ``"ebd"``, ``"ebi"``, ``"eb"``, ``"mmkkb"`` or ``"ebl"`` for packets of exponential
        length, as in `trunk_loss` (`trunk_accuracy` says how far each is off at the load that comes out); or
        ``"md1k"``, packets of one size and Poisson arrivals at one transmitter.

    Raises
    ------
    ParameterError
        Names the parameter, what was given and what fits.

    References
    ----------
    Y. Cui, Three problems in TCP performance analysis and congestion management, section 3.7.1, equations (3.19) to (3.22).

    Examples
    --------
    >>> import tailback as tb
    >>> trunk = dict(rate_bps=40e9, packet_bytes=1040, harmonic_rtt_s=0.1091)
    >>> end = tb.models.closed_loop(inputs=[32, 1600], transmitters=[2, 100], buffer=0, flows=[8000, 400_000], **trunk)
    >>> end.utilisation.round(2).tolist()
    [0.09, 0.71]
    """
    flow_law: dict[str, Any] = {"segments_per_ack": segments_per_ack}
    law: Any = _core.closed_loop_mathis
    if (rto_s is None) != (receiver_window is None):
        missing, given = ("rto_s", "receiver_window") if rto_s is None else ("receiver_window", "rto_s")
        raise ParameterError(f"`{given}` without `{missing}`; expected both, for Padhye's rate, or neither, for Mathis's")
    if rto_s is not None:
        law, flow_law = _core.closed_loop_padhye, flow_law | {"rto_s": rto_s, "receiver_window": receiver_window}
    load, ln_loss, utilisation, inputs_full, keeps_bound = over(
        in_order(partial(law, model)),
        inputs=inputs,
        transmitters=transmitters,
        buffer=buffer,
        rate_bps=rate_bps,
        packet_bytes=packet_bytes,
        flows=flows,
        harmonic_rtt_s=harmonic_rtt_s,
        **flow_law,
    )
    if isinstance(load, float):
        return ClosedLoop(
            load=load,
            loss=math.exp(ln_loss),
            ln_loss=ln_loss,
            utilisation=utilisation,
            throughput_bps=utilisation * float(transmitters) * float(rate_bps),  # type: ignore[arg-type]
            inputs_full=bool(inputs_full),
            keeps_bound=bool(keeps_bound),
        )
    import numpy as np

    return ClosedLoop(
        load=load,
        loss=np.exp(ln_loss),
        ln_loss=ln_loss,
        utilisation=utilisation,
        throughput_bps=utilisation * np.asarray(transmitters, float) * np.asarray(rate_bps, float),
        inputs_full=inputs_full.astype(bool),
        keeps_bound=keeps_bound.astype(bool),
    )


@dataclass(frozen=True)
class RoundTrips:
    """Means of the round trips of many flows.

    Attributes
    ----------
    harmonic_s : float
        Harmonic mean: flows of the square-root law send as much together as if all had this one.
    mean_s : float
        Arithmetic mean.
    max_s : float
        The longest; infinite where the distribution has no end.
    """

    harmonic_s: float
    mean_s: float
    max_s: float


def round_trips(rtt_s: float | Sequence[float] | Mapping[str, Any]) -> RoundTrips:
    """Means of round trips that are listed, or of a distribution.

    Parameters
    ----------
    rtt_s : float, sequence of float or mapping
        Seconds, > 0: one for all, one for each flow, or a distribution as a scenario has it: ``{"uniform": [low, high]}``,
        ``{"lognormal": {"median": m, "sigma": s}}`` or ``{"pareto": {"mean": m, "shape": a}}`` with a shape above 1.

    Raises
    ------
    ParameterError
        If one is not above 0. An exponential distribution has no harmonic mean but 0 and is refused.

    References
    ----------
    Y. Cui, Three problems in TCP performance analysis and congestion management, section 3.3.2: ``(b - a) / ln(b / a)``.

    Examples
    --------
    >>> import tailback as tb
    >>> round(tb.models.round_trips({"uniform": [0.06, 0.18]}).harmonic_s, 4)
    0.1092
    """
    if isinstance(rtt_s, Mapping):
        if len(rtt_s) != 1:
            raise ParameterError(f"`rtt_s` is {rtt_s!r}; expected one distribution such as {{'uniform': [0.06, 0.18]}}")
        [(word, shape)] = rtt_s.items()
        if word == "exponential":
            raise ParameterError("`rtt_s` is exponential, whose harmonic mean is 0; expected round trips that have a least")
        if word not in _DISTRIBUTIONS:
            raise UnknownName("distribution of round trips", word, _DISTRIBUTIONS)
        return _of_distribution(word, shape)
    values = [rtt_s] if isinstance(rtt_s, (int, float)) else list(rtt_s)
    if not values:
        raise ParameterError("`rtt_s` is empty; expected at least one round trip")
    trips = [_positive("rtt_s", value) for value in values]
    if min(trips) == max(trips):
        return RoundTrips(trips[0], trips[0], trips[0])
    return RoundTrips(len(trips) / math.fsum(1 / trip for trip in trips), math.fsum(trips) / len(trips), max(trips))


def _of_distribution(word: str, shape: Any) -> RoundTrips:
    try:
        if word == "uniform":
            low, high = shape
        elif word == "pareto":
            mean, exponent = shape["mean"], shape["shape"]
        else:
            median, sigma = shape["median"], shape["sigma"]
    except (TypeError, ValueError, KeyError):
        expected = {"uniform": "[low, high]", "pareto": "{'mean': m, 'shape': a}", "lognormal": "{'median': m, 'sigma': s}"}[word]
        raise ParameterError(f"`rtt_s.{word}` is {shape!r}; expected {expected}") from None
    if word == "uniform":
        low, high = _positive("rtt_s.uniform", low), _positive("rtt_s.uniform", high)
        if low > high:
            raise ParameterError(f"`rtt_s.uniform` is {shape!r}; expected the lower bound first")
        ratio = math.log(high / low)
        return RoundTrips((high - low) / ratio if ratio else low, (low + high) / 2, high)
    if word == "pareto":
        mean, exponent = _positive("rtt_s.pareto.mean", mean), _positive("rtt_s.pareto.shape", exponent)
        if exponent <= 1:
            raise ParameterError(f"`rtt_s.pareto.shape` is {exponent:g}; expected more than 1, so that there is a mean")
        # With the lowest value l = mean (a - 1) / a the mean of 1 / x is a / ((a + 1) l).
        lowest = mean * (exponent - 1) / exponent
        return RoundTrips(lowest * (exponent + 1) / exponent, mean, math.inf)
    median, sigma = _positive("rtt_s.lognormal.median", median), _positive("rtt_s.lognormal.sigma", sigma)
    spread = math.exp(sigma * sigma / 2)
    return RoundTrips(median / spread, median * spread, math.inf)


def _positive(name: str, value: Any) -> float:
    number = float(value) if isinstance(value, (int, float)) or hasattr(value, "__float__") else math.nan
    if not (0 < number < math.inf):
        raise ParameterError(f"`{name}` is {value!r}; expected a finite number above 0")
    return number
