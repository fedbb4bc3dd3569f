"""`tailback study status | resume | means | plot | export | compare | verify | prune`: work with a study on disk."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from tailback._cli import completion, options
from tailback._cli.output import Commands, ExitCode, command, data, jsonable, note
from tailback._cli.studies import SHOWN, finished, means_text, note_determinism, report, selected_executor
from tailback._cli.user_code import load_code
from tailback._progress import RunsBar

if TYPE_CHECKING:
    from tailback._study.study import Study

__all__ = ["study"]

_QUANTITY = (
    "`goodput`, TABLE.NAME.COLUMN such as queues.bottleneck.utilisation (* as NAME: the mean of all rows), "
    "or a formula of columns."
)

_directory = click.argument("directory", type=options.PATH, metavar="DIR", help="A study directory.")
_as_json = click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")


@click.group(cls=Commands)
def study() -> None:
    """Show, resume, plot, export and compare studies on disk."""


@study.command()
@_directory
@_as_json
@command
def status(directory: Path, as_json: bool) -> ExitCode:
    """Show the number of planned, running, finished and failed runs."""
    from tailback._study import Study

    report(Study(directory), as_json=as_json)
    return ExitCode.DONE


@study.command()
@_directory
@options.executor
@options.workers
@options.cluster
@options.wait
@options.fail_fast
@click.option("--retry-failed", is_flag=True, help="Repeat failed runs.")
@click.option("--refresh", is_flag=True, help="If Tailback or the user code has changed, repeat all runs with the new version.")
@_as_json
@options.code
@command
def resume(
    directory: Path,
    executor: str | None,
    workers: int | None,
    cluster: str | None,
    wait_s: int | None,
    fail_fast: bool,
    retry_failed: bool,
    refresh: bool,
    as_json: bool,
    code: tuple[Path, ...],
) -> ExitCode:
    """Run the remaining runs of a study, and repeat runs whose files are damaged."""
    from tailback._study import Study

    load_code(code)
    found = Study(directory)
    with selected_executor(executor, cluster, workers, wait_s) as (pool, size), RunsBar(directory.name) as bar:
        found.resume(executor=pool, workers=size, fail_fast=fail_fast, retry_failed=retry_failed, refresh=refresh, progress=bar)
    return finished(found, as_json=as_json)


@study.command()
@_directory
@click.argument("quantity", default="goodput", help=f"{_QUANTITY} By default `goodput`.")
@click.option(
    "--interval",
    default="t",
    metavar="KIND",
    shell_complete=completion.words(lambda: ("t", "bootstrap")),
    help="`t`, or `bootstrap` for skewed values with at least 20 seeds.",
)
@_as_json
@command
def means(directory: Path, quantity: str, interval: str, as_json: bool) -> ExitCode:
    """Show the mean of a quantity at each point, with its 95 % interval.

    The mean is over the seeds of the point.
    """
    from tailback._study import Study

    swept = Study(directory)
    found = swept.means(quantity, interval=interval)  # type: ignore[arg-type]
    if as_json:
        data(json.dumps(jsonable(found.to_rows()), indent=2))
    else:
        data(means_text(found, swept.plan["columns"], quantity, shown=len(found)))
        note_determinism(found)
    return ExitCode.DONE


@study.command()
@_directory
@click.argument("quantity", required=False, help=f"{_QUANTITY} With `--kind traces`: kinds of traces, such as cwnd,queue.")
@click.option(
    "--out", type=options.PATH, required=True, metavar="FILE", help="File of the plot, replaced if it exists: .pdf, .svg, .png."
)
@click.option(
    "--kind",
    default="line",
    metavar="KIND",
    shell_complete=completion.words(lambda: ("line", "ecdf", "heat", "traces")),
    help="`line`, `ecdf`, `heat` or `traces`.",
)
@click.option("--over", metavar="AXIS", help="Axis of the study along x; for `heat` two, as X,Y.")
@click.option("--by", metavar="AXIS", help="Axis of the study with one line, or one column of traces, per label.")
@click.option(
    "--where",
    multiple=True,
    metavar="AXIS=LABEL",
    help="Show only this label of an axis; repeat for each other axis that varies.",
)
@click.option("--seed", type=int, metavar="N", help="With `--kind traces`: seed of the run; by default the first.")
@click.option("--log", metavar="SCALES", help="Logarithmic scales: `x`, `y` or `xy`; with `ecdf` only `x`.")
@command
def plot(
    directory: Path,
    quantity: str | None,
    out: Path,
    kind: str,
    over: str | None,
    by: str | None,
    where: tuple[str, ...],
    seed: int | None,
    log: str | None,
) -> ExitCode:
    """Plot a quantity along the axes of a study, or traces of its runs."""
    from tailback._study import Study
    from tailback.plots import save

    found = Study(directory)
    asked = None if quantity is None else tuple(quantity.split(",")) if kind == "traces" else quantity
    axes = tuple(over.split(",")) if over is not None and kind == "heat" else over
    chosen = dict(_label(found, text) for text in where)
    save(found.plot(asked, kind=kind, over=axes, by=by, where=chosen, seed=seed, log=log or ""), out)  # type: ignore[arg-type]
    note(f"wrote {out}")
    return ExitCode.DONE


@study.command()
@_directory
@click.option("--out", type=options.PATH, required=True, metavar="DIR", help="A new directory.")
@click.option(
    "--format",
    default="parquet",
    metavar="FORMAT",
    shell_complete=completion.words(lambda: ("parquet", "csv", "json")),
    help="`parquet`, `csv` or `json`.",
)
@click.option("--traces", is_flag=True, help="Also write the traces, as Parquet.")
@command
def export(directory: Path, out: Path, format: str, traces: bool) -> ExitCode:
    """Write all tables of a study to a new directory.

    The output depends only on the plan: interrupted and resumed studies give the same bytes.
    """
    from tailback._study import Study

    found = Study(directory)
    found.export(out, format=format, traces=traces)  # type: ignore[arg-type]
    counts = found.counts
    if counts.done < counts.total:
        note(f"{counts.done} of {counts.total} runs are done; the others have no rows")
    note(f"wrote {out}")
    return ExitCode.DONE


@study.command()
@click.argument("left", type=options.PATH, metavar="A", help="A study directory.")
@click.argument("right", type=options.PATH, metavar="B", help="The study directory to compare with.")
@_as_json
@command
def compare(left: Path, right: Path, as_json: bool) -> ExitCode:
    """Compare the results of two studies.

    Exit code 1 if they differ.
    """
    from tailback._study import Study

    found = Study(left).compare(Study(right))
    if as_json:
        differences = [vars(difference) for difference in found.differences]
        data(json.dumps(jsonable({"same": bool(found), "runs": found.runs, "differences": differences}), indent=2))
    elif found:
        data(f"no differences in {found.runs} runs")
    else:
        for difference in found.differences[:SHOWN]:
            data(str(difference))
        if len(found.differences) > SHOWN:
            data(f"... and {len(found.differences) - SHOWN} more")
        data(f"{len(found.differences)} differences; both studies have {found.runs} runs in common")
    return ExitCode.DONE if found else ExitCode.DIFFERENT


@study.command()
@_directory
@_as_json
@command
def verify(directory: Path, as_json: bool) -> ExitCode:
    """Check all files of a study for damage; `resume` repeats runs with damaged files.

    Exit code 1 if files are damaged.
    """
    from tailback._study import Study

    damaged = Study(directory).verify()
    if as_json:
        data(json.dumps([{**vars(trace), "file": str(trace.file)} for trace in damaged], indent=2))
    elif damaged:
        data("\n".join(f"damaged: {trace.file} (point {trace.point}, seed {trace.seed})" for trace in damaged))
    else:
        data("all files are intact")
    return ExitCode.DIFFERENT if damaged else ExitCode.DONE


@study.command()
@_directory
@_as_json
@command
def prune(directory: Path, as_json: bool) -> ExitCode:
    """Remove files that the study no longer refers to.

    These are results of an earlier plan or version, and traces of interrupted runs.
    """
    from tailback._study import Study

    removed = Study(directory).prune()
    if as_json:
        data(json.dumps(vars(removed), indent=2))
    else:
        data(f"removed {removed.results} results and {removed.traces} traces ({removed.bytes:,} bytes)")
    return ExitCode.DONE


def _label(study: Study, text: str) -> tuple[str, Any]:
    """Parse ``AXIS=LABEL`` into the axis and its label, which may be a number; an unknown label stays text."""
    axis, _, word = text.partition("=")
    runs = study.runs
    known = runs.to_dict()[axis] if axis in runs else []
    return axis, next((label for label in known if str(label) == word), word)
