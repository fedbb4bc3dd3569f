"""Figures 15 to 18: windows and buffer occupancy over time, under EPD and BPD (section 5)."""

from __future__ import annotations

from typing import Any

import numpy as np

import tailback as tb
from tailback.papers import (
    AxisValue,
    Claim,
    Experiment,
    Expression,
    ReferenceLine,
    Trace,
    TracePanel,
    Values,
    Variant,
    at,
    axis,
    quick_form,
    vary,
)
from tailback_papers.bpd_2001 import conditions, measures
from tailback_papers.bpd_2001.networks import bpd, epd, ticks, topology_a, topology_b

__all__ = ["EXPERIMENTS", "occupancy"]

TICK = {
    "tick of the retransmission timer": "0.1 s: 18 timeouts in 10 s (figure 17) are impossible with 0.5 s, whose minimum timeout "
    "is 1 s"
}
SSTHRESH = {"initial slow-start threshold": "the maximum window, 122 segments, as in the simulator used"}
WHOSE = {"plotted connection": "the first connection, first seed"}

# Measured period: the whole run or a later part. With the small threshold, slow start ends before the buffer is full.
WHOLE = AxisValue({"start": "whole run"})
LATER = AxisValue({"start": "from 1 s on"}, {"warmup": "1 s"})
SETTLED = AxisValue({"start": "from 3.5 s on"}, {"warmup": "3.5 s"})
LARGEST, SMALL = axis("ssthresh", conditions.SSTHRESH.values, "flows.source.tcp.initial_ssthresh")


def recording(**traces: list[str]) -> AxisValue:
    """Traces that the measures require, and their flows or queues."""
    return AxisValue({}, {"record.traces": traces})


def window(run: tb.Run) -> tuple[Any, Any]:
    """Window of the first connection."""
    trace = run.trace("cwnd").where(flow=0)
    return trace["time_s"], trace["cwnd_packets"]


def occupancy(run: tb.Run) -> tuple[Any, Any]:
    """Buffer occupancy in cells: alternating minimum and maximum of each of 1000 intervals."""
    trace = run.trace("queue")
    times, cells = trace["time_s"], trace["queue_units"]
    edges = np.searchsorted(times, np.linspace(0, run.simulated_s, 1001)[:-1])
    edges = np.unique(edges[edges < len(times)])
    ends = np.stack([np.minimum.reduceat(cells, edges), np.maximum.reduceat(cells, edges)], axis=1)
    return np.repeat(times[edges], 2), ends.ravel()


def in_both(*axes: list[AxisValue]) -> tuple[Variant, ...]:
    """Both topologies."""
    return (*vary(topology_b(), *axes, topology="B"), *vary(topology_a(), *axes, topology="A"))


BPD_40 = bpd([0.4])
ONE_WINDOW = {"cwnd": ["source[0]"]}
# Fraction of the recoveries that need no timeout.
FAST_SHARE = "sum(flows.*.fast_retransmits) / (sum(flows.*.fast_retransmits) + sum(flows.*.timeouts))"

figure_15 = Experiment(
    id="bpd-2001/fig15",
    times=3,
    title="BPD: the window of a connection",
    question="Does a connection under BPD ever wait for a timeout?",
    source="figure 15, section 5: LT 40 %, UT 90 %, gap 25",
    variants=(
        *in_both(BPD_40, ticks(0.1), [WHOLE, LATER, SETTLED], [LARGEST]),
        *in_both(BPD_40, ticks(0.1), [WHOLE, LATER], [SMALL]),
    ),
    measures={
        "timeouts": measures.TIMEOUTS,
        "max_timeouts": measures.MAX_TIMEOUTS,
        "timeout_free_share": measures.timeout_free_share,
        "fast_share": FAST_SHARE,
    },
    claims=(
        Claim(
            "C22",
            "after start-up a connection has at most one more timeout (the connection with the most, from 3.5 s on)",
            at("max_timeouts", start="from 3.5 s on") <= 1,
            note="In every second run, a connection loses its very first packet and waits for the initial timeout of 3 s.",
        ),
        Claim(
            "C22b",
            "and usually none (timeouts per connection, on average, from 3.5 s on)",
            at("timeouts", start="from 3.5 s on") < 0.5,
        ),
        Claim(
            "C22c",
            "a connection has at most one more timeout after just one second (the connection with the most)",
            at("max_timeouts", start="from 1 s on") <= 1,
            kind="conditional",
            note="In 4 of 60 runs with ssthresh 16, two pairs of connections alternated while a fifth waited for its initial "
            "timeout: one pair fits the link and grows to windows of 60; when the other pair returns, each window loses three "
            "segments 26 apart, closer than condition (3) of section 2.2 allows.",
            ours=True,
        ),
        Claim(
            "C22d",
            "every loss is recovered using fast retransmit (fraction of the recoveries after one second, at least 0.95)",
            at("fast_share", start="from 1 s on") >= 0.95,
            note="section 5; the bound is our choice",
        ),
        Claim(
            "C23",
            "the losses at the start cause a timeout in most cases (fraction of connections without one)",
            at("timeout_free_share", start="whole run") < 0.5,
            kind="conditional",
        ),
        Claim("C23a", "but not always: the example shows none", at("timeout_free_share", start="whole run") > 0),
    ),
    panels=(TracePanel(("window",), "window, segments", "time, s"),),
    traces=(Trace("window", {"start": "whole run", "ssthresh": 122, "topology": "B"}, ONE_WINDOW, window),),
    conditions=(conditions.TOPOLOGY, conditions.SSTHRESH),
    assumptions={**TICK, **WHOSE},
)

