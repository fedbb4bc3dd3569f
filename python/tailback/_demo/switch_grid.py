"""The runs of the second question: BPD and EPD over their thresholds, in both topologies of bpd-2001."""

from __future__ import annotations

from dataclasses import dataclass

from tailback._interval import Interval
from tailback._study.measurements import Tally
from tailback.papers import Curves, Experiment, Line, Outcome, ReferenceLine, vary
from tailback.papers._measured import Point
from tailback_papers.bpd_2001 import measures
from tailback_papers.bpd_2001.networks import EPD_THRESHOLDS, LOWER_THRESHOLDS, TICKS, bpd, epd, ticks, topology_a, topology_b

__all__ = ["GAIN", "PUBLISHED", "Case", "Plan", "Study", "experiment", "plan"]

# Goodput with the best threshold in topology B (section 5).
PUBLISHED = {"EPD": 0.741, "BPD": 0.932}
# "An improvement of more than 25 %" (section 5).
GAIN = 0.25


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


# The document does not state the tick; with 0.3 s the simulator reproduces its goodputs.
HEADLINE = Case("B", 0.3)
CASES = (*(Case("B", tick) for tick in TICKS), Case("A", 0.1))


@dataclass(frozen=True)
class Plan:
    """Thresholds as fractions of the buffer, and the number of seeds."""

    epd: tuple[float, ...]
    bpd: tuple[float, ...]
    seeds: int


@dataclass(frozen=True)
class Study:
    """Results by case, and the cost of the runs."""

    plan: Plan
    outcome: Outcome
    tally: Tally


def plan(*, full: bool) -> Plan:
    """The thresholds of the document's plots with 10 seeds, or half of them with 5."""
    if full:
        return Plan(EPD_THRESHOLDS, LOWER_THRESHOLDS, 10)
    return Plan((0.1, 0.3, 0.5, 0.7, 0.9), (0.2, 0.3, 0.4, 0.6, 0.8), 5)


def experiment(plan: Plan) -> Experiment:
    """The plan as an experiment, so that experiments of documents and the demonstration run and store alike."""
    policies = [*bpd(plan.bpd), *epd(plan.epd)]
    return Experiment(
        id="demo/switch",
        title="Goodput with BPD and EPD",
        question="How much goodput does balanced packet discard gain at an ATM switch?",
        source="bpd-2001, figures 12 and 14",
        variants=(
            *vary(topology_b(), policies, ticks(*TICKS), topology="B"),
            *vary(topology_a(), policies, ticks(0.1), topology="A"),
        ),
        measures={"goodput": measures.GOODPUT, "active": measures.ACTIVE},
        fractions=("goodput", "active"),
        claims=(),
        panels=(tuple(_panel(case) for case in CASES if case.topology == "B"), (_panel(Case("A", 0.1)),)),
    )


def _panel(case: Case) -> Curves:
    return Curves(
        "goodput",
        "threshold",
        tuple(Line(policy, {"policy": policy, "topology": case.topology, "tick": case.tick}) for policy in ("BPD", "EPD")),
        "goodput",
        "threshold",
        title=f"tick {case.tick:g} s",
        reference_lines=tuple(ReferenceLine(f"{policy}: {value}", value) for policy, value in PUBLISHED.items())
        if case.topology == "B"
        else (),
    )
