"""Section 4.4: a new FAST flow that drains the queues once, so that it measures the true round trip of the path."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from tailback._run import Run
from tailback.papers import Assumption, Claim, Curves, Experiment, Inequality, Line, Measured, Trace, TracePanel, Values, Variant
from tailback.papers.cui_thesis.fast import (
    ALPHA,
    FORMS,
    MEASURED_S,
    fairness,
    name,
    share_1,
    share_2,
    share_3,
    shared_link,
    tcp,
    window_1,
    window_2,
    window_3,
)

if TYPE_CHECKING:
    from tailback._scenario import Scenario

__all__ = ["EXPERIMENTS"]

# Divisor of a draining flow's rate.
R = 10


def three_sources(form: str, draining: bool) -> Scenario:
    """Figure 4.9: as in figure B.1, but all flows stay."""
    law: dict[str, Any] = {"update": form, **({"draining": R} if draining else {})}
    flows: dict[str, Any] = {
        name(number): {"propagation_rtt": "50 ms", "start": f"{40 * (number - 1)} s", "tcp": tcp(ALPHA, **law)}
        for number in (1, 2, 3)
    }
    return shared_link("cui-thesis, figure 4.9", flows, 160)


def unequal(form: str, draining: bool) -> Callable[[Measured], Values]:
    """One minus Jain's index of the three flows."""
    return lambda results: 1 - results.values("fairness", form=form, draining=draining)


def fairer(form: str) -> Callable[[Measured], Values]:
    """Unfairness of plain FAST divided by that of draining FAST."""
    return lambda results: unequal(form, draining=False)(results) / unequal(form, draining=True)(results)


FIGURE_4_9 = Experiment(
    id="cui-thesis/fig4.9",
    title="Figure 4.9: three FAST flows that drain the queues",
    question="Do FAST flows that arrive one after the other share evenly if each drains the queues once?",
    source="figure 4.9, section 4.4: alpha 200",
    variants=tuple(
        Variant({"form": form, "draining": draining}, three_sources(form, draining))
        for form in FORMS
        for draining in (True, False)
    ),
    measures={"fairness": fairness, "share_1": share_1, "share_2": share_2, "share_3": share_3},
    claims=tuple(
        Claim(
            f"C-4.9.1-{form}",
            "reproduced",
            f"rates are fairer than with standard FAST (ratio of the two distances from equality, by Jain's index), form {form}",
            fairer(form),
            Inequality(">", 1),
        )
        for form in FORMS
    ),
    panels=((TracePanel(("window 1", "window 2", "window 3"), "window, packets", "time, s"),),),
    traces=tuple(
        Trace(f"window {number}", {"form": "module", "draining": True}, {"cwnd": [name(number)]}, window)
        for number, window in ((1, window_1), (2, window_2), (3, window_3))
    ),
    assumptions=(
        Assumption("capacity, delay and times", "100 Mb/s, 50 ms, 40 s apart: as in appendix B, with time to converge"),
        Assumption("r", f"{R}"),
    ),
    exact=True,
)

# Round trips of existing and new flows in ms, and numbers of existing flows.
CASES = {"a": (200, 200), "b": (200, 40), "c": (40, 200)}
COUNTS = (1, 2, 3, 4, 6, 8, 10, 11, 13, 16, 20, 25, 30)
LATE_S, LENGTH_S = 60, 160


def late_arrival(case: str, count: int, form: str, draining: bool) -> Scenario:
    """Flows that start together, and therefore know the empty path, and a new one."""
    old, new = CASES[case]
    law: dict[str, Any] = {"update": form}
    flows: dict[str, Any] = {
        "existing": {"count": count, "propagation_rtt": f"{old} ms", "tcp": sender(**law)},
        "new": {
            "propagation_rtt": f"{new} ms",
            "start": f"{LATE_S} s",
            "tcp": sender(**law, **({"draining": R} if draining else {})),
        },
    }
    return shared_link(f"cui-thesis, figure 4.10 ({case}), {count} flows", flows, LENGTH_S)


def sender(**law: Any) -> dict[str, Any]:
    """A sender with packets of 1040 bytes, as the capacity in the figure implies."""
    return {**tcp(50, **law), "mss": "1000 B"}


def ratio(run: Run) -> float:
    """Rate of an existing flow divided by that of the new one."""
    flows = run.flows
    existing, new = (np.asarray(flows.where(group=group)["goodput_bps"], float) for group in ("existing", "new"))
    return float(existing.mean() / new[0])


def ratios(case: str, form: str, draining: bool, counts: tuple[int, ...]) -> Callable[[Measured], Values]:
    """One row per number of existing flows."""
    return lambda results: np.array(
        [results.values("ratio", case=case, existing=count, form=form, draining=draining) for count in counts]
    )


def least(case: str, form: str, most: int) -> Callable[[Measured], Values]:
    """Smallest ratio with up to this number of existing flows."""
    counts = tuple(count for count in COUNTS if count <= most)

    def found(results: Measured) -> Values:
        values: Values = ratios(case, form, draining=True, counts=counts)(results).min(axis=0)
        return values

    return found


