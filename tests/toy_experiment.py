"""A toy document."""

from __future__ import annotations

import numpy as np

import tailback as tb
from tailback.papers import (
    AxisValue,
    Claim,
    Contrast,
    Curves,
    Experiment,
    Line,
    Outcome,
    Point,
    Ranking,
    ReferenceLine,
    Trace,
    Values,
    at,
    vary,
)

BASE = tb.dumbbell(
    name="toy",
    rate="10 Mbps",
    delay="30 ms",
    buffer="20 packets",
    flows={"tcp": {"count": 2, "start": {"uniform": ["0 s", "20 ms"]}, "tcp": {"preset": "newreno"}}},
    duration="3 s",
)


def buffers(*packets: int) -> list[AxisValue]:
    return [AxisValue({"packets": n}, {"topology.dumbbell.queue.buffer": f"{n} packets"}) for n in packets]


def goodput(run: tb.Run) -> float:
    return float(run.groups["goodput_bps"][0]) / 10e6


TIMEOUTS = "sum(flows.*.timeouts)"


MORE_WITH_FIFTY = at("goodput", packets=50) > at("goodput", packets=2)


def window(run: tb.Run) -> tuple[Values, Values]:
    return run.trace("cwnd")["time_s"], run.trace("cwnd")["cwnd_packets"]


CLAIMS = (
    Claim("T1", "a buffer of 50 packets carries more than one of 2", MORE_WITH_FIFTY),
    Claim(
        "T2",
        "half of the link is used",
        at("goodput", packets=50) > 0.5,
        published=0.9,
        setting="50 packets",
        contrast=Contrast("2 packets", at("goodput", packets=2)),
    ),
    Claim(
        "T3",
        "two packets are enough",
        at("goodput", packets=2).equals(0.99, 0.01),
        kind="not_reproduced",
        published=0.99,
    ),
)


TOY = Experiment(
    id="toy/fig1",
    title="A toy",
    question="How much buffer?",
    source="figure 1",
    variants=vary(BASE, buffers(2, 50), policy="drop_tail"),
    measures={"goodput": goodput},
    claims=CLAIMS,
    panels=(
        Curves(
            "goodput",
            "packets",
            (Line("toy", {}),),
            "goodput",
            "buffer, packets",
            reference_lines=(ReferenceLine("90 %", 0.9),),
        ),
        Ranking("goodput", (Line("two", {"packets": 2}), Line("fifty", {"packets": 50})), "goodput"),
    ),
    traces=(Trace("cwnd", {"packets": 2}, ["cwnd"], window),),
    assumptions={"everything": "a toy"},
)


def outcome(**values: list[float]) -> Outcome:
    """An outcome in which each name is a policy with these goodputs."""
    points = [Point({"policy": name}, {"goodput": np.array(each)}) for name, each in values.items()]
    return Outcome(points, experiment=TOY, seeds=len(next(iter(values.values()))))


def replaced(*claims: Claim) -> Experiment:
    """The toy experiment with other claims and without drawings."""
    return Experiment("toy/fig1", "A toy", "How much?", "figure 1", TOY.variants, TOY.measures, claims)
