"""Price schemes without a network: what receivers conclude from the marks on probes.

In a network a scheme stands in the table ``prices`` of a scenario; here prices are given, and probes pass the queues one after
another.

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
from tailback.errors import ParameterError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["Probed", "probe"]

# A minute or two of a core, of the slowest scheme.
_MOST_PROBES = 10**10
_SEEDS = 2**53


@dataclass(frozen=True)
class Probed:
    """What receivers concluded: a row for each path, a column for each number of probes.

    Attributes
    ----------
    after : array of int
        Probes sent.
    estimates : array of float
        What the receiver takes for the largest price of the path, or for the sum of its prices, as the scheme tells it.
    prices : array of float
        What that was, at the last of these probes.
    """

    after: NDArray[np.int64]
    estimates: NDArray[np.float64]
    prices: NDArray[np.float64]

    @property
    def errors(self) -> NDArray[np.float64]:
        """Estimates less prices."""
        return self.estimates - self.prices


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
) -> Probed:
    """Send probes over paths whose queues have these prices, and read off what receivers conclude.

    Parameters
    ----------
    prices : sequence of sequences of float
        For each path the prices of its queues, 0 to 1. The sequence of probes is the same on all paths; what queues draw is not.
    after : sequence of int
        Numbers of probes after which estimates are read, ascending from 1 on.
    scheme : str
        ``exact``, ``adpm``, ``rem``, ``ram``, ``tpm`` or ``rpm``; `settings` are its settings, as in a scenario's ``prices``.
    identification : str
        How packets are identified, of which probes are made: ``counting``, ``from_one``, ``byte_swapped``, ``random``,
        ``checksum``.
    ramp : float, optional
        The price of each path's first queue changes by this with each probe, and turns round at 0 and 1.
    step : tuple of int and float, optional
        From this probe on, counted from 0, the price of each path's first queue is another.
    seed : int
        Of the sequence of probes and of what queues draw.

    Raises
    ------
    ParameterError
        If a price is not from 0 to 1, numbers of probes do not ascend, a path has more queues than the scheme tells apart, or
        both `ramp` and `step` are given.
    ScenarioError
        If there is no such scheme or setting.

    Examples
    --------
    A price that jumps after a thousand probes is found again within a few:

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
    most = _core.most_hops(question)
    for number, path in enumerate(prices):
        if not isinstance(path, Sequence | np.ndarray):
            raise ParameterError(f"prices[{number}] is {path!r}; expected the prices of a path's queues, such as [0.5]")
        if not 1 <= len(path) <= most:
            raise ParameterError(f"prices[{number}] is of {len(path)} queues; expected 1 to {most}, which the scheme tells apart")
        for price in path:
            _check_price(f"prices[{number}]", price)
    if not len(after) or after[0] < 1 or any(later <= sooner for sooner, later in pairwise(after)):
        raise ParameterError("after does not ascend; expected numbers of probes in ascending order, the first at least 1")
    if after[-1] * sum(map(len, prices)) > _MOST_PROBES:
        raise ParameterError(f"after asks for {after[-1]} probes on each path; expected at most {_MOST_PROBES} marks in all")
    if not isinstance(seed, int) or not 0 <= seed < _SEEDS:
        raise ParameterError(f"seed is {seed!r}; expected a whole number from 0 to {_SEEDS - 1}")
    if ramp is not None and step is not None:
        raise ParameterError("ramp and step are both given; expected one of them")
    if ramp is not None and not (math.isfinite(ramp) and abs(ramp) <= 1):
        raise ParameterError(f"ramp is {ramp}; expected a change for each probe from -1 to 1")
    if step is not None:
        if not (isinstance(step, Sequence) and len(step) == 2 and isinstance(step[0], int)):
            raise ParameterError(f"step is {step!r}; expected a number of probes and a price, such as (1000, 0.7)")
        if step[0] < 0:
            raise ParameterError(f"step is at probe {step[0]}; expected one from 0 on")
        _check_price("step", step[1])
    found = _core.probe_estimates(question, prices, after, seed=seed, ramp=ramp, step=step)
    table = np.frombuffer(found).reshape(len(prices), len(after), 2)
    return Probed(np.array(after, dtype=np.int64), table[:, :, 0], table[:, :, 1])


def _check_price(place: str, price: float) -> None:
    if not 0 <= price <= 1:
        raise ParameterError(f"{place} has a price of {price}; expected prices from 0 to 1")
