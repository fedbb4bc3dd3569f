"""Error of each model of a trunk, measured on a grid of parameters and interpolated."""

from __future__ import annotations

import csv
import math
from dataclasses import dataclass
from functools import cache
from itertools import pairwise, product
from typing import TYPE_CHECKING, Any

from tailback import _core
from tailback.errors import ParameterError
from tailback.models._closed_forms import TRUNK_VARIANTS, trunk_loss

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from tailback.models._closed_forms import LossModel, TrunkVariant

__all__ = [
    "BUFFERS",
    "CHANNELS",
    "COLUMNS",
    "COUNTLESS",
    "LOADS",
    "SHARES",
    "TrunkAccuracy",
    "measured",
    "ratios",
    "trunk_accuracy",
]

# The axes of the map, which tools/trunk_map.py measures.
COLUMNS = ("inputs", "transmitters", "buffer", "load", "variant", "loss", "half_width")
CHANNELS = (1, 2, 4, 8, 16, 32, 64, 256)
# Channels over inputs, as (channels, inputs). 0 represents an infinite number of inputs: a Poisson process, M/M/K/(K+B).
SHARES = ((0, 1), (1, 16), (1, 8), (1, 4), (1, 2), (2, 3), (4, 5))
BUFFERS = (0, 1, 2, 5, 10, 20, 50, 100)
LOADS = (0.1, 0.3, 0.5, 0.7, 0.8, 0.9, 1.0, 1.1, 1.3)

# Number of input links that approximates infinity.
COUNTLESS = 1_000_000


@dataclass(frozen=True)
class TrunkAccuracy:
    """Error of a model of a trunk.

    Attributes
    ----------
    ratio : float
        Loss in the model divided by the loss in the detailed model, interpolated between measured points; NaN outside the map.
    low, high : float
        The smallest and the largest ratio at the surrounding points. If they differ by more than a tenth, `ratio` is uncertain,
        and these bound the error.
    """

    ratio: float
    low: float
    high: float

    @property
    def mapped(self) -> bool:
        """Whether all surrounding points were measured."""
        return not math.isnan(self.ratio)

    @property
    def span(self) -> tuple[float, float]:
        """Range of the ratio; both ends are `ratio` if the surrounding points agree within a tenth."""
        return (self.low, self.high) if self.high > _WIDE * self.low else (self.ratio, self.ratio)

    def within(self, factor: float) -> bool:
        """Whether the whole span is within a factor, up or down: 1.05, 1.2 or 2."""
        return 1 / factor <= self.span[0] and self.span[1] <= factor

    def __str__(self) -> str:
        if not self.mapped:
            return "not mapped"
        low, high = self.span
        where = _error_text(low) if low == high else f"{_error_text(low)} to {_error_text(high)} at the surrounding points"
        bound = next((text for factor, text in _CLASSES if self.within(factor)), "")
        if not bound:
            certain = high < 0.5 or low > 2
            bound = "off by more than a factor of 2" if certain else "perhaps off by more than a factor of 2"
        return f"{bound} ({where})"


_CLASSES = ((1.05, "within 5 %"), (1.2, "within 20 %"), (2.0, "within a factor of 2"))
# Interpolation is not reliable if the surrounding points differ by more than this factor.
_WIDE = 1.1


def _error_text(ratio: float) -> str:
    if 0.5 <= ratio <= 2:
        return f"{100 * (ratio - 1):+.0f} %"
    return f"{ratio:.3g} times" if ratio > 1 else f"1/{1 / ratio:.3g}"


