"""`tailback demo`: two questions, each answered by a table and a report."""

from __future__ import annotations

from pathlib import Path

import click

from tailback._cli import options
from tailback._cli.output import ExitCode, command, note
from tailback._cli.reproduce import KEPT
from tailback._progress import RunsBar

__all__ = ["demo"]


@click.command
@click.option(
    "--out",
    type=options.PATH,
    default="out",
    metavar="DIR",
    help="Directory of the reports; created if missing. DIR/study and DIR/study-* store the runs.",
)
@click.option("--full", is_flag=True, help="Run all points with more seeds, which takes minutes.")
@click.option("--fresh", is_flag=True, help="Repeat runs that are already stored in DIR.")
@command
def demo(out: Path, full: bool, fresh: bool) -> ExitCode:
    """Answer two questions, with a report for each.

    How much buffer does a TCP link need? How much goodput does balanced packet discard gain at an ATM switch? Prints a table for
    each, and writes DIR/buffer.html and DIR/switch.html. The second question requires tailback-papers. If interrupted, the same
    command resumes.
    """
    from tailback._demo import buffer, switch, switch_grid
    from tailback.errors import MissingExtra

    definition = switch_grid.definition()
    kept = out / KEPT
    there = 0
    try:
        with RunsBar("simulating") as bar:
            there += buffer.answer(out, full=full, kept=kept, fresh=fresh, progress=bar)
        if definition is not None:
            with RunsBar("simulating") as bar:
                there += switch.answer(switch_grid.plan(definition, full=full), out, kept=kept, fresh=fresh, progress=bar)
    except KeyboardInterrupt:
        note(f"interrupted; finished runs are stored in {out}, and the same command resumes")
        return ExitCode.INTERRUPTED
    if there:
        note(f"{there:,} of the runs were already stored in {out}; `--fresh` repeats them")
    if definition is None:
        note(str(MissingExtra("the second question, about an ATM switch,", "tailback-papers", "papers")))
    return ExitCode.DONE
