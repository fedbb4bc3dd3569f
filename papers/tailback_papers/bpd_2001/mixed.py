"""Figures 20 and 21: two Reno connections, or one with SACK and one with Reno (section 6.2)."""

from __future__ import annotations

from tailback.papers import (
    AxisValue,
    Experiment,
    Expression,
    Label,
    Line,
    Ranking,
    ReferenceLine,
    at,
    axis,
    quick_form,
    vary,
)
from tailback_papers.bpd_2001 import conditions, measures
from tailback_papers.bpd_2001.networks import NORMALISED, PLAIN, PPD, bpd, epd, mixed
from tailback_papers.claims import claims_of

__all__ = ["EXPERIMENTS"]

claim = claims_of(__name__)

SACK = "bpd-2001/sack"
PAIRS = axis(
    "connections",
    {
        "Reno, Reno": {},
        "SACK, Reno": {"flows.first.tcp.preset": SACK},
        "SACK, SACK": {"flows.first.tcp.preset": SACK, "flows.second.tcp.preset": SACK},
    },
)
FIFTEEN, FOURTEEN, TEN = axis("duration_s", conditions.DURATION.values, "duration", "s")
SSTHRESHES = axis("ssthresh", conditions.SSTHRESH.values, "flows.*.tcp.initial_ssthresh")
# The policies that may be meant by "BPD turned off".
OFF = [AxisValue({"off": each.labels["policy"]}, each.changes) for each in (*PLAIN, *PPD, *epd([0.5]))]
BPD = [AxisValue({}, each.changes) for each in bpd([0.4], gaps=[20])]
ON = "BPD"
BOTH = ("Reno, Reno", "SACK, Reno")


def of(measure: str, connections: str, switch: str) -> Expression:
    """A measure of one pair, with BPD or with it turned off."""
    return at(measure, connections=connections, switch=switch)


def under_bpd(measure: str) -> Expression:
    """A measure under BPD, for the pairs of figure 20."""
    return at(measure, switch=ON, connections=BOTH)


def ranking(measure: str, title: str, *levels: ReferenceLine) -> Ranking:
    """Each pair under each policy."""
    policies: dict[str, dict[str, Label]] = {
        "plain ATM": {"off": "plain"},
        "PPD": {"off": "PPD"},
        "EPD at 0.5": {"off": "EPD"},
        "BPD": {"switch": ON, "ssthresh": 122},
    }
    shown = (
        Line(f"{pair}: {name}", {"connections": pair, "duration_s": 15, **where})
        for pair in BOTH
        for name, where in policies.items()
    )
    return Ranking(measure, tuple(shown), title, reference_lines=levels)


figure_20 = Experiment(
    id="bpd-2001/fig20",
    title="Reno and SACK share a link",
    question="Can Reno keep up with SACK if the switch spares connections that lost a packet?",
    source="figures 20 and 21, section 6.2: LT 40 %, UT 90 %, gap 20, buffer 400 cells",
    variants=(
        *vary(mixed(), PAIRS, OFF, [FIFTEEN, TEN], switch="off"),
        # The duration in which Reno has 34 timeouts.
        *vary(mixed(), PAIRS[1:2], OFF, [FOURTEEN], switch="off"),
        *vary(mixed(), PAIRS, BPD, [FIFTEEN, TEN], SSTHRESHES, switch=ON),
    ),
    measures={
        "goodput": measures.GOODPUT,
        "utilisation": "queues.bottleneck.utilisation",
        "fairness": measures.FAIRNESS,
        "timeouts_first": "flows.first.timeouts",
        "timeouts_second": "flows.second.timeouts",
        "timeouts": "sum(flows.*.timeouts)",
        "max_timeouts": measures.MAX_TIMEOUTS,
        "throughput_first": "flows.first.goodput_bps / 1e6",
        "throughput_second": "flows.second.goodput_bps / 1e6",
        "advantage": "flows.first.delivered_packets / flows.second.delivered_packets",
    },
    fractions=("goodput",),
    claims=(
        claim("C28", of("fairness", "Reno, Reno", "off") > 0.9),
        claim("C28b", of("timeouts", "Reno, Reno", "off") - of("timeouts", "Reno, Reno", ON) > 10),
        claim("C28c", of("goodput", "Reno, Reno", ON) - of("goodput", "Reno, Reno", "off") > 0.1),
        claim("C29", of("advantage", "SACK, Reno", "off") > 1.5),
        claim("C29b", of("timeouts_second", "SACK, Reno", "off") > 4 * of("timeouts_first", "SACK, Reno", "off")),
        claim("C29c", of("fairness", "Reno, Reno", "off") > of("fairness", "SACK, Reno", "off")),
        claim("C29f", of("utilisation", "SACK, Reno", "off") < 0.95),
        claim("C29d", of("timeouts_second", "SACK, Reno", "off").equals(34, 2)),
        claim("C29e", of("timeouts_first", "SACK, Reno", "off").equals(3, 1)),
        claim("C30", under_bpd("fairness").min() > 0.98),
        claim("C30b", under_bpd("utilisation").min() >= 0.95),
        claim("C30c", under_bpd("max_timeouts").max() <= 1),
        claim("C30d", under_bpd("timeouts").max() <= 0),
        claim("C31", of("advantage", "SACK, Reno", "off").equals(2, 0.1)),
        claim("C33", of("goodput", "SACK, SACK", "off") / of("goodput", "SACK, SACK", ON) >= 0.95),
    ),
    times=10,
    panels=(
        ranking("throughput_first", "throughput of connection 1, Mbit/s"),
        ranking("throughput_second", "throughput of connection 2 (Reno), Mbit/s"),
        ranking("goodput", "goodput of both, as a fraction of the link"),
        ranking("fairness", "fairness of the two"),
        ranking("timeouts_second", "timeouts of the Reno connection, in 15 s", ReferenceLine("sharing with SACK: 34", 34)),
    ),
    conditions=(conditions.OFF, conditions.DURATION, conditions.SSTHRESH),
    assumptions={
        "EPD": "threshold of half the buffer",
        "propagation delays": "0.3 ms on each link, as in the other networks",
        "tick of the retransmission timer": "0.1 s",
        **NORMALISED,
    },
)

EXPERIMENTS = (quick_form(figure_20, "claims whose interval, with ten seeds, includes the bound"),)
