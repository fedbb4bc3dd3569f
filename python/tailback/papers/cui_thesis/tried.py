"""Chapter 3 by packets: the closed loop and the sizing rules, tried (sections 3.7 and 3.8)."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from tailback._run import Run
from tailback._simulation import simulate
from tailback._topologies import dumbbell
from tailback.papers import (
    Choice,
    Claim,
    Computation,
    Curves,
    Experiment,
    Inequality,
    LeftOpen,
    Line,
    Measured,
    Values,
    vary,
)
from tailback.papers.cui_thesis import sizing, tables
from tailback.papers.cui_thesis.closed_loop import MODELS, trunk_of_tcp
from tailback.papers.cui_thesis.packets import (
    EDGES,
    GBPS,
    LENGTH,
    NAME,
    SENDERS,
    TRUNK,
    flows_at,
    log10_loss,
    switch,
    utilisation,
)

if TYPE_CHECKING:
    from tailback._scenario import Scenario

__all__ = ["CLOSED_LOOP", "SIZING"]

# Section 3.7: links of a trunk.
LINKS = (1, 4, 16)
# Input trunks and places of each figure, and kinds of its three claims.
CASES: dict[str, tuple[int, int]] = {
    "3.42": (2, 0),
    "3.43": (2, 1),
    "3.44": (2, 10),
    "3.45": (16, 0),
    "3.46": (16, 1),
    "3.47": (16, 10),
}
KINDS: dict[str, tuple[Any, Any, Any]] = {
    "3.42": ("R", "N", "N"),
    "3.43": ("R", "N", "R"),
    "3.44": ("R", "R", "R"),
    "3.45": ("R", "N", "N"),
    "3.46": ("R", "N", "R"),
    "3.47": ("N", "N", "R"),
}
# Of the claims on other loss models: EB and EBD, and M/M/K/(K+B).
OTHERS: dict[str, tuple[Any, Any]] = {
    "3.42": ("N", "R"),
    "3.43": ("N", "R"),
    "3.44": ("R", "R"),
    "3.45": ("N", "N"),
    "3.46": ("N", "N"),
    "3.47": ("N", "N"),
}


def simulated(number: str, inputs_per_link: int, buffer: int, links: tuple[int, ...], rate_gbps: float) -> Experiment:
    """One of figures 3.42 to 3.47 by packets."""

    def trunk(count: int) -> tuple[int, int, int, int, float]:
        return (inputs_per_link * count, count, buffer, flows_at(rate_gbps, count), rate_gbps * GBPS)

    def of(seen: Measured, by: str) -> Values:
        return np.array([seen.values("utilisation", links=count, by=by) for count in links])

    def distance(seen: Measured, by: str) -> Values:
        farthest: Values = np.abs(of(seen, by) - of(seen, NAME)).max(axis=0)
        return farthest

    def farther(*models: str) -> Callable[[Measured], Values]:
        """By how much the nearest of these models is farther from the simulation than G1DM."""
        return lambda seen: np.min([distance(seen, model) for model in models], axis=0) - distance(seen, "G1DM")

    points, relative, conservative = KINDS[number]
    bursts, poisson = OTHERS[number]
    return Experiment(
        id=f"cui-thesis/fig{number}-packets",
        title=f"Figure {number} by packets: {inputs_per_link} input trunks, buffer {buffer}",
        question="Is the closed loop with G1DM never more than 7 % from the simulation, and never above it?",
        source=f"figure {number}, section 3.7.2",
        variants=tuple(
            variant
            for count in links
            for variant in (
                *vary(switch(*trunk(count)), links=count, by=NAME),
                *(
                    variant
                    for model in MODELS
                    for variant in vary(
                        Computation(trunk_of_tcp, {"model": model, **dict(zip(TRUNK, trunk(count), strict=True))}),
                        links=count,
                        by=model,
                    )
                ),
            )
        ),
        measures={"utilisation": utilisation, "log10_loss": log10_loss},
        claims=(
            Claim(
                f"C-{number}.1",
                points,
                "the closed loop with G1DM is never more than 7 points from the simulation",
                lambda seen: distance(seen, "G1DM"),
                Inequality("<=", 0.07),
                note="the largest distance",
            ),
            Claim(
                f"C-{number}.1b",
                relative,
                "the closed loop with G1DM is never more than 7 % of the utilisation from the simulation",
                lambda seen: np.abs(of(seen, "G1DM") / of(seen, NAME) - 1).max(axis=0),
                Inequality("<=", 0.07),
                note="the largest distance; which of the two is meant is not said",
            ),
            Claim(
                f"C-{number}.2p",
                "R",
                "with EBI it is about as good: no farther from the simulation, but for a point",
                farther("EBI"),
                Inequality("<=", 0.01),
                note="by how much it is farther; the point is ours",
            ),
            Claim(
                f"C-{number}.2bp",
                bursts,
                "with EB or EBD it is clearly worse: farther from the simulation, by two points and more",
                farther("EB", "EBD"),
                Inequality(">=", 0.02),
                note="by how much the better of the two is farther; the points are ours",
            ),
            Claim(
                f"C-{number}.2cp",
                poisson,
                "with M/M/K/(K+B) it is clearly worse: farther from the simulation, by two points and more",
                farther("M/M/K/(K+B)"),
                Inequality(">=", 0.02),
                note="by how much it is farther; the points are ours",
            ),
            Claim(
                f"C-{number}.3",
                conservative,
                "the closed loop is conservative: below the simulation",
                lambda seen: (of(seen, "G1DM") - of(seen, NAME)).max(axis=0),
                Inequality("<=", 0),
                note="the most by which it is above",
            ),
        ),
        panels=(
            (
                Curves(
                    "utilisation",
                    "links",
                    (Line("packets", {"by": NAME}), *(Line(f"closed loop with {by}", {"by": by}, dashed=True) for by in MODELS)),
                    "utilisation",
                    "links of a trunk",
                    log_over=True,
                ),
            ),
        ),
        left_open=(SENDERS, EDGES, LENGTH, LeftOpen("round trips", "uniform on 60 to 180 ms")),
    )


CLOSED_LOOP = tuple(
    replace(
        simulated(number, *case, links=LINKS[:2], rate_gbps=2.0),
        full=simulated(number, *case, links=LINKS, rate_gbps=40.0),
        undecided="trunks of 16 links, and links of 40 Gb/s with 4000 flows each; here they have 2 Gb/s and 200",
    )
    for number, case in CASES.items()
)

# Section 3.8.1: with the buffer that (3.23) asks for, the utilisation.
TARGETS = (0.6, 0.8)
CONSERVATIVE: dict[str, Any] = {"3.1": "R", "3.2": "R", "3.3": "R", "3.4": "R"}


def sized(number: str, targets: tuple[float, ...], scale: float, most_links: int) -> Experiment:
    """A table's trunks with the buffers that (3.23) asks for, rates and flows scaled."""
    rows = [
        row for row in tables.table(number) if row.rule == "(3.23)" and row.target in targets and row.transmitters <= most_links
    ]

    def trunk(row: tables.Entry) -> Scenario:
        # The harmonic mean of round trips that are uniform on a half to three halves of something is 1 / ln 3 of it.
        middle_ms = 1000 * row.rtt_s * math.log(3)
        return switch(
            row.inputs,
            row.transmitters,
            row.printed,
            round(row.flows * scale),
            40 * scale * GBPS,
            rtt={"uniform": [f"{0.5 * middle_ms:.6g} ms", f"{1.5 * middle_ms:.6g} ms"]},
        )

    def lacks(seen: Measured) -> Values:
        of_rows = [(row.target or 0.0) - seen.values("utilisation", case=case(row), target=row.target or 0.0) for row in rows]
        worst: Values = np.max(of_rows, axis=0)
        return worst

    return Experiment(
        id=f"cui-thesis/table{number}-packets",
        title=f"Table {number} by packets: what (3.23) asks for, tried",
        question="Is the rule conservative: does the printed buffer reach the target?",
        source=f"table {number}, section 3.8.1",
        variants=tuple(variant for row in rows for variant in vary(trunk(row), case=case(row), target=row.target or 0.0)),
        measures={"utilisation": utilisation, "log10_loss": log10_loss},
        claims=(
            Claim(
                f"C-3.48.1-table{number}",
                CONSERVATIVE[number],
                "the actual utilisation is at least the target in all cases",
                lacks,
                Inequality("<=", 0),
                note="by how much it falls short where it does most",
            ),
        ),
        panels=(
            (
                Curves(
                    "utilisation",
                    "target",
                    tuple(Line(name, {"case": name}) for name in dict.fromkeys(case(row) for row in rows)),
                    "utilisation",
                    "target",
                ),
            ),
        ),
        left_open=(
            SENDERS,
            EDGES,
            LENGTH,
            LeftOpen("round trips", "uniform on a half to three halves of what makes the harmonic mean the table's"),
        ),
        most_seeds=6,
    )


