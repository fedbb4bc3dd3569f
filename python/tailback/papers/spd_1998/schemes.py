"""Figures 5.7 to 5.10 and tables 5.7 to 5.10: SPD, EPD and EPD per VC (section 5.3)."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tailback.papers import (
    Assumption,
    Claim,
    Contrast,
    Curves,
    Experiment,
    Inequality,
    Line,
    Measured,
    Value,
    Values,
    highest,
    lowest,
    vary,
)
from tailback.papers.spd_1998 import measures
from tailback.papers.spd_1998.networks import DURATION, LONG, SHORT, THREE, TIMER_ONLY, chain, schemes
from tailback.papers.spd_1998.published import SCHEMES, Schemes

__all__ = ["EXPERIMENTS", "largest", "leads", "min_lead", "ratio", "side_by_side"]

MEASURES = {"ratio": measures.goodput_to_input, "normalised_goodput": measures.normalised_goodput}
BOTH = ("SHORT", "LONG")


def ratio(results: Measured, policy: str, threshold: int, setting: str) -> Values:
    """Ratio at one point."""
    return results.values("ratio", policy=policy, threshold=threshold, setting=setting)


def mean_ratio(policy: str, setting: str, thresholds: tuple[int, ...]) -> Callable[[Measured], Values]:
    """Ratio averaged over thresholds."""
    return lambda results: np.mean([ratio(results, policy, each, setting) for each in thresholds], axis=0)


def leads(setting: str, thresholds: tuple[int, ...]) -> Callable[[Measured], Values]:
    """Lead of SPD over the better of the two EPDs, at the threshold with the smallest lead."""
    return lambda results: lowest(
        *(
            ratio(results, "SPD", each, setting) - ratio(results, other, each, setting)
            for each in thresholds
            for other in ("EPD", "EPD per VC")
        )
    )


def min_lead(table: Schemes) -> float:
    """Smallest printed lead of SPD over the better of the two EPDs, over the thresholds."""
    spd, epd, per_vc = (np.array(table.ratios[policy]) for policy in ("SPD", "EPD", "EPD per VC"))
    return round(float((spd - np.maximum(epd, per_vc)).min()), 3)


def worst_over_best(setting: str, thresholds: tuple[int, ...]) -> Callable[[Measured], Values]:
    """SPD at its worst threshold minus the EPDs at their best."""
    return lambda results: (
        lowest(*(ratio(results, "SPD", each, setting) for each in thresholds))
        - highest(*(ratio(results, policy, each, setting) for each in thresholds for policy in ("EPD", "EPD per VC")))
    )


def better_places(setting: str, thresholds: tuple[int, ...]) -> Callable[[Measured], Values]:
    """Fraction of the thresholds at which SPD is better than both EPDs."""
    return lambda results: np.mean(
        [
            (ratio(results, "SPD", each, setting) > ratio(results, "EPD", each, setting))
            & (ratio(results, "SPD", each, setting) > ratio(results, "EPD per VC", each, setting))
            for each in thresholds
        ],
        axis=0,
    )


def largest(differences: list[Values]) -> Values:
    """The difference with the largest mean absolute value."""
    return max(differences, key=lambda each: abs(float(np.mean(each))))


def side_by_side() -> tuple[Curves, ...]:
    """The ratio over EPD's threshold, SHORT next to LONG."""
    return tuple(
        Curves(
            "ratio",
            "threshold",
            tuple(Line(policy, {"policy": policy, "setting": setting}) for policy in THREE),
            "goodput to input",
            "EPD threshold, cells",
            title=setting,
            printed=setting == "SHORT",
        )
        for setting in BOTH
    )


def common_claims(vcs: int) -> tuple[Claim, ...]:
    """Claims of the text about all four tables."""
    table = SCHEMES[vcs]
    below, top = table.thresholds[:-1], table.thresholds[-1]
    printed = {policy: dict(zip(table.thresholds, numbers, strict=True)) for policy, numbers in table.ratios.items()}

    def lowest_at_the_buffer(results: Measured) -> Values:
        return lowest(
            *(ratio(results, "EPD", each, setting) - ratio(results, "EPD", top, setting) for each in below for setting in BOTH)
        )

    def per_vc_gains(results: Measured) -> Values:
        gains = (mean_ratio("EPD per VC", each, below)(results) - mean_ratio("EPD", each, below)(results) for each in BOTH)
        return highest(*gains)

    def spread(results: Measured) -> Values:
        of_setting = []
        for setting in BOTH:
            all_of_them = [ratio(results, "SPD", each, setting) for each in table.thresholds]
            of_setting.append(highest(*all_of_them) - lowest(*all_of_them))
        return highest(*of_setting)

    better = [
        own > max(others) for own, *others in zip(*(table.ratios[each] for each in ("SPD", "EPD", "EPD per VC")), strict=True)
    ]
    return (
        Claim(
            f"C37b-{vcs}",
            "conditional",
            "in most cases SPD gives the better performance (fraction of the thresholds at which it is better than both EPDs)",
            better_places("SHORT", table.thresholds),
            Inequality(">", 0.5),
            published=round(float(np.mean(better)), 3),
            setting="SHORT",
            contrast=Contrast("LONG", better_places("LONG", table.thresholds)),
        ),
        Claim(
            f"C38-{vcs}",
            "reproduced",
            "EPD is lowest with its threshold at the buffer (smallest difference to the other thresholds, SHORT and LONG)",
            lowest_at_the_buffer,
            Inequality(">", 0),
            published=round(min(printed["EPD"][each] for each in below) - printed["EPD"][top], 3),
        ),
        Claim(
            f"C39-{vcs}",
            "reproduced",
            "per-VC accounting does not improve EPD (mean gain over the thresholds below the buffer, SHORT or LONG)",
            per_vc_gains,
            Inequality("<=", 0),
            published=round(float(np.mean([printed["EPD per VC"][each] - printed["EPD"][each] for each in below])), 3),
            ours=True,
        ),
        Claim(
            f"C40-{vcs}",
            "reproduced",
            "SPD hardly depends on the EPD threshold combined with it (largest difference between two thresholds, SHORT or LONG)",
            spread,
            Inequality("<", 0.05),
            published=round(max(table.ratios["SPD"]) - min(table.ratios["SPD"]), 3),
        ),
        *(
            Claim(
                f"{name}-{vcs}",
                "conditional",
                f"fraction of the input that {policy} turns into whole packets, averaged over the thresholds",
                mean_ratio(policy, "SHORT", table.thresholds),
                Value(round(float(np.mean(table.ratios[policy])), 3), 0.05),
                published=round(float(np.mean(table.ratios[policy])), 3),
                setting="SHORT",
                contrast=Contrast("LONG", mean_ratio(policy, "LONG", table.thresholds)),
            )
            for name, policy in (("C41", "EPD"), ("C41b", "SPD"))
        ),
    )


