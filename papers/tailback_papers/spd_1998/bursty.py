"""Figure 5.11 and table 5.11: bursty sources (section 5.4)."""

from __future__ import annotations

from itertools import combinations

from tailback.papers import AxisValue, Experiment, Expression, at, furthest, highest, quick_form, vary
from tailback_papers.claims import claims_of
from tailback_papers.spd_1998 import conditions, measures
from tailback_papers.spd_1998.networks import LONG, THREE, chain, schemes
from tailback_papers.spd_1998.published import BURSTY
from tailback_papers.spd_1998.schemes import LEAD, min_lead, ratio, side_by_side

__all__ = ["EXPERIMENTS"]

claim = claims_of(__name__)

# Units of 1024 octets per microsecond; as a payload rate in bit/s.
MU = 0.00024
RATE = MU * 1e6 * 1024 * 8

SOURCES = {"flows.vc.application": {"kind": "poisson", "rate": f"{RATE:.0f} bps"}}
SHORT = AxisValue({"setting": "SHORT"}, {"duration": "2 s", **SOURCES})
LONG_BURSTY = AxisValue({"setting": "LONG"}, {**LONG.changes, **SOURCES})


def lead(threshold: int) -> Expression:
    """Lead of SPD over EPD."""
    return ratio("SPD", threshold) - ratio("EPD", threshold)


def loss(policy: str, lower: int, upper: int) -> Expression:
    """Loss from one threshold to another."""
    return ratio(policy, lower) - ratio(policy, upper)


def differences() -> list[Expression]:
    """Differences between two schemes at each threshold below the buffer, in long runs."""
    of = {policy: at("ratio", policy=policy, setting="LONG", threshold=BURSTY.thresholds[:-1]) for policy in THREE}
    return [of[one] - of[two] for one, two in combinations(sorted(THREE), 2)]


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
    fractions=("normalised_goodput",),
    claims=(
        claim("C42", LEAD > 0, published=min_lead(BURSTY)),
        claim("C42c", lead(1000) > lead(500)),
        claim("C42b", furthest(*(each.furthest() for each in differences())).equals(0, 0.03)),
        claim("C43", loss("EPD", 800, 1000) > 0),
        claim("C43c", loss("EPD", 900, 1000) > 0),
        claim("C43b", highest(loss("SPD", 800, 900), loss("SPD", 900, 1000)) <= 0),
    ),
    times=12,
    panels=(side_by_side(),),
    conditions=(conditions.SETTING,),
    assumptions={
        "rate of the sources": f"{MU} units of 1024 octets per microsecond, {RATE / 1e6:.2f} Mbit/s each: in cells 2.3 times the "
        "capacity of the narrow link. The text has 1024 Kbytes and 0.24 Mbits a second, which would leave the link idle most of "
        "the time with ten sources",
        "data that TCP may not send yet": "is queued without limit",
        "duration": "SHORT: 2 s here, because bursty sources take longer to fill the switch. LONG: 10 s and fast retransmit",
    },
)

EXPERIMENTS = (quick_form(figure_11, "C42, whose interval includes 0 with forty seeds", times=4),)
