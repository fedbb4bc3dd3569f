"""Pairs of controllers: shares of every pair through one drop-tail queue, and of each with itself over two round trips."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from tailback._topologies import dumbbell
from tailback.papers import Assumption, Claim, Contrast, Experiment, Grid, Inequality, Line, Measured, Ranking, vary
from tailback.papers.standards.members import PACKET, controllers, sender

if TYPE_CHECKING:
    from tailback._run import Run
    from tailback._scenario import Scenario

__all__ = ["EXPERIMENTS"]

SHORT_MS, LONG_MS = 40, 120
# Transmission time of a packet at 20 Mbit/s: host processing takes up to that long, which avoids phase effects (Floyd and
# Jacobson, 1992, section 4).
PROCESSING = "0.42 ms"
# Laws with which each law is compared in the quick form.
QUICK = ("reno", "cubic", "bbrv1")


def shared(first: str, second: str, second_ms: float = SHORT_MS, *, count: int = 3) -> Scenario:
    """Two groups of equally many flows, the second optionally with a longer round trip; 20 Mbit/s per pair."""

    def flow(law: str, rtt_ms: float) -> Any:
        rtt = {"uniform": [f"{0.97 * rtt_ms:g} ms", f"{1.03 * rtt_ms:g} ms"]}
        start = {"uniform": ["0 s", "2 s"]}
        return {"count": count, "propagation_rtt": rtt, "start": start, "jitter": PROCESSING, "tcp": sender(law)}

    return dumbbell(
        name=f"standards, {first} and {second}",
        rate=f"{20 * count} Mbps",
        delay="5 ms",
        buffer=f"{96 * count} packets",
        flows={"first": flow(first, SHORT_MS), "second": flow(second, second_ms)},
        duration="80 s",
        warmup="20 s",
    )


def share(run: Run) -> float:
    """The first flow's fraction of the goodput."""
    first, second = run.groups["goodput_bps"]
    return float(first / (first + second))


def ratio(run: Run) -> float:
    """Goodput of the first group divided by that of the second."""
    first, second = run.groups["goodput_bps"]
    return float(first / second) if second > 0 else float("inf")


def beyond_round_trips(run: Run) -> float:
    """Ratio of goodputs divided by the inverse ratio of mean round trips, including queueing."""
    flows = run.flows
    first, second = (flows.where(group=group)["mean_rtt_s"].mean() for group in ("first", "second"))
    return ratio(run) / float(second / first)


def utilisation(run: Run) -> float:
    """Utilisation of the bottleneck."""
    return float(run.queues.where(queue="bottleneck")["utilisation"][0])


def of(results: Measured, first: str, second: str) -> Any:
    """Share of the first law."""
    return results.values("share", law=first, against=second)


def competition(opponents: tuple[str, ...]) -> Experiment:
    """Each law against these laws."""
    return Experiment(
        id="standards/pairs",
        title="Pairs of controllers",
        question="Which share of a link does each law have against another?",
        source="RFC 5033, section 3; RFC 9438, section 4.3; Mo, La, Anantharam and Walrand, 1999",
        variants=tuple(
            variant
            for first in controllers()
            for second in opponents
            for variant in vary(shared(first, second), law=first, against=second)
        ),
        measures={"share": share, "utilisation": utilisation},
        claims=(
            Claim(
                "P-friendly",
                "reproduced",
                "CUBIC has no less than Reno if Reno's windows are as large (RFC 9438, section 4.3)",
                lambda results: of(results, "cubic", "reno"),
                Inequality(">=", 0.45),
                note="the share of CUBIC; the tolerance of 0.05 is our choice",
            ),
            Claim(
                "P-vegas",
                "reproduced",
                "Vegas has less than Reno sharing its link (Mo, La, Anantharam and Walrand, 1999)",
                lambda results: of(results, "vegas", "reno"),
                Inequality("<", 0.5),
            ),
        ),
        grids=(Grid("share", "law", "against", "Share of the law in the row against that of the column"),),
        assumptions=(
            Assumption(
                "the link",
                f"three flows of each law, {SHORT_MS} ms, 20 Mbit/s per pair, a drop-tail buffer of one bandwidth-delay product",
            ),
            Assumption("time", "80 s, of which 60 are measured: laws that converge more slowly are measured during convergence"),
        ),
    )


