"""Figures 15 to 18: windows and buffer occupancy over time, under EPD and BPD (section 5)."""

from __future__ import annotations

from typing import Any

import numpy as np

import tailback as tb
from tailback.papers import (
    AxisValue,
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
from tailback_papers.claims import claims_of

__all__ = ["EXPERIMENTS", "occupancy"]

claim = claims_of(__name__)

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
        claim("C22", at("max_timeouts", start="from 3.5 s on") <= 1),
        claim("C22b", at("timeouts", start="from 3.5 s on") < 0.5),
        claim("C22c", at("max_timeouts", start="from 1 s on") <= 1),
        claim("C22d", at("fast_share", start="from 1 s on") >= 0.95),
        claim("C23", at("timeout_free_share", start="whole run") < 0.5),
        claim("C23a", at("timeout_free_share", start="whole run") > 0),
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
        claim("C24a", at("close_losses", policy="BPD") <= 0),
        claim("C24b", at("typical_loss_spacing", policy="BPD").equals(25.5, 0.5)),
        claim("C24c", at("burst_share", policy="EPD", threshold=0.4, topology="B") > 0.5),
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
        claim("C25", of("share_with_many", "EPD") > 0),
        claim("C26", of("peak_window", "EPD") > of("peak_window", "BPD")),
        claim("C26b", of("timeout_free_share", "BPD") > 0),
        claim("C26c", of("timeouts", "EPD") > of("timeouts", "BPD")),
        claim("C26d", of("mean_window", "EPD") < of("mean_window", "BPD")),
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
        claim("C27", at("over_tails", policy="EPD") <= 0),
        claim("C27b", at("above", policy="BPD") > at("above", policy="EPD")),
        claim("C27d", at("excess", policy="BPD") > at("excess", policy="EPD")),
        claim("C27c", at("mean_queue", policy="BPD") > at("mean_queue", policy="EPD")),
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
