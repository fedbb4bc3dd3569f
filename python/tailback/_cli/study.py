"""`tailback study status | resume | means | plot | export | compare | gc`: what to do with a study on disk."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tailback._cli.options import Cluster, Executor, FailFast, Workers
from tailback._cli.output import Exit, command, data, jsonable, note, path
from tailback._cli.studies import SHOWN, crew_named, finished, means_text, report, tell_without_chance
from tailback._cli.user_code import Code
from tailback._cli.user_code import load as load_code
from tailback._progress import RunsBar

if TYPE_CHECKING:
    from tailback._study.study import Study

__all__ = ["study"]

study = typer.Typer(name="study", help="Studies on disk: their progress, what is left, their results.", no_args_is_help=True)

_QUANTITY = "`goodput`, or TABLE.NAME.COLUMN such as queues.bottleneck.utilisation; * for NAME is the mean of all."

Directory = Annotated[Path, typer.Argument(metavar="DIR", help="A study.", parser=path)]
Quantity = Annotated[str, typer.Argument(metavar="QUANTITY", help=_QUANTITY)]
AsJson = Annotated[bool, typer.Option("--json", help="Print it as JSON.")]


@study.command()
@command
def status(directory: Directory, as_json: AsJson = False) -> Exit:
    """How many runs are planned, running, done and failed."""
    from tailback._study import Study

    report(Study(directory), as_json=as_json)
    return Exit.DONE


@study.command()
@command
def resume(
    directory: Directory,
    executor: Executor = None,
    workers: Workers = None,
    cluster: Cluster = None,
    fail_fast: FailFast = False,
    retry_failed: Annotated[bool, typer.Option("--retry-failed", help="Repeat failed runs, too.")] = False,
    refresh: Annotated[
        bool, typer.Option("--refresh", help="If Tailback or user code has changed since, repeat all runs with this version.")
    ] = False,
    as_json: AsJson = False,
    code: Code = None,
) -> Exit:
    """Do what is left of a study."""
    from tailback._study import Study

    load_code(code)
    found = Study(directory)
    with crew_named(executor, cluster, workers) as (crew, size), RunsBar(directory.name) as bar:
        found.resume(executor=crew, workers=size, fail_fast=fail_fast, retry_failed=retry_failed, refresh=refresh, progress=bar)
    return finished(found, as_json=as_json)


@study.command()
@command
def means(
    directory: Directory,
    quantity: Quantity = "goodput",
    interval: Annotated[str, typer.Option(help="`t`, or `bootstrap` for values that are far from normal.")] = "t",
    as_json: AsJson = False,
) -> Exit:
    """A quantity at each point: its mean over the seeds, and the 95 % interval."""
    from tailback._study import Study

    swept = Study(directory)
    found = swept.means(quantity, interval=interval)  # type: ignore[arg-type]
    if as_json:
        data(json.dumps(jsonable(found.to_rows()), indent=2))
    else:
        data(means_text(found, swept.plan["columns"], quantity, shown=len(found)))
        tell_without_chance(found)
    return Exit.DONE


@study.command()
@command
def plot(
    directory: Directory,
    out: Annotated[Path, typer.Option(metavar="FILE", help="A new picture, or one to replace: .pdf, .svg, .png.", parser=path)],
    quantity: Annotated[
        str | None, typer.Argument(metavar="QUANTITY", help=f"{_QUANTITY} With `traces`, their kinds, such as cwnd,queue.")
    ] = None,
    kind: Annotated[str, typer.Option(help="`line`, `ecdf`, `heat` or `traces`.")] = "line",
    over: Annotated[str | None, typer.Option(metavar="AXIS", help="The axis along x; for `heat` two, as X,Y.")] = None,
    by: Annotated[str | None, typer.Option(metavar="AXIS", help="A line, or a column of traces, for each of its labels.")] = None,
    where: Annotated[
        list[str] | None,
        typer.Option(metavar="AXIS=LABEL", help="Show one label of an axis; repeat for each other axis that varies."),
    ] = None,
    seed: Annotated[int | None, typer.Option(help="With `traces`: which run; by default the first.")] = None,
    log: Annotated[
        str, typer.Option(metavar="x|y|xy", help="Scales that are logarithmic: with `line` both, with `ecdf` x.")
    ] = "",
) -> Exit:
    """Draw a quantity along the axes of a study, or traces of its runs."""
    from tailback._study import Study
    from tailback.plots import save

    found = Study(directory)
    asked = None if quantity is None else tuple(quantity.split(",")) if kind == "traces" else quantity
    axes = tuple(over.split(",")) if over is not None and kind == "heat" else over
    chosen = dict(_label(found, text) for text in where or [])
    save(found.plot(asked, kind=kind, over=axes, by=by, where=chosen, seed=seed, log=log), out)  # type: ignore[arg-type]
    note(f"wrote {out}")
    return Exit.DONE


@study.command()
@command
def export(
    directory: Directory,
    out: Annotated[Path, typer.Option(metavar="DIR", help="A new directory.", parser=path)],
    format: Annotated[str, typer.Option(help="`parquet`, `csv` or `json`.")] = "parquet",
    traces: Annotated[bool, typer.Option("--traces", help="The traces as well, as Parquet.")] = False,
) -> Exit:
    """Write all tables to a new directory: the same bytes for the same plan, whatever happened on the way."""
    from tailback._study import Study

    found = Study(directory)
    found.export(out, format=format, traces=traces)  # type: ignore[arg-type]
    counts = found.counts
    if counts.done < counts.total:
        note(f"{counts.done} of {counts.total} runs are done; the others have no rows")
    note(f"wrote {out}")
    return Exit.DONE


@study.command()
@command
def compare(
    left: Annotated[Path, typer.Argument(metavar="A", help="A study.", parser=path)],
    right: Annotated[Path, typer.Argument(metavar="B", help="Another.", parser=path)],
    as_json: AsJson = False,
) -> Exit:
    """Say where the results of two studies differ; exit code 1 if they do."""
    from tailback._study import Study

    found = Study(left).compare(Study(right))
    if as_json:
        differences = [vars(difference) for difference in found.differences]
        data(json.dumps(jsonable({"same": bool(found), "runs": found.runs, "differences": differences}), indent=2))
    elif found:
        data(f"the same: {found.runs} runs")
    else:
        for difference in found.differences[:SHOWN]:
            data(str(difference))
        if len(found.differences) > SHOWN:
            data(f"... and {len(found.differences) - SHOWN} more")
        data(f"{len(found.differences)} differences; {found.runs} runs are in both")
    return Exit.DONE if found else Exit.DIFFERENT


@study.command()
@command
def gc(directory: Directory, as_json: AsJson = False) -> Exit:
    """Remove what nothing refers to: results of an earlier plan or version, traces of interrupted runs."""
    from tailback._study import Study

    removed = Study(directory).gc()
    if as_json:
        data(json.dumps(vars(removed), indent=2))
    else:
        data(f"removed {removed.results} results and {removed.traces} traces ({removed.bytes:,} bytes)")
    return Exit.DONE


def _label(study: Study, text: str) -> tuple[str, Any]:
    """An axis and one of its labels, which may be a number, from ``AXIS=LABEL``; as it stands if the axis has no such label."""
    axis, _, word = text.partition("=")
    runs = study.runs
    known = runs.to_dict()[axis] if axis in runs else []
    return axis, next((label for label in known if str(label) == word), word)
