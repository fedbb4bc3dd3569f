"""Figures 8, 9, 12 and 13: five sources that fill the link only if almost all are active (sections 3 and 5)."""

from __future__ import annotations

import numpy as np

from tailback.papers import (
    Claim,
    Contrast,
    Curves,
    Experiment,
    Inequality,
    Line,
    Measured,
    ReferenceLine,
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
    measure: str, over: str, lines: tuple[Line, ...], axis: str, unit: str, reference_lines: tuple[ReferenceLine, ...]
) -> tuple[Curves, ...]:
    """One panel per tick."""
    return tuple(
        Curves(
            measure,
            over,
            tuple(Line(line.label, {**line.where, "tick": tick, "topology": "B"}, line.dashed) for line in lines),
            axis,
            unit,
            title=f"tick {tick:g} s",
            reference_lines=reference_lines,
        )
        for tick in TICKS
    )


THREE_POLICIES = (Line("plain ATM", {"policy": "plain"}), Line("PPD", {"policy": "PPD"}), Line("EPD", {"policy": "EPD"}))
EPD_BEST = ReferenceLine("EPD at best: 0.741", 0.741)
BPD_BEST = ReferenceLine("BPD at best: 0.932", 0.932)


def best_epd(results: Measured, tick: float) -> Values:
    """Goodput with the best threshold."""
    return results.best("goodput", topology="B", policy="EPD", tick=tick)


def best_bpd(results: Measured, tick: float, gap: int = 25) -> Values:
    """Goodput with the best lower threshold."""
    return results.best("goodput", topology="B", policy="BPD", gap=gap, tick=tick)


def ppd_over_plain(results: Measured) -> Values:
    """Smallest difference over the ticks."""
    return lowest(
        *(
            results.values("goodput", topology="B", policy="PPD", tick=tick)
            - results.values("goodput", topology="B", policy="plain", tick=tick)
            for tick in TICKS
        )
    )


def epd_over_ppd(results: Measured) -> Values:
    """Smallest difference over the ticks, with the best threshold."""
    return lowest(*(best_epd(results, tick) - results.values("goodput", topology="B", policy="PPD", tick=tick) for tick in TICKS))


def less_than_in_a(results: Measured) -> Values:
    """Loss of plain ATM and PPD from topology A to B with a tick of 0.1 s; the smaller of the two."""
    return lowest(
        *(
            results.values("goodput", topology="A", policy=policy, tick=0.1)
            - results.values("goodput", topology="B", policy=policy, tick=0.1)
            for policy in ("plain", "PPD")
        )
    )


figure_8 = Experiment(
    id="bpd-2001/fig8",
    title="Plain ATM, PPD and EPD in topology B: goodput",
    question="How much of the link do five connections use if no other connection can replace an idle one?",
    source="figure 8, section 3; best EPD 0.741 in section 5, 0.75 in section 3",
    variants=(*BEFORE_BPD, *vary(topology_a(), [*PLAIN, *PPD], ticks(0.1), topology="A")),
    measures=MEASURES,
    times=3,
    claims=(
        Claim(
            "C13",
            "reproduced",
            "PPD carries more than plain ATM (smallest difference over the ticks)",
            ppd_over_plain,
            Inequality(">", 0),
        ),
        Claim(
            "C13b",
            "reproduced",
            "the best EPD carries more than PPD (smallest difference over the ticks)",
            epd_over_ppd,
            Inequality(">", 0),
        ),
        Claim(
            "C13c",
            "reproduced",
            "plain ATM and PPD carry far less than in topology A (smallest difference, tick 0.1 s)",
            less_than_in_a,
            Inequality(">", 0.1),
        ),
        Claim(
            "C14",
            "conditional",
            "EPD carries at most 0.75 of the link, whatever the threshold",
            lambda results: best_epd(results, 0.5),
            Inequality("<=", 0.75),
            published=0.75,
            setting="tick 0.5 s",
            contrast=Contrast("tick 0.1 s", lambda results: best_epd(results, 0.1)),
        ),
        Claim(
            "C14b",
            "conditional",
            "the best EPD carries 0.741 of the link",
            lambda results: best_epd(results, 0.3),
            Value(0.741, 0.02),
            published=0.741,
            setting="tick 0.3 s",
            contrast=Contrast("tick 0.1 s", lambda results: best_epd(results, 0.1)),
        ),
        Claim(
            "C14c",
            "conditional",
            "EPD carries at most 0.75 of the link",
            lambda results: highest(
                *(results.values("goodput", topology="B", policy="EPD", threshold=each, tick=0.1) for each in (0.1, 0.2))
            ),
            Inequality("<=", 0.75),
            published=0.75,
            setting="tick 0.1 s, thresholds up to 0.2",
            contrast=Contrast(
                "tick 0.1 s, threshold 0.9",
                lambda results: results.values("goodput", topology="B", policy="EPD", threshold=0.9, tick=0.1),
            ),
        ),
    ),
    panels=(side_by_side("goodput", "threshold", THREE_POLICIES, "goodput", "EPD threshold", (EPD_BEST,)),),
    assumptions=(TICK, NORMALISED),
)


