"""Settings that the document does not state, and the effect of each choice on its numbers."""

from __future__ import annotations

from typing import Any

from tailback.papers import Claim, Condition, Curves, Experiment, Expression, Line, Measured, Ranking, at, axis, lines, vary
from tailback_papers.claims import claims_of
from tailback_papers.spd_1998 import conditions, measures
from tailback_papers.spd_1998.networks import LONG, NO_EPD, SHORT, chain, epd, epd_per_vc, packet, spd

__all__ = ["EXPERIMENTS"]

claim = claims_of(__name__)

THRESHOLD = 600
POLICIES = [*epd([THRESHOLD]), *spd([THRESHOLD])]

SECONDS = (1.2, 1.4, 1.6, 1.7, 1.8, 1.9, 2.0, 2.5, 3.0, 4.0, 6.0, 8.0, 10.0)
LOSSES = axis(
    "losses",
    {"timer only": {}, "fast retransmit": {"flows.*.tcp.fast_retransmit": 3, "flows.*.tcp.timer": {"form": "coarse_bsd"}}},
)


def lead(**labels: Any) -> Expression:
    """Lead of SPD over EPD."""
    return at("ratio", policy="SPD", **labels) - at("ratio", policy="EPD", **labels)


def after(seconds: float) -> Expression:
    """That lead in runs of this length in which losses are detected by the timer only."""
    return lead(seconds=seconds, losses="timer only")


duration = Experiment(
    id="spd-1998/duration",
    title="The ratio over the length of the run",
    question="How long did the document's runs last?",
    source="not in the document, which gives no duration",
    variants=vary(chain(15), POLICIES, axis("seconds", SECONDS, "duration", "s"), LOSSES),
    times=3,
    measures={"ratio": measures.RATIO, "normalised_goodput": measures.normalised_goodput},
    fractions=("normalised_goodput",),
    claims=(
        claim("D1", at("ratio", policy="EPD", losses="timer only", seconds=(1.6, 2.0)).steps("seconds") > 0.08),
        claim("D2", after(1.7) > 0),
        claim("D3", after(10.0) < 0),
    ),
    panels=(
        tuple(
            Curves(
                "ratio",
                "seconds",
                lines("policy", ("EPD", "SPD"), losses=losses.labels["losses"]),
                "goodput to input",
                "length of the run, s",
                title=f"losses detected by {'the timer only' if losses is LOSSES[0] else 'fast retransmit'}",
            )
            for losses in LOSSES
        ),
    ),
    assumptions={"common settings": "15 connections, EPD threshold 600 cells"},
)


# The ratio without duplicate packets.
DISTINCT = "sum(flows.*.delivered_packets * flows.*.frame_cells) / queues.link12.departed_units"


def processing(delay: Any) -> dict[str, Any]:
    """Settings of the hosts' processing delay."""
    return {"flows.vc.send_processing": delay, "flows.vc.receive_processing": delay}


OPEN = axis(
    "choice",
    {
        "as in SHORT": {},
        "22 cells a packet": packet(22),
        "20 cells a packet": packet(20),
        "no processing delay": processing(None),
        "exponential processing delay": processing({"exponential": "300 us"}),
        "timer of the BSD form": {"flows.vc.tcp.timer": {"form": "coarse_bsd"}},
        "tick 0.1 s": {"flows.vc.tcp.timer": {"tick": "0.1 s"}},
        "starts within 5 ms": {"flows.vc.start": {"uniform": ["0 ms", "5 ms"]}},
        "starts within 500 ms": {"flows.vc.start": {"uniform": ["0 ms", "500 ms"]}},
        "no delay of segmentation": {"flows.vc.framing": {}},
        "fast retransmit": {"flows.vc.tcp.fast_retransmit": 3},
    },
)

CHOICE = Condition(
    "choice",
    'not stated: tick, starts; "20-cell is approximately the length of 1 packet" (5.2), "Mean Processing Delay" (4.1.2)',
    tuple(each.labels["choice"] for each in OPEN),
    "the default of all runs",
)

choices = Experiment(
    id="spd-1998/choices",
    title="Effects of the other unstated settings",
    question="Does the outcome depend on settings that the document does not state?",
    source="not in the document",
    variants=vary(chain(15), POLICIES, OPEN),
    times=3,
    measures={"ratio": measures.RATIO, "ratio_distinct": DISTINCT, "normalised_goodput": measures.normalised_goodput},
    fractions=("normalised_goodput",),
    claims=(
        claim("C37d", lead() > 0),
        claim("D4", (lead(choice="no delay of segmentation") - lead(choice="as in SHORT")).equals(0, 0.01)),
        claim(
            "D5",
            (at("ratio", policy="EPD", choice="as in SHORT") - at("ratio_distinct", policy="EPD", choice="as in SHORT")) < 0.1,
        ),
    ),
    panels=(
        Ranking(
            "ratio",
            tuple(
                Line(f"{choice.labels['choice']}: {policy}", {"policy": policy, "choice": choice.labels["choice"]})
                for choice in OPEN
                for policy in ("EPD", "SPD")
            ),
            "goodput to input",
        ),
    ),
    conditions=(CHOICE,),
    assumptions={"common settings": "15 connections, EPD threshold 600 cells"},
)

