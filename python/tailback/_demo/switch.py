"""The second question of the demonstration: how much goodput does balanced packet discard gain at an ATM switch?

`switch_grid` finds the definition of the runs, and `switch_report` writes the table and the report.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

from tailback._demo import switch_grid as grid
from tailback._demo import switch_report as report
from tailback._store import ensure_writable, write_atomically
from tailback._study.runner import Progress
from tailback._tables.text import aligned
from tailback.papers._plan import Plan
from tailback.plots import require

__all__ = ["answer", "measured"]


def answer(
    chosen: grid.Plan, out: Path, *, kept: Path, fresh: bool = False, progress: Callable[[Progress], object] | None = None
) -> int:
    """Run the grid, print a table and write ``switch.html`` into `out`; return the number of runs that `kept` already stored."""
    require()
    ensure_writable(out)
    study, there = measured(chosen, kept=kept, fresh=fresh, progress=progress)
    sys.stdout.write(f"\n{report.QUESTION} {report.setting(study)}\n\n")
    sys.stdout.write(aligned(report.table(study)) + "\n\n")
    sys.stdout.write(f"{report.headline(study)}\n")
    sys.stdout.write(f"report: {write_atomically(out / 'switch.html', report.page(study))}\n")
    return there


def measured(
    chosen: grid.Plan, *, kept: Path | None = None, fresh: bool = False, progress: Callable[[Progress], object] | None = None
) -> tuple[grid.Study, int]:
    """Run the grid as far as `kept` does not store it; also return how many of its runs `kept` already stored."""
    plan = Plan([chosen.definition.experiment(chosen.thresholds)], chosen.seeds, command="tailback demo")
    there = plan.run(kept, fresh=fresh, progress=progress)
    (outcome,) = plan.outcomes()
    return grid.Study(chosen, outcome, plan.tally), there
