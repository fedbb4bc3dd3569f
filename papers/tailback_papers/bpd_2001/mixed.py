"""Figures 20 and 21: two Reno connections, or one with SACK and one with Reno (section 6.2)."""

from __future__ import annotations

from tailback.papers import Claim, Contrast, Experiment, Expression, Line, Ranking, ReferenceLine, at, axis, vary
from tailback_papers.bpd_2001 import measures
from tailback_papers.bpd_2001.networks import NORMALISED, PLAIN, PPD, bpd, epd, mixed

__all__ = ["EXPERIMENTS"]

PAIRS = axis("connections", {"Reno, Reno": {}, "SACK, Reno": {"flows.first.tcp.preset": "bpd-2001/sack"}})
USUAL, CAUTIOUS = axis("ssthresh", {122: {}, 16: {"flows.*.tcp.initial_ssthresh": 16}})
BPD = bpd([0.4], gaps=[20])
BOTH = ("Reno, Reno", "SACK, Reno")


def of(measure: str, connections: str, policy: str) -> Expression:
    """A measure of one pair under one policy."""
    return at(measure, connections=connections, policy=policy, ssthresh=122)


def under_bpd(measure: str, ssthresh: int = 122) -> Expression:
    """A measure under BPD, for each pair."""
    return at(measure, policy="BPD", ssthresh=ssthresh)


def ranking(measure: str, title: str, *levels: ReferenceLine) -> Ranking:
    """Each pair under each policy."""
    policies = {"plain ATM": "plain", "PPD": "PPD", "EPD at 0.5": "EPD", "BPD": "BPD"}
    shown = (
        Line(f"{pair}: {name}", {"connections": pair, "policy": policy, "ssthresh": 122})
        for pair in BOTH
        for name, policy in policies.items()
    )
    return Ranking(measure, tuple(shown), title, reference_lines=levels)


figure_20 = Experiment(
    id="bpd-2001/fig20",
    title="Reno and SACK share a link",
    question="Can Reno keep up with SACK if the switch spares connections that lost a packet?",
    source="figures 20 and 21, section 6.2: LT 40 %, UT 90 %, gap 20, buffer 400 cells",
    variants=(*vary(mixed(), PAIRS, [*PLAIN, *PPD, *epd([0.5]), *BPD], [USUAL]), *vary(mixed(), PAIRS, BPD, [CAUTIOUS])),
    measures={
        "goodput": measures.GOODPUT,
        "fairness": measures.FAIRNESS,
        "timeouts_first": "flows.first.timeouts",
        "timeouts_second": "flows.second.timeouts",
        "timeouts": "sum(flows.*.timeouts)",
        "max_timeouts": measures.MAX_TIMEOUTS,
        "advantage": "flows.first.delivered_packets / flows.second.delivered_packets",
    },
    claims=(
        Claim("C28", "two Reno connections share a plain switch evenly (fairness)", of("fairness", "Reno, Reno", "plain") > 0.9),
        Claim(
            "C28b",
            "with many timeouts (of both together, minus those under BPD)",
            of("timeouts", "Reno, Reno", "plain") - of("timeouts", "Reno, Reno", "BPD") > 10,
        ),
        Claim(
            "C28c",
            "and low utilisation (goodput gained by BPD)",
            of("goodput", "Reno, Reno", "BPD") - of("goodput", "Reno, Reno", "plain") > 0.1,
        ),
        Claim(
            "C29",
            "next to SACK on a plain switch Reno falls behind: SACK delivers more than 1.5 times as much",
            of("advantage", "SACK, Reno", "plain") > 1.5,
        ),
        Claim(
            "C29b",
            "Reno has more than 4 times the timeouts of SACK (timeouts above that)",
            of("timeouts_second", "SACK, Reno", "plain") > 4 * of("timeouts_first", "SACK, Reno", "plain"),
        ),
        Claim(
            "C29c",
            "the two share less evenly than two Reno connections do (loss of fairness)",
            of("fairness", "Reno, Reno", "plain") > of("fairness", "SACK, Reno", "plain"),
        ),
        Claim(
            "C29d",
            "Reno sharing with SACK has 34 timeouts (in 15 s, on plain ATM)",
            of("timeouts_second", "SACK, Reno", "plain").equals(34, 2),
            kind="not_reproduced",
            published=34,
            note="Neither the duration nor the policy without BPD is stated, and the number depends on both: with EPD it is 23.",
        ),
        Claim(
            "C29e",
            "SACK sharing with Reno has 3 timeouts (in 15 s, on plain ATM)",
            of("timeouts_first", "SACK, Reno", "plain").equals(3, 1),
            kind="not_reproduced",
            published=3,
        ),
        Claim("C30", "under BPD both pairs share evenly (lower fairness)", under_bpd("fairness").min() > 0.98),
        Claim(
            "C30b",
            "and use almost 100 % of the bandwidth: at least 0.98 (lower goodput)",
            under_bpd("goodput").min() >= 0.98,
            kind="not_reproduced",
            note="The bound is our choice.",
        ),
        Claim(
            "C30c", "with at most one timeout per connection (the connection with the most)", under_bpd("max_timeouts").max() <= 1
        ),
        Claim(
            "C30d",
            "no connection has a timeout under BPD (timeouts of both, the worse pair)",
            under_bpd("timeouts", 16).max() <= 0,
            published=0,
            setting="initial slow-start threshold of 16 segments",
            contrast=Contrast("122 segments", under_bpd("timeouts").max()),
        ),
        Claim(
            "C31",
            "SACK delivers almost 100 % more than the Reno connection sharing its link (ratio)",
            of("advantage", "SACK, Reno", "plain").equals(2, 0.1),
            kind="not_reproduced",
            published=2,
            note="Quoted in section 6.2 from a study of another network, as are its 50 timeouts, which SACK reduced to 2.",
        ),
    ),
    times=3,
    panels=(
        ranking("goodput", "goodput of both, as a fraction of the link"),
        ranking("fairness", "fairness of the two"),
        ranking("timeouts_second", "timeouts of the Reno connection, in 15 s", ReferenceLine("sharing with SACK: 34", 34)),
    ),
    assumptions={
        "duration": "15 s: 34 timeouts of one connection are impossible within 10 s",
        "the policy without BPD": "plain ATM; also PPD, and EPD at half the buffer",
        "propagation delays": "0.3 ms on each link, as in the other networks",
        "tick of the retransmission timer": "0.1 s",
        **NORMALISED,
    },
)

EXPERIMENTS = (figure_20,)
