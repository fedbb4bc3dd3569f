"""Figures 5.12 to 5.14: the queue of the second switch over time, and its discards (section 5.5)."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

import tailback as tb
from tailback.papers import (
    AxisValue,
    Claim,
    Comparison,
    Condition,
    Curves,
    Experiment,
    Line,
    Measure,
    Ranking,
    ReferenceLine,
    Trace,
    TracePanel,
    at,
    vary,
)
from tailback_papers.bpd_2001.traces import occupancy
from tailback_papers.claims import claims_of
from tailback_papers.spd_1998 import conditions, measures
from tailback_papers.spd_1998.networks import DESCRIBED, LONG, SHORT, TIMER_ONLY, chain, epd, epd_per_vc, spd

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["EXPERIMENTS"]

claim = claims_of(__name__)

THRESHOLD = 600
# A packet that has begun is completed above the threshold: 22 more cells for each of 15 connections.
CAPPED = THRESHOLD + 15 * 22
# "Around 600 cells".
BAND = 100
LEVEL = ReferenceLine("600 cells", THRESHOLD)

RECORD = {"queue": ["link23"], "cwnd": ["vc"]}


def near_threshold(run: tb.Run) -> float:
    """Fraction of the time with 500 to 700 cells, from the first to the last 600 cells between two times with less than half."""
    trace = run.trace("queue")
    cells = trace["queue_units"]
    times = np.diff(np.append(trace["time_s"], run.simulated_s))
    peak = _follows(cells) & _follows(cells[::-1])[::-1]
    if not peak.any():
        return math.nan
    return float(times[peak & (abs(cells - THRESHOLD) <= BAND)].sum() / times[peak].sum())


def _follows(cells: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Whether 600 cells were reached since the buffer last had less than half of that."""
    places = np.arange(1, len(cells) + 1)
    full, low = (np.maximum.accumulate(np.where(state, places, 0)) for state in (cells >= THRESHOLD, cells < THRESHOLD / 2))
    found: NDArray[np.bool_] = full > low
    return found


def largest_window(run: tb.Run) -> float:
    """Largest window of any connection, in packets."""
    return float(run.trace("cwnd")["cwnd_packets"].max())


QUEUE = AxisValue({}, {"record.traces": RECORD})
# The largest window of TCP, in packets: 64 of 1024 octets.
MAX_WINDOW = 64
VARIANTS = vary(chain(15), [*epd([THRESHOLD]), *epd_per_vc([THRESHOLD]), *spd([THRESHOLD])], [LONG, TIMER_ONLY, SHORT], [QUEUE])
MEASURES: dict[str, Measure] = {
    "max_queue": measures.MAX_QUEUE,
    "mean_queue": measures.MEAN_QUEUE,
    "near_threshold": near_threshold,
    "time_above": measures.time_above(THRESHOLD),
    "zeros_per_second": measures.zeros_per_second,
    "normalised_goodput": measures.normalised_goodput,
    "largest_window": largest_window,
}
WHICH = {**DESCRIBED, "panels": "LONG, first seed: minimum and maximum of each of 1000 intervals"}


def figure(number: int, policy: str, title: str, claims: tuple[Claim, ...]) -> Experiment:
    """One queue over time."""
    return Experiment(
        id=f"spd-1998/fig5.{number}",
        title=title,
        question="How does the queue evolve?",
        source=f"figure 5.{number}, section 5.5: 15 connections, EPD threshold 600 of 1000 cells",
        variants=VARIANTS,
        measures=MEASURES,
        fractions=("normalised_goodput",),
        claims=claims,
        panels=(TracePanel((policy,), "cells in the buffer", "time, s", reference_lines=(LEVEL,)),),
        traces=(Trace(policy, {"policy": policy, "setting": "LONG"}, RECORD, occupancy),),
        conditions=(conditions.SETTING_OF_QUEUES,),
        # C44 needs 14 seeds.
        times=2 if number == 12 else 1,
        assumptions=WHICH,
    )


