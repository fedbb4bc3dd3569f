"""Section 5.3.2 in a closed loop (not in the document): MaxNet, RCP, XCP and REM with explicit prices and with marks."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

import tailback as tb
from tailback.papers import Curves, Experiment, Line, Ranking, at, lowest, variants
from tailback_papers.claims import claims_of

__all__ = ["EXPERIMENTS"]

claim = claims_of(__name__)

TARGET = 0.95
FASTEST = "20 Mbps"


@dataclass(frozen=True)
class System:
    """Queues and sources that belong together, and the encoding of prices between them."""

    title: str
    queue: Mapping[str, Any]
    law: str | Mapping[str, Any]
    prices: Mapping[str, Any] | None = None


MAXNET = {"policy": "maxnet", "target": TARGET}
MAXNET_SOURCE = {"kind": "maxnet", "max_rate": FASTEST}
RCP = {"policy": "rcp", "target": TARGET}
REM = {"policy": "rem", "target": "10 packets", "gamma": 1e-4, "mean_packet_size": "1500 B"}
REM_SOURCE = {"kind": "rem", "weight": "1 Mbps", "max_rate": FASTEST}
ADPM: dict[str, Any] = {"scheme": "adpm", "initial_estimate": "max"}
COSTS = {**ADPM, "min_price": 0, "max_price": 6}
RATES = {**ADPM, "min_rate": "10 kbps", "max_rate": FASTEST}
SUMS = {"min_price": 0, "max_price": 2}

# By the largest price of a path, and by the sum.
LARGEST = {
    "maxnet": System("MaxNet", MAXNET, MAXNET_SOURCE),
    "maxnet adpm": System("MaxNet, ADPM", MAXNET, MAXNET_SOURCE, COSTS),
    "maxnet adpm one bit": System("MaxNet, ADPM both ways", MAXNET, MAXNET_SOURCE, {**COSTS, "feedback": "one_bit"}),
    "rcp": System("RCP", RCP, "rcp"),
    "rcp adpm": System("RCP, ADPM", RCP, "rcp", RATES),
    "rcp adpm one bit": System("RCP, ADPM both ways", RCP, "rcp", {**RATES, "feedback": "one_bit"}),
    "xcp": System("XCP", {"policy": "xcp"}, "xcp"),
}
SUMMED = {
    "rem": System("REM", REM, REM_SOURCE),
    "rem ram": System("REM, RAM", REM, REM_SOURCE, {"scheme": "ram", **SUMS}),
    "rem rem": System("REM, marked by REM", REM, REM_SOURCE, {"scheme": "rem", **SUMS}),
    "rem tpm": System("REM, TPM", REM, REM_SOURCE, {"scheme": "tpm", **SUMS}),
}
RENO = System("Reno", {}, "reno")
SYSTEMS = {**LARGEST, **SUMMED, "reno": RENO}


def sender(system: System) -> dict[str, Any]:
    """A sender of the system."""
    return {"preset": "newreno", "controller": system.law}


def with_prices(scenario: tb.Scenario, system: System) -> tb.Scenario:
    """Settings that carry prices to the sender."""
    return scenario if system.prices is None else scenario.with_({"prices": dict(system.prices)})


# A parking lot: one flow over four links, and one over each.
HOPS = 4
# Measured seconds at the end of a run, and lengths of runs.
MEASURED_S = 1
TIMES_S = (2, 3, 5, 10, 20, 40)


def lot(system: System, seconds: int) -> tb.Scenario:
    """All flows start within the first tenth of a second."""
    start = {"uniform": ["0 ms", "100 ms"]}
    ends = {"long": ("n0", f"n{HOPS}"), **{f"short{hop}": (f"n{hop - 1}", f"n{hop}") for hop in range(1, HOPS + 1)}}
    scenario = tb.Scenario(
        {
            "name": f"{system.title} on a parking lot",
            "duration": f"{seconds} s",
            "warmup": f"{seconds - MEASURED_S} s",
            "topology": {
                "parking_lot": {
                    "hops": HOPS,
                    "rate": FASTEST,
                    "delay": "5 ms",
                    "queue": {"buffer": "1000 packets", **system.queue},
                }
            },
            "flows": {
                name: {"from": first, "to": last, "start": start, "tcp": sender(system)} for name, (first, last) in ends.items()
            },
        }
    )
    return with_prices(scenario, system)


# A random graph, the same in all runs: a ring, which makes it connected, and chords.
NODES, EDGES, FLOWS = 50, 100, 500
# Length of a run, also in the quick form, and measured part.
GRAPH_S, QUICK_GRAPH_S = 30, 20
GRAPH_MEASURED_S = 10


def graph(system: System, seconds: int) -> tb.Scenario:
    """Flows between random nodes, starting within two seconds."""
    rng = np.random.default_rng(5)
    edges = {(node, node + 1) for node in range(NODES - 1)} | {(0, NODES - 1)}
    while len(edges) < EDGES:
        first, second = sorted(rng.choice(NODES, 2, replace=False).tolist())
        edges.add((first, second))
    queue = {"buffer": "1000 packets", **system.queue}
    links = {
        f"link{first}-{second}": {
            "from": f"node{first}",
            "to": f"node{second}",
            "rate": FASTEST,
            "delay": f"{rng.integers(1, 6)} ms",
            "queue": queue,
            "reverse": {"queue": queue},
        }
        for first, second in sorted(edges)
    }
    ends = [rng.choice(NODES, 2, replace=False).tolist() for _ in range(FLOWS)]
    flows = {
        f"flow{number}": {
            "from": f"node{first}",
            "to": f"node{last}",
            "start": {"uniform": ["0 s", "2 s"]},
            "tcp": sender(system),
        }
        for number, (first, last) in enumerate(ends)
    }
    scenario = tb.Scenario(
        {
            "name": f"{system.title} on a random graph",
            "duration": f"{seconds} s",
            "warmup": f"{seconds - GRAPH_MEASURED_S} s",
            "nodes": {f"node{node}": {} for node in range(NODES)},
            "links": links,
            "flows": flows,
        }
    )
    return with_prices(scenario, system)


# Transfers that arrive and complete, at half the link's rate, next to permanent flows.
STAYING, TRANSFERS = 4, 300
TRANSFER_BYTES = 100_000
ARRIVALS_S = 60


def arrivals(system: System) -> tb.Scenario:
    """Transfers begin at random times from 5 s on, and carry half of the link's capacity."""
    rtt = {"uniform": ["20 ms", "120 ms"]}
    flows: dict[str, Any] = {
        "staying": {"count": STAYING, "propagation_rtt": rtt, "start": {"uniform": ["0 s", "1 s"]}, "tcp": sender(system)},
        "coming": {
            "count": TRANSFERS,
            "propagation_rtt": rtt,
            "start": {"uniform": ["5 s", f"{ARRIVALS_S - 10} s"]},
            "size": f"{TRANSFER_BYTES} B",
            "tcp": sender(system),
        },
    }
    scenario = tb.dumbbell(
        name=f"{system.title} with arrivals and departures",
        rate=FASTEST,
        delay="5 ms",
        buffer="1000 packets",
        flows=flows,
        duration=f"{ARRIVALS_S} s",
        warmup="5 s",
    )
    return with_prices(scenario.with_({"topology.dumbbell.queue": {"buffer": "1000 packets", **system.queue}}), system)


