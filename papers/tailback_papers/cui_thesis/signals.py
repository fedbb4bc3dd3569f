"""Figures 2.1 and 2.2: marking probabilities of RED and REM (section 2.3)."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

import tailback as tb
from tailback.papers import Claim, Computation, Contrast, Curves, Experiment, Expression, Line, Variant, at, highest
from tailback_papers.claims import claims_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["EXPERIMENTS", "MOST", "Height", "bisect", "marked", "mean_queue", "on_one_link", "red", "utilisation"]

claim = claims_of(__name__)

# Packets of 1000 bytes on the wire, one per millisecond.
RATE = "8 Mbps"


def steady(window: int, **controller: Any) -> dict[str, Any]:
    """A sender with ECN-capable packets and a constant window."""
    return {
        "preset": "newreno",
        "mss": "960 B",
        "delayed_ack": False,
        "ecn": True,
        "initial_window": window,
        "receiver_window": 100_000,
        "controller": {"kind": "fixed", **controller},
        # Long enough that no timer expires while the queues fill.
        "timer": {"initial_rto": "60 s", "min_rto": "60 s", "max_rto": "60 s"},
    }


def on_one_link(
    name: str, rate: str, queue: dict[str, Any], flow: dict[str, Any], seconds: tuple[int, int], **rest: Any
) -> tb.Scenario:
    """A group of flows over a queue, for this many seconds."""
    warmup, end = seconds
    return tb.Scenario(
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
    """A point of a horizontal line across a plot."""

    height: float


def utilisation(run: tb.Run | Height) -> float:
    """Utilisation of the bottleneck."""
    return run.value("queues.bottleneck.utilisation") if isinstance(run, tb.Run) else math.nan


@dataclass(frozen=True)
class Expected:
    """Values by a definition, in place of a run."""

    probability: float


def counted(run: tb.Run, queue: str, column: str) -> float:
    """A counter of a queue, as a fraction of its arrivals."""
    return run.value(f"queues.{queue}.{column} / queues.{queue}.arrived_units")


def bisect(holds: Callable[[float], bool], low: float, high: float) -> float:
    """The largest value for which a condition holds, by bisection."""
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if holds(middle) else (low, middle)
    return low


# RED by its definition, figure 2.1.
LOWER, UPPER, MOST = 20, 60, 0.1
# Packets that are neither queued nor arriving: one in service, and packets in flight for ten and a half service times.
ELSEWHERE = 12
BELOW, BETWEEN, ABOVE = (5, 10, 15), (25, 30, 35, 40, 45, 50, 55, 59), (61, 65, 70, 75, 80, 90, 110, 130)
LOADS = (1.02, 1.05, 1.08, 1.12, 1.16)


def raw(queue: float, gentle: bool) -> float:
    """Probability of figure 2.1 at an average queue; gentle as Floyd defines it ("Recommendation", 2000)."""
    if queue < UPPER:
        return max(0.0, MOST * (queue - LOWER) / (UPPER - LOWER))
    return min(1.0, MOST + (1 - MOST) * (queue - UPPER) / UPPER) if gentle else 1.0


def spread(probability: float) -> float:
    """Fraction of packets that RED marks at this probability, with a steady queue.

    Floyd and Jacobson (1993), section 7: after a mark, the k-th packet is marked with p / (1 - k p), so that all distances up to
    1 / p are equally likely; the result is 1 / (1 / (2 p)) if 1 / p is whole.
    """
    if probability <= 0 or probability >= 1:
        return min(max(probability, 0.0), 1.0)
    # The first packet leaves a probability of 1 - p, and every further packet reduces it by p.
    passed = np.arange(1, math.ceil(1 / probability))
    return float(1 / (np.maximum(1 - passed * probability, 0) / (1 - probability)).sum())


def unspread(fraction: float) -> float:
    """The probability with which RED marks this fraction."""
    return bisect(lambda probability: spread(probability) <= fraction, 0, 1)


def before_spreading(fractions: NDArray[np.float64]) -> NDArray[np.float64]:
    """The probabilities with which RED marks these fractions."""
    return np.array([unspread(fraction) for fraction in fractions])


def by_definition(queue: float, gentle: bool) -> Expected:
    """Probability of figure 2.1."""
    return Expected(raw(queue, gentle))


def by_spreading(queue: float, gentle: bool) -> Expected:
    """The expected fraction of marked packets."""
    return Expected(spread(raw(queue, gentle)))


def red(**settings: Any) -> dict[str, Any]:
    """A queue with RED of figure 2.1."""
    return {
        "policy": "red",
        "buffer": "400 packets",
        "min_threshold": f"{LOWER} packets",
        "max_threshold": f"{UPPER} packets",
        "max_probability": MOST,
        **settings,
    }


def constant_window(queue: int, gentle: bool) -> tb.Scenario:
    """A window that does not react, so that every packet finds the same queue and the average equals it."""
    flow = {"propagation_rtt": "10.5 ms", "tcp": steady(queue + ELSEWHERE)}
    # The average settles within twenty times 1 / w_q packets.
    return on_one_link("cui-thesis, figure 2.1", RATE, red(gentle=gentle), flow, (10, 70))


def overload(load: float) -> tb.Scenario:
    """A load above the link's rate, and RED that drops: it has to discard the excess, and the queue settles where it does."""
    source = {"kind": "poisson", "rate": f"{8 * load:.4g} Mbps", "packet_size": "1000 B"}
    flow = {"propagation_rtt": "10.5 ms", "source": source}
    return on_one_link("cui-thesis, figure 2.1, dropping", RATE, red(signals="drops"), flow, (10, 110))


