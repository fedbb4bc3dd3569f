"""Figures 6, 7 and 14: ten sources that can each fill the link alone (sections 3 and 5)."""

from __future__ import annotations

from dataclasses import replace

from tailback.papers import (
    AxisValue,
    Curves,
    Experiment,
    Expression,
    Label,
    Line,
    Ranking,
    Variant,
    at,
    lines,
    lowest,
    quick_form,
    vary,
)
from tailback_papers.bpd_2001 import conditions, measures, networks
from tailback_papers.bpd_2001.conditions import TYPICAL, USUAL
from tailback_papers.claims import claims_of

__all__ = ["DEGRADATION", "EXPERIMENTS"]

claim = claims_of(__name__)

UPPER = {"upper threshold": "90 % of the buffer, as stated for figures 15 and 16; figure 12 varies it"}
MEASURES = {"goodput": measures.GOODPUT, "active": measures.ACTIVE, "fairness": measures.FAIRNESS}
CONDITIONS = (conditions.TICK_A, conditions.ACCESS)
FASTER, EQUAL = conditions.ACCESS.values

# Thresholds under other ticks and clocks: those that claims select.
FEW = (0.5, 0.7, 0.9, 1.0)


def in_a(all_thresholds: list[AxisValue], few: list[AxisValue]) -> tuple[Variant, ...]:
    """Policies in topology A; some of them under each alternative of the conditions."""
    return (
        *vary(networks.topology_a(), all_thresholds, networks.ticks(USUAL), topology="A", access=FASTER),
        *vary(networks.topology_a(), few, networks.ticks(TYPICAL), topology="A", access=FASTER),
        *vary(networks.topology_a("75 Mbps"), few, networks.ticks(USUAL), topology="A", access=EQUAL),
    )


BEFORE_BPD = in_a([*networks.PLAIN, *networks.PPD, *networks.epd()], [*networks.PLAIN, *networks.PPD, *networks.epd(FEW)])
IN_B = vary(
    networks.topology_b(), [*networks.PLAIN, *networks.PPD, *networks.epd()], networks.ticks(USUAL, TYPICAL), topology="B"
)


def goodput(policy: str, topology: str = "A") -> Expression:
    """Goodput with the best threshold, if the policy has one."""
    return at("goodput", topology=topology, policy=policy).max()


def epd_at(threshold: float, topology: str = "A") -> Expression:
    """Goodput of EPD at one threshold."""
    return at("goodput", topology=topology, policy="EPD", threshold=threshold)


def gain(topology: str) -> Expression:
    """Gain of the best EPD over PPD."""
    return goodput("EPD", topology) - goodput("PPD", topology)


def over_threshold(measure: str, axis: str, topology: str = "A", title: str = "") -> Curves:
    """One line per policy."""
    policies = {"plain ATM": "plain", "PPD": "PPD", "EPD": "EPD"}
    # The points of topology B have no access label.
    clocks: dict[str, Label] = {"access": FASTER} if topology == "A" else {}
    where: dict[str, Label] = {"topology": topology, "tick": USUAL, **clocks}
    shown = tuple(Line(name, {"policy": policy, **where}) for name, policy in policies.items())
    return Curves(measure, "threshold", shown, axis, "EPD threshold", title)


# A threshold between two of the plots, and a tick with which EPD is less active there and carries more.
QUARTER = 0.25
FINE = 0.02
AT_A_QUARTER = in_a(networks.epd([QUARTER]), networks.epd([QUARTER]))
WITH_FINE_TICKS = vary(
    networks.topology_a(),
    [*networks.PPD, *networks.epd([QUARTER, *FEW])],
    networks.ticks(FINE),
    topology="A",
    access=FASTER,
)


def more_with_less_activity() -> Expression:
    """The smaller of EPD's lead in goodput over PPD and its lag in activity, at the threshold where it is largest.

    With a threshold of the whole buffer, EPD is PPD.
    """
    thresholds = (QUARTER, *(each for each in networks.EPD_THRESHOLDS if each < 1))
    more = at("goodput", policy="EPD", threshold=thresholds) - at("goodput", policy="PPD")
    less = at("active", policy="PPD") - at("active", policy="EPD", threshold=thresholds)
    return lowest(more, less).max()