def spread(fairness: float) -> float:
    """Standard deviation over mean of rates relative to fair rates, derived from their Jain's index."""
    return math.sqrt(max(1 / fairness - 1, 0.0))


def off_max_min(run: tb.Run) -> float:
    """Spread of rates about the max-min fair rates."""
    return spread(run.fairness(compare_red=False).max_min.fairness)


def off_proportional(run: tb.Run) -> float:
    """Spread of rates about the proportionally fair rates."""
    return spread(run.fairness(compare_red=False).proportional.fairness)


def completion(run: tb.Run) -> float:
    """Median completion time of the transfers that arrived, in milliseconds; infinite for incomplete transfers."""
    coming = run.flows.where(group="coming")["completion_time_s"]
    return float(1e3 * np.median(np.where(np.isnan(coming), np.inf, coming)))


def staying(run: tb.Run) -> float:
    """Spread of the rates of permanent flows."""
    rates = run.flows.where(group="staying")["goodput_bps"]
    return float(np.std(rates) / np.mean(rates))


def of_systems(systems: Mapping[str, System]) -> tuple[Line, ...]:
    """One line per system; dashed if prices are encoded in marks."""
    return tuple(Line(system.title, {"system": name}, dashed=system.prices is not None) for name, system in systems.items())


OWN = {
    "the whole experiment": "the document says that ADPM suits MaxNet and RCP, and simulates neither; networks, gains and ranges "
    f"are our choice: 20 Mb/s, prices from 0 to 6 (MaxNet), rates from 10 kb/s to {FASTEST} (RCP), a target of {TARGET:.0%}"
}

LOT = Experiment(
    id="cui-thesis/control-lot",
    title="Own: convergence of price-based sources to fairness",
    question="How soon do flows on a parking lot reach their fair rates, and what is the cost of estimated prices?",
    source="section 5.3.2; the experiment is not in the document",
    variants=variants(
        lambda system, seconds: lot(SYSTEMS[system], seconds), system=(*LARGEST, "rem", "rem ram"), seconds=TIMES_S
    ),
    measures={"max_min": off_max_min, "proportional": off_proportional},
    claims=(
        claim("control-lot.maxnet", at("max_min", system="maxnet", seconds=TIMES_S[-1]) < 0.01),
        claim("control-lot.rcp", at("max_min", system="rcp", seconds=TIMES_S[-1]) < 0.02),
        claim("control-lot.xcp", at("max_min", system="xcp", seconds=TIMES_S[-1]) < 0.02),
        claim("control-lot.rem", at("proportional", system="rem", seconds=TIMES_S[-1]) < 0.02),
        claim("control-lot.maxnet-adpm", at("max_min", system="maxnet adpm", seconds=TIMES_S[-1]) < 0.05),
        claim("control-lot.adpm-soon", at("max_min", system="maxnet adpm", seconds=5) < 0.1),
    ),
    panels=(
        (
            Curves(
                "max_min",
                "seconds",
                of_systems(LARGEST),
                "spread about max-min rates",
                "seconds after the start",
                log=True,
                log_over=True,
            ),
            Curves(
                "proportional",
                "seconds",
                of_systems({"rem": SUMMED["rem"], "rem ram": SUMMED["rem ram"]}),
                "spread about proportional rates",
                "seconds after the start",
                log=True,
                log_over=True,
            ),
        ),
    ),
    assumptions=OWN,
)