def balanced(load: float) -> float:
    """The average queue at which RED discards the excess."""
    return bisect(lambda queue: spread(raw(queue, True)) < 1 - 1 / load, LOWER, UPPER)


@dataclass(frozen=True)
class Balance:
    """The equilibrium of a queue, computed."""

    queue: float


def balance(load: float) -> Balance:
    """The queue at which RED's drop fraction equals the excess."""
    return Balance(balanced(load))


def marked(run: tb.Run | Expected | Balance) -> float:
    """Fraction of the packets arriving at the bottleneck that is marked or discarded early."""
    if isinstance(run, Balance):
        return math.nan
    if isinstance(run, Expected):
        return run.probability
    return counted(run, "bottleneck", "marked_units") + counted(run, "bottleneck", "dropped_early")


def mean_queue(run: tb.Run | Expected | Balance) -> float:
    """Time-averaged queue, in packets."""
    if isinstance(run, Balance):
        return run.queue
    if isinstance(run, Expected):
        return math.nan
    return float(run.queues.where(queue="bottleneck")["mean_queue_units"][0])


def marks(gentle: bool, queues: tuple[int, ...] = BETWEEN) -> Expression:
    """Marked fraction at some queues."""
    return at("marked", line="measured", gentle=gentle, queue=queues)


def off_spreading(gentle: bool) -> Expression:
    """Largest relative deviation from the probability of figure 2.1 with spread marks."""
    return abs(marks(gentle) / (lambda queue: spread(raw(queue, gentle))) - 1).max(each_seed=True)


# Marked fraction divided by the probability of figure 2.1, averaged over queues.
OVER_DEFINITION = (marks(True) / (lambda queue: raw(queue, True))).mean()

ALL = (*BELOW, *BETWEEN, *ABOVE)
SHAPES = {True: "gentle", False: "not gentle"}

