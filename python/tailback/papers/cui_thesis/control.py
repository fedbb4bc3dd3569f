"""Section 5.3.2 at work, an experiment of our own: sources of MaxNet, RCP, XCP and REM, told by numbers and by marks."""

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
    """Queues and sources that belong together, and how prices travel between them."""

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
    "maxnet adpm one bit": System("MaxNet, ADPM there and back", MAXNET, MAXNET_SOURCE, {**COSTS, "feedback": "one_bit"}),
    "rcp": System("RCP", RCP, "rcp"),
    "rcp adpm": System("RCP, ADPM", RCP, "rcp", RATES),
    "rcp adpm one bit": System("RCP, ADPM there and back", RCP, "rcp", {**RATES, "feedback": "one_bit"}),
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
    """A sender of it."""
    return {"preset": "newreno", "controller": system.law}


def told(scenario: Scenario, system: System) -> Scenario:
    """With its prices."""
    return scenario if system.prices is None else scenario.with_({"prices": dict(system.prices)})


# A parking lot: one flow over four links, and one over each.
HOPS = 4
# Seconds at the end of a run that are measured, and lengths of runs.
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
    return told(scenario, system)


# A random graph, the same in all runs: a ring, so that it hangs together, and chords.
NODES, EDGES, FLOWS = 50, 100, 500
GRAPH_S = 30
GRAPH_MEASURED_S = 10


def graph(system: System) -> Scenario:
    """Flows between random nodes, which start within two seconds."""
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
    return told(scenario, system)


# Transfers that come and go, of half the link, beside flows that stay.
STAYING, TRANSFERS = 4, 300
TRANSFER_BYTES = 100_000
ARRIVALS_S = 60


def arrivals(system: System) -> Scenario:
    """Transfers begin at any time from 5 s on, and take half of what the link carries meanwhile."""
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
    return told(scenario.with_({"topology.dumbbell.queue": {"buffer": "1000 packets", **system.queue}}), system)


def spread(fairness: float) -> float:
    """Standard deviation over mean of rates over fair rates, of their Jain's index."""
    return math.sqrt(max(1 / fairness - 1, 0.0))


def off_max_min(run: Run) -> float:
    """How widely rates over max-min fair ones are spread."""
    return spread(run.fairness().max_min.fairness)


def off_proportional(run: Run) -> float:
    """How widely rates over proportionally fair ones are spread."""
    return spread(run.fairness().proportional.fairness)


def utilisation(run: Run) -> float:
    """Of the link that is used most."""
    return float(np.max(run.queues["utilisation"]))


def longest_queue(run: Run) -> float:
    """Packets."""
    return float(np.max(run.queues["max_queue_units"]))


def discarded(run: Run) -> float:
    """Packets of all queues."""
    return float(np.sum(run.queues["dropped_units"]))


def completion(run: Run) -> float:
    """Of the transfers that came, the median in milliseconds; those that do not complete take for ever."""
    coming = run.flows.where(group="coming")["completion_time_s"]
    return float(1e3 * np.median(np.where(np.isnan(coming), np.inf, coming)))


def staying(run: Run) -> float:
    """How widely the rates of the flows that stay are spread."""
    rates = run.flows.where(group="staying")["goodput_bps"]
    return float(np.std(rates) / np.mean(rates))


def variants(make: Callable[[System], Scenario], systems: Mapping[str, System]) -> tuple[Variant, ...]:
    """Of each system."""
    return tuple(Variant({"system": name}, make(system)) for name, system in systems.items())


def of(measure: str, system: str, **labels: Any) -> Callable[[Measured], Values]:
    """What was measured of a system."""
    return lambda results: results.values(measure, system=system, **labels)


def more(measure: str, system: str, other: str) -> Callable[[Measured], Values]:
    """How much more of it one has than another."""

    def values(results: Measured) -> Values:
        found: Values = results.values(measure, system=system) - results.values(measure, system=other)
        return found

    return values


