"""The second question of the demonstration: what does a switch gain that spares whoever has just lost a packet?

It is figure 13 of bpd-2001, run as `tailback reproduce bpd-2001/fig13` runs it.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

from tailback._format import aligned
from tailback._interval import Interval
from tailback._study.runner import Progress
from tailback.papers import Outcome, reproduce
from tailback.papers.bpd_2001.networks import TICKS

__all__ = ["answer", "table"]

EXPERIMENT = "bpd-2001/fig13"


def answer(
    out: Path, *, seeds: int, kept: Path, fresh: bool = False, progress: Callable[[Progress], object] | None = None
) -> int:
    """Run it, print a table, write ``bpd-2001.html`` into `out`; how many of the runs the study in `kept` had already."""
    done = reproduce(EXPERIMENT, seeds=seeds, study=kept, fresh=fresh, progress=progress)
    outcome = done.experiments[0]
    sys.stdout.write(
        "\nTCP over an ATM switch: early packet discard (EPD) against balanced packet discard (BPD), bpd-2001, topology B.\n"
        f"Share of the link in use and of the time that connections do not wait for a timeout, each policy with its best\n"
        f"threshold; published: 0.741 and 0.49 against 0.932 and 0.92; mean over {seeds} seeds ± 95 % interval\n\n"
    )
    sys.stdout.write(aligned(table(outcome)) + "\n\n")
    for file in done.report(out / "bpd-2001.html"):
        sys.stdout.write(f"report: {file}\n")
    return done.kept


def table(outcome: Outcome) -> list[list[str]]:
    """Header and one row for each tick of the retransmission timer, which the document does not give."""
    rows = [["timer's tick", "EPD: goodput", "active", "BPD: goodput", "active", "BPD over EPD"]]
    for tick in TICKS:
        goodput = {policy: outcome.best("goodput", policy=policy, tick=tick) for policy in ("EPD", "BPD")}
        active = {policy: outcome.best("active", policy=policy, tick=tick) for policy in ("EPD", "BPD")}
        shown = [_shown(outcome.interval(of[policy])) for policy in ("EPD", "BPD") for of in (goodput, active)]
        rows.append([f"{tick:g} s", *shown, _shown(outcome.interval(goodput["BPD"] / goodput["EPD"]))])
    return rows


def _shown(interval: Interval) -> str:
    return f"{interval.mean:.3f} ± {interval.half:.3f}"