LOSSES = recording(segments=["source"], drops=["bottleneck"], queue=["bottleneck"])

figure_16 = Experiment(
    id="bpd-2001/fig16",
    title="BPD: losses of a connection",
    question="How far apart are the losses of a connection?",
    source="figure 16, section 5: one loss every 25 to 26 segments; LT 40 %, UT 90 %, gap 25",
    variants=(
        *vary(topology_b(), [*BPD_40, *epd([0.4, 0.9])], ticks(0.1), [LOSSES], topology="B"),
        *vary(topology_a(), BPD_40, ticks(0.1), [LOSSES], topology="A"),
    ),
    measures={
        "close_losses": measures.close_losses,
        "burst_share": measures.burst_share,
        "typical_loss_spacing": measures.typical_loss_spacing,
    },
    claims=(
        Claim(
            "C24a",
            "under BPD no two losses of a connection are closer than 26 packets, unless the buffer was at the upper threshold "
            "(number of closer losses)",
            at("close_losses", policy="BPD") <= 0,
        ),
        Claim(
            "C24b",
            "a connection loses one segment every 25 to 26 (most common distance)",
            at("typical_loss_spacing", policy="BPD").equals(25.5, 0.5),
            kind="conditional",
            published=25.5,
            note="In topology B a window must exceed (480 / 12 + 18) / 5 = 11.5 segments before anything is lost, and congestion "
            "avoidance takes about 3/8 of its square, in segments, from loss to loss.",
        ),
        Claim(
            "C24c",
            "under EPD more than half of the losses are within 25 packets of the previous one (threshold 0.4, as LT)",
            at("burst_share", policy="EPD", threshold=0.4, topology="B") > 0.5,
            note="With the threshold of figure 17, 0.9, the fraction is one half.",
            ours=True,
        ),
    ),
    panels=(TracePanel(("window",), "window, segments", "time, s", time_range=(5, 6)),),
    traces=(Trace("window", {"policy": "BPD", "topology": "B"}, ONE_WINDOW, window),),
    conditions=(conditions.TOPOLOGY,),
    assumptions={**TICK, **SSTHRESH, **WHOSE},
    times=2,
)

WINDOWS = recording(cwnd=["source"])
EPD_AND_BPD = [*epd([0.9]), *BPD_40]
PRINTED_TIMEOUTS = 18


def share_with_many(run: tb.Run) -> float:
    """Fraction of connections with at least as many timeouts as in figure 17."""
    return float((run.flows["timeouts"] >= PRINTED_TIMEOUTS).mean())


def of(measure: str, policy: str) -> Expression:
    """A measure under one policy."""
    return at(measure, policy=policy)


figure_17 = Experiment(
    id="bpd-2001/fig17",
    times=3,
    title="EPD: the window of a connection",
    question="How often does a connection under EPD wait for a timeout?",
    source="figure 17, section 5: 18 timeouts in 10 s; EPD threshold 90 %",
    variants=(
        *vary(topology_b(), EPD_AND_BPD, ticks(*conditions.TICKS), [WINDOWS], topology="B"),
        # With the tick that gives most timeouts.
        *vary(topology_a(), EPD_AND_BPD, ticks(0.02), [WINDOWS], topology="A"),
    ),
    measures={
        "timeouts": measures.TIMEOUTS,
        "share_with_many": share_with_many,
        "timeout_free_share": measures.timeout_free_share,
        "peak_window": measures.peak_window,
        "mean_window": measures.mean_window,
    },
    claims=(
        Claim(
            "C25",
            "under EPD the connection shown has 18 timeouts in 10 s: there are such connections (fraction with 18 or more)",
            of("share_with_many", "EPD") > 0,
            kind="conditional",
            note="In topology B, ticks of 0.1 s and less give 7 to 14 timeouts, rarely more.",
        ),
        Claim(
            "C26",
            "the window has higher peaks under EPD than under BPD (segments, after the first second)",
            of("peak_window", "EPD") > of("peak_window", "BPD"),
        ),
        Claim(
            "C26b",
            "under BPD the window shown never falls to 1: there are such connections (fraction without a timeout)",
            of("timeout_free_share", "BPD") > 0,
            kind="conditional",
            note="At most one in four; figure 15 judges the statement for all connections.",
        ),
        Claim(
            "C26c",
            "it does so less often than under EPD (timeouts per connection)",
            of("timeouts", "EPD") > of("timeouts", "BPD"),
        ),
        Claim(
            "C26d",
            "under EPD the mean window is lower than under BPD (segments)",
            of("mean_window", "EPD") < of("mean_window", "BPD"),
            kind="not_reproduced",
        ),
    ),
    panels=(TracePanel(("window",), "window, segments", "time, s"),),
    traces=(Trace("window", {"policy": "EPD", "tick": 0.1, "topology": "B"}, ONE_WINDOW, window),),
    conditions=(conditions.TOPOLOGY, conditions.TICK),
    assumptions={**SSTHRESH, **WHOSE},
)

