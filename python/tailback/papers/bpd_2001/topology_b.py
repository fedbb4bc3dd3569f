"""Figures 8, 9, 12 and 13: five sources that must almost all be active for the link to be full (sections 3 and 5)."""

from __future__ import annotations

import numpy as np

from tailback.papers import (
    Claim,
    Contrast,
    Curves,
    Experiment,
    Inequality,
    Level,
    Line,
    Measured,
    Value,
    Values,
    highest,
    lowest,
    vary,
)
from tailback.papers.bpd_2001 import measures
from tailback.papers.bpd_2001.networks import (
    ACTIVITY,
    GAPS,
    LOWER_THRESHOLDS,
    NORMALISED,
    PLAIN,
    PPD,
    TICK,
    TICKS,
    UPPER,
    bpd,
    epd,
    ticks,
    topology_a,
    topology_b,
)

__all__ = ["EXPERIMENTS"]

MEASURES = {"goodput": measures.goodput, "active": measures.active}

# The runs of figures 8 and 9, for all three ticks.
BEFORE_BPD = vary(topology_b(), [*PLAIN, *PPD, *epd()], ticks(*TICKS), topology="B")


def side_by_side(
    measure: str, over: str, lines: tuple[Line, ...], axis: str, unit: str, levels: tuple[Level, ...]
) -> tuple[Curves, ...]:
    """One panel a tick."""
    return tuple(
        Curves(
            measure,
            over,
            tuple(Line(line.label, {**line.where, "tick": tick, "topology": "B"}, line.dashed) for line in lines),
            axis,
            unit,
            title=f"tick {tick:g} s",
            levels=levels,
        )
        for tick in TICKS
    )


THREE_POLICIES = (Line("plain ATM", {"policy": "plain"}), Line("PPD", {"policy": "PPD"}), Line("EPD", {"policy": "EPD"}))
EPD_BEST = Level("EPD at best: 0.741", 0.741)
BPD_BEST = Level("BPD at best: 0.932", 0.932)


def best_epd(seen: Measured, tick: float) -> Values:
    """Goodput with the best threshold."""
    return seen.best("goodput", topology="B", policy="EPD", tick=tick)


def best_bpd(seen: Measured, tick: float, gap: int = 25) -> Values:
    """Goodput with the best lower threshold."""
    return seen.best("goodput", topology="B", policy="BPD", gap=gap, tick=tick)


def ppd_over_plain(seen: Measured) -> Values:
    """At the tick where it is least."""
    return lowest(
        *(
            seen.values("goodput", topology="B", policy="PPD", tick=tick)
            - seen.values("goodput", topology="B", policy="plain", tick=tick)
            for tick in TICKS
        )
    )


def epd_over_ppd(seen: Measured) -> Values:
    """With the best threshold, at the tick where it is least."""
    return lowest(*(best_epd(seen, tick) - seen.values("goodput", topology="B", policy="PPD", tick=tick) for tick in TICKS))


def less_than_in_a(seen: Measured) -> Values:
    """What plain ATM and PPD lose from topology A to B with a tick of 0.1 s, whichever loses less."""
    return lowest(
        *(
            seen.values("goodput", topology="A", policy=policy, tick=0.1)
            - seen.values("goodput", topology="B", policy=policy, tick=0.1)
            for policy in ("plain", "PPD")
        )
    )


