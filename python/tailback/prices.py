"""Price signalling schemes without a network: receivers estimate the price of a path from the marks on probe packets.

In a scenario, the table ``prices`` configures a scheme. Here the prices of the queues are given, and probes pass the queues in
order.
>>> import tailback as tb
>>> found = tb.prices.probe([[0.3], [0.1, 0.8]], after=[10, 100, 1000], scheme="adpm")
>>> found.errors.shape
(2, 3)
>>> bool((abs(found.errors[:, -1]) < 2 / 1000).all())
True
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from tailback import _core
from tailback._arguments import arguments_checked
from tailback.errors import ParameterError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["PriceEstimates", "probe"]

# Takes one or two minutes of a core with the slowest scheme.
_MAX_PROBES = 10**10
_SEEDS = 2**53


@dataclass(frozen=True)
class PriceEstimates:
    """Price estimates of the receivers: one row per path, one column per number of probes.

    Attributes
    ----------
    after : array of int
        Number of probes sent.
    estimates : array of float
        Estimate of the path's largest price, or of the sum of its prices, depending on the scheme.
    prices : array of float
        Its true value at the last of these probes.
    """

    after: NDArray[np.int64]
    estimates: NDArray[np.float64]
    prices: NDArray[np.float64]

    @property
    def errors(self) -> NDArray[np.float64]:
        """Estimates minus prices."""
        return self.estimates - self.prices


@arguments_checked
def probe(
    prices: Sequence[Sequence[float]],
    after: Sequence[int],
    *,
    scheme: str = "adpm",
    identification: str = "counting",
    ramp: float | None = None,
    step: tuple[int, float] | None = None,
    seed: int = 1,
    **settings: Any,
) -> PriceEstimates:
    """Send probes over paths whose queues have the given prices, and record the receivers' estimates.

    Parameters
    ----------
    prices : sequence of sequences of float
        Prices of each path's queues, 0 to 1. All paths have the same sequence of probes, but independent random marking.
    after : sequence of int
        Numbers of probes after which estimates are recorded, ascending, at least 1.
    scheme : str
        ``exact``, ``adpm``, ``rem``, ``ram``, ``tpm`` or ``rpm``; `settings` are its settings, as in a scenario's ``prices``.
    identification : str
        Generation of the packets' identification fields, from which probe types are derived: ``ack_counting``, ``from_one``,
        ``byte_swapped``, ``random``, ``checksum``.
    ramp : float, optional
        Change of the price of each path's first queue per probe; it reverses at 0 and 1.
    step : tuple of int and float, optional
        Probe number, from 0, and the price of each path's first queue from this probe on.
    seed : int
        Seed of the sequence of probes and of the random marking.

    Raises
    ------
    ParameterError
        A price is not from 0 to 1, numbers of probes do not ascend, a path has more queues than the scheme distinguishes, or
        both `ramp` and `step` are given.
    ScenarioError
        There is no such scheme or setting.

    Examples
    --------
    The estimate follows a price that jumps after a thousand probes within a few probes:

    >>> import tailback as tb
    >>> found = tb.prices.probe([[0.2]], after=[1000, 1010], step=(1000, 0.7))
    >>> [round(float(price), 2) for price in found.prices[0]]
    [0.2, 0.7]
    >>> bool(abs(found.errors[0, 1]) < 0.2)
    True
    """
    import numpy as np

    for name, value in settings.items():
        if isinstance(value, float) and not math.isfinite(value):
            raise ParameterError(f"{name} is {value}; expected a finite number")
    question = json.dumps({"scheme": scheme, "identification": identification, **settings})
    most = _core.max_hops(question)
    for number, path in enumerate(prices):
        if not isinstance(path, Sequence | np.ndarray):
            raise ParameterError(f"prices[{number}] is {path!r}; expected the prices of a path's queues, for example [0.5]")
        if not 1 <= len(path) <= most:
            raise ParameterError(f"prices[{number}] has {len(path)} queues; the scheme distinguishes 1 to {most} of them")
        for price in path:
            _check_price(f"prices[{number}]", price)
    if not len(after) or after[0] < 1 or any(later <= sooner for sooner, later in pairwise(after)):
        raise ParameterError("after does not ascend; expected numbers of probes in ascending order, the first at least 1")
    if after[-1] * sum(map(len, prices)) > _MAX_PROBES:
        raise ParameterError(f"after requests {after[-1]} probes on each path; expected at most {_MAX_PROBES} marks in all")
    if not isinstance(seed, int) or not 0 <= seed < _SEEDS:
        raise ParameterError(f"seed is {seed!r}; expected a whole number from 0 to {_SEEDS - 1}")
    if ramp is not None and step is not None:
        raise ParameterError("ramp and step are both given; expected one of them")
    if ramp is not None and not (math.isfinite(ramp) and abs(ramp) <= 1):
        raise ParameterError(f"ramp is {ramp}; expected a change per probe from -1 to 1")
    if step is not None:
        if not (isinstance(step, Sequence) and len(step) == 2 and isinstance(step[0], int)):
            raise ParameterError(f"step is {step!r}; expected a number of probes and a price, for example (1000, 0.7)")
        if step[0] < 0:
            raise ParameterError(f"step is at probe {step[0]}; expected a probe number of at least 0")
        _check_price("step", step[1])
    found = _core.probe_estimates(question, prices, after, seed=seed, ramp=ramp, step=step)
    table = np.frombuffer(found).reshape(len(prices), len(after), 2)
    return PriceEstimates(np.array(after, dtype=np.int64), table[:, :, 0], table[:, :, 1])


def _check_price(place: str, price: float) -> None:
    if not 0 <= price <= 1:
        raise ParameterError(f"{place} has a price of {price}; expected prices from 0 to 1")
