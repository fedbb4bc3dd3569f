"""The scenarios of RFC 7928 for every queue policy: how long packets wait, and what of the link is used.

Section numbers are the RFC's. Where it leaves a number to the experimenter, ours stands in `left_open`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tailback._topologies import dumbbell
from tailback.papers import Claim, Experiment, Grid, Inequality, LeftOpen, Line, Measured, Ranking, Value, vary
from tailback.papers.standards.members import MSS, PACKET, queues, sender

if TYPE_CHECKING:
    from tailback._run import Run
    from tailback._scenario import Scenario

__all__ = ["EXPERIMENTS"]

RTT = "100 ms"
# 100 packets are what 10 Mbit/s and 100 ms hold, less half: drop-tail may make packets wait for 0.4 s.
STEP_S = 20


def bulk(law: str = "reno", count: int = 1, **rest: Any) -> dict[str, Any]:
    """Flows that always have something to send."""
    start = {"uniform": ["0 s", "1 s"]}
    return {"count": count, "rtt": RTT, "start": start, "tcp": sender(law), **rest}


# Section, and who sends.
TRAFFIC: dict[str, dict[str, Any]] = {
    "5.1.1 one Reno": {"reno": bulk()},
    "5.1.2 first windows of 3 and 10": {
        "three": {**bulk(), "tcp": sender("reno", initial_window=3)},
        "ten": bulk(),
    },
    "5.2 one CUBIC": {"cubic": bulk("cubic")},
    "5.3 more datagrams than fit, and Reno": {
        "datagrams": {"source": {"kind": "constant", "rate": "12 Mbps", "packet": "1000 B"}},
        "reno": bulk(count=4),
    },
    "6.2 round trips of 5 to 560 ms": {
        "reno": {**bulk(count=10), "rtt": {"uniform": ["15 ms", "560 ms"]}},
    },
    "8.2.2 mild: 5 flows": {"reno": bulk(count=5)},
    "8.2.3 medium: 20 flows": {"reno": bulk(count=20)},
    "8.2.4 heavy: 100 flows": {"reno": bulk(count=100)},
    "8.2.5 5, 20, then 100 flows": {
        "mild": bulk(count=5),
        "medium": {**bulk(count=15), "start": f"{2 * STEP_S} s"},
        "heavy": {**bulk(count=80), "start": f"{3 * STEP_S} s"},
    },
    "8.2.6 10 and 2 Mbit/s by turns": {"reno": bulk(count=5)},
    "7.2 bursts: web, video, a call, bulk": {
        "web": {
            "rtt": RTT,
            "arrivals": {"mean_interval": "500 ms"},
            "size": {"bounded_pareto": {"shape": 1.2, "lowest": "5 kB", "highest": "1 MB"}},
            "tcp": sender("reno"),
        },
        "video": {"source": {"kind": "on_off", "rate": "8 Mbps", "packet": "1000 B", "mean_on": "20 ms", "mean_off": "180 ms"}},
        "call": {"source": {"kind": "constant", "rate": "87 kbps", "packet": "200 B"}},
        "bulk": bulk(),
    },
}


def under(queue: dict[str, Any], traffic: str) -> Scenario:
    """A dumbbell of 10 Mbit/s."""
    scenario = dumbbell(
        name=f"standards, {queue['policy']}, {traffic}",
        rate="10 Mbps",
        delay="5 ms",
        queue=queue,  # type: ignore[arg-type]
        flows=TRAFFIC[traffic],
        duration=f"{5 * STEP_S} s",
        warmup=f"{STEP_S} s",
        record={"delay_percentiles": True},
    )
    if not traffic.startswith("8.2.6"):
        return scenario
    changes = [
        {"at": f"{STEP_S * number} s", "link": "bottleneck", "rate": "2 Mbps" if number % 2 else "10 Mbps"}
        for number in range(1, 5)
    ]
    return scenario.with_({"timeline": changes})


def tcp_share(run: Run) -> float:
    """Goodput of all TCP over the rate of the link in packets of 1040 bytes; nothing if there is none."""
    tcp = [name for name, flows in run.scenario["flows"].items() if "tcp" in flows]
    goodput = sum(run.groups.where(group=name)["goodput_bps"][0] for name in tcp)
    return float(goodput / (1e7 * MSS / PACKET))


def wait_p95_ms(run: Run) -> float:
    """What 95 % of the packets wait at most."""
    return 1e3 * float(run.queues.where(queue="bottleneck")["wait_p95_s"][0])


def mean_wait_ms(run: Run) -> float:
    """What a packet waits."""
    return 1e3 * float(run.queues.where(queue="bottleneck")["mean_wait_s"][0])


def utilisation(run: Run) -> float:
    """Share of the time in which it sends."""
    return float(run.queues.where(queue="bottleneck")["utilisation"][0])


def loss_share(run: Run) -> float:
    """Of what arrives."""
    return float(run.queues.where(queue="bottleneck")["loss_share"][0])


def wait(seen: Measured, queue: str, traffic: str) -> Any:
    """Mean wait in ms."""
    return seen.values("mean_wait_ms", queue=queue, traffic=traffic)


ONE, MEDIUM, UNRESPONSIVE = "5.1.1 one Reno", "8.2.3 medium: 20 flows", "5.3 more datagrams than fit, and Reno"

SCENARIOS = Experiment(
    id="standards/rfc7928",
    title="Queue policies in the scenarios of RFC 7928",
    question="How long do packets wait, and what does that cost of the link?",
    source="RFC 7928, sections 5 to 8",
    variants=tuple(
        variant
        for traffic in TRAFFIC
        for name, queue in queues().items()
        for variant in vary(under(queue, traffic), queue=name, traffic=traffic)
    ),
    measures={
        "mean_wait_ms": mean_wait_ms,
        "wait_p95_ms": wait_p95_ms,
        "utilisation": utilisation,
        "loss_share": loss_share,
        "tcp_share": tcp_share,
    },
    claims=(
        Claim(
            "A-pie",
            "R",
            "PIE holds the mean wait at its target of 15 ms (RFC 8033, section 4.2), with 20 flows",
            lambda seen: wait(seen, "pie", MEDIUM),
            Value(15, 5),
            published=15,
            note="within 5 ms, which is ours",
        ),
        Claim(
            "A-codel",
            "R",
            "CoDel: packets of one flow wait for less than a tenth of what they do under drop-tail (RFC 8289, section 1)",
            lambda seen: wait(seen, "codel", ONE) - 0.1 * wait(seen, "drop_tail", ONE),
            Inequality("<", 0),
            note="the tenth is ours: the document says persistently full queues do not stand",
        ),
        Claim(
            "A-codel-used",
            "R",
            "and hardly less of the link is used: nine tenths at least, by 20 flows",
            lambda seen: seen.values("utilisation", queue="codel", traffic=MEDIUM),
            Inequality(">=", 0.9),
            note="the bound is ours",
        ),
        Claim(
            "A-fq_codel",
            "N",
            "FQ-CoDel: beside datagrams that more than fill the link, four Reno flows have their four fifths of it "
            "(RFC 8290, section 1)",
            lambda seen: seen.values("tcp_share", queue="fq_codel", traffic=UNRESPONSIVE),
            Value(0.8, 0.02),
            published=0.8,
            note="the rest goes to the datagrams; the tolerance is ours",
        ),
        Claim(
            "A-codel-unresponsive",
            "R",
            "under CoDel alone they have less than a twentieth",
            lambda seen: seen.values("tcp_share", queue="codel", traffic=UNRESPONSIVE),
            Inequality("<", 0.05),
            note="the bound is ours",
            ours=True,
        ),
    ),
    grids=(
        Grid("mean_wait_ms", "traffic", "queue", "Mean wait, ms", best="least"),
        Grid("wait_p95_ms", "traffic", "queue", "95 % of packets wait at most, ms", best="least"),
        Grid("utilisation", "traffic", "queue", "Share of the link that is used"),
        Grid("tcp_share", "traffic", "queue", "Goodput of TCP, over that of a full link of 10 Mbit/s"),
        Grid("loss_share", "traffic", "queue", "Share of packets that are lost", best="least"),
    ),
    panels=(
        (
            Ranking(
                "mean_wait_ms",
                tuple(Line(name, {"queue": name, "traffic": MEDIUM}) for name in queues()),
                "mean wait, ms, 20 flows",
            ),
            Ranking(
                "utilisation", tuple(Line(name, {"queue": name, "traffic": MEDIUM}) for name in queues()), "utilisation, 20 flows"
            ),
        ),
    ),
    left_open=(
        LeftOpen("the link", "10 Mbit/s, 100 ms, room for 500 packets: 0.4 s"),
        LeftOpen("phases", f"{STEP_S} s each, the first of which settles"),
        LeftOpen("number of flows", "5, 20 and 100 where the RFC asks for loss rates: these give them only under some policies"),
        LeftOpen("ECN", "off: what policies would mark they discard, as for most traffic"),
        LeftOpen("sections 5.4, 9 and 10", "not here: LEDBAT is among the pairs, ECN in incast and in the guide to policies"),
    ),
    most_seeds=5,
)

EXPERIMENTS = (SCENARIOS,)
