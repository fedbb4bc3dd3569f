"""Figures 5.12 to 5.14: the queue of the second switch over time (section 5.5)."""

from __future__ import annotations

from typing import Any

from tailback.papers import (
    Assumption,
    AxisValue,
    Claim,
    Experiment,
    Inequality,
    Measured,
    ReferenceLine,
    Trace,
    TracePanel,
    Values,
    vary,
)
from tailback.papers.bpd_2001.traces import occupancy
from tailback.papers.spd_1998 import measures
from tailback.papers.spd_1998.networks import LONG, chain, epd, epd_per_vc, spd

__all__ = ["EXPERIMENTS"]

THRESHOLD = 600
# A packet that has begun is completed above the threshold: 22 more cells for each of 15 connections.
CAPPED = THRESHOLD + 15 * 22
LEVEL = ReferenceLine("600 cells", THRESHOLD)

QUEUE = AxisValue({}, {"record.traces": {"queue": ["link23"]}})
VARIANTS = vary(chain(15), [*epd([THRESHOLD]), *epd_per_vc([THRESHOLD]), *spd([THRESHOLD])], [LONG], [QUEUE])
MEASURES = {
    "max_queue": measures.max_queue,
    "mean_queue": measures.mean_queue,
    "time_above": measures.time_above(THRESHOLD),
    "zeros_per_second": measures.zeros_per_second,
    "normalised_goodput": measures.normalised_goodput,
}
WHICH = Assumption(
    "duration, timer and fast retransmit",
    "LONG, because the plots show several peaks; a run of 1.7 s has one. The panels show the first seed: minimum and maximum of "
    "each of 1000 intervals",
)


def at(results: Measured, measure: str, policy: str) -> Values:
    """A measure under one policy."""
    return results.values(measure, policy=policy)


def more(measure: str, policy: str, than: str) -> Any:
    """Difference between two policies."""
    return lambda results: at(results, measure, policy) - at(results, measure, than)


def figure(number: int, policy: str, title: str, claims: tuple[Claim, ...]) -> Experiment:
    """One queue over time."""
    return Experiment(
        id=f"spd-1998/fig5.{number}",
        title=title,
        question="How does the queue evolve?",
        source=f"figure 5.{number}, section 5.5: 15 connections, EPD threshold 600 of 1000 cells",
        variants=VARIANTS,
        measures=MEASURES,
        claims=claims,
        panels=((TracePanel((policy,), "cells in the buffer", "time, s", reference_lines=(LEVEL,)),),),
        traces=(Trace(policy, {"policy": policy}, {"queue": ["link23"]}, occupancy),),
        assumptions=(WHICH,),
    )


EXPERIMENTS = (
    figure(
        12,
        "EPD",
        "The queue under EPD",
        (
            Claim(
                "C44",
                "reproduced",
                "the queue never exceeds 600 cells plus a packet's tail per connection",
                lambda results: at(results, "max_queue", "EPD"),
                Inequality("<=", CAPPED),
            ),
        ),
    ),
    figure(
        13,
        "EPD per VC",
        "The queue under EPD per VC",
        (
            Claim(
                "C45",
                "reproduced",
                "its peaks are higher than under EPD (cells)",
                more("max_queue", "EPD per VC", "EPD"),
                Inequality(">", 0),
            ),
        ),
    ),
    figure(
        14,
        "SPD",
        "The queue under SPD",
        (
            Claim(
                "C46",
                "reproduced",
                "it spends less time at or above 600 cells than under EPD (fraction of time)",
                more("time_above", "EPD", "SPD"),
                Inequality(">", 0),
            ),
            Claim(
                "C46b",
                "reproduced",
                "and is rarely there at all: less than a twentieth of the time",
                lambda results: at(results, "time_above", "SPD"),
                Inequality("<", 0.05),
            ),
            Claim(
                "C46c",
                "reproduced",
                "it returns to zero more often than under EPD (times per second, from more than one packet)",
                more("zeros_per_second", "SPD", "EPD"),
                Inequality(">", 0),
            ),
            Claim(
                "C46d",
                "reproduced",
                "an empty queue is an idle link: SPD carries less than EPD (loss of goodput; not a claim of the document)",
                more("normalised_goodput", "EPD", "SPD"),
                Inequality(">", 0),
                ours=True,
            ),
        ),
    ),
)
