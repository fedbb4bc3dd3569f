"""The demonstration: how much buffer does a TCP link need?

Start in `grid` for what is run, `figures` and `report` for what is shown.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

from tailback.demo import figures, grid, report
from tailback.demo.grid import Study
from tailback.papers.reproduction import claimed, put
from tailback.papers.runner import Plan
from tailback.plots import require
from tailback.study.runner import Progress
from tailback.summary import aligned

__all__ = ["answer", "measured"]


def answer(
    out: Path, *, quick: bool = False, kept: Path, fresh: bool = False, progress: Callable[[Progress], object] | None = None
) -> int:
    """Run the grid, print a table, write ``buffer.html`` into `out`; how many of the runs the study in `kept` had already."""
    require()
    claimed(out)
    study, there = measured(grid.plan(quick=quick), kept=kept, fresh=fresh, progress=progress)
    sys.stdout.write(f"\nHow much buffer does a TCP link need? {report.setting(study)}\n\n")
    sys.stdout.write(aligned(report.table(study)) + "\n\n")
    sys.stdout.write(f"report: {put(out / 'buffer.html', report.page(study, figures.draw(study)))}\n")
    return there


def measured(
    chosen: grid.Plan, *, kept: Path | None = None, fresh: bool = False, progress: Callable[[Progress], object] | None = None
) -> tuple[Study, int]:
    """The grid, run as far as the study in `kept` does not have it; and how many of its runs that had."""
    plan = Plan([grid.experiment(chosen)], chosen.seeds, command="tailback demo")
    there = plan.run(kept, fresh=fresh, progress=progress)
    (outcome,) = plan.outcomes()
    return Study(chosen, outcome, plan.tally), there
