"""Figures 6, 7 and 14: ten sources that can each fill the link alone (sections 3 and 5)."""

from __future__ import annotations

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
    lowest,
    vary,
)
from tailback.papers.bpd_2001 import measures
from tailback.papers.bpd_2001.networks import (
    ACTIVITY,
    CLOCKS,
    NORMALISED,
    PLAIN,
    PPD,
    UPPER,
    bpd,
    epd,
    ticks,
    topology_a,
    topology_b,
)

__all__ = ["EXPERIMENTS"]

MEASURES = {"goodput": measures.goodput, "active": measures.active, "fairness": measures.fairness}
TICK = Assumption("tick of the retransmission timer", "0.1 s; timeouts matter little if any connection can fill the link")

BEFORE_BPD = vary(topology_a(), [*PLAIN, *PPD, *epd()], ticks(0.1), topology="A")
EQUAL_CLOCKS = vary(topology_a("75 Mbps"), [*PLAIN, *PPD], ticks(0.1), topology="A, equal clocks")
IN_B = vary(topology_b(), [*PLAIN, *PPD, *epd()], ticks(0.1), topology="B")


def goodput(results: Measured, policy: str, topology: str = "A") -> Values:
    """Goodput with the best threshold, if the policy has one."""
    return results.best("goodput", topology=topology, policy=policy)


def epd_at(results: Measured, threshold: float, topology: str = "A") -> Values:
    """Goodput of EPD at one threshold."""
    return results.values("goodput", topology=topology, policy="EPD", threshold=threshold)


def gain(results: Measured, topology: str) -> Values:
    """Gain of the best EPD over PPD."""
    return goodput(results, "EPD", topology) - goodput(results, "PPD", topology)


def three_policies(topology: str = "A") -> tuple[Line, ...]:
    """One line per policy."""
    return tuple(
        Line(name, {"policy": policy, "topology": topology})
        for name, policy in (("plain ATM", "plain"), ("PPD", "PPD"), ("EPD", "EPD"))
    )


figure_6 = Experiment(
    id="bpd-2001/fig6",
    title="Plain ATM, PPD and EPD in topology A: goodput",
    question="How much of the link do ten connections use if each of them can fill it?",
    source="figure 6, section 3; no values in the text",
    variants=(*BEFORE_BPD, *IN_B, *EQUAL_CLOCKS),
    measures=MEASURES,
    times=3,
    claims=(
        Claim(
            "C7",
            "reproduced",
            "PPD carries more than plain ATM",
            lambda results: goodput(results, "PPD") - goodput(results, "plain"),
            Inequality(">", 0),
            note="Neither has a threshold.",
        ),
        Claim(
            "C7b",
            "conditional",
            "no connection starves the others under PPD (fairness; not a claim of the document)",
            lambda results: results.values("fairness", topology="A", policy="PPD"),
            Inequality(">", 0.8),
            setting="clocks of the sources 20 parts in a million faster",
            contrast=Contrast(
                "exactly equal clocks", lambda results: results.values("fairness", topology="A, equal clocks", policy="PPD")
            ),
        ),
        Claim("C8", "reproduced", "the best EPD carries more than PPD", lambda results: gain(results, "A"), Inequality(">", 0)),
        Claim(
            "C8b",
            "reproduced",
            "but gains less than in topology B",
            lambda results: gain(results, "B") - gain(results, "A"),
            Inequality(">", 0),
        ),
        Claim(
            "C9",
            "reproduced",
            "EPD carries at least 0.9 of the link (best threshold)",
            lambda results: goodput(results, "EPD"),
            Inequality(">=", 0.9),
        ),
        Claim(
            "C10",
            "reproduced",
            "EPD rises with the threshold from 0.1 to 0.7 in topology B",
            lambda results: epd_at(results, 0.7, "B") - epd_at(results, 0.1, "B"),
            Inequality(">", 0),
        ),
        Claim(
            "C10b",
            "reproduced",
            "EPD falls from threshold 0.9 to 1, where it equals PPD (the smaller fall of both topologies)",
            lambda results: lowest(*(epd_at(results, 0.9, topology) - epd_at(results, 1.0, topology) for topology in ("A", "B"))),
            Inequality(">", 0),
        ),
        Claim(
            "C10c",
            "not_reproduced",
            "EPD already falls above threshold 0.7: from 0.7 to 0.9",
            lambda results: epd_at(results, 0.7) - epd_at(results, 0.9),
            Inequality(">", 0),
            note="Ten connections can have 10 x 11 = 110 cells above the threshold, 9 % of the buffer: at 0.9 these still fit.",
        ),
    ),
    panels=(
        (
            Curves("goodput", "threshold", three_policies("A"), "goodput", "EPD threshold", title="topology A, tick 0.1 s"),
            Curves("goodput", "threshold", three_policies("B"), "goodput", "EPD threshold", title="topology B, tick 0.1 s"),
        ),
    ),
    assumptions=(CLOCKS, TICK, NORMALISED),
)

