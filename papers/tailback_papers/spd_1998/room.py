"""Space between the thresholds of SPD and EPD: at least two packets, and larger buffers (sections 5.3 and 6.1)."""

from __future__ import annotations

from tailback.papers import Curves, Experiment, Expression, Line, Ranking, at, lines, vary
from tailback_papers.claims import claims_of
from tailback_papers.spd_1998 import conditions, measures
from tailback_papers.spd_1998.networks import AGAIN, DESCRIBED, DROPPING_THRESHOLD, LONG, SHORT, TIMER_ONLY, chain, epd, spd

__all__ = ["EXPERIMENTS"]

claim = claims_of(__name__)

# Connections, and EPD thresholds in cells.
THRESHOLDS = {10: (300, 500, 700, 1000), 15: (500, 700, 1000)}


def packets_of_room(vcs: int, threshold: int) -> float:
    """Space per connection between the thresholds, in packets of 23 cells."""
    return round((threshold / vcs - DROPPING_THRESHOLD) / 23, 1)


POINTS = [(vcs, threshold, packets_of_room(vcs, threshold)) for vcs, each in THRESHOLDS.items() for threshold in each]
ENOUGH = tuple(sorted({room for *_, room in POINTS if room >= 2}))


def lead(**labels: int | float | tuple[float, ...]) -> Expression:
    """Lead of SPD over EPD in the ratio of goodput to input."""
    return at("ratio", policy="SPD", **labels) - at("ratio", policy="EPD", **labels)


room = Experiment(
    id="spd-1998/room",
    title="Space between the thresholds of SPD and EPD",
    question="Does SPD need space for two packets of each connection?",
    source="sections 5.3 and 6.1; no values in the text",
    variants=tuple(
        variant
        for vcs, threshold, packets in POINTS
        for variant in vary(
            chain(vcs), [*epd([threshold]), *spd([threshold])], [SHORT, LONG, TIMER_ONLY], vcs=vcs, packets=packets
        )
    ),
    measures={"ratio": measures.RATIO},
    claims=(
        claim("C49", lead(packets=ENOUGH).min() > 0),
        claim("C49b", lead(vcs=10, threshold=1000) > lead(vcs=10, threshold=300)),
    ),
    panels=(
        tuple(
            Curves(
                "ratio",
                "packets",
                lines("policy", ("EPD", "SPD"), vcs=vcs, setting="SHORT"),
                "goodput to input",
                "packets between the thresholds",
                title=f"{vcs} connections",
            )
            for vcs in THRESHOLDS
        ),
    ),
    times=2,
    conditions=(conditions.SETTING_WITH_TIMER,),
    assumptions=DESCRIBED,
)

BUFFER = 3000
GAPS = dict(zip(conditions.EPD_THRESHOLD.values, (BUFFER, BUFFER * 4 // 5), strict=True))
STATED, PROPORTIONAL = conditions.CONGESTION.values
SETTINGS = [SHORT, AGAIN, LONG]


larger_buffers = Experiment(
    id="spd-1998/larger-buffers",
    title="Larger buffers and longer gaps",
    question="Does SPD gain more if buffer and gap are three times as large?",
    source='section 5.3: "the improvement is large"; no values in the text',
    variants=tuple(
        variant
        for name, threshold in GAPS.items()
        for variant in (
            *vary(chain(15, BUFFER), epd([threshold]), SETTINGS, epd_threshold=name),
            *vary(chain(15, BUFFER), spd([threshold]), SETTINGS, epd_threshold=name, congestion=STATED),
            *vary(
                chain(15, BUFFER),
                spd([threshold], congestion=BUFFER // 5),
                SETTINGS,
                epd_threshold=name,
                congestion=PROPORTIONAL,
            ),
        )
    ),
    measures={"ratio": measures.RATIO, "normalised_goodput": measures.normalised_goodput},
    fractions=("normalised_goodput",),
    claims=(claim("C57", lead() > 0.1),),
    panels=tuple(
        Ranking(
            "ratio",
            tuple(
                Line(f"{setting}: {policy}", {"policy": policy, "setting": setting, "epd_threshold": name, **which})
                for setting in (each.labels["setting"] for each in SETTINGS)
                for policy, which in (("EPD", {}), ("SPD", {"congestion": STATED}))
            ),
            f"goodput to input, EPD threshold: {name}",
        )
        for name in GAPS
    ),
    times=2,
    conditions=(conditions.EPD_THRESHOLD, conditions.CONGESTION, conditions.SETTING_OF_BUFFERS),
    assumptions=DESCRIBED,
)

EXPERIMENTS = (room, larger_buffers)
