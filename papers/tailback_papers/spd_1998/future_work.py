"""Beyond the document: its "future works" (section 6.2), and SPD compared with the policies of bpd-2001."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import tailback as tb
from tailback.papers import (
    AxisValue,
    Curves,
    Experiment,
    Expression,
    Grid,
    Line,
    Measure,
    Measured,
    Ranking,
    at,
    axis,
    lines,
    vary,
)
from tailback_papers.bpd_2001 import networks as bpd_2001
from tailback_papers.claims import claims_of
from tailback_papers.spd_1998 import conditions, measures
from tailback_papers.spd_1998.networks import LONG, SHORT, chain

__all__ = ["EXPERIMENTS"]

claim = claims_of(__name__)

POLICIES = ("plain", "PPD", "EPD", "EPD per VC", "BPD", "SPD")


def policies(packet_cells: int, names: Iterable[str] = POLICIES, queue: str = "links.*.queue", **labels: Any) -> list[AxisValue]:
    """All policies with the same thresholds relative to the buffer, and SPD at one packet per connection."""
    settings: dict[str, dict[str, Any]] = {
        "plain": {"policy": "drop_tail"},
        "PPD": {"policy": "ppd"},
        "EPD": {"policy": "epd", "threshold": "80 %"},
        "EPD per VC": {"policy": "epd_per_vc", "threshold": "80 %"},
        "BPD": {"policy": "bpd", "lower_threshold": "40 %", "upper_threshold": "90 %", "gap": 25},
        "SPD": {
            "policy": "spd",
            "dropping_threshold": f"{packet_cells} cells",
            "congestion_threshold": "20 %",
            "epd_threshold": "80 %",
        },
    }
    return [
        AxisValue({"policy": name, **labels}, {f"{queue}.{key}": value for key, value in settings[name].items()})
        for name in names
    ]


MEASURES: dict[str, Measure] = {
    "normalised_goodput": measures.normalised_goodput,
    "ratio": measures.RATIO,
    "mean_queue": measures.MEAN_QUEUE,
    "fairness": measures.FAIRNESS,
    "timeouts": measures.timeouts,
}
SETTINGS = {
    "settings of the policies": "EPD and EPD per VC from 80 % of the buffer on; BPD 40 % and 90 %, gap 25; SPD at one packet per "
    "connection, above 20 % of the buffer, combined with EPD from 80 % on"
}
LIKE_LONG = {"duration, timer and fast retransmit": "LONG: 10 s, fast retransmit, tick 0.5 s (BSD form)"}


def goodput(policy: str, **labels: Any) -> Expression:
    """Goodput as a fraction of the narrow link."""
    return at("normalised_goodput", policy=policy, **labels)


TCPS = {"Tahoe": "tahoe", "Reno": "reno", "NewReno": "newreno", "SACK": "sack"}


def _recoveries(results: Measured) -> str:
    def numbers(measure: str, form: str) -> str:
        return ", ".join(
            f"{results.mean(at(measure, policy='SPD', recovery=each)):{form}} with {each} (EPD "
            f"{results.mean(at(measure, policy='EPD', recovery=each)):{form}})"
            for each in TCPS
        )

    return (
        f"SPD's share of the narrow link is {numbers('normalised_goodput', '.3f')}. A sender that halves its window instead of "
        "closing it loses less through an early discard, as the document suggests for Reno; with NewReno and SACK the cost of "
        f"the short queue ({numbers('mean_queue', '.0f')} cells) is smallest. Fairness is lower than under BPD with all of them."
    )


recoveries = Experiment(
    id="spd-1998/recoveries",
    title="Future work: SPD with Reno, NewReno and SACK",
    question="Does SPD cost less if TCP does not close its window?",
    source='section 6.2: "perhaps, TCP Reno should also be considered"',
    variants=vary(chain(15), policies(23), axis("recovery", TCPS, "flows.vc.tcp.recovery"), [AxisValue({}, LONG.changes)]),
    measures=MEASURES,
    fractions=("normalised_goodput",),
    answer=_recoveries,
    claims=(
        claim("F1", (goodput("SPD", recovery=("Reno", "NewReno", "SACK")) - goodput("SPD", recovery="Tahoe")).min() > 0.03),
        claim("F2", (goodput("EPD", recovery=("NewReno", "SACK")) - goodput("SPD", recovery=("NewReno", "SACK"))).min() > 0),
        claim("F3", (goodput("BPD") - goodput("SPD")).min() > 0),
        claim("F3b", (at("fairness", policy="BPD") - at("fairness", policy="SPD")).min() > 0),
    ),
    grids=(
        Grid("normalised_goodput", "recovery", "policy", "goodput"),
        Grid("mean_queue", "recovery", "policy", "cells in the buffer", "min"),
        Grid("fairness", "recovery", "policy", "fairness"),
    ),
    panels=(
        Ranking(
            "normalised_goodput",
            tuple(Line(f"{name}: {policy}", {"recovery": name, "policy": policy}) for name in TCPS for policy in POLICIES),
            "goodput, as a fraction of the narrow link",
        ),
    ),
    assumptions={**SETTINGS, **LIKE_LONG},
)

# Connections and buffer grow together: 67 cells per connection.
SIZES = {15: 1000, 30: 2000, 60: 4000, 120: 8000}
FIXED = [
    AxisValue({**value.labels, "policy": "SPD, fixed"}, {**value.changes, "links.*.queue.congestion_threshold": "200 cells"})
    for value in policies(23, ["SPD"])
]
COMPARED = ("EPD", "BPD", "SPD")


def _sizes(results: Measured) -> str:
    def at(policy: str, vcs: int) -> str:
        return f"{results.mean(goodput(policy, vcs=vcs)):.3f}"

    return (
        f"If the buffer and the congestion threshold grow with the number of connections, SPD's cost vanishes: {at('SPD', 15)} "
        f"of the link with 15 connections, {at('SPD', 60)} with 60, {at('SPD', 120)} with 120 (EPD {at('EPD', 120)}), because "
        "enough connections are sending while others recover. With a constant threshold of 200 cells it is "
        f"{at('SPD, fixed', 60)} with 60 and {at('SPD, fixed', 120)} with 120: the document's expectation holds only for a "
        "proportional threshold."
    )


def led(**labels: Any) -> Expression:
    """Lead of SPD over EPD in the ratio of goodput to input."""
    return at("ratio", policy="SPD", **labels) - at("ratio", policy="EPD", **labels)


sizes = Experiment(
    id="spd-1998/sizes",
    title="Future work: larger buffers and more connections",
    question="Does SPD do as well with many connections as with few, if the buffer grows in proportion?",
    source="section 6.2, 1",
    variants=tuple(
        variant
        for vcs, buffer in SIZES.items()
        for variant in vary(chain(vcs, buffer), [*policies(23, COMPARED), *FIXED], [LONG], vcs=vcs)
    ),
    measures=MEASURES,
    fractions=("normalised_goodput",),
    answer=_sizes,
    claims=(
        claim("C55", (led(vcs=120) - led(vcs=15)).equals(0, 0.02)),
        claim("F4", goodput("SPD", vcs=120) - goodput("SPD", vcs=15) > 0.05),
        claim("F5", goodput("SPD, fixed", vcs=120) - goodput("SPD, fixed", vcs=15) < 0.05),
    ),
    panels=(
        Curves("normalised_goodput", "vcs", lines("policy", (*COMPARED, "SPD, fixed")), "goodput", "connections"),
        Curves("mean_queue", "vcs", lines("policy", (*COMPARED, "SPD, fixed")), "cells in the buffer", "connections"),
    ),
    assumptions={**SETTINGS, **LIKE_LONG},
)

# Round trips without queueing, in milliseconds: four times the delay of a link.
ROUND_TRIPS = (1.2, 12, 24, 48, 80, 120)


THIRTY = AxisValue({"setting": "LONG"}, {**LONG.changes, "duration": "30 s"})
FOUR = AxisValue({"setting": "4 s, timer only"}, {"duration": "4 s"})


def over(round_trips: Iterable[float]) -> list[AxisValue]:
    """Links with a quarter of each round trip."""
    return [AxisValue({"round_trip_ms": each}, {"links.*.delay": f"{each / 4:g} ms"}) for each in round_trips]


def _round_trips(results: Measured) -> str:
    def at(policy: str, round_trip: float) -> str:
        return f"{results.mean(goodput(policy, round_trip_ms=round_trip, setting='LONG')):.2f}"

    lead = results.mean(led(round_trip_ms=48, setting="LONG"))

    return (
        '"Some might say that EPD works well with LAN while SPD works well with WAN": by the ratio of goodput to input it leads '
        f"by {lead:+.3f} over 48 ms in long runs, by goodput it does not. SPD carries "
        f"{at('SPD', 1.2)} of the link over a round trip of 1.2 ms, {at('SPD', 12)} over 12 ms and {at('SPD', 48)} over 48 ms, "
        f"EPD {at('EPD', 1.2)}, {at('EPD', 12)} and {at('EPD', 48)}. With a longer round trip, a window takes longer to "
        "recover, and an early discard costs more. Beyond 80 ms the buffer is smaller than the bandwidth-delay product, which "
        "limits the windows whatever the policy."
    )


round_trips = Experiment(
    id="spd-1998/round-trips",
    title="Future work: longer round trips",
    question="Is an early discard worth more if congestion feedback takes longer?",
    source="section 6.2, 2",
    variants=(
        *vary(chain(15), policies(23, COMPARED), [THIRTY], over(ROUND_TRIPS)),
        *vary(chain(15), policies(23, ("EPD", "SPD")), [SHORT, FOUR], over([48])),
    ),
    measures=MEASURES,
    fractions=("normalised_goodput",),
    answer=_round_trips,
    claims=(
        claim("F6", led(round_trip_ms=48) > 0),
        claim("F6b", goodput("SPD", round_trip_ms=48) < goodput("EPD", round_trip_ms=48)),
        claim("F7", goodput("SPD", round_trip_ms=1.2, setting="LONG") - goodput("SPD", round_trip_ms=48, setting="LONG") > 0.1),
    ),
    panels=(
        Curves(
            "normalised_goodput",
            "round_trip_ms",
            lines("policy", COMPARED, setting="LONG"),
            "goodput",
            "round trip without queueing, ms",
        ),
    ),
    conditions=(conditions.SETTING_OF_6_2,),
    assumptions={**SETTINGS, "LONG": "30 s instead of 10"},
)

# Networks of both documents: the bottleneck queue, the rate of its link in bit/s, and cells per packet.
NARROW = {"link23": 10e6, "bottleneck": 75e6}


def _narrow(run: tb.Run) -> str:
    return next(name for name in NARROW if name in run.queues["queue"])


def goodput_of_any(run: tb.Run) -> float:
    """Cells of packets delivered once, as a fraction of the capacity of the narrow link, in networks of either document."""
    cells = float((run.flows["delivered_packets"] * run.flows["frame_cells"]).sum())
    return cells * measures.CELL_BITS / NARROW[_narrow(run)] / run.simulated_s


def wait_ms(run: tb.Run) -> float:
    """Mean queueing delay of a cell at the narrow link, in ms."""
    return 1e3 * float(run.queues.where(queue=_narrow(run))["mean_wait_s"][0])


NETWORKS = {
    **{f"chain, {vcs} Tahoe": chain(vcs, buffer) for vcs, buffer in ((5, 200), (15, 1000), (25, 1000))},
    "topology A, 10 Reno": bpd_2001.topology_a().with_({"flows.*.tcp.timer.tick": "0.3 s"}),
    "topology B, 5 Reno": bpd_2001.topology_b().with_({"flows.*.tcp.timer.tick": "0.3 s"}),
    "mixed, Reno and SACK": bpd_2001.mixed().with_({"flows.first.tcp.preset": "bpd-2001/sack"}),
}
CHAINS = tuple(name for name in NETWORKS if name.startswith("chain"))


def _which(results: Measured) -> str:
    lines = []
    for network in NETWORKS:
        of = {policy: results.mean(at("normalised_goodput", network=network, policy=policy)) for policy in POLICIES}
        ranked = sorted(of, key=lambda policy: of[policy], reverse=True)
        lines.append(f"{network}: {', '.join(f'{policy} {of[policy]:.2f}' for policy in ranked)}")
    least = {
        policy: min(results.mean(at("normalised_goodput", network=each, policy=policy)) for each in NETWORKS)
        for policy in POLICIES
    }
    best = max(least, key=lambda policy: least[policy])
    return (
        f"Which policy should a switch run? {best}: in its worst network it still carries {least[best]:.2f} of the link (EPD "
        f"{least['EPD']:.2f}, EPD per VC {least['EPD per VC']:.2f}, SPD {least['SPD']:.2f}, PPD {least['PPD']:.2f}, plain "
        f"{least['plain']:.2f}). EPD, whose only state is the position in the frame, is as good with so many connections that it "
        "does not matter which of them waits. SPD carries more than EPD with Reno senders, to which one loss costs half a window "
        "and several losses a timeout, and less with Tahoe senders; for Tahoe it keeps the queue short.\n\nGoodput, best first. "
        f"{'; '.join(lines)}."
    )


both_documents = Experiment(
    id="spd-1998/policies",
    times=3,
    title="Beyond both documents: all policies on all networks",
    question="Which policy should a switch run, and when?",
    source="networks of spd-1998 (section 4.1) and of bpd-2001 (sections 3 and 6.2)",
    variants=tuple(
        variant
        for name, network in NETWORKS.items()
        for variant in (
            vary(network, policies(23), [LONG], network=name) if name in CHAINS else vary(network, policies(12), network=name)
        )
    ),
    measures={
        "normalised_goodput": goodput_of_any,
        "wait_ms": wait_ms,
        "fairness": measures.FAIRNESS,
        "timeouts": measures.timeouts,
    },
    fractions=("normalised_goodput",),
    answer=_which,
    claims=(
        claim("F8", (goodput("BPD") - goodput("SPD")).min() > 0),
        claim("F9", (goodput("BPD") - goodput("PPD")).min() > 0),
        claim("F10", (goodput("BPD") - goodput("EPD")).min() >= -0.02),
        claim(
            "F11",
            (
                at("wait_ms", network=CHAINS, policy=("EPD", "EPD per VC", "BPD")) - at("wait_ms", network=CHAINS, policy="SPD")
            ).min()
            > 0,
        ),
    ),
    grids=(
        Grid("normalised_goodput", "network", "policy", "goodput"),
        Grid("wait_ms", "network", "policy", "mean queueing delay, ms", "min"),
        Grid("fairness", "network", "policy", "fairness"),
        Grid("timeouts", "network", "policy", "timeouts per connection and second", "min"),
    ),
    panels=(
        Ranking(
            "normalised_goodput",
            tuple(
                Line(f"{network}: {policy}", {"network": network, "policy": policy})
                for network in NETWORKS
                for policy in POLICIES
            ),
            "goodput, as a fraction of the narrow link",
        ),
    ),
    assumptions={
        **SETTINGS,
        "chain": "LONG",
        "topologies A and B, mixed": "10 and 15 s as in bpd-2001; tick 0.3 s in A and B, 0.1 s in the mixed one",
    },
)

EXPERIMENTS = (recoveries, sizes, round_trips, both_documents)
