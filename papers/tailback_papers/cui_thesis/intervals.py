"""Figures 3.3 to 3.5: intervals between the packets of several flows (section 3.3.1).

Two flows have two states: both share the link, or one occupies it. A run stays in the state that its slow start selects, so that
figure 3.3 is judged by the fraction of runs in a state. A mean over the states describes no run.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from itertools import count
from typing import TYPE_CHECKING, Any

import numpy as np

import tailback as tb
from tailback.papers import (
    Claim,
    Computation,
    Condition,
    Experiment,
    Expression,
    Label,
    Line,
    Ranking,
    Trace,
    TracePanel,
    Variant,
    at,
    quick_form,
    variants,
)
from tailback_papers.claims import claims_of
from tailback_papers.cui_thesis.packets import BEGINS, EDGES, FLOW_BPS, SENDERS, begins, switch
from tailback_papers.cui_thesis.sizing import PACKET_BYTES

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["EXPERIMENTS", "distance_from_exponential"]

claim = claims_of(__name__)

# Packets of flows that share a link, at the end of a run.
TRACKED = 220_000
# Number of flows: link rate in bit/s, and duration in seconds including warm-up (one half).
CROWDS: dict[int, tuple[float, float]] = {2: (20e6, 200.0), 20: (200e6, 40.0), 500: (5e9, 10.0)}
MEAN_S = {2: 4.40391e-4, 20: 4.59386e-5, 500: 2.41786e-6}
VARIANCE_S2 = {2: 2.39167e-7, 20: 1.91787e-9, 500: 5.7904e-12}
# End of slow start: with the first loss, with a loss or a window of 1000 packets, or below a flow's share.
UNTIL_LOSS, AT_1000, BELOW = "with a loss", "at 1000 packets", "below the share"
FIRST_SSTHRESH: dict[str, dict[str, Any]] = {
    UNTIL_LOSS: {},
    AT_1000: {"flows.tcp.tcp.initial_ssthresh": 1000},
    BELOW: {"flows.tcp.tcp.initial_ssthresh": begins(FLOW_BPS)["first_ssthresh"]},
}
START = Condition(
    "slow_start",
    "the end of the flows' slow start is not stated",
    (UNTIL_LOSS, AT_1000, BELOW),
    "no other end is mentioned; a flow without a loss then queues at its edge router without limit",
)
# Share of the larger of two flows that occupies the link.
OCCUPIES = 0.75


def largest_share(found: tb.Run) -> float:
    """Largest goodput of a flow divided by the sum."""
    rates = np.asarray(found.flows["goodput_bps"], float)
    return float(rates.max() / rates.sum())


def generation(flows: int, slow_start: str, seed: int) -> dict[str, Any]:
    """Intervals between consecutive sent packets of all flows, at the end of a run, and the flows' shares."""
    rate_bps, seconds = CROWDS[flows]
    scenario = switch(2, 1, 10, flows, rate_bps, seconds / 2, settling_s=seconds / 2)
    run = tb.simulate(scenario.with_({**FIRST_SSTHRESH[slow_start], "record.traces": ["segments"]}), seed)
    sent = np.sort(np.asarray(run.trace("segments")["time_s"], float))[-TRACKED:]
    return {"gaps": np.diff(sent), "packet_s": 8 * PACKET_BYTES / rate_bps, "largest": largest_share(run)}


def example(occupied: int) -> dict[str, Any]:
    """The first run of two flows in a state: one of them occupies the link, or they share it."""
    runs = (generation(2, AT_1000, seed) for seed in count(1))
    return next(run for run in runs if occupies(run) == occupied)


def mean_gap(found: dict[str, Any]) -> float:
    """Mean interval, in seconds."""
    return float(found["gaps"].mean())


def variance_of_gaps(found: dict[str, Any]) -> float:
    """Variance of the intervals, in square seconds."""
    return float(found["gaps"].var())


def spread_of_gaps(found: dict[str, Any]) -> float:
    """Standard deviation over mean: 1 for a Poisson process."""
    return float(found["gaps"].std() / found["gaps"].mean())


