"""Section 5.2.2: the error of an estimate after a step of the price."""

from __future__ import annotations

import numpy as np

from tailback import prices
from tailback.papers import Claim, Computation, Experiment, at, axis, vary
from tailback_papers.cui_thesis.marking import SEQUENCES

__all__ = ["STEP"]

# A step of the price: numbers of packets after it, and the price before and after.
AFTER_STEP = (3, 10, 30, 100, 300)
STEPS = {"0.1 up": (0.2, 0.3), "0.5 up": (0.2, 0.7), "0.25 down": (0.6, 0.35)}
BEFORE_STEP = 3000


def after_step(step: str, seed: int) -> dict[str, float]:
    """Mean error after each number of packets since a step, divided by min(|p - p0|, 1 / k)."""
    before, after = STEPS[step]
    counts = [BEFORE_STEP + count for count in AFTER_STEP]
    found = [
        np.abs(
            prices.probe(
                [[before]], counts, scheme="adpm", identification="random", step=(BEFORE_STEP, after), seed=1000 * seed + number
            ).errors[0]
        )
        for number in range(SEQUENCES)
    ]
    means = np.mean(found, axis=0)
    return {str(count): float(mean / min(abs(after - before), 1 / count)) for count, mean in zip(AFTER_STEP, means, strict=True)}


STEP = Experiment(
    id="cui-thesis/section5.2.2",
    title="Section 5.2.2: error after a step of the price",
    question="How large is the error k packets after the price changed from p0 to p?",
    source="section 5.2.2; no values in the text",
    variants=vary(Computation(after_step), axis("step", tuple(STEPS))),
    measures={f"after_{count}": str(count) for count in AFTER_STEP},
    claims=tuple(
        Claim(
            f"C-5.2.2-step-{count}",
            f"after {count} packets the error is approximately min(|p - p0|, 1/k)",
            at(f"after_{count}").mean().equals(1.0, 0.5),
            note="mean error divided by it, the mean over three steps; by (1 - (1 - |p - p0|)^(k + 1)) / (k + 1), which is exact "
            "for random thresholds, it is 0.62 to 1 times that. The tolerance is our choice",
        )
        for count in AFTER_STEP
    ),
    assumptions={"steps": "from 0.2 to 0.3, from 0.2 to 0.7 and from 0.6 to 0.35", "order of probes": "random"},
)