FIGURE_2_1 = Experiment(
    id="cui-thesis/fig2.1",
    title="Figure 2.1: RED's marking and drop probability",
    question="Does a simulated RED queue mark with the probability of figure 2.1?",
    source="figure 2.1, section 2.3.1",
    variants=(
        *(
            Variant({"line": "measured", "gentle": gentle, "queue": queue}, constant_window(queue, gentle))
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
    fractions=("marked",),
    claims=(
        claim("C-2.1.1", marks(True, BELOW).max(each_seed=True) <= 0),
        claim(
            "C-2.1.2",
            (marks(True).map(before_spreading) / (lambda queue: raw(queue, True))).mean().equals(1, 0.05),
            contrast=Contrast("fraction of packets marked", OVER_DEFINITION),
        ),
        claim("C-2.1.2-even", highest(off_spreading(True), off_spreading(False), each_seed=True) < 0.05),
        claim("C-2.1.3", marks(False, ABOVE).min(each_seed=True) >= 1),
        claim("C-2.1.3-gentle", marks(True, ABOVE[:3]).max(each_seed=True) < 0.6),
        claim("C-2.1.4", abs(at("queue_length", line="dropping") - balanced).max(each_seed=True) < 2),
    ),
    panels=(
        Curves(
            "marked",
            "queue",
            (
                *(Line(f"{shape}, measured", {"line": "measured", "gentle": gentle}) for gentle, shape in SHAPES.items()),
                Line("gentle, figure 2.1", {"line": "definition", "gentle": True}, dashed=True),
                Line("not gentle, figure 2.1", {"line": "definition", "gentle": False}, dashed=True),
                Line("gentle, spread evenly", {"line": "spread", "gentle": True}, dashed=True),
            ),
            "fraction of packets marked",
            "average queue, packets",
        ),
        Curves(
            "queue_length",
            "load",
            (Line("measured", {"line": "dropping"}), Line("excess is discarded", {"line": "balance"}, dashed=True)),
            "average queue, packets",
            "load",
            title="dropping",
        ),
    ),
    assumptions={
        "thresholds and max_p": "20 and 60 packets, 0.1; weight 0.002",
        "control of the average queue": "windows that do not react: each packet finds the same queue. For drops, a Poisson "
        "overload",
    },
    answer=lambda results: (
        f"Yes, before marks are spread out. Between the thresholds RED marks {results.formatted(OVER_DEFINITION, 3)} times that, "
        "because marks are spread evenly: a distance is at most 1 / p, and on average half of that. Gentle RED therefore marks "
        "everything from a probability of one half in the figure, at 87 packets instead of 120."
    ),
)


# REM, figure 2.2. The document gives no phi; here a price of one marks half of the packets.
PHI = 2.0
# Links are never idle: arrivals minus departures accumulate in the queue, and with a tiny alpha the price of (2.5) is gamma times
# the queue.
HELD = 300
THROUGH = 0.3
SUMS = (0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 3.0, 4.0)
HOPS = (1, 3, 6)
SMALL, LARGE = SUMS[:2], SUMS[5:]


def priced(hops: int, total: float) -> tb.Scenario:
    """Links in a row with this sum of prices, each filled by a window that does not react, and a paced flow through all."""
    rem = {
        "policy": "rem",
        "buffer": "100000 packets",
        "target": f"{HELD} packets",
        "alpha": 1e-6,
        "gamma": total / hops / HELD,
        "phi": PHI,
        "mean_packet_size": "1000 B",
    }
    link = {"rate": RATE, "delay": "1 ms", "queue": rem}
    # A fraction of the rate corresponds to that fraction of the packets in the link.
    flows: dict[str, Any] = {
        f"local{hop}": {
            "from": f"node{hop}",
            "to": f"node{hop + 1}",
            "propagation_rtt": "2 ms",
            "tcp": steady(round(HELD * (1 - THROUGH)) + 2),
        }
        for hop in range(1, hops + 1)
    }
    flows["through"] = {
        "from": "node1",
        "to": f"node{hops + 1}",
        "propagation_rtt": f"{2 * hops} ms",
        "tcp": steady(20_000, rate=f"{8 * THROUGH:g} Mbps"),
    }
    return tb.Scenario(
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


def end_to_end(run: tb.Run | Expected) -> float:
    """Fraction of the packets through all links that arrives marked."""
    if isinstance(run, Expected):
        return run.probability
    flow = run.flows.where(group="through")
    return float(flow["marked_packets"][0] / flow["delivered_packets"][0])


def prices(run: tb.Run) -> NDArray[np.float64]:
    """Prices of the links, by (2.5) from their average number of packets: queued and in service."""
    links = run.scenario["links"]
    found = []
    for link in links:
        row = run.queues.where(queue=link)
        gamma = links[link]["queue"]["gamma"]
        found.append(gamma * float(row["mean_queue_units"][0] + row["utilisation"][0]))
    return np.array(found)


def price(run: tb.Run | Expected) -> float:
    """Sum of the prices of all links."""
    return math.nan if isinstance(run, Expected) else float(prices(run).sum())


def off_link(run: tb.Run | Expected) -> float:
    """Marked fraction at a link minus (2.6) of its price, the largest of all links."""
    if isinstance(run, Expected):
        return math.nan
    own = [counted(run, link, "marked_units") for link in run.scenario["links"]]
    return float(np.abs(own - (1 - PHI ** -prices(run))).max())


def off_path(run: tb.Run | Expected) -> float:
    """Marked fraction end to end minus (2.7) of the prices."""
    return math.nan if isinstance(run, Expected) else end_to_end(run) - (1 - PHI ** -price(run))


def over_proportional(run: tb.Run | Expected) -> float:
    """Marked fraction end to end divided by (2.8)."""
    return math.nan if isinstance(run, Expected) else end_to_end(run) / (math.log(PHI) * price(run))


def over_proportional_at(totals: tuple[float, ...]) -> Expression:
    """Marked fraction divided by (2.8), averaged over paths and prices."""
    return at("over_proportional", hops=HOPS, total=totals).mean()


# Largest deviation from (2.6) at any link of any path.
OFF_LINK = at("off_link", hops=HOPS).max(each_seed=True)

FIGURE_2_2 = Experiment(
    id="cui-thesis/fig2.2",
    times=5,
    title="Figure 2.2: REM's marking probability",
    question="Does REM mark with 1 - phi^-p, and does the marking of a path of several links reveal the sum of its prices?",
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
        claim("C-2.2.1", OFF_LINK < 0.02),
        *(
            Claim(
                f"C-2.2.2-{hops}",
                f"end to end it is exponential in the sum of the prices (2.7), {hops} links (mean deviation)",
                at("off_path", hops=hops).mean().equals(0, 0.003),
            )
            for hops in HOPS[1:]
        ),
        claim(
            "C-2.2.3",
            over_proportional_at(SMALL).equals(1, 0.05),
            contrast=Contrast("sums of prices of 2 to 4", over_proportional_at(LARGE)),
        ),
    ),
    panels=(
        Curves(
            "end_to_end",
            "total",
            (
                *(Line(f"{hops} link{'s' * (hops > 1)}", {"hops": hops}) for hops in HOPS),
                Line("(2.7)", {"line": "(2.7)"}, dashed=True),
                Line("(2.8)", {"line": "(2.8)"}, dashed=True),
            ),
            "fraction of packets marked end to end",
            "sum of the prices",
        ),
    ),
    assumptions={
        "phi": "2: a price of one marks half of the packets",
        "control of the price": "links that are never idle and contain 300 packets: with a tiny alpha the price (2.5) is gamma "
        "times that",
    },
    answer=lambda results: (
        f"Yes: at any link the marked fraction is at most {results.formatted(OFF_LINK, 4)} off (2.6). A path of six links marks "
        "like one link with the sum of their prices. Divided by (2.8), the marked fraction is "
        f"{results.formatted(over_proportional_at(SMALL), 3)} with sums of 0.05 and 0.1, and "
        f"{results.formatted(over_proportional_at(LARGE), 3)} with 2 to 4."
    ),
)


EXPERIMENTS = (FIGURE_2_1, FIGURE_2_2)