figure_6 = Experiment(
    id="bpd-2001/fig6",
    title="Plain ATM, PPD and EPD in topology A: goodput",
    question="How much of the link do ten connections use if each of them can fill it?",
    source="figure 6, section 3; no values in the text",
    variants=(*BEFORE_BPD, *IN_B),
    measures=MEASURES,
    fractions=("goodput",),
    times=3,
    claims=(
        claim("C7", goodput("PPD") > goodput("plain")),
        claim("C8", gain("A") > 0),
        claim("C8b", gain("B") > gain("A")),
        claim("C13e", goodput("EPD") - goodput("plain") <= 0.1),
        claim("C9", goodput("EPD") >= 0.9),
        claim("C10", epd_at(0.7, "B") > epd_at(0.1, "B")),
        claim("C10b", lowest(*(epd_at(0.9, each) - epd_at(1.0, each) for each in ("A", "B"))) > 0),
        claim("C10c", epd_at(0.7) > epd_at(0.9)),
    ),
    panels=(tuple(over_threshold("goodput", "goodput", each, f"topology {each}, tick 0.1 s") for each in ("A", "B")),),
    conditions=CONDITIONS,
    assumptions=networks.NORMALISED,
)

figure_7 = Experiment(
    id="bpd-2001/fig7",
    title="Plain ATM, PPD and EPD in topology A: activity",
    question="Must connections be active for the link to be full?",
    source="figure 7, section 3; no values in the text",
    variants=(*BEFORE_BPD, *AT_A_QUARTER, *WITH_FINE_TICKS),
    measures=MEASURES,
    fractions=("goodput",),
    times=3,
    claims=(
        claim("C11", gain("A") > 0),
        claim("C11b", more_with_less_activity() > 0),
        claim("C12", epd_at(0.9) - at("active", policy="EPD", threshold=0.9) > 0.25),
    ),
    panels=(over_threshold("active", "fraction of time active"),),
    conditions=(replace(conditions.TICK_A, values=(*conditions.TICKS_OF_A, FINE)), conditions.ACCESS),
    assumptions=networks.ACTIVITY,
)


def lead(topology: str) -> Expression:
    """Lead of the best BPD over the best EPD."""
    return goodput("BPD", topology) - goodput("EPD", topology)


figure_14 = Experiment(
    id="bpd-2001/fig14",
    title="BPD in topology A: goodput",
    question="Does BPD help even if timeouts do no harm?",
    source="figure 14, section 5; no values in the text",
    variants=(
        *in_a([*networks.bpd(), *networks.epd()], [*networks.bpd([0.4]), *networks.epd(FEW)]),
        *vary(networks.topology_b(), [*networks.bpd(), *networks.epd()], networks.ticks(USUAL, TYPICAL), topology="B"),
    ),
    measures=MEASURES,
    fractions=("goodput",),
    times=3,
    claims=(
        claim("C21", lead("A").equals(0, 0.03)),
        claim("C21a", lead("A") > 0),
        claim("C21b", lead("B") > lead("A")),
    ),
    panels=(
        Curves(
            "goodput",
            "threshold",
            lines("policy", {"BPD, gap 25": "BPD", "EPD": "EPD"}, topology="A", tick=USUAL, access=FASTER),
            "goodput",
            "lower threshold, or EPD threshold",
        ),
    ),
    conditions=CONDITIONS,
    assumptions={**UPPER, **networks.NORMALISED},
)

IDLE = "1 - queues.bottleneck.utilisation"
CORRUPTED = f"queues.bottleneck.utilisation * {measures.BADPUT}"

DEGRADATION = Experiment(
    id="bpd-2001/section3",
    title="Causes of a low throughput in topology A",
    question="Does the link lose more to cells of corrupted packets, or to idle times?",
    source="section 3",
    variants=in_a([*networks.PLAIN, *networks.PPD], [*networks.PLAIN, *networks.PPD]),
    measures={"corrupted": CORRUPTED, "idle": IDLE},
    fractions=("corrupted", "idle"),
    claims=(claim("C12b", at("corrupted", policy="plain") > at("idle", policy="plain")),),
    panels=tuple(
        Ranking(measure, lines("policy", {"plain ATM": "plain", "PPD": "PPD"}, tick=USUAL, access=FASTER), axis)
        for measure, axis in (("corrupted", "cells of corrupted packets"), ("idle", "idle"))
    ),
    conditions=CONDITIONS,
    times=3,
)

EXPERIMENTS = tuple(
    quick_form(each, "claims whose interval, with twenty seeds, includes the bound", times=2)
    for each in (figure_6, figure_7, figure_14)
)