# Those that claims compare.
QUICK_SYSTEMS = ("maxnet", "maxnet adpm", "rcp", "rcp adpm", "rem", "rem ram", "reno")


def on_graph(seconds: int, systems: tuple[str, ...]) -> Experiment:
    """The random graph with these systems, and runs of this length."""
    largest, summed = ({name: SYSTEMS[name] for name in systems if name in family} for family in (LARGEST, SUMMED))
    return Experiment(
        id="cui-thesis/control-graph",
        title="Own: 500 flows on a random graph of 50 nodes",
        question="Does a whole network become fair with prices encoded in marks, and how much is lost against explicit prices?",
        source="section 5.3.2; the experiment is not in the document",
        variants=variants(lambda system: graph(SYSTEMS[system], seconds), system=systems),
        measures={
            "max_min": off_max_min,
            "proportional": off_proportional,
            "queue": "max(queues.*.max_queue_units)",
            "discarded": "sum(queues.*.dropped_units)",
        },
        claims=(
            claim("control-graph.maxnet", at("max_min", system="maxnet") < 0.02),
            claim("control-graph.rcp", at("max_min", system="rcp") < 0.03),
            claim("control-graph.rem", at("proportional", system="rem") < 0.05),
            claim("control-graph.rcp-adpm", at("max_min", system="rcp adpm") < 0.1),
            claim("control-graph.maxnet-adpm", at("max_min", system="maxnet adpm") < 0.1),
            claim("control-graph.sums", at("proportional", system="rem ram") > at("max_min", system="rcp adpm")),
            claim(
                "control-graph.reno",
                lowest(at("max_min", system="reno"), at("proportional", system="reno"), each_seed=True) > 0.5,
            ),
        ),
        panels=(
            (
                Ranking("max_min", of_systems({**largest, "reno": RENO}), "spread about max-min rates"),
                Ranking("proportional", of_systems({**summed, "reno": RENO}), "spread about proportional rates"),
            ),
        ),
        assumptions={
            **OWN,
            "the graph": "a ring and 50 chords, drawn once; flows start within two seconds, the last 10 s are measured",
        },
    )


GRAPH = replace(
    on_graph(QUICK_GRAPH_S, QUICK_SYSTEMS),
    max_seeds=4,
    full=on_graph(GRAPH_S, tuple(SYSTEMS)),
    undecided=f"claims whose interval, with four seeds of {QUICK_GRAPH_S} s, includes the bound; the systems without a claim: "
    f"{', '.join(system.title for name, system in SYSTEMS.items() if name not in QUICK_SYSTEMS)}",
)

COMING = {name: SYSTEMS[name] for name in ("maxnet", "maxnet adpm", "rcp", "rcp adpm", "xcp", "reno")}

ARRIVING = Experiment(
    id="cui-thesis/control-arrivals",
    title="Own: price-based sources with arriving and departing flows",
    question="Do explicit and marked prices keep queues short and transfers fast if flows arrive and leave?",
    source="section 5.3.2; the experiment is not in the document",
    variants=variants(lambda system: arrivals(SYSTEMS[system]), system=tuple(COMING)),
    measures={
        "completion": completion,
        "staying": staying,
        "queue": "max(queues.*.max_queue_units)",
        "utilisation": "max(queues.*.utilisation)",
        "discarded": "sum(queues.*.dropped_units)",
    },
    claims=(
        claim("control-arrivals.rcp", at("completion", system="reno") > at("completion", system="rcp")),
        claim("control-arrivals.rcp-adpm", at("completion", system="reno") > at("completion", system="rcp adpm")),
        claim("control-arrivals.fair", at("staying", system=("maxnet", "rcp", "rcp adpm")).max(each_seed=True) < 0.05),
        claim("control-arrivals.reno", at("staying", system="reno") > 0.1),
        claim("control-arrivals.loss", (at("discarded", system="rcp") + at("discarded", system="xcp")).equals(0.0)),
    ),
    panels=(
        (
            Ranking("completion", of_systems(COMING), "median completion time (ms)"),
            Ranking("staying", of_systems(COMING), "spread of the rates of permanent flows"),
        ),
        (
            Ranking("queue", of_systems(COMING), "longest queue (packets)"),
            Ranking("utilisation", of_systems(COMING), "utilisation"),
        ),
    ),
    assumptions=OWN,
)

EXPERIMENTS = (LOT, GRAPH, ARRIVING)
