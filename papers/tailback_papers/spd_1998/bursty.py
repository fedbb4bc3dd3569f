"""Figure 5.11 and table 5.11: bursty sources (section 5.4)."""

from __future__ import annotations

from itertools import combinations

from tailback.papers import AxisValue, Claim, Contrast, Experiment, Expression, furthest, highest, lowest, quick_form, vary
from tailback_papers.spd_1998 import measures
from tailback_papers.spd_1998.networks import LONG, THREE, chain, schemes
from tailback_papers.spd_1998.published import BURSTY
from tailback_papers.spd_1998.schemes import leads, min_lead, ratio, side_by_side

__all__ = ["EXPERIMENTS"]

# Units of 1024 octets per microsecond; as a payload rate in bit/s.
MU = 0.00024
RATE = MU * 1e6 * 1024 * 8

SOURCES = {"flows.vc.application": {"kind": "poisson", "rate": f"{RATE:.0f} bps"}}
SHORT = AxisValue({"setting": "SHORT"}, {"duration": "2 s", **SOURCES})
LONG_BURSTY = AxisValue({"setting": "LONG"}, {**LONG.changes, **SOURCES})


def lead(threshold: int, setting: str) -> Expression:
    """Lead of SPD over EPD."""
    return ratio("SPD", setting, threshold) - ratio("EPD", setting, threshold)


def growth(setting: str) -> Expression:
    """Growth of that lead from threshold 500 to 1000."""
    return lead(1000, setting) - lead(500, setting)


def loss(policy: str, setting: str, threshold: int = 900) -> Expression:
    """Loss from one threshold to the next."""
    return ratio(policy, setting, threshold) - ratio(policy, setting, threshold + 100)


def differences(setting: str) -> list[Expression]:
    """Differences between two schemes at each threshold below the buffer."""
    below = BURSTY.thresholds[:-1]
    return [ratio(one, setting, *below) - ratio(two, setting, *below) for one, two in combinations(sorted(THREE), 2)]


figure_11 = Experiment(
    id="spd-1998/fig5.11",
    title="SPD and EPD with ten bursty sources",
    question="Does SPD also help if sources pause?",
    source="figure 5.11, table 5.11, section 5.4; averages of five runs",
    variants=vary(chain(10), schemes(BURSTY), [SHORT, LONG_BURSTY]),
    measures={
        "ratio": measures.RATIO,
        "normalised_goodput": measures.normalised_goodput,
        "backlog_packets": "sum(flows.*.backlog_packets)",
    },
    claims=(
        Claim(
            "C42",
            "SPD is better than both EPDs at every threshold (smallest lead)",
            leads("SHORT") > 0,
            published=min_lead(BURSTY),
            setting="SHORT, 2 s",
            contrast=Contrast("LONG", leads("LONG")),
        ),
        Claim(
            "C42c",
            "its lead over EPD grows from threshold 500 to 1000",
            growth("SHORT") > 0,
            published=0.108,
            setting="SHORT, 2 s",
            contrast=Contrast("LONG", growth("LONG")),
        ),
        Claim(
            "C42b",
            "in long runs the three schemes agree within 0.03 (largest difference below threshold 1000; not a claim of the "
            "document)",
            furthest(*(each.furthest() for each in differences("LONG"))).equals(0, 0.03),
            ours=True,
        ),
        Claim(
            "C43",
            "EPD falls from threshold 800 to 1000 (SHORT)",
            loss("EPD", "SHORT", 800) + loss("EPD", "SHORT") > 0,
            published=0.093,
        ),
        Claim(
            "C43a",
            "at both steps for which the table has numbers (the smaller)",
            lowest(loss("EPD", "SHORT", 800), loss("EPD", "SHORT")) > 0,
            kind="not_reproduced",
            published=0.046,
            note="From 800 to 900 it hardly changes.",
        ),
        Claim("C43c", "also in long runs", loss("EPD", "LONG") > 0, ours=True),
        Claim(
            "C43b",
            "SPD does not (larger of two steps, SHORT)",
            highest(loss("SPD", "SHORT", 800), loss("SPD", "SHORT")) <= 0,
            published=0,
        ),
    ),
    times=12,
    panels=(side_by_side(),),
    assumptions={
        "rate of the sources": f"{MU} units of 1024 octets per microsecond, {RATE / 1e6:.2f} Mbit/s each: in cells 2.3 times the "
        "capacity of the narrow link. The text has 1024 Kbytes and 0.24 Mbits a second, which would leave the link idle most of "
        "the time with ten sources",
        "data that TCP may not send yet": "is queued without limit",
        "duration": "SHORT: 2 s here, because bursty sources take longer to fill the switch. LONG: 10 s and fast retransmit",
    },
)

EXPERIMENTS = (quick_form(figure_11, "C42, whose interval includes 0 with forty seeds", times=4),)
