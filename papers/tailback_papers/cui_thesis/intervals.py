"""Figures 3.3 to 3.5: intervals between the packets of several flows (section 3.3.1)."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

import tailback as tb
from tailback.papers import AxisValue, Claim, Computation, Experiment, Trace, TracePanel, at, vary
from tailback_papers.cui_thesis.packets import EDGES, SENDERS, switch
from tailback_papers.cui_thesis.sizing import PACKET_BYTES

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["INTERVALS"]

# Packets of flows that share a link, at the end of a run.
TRACKED = 220_000
# Number of flows: link rate in bit/s, and duration in seconds including warm-up (one half).
CROWDS: dict[int, tuple[float, float]] = {2: (20e6, 200.0), 20: (200e6, 40.0), 500: (5e9, 10.0)}
MEAN_S = {2: 4.40391e-4, 20: 4.59386e-5, 500: 2.41786e-6}
VARIANCE_S2 = {2: 2.39167e-7, 20: 1.91787e-9, 500: 5.7904e-12}


def largest_share(found: tb.Run) -> float:
    """Largest goodput of a flow divided by the sum."""
    rates = np.asarray(found.flows["goodput_bps"], float)
    return float(rates.max() / rates.sum())


def generation(flows: int, seed: int) -> dict[str, Any]:
    """Intervals between consecutive sent packets of all flows, at the end of a run, and the flows' shares."""
    rate_bps, seconds = CROWDS[flows]
    scenario = switch(2, 1, 10, flows, rate_bps, seconds / 2, settling_s=seconds / 2)
    run = tb.simulate(scenario.with_({"record.traces": ["segments"]}), seed)
    sent = np.sort(np.asarray(run.trace("segments")["time_s"], float))[-TRACKED:]
    return {"gaps": np.diff(sent), "packet_s": 8 * PACKET_BYTES / rate_bps, "largest": largest_share(run)}


def mean_gap(found: dict[str, Any]) -> float:
    """Mean interval, in seconds."""
    return float(found["gaps"].mean())


def variance_of_gaps(found: dict[str, Any]) -> float:
    """Variance of the intervals, in square seconds."""
    return float(found["gaps"].var())


def spread_of_gaps(found: dict[str, Any]) -> float:
    """Standard deviation over mean: 1 for a Poisson process."""
    return float(found["gaps"].std() / found["gaps"].mean())


def from_exponential(found: dict[str, Any]) -> float:
    """Kolmogorov-Smirnov distance from the exponential distribution with the same mean."""
    gaps = np.sort(found["gaps"])
    exact = 1 - np.exp(-gaps / gaps.mean())
    steps = np.arange(len(gaps) + 1) / len(gaps)
    return float(max((steps[1:] - exact).max(), (exact - steps[:-1]).max()))


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


def largest_of(found: dict[str, Any]) -> float:
    """The larger flow's fraction of the goodput."""
    return float(found["largest"])


def tail(found: dict[str, Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Intervals divided by their mean, and the fraction of larger ones, at points spaced evenly over the plotted logarithm."""
    gaps = np.sort(found["gaps"] / found["gaps"].mean())
    places = np.unique((len(gaps) * (1 - np.geomspace(1, 0.5 / len(gaps), 400))).astype(int))
    return gaps[places], np.log10(1 - (places + 0.5) / len(gaps))


def poisson_tail() -> tuple[NDArray[Any], NDArray[Any]]:
    """The same for the exponential distribution."""
    gaps = np.linspace(0, 12, 50)
    return gaps, -gaps / math.log(10)


INTERVALS = Experiment(
    id="cui-thesis/fig3.3",
    title="Figures 3.3 to 3.5: intervals between packets of 2, 20 and 500 flows",
    question="From how many flows on is their packet stream a Poisson process?",
    source="figures 3.3 to 3.5, section 3.3.1",
    variants=vary(Computation(generation), [AxisValue({"flows": count}, {"flows": count}) for count in CROWDS]),
    measures={
        "mean_s": mean_gap,
        "variance_s2": variance_of_gaps,
        "spread": spread_of_gaps,
        "distance": from_exponential,
        "dispersion": dispersion,
        "near_packet_time": near_packet_time,
        "largest_share": largest_of,
    },
    claims=(
        Claim(
            "C-3.3.1",
            "with 2 flows the histogram departs clearly from the exponential",
            at("distance", flows=2) > 0.05,
            note="Kolmogorov-Smirnov distance; the bound is our choice, far above the 0.003 that 220,000 Poisson intervals may "
            "reach",
        ),
        Claim(
            "C-3.3.1-spike",
            "with 2 flows it has a spike at one packet time",
            at("near_packet_time", flows=2) > 2,
            kind="not_reproduced",
            note="number of intervals within a tenth of it, divided by that of the exponential distribution; senders are paced, "
            "and nothing makes two packets follow each other at the rate of the link",
        ),
        Claim(
            "C-3.3.2",
            "with 2 flows one takes most of the bottleneck and the other is quenched",
            at("largest_share", flows=2) > 0.75,
            kind="not_reproduced",
            note="the larger flow's share; the bound is our choice",
        ),
        Claim(
            "C-3.5.1",
            "with 500 flows standard deviation and mean of the intervals differ by less than 1 %",
            abs(at("spread", flows=500) - 1) < 0.01,
            published=0.005,
        ),
        Claim(
            "C-3.5.2",
            "the process approaches Poisson as the number of flows grows: from 2 to 20",
            at("distance", flows=20) < at("distance", flows=2),
        ),
        Claim(
            "C-3.5.2b",
            "the process approaches Poisson as the number of flows grows: from 20 to 500",
            at("distance", flows=500) < at("distance", flows=20),
            kind="not_reproduced",
        ),
        *(
            Claim(
                f"C-3.{number}.0",
                f"with {flows} flows the mean interval is as printed, within a tenth",
                (at("mean_s", flows=flows) / MEAN_S[flows]).equals(1, 0.1),
                kind="reproduced" if flows == 500 else "not_reproduced",
                note="divided by the printed value; the sent packets follow from utilisation and loss",
            )
            for number, flows in (("3", 2), ("4", 20), ("5", 500))
        ),
        *(
            Claim(
                f"C-3.{number}.0b",
                f"with {flows} flows the variance of the intervals is as printed, within a fifth",
                (at("variance_s2", flows=flows) / VARIANCE_S2[flows]).equals(1, 0.2),
                kind="reproduced" if flows == 500 else "not_reproduced",
                note="divided by the printed value",
            )
            for number, flows in (("3", 2), ("4", 20), ("5", 500))
        ),
        Claim(
            "C-3.5.2c",
            "with 500 flows the packets are a Poisson process: their number in a hundred mean intervals varies like one",
            at("dispersion", flows=500).equals(1, 0.1),
            kind="not_reproduced",
            note="variance over mean of these numbers, which the intervals do not show; the tolerance is our choice",
        ),
    ),
    panels=(
        TracePanel(
            ("2 flows", "20 flows", "500 flows", "exponential"),
            "log10 of the fraction of longer intervals",
            "interval over its mean",
        ),
    ),
    traces=(
        *(Trace(f"{count} flows", {"flows": count}, None, tail) for count in CROWDS),
        Trace("exponential", {"flows": 500}, None, lambda _: poisson_tail()),
    ),
    assumptions={
        **SENDERS,
        **EDGES,
        "round trips": "uniform on 60 to 180 ms",
        "length of a run": f"200, 40 and 10 s, half of which is warm-up; the last {TRACKED - 1:,} intervals are evaluated",
    },
    times=3,
    max_seeds=22,
)