def epd_active(results: Measured, threshold: float, tick: float) -> Values:
    """Activity under EPD."""
    return results.values("active", topology="B", policy="EPD", threshold=threshold, tick=tick)


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
            "conditional",
            "under EPD connections are active 49 % of the time",
            lambda results: epd_active(results, 0.9, 0.3),
            Value(0.49, 0.02),
            published=0.49,
            setting="tick 0.3 s, threshold 0.9",
            contrast=Contrast("tick 0.1 s, threshold 0.9", lambda results: epd_active(results, 0.9, 0.1)),
            note="Section 3 says idle for 49 %, section 5 active for 49 %.",
        ),
        Claim(
            "C15b",
            "conditional",
            "under EPD connections are active 49 % of the time",
            lambda results: epd_active(results, 0.5, 0.1),
            Value(0.49, 0.02),
            published=0.49,
            setting="tick 0.1 s, threshold 0.5",
            contrast=Contrast("tick 0.3 s, threshold 0.5", lambda results: epd_active(results, 0.5, 0.3)),
        ),
    ),
    panels=(
        side_by_side(
            "active", "threshold", THREE_POLICIES, "fraction of time active", "EPD threshold", (ReferenceLine("EPD: 0.49", 0.49),)
        ),
    ),
    assumptions=(TICK, ACTIVITY),
)


def bpd_at(results: Measured, gap: int, threshold: float, tick: float) -> Values:
    """Goodput of BPD at one point."""
    return results.values("goodput", policy="BPD", gap=gap, threshold=threshold, tick=tick)


def lead_at_low_thresholds(results: Measured) -> Values:
    """BPD over EPD with the same threshold of 0.3 or 0.4; the smallest ratio over the ticks."""
    return lowest(
        *(
            bpd_at(results, 25, each, tick) / results.values("goodput", policy="EPD", threshold=each, tick=tick)
            for each in (0.3, 0.4)
            for tick in TICKS
        )
    )


def rise(gap: int, tick: float) -> Contrast:
    """Gain of BPD from the smallest to the largest lower threshold."""
    first, last = LOWER_THRESHOLDS[0], LOWER_THRESHOLDS[-1]
    return Contrast(f"gap {gap}", lambda results: bpd_at(results, gap, last, tick) - bpd_at(results, gap, first, tick))


def gain_to_fifteen(results: Measured) -> Values:
    """Gain from gap 5 to gap 15 at LT 0.4; the smallest over the ticks."""
    return lowest(*(bpd_at(results, 15, 0.4, tick) - bpd_at(results, 5, 0.4, tick) for tick in TICKS))


def gain_beyond_twenty(results: Measured) -> Values:
    """Gain from gap 20 to gap 35 at LT 0.3; the largest over the ticks."""
    return max(
        (bpd_at(results, 35, 0.3, tick) - bpd_at(results, 20, 0.3, tick) for tick in TICKS),
        key=lambda gain: abs(float(np.mean(gain))),
    )


def five_is_little_better(results: Measured) -> Values:
    """Gain of the best gap-25 BPD over the best EPD, minus twice the gain of gap 5, with a tick of 0.3 s."""
    epd_goodput = best_epd(results, 0.3)
    return (best_bpd(results, 0.3) - epd_goodput) - 2 * (best_bpd(results, 0.3, gap=5) - epd_goodput)


def fall(results: Measured) -> Values:
    """Loss from LT 0.4 to 0.8, averaged over gaps 25 and 35; the smallest over the ticks."""

    def lost(gap: int, tick: float) -> Values:
        return bpd_at(results, gap, 0.4, tick) - bpd_at(results, gap, 0.8, tick)

    return lowest(*((lost(25, tick) + lost(35, tick)) / 2 for tick in TICKS))