ACTIVE = ("configured", "backlogged")


active = Experiment(
    id="spd-1998/active",
    title="Which connections are active",
    question="Does EPD per VC improve if its threshold follows the connections that have cells in the buffer?",
    source='section 2.5: "ten active VCs", an example with all connections',
    variants=vary(chain(15), epd_per_vc([THRESHOLD]), axis("active", ACTIVE, "links.*.queue.active_vcs"), [SHORT, LONG]),
    times=3,
    measures={"ratio": measures.RATIO, "normalised_goodput": measures.normalised_goodput, "fairness": measures.FAIRNESS},
    fractions=("normalised_goodput",),
    claims=tuple(
        Claim(
            name,
            f"it does not improve ({setting}, gain in the ratio)",
            at("ratio", active="backlogged", setting=setting) <= at("ratio", active="configured", setting=setting),
            ours=True,
        )
        for name, setting in (("D8", "SHORT"), ("D9", "LONG"))
    ),
    panels=(
        Ranking(
            "ratio",
            tuple(
                Line(f"{setting}: {each}", {"active": each, "setting": setting})
                for setting in ("SHORT", "LONG")
                for each in ACTIVE
            ),
            "goodput to input",
        ),
    ),
    assumptions={
        "common settings": "15 connections, EPD threshold 600 cells",
        "active_vcs": "configured: all fifteen, as in the other experiments; backlogged: those with cells in the buffer",
    },
)

# A configuration that the document has in two tables.
TWICE = {15: (0.950, 0.859), 20: (0.9212, 0.733), 25: (0.9327, 0.726)}


def _contradictions(vcs: int) -> tuple[Claim, ...]:
    first, second = TWICE[vcs]
    number = (15, 20, 25).index(vcs) + 1
    return (
        Claim(
            f"D6-{vcs}",
            f"SPD at 20 cells, EPD off: the ratio of table 5.{number}",
            at("ratio", vcs=vcs).equals(first, 0.03),
            kind="conditional",
            published=first,
        ),
        Claim(
            f"D7-{vcs}",
            f"the same configuration, and another ratio, in table 5.{number + 7}",
            at("ratio", vcs=vcs).equals(second, 0.05),
            kind="conditional",
            published=second,
        ),
    )


def _why(results: Measured) -> str:
    def mean(vcs: int, setting: str) -> str:
        return f"{results.mean(at('ratio', vcs=vcs, setting=setting)):.3f}"

    pairs = "; ".join(
        f"{vcs} connections: {first} and {second} printed, {mean(vcs, 'LONG')} in LONG and {mean(vcs, 'SHORT')} in SHORT"
        for vcs, (first, second) in TWICE.items()
    )
    return (
        "The document has SPD at 20 cells with EPD off in two tables each, with the same stated configuration and ratios up to "
        f"0.2 apart: {pairs}. Runs of different length, with and without fast retransmit, reproduce both; no stated setting does."
    )


contradictions = Experiment(
    id="spd-1998/contradictions",
    title="One configuration, two tables",
    question="Why do tables 5.1 to 5.3 and 5.8 to 5.10 have different numbers for the same configuration?",
    source="tables 5.1 to 5.3 at 20 cells; tables 5.8 to 5.10 at threshold 1000; table 5.2 has two rows for 20, whose mean is "
    "used",
    variants=tuple(variant for vcs in TWICE for variant in vary(chain(vcs), spd([NO_EPD]), [SHORT, LONG], vcs=vcs)),
    times=3,
    measures={"ratio": measures.RATIO, "normalised_goodput": measures.normalised_goodput},
    fractions=("normalised_goodput",),
    claims=tuple(claim for vcs in TWICE for claim in _contradictions(vcs)),
    answer=_why,
    conditions=(conditions.SETTING,),
    panels=(
        Ranking(
            "ratio",
            tuple(
                Line(f"{vcs} connections: {setting}", {"vcs": vcs, "setting": setting})
                for vcs in TWICE
                for setting in ("SHORT", "LONG")
            ),
            "goodput to input",
        ),
    ),
)

EXPERIMENTS = (duration, choices, active, contradictions)
