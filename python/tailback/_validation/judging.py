"""Judges draws: whether the means of kernel and simulator are within the limits of each measure, outside them, or undecided."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from statistics import fmean, pvariance

from tailback._run import Run
from tailback._validation import measures
from tailback._validation.draws import Settings
from tailback._validation.measures import Measure

__all__ = ["LIMITS", "Judgement", "Limit", "Result", "judge", "measures_of"]

# Standard errors from 0 at which a difference is not that of the starts and losses of a few runs.
_DECIDED = 3.0

# Larger relative differences count as this in `Judgement.excess`; they are infinite where the kernel has 0.
_MOST = 10.0


class Result(Enum):
    """Result of a measure of a draw."""

    WITHIN = "within"
    OUTSIDE = "outside"
    UNDECIDED = "undecided"


@dataclass(frozen=True)
class Limit:
    """Largest difference of the means: a share of the kernel's mean, or an absolute one in the unit of the measure."""

    share: float
    absolute: float = 0.0


@dataclass(frozen=True)
class Judgement:
    """Comparison of a measure of a draw.

    Attributes
    ----------
    measure, unit : str
    kernel, simulated : float
        Means of the runs.
    difference : float
        Simulated minus kernel, as a share of the kernel's mean; infinite if only that is 0.
    z : float
        The difference in standard errors; infinite if the runs of neither side vary.
    result : Result
        ``undecided`` outside the limit with a `z` below 3.
    """

    measure: str
    unit: str
    kernel: float
    simulated: float
    difference: float
    z: float
    result: Result

    @property
    def excess(self) -> float:
        """Size of the difference in units of the limit; 0 within it."""
        if self.result is Result.WITHIN:
            return 0.0
        return min(abs(self.difference), _MOST) / LIMITS[self.measure].share * min(1.0, abs(self.z) / _DECIDED)


def goodput(run: Run) -> float:
    """All flows together, in Mbit/s."""
    return measures.total(run, "goodput_bps") / 1e6


def completion(run: Run) -> float:
    """Mean completion time; until the end of the run for unfinished transfers, which otherwise would not count."""
    import numpy as np

    rows = measures.case_rows(run.flows["group"])
    times, starts = run.flows["completion_time_s"][rows], run.flows["start_s"][rows]
    return float(np.where(np.isnan(times), run.simulated_s - starts, times).mean())


_GOODPUT = Measure("goodput", "Mbit/s", goodput)
_COMPLETION = Measure("completion time", "s", completion)

LIMITS = {
    _GOODPUT.name: Limit(0.05),
    _COMPLETION.name: Limit(0.05),
    measures.QUEUE.name: Limit(0.10, 0.25),
    measures.RETRANSMISSIONS.name: Limit(0.10, 2),
    measures.TIMEOUTS.name: Limit(0.10, 2),
}


def measures_of(settings: Settings) -> tuple[Measure, ...]:
    """The measures of a draw: transfers have completion times."""
    some = (_GOODPUT, measures.QUEUE, measures.RETRANSMISSIONS, measures.TIMEOUTS)
    return (some[0], _COMPLETION, *some[1:]) if "segments" in settings["flows"][0] else some


def judge(measure: Measure, kernel: Sequence[float], simulated: Sequence[float]) -> Judgement:
    """Compare the values of the runs of both sides."""
    real, made = fmean(kernel), fmean(simulated)
    apart = made - real
    degrees = max(1, len(kernel) + len(simulated) - 2)
    variance = (pvariance(kernel) * len(kernel) + pvariance(simulated) * len(simulated)) / degrees
    error = math.sqrt(variance * (1 / len(kernel) + 1 / len(simulated)))
    share = apart / real if real else math.copysign(math.inf, apart) if apart else 0.0
    z = apart / error if error else math.copysign(math.inf, apart) if apart else 0.0
    limit = LIMITS[measure.name]
    if abs(share) <= limit.share or abs(apart) <= limit.absolute:
        result = Result.WITHIN
    else:
        result = Result.OUTSIDE if abs(z) >= _DECIDED else Result.UNDECIDED
    return Judgement(measure.name, measure.unit, real, made, share, z, result)