def at_most_epd(measure: str) -> Comparison:
    """A measure of discarding under SPD is below that under EPD."""
    return at(measure, policy="SPD") < at(measure, policy="EPD")


DISCARDS = Experiment(
    id="spd-1998/section5.5",
    title="Discarded cells under EPD and SPD",
    question="Does SPD discard less than EPD?",
    source="section 5.5: 15 connections, EPD threshold 600 of 1000 cells",
    variants=vary(chain(15), [*epd([THRESHOLD]), *spd([THRESHOLD])], [LONG, SHORT]),
    measures={"discarded": "queues.link23.dropped_units", "share": "queues.link23.loss_rate"},
    claims=(
        claim("C46f", at_most_epd("discarded")),
        claim("C46g", at_most_epd("share")),
    ),
    panels=(
        Ranking(
            "share",
            tuple(
                Line(f"{policy}, {setting}", {"policy": policy, "setting": setting})
                for setting in ("LONG", "SHORT")
                for policy in ("EPD", "SPD")
            ),
            "fraction of the arriving cells that are discarded",
        ),
    ),
    conditions=(replace(conditions.SETTING_OF_QUEUES, values=("LONG", "SHORT")),),
    assumptions=DESCRIBED,
    times=20,
)

# Connections, and thresholds at and below the middle of tables 5.7 to 5.10.
_SAYS = "section 6.1 names none; figure 5.14 has 15 connections and 600 cells, tables 5.7 to 5.10 have 5 to 25 and 500 to 1000"
VCS = (15, 5, 20, 25)
THRESHOLDS = (THRESHOLD, 500, 700)

REACHED = Experiment(
    id="spd-1998/section6.1",
    title="The largest queue under SPD",
    question="Does the queue never reach the threshold of EPD?",
    source="section 6.1",
    variants=tuple(variant for vcs in VCS for variant in vary(chain(vcs), spd(THRESHOLDS), [SHORT, LONG], vcs=vcs)),
    measures={"max_queue": measures.MAX_QUEUE},
    claims=(
        claim("C46e", (at("max_queue") - (lambda threshold: threshold)).map(lambda cells: np.full_like(cells, cells.max())) < 0),
    ),
    panels=(
        Curves(
            "max_queue",
            "threshold",
            tuple(Line(f"{vcs} connections", {"vcs": vcs, "setting": "SHORT"}) for vcs in sorted(VCS)),
            "largest queue, cells",
            "EPD threshold, cells",
        ),
    ),
    conditions=(
        Condition("vcs", _SAYS, VCS, "figure 5.14"),
        Condition("threshold", _SAYS, THRESHOLDS, "figure 5.14"),
        replace(conditions.SETTING, values=("SHORT", "LONG")),
    ),
    assumptions=DESCRIBED,
)

EXPERIMENTS = (
    figure(
        12,
        "EPD",
        "The queue under EPD",
        (
            claim("C44", at("near_threshold", policy="EPD") >= 0.9),
            claim("C44b", at("zeros_per_second", policy="EPD") > 0),
            claim("C44c", at("max_queue", policy="EPD") <= CAPPED),
            claim("C54", at("largest_window").max() < MAX_WINDOW),
        ),
    ),
    figure(
        13,
        "EPD per VC",
        "The queue under EPD per VC",
        (claim("C45", at("max_queue", policy="EPD per VC") > at("max_queue", policy="EPD")),),
    ),
    figure(
        14,
        "SPD",
        "The queue under SPD",
        (
            claim("C46", at("time_above", policy="EPD") > at("time_above", policy="SPD")),
            claim("C46b", at("time_above", policy="SPD") < 0.05),
            claim("C46c", at("zeros_per_second", policy="SPD") > at("zeros_per_second", policy="EPD")),
            claim("C46d", at("normalised_goodput", policy="EPD") > at("normalised_goodput", policy="SPD")),
        ),
    ),
    DISCARDS,
    REACHED,
)
