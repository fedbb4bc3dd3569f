"""The benefit of SPD: the cost of its ratio in goodput, and its remaining lead in a longer run, which the document does not
evaluate.
"""

from __future__ import annotations

import numpy as np

from tailback.papers import (
    AxisValue,
    Experiment,
    Expression,
    Label,
    Line,
    Measured,
    Ranking,
    Variant,
    at,
    quick_form,
    vary,
)
from tailback_papers.claims import claims_of
from tailback_papers.spd_1998 import measures
from tailback_papers.spd_1998.networks import DESCRIBED, LONG, SHORT, TIMER_ONLY, chain, epd, schemes, spd, split
from tailback_papers.spd_1998.published import SPLIT

__all__ = ["EXPERIMENTS"]

claim = claims_of(__name__)

RENO = AxisValue({"setting": "LONG, Reno"}, {**LONG.changes, "flows.vc.tcp.recovery": "reno"})
VCS = (5, 15, 25)
SETTINGS = (SHORT, LONG, TIMER_ONLY, RENO)


def _variants(vcs: int, buffer: int) -> tuple[Variant, ...]:
    """Both policies with EPD's threshold at four fifths of the buffer."""
    policies = [*epd([buffer * 4 // 5]), *spd([buffer * 4 // 5], congestion=buffer // 5)]
    return vary(chain(vcs, buffer), policies, SETTINGS, vcs=vcs)


def of(measure: str, policy: str, vcs: Label | tuple[int, ...], setting: str) -> Expression:
    """A measure of one policy."""
    return at(measure, policy=policy, vcs=vcs, setting=setting)


def lead(measure: str, vcs: Label | tuple[int, ...], setting: str) -> Expression:
    """Lead of SPD over EPD."""
    return of(measure, "SPD", vcs, setting) - of(measure, "EPD", vcs, setting)


def cost(setting: str, vcs: int | tuple[int, ...] = VCS) -> Expression:
    """Loss of goodput of SPD relative to EPD."""
    return 1 - of("normalised_goodput", "SPD", vcs, setting) / of("normalised_goodput", "EPD", vcs, setting)


def improvement(setting: str) -> Expression:
    """Gain of SPD over EPD in cells of whole packets on two paths, relative, averaged over the thresholds."""
    spd, epd = (at("frame_goodput", policy=policy, setting=setting, vcs="two ways") for policy in ("SPD", "EPD"))
    return (spd / epd - 1).mean()


def answer(results: Measured) -> str:
    """The verdict in words, with the measured values."""

    def percent(share: float) -> str:
        return f"{100 * share:.0f} %"

    def both(measure: str, vcs: int, setting: str, form: str) -> str:
        own, other = (results.mean(of(measure, policy, vcs, setting)) for policy in ("SPD", "EPD"))
        return f"{own:{form}} instead of {other:{form}}"

    def range_of(values: list[float]) -> str:
        return f"{percent(min(values))} to {percent(max(values))}"

    leads = ", ".join(f"{results.mean(lead('ratio', vcs, 'SHORT')):+.3f} with {vcs}" for vcs in VCS)
    late = ", ".join(f"{results.mean(lead('ratio', vcs, 'LONG')):+.3f} with {vcs}" for vcs in VCS)
    short_cost = range_of([results.mean(cost("SHORT", vcs)) for vcs in VCS])
    long_cost = range_of([results.mean(cost("LONG", vcs)) for vcs in VCS])
    timer_cost = range_of([results.mean(cost("LONG, timer only", vcs)) for vcs in VCS])
    gains = [-results.mean(cost("LONG, Reno", vcs)) for vcs in VCS]
    reno = ", ".join(
        f"{percent(abs(gain))} {'more' if gain > 0 else 'less'} with {vcs}" for vcs, gain in zip(VCS, gains, strict=True)
    )
    reno += " connections"
    spread = float(np.std(lead("ratio", 15, "SHORT")(results), ddof=1))
    return (
        "Does single packet discard help? By the document's own measure, the fraction of the input that leaves the network in "
        f"whole packets, it does during the first overshoot. In runs of 1.7 s it leads EPD by {leads} connections. In runs of 10 "
        f"s in which TCP also has fast retransmit, that lead is {late}: too little to justify a scheme.\n\nAt what cost? The "
        f"ratio rises because less is sent, not because more arrives. SPD delivers {short_cost} less data than EPD in the short "
        f"runs, {long_cost} less in the long ones, and {timer_cost} less in long runs without fast retransmit. With 15 "
        f"connections the narrow link carries {both('normalised_goodput', 15, 'LONG', '.3f')} of its capacity: each build-up "
        "costs a connection its window, and before the window has recovered the queue is empty and the link idle. A connection "
        f"has {both('timeouts', 15, 'LONG', '.2f')} timeouts a second.\n\nWhen is it worthwhile nevertheless? Not reliably. A "
        "Reno connection that loses several packets of a window waits for a timeout, and one that loses a single packet does "
        f"not: with Reno, SPD delivers {reno} than EPD. On the networks of bpd-2001, all Reno, it carries more than EPD, and BPD "
        "more than either (experiment policies). With enough connections that some are always sending, it costs nothing "
        "(experiment sizes).\n\nAnd the second headline, 13 % more goodput if some connections have another path (abstract, "
        f"section 5.6)? In runs of 10 s it is {100 * results.mean(improvement('LONG')):+.0f} %. In runs of 1.7 s, which give the "
        f"printed numbers, single runs differ by {100 * float(np.std(improvement('SHORT')(results), ddof=1)):.0f} % (standard "
        "deviation): a lottery, of which the document has a single draw. The mean of 300 runs is a loss (experiment "
        f"section5.6).\n\nWhat is its benefit? A short queue: {both('mean_queue', 15, 'LONG', '.0f')} cells "
        "on average with 15 connections, a delay of "
        f"{1000.0 * results.mean(of('mean_queue', 'SPD', 15, 'LONG')) * measures.CELL_BITS / measures.RATE_BPS:.0f} ms instead "
        f"of {1000.0 * results.mean(of('mean_queue', 'EPD', 15, 'LONG')) * measures.CELL_BITS / measures.RATE_BPS:.0f} ms. If "
        "that matters, and the senders have fast retransmit and enough connections to keep the link busy, SPD may be "
        "worthwhile.\n\nThe document has single runs. With other start times within 50 ms the lead of SPD over EPD with 15 "
        f"connections in a short run differs by {spread:.3f} (standard deviation) from run to run. In its tables, differences "
        f"below about {2 * spread:.2f} are not significant."
    )


def rows(setting: str) -> tuple[Line, ...]:
    """Each policy with each number of connections."""
    return tuple(
        Line(f"{vcs} connections: {policy}", {"vcs": vcs, "policy": policy, "setting": setting})
        for vcs in VCS
        for policy in ("EPD", "SPD")
    )


verdict = Experiment(
    id="spd-1998/verdict",
    title="Does single packet discard help, when, and at what cost?",
    question="What does SPD gain over EPD by the document's own measure, what does it lose in goodput, and what remains in a "
    "longer run?",
    source="sections 1.2, 6.1 and 6.2; the comparison is not in the document",
    variants=(
        *(variant for vcs in VCS for variant in _variants(vcs, 200 if vcs == 5 else 1000)),
        # The network of the second headline, with all thresholds of its table.
        *vary(split(), schemes(SPLIT, dropping=70), [SHORT, LONG], vcs="two ways"),
    ),
    measures={
        "ratio": measures.RATIO,
        "frame_goodput": measures.FRAME_GOODPUT,
        "normalised_goodput": measures.normalised_goodput,
        "mean_queue": measures.MEAN_QUEUE,
        "badput_share": measures.BADPUT_SHARE,
        "timeouts": measures.timeouts,
        "fairness": measures.FAIRNESS,
    },
    fractions=("normalised_goodput",),
    answer=answer,
    times=3,
    claims=(
        claim("V1", lead("ratio", (5, 15), "SHORT").min() > 0),
        claim("V2", lead("ratio", VCS, "LONG").max().equals(0, 0.02)),
        claim("V3", cost("LONG").min() > 0.05),
        claim("V4", cost("LONG, timer only").min() > 0.25),
        claim("V5", lead("normalised_goodput", 15, "LONG, Reno") > 0),
        claim("V6", (of("mean_queue", "SPD", (15, 25), "LONG") / of("mean_queue", "EPD", (15, 25), "LONG")).max() < 1 / 3),
    ),
    panels=(
        Ranking("ratio", rows("SHORT"), "goodput to input, SHORT (1.7 s)"),
        Ranking("normalised_goodput", rows("SHORT"), "goodput, as a fraction of the narrow link, SHORT (1.7 s)"),
        Ranking("ratio", rows("LONG"), "goodput to input, LONG (10 s)"),
        Ranking("normalised_goodput", rows("LONG"), "goodput, as a fraction of the narrow link, LONG (10 s)"),
        Ranking("mean_queue", rows("LONG"), "cells in the buffer on average, LONG (10 s)"),
    ),
    assumptions={
        **DESCRIBED,
        "EPD threshold": "four fifths of the buffer, also combined with SPD; buffer 200 cells with 5 connections, otherwise 1000",
        "goodput": "payload delivered once: the document's ratio includes duplicates, goodput does not",
    },
)

EXPERIMENTS = (quick_form(verdict, "claims whose interval, with ten seeds, includes the bound"),)