def case(row: tables.Entry) -> str:
    """What tells a row of a table from the others."""
    return f"M = {row.inputs}, K = {row.transmitters}, N = {row.flows}, {1000 * row.rtt_s:g} ms"


# Section 3.8.2: a link of 4000 packets of 500 bytes a second.
LINK_FLOWS = (10, 30, 100)
# Ten flows use no buffer of ten products to 99.9 %.
FEW = {"3.55": (30, 100)}
LINK_SECONDS = 120
# Ten bandwidth-delay products.
MOST_PLACES = 4000
LINK_TARGETS = {"3.52": 0.75, "3.53": 0.95, "3.54": 0.99, "3.55": 0.999}
# Kinds: (3.27) is never below the requirement; Appenzeller's rule is nearer to it than (3.27).
LINK_KINDS: dict[str, tuple[Any, Any]] = {"3.52": ("R", "N"), "3.53": ("N", "N"), "3.54": ("N", "N"), "3.55": ("R", "N")}


def single(flows: int, buffer: int) -> Scenario:
    """Paced flows of 100 ms over access links of half the rate."""
    group: Any = {
        "count": flows,
        "rtt": {"uniform": ["50 ms", "150 ms"]},
        "start": {"uniform": ["0 s", "1 s"]},
        "sender_access": {"rate": "8 Mbps"},
        "tcp": {"preset": "newreno", "mss": "460 B", "delayed_ack": False, "pacing": True},
    }
    return dumbbell(
        name=f"cui-thesis, {flows} flows on 16 Mb/s",
        rate="16 Mbps",
        delay="5 ms",
        buffer=f"{buffer} packets",
        flows={"tcp": group},
        duration=f"{LINK_SECONDS} s",
        warmup=f"{LINK_SECONDS // 4} s",
    )