def distance_from_exponential(values: NDArray[np.float64]) -> float:
    """Kolmogorov-Smirnov distance from the exponential distribution with the same mean."""
    exact = 1 - np.exp(-np.sort(values) / values.mean())
    steps = np.arange(len(values) + 1) / len(values)
    return float(max((steps[1:] - exact).max(), (exact - steps[:-1]).max()))


def from_exponential(found: dict[str, Any]) -> float:
    """Distance of the intervals from the exponential distribution."""
    return distance_from_exponential(found["gaps"])


def dispersion(found: dict[str, Any]) -> float:
    """Variance over mean of the packets in windows of a hundred mean intervals: 1 for a Poisson process. Single intervals do not
    show it.
    """
    times = np.cumsum(found["gaps"])
    counts = np.histogram(times, np.arange(0, times[-1], 100 * found["gaps"].mean()))[0]
    return float(counts.var() / counts.mean())


def near_packet_time(found: dict[str, Any]) -> float:
    """Fraction of intervals within a tenth of a packet's transmission time, divided by that of the exponential distribution."""
    gaps, packet = found["gaps"], found["packet_s"]
    share = float(np.mean(np.abs(gaps / packet - 1) < 0.1))
    mean = gaps.mean()
    return share / float(np.exp(-0.9 * packet / mean) - np.exp(-1.1 * packet / mean))


def occupies(found: dict[str, Any]) -> float:
    """1 if one flow occupies the link, otherwise 0."""
    return float(found["largest"] > OCCUPIES)


def has_spike(found: dict[str, Any]) -> float:
    """1 if twice as many intervals as in an exponential distribution are near a packet time, otherwise 0."""
    return float(near_packet_time(found) > 2)


def mean_as_printed(found: dict[str, Any]) -> float:
    """1 if the mean interval of two flows is within a tenth of the printed one, otherwise 0."""
    return float(abs(mean_gap(found) / MEAN_S[2] - 1) <= 0.1)


def variance_as_printed(found: dict[str, Any]) -> float:
    """1 if the variance of the intervals of two flows is within a fifth of the printed one, otherwise 0."""
    return float(abs(variance_of_gaps(found) / VARIANCE_S2[2] - 1) <= 0.2)


# Steps of the histograms in figures 3.3 to 3.5, and their last interval, in ms.
STEP_MS = {2: 0.1, 20: 0.01, 500: 0.0004}
LAST_MS = {2: 5.0, 20: 0.3, 500: 0.015}


def edges_ms(flows: int) -> NDArray[np.float64]:
    """Edges of a histogram's steps."""
    return np.arange(0, LAST_MS[flows] + STEP_MS[flows] / 2, STEP_MS[flows])