def lines(systems: Mapping[str, System]) -> tuple[Line, ...]:
    """One of each; what travels by marks is dashed."""
    return tuple(Line(system.title, {"system": name}, dashed=system.prices is not None) for name, system in systems.items())


OWN = Assumption(
    "all of it",
    "the document says that ADPM suits MaxNet and RCP, and simulates neither; networks, gains and ranges are ours: 20 Mb/s, "
    f"prices from 0 to 6 (MaxNet), rates from 10 kb/s to {FASTEST} (RCP), a target of {TARGET:.0%}",
)

LOT = Experiment(
    id="cui-thesis/control-lot",
    title="Own: how fast sources that go by prices become fair",
    question="How long after they start have flows on a parking lot their fair rates, and what does it cost to estimate prices?",
    source="section 5.3.2; an experiment of ours",
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
            note="spread of rates over fair rates in the 40th second; bounds here and below are ours",
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
            note="of a flow that another queue limits, shuffling takes a little (Low, Andrew and Wydrowski, INFOCOM 2005)",
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
            "MaxNet told by ADPM is nearly max-min fair",
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
    question="Does a whole network become fair by the price that marks tell, and how much is lost against numbers?",
    source="section 5.3.2; an experiment of ours",
    variants=variants(graph, SYSTEMS),
    measures={
        "max_min": off_max_min,
        "proportional": off_proportional,
        "queue": longest_queue,
        "discarded": discarded,
    },
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
            "RCP told by ADPM is nearly max-min fair",
            of("max_min", "rcp adpm"),
            Inequality("<", 0.1),
            ours=True,
        ),
        Claim(
            "control-graph.maxnet-adpm",
            "not_reproduced",
            "MaxNet told by ADPM is nearly max-min fair",
            of("max_min", "maxnet adpm"),
            Inequality("<", 0.1),
            ours=True,
        ),
        Claim(
            "control-graph.sums",
            "reproduced",
            "to estimate the sum of prices by RAM costs more than to estimate the largest by ADPM",
            lambda results: results.values("proportional", system="rem ram") - results.values("max_min", system="rcp adpm"),
            Inequality(">", 0.0),
            note="spread of REM's sources told by RAM less that of RCP told by ADPM, each about its own fair rates",
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
    title="Own: sources that go by prices while others come and go",
    question="Do prices keep queues short and transfers quick where flows come and go, told by numbers and by marks?",
    source="section 5.3.2; an experiment of ours",
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
            note="medians in ms, Reno's less RCP's",
            ours=True,
        ),
        Claim(
            "control-arrivals.rcp-adpm",
            "reproduced",
            "also where marks tell the rate",
            more("completion", "reno", "rcp adpm"),
            Inequality(">", 0.0),
            ours=True,
        ),
        Claim(
            "control-arrivals.fair",
            "reproduced",
            "those that stay share alike, whatever their round trips",
            lambda results: np.max(
                [results.values("staying", system=system) for system in ("maxnet", "rcp", "rcp adpm")], axis=0
            ),
            Inequality("<", 0.05),
            note="spread of four rates, of MaxNet, RCP and RCP told by ADPM the largest",
            ours=True,
        ),
        Claim(
            "control-arrivals.reno", "reproduced", "with Reno they do not", of("staying", "reno"), Inequality(">", 0.1), ours=True
        ),
        Claim(
            "control-arrivals.loss",
            "reproduced",
            "nothing is lost with RCP and XCP by numbers",
            lambda results: results.values("discarded", system="rcp") + results.values("discarded", system="xcp"),
            Value(0.0, 0.0),
            ours=True,
        ),
    ),
    panels=(
        (
            Ranking("completion", lines(COMING), "median completion time (ms)"),
            Ranking("staying", lines(COMING), "spread of the rates that stay"),
        ),
        (Ranking("queue", lines(COMING), "longest queue (packets)"), Ranking("utilisation", lines(COMING), "utilisation")),
    ),
    assumptions=(OWN,),
)

EXPERIMENTS = (LOT, GRAPH, ARRIVING)