figure_8 = Experiment(
    id="bpd-2001/fig8",
    title="Plain ATM, PPD and EPD in topology B: goodput",
    question="How much of the link do five connections use if an idle one is not replaced by another?",
    source="figure 8, section 3; best EPD 0.741 in section 5, 0.75 in section 3",
    variants=(*BEFORE_BPD, *vary(topology_a(), [*PLAIN, *PPD], ticks(0.1), topology="A")),
    measures=MEASURES,
    times=3,
    claims=(
        Claim(
            "C13", "R", "PPD carries more than plain ATM (least difference over the ticks)", ppd_over_plain, Inequality(">", 0)
        ),
        Claim(
            "C13b", "R", "the best EPD carries more than PPD (least difference over the ticks)", epd_over_ppd, Inequality(">", 0)
        ),
        Claim(
            "C13c",
            "R",
            "plain ATM and PPD carry far less than in topology A (least difference, tick 0.1 s)",
            less_than_in_a,
            Inequality(">", 0.1),
        ),
        Claim(
            "C14",
            "S",
            "EPD carries at most 0.75 of the link, whatever the threshold",
            lambda seen: best_epd(seen, 0.5),
            Inequality("<=", 0.75),
            published=0.75,
            setting="tick 0.5 s",
            contrast=Contrast("tick 0.1 s", lambda seen: best_epd(seen, 0.1)),
        ),
        Claim(
            "C14b",
            "S",
            "the best EPD carries 0.741 of the link",
            lambda seen: best_epd(seen, 0.3),
            Value(0.741, 0.02),
            published=0.741,
            setting="tick 0.3 s",
            contrast=Contrast("tick 0.1 s", lambda seen: best_epd(seen, 0.1)),
        ),
        Claim(
            "C14c",
            "S",
            "EPD carries at most 0.75 of the link",
            lambda seen: highest(
                *(seen.values("goodput", topology="B", policy="EPD", threshold=each, tick=0.1) for each in (0.1, 0.2))
            ),
            Inequality("<=", 0.75),
            published=0.75,
            setting="tick 0.1 s, thresholds up to 0.2",
            contrast=Contrast(
                "tick 0.1 s, threshold 0.9",
                lambda seen: seen.values("goodput", topology="B", policy="EPD", threshold=0.9, tick=0.1),
            ),
        ),
    ),
    panels=(side_by_side("goodput", "threshold", THREE_POLICIES, "goodput", "EPD threshold", (EPD_BEST,)),),
    left_open=(TICK, NORMALISED),
)


def epd_active(seen: Measured, threshold: float, tick: float) -> Values:
    """Activity under EPD."""
    return seen.values("active", topology="B", policy="EPD", threshold=threshold, tick=tick)


figure_9 = Experiment(
    id="bpd-2001/fig9",
    title="Plain ATM, PPD and EPD in topology B: activity",
    question="How long do connections wait for timeouts?",
    source="figure 9, section 3 (EPD idle 49 %) and section 5 (EPD active 49 %)",
    variants=BEFORE_BPD,
    measures=MEASURES,
    times=3,
    claims=(
        Claim(
            "C15",
            "S",
            "under EPD connections are active 49 % of the time",
            lambda seen: epd_active(seen, 0.9, 0.3),
            Value(0.49, 0.02),
            published=0.49,
            setting="tick 0.3 s, threshold 0.9",
            contrast=Contrast("tick 0.1 s, threshold 0.9", lambda seen: epd_active(seen, 0.9, 0.1)),
            note="Section 3 says idle for 49 %, section 5 active for 49 %.",
        ),
        Claim(
            "C15b",
            "S",
            "under EPD connections are active 49 % of the time",
            lambda seen: epd_active(seen, 0.5, 0.1),
            Value(0.49, 0.02),
            published=0.49,
            setting="tick 0.1 s, threshold 0.5",
            contrast=Contrast("tick 0.3 s, threshold 0.5", lambda seen: epd_active(seen, 0.5, 0.3)),
        ),
    ),
    panels=(side_by_side("active", "threshold", THREE_POLICIES, "active share", "EPD threshold", (Level("EPD: 0.49", 0.49),)),),
    left_open=(TICK, ACTIVITY),
)


def bpd_at(seen: Measured, gap: int, threshold: float, tick: float) -> Values:
    """Goodput of BPD at one place."""
    return seen.values("goodput", policy="BPD", gap=gap, threshold=threshold, tick=tick)