def least_buffer(flows: int, target: float, seed: int) -> dict[str, float]:
    """The smallest buffer with which the link is used so far, to 5 %; NaN if ten products are not enough."""

    def is_enough(buffer: int) -> bool:
        run = simulate(single(flows, buffer), seed)
        return float(run.queues.where(queue="bottleneck")["utilisation"][0]) >= target

    too_few, enough = -1, 1
    while not is_enough(enough):
        too_few, enough = enough, 2 * enough
        if enough > MOST_PLACES:
            return {"buffer": math.nan}
    while enough - too_few > max(1, enough // 20):
        middle = (too_few + enough) // 2
        too_few, enough = (too_few, middle) if is_enough(middle) else (middle, enough)
    return {"buffer": float(enough)}


def needed(number: str) -> Experiment:
    """One of figures 3.52 to 3.55 by packets."""
    target = LINK_TARGETS[number]
    crowds = FEW.get(number, LINK_FLOWS)

    def least(seen: Measured, by: str) -> Values:
        return np.array([seen.values("buffer", by=by, flows=count) for count in crowds])

    def off(seen: Measured, rule: str) -> Values:
        distances: Values = np.abs(np.log(least(seen, rule) / least(seen, NAME)))
        return distances

    above, nearer = LINK_KINDS[number]
    return Experiment(
        id=f"cui-thesis/fig{number}-packets",
        title=f"Figure {number} by packets: the least buffer for {100 * target:g} %",
        question="How do the rules compare with the smallest buffer that reaches the target?",
        source=f"figure {number}, section 3.8.2",
        variants=tuple(
            variant
            for count in crowds
            for variant in (
                *vary(Computation(least_buffer, {"flows": count, "target": target}), flows=count, by=NAME),
                *vary(
                    Computation(sizing.required_of_link, {"flows": count, "target": target}),
                    [Choice({"by": rule}, {"rule": rule}) for rule in ("(3.27)", "Appenzeller")],
                    flows=count,
                ),
            )
        ),
        measures={"buffer": sizing.buffer},
        claims=(
            Claim(
                f"C-{number}.3",
                above,
                "(3.27) is never below the simulated requirement",
                lambda seen: (least(seen, NAME) - least(seen, "(3.27)")).max(axis=0),
                Inequality("<=", 0),
                note="by how many packets it is, at most",
            ),
            Claim(
                f"C-{number}.4",
                nearer,
                "Appenzeller's rule is nearer to the simulated requirement than (3.27)",
                lambda seen: (off(seen, "Appenzeller") - off(seen, "(3.27)")).max(axis=0),
                Inequality("<", 0),
                note="difference of the distances of logarithms, where it is least so; said of targets above 95 %",
            ),
        ),
        panels=(
            (
                Curves(
                    "buffer",
                    "flows",
                    tuple(Line(name, {"by": name}, dashed=name != NAME) for name in (NAME, "(3.27)", "Appenzeller")),
                    "buffer, packets",
                    "flows",
                    log=True,
                ),
            ),
        ),
        left_open=(
            SENDERS,
            LeftOpen("round trips", "uniform on 50 to 150 ms"),
            LeftOpen("length of a run", f"{LINK_SECONDS} s, the first quarter of which is not measured; buffers to 5 %"),
        ),
        most_seeds=8,
    )


# Section 3.8.3: one flow, which has the longest round trip to itself, is the worst case.
def alone(part: float) -> Scenario:
    """A flow of 150 ms on 16 Mb/s with this part of rate times round trip as a buffer."""
    changes = {"flows.tcp.rtt": "150 ms", "flows.tcp.tcp.pacing": False, "flows.tcp.sender_access.rate": "100 Mbps"}
    return single(1, round(part * 4000 * 0.15)).with_({**changes, "duration": "300 s", "warmup": "60 s"})


def idle(run: Run) -> float:
    """The share of the time in which the link has nothing to send."""
    return 1 - float(run.queues.where(queue="bottleneck")["utilisation"][0])


WORST_CASE = Experiment(
    id="cui-thesis/section3.8.3",
    title="Section 3.8.3: the buffer with which a queue never empties",
    question="Does a buffer of rate times the longest round trip keep the link busy, and a smaller one not?",
    source="section 3.8.3, equations (3.28) and (3.29)",
    variants=tuple(variant for part in (0.5, 0.9, 1.1) for variant in vary(alone(part), part=part)),
    measures={"idle": idle},
    claims=(
        Claim(
            "C-3.8.3",
            "R",
            "a buffer larger than rate times round trip keeps the queue from emptying",
            lambda seen: seen.values("idle", part=1.1),
            Inequality("<", 1e-6),
            note="the share of the time in which the link is idle, with 1.1 of it",
        ),
        Claim(
            "C-3.8.3-smaller",
            "R",
            "a smaller one does not in the worst case",
            lambda seen: seen.values("idle", part=0.9),
            Inequality(">", 1e-4),
            note="with 0.9 of it and one flow",
        ),
    ),
    panels=(
        (Curves("idle", "part", (Line("one flow of 150 ms", {}),), "share of time idle", "buffer over rate times round trip"),),
    ),
    left_open=(SENDERS, LeftOpen("the worst case", "one flow, which has the longest round trip")),
    exact=True,
)

SIZING = (
    *(
        replace(
            sized(number, TARGETS, scale, 16),
            full=sized(number, (0.6, 0.7, 0.8, 0.9), 1.0, 64),
            undecided=f"links of 40 Gb/s, 70 and 90 %; here links have {40 * scale:g} Gb/s, with as many fewer flows",
        )
        for number, scale in (("3.1", 0.1), ("3.2", 0.05), ("3.3", 0.02), ("3.4", 0.02))
    ),
    *(needed(number) for number in LINK_TARGETS),
    WORST_CASE,
)
