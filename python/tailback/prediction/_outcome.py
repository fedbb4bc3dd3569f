"""Accumulated results of a prediction: numbers by flow and by queue, applied models, and excluded parts."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tailback.prediction._network import Network

__all__ = ["AppliedModel", "Comparison", "Outcome", "Unmodelled"]


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


class Outcome:
    """Collects the results of models. Values that no model predicts are NaN."""

    def __init__(self, network: Network) -> None:
        import numpy as np

        self.flows: dict[str, dict[str, NDArray[Any]]] = {
            group.name: {column: np.full(group.count, np.nan) for column in ("goodput_bps", "loss_rate")}
            for group in network.groups
        }
        columns = ("loss_rate", "utilisation", "mean_queue_units", "mean_wait_s")
        self.queues: dict[str, dict[str, float]] = {port: dict.fromkeys(columns, math.nan) for port in network.ports}
        self.models: list[AppliedModel] = []
        self.excluded: list[Unmodelled] = []

    def add_model(self, model: str, source: str, at: list[str], simplifies: list[str], warnings: Sequence[str] = ()) -> None:
        self.models.append(AppliedModel(model, source, tuple(at), tuple(simplifies), tuple(warnings)))

    def exclude(self, at: str, why: str) -> None:
        part = Unmodelled(at, why)
        if part not in self.excluded:
            self.excluded.append(part)