figure_12 = Experiment(
    id="bpd-2001/fig12",
    title="BPD in topology B: goodput",
    question="What does a switch gain by sparing a connection for a while after a loss?",
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
            "not_reproduced",
            "BPD reaches 0.932 of the link (gap 25, best lower threshold, tick 0.3 s)",
            lambda results: best_bpd(results, 0.3),
            Value(0.932, 0.02),
            published=0.932,
            note="The tolerance is our choice. A hundred seeds would decide: the mean is 0.94.",
        ),
        Claim(
            "C16a",
            "reproduced",
            "it carries at least 0.90 (the smaller goodput of ticks 0.1 and 0.3 s)",
            lambda results: lowest(*(best_bpd(results, tick) for tick in (0.1, 0.3))),
            Inequality(">=", 0.9),
            ours=True,
        ),
        Claim(
            "C16b",
            "conditional",
            "with a tick of 0.5 s it also carries at least 0.90 (best lower threshold)",
            lambda results: best_bpd(results, 0.5, gap=35),
            Inequality(">=", 0.9),
            published=0.932,
            setting="gap 35",
            contrast=Contrast("gap 10", lambda results: best_bpd(results, 0.5, gap=10)),
            note="Gap 25 reaches 0.90 on average; a single timeout at the start takes 1.5 s of the 10 s.",
            ours=True,
        ),
        Claim(
            "C17",
            "conditional",
            "the best BPD carries more than 1.25 times as much as the best EPD",
            lambda results: best_bpd(results, 0.5) / best_epd(results, 0.5),
            Inequality(">", 1.25),
            published=1.25,
            setting="tick 0.5 s",
            contrast=Contrast("tick 0.1 s", lambda results: best_bpd(results, 0.1) / best_epd(results, 0.1)),
        ),
        Claim(
            "C17c",
            "conditional",
            "it carries 0.932 / 0.741 = 1.258 times as much",
            lambda results: best_bpd(results, 0.3) / best_epd(results, 0.3),
            Value(1.258, 0.02),
            published=1.258,
            setting="tick 0.3 s",
            contrast=Contrast("tick 0.1 s", lambda results: best_bpd(results, 0.1) / best_epd(results, 0.1)),
            ours=True,
        ),
        Claim(
            "C17b",
            "reproduced",
            "BPD carries more than 1.2 times as much as EPD with the same threshold of 0.3 or 0.4 (smallest over both and "
            "the ticks)",
            lead_at_low_thresholds,
            Inequality(">", 1.2),
            ours=True,
        ),
        Claim(
            "C18",
            "conditional",
            "goodput rises with the lower threshold (from 0.1 to 0.8)",
            rise(5, 0.3).measured,
            Inequality(">", 0),
            setting="gap 5, tick 0.3 s",
            contrast=rise(25, 0.3),
        ),
        Claim(
            "C18b",
            "reproduced",
            "goodput rises with the gap up to 15 (LT 0.4, smallest rise over the ticks)",
            gain_to_fifteen,
            Inequality(">", 0),
            ours=True,
        ),
        Claim(
            "C18c",
            "not_reproduced",
            "then it saturates: gap 35 is as good as gap 20 (LT 0.3, largest difference over the ticks)",
            gain_beyond_twenty,
            Value(0, 0.02),
            ours=True,
        ),
        Claim(
            "C18d",
            "reproduced",
            "gap 5 is only slightly better than EPD: it gains less than half as much as gap 25 (tick 0.3 s)",
            five_is_little_better,
            Inequality(">", 0),
            ours=True,
        ),
        Claim(
            "C19",
            "reproduced",
            "goodput with gaps 25 and 35 falls from LT 0.4 to 0.8 (mean of both gaps, smallest over the ticks)",
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
    assumptions=(UPPER, TICK, NORMALISED),
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
            "not_reproduced",
            "under BPD connections are active 92 % of the time (best lower threshold, tick 0.3 s)",
            lambda results: results.best("active", policy="BPD", tick=0.3),
            Value(0.92, 0.02),
            published=0.92,
            note="The tolerance is our choice.",
        ),
        Claim(
            "C20b",
            "not_reproduced",
            "under EPD only 49 % (best threshold, tick 0.3 s)",
            lambda results: results.best("active", policy="EPD", tick=0.3),
            Value(0.49, 0.02),
            published=0.49,
            note="The tolerance is our choice.",
        ),
    ),
    panels=(
        side_by_side(
            "active",
            "threshold",
            (Line("BPD, gap 25", {"policy": "BPD"}), Line("EPD", {"policy": "EPD"})),
            "fraction of time active",
            "lower threshold, or EPD threshold",
            (ReferenceLine("BPD: 0.92", 0.92), ReferenceLine("EPD: 0.49", 0.49)),
        ),
    ),
    assumptions=(UPPER, TICK, ACTIVITY),
)

EXPERIMENTS = (figure_8, figure_9, figure_12, figure_13)
