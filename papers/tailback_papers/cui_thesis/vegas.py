"""Section 4.3 for Vegas with thresholds as rates: flows that arrive one after the other, and table 4.1."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

import tailback as tb
from tailback import models
from tailback.papers import (
    Claim,
    Computation,
    Condition,
    Contrast,
    Curves,
    Experiment,
    Expression,
    Line,
    Measure,
    Variant,
    at,
)
from tailback_papers.claims import claims_of
from tailback_papers.cui_thesis import fast
from tailback_papers.cui_thesis.fast import (
    ALPHA,
    CAPACITY_PPS,
    COUNTS,
    MEASURED_S,
    OF_ARRIVALS,
    SPACING_S,
    Expected,
    arrivals,
    expected_of_fast,
    off,
    sender,
    shares,
)
from tailback_papers.cui_thesis.over_time import name

__all__ = ["EXPERIMENTS"]

claim = claims_of(__name__)

# beta exceeds alpha by this many packets a second.
BAND_PPS = 25
# Numbers of flows by the threshold, in packets per second.
CASES = {250: (1, 2, 3, 4, 6, 8, 10), 2475: (1, 2, 3, 4, 6, 8, 10)}
# Numbers of flows and thresholds of figure 4.7, which draws the effect of alpha.
DRAWN_OVER_ALPHA = (2, 6, 10)
ALPHAS_PPS = (50, 100, 250, 500, 1000, 1500, 2000, 2475)
FAST_COUNTS = (1, 2, 3, 4, 6, 8, 10)
BASE_RTT_S = 0.04


def tcp(alpha_pps: float, beta_pps: float) -> dict[str, Any]:
    """The document's sender with Vegas by rates, without slow start."""
    return sender({"kind": "vegas", "alpha_rate": alpha_pps, "beta_rate": beta_pps, "slow_start": False})


def expected_of_vegas(arrived: int, alpha_pps: float) -> Expected:
    """Equations (4.10) and (4.12)."""
    found = models.vegas_arrivals(alpha_pps=alpha_pps, capacity_pps=CAPACITY_PPS, arrived=arrived, flow=np.arange(1, arrived + 1))
    return Expected(np.asarray(found.share), BASE_RTT_S * CAPACITY_PPS * float(np.asarray(found.queue)[0]))


def phase_s(arrived: int, alpha_pps: float) -> int:
    """Time for which the newest flow converges: its window grows by one packet per round trip, of at most the last one."""
    expected = expected_of_vegas(arrived, alpha_pps)
    rtt_s = BASE_RTT_S + expected.queued / CAPACITY_PPS
    window = float(expected.shares[-1]) * CAPACITY_PPS * rtt_s
    return max(SPACING_S, math.ceil(1.3 * window * rtt_s))


def converging(count: int, alpha_pps: float) -> tb.Scenario:
    """Flows that start when those before have converged."""
    phases = [phase_s(arrived, alpha_pps) for arrived in range(1, count + 1)]
    flows: dict[str, Any] = {
        name(number): {
            "propagation_rtt": "40 ms",
            "start": f"{sum(phases[: number - 1])} s",
            "tcp": tcp(alpha_pps, alpha_pps + BAND_PPS),
        }
        for number in range(1, count + 1)
    }
    return fast.shared_link(f"cui-thesis, {count} arrivals of Vegas", flows, sum(phases))


def off_model(run: tb.Run | Expected) -> float:
    """Deviation of the second and the sixth flow from (4.12), or from (4.20) for FAST flows."""
    if isinstance(run, Expected):
        return 0.0
    arrived, law = len(shares(run)), run.scenario["flows"][name(1)]["tcp"]["controller"]
    is_fast = law["kind"] == "fast"
    return off(run, expected_of_fast(arrived, law["alpha"]) if is_fast else expected_of_vegas(arrived, law["alpha_rate"]))


def of(law: str, measure: str) -> Expression:
    """A measure with six flows."""
    return at(measure, law=law, arrived=6)


