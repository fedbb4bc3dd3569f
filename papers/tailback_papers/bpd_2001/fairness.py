"""Fairness under PPD, EPD and BPD (abstract, sections 1 and 7)."""

from __future__ import annotations

from tailback.papers import AxisValue, Experiment, Expression, Label, Line, Ranking, at, vary
from tailback_papers.bpd_2001 import conditions, measures
from tailback_papers.bpd_2001.networks import PPD, bpd, epd, ticks, topology_a, topology_b
from tailback_papers.claims import claims_of

__all__ = ["EXPERIMENTS"]

claim = claims_of(__name__)

NETWORKS = {"A": topology_a(), "A, equal clocks": topology_a("75 Mbps"), "B": topology_b()}
POLICIES: list[AxisValue] = [*PPD, *epd([0.5, 0.7, 0.9]), *bpd([0.4])]
TICK, TICKS = conditions.TICK_A, ticks(*conditions.TICKS_OF_A)
SHOWN: dict[str, dict[str, Label]] = {
    "PPD": {"policy": "PPD"},
    "EPD at 0.9": {"policy": "EPD", "threshold": 0.9},
    "BPD": {"policy": "BPD"},
}


def fairness(policy: str) -> Expression:
    """Jain's index of the connections; under EPD the mean over the thresholds."""
    return at("fairness", policy=policy).mean()


fairness_of_all = Experiment(
    id="bpd-2001/fairness",
    title="Fairness among the connections",
    question="How evenly do connections share the link?",
    source="abstract, sections 1 and 7; no values in the text",
    variants=tuple(variant for name, network in NETWORKS.items() for variant in vary(network, POLICIES, TICKS, network=name)),
    measures={"fairness": measures.FAIRNESS, "goodput": measures.GOODPUT},
    fractions=("goodput",),
    claims=(
        claim("C34", fairness("PPD") < 0.9),
        claim("C34b", fairness("EPD") < 0.9),
        claim("C34c", fairness("BPD") > 0.95),
        claim("C34d", fairness("BPD") > fairness("EPD")),
    ),
    panels=tuple(
        Ranking(
            "fairness",
            tuple(
                Line(f"{name}: {label}", {"network": name, "tick": tick, **where})
                for name in NETWORKS
                for label, where in SHOWN.items()
            ),
            f"fairness, tick {tick:g} s",
        )
        for tick in conditions.TICKS_OF_A
    ),
    times=2,
    conditions=(conditions.NETWORK, TICK),
    assumptions={"BPD": "LT 40 %, UT 90 %, gap 25"},
)

EXPERIMENTS = (fairness_of_all,)