def rises(case: str, form: str, above: int) -> Callable[[Measured], Values]:
    """Largest increase from one number of flows to the next, above this number."""
    counts = tuple(count for count in COUNTS if count >= above)

    def found(results: Measured) -> Values:
        values: Values = np.diff(ratios(case, form, draining=True, counts=counts)(results), axis=0).max(axis=0)
        return values

    return found


def plain_off(case: str) -> Callable[[Measured], Values]:
    """Largest relative deviation of plain FAST from 2 / (1 + sqrt(1 + 4 N)), (4.26)."""

    def found(results: Measured) -> Values:
        expected = np.array([[2 / (1 + math.sqrt(1 + 4 * count))] for count in COUNTS])
        values: Values = np.abs(ratios(case, "module", draining=False, counts=COUNTS)(results) / expected - 1).max(axis=0)
        return values

    return found


FIGURE_4_10 = Experiment(
    id="cui-thesis/fig4.10",
    title="Figure 4.10: a new FAST flow and many existing ones",
    question="Up to how many existing flows does a draining new flow receive no more than they do?",
    source="figure 4.10, section 4.4.3: alpha 50; round trips of old and new flows 200, 200 (a), 200, 40 (b), 40, 200 ms (c)",
    variants=(
        *(
            Variant(
                {"case": case, "existing": count, "form": "module", "draining": draining},
                late_arrival(case, count, "module", draining),
            )
            for case in CASES
            for draining in (True, False)
            for count in COUNTS
        ),
        *(
            Variant(
                {"case": "a", "existing": count, "form": "thesis", "draining": True}, late_arrival("a", count, "thesis", True)
            )
            for count in COUNTS
        ),
    ),
    measures={"ratio": ratio},
    claims=(
        Claim(
            "C-4.10.1-a",
            "not_reproduced",
            "(a) is fair with up to 11 existing flows (smallest rate of one divided by that of the new flow)",
            least("a", "module", 11),
            Inequality(">", 0.95),
            note="With 11 the queue does not quite empty. The criterion for fairness, within a twentieth, is our choice.",
        ),
        Claim("4.10-a-10", "reproduced", "(a) is fair with up to 10", least("a", "module", 10), Inequality(">", 0.95), ours=True),
        Claim(
            "C-4.10.1-c", "reproduced", "(c) is fair with up to 3 existing flows", least("c", "module", 3), Inequality(">", 0.95)
        ),
        Claim(
            "C-4.10.1-a-falls",
            "reproduced",
            "beyond that it falls (largest increase from one number of flows to the next in (a), from 11 flows)",
            rises("a", "module", 11),
            Inequality("<", 0),
        ),
        Claim(
            "C-4.10.1-c-falls",
            "reproduced",
            "beyond that it falls (largest increase from one number of flows to the next in (c), from 3 flows)",
            rises("c", "module", 3),
            Inequality("<", 0),
        ),
        Claim(
            "C-4.10.1-a-thesis",
            "reproduced",
            "(a) by (4.1) also falls beyond 11 (largest increase from one number of flows to the next)",
            rises("a", "thesis", 11),
            Inequality("<", 0),
            note="Measured 100 s after the new flow starts. After 40 s it has not converged, because it still has to drain with "
            "many flows: the curve then fluctuates.",
        ),
        Claim(
            "C-4.10.2-a",
            "reproduced",
            "plain FAST follows (4.26) in (a) (largest deviation)",
            plain_off("a"),
            Inequality("<", 0.15),
        ),
        Claim(
            "C-4.10.2-b",
            "reproduced",
            "plain FAST follows (4.26) in (b) (largest deviation)",
            plain_off("b"),
            Inequality("<", 0.15),
        ),
        Claim(
            "C-4.10.2-c",
            "reproduced",
            "(c) is much fairer, because the new flow overshoots (largest excess over (4.26))",
            plain_off("c"),
            Inequality(">", 0.5),
        ),
    ),
    panels=(
        tuple(
            Curves(
                "ratio",
                "existing",
                (
                    Line("draining", {"case": case, "form": "module", "draining": True}),
                    Line("plain", {"case": case, "form": "module", "draining": False}, dashed=True),
                    *((Line("draining by (4.1)", {"case": "a", "form": "thesis"}),) if case == "a" else ()),
                ),
                "rate of an existing flow over the new one's",
                "existing flows",
                title=f"({case})",
            )
            for case in CASES
        ),
    ),
    assumptions=(
        Assumption("r", f"{R}; with 4, case (a) is fair up to 8 flows"),
        Assumption("range of N", "1 to 30"),
        Assumption("form of the update", "that of the ns-2 module, which produced the document's figures; (a) also by (4.1)"),
        Assumption(
            "the existing flows' knowledge of the path",
            f"they start together, so that each first packet finds the queue empty; the new one starts at {LATE_S} s and the "
            f"last {MEASURED_S} of {LENGTH_S} s are measured",
        ),
    ),
    exact=True,
)

EXPERIMENTS = (FIGURE_4_9, FIGURE_4_10)