def worst(law: str) -> Expression:
    """Largest deviation from the model of the two flows that the figures draw."""
    return at("off_model", law=law, arrived=CASES[2475][1:]).max(each_seed=True)


def queue_grows(law: str) -> Expression:
    """Queue of six flows divided by that of one."""
    return of(law, "queue") / at("queue", law=law, arrived=1)


def queue_of_ten(law: str) -> Expression:
    """Packets queued by the ten flows of section 4.3.3."""
    return at("queue", law=law, arrived=10)


def first(laws: tuple[str, ...]) -> Expression:
    """Share of the first flow by models, with two to ten flows."""
    return at("share_1", law=laws, arrived=COUNTS[1:])


LAWS = {alpha: f"Vegas {alpha}" for alpha in CASES}
# Names of the laws' models.
BY_MODEL = {law: f"{law} by (4.12)" for law in LAWS.values()} | {"FAST": "FAST by (4.20)"}
LINES = tuple(
    line for law, model in BY_MODEL.items() for line in (Line(law, {"law": law}), Line(model, {"law": model}, dashed=True))
)

FIGURE_4_3 = Experiment(
    id="cui-thesis/fig4.3",
    title="Figures 4.3 to 4.8: Vegas flows that arrive one after the other",
    question="Do (4.10) and (4.12) predict the rates of Vegas flows that arrive one after the other, and is Vegas less fair than "
    "FAST?",
    source="figures 4.3 to 4.8, section 4.3.3: 100 Mb/s, 40 ms, thresholds of 250 and 2475 packets a second",
    variants=(
        *(
            Variant({"law": LAWS[alpha], "arrived": count, "alpha": alpha, "by": "packets"}, converging(count, alpha))
            for alpha, counts in CASES.items()
            for count in counts
        ),
        *(Variant({"law": "FAST", "arrived": count}, arrivals(count, fast.tcp(ALPHA))) for count in FAST_COUNTS),
        *(
            Variant(
                {"law": BY_MODEL[law], "arrived": count}, Computation(expected_of_vegas, {"arrived": count, "alpha_pps": alpha})
            )
            for alpha, law in LAWS.items()
            for count in COUNTS
        ),
        *(
            Variant(
                {"arrived": count, "alpha": alpha, "by": "(4.12)"},
                Computation(expected_of_vegas, {"arrived": count, "alpha_pps": alpha}),
            )
            for count in DRAWN_OVER_ALPHA
            for alpha in ALPHAS_PPS
        ),
        *(
            Variant(
                {"law": BY_MODEL["FAST"], "arrived": count}, Computation(expected_of_fast, {"arrived": count, "alpha": ALPHA})
            )
            for count in COUNTS
        ),
    ),
    measures={**OF_ARRIVALS, "off_model": off_model},
    claims=(
        claim("C-4.2.1-2475", worst(LAWS[2475]) < 0.03),
        claim("C-4.2.1-250", worst(LAWS[250]) > worst(LAWS[2475])),
        *(
            Claim(
                f"C-4.5.1-{alpha}",
                f"fairness falls with the number of flows of Vegas, {alpha} packets/s (smallest fall of Jain's index)",
                (-at("fairness", law=LAWS[alpha]).steps("arrived")).min(each_seed=True) > 0,
            )
            for alpha in CASES
        ),
        claim("C-4.5.1-fast", of("FAST", "fairness") > of(LAWS[250], "fairness")),
        claim("C-4.5.1-larger", of(LAWS[250], "fairness") > of(LAWS[2475], "fairness")),
        claim(
            "C-4.8.1",
            queue_of_ten(LAWS[2475]) > queue_of_ten("FAST"),
            contrast=Contrast("250 packets/s", queue_of_ten(LAWS[250]) - queue_of_ten("FAST")),
        ),
        claim("4.8.1-growth", queue_grows(LAWS[250]) > queue_grows("FAST")),
        claim("C-4.8.1-larger", queue_grows(LAWS[2475]) > queue_grows(LAWS[250])),
        claim("C-4.3.2", (first((BY_MODEL["FAST"],)) - first(tuple(BY_MODEL[law] for law in LAWS.values()))).min() > 0),
        claim(
            "C-4.3.1-2475",
            at("share_1", law=LAWS[2475], arrived=2).equals(
                float(models.vegas_arrivals(alpha_pps=2475, capacity_pps=CAPACITY_PPS, arrived=2).share), 0.004
            ),
        ),
        claim(
            "C-4.3.1-less",
            at("share_1", law=LAWS[2475], arrived=2) - 0.38197 < 0,
            contrast=Contrast("250 packets/s", at("share_1", law=LAWS[250], arrived=2) - 0.38197),
        ),
    ),
    panels=(
        (
            Curves("rate_of_second", "arrived", LINES, "rate, packets/s", "flows", title="second flow"),
            Curves("rate_of_sixth", "arrived", LINES, "rate, packets/s", "flows", title="sixth flow"),
        ),
        Curves("first_of_equal", "arrived", LINES, "first flow over an equal share", "flows"),
        Curves(
            "first_of_equal",
            "alpha",
            tuple(
                Line(f"{count} flows, {by}", {"arrived": count, "by": by}, dashed=by == "(4.12)")
                for count in DRAWN_OVER_ALPHA
                for by in ("packets", "(4.12)")
            ),
            "first flow over an equal share",
            "alpha, packets/s",
        ),
        Curves("fairness", "arrived", LINES, "Jain's index", "flows"),
        Curves("queue", "arrived", LINES, "queue, packets", "flows", log=True),
    ),
    assumptions={
        "from one arrival to the next": f"at least {SPACING_S} s, and 1.3 times the time in which the newest window grows to its "
        "value by (4.12): with 2475 packets/s 6000 s for the tenth flow",
        "buffer": "100,000 packets: never full",
    },
    exact=True,
)