COMPETITION = replace(
    competition(QUICK), full=competition(controllers()), undecided=f"pairs without {', '.join(QUICK[:-1])} or {QUICK[-1]}"
)

ROUND_TRIPS = Experiment(
    id="standards/rtt",
    title="Two round trips",
    question="How much larger is the rate of a flow whose round trip is a third?",
    source="RFC 5166, section 2.3; RFC 9438, section 3.3",
    variants=tuple(variant for law in controllers() for variant in vary(shared(law, law, LONG_MS, count=5), law=law)),
    measures={"ratio": ratio, "beyond_round_trips": beyond_round_trips, "utilisation": utilisation},
    claims=(
        Claim(
            "RTT-reno",
            "reproduced",
            "Reno favours the shorter round trip by more than their ratio (Lakshman and Madhow, 1997)",
            lambda results: results.values("beyond_round_trips", law="reno"),
            Inequality(">", 1),
            note="ratio of goodputs divided by that of mean round trips, including queueing",
        ),
        Claim(
            "RTT-cubic",
            "reproduced",
            "CUBIC favours it less than Reno does (RFC 9438, section 3.3)",
            lambda results: results.values("ratio", law="cubic") - results.values("ratio", law="reno"),
            Inequality("<", 0),
            note="difference of the two ratios of goodputs",
        ),
        *(
            Claim(
                f"RTT-{law}",
                "reproduced",
                f"so does {law}, whose growth is scaled by the round trip ({source})",
                lambda results, law=law: results.values("ratio", law=law) - results.values("ratio", law="reno"),  # type: ignore[misc]
                Inequality("<", 0),
                note="difference of the two ratios of goodputs",
            )
            for law, source in (("hybla", "Caini and Firrincieli, 2004"), ("htcp", "draft-leith-tcp-htcp, RTT scaling"))
        ),
    ),
    panels=(
        (
            Ranking(
                "ratio",
                tuple(Line(law, {"law": law}) for law in controllers()),
                f"goodput over {SHORT_MS} ms divided by that over {LONG_MS} ms",
            ),
        ),
    ),
    assumptions=(
        Assumption(
            "the link", "five flows of each round trip, 20 Mbit/s per pair, a buffer of the bandwidth-delay product at 40 ms"
        ),
    ),
    times=3,
)

# A buffer larger than its target of 100 ms, and one smaller.
DEEP, SHALLOW = "300 ms", "40 ms"


def beside_reno(buffer: str) -> Scenario:
    """LEDBAT and Reno, with a buffer of this duration."""
    packets = round(float(buffer.removesuffix(" ms")) * 60e3 / 8 / PACKET)
    return shared("ledbat", "reno").with_({"topology.dumbbell.queue.buffer": f"{packets} packets"})


YIELDING = Experiment(
    id="standards/ledbat",
    title="LEDBAT and Reno",
    question="Does LEDBAT yield?",
    source="RFC 6817, sections 1 and 2.2",
    variants=tuple(variant for buffer in (SHALLOW, DEEP) for variant in vary(beside_reno(buffer), buffer=buffer)),
    measures={"share": share, "utilisation": utilisation},
    claims=(
        Claim(
            "L-yields",
            "conditional",
            "LEDBAT yields to TCP: it has less than a tenth",
            lambda results: results.values("share", buffer=DEEP),
            Inequality("<", 0.1),
            setting=f"a buffer of {DEEP}, larger than its target of 100 ms",
            contrast=Contrast(f"a buffer of {SHALLOW}", lambda results: results.values("share", buffer=SHALLOW)),
            note="the tenth is our choice; in a buffer below its target it behaves like Reno",
        ),
    ),
    panels=(
        (
            Ranking(
                "share", tuple(Line(buffer, {"buffer": buffer}) for buffer in (SHALLOW, DEEP)), "share of LEDBAT, by the buffer"
            ),
        ),
    ),
    assumptions=(Assumption("the link", f"three flows of each, {SHORT_MS} ms, 20 Mbit/s per pair"),),
)

EXPERIMENTS = (COMPETITION, ROUND_TRIPS, YIELDING)
