"""What models have said so far: numbers by flow and by queue, and what was left out."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tailback.prediction._network import Network

__all__ = ["Applied", "Comparison", "Outcome", "Unmodelled"]


@dataclass(frozen=True)
class Applied:
    """A model at work.

    Attributes
    ----------
    model : str
        Its name, such as ``M/D/1``.
    source : str
    at : tuple of str
        Links and groups that it speaks of, as paths: ``links.bottleneck``, ``flows.web``.
    simplifies : tuple of str
        What it simplifies here.
    warnings : tuple of str
        Where it is known to be off here, and by how much, or where nobody has measured it.
    """

    model: str
    source: str
    at: tuple[str, ...]
    simplifies: tuple[str, ...]
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True)
class Unmodelled:
    """A part of the scenario that was left out: `at`, and `why`, the assumption that fails."""

    at: str
    why: str


@dataclass(frozen=True)
class Comparison:
    """A quantity of a queue or a group, predicted and measured."""

    of: str
    quantity: str
    predicted: float
    measured: float

    @property
    def distance(self) -> float:
        """Predicted over measured, less 1; the difference of shares of the time or of packets."""
        if self.quantity in ("utilisation", "loss_share"):
            return self.predicted - self.measured
        if self.predicted == self.measured:
            return 0.0
        return self.predicted / self.measured - 1 if self.measured else math.inf


class Outcome:
    """Collects what models say. What nobody says is NaN."""

    def __init__(self, network: Network) -> None:
        import numpy as np

        self.flows: dict[str, dict[str, NDArray[Any]]] = {
            group.name: {column: np.full(group.count, np.nan) for column in ("goodput_bps", "loss_share")}
            for group in network.groups
        }
        columns = ("loss_share", "utilisation", "mean_queue_units", "mean_wait_s")
        self.queues: dict[str, dict[str, float]] = {port: dict.fromkeys(columns, math.nan) for port in network.ports}
        self.models: list[Applied] = []
        self.left_out: list[Unmodelled] = []

    def say(self, model: str, source: str, at: list[str], simplifies: list[str], warnings: Sequence[str] = ()) -> None:
        self.models.append(Applied(model, source, tuple(at), tuple(simplifies), tuple(warnings)))

    def leave(self, at: str, why: str) -> None:
        part = Unmodelled(at, why)
        if part not in self.left_out:
            self.left_out.append(part)