def trunk_accuracy(
    *,
    inputs: int,
    transmitters: int,
    buffer: int,
    load: float,
    model: LossModel = "g1dm",
    variant: TrunkVariant = "own_length",
) -> TrunkAccuracy:
    """Error of a model of `trunk_loss`, from simulations of the detailed model.

    The logarithm of the ratio is interpolated in log K, K/M, B and load. The map covers 1 to 256 channels, up to 4/5 of the
    inputs, buffers of 0 to 100 packets, and loads from 0.1 to 1.3, if losses are above about 1e-9; the memoryless variants are
    covered if their Markov chains are small.

    Parameters
    ----------
    inputs, transmitters, buffer, load, model
        As in `trunk_loss`.
    variant : str
        Variant of the detailed model, as in `simulate_trunk`.

    Raises
    ------
    ParameterError
        A parameter is not valid; the message names it, the given value and the valid values.

    References
    ----------
    docs/evidence/trunk_accuracy.md, with figures and the accuracy of the interpolation.

    Examples
    --------
    >>> import tailback as tb
    >>> trunk = dict(inputs=8, transmitters=2, buffer=20, load=0.9)
    >>> print(tb.models.trunk_accuracy(**trunk))
    within a factor of 2 (-49 %)
    >>> print(tb.models.trunk_accuracy(**trunk, model="ebl"))
    within 5 % (-2 %)
    >>> print(tb.models.trunk_accuracy(**trunk | {"buffer": 200}))
    not mapped
    """
    by_model = trunk_loss(inputs=inputs, transmitters=transmitters, buffer=buffer, load=load, model=model)
    if variant not in TRUNK_VARIANTS:
        raise ParameterError(f"`variant` is {variant!r}; expected one of {', '.join(TRUNK_VARIANTS)}")
    if load == 0 or inputs <= transmitters:
        # There is no loss, and only M/M/K/(K+B) predicts some.
        ratio = 1.0 if by_model.loss == 0 else math.inf
        return TrunkAccuracy(ratio, ratio, ratio)
    at = [
        _between([math.log(channels) for channels in CHANNELS], math.log(transmitters)),
        _between([channels / inputs for channels, inputs in SHARES], transmitters / inputs),
        _between(BUFFERS, buffer),
        _between(LOADS, load),
    ]
    corners = list(product(*at))
    weights = [math.prod(weight for _, weight in corner) for corner in corners]
    found = [ratios(model, variant)[tuple(place for place, _ in corner)] for corner in corners]
    if not corners or any(map(math.isnan, found)):
        return TrunkAccuracy(math.nan, math.nan, math.nan)
    mean = math.fsum(weight * ratio for weight, ratio in zip(weights, found, strict=True))
    return TrunkAccuracy(math.exp(mean), math.exp(min(found)), math.exp(max(found)))


def _between(axis: Any, value: float) -> list[tuple[int, float]]:
    """The grid points around a value on an axis, with their weights; empty outside the axis."""
    for place, (low, high) in enumerate(pairwise(axis)):
        if low <= value <= high:
            part = (value - low) / (high - low)
            return [(at, weight) for at, weight in ((place, 1 - part), (place + 1, part)) if weight > 0]
    return []


@cache
def ratios(model: LossModel, variant: TrunkVariant) -> NDArray[np.floating[Any]]:
    """Logarithm of the model's loss divided by the measured one; axes and missing values as in `measured`."""
    import numpy as np

    losses, _ = measured(variant)
    there = ~np.isnan(losses)
    channels, share, buffer, load = np.meshgrid(CHANNELS, range(len(SHARES)), BUFFERS, LOADS, indexing="ij")
    given, taken = np.array(SHARES).T
    inputs = np.where(share == 0, COUNTLESS, channels * taken[share] // np.maximum(given[share], 1))
    found = np.full(losses.shape, np.nan)
    trunk: dict[str, Any] = {
        "inputs": inputs[there],
        "transmitters": channels[there],
        "buffer": buffer[there],
        "load": load[there],
    }
    found[there] = trunk_loss(**trunk, model=model).log10_loss * math.log(10) - np.log(losses[there])
    return found


@cache
def measured(variant: TrunkVariant) -> tuple[NDArray[np.floating[Any]], NDArray[np.floating[Any]]]:
    """Loss in the detailed model and half width of its 95 % interval, over channels, shares, buffers, loads; NaN if missing."""
    import numpy as np

    losses, half_widths = (np.full((len(CHANNELS), len(SHARES), len(BUFFERS), len(LOADS)), np.nan) for _ in range(2))
    poisson = trunk_loss(
        inputs=COUNTLESS,
        transmitters=np.reshape(CHANNELS, (-1, 1, 1)),
        buffer=np.reshape(BUFFERS, (1, -1, 1)),
        load=np.array(LOADS),
        model="mmkkb",
    )
    losses[:, 0], half_widths[:, 0] = np.where(poisson.loss > 0, poisson.loss, np.nan), 0.0
    for row in csv.DictReader(_core.TRUNK_MAP.splitlines()):
        # Without a buffer all variants are equal.
        if row["variant"] == variant or row["buffer"] == "0":
            inputs, channels = int(row["inputs"]), int(row["transmitters"])
            share = next(at for at, (given, taken) in enumerate(SHARES) if given * inputs == taken * channels)
            place = (CHANNELS.index(channels), share, BUFFERS.index(int(row["buffer"])), LOADS.index(float(row["load"])))
            losses[place], half_widths[place] = float(row["loss"]), float(row["half_width"])
    return losses, half_widths
