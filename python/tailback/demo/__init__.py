"""The demonstration: how much buffer does a TCP link need?

Start in `grid` for what is run, `figures` and `report` for what is shown.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

from tailback.demo import figures, grid, report
from tailback.demo.grid import Study
from tailback.errors import OutputError
from tailback.plots import require
from tailback.processors import processors
from tailback.summary import aligned

__all__ = ["answer"]


def answer(out: Path, *, quick: bool = False) -> None:
    """Run the grid, print a table, write ``buffer.html`` into `out`."""
    require()
    target = out / "buffer.html"
    try:
        out.mkdir(parents=True, exist_ok=True)
        probe = out / ".buffer.html.partial"
        probe.touch()
    except OSError as error:
        raise OutputError(f"nothing can be written to `{out}`: {error.strerror}") from None
    try:
        began = time.monotonic()
        study = _run(grid.plan(quick=quick))
        study.took_s = time.monotonic() - began
        sys.stdout.write(f"\nHow much buffer does a TCP link need? {report.setting(study)}\n\n")
        sys.stdout.write(aligned(report.table(study)) + "\n\n")
        probe.write_text(report.page(study, figures.draw(study)), encoding="utf-8")
        probe.replace(target)
    finally:
        probe.unlink(missing_ok=True)
    sys.stdout.write(f"report: {target}\n")


def _run(plan: grid.Plan) -> Study:
    """The study, in as many threads as there are processors, with a progress bar."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TextColumn("runs"))
    clocks = (TimeElapsedColumn(), TextColumn("left"), TimeRemainingColumn())
    with Progress(*columns, *clocks, console=Console(stderr=True)) as bar:
        task = bar.add_task("simulating", total=len(plan.points))
        return grid.run(plan, threads=processors(), done=lambda: bar.advance(task))
