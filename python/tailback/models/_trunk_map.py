"""How far each model of a trunk is off: measured on a grid, interpolated where the points around agree."""

from __future__ import annotations

import csv
import math
from dataclasses import dataclass
from functools import cache
from itertools import pairwise, product
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tailback.errors import ParameterError
from tailback.models._closed_forms import READINGS, trunk_loss

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from tailback.models._closed_forms import LossModel, Reading

__all__ = [
    "BUFFERS",
    "CHANNELS",
    "COLUMNS",
    "COUNTLESS",
    "FILE",
    "LOADS",
    "SHARES",
    "TrunkAccuracy",
    "measured",
    "ratios",
    "trunk_accuracy",
]

# Made by tools/trunk_map.py; the axes say where it measures.
FILE = Path(__file__).with_name("trunk_map.csv")
COLUMNS = ("inputs", "transmitters", "buffer", "load", "reading", "loss", "half_width")
CHANNELS = (1, 2, 4, 8, 16, 32, 64, 256)
# Channels over inputs, as (channels, inputs). 0 stands for inputs without number: a Poisson process, M/M/K/(K+B).
SHARES = ((0, 1), (1, 16), (1, 8), (1, 4), (1, 2), (2, 3), (4, 5))
BUFFERS = (0, 1, 2, 5, 10, 20, 50, 100)
LOADS = (0.1, 0.3, 0.5, 0.7, 0.8, 0.9, 1.0, 1.1, 1.3)

# As good as no end of input links.
COUNTLESS = 1_000_000


@dataclass(frozen=True)
class TrunkAccuracy:
    """How far a model of a trunk is off.

    Attributes
    ----------
    ratio : float
        Loss by the model over that of the detailed model, between the points that were measured; NaN where none were.
    low, high : float
        The smallest and the largest ratio at the surrounding points. Where they differ by more than a tenth, `ratio` is a guess,
        and these say how far the model may be off.
    """

    ratio: float
    low: float
    high: float

    @property
    def mapped(self) -> bool:
        """Whether it was measured all around."""
        return not math.isnan(self.ratio)

    @property
    def span(self) -> tuple[float, float]:
        """Between which ratios the model lies: both are `ratio` where the points around agree within a tenth."""
        return (self.low, self.high) if self.high > _WIDE * self.low else (self.ratio, self.ratio)

    def within(self, factor: float) -> bool:
        """Whether all of the span is off by no more than a factor, up or down: 1.05, 1.2 or 2."""
        return 1 / factor <= self.span[0] and self.span[1] <= factor

    def __str__(self) -> str:
        if not self.mapped:
            return "not mapped"
        low, high = self.span
        where = _off(low) if low == high else f"{_off(low)} to {_off(high)} at the points around"
        bound = next((text for factor, text in _CLASSES if self.within(factor)), "")
        if not bound:
            certain = high < 0.5 or low > 2
            bound = "off by more than a factor of 2" if certain else "perhaps off by more than a factor of 2"
        return f"{bound} ({where})"


_CLASSES = ((1.05, "within 5 %"), (1.2, "within 20 %"), (2.0, "within a factor of 2"))
# Points around that differ by more do not say what is between them.
_WIDE = 1.1


def _off(ratio: float) -> str:
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
    reading: Reading = "own_length",
) -> TrunkAccuracy:
    """How far a model of `trunk_loss` is off, from measurements of the detailed model.

    The logarithm of the ratio is interpolated in log K, K/M, B and load. The map covers 1 to 256 channels, up to 4/5 of the
    inputs, 0 to 100 places, and loads from 0.1 to 1.3, as far as losses are above about 1e-9; the memoryless readings as far as
    their chains are small.

    Parameters
    ----------
    inputs, transmitters, buffer, load, model
        As in `trunk_loss`.
    reading : str
        Of the detailed model, as in `simulate_trunk`.

    Raises
    ------
    ParameterError
        Names the parameter, what was given and what fits.

    References
    ----------
    docs/evidence/trunk_accuracy.md, with pictures and with how good the interpolation is.

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
    if reading not in READINGS:
        raise ParameterError(f"`reading` is {reading!r}; expected one of {', '.join(READINGS)}")
    if load == 0 or inputs <= transmitters:
        # Nothing is lost, and only M/M/K/(K+B) says otherwise.
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
    found = [ratios(model, reading)[tuple(place for place, _ in corner)] for corner in corners]
    if not corners or any(map(math.isnan, found)):
        return TrunkAccuracy(math.nan, math.nan, math.nan)
    mean = math.fsum(weight * ratio for weight, ratio in zip(weights, found, strict=True))
    return TrunkAccuracy(math.exp(mean), math.exp(min(found)), math.exp(max(found)))


def _between(axis: Any, value: float) -> list[tuple[int, float]]:
    """The places of an axis around a value, and their weights; none outside."""
    for place, (low, high) in enumerate(pairwise(axis)):
        if low <= value <= high:
            part = (value - low) / (high - low)
            return [(at, weight) for at, weight in ((place, 1 - part), (place + 1, part)) if weight > 0]
    return []


@cache
def ratios(model: LossModel, reading: Reading) -> NDArray[np.floating[Any]]:
    """Logarithm of the loss by the model over the measured one; axes and gaps as in `measured`."""
    import numpy as np

    losses, _ = measured(reading)
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
def measured(reading: Reading) -> tuple[NDArray[np.floating[Any]], NDArray[np.floating[Any]]]:
    """Loss in the detailed model, and half of its 95 % interval, over channels, shares, places and loads; NaN: not measured."""
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
    with FILE.open(newline="") as file:
        for row in csv.DictReader(file):
            # Without a place all readings are the same.
            if row["reading"] == reading or row["buffer"] == "0":
                inputs, channels = int(row["inputs"]), int(row["transmitters"])
                share = next(at for at, (given, taken) in enumerate(SHARES) if given * inputs == taken * channels)
                place = (CHANNELS.index(channels), share, BUFFERS.index(int(row["buffer"])), LOADS.index(float(row["load"])))
                losses[place], half_widths[place] = float(row["loss"]), float(row["half_width"])
    return losses, half_widths