def few_connections(vcs: int) -> tuple[Claim, ...]:
    """Claims of the text about tables 5.7 and 5.8."""
    table = SCHEMES[vcs]
    # With five connections, LONG has a remaining lead of 0.01.
    contrast_setting = "LONG, timer only" if vcs == 5 else "LONG"
    epd = max(*table.ratios["EPD"], *table.ratios["EPD per VC"])
    return (
        Claim(
            f"C36-{vcs}",
            "conditional",
            "any SPD performance is higher than any other EPD performance (SPD at its worst threshold minus EPD at its best)",
            worst_over_best("SHORT", table.thresholds),
            Inequality(">", 0),
            published=round(min(table.ratios["SPD"]) - epd, 3),
            setting="SHORT",
            contrast=Contrast(contrast_setting, worst_over_best(contrast_setting, table.thresholds)),
        ),
        Claim(
            f"C36b-{vcs}",
            "conditional",
            "SPD is better than both EPDs at every threshold (smallest lead)",
            leads("SHORT", table.thresholds),
            Inequality(">", 0),
            published=min_lead(table),
            setting="SHORT",
            contrast=Contrast(contrast_setting, leads(contrast_setting, table.thresholds)),
            ours=True,
        ),
    )


def many_connections(vcs: int) -> Claim:
    """Claims of the text about tables 5.9 and 5.10."""
    table = SCHEMES[vcs]
    differences: list[float] = [own - other for own, other in zip(table.ratios["SPD"], table.ratios["EPD"], strict=True)][:-1]
    largest_printed = max(differences, key=abs)
    return Claim(
        f"C37-{vcs}",
        "reproduced" if vcs == 25 else "not_reproduced",
        "SPD is about as good as EPD: within 0.05 for thresholds from 500 to 900 (largest difference, SHORT or LONG)",
        lambda results: largest(
            [
                ratio(results, "SPD", each, setting) - ratio(results, "EPD", each, setting)
                for each in table.thresholds[:-1]
                for setting in BOTH
            ]
        ),
        Value(0, 0.05),
        published=round(largest_printed, 3),
        note="The bound is our choice. With 20 connections the largest difference equals it.",
    )


ROOM = Claim(
    "C49",
    "not_reproduced",
    "SPD needs room for two packets between its threshold and EPD's share per connection: with less, here 0.9, it does not help "
    "(its lead over EPD, threshold 200, SHORT)",
    lambda results: ratio(results, "SPD", 200, "SHORT") - ratio(results, "EPD", 200, "SHORT"),
    Inequality("<=", 0),
    published=0.215,
    note="(200 / 5 - 20) / 23 = 0.9 packets. The document's own table 5.7 contradicts its section 6.1.",
)


def figure(number: int, vcs: int) -> Experiment:
    """Figure and table 5.NUMBER."""
    table = SCHEMES[vcs]
    buffer = table.thresholds[-1]
    # A fifth of the buffer, as in the other tables.
    congestion = buffer // 5
    own = (*few_connections(vcs), ROOM) if vcs == 5 else few_connections(vcs) if vcs == 15 else (many_connections(vcs),)
    assumptions = [DURATION]
    if vcs == 5:
        assumptions += [
            Assumption("buffer", "200 cells, the largest of the thresholds"),
            Assumption("congestion threshold", "40 cells, the same fifth of the buffer: with 200, SPD could never act"),
        ]
    return Experiment(
        id=f"spd-1998/fig5.{number}",
        title=f"SPD and EPD with {vcs} connections",
        question="Does SPD turn more of the network's input into whole packets than EPD, whatever EPD's threshold?",
        source=f"figure 5.{number}, table 5.{number}, section 5.3; single runs",
        variants=vary(
            chain(vcs, buffer), schemes(table, congestion=congestion), [SHORT, LONG, *([TIMER_ONLY] if vcs == 5 else [])], vcs=vcs
        ),
        measures=MEASURES,
        times=3,
        claims=(*own, *common_claims(vcs)),
        panels=(side_by_side(),),
        assumptions=tuple(assumptions),
    )


EXPERIMENTS = tuple(figure(number, vcs) for number, vcs in enumerate(SCHEMES, 7))
