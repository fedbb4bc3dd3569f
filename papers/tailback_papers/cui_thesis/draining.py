"""Section 4.4: a new FAST flow that drains the queues once, so that it measures the true round trip of the path."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import tailback as tb
from tailback.papers import Claim, Curves, Experiment, Expression, Label, Line, Ranking, TracePanel, Variant, at, highest, lowest
from tailback_papers.claims import claims_of
from tailback_papers.cui_thesis import conditions, fast, over_time
from tailback_papers.cui_thesis.over_time import name

__all__ = ["EXPERIMENTS"]

claim = claims_of(__name__)

# Divisor of a draining flow's rate, by alpha.
DIVISORS: dict[str, Callable[[int], int]] = {
    "alpha": lambda alpha: alpha,
    "alpha / 2": lambda alpha: alpha // 2,
    "2 alpha": lambda alpha: 2 * alpha,
    "10": lambda alpha: 10,
}
# Label of flows that do not drain.
NONE = "none"


# Values of r, with their labels.
LAWS: dict[str, dict[str, Label]] = {NONE: {"law": "plain"}, **{r: {"law": "draining", "r": r} for r in conditions.R}}


def law_of(form: str, r: str, alpha: int) -> dict[str, Any]:
    """FAST's settings."""
    return {"update": form, **({} if r == NONE else {"draining": DIVISORS[r](alpha)})}


def three_sources(form: str, r: str, delay: str) -> tb.Scenario:
    """Figure 4.9: as in figure B.1, but all flows stay."""
    law, rtt = law_of(form, r, fast.ALPHA), f"{conditions.rtt_ms(50, delay)} ms"
    flows: dict[str, Any] = {
        name(number): {"propagation_rtt": rtt, "start": f"{40 * (number - 1)} s", "tcp": fast.tcp(fast.ALPHA, **law)}
        for number in (1, 2, 3)
    }
    return fast.shared_link("cui-thesis, figure 4.9", flows, 160)


def fairer(form: str) -> Expression:
    """Unfairness (one minus Jain's index of the three flows) of plain FAST divided by that of draining FAST."""
    return (1 - at("fairness", form=form, law="plain")) / (1 - at("fairness", form=form, law="draining"))


def apart(form: str) -> Expression:
    """Largest difference of two shares."""
    shares = [at(f"share_{number}", form=form, law="draining") for number in (1, 2, 3)]
    return highest(*shares, each_seed=True) - lowest(*shares, each_seed=True)


FIGURE_4_9 = Experiment(
    id="cui-thesis/fig4.9",
    title="Figure 4.9: three FAST flows that drain the queues",
    question="Do FAST flows that arrive one after the other share evenly if each drains the queues once?",
    source="figure 4.9, section 4.4: alpha 200",
    variants=tuple(
        Variant({"form": form, "delay": delay, **labels}, three_sources(form, r, delay))
        for form in fast.FORMS
        for delay in conditions.DELAYS
        for r, labels in LAWS.items()
    ),
    measures={"fairness": fast.FAIRNESS, "share_1": fast.SHARE_1, "share_2": fast.SHARE_2, "share_3": fast.SHARE_3},
    claims=tuple(
        claim
        for form in fast.FORMS
        for claim in (
            Claim(
                f"C-4.9.1-{form}",
                f"rates are fairer than with standard FAST (ratio of the distances from equality, by Jain's index), form {form}",
                fairer(form) > 1,
            ),
            Claim(
                f"C-4.9.1-even-{form}",
                f"the unfairness is eliminated (largest difference of two shares, within a twentieth), form {form}",
                apart(form) < 0.05,
                kind="conditional",
                note="title of section 4.4; the criterion is our choice",
            ),
        )
    ),
    panels=(TracePanel(fast.three("rate {}"), "rate, packets/s", "time, s"),),
    traces=over_time.flow_traces(
        "rate {}",
        over_time.rate,
        3,
        {"form": "module", "delay": conditions.ONE_WAY, "r": conditions.R[0]},
        over_time.recording(3, bin_s=1),
    ),
    conditions=(conditions.DELAY, conditions.RATE_SCALING),
    assumptions={"capacity and times": "100 Mb/s and a link of 50 ms, as in appendix B; 40 s apart, with time to converge"},
    exact=True,
)

COST = Experiment(
    id="cui-thesis/section4.4.2",
    title="Section 4.4.2: what draining costs",
    question="How much throughput is lost while new flows drain the queues?",
    source="section 4.4.2: three flows that start 40 s apart, as in figure 4.9",
    variants=tuple(
        Variant({"form": form, "delay": delay, "law": law}, three_sources(form, r, delay).with_({"warmup": "30 s"}))
        for form in fast.FORMS
        for delay in conditions.DELAYS
        for law, r in (("plain", NONE), ("draining", conditions.R[0]))
    ),
    measures={"utilisation": fast.UTILISATION},
    claims=tuple(
        Claim(
            f"C-4.4.2-cost-{form}",
            f"draining has a vanishing impact on the throughput: less than 1 % from 30 to 160 s, form {form}",
            at("utilisation", form=form, law="plain") - at("utilisation", form=form, law="draining") < 0.01,
            note="loss of utilisation while two flows start; the bound is our choice",
        )
        for form in fast.FORMS
    ),
    panels=(
        Ranking(
            "utilisation",
            tuple(
                Line(f"{law}, form {form}", {"law": law, "form": form, "delay": conditions.ONE_WAY})
                for form in fast.FORMS
                for law in ("plain", "draining")
            ),
            "utilisation from 30 to 160 s",
        ),
    ),
    conditions=(conditions.DELAY,),
    assumptions={"r": "alpha, which the section recommends"},
    exact=True,
)

