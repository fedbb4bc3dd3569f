"""Section 2.3: queues of RED and REM under TCP, their dependence on the number of flows, and the onset of oscillation."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

import tailback as tb
from tailback.papers import (
    Claim,
    Computation,
    Curves,
    Experiment,
    Expression,
    Line,
    ReferenceLine,
    Trace,
    TracePanel,
    Variant,
    at,
    highest,
    lines,
    lowest,
    variants,
)
from tailback_papers.claims import claims_of
from tailback_papers.cui_thesis.signals import MOST, Height, bisect, marked, mean_queue, on_one_link, red, utilisation

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["EXPERIMENTS"]

claim = claims_of(__name__)

# A sender of Reno with ECN.
RENO = {"preset": "sack", "mss": "960 B", "delayed_ack": False, "ecn": True, "timestamps": True, "receiver_window": 100_000}
# Section 2.3.3: numbers of flows, and REM's target queue.
COUNTS = (10, 20, 40, 80, 160)
TARGET = 50
QUEUES: dict[str, dict[str, Any]] = {
    # Five times the usual gamma: the price then settles within the warm-up even with the most flows.
    "REM": {
        "policy": "rem",
        "buffer": "1000 packets",
        "target": f"{TARGET} packets",
        "gamma": 0.005,
        "mean_packet_size": "1000 B",
    },
    "RED": red(min_threshold=f"{TARGET // 2} packets", max_threshold=f"{3 * TARGET} packets", buffer="1000 packets"),
}


def loaded(policy: str, flows: int) -> tb.Scenario:
    """This number of Reno flows with ECN on 40 Mb/s, 50 ms."""
    flow = {"count": flows, "propagation_rtt": "50 ms", "start": {"uniform": ["0 s", "5 s"]}, "tcp": RENO}
    return on_one_link("cui-thesis, section 2.3.3", "40 Mbps", QUEUES[policy], flow, (20, 60))


LOST = "queues.bottleneck.dropped_units / queues.bottleneck.arrived_units"


# Largest distance of REM's queue from its target in packets, and its smallest utilisation.
OFF_TARGET = abs(at("queue_length", policy="REM") - TARGET).max(each_seed=True)
USED = at("utilisation", policy="REM").min(each_seed=True)

LOAD = Experiment(
    id="cui-thesis/rem-load",
    title="Section 2.3.3: REM and the number of flows",
    question="Does REM keep input rate and queue constant whatever the number of flows?",
    source="section 2.3.3, equation (2.5)",
    variants=variants(loaded, policy=tuple(QUEUES), flows=COUNTS),
    measures={"queue_length": mean_queue, "utilisation": utilisation, "marked": marked, "lost": LOST},
    fractions=("marked", "lost"),
    claims=(
        claim("C-2.3.3-queue", OFF_TARGET < 10),
        claim("C-2.3.3-rate", USED > 0.95),
        claim("C-2.3.3-loss", at("lost", policy="REM").max(each_seed=True) < 0.001),
        claim("C-2.3.3-price", at("marked", policy="REM").steps("flows").min(each_seed=True) > 0),
        claim(
            "C-2.3.3-red",
            (at("queue_length", policy="RED", flows=COUNTS[-1]) / at("queue_length", policy="RED", flows=COUNTS[0])) > 2,
        ),
    ),
    panels=(
        Curves(
            "queue_length",
            "flows",
            lines("policy", tuple(QUEUES)),
            "average queue, packets",
            "flows",
            reference_lines=(ReferenceLine("target of REM", TARGET),),
        ),
        Curves("marked", "flows", lines("policy", tuple(QUEUES)), "fraction of packets marked", "flows"),
    ),
    assumptions={
        "scenario": "Reno with ECN, 40 Mb/s, 50 ms; REM with gamma 0.005, alpha 0.1 and phi 1.001, RED with thresholds of 25 and "
        "150 packets"
    },
    answer=lambda results: (
        f"Yes: from {COUNTS[0]} to {COUNTS[-1]} flows the queue is within {results.formatted(OFF_TARGET, 1)} packets of its "
        f"target of {TARGET}, and at least {results.formatted(USED, 3)} of the link is used. With RED the queue grows to "
        f"{results.formatted(at('queue_length', policy='RED', flows=COUNTS[-1]), 0)} packets."
    ),
)

# Section 2.3.1: instability. Wide thresholds leave room on either side of the equilibrium queue.
FLOWS = 50
MIN_THRES, MAX_THRES, WEIGHT = 100, 500, 0.0005
DELAYS_MS = (20, 30, 40, 50, 60, 65, 75, 85, 100, 150, 200, 300)
CAPACITIES_MBPS = (10, 13, 16, 20, 22, 24, 26, 30, 34, 40, 60, 80)
# For the sweeps of delay and of capacity.
CAPACITY_MBPS, DELAY_MS = 40, 100
SETTLED_S, END_S = 20, 60
# Variation of an oscillating queue: about midway between its values at small and at large delay.
OSCILLATES = 0.3


@dataclass(frozen=True)
class Loop:
    """RED and equal Reno flows as a linear system about their equilibrium.

    The fluid model of Misra, Gong and Towsley (SIGCOMM 2000) as Hollot, Misra, Towsley and Gong linearise it ("A control
    theoretic analysis of RED", INFOCOM 2001). With C packets/s, N flows, a round trip R with its queueing, slope L of the
    probability and corner K = -C ln(1 - w) of the average,

    L(s) = L C^2 / (2 N) e^(-s R) / ((s + 2 N / (R^2 C)) (s + 1 / R) (1 + s / K)).

    Gain and phase both fall with the frequency, so the loop is stable if and only if the gain is below 1 where the phase is -180
    degrees (Nyquist). At low frequencies the gain is L (R C)^3 / (2 N)^2. The document cites Low, Paganini, Wang and Doyle, who
    give a sufficient condition for a model of their own; this one is exact for its model.
    """

    # Equilibrium queue, in packets.
    queue: float
    gain: float


def loop(capacity_mbps: float, delay_ms: float) -> Loop:
    """The loop for one setting. RED marks twice its configured probability (figure 2.1): the slope is that of the marks."""
    capacity, delay = capacity_mbps * 1e6 / 8000, delay_ms / 1e3
    slope = 2 * MOST / (MAX_THRES - MIN_THRES)

    def below_rest(queue: float) -> bool:
        # In equilibrium p W^2 = 2: one packet more per round trip, half a window less per mark.
        return slope * (queue - MIN_THRES) < 2 * (FLOWS / (delay * capacity + queue)) ** 2

    queue = bisect(below_rest, MIN_THRES, MAX_THRES)
    round_trip = delay + queue / capacity
    corners = (2 * FLOWS / (round_trip**2 * capacity), 1 / round_trip, -math.log1p(-WEIGHT) * capacity)

    def below_half_turn(frequency: float) -> bool:
        return frequency * round_trip + sum(math.atan(frequency / corner) for corner in corners) < math.pi

    turned = bisect(below_half_turn, 0, math.pi / round_trip)
    at_rest = slope * (round_trip * capacity) ** 3 / (2 * FLOWS) ** 2
    return Loop(queue, at_rest / math.prod(math.hypot(1, turned / corner) for corner in corners))


def regulated(capacity_mbps: float, delay_ms: float) -> tb.Scenario:
    """Reno flows with ECN at RED."""
    queue = red(min_threshold=f"{MIN_THRES} packets", max_threshold=f"{MAX_THRES} packets", weight=WEIGHT, buffer="10000 packets")
    flow = {"count": FLOWS, "propagation_rtt": f"{delay_ms} ms", "start": {"uniform": ["0 s", "5 s"]}, "tcp": RENO}
    record = {"traces": {"queue": ["bottleneck"]}}
    return on_one_link("cui-thesis, section 2.3.1", f"{capacity_mbps:g} Mbps", queue, flow, (SETTLED_S, END_S), record=record)


def queue_over_time(run: tb.Run) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Queue length every 20 ms, for plotting."""
    trace = run.trace("queue")
    times = np.arange(SETTLED_S, run.simulated_s, 0.02)
    place = np.searchsorted(trace["time_s"], times, side="right") - 1
    return times, np.asarray(trace["queue_units"], float)[place]


def variation(run: tb.Run | Height) -> float:
    """Standard deviation of the queue over its mean, over time."""
    if isinstance(run, Height):
        return run.height
    trace = run.trace("queue")
    times = np.append(np.asarray(trace["time_s"], float), run.simulated_s)
    lengths, spans = np.asarray(trace["queue_units"], float), np.diff(np.maximum(times, SETTLED_S))
    mean = np.average(lengths, weights=spans)
    return float(np.sqrt(np.average((lengths - mean) ** 2, weights=spans)) / mean)


SWEEPS = {"delay": {at: (CAPACITY_MBPS, at) for at in DELAYS_MS}, "capacity": {at: (at, DELAY_MS) for at in CAPACITIES_MBPS}}
GAINS = {(sweep, at): loop(*setting).gain for sweep, settings in SWEEPS.items() for at, setting in settings.items()}
# Points where the linear system becomes unstable.
LIMITS = {
    "delay": bisect(lambda delay: loop(CAPACITY_MBPS, delay).gain < 1, DELAYS_MS[0], DELAYS_MS[-1]),
    "capacity": bisect(lambda capacity: loop(capacity, DELAY_MS).gain < 1, CAPACITIES_MBPS[0], CAPACITIES_MBPS[-1]),
    "gain": 1.0,
}
# Settings well within the condition, and well beyond it.
STABLE = tuple(place for place, gain in GAINS.items() if gain < 0.6)
UNSTABLE = tuple(place for place, gain in GAINS.items() if gain > 1.4)
DOUBLED = {"delay": (50, 100, 200), "capacity": (20, 40, 80)}
# Positions of the line that marks the condition, by the label on the axis.
HEIGHTS = {"delay": 1.8, "capacity": 1.8, "gain": 1.0}


def measured(sweep: str, *places: float) -> Expression:
    """Variation at some points of a sweep; at all by default."""
    where: dict[str, Any] = {"at": places} if places else {}
    return at("variation", line="measured", sweep=sweep, **where)


def begins(sweep: str) -> Expression:
    """Gain of the linear system at the onset of oscillation, interpolated between simulated points."""
    gains = [GAINS[sweep, place] for place in SWEEPS[sweep]]
    return measured(sweep).fold(
        lambda values: np.array([np.interp(OSCILLATES, np.maximum.accumulate(run), gains) for run in values.T])
    )


# Largest variation well within the condition, and smallest well beyond it.
WITHIN = highest(*(measured(*place) for place in STABLE), each_seed=True)
BEYOND = lowest(*(measured(*place) for place in UNSTABLE), each_seed=True)


INSTABILITY = Experiment(
    id="cui-thesis/red-stability",
    title="Section 2.3.1: RED and TCP at a large bandwidth-delay product",
    question="Do TCP and RED begin to oscillate where their linear system becomes unstable?",
    source="section 2.3.1, after Low, Paganini, Wang and Doyle, Computer Networks 43, 2003",
    variants=(
        *(
            Variant(
                # Gains far beyond the condition are omitted, to show the region near it.
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
        claim("C-2.3.1-within", WITHIN < 0.2),
        claim("C-2.3.1-beyond", BEYOND > 0.7),
        *(
            Claim(
                f"C-2.3.1-{sweep}",
                f"it eventually fluctuates as the bandwidth-delay product increases, by {sweep} (smallest increase of the "
                "relative standard deviation as it doubles and doubles again, from within the condition on)",
                measured(sweep, *DOUBLED[sweep]).fold(lambda values: np.diff(values, axis=0).min(axis=0)) > 0,
            )
            for sweep in SWEEPS
        ),
        *(
            Claim(
                f"2.3.1-at-{sweep}",
                f"it begins before the linear system becomes unstable, by {sweep} (gain at which the relative standard deviation "
                f"is {OSCILLATES})",
                begins(sweep) < 1,
                note="Near its limit the system hardly damps the disturbances of single marks and windows.",
                ours=True,
            )
            for sweep in SWEEPS
        ),
        claim("C-2.3.1-cost", at("utilisation", line="measured", sweep="delay", at=DELAYS_MS[-1]) < 0.95),
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
        Curves(
            "variation",
            "gain",
            (
                Line("by delay", {"line": "measured", "sweep": "delay"}),
                Line("by capacity", {"line": "measured", "sweep": "capacity"}),
                Line("unstable beyond", {"line": "condition", "sweep": "gain"}, dashed=True),
            ),
            "relative deviation of the queue",
            "gain of the linear system at a phase of -180 degrees",
        ),
        TracePanel(("50 ms",), "queue, packets", "time, s", title="50 ms: stable"),
        TracePanel(("100 ms",), "queue, packets", "time, s", title="100 ms: unstable"),
    ),
    traces=tuple(
        Trace(f"{at} ms", {"line": "measured", "sweep": "delay", "at": at}, {"queue": ["bottleneck"]}, queue_over_time)
        for at in (50, 100)
    ),
    assumptions={
        "flows and RED": f"{FLOWS} flows of Reno with ECN, thresholds of {MIN_THRES} and {MAX_THRES} packets, max_p {MOST}, "
        f"weight {WEIGHT}",
        "the condition": "that of the linear system of Hollot, Misra, Towsley and Gong (2001), by Nyquist, with the slope that "
        "figure 2.1 measures: twice that of the settings",
        "criterion for oscillation": f"a relative standard deviation of {OSCILLATES}",
    },
    answer=lambda results: (
        f"Nearly. The linear system becomes unstable at {LIMITS['delay']:.0f} ms with {CAPACITY_MBPS} Mb/s, and at "
        f"{LIMITS['capacity']:.0f} Mb/s with {DELAY_MS} ms. The relative standard deviation of the queue is at most "
        f"{results.formatted(WITHIN, 3)} where its gain is below 0.6, and at least {results.formatted(BEYOND, 3)} where it "
        f"exceeds 1.4; it passes {OSCILLATES} at a gain of {results.formatted(begins('delay'))} by delay and "
        f"{results.formatted(begins('capacity'))} by capacity."
    ),
)

EXPERIMENTS = (LOAD, INSTABILITY)
