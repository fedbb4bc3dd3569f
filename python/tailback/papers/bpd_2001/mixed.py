"""Figures 20 and 21: two Reno connections, or one with SACK and one with Reno (section 6.2)."""

from __future__ import annotations

from collections.abc import Callable

from tailback._run import Run
from tailback.papers import (
    Assumption,
    AxisValue,
    Claim,
    Contrast,
    Experiment,
    Inequality,
    Line,
    Measure,
    Measured,
    Ranking,
    ReferenceLine,
    Value,
    Values,
    highest,
    lowest,
    vary,
)
from tailback.papers.bpd_2001 import measures
from tailback.papers.bpd_2001.networks import NORMALISED, PLAIN, PPD, bpd, epd, mixed

__all__ = ["EXPERIMENTS"]

PAIRS = (
    AxisValue({"connections": "Reno, Reno"}),
    AxisValue({"connections": "SACK, Reno"}, {"flows.first.tcp.preset": "bpd-2001/sack"}),
)
USUAL = (AxisValue({"ssthresh": 122}),)
CAUTIOUS = (AxisValue({"ssthresh": 16}, {"flows.*.tcp.initial_ssthresh": 16}),)
BPD = bpd([0.4], gaps=[20])
BOTH = ("Reno, Reno", "SACK, Reno")


def timeouts_of(group: str) -> Measure:
    """Timeouts of one of the two connections."""
    return lambda run: float(run.flows.where(group=group)["timeouts"][0])


def advantage(run: Run) -> float:
    """Deliveries of the first connection divided by those of the second."""
    first, second = (run.flows.where(group=group)["delivered_packets"][0] for group in ("first", "second"))
    return float(first / second)


def at(results: Measured, measure: str, connections: str, policy: str, ssthresh: int = 122) -> Values:
    """A measure of one pair under one policy."""
    return results.values(measure, connections=connections, policy=policy, ssthresh=ssthresh)


def under_bpd(measure: str, ssthresh: int = 122, *, worst: str) -> Callable[[Measured], Values]:
    """A measure under BPD, for the pair with the worse value."""
    choose = lowest if worst == "lowest" else highest
    return lambda results: choose(*(at(results, measure, pair, "BPD", ssthresh) for pair in BOTH))


def lines(ssthresh: int = 122) -> tuple[Line, ...]:
    """Each pair under each policy."""
    return tuple(
        Line(f"{pair}: {name}", {"connections": pair, "policy": policy, "ssthresh": ssthresh})
        for pair in BOTH
        for policy, name in (("plain", "plain ATM"), ("PPD", "PPD"), ("EPD", "EPD at 0.5"), ("BPD", "BPD"))
    )


