"""Scalable and Classic senders behind DualPI2: their shares and queueing delays.

RFC 9332 has no evaluation of its own. Rates and round trips are those of De Schepper, Bondarenko, Tsang and Briscoe, "PI2: A
Linearized AQM for both Classic and Scalable TCP", CoNEXT 2016, which first tested its coupling.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tailback._topologies import dumbbell
from tailback.papers import Assumption, Claim, Contrast, Experiment, Grid, Inequality, Line, Measured, Ranking, Value, vary
from tailback.papers.standards.members import sender

if TYPE_CHECKING:
    from tailback._run import Run
    from tailback._scenario import Scenario

__all__ = ["EXPERIMENTS"]

RATES_MBPS = (4, 12, 40, 120, 200)
ROUND_TRIPS_MS = (5, 10, 20, 50, 100)
COUNTS = ((1, 1), (1, 9), (9, 1), (5, 5))
SCALABLE, CLASSIC = ("prague", "dctcp"), ("cubic", "reno")
# The link on which laws and numbers of flows are compared.
RATE_MBPS, ROUND_TRIP_MS = 40, 10
# Factor by which rates of flows may differ and still count as about the same.
FACTOR = 2.0
# RFC 9332, figure 2: capacity of the link's buffer.
ROOM_S = 0.25

DUAL: dict[str, Any] = {"scheduler": "dualpi2"}
ONE_QUEUE: dict[str, Any] = {"policy": "codel"}


def competing(
    scalable: str,
    classic: str,
    counts: tuple[int, int] = (1, 1),
    *,
    rate_mbps: int = RATE_MBPS,
    rtt_ms: int = ROUND_TRIP_MS,
    queue: dict[str, Any] = DUAL,
) -> Scenario:
    """Flows of each kind, all of about the same round trip."""

    def flows(law: str, count: int) -> dict[str, Any]:
        marks = {"ecn": True} if law in SCALABLE else {}
        return {
            "count": count,
            "propagation_rtt": {"uniform": [f"{0.97 * rtt_ms:g} ms", f"{1.03 * rtt_ms:g} ms"]},
            "start": {"uniform": ["0 s", "2 s"]},
            "tcp": sender(law, **marks),
        }

    # Prague identifies its packets as L4S by default.
    says = {"l4s": True} if scalable != "prague" and queue is DUAL else {}
    room = round(1e6 * rate_mbps * ROOM_S / 8)
    described: Any = {
        "name": f"standards, {counts[0]} {scalable} and {counts[1]} {classic}, {rate_mbps} Mbit/s, {rtt_ms} ms",
        "rate": f"{rate_mbps} Mbps",
        "delay": f"{rtt_ms / 10:g} ms",
        "queue": {**queue, "buffer": f"{room} B"},
        "flows": {"scalable": {**flows(scalable, counts[0]), **says}, "classic": flows(classic, counts[1])},
    }
    return dumbbell(**described, duration="120 s", warmup="40 s")


def ratio(run: Run) -> float:
    """Mean goodput of a scalable flow divided by that of a Classic one."""
    scalable, classic = (run.flows.where(group=group)["goodput_bps"].mean() for group in ("scalable", "classic"))
    return float(scalable / classic) if classic > 0 else float("inf")


def windows(run: Run) -> float:
    """The same ratio for windows: goodputs times mean round trips."""
    scalable, classic = (run.flows.where(group=group)["mean_rtt_s"].mean() for group in ("scalable", "classic"))
    return ratio(run) * float(scalable / classic)


def wait_ms(run: Run, queue: str) -> float:
    """Mean queueing delay in L or C, or in the only queue."""
    if run.scenario["topology"]["dumbbell"]["queue"].get("scheduler") is None:
        return 1e3 * float(run.queues.where(queue="bottleneck")["mean_wait_s"][0])
    return 1e3 * float(run.classes.where(**{"class": queue})["mean_wait_s"][0])


def l_wait_ms(run: Run) -> float:
    """Mean queueing delay in the L4S queue."""
    return wait_ms(run, "L")


def c_wait_ms(run: Run) -> float:
    """Mean queueing delay in the Classic queue."""
    return wait_ms(run, "C")


def utilisation(run: Run) -> float:
    """Utilisation of the bottleneck."""
    return float(run.queues.where(queue="bottleneck")["utilisation"][0])


MEASURES = {"ratio": ratio, "windows": windows, "l_wait_ms": l_wait_ms, "c_wait_ms": c_wait_ms, "utilisation": utilisation}


def over_links(results: Measured, measure: str, rates: tuple[int, ...], round_trips: tuple[int, ...]) -> Any:
    """One row per link, one column per seed."""
    return np.array([results.values(measure, rate=rate, rtt=rtt) for rate in rates for rtt in round_trips])


def factor(ratios: Any) -> Any:
    """Factor between the rates, in either direction."""
    return np.maximum(ratios, 1 / np.asarray(ratios))


LONG = tuple(rtt for rtt in ROUND_TRIPS_MS if rtt >= 50)
SHORT = tuple(rtt for rtt in ROUND_TRIPS_MS if rtt <= 20)
FAST = tuple(rate for rate in RATES_MBPS if rate > RATES_MBPS[0])

LINKS = Experiment(
    id="standards/dualpi2",
    title="Prague and CUBIC over many links",
    question="Do one Prague and one CUBIC flow share a link of DualPI2 evenly, and does L stay short?",
    source='RFC 9332, sections 1.4 and 2.1, appendix A; De Schepper and others, "PI2", CoNEXT 2016, section 6',
    variants=tuple(
        variant
        for rate in RATES_MBPS
        for rtt in ROUND_TRIPS_MS
        for variant in vary(competing("prague", "cubic", rate_mbps=rate, rtt_ms=rtt), rate=rate, rtt=rtt)
    ),
    measures=MEASURES,
    claims=(
        Claim(
            "D-rates",
            "reproduced",
            f"over round trips of up to {SHORT[-1]} ms, rates differ by less than a factor of {FACTOR:g} at any rate of the link",
            lambda results: factor(over_links(results, "ratio", RATES_MBPS, SHORT)).max(axis=0),
            Inequality("<", FACTOR),
            note="largest of all links; the RFC says roughly the same rate, and the factor is our choice",
        ),
        Claim(
            "D-rates-long",
            "reproduced",
            f"and over {LONG[0]} and {LONG[-1]} ms",
            lambda results: factor(over_links(results, "ratio", RATES_MBPS, LONG)).max(axis=0),
            Inequality("<", FACTOR),
            note="largest of all links",
        ),
        Claim(
            "D-low",
            "reproduced",
            f"the mean queueing delay in L is less than a millisecond, from {FAST[0]} Mbit/s on",
            lambda results: over_links(results, "l_wait_ms", FAST, ROUND_TRIPS_MS).max(axis=0),
            Inequality("<", 1),
            note="largest of all links",
        ),
        Claim(
            "D-low-slow",
            "not_reproduced",
            f"and at {RATES_MBPS[0]} Mbit/s, where a packet takes two",
            lambda results: over_links(results, "l_wait_ms", RATES_MBPS[:1], ROUND_TRIPS_MS).max(axis=0),
            Inequality("<", 1),
            note="largest of five round trips: five seeds cannot decide",
        ),
        Claim(
            "D-target",
            "reproduced",
            "C is at its target of 15 ms, over a link of 40 Mbit/s and 10 ms",
            lambda results: results.values("c_wait_ms", rate=RATE_MBPS, rtt=ROUND_TRIP_MS),
            Value(15, 1.5),
            published=15,
            note="within a tenth, which is our choice",
        ),
        Claim(
            "D-target-most",
            "reproduced",
            "and never a fifth above it",
            lambda results: over_links(results, "c_wait_ms", RATES_MBPS, ROUND_TRIPS_MS).max(axis=0),
            Inequality("<", 18),
            note="largest of all links; the fifth is our choice",
        ),
        Claim(
            "D-used",
            "reproduced",
            "the utilisation of every link is at least 0.9",
            lambda results: over_links(results, "utilisation", RATES_MBPS, ROUND_TRIPS_MS).min(axis=0),
            Inequality(">", 0.9),
            note="smallest of all links; the bound is our choice",
        ),
    ),
    grids=(
        Grid("ratio", "rate", "rtt", "Goodput of Prague over that of CUBIC: link in Mbit/s, round trip in ms"),
        Grid("l_wait_ms", "rate", "rtt", "Mean queueing delay in L, ms", best="min"),
        Grid("c_wait_ms", "rate", "rtt", "Mean queueing delay in C, ms", best="min"),
        Grid("utilisation", "rate", "rtt", "Utilisation"),
    ),
    assumptions=(
        Assumption("the link", f"buffer of {1e3 * ROOM_S:g} ms, as in figure 2 of the RFC; defaults of `dualpi2`"),
        Assumption("time", "120 s, of which 80 are measured: over long and fast links CUBIC has not settled by then"),
        Assumption("percentiles", "of queueing delays in L are not measured; means are"),
    ),
    max_seeds=5,
)


def named(counts: tuple[int, int]) -> str:
    """Names of the laws in labels."""
    return f"{counts[0]}:{counts[1]}"


def pair(results: Measured, measure: str, scalable: str, classic: str, counts: tuple[int, int], queue: str = "dualpi2") -> Any:
    """A measure of a pair of laws."""
    return results.values(measure, scalable=scalable, classic=classic, counts=named(counts), queue=queue)


def labels(scalable: str, classic: str, counts: tuple[int, int], queue: str = "dualpi2") -> dict[str, Any]:
    """Labels of a pair."""
    return {"scalable": scalable, "classic": classic, "counts": named(counts), "queue": queue}


PAIRS = tuple((scalable, classic) for scalable in SCALABLE for classic in CLASSIC)

MIXES = Experiment(
    id="standards/coexistence",
    title="Numbers of flows behind DualPI2",
    question="Does every flow have the same rate, whatever the number of flows of either kind?",
    source='RFC 9332, sections 1.4 and 2.1, equation (1); De Schepper and others, "PI2", CoNEXT 2016, section 6',
    variants=(
        *(
            variant
            for scalable, classic in PAIRS
            for counts in COUNTS
            for variant in vary(competing(scalable, classic, counts), **labels(scalable, classic, counts))
        ),
        *vary(competing("dctcp", "reno", (5, 5), queue=ONE_QUEUE), **labels("dctcp", "reno", (5, 5), "codel")),
    ),
    measures=MEASURES,
    claims=(
        *(
            Claim(
                f"D-{scalable}-{classic}-{named(counts).replace(':', '-')}",
                "reproduced",
                f"{counts[0]} {scalable} and {counts[1]} {classic}: flows have rates within a factor of {FACTOR:g}",
                lambda results, of=(scalable, classic, counts): factor(pair(results, "ratio", *of)),  # type: ignore[misc]
                Inequality("<", FACTOR),
                note="the factor is our choice",
            )
            for scalable, classic in PAIRS
            for counts in COUNTS
        ),
        Claim(
            "D-windows",
            "not_reproduced",
            "windows of DCTCP and Reno are about the same: with k = 2 the coupling makes windows equal, not rates",
            lambda results: pair(results, "windows", "dctcp", "reno", (5, 5)),
            Value(1, 0.3),
            published=1,
            note="goodputs times mean round trips, five flows each. Models of DCTCP assume growth in every round trip; here "
            "acknowledgements that echo a mark do not open the window (RFC 3168, section 6.1.2). Rates are therefore about "
            "equal over 10 ms, although the round trip of Classic flows is 15 ms longer",
        ),
        Claim(
            "D-starves",
            "conditional",
            "Reno has at least a fourth of DCTCP's rate, five flows each",
            lambda results: pair(results, "ratio", "dctcp", "reno", (5, 5)),
            Inequality("<", 4),
            setting="behind DualPI2",
            contrast=Contrast(
                "behind a single queue of CoDel, which marks DCTCP's packets as often as it discards Reno's",
                lambda results: pair(results, "ratio", "dctcp", "reno", (5, 5), "codel"),
            ),
            note="the fourth is our choice",
        ),
    ),
    panels=(
        (
            Ranking(
                "ratio",
                tuple(
                    Line(f"{scalable} and {classic}, {named(counts)}", labels(scalable, classic, counts))
                    for scalable, classic in PAIRS
                    for counts in COUNTS
                ),
                "goodput of a scalable flow over that of a Classic one",
            ),
        ),
    ),
    assumptions=(
        Assumption("the link", f"{RATE_MBPS} Mbit/s, {ROUND_TRIP_MS} ms, buffer of {1e3 * ROOM_S:g} ms"),
        Assumption("DCTCP", "with `l4s = true`: RFC 9331 requires more of a sender; Classic senders do not use ECN"),
    ),
    max_seeds=5,
)

EXPERIMENTS = (LINKS, MIXES)