def lead_at_low_thresholds(seen: Measured) -> Values:
    """BPD over EPD with the same threshold of 0.3 or 0.4, at the tick where it is least."""
    return lowest(
        *(
            bpd_at(seen, 25, each, tick) / seen.values("goodput", policy="EPD", threshold=each, tick=tick)
            for each in (0.3, 0.4)
            for tick in TICKS
        )
    )


def rise(gap: int, tick: float) -> Contrast:
    """What BPD gains from the least lower threshold to the largest."""
    first, last = LOWER_THRESHOLDS[0], LOWER_THRESHOLDS[-1]
    return Contrast(f"gap {gap}", lambda seen: bpd_at(seen, gap, last, tick) - bpd_at(seen, gap, first, tick))


def gain_to_fifteen(seen: Measured) -> Values:
    """From gap 5 to gap 15 at LT 0.4, at the tick where it is least."""
    return lowest(*(bpd_at(seen, 15, 0.4, tick) - bpd_at(seen, 5, 0.4, tick) for tick in TICKS))


def gain_beyond_twenty(seen: Measured) -> Values:
    """From gap 20 to gap 35 at LT 0.3, at the tick where it is largest."""
    return max(
        (bpd_at(seen, 35, 0.3, tick) - bpd_at(seen, 20, 0.3, tick) for tick in TICKS), key=lambda gain: abs(float(np.mean(gain)))
    )


def five_is_hardly_better(seen: Measured) -> Values:
    """What the best gap-25 BPD gains over the best EPD, less twice what gap 5 does, with a tick of 0.3 s."""
    epd_goodput = best_epd(seen, 0.3)
    return (best_bpd(seen, 0.3) - epd_goodput) - 2 * (best_bpd(seen, 0.3, gap=5) - epd_goodput)


def fall(seen: Measured) -> Values:
    """What gaps 25 and 35 lose from LT 0.4 to 0.8, on average over both, at the tick where it is least."""

    def lost(gap: int, tick: float) -> Values:
        return bpd_at(seen, gap, 0.4, tick) - bpd_at(seen, gap, 0.8, tick)

    return lowest(*((lost(25, tick) + lost(35, tick)) / 2 for tick in TICKS))


