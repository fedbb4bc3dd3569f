"""`tailback validate`: compare the simulator with the TCP stack of this machine's kernel."""

from __future__ import annotations

import json
from pathlib import Path

import click

from tailback._cli import options
from tailback._cli.output import ExitCode, command, data, jsonable, note, termination_as_interrupt
from tailback._progress import RunsBar

__all__ = ["validate"]


@click.command
@click.option(
    "--out",
    type=options.PATH,
    metavar="DIR",
    help="Write the report and the results to DIR, created if missing; DIR/study stores the runs, and the same command "
    "resumes there.",
)
@click.option(
    "--kernel",
    type=options.PATH,
    metavar="FILE",
    help="Compare with the measurements in FILE, the kernel.json of an earlier validation, instead of running on this kernel.",
)
@click.option("--full", is_flag=True, help="Run all 66 cases, longer and more often: 400 runs of 40 s, divided by the jobs.")
@click.option("--cases", metavar="PATTERN", default="*", help="Only cases whose name matches, for example 'BBRv1*'.")
@click.option(
    "--jobs", type=options.WholeNumber(1), metavar="N", help="Number of parallel emulations; by default two per processor."
)
@click.option("--fresh", is_flag=True, help="Repeat runs that are already stored in DIR/study.")
@click.option("--json", "as_json", is_flag=True, help="Print all comparisons as one JSON document.")
@command
def validate(
    out: Path | None, kernel: Path | None, full: bool, cases: str, jobs: int | None, fresh: bool, as_json: bool
) -> ExitCode:
    """Compare the simulator with this machine's kernel TCP. Linux only; takes five minutes.

    Both run the same scenarios. Exit code 1 if their results differ, or if the machine did not keep up.
    """
    from tailback._store import ensure_writable, write_atomically
    from tailback._validation import STUDY
    from tailback._validation import validate as validated
    from tailback._validation.comparison import Verdict

    if out is not None:
        ensure_writable(out)
    with termination_as_interrupt(), RunsBar("kernel") as bar:
        done = validated(
            None if out is None else out / STUDY,
            kernel=kernel,
            full_pack=full,
            cases=cases,
            jobs=jobs,
            fresh=fresh,
            progress=bar,
        )
    numbers = json.dumps(jsonable(done.to_dict()), indent=1, allow_nan=False)
    data(numbers if as_json else done.markdown())
    if out is not None:
        note(
            "\n".join(
                f"wrote {write_atomically(out / name, text)}"
                for name, text in (
                    ("validation.md", done.markdown()),
                    ("validation.json", numbers),
                    ("kernel.json", done.kernel_runs.to_json() + "\n"),
                )
            )
        )
    if done.kept_up < done.runs:
        note(f"error: this machine could not keep up with real time in {done.runs - done.kept_up} of {done.runs} runs")
    if done.missing:
        note(f"error: there are no kernel runs of {len(done.missing)} cases, which the report lists")
    has_failed = done.count(Verdict.DIFFER) or done.kept_up < done.runs or done.missing
    return ExitCode.DIFFERENT if has_failed else ExitCode.DONE