figure_20 = Experiment(
    id="bpd-2001/fig20",
    title="Reno and SACK share a link",
    question="Can Reno keep up with SACK if the switch spares connections that lost a packet?",
    source="figures 20 and 21, section 6.2: LT 40 %, UT 90 %, gap 20, buffer 400 cells",
    variants=(
        *vary(mixed(), PAIRS, [*PLAIN, *PPD, *epd([0.5]), *BPD], USUAL),
        *vary(mixed(), PAIRS, BPD, CAUTIOUS),
    ),
    measures={
        "goodput": measures.goodput,
        "fairness": measures.fairness,
        "timeouts_first": timeouts_of("first"),
        "timeouts_second": timeouts_of("second"),
        "timeouts": lambda run: 2 * measures.timeouts(run),
        "max_timeouts": measures.max_timeouts,
        "advantage": advantage,
    },
    claims=(
        Claim(
            "C28",
            "reproduced",
            "two Reno connections share a plain switch evenly (fairness)",
            lambda results: at(results, "fairness", "Reno, Reno", "plain"),
            Inequality(">", 0.9),
        ),
        Claim(
            "C28b",
            "reproduced",
            "with many timeouts (of both together, minus those under BPD)",
            lambda results: at(results, "timeouts", "Reno, Reno", "plain") - at(results, "timeouts", "Reno, Reno", "BPD"),
            Inequality(">", 10),
        ),
        Claim(
            "C28c",
            "reproduced",
            "and low utilisation (goodput gained by BPD)",
            lambda results: at(results, "goodput", "Reno, Reno", "BPD") - at(results, "goodput", "Reno, Reno", "plain"),
            Inequality(">", 0.1),
        ),
        Claim(
            "C29",
            "reproduced",
            "next to SACK on a plain switch Reno falls behind: SACK delivers more than 1.5 times as much",
            lambda results: at(results, "advantage", "SACK, Reno", "plain"),
            Inequality(">", 1.5),
        ),
        Claim(
            "C29b",
            "reproduced",
            "Reno has more than 4 times the timeouts of SACK (timeouts above that)",
            lambda results: (
                at(results, "timeouts_second", "SACK, Reno", "plain") - 4 * at(results, "timeouts_first", "SACK, Reno", "plain")
            ),
            Inequality(">", 0),
        ),
        Claim(
            "C29c",
            "reproduced",
            "the two share less evenly than two Reno connections do (loss of fairness)",
            lambda results: at(results, "fairness", "Reno, Reno", "plain") - at(results, "fairness", "SACK, Reno", "plain"),
            Inequality(">", 0),
        ),
        Claim(
            "C29d",
            "not_reproduced",
            "Reno sharing with SACK has 34 timeouts (in 15 s, on plain ATM)",
            lambda results: at(results, "timeouts_second", "SACK, Reno", "plain"),
            Value(34, 2),
            published=34,
            note="Neither the duration nor the policy without BPD is stated, and the number depends on both: with EPD it is 23.",
        ),
        Claim(
            "C29e",
            "not_reproduced",
            "SACK sharing with Reno has 3 timeouts (in 15 s, on plain ATM)",
            lambda results: at(results, "timeouts_first", "SACK, Reno", "plain"),
            Value(3, 1),
            published=3,
        ),
        Claim(
            "C30",
            "reproduced",
            "under BPD both pairs share evenly (lower fairness)",
            under_bpd("fairness", worst="lowest"),
            Inequality(">", 0.98),
        ),
        Claim(
            "C30b",
            "not_reproduced",
            "and use almost 100 % of the bandwidth: at least 0.98 (lower goodput)",
            under_bpd("goodput", worst="lowest"),
            Inequality(">=", 0.98),
            note="The bound is our choice.",
        ),
        Claim(
            "C30c",
            "reproduced",
            "with at most one timeout per connection (the connection with the most)",
            under_bpd("max_timeouts", worst="highest"),
            Inequality("<=", 1),
        ),
        Claim(
            "C30d",
            "conditional",
            "no connection has a timeout under BPD (timeouts of both, the worse pair)",
            under_bpd("timeouts", 16, worst="highest"),
            Inequality("<=", 0),
            published=0,
            setting="initial slow-start threshold of 16 segments",
            contrast=Contrast("122 segments", under_bpd("timeouts", worst="highest")),
        ),
        Claim(
            "C31",
            "not_reproduced",
            "SACK delivers almost 100 % more than the Reno connection sharing its link (ratio)",
            lambda results: at(results, "advantage", "SACK, Reno", "plain"),
            Value(2, 0.1),
            published=2,
            note="Quoted in section 6.2 from a study of another network, as are its 50 timeouts, which SACK reduced to 2.",
        ),
    ),
    times=3,
    panels=(
        (Ranking("goodput", lines(), "goodput of both, as a fraction of the link"),),
        (Ranking("fairness", lines(), "fairness of the two"),),
        (
            Ranking(
                "timeouts_second",
                lines(),
                "timeouts of the Reno connection, in 15 s",
                reference_lines=(ReferenceLine("sharing with SACK: 34", 34),),
            ),
        ),
    ),
    assumptions=(
        Assumption("duration", "15 s: 34 timeouts of one connection are impossible within 10 s"),
        Assumption("the policy without BPD", "plain ATM; also PPD, and EPD at half the buffer"),
        Assumption("propagation delays", "0.3 ms on each link, as in the other networks"),
        Assumption("tick of the retransmission timer", "0.1 s"),
        NORMALISED,
    ),
)

EXPERIMENTS = (figure_20,)
