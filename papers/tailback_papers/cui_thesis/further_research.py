"""Questions that chapter 4 leaves to further research: FAST next to other laws, over several bottlenecks, and on paths that
change or lose packets.
"""

from __future__ import annotations

from typing import Any

import tailback as tb
from tailback.papers import Claim, Curves, Experiment, Line, Ranking, ReferenceLine, Variant, at, lines, quick_form
from tailback_papers.claims import claims_of
from tailback_papers.cui_thesis.fast import FAIRNESS, QUEUE, UTILISATION

__all__ = ["EXPERIMENTS"]

claim = claims_of(__name__)

# Packets of 1500 bytes on 100 Mb/s in 50 ms.
PRODUCT = 417


def fast(alpha: float = 50, **law: Any) -> dict[str, Any]:
    """A current sender with FAST in the form of the module."""
    return {"preset": "sack", "timestamps": True, "controller": {"kind": "fast", "alpha": alpha, "update": "module", **law}}


def on_one_link(flows: dict[str, dict[str, Any]], queue: dict[str, Any], **rest: Any) -> tb.Scenario:
    """100 Mb/s, 120 s with the last 80 measured; flows of 50 ms that start within the first five seconds."""
    usual = {"from": "left", "to": "right", "propagation_rtt": "50 ms", "start": {"uniform": ["0 s", "5 s"]}}
    link = rest.pop("link", {})
    return tb.Scenario(
        {
            "name": "cui-thesis, further research",
            "duration": "120 s",
            "warmup": "40 s",
            "topology": {"dumbbell": {"rate": "100 Mbps", "delay": "5 ms", "queue": queue, **link}},
            "flows": {group: {**usual, **flow} for group, flow in flows.items()},
            **rest,
        }
    )


