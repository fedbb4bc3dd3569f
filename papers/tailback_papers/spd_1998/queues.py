"""Figures 5.12 to 5.14: the queue of the second switch over time, and its discards (section 5.5)."""

from __future__ import annotations

import tailback as tb
from tailback.papers import (
    AxisValue,
    Claim,
    Comparison,
    Condition,
    Experiment,
    Line,
    Ranking,
    ReferenceLine,
    Trace,
    TracePanel,
    at,
    vary,
)
from tailback_papers.bpd_2001.traces import occupancy
from tailback_papers.spd_1998 import measures
from tailback_papers.spd_1998.networks import LONG, SHORT, chain, epd, epd_per_vc, spd

__all__ = ["EXPERIMENTS"]

THRESHOLD = 600
# A packet that has begun is completed above the threshold: 22 more cells for each of 15 connections.
CAPPED = THRESHOLD + 15 * 22
LEVEL = ReferenceLine("600 cells", THRESHOLD)

RECORD = {"queue": ["link23"], "cwnd": ["vc"]}


def largest_window(run: tb.Run) -> float:
    """Largest window of any connection, in packets."""
    return float(run.trace("cwnd")["cwnd_packets"].max())


QUEUE = AxisValue({}, {"record.traces": RECORD})
# The largest window of TCP, in packets: 64 of 1024 octets.
MAX_WINDOW = 64
VARIANTS = vary(chain(15), [*epd([THRESHOLD]), *epd_per_vc([THRESHOLD]), *spd([THRESHOLD])], [LONG], [QUEUE])
MEASURES = {
    "max_queue": measures.MAX_QUEUE,
    "mean_queue": measures.MEAN_QUEUE,
    "time_above": measures.time_above(THRESHOLD),
    "zeros_per_second": measures.zeros_per_second,
    "normalised_goodput": measures.normalised_goodput,
    "largest_window": largest_window,
}
WHICH = {
    "duration, timer and fast retransmit": "LONG, because the plots show several peaks; a run of 1.7 s has one. The panels show "
    "the first seed: minimum and maximum of each of 1000 intervals"
}


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
        panels=(TracePanel((policy,), "cells in the buffer", "time, s", reference_lines=(LEVEL,)),),
        traces=(Trace(policy, {"policy": policy}, RECORD, occupancy),),
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
        Claim("C46f", "discarding is not as severe as under EPD (discarded cells)", at_most_epd("discarded")),
        Claim(
            "C46g",
            "nor is it as a fraction of the arriving cells",
            at_most_epd("share"),
            kind="not_reproduced",
            note="SPD sends less, and discards 3 % fewer cells in 10 s.",
            ours=True,
        ),
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
    conditions=(
        Condition("setting", "the duration of the plots is not stated", ("LONG", "SHORT"), "the plots show several peaks"),
    ),
    times=20,
)

EXPERIMENTS = (
    figure(
        12,
        "EPD",
        "The queue under EPD",
        (
            Claim(
                "C44",
                "the queue never exceeds 600 cells plus a packet's tail per connection",
                at("max_queue", policy="EPD") <= CAPPED,
            ),
            Claim(
                "C54",
                "during the simulations no window reaches its maximum of 64 packets (largest window under any policy)",
                at("largest_window").max() < MAX_WINDOW,
                note="section 4.1.2",
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
                "its peaks are higher than under EPD (cells)",
                at("max_queue", policy="EPD per VC") > at("max_queue", policy="EPD"),
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
                "it spends less time at or above 600 cells than under EPD (fraction of time)",
                at("time_above", policy="EPD") > at("time_above", policy="SPD"),
            ),
            Claim("C46b", "and is rarely there at all: less than a twentieth of the time", at("time_above", policy="SPD") < 0.05),
            Claim(
                "C46e",
                "in fact it never reaches the threshold of EPD (maximum, cells)",
                at("max_queue", policy="SPD") < THRESHOLD,
                note="section 6.1; section 5.5 says rarely",
            ),
            Claim(
                "C46c",
                "it returns to zero more often than under EPD (times per second, from more than one packet)",
                at("zeros_per_second", policy="SPD") > at("zeros_per_second", policy="EPD"),
            ),
            Claim(
                "C46d",
                "an empty queue is an idle link: SPD carries less than EPD (loss of goodput; not a claim of the document)",
                at("normalised_goodput", policy="EPD") > at("normalised_goodput", policy="SPD"),
                ours=True,
            ),
        ),
    ),
    DISCARDS,
)
