"""The second question of `tailback demo`, which finds this module as an entry point: BPD and EPD over their thresholds.

It is the headline of the document: figures 12 and 14, with one recovery period (25 packets).
"""

from __future__ import annotations

from collections.abc import Mapping

from tailback.papers import Curves, Experiment, Line, ReferenceLine, vary
from tailback_papers.bpd_2001 import measures
from tailback_papers.bpd_2001.networks import EPD_THRESHOLDS, LOWER_THRESHOLDS, TICKS, bpd, epd, ticks, topology_a, topology_b

__all__ = ["GAIN", "HEADLINE", "PUBLISHED", "experiment", "thresholds"]

# Goodput with the best threshold in topology B (section 5).
PUBLISHED: Mapping[str, float] = {"EPD": 0.741, "BPD": 0.932}
# "An improvement of more than 25 %" (section 5).
GAIN = 0.25
# Topology, and tick in seconds. The document does not state the tick; with 0.3 s the simulator reproduces its goodputs.
HEADLINE = ("B", 0.3)


def thresholds(*, full: bool) -> Mapping[str, tuple[float, ...]]:
    """The thresholds of the document's plots by policy, as fractions of the buffer, or half of them."""
    if full:
        return {"BPD": LOWER_THRESHOLDS, "EPD": EPD_THRESHOLDS}
    return {"BPD": (0.2, 0.3, 0.4, 0.6, 0.8), "EPD": (0.1, 0.3, 0.5, 0.7, 0.9)}


def experiment(chosen: Mapping[str, tuple[float, ...]]) -> Experiment:
    """Goodput and active share with these thresholds, in both topologies."""
    policies = [*bpd(chosen["BPD"]), *epd(chosen["EPD"])]
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
        panels=(tuple(_panel("B", tick) for tick in TICKS), (_panel("A", 0.1),)),
    )


def _panel(topology: str, tick: float) -> Curves:
    return Curves(
        "goodput",
        "threshold",
        tuple(Line(policy, {"policy": policy, "topology": topology, "tick": tick}) for policy in ("BPD", "EPD")),
        "goodput",
        "threshold",
        title=f"tick {tick:g} s",
        reference_lines=tuple(ReferenceLine(f"{policy}: {value}", value) for policy, value in PUBLISHED.items())
        if topology == "B"
        else (),
    )
