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
    each, and writes DIR/buffer.html and DIR/switch.html. If interrupted, the same command resumes.
    """
    from tailback import papers

    # The second question is one of bpd-2001; without tailback-papers, the error says how to install it.
    papers.document("bpd-2001")
    from tailback._demo import buffer, switch

    kept = out / KEPT
    there = 0
    try:
        with RunsBar("simulating") as bar:
            there += buffer.answer(out, full=full, kept=kept, fresh=fresh, progress=bar)
        with RunsBar("simulating") as bar:
            there += switch.answer(out, full=full, kept=kept, fresh=fresh, progress=bar)
    except KeyboardInterrupt:
        note(f"interrupted; finished runs are stored in {out}, and the same command resumes")
        return ExitCode.INTERRUPTED
    if there:
        note(f"{there:,} of the runs were already stored in {out}; `--fresh` repeats them")
    return ExitCode.DONE
