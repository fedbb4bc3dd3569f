"""A judged draw, with the explanation of its differences."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from tailback._validation.draws import Settings, label
from tailback._validation.judging import Judgement, Result

__all__ = ["JudgedDraw"]


@dataclass(frozen=True)
class JudgedDraw:
    """A draw and its comparison.

    Attributes
    ----------
    settings : dict
    kinds : list of str
    judgements : tuple of Judgement
        By measure.
    runs : int
        Number of runs on each side.
    packet : dict, optional
        The first packet that differs, if a measure is outside its limit.
    reduced : dict, optional
        A simpler draw with the difference, for the worst ones.
    problem : str
        Error of the explanation.
    """

    settings: Settings
    kinds: list[str]
    judgements: tuple[Judgement, ...]
    runs: int
    packet: dict[str, Any] | None = None
    reduced: dict[str, Any] | None = None
    problem: str = ""

    @property
    def differs(self) -> bool:
        """Whether a decided measure is outside its limit."""
        return any(each.result is Result.OUTSIDE for each in self.judgements)

    @property
    def worst_measure(self) -> str:
        """The decided measure with the largest difference in units of its limit."""
        outside = [each for each in self.judgements if each.result is Result.OUTSIDE]
        return max(outside, key=lambda each: each.excess).measure

    @property
    def excess(self) -> float:
        """The largest difference of a decided measure in units of its limit."""
        return max((each.excess for each in self.judgements if each.result is Result.OUTSIDE), default=0.0)

    def to_dict(self) -> dict[str, Any]:
        """All values as plain data; infinite ones are None."""
        return {
            "name": self.settings["name"],
            "label": label(self.settings),
            "kinds": self.kinds,
            "runs": self.runs,
            "measures": [_plain(each) for each in self.judgements],
            "first_packet": self.packet,
            "reduced": self.reduced,
            "problem": self.problem,
            "settings": self.settings,
        }


def _plain(judgement: Judgement) -> dict[str, Any]:
    values = {**vars(judgement), "result": judgement.result.value}
    return {key: None if isinstance(value, float) and not math.isfinite(value) else value for key, value in values.items()}
