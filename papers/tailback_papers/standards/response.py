"""Windows over loss: RFC 9438, table 1, and RFC 3649, section 5; each law with the same periodic losses."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

import tailback as tb
from tailback.papers import Claim, Curves, Experiment, at, lines, variants
from tailback_papers.standards.members import MSS, controllers, sender

__all__ = ["EXPERIMENTS"]

RTT_S = 0.1
# Losses in a run; the first half is warm-up.
LOSSES = 24
# Packets per loss.
PERIODS = (100, 1_000, 10_000, 100_000)
# RFC 9438, table 1: average windows for a round trip of 0.1 s, by packets per loss.
PRINTED: dict[str, dict[int, float]] = {
    "reno": {100: 12, 1_000: 38, 10_000: 120, 100_000: 379},
    "hstcp": {100: 12, 1_000: 38, 10_000: 263, 100_000: 1795},
    "cubic": {100: 12, 1_000: 38, 10_000: 187, 100_000: 1054},
}


def through_losses(law: str, period: int) -> tb.Scenario:
    """One flow, a link that is fast enough, and every n-th segment lost once; one early loss ends slow start."""
    lost = [30, *(period * number for number in range(1, LOSSES + 1))]
    flows: Any = {
        "tcp": {"propagation_rtt": f"{1e3 * RTT_S:g} ms", "size": f"{(LOSSES * period + 1) * MSS} B", "tcp": sender(law)}
    }
    scenario = tb.dumbbell(
        name=f"standards, {law}, a loss in {period}",
        rate="400 Gbps",
        delay="0 ms",
        buffer="unlimited",
        flows=flows,
        # The memory estimate for recording drops depends on it: 5 GiB for a law that may pace at 10 Gbit/s.
        duration="4000 s",
        traces=["drops"],
    )
    return scenario.with_({"topology.dumbbell.loss": {"drops": [{"group": "tcp", "segment": segment} for segment in lost]}})


def mean_window(run: tb.Run) -> float:
    """Segments per round trip, over the second half of the losses; NaN for a law with fewer losses."""
    if len(run.trace("drops")["time_s"]) <= LOSSES:
        return math.nan
    times = np.asarray(run.trace("drops")["time_s"])[-(LOSSES // 2 + 1) :]
    segments = np.asarray(run.trace("drops")["segment"])[-(LOSSES // 2 + 1) :]
    return float((segments[-1] - segments[0]) * RTT_S / (times[-1] - times[0]))


def claim(law: str, period: int, printed: float) -> Claim:
    """A row of the table, within a tenth: if a period is ten round trips, the repair alone takes a tenth of it."""

    return Claim(
        f"W-{law}-{period}",
        f"{law} at one loss in {period:,}: a mean window of {printed:g}",
        at("mean_window", law=law, period=period).equals(printed, 0.1 * printed),
        kind="not_reproduced" if period == PERIODS[0] else "reproduced",
        published=printed,
        note="within a tenth, which is our choice: the formula neglects the round trips in which losses are repaired",
    )


RESPONSE = Experiment(
    id="standards/response",
    title="Windows over loss",
    question="How large a window does each law maintain at a given loss rate?",
    source="RFC 9438, section 5.1, table 1; RFC 3649, section 5",
    variants=variants(through_losses, law=controllers(), period=PERIODS),
    measures={"mean_window": mean_window},
    claims=tuple(claim(law, period, printed) for law, rows in PRINTED.items() for period, printed in rows.items()),
    panels=(
        Curves("mean_window", "period", lines("law", controllers()), "mean window", "packets per loss", log=True, log_over=True),
    ),
    assumptions={
        "losses": "every n-th segment, once: the deterministic model of the RFCs' formulas",
        "time": "at most 4000 s: a law that maintains fewer than 60 segments has no point at one loss in 100,000",
        "one loss in 1,000,000 and more": "not run: the windows of some laws do not settle within minutes",
    },
    exact=True,
)

EXPERIMENTS = (RESPONSE,)