figure_7 = Experiment(
    id="bpd-2001/fig7",
    title="Plain ATM, PPD and EPD in topology A: activity",
    question="Must connections be active for the link to be full?",
    source="figure 7, section 3; no values in the text",
    variants=BEFORE_BPD,
    measures=MEASURES,
    times=3,
    claims=(
        Claim(
            "C11",
            "reproduced",
            "EPD carries more than PPD (best threshold)",
            lambda results: gain(results, "A"),
            Inequality(">", 0),
        ),
        Claim(
            "C11b",
            "not_reproduced",
            "although connections are more active under PPD than under EPD (threshold 0.7, the best according to the text)",
            lambda results: results.values("active", policy="PPD") - results.values("active", policy="EPD", threshold=0.7),
            Inequality(">", 0),
            note="EPD is more active wherever it carries more; it is less active, and carries less, at thresholds up to 0.2.",
        ),
        Claim(
            "C12",
            "reproduced",
            "activity is low although goodput is high: it is lower by more than 0.25 (EPD, threshold 0.9)",
            lambda results: epd_at(results, 0.9) - results.values("active", policy="EPD", threshold=0.9),
            Inequality(">", 0.25),
        ),
    ),
    panels=((Curves("active", "threshold", three_policies(), "fraction of time active", "EPD threshold"),),),
    assumptions=(CLOCKS, TICK, ACTIVITY),
)


def lead(results: Measured, topology: str) -> Values:
    """Lead of the best BPD over the best EPD."""
    return goodput(results, "BPD", topology) - goodput(results, "EPD", topology)


figure_14 = Experiment(
    id="bpd-2001/fig14",
    title="BPD in topology A: goodput",
    question="Does BPD help even if timeouts do no harm?",
    source="figure 14, section 5; no values in the text",
    variants=(
        *vary(topology_a(), [*bpd(), *epd()], ticks(0.1), topology="A"),
        *vary(topology_b(), [*bpd(), *epd()], ticks(0.1), topology="B"),
    ),
    measures=MEASURES,
    times=3,
    claims=(
        Claim(
            "C21",
            "reproduced",
            "BPD brings no significant improvement over EPD: the best of both are within 0.03",
            lambda results: lead(results, "A"),
            Value(0, 0.03),
            note="The bound is our choice.",
        ),
        Claim("C21a", "reproduced", "but a minor one", lambda results: lead(results, "A"), Inequality(">", 0)),
        Claim(
            "C21b",
            "reproduced",
            "and gains less over it than in topology B",
            lambda results: lead(results, "B") - lead(results, "A"),
            Inequality(">", 0),
        ),
    ),
    panels=(
        (
            Curves(
                "goodput",
                "threshold",
                (Line("BPD, gap 25", {"policy": "BPD", "topology": "A"}), Line("EPD", {"policy": "EPD", "topology": "A"})),
                "goodput",
                "lower threshold, or EPD threshold",
            ),
        ),
    ),
    assumptions=(UPPER, CLOCKS, TICK, NORMALISED),
)

EXPERIMENTS = (figure_6, figure_7, figure_14)
