"""The runs of the second question: BPD and EPD over their thresholds, in both topologies of bpd-2001.

tailback-papers defines them and declares its module as an entry point, because this package does not depend on it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from importlib.metadata import entry_points
from typing import Protocol

from tailback._interval import Interval
from tailback._study.measurements import Tally
from tailback.papers import Experiment, Outcome
from tailback.papers._measured import Point

__all__ = ["Case", "Definition", "Plan", "Study", "definition", "plan"]


class Definition(Protocol):
    """The module that defines the runs."""

    @property
    def PUBLISHED(self) -> Mapping[str, float]:
        """The document's goodput by policy."""

    @property
    def GAIN(self) -> float:
        """The document's gain."""

    @property
    def HEADLINE(self) -> tuple[str, float]:
        """Topology and tick of the case with these numbers."""

    def thresholds(self, *, full: bool) -> Mapping[str, tuple[float, ...]]:
        """Thresholds by policy."""

    def experiment(self, chosen: Mapping[str, tuple[float, ...]], /) -> Experiment:
        """The runs with these thresholds. Points have the labels ``policy``, ``topology`` and ``tick``."""


def definition() -> Definition | None:
    """The module that an installed package declares; None without one."""
    for entry in entry_points(group="tailback.demo", name="switch"):
        module: Definition = entry.load()
        return module
    return None


@dataclass(frozen=True)
class Case:
    """A topology, and a tick of the retransmission timer in seconds."""

    topology: str
    tick: float

    def best(self, study: Study, policy: str) -> Point:
        """The point with the highest mean goodput."""
        points = study.outcome.where(policy=policy, topology=self.topology, tick=self.tick)
        return max(points, key=lambda point: float(point.values["goodput"].mean()))

    def goodput(self, study: Study, policy: str) -> Interval:
        """Goodput with the best threshold."""
        return study.outcome.interval_of(self.best(study, policy), "goodput")

    def active(self, study: Study, policy: str) -> Interval:
        """Share of the time in which connections do not wait for a timeout, with the same threshold."""
        return study.outcome.interval_of(self.best(study, policy), "active")

    def gain(self, study: Study) -> Interval:
        """Relative gain in goodput of the best BPD over the best EPD, from runs with the same seeds."""
        ratio = self.best(study, "BPD").values["goodput"] / self.best(study, "EPD").values["goodput"]
        return study.outcome.interval(ratio - 1)


@dataclass(frozen=True)
class Plan:
    """The definition, its thresholds by policy as fractions of the buffer, and the number of seeds."""

    definition: Definition
    thresholds: Mapping[str, tuple[float, ...]]
    seeds: int


@dataclass(frozen=True)
class Study:
    """Results by case, and the cost of the runs."""

    plan: Plan
    outcome: Outcome
    tally: Tally

    @property
    def headline(self) -> Case:
        """The case with published numbers."""
        return Case(*self.plan.definition.HEADLINE)

    @cached_property
    def cases(self) -> list[Case]:
        """All cases, in the order of the runs."""
        labels = (point.labels for point in self.outcome.points)
        return list(dict.fromkeys(Case(str(each["topology"]), float(each["tick"])) for each in labels))


def plan(definition: Definition, *, full: bool) -> Plan:
    """All thresholds with 10 seeds, or half of them with 5."""
    return Plan(definition, definition.thresholds(full=full), 10 if full else 5)
