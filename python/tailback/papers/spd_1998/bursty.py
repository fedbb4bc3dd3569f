"""Figure 5.11 and table 5.11: bursty sources (section 5.4)."""

from __future__ import annotations

from collections.abc import Callable

from tailback.papers import (
    Assumption,
    AxisValue,
    Claim,
    Contrast,
    Experiment,
    Inequality,
    Measured,
    Value,
    Values,
    highest,
    lowest,
    vary,
)
from tailback.papers.spd_1998 import measures
from tailback.papers.spd_1998.networks import LONG, THREE, chain, schemes
from tailback.papers.spd_1998.published import BURSTY
from tailback.papers.spd_1998.schemes import largest, leads, min_lead, ratio, side_by_side

__all__ = ["EXPERIMENTS"]

# Units of 1024 octets per microsecond; as a payload rate in bit/s.
MU = 0.00024
RATE = MU * 1e6 * 1024 * 8

SOURCES = {"flows.vc.application": {"kind": "poisson", "rate": f"{RATE:.0f} bps"}}
SHORT = AxisValue({"setting": "SHORT"}, {"duration": "2 s", **SOURCES})
LONG_BURSTY = AxisValue({"setting": "LONG"}, {**LONG.changes, **SOURCES})


def lead(threshold: int, setting: str = "SHORT") -> Callable[[Measured], Values]:
    """Lead of SPD over EPD."""
    return lambda results: ratio(results, "SPD", threshold, setting) - ratio(results, "EPD", threshold, setting)


def growth(setting: str) -> Callable[[Measured], Values]:
    """Growth of that lead from threshold 500 to 1000."""
    return lambda results: lead(1000, setting)(results) - lead(500, setting)(results)


def loss(policy: str, setting: str, threshold: int = 900) -> Callable[[Measured], Values]:
    """Loss from one threshold to the next."""
    return lambda results: ratio(results, policy, threshold, setting) - ratio(results, policy, threshold + 100, setting)


def widest(setting: str) -> Callable[[Measured], Values]:
    """Largest difference between two schemes at one threshold below the buffer."""
    pairs = [(first, second) for first in THREE for second in THREE if first < second]
    return lambda results: largest(
        [
            ratio(results, first, each, setting) - ratio(results, second, each, setting)
            for each in BURSTY.thresholds[:-1]
            for first, second in pairs
        ]
    )


figure_11 = Experiment(
    id="spd-1998/fig5.11",
    title="SPD and EPD with ten bursty sources",
    question="Does SPD also help if sources pause?",
    source="figure 5.11, table 5.11, section 5.4; averages of five runs",
    variants=vary(chain(10), schemes(BURSTY), [SHORT, LONG_BURSTY]),
    measures={
        "ratio": measures.goodput_to_input,
        "normalised_goodput": measures.normalised_goodput,
        "backlog_packets": lambda run: float(run.flows["backlog_packets"].sum()),
    },
    claims=(
        Claim(
            "C42",
            "conditional",
            "SPD is better than both EPDs at every threshold (smallest lead)",
            leads("SHORT", BURSTY.thresholds),
            Inequality(">", 0),
            published=min_lead(BURSTY),
            setting="SHORT, 2 s",
            contrast=Contrast("LONG", leads("LONG", BURSTY.thresholds)),
        ),
        Claim(
            "C42c",
            "conditional",
            "its lead over EPD grows from threshold 500 to 1000",
            growth("SHORT"),
            Inequality(">", 0),
            published=0.108,
            setting="SHORT, 2 s",
            contrast=Contrast("LONG", growth("LONG")),
        ),
        Claim(
            "C42b",
            "reproduced",
            "in long runs the three schemes agree within 0.03 (largest difference below threshold 1000; not a claim of the "
            "document)",
            widest("LONG"),
            Value(0, 0.03),
            ours=True,
        ),
        Claim(
            "C43",
            "reproduced",
            "EPD falls from threshold 800 to 1000 (SHORT)",
            lambda results: loss("EPD", "SHORT", 800)(results) + loss("EPD", "SHORT")(results),
            Inequality(">", 0),
            published=0.093,
        ),
        Claim(
            "C43a",
            "not_reproduced",
            "at both steps for which the table has numbers (the smaller)",
            lambda results: lowest(loss("EPD", "SHORT", 800)(results), loss("EPD", "SHORT")(results)),
            Inequality(">", 0),
            published=0.046,
            note="From 800 to 900 it hardly changes.",
        ),
        Claim("C43c", "reproduced", "also in long runs", loss("EPD", "LONG"), Inequality(">", 0), ours=True),
        Claim(
            "C43b",
            "reproduced",
            "SPD does not (larger of two steps, SHORT)",
            lambda results: highest(loss("SPD", "SHORT", 800)(results), loss("SPD", "SHORT")(results)),
            Inequality("<=", 0),
            published=0,
        ),
    ),
    times=12,
    panels=(side_by_side(),),
    assumptions=(
        Assumption(
            "rate of the sources",
            f"{MU} units of 1024 octets per microsecond, {RATE / 1e6:.2f} Mbit/s each: in cells 2.3 times the capacity of "
            "the narrow link. The text has 1024 Kbytes and 0.24 Mbits a second, which would leave the link idle most of the "
            "time with ten sources",
        ),
        Assumption("data that TCP may not send yet", "is queued without limit"),
        Assumption(
            "duration", "SHORT: 2 s here, because bursty sources take longer to fill the switch. LONG: 10 s and fast retransmit"
        ),
    ),
)

EXPERIMENTS = (figure_11,)
