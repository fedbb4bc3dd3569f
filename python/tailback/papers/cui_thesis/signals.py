"""Section 2.3: how likely RED and REM are to mark, and when RED and TCP oscillate."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from tailback._run import Run
from tailback._scenario import Scenario
from tailback.papers import (
    Claim,
    Computation,
    Contrast,
    Curves,
    Drawn,
    Experiment,
    Inequality,
    LeftOpen,
    Level,
    Line,
    Measured,
    Trace,
    Value,
    Values,
    Variant,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["EXPERIMENTS"]

# Packets of 1000 bytes on the wire, one in a millisecond.
RATE, PACKETS_PER_S = "8 Mbps", 1000


def steady(window: int, **controller: Any) -> dict[str, Any]:
    """A sender whose packets can be marked and whose window stands still."""
    return {
        "preset": "newreno",
        "mss": "960 B",
        "delayed_ack": False,
        "ecn": True,
        "initial_window": window,
        "receiver_window": 100_000,
        "controller": {"kind": "fixed", **controller},
        # No timer fires while the queues fill.
        "timer": {"initial_rto": "60 s", "min_rto": "60 s", "max_rto": "60 s"},
    }


def on_one_link(
    name: str, rate: str, queue: dict[str, Any], flow: dict[str, Any], seconds: tuple[int, int], **rest: Any
) -> Scenario:
    """A group of flows over a queue, in these seconds."""
    warmup, end = seconds
    return Scenario(
        {
            "name": name,
            "duration": f"{end} s",
            "warmup": f"{warmup} s",
            "topology": {"dumbbell": {"rate": rate, "delay": "1 ms", "queue": queue}},
            "flows": {"flow": {"from": "left", "to": "right", **flow}},
            **rest,
        }
    )


@dataclass(frozen=True)
class Height:
    """A point of a line across a plot."""

    height: float


def utilisation(run: Run | Height) -> float:
    """Of the bottleneck."""
    return float(run.queues.where(queue="bottleneck")["utilisation"][0]) if isinstance(run, Run) else math.nan


@dataclass(frozen=True)
class Expected:
    """What a definition says, in place of a run."""

    probability: float


def counted(run: Run, queue: str, column: str) -> float:
    """Of a queue, as a part of what arrived there."""
    found = run.queues.where(queue=queue)
    return float(found[column][0] / found["arrived_units"][0])


# RED by its definition, figure 2.1.
LOWER, UPPER, MOST = 20, 60, 0.1
# Packets that are neither waiting nor arriving: in service, and on their way for ten and a half services.
ELSEWHERE = 12
BELOW, BETWEEN, ABOVE = (5, 10, 15), (25, 30, 35, 40, 45, 50, 55, 59), (61, 65, 70, 75, 80, 90, 110, 130)
LOADS = (1.02, 1.05, 1.08, 1.12, 1.16)


def raw(queue: float, gentle: bool) -> float:
    """The probability of figure 2.1 at an average queue; gentle as Floyd has it ("Recommendation", 2000)."""
    if queue < UPPER:
        return max(0.0, MOST * (queue - LOWER) / (UPPER - LOWER))
    return min(1.0, MOST + (1 - MOST) * (queue - UPPER) / UPPER) if gentle else 1.0


def spread(probability: float) -> float:
    """The part of the packets that RED signals at this probability, at a steady queue.

    Floyd and Jacobson (1993), section 7: after a signal the k-th packet gets p / (1 - k p), so that all distances up to 1 / p are
    equally likely; 1 / (1 / (2 p)) where 1 / p is whole.
    """
    if probability <= 0 or probability >= 1:
        return min(max(probability, 0.0), 1.0)
    # The first packet finds 1 - p left, and every one takes p of it.
    passed = np.arange(1, math.ceil(1 / probability))
    return float(1 / (np.maximum(1 - passed * probability, 0) / (1 - probability)).sum())


def by_definition(queue: float, gentle: bool) -> Expected:
    """The probability of figure 2.1."""
    return Expected(raw(queue, gentle))


def by_spreading(queue: float, gentle: bool) -> Expected:
    """The part of the packets that is to be marked with it."""
    return Expected(spread(raw(queue, gentle)))


def red(**settings: Any) -> dict[str, Any]:
    """A queue with RED of figure 2.1."""
    return {
        "policy": "red",
        "buffer": "400 packets",
        "lower": f"{LOWER} packets",
        "upper": f"{UPPER} packets",
        "max_probability": MOST,
        **settings,
    }


def standing(queue: int, gentle: bool) -> Scenario:
    """A window that does not react, whose every packet finds so many waiting: the average is what each finds."""
    flow = {"rtt": "10.5 ms", "tcp": steady(queue + ELSEWHERE)}
    # The average has settled after twenty times 1 / w_q packets.
    return on_one_link("cui-thesis, figure 2.1", RATE, red(gentle=gentle), flow, (10, 70))


def overload(load: float) -> Scenario:
    """More than the link carries, and RED that drops: it has to discard the excess, and finds the queue at which it does."""
    source = {"kind": "poisson", "rate": f"{8 * load:.4g} Mbps", "packet": "1000 B"}
    flow = {"rtt": "10.5 ms", "source": source}
    return on_one_link("cui-thesis, figure 2.1, dropping", RATE, red(signals="drops"), flow, (10, 110))


def balanced(load: float) -> float:
    """The average queue at which RED discards the excess."""
    return bisect(lambda queue: spread(raw(queue, True)) < 1 - 1 / load, LOWER, UPPER)


@dataclass(frozen=True)
class Balance:
    """A queue by computation."""

    queue: float


def balance(load: float) -> Balance:
    """Where the part that RED discards is the excess."""
    return Balance(balanced(load))


def marked(run: Run | Expected | Balance) -> float:
    """The part of what arrives at the bottleneck that is marked or discarded early."""
    if isinstance(run, Balance):
        return math.nan
    if isinstance(run, Expected):
        return run.probability
    return counted(run, "bottleneck", "marked_units") + counted(run, "bottleneck", "discarded_early")


def mean_queue(run: Run | Expected | Balance) -> float:
    """Packets that wait, on average over time."""
    if isinstance(run, Balance):
        return run.queue
    if isinstance(run, Expected):
        return math.nan
    return float(run.queues.where(queue="bottleneck")["mean_queue_units"][0])


def over_definition(gentle: bool, queues: tuple[int, ...]) -> Callable[[Measured], Values]:
    """Marked over the probability of figure 2.1, on average over queues."""

    def found(seen: Measured) -> Values:
        ratios = [seen.values("marked", line="measured", gentle=gentle, queue=at) / raw(at, gentle) for at in queues]
        mean: Values = np.mean(ratios, axis=0)
        return mean

    return found


def off_spreading(gentle: bool, queues: tuple[int, ...]) -> Callable[[Measured], Values]:
    """The largest deviation from what spreading makes of the definition, as a part of it."""

    def found(seen: Measured) -> Values:
        values = [
            np.abs(seen.values("marked", line="measured", gentle=gentle, queue=at) / spread(raw(at, gentle)) - 1) for at in queues
        ]
        largest: Values = np.max(values, axis=0)
        return largest

    return found


def extreme(gentle: bool, queues: tuple[int, ...], of: Callable[..., Any]) -> Callable[[Measured], Values]:
    """The largest or least part that is marked at any of these queues."""

    def found(seen: Measured) -> Values:
        values: Values = of([seen.values("marked", line="measured", gentle=gentle, queue=at) for at in queues], axis=0)
        return values

    return found


def off_balance(seen: Measured) -> Values:
    """The largest distance of the queue from where the excess is discarded, in packets."""
    found: Values = np.max([np.abs(seen.values("queue_length", line="dropping", load=at) - balanced(at)) for at in LOADS], axis=0)
    return found


ALL = (*BELOW, *BETWEEN, *ABOVE)
SHAPES = {True: "gentle", False: "not gentle"}

FIGURE_2_1 = Experiment(
    id="cui-thesis/fig2.1",
    title="Figure 2.1: how likely RED marks or drops",
    question="Does RED at work mark with the probability of figure 2.1?",
    source="figure 2.1, section 2.3.1",
    variants=(
        *(
            Variant({"line": "measured", "gentle": gentle, "queue": queue}, standing(queue, gentle))
            for gentle in SHAPES
            for queue in ALL
        ),
        *(
            Variant({"line": line, "gentle": gentle, "queue": queue}, Computation(of, {"queue": queue, "gentle": gentle}))
            for line, of in (("definition", by_definition), ("spread", by_spreading))
            for gentle in SHAPES
            for queue in sorted({0, LOWER, UPPER - 0.01, UPPER, 2 * UPPER, *ALL})
        ),
        *(Variant({"line": "dropping", "load": load}, overload(load)) for load in LOADS),
        *(Variant({"line": "balance", "load": load}, Computation(balance, {"load": load})) for load in LOADS),
    ),
    measures={"marked": marked, "queue_length": mean_queue},
    claims=(
        Claim(
            "C-2.1.1",
            "R",
            "below the lower threshold no packet is dropped or marked (largest part of the packets)",
            extreme(True, BELOW, np.max),
            Inequality("<=", 0),
        ),
        Claim(
            "C-2.1.2",
            "N",
            "between the thresholds the probability grows by max_p / (max_thres - min_thres) a packet (marked over that)",
            over_definition(True, BETWEEN),
            Value(1, 0.05),
            published=1,
            note="This is the probability before marks are spread out (p_b). Floyd and Jacobson let it grow with the packets "
            "since the last mark: all distances up to 1 / p_b are equally likely, and half of that is their mean. The RED of "
            "ns-2 lets 1 / p_b packets pass first (wait_), and would mark two thirds of p_b.",
        ),
        Claim(
            "C-2.1.2-even",
            "R",
            "what is marked is what spreading makes of it, twice as much (largest deviation as a part, both shapes)",
            lambda seen: np.maximum(off_spreading(True, BETWEEN)(seen), off_spreading(False, BETWEEN)(seen)),
            Inequality("<", 0.05),
        ),
        Claim(
            "C-2.1.3",
            "R",
            "above the upper threshold all arriving packets are dropped or marked (least part of the packets, not gentle)",
            extreme(False, ABOVE, np.min),
            Inequality(">=", 1),
        ),
        Claim(
            "C-2.1.3-gentle",
            "R",
            "gentle RED does not yet at a sixth above it (largest part of the packets, up to 70)",
            extreme(True, ABOVE[:3], np.max),
            Inequality("<", 0.6),
        ),
        Claim(
            "C-2.1.4",
            "R",
            "RED that drops holds the queue at which it discards the excess (largest distance from that, loads of 1.02 to 1.16)",
            off_balance,
            Inequality("<", 2),
        ),
    ),
    panels=(
        (
            Curves(
                "marked",
                "queue",
                (
                    *(Line(f"{shape}, measured", {"line": "measured", "gentle": gentle}) for gentle, shape in SHAPES.items()),
                    Line("gentle, figure 2.1", {"line": "definition", "gentle": True}, dashed=True),
                    Line("not gentle, figure 2.1", {"line": "definition", "gentle": False}, dashed=True),
                    Line("gentle, spread evenly", {"line": "spread", "gentle": True}, dashed=True),
                ),
                "part of the packets that is marked",
                "average queue, packets",
            ),
        ),
        (
            Curves(
                "queue_length",
                "load",
                (
                    Line("measured", {"line": "dropping"}),
                    Line("where the excess is discarded", {"line": "balance"}, dashed=True),
                ),
                "average queue, packets",
                "load",
                title="dropping",
            ),
        ),
    ),
    left_open=(
        LeftOpen("thresholds and max_p", "20 and 60 packets, 0.1; weight 0.002"),
        LeftOpen(
            "how the average is held",
            "by windows that do not react: each packet finds the same number waiting. Dropping, by a Poisson overload",
        ),
    ),
    answer=lambda seen: (
        "In shape. "
        f"Between the thresholds it marks {told(seen, over_definition(True, BETWEEN), 3)} times as much, because marks are "
        "spread evenly: a distance is at most 1 / p, and on average half of that. Gentle RED therefore marks everything from "
        "where the figure has a half, at 87 packets and not at 120."
    ),
)


def told(seen: Measured, of: Callable[[Measured], Values], digits: int = 2) -> str:
    """A mean over the seeds with its interval."""
    interval = seen.interval(of(seen))
    return f"{interval.mean:.{digits}f} ± {interval.high - interval.mean:.{digits}f}"


# REM, figure 2.2. The document gives no phi; a price of one marks half.
PHI = 2.0
# Links are never idle: what arrives less what can be sent adds up to what a link holds, and with alpha next to nothing the
# price of (2.5) is gamma times that.
HELD = 300
THROUGH = 0.3
SUMS = (0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 3.0, 4.0)
HOPS = (1, 3, 6)
SMALL, LARGE = SUMS[:2], SUMS[5:]


def priced(hops: int, total: float) -> Scenario:
    """Links in a row with these prices in all, each filled by a window that does not react, and a paced flow through all."""
    rem = {
        "policy": "rem",
        "buffer": "100000 packets",
        "target": f"{HELD} packets",
        "alpha": 1e-6,
        "gamma": total / hops / HELD,
        "phi": PHI,
        "packet": "1000 B",
    }
    link = {"rate": RATE, "delay": "1 ms", "queue": rem}
    # A share of the rate is that share of what the link holds.
    flows: dict[str, Any] = {
        f"local{hop}": {
            "from": f"node{hop}",
            "to": f"node{hop + 1}",
            "rtt": "2 ms",
            "tcp": steady(round(HELD * (1 - THROUGH)) + 2),
        }
        for hop in range(1, hops + 1)
    }
    flows["through"] = {
        "from": "node1",
        "to": f"node{hops + 1}",
        "rtt": f"{2 * hops} ms",
        "tcp": steady(20_000, rate=f"{8 * THROUGH:g} Mbps"),
    }
    return Scenario(
        {
            "name": f"cui-thesis, figure 2.2, {hops} links",
            "duration": "50 s",
            "warmup": "10 s",
            "nodes": {f"node{number}": {} for number in range(1, hops + 2)},
            "links": {f"link{hop}": {**link, "from": f"node{hop}", "to": f"node{hop + 1}"} for hop in range(1, hops + 1)},
            "flows": flows,
        }
    )


def exponential(total: float) -> Expected:
    """Equations (2.6) and (2.7)."""
    return Expected(1 - PHI**-total)


def proportional(total: float) -> Expected:
    """Equation (2.8)."""
    return Expected(math.log(PHI) * total)


def end_to_end(run: Run | Expected) -> float:
    """The part of the packets through all links that arrives marked."""
    if isinstance(run, Expected):
        return run.probability
    flow = run.flows.where(group="through")
    return float(flow["marked_packets"][0] / flow["delivered_packets"][0])


def prices(run: Run) -> NDArray[np.float64]:
    """Of each link, by (2.5) from what it held on average: what waits, and what is in service."""
    links = run.scenario["links"]
    found = []
    for link in links:
        row = run.queues.where(queue=link)
        gamma = links[link]["queue"]["gamma"]
        found.append(gamma * float(row["mean_queue_units"][0] + row["utilisation"][0]))
    return np.array(found)


def price(run: Run | Expected) -> float:
    """Of all links together."""
    return math.nan if isinstance(run, Expected) else float(prices(run).sum())


def off_link(run: Run | Expected) -> float:
    """Marked at a link less (2.6) of its price, the largest of all links."""
    if isinstance(run, Expected):
        return math.nan
    own = [counted(run, link, "marked_units") for link in run.scenario["links"]]
    return float(np.abs(own - (1 - PHI ** -prices(run))).max())


def off_path(run: Run | Expected) -> float:
    """Marked end to end less (2.7) of the prices."""
    return math.nan if isinstance(run, Expected) else end_to_end(run) - (1 - PHI ** -price(run))


def over_proportional(run: Run | Expected) -> float:
    """Marked end to end over (2.8)."""
    return math.nan if isinstance(run, Expected) else end_to_end(run) / (math.log(PHI) * price(run))


def over_all(
    measure: str, totals: tuple[float, ...], of: Callable[..., Any], hops: tuple[int, ...] = HOPS
) -> Callable[[Measured], Values]:
    """The mean or another of a measure over paths and prices."""

    def found(seen: Measured) -> Values:
        values: Values = of([seen.values(measure, hops=count, total=total) for count in hops for total in totals], axis=0)
        return values

    return found


FIGURE_2_2 = Experiment(
    id="cui-thesis/fig2.2",
    title="Figure 2.2: how likely REM marks",
    question="Does REM mark with 1 - phi^-p, and what does a path of several links tell of the sum of its prices?",
    source="figure 2.2, equations (2.5) to (2.8), section 2.3.3",
    variants=(
        *(Variant({"hops": hops, "total": total}, priced(hops, total)) for hops in HOPS for total in SUMS),
        *(
            Variant({"line": line, "total": total}, Computation(of, {"total": total}))
            for line, of, totals in (
                ("(2.7)", exponential, (0.0, 0.025, *SUMS, 1.5, 2.5, 3.5)),
                ("(2.8)", proportional, (0.0, *SUMS[:5], 1.4)),
            )
            for total in sorted(totals)
        ),
    ),
    measures={
        "end_to_end": end_to_end,
        "price": price,
        "off_link": off_link,
        "off_path": off_path,
        "over_proportional": over_proportional,
    },
    claims=(
        Claim(
            "C-2.2.1",
            "R",
            "a queue marks with probability 1 - phi^-p (2.6) (largest deviation at any link of any path)",
            over_all("off_link", SUMS, np.max),
            Inequality("<", 0.02),
        ),
        *(
            Claim(
                f"C-2.2.2-{hops}",
                "R",
                f"end to end it is exponential in the sum of the prices (2.7), {hops} links (mean deviation)",
                over_all("off_path", SUMS, np.mean, (hops,)),
                Value(0, 0.003),
            )
            for hops in HOPS[1:]
        ),
        Claim(
            "C-2.2.3",
            "S",
            "it is approximately proportional to the sum of the prices (2.8) (measured over that)",
            over_all("over_proportional", SMALL, np.mean),
            Value(1, 0.05),
            setting="prices of 0.05 and 0.1 in all: small, as stated",
            contrast=Contrast("prices of 2 to 4", over_all("over_proportional", LARGE, np.mean)),
        ),
    ),
    panels=(
        (
            Curves(
                "end_to_end",
                "total",
                (
                    *(Line(f"{hops} link{'s' * (hops > 1)}", {"hops": hops}) for hops in HOPS),
                    Line("(2.7)", {"line": "(2.7)"}, dashed=True),
                    Line("(2.8)", {"line": "(2.8)"}, dashed=True),
                ),
                "part of the packets that is marked end to end",
                "sum of the prices",
            ),
        ),
    ),
    left_open=(
        LeftOpen("phi", "2: a price of one marks half"),
        LeftOpen(
            "how the price is held",
            "by links that are never idle and hold 300 packets: with alpha next to nothing the price (2.5) is gamma times that",
        ),
    ),
    answer=lambda seen: (
        "It does: at any link what is marked is at most "
        f"{told(seen, over_all('off_link', SUMS, np.max), 4)} off (2.6). A path of six links marks as one with the sum of their "
        f"prices. Of what (2.8) says {told(seen, over_all('over_proportional', SMALL, np.mean), 3)} is marked with sums of 0.05 "
        f"and 0.1, and {told(seen, over_all('over_proportional', LARGE, np.mean), 3)} with 2 to 4."
    ),
)

# A sender of Reno with ECN.
RENO = {
    "preset": "sack",
    "mss": "960 B",
    "delayed_ack": False,
    "ecn": True,
    "timestamps": True,
    "receiver_window": 100_000,
}
# Section 2.3.3: how many flows, and the queue that REM is to hold.
COUNTS = (10, 20, 40, 80, 160)
TARGET = 50
QUEUES: dict[str, dict[str, Any]] = {
    # Five times the usual gamma: a price that settles within the warm-up also with most flows.
    "REM": {"policy": "rem", "buffer": "1000 packets", "target": f"{TARGET} packets", "gamma": 0.005, "packet": "1000 B"},
    "RED": red(lower=f"{TARGET // 2} packets", upper=f"{3 * TARGET} packets", buffer="1000 packets"),
}


def loaded(policy: str, count: int) -> Scenario:
    """So many flows of Reno with ECN on 40 Mb/s, 50 ms."""
    flow = {"count": count, "rtt": "50 ms", "start": {"uniform": ["0 s", "5 s"]}, "tcp": RENO}
    return on_one_link("cui-thesis, section 2.3.3", "40 Mbps", QUEUES[policy], flow, (20, 60))


def lost(run: Run) -> float:
    """The part of what arrives at the bottleneck that is discarded."""
    return counted(run, "bottleneck", "discarded_units")


def by_count(policy: str, measure: str, of: Callable[..., Any]) -> Callable[[Measured], Values]:
    """The largest or another of a measure over the numbers of flows."""

    def found(seen: Measured) -> Values:
        values: Values = of([seen.values(measure, policy=policy, flows=count) for count in COUNTS], axis=0)
        return values

    return found


def off_target(values: Any, axis: int) -> Any:
    """The largest distance from the target, in packets."""
    return np.abs(np.asarray(values) - TARGET).max(axis=axis)


LOAD = Experiment(
    id="cui-thesis/rem-load",
    title="Section 2.3.3: REM and the number of flows",
    question="Does REM hold input rate and queue whatever the number of flows?",
    source="section 2.3.3, equation (2.5)",
    variants=tuple(Variant({"policy": policy, "flows": count}, loaded(policy, count)) for policy in QUEUES for count in COUNTS),
    measures={"queue_length": mean_queue, "utilisation": utilisation, "marked": marked, "lost": lost},
    claims=(
        Claim(
            "C-2.3.3-queue",
            "R",
            "REM stabilises the queue around its target regardless of the number of flows (largest distance, packets)",
            by_count("REM", "queue_length", off_target),
            Inequality("<", 10),
        ),
        Claim(
            "C-2.3.3-rate",
            "R",
            "and the input rate around the capacity: high utilisation (the least)",
            by_count("REM", "utilisation", np.min),
            Inequality(">", 0.95),
        ),
        Claim(
            "C-2.3.3-loss",
            "R",
            "and negligible loss (the largest part of the packets)",
            by_count("REM", "lost", np.max),
            Inequality("<", 0.001),
        ),
        Claim(
            "C-2.3.3-price",
            "R",
            "with more users the marking probability is pushed up (least growth as their number doubles)",
            by_count("REM", "marked", lambda values, axis: np.diff(values, axis=axis).min(axis=axis)),
            Inequality(">", 0),
        ),
        Claim(
            "C-2.3.3-red",
            "R",
            "where the queue is the congestion measure it varies with the number of sources (RED, 160 flows over 10)",
            lambda seen: (
                seen.values("queue_length", policy="RED", flows=COUNTS[-1])
                / seen.values("queue_length", policy="RED", flows=COUNTS[0])
            ),
            Inequality(">", 2),
        ),
    ),
    panels=(
        (
            Curves(
                "queue_length",
                "flows",
                tuple(Line(policy, {"policy": policy}) for policy in QUEUES),
                "average queue, packets",
                "flows",
                levels=(Level("target of REM", TARGET),),
            ),
        ),
        (
            Curves(
                "marked",
                "flows",
                tuple(Line(policy, {"policy": policy}) for policy in QUEUES),
                "part of the packets that is marked",
                "flows",
            ),
        ),
    ),
    left_open=(
        LeftOpen(
            "scenario", "Reno with ECN, 40 Mb/s, 50 ms; REM with gamma 0.005, alpha 0.1 and phi 1.001, RED of 25 and 150 packets"
        ),
    ),
    answer=lambda seen: (
        f"It does: from {COUNTS[0]} to {COUNTS[-1]} flows the queue is within "
        f"{told(seen, by_count('REM', 'queue_length', off_target), 1)} packets of its target of {TARGET}, and at least "
        f"{told(seen, by_count('REM', 'utilisation', np.min), 3)} of the link is used. With RED the queue grows to "
        f"{told(seen, lambda each: each.values('queue_length', policy='RED', flows=COUNTS[-1]), 0)} packets."
    ),
)

# Section 2.3.1: instability. Wide thresholds, so that the queue has room on either side of where it rests.
FLOWS = 50
MIN_THRES, MAX_THRES, WEIGHT = 100, 500, 0.0005
DELAYS_MS = (20, 30, 40, 50, 60, 65, 75, 85, 100, 150, 200, 300)
CAPACITIES_MBPS = (10, 13, 16, 20, 22, 24, 26, 30, 34, 40, 60, 80)
# Of the sweep of delays, and of that of capacities.
CAPACITY_MBPS, DELAY_MS = 40, 100
SETTLED_S, END_S = 20, 60
# How much a queue varies that oscillates: about as far above what it does at small delay as below what it does at large delay.
OSCILLATES = 0.3


@dataclass(frozen=True)
class Loop:
    """RED and equal flows of Reno as a linear system about where they rest.

    The fluid model of Misra, Gong and Towsley (SIGCOMM 2000) as Hollot, Misra, Towsley and Gong linearise it ("A control
    theoretic analysis of RED", INFOCOM 2001). With C packets/s, N flows, a round trip R with its queueing, slope L of the
    probability and corner K = -C ln(1 - w) of the average,

        L(s) = L C^2 / (2 N) e^(-s R) / ((s + 2 N / (R^2 C)) (s + 1 / R) (1 + s / K)).

    Gain and phase both fall with the frequency, so it is stable if and only if the gain is below 1 where the phase is -180
    degrees (Nyquist). At low frequencies the gain is L (R C)^3 / (2 N)^2. Low, Paganini, Wang and Doyle, whom the document cites,
    give a condition for a model of their own that suffices; this one is exact for its model.
    """

    # Packets at rest.
    queue: float
    gain: float


def loop(capacity_mbps: float, delay_ms: float) -> Loop:
    """In one setting. RED marks twice the probability by which it is set (figure 2.1): the slope is that of what it marks."""
    capacity, delay = capacity_mbps * 1e6 / 8000, delay_ms / 1e3
    slope = 2 * MOST / (MAX_THRES - MIN_THRES)

    def below_rest(queue: float) -> bool:
        # At rest p W^2 = 2: a packet more in each round trip, half a window less for each mark.
        return slope * (queue - MIN_THRES) < 2 * (FLOWS / (delay * capacity + queue)) ** 2

    queue = bisect(below_rest, MIN_THRES, MAX_THRES)
    round_trip = delay + queue / capacity
    corners = (2 * FLOWS / (round_trip**2 * capacity), 1 / round_trip, -math.log1p(-WEIGHT) * capacity)

    def below_half_turn(frequency: float) -> bool:
        return frequency * round_trip + sum(math.atan(frequency / corner) for corner in corners) < math.pi

    turned = bisect(below_half_turn, 0, math.pi / round_trip)
    at_rest = slope * (round_trip * capacity) ** 3 / (2 * FLOWS) ** 2
    return Loop(queue, at_rest / math.prod(math.hypot(1, turned / corner) for corner in corners))


def bisect(holds: Callable[[float], bool], low: float, high: float) -> float:
    """The place up to which it holds."""
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if holds(middle) else (low, middle)
    return low


def regulated(capacity_mbps: float, delay_ms: float) -> Scenario:
    """Flows of Reno with ECN at RED."""
    queue = red(lower=f"{MIN_THRES} packets", upper=f"{MAX_THRES} packets", weight=WEIGHT, buffer="10000 packets")
    flow = {"count": FLOWS, "rtt": f"{delay_ms} ms", "start": {"uniform": ["0 s", "5 s"]}, "tcp": RENO}
    record = {"traces": {"queue": ["bottleneck"]}}
    return on_one_link("cui-thesis, section 2.3.1", f"{capacity_mbps:g} Mbps", queue, flow, (SETTLED_S, END_S), record=record)


def queue_over_time(run: Run) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Packets that wait, for drawing: every 20 ms."""
    trace = run.trace("queue")
    times = np.arange(SETTLED_S, run.simulated_s, 0.02)
    place = np.searchsorted(trace["time_s"], times, side="right") - 1
    return times, np.asarray(trace["queue_units"], float)[place]


def variation(run: Run | Height) -> float:
    """Standard deviation of the queue over its mean, over time."""
    if isinstance(run, Height):
        return run.height
    trace = run.trace("queue")
    times = np.append(np.asarray(trace["time_s"], float), run.simulated_s)
    lengths, spans = np.asarray(trace["queue_units"], float), np.diff(np.maximum(times, SETTLED_S))
    mean = np.average(lengths, weights=spans)
    return float(np.sqrt(np.average((lengths - mean) ** 2, weights=spans)) / mean)


SWEEPS = {
    "delay": {at: (CAPACITY_MBPS, at) for at in DELAYS_MS},
    "capacity": {at: (at, DELAY_MS) for at in CAPACITIES_MBPS},
}
GAINS = {(sweep, at): loop(*setting).gain for sweep, settings in SWEEPS.items() for at, setting in settings.items()}
# Where the linear system becomes unstable.
LIMITS = {
    "delay": bisect(lambda delay: loop(CAPACITY_MBPS, delay).gain < 1, DELAYS_MS[0], DELAYS_MS[-1]),
    "capacity": bisect(lambda capacity: loop(capacity, DELAY_MS).gain < 1, CAPACITIES_MBPS[0], CAPACITIES_MBPS[-1]),
    "gain": 1.0,
}
# Settings that are well within the condition, and well beyond it.
STABLE = tuple(place for place, gain in GAINS.items() if gain < 0.6)
UNSTABLE = tuple(place for place, gain in GAINS.items() if gain > 1.4)
DOUBLED = {"delay": (50, 100, 200), "capacity": (20, 40, 80)}
# Of the line that marks the condition, by what it is drawn over.
HEIGHTS = {"delay": 1.8, "capacity": 1.8, "gain": 1.0}


def at_places(places: tuple[tuple[str, float], ...], of: Callable[..., Any]) -> Callable[[Measured], Values]:
    """The largest or least variation at these places."""

    def found(seen: Measured) -> Values:
        values: Values = of([seen.values("variation", line="measured", sweep=sweep, at=at) for sweep, at in places], axis=0)
        return values

    return found


def least_growth(sweep: str) -> Callable[[Measured], Values]:
    """The least growth of the variation as delay or capacity doubles, from within the condition on."""

    def found(seen: Measured) -> Values:
        values = [seen.values("variation", line="measured", sweep=sweep, at=at) for at in DOUBLED[sweep]]
        least: Values = np.diff(values, axis=0).min(axis=0)
        return least

    return found


def begins(sweep: str) -> Callable[[Measured], Values]:
    """The gain of the linear system at which the queue begins to oscillate, between the places that were run."""

    def found(seen: Measured) -> Values:
        gains = [GAINS[sweep, at] for at in SWEEPS[sweep]]
        runs = np.array([seen.values("variation", line="measured", sweep=sweep, at=at) for at in SWEEPS[sweep]])
        crossed: Values = np.array([np.interp(OSCILLATES, np.maximum.accumulate(run), gains) for run in runs.T])
        return crossed

    return found


INSTABILITY = Experiment(
    id="cui-thesis/red-stability",
    title="Section 2.3.1: RED and TCP at a large bandwidth-delay product",
    question="Do TCP and RED begin to oscillate where the linear system of both becomes unstable?",
    source="section 2.3.1, after Low, Paganini, Wang and Doyle, Computer Networks 43, 2003",
    variants=(
        *(
            Variant(
                # Far beyond the condition the gain is left out: what is to be seen is near it.
                {"line": "measured", "sweep": sweep, "at": at, **({"gain": GAINS[sweep, at]} if GAINS[sweep, at] < 3 else {})},
                regulated(*SWEEPS[sweep][at]),
            )
            for sweep in SWEEPS
            for at in SWEEPS[sweep]
        ),
        *(
            Variant(
                {"line": "condition", "sweep": sweep, "gain" if sweep == "gain" else "at": limit, "end": height},
                Computation(Height, {"height": height}),
            )
            for sweep, limit in LIMITS.items()
            for height in (0.0, HEIGHTS[sweep])
        ),
    ),
    measures={"variation": variation, "utilisation": utilisation},
    claims=(
        Claim(
            "C-2.3.1-within",
            "R",
            "within the condition the queue does not oscillate (largest relative standard deviation, gain below 0.6)",
            at_places(STABLE, np.max),
            Inequality("<", 0.2),
        ),
        Claim(
            "C-2.3.1-beyond",
            "R",
            "beyond it it does (least relative standard deviation, gain above 1.4)",
            at_places(UNSTABLE, np.min),
            Inequality(">", 0.7),
        ),
        *(
            Claim(
                f"C-2.3.1-{sweep}",
                "R",
                f"it eventually fluctuates as the bandwidth-delay product increases, by {sweep} (least growth of the relative "
                "standard deviation as it doubles and doubles again, from within the condition on)",
                least_growth(sweep),
                Inequality(">", 0),
            )
            for sweep in SWEEPS
        ),
        *(
            Claim(
                f"C-2.3.1-at-{sweep}",
                "N",
                f"it begins where the linear system becomes unstable, by {sweep} (gain at which the relative standard deviation "
                f"is {OSCILLATES})",
                begins(sweep),
                Value(1, 0.05),
                note="Somewhat before: near its limit the system hardly damps what single marks and windows add to the queue.",
            )
            for sweep in SWEEPS
        ),
        Claim(
            "C-2.3.1-cost",
            "R",
            "the oscillation costs throughput (utilisation at the largest delay)",
            lambda seen: seen.values("utilisation", line="measured", sweep="delay", at=DELAYS_MS[-1]),
            Inequality("<", 0.95),
        ),
    ),
    panels=(
        tuple(
            Curves(
                "variation",
                "at",
                (
                    Line("measured", {"line": "measured", "sweep": sweep}),
                    Line("unstable beyond", {"line": "condition", "sweep": sweep}, dashed=True),
                ),
                "relative deviation of the queue",
                unit,
                title=title,
            )
            for sweep, unit, title in (
                ("delay", "round trip without queueing, ms", f"{CAPACITY_MBPS} Mb/s"),
                ("capacity", "capacity, Mb/s", f"{DELAY_MS} ms"),
            )
        ),
        (
            Curves(
                "variation",
                "gain",
                (
                    Line("by delay", {"line": "measured", "sweep": "delay"}),
                    Line("by capacity", {"line": "measured", "sweep": "capacity"}),
                    Line("unstable beyond", {"line": "condition", "sweep": "gain"}, dashed=True),
                ),
                "relative deviation of the queue",
                "gain of the linear system at half a turn",
            ),
        ),
        (Drawn(("50 ms",), "queue, packets", "time, s", title="50 ms: stable"),),
        (Drawn(("100 ms",), "queue, packets", "time, s", title="100 ms: unstable"),),
    ),
    traces=tuple(
        Trace(f"{at} ms", {"line": "measured", "sweep": "delay", "at": at}, {"queue": ["bottleneck"]}, queue_over_time)
        for at in (50, 100)
    ),
    left_open=(
        LeftOpen(
            "flows and RED",
            f"{FLOWS} flows of Reno with ECN, thresholds of {MIN_THRES} and {MAX_THRES} packets, max_p {MOST}, weight {WEIGHT}",
        ),
        LeftOpen(
            "the condition",
            "that of the linear system of Hollot, Misra, Towsley and Gong (2001), by Nyquist, with the slope that figure 2.1 "
            "measures: twice that of the settings",
        ),
        LeftOpen("what an oscillation is", f"a relative standard deviation of {OSCILLATES}"),
    ),
    answer=lambda seen: (
        f"Nearly. The linear system becomes unstable at {LIMITS['delay']:.0f} ms with {CAPACITY_MBPS} Mb/s, and at "
        f"{LIMITS['capacity']:.0f} Mb/s with {DELAY_MS} ms. The relative standard deviation of the queue is at most "
        f"{told(seen, at_places(STABLE, np.max), 3)} where its gain is below 0.6, and at least "
        f"{told(seen, at_places(UNSTABLE, np.min), 3)} where it exceeds 1.4; it passes {OSCILLATES} at a gain of "
        f"{told(seen, begins('delay'))} by delay and {told(seen, begins('capacity'))} by capacity."
    ),
)

EXPERIMENTS = (FIGURE_2_1, FIGURE_2_2, LOAD, INSTABILITY)