# Round trips of existing and new flows in ms, and numbers of existing flows.
CASES = {"a": (200, 200), "b": (200, 40), "c": (40, 200)}
COUNTS = (1, 2, 3, 4, 6, 8, 10, 11, 13, 16, 20, 25, 30)
# Numbers of existing flows for other values of r.
FEWER = (1, 3, 8, 10, 11, 13, 20)
LATE_S, LENGTH_S = 60, 160


def late_arrival(case: str, count: int, form: str, r: str) -> tb.Scenario:
    """Flows that start together, and therefore know the empty path, and a new one."""
    old, new = CASES[case]
    flows: dict[str, Any] = {
        "existing": {"count": count, "propagation_rtt": f"{old} ms", "tcp": sender(update=form)},
        "new": {
            "propagation_rtt": f"{new} ms",
            "start": f"{LATE_S} s",
            "tcp": sender(**law_of(form, r, 50)),
        },
    }
    return fast.shared_link(f"cui-thesis, figure 4.10 ({case}), {count} flows", flows, LENGTH_S)


def sender(**law: Any) -> dict[str, Any]:
    """A sender with packets of 1040 bytes, as the capacity in the figure implies."""
    return {**fast.tcp(50, **law), "mss": "1000 B"}


def ratio(case: str, form: str, counts: Callable[[int], bool]) -> Expression:
    """Rate of an existing flow divided by that of a draining new one, for some numbers of existing flows."""
    return at("ratio", case=case, form=form, law="draining", existing=tuple(count for count in COUNTS if counts(count)))


def least(case: str, most: int) -> Expression:
    """Smallest ratio with up to this number of existing flows."""
    return ratio(case, "module", lambda count: count <= most).min(each_seed=True)


def rises(case: str, form: str, above: int) -> Expression:
    """Largest increase from one number of flows to the next, above this number."""
    return ratio(case, form, lambda count: count >= above).steps("existing").max(each_seed=True)


def plain_off(case: str) -> Expression:
    """Largest relative deviation of plain FAST from (4.26)."""
    plain = at("ratio", case=case, form="module", law="plain")
    return abs(plain / (lambda existing: 2 / (1 + math.sqrt(1 + 4 * existing))) - 1).max(each_seed=True)


FIGURE_4_10 = Experiment(
    id="cui-thesis/fig4.10",
    title="Figure 4.10: a new FAST flow and many existing ones",
    question="Up to how many existing flows does a draining new flow receive no more than they do?",
    source="figure 4.10, section 4.4.3: alpha 50; round trips of old and new flows 200, 200 (a), 200, 40 (b), 40, 200 ms (c)",
    variants=(
        *(
            Variant(
                {"case": case, "existing": count, "form": "module", "law": "plain"},
                late_arrival(case, count, "module", NONE),
            )
            for case in CASES
            for count in COUNTS
        ),
        *(
            Variant(
                {"case": case, "existing": count, "form": form, "law": "draining", "r": r}, late_arrival(case, count, form, r)
            )
            for form, cases in (("module", CASES), ("thesis", ("a",)))
            for r in (conditions.R if form == "module" else conditions.R[:1])
            for case in cases
            for count in (COUNTS if r == conditions.R[0] else FEWER)
        ),
    ),
    measures={"ratio": "mean(flows.existing.goodput_bps) / flows.new.goodput_bps"},
    claims=(
        claim("C-4.10.1-a", least("a", 11) > 0.95),
        claim("C-4.10.1-c", least("c", 3) > 0.95),
        claim("C-4.10.1-a-falls", rises("a", "module", 11) < 0),
        claim("C-4.10.1-c-falls", rises("c", "module", 3) < 0),
        claim("C-4.10.1-a-thesis", rises("a", "thesis", 11) < 0),
        claim("C-4.10.2-a", plain_off("a") < 0.15),
        claim("C-4.10.2-b", plain_off("b") < 0.15),
        claim("C-4.10.2-c", plain_off("c") > 0.5),
    ),
    panels=(
        tuple(
            Curves(
                "ratio",
                "existing",
                (
                    Line("draining", {"case": case, "form": "module", "law": "draining", "r": conditions.R[0]}),
                    Line("plain", {"case": case, "form": "module", "law": "plain"}, dashed=True),
                    *((Line("draining by (4.1)", {"case": "a", "form": "thesis"}),) if case == "a" else ()),
                ),
                "rate of an existing flow over the new one's",
                "existing flows",
                title=f"({case})",
            )
            for case in CASES
        ),
    ),
    conditions=(conditions.RATE_SCALING,),
    assumptions={
        "range of N": "1 to 30",
        "form of the update": "that of the ns-2 module, which produced the document's figures; (a) also by (4.1)",
        "the existing flows' knowledge of the path": "they start together, so that each first packet finds the queue empty; the "
        f"new one starts at {LATE_S} s and the last {fast.MEASURED_S} of {LENGTH_S} s are measured",
    },
    exact=True,
)

EXPERIMENTS = (FIGURE_4_9, COST, FIGURE_4_10)
