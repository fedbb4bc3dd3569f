"""Pairs of controllers: shares of every pair through one drop-tail queue, and of each with itself over two round trips."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import tailback as tb
from tailback.papers import Claim, Contrast, Experiment, Grid, Ranking, at, lines, variants
from tailback_papers.claims import claims_of
from tailback_papers.standards.members import PACKET, controllers, sender

__all__ = ["EXPERIMENTS"]

claim = claims_of(__name__)

SHORT_MS, LONG_MS = 40, 120
# Transmission time of a packet at 20 Mbit/s: host processing takes up to that long, which avoids phase effects (Floyd and
# Jacobson, 1992, section 4).
PROCESSING = "0.42 ms"
# Laws with which each law is compared in the quick form.
QUICK = ("reno", "cubic", "bbrv1")


def shared(law: str, against: str, second_ms: float = SHORT_MS, *, count: int = 3) -> tb.Scenario:
    """Two groups of equally many flows, the second optionally with a longer round trip; 20 Mbit/s per pair."""

    def flow(law: str, rtt_ms: float) -> Any:
        rtt = {"uniform": [f"{0.97 * rtt_ms:g} ms", f"{1.03 * rtt_ms:g} ms"]}
        start = {"uniform": ["0 s", "2 s"]}
        return {"count": count, "propagation_rtt": rtt, "start": start, "jitter": PROCESSING, "tcp": sender(law)}

    return tb.dumbbell(
        name=f"standards, {law} and {against}",
        rate=f"{20 * count} Mbps",
        delay="5 ms",
        buffer=f"{96 * count} packets",
        flows={"first": flow(law, SHORT_MS), "second": flow(against, second_ms)},
        duration="80 s",
        warmup="20 s",
    )


SHARE = "share(groups.first.goodput_bps)"
RATIO = "groups.first.goodput_bps / groups.second.goodput_bps"
# Ratio of goodputs divided by the inverse ratio of mean round trips, including queueing.
BEYOND_ROUND_TRIPS = f"{RATIO} / (mean(flows.second.mean_rtt_s) / mean(flows.first.mean_rtt_s))"
UTILISATION = "queues.bottleneck.utilisation"


def competition(opponents: tuple[str, ...]) -> Experiment:
    """Each law against these laws."""
    return Experiment(
        id="standards/pairs",
        title="Pairs of controllers",
        question="Which share of a link does each law have against another?",
        source="RFC 5033, section 3; RFC 9438, section 4.3; Mo, La, Anantharam and Walrand, 1999",
        variants=variants(shared, law=controllers(), against=opponents),
        measures={"share": SHARE, "utilisation": UTILISATION},
        claims=(
            claim("P-friendly", at("share", law="cubic", against="reno") >= 0.45),
            claim("P-vegas", at("share", law="vegas", against="reno") < 0.5),
        ),
        grids=(Grid("share", "law", "against", "Share of the law in the row against that of the column"),),
        assumptions={
            "the link": f"three flows of each law, {SHORT_MS} ms, 20 Mbit/s per pair, a drop-tail buffer of one bandwidth-delay "
            "product",
            "time": "80 s, of which 60 are measured: laws that converge more slowly are measured during convergence",
        },
    )


COMPETITION = replace(
    competition(QUICK), full=competition(controllers()), undecided=f"pairs without {', '.join(QUICK[:-1])} or {QUICK[-1]}"
)

ROUND_TRIPS = Experiment(
    id="standards/rtt",
    title="Two round trips",
    question="How much larger is the rate of a flow whose round trip is a third?",
    source="RFC 5166, section 2.3; RFC 9438, section 3.3",
    variants=variants(lambda law: shared(law, law, LONG_MS, count=5), law=controllers()),
    measures={"ratio": RATIO, "beyond_round_trips": BEYOND_ROUND_TRIPS, "utilisation": UTILISATION},
    claims=(
        claim("RTT-reno", at("beyond_round_trips", law="reno") > 1),
        claim("RTT-cubic", at("ratio", law="cubic") < at("ratio", law="reno")),
        *(
            Claim(
                f"RTT-{law}",
                f"so does {law}, whose growth is scaled by the round trip ({source})",
                at("ratio", law=law) < at("ratio", law="reno"),
                note="difference of the two ratios of goodputs",
            )
            for law, source in (("hybla", "Caini and Firrincieli, 2004"), ("htcp", "draft-leith-tcp-htcp, RTT scaling"))
        ),
    ),
    panels=(Ranking("ratio", lines("law", controllers()), f"goodput over {SHORT_MS} ms divided by that over {LONG_MS} ms"),),
    assumptions={
        "the link": "five flows of each round trip, 20 Mbit/s per pair, a buffer of the bandwidth-delay product at 40 ms"
    },
    times=3,
)

# A buffer larger than its target of 100 ms, and one smaller.
DEEP, SHALLOW = "300 ms", "40 ms"


def beside_reno(buffer: str) -> tb.Scenario:
    """LEDBAT and Reno, with a buffer of this duration."""
    packets = round(float(buffer.removesuffix(" ms")) * 60e3 / 8 / PACKET)
    return shared("ledbat", "reno").with_({"topology.dumbbell.queue.buffer": f"{packets} packets"})


YIELDING = Experiment(
    id="standards/ledbat",
    title="LEDBAT and Reno",
    question="Does LEDBAT yield?",
    source="RFC 6817, sections 1 and 2.2",
    variants=variants(beside_reno, buffer=(SHALLOW, DEEP)),
    measures={"share": SHARE, "utilisation": UTILISATION},
    claims=(
        claim(
            "L-yields",
            at("share", buffer=DEEP) < 0.1,
            setting=f"a buffer of {DEEP}, larger than its target of 100 ms",
            contrast=Contrast(f"a buffer of {SHALLOW}", at("share", buffer=SHALLOW)),
        ),
    ),
    panels=(Ranking("share", lines("buffer", (SHALLOW, DEEP)), "share of LEDBAT, by the buffer"),),
    assumptions={"the link": f"three flows of each, {SHORT_MS} ms, 20 Mbit/s per pair"},
)

EXPERIMENTS = (COMPETITION, ROUND_TRIPS, YIELDING)
