"""Scalable and Classic senders behind DualPI2: their shares and queueing delays.

RFC 9332 has no evaluation of its own. Rates and round trips are those of De Schepper, Bondarenko, Tsang and Briscoe, "PI2: A
Linearized AQM for both Classic and Scalable TCP", CoNEXT 2016, which first tested its coupling.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

import tailback as tb
from tailback.papers import Claim, Contrast, Experiment, Expression, Grid, Line, Measure, Ranking, Variant, at, variants
from tailback_papers.claims import claims_of
from tailback_papers.standards.members import sender

__all__ = ["EXPERIMENTS"]

claim = claims_of(__name__)

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
) -> tb.Scenario:
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
    return tb.dumbbell(**described, duration="120 s", warmup="40 s")


def wait_ms(run: tb.Run, queue: str) -> float:
    """Mean queueing delay in L or C, or in the only queue."""
    if run.scenario["topology"]["dumbbell"]["queue"].get("scheduler") is None:
        return 1e3 * float(run.queues.where(queue="bottleneck")["mean_wait_s"][0])
    return 1e3 * float(run.classes.where(**{"class": queue})["mean_wait_s"][0])


RATIO = "mean(flows.scalable.goodput_bps) / mean(flows.classic.goodput_bps)"
MEASURES: dict[str, Measure] = {
    "ratio": RATIO,
    # The same ratio for windows: goodputs times mean round trips.
    "windows": f"{RATIO} * mean(flows.scalable.mean_rtt_s) / mean(flows.classic.mean_rtt_s)",
    "l_wait_ms": partial(wait_ms, queue="L"),
    "c_wait_ms": partial(wait_ms, queue="C"),
    "utilisation": "queues.bottleneck.utilisation",
}


def factor(ratio: Expression) -> Expression:
    """Factor between two rates, in either direction."""
    return ratio.map(lambda values: np.maximum(values, 1 / values))


LONG = tuple(rtt for rtt in ROUND_TRIPS_MS if rtt >= 50)
SHORT = tuple(rtt for rtt in ROUND_TRIPS_MS if rtt <= 20)
FAST = tuple(rate for rate in RATES_MBPS if rate > RATES_MBPS[0])

LINKS = Experiment(
    id="standards/dualpi2",
    title="Prague and CUBIC over many links",
    question="Do one Prague and one CUBIC flow share a link of DualPI2 evenly, and does L stay short?",
    source='RFC 9332, sections 1.4 and 2.1, appendix A; De Schepper and others, "PI2", CoNEXT 2016, section 6',
    variants=variants(
        lambda rate, rtt: competing("prague", "cubic", rate_mbps=rate, rtt_ms=rtt), rate=RATES_MBPS, rtt=ROUND_TRIPS_MS
    ),
    measures=MEASURES,
    claims=(
        Claim(
            "D-rates",
            f"over round trips of up to {SHORT[-1]} ms, rates differ by less than a factor of {FACTOR:g} at any rate of the link",
            factor(at("ratio", rate=RATES_MBPS, rtt=SHORT)).max(each_seed=True) < FACTOR,
            note="largest of all links; the RFC says roughly the same rate, and the factor is our choice",
        ),
        Claim(
            "D-rates-long",
            f"and over {LONG[0]} and {LONG[-1]} ms",
            factor(at("ratio", rate=RATES_MBPS, rtt=LONG)).max(each_seed=True) < FACTOR,
            note="largest of all links",
        ),
        Claim(
            "D-low",
            f"the mean queueing delay in L is less than a millisecond, from {FAST[0]} Mbit/s on",
            at("l_wait_ms", rate=FAST).max(each_seed=True) < 1,
            note="largest of all links",
        ),
        Claim(
            "D-low-slow",
            f"and at {RATES_MBPS[0]} Mbit/s, where a packet takes two",
            at("l_wait_ms", rate=RATES_MBPS[0]).max(each_seed=True) < 1,
            kind="not_reproduced",
            note="largest of five round trips: five seeds cannot decide",
        ),
        claim("D-target", at("c_wait_ms", rate=RATE_MBPS, rtt=ROUND_TRIP_MS).equals(15, 1.5)),
        claim("D-target-most", at("c_wait_ms").max(each_seed=True) < 18),
        claim("D-used", at("utilisation").min(each_seed=True) > 0.9),
    ),
    grids=(
        Grid("ratio", "rate", "rtt", "Goodput of Prague over that of CUBIC: link in Mbit/s, round trip in ms"),
        Grid("l_wait_ms", "rate", "rtt", "Mean queueing delay in L, ms", best="min"),
        Grid("c_wait_ms", "rate", "rtt", "Mean queueing delay in C, ms", best="min"),
        Grid("utilisation", "rate", "rtt", "Utilisation"),
    ),
    assumptions={
        "the link": f"buffer of {1e3 * ROOM_S:g} ms, as in figure 2 of the RFC; defaults of `dualpi2`",
        "time": "120 s, of which 80 are measured: over long and fast links CUBIC has not settled by then",
        "percentiles": "of queueing delays in L are not measured; means are",
    },
    max_seeds=5,
)


def named(counts: tuple[int, int]) -> str:
    """Names of the laws in labels."""
    return f"{counts[0]}:{counts[1]}"


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
        *(Variant(labels(*pair, counts), competing(*pair, counts)) for pair in PAIRS for counts in COUNTS),
        Variant(labels("dctcp", "reno", (5, 5), "codel"), competing("dctcp", "reno", (5, 5), queue=ONE_QUEUE)),
    ),
    measures=MEASURES,
    claims=(
        *(
            Claim(
                f"D-{scalable}-{classic}-{named(counts).replace(':', '-')}",
                f"{counts[0]} {scalable} and {counts[1]} {classic}: flows have rates within a factor of {FACTOR:g}",
                factor(at("ratio", **labels(scalable, classic, counts))) < FACTOR,
                note="the factor is our choice",
            )
            for scalable, classic in PAIRS
            for counts in COUNTS
        ),
        claim("D-windows", at("windows", **labels("dctcp", "reno", (5, 5))).equals(1, 0.3)),
        claim(
            "D-starves",
            at("ratio", **labels("dctcp", "reno", (5, 5))) < 4,
            contrast=Contrast(
                "behind a single queue of CoDel, which marks DCTCP's packets as often as it discards Reno's",
                at("ratio", **labels("dctcp", "reno", (5, 5), "codel")),
            ),
        ),
    ),
    panels=(
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
    assumptions={
        "the link": f"{RATE_MBPS} Mbit/s, {ROUND_TRIP_MS} ms, buffer of {1e3 * ROOM_S:g} ms",
        "DCTCP": "with `l4s = true`: RFC 9331 requires more of a sender; Classic senders do not use ECN",
    },
    max_seeds=5,
)

EXPERIMENTS = (LINKS, MIXES)