def histogram(found: dict[str, Any], flows: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """Fraction of the intervals in each step."""
    counted = np.histogram(1e3 * found["gaps"], edges_ms(flows))[0] / len(found["gaps"])
    return edges_ms(flows), np.append(counted, counted[-1:])


def exponential_histogram(found: dict[str, Any], flows: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """The same of the exponential distribution with the same mean."""
    fractions = -np.diff(np.exp(-edges_ms(flows) / (1e3 * found["gaps"].mean())))
    return edges_ms(flows), np.append(fractions, fractions[-1:])


def drawn(label: str, where: dict[str, Label], flows: int) -> tuple[Trace, Trace]:
    """A histogram, and that of the exponential distribution."""
    return (
        Trace(label, where, None, partial(histogram, flows=flows)),
        Trace(f"exponential, {label}", where, None, partial(exponential_histogram, flows=flows)),
    )


def panel(label: str, flows: int) -> TracePanel:
    """A printed figure."""
    return TracePanel(
        (label, f"exponential, {label}"),
        "fraction of intervals",
        f"interval, ms, in steps of {STEP_MS[flows]:g} ms",
        time_range=(0, LAST_MS[flows]),
    )


STARTS = {
    "slow start": f"{START.says}; `{BELOW}`: {BEGINS['slow start'].partition(',')[0]}",
    "length of a run": f"200, 40 and 10 s, half of which is warm-up; the last {TRACKED - 1:,} intervals are evaluated",
}
COMMON = {**SENDERS, **EDGES, "round trips": "uniform on 60 to 180 ms", **STARTS}


def some(measure: str) -> Expression:
    """Fraction of the runs of two flows."""
    return at(measure, flows=2)


STATE_LABELS = {1: "one flow occupies the link", 0: "both share it"}

STATES = Experiment(
    id="cui-thesis/fig3.3",
    title="Figure 3.3: two flows, and their states",
    question="Does one of two flows occupy the link?",
    source="figure 3.3, section 3.3.1",
    variants=(
        *variants(
            lambda flows, slow_start: Computation(generation, {"flows": flows, "slow_start": slow_start}),
            flows=2,
            slow_start=START.values,
        ),
        *(Variant({"state": state}, Computation(example, {"occupied": state})) for state in (0, 1)),
    ),
    measures={
        "occupies": occupies,
        "distance": from_exponential,
        "spike": has_spike,
        "mean": mean_as_printed,
        "variance": variance_as_printed,
    },
    claims=(
        claim("C-3.3.1", some("distance") > 0.05),
        Claim(
            "C-3.3.2",
            "with 2 flows one takes most of the bottleneck and the other is quenched: there are such runs (fraction with a share "
            f"above {OCCUPIES:g})",
            some("occupies") > 0,
            kind="conditional",
        ),
        claim("C-3.3.1-spike", some("spike") > 0),
        claim("C-3.3.0", some("mean") > 0),
        claim("C-3.3.0b", some("variance") > 0),
    ),
    panels=(
        Ranking(
            "occupies",
            tuple(Line(f"slow start ends {each}", {"slow_start": each}) for each in START.values),
            "fraction of runs in which one flow occupies the link",
        ),
        *(panel(label, 2) for label in STATE_LABELS.values()),
    ),
    traces=tuple(trace for state, label in STATE_LABELS.items() for trace in drawn(label, {"state": state}, 2)),
    conditions=(START,),
    assumptions=COMMON,
    times=6,
)

INTERVALS = Experiment(
    id="cui-thesis/fig3.4",
    title="Figures 3.3 to 3.5: intervals between packets of 2, 20 and 500 flows",
    question="From how many flows on is their packet stream a Poisson process?",
    source="figures 3.3 to 3.5, section 3.3.1",
    variants=variants(
        lambda flows, slow_start: Computation(generation, {"flows": flows, "slow_start": slow_start}),
        flows=tuple(CROWDS),
        slow_start=(UNTIL_LOSS, BELOW),
    ),
    measures={
        "mean_s": mean_gap,
        "variance_s2": variance_of_gaps,
        "spread": spread_of_gaps,
        "distance": from_exponential,
        "dispersion": dispersion,
    },
    claims=(
        claim("C-3.5.1", abs(at("spread", flows=500) - 1) < 0.01),
        claim("C-3.5.2", at("distance", flows=20) < at("distance", flows=2)),
        claim("C-3.5.2b", at("distance", flows=500) < at("distance", flows=20)),
        *(
            Claim(
                f"C-3.{number}.0",
                f"with {flows} flows the mean interval is as printed, within a tenth",
                (at("mean_s", flows=flows) / MEAN_S[flows]).equals(1, 0.1),
                kind="reproduced" if flows == 500 else "conditional",
                note="divided by the printed value; the sent packets follow from utilisation and loss",
            )
            for number, flows in (("4", 20), ("5", 500))
        ),
        *(
            Claim(
                f"C-3.{number}.0b",
                f"with {flows} flows the variance of the intervals is as printed, within a fifth",
                (at("variance_s2", flows=flows) / VARIANCE_S2[flows]).equals(1, 0.2),
                kind="reproduced" if flows == 500 else "conditional",
                note="divided by the printed value",
            )
            for number, flows in (("4", 20), ("5", 500))
        ),
        claim("C-3.5.2c", at("dispersion", flows=500).equals(1, 0.1)),
    ),
    panels=tuple(panel(f"{flows} flows", flows) for flows in CROWDS),
    traces=tuple(trace for flows in CROWDS for trace in drawn(f"{flows} flows", {"flows": flows, "slow_start": BELOW}, flows)),
    conditions=(replace(START, values=(UNTIL_LOSS, BELOW)),),
    assumptions=COMMON,
    times=3,
    max_seeds=24,
)

EXPERIMENTS = (STATES, quick_form(INTERVALS, "claims whose interval, with twenty seeds, includes the bound", times=2))