# Table 4.1: the threshold is twenty times the capacity.
SLOW_PPS = 125
TABLE_ALPHA_PPS = 20 * SLOW_PPS
# Start of each flow and end of each phase; the flows converge well before.
TABLE_STARTS_S, TABLE_ENDS_S = (0, 400, 30_000), (400, 30_000, 130_000)
# Initial window of the third flow, which would need months to grow by one packet per round trip of up to seven minutes.
THIRD_WINDOWS = (57_000, 50_000)
THIRD = Condition(
    "third_window",
    "section 4.3.3 does not state how far the third flow's window had grown",
    THIRD_WINDOWS,
    "close to its end, by (4.10) with the measured round trip",
)
# Rows of the table: simulation and (4.10), in seconds.
SIMULATED_S = (0.976, 21.68, 426.19)
PRINTED_S = (0.8, 18.4, 403.3, 8.8e3, 1.9e5, 4.2e6, 9.6e7, 2.1e9, 4.5e10, 9.6e11)


def slow_link(count: int, third_window: int = 0) -> tb.Scenario:
    """Vegas on 1 Mb/s, 40 ms, thresholds of 2500 packets a second; timers long enough for a delay of minutes."""
    patient = {
        **tcp(TABLE_ALPHA_PPS, TABLE_ALPHA_PPS),
        "timer": {"initial_rto": "1000 s", "min_rto": "1000 s", "max_rto": "4000 s"},
    }
    flows: dict[str, Any] = {
        name(number): {"propagation_rtt": "40 ms", "start": f"{start} s", "tcp": patient}
        for number, start in enumerate(TABLE_STARTS_S[:count], 1)
    }
    if count == 3:
        flows[name(3)]["tcp"] = {**patient, "initial_window": third_window}
    end = TABLE_ENDS_S[count - 1]
    return tb.dumbbell(
        name=f"cui-thesis, table 4.1, {count}",
        rate="1 Mbps",
        delay="5 ms",
        buffer="1000000 packets",
        flows=flows,
        duration=f"{end} s",
        warmup=f"{end - 2 * MEASURED_S} s",
    )


