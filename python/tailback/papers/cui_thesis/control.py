"""Section 5.3.2 in a closed loop (not in the document): MaxNet, RCP, XCP and REM with explicit prices and with marks."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from tailback._run import Run
from tailback._scenario import Scenario
from tailback._topologies import dumbbell
from tailback.papers import Assumption, Claim, Curves, Experiment, Inequality, Line, Measured, Ranking, Value, Values, Variant

__all__ = ["EXPERIMENTS"]

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


def with_prices(scenario: Scenario, system: System) -> Scenario:
    """Settings that carry prices to the sender."""
    return scenario if system.prices is None else scenario.with_({"prices": dict(system.prices)})


# A parking lot: one flow over four links, and one over each.
HOPS = 4
# Measured seconds at the end of a run, and lengths of runs.
MEASURED_S = 1
TIMES_S = (2, 3, 5, 10, 20, 40)


def lot(system: System, seconds: int) -> Scenario:
    """All flows start within the first tenth of a second."""
    start = {"uniform": ["0 ms", "100 ms"]}
    ends = {"long": ("n0", f"n{HOPS}"), **{f"short{hop}": (f"n{hop - 1}", f"n{hop}") for hop in range(1, HOPS + 1)}}
    scenario = Scenario(
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
GRAPH_S = 30
GRAPH_MEASURED_S = 10


def graph(system: System) -> Scenario:
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
    scenario = Scenario(
        {
            "name": f"{system.title} on a random graph",
            "duration": f"{GRAPH_S} s",
            "warmup": f"{GRAPH_S - GRAPH_MEASURED_S} s",
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


def arrivals(system: System) -> Scenario:
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
    scenario = dumbbell(
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


def off_max_min(run: Run) -> float:
    """Spread of rates about the max-min fair rates."""
    return spread(run.fairness().max_min.fairness)


def off_proportional(run: Run) -> float:
    """Spread of rates about the proportionally fair rates."""
    return spread(run.fairness().proportional.fairness)


def utilisation(run: Run) -> float:
    """Utilisation of the most used link."""
    return float(np.max(run.queues["utilisation"]))


def longest_queue(run: Run) -> float:
    """Longest queue, in packets."""
    return float(np.max(run.queues["max_queue_units"]))


def discarded(run: Run) -> float:
    """Packets discarded by all queues."""
    return float(np.sum(run.queues["dropped_units"]))


def completion(run: Run) -> float:
    """Median completion time of the transfers that arrived, in milliseconds; infinite for incomplete transfers."""
    coming = run.flows.where(group="coming")["completion_time_s"]
    return float(1e3 * np.median(np.where(np.isnan(coming), np.inf, coming)))


def staying(run: Run) -> float:
    """Spread of the rates of permanent flows."""
    rates = run.flows.where(group="staying")["goodput_bps"]
    return float(np.std(rates) / np.mean(rates))


def variants(make: Callable[[System], Scenario], systems: Mapping[str, System]) -> tuple[Variant, ...]:
    """The variants of each system."""
    return tuple(Variant({"system": name}, make(system)) for name, system in systems.items())


def of(measure: str, system: str, **labels: Any) -> Callable[[Measured], Values]:
    """A measure of a system."""
    return lambda results: results.values(measure, system=system, **labels)


def more(measure: str, system: str, other: str) -> Callable[[Measured], Values]:
    """Difference of a measure between two systems."""

    def values(results: Measured) -> Values:
        found: Values = results.values(measure, system=system) - results.values(measure, system=other)
        return found

    return values


def lines(systems: Mapping[str, System]) -> tuple[Line, ...]:
    """One line per system; dashed if prices are encoded in marks."""
    return tuple(Line(system.title, {"system": name}, dashed=system.prices is not None) for name, system in systems.items())


OWN = Assumption(
    "the whole experiment",
    "the document says that ADPM suits MaxNet and RCP, and simulates neither; networks, gains and ranges are our choice: 20 "
    f"Mb/s, prices from 0 to 6 (MaxNet), rates from 10 kb/s to {FASTEST} (RCP), a target of {TARGET:.0%}",
)

LOT = Experiment(
    id="cui-thesis/control-lot",
    title="Own: convergence of price-based sources to fairness",
    question="How soon do flows on a parking lot reach their fair rates, and what is the cost of estimated prices?",
    source="section 5.3.2; the experiment is not in the document",
    variants=tuple(
        Variant({"system": name, "seconds": seconds}, lot(system, seconds))
        for name, system in {**LARGEST, "rem": SUMMED["rem"], "rem ram": SUMMED["rem ram"]}.items()
        for seconds in TIMES_S
    ),
    measures={"max_min": off_max_min, "proportional": off_proportional},
    claims=(
        Claim(
            "control-lot.maxnet",
            "reproduced",
            "MaxNet is max-min fair",
            of("max_min", "maxnet", seconds=TIMES_S[-1]),
            Inequality("<", 0.01),
            note="spread of rates over fair rates in the 40th second; bounds here and below are our choice",
            ours=True,
        ),
        Claim(
            "control-lot.rcp",
            "reproduced",
            "RCP is max-min fair",
            of("max_min", "rcp", seconds=TIMES_S[-1]),
            Inequality("<", 0.02),
            ours=True,
        ),
        Claim(
            "control-lot.xcp",
            "not_reproduced",
            "XCP is max-min fair",
            of("max_min", "xcp", seconds=TIMES_S[-1]),
            Inequality("<", 0.02),
            note="shuffling takes little from a flow that another queue limits (Low, Andrew and Wydrowski, INFOCOM 2005)",
            ours=True,
        ),
        Claim(
            "control-lot.rem",
            "reproduced",
            "sources of REM are proportionally fair",
            of("proportional", "rem", seconds=TIMES_S[-1]),
            Inequality("<", 0.02),
            ours=True,
        ),
        Claim(
            "control-lot.maxnet-adpm",
            "reproduced",
            "MaxNet with prices marked by ADPM is nearly max-min fair",
            of("max_min", "maxnet adpm", seconds=TIMES_S[-1]),
            Inequality("<", 0.05),
            ours=True,
        ),
        Claim(
            "control-lot.adpm-soon",
            "reproduced",
            "within five seconds of the start",
            lambda results: results.values("max_min", system="maxnet adpm", seconds=5),
            Inequality("<", 0.1),
            note="in the fifth second",
            ours=True,
        ),
    ),
    panels=(
        (
            Curves(
                "max_min",
                "seconds",
                lines(LARGEST),
                "spread about max-min rates",
                "seconds after the start",
                log=True,
                log_over=True,
            ),
            Curves(
                "proportional",
                "seconds",
                lines({"rem": SUMMED["rem"], "rem ram": SUMMED["rem ram"]}),
                "spread about proportional rates",
                "seconds after the start",
                log=True,
                log_over=True,
            ),
        ),
    ),
    assumptions=(OWN,),
)

GRAPH = Experiment(
    id="cui-thesis/control-graph",
    title="Own: 500 flows on a random graph of 50 nodes",
    question="Does a whole network become fair with prices encoded in marks, and how much is lost against explicit prices?",
    source="section 5.3.2; the experiment is not in the document",
    variants=variants(graph, SYSTEMS),
    measures={"max_min": off_max_min, "proportional": off_proportional, "queue": longest_queue, "discarded": discarded},
    claims=(
        Claim(
            "control-graph.maxnet",
            "reproduced",
            "MaxNet is max-min fair",
            of("max_min", "maxnet"),
            Inequality("<", 0.02),
            ours=True,
        ),
        Claim("control-graph.rcp", "reproduced", "RCP is max-min fair", of("max_min", "rcp"), Inequality("<", 0.03), ours=True),
        Claim(
            "control-graph.rem",
            "reproduced",
            "sources of REM are proportionally fair",
            of("proportional", "rem"),
            Inequality("<", 0.05),
            ours=True,
        ),
        Claim(
            "control-graph.rcp-adpm",
            "reproduced",
            "RCP with rates marked by ADPM is nearly max-min fair",
            of("max_min", "rcp adpm"),
            Inequality("<", 0.1),
            ours=True,
        ),
        Claim(
            "control-graph.maxnet-adpm",
            "not_reproduced",
            "MaxNet with prices marked by ADPM is nearly max-min fair",
            of("max_min", "maxnet adpm"),
            Inequality("<", 0.1),
            ours=True,
        ),
        Claim(
            "control-graph.sums",
            "reproduced",
            "estimating the sum of prices by RAM costs more than estimating the largest price by ADPM",
            lambda results: results.values("proportional", system="rem ram") - results.values("max_min", system="rcp adpm"),
            Inequality(">", 0.0),
            note="spread of REM's sources with RAM minus that of RCP with ADPM, each about its own fair rates",
            ours=True,
        ),
        Claim(
            "control-graph.reno",
            "reproduced",
            "Reno is neither",
            lambda results: np.minimum(results.values("max_min", system="reno"), results.values("proportional", system="reno")),
            Inequality(">", 0.5),
            ours=True,
        ),
    ),
    panels=(
        (
            Ranking("max_min", lines({**LARGEST, "reno": RENO}), "spread about max-min rates"),
            Ranking("proportional", lines({**SUMMED, "reno": RENO}), "spread about proportional rates"),
        ),
    ),
    assumptions=(
        OWN,
        Assumption(
            "the graph", "a ring and 50 chords, drawn once; flows start within two seconds, the last 10 of 30 s are measured"
        ),
    ),
)

COMING = {name: SYSTEMS[name] for name in ("maxnet", "maxnet adpm", "rcp", "rcp adpm", "xcp", "reno")}

ARRIVING = Experiment(
    id="cui-thesis/control-arrivals",
    title="Own: price-based sources with arriving and departing flows",
    question="Do explicit and marked prices keep queues short and transfers fast if flows arrive and leave?",
    source="section 5.3.2; the experiment is not in the document",
    variants=variants(arrivals, COMING),
    measures={
        "completion": completion,
        "staying": staying,
        "queue": longest_queue,
        "utilisation": utilisation,
        "discarded": discarded,
    },
    claims=(
        Claim(
            "control-arrivals.rcp",
            "reproduced",
            "with RCP transfers take less time than with Reno",
            more("completion", "reno", "rcp"),
            Inequality(">", 0.0),
            note="medians in ms, Reno's minus RCP's",
            ours=True,
        ),
        Claim(
            "control-arrivals.rcp-adpm",
            "reproduced",
            "also if marks encode the rate",
            more("completion", "reno", "rcp adpm"),
            Inequality(">", 0.0),
            ours=True,
        ),
        Claim(
            "control-arrivals.fair",
            "reproduced",
            "permanent flows share equally, whatever their round trips",
            lambda results: np.max(
                [results.values("staying", system=system) for system in ("maxnet", "rcp", "rcp adpm")], axis=0
            ),
            Inequality("<", 0.05),
            note="spread of four rates, the largest of MaxNet, RCP and RCP with ADPM",
            ours=True,
        ),
        Claim(
            "control-arrivals.reno", "reproduced", "with Reno they do not", of("staying", "reno"), Inequality(">", 0.1), ours=True
        ),
        Claim(
            "control-arrivals.loss",
            "reproduced",
            "nothing is lost with RCP and XCP with explicit feedback",
            lambda results: results.values("discarded", system="rcp") + results.values("discarded", system="xcp"),
            Value(0.0, 0.0),
            ours=True,
        ),
    ),
    panels=(
        (
            Ranking("completion", lines(COMING), "median completion time (ms)"),
            Ranking("staying", lines(COMING), "spread of the rates of permanent flows"),
        ),
        (Ranking("queue", lines(COMING), "longest queue (packets)"), Ranking("utilisation", lines(COMING), "utilisation")),
    ),
    assumptions=(OWN,),
)

EXPERIMENTS = (LOT, GRAPH, ARRIVING)
