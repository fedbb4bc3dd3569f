"""Figures 1, 2, 4 and 19: one TCP connection's response to losses from one window (sections 2.1, 2.2 and 6.1).

The drawings contain no numbers. The conditions that the text derives are checked for whole families of losses by dropping
segments.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from itertools import combinations
from typing import Any, Literal, TypeAlias

import numpy as np

import tailback as tb
from tailback.papers import (
    AxisValue,
    Experiment,
    Expression,
    Label,
    Measured,
    Trace,
    TracePanel,
    Values,
    Variant,
    at,
    computed,
    vary,
)
from tailback_papers.claims import claims_of

__all__ = ["EXPERIMENTS"]

claim = claims_of(__name__)

Preset: TypeAlias = Literal["bpd-2001/reno", "bpd-2001/sack"]
RENO: Preset = "bpd-2001/reno"
SACK: Preset = "bpd-2001/sack"


@cache
def window_at_once(preset: Preset, window: int) -> tb.Scenario:
    """A connection that sends a full window at once. Cached, because hundreds of variants use it."""
    connection: tb.Flow = {"size": "100 kB", "tcp": {"preset": preset, "initial_window": window, "initial_ssthresh": window}}
    return tb.dumbbell(
        name="losses from one window",
        rate="2 Mbps",
        delay="50 ms",
        buffer="unlimited",
        flows={"tcp": connection},
        duration="20 s",
    )


def window_with_losses(preset: Preset, window: int, lost: tuple[int, ...]) -> Variant:
    """A full window whose segments at these positions are lost."""
    drops = [{"group": "tcp", "segment": segment} for segment in lost]
    choice = AxisValue(
        {"preset": preset.removeprefix("bpd-2001/"), "window": window, "losses": len(lost), "lost": " ".join(map(str, lost))},
        {"topology.dumbbell.loss": {"drops": drops}},
    )
    return vary(window_at_once(preset, window), [choice])[0]


PAIRS_OF_8 = list(combinations(range(8), 2))
TRIPLES_OF_24 = sorted({(a, b, c) for a, b in combinations(range(23), 2) for c in (b + 1, 23)})
# Every 97th set of four positions; the derivation applies to all.
FOURS = {window: list(combinations(range(window), 4))[::97] for window in (8, 12, 16, 24, 32)}


MEASURES = {"fast_retransmits": "flows.tcp.fast_retransmits", "timeouts": "flows.tcp.timeouts"}


def places(lost: Any) -> list[int]:
    """Positions listed in a label."""
    return [int(place) for place in str(lost).split()]


def second_needs_the_timer(results: Measured) -> Values:
    """Pairs lost from a window of 8, except its first and last segment, with one fast retransmit and one timeout."""
    points = [point for point in results.where(preset="reno", window=8) if places(point.labels["lost"]) != [0, 7]]
    right = [(point.values["fast_retransmits"][0], point.values["timeouts"][0]) == (1, 1) for point in points]
    return np.array([sum(right) / len(right)])


def as_derived(times_out: Callable[..., bool], **where: Label) -> Expression:
    """Fraction of patterns that cause a timeout if and only if a function of their labels is true."""
    timed_out = at("timeouts", preset="reno", **where).map(lambda values: (values > 0).astype(float))
    return (abs(timed_out - times_out) <= 0).share()


def two_time_out(window: int, lost: str) -> bool:
    """Two losses recover without a timeout if and only if W >= 10, or W >= 8 for the first and last segment."""
    first, second = places(lost)
    return window < (8 if second - first == window - 1 else 10)


def three_time_out(lost: str) -> bool:
    """Three losses recover without a timeout if and only if n2 - n1 >= 3 W / 4 + 3."""
    first, second, _ = places(lost)
    return second - first < 21


def sent(run: tb.Run) -> tuple[Any, Any]:
    """First transmissions over time."""
    return _segments(run, again=False)


def resent(run: tb.Run) -> tuple[Any, Any]:
    """Retransmissions over time."""
    return _segments(run, again=True)


def lost(run: tb.Run) -> tuple[Any, Any]:
    """Dropped segments."""
    drops = run.trace("drops")
    return drops["time_s"], drops["segment"]


def acknowledged(run: tb.Run) -> tuple[Any, Any]:
    """Acknowledgements arriving at the sender, each at the segment number that it requests."""
    acks = run.trace("acks")
    return acks["time_s"], acks["ack"]


def _segments(run: tb.Run, *, again: bool) -> tuple[Any, Any]:
    segments = run.trace("segments")
    chosen = (segments["transmission"] > 1) == again
    return segments["time_s"][chosen], segments["segment"][chosen]


def sequence(**where: str | int) -> tuple[Trace, ...]:
    """The four kinds of points of a time-sequence plot."""
    record = ["segments", "acks", "drops"]
    return tuple(
        Trace(name, where, record, of)
        for name, of in (("sent", sent), ("acknowledged", acknowledged), ("resent", resent), ("lost", lost))
    )


def panel(end: float) -> TracePanel:
    """Segments over time."""
    return TracePanel(("sent", "acknowledged", "resent", "lost"), "segment", "time, s", markers="o_sx", time_range=(-0.004, end))


FAMILIES = {
    "rate, round trip and length of the connection": "2 Mbps, 100 ms, 100 kB: the derivation counts segments; no other segment "
    "may be lost, and the data must not run out"
}
WINDOW = {
    "origin of the window": "the connection starts with it, and with an equal ssthresh, so that it is in congestion avoidance"
}


figure_1 = Experiment(
    id="bpd-2001/fig1",
    title="Fast retransmit repairs a single loss",
    question="What happens when one segment of a window is lost?",
    source="figure 1, section 2.1",
    variants=(window_with_losses(RENO, 8, (3,)),),
    measures=MEASURES,
    claims=(),
    panels=((panel(0.75),),),
    traces=sequence(lost="3"),
    assumptions={**FAMILIES, **WINDOW},
    exact=True,
)

figure_2 = Experiment(
    id="bpd-2001/fig2",
    title="Two losses from a window of eight",
    question="Why does the second of two losses need a timeout in a small window?",
    source="figure 2, sections 2.1 and 2.2, conditions (1) and (2)",
    variants=(
        *(window_with_losses(RENO, window, pair) for window in range(5, 17) for pair in combinations(range(window), 2)),
        *(window_with_losses(RENO, window, (place,)) for window in (2, 3, 4, 5) for place in range(window)),
    ),
    measures=MEASURES,
    claims=(
        claim("C1", computed(second_needs_the_timer) >= 1),
        claim("C1b", (at("timeouts", losses=1, window=(2, 3, 4)) > 0).share() >= 1),
        claim("C1c", (at("timeouts", losses=1, window=5) <= 0).share() >= 1),
        claim("C3", as_derived(two_time_out, losses=2) >= 1),
        claim("C3b", (at("timeouts", losses=2, window=tuple(range(10, 17))) <= 0).share() >= 1),
    ),
    panels=((panel(1.0),),),
    traces=sequence(window=8, lost="3 5"),
    assumptions={**FAMILIES, **WINDOW},
    exact=True,
)

figure_4 = Experiment(
    id="bpd-2001/fig4",
    title="Three and four losses from one window",
    question="How far apart must losses be for fast retransmit to repair them all?",
    source="figure 4, section 2.2, conditions (3) and (4)",
    variants=(
        *(window_with_losses(RENO, 24, triple) for triple in TRIPLES_OF_24),
        *(window_with_losses(RENO, window, four) for window, fours in FOURS.items() for four in fours),
    ),
    measures=MEASURES,
    claims=(
        claim("C2", as_derived(three_time_out, window=24, losses=3) >= 1),
        claim("C4", as_derived(lambda: True, losses=4) >= 1),
    ),
    panels=((panel(0.75),),),
    traces=sequence(window=24, lost="1 22 23"),
    assumptions={**FAMILIES, **WINDOW},
    exact=True,
)

figure_19 = Experiment(
    id="bpd-2001/fig19",
    title="SACK repairs what Reno cannot",
    question="Does SACK need a timeout for the losses of figures 2 and 4?",
    source="figure 19, section 6.1",
    variants=(
        *(window_with_losses(SACK, 8, pair) for pair in PAIRS_OF_8),
        *(window_with_losses(SACK, 24, triple) for triple in TRIPLES_OF_24),
    ),
    measures=MEASURES,
    claims=(claim("C5", (at("timeouts", preset="sack") <= 0).share() >= 1),),
    panels=((panel(0.75),),),
    traces=sequence(window=8, lost="3 5"),
    assumptions={**FAMILIES, **WINDOW},
    exact=True,
)

EXPERIMENTS = (figure_1, figure_2, figure_4, figure_19)