def by_equation(arrived: int) -> dict[str, float]:
    """Delay by (4.10), the same divided by d (alpha / c)^i and by the printed value, and the share of the newest flow."""
    found = models.vegas_arrivals(alpha_pps=TABLE_ALPHA_PPS, capacity_pps=SLOW_PPS, arrived=arrived, flow=arrived)
    delay = BASE_RTT_S * float(found.queue)
    power = BASE_RTT_S * (TABLE_ALPHA_PPS / SLOW_PPS) ** arrived
    return {
        "delay": delay,
        "over_power": delay / power,
        "over_printed": delay / PRINTED_S[arrived - 1],
        "newest": float(found.share),
    }


def reader(entry: str) -> Measure:
    """A measure of the equation; unknown for a run."""
    return lambda found: math.nan if isinstance(found, tb.Run) else float(found[entry])


def delay(found: tb.Run | dict[str, float]) -> float:
    """Mean queueing and service time, in seconds."""
    return (found.value(fast.QUEUE) + 1) / SLOW_PPS if isinstance(found, tb.Run) else found["delay"]


BY_VEGAS, BY_4_10 = "simulation", "(4.10)"


def delay_over_theory(arrived: int) -> Expression:
    """Simulated delay divided by (4.10)."""
    return at("delay", by=BY_VEGAS, arrived=arrived) / at("delay", by=BY_4_10, arrived=arrived)


TABLE_4_1 = Experiment(
    id="cui-thesis/table4.1",
    title="Table 4.1: delays of Vegas with a threshold above the capacity",
    question="How long are the queues of a few Vegas flows on a slow link?",
    source="table 4.1, section 4.3.3: 1 Mb/s, 40 ms, thresholds of 2500 packets a second",
    variants=(
        *(
            Variant({"by": BY_VEGAS, "arrived": count, "printed": printed}, slow_link(count))
            for count, printed in enumerate(SIMULATED_S[:2], 1)
        ),
        *(
            Variant({"by": BY_VEGAS, "arrived": 3, "printed": SIMULATED_S[2], "third_window": window}, slow_link(3, window))
            for window in THIRD_WINDOWS
        ),
        *(
            Variant({"by": BY_4_10, "arrived": count, "printed": printed}, Computation(by_equation, {"arrived": count}))
            for count, printed in enumerate(PRINTED_S, 1)
        ),
    ),
    measures={"delay": delay, **{entry: reader(entry) for entry in ("over_power", "over_printed", "newest")}},
    claims=(
        claim("C-T4.1", delay_over_theory(1).equals(0.976 / 0.8, 0.02), published=0.976 / 0.8),
        claim("C-T4.1-2", delay_over_theory(2).equals(21.68 / 18.365, 0.02), published=21.68 / 18.365),
        claim("C-T4.1-3", delay_over_theory(3).equals(426.19 / 403.3, 0.02), published=426.19 / 403.3),
        claim("C-T4.1-printed", at("over_printed", by=BY_4_10).furthest(ratio=True).equals(1, 0.02)),
        claim("C-T4.1-power", at("over_power", by=BY_4_10).max() < 3),
        claim("C-4.3.3", at("newest", by=BY_4_10, arrived=COUNTS[1:]).min() > 0.9),
    ),
    panels=(
        Curves(
            "delay",
            "arrived",
            (Line("simulation", {"by": BY_VEGAS}), Line("(4.10)", {"by": BY_4_10}, dashed=True)),
            "delay, s",
            "flows",
            printed=True,
            log=True,
        ),
    ),
    assumptions={
        "beta": "as alpha: 2500 packets a second",
        "the third flow": "starts with its window, which would grow by one packet per round trip of up to seven minutes",
    },
    conditions=(THIRD,),
    exact=True,
)

EXPERIMENTS = (FIGURE_4_3, TABLE_4_1)
