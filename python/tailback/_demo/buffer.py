"""The first question of the demonstration: how much buffer does a TCP link need?

`buffer_grid` defines the runs, `buffer_needed` searches the buffer that is enough, and `buffer_figures` and `buffer_report` make
the report.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

from tailback._demo import buffer_figures as figures
from tailback._demo import buffer_grid as grid
from tailback._demo import buffer_report as report
from tailback._demo.buffer_grid import Study
from tailback._demo.buffer_needed import needed
from tailback._store import ensure_writable, write_atomically
from tailback._study.runner import Progress
from tailback._tables.text import aligned
from tailback.papers._plan import Plan
from tailback.plots import require

__all__ = ["answer", "measured"]


def answer(
    out: Path, *, full: bool = False, kept: Path, fresh: bool = False, progress: Callable[[Progress], object] | None = None
) -> int:
    """Run the grid, print a table and write ``buffer.html`` into `out`; return the number of runs that `kept` already stored."""
    require()
    ensure_writable(out)
    study, there = measured(grid.plan(full=full), kept=kept, fresh=fresh, progress=progress)
    for flows in study.plan.flows:
        place = kept.with_name(f"{kept.name}-{flows}")
        study.needed[flows], stored = needed(study, flows, kept=place, fresh=fresh, progress=progress)
        there += stored
    sys.stdout.write(f"\nHow much buffer does a TCP link need? {report.setting(study)}\n\n")
    sys.stdout.write(aligned(report.table(study)) + "\n\n")
    sys.stdout.write(f"report: {write_atomically(out / 'buffer.html', report.page(study, figures.draw(study)))}\n")
    return there


def measured(
    chosen: grid.Plan, *, kept: Path | None = None, fresh: bool = False, progress: Callable[[Progress], object] | None = None
) -> tuple[Study, int]:
    """Run the grid as far as `kept` does not store it; also return how many of its runs `kept` already stored."""
    plan = Plan([grid.experiment(chosen)], chosen.seeds, command="tailback demo")
    there = plan.run(kept, fresh=fresh, progress=progress)
    (outcome,) = plan.outcomes()
    return Study(chosen, outcome, plan.tally), there
