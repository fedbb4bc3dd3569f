"""Kernel and simulator side by side: how far apart, how sure, and what may be missing."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any

from tailback._interval import Interval
from tailback._validation.cases import Case
from tailback._validation.measures import Measure

__all__ = ["Comparison", "Verdict", "compared"]


class Verdict(Enum):
    """What the interval of the difference says."""

    AGREE = "agree"
    PART = "part"
    CANNOT_TELL = "cannot tell"


@dataclass(frozen=True)
class Comparison:
    """A measure of a case.

    Attributes
    ----------
    case, measure, unit : str
    labels : dict
    kernel, simulated : Interval
        Over the seeds.
    difference : Interval
        Simulated less kernel, with the same round trips, as a fraction of the kernel's mean; as it is where that is 0.
    bar : float
    verdict : Verdict
        ``agree`` if the whole interval lies within the bar, ``part`` if all of it lies beyond.
    missing : str
        What the simulator lacks there, as far as is known; empty unless they part.
    seeds : int
        In which the measure was defined on both sides.
    values : tuple
        Kernel's and simulator's, by seed: where shares vary with round trips, their distributions say more than means.
    """

    case: str
    labels: dict[str, Any]
    measure: str
    unit: str
    kernel: Interval
    simulated: Interval
    difference: Interval
    bar: float
    verdict: Verdict
    missing: str
    seeds: int
    values: tuple[tuple[float, float], ...]


def compared(case: Case, measure: Measure, kernel: Sequence[float], simulated: Sequence[float]) -> Comparison:
    """Values by seed, those of one seed with the same round trips and starts."""
    pairs = [(real, made) for real, made in zip(kernel, simulated, strict=True) if math.isfinite(real) and math.isfinite(made)]
    if len(pairs) < 2:
        nothing = Interval(math.nan, math.nan)
        verdict, ends = Verdict.CANNOT_TELL, (nothing, nothing, nothing)
    else:
        real, made = (Interval.of(values) for values in zip(*pairs, strict=True))
        apart = Interval.of([made - real for real, made in pairs])
        scale = real.mean if real.mean > 0 else 1.0
        difference = Interval(apart.mean / scale, apart.half / scale)
        verdict, ends = _verdict(difference, measure.bar), (real, made, difference)
    missing = _missing(case, measure) if verdict is Verdict.PART else ""
    return Comparison(
        case.name, dict(case.labels), measure.name, measure.unit, *ends, measure.bar, verdict, missing, len(pairs), tuple(pairs)
    )


def _verdict(difference: Interval, bar: float) -> Verdict:
    if -bar <= difference.low and difference.high <= bar:
        return Verdict.AGREE
    if difference.low > bar or difference.high < -bar:
        return Verdict.PART
    return Verdict.CANNOT_TELL


def _missing(case: Case, measure: Measure) -> str:
    """The mechanism of Linux that the simulator does not have and that is known to act there; the first that fits."""
    labels = case.labels
    is_long = labels["size_packets"] is not None and labels["size_packets"] > _SHORT_PACKETS
    if measure.name == "timeouts":
        return "lost retransmissions found without the timer (RACK-TLP, RFC 8985), and a scoreboard that survives it"
    if labels["ecn"]:
        return "what may be sent while the window is reduced: PRR (RFC 6937)"
    if "CUBIC" in labels["controller"] and is_long and measure.name == "retransmissions":
        return "slow start that ends before it loses: HyStart (RFC 9406)"
    if labels["delayed_ack"] and (labels["controller"] == "Reno" or measure.name == "completion time"):
        return "bytes are not counted: with half as many ACKs the window opens half as fast (RFC 3465, RFC 5681 section 3.1)"
    return "not known"


# Slow start alone carries such a transfer without a loss.
_SHORT_PACKETS = 100