BUFFERS = {0.25: PRODUCT // 4, 1: PRODUCT, 4: 4 * PRODUCT}
OTHERS = {"Reno": "linux/reno", "CUBIC": "linux/cubic", "BBR": "linux/bbr"}


BESIDE = Experiment(
    id="cui-thesis/further-beside",
    title="Further research: FAST next to Reno, CUBIC and BBR",
    question="What share does a FAST flow receive next to a flow of another law?",
    source="further research of chapter 4",
    variants=tuple(
        Variant(
            {"other": other, "buffer": products},
            on_one_link({"fast": {"tcp": fast()}, "other": {"tcp": {"preset": preset}}}, {"buffer": f"{packets} packets"}),
        )
        for other, preset in OTHERS.items()
        for products, packets in BUFFERS.items()
    ),
    measures={"share_of_fast": "share(flows.fast.goodput_bps)"},
    claims=tuple(
        Claim(
            f"further-beside-{other}",
            f"FAST gets less than a fifth next to {other} if the buffer holds four products",
            at("share_of_fast", other=other, buffer=4) < 0.2,
            ours=True,
        )
        for other in OTHERS
    ),
    panels=(
        Curves(
            "share_of_fast",
            "buffer",
            lines("other", {f"next to {other}": other for other in OTHERS}),
            "share of FAST",
            "buffer, bandwidth-delay products",
            reference_lines=(ReferenceLine("even", 0.5),),
        ),
    ),
    assumptions={"scenario": "100 Mb/s, 50 ms, alpha 50; the document has none"},
    answer=lambda results: (
        "FAST keeps its share next to Reno and CUBIC only while the buffer is short. With a bandwidth-delay product or more, and "
        "always next to BBR, it is displaced:"
        + ", ".join(
            f"{results.formatted(at('share_of_fast', other=other, buffer=products), 0, 100)} % next to {other} with {products:g} "
            "products"
            for other in OTHERS
            for products in BUFFERS
        )
        + "."
    ),
)

ROUND_TRIPS_MS = (10, 30, 100, 300)
SENDERS: dict[str, dict[str, Any]] = {"FAST": fast(), "CUBIC": {"preset": "linux/cubic"}, "Reno": {"preset": "linux/reno"}}


MIXTURE = Experiment(
    id="cui-thesis/further-round-trips",
    title="Further research: round trips from 10 to 300 ms",
    question="Does FAST give flows of different round trips equal rates?",
    source="further research of chapter 4",
    variants=tuple(
        Variant(
            {"law": law},
            on_one_link(
                {f"rtt{rtt_ms}": {"propagation_rtt": f"{rtt_ms} ms", "tcp": tcp} for rtt_ms in ROUND_TRIPS_MS},
                {"buffer": "2000 packets"},
            ),
        )
        for law, tcp in SENDERS.items()
    ),
    measures={"fairness": FAIRNESS, "longest_over_shortest": "flows.rtt300.goodput_bps / flows.rtt10.goodput_bps"},
    claims=(claim("further-round-trips", at("fairness", law="FAST") > at("fairness", law="CUBIC")),),
    panels=(Ranking("fairness", lines("law", tuple(SENDERS)), "Jain's index"),),
    assumptions={"buffer": "2000 packets: enough for all of FAST's queue"},
    answer=lambda results: (
        "Nearly: a flow's queue does not depend on its round trip. The flow of 300 ms gets"
        + ", ".join(
            f"{results.formatted(at('longest_over_shortest', law=law))} times the rate of the flow of 10 ms with {law}"
            for law in SENDERS
        )
        + "."
    ),
)

POLICIES: dict[str, dict[str, Any]] = {
    "drop_tail": {},
    "red": {"policy": "red", "min_threshold": "100 packets", "max_threshold": "300 packets"},
    "codel": {"policy": "codel"},
}

MANAGED = Experiment(
    id="cui-thesis/further-policies",
    title="Further research: FAST behind RED and CoDel",
    question="How do queues that drop early affect FAST?",
    source="further research of chapter 4",
    variants=tuple(
        Variant({"policy": policy}, on_one_link({"fast": {"count": 4, "tcp": fast(100)}}, {"buffer": "1000 packets", **settings}))
        for policy, settings in POLICIES.items()
    ),
    measures={"fairness": FAIRNESS, "utilisation": UTILISATION, "queue": QUEUE},
    claims=(claim("further-policies-codel", at("fairness", policy="codel") > at("fairness", policy="drop_tail")),),
    panels=(
        Ranking("fairness", lines("policy", tuple(POLICIES)), "Jain's index"),
        Ranking("utilisation", lines("policy", tuple(POLICIES)), "utilisation"),
    ),
    assumptions={"scenario": "four flows, alpha 100: 400 packets; RED drops from 100 on"},
    answer=lambda results: (
        "They prevent its equilibrium, which improves fairness: the queue empties now and then, and all flows measure the true "
        "round trip of the path."
        + "; ".join(
            f"{policy}: utilisation {results.formatted(at('utilisation', policy=policy), 3)}, queue "
            f"{results.formatted(at('queue', policy=policy), 0)} packets, Jain's index "
            f"{results.formatted(at('fairness', policy=policy), 3)}"
            for policy in POLICIES
        )
        + "."
    ),
)

LOSSES = (1e-5, 1e-4, 1e-3, 1e-2)
LOSSY: dict[str, dict[str, Any]] = {
    "FAST, module": fast(100),
    "FAST, (4.1)": {**fast(100), "controller": {"kind": "fast", "alpha": 100}},
    "CUBIC": SENDERS["CUBIC"],
    "Reno": SENDERS["Reno"],
}

RANDOM_LOSS = Experiment(
    id="cui-thesis/further-loss",
    title="Further research: FAST and random losses",
    question="How much of a link with random losses does FAST use?",
    source="further research of chapter 4",
    variants=tuple(
        Variant(
            {"law": law, "loss": loss},
            on_one_link({"flow": {"tcp": tcp}}, {"buffer": "1000 packets"}, link={"loss": {"probability": loss}}),
        )
        for law, tcp in LOSSY.items()
        for loss in LOSSES
    ),
    measures={"utilisation": UTILISATION},
    claims=(
        claim("further-loss", (at("utilisation", law="FAST, module", loss=1e-3) / at("utilisation", law="CUBIC", loss=1e-3)) > 3),
    ),
    panels=(Curves("utilisation", "loss", lines("law", tuple(LOSSY)), "utilisation", "probability of loss"),),
    assumptions={"scenario": "one flow, 100 Mb/s, 50 ms, alpha 100"},
    answer=lambda results: (
        "More than laws that interpret each loss as a full queue, because it returns quickly:"
        + "; ".join(
            f"{law} " + ", ".join(f"{results.formatted(at('utilisation', law=law, loss=loss))}" for loss in LOSSES)
            for law in LOSSY
        )
        + " (one loss in 100,000 to one in 100)."
    ),
)

HOPS = 3


def several_bottlenecks(factor: int) -> tb.Scenario:
    """A flow over three links, each shared with one other flow; its alpha is a multiple of theirs."""
    link = {"rate": "100 Mbps", "delay": "5 ms", "queue": {"buffer": "20000 packets"}}
    flows: dict[str, Any] = {"long": {"from": "node1", "to": f"node{HOPS + 1}", "tcp": fast(50 * factor)}}
    for hop in range(1, HOPS + 1):
        flows[f"short{hop}"] = {"from": f"node{hop}", "to": f"node{hop + 1}", "propagation_rtt": f"{10 * HOPS} ms", "tcp": fast()}
    return tb.Scenario(
        {
            "name": "cui-thesis, several bottlenecks",
            "duration": "60 s",
            "warmup": "50 s",
            "nodes": {f"node{number}": {} for number in range(1, HOPS + 2)},
            "links": {f"link{hop}": {**link, "from": f"node{hop}", "to": f"node{hop + 1}"} for hop in range(1, HOPS + 1)},
            "flows": flows,
        }
    )


# Sum of the rates of the flows over one link.
SHORT = " + ".join(f"flows.short{hop}.goodput_bps" for hop in range(1, HOPS + 1))

BOTTLENECKS = Experiment(
    id="cui-thesis/further-bottlenecks",
    title="Further research: FAST over several bottlenecks",
    question="What rate does a FAST flow receive over several bottlenecks, and which alpha makes it equal to the others?",
    source="further research of chapter 4; (4.15) for several links",
    variants=tuple(Variant({"factor": factor}, several_bottlenecks(factor)) for factor in range(1, HOPS + 1)),
    measures={"long_over_short": f"flows.long.goodput_bps / (({SHORT}) / {HOPS})"},
    claims=(
        claim("further-bottlenecks", at("long_over_short", factor=1).equals(1 / HOPS, 0.02)),
        claim("further-bottlenecks-rule", at("long_over_short", factor=HOPS).equals(1, 0.05)),
    ),
    panels=(
        Curves(
            "long_over_short",
            "factor",
            (Line("three bottlenecks", {}),),
            "rate over that of the others",
            "alpha over that of the others",
        ),
    ),
    assumptions={"round trips": "30 ms each; all start together, so that all know the empty path"},
    exact=True,
    answer=lambda results: (
        "Its rate is inversely proportional to its number of bottlenecks:"
        + ", ".join(
            f"{results.values('long_over_short', factor=factor)[0]:.2f} of the others' rate with {factor} times their alpha"
            for factor in range(1, HOPS + 1)
        )
        + ". An alpha in proportion to the number of bottlenecks makes it equal; a sender does not know that number."
    ),
)

AGAIN: dict[str, dict[str, Any]] = {
    "plain": {},
    "draining once": {"draining": 10},
    "draining every 20 s": {"draining": 10, "drain_interval": "20 s"},
}
COUNTS = (1, 4)

ROUTE = Experiment(
    id="cui-thesis/further-route",
    title="Further research: a path that becomes longer",
    question="How does FAST react when the route changes and the propagation delay rises?",
    source="further research of chapter 4",
    variants=tuple(
        Variant(
            {"law": law, "flows": count},
            on_one_link(
                {"fast": {"count": count, "propagation_rtt": "40 ms", "tcp": fast(**settings)}},
                {"buffer": "20000 packets"},
                duration="160 s",
                warmup="100 s",
                timeline=[{"at": "50 s", "link": "bottleneck", "delay": "30 ms"}],
            ),
        )
        for law, settings in AGAIN.items()
        for count in COUNTS
    ),
    measures={"utilisation": UTILISATION, "fairness": FAIRNESS, "queue": QUEUE},
    claims=(
        claim("further-route-plain", at("utilisation", law="plain", flows=1) < 0.5),
        claim("further-route-again", at("utilisation", law="draining every 20 s", flows=1) > 0.95),
        claim("further-route-fair", at("fairness", law="draining every 20 s", flows=4) > 0.95),
    ),
    panels=(Curves("utilisation", "flows", lines("law", tuple(AGAIN)), "utilisation", "flows"),),
    # With ten seeds the fairness is 0.97 +/- 0.03.
    times=4,
    assumptions={"route": "after 50 s the one-way delay of the link is 30 instead of 5 ms; the last 60 of 160 s are measured"},
    answer=lambda results: (
        "It interprets the longer path as a queue, permanently:"
        + "; ".join(
            f"{law} " + ", ".join(f"{results.formatted(at('utilisation', law=law, flows=count))}" for count in COUNTS)
            for law in AGAIN
        )
        + "of the link (one flow, four flows). Resetting the base round trip and draining the queue again helps; a reset alone "
        "does not, because a new base would include the standing queue."
    ),
)

EXPERIMENTS = (
    BESIDE,
    MIXTURE,
    MANAGED,
    RANDOM_LOSS,
    BOTTLENECKS,
    quick_form(ROUTE, "claims whose interval, with twenty seeds, includes the bound", times=2),
)