# Half of 1200 cells, and a packet's tail.
HALF, TAIL = 600, 11
ONE_QUEUE = {"queue": ["bottleneck"]}


def over_half(run: tb.Run) -> tuple[Values, Values]:
    """Cells above 600, and the time for which they stay, after the warm-up; requires the trace `queue`."""
    trace = run.trace("queue")
    number, unit = run.scenario["warmup"].split()
    begin = float(number) * {"s": 1, "ms": 1e-3}[unit]
    edges = np.append(trace["time_s"], run.simulated_s)
    times: Values = np.diff(np.maximum(edges, begin))
    cells: Values = np.maximum(np.asarray(trace["queue_units"], float) - HALF, 0)
    return cells, times


def over_tails(run: tb.Run) -> float:
    """Cells by which the queue exceeds 600 and a packet's tail of each connection, at most."""
    return run.value("queues.bottleneck.max_queue_units") - HALF - TAIL * len(run.flows)


def above(run: tb.Run) -> float:
    """Fraction of the time with more than 600 cells in the buffer."""
    cells, times = over_half(run)
    return float(times[cells > 0].sum() / times.sum())


def excess(run: tb.Run) -> float:
    """Mean number of cells above 600."""
    cells, times = over_half(run)
    return float((cells * times).sum() / times.sum())


figure_18 = Experiment(
    id="bpd-2001/fig18",
    title="EPD and BPD: cells in the buffer",
    question="Which policy uses the buffer above the threshold?",
    source="figure 18, section 5: EPD threshold and LT 50 %",
    variants=in_both([*epd([0.5]), *bpd([0.5])], ticks(0.1), [WHOLE, LATER], [recording(queue=["bottleneck"])]),
    measures={
        "mean_queue": "queues.bottleneck.mean_queue_units",
        "max_queue": "queues.bottleneck.max_queue_units",
        "over_tails": over_tails,
        "above": above,
        "excess": excess,
    },
    claims=(
        Claim(
            "C27",
            "EPD never has more cells in the buffer than 600 plus a packet's tail per connection",
            at("over_tails", policy="EPD") <= 0,
            note="cells above that at the maximum",
        ),
        Claim(
            "C27b",
            "BPD uses the space above the threshold more often (fraction of the time, minus that of EPD)",
            at("above", policy="BPD") > at("above", policy="EPD"),
        ),
        Claim(
            "C27d",
            "and more intensively (mean number of cells above 600, minus that of EPD)",
            at("excess", policy="BPD") > at("excess", policy="EPD"),
            note="In topology B, BPD fills the buffer to 1088 cells at the start, and later to 655 at most.",
        ),
        Claim(
            "C27c",
            "BPD has more cells in the buffer than EPD on average",
            at("mean_queue", policy="BPD") > at("mean_queue", policy="EPD"),
        ),
    ),
    panels=(
        (
            TracePanel(
                ("EPD",), "cells in the buffer", "time, s", title="EPD", reference_lines=(ReferenceLine("600 cells", HALF),)
            ),
            TracePanel(
                ("BPD",), "cells in the buffer", "time, s", title="BPD", reference_lines=(ReferenceLine("600 cells", HALF),)
            ),
        ),
    ),
    traces=tuple(
        Trace(policy, {"policy": policy, "start": "whole run", "topology": "B"}, ONE_QUEUE, occupancy)
        for policy in ("EPD", "BPD")
    ),
    conditions=(conditions.TOPOLOGY, conditions.PERIOD),
    assumptions={**TICK, **SSTHRESH},
)

EXPERIMENTS = (
    figure_15,
    figure_16,
    quick_form(figure_17, "claims whose interval, with ten seeds, includes the bound"),
    figure_18,
)
