"""Error of each model of a trunk, measured on a grid of parameters and interpolated."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tailback import _core
from tailback._arguments import arguments_checked
from tailback.models._broadcasting import one

if TYPE_CHECKING:
    from tailback.models._closed_forms import LossModel, TrunkVariant

__all__ = ["TrunkAccuracy", "trunk_accuracy"]

# Interpolation is not reliable if the surrounding points differ by more than this factor.
_WIDE = 1.1


@arguments_checked
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
        return _core.trunk_accuracy_text(self.ratio, self.low, self.high)


@arguments_checked
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
    return TrunkAccuracy(*one(_core.trunk_accuracy, (inputs, transmitters, buffer), load, model, variant))
