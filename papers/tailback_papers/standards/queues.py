"""The scenarios of RFC 7928 for every queue policy: queueing delay and utilisation.

Section numbers are the RFC's. `assumptions` lists our values for numbers that it leaves to the experimenter.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import tailback as tb
from tailback.papers import Experiment, Grid, Ranking, Variant, at, lines
from tailback_papers.claims import claims_of
from tailback_papers.standards.members import MSS, PACKET, given, queues, sender

__all__ = ["EXPERIMENTS"]

claim = claims_of(__name__)

RTT = "100 ms"
# Length of a step. The buffer is much larger than the bandwidth-delay product: drop-tail may delay packets by 0.4 s.
STEP_S = 20


def bulk(law: str = "reno", count: int = 1, **rest: Any) -> dict[str, Any]:
    """Flows with unlimited data."""
    start = {"uniform": ["0 s", "1 s"]}
    return {"count": count, "propagation_rtt": RTT, "start": start, "tcp": sender(law), **rest}


# Section, and senders.
TRAFFIC: dict[str, dict[str, Any]] = {
    "5.1.1 one Reno": {"reno": bulk()},
    "5.1.2 first windows of 3 and 10": {"three": {**bulk(), "tcp": sender("reno", initial_window=3)}, "ten": bulk()},
    "5.2 one CUBIC": {"cubic": bulk("cubic")},
    "5.3 more datagrams than fit, and Reno": {
        "datagrams": {"source": {"kind": "constant", "rate": "12 Mbps", "packet_size": "1000 B"}},
        "reno": bulk(count=4),
    },
    "5.4 LEDBAT and Reno": {"ledbat": bulk("ledbat"), "reno": bulk()},
    "6.2 round trips of 5 to 560 ms": {"reno": {**bulk(count=10), "propagation_rtt": {"uniform": ["15 ms", "560 ms"]}}},
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
            "propagation_rtt": RTT,
            "arrivals": {"mean_interval": "500 ms"},
            "size": {"bounded_pareto": {"shape": 1.2, "lowest": "5 kB", "highest": "1 MB"}},
            "tcp": sender("reno"),
        },
        "video": {
            "source": {"kind": "on_off", "rate": "8 Mbps", "packet_size": "1000 B", "mean_on": "20 ms", "mean_off": "180 ms"}
        },
        "call": {"source": {"kind": "constant", "rate": "87 kbps", "packet_size": "200 B"}},
        "bulk": bulk(),
    },
    "9.1 mix: bulk, web, a call, datagrams, streams": {
        "bulk": bulk(count=2),
        "web": {
            "propagation_rtt": RTT,
            "arrivals": {"mean_interval": "500 ms"},
            "size": {"bounded_pareto": {"shape": 1.2, "lowest": "5 kB", "highest": "1 MB"}},
            "tcp": sender("reno"),
        },
        "call": {"source": {"kind": "constant", "rate": "87 kbps", "packet_size": "200 B"}},
        "datagrams": {"source": {"kind": "constant", "rate": "1 Mbps", "packet_size": "1000 B"}},
        "streams": {
            "count": 2,
            "propagation_rtt": RTT,
            # Chunks of video, in bursts of five times a stream's rate.
            "application": {"kind": "on_off", "rate": "5 Mbps", "mean_on": "200 ms", "mean_off": "800 ms"},
            "tcp": sender("reno"),
        },
    },
    "9.2 both ways: 5 flows each": {"there": bulk(count=5), "back": {**bulk(count=5), "from": "right", "to": "left"}},
    "10.2 two queues in a row": {
        "through": bulk(count=5),
        "first": {**bulk(count=5), "to": "n1"},
        "second": {**bulk(count=5), "from": "n1"},
    },
    "4.4 packets of 300 and 1500 bytes": {
        "small": {**bulk(count=5), "tcp": sender("reno", mss="260 B")},
        "large": {**bulk(count=5), "tcp": sender("reno", mss="1460 B")},
    },
    "4.5 ECN, 20 flows": {"reno": {**bulk(count=20), "tcp": sender("reno", ecn=True)}},
}


# Parts of the RFC that are not among these scenarios, and their coverage.
SECTIONS = {
    "2, metrics": "goodput (2.5), queueing delay (2.6) and losses (2.3) are measured, and the tables of queueing delay next to "
    "those of utilisation show 2.7; flow completion and start-up times (2.1, 2.2) and the synchronisation of losses (2.4) are "
    "not measured",
    "3 and 4, setup": "a dumbbell (3.1), one buffer for all (3.2), Reno and CUBIC (3.3); scheduling (4.6) is fq_codel, fq_pie "
    "and dualpi2",
    "8.3, sensitivity": (
        "sensitivity of a policy to its settings: not covered; each policy has the settings that its source gives"
    ),
    "11 and 12": "cost of an implementation and settings for operators: not simulated",
}


def under(queue: str, traffic: str) -> tb.Scenario:
    """A link of 10 Mbit/s, or two in a row for section 10, with the named queue policy."""
    settings = queues()[queue]
    rest: Any = {
        "name": f"standards, {queue}, {traffic}",
        "rate": "10 Mbps",
        "delay": "5 ms",
        "queue": settings,
        "flows": TRAFFIC[traffic],
        "duration": f"{5 * STEP_S} s",
        "warmup": f"{STEP_S} s",
        "record": {"delay_percentiles": True},
    }
    match traffic.split()[0]:
        case "8.2.6":
            changes = [
                {"at": f"{STEP_S * number} s", "link": "bottleneck", "rate": "2 Mbps" if number % 2 else "10 Mbps"}
                for number in range(1, 5)
            ]
            return tb.dumbbell(**rest, timeline=changes)
        case "9.2":
            return tb.dumbbell(**rest | {"reverse": {"queue": settings}})
        case "10.2":
            return tb.parking_lot(**rest, hops=2)
        case _:
            return tb.dumbbell(**rest)


def measured(run: tb.Run, column: str) -> float:
    """The measured queue: the only one, the one in the forward direction, or the second."""
    return run.value(f"queues.{'hop2' if 'hop2' in run.queues['queue'] else 'bottleneck'}.{column}")


def tcp_share(run: tb.Run) -> float:
    """Goodput of all TCP flows through that queue divided by the rate of the link in packets of 1040 bytes; None without TCP."""
    elsewhere = ("back", "first")
    tcp = [name for name, flows in run.scenario["flows"].items() if "tcp" in flows and name not in elsewhere]
    goodput = sum(run.groups.where(group=name)["goodput_bps"][0] for name in tcp)
    return float(goodput / (1e7 * MSS / PACKET))


def mean_wait_ms(run: tb.Run) -> float:
    """Mean queueing delay."""
    return 1e3 * measured(run, "mean_wait_s")


ONE, MEDIUM, UNRESPONSIVE = "5.1.1 one Reno", "8.2.3 medium: 20 flows", "5.3 more datagrams than fit, and Reno"

SCENARIOS = Experiment(
    id="standards/rfc7928",
    title="Queue policies in the scenarios of RFC 7928",
    question="How long is the queueing delay, and how much utilisation does it cost?",
    source="RFC 7928, sections 4.4, 4.5 and 5 to 10",
    variants=tuple(
        Variant({"queue": name, "traffic": traffic}, under(name, traffic)) for traffic in TRAFFIC for name in queues()
    ),
    measures={
        "mean_wait_ms": mean_wait_ms,
        "wait_p95_ms": lambda run: 1e3 * measured(run, "wait_p95_s"),
        "utilisation": partial(measured, column="utilisation"),
        "loss_rate": partial(measured, column="loss_rate"),
        "tcp_share": tcp_share,
    },
    claims=(
        claim("A-pie", at("mean_wait_ms", queue="pie", traffic=MEDIUM).equals(15, 5)),
        claim(
            "A-codel", at("mean_wait_ms", queue="codel", traffic=ONE) < 0.1 * at("mean_wait_ms", queue="drop_tail", traffic=ONE)
        ),
        claim("A-codel-used", at("utilisation", queue="codel", traffic=MEDIUM) >= 0.9),
        claim("A-fq_codel", at("tcp_share", queue="fq_codel", traffic=UNRESPONSIVE).equals(0.8, 0.02)),
        claim("A-codel-unresponsive", at("tcp_share", queue="codel", traffic=UNRESPONSIVE) < 0.05),
    ),
    grids=(
        Grid("mean_wait_ms", "traffic", "queue", "Mean queueing delay, ms", best="min"),
        Grid("wait_p95_ms", "traffic", "queue", "95th percentile of the queueing delay, ms", best="min"),
        Grid("utilisation", "traffic", "queue", "Utilisation"),
        Grid("tcp_share", "traffic", "queue", "Goodput of TCP, divided by that of a full link of 10 Mbit/s"),
        Grid("loss_rate", "traffic", "queue", "Fraction of packets lost", best="min"),
    ),
    panels=(
        (
            Ranking("mean_wait_ms", lines("queue", tuple(queues()), traffic=MEDIUM), "mean queueing delay, ms, 20 flows"),
            Ranking("utilisation", lines("queue", tuple(queues()), traffic=MEDIUM), "utilisation, 20 flows"),
        ),
    ),
    assumptions={
        "the link": "10 Mbit/s, 100 ms, buffer of 500 packets: 0.4 s",
        "phases": f"{STEP_S} s each, the first of which is warm-up",
        "number of flows": "5, 20 and 100 where the RFC requires loss rates, which these numbers cause only under some policies",
        "ECN": "off except in 4.5: policies discard instead of marking, as for most traffic; the policer always discards",
        "settings": f"defaults, except {given()}",
        **{f"section {section}": covered for section, covered in SECTIONS.items()},
    },
    max_seeds=5,
)

EXPERIMENTS = (SCENARIOS,)
