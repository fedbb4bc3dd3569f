"""The models of a prediction, the parts without a model, and the comparison with a run."""

from __future__ import annotations

import math
from dataclasses import dataclass

__all__ = ["AppliedModel", "Comparison", "Unmodelled"]


@dataclass(frozen=True)
class AppliedModel:
    """A model that was applied.

    Attributes
    ----------
    model : str
        Name, for example ``M/D/1``.
    source : str
    at : tuple of str
        Paths of the links and groups that it covers: ``links.bottleneck``, ``flows.web``.
    simplifies : tuple of str
        Simplifications in this case.
    warnings : tuple of str
        Known or unknown errors of the model in this case.
    """

    model: str
    source: str
    at: tuple[str, ...]
    simplifies: tuple[str, ...]
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True)
class Unmodelled:
    """A part of the scenario that no model covers: its path `at`, and the violated assumption `why`."""

    at: str
    why: str


@dataclass(frozen=True)
class Comparison:
    """Predicted and measured value of a quantity of a queue or a group."""

    of: str
    quantity: str
    predicted: float
    measured: float

    @property
    def distance(self) -> float:
        """Predicted divided by measured, minus 1; the difference for shares of time or of packets."""
        if self.quantity in ("utilisation", "loss_rate"):
            return self.predicted - self.measured
        if self.predicted == self.measured:
            return 0.0
        return self.predicted / self.measured - 1 if self.measured else math.inf