figure_12 = Experiment(
    id="bpd-2001/fig12",
    title="BPD in topology B: goodput",
    question="What does a switch gain that spares a connection for a while after a loss?",
    source="figure 12, section 5",
    variants=(
        *vary(topology_b(), bpd(gaps=GAPS), ticks(*TICKS), topology="B"),
        *vary(topology_b(), epd(), ticks(*TICKS), topology="B"),
    ),
    measures=MEASURES,
    times=3,
    claims=(
        Claim(
            "C16",
            "N",
            "BPD reaches 0.932 of the link (gap 25, best lower threshold, tick 0.3 s)",
            lambda seen: best_bpd(seen, 0.3),
            Value(0.932, 0.02),
            published=0.932,
            note="The tolerance is ours. A hundred seeds would tell: the mean is 0.94.",
        ),
        Claim(
            "C16a",
            "R",
            "it carries at least 0.90 (less good of ticks 0.1 and 0.3 s)",
            lambda seen: lowest(*(best_bpd(seen, tick) for tick in (0.1, 0.3))),
            Inequality(">=", 0.9),
            ours=True,
        ),
        Claim(
            "C16b",
            "S",
            "with a tick of 0.5 s too it carries at least 0.90 (best lower threshold)",
            lambda seen: best_bpd(seen, 0.5, gap=35),
            Inequality(">=", 0.9),
            published=0.932,
            setting="gap 35",
            contrast=Contrast("gap 10", lambda seen: best_bpd(seen, 0.5, gap=10)),
            note="Gap 25 reaches 0.90 on average; a single timeout at the start takes 1.5 s of the 10 s.",
            ours=True,
        ),
        Claim(
            "C17",
            "S",
            "the best BPD carries more than 1.25 times what the best EPD does",
            lambda seen: best_bpd(seen, 0.5) / best_epd(seen, 0.5),
            Inequality(">", 1.25),
            published=1.25,
            setting="tick 0.5 s",
            contrast=Contrast("tick 0.1 s", lambda seen: best_bpd(seen, 0.1) / best_epd(seen, 0.1)),
        ),
        Claim(
            "C17c",
            "S",
            "it carries 0.932 / 0.741 = 1.258 times as much",
            lambda seen: best_bpd(seen, 0.3) / best_epd(seen, 0.3),
            Value(1.258, 0.02),
            published=1.258,
            setting="tick 0.3 s",
            contrast=Contrast("tick 0.1 s", lambda seen: best_bpd(seen, 0.1) / best_epd(seen, 0.1)),
            ours=True,
        ),
        Claim(
            "C17b",
            "R",
            "BPD carries more than 1.2 times what EPD with the same threshold of 0.3 or 0.4 does (least over both and the ticks)",
            lead_at_low_thresholds,
            Inequality(">", 1.2),
            ours=True,
        ),
        Claim(
            "C18",
            "S",
            "goodput rises with the lower threshold (from 0.1 to 0.8)",
            rise(5, 0.3).measured,
            Inequality(">", 0),
            setting="gap 5, tick 0.3 s",
            contrast=rise(25, 0.3),
        ),
        Claim(
            "C18b",
            "R",
            "goodput rises with the gap up to 15 (LT 0.4, tick where it rises least)",
            gain_to_fifteen,
            Inequality(">", 0),
            ours=True,
        ),
        Claim(
            "C18c",
            "N",
            "then it saturates: gap 35 is as good as gap 20 (LT 0.3, tick where they differ most)",
            gain_beyond_twenty,
            Value(0, 0.02),
            ours=True,
        ),
        Claim(
            "C18d",
            "R",
            "gap 5 is hardly better than EPD: it brings less than half of what gap 25 brings (tick 0.3 s)",
            five_is_hardly_better,
            Inequality(">", 0),
            ours=True,
        ),
        Claim(
            "C19",
            "R",
            "goodput with gaps 25 and 35 falls from LT 0.4 to 0.8 (mean of both gaps, tick where it is least)",
            fall,
            Inequality(">", 0),
        ),
    ),
    panels=(
        side_by_side(
            "goodput",
            "threshold",
            tuple(Line(f"gap {gap}", {"policy": "BPD", "gap": gap}) for gap in GAPS),
            "goodput",
            "lower threshold",
            (BPD_BEST, EPD_BEST),
        ),
    ),
    left_open=(UPPER, TICK, NORMALISED),
)


figure_13 = Experiment(
    id="bpd-2001/fig13",
    title="BPD in topology B: activity",
    question="Does BPD spare connections their timeouts?",
    source="figure 13, section 5",
    variants=(*vary(topology_b(), [*bpd(), *epd()], ticks(*TICKS), topology="B"),),
    measures=MEASURES,
    times=3,
    claims=(
        Claim(
            "C20",
            "N",
            "under BPD connections are active 92 % of the time (best lower threshold, tick 0.3 s)",
            lambda seen: seen.best("active", policy="BPD", tick=0.3),
            Value(0.92, 0.02),
            published=0.92,
            note="The tolerance is ours.",
        ),
        Claim(
            "C20b",
            "N",
            "under EPD only 49 % (best threshold, tick 0.3 s)",
            lambda seen: seen.best("active", policy="EPD", tick=0.3),
            Value(0.49, 0.02),
            published=0.49,
            note="The tolerance is ours.",
        ),
    ),
    panels=(
        side_by_side(
            "active",
            "threshold",
            (Line("BPD, gap 25", {"policy": "BPD"}), Line("EPD", {"policy": "EPD"})),
            "active share",
            "lower threshold, or EPD threshold",
            (Level("BPD: 0.92", 0.92), Level("EPD: 0.49", 0.49)),
        ),
    ),
    left_open=(UPPER, TICK, ACTIVITY),
)

EXPERIMENTS = (figure_8, figure_9, figure_12, figure_13)
